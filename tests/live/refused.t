#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --probes, --latency, --classify and --histogram on whatever kernel this is: each is in force, or it is said
# once why not, in the recording as well, and the rest goes on. What they tell: tests/vm/tracers.t.

. "${0%/*}/live.sh"

# Notes that say that an option is in force.
key_of()
{
	case $1 in
	--probes | --latency) echo probes ;;
	--classify) echo classify ;;
	--histogram) echo histogram ;;
	esac
}

for option in --probes --latency --classify --histogram; do
	pfscope run $option --no-bars -o "$T/rec" -- "$WORK/touch" 100 write anon
	is "$status" 0 "$option: the command runs"
	said=$(grep -c '^pfscope: ' <<<"$err")
	"$PFSCOPE" events "$T/rec" >"$T/events"
	if grep -q " note key=\"$(key_of $option)\" " "$T/events"; then
		is "$err" '' "$option: in force, and nothing to say"
	else
		like "$err" "^pfscope: $option: .*; continuing without\$" "$option: refused, and the reason"
		is "$said" 1 "$option: it is said once"
		like "$(grep 'key="lacks"' "$T/events")" "value=\"what=$option why=" "$option: the recording says it, too"
	fi
	ok "$option: the faults are in the recording" test "$(grep -c ' fault ' "$T/events")" -ge 100
done
pfscope run --probes --latency --classify --no-bars --events -- true
is "$status" 0 'all at once, as they come'
like "$out" ' fault .*addr=' 'there are faults'
pfscope run --histogram --classify -- true
is "$status" 2 '--histogram tells nothing of each fault: not with the others'
done_testing
