# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Functions for test scripts; each script begins with
#
#     . "${0%/*}/../tap.sh"
#     render "$DATA/dat/v6.dat"			# sets $status, $out, $err
#     is "$status" 0 'it is rendered'
#     done_testing
#
# They print TAP, which tests/run reads. tests/run sets PFSCOPE, TOOLS, WORK and BUILD; a test that is run by hand takes
# them from the build directory O, or from build/.

set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
DATA=$ROOT/tests/data
BUILD=${BUILD:-$(cd "$ROOT" && cd "${O:-build}" && pwd)}	# the build directory
PFSCOPE=${PFSCOPE:-$BUILD/pfscope}	# the program under test
TOOLS=${TOOLS:-$BUILD/tests/tools}	# the programs of tests/tools
WORK=${WORK:-$BUILD/tests/workload}	# the programs of tests/workload
T=$(mktemp -d "${TMPDIR:-/tmp}/pfscope-test.XXXXXX")	# the test's own folder, removed at its end
export LC_ALL=C.UTF-8
unset COLUMNS NO_COLOR
tap_nr=0 tap_failed=0 tap_done= tap_cleanup=()

# at_exit COMMAND [ARG...]: runs it when the test ends, for whatever reason; the last one first.
at_exit()
{
	tap_cleanup=("$(printf '%q ' "$@")" ${tap_cleanup[@]+"${tap_cleanup[@]}"})
}

tap_end()
{
	local status=$? command

	trap - EXIT
	for command in ${tap_cleanup[@]+"${tap_cleanup[@]}"}; do
		eval "$command" || :
	done
	cd / && rm -rf "$T"
	[ "$tap_done" ] || echo "Bail out! ended early with status $status"
	[ "$tap_done" ] || exit 1
	exit $((tap_failed > 0))
}
trap tap_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# for_others: other users can run $PFSCOPE and what is in $WORK and $TOOLS from now on. If the clone lies where only
# its owner may enter, these become copies in $T, which they may enter.
for_others()
{
	local name path

	chmod a+x "$T"
	setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$PFSCOPE" && return
	mkdir -m 755 "$T/for_others"
	for name in PFSCOPE WORK TOOLS; do
		path=${!name}
		cp -r "$path" "$T/for_others"
		declare -g "$name=$T/for_others/${path##*/}"
	done
	chmod -R a+rX "$T/for_others"
}

# diag TEXT...: a remark, which is shown if anything in the file fails.
diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

pass()
{
	tap_nr=$((tap_nr + 1))
	echo "ok $tap_nr - ${*//#/}"
}

# Returns 1, so that a remark can follow: is ... || diag ...
fail()
{
	tap_nr=$((tap_nr + 1)) tap_failed=$((tap_failed + 1))
	echo "not ok $tap_nr - ${*//#/}"
	return 1
}

# skip REASON NAME...: the machine cannot run this test. In CI a skipped live, vm, fuzz or deb test fails.
skip()
{
	local reason=$1

	shift
	tap_nr=$((tap_nr + 1))
	echo "ok $tap_nr - ${*//#/} # SKIP $reason"
}

# skip_all REASON: skips the whole file and ends it.
skip_all()
{
	echo "1..0 # SKIP $*"
	tap_done=1
	exit 0
}

# plan N: prints the plan first, where the number is known; otherwise done_testing prints it.
plan()
{
	tap_planned=$1
	echo "1..$1"
}

# The last line of every script: one that ends without it has failed.
done_testing()
{
	[ "${tap_planned:-}" ] || echo "1..$tap_nr"
	[ "${tap_planned:-$tap_nr}" = "$tap_nr" ] ||
		{ diag "planned $tap_planned, ran $tap_nr"; tap_failed=$((tap_failed + 1)); }
	tap_done=1
}

# ok NAME COMMAND [ARG...]: the command succeeds. Its output is shown if it does not.
ok()
{
	local name=$1 output status

	shift
	output=$("$@" 2>&1)
	status=$?
	[ $status = 0 ] && { pass "$name"; return; }
	fail "$name"
	diag "status $status of: $*"
	[ "$output" ] && diag "$output"
	return 1
}

# is GOT WANTED NAME...: equal as text.
is()
{
	local got=$1 wanted=$2

	shift 2
	[ "$got" = "$wanted" ] && { pass "$@"; return; }
	fail "$@"
	diag "got:    $got"
	diag "wanted: $wanted"
	return 1
}

