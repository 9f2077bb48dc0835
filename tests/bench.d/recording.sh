# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What recording costs the traced program and others, in time and bytes, and how long it takes to begin and to end.
#
# The workload maps, touches and unmaps anew until PAGES (1 million) first touches are done, without huge pages, and
# says how long that section took and how much time of the processors it got. Each round runs every variant once; a
# ratio is that of two sections of the same round. What is printed is the median over the rounds, and in brackets the
# quartiles. MINUTE: seconds for which all processors fault without end (60; 0: not at all).

pages=${PAGES:-1000000}
flood=$dir/tests/workload/flood
once=("$flood" 1 10000 $((pages / 10000)))
seconds=${MINUTE:-60}

# The floor: the two events enabled for this process, and nobody reading.
bare_tracepoint()
{
	local status

	mkdir "$instance" || return
	echo 8192 >"$instance/buffer_size_kb"
	bash -c 'echo $$ >"$1/set_event_pid"; echo 1 >"$1/events/exceptions/enable"; shift; exec "$@"' - "$instance" "$@"
	status=$?
	echo 0 >"$instance/events/enable"
	rmdir "$instance"
	return $status
}

# ---- the traced program ----

record_once()
{
	section untraced "${once[@]}"
	section bare bare_tracepoint "${once[@]}"
	section file "$dir/pfscope" run --no-bars -o "$T/one.dat" -- "${once[@]}"
	section bars "$dir/pfscope" run -- "${once[@]}"
	section json "$dir/pfscope" run --no-bars --events=json -- sh -c '"$@" >"$0"' "$T/said" "${once[@]}"
	section stack "$dir/pfscope" run --stack=fp --no-bars -o "$T/stack.dat" -- "${once[@]}"
	if command -v perf >/dev/null; then
		section perf perf record -q -e page-faults -c 1 -d -o "$T/perf.data" -- "${once[@]}"
		section perf-g perf record -q -e page-faults -c 1 -d -g -o "$T/perf-g.data" -- "${once[@]}"
	fi
	section events "$dir/pfscope" run --source=perf --no-bars -o "$T/one.ev" -- "${once[@]}"
	! command -v trace-cmd >/dev/null || section trace-cmd trace_cmd record -q -o "$T/trace.dat" \
		-e exceptions:page_fault_user -F "${once[@]}"
}

# cost NAME WHAT: a row.
cost()
{
	[ -s "$T/$1" ] || { printf '%-38s %8s\n' "$2" '(not there)'; return; }
	printf '%-38s %8s  %-21s %-21s %s\n' "$2" "$(awk -v n="$pages" '{ print $1 / n * 1e6 }' "$T/$1" | quartiles 0)" \
		"$(ratios "$1" bare 1)" "$(ratios "$1" bare 2)" "$(ratios "$1" untraced 1)"
}

for ((i = 0; i < rounds; i++)); do
	record_once
done
echo "Cost of recording $pages first touches of anonymous memory, median of $rounds [quartiles]"
printf '%-38s %8s  %-21s %-21s %s\n' '' 'us/fault' 'x bare' 'x bare, cpu time' 'x untraced'
cost untraced 'untraced'
cost bare 'bare tracepoints, nobody reading'
cost file 'pfscope run -o FILE'
cost bars 'pfscope run (bars at the end)'
cost json 'pfscope run --events=json >/dev/null'
cost perf 'perf record -e page-faults -c 1 -d'
cost stack 'pfscope run --stack=fp -o FILE'
cost perf-g 'perf record -e page-faults -c 1 -d -g'
cost events 'pfscope run --source=perf -o FILE'
cost trace-cmd 'trace-cmd record -e ...page_fault_user'
"$dir/tests/tools/dat_bytes" "$T/one.dat" | awk -F '[ =]' '{
	printf "\nBytes of the file of %d events: %.3f x their own (header %.1f KiB, sub-buffers %.3f x)\n",
		$8, $2 / $10, $4 / 1024, $6 / $10 }'
[ ! -s "$T/perf-g" ] || printf 'Stacks by frame pointers, x perf record -g: time %s, cpu time %s, bytes %s\n' \
	"$(ratios stack perf-g 1)" "$(ratios stack perf-g 2)" \
	"$(awk -v a="$(stat -c %s "$T/stack.dat")" -v b="$(stat -c %s "$T/perf-g.data")" 'BEGIN { printf "%.2f", a / b }')"

# ---- others ----

# Not the target; on a processor of its own where the other one has enough to do.
other_once()
{
	local target=("$flood" 1 10000 100000000)

	section alone taskset -c 0 "${once[@]}"
	"$dir/pfscope" run --no-bars -- sleep 1000 & watched=$!
	sleep 0.5
	section idle taskset -c 0 "${once[@]}"
	kill $watched && wait $watched
	bare_tracepoint sleep 1000 & watched=$!
	sleep 0.5
	section armed taskset -c 0 "${once[@]}"
	pkill -P $watched && wait $watched
	taskset -c 1 "${target[@]}" >/dev/null & busy=$!
	section beside taskset -c 0 "${once[@]}"
	kill $busy && wait $busy
	taskset -c 1 "$dir/pfscope" run --no-bars -- "${target[@]}" >/dev/null & watched=$!
	sleep 0.5
	section watched taskset -c 0 "${once[@]}"
	kill $watched && wait $watched
} 2>/dev/null

