#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# pfscope attach: enters processes that run at full speed without missing a change, leaves them as they
# were, and ends in each of the ways it can end.

. "${0%/*}/live.sh"

# start_loop ARG...: a process to attach to; sets $loop. Its checkpoints are $T/loop.PID.N.maps.
start_loop()
{
	rm -f "$T/ready"
	"$WORK/loop" 200 --prefix "$T/loop" "$@" >"$T/ready" &
	loop=$!
	wait_for 5 grep -q ready "$T/ready"
}

stop_loop()
{
	kill "$loop" 2>/dev/null
	wait "$loop"
}

# start_attach ARG...: sets $attach; the bars go to $T/err.
start_attach()
{
	"$PFSCOPE" attach "$@" >"$T/out" 2>"$T/err" &
	attach=$!
}

# ---- no change is missed ----

nr_checkpoints=$((slowness > 1 ? 4 : 10))

# flat_out NAME ATTACH-ARGS LOOP-ARGS CHECK-ARGS
flat_out()
{
	local name=$1 nr

	# shellcheck disable=SC2086 # words are meant
	start_loop $3
	# shellcheck disable=SC2086
	start_attach -o "$T/loop.dat" $2 "$loop"
	wait_for 20 has_entered $attach || diag "it does not trace"
	for ((nr = 0; nr < nr_checkpoints; nr++)); do
		kill -USR1 "$loop"
		wait_for 20 test -s "$T/loop.$loop.$nr.maps" || diag "no checkpoint $nr"
		sleep 0.1
	done
	kill -INT $attach
	wait $attach
	is $? 0 "$name: it ends"
	kill -0 "$loop"
	is $? 0 "$name: the process goes on"
	stop_loop
	# shellcheck disable=SC2086
	layouts_equal "$name" $4 "$T/loop.dat" "$T/loop.$loop".*.maps
	unlike "$(<"$T/err")" 'no known region|lost [0-9]' "$name: every fault is in a known region, nothing lost"
	rm -f "$T"/loop.*
}

flat_out 'at rest, nearly' '' '--threads 1 --pace 20' ''
flat_out '4 threads' '' '--threads 4 --pace 2000' ''
flat_out '16 threads at full speed' '' '--threads 16 --pace 5000' ''
[ $slowness = 1 ] && flat_out '16 threads at full speed, again' '' '--threads 16 --pace 5000' ''
flat_out 'through text' '--via text' '--threads 2 --pace 20' --coarse

# What it starts from then on is followed: the shell's child is the random workload.
mkfifo "$T/go"
(read -r _ <"$T/go" && "$WORK/layout" 5 "$T/child" && "$WORK/layout" 6 "$T/child") &
shell=$!
start_attach -o "$T/child.dat" $shell
wait_for 20 has_entered $attach
echo >"$T/go"
wait $attach
is $? 0 'it ends with the process, children included'
layouts_equal 'what the process starts later is followed' "$T/child.dat" "$T"/child.*.maps
wait $shell

started=${EPOCHREALTIME/./}
sleep $((60 * slowness)) &
sleeper=$!
sleep 0.1
pfscope attach -d 1 $sleeper
kill $sleeper
is "$status" 0 'it ends after -d 1'
ok 'it ends after -d 1, not before' test $((${EPOCHREALTIME/./} - started)) -ge 1100000

# Nothing happens at all: the layout is the one that /proc has.
sleep $((60 * slowness)) &
sleeper=$!
sleep 0.1
"$PFSCOPE" attach -d 0.2 -o "$T/quiet.dat" $sleeper 2>"$T/err"
"$PFSCOPE" maps "$T/quiet.dat" >"$T/quiet.maps"
ok 'a sleeping process: the layout is /proc/PID/maps' \
	"$TOOLS/mapsdiff" --full /proc/$sleeper/maps "$T/quiet.maps"

# ---- the process is left as it was ----

# What could be changed of a process from outside. (What it maps, changes by itself.)
environment()
{
	tr '\0' '\n' <"/proc/$1/environ"
	grep -E '^(State|TracerPid|Sig[PBIC]|Shd|NoNew|Seccomp|Cap|Cpus_allowed:|Uid|Gid|Threads)' "/proc/$1/status"
	cat "/proc/$1/"{limits,oom_score_adj,coredump_filter,personality,cgroup,timerslack_ns}
	for fd in "/proc/$1/fd/"*; do
		echo "$fd $(readlink "$fd")"
	done
}

environment $sleeper >"$T/before"
start_attach $sleeper
wait_for 20 has_entered $attach
environment $sleeper >"$T/during"
kill -INT $attach
wait $attach
is $? 0 'the first SIGINT: status 0'
like "$(<"$T/err")" 'sleep.*no events lost' 'the first SIGINT: bars and summary'
environment $sleeper >"$T/after"
same "$T/before" "$T/during" 'nothing of the process is changed while it is traced'
same "$T/before" "$T/after" 'nor afterwards'
ok 'no instance is left' no_instance_of $attach

# ---- how it ends ----

for signal in TERM HUP QUIT; do
	start_attach $sleeper
	wait_for 20 has_entered $attach
	kill -$signal $attach
	wait $attach
	is "$? $(grep -c 'no events lost' "$T/err")" '0 1' "SIG$signal: as SIGINT"
done

