#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Huge pages where only those who ask for them get any: page allocations, which every fault makes, are recorded from
# the moment on at which somebody asks, and not before.

. "${0%/*}/live.sh"
enabled=/sys/kernel/mm/transparent_hugepage/enabled
grep -q '\[madvise\]' $enabled 2>/dev/null || skip_all "huge pages are not by request here: $(cat $enabled 2>&1)"
grep -q '\[always\]' /sys/kernel/mm/transparent_hugepage/hugepages-*/enabled 2>/dev/null &&
	skip_all 'some huge pages are not by request here'

# state_of PID: whether its instance records page allocations: 0* not yet, 1 yes.
state_of()
{
	cat "$TRACING/instances/pfscope-$1-"*/events/kmem/mm_page_alloc/enable
}

# recorded KIND WORD...: how many events of that kind with all of the words.
recorded()
{
	local kind=$1 word

	shift
	"$PFSCOPE" events "$T/huge.dat" | grep " $kind " >"$T/events"
	for word; do
		grep -- "$word" "$T/events" >"$T/less"
		mv "$T/less" "$T/events"
	done
	wc -l <"$T/events"
}

# shellcheck disable=SC2016 # the inner shell's
"$PFSCOPE" run --no-bars -o "$T/huge.dat" -- sh -c 'cat "$2/instances/pfscope-$PPID-"*/events/kmem/mm_page_alloc/enable
	"$1" 2 >"$0"; cat "$2/instances/pfscope-$PPID-"*/events/kmem/mm_page_alloc/enable' \
	"$T/report" "$WORK/thp" "$TRACING" >"$T/states" 2>"$T/log"
is $? 0 'thp runs' || diag "$(<"$T/log")"
is "$(head -n 1 "$T/states")" '0*' 'nobody has asked: not recorded'
is "$(tail -n 1 "$T/states")" '1*' 'somebody has: recorded'
if [ "$(value huge "$T/report")" = all ]; then
	is "$(recorded huge)" 2 'each huge page is in the recording'
else
	skip 'no huge pages were to be had'
fi

# Who is not the target may ask, too.
"$PFSCOPE" run --no-bars -o "$T/huge.dat" -- sleep 1000 2>"$T/log" &
pfscope=$!
wait_for 20 is_tracing $pfscope
"$WORK/thp" 2 >/dev/null
is "$(state_of $pfscope)" '0*' 'a stranger asks: not recorded'
kill $pfscope
wait $pfscope
is "$(recorded huge) $(recorded madvise)" '0 0' 'a stranger asks: nothing of it is there'

"$WORK/loop" 60 >"$T/ready" &
target=$!
wait_for 20 grep -q ready "$T/ready"
"$PFSCOPE" attach --no-bars $target 2>"$T/log" &
attach=$!
wait_for 20 has_entered $attach
like "$(state_of $attach)" '^1' 'attach: it may have asked before'
kill $target
wait $target $attach 2>/dev/null
done_testing
