# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Kernel objects: how fast allocations and frees are paired by the number of objects that live (tests/tools/pair_speed;
# the aim: 20 million events/s) and how much memory that takes; what recording them costs the traced program, compared
# with the same tracepoints in an instance that nobody reads (the aim: 1.05 times); and how fast the recording is read.
#
# The workload makes PIPES (100,000) pipes and closes each at once. Each round runs every variant once; a ratio is that of
# two sections of the same round.

pipes=${PIPES:-100000}
once=("$dir/tests/workload/objects_known" again pipe="$pipes")

for ((i = 0; i < rounds; i++)); do
	for live in 500 50000 500000; do
		"$dir/tests/tools/pair_speed" $live >"$T/out" || exit 1
		sed 's/[a-z]*=//g' "$T/out" >>"$T/live-$live"
	done
done
echo "Pairing of 20 million allocations and frees, median of $rounds [quartiles]"
printf '%-38s %24s %20s\n' 'objects that live' million/s 'bytes per live one'
for live in 500 50000 500000; do
	printf '%-38s %24s %20s\n' $live "$(awk '{ print $1 * 1e3 / $2 }' "$T/live-$live" | quartiles 1)" \
		"$(awk '{ print $4 / $3 }' "$T/live-$live" | quartiles 0)"
done

# ---- recording ----

# "SYSTEM/EVENT" lines, those that a recording switches on, but for pfscope's own.
enabled_events()
{
	# shellcheck disable=SC2016 # the shell that is recorded
	"$dir/pfscope" kmap record -o "$T/one.dat" -- \
		bash -c 'sed "s,:,/," "$0"/instances/pfscope-$PPID-*/set_event' "$tracing"
}

# The floor: the same events, and nobody reading.
bare_objects()
{
	local event status

	mkdir "$instance" || return
	echo 8192 >"$instance/buffer_size_kb"
	for event in $events; do
		echo 1 >"$instance/events/$event/enable"
	done
	"$@"
	status=$?
	echo 0 >"$instance/events/enable"
	rmdir "$instance"
	return $status
}

record_once()
{
	section untraced "${once[@]}"
	section bare bare_objects "${once[@]}"
	section file "$dir/pfscope" kmap record -o "$T/one.dat" -- "${once[@]}"
	section tables "$dir/pfscope" kmap record -- "${once[@]}"
	! command -v perf >/dev/null || section perf perf record -q -a -m 8M -e kmem:kmalloc -e kmem:kmem_cache_alloc \
		-e kmem:kfree -e kmem:kmem_cache_free -o "$T/perf.data" -- "${once[@]}"
	! command -v trace-cmd >/dev/null || section trace-cmd trace_cmd record -q -o "$T/trace.dat" -b 8192 \
		-e kmem:kmalloc -e kmem:kmem_cache_alloc -e kmem:kfree -e kmem:kmem_cache_free "${once[@]}"
}

# cost NAME WHAT: a row.
cost()
{
	[ -s "$T/$1" ] || { printf '%-38s %8s\n' "$2" '(not there)'; return; }
	printf '%-38s %8s  %-21s %-21s %s\n' "$2" "$(awk -v n="$pipes" '{ print $1 / n * 1e6 }' "$T/$1" | quartiles 0)" \
		"$(ratios "$1" bare 1)" "$(ratios "$1" bare 2)" "$(ratios "$1" untraced 1)"
}

events=$(enabled_events)
[ -n "$events" ] || { echo 'bench: no events of a recording found' >&2; exit 1; }
for ((i = 0; i < rounds; i++)); do
	record_once
done
echo
echo "Cost of recording the objects of $pipes pipes, each closed at once, median of $rounds [quartiles]"
printf '%-38s %8s  %-21s %-21s %s\n' '' 'us/pipe' 'x bare' 'x bare, cpu time' 'x untraced'
cost untraced 'untraced'
cost bare 'bare tracepoints, nobody reading'
cost file 'pfscope kmap record -o FILE'
cost tables 'pfscope kmap record (tables at the end)'
cost perf 'perf record -a -e kmem:...'
cost trace-cmd 'trace-cmd record -e kmem:...'

# ---- reading ----

for ((i = 0; i < rounds; i++)); do
	timed stats "$dir/pfscope" kmap --stats "$T/one.dat"
	timed lines "$dir/pfscope" kmap "$T/one.dat"
	! command -v trace-cmd >/dev/null || timed report trace-cmd report "$T/one.dat"
	[ ! -s "$T/perf.data" ] || timed perf-kmem perf kmem -i "$T/perf.data" --slab --caller --alloc --raw-ip stat
done
"$dir/pfscope" kmap --stats --csv "$T/one.dat" | awk -F, '$1 == "recording" { print $2 + $3 + $6 + $7 }' >"$T/nr"
echo
echo "Reading a recording of $(<"$T/nr") allocations and frees ($(($(stat -c %s "$T/one.dat") >> 20)) MiB)," \
	"median of $rounds [quartiles]"
printf '%-38s %24s %20s\n' '' seconds million/s
for name in stats lines report perf-kmem; do
	case $name in
	stats) what='pfscope kmap --stats' ;;
	lines) what='pfscope kmap' ;;
	report) what='trace-cmd report' ;;
	perf-kmem) what='perf kmem stat (its own recording)' ;;
	esac
	[ -s "$T/$name" ] || { printf '%-38s %24s\n' "$what" '(not there)'; continue; }
	printf '%-38s %24s %20.1f\n' "$what" "$(quartiles <"$T/$name")" \
		"$(awk -v n="$(<"$T/nr")" -v s="$(median "$T/$name")" 'BEGIN { print n / s / 1e6 }')"
done
