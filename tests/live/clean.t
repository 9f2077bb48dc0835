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

mkdir $tracing/instances/another-$$ || skip_all "no instance can be made"
at_exit rmdir $tracing/instances/another-$$
echo 1 >$tracing/instances/another-$$/events/sched/sched_process_exec/enable
state >"$T/before"

# ---- kill -9 at all sorts of moments ----

RANDOM=1
left=0 lost=0
for i in {1..24}; do
	"$WORK/loop" 2 >"$T/loop" 2>&1 &
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
state >"$T/after"
same "$T/before" "$T/after" 'the rest of tracefs is as it was'

# ---- its keeper killed as well ----

PFSCOPE_TEST=$$-1 "$PFSCOPE" run -- sleep 3 >/dev/null 2>&1 &
victim=$!
sleep 0.4
instance=$(ours $victim)
# The keeper is the one that began when this pfscope did: the newest but for those of others.
keeper_of()
{
	local pid

	for pid in $(pgrep -x pfscope-keeper); do
		grep -qsF "$1" /proc/"$pid"/environ && echo "$pid"
	done
}
keeper=$(keeper_of "PFSCOPE_TEST=$$-1")
ok 'a keeper watches' test "$keeper"
kill -9 "$keeper" $victim
wait $victim 2>/dev/null
is "$(ours $victim)" "$instance" 'both killed: the instance is left'
pfscope clean
like "$status: $out" '^0: [1-9][0-9]* instances? removed$' 'pfscope clean removes it'
is "$(ours $victim)" "" 'and it is gone'
pfscope clean
is "$status: $out" '0: 0 instances removed' 'nothing to clean is no error'

PFSCOPE_TEST=$$-2 "$PFSCOPE" run -- sleep 3 >/dev/null 2>&1 &
victim=$!
sleep 0.4
kill -9 "$(keeper_of "PFSCOPE_TEST=$$-2")" $victim
wait $victim 2>/dev/null
"$PFSCOPE" run --no-bars -- true
is "$(ours $victim)" "" 'the next start removes what is left'

"$PFSCOPE" run -- sleep 2 >/dev/null 2>&1 &
alive=$!
sleep 0.4
pfscope clean
ok "clean leaves a running pfscope's alone" test "$(ours $alive)"
wait $alive
is "$(ours $alive)" "" 'which removes it itself'
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
