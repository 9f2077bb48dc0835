#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# kmap pause, resume, clear, stats: a recorder records exactly what a program makes before and after a pause, by whichever
# process, and after a clear; who may ask it; it outlives those who ask.

. "${0%/*}/live.sh"
need_programs "$WORK/objects"
[ -d $TRACING/events/kmem/kfree ] || skip_all "the kernel has no kmem events"

# begin FILE [OPTION...]: a recorder of a program that takes steps.
begin()
{
	local file=$1

	shift
	rm -f "$T/steps" "$T/done"
	mkfifo "$T/steps" "$T/done"
	PFSCOPE_TEST=control$$ "$PFSCOPE" kmap record -o "$file" "$@" -- "$WORK/objects" 0 0 0 steps \
		<"$T/steps" >"$T/done" 2>"$T/log" 4>&- &
	recorder=$!
	exec 3>"$T/steps" 4<"$T/done"
}

# step WORD...: waits until it is done.
step()
{
	local answer

	echo "$*" >&3
	read -rt 20 answer <&4 && [ "$answer" = done ] || fail "step $*"
}

# finish: the program has no more steps.
finish()
{
	exec 3>&- 4<&-
	wait $recorder
	status=$?
	is "$status|$(<"$T/log")" '0|' 'the recording ends well'
	no_instance_of $recorder
	is $? 0 '... and leaves no instance'
}

# objects_of FILE: those of the program's pipes in the order of their allocation, as CSV.
objects_of()
{
	"$PFSCOPE" kmap --csv "$1" | grep -E 'alloc_pipe_info.*"objects",[01]$' | sort -t, -k8,8n
}

# pipes FILE: how many, and of these how many are unsure, freed, of another process than the first.
pipes()
{
	objects_of "$1" | awk -F, 'NR == 1 { first = $3 } { unsure += $15; freed += $13 == "freed"; others += $3 != first }
		END { print NR, unsure + 0, freed + 0, others + 0 }'
}

control()
{
	pfscope kmap "$1" $recorder
}

# number WORD: what `stats' said of it.
number()
{
	grep -oE "[0-9,]+ $1" <<<"$out" | tr -d ', a-z'
}

# ---- before, during and after a pause ----

begin "$T/pause.dat"
step pipes 20
control pause
like "$status|$out|$err" "^0\\|$recorder: paused after [0-9.]+ m?s: [0-9,]+ events, [0-9.]+[KM], nothing lost\\|$" 'pause'
control pause
like "$status|$out" "^0\\|$recorder: already paused" 'once more: it is already paused'
is "$(cat "$TRACING/instances/pfscope-$recorder-"*/events/kmem/{kmalloc,kfree,kmem_cache_alloc}/enable | sort -u)" 0 \
	'the kernel has no work with objects meanwhile'
step drop
step pipes 30
control stats
like "$status|$out" "^0\\|$recorder: paused" 'stats: paused'
step fork
control resume
like "$status|$out" "^0\\|$recorder: resumed after a pause of " 'resume'
control resume
like "$status|$out" "^0\\|$recorder: not paused" 'once more: it is not paused'
step pipes 40
step drop
finish
is "$(pipes "$T/pause.dat" | cut -d' ' -f1,4)" '120 80' \
	'20 pipes before the pause, none of the 30 during it, 40 after it, by a child from during the pause'
is "$(objects_of "$T/pause.dat" | awk -F, 'NR <= 40 { before += $15 } NR > 40 { after += !$15 && $13 == "freed" }
	END { print before, after }')" '40 80' \
	'those from before are unsure, those from afterwards are not, and are freed'
"$PFSCOPE" kmap --stats "$T/pause.dat" >"$T/stats"
like "$(<"$T/stats")" 'recorded [0-9.]+ m?s of [0-9.]+ m?s: paused once' 'the tables say so'
is "$("$PFSCOPE" kmap --json "$T/pause.dat" | perl -MJSON::PP -e 'print decode_json(join("", <STDIN>))->{pauses}')" 1 'JSON, too'
like "$("$PFSCOPE" events "$T/pause.dat" 2>/dev/null | grep -oE 'key="(paused|resumed)"' | tr '\n' ' ')" \
	'^key="paused" key="resumed" $' 'each is noted'
is "$("$PFSCOPE" events "$T/pause.dat" 2>/dev/null | awk '/key="paused"/ { p = 1 } /key="resumed"/ { p = 0 }
	p && /func="alloc_pipe_info/ { n++ } END { print n + 0 }')" 0 '... and between them is no pipe'

