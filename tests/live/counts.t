#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# Counts of faults: workloads of every kind print what the kernel must have counted (tests/workload's
# README has the table), and pfscope has recorded just that; `report --check` explains what is left.

. "${0%/*}/../tap.sh"
need_tracefs

# value KEY: of the workload's report.
value()
{
	sed -n "s/^$1=//p" "$T/report" | tail -n 1
}

# faults MODE: recorded ones in [start, end) between t0 and t1.
faults()
{
	awk -v mode="mode=$1" -v start="$(value start)" -v end="$(value end)" \
		-v t0="$(value t0_ns)" -v t1="$(value t1_ns)" '
	function pad(hex) { return sprintf("%16s", hex) }
	$2 == "fault" {
		split($1, t, ".")
		ns = t[1] * 1000000000 + t[2]
		addr = ""
		for (i = 3; i <= NF; i++) {
			if ($i ~ /^addr=/) addr = substr($i, 6)
			if ($i == mode) right = NR
		}
		sub(/^0x/, "", start); sub(/^0x/, "", end)
		if (right == NR && ns >= t0 && ns <= t1 && pad(addr) >= pad(start) && pad(addr) < pad(end))
			n++
	}
	END { print n + 0 }' "$T/events"
}

# counted NAME [ARG...]: one workload.
counted()
{
	local user kernel

	"$PFSCOPE" run --count --no-bars -o "$T/rec" -- "$WORK/$1" "${@:2}" >"$T/report" 2>"$T/log"
	status=$?
	if [ $status = 77 ]; then
		diag "$*: $(grep -m1 skipped "$T/report" "$T/log")"
		return
	fi
	is $status 0 "$*: runs" || { diag "$(cat "$T/log")"; return; }
	"$PFSCOPE" events "$T/rec" >"$T/events"
	user=$(value expect_user) kernel=$(value expect_kernel)
	[ "$user" ] && is "$(faults user)" "$user" "$*: faults in user mode"
	[ "$kernel" ] && is "$(faults kernel)" "$kernel" "$*: faults in kernel mode"
	pfscope report --check "$T/rec"
	is "$status" 0 "$*: every fault is accounted for" || diag "$out$err"
}

# reason TEXT: how many faults the check puts down to it.
reason()
{
	grep -F "$1" <<<"$out" | awk '{ print $1; exit }'
}

# exactly TEXT MIN NAME...: so many, and at most two more (the workload warms its code up).
exactly()
{
	local n

	n=$(reason "$1")
	ok "${*:3}: ${n:-0}" test "${n:-0}" -ge "$2" -a "${n:-0}" -le $(($2 + 2))
}

for access in read write exec; do
	for what in anon shared file private-file; do
		counted touch 256 $access $what
	done
done
counted populate 100 map
exactly '(populate)' 100 'put down to MAP_POPULATE'
counted populate 100 read
exactly '(populate)' 100 'put down to MADV_POPULATE_READ'
counted populate 100 write
exactly '(populate)' 100 'put down to MADV_POPULATE_WRITE'
counted lock 100 mlock
exactly '(mlock)' 100 'put down to mlock'
counted lock 100 onfault
is "$(reason '(mlock)')" "" 'nothing put down to mlock2 with MLOCK_ONFAULT'
counted lock 100 current
ok 'put down to mlockall' test "$(reason '(mlock)')" -ge 100
counted lock 100 future
ok 'put down to mlockall of what comes' test "$(reason '(mlock)')" -ge 100
counted lock 100 brk
for how in vm-self mem direct vmsplice; do
	counted gup 100 $how
	exactly 'other get_user_pages' 100 "put down to get_user_pages ($how)"
done