# like TEXT REGEX NAME...: an extended regular expression, on the text as a whole.
like()
{
	local text=$1 regex=$2

	shift 2
	[[ $text =~ $regex ]] && { pass "$@"; return; }
	fail "$@"
	diag "text:      $(head -n 20 <<<"$text")"
	diag "not like:  $regex"
	return 1
}

unlike()
{
	local text=$1 regex=$2

	shift 2
	[[ $text =~ $regex ]] || { pass "$@"; return; }
	fail "$@"
	diag "text:     $(head -n 20 <<<"$text")"
	diag "but like: $regex"
	return 1
}

# same FILE FILE NAME...: byte for byte.
same()
{
	local a=$1 b=$2

	shift 2
	cmp -s "$a" "$b" && { pass "$@"; return; }
	fail "$@"
	diag "$(diff -u "$a" "$b" 2>&1 | head -n 20)"
	return 1
}

# try COMMAND [ARG...]: sets $status, $out and $err; $T/out and $T/err have the output byte for byte.
try()
{
	"$@" >"$T/out" 2>"$T/err"
	status=$?
	out=$(tr -d '\0' <"$T/out")
	err=$(tr -d '\0' <"$T/err")
}

# pfscope ARG...: runs it as try() does.
pfscope()
{
	try "$PFSCOPE" "$@"
}

# need_programs PROGRAM...: skips the file where one is missing: a package, or a tool that was not built without one.
need_programs()
{
	local program

	for program; do
		command -v "$program" >/dev/null || skip_all "${program##*/} is missing"
	done
}

# need_tracefs: skips the file on a machine where pfscope cannot record.
need_tracefs()
{
	local reason

	reason=$("$ROOT/tests/live/why-not.sh") && return
	skip_all "$reason"
}

# for_other_users: lets any user run the program and the workloads. Copies of them are used where the folder of the
# build is closed to others, as one in /root is.
for_other_users()
{
	chmod go+rx "$T"
	setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$PFSCOPE" -a -x "$WORK/touch" && return
	mkdir -m 755 "$T/copies"
	cp -r "$PFSCOPE" "$WORK" "$T/copies" && chmod -R go+rX "$T/copies"
	PFSCOPE=$T/copies/pfscope WORK=$T/copies/workload
}

# said_lost: the sum of the last "lost 55,178 events on CPU 1, 1582 events on CPU 0" of its input, which may continue
# on the next line.
said_lost()
{
	awk '
	function add(text,   number) {
		for (; match(text, /[0-9][0-9,]* events/); text = substr(text, RSTART + RLENGTH)) {
			number = substr(text, RSTART, RLENGTH)
			gsub(/,/, "", number)
			n += number
		}
	}
	match($0, /(^|[^a-z])lost [0-9][0-9,]* events/) { n = 0; on = 1; add(substr($0, RSTART)); next }
	on && /^ *[0-9][0-9,]* events on CPU/ { add($0); next }
	{ on = 0 }
	END { print n + 0 }'
}

# A virtual machine with half a CPU is this many times slower.
slowness=$([ "${KERNEL:-}" ] && echo 8 || echo 1)

# some WORD...: all of them, for a loop; in a virtual machine each fourth, where the kernel makes little difference.
some()
{
	local i

	for ((i = 1; i <= $#; i += slowness > 1 ? 4 : 1)); do
		echo "${!i}"
	done
}

# wait_for SECONDS COMMAND [ARG...]: repeats it until it succeeds; returns its last status.
wait_for()
{
	local end=$((${EPOCHREALTIME/./} + $1 * slowness * 1000000))

	shift
	until "$@" >/dev/null 2>&1; do
		[ "${EPOCHREALTIME/./}" -lt $end ] || return 1
		sleep 0.02
	done
}

# lost_in FILE: the number of lost events by its event lines; by the notes at the end, if there are any.
lost_in()
{
	awk '$2 == "lost" { for (i = 3; i <= NF; i++) if ($i ~ /^count=/) n += substr($i, 7) }
		/ note .*key="lost" value="count=[0-9]+ / { sub(/.* value="count=/, ""); total += $1 }
		END { print total ? total : n + 0 }' "$1"
}
