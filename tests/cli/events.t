#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# events --all: events that pfscope does not decode, as trace-cmd report prints them, and what happens when their
# formats are damaged.

. "${0%/*}/../tap.sh"

recording=$DATA/text/small.dat	# of trace-cmd, with sched:sched_process_wait among others

# Of lines of events: time in us, thread and text of the trace events.
texts()
{
	sed -nE 's/^([0-9]+\.[0-9]{9}) trace .*tid=([0-9]+) key="([a-z_]+:)?([a-z_]+)" value="(.*)"$/\1 \2 \4 \5/p' |
		awk '{ $1 = sprintf("%.6f", $1) } 1'
}

pfscope events "$recording"
is "$status $(grep -c ' trace ' <<<"$out")" '0 0' 'without --all there are none'
mv "$T/out" "$T/without"
pfscope events --all "$recording"
is "$status|$err" '0|' '--all: success'
grep -v ' trace ' "$T/out" >"$T/others"
same "$T/others" "$T/without" "--all: pfscope's own events are what they are without"
is "$(awk '$2 != "note" && !/^#/ { print $1 }' "$T/out" | sort -c -n && echo sorted)" sorted '--all: in order of time'
mv "$T/out" "$T/all"
if command -v trace-cmd >/dev/null; then
	trace-cmd report "$recording" 2>/dev/null |
		sed -nE 's/^.*-([0-9]+) +\[[0-9]+\] +([0-9.]+): (sched_process_wait): +(.*)$/\2 \1 \3 \4/p' >"$T/wanted"
	texts <"$T/all" >"$T/texts"
	is "$(grep -c sched_process_wait "$T/texts")" 4 'four of them are of the scheduler'
	same "$T/texts" "$T/wanted" 'their text is that of trace-cmd report'
else
	skip 'trace-cmd is not installed' 'text of trace-cmd report'
fi
"$PFSCOPE" events --all "$DATA/text/kernel.trace" | texts | cut -d' ' -f2- >"$T/of-text"
texts <"$T/all" | cut -d' ' -f2- >"$T/texts"
same "$T/of-text" "$T/texts" 'the same of the kernel'"'"'s own text'
pfscope events "$T/all"
same "$T/out" "$T/all" 'lines with trace events can be read again'
"$PFSCOPE" render "$recording" >"$T/picture"
pfscope render "$T/all"
same "$T/out" "$T/picture" 'and render draws the same picture from them'
pfscope events --all --json "$recording"
like "$out" '"kind":"trace","cpu":0,"tid":3138,"key":"sched:sched_process_wait","value":"comm=a' '--all --json'
pfscope events --all --tid 1 "$recording"
is "$(grep -c ' trace ' <<<"$out")" 0 'filters apply to them: another thread'

# A field that does not exist: libtraceevent 1.7 follows a null pointer. The same length, so the file stays whole.
fmt='print fmt: "%s", __print_flags(REC->zz & 3, "|", { 1, "S" })'
FMT=$fmt perl -0pe 's/print fmt: "comm=%s pid=%d prio=%d", __get_str\(comm\), REC->pid, REC->prio/
	sprintf("%-*s", length $&, $ENV{FMT})/gse' "$recording" >"$T/damaged.dat"
is "$(cmp "$recording" "$T/damaged.dat" >/dev/null; echo $?) $(stat -c %s "$T/damaged.dat")" \
	"1 $(stat -c %s "$recording")" 'a recording with a damaged format'
pfscope events --all "$T/damaged.dat"
is "$status|$err" '0|' 'a format on which libtraceevent crashes: success'
is "$(grep -c 'value="(cannot be printed: libtraceevent crashed on the format of this event)"' <<<"$out")" 4 \
	'its events are said not to be printable'
grep -v ' trace ' "$T/out" >"$T/others"
same "$T/others" "$T/without" 'and nothing else is missing'

# ---- --needed: of trace-cmd ----
# libtracefs does not free the path of tracefs.
echo leak:libtracefs >"$T/not-ours"
export LSAN_OPTIONS=${LSAN_OPTIONS:+$LSAN_OPTIONS:}suppressions=$T/not-ours:print_suppressions=0
pfscope events --needed
like "$status|$err|$out" '^0\|\|.*trace-cmd record -B .*-e exceptions:page_fault_user.* -e .syscalls:sys_\*_munmap.*-F COMMAND$' 'events --needed'
is "$(bash -nc "$out" 2>&1)" '' '... is a shell command'
is "$(awk 'length > 80 && !/ -f /' "$T/out")" '' '... in 80 columns, but for a long filter'

done_testing