if [ "$(nproc)" -gt 1 ]; then
	for ((i = 0; i < rounds; i++)); do
		other_once
	done
	echo
	echo "Cost for a process that is not the target, the same touches, median of $rounds [quartiles]"
	printf '%-38s %-21s %s\n' '' 'x without pfscope' 'cpu time'
	printf '%-38s %-21s %s\n' 'while the target sleeps' "$(ratios idle alone 1)" "$(ratios idle alone 2)" \
		'... of bare tracepoints, nobody reading' "$(ratios armed alone 1)" "$(ratios armed alone 2)" \
		'while the target faults' "$(ratios watched beside 1)" "$(ratios watched beside 2)"
fi

# ---- beginning and end ----

# The time at which the command runs, between that of before and after it; all in us. What the one before has left
# to others to remove is gone then.
moments()
{
	local name=$1 before began

	shift
	sleep 0.3
	before=${EPOCHREALTIME/./}
	began=$("$@" bash -c 'echo $EPOCHREALTIME') || exit 1
	echo "$before ${began/./} ${EPOCHREALTIME/./}" | awk '{ print $2 - $1, $3 - $2, $3 - $1 }' >>"$T/$name"
}

# added NAME COLUMN: "median [quartiles]" of the milliseconds more than without.
added()
{
	paste -d ' ' "$T/$1" "$T/none" | awk -v c="$2" '{ print ($c - $(c + 3)) / 1e3 }' | quartiles 1
}

# The kernel's own part: an instance with such buffers and that clock, and two of the events.
bare_instance()
{
	mkdir "$instance" || return
	echo 8192 >"$instance/buffer_size_kb"
	echo mono >"$instance/trace_clock"
	echo 1 >"$instance/events/exceptions/enable"
	"$@"
	rmdir "$instance" >/dev/null &		# after the end, as pfscope's is
}

for ((i = 0; i < 4 * rounds; i++)); do
	moments none env
	moments bare bare_instance
	moments run "$dir/pfscope" run --no-bars --
	moments drawn "$dir/pfscope" run --report-file /dev/null --
	moments kept "$dir/pfscope" run --no-bars -o "$T/one.dat" --
done
echo
echo "What a command that does nothing takes longer, milliseconds, median of $((4 * rounds)) [quartiles]"
printf '%-38s %-21s %-21s %s\n' '' 'until it runs' 'after its end' 'together'
for name in bare run drawn kept; do
	case $name in
	bare) what='an instance with that buffer and clock' ;;
	run) what='pfscope run --no-bars' ;;
	drawn) what='pfscope run (bars at the end)' ;;
	kept) what='pfscope run -o FILE' ;;
	esac
	printf '%-38s %-21s %-21s %s\n' "$what" "$(added $name 1)" "$(added $name 2)" "$(added $name 3)"
done

# ---- back to back ----

# enabled_events: "SYSTEM/EVENT" lines, those that a recording switches on.
enabled_events()
{
	"$dir/pfscope" run --no-bars -- bash -c 'sed "s,:,/," "$0"/instances/pfscope-$PPID-*/set_event' "$tracing"
}

# What a recording sets up in tracefs and removes, by hand.
bare_recording()
{
	local event

	mkdir "$instance" || return
	echo 8192 >"$instance/buffer_size_kb"
	echo mono >"$instance/trace_clock"
	echo 1 >"$instance/options/event-fork"
	for event in $events; do
		echo 1 >"$instance/events/$event/enable"
	done
	echo $$ >"$instance/set_event_pid"
	"$@"
	rmdir "$instance"
}

twice()
{
	"$@" && "$@"
}

events=$(enabled_events)
[ -n "$events" ] || { echo 'bench: no events of a recording found' >&2; exit 1; }
for ((i = 0; i < 4 * rounds; i++)); do
	sleep 0.3
	timed bare_twice twice bare_recording true
	sleep 0.3
	timed run_twice twice "$dir/pfscope" run --no-bars -- true
done
echo
echo "Two recordings of \`true' in a row, milliseconds each, median of $((4 * rounds)) [quartiles]"
printf '%-38s %s\n' "an instance with the same $(wc -w <<<"$events") events" \
	"$(awk '{ print $1 * 500 }' "$T/bare_twice" | quartiles 1)" \
	'pfscope run --no-bars -- true' "$(awk '{ print $1 * 500 }' "$T/run_twice" | quartiles 1)" \
	'... more than the instance' \
	"$(paste -d ' ' "$T/run_twice" "$T/bare_twice" | awk '{ print ($1 - $2) * 500 }' | quartiles 1)"

# ---- all processors at once ----

if [ "$seconds" -gt 0 ]; then
	"$dir/pfscope" run --no-bars -o "$T/minute.dat" -- "$flood" "$(nproc)" 10000 "${seconds}s" >"$T/out" || exit 1
	trace=$("$dir/tests/tools/dat_bytes" "$T/minute.dat")
	lost=$("$dir/pfscope" report "$T/minute.dat" | sed -n 's/.* events in .*, \(.* lost\).*/\1/p')
	"$dir/pfscope" run --source=perf --no-bars -o "$T/minute.ev" -- "$flood" "$(nproc)" 10000 "${seconds}s" >"$T/out.perf" || exit 1
	echo
	echo "$(nproc) processes faulting for $seconds s, default buffers: $(sed -n 's/^pages=//p' "$T/out") touches," \
		"$(sed 's/.* events=\([0-9]*\).*/\1/' <<<"$trace") events, ${lost:?not said}"
	echo "... through perf events: $(sed -n 's/^pages=//p' "$T/out.perf") touches, $("$dir/pfscope" report "$T/minute.ev" |
		sed -n 's/^\([0-9,]*\) events in .*, \(.* lost.*\|lost .*\)$/\1 events, \2/p')"
fi