# ---- cleared ----

begin "$T/clear.dat"
step pipes 100
step fork
control clear
like "$status|$out|$err" "^0\\|$recorder: cleared: [0-9,]+ events dropped\\|$" 'clear'
step pipes 7
control pause
events=$(number events)
control stats
like "$out" 'nothing lost' 'stats: what is lost'
kill -INT $recorder
sleep 0.2
kill -INT $recorder
exec 3>&- 4<&-
wait $recorder
ok 'ended by Ctrl-C while it is paused: the file is kept' test -s "$T/clear.dat"
no_instance_of $recorder
is $? 0 '... and leaves no instance'
is "$(pipes "$T/clear.dat")" '14 14 0 0' 'after clear: 7 pipes, by a child from before'
is "$("$PFSCOPE" kmap --csv "$T/clear.dat" | awk -F, '$2 ~ /alloc_pipe_info/ { print $14 }' | sort -u)" '"objects"' \
	'... whose name is known'
# Between the answer and the end only processes are recorded.
kernels=$(trace-cmd report -R "$T/clear.dat" 2>/dev/null | grep -cE ': (kmalloc|kmem_cache_alloc|kfree|kmem_cache_free)(_node)?:')
processes=$(trace-cmd report -R "$T/clear.dat" 2>/dev/null | grep -cE ': (sched_process_|task_)[a-z]+:')
ok 'stats: as many events as the file has' \
	test "$events" -ge "$kernels" -a "$events" -le $((kernels + processes)) ||
	diag "$events events, in the file $kernels of objects and $processes of processes"
is "$(trace-cmd report "$T/clear.dat" 2>/dev/null | grep -c '^ *objects-.*kmalloc.*alloc_pipe_info')" 14 'trace-cmd: no older objects'

begin "$T/twice.dat"
step pipes 50
control pause
step drop
control clear
like "$out" "^$recorder: cleared" 'clear while it is paused'
control stats
like "$out" "^$recorder: paused.* [0-9]+ events" '... which it stays'
control resume
step pipes 3
finish
is "$(pipes "$T/twice.dat")" '6 0 6 0' 'only what came after it was resumed'
like "$("$PFSCOPE" kmap --stats "$T/twice.dat")" 'recorded .* of .*: paused once' '... of the time since it was cleared'

# ---- who asks, whom ----

pfscope kmap pause $$
like "$status|$out|$err" "^1\\|\\|pfscope: process $$: does not record kernel objects" 'another process'
pfscope kmap stats 4194304
like "$status|$out|$err" '^1\|\|pfscope: process 4194304: no such process' 'no process'
pfscope kmap resume
is "$status" 2 'no PID'
pfscope kmap resume x
is "$status" 2 'no number'
pfscope kmap pause 1 2
is "$status" 2 'two of them'

begin "$T/asked.dat"
step pipes 4
if setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
	setpriv --reuid=65534 --clear-groups "$PFSCOPE" kmap pause $recorder >"$T/out" 2>"$T/err"
	like "$?|$(<"$T/out")$(<"$T/err")" "^1\\|pfscope: process $recorder: .*not allowed" 'another user'
	control stats
	unlike "$out" paused '... has changed nothing'
else
	skip 'another user' 'setpriv cannot become one'
fi
for signal in 0 0.001 0.003 0.01; do
	"$PFSCOPE" kmap stats $recorder >/dev/null 2>&1 &
	sleep $signal
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
done
kill -STOP $recorder
"$PFSCOPE" kmap pause $recorder >"$T/out" 2>&1 &
asker=$!
wait_for 10 eval 'grep -q " [0-9]* @pfscope-kmap-$recorder\$" /proc/net/unix && grep -q poll /proc/$asker/wchan'
kill -9 $asker
wait $asker 2>/dev/null
kill -CONT $recorder
control stats
like "$status|$out" "^0\\|$recorder: (paused|recording)" 'those who ask may be killed'
control resume
step pipes 6
finish
is "$(pipes "$T/asked.dat" | cut -d' ' -f1)" 20 '... and nothing is missing'

"$PFSCOPE" attach -d 60 $$ 2>/dev/null &
attached=$!
wait_for 20 has_entered $attached
pfscope kmap pause $attached
like "$status|$err" "^1\\|pfscope: process $attached: does not record kernel objects" 'a recorder of faults'
kill -INT $attached
wait $attached
no_keepers_of control$$
is $? 0 'no helper is left'
done_testing
