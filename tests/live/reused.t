#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A number of a process that is used again at once: the kernel may stop recording the new process when it removes the
# old one from its list. If faults are missing, pfscope reports that events were lost; otherwise it does not.

. "${0%/*}/live.sh"

# record TIMES PAGES MS HOW: sets missing, the number of faults that are not in the recording.
record()
{
	local recorded

	"$PFSCOPE" run --no-bars -o "$T/rec" -- "$WORK/reused" "$@" >"$T/report" 2>"$T/log"
	status=$?
	[ $status = 77 ] && skip_all "$(grep -m1 skipped "$T/report")"
	recorded=$("$PFSCOPE" events "$T/rec" | awk -v start="$(value start "$T/report")" -v end="$(value end "$T/report")" '
		$2 == "fault" && match($0, / addr=[0-9a-f]+/) {
			addr = substr($0, RSTART + 6, RLENGTH - 6)
			n += addr >= start && addr < end
		}
		END { print n + 0 }')
	missing=$(($1 * $2 - recorded))
	diag "$*: $missing of $(($1 * $2)) faults are missing"
}

record 40 5 20 same
ok 'faults of processes with the same number are missing' test "$missing" -gt 0
pfscope render "$T/rec"
unlike "$out" 'no events lost' 'and the bars do not deny it'
pfscope report --strict "$T/rec"
is "$status" 3 '--strict: status 3'
pfscope report --check "$T/rec"
like "$out$err" 'lost' '--check names the loss'

record 40 5 20 any
is "$missing" 0 'none is missing of processes with different numbers'
pfscope report --strict "$T/rec"
is "$status" 0 'and nothing is said to be lost'

# Far apart, the kernel has forgotten the old one before.
record 1 5 0 same
is "$missing" 0 'nor of one'
done_testing
