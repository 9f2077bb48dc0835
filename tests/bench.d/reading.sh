# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# How fast a recording of millions of events is read: PAGES times REPEAT. As the kernel's own pages (version 6),
# compressed (version 7, zstd), and as a million lines of text as trace_pipe has them.

pages=${PAGES:-100000}
repeat=${REPEAT:-40}	# of so many pages each: 4 million events
lines=${LINES_OF_TEXT:-1000000}

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
	timed cat cat "$T/big.dat"
	timed tape "$dir/pfscope" tape "$T/big.dat"
	timed tape-binary "$dir/pfscope" tape --format binary "$T/big.dat"
	timed mrc "$dir/pfscope" mrc "$T/big.dat"
	for filter in "${filters[@]}"; do
		timed "render-$filter" "$dir/pfscope" render "--$filter" "$T/big.dat"
	done
	timed trace-cmd trace-cmd report "$T/big.dat"
	[ ! -s "$T/perf.data" ] || timed perf perf script -i "$T/perf.data"
	if [ -s "$T/big7.dat" ]; then
		timed render7 "$dir/pfscope" render "$T/big7.dat"
		timed trace-cmd7 trace-cmd report "$T/big7.dat"
	fi
	timed text "$dir/pfscope" render "$T/big.txt"
}

# times NAME BASE: how many times as long BASE takes, round by round; "-" if there is none.
times()
{
	[ -s "$T/$2" ] || { echo -; return; }
	paste "$T/$2" "$T/$1" | awk '{ print $1 / $2 }' | quartiles 1
}

# line NAME EVENTS WHAT [BASE]: a row of the table; BASE is what trace-cmd took.
line()
{
	[ -s "$T/$1" ] || { printf '%-42s %22s\n' "$3" '(not there)'; return; }
	awk -v s="$(median "$T/$1")" -v spread="$(quartiles <"$T/$1")" -v n="$2" -v what="$3" \
		-v trace_cmd="$(times "$1" "${4:-none}")" -v perf="$([ "${4-}" != trace-cmd ] && echo - ||
		times "$1" perf)" 'BEGIN {
		printf "%-42s %22s %10.1f %20s %20s\n", what, spread, n / s / 1e6, trace_cmd, perf }'
}

# Lines of trace_pipe from those of trace-cmd report.
to_text()
{
	trace-cmd report "$T/big.dat" 2>/dev/null | head -n $((lines + 100)) | awk '/page_fault_/ {
		match($0, /-[0-9]+ +\[/); tid = substr($0, RSTART + 1) + 0
		match($0, /\[[0-9]+\]/); cpu = substr($0, RSTART, RLENGTH)
		match($0, /[0-9]+\.[0-9]+:/); time = substr($0, RSTART, RLENGTH)
		match($0, /page_fault_[a-z]+/); name = substr($0, RSTART, RLENGTH)
		match($0, /address=/)
		printf "%16s-%-7d %s d.... %13s %s: %s\n", "touch", tid, cpu, time, name, substr($0, RSTART) }'
}

many=(bash -c "for ((i = 0; i < $repeat; i++)); do '$touch' $pages write anon >/dev/null; done")
"$dir/pfscope" run --no-bars -b 65536 -o "$T/big.dat" -- "${many[@]}" || exit 1
! command -v perf >/dev/null || perf record -q -m 64M -e exceptions:page_fault_user -e exceptions:page_fault_kernel \
	-o "$T/perf.data" -- "${many[@]}" >/dev/null 2>"$T/err" || { cat "$T/err" >&2; rm -f "$T/perf.data"; }
trace-cmd convert -i "$T/big.dat" -o "$T/big7.dat" --file-version 7 --compression zstd >/dev/null 2>&1 ||
	rm -f "$T/big7.dat"
to_text >"$T/big.txt"
lines=$(wc -l <"$T/big.txt")
events=$(walk | awk '{ print $1 }')
refs=$("$dir/pfscope" tape --by=all "$T/big.dat" | sed -n 's/^tape all references=\([0-9]*\).*/\1/p')
pid=$("$dir/pfscope" report --csv "$T/big.dat" | awk -F, '$1 == "process" { print $2; exit }')
filters=(from=0.1 to=1000 pid="$pid" 'comm=touch*' region=anon)
for ((i = 0; i < rounds; i++)); do
	read_once
done
echo "Reading a recording of $events events ($(($(stat -c %s "$T/big.dat") >> 20)) MiB), median of $rounds [quartiles]"
printf '%-42s %22s %10s %20s %20s\n' '' seconds million/s 'x trace-cmd' 'x perf'
line walk "$events" 'walk and merge (dat_dump -n)' trace-cmd
line events "$events" 'pfscope events' trace-cmd
line report "$events" 'pfscope report' trace-cmd
line render "$events" 'pfscope render' trace-cmd
line tape "$refs" 'pfscope tape, references'
line tape-binary "$refs" 'pfscope tape --format binary, references'
line mrc "$refs" 'pfscope mrc, references'
line trace-cmd "$events" 'trace-cmd report' trace-cmd
line perf "$events" 'perf script (its own recording of the same)' trace-cmd
line render7 "$events" 'pfscope render, compressed' trace-cmd7
line trace-cmd7 "$events" 'trace-cmd report, compressed' trace-cmd7
line text "$lines" "pfscope render, text of $lines lines"

echo
printf '%-42s %22s\n' 'pfscope render, x cat FILE' "$(times cat render)"
for filter in "${filters[@]}"; do
	printf '%-42s %22s\n' "pfscope render --$filter, x render" "$(times render "render-$filter")"
done
