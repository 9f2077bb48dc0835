#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# System calls that populate a part of what they are asked for: of each page pfscope reports what the program has read
# from its own pagemap at its end, or that it is not known. tests/workload/partly.c has the table.

. "${0%/*}/live.sh"

# pages_of REPORT RECORDING: a character for each page: 1 present, 0 absent, ? unknown.
pages_of()
{
	"$PFSCOPE" pages --csv --pid "$(value pid "$1")" "$2" | tr -d '"\r' | awk -F, -v start="$(value start "$1")" \
		-v end="$(value end "$1")" '
		function pad(hex) { return sprintf("%16s", hex) }
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{
			split($at["range"], r, "-")
			if (pad(r[1]) < pad(start) || pad(r[2]) > pad(end)) next
			sign = $at["presence"] == "present" ? 1 : $at["presence"] == "absent" ? 0 : "?"
			for (n = $at["pages"]; n > 0; n--) printf "%s", sign
		}'
}

# wrong SEEN SAID: how many pages are said to be what they are not; and how many are unknown.
wrong()
{
	awk -v seen="$1" -v said="$2" 'BEGIN {
		for (i = 1; i <= length(seen); i++) {
			if (substr(said, i, 1) == "?") unknown++
			else if (substr(seen, i, 1) != substr(said, i, 1)) wrong++
		}
		print wrong + 0, unknown + 0
	}'
}

# look_at MODE: sets wrong and unknown. A hole has no line in pages. 1: the workload did not run.
look_at()
{
	local seen said

	"$PFSCOPE" run --no-bars -o "$T/rec" -- "$WORK/partly" "$1" >"$T/report" 2>"$T/log" || return
	seen=$(value present "$T/report")
	said=$(pages_of "$T/report" "$T/rec")
	case $1 in *-hole) said=${said:0:20}0${said:20} ;; esac
	read -r wrong unknown < <(wrong "$seen" "$said")
	printf '%s\n' "$seen" "$said" >"$T/log"
}

# partly MODE [UNKNOWN]: no page is wrong, and no more than that are unknown; at most addresses, for a file that ends
# where a fault-around would end anyway does not show that it does.
partly()
{
	local wrong=1 unknown=0 try status

	for try in 1 2 3 4; do
		look_at "$1"
		status=$?
		[ $status = 77 ] && { skip "$1: $(grep -m1 skipped "$T/report")"; return; }
		[ $status = 0 ] && [ "$wrong" = 0 ] && [ "$unknown" -gt "${2:-0}" ] || break
	done
	ok "$1: right, but for $unknown unknown" test "$status $wrong" = '0 0' -a "$unknown" -le "${2:-0}" ||
		diag "$(<"$T/log")"
}

# The end of a file.
for mode in map private around whole locked future current; do
	partly file-$mode
done
partly memfd-map 64 # no event reports the faults of memory files
partly shared-map
partly none-map

# mremap of what is locked.
for mode in locked moved mapped all future onfault unlocked all-unlocked file forked; do
	partly grow-$mode
done
partly grow-all-onfault 64 # the kernel faults [vdso] in, which no event shows
partly exec-anon
partly exec-future
partly shm-future

# Calls that fail half-way.
for mode in hole readonly none unaligned; do
	partly madv-$mode
done
partly madv-file 48 # of a large folio only the first page has an event
partly mlock-hole
partly mlock-none 20 # it may have failed for the limit, as the next two do
partly mlock-file
partly mlock-limit
partly limit-none 20
partly guard 64

done_testing
