# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the parts of tests/bench share.

median()
{
	sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# timed NAME COMMAND...: appends its seconds to $T/NAME.
timed()
{
	local name=$1 start=${EPOCHREALTIME/./}

	shift
	"$@" >/dev/null 2>&1 || { echo "bench: failed: $*" >&2; exit 1; }
	awk "BEGIN { print (${EPOCHREALTIME/./} - $start) / 1e6 }" >>"$T/$name"
}
