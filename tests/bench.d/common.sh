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
