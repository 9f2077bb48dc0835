#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# However pfscope ends, nothing of it traces on, and nothing else in tracefs has changed.

. "${0%/*}/../tap.sh"
need_tracefs
tracing=/sys/kernel/tracing

# The instance of that pfscope: others may be at work on this machine.
ours()
{
	ls $tracing/instances | grep "^pfscope-$1-"
}

# All that another user of tracefs could notice, at the top level and in an instance of their own.
state()
{
	local file

	for file in tracing_on set_event set_event_pid current_tracer trace_clock buffer_size_kb \
		trace_options set_ftrace_pid tracing_cpumask kprobe_events dynamic_events; do
		echo "$file: $(cat $tracing/$file 2>/dev/null)"
	done
	cat $tracing/instances/another-$$/{tracing_on,set_event,set_event_pid,trace_clock,buffer_size_kb}
	grep -l 1 $tracing/events/*/enable 2>/dev/null
}

# gone PID WITHIN_DS: its instance is gone within so many tenths of a second.
gone()
{
	local i

	for ((i = 0; i <= $2; i++)); do
		[ "$(ours "$1")" ] || return 0
		sleep 0.1
	done
	return 1
}

# begun PID: its instance is there and switched on, which may take a moment on a busy machine.
begun()
{
	local i

	for ((i = 0; i < 100; i++)); do
		[ "$(cat $tracing/instances/pfscope-"$1"-*/tracing_on 2>/dev/null)" = 1 ] && return
		sleep 0.1
	done
	return 1
}

mkdir $tracing/instances/another-$$ || skip_all "no instance can be made"
at_exit rmdir $tracing/instances/another-$$
echo 1 >$tracing/instances/another-$$/events/sched/sched_process_exec/enable
state >"$T/before"

# ---- kill -9 at all sorts of moments ----

RANDOM=1
left=0 lost=0
for i in {1..24}; do
	"$WORK/loop" 60 >"$T/loop" 2>&1 &
	target=$!
	if ((i % 2)); then
		"$PFSCOPE" attach -o "$T/killed" $target >/dev/null 2>&1 &
	else
		"$PFSCOPE" run -o "$T/killed" -- sleep 0.5 >/dev/null 2>&1 &
	fi
	victim=$!
	sleep 0.$(printf '%03d' $((RANDOM % 400)))
	kill -9 $victim
	wait $victim 2>/dev/null
	gone $victim 10 || left=$((left + 1))
	kill -0 $target 2>/dev/null && [ "$(cut -d' ' -f3 /proc/$target/stat)" != T ] || lost=$((lost + 1))
	kill $target 2>/dev/null
	wait $target 2>/dev/null
done
is $left 0 'killed 24 times: no instance is left after a second'
is $lost 0 'and the process attached to runs on'
ok 'no file under the final name' test ! -e "$T/killed"
"$PFSCOPE" run -- sh -c "touch $T/started; sleep 0.5; echo through >$T/survived" >/dev/null 2>&1 &
victim=$!
for ((i = 0; i < 50; i++)); do
	[ -e "$T/started" ] && break
	sleep 0.1
done
{ kill -9 $victim; wait $victim; } 2>/dev/null
sleep 1
is "$(cat "$T/survived" 2>&1)" through 'and a command that it started runs on'
state >"$T/after"
same "$T/before" "$T/after" 'the rest of tracefs is as it was'

# ---- its keeper killed as well ----

PFSCOPE_TEST=$$-1 "$PFSCOPE" run -- sleep 3 >/dev/null 2>&1 &
victim=$!
begun $victim
instance=$(ours $victim)
# Both of them: one works, the other sees to it that it lives.
keeper_of()
{
	local pid

	for pid in $(pgrep -x pfscope-keeper); do
		grep -qsF "$1" /proc/"$pid"/environ && echo "$pid"
	done
}
keeper=$(keeper_of "PFSCOPE_TEST=$$-1")
ok 'a keeper watches' test "$keeper"
kill -9 $keeper $victim
wait $victim 2>/dev/null
is "$(ours $victim)" "$instance" 'both killed: the instance is left'
pfscope clean
like "$status: $out" '^0: [1-9][0-9]* instances? removed$' 'pfscope clean removes it'
is "$(ours $victim)" "" 'and it is gone'
pfscope clean
is "$status: $out" '0: 0 instances removed' 'nothing to clean is no error'

