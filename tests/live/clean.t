#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# However pfscope ends, nothing of it traces on, and nothing else in tracefs has changed.

. "${0%/*}/live.sh"

# start MARK: a pfscope that records for as long as the test likes ($T/MARK.end); $victim, once it traces.
start()
{
	PFSCOPE_TEST=$$-$1 "$PFSCOPE" run --no-bars -- \
		sh -c 'until [ -e "$0" ]; do sleep 0.2; done' "$T/$1.end" >/dev/null 2>&1 &
	victim=$!
	wait_for 20 is_tracing $victim
}

# kill_all MARK: pfscope with its helpers.
kill_all()
{
	kill -9 $(keepers_of "$$-$1") $victim
	wait $victim 2>/dev/null
	touch "$T/$1.end"
}

somebody_else
tracefs_state >"$T/before"

# ---- kill -9 at all sorts of moments ----

RANDOM=1
left=0 lost=0
for i in $(some {1..24}); do
	"$WORK/loop" $((60 * slowness)) >"$T/loop" 2>&1 &
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
	no_instance_of $victim || left=$((left + 1))
	kill -0 $target 2>/dev/null && [ "$(cut -d' ' -f3 /proc/$target/stat)" != T ] || lost=$((lost + 1))
	kill $target 2>/dev/null
	wait $target 2>/dev/null
done
is $left 0 'killed at all sorts of moments: no instance is left after a second'
is $lost 0 'and the process attached to runs on'
ok 'no file under the final name' test ! -e "$T/killed"
"$PFSCOPE" run -- sh -c "touch $T/started; sleep 0.5; echo through >$T/survived" >/dev/null 2>&1 &
victim=$!
wait_for 20 test -e "$T/started"
{ kill -9 $victim; wait $victim; } 2>/dev/null
ok 'and a command that it started runs on' wait_for 5 grep -q through "$T/survived"
tracefs_state >"$T/after"
same "$T/before" "$T/after" 'the rest of tracefs is as it was'

# ---- its keeper killed as well ----

start both
instance=$(instances_of $victim)
like "$instance" '^pfscope-' 'an instance is there'
is "$(keepers_of $$-both | wc -l)" 2 'keepers watch'
kill_all both
is "$(instances_of $victim)" "$instance" 'both killed: the instance is left'
pfscope clean
like "$status: $out" '^0: [1-9][0-9]* instances? removed$' 'pfscope clean removes it'
is "$(instances_of $victim)" "" 'and it is gone'
pfscope clean
is "$status: $out" '0: 0 instances removed' 'nothing to clean is no error'

start next
kill_all next
"$PFSCOPE" run --no-bars -- true
is "$(instances_of $victim)" "" 'the next start removes what is left'

# Its parent does not ask what became of it: a dead one all the same.
PFSCOPE_TEST=$$-zombie bash -c '"$0" run -- sh -c "until [ -e $2 ]; do sleep 0.2; done" >/dev/null 2>&1 &
	echo $! >"$1"; exec sleep 1000' "$PFSCOPE" "$T/victim" "$T/zombie.end" &
parent=$!
wait_for 20 test -s "$T/victim"
victim=$(<"$T/victim")
wait_for 20 is_tracing "$victim"
kill -9 $(keepers_of $$-zombie) "$victim"
touch "$T/zombie.end"
ok 'killed, and not waited for' wait_for 2 grep -q ') Z ' "/proc/$victim/stat"
"$PFSCOPE" run --no-bars -- true
is "$(instances_of "$victim")" "" 'the next start removes what it left'
kill $parent
wait $parent 2>/dev/null

start alive
pfscope clean
like "$(instances_of $victim)" '^pfscope-' "clean leaves a running pfscope's alone"
touch "$T/alive.end"
wait $victim
ok 'which removes it itself' no_instance_of $victim
tracefs_state >"$T/after"
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
	exec "$0" run --source=ftrace -- true' "$PFSCOPE"
is "$status" 1 'no tracefs: 1'
like "$err" 'mount -t tracefs nodev /sys/kernel/tracing' 'and how to mount it'
cp "$PFSCOPE" "$T/copy"
chmod 755 "$T" "$T/copy"
try setpriv --reuid=65534 --regid=65534 --clear-groups "$T/copy" run --source=ftrace -- true
is "$status" 1 'an ordinary user: 1'
like "$err" '^pfscope: .*(root|sudo)' 'and one line that says what it takes'

done_testing
