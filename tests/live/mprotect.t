#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Locked private memory that becomes writable is populated by mprotect, as if it were written to. Whether a private mapping
# of /dev/zero was written to decides on the file offset that it shows after it was moved; and the kernel counts the faults.

. "${0%/*}/live.sh"
cd "$T" || exit

# layout STEPS: the layout at the checkpoint is the kernel's.
layout()
{
	local steps result

	read -ra steps <<<"$1"
	rm -f run.*.maps
	"$PFSCOPE" run --no-bars -o run.dat -- "$WORK/pages" "${steps[@]}" maps:run >out 2>&1
	result=$("$TOOLS/layout_check" run.dat run.*.maps 2>&1)
	is "$?" 0 "$1" || diag "$result"
}

layout 'zero map:8:r lock:0-8 protect:rw:0-8 move'
layout 'zero map:8:r protect:rw:0-8 move'
layout 'zero map:8:-L protect:rw:0-8 move'
layout 'zero map:8:rw lock:0-8 protect:r:0-8 protect:rw:0-8 move'
layout 'zero map:8:rs lock:0-8 protect:rws:0-8 move'
layout 'zero map:8:r lock:0-8 protect:rw:2-4 fork move maps:child end'

# The kernel's count of faults. How far a file reaches is not reported, so that these are in one sum with others.
for steps in 'map:64:r lock:0-64 protect:rw:0-64' 'disk:64 map:64:r lock:0-64 protect:rw:0-64' 'map:64:rw lock:0-64 write:0-64 protect:r protect:rw'; do
	read -ra words <<<"$steps"
	"$PFSCOPE" run --count --no-bars -o count.dat -- "$WORK/pages" "${words[@]}" >out 2>&1
	pfscope report --check count.dat
	like "$out" 'every fault is accounted for' "$steps: every fault is accounted for"
	case $steps in
	*write*) unlike "$out" 'mprotect' '... none by mprotect: the pages were written to before' ;;
	map*) # what locks the memory reads it; without a zero page that is the one fault
		if has_zero_page; then by='mprotect of locked memory'; else by='mlock, mlockall'; fi
		like "$out" "64  (in one sum: )?$by" "... 64 of them by $by"
		;;
	*) like "$out" '64  (in one sum: )?mprotect of locked memory' '... 64 of them by mprotect' ;;
	esac
done
done_testing
