# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The naive simulator that --microset is compared with, for microset.guest.

# fifo N COW [SAID]: the references that a FIFO of N pages for each thread would show, from the order that
# tests/workload/order printed: "TID PAGE" lines. A page that is in the FIFO shows no access, but with COW=1 the first write to
# it: it gets its own copy. An access that shows twice (such a page that was not in it) is one.
fifo()
{
	awk -v max="$1" -v cow="$2" '
		NF == 3 {
			key = $1 " " $2
			show = 0
			if (!(key in inside)) {
				show = inside[key] = 1
				queue[$1, tail[$1]++] = $2
				if (tail[$1] - head[$1] > max)
					delete inside[$1 " " queue[$1, head[$1]++]]
			}
			if (cow && $3 == "w" && !(key in written)) {
				show = written[key] = 1
			}
			if (show && last[$1] != key)
				print key
			if (show)
				last[$1] = key
		}'
}

# recorded EVENTS PAGES SAID: the same of a recording: the faults of the threads in SAID, with PAGES of each.
recorded()
{
	awk -v pages="$2" '
		function number(hex,	i, n) {
			for (i = 1; i <= length(hex); i++)
				n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		FNR == NR { known[$1]; next }
		$2 == "fault" && substr($5, 5) in known && $6 ~ /^addr=3[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]$/ {
			tid = substr($5, 5)
			key = tid " " number(substr($6, 7, 5)) % pages
			if (last[tid] != key)
				print key
			last[tid] = key
		}' "$3" "$1"
}
