#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 200
#
# A buffer that runs over: what was delivered and what is said to be lost are together what happened, by
# the kernel's own count and by what the workload is known to do; and all views say that something is
# missing.

. "${0%/*}/live.sh"

# What the instance of that pfscope has taken in so far, all processors: read, waiting or overwritten.
happened()
{
	cat "$TRACING/instances/pfscope-$1-"*/per_cpu/cpu*/stats |
		awk '/^(entries|overrun|commit overrun|dropped events|read events):/ { n += $NF } END { print n }'
}

# has_ended COMM PARENT: a child of that name that nobody has waited for yet.
has_ended()
{
	grep -qsE "^[0-9]+ \($1\) Z $2 " /proc/[0-9]*/stat
}

# delivered FILE: the kernel's events in a recording, without pfscope's own and without losses.
delivered()
{
	trace-cmd report "$1" 2>/dev/null | grep -avE ' pfs_(map|task|note): |^cpus=|^version|EVENTS DROPPED|EVENTS LOST' |
		grep -ac ': '
}

# overrun PAGES KB [STATE]: pfscope is stopped by the command that it has started, and sleeps through all of it.
overrun()
{
	local pages=$1 kb=$2 kernel faults lost

	# shellcheck disable=SC2016 # the inner shell's
	"$PFSCOPE" run --strict --buffer-size "$kb" -o "$T/over.dat" -- sh -c 'kill -STOP $PPID; exec "$0" "$@"' \
		"$WORK/touch" "$pages" write anon "${@:3}" >"$T/report" 2>"$T/bars" &
	pfscope=$!
	wait_for 60 has_ended touch $pfscope || diag "the workload does not end"
	kernel=$(happened $pfscope)
	kill -CONT $pfscope
	wait $pfscope
	is $? 3 "$kb KB: --strict: the status tells"
	like "$(<"$T/bars")" 'pfscope: lost .*--strict' "$kb KB: --strict: and a line does"
	"$PFSCOPE" events "$T/over.dat" >"$T/events"
	lost=$(lost_in "$T/events")
	ok "$kb KB: it did run over ($lost lost)" test "$lost" -gt $((pages / 2))
	# A page that is full to its end has no room to say how many went before it: only their sum is known then.
	if ! grep '^[0-9.]* lost ' "$T/events" | grep -qv ' count='; then
		grep -v ' key="lost" ' "$T/events" >"$T/places"
		is "$(lost_in "$T/places")" "$lost" "$kb KB: the losses, each at its place, are as many"
	fi
	is $(($(delivered "$T/over.dat") + lost)) "$kernel" "$kb KB: delivered + lost = the kernel's count"
	faults=$(awk -v start="$(value start "$T/report")" -v end="$(value end "$T/report")" '
		$2 == "fault" && match($0, / addr=[0-9a-f]+/) {
			addr = sprintf("%16s", substr($0, RSTART + 6, RLENGTH - 6))
			if (addr >= sprintf("%16s", substr(start, 3)) && addr < sprintf("%16s", substr(end, 3)))
				n++
		}
		END { print n + 0 }' "$T/events")
	# besides the faults, only what there is of the start
	ok "$kb KB: no more faults are missing than are said to be" test $((pages - faults)) -le "$lost"
	ok "$kb KB: and hardly less" test $((lost - (pages - faults))) -lt 3000
	is "$(said_lost <"$T/bars")" "$lost" "$kb KB: the bars say so"
	like "$(<"$T/bars")" '(^|[^0-9])[1-9][0-9]* faults' "$kb KB: and show what was not lost"
	pfscope report "$T/over.dat"
	is "$(said_lost <<<"$out")" "$lost" "$kb KB: the report says so"
}

overrun 30000 8
overrun 60000 64
# Whether the page that comes behind the gap is such a full one, is a matter of what else was in it.
for _ in 1 2 3 4 5; do
	overrun 5000 8 paused
	grep -qE '^[0-9.]* lost cpu=[0-9]+$' "$T/events" && break
done
ok 'behind one gap was a page too full to say how much is missing' grep -qE '^[0-9.]* lost cpu=[0-9]+$' "$T/events"
# The same with room enough: nothing is lost, and the counts are the same still.
"$PFSCOPE" run --strict --buffer-size 16384 -o "$T/all.dat" -- "$WORK/touch" 30000 write anon >"$T/report" 2>"$T/bars"
is $? 0 'with room enough --strict passes'
like "$(<"$T/bars")" 'no events lost' 'with room enough nothing is lost'
done_testing