PFSCOPE_TEST=$$-2 "$PFSCOPE" run -- sleep 3 >/dev/null 2>&1 &
victim=$!
begun $victim
kill -9 $(keeper_of "PFSCOPE_TEST=$$-2") $victim
wait $victim 2>/dev/null
"$PFSCOPE" run --no-bars -- true
is "$(ours $victim)" "" 'the next start removes what is left'

# Its parent does not ask what became of it: a dead one all the same.
PFSCOPE_TEST=$$-3 bash -c '"$0" run -- sleep 3 >/dev/null 2>&1 & echo $! >"$1"; exec sleep 3' \
	"$PFSCOPE" "$T/victim" &
parent=$!
until [ -s "$T/victim" ]; do sleep 0.1; done
victim=$(cat "$T/victim")
begun "$victim"
kill -9 $(keeper_of "PFSCOPE_TEST=$$-3") "$victim"
sleep 0.1
is "$(cut -d' ' -f3 "/proc/$victim/stat")" Z 'killed, and not waited for'
"$PFSCOPE" run --no-bars -- true
is "$(ours "$victim")" "" 'the next start removes what it left'
kill $parent
wait $parent 2>/dev/null

"$PFSCOPE" run -- sleep 2 >/dev/null 2>&1 &
alive=$!
begun $alive
pfscope clean
ok "clean leaves a running pfscope's alone" test "$(ours $alive)"
wait $alive
ok 'which removes it itself' gone $alive 10
state >"$T/after"
same "$T/before" "$T/after" 'the rest of tracefs is as it was'

# ---- no room, no tracefs, no right ----

full()
{
	unshare -m bash -c 'mount -t tmpfs -o size=300k none "$1" && cd "$1" && shift && "$@"; s=$?
		ls -A; exit $s' - "$T/small" "$@" >"$T/out" 2>"$T/err"
	status=$? out=$(cat "$T/out") err=$(cat "$T/err")
}
mkdir "$T/small"
full env TMPDIR=. "$PFSCOPE" run -o rec --no-bars -- "$WORK/touch" 20000 write anon
is "$status" 1 'no room for the spool: 1'
like "$err" '^pfscope: .*No space left' 'and one line that says so'
unlike "$out" 'rec' 'nothing is left of the file'
is "$(grep -c '^pfscope' <<<"$err")" 1 'once'
full env TMPDIR=. "$PFSCOPE" run -o rec -- sh -c '"$0" 20000 write anon; sleep 0.5; echo to its end' \
	"$WORK/touch"
like "$out" 'to its end' 'the command is waited for all the same'
full "$PFSCOPE" run -o rec --no-bars -- "$WORK/touch" 20000 write anon
is "$status" 1 'no room for the file: 1'
like "$err" '^pfscope: .*No space left' 'and one line that says so'
unlike "$out" 'rec' 'nothing is left of the file'

try unshare -m bash -c 'umount /sys/kernel/tracing; umount -R /sys/kernel/debug
	exec "$0" run -- true' "$PFSCOPE"
is "$status" 1 'no tracefs: 1'
like "$err" 'mount -t tracefs nodev /sys/kernel/tracing' 'and how to mount it'
cp "$PFSCOPE" "$T/copy"
chmod 755 "$T" "$T/copy"
try setpriv --reuid=65534 --regid=65534 --clear-groups "$T/copy" run -- true
is "$status" 1 'an ordinary user: 1'
like "$err" '^pfscope: .*(root|sudo)' 'and one line that says what it takes'

done_testing
