#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# attach: the recording has the kernel's count of each process, from where it begins to the process's end or its own. The
# witness is /proc/PID/stat: of a process that has ended, but whose parent does not wait for it.

. "${0%/*}/live.sh"
cd "$T" || exit 1

# stat_of PID: its state, minor and major faults
stat_of()
{
	sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f1,8,10
}

is_in_state()
{
	[[ "$(stat_of "$1" 2>/dev/null)" = "$2 "* ]]
}

# start_stopped COMMAND...: sets $target, which waits, stopped, to become the command. Its parent never waits for it.
start_stopped()
{
	rm -f pid
	sh -c 'sh -c "kill -STOP \$\$; exec \"\$@\"" sh "$@" >said 2>&1 & echo $! >pid.new; mv pid.new pid; exec sleep 1000' sh "$@" &
	parent=$!
	wait_for 10 test -s pid
	target=$(<pid)
	wait_for 10 is_in_state "$target" T
}

# attach_all: to $target, which goes on when it is recorded, until it has ended
attach_all()
{
	"$PFSCOPE" attach --no-bars -o run.dat "$target" 2>err &
	attach=$!
	wait_for 20 eval '[ "$(cat /sys/kernel/tracing/instances/pfscope-$attach-*/tracing_on 2>/dev/null)" = 1 ] &&
		grep -qs poll /proc/$attach/wchan'
	before=$(stat_of "$target")
	kill -CONT "$target"
	wait $attach
	attached=$?
}

# counted PID: the note of its count, without the rest
counted()
{
	"$PFSCOPE" events run.dat | sed -n "s/^[0-9.]* note pid=$1 .*key=\"counted\" value=\"\(.*\)\"$/\1/p"
}

# ended COMMAND...: is recorded from its start to its end.
ended()
{
	local name=$* after

	start_stopped "$@"
	attach_all
	wait_for 10 is_in_state "$target" Z
	after=$(stat_of "$target")
	is "$attached|$(<err)" '0|' "$name: it is recorded"
	read -r _ minor major <<<"$before"
	read -r _ after_minor after_major <<<"$after"
	is "$(counted "$target")" "minor=$((after_minor - minor)) major=$((after_major - major))" \
		"$name: the count is the kernel's"
	kill $parent
	wait $parent 2>/dev/null
}

sleep 1000 &
sleeper=$!
at_exit eval "kill $sleeper 2>/dev/null"
wait_for 5 is_in_state $sleeper S
pfscope attach --no-bars -d 0.3 -o run.dat $sleeper
[ "$(counted $sleeper)" ] || skip_all 'the kernel has no taskstats for this namespace'
is "$status|$(counted $sleeper)" '0|minor=0 major=0' 'one that sleeps on at the end: none'

ended "$WORK/touch" 64 write anon
pfscope report --check run.dat
is "$status|$err" '0|' 'report --check: every fault is accounted for' || diag "$out"
like "$out" 'page faults as the kernel accounts them, of 1 process' '... of one process'
ended "$WORK/threads" 4 100
ended "$WORK/execs" 2 3
ended "$WORK/execs" 2 3 0 thread
ended "$WORK/forks" 3
is "$("$PFSCOPE" events run.dat | grep -c 'key="counted"')" "$("$PFSCOPE" events run.dat | grep -c ' exit .*last=1')" \
	'each process that ended has its count'
ended "$WORK/pages" map:20 mem-read:3
pfscope report --check run.dat
like "$out" ' 1  other get_user_pages' 'a page that the kernel faulted in without an exception is counted'
pfscope pages --csv run.dat
is "$(grep -c ',absent,' <<<"$out")" 0 'so any untouched page may be mapped'
ended "$WORK/pages" map:20 write:3
pfscope pages --csv run.dat
ok 'without one it is absent' test "$(grep -c ',absent,' <<<"$out")" -gt 3

sh -c 'while :; do :; done' &
looper=$!
at_exit eval "kill $looper 2>/dev/null"
wait_for 5 is_in_state $looper R
pfscope attach --no-bars -d 0.3 -o run.dat $looper
like "$status|$(counted $looper)" '^0\|minor=[0-9]+ major=[0-9]+ running=1$' 'one that runs: its count is not certain'
done_testing