odd=
for _ in $(some 1 2 3); do
	timeout --preserve-status -s INT $((1 + slowness)) "$PFSCOPE" attach --no-bars -o "$T/timed.dat" $sleeper 2>"$T/err"
	said="$? $(<"$T/err")$(ls "$T/timed.dat")"
	[ "$said" = "0 $T/timed.dat" ] || odd+="$said "
	rm -f "$T/timed.dat"
done
is "$odd" '' 'timeout, which sends its signal twice: as once'

start_attach -o "$T/twice.dat" $sleeper
wait_for 20 has_entered $attach
kill -STOP $attach
kill -INT $attach
kill -TERM $attach
kill -CONT $attach
wait $attach
is $? 130 'two signals: it quits at once'
is "$(<"$T/err")" '' 'two signals: no bars'
ok 'two signals: no file, whole or half' test -z "$(find "$T" -name 'twice.dat*')"
ok 'two signals: no instance is left' no_instance_of $attach

# The second one while it draws: of a recording that takes a while.
start_loop --threads 8 --pace 5000
start_attach --full -o "$T/long.dat" "$loop"
wait_for 20 has_entered $attach
sleep 4
kill -INT $attach
stopped()
{
	! is_tracing $attach
}
wait_for 2 stopped
sleep 0.1	# not as timeout does it
started=${EPOCHREALTIME/./}
kill -INT $attach
wait $attach
is $? 130 'a second signal while it finishes: it quits'
ok 'a second signal while it finishes: at once' test $((${EPOCHREALTIME/./} - started)) -lt $((slowness * 1500000))
ok 'a second signal while it finishes: no instance is left' no_instance_of $attach
is "$(find "$T" -name 'long.dat.*')" '' 'a second signal while it finishes: no half file'
stop_loop

start_attach $sleeper
wait_for 20 has_entered $attach
kill $sleeper
wait $attach
is $? 0 'it ends with the process'
like "$(<"$T/err")" 'no events lost' 'it ends with the process: bars'

# ---- several ----

start_loop --pace 200
first=$loop
start_loop --pace 200
second=$loop
start_loop --pace 200
start_attach -d 0.5 -o "$T/two.dat" "$first" "$second" "$first"
wait $attach
is $? 0 'several processes'
is "$("$PFSCOPE" events "$T/two.dat" | grep -o ' pid=[0-9]*' | sort -u | tr -d '\n')" \
	"$(printf ' pid=%s\n' "$first" "$second" | sort -u | tr -d '\n')" 'these, and no other'
start_attach "$first" "$second"
wait_for 20 has_entered $attach
kill "$first"
sleep 0.2
ok 'several: it goes on when one ends' is_tracing $attach
kill "$second"
wait $attach
is $? 0 'several: it ends with the last'
stop_loop
wait

# ---- what cannot be attached to ----

# refuse STATUS REGEX NAME ARG...
refuse()
{
	local wanted=$1 regex=$2 name=$3

	shift 3
	pfscope attach "$@"
	is "$status$out" "$wanted" "$name: status $wanted"
	like "$err" "^pfscope[^:]*: $regex" "$name: it says why"
	is "$(grep -c '^pfscope' <<<"$err")" 1 "$name: in one line"
}

if [ $slowness = 1 ]; then
	start_loop --threads 2
	thread=$(find "/proc/$loop/task" -maxdepth 1 -name '[0-9]*' ! -name "$loop" -printf '%f\n' | head -1)
	refuse 1 'process 4194303: no such process' 'no such process' 4194303
	refuse 1 "process $thread: is a thread, not a process" 'a thread' "$thread"
	refuse 1 'process 2: is a kernel thread' 'a kernel thread' 2
	refuse 1 'process 4194303: no such process' 'one of two does not exist' "$loop" 4194303
	refuse 2 '0: not a process ID' 'no number' 0
	refuse 2 '-d: |--duration: ' 'no duration' -d x 1
	stop_loop
fi

# What a process makes and removes all the time, its programs included, whenever it is looked at.
# attach_often NAME PID: no fault is in no known region.
attach_often()
{
	local found=0

	for _ in $(some 1 2 3 4 5 6); do
		pfscope attach -d 0.1 --no-bars -o "$T/often.dat" "$2"
		found=$((found + $(outside "$T/often.dat")))
	done
	is $found 0 "$1: every fault is in a known region"
	like "$("$PFSCOPE" events "$T/often.dat")" ' fault ' "$1: and there are some"
	kill "$2"
	wait "$2"
}

"$WORK/fleeting" >"$T/ready" &
at_exit kill $!
attach_often 'regions that live for a moment' $!
echo 'exec sh "$0"' >"$T/again.sh"
sh "$T/again.sh" &
at_exit kill $!
attach_often 'one exec after the other' $!

# One that ends at any moment while it is entered: bars, or a clear word.
odd=
for ms in $(some 010 030 050 060 070 080 090 100 110 120 130 150 170 200); do
	sleep 0.$ms &
	pid=$!
	pfscope attach $pid
	case $status-$err in
	0-*'no events lost'*) ;;
	1-"pfscope: process $pid: no such process") ;;
	1-"pfscope: process $pid: is a kernel thread or has ended"*) ;;
	*) odd="$odd $ms ms: status $status: $err" ;;
	esac
	wait $pid
done
is "$odd" '' 'one that ends while it is entered'
done_testing