# Two causes in one program: each is measured, or they are one sum. What a file's pages take depends on the folios, and on
# who else has these locked.
counted causes 64 anon
exactly '  mmap with MAP_POPULATE (populate)' 64 'two causes: put down to MAP_POPULATE'
exactly '  other get_user_pages' 60 'two causes: put down to process_vm_writev'
counted causes 64 file
both=$(awk '/MAP_POPULATE|other get_user_pages/ { n += $1 } END { print n + 0 }' <<<"$out")
sum=$(($(value populated) + $(value written)))
ok "two causes: $both by fault-around and process_vm_writev together" test "$both" -ge "$sum" -a "$both" -le $((sum + 2))
n=$(reason '  mmap with MAP_POPULATE')
is "${n:-$(value populated)}" "$(value populated)" 'two causes: a number of its own for MAP_POPULATE is what the kernel counted' ||
	diag "$("$PFSCOPE" events "$T/rec" | grep -B 12 'by=mmap')"
counted futex 100 private
exactly 'then retried' 100 'put down to retried atomic faults'
counted futex 100 shared
exactly 'other get_user_pages' 100 'put down to get_user_pages (shared futex)'
counted futex 100 wake-op
exactly 'then handled otherwise' 100 'put down to faults done otherwise'
counted segv 100 handler
exactly 'ended in a signal' 100 'put down to SIGSEGV'
counted segv 100 unmapped
exactly 'ended in a signal' 100 'put down to SIGSEGV (unmapped)'
counted segv 100 bus
exactly 'ended in a signal' 100 'put down to SIGBUS'
for how in ro read read-hole write; do
	counted segv 100 $how
done
exactly '(EFAULT)' 100 'put down to EFAULT'
counted segv 100 kernel
exactly 'at addresses of the kernel' 100 'put down to addresses of the kernel'
counted segv 100 vsyscall
counted segv 100 frame
counted syscalls 100 read
counted cow 100
counted thp 4
counted threads 8 50
counted forks 20
counted execs 10
is "$(reason '(exec-time copies)')" 11 'one page of arguments for each of 11 execs'
counted stack 300
counted reserve

# Of all that the page cache gets, the page of each fault makes a major one: at 5 pages of each 16 MiB.
counted disk 3
major=$("$PFSCOPE" events "$T/rec" | awk -v t0="$(value t0_ns)" -v t1="$(value t1_ns)" '
	{ ns = $1; sub(/\./, "", ns) }
	$2 == "major" && ns > t0 && ns < t1 {
		for (i = 3; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
		page = 5 * 4096 + n++ * 16 * 1024 * 1024
		right += v["off"] <= page && page < v["end_off"]
	}
	END { print n + 0, right + 0 }')
is "$major" "$(value majflt) 3" 'disk 3: a major line for each major fault, with its page'
reported=$("$PFSCOPE" report --by process --json "$T/rec" | grep -o '"major": *[0-9]*' | head -n 1 | grep -o '[0-9]*$')
counted=$("$PFSCOPE" events "$T/rec" | sed -n 's/.* key="rusage" value=".*major=\([0-9]*\)"/\1/p')
# The kernel may have read a page for itself, to start the program.
ok "... and $reported in the report, of $counted that the kernel counted" \
	test "$reported" -ge "$(value majflt)" -a "$reported" -le "$counted"

# Arguments of 40,000 bytes are copied into 11 pages of the new stack.
long=$(printf '%040000d' 0)
"$PFSCOPE" run --count --no-bars -o "$T/rec" -- /bin/true "$long" >"$T/log" 2>&1
pfscope report --check "$T/rec"
exactly '(exec-time copies)' 10 'long arguments: pages put down to exec'

# Programs that nobody here wrote.
for command in 'ls -lR /etc' 'perl -e "print 1"' 'seq 20000 | sort -R | md5sum' 'tar cf - /etc | gzip'; do
	"$PFSCOPE" run --count --no-bars -o "$T/rec" -- bash -c "$command" >"$T/log" 2>&1
	pfscope report --check "$T/rec"
	is "$status" 0 "$command: every fault is accounted for" || diag "$out$err"
done

# The check can fail: a recording that lacks faults.
"$PFSCOPE" events "$T/rec" | awk '$2 == "fault" && ++n % 3 == 0 { next } { print }' >"$T/less"
pfscope report --check "$T/less"
is "$status" 1 'a recording that lacks faults is found out'
like "$out" 'UNEXPLAINED: faults that the kernel counted and the recording lacks' 'and told so'

done_testing
