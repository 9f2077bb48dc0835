# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# How fast a recording of millions of events is read: PAGES times REPEAT.

pages=${PAGES:-100000}
repeat=${REPEAT:-40}	# of so many pages each: 4 million events

walk()
{
	"$dir/tests/tools/dat_dump" -n "$T/big.dat"
}

read_once()
{
	timed walk walk
	timed events "$dir/pfscope" events "$T/big.dat"
	timed render "$dir/pfscope" render "$T/big.dat"
	timed report "$dir/pfscope" report "$T/big.dat"
	timed trace-cmd trace-cmd report "$T/big.dat"
	[ ! -s "$T/perf.data" ] || timed perf perf script -i "$T/perf.data"
}

# line NAME WHAT: a row of the first table.
line()
{
	[ -s "$T/$1" ] || { printf '%-42s %8s\n' "$2" '(not there)'; return; }
	awk -v s="$(median "$T/$1")" -v base="$(median "$T/trace-cmd")" -v n="$events" -v what="$2" \
		-v perf="$([ ! -s "$T/perf" ] || median "$T/perf")" 'BEGIN {
		printf "%-42s %8.3f %12.1f %10.1f %10s\n", what, s, n / s / 1e6, base / s,
			perf ? sprintf("%.1f", perf / s) : "-" }'
}

many=(bash -c "for ((i = 0; i < $repeat; i++)); do '$touch' $pages write anon >/dev/null; done")
"$dir/pfscope" run --no-bars -b 65536 -o "$T/big.dat" -- "${many[@]}" || exit 1
! command -v perf >/dev/null || perf record -q -m 64M -e exceptions:page_fault_user -e exceptions:page_fault_kernel \
	-o "$T/perf.data" -- "${many[@]}" >/dev/null 2>"$T/err" || { cat "$T/err" >&2; rm -f "$T/perf.data"; }
events=$(walk | awk '{ print $1 }')
for ((i = 0; i < rounds; i++)); do
	read_once
done
echo "Reading a recording of $events events ($(($(stat -c %s "$T/big.dat") >> 20)) MiB), median of $rounds"
printf '%-42s %8s %12s %10s %10s\n' '' seconds 'million/s' 'x trace-cmd' 'x perf'
line walk 'walk and merge (dat_dump -n)'
line events 'pfscope events'
line report 'pfscope report'
line render 'pfscope render'
line trace-cmd 'trace-cmd report'
line perf 'perf script (its own recording of the same)'
