#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# tests/vm/boot itself: what it passes on of the command, that it tells when a guest fails, and that it leaves
# nothing behind. Without this no test in a guest would mean much.

KERNELS=${KERNELS:-6.1}
. "${0%/*}/vm.sh"
kernel=${KERNELS%% *}

# guest NAME ARG...: to $T/NAME.out, $T/NAME.err, $T/NAME.status.
guest()
{
	local name=$1

	shift
	"$ROOT/tests/vm/boot" -k "$kernel" "$@" >"$T/$name.out" 2>"$T/$name.err"
	echo $? >"$T/$name.status"
}

status_of()
{
	cat "$T/$1.status"
}

# shellcheck disable=SC2016 # for the guest's shell
{
	guest passes -w "$T/share" -e 'WORD=two words' -- bash -c 'printf "a\r\n\0\377%s" "$WORD"
		uname -r >"$0/release"; touch "/tmp/$1"; exit 7' "$T/share" "pfscope-guest-wrote.$$" &
	guest killed -- bash -c 'kill -KILL $$' &
	guest slow -t 15 -- sleep 100 &
	guest panics -- sh -c 'echo c >/proc/sysrq-trigger; sleep 10' &
	guest sleeps -- sh -c 'now() { cat /sys/class/rtc/rtc0/since_epoch; }; from=$(now); sleep 5; echo $(($(now) - from))' &
	guest small -m 40 -- touch "/tmp/pfscope-guest-wrote.$$" &
	guest warns -- sh -c 'echo "<4>WARNING: CPU: 0 made up" >/dev/kmsg; exit 0' &
}
wait
is "$(status_of passes)" 7 'the exit status is passed on'
ok "a guest's second is not shorter than the machine's" test "$(cat "$T/sleeps.out")" -ge 4
printf 'a\r\n\0\377two words' >"$T/wanted"
same "$T/wanted" "$T/passes.out" 'output is passed on as it is, arguments and variables, too'
is "$(cat "$T/share/release")" "$("$ROOT/tests/vm/kernel" -n "$kernel")" 'the kernel is the newest; shares can be written to'
ok 'nothing else reaches the host' test ! -e "/tmp/pfscope-guest-wrote.$$"
is "$(status_of killed)" 137 'killed by a signal: 128 + its number'
is "$(status_of slow)" 124 'out of time: 124'
like "$(<"$T/slow.err")" 'out of time: 15 s' 'out of time: it says so'
is "$(status_of panics)" 125 'a guest that dies: 125'
like "$(<"$T/panics.err")" 'the guest died' 'a guest that dies: it says so'
like "$(<"$T/panics.err")" 'sysrq' 'a guest that dies: with its last words'
is "$(status_of small) $(grep -c 'before its command ran; once more' "$T/small.err") $(grep -c "guest died (qemu" "$T/small.err")" \
	'125 1 1' 'a guest that dies before its command runs: a second one gets its turn, no third'
is "$(status_of warns)" 125 'a kernel that complains: 125, though the command succeeded'
is "$("$ROOT/tests/vm/boot" -k 6.1 2>/dev/null; echo $?)" 125 'no command: 125'
is "$("$ROOT/tests/vm/boot" -k 5.99 -- true 2>/dev/null; echo $?)" 125 'no such kernel: 125'

# started PID: its guest runs.
started()
{
	local i

	for ((i = 0; i < 4000; i++)); do # others may have all places for guests
		grep -qs GUEST_RUNS "${TMPDIR:-/tmp}/pfscope-guest.$1/console" && return
		sleep 0.1
	done
	return 1
}

# left_of PID: processes of that boot's.
left_of()
{
	pgrep -f "pfscope-guest\.$1/" | wc -l
}

for signal in TERM KILL; do
	"$ROOT/tests/vm/boot" -k "$kernel" -- sleep 100 >/dev/null 2>&1 &
	victim=$!
	ok "SIG$signal: its guest runs" started $victim
	ok "SIG$signal: as processes of its own ($(left_of $victim))" test "$(left_of $victim)" -ge 2
	{ kill -$signal $victim; wait $victim; } 2>/dev/null
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(left_of $victim)" = 0 ] && break
		sleep 0.2
	done
	is "$(left_of $victim)" 0 "SIG$signal: nothing of it runs on"
	rm -rf "${TMPDIR:-/tmp}/pfscope-guest.$victim"
done
done_testing
