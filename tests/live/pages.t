#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# What `pfscope pages` prints of each page is what the kernel has in the page table: after each exec, at each exit and
# in between, of real programs (tests/workload/pagemap saves the truth), and at each checkpoint of the random workload
# (layout --pages). No page that is said to be present is absent, or the other way round, and few are unknown.
# NAMES="gcc layout" SEEDS="75 89" runs just those. KEEP=DIR keeps the recording and the snapshots of what differs.

. "${0%/*}/live.sh"
. "${0%/*}/pages.sh"
cd "$T" || exit
export TMPDIR=$T
program_files

# wanted NAME: is it to run?
wanted()
{
	[ ! "${NAMES-}" ] || [[ " $NAMES " = *" $1 "* ]]
}

# passed_over DIFFERENCES: is all that is wrong pages that fault-around is said to have mapped, and has not? That happens if a
# process that is not recorded locks them at that very moment (docs/pages.md).
passed_over()
{
	[[ "$1" = *', 0 failed' && "$1" != *'... and '* ]] || return 1
	[ -z "$(grep ' kernel ' <<<"$1" | grep -v ' kernel absent, said present around -, ')" ]
}

# What compare() has told of the last recording.
told()
{
	echo "$sums"
	return "$differs"
}

# recorded NAME LIMIT COMMAND...: records it; what it saved is compared. Pages that were passed over are recorded once more,
# twice at most.
recorded()
{
	local name=$1 limit=$2 try status sums differs

	shift 2
	for try in 1 2 3; do
		rm -rf saved run.dat test.db
		mkdir saved
		# shellcheck disable=SC2086 # words are meant
		SAVED=saved "$PFSCOPE" run ${options-} --no-bars -o run.dat -- "$@" >out 2>&1
		status=$?
		[ $status = 0 ] || break
		sums=$(compare saved run.dat "$limit" 2>&1)
		differs=$?
		[ $differs = 0 ] || keep "$name" saved run.dat
		if [ $differs = 0 ] || [ $try = 3 ] || ! passed_over "$sums"; then break; fi
		diag "$name: once more after" "$sums"
	done
	if [ $status = 77 ]; then
		diag "$name: $(tail -n 1 out)"
	elif [ $status = 0 ]; then
		verdict "$name" told
	else
		fail "$name runs" || diag "$(cat out)"
	fi
	rm -rf saved run.dat test.db
}

# program NAME LIMIT COMMAND...: also each 10 ms. Not every machine has every program.
program()
{
	wanted "$1" || return 0
	command -v "$3" >/dev/null || { diag "$3 is not installed"; return; }
	recorded "$1" "${LIMIT:-$2}" "$WORK/pagemap" -i "${INTERVAL:-10}" saved "${@:3}"
}

# steps NAME "STEP...": of tests/workload/pages
steps()
{
	wanted "$1" || return 0
	# shellcheck disable=SC2086 # words are meant
	recorded "$1" "${LIMIT:-${3:-$STEPS_LIMIT}}" "$WORK/pagemap" saved "$WORK/pages" $2
}

# itself NAME "COMMAND..." "STEP..."
itself()
{
	wanted "$1" || return 0
	command -v "${2%% *}" >/dev/null || { diag "${2%% *} is not installed"; return; }
	# shellcheck disable=SC2086
	recorded "$1" "${LIMIT:-100}" $2 "$WORK/pages" $3
}

# stopped NAME "STEP..."
stopped()
{
	local target pfscope

	wanted "$1" || return 0
	mkdir saved
	# shellcheck disable=SC2086
	SAVED=saved "$WORK/pages" $2 &
	target=$!
	wait_for 5 grep -q '^State:.T' "/proc/$target/status"
	"$PFSCOPE" attach --no-bars -o run.dat $target >out 2>&1 &
	pfscope=$!
	wait_for 5 has_entered $pfscope
	kill -CONT $target
	wait $target $pfscope
	verdict "$1" compare saved run.dat "${LIMIT:-100}" || keep "$1" saved run.dat
	rm -rf saved run.dat test.db
}

# refaulted NAME COMMAND...
refaulted()
{
	local options='--refault 20ms --zram 64M'

	! has_zram || program "$1" "${LIMIT:-100}" "${@:2}"
}

# layout SEED
layout()
{
	local options=--count # some system calls of it fail at pages that no event shows to be beyond a file's end

	wanted layout || return 0
	recorded "layout, seed $1" "${LIMIT:-100}" "$WORK/layout" --pages "$1" saved/run
}

# present WORKLOAD ARG...: how many pages of the workload's memory the last snapshot has as present.
present()
{
	mkdir saved
	"$WORK/pagemap" saved "$WORK/$1" "${@:2}" >out 2>&1
	cat saved/*.pages | awk -v start="$(value start out)" -v end="$(value end out)" '
		function hex(s,  i, v) {
			sub(/^0x/, "", s)
			for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return v
		}
		BEGIN { start = hex(start); end = hex(end) }
		/^#/ { n = 0 }
		/^ / && / present/ {
			first = hex($1)
			for (i = 0; i < $2; i++) n += first + i * 4096 >= start && first + i * 4096 < end
		}
		END { print n + 0 }'
	rm -rf saved
}

# ---- the truth itself ----

is "$(present touch 256 write anon)" 256 'pagemap: written pages are present'
is "$(present populate 100 map)" 100 'pagemap: populated pages are present'
is "$(present again 10 1 drop)" 0 'pagemap: dropped pages are not'
is "$(present threads 4 100)" 400 'pagemap: threads'' pages are present'
"$WORK/pagemap" . sh -c 'kill -9 $$'
is $? 137 'pagemap: the status is the command'"'"'s'
rm -f ./*.pages

# named REASON CASE...: docs/pages.md has it that the cases show the reason. Of those that ran, one does.
named()
{
	local reason=$1 pattern pair ran=

	for pattern in "${@:2}"; do
		for pair in ${given[@]+"${given[@]}"}; do
			# shellcheck disable=SC2053 # a pattern
			[[ ${pair% *} = $pattern ]] || continue
			ran=1
			[ "${pair#* }" != "$reason" ] || { pass "docs/pages.md: ${pair% *} shows $reason"; return; }
		done
	done
	[ ! "$ran" ] || fail "docs/pages.md: one of ${*:2} shows $reason"
}

# lulled: khugepaged, which may make huge pages at any time, sleeps until a case wakes it. It scans at once for the first process
# that may have huge pages: that is one that only waits.
lulled()
{
	local file=/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs

	[ -w $file ] || return 0
	"$WORK/pages" map:1024:rwT wait:4000000 &
	at_exit eval "kill $!; echo $(<$file) >$file"
	echo 4000000000 >$file
}

at_exit unswapped
lulled
at_exit untuned
cases
cases_of_kernel
while IFS='|' read -r _ reason _ shown _; do
	# shellcheck disable=SC2046 # words are meant
	[[ $reason != *'`'* ]] || (set -f; echo named $(tr -d '`,' <<<"$reason $shown"))
done <"$ROOT/docs/pages.md" >names
set -f
. ./names
set +f
done_testing
