# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the parts of tests/bench share.

median()
{
	sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# quartiles [DIGITS]: of the numbers of standard input, "median [first, third]"; with 0 the median alone.
quartiles()
{
	sort -n | awk -v digits="${1:-3}" '{ v[NR] = $1 } END {
		form = "%." (digits ? digits : 3) "f"
		printf form, v[int((NR + 1) / 2)]
		if (digits)
			printf " [" form ", " form "]", v[int((NR + 3) / 4)], v[int((3 * NR + 3) / 4)]
		print "" }'
}

# timed NAME COMMAND...: appends its seconds to $T/NAME.
timed()
{
	local name=$1 start=${EPOCHREALTIME/./}

	shift
	"$@" >/dev/null 2>&1 || { echo "bench: failed: $*" >&2; exit 1; }
	awk "BEGIN { print (${EPOCHREALTIME/./} - $start) / 1e6 }" >>"$T/$name"
}

# section NAME COMMAND...: what the workload says of its touches, wall and processor seconds, and what it got.
section()
{
	local name=$1

	shift
	rm -f "$T/said"
	"$@" >"$T/out" 2>"$T/err" || { cat "$T/err" >&2; exit 1; }
	awk -F= '/^t0_ns=/ { t0 = $2 } /^t1_ns=/ { t1 = $2 } /^cpu_us=/ { cpu = $2 / 1e6 } /^pages=/ { pages = $2 }
		END { print (t1 - t0) / 1e9, cpu, pages }' "$([ -e "$T/said" ] && echo "$T/said" || echo "$T/out")" >>"$T/$name"
}

# ratios NAME BASE COLUMN: "median [quartiles]" of NAME / BASE, round by round.
ratios()
{
	paste -d ' ' "$T/$1" "$T/$2" | awk -v c="$3" -v per="${4:-0}" '{
		print per ? ($c / $3) / ($(c + 3) / $6) : $c / $(c + 3) }' | quartiles 3
}

# trace-cmd, which sees an instance of its own as all there is: it would switch off what others do at the top level,
# and give up where the kernel does not let it write what it does not need.
trace_cmd()
{
	local status

	mkdir "$instance" || return
	unshare -m --propagation private bash -c 'mount --bind "$1" "$2" || exit
		for file in /proc/sys/kernel/ftrace_enabled "$2"/set_ftrace_*; do
			[ ! -e "$file" ] || mount --bind /dev/null "$file" || exit
		done
		shift 2
		exec trace-cmd "$@"' - "$instance" "$tracing" "$@"
	status=$?
	rmdir "$instance"
	return $status
}
