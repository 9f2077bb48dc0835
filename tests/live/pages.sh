# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What tests of `pfscope pages` share (pages.t, tests/vm/pages.t): the cases, as calls of functions that a test defines
# (`steps`, `program`, `layout`), and the comparison of what they saved with a recording.

# How many pages may be unknown, in percent of those not absent: about a third more than several runs showed, some of them on a
# busy machine; 100 where nothing is known or was not measured. Not counted are those that are unknown for these reasons: that memory was reclaimed
# ($uncounted). LIMIT in the environment replaces that of each row.
STEPS_LIMIT=12
uncounted=reclaimable

# compare DIR RECORDING LIMIT: each snapshot in DIR with what the recording gives of that moment. Prints differences
# and, as its last line, the sum.
compare()
{
	local file head pid at result wrong

	for file in "$1"/*.pages; do
		read -r head <"$file"
		[[ $head =~ \ t0=([0-9]+)\  ]] && at=${BASH_REMATCH[1]}
		[[ $head =~ \ pid=([0-9]+)\  ]] && pid=${BASH_REMATCH[1]}
		wrong=0 result=''
		if "$PFSCOPE" pages --pid "$pid" --at "@${at:0:-9}.${at: -9}" "$2" >said 2>errors; then
			result=$("$TOOLS/pagesdiff" "$file" said 2>&1) || wrong=$?
		else
			wrong=$?
		fi
		[ $wrong = 0 ] || { echo "$head"; cat errors; grep -v ' pages: ' <<<"$result"; } >>differences
		echo "${result##*$'\n'}"
		[ $wrong != 2 ] && [ ! -s errors ] || echo 'failed: 1'
	done >sums
	[ ! -e differences ] || sed 's/^/    /' differences
	rm -f differences errors said
	summed "$3" <sums
}

# summed LIMIT: of lines "9 pages: 3 present, 4 absent, 2 unknown (around 1, special 1), 0 wrong".
summed()
{
	awk -v limit="$1" -v uncounted="$uncounted" '
		$1 == "failed:" || $2 != "pages:" { failed++; next }
		{
			nr++; pages += $1; present += $3; absent += $5; unknown += $7; wrong += $(NF - 1)
			if (match($0, /\(.*\)/)) {
				n = split(substr($0, RSTART + 1, RLENGTH - 2), part, ", ")
				for (i = 1; i <= n; i++) { split(part[i], at, " "); reasons[at[1]] += at[2] }
			}
		}
		END {
			printf "%d snapshots, %.0f pages: %.0f present, %.0f absent, %.0f unknown", nr, pages, present, absent,
				unknown
			for (reason in reasons) printf ", %s %.0f", reason, reasons[reason]
			printf ", %d wrong, %d failed\n", wrong, failed
			counted = unknown
			n = split(uncounted, reason_of)
			for (i = 1; i <= n; i++) counted -= reasons[reason_of[i]]
			exit nr == 0 || failed > 0 || wrong > 0 || counted * 100 > limit * (present + unknown)
		}'
}

# keep NAME DIR RECORDING: what differs is copied to a new folder of $KEEP, if that is set.
keep()
{
	local to

	[ "${KEEP-}" ] || return 0
	to=$(mktemp -d "$KEEP/${1//[^A-Za-z0-9.-]/_}.XXXXXX") && cp -r "$2" "$3" "$to" && diag "kept in $to"
}

given=()	# "CASE REASON": what was unknown in which case
verdict()
{
	local name=$1 output reason

	shift
	output=$("$@" 2>&1) && pass "$name: ${output##*$'\n'}" && {
		for reason in $(grep -o ' [a-z-]* [0-9]*,' <<<" ${output##* unknown, }" | cut -d' ' -f2); do
			given+=("$name $reason")
		done
		return
	}
	fail "$name: ${output##*$'\n'}"
	diag "$output"
	return 1
}

# tuned NAME "FILE=VALUE..." KIND ARG...: a case, while these files of /sys/kernel/mm have these values. Not if one is missing.
tuned=()
tuned()
{
	local setting file

	wanted "$1" || return 0
	for setting in $2; do
		file=/sys/kernel/mm/${setting%=*}
		[ -w "$file" ] || break
		tuned+=("$file" "$(sed 's/.*\[\(.*\)\].*/\1/' "$file")")
		echo "${setting##*=}" >"$file"
	done
	[ ! -w "$file" ] || LIMIT=${LIMIT:-100} "$3" "$1" "${@:4}"
	untuned
}

# untuned: the former values
untuned()
{
	local i

	for ((i = ${#tuned[@]} - 2; i >= 0; i -= 2)); do
		echo "${tuned[i + 1]}" >"${tuned[i]}"
	done
	tuned=()
}

# swapping NAME KIND ARG...: a case, with swap in memory
swap=
swapping()
{
	wanted "$1" && has_zram || return 0
	swap=$(</sys/class/zram-control/hot_add)
	echo 64M >"/sys/block/zram$swap/disksize"
	mkswap -q "/dev/zram$swap"
	swapon "/dev/zram$swap"
	LIMIT=${LIMIT:-100} "$2" "$1" "${@:3}"
	unswapped
}

unswapped()
{
	[ "$swap" ] || return 0
	swapoff "/dev/zram$swap"
	echo "$swap" >/sys/class/zram-control/hot_remove
	swap=
}

# on_tmpfs NAME OPTIONS "STEP...": steps, files of which are on a file system of their own that is mounted so
on_tmpfs()
{
	itself "$1" "unshare -m sh ./tmpfs $2" "$3"
}

# program_files: makes the files that programs use, in the current folder.
program_files()
{
	printf '#include <stdio.h>\nint main(void) { puts("text"); return 0; }\n' >hello.c
	cp hello.c other.c
	head -c 262144 /dev/urandom >one
	head -c 262144 /dev/urandom >two
	sync one two
	printf 'all: hello.o other.o\n%%.o: %%.c\n\tgcc -O2 -g -c -o $@ $<\n' >Makefile
	cat >threads.py <<'END'
import subprocess, threading
def work(n):
    memory = bytearray(1 << 20)
    for i in range(0, 1 << 20, 4096 * (n + 1)):
        memory[i] = 1
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for thread in threads:
    thread.start()
subprocess.run(["sh", "-c", "echo text | cat >/dev/null"], check=True)
for thread in threads:
    thread.join()
END
	cat >tables.sql <<'END'
create table t (a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
	insert into t select i, hex(i * i) from n;
create index b on t (b);
delete from t where a % 3 = 0;
select count(*), max(b) from t;
END
	echo 'console.log([..."x".repeat(1e5)].map((c, i) => c + i).join("").length)' >program.js
	cat >stop.gdb <<'END'
set confirm off
run
x/xb 0x200000001000
set {char}0x200000002000 = 1
break madvise
signal 0
continue
END
	cat >tmpfs <<'END'
mkdir -p mnt && mount -t tmpfs -o "$1" none mnt || exit 77
shift
TMPDIR=mnt exec "$@"
END
	cat >limited <<'END'
#!/bin/sh
# limited MB COMMAND...: with no more memory than that, its part of the page cache included
if [ -d /sys/fs/cgroup/memory ]; then
	group=/sys/fs/cgroup/memory/pages-$$ limit=memory.limit_in_bytes
else
	group=/sys/fs/cgroup/pages-$$ limit=memory.max
	[ -e /sys/fs/cgroup/cgroup.subtree_control ] || mount -t cgroup2 none /sys/fs/cgroup
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
fi
mkdir "$group" || exit 77
echo "$1M" >"$group/$limit"
shift
sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$@"
status=$?
rmdir "$group"
exit $status
END
	chmod 755 limited .
	install -m 4755 "$WORK/pages" setuid
	mkdir -p root/old
	# shellcheck disable=SC2046 # words are meant
	cp -L --parents /bin/sh /bin/ls $(ldd /bin/sh /bin/ls | grep -o '/[^ ]*[0-9]' | sort -u) root
	printf 'class Hello { public static void main(String[] a) { System.out.println("text"); } }\n' >Hello.java
}

# Calls of steps NAME "STEP..." [LIMIT] (of tests/workload/pages), itself NAME "COMMAND..." "STEP..." (the same, started by a
# command, save their own pages), stopped NAME "STEP..." (... attached to at the step `stop`), program NAME LIMIT
# COMMAND..., refaulted NAME COMMAND..., and layout SEED.
cases()
{
	local seed

	# ---- one thing at a time ----

	steps anonymous 'map:40 read:20 write:21-30 read:22 write:20'
	steps read-only 'map:40:r read:1 write:2'
	steps write-only 'map:40:w read:1 write:2'
	steps refused 'map:4 write:0-2 protect:r write:0-4'
	steps none 'map:4 write:0 protect:- read:0-2'
	steps file 'disk:40 map:40:r read:20'
	steps file-exec 'disk:40 map:40:rx exec:20'
	steps file-shared 'disk:40 map:40:rws read:20 write:21 write:39'
	steps file-private 'disk:40 map:40 read:20 write:21 write:39'
	steps file-refused 'disk:40 map:40:r read:20 write:20-22'
	steps file-end 'disk:2 map:5:rws write:0 write:3 read:4'
	steps file-end-private 'disk:2 map:5 write:0 write:3 read:4'
	steps memfd 'memory:40 map:40:rws read:3 write:20'
	steps memfd-secret 'secret:10 map:10:rws write:3 read:4'
	steps dev-zero 'zero map:20 write:3 read:5 zero map:20:s write:3 read:5'
	steps grows-down 'map:4:rwG grow:20 grow:30'
	steps grows-down-fork 'map:4:rwG grow:20 fork end'
	steps grows-down-read 'map:4:rwG peek:20 fork end write:2 fork end'
	steps grows-down-read-last 'map:4:rwG write:2 peek:20 fork end'
	steps shm 'shm:10 write:3 again read:3 read:5'
	steps fork 'map:40 write:20 read:21 fork write:22 write:20 read:3 end write:23'
	steps fork-zero-page 'map:40 read:20 fork read:22 write:20 end'
	steps fork-read-only 'map:40 write:20 read:21 protect:r fork read:22 end'
	steps fork-untouched 'map:40:- fork end'
	steps droppable 'map:40:rwD write:20 read:21 fork write:20 end advise:21:20-21'
	steps droppable-read 'map:40:rwD read:0-10 fork read:5 end'
	steps fork-wipe 'map:40 write:20 advise:18 fork write:1 end'
	steps fork-locked 'map:40 write:20 lock fork write:1 end'
	steps fork-file 'disk:40 map:40 read:20 write:21 fork write:22 end write:23'
	steps fork-file-read 'disk:40 map:40:rs read:20 fork end'
	steps fork-shared-new 'map:20 unmap:5-10 random:6 memory:10 over:5-10:rws read:5-10 fork end'
	steps fork-shared 'map:40:s write:20 fork write:22 end'
	steps fork-memfd 'memory:40 map:40:rws write:20 fork write:22 end'
	steps fork-twice 'map:40 write:20 fork write:1 fork write:2 write:20 end write:3 end write:4'
	steps share 'disk:40 map:40 write:20 read:21 share write:22 map:10 write:3 end write:23 fork write:2 end'
	steps fork-uffd 'map:16 write:0 uffd fork end'
	steps killed 'map:40 write:20 fork write:3 kill:9 end'
	steps aborted 'map:40 write:20 fork read:3 kill:6 end'
	steps move 'map:40 write:20 read:21 move'
	steps move-shrink 'map:40 write:0-40 move:10'
	steps move-file 'disk:40 map:40 write:20 read:2 move'
	steps move-keep 'map:40 write:20 keep read:5'
	steps move-again 'map:40:s write:20 again read:3'
	steps remap 'map:40 write:0-40 remap:10 remap:60'
	steps kernel-again 'map:40 random:3 unmap:0-40 over:0-40 random:3'
	steps replaced 'file:one map:64:r read:5 read:30 file:two over:0-64:r read:50' 100
	steps replaced-part 'file:one map:64:r read:5 read:30 file:two over:20-40:r read:22' 100
	steps replaced-by-memory 'file:one map:64:r read:5 read:30 over:0-64 write:10' 100
	steps replaced-by-same 'file:one map:64:r read:5 read:30 unmap:0-64 same over:0-64:r read:40' 100
	steps moved-onto 'file:one map:64:r read:10 file:two map:64:r read:30 onto read:50' 100
	steps moved-onto-memory 'file:one map:64:r read:10 read:40 map:64 write:5-30 onto read:50' 100
	steps moved-under 'map:64 write:5-20 file:one map:64:r read:10 read:40 onto read:50' 100
	steps dontneed 'map:40 write:0-40 advise:4:10-20 read:15'
	steps dontneed-memfd 'memory:40 map:40:rws write:20 advise:4 read:3'
	steps dontneed-file 'disk:40 map:40 write:20 advise:4 read:3'
	steps free 'map:40 write:20-22 read:22 advise:8 write:21'
	steps free-pageout 'map:40 write:0-20 advise:8:0-10 advise:21:0-15' 100
	steps cold 'map:40 write:20 advise:20'
	steps pageout 'map:40 write:20 read:21 advise:21'
	steps pageout-file 'disk:40 map:40:r read:20 advise:21'
	steps cold-large 'large:64 map:64:rs read:3 read:20 read:40 same map:64:r read:5 read:30 advise:20:18-22' 100
	steps truncate-large 'large:64 map:64:rs read:3 read:20 read:40 truncate:10 save read:3' 100
	steps punch-large 'large:64 map:64:rws read:3 read:20 read:40 punch:22-25' 100
	steps punch-large-private 'large:64 map:64:rw read:3 write:20 read:40 punch:22-25' 100
	steps remove 'map:40:s write:20-22 advise:9:20'
	steps remove-twice 'memory:40 map:40:rws write:20 again write:20 advise:9:20'
	steps guard 'map:20 write:5-7 advise:102:5-10 read:7 advise:103:5-7 read:5'
	steps guard-fork 'disk:40 map:40 read:20 advise:102:5-7 fork read:21 end'
	steps guard-fork-shared 'disk:40 map:40:rs read:20 advise:102:5-7 fork end'
	steps guard-fork-half-way 'disk:20 map:20:r read:0-20 lock:10-20 advise:102:5-20 fork end'
	steps punch 'memory:40 map:40:rws write:20-30 punch:22-25'
	steps truncate 'memory:40 map:40:rws write:20 write:2 truncate:10'
	steps truncate-private 'disk:40 map:40 write:20 write:2 truncate:10'
	steps populate 'map:10:rwP map:10:rP map:10:-P map:10:wP map:10:xP map:10:rwPN' 100
	steps populate-file 'disk:10 map:10:wP'
	steps populate-file-end 'disk:2 map:10:rwP'
	steps populate-zero-end 'zero skip:3 map:10:rwsP' 100
	steps populate-memory-twice 'memory:5 map:16:rws same map:16:rws lock-all:1' 100
	steps populate-advise 'map:40 advise:22:1-6 advise:23:10-15'
	steps populate-refused 'map:40:- advise:22:1-6'
	steps populate-hole 'map:40 unmap:10 advise:23:0-20'
	steps lock 'map:10:r lock:0-5'
	steps lock-none 'map:10:- lock:0-5'
	steps lock-half-way 'map:10 protect:-:3 lock'
	steps lock-file-end 'disk:2 map:10 lock'
	steps locked-grows 'map:4:rwL remap:10'
	steps locked-protect 'map:4:-L protect:rw' 100
	steps lock-all 'lock-all:3 map:10:rw map:10:r' 50
	steps lock-all-refused 'disk:20 map:20:r same map:20:- lock-all:1' 100
	steps lock-all-hugetlb 'map:512:rwH lock-all:1' 100
	steps lock-all-fault 'lock-all:7 map:10 write:3' 100
	steps uffd 'map:16 uffd copy:3 zero-page:5-7' 93
	steps uffd-child 'map:16 write:0 uffd fork copy:3 zero-page:5-7 write:9 end write:3' 72
	steps uffd-of-child 'map:16 write:0 fork uffd copy:3 end write:1' 75
	steps uffd-move 'map:16 write:2 uffd move-page:2' 100
	steps mem-write 'disk:20 map:20:r mem-write:3 map:4:- mem-write:0' 100
	steps mem-read 'map:20 mem-read:3' 100
	steps uffd-absent 'map:16 uffd:0-16:mb read:3 write:4 copy:4 write:4 zero-page:5 read:6' 100
	steps uffd-protected 'map:40 write:0-20 uffd:0-40:wb forbid:0-30 write:3 read:4 permit:3 write:3 read:33 write:34' 100
	steps uffd-protected-shared 'memory:40 map:40:rws write:0-10 uffd:0-40:wb forbid:0-20 write:3 read:4 write:15
		read:16 permit:3 permit:15-17 write:3 write:15 read:16 read:33 write:34' 100
	steps uffd-minor 'memory:40 map:40:rws write:0-40 again uffd:0-40:nb read:3 continue:3-6 read:7 write:4' 100
	steps core 'fork disk:40 map:40 write:3 map:10:s write:2 map:40 write:4 core end' 100
	steps device-aio 'device:aio' 100
	steps device-perf 'device:perf' 100
	steps device-uring 'device:uring' 100
	steps device-packet 'device:packet' 100
	itself traced-strace 'strace -f -o /dev/null' 'map:40 give:3 fork give:5 save end save'
	itself traced-gdb 'gdb -nx -q -batch -x stop.gdb --args' 'map:4:rwG write:3 stop advise:12 save'
	stopped fork-older 'disk:40 map:40 read:3 map:40 write:3 map:40 stop write:20 fork save end save'
	stopped fork-older-read 'disk:40 map:40 read:3 stop read:20 fork save end save'

	steps huge 'map:1024:rwT write:5 read:600' 50
	steps huge-dontneed 'map:1024:rwT write:5 advise:4:9'
	steps huge-dontneed-part 'map:512:rwT read:5 advise:4:10-20 write:30'
	steps huge-dontneed-again 'map:512:rwT read:5 advise:4:10 write:10' 80
	steps huge-fork 'map:1024:rwT write:5 fork write:6 end write:7'
	steps huge-fork-split 'map:1024:rwT write:5 advise:4:9 fork write:6 fork write:9 read:10 end end write:7' 100
	steps huge-fork-read 'map:1024:rwT write:5 fork read:6 fork write:9 save end end write:7 advise:4:100-200 read:600 save' 100
	steps huge-zero-fork 'map:1024:rwT read:5 fork read:6 write:7 save end write:8' 100
	steps huge-zero-fork-untouched 'map:1024:rwT read:5 fork end write:6' 100
	steps huge-zero-fork-twice 'map:1024:rwT read:5 fork write:7 fork read:600 end save end read:600 fork write:601 end' 100
	steps huge-zero-fork-small 'map:1024:rwT advise:15 read:5 advise:14 advise:4:5 read:6 fork read:7 end' 100
	steps huge-zero-fork-both 'map:1024:rwT advise:15 read:5 advise:14 read:600 fork end' 100
	steps huge-zero-fork-dropped 'map:1024:rwT read:5 advise:4 fork end read:600 advise:4:600 fork end' 100
	steps huge-zero-fork-read-only 'map:1024:rT read:5 fork read:6 end' 100
	steps huge-zero-fork-populated 'map:1024:rwT advise:22 fork read:6 end' 100
	steps huge-zero-fork-locked 'map:1024:rT lock fork end' 100
	steps huge-shared-fork 'map:1024:rwsT write:5 read:600 fork read:7 write:8 save end write:601' 100
	steps huge-move 'map:512:rwT write:5 move'
	steps huge-shared 'map:1024:rwsT write:5 read:600'
	on_tmpfs huge-tmpfs huge=advise 'disk:1024 map:1024:rwsT write:5 read:600 fork read:7 save end punch:9 read:10 save'
	on_tmpfs huge-tmpfs-private huge=always 'disk:1024 map:1024:rwT read:5 write:600 fork write:7 save end'
	steps collapse 'map:512:rwT advise:15 write:5 advise:25'
	steps collapse-shared 'map:512:rwsT write:5 advise:25' 50
	steps collapse-shared-unmap 'map:1024:rwsT write:5 read:600 advise:25 unmap:9' 100
	steps collapse-shared-dontneed 'map:1024:rwsT write:5 read:600 advise:25 advise:4:9' 100
	steps collapse-shared-twice 'map:1024:rwsT write:5 write:600 again read:5-20 advise:25' 100
	steps collapse-shared-move 'map:1024:rwsT write:5 write:600 advise:25 move:800' 100

	# ---- programs ----

	program true 3 true
	program cow 1 "$WORK/cow" 100
	program threads 1 "$WORK/threads" 4 100
	program execs 4 "$WORK/execs" 3 3 0 thread
	program execs-race 4 "$WORK/execs" 3 3 4000 race
	program execs-at-once 3 sh -c "'$WORK/execs' 3 3 4000 & '$WORK/execs' 3 3 4000 thread & wait"
	program populate 2 "$WORK/populate" 100 map
	program stack 1 "$WORK/stack" 500
	program large 3 "$WORK/touch" 64 read file large
	program gup-self 100 "$WORK/gup" 100 vm-self
	INTERVAL=0 program gup-child 100 "$WORK/gup" 100 vm-child # stopping the parent does not stop the child that writes to it
	program gup-direct 100 "$WORK/gup" 100 direct
	program gup-vmsplice 100 "$WORK/gup" 100 vmsplice
	program futex-shared 100 "$WORK/futex" 100 shared
	program namespaces 2 unshare -rpf sh -c 'echo text; sleep 0.01; true'
	program user 3 setpriv --reuid=65534 --clear-groups head -c 100 /etc/passwd
	program su 100 su nobody -s /bin/sh -c 'ls /'
	program setuid 100 setpriv --reuid=65534 --clear-groups ./setuid disk:40 map:40 write:3 read:30 map:40:s \
		write:0-9 fork write:20 end
	program chroot 100 chroot root /bin/sh -c '/bin/ls -R /; /bin/ls -l /'
	program pivot-root 100 unshare -m sh -c 'mount --bind root root && cd root && pivot_root . old &&
		exec /bin/ls -l /'
	program shell 5 sh -c 'seq 20000 | sort -R | tail -n 3; ls / | wc -l; (exit 3); x=$(date); echo "$x"'
	program gcc 8 gcc -O2 -g -o hello hello.c
	program make 25 make -s -B -j2 # two compilers often fault on the same pages of their file at the same time
	program git 4 git -C "$ROOT" log --stat -5
	program sqlite3 8 sqlite3 test.db '.read tables.sql'
	program perl 4 perl -e '$x{$_} = $_ x 10 for 1 .. 20000; print scalar(keys %x), `echo text`'
	program python3 4 /usr/bin/python3 threads.py
	program node 15 node program.js
	INTERVAL=${INTERVAL:-50} program java 8 java Hello.java
	INTERVAL=${INTERVAL:-200} program chromium 70 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$T/browser" --dump-dom about:blank
	for seed in ${SEEDS-2 3 4}; do
		layout "$seed"
	done
}

# What the kernel does by itself, or lets recordings not know all of: reclaim, swap, huge pages of other sizes, KSM.
cases_of_kernel()
{
	local huge=/sys/kernel/mm/transparent_hugepage
	local khugepaged='transparent_hugepage/khugepaged/scan_sleep_millisecs=10
		transparent_hugepage/khugepaged/pages_to_scan=100000'

	program limited 100 ./limited 8 "$WORK/pages" disk:4000 map:4000:r read:0-4000 map:40 write:0-40 read:0-10
	program limited-droppable 100 ./limited 8 "$WORK/pages" map:40:rwD write:0-40 disk:4000 map:4000:r read:0-4000
	swapping swap steps 'map:400 write:0-400 advise:21:100-200 read:150 write:160 fork write:110 read:120 end' 100
	swapping swap-shared steps 'memory:400 map:400:rws write:0-400 fork read:0-200 end advise:21:100-200 read:150' 100
	swapping swap-private-file steps 'disk:40 map:40 write:0-20 read:20-30 advise:21 read:3 read:33' 100
	swapping swap-ahead steps 'map:400 write:0-400 advise:21 advise:3 read:5' 100
	swapping swap-move steps 'map:400 write:0-400 advise:21:0-200 read:5 move fork read:6 end' 100
	swapping swap-free steps 'map:40 write:0-20 advise:21:0-10 advise:8 advise:23:0-4' 100
	swapping swap-limited program 100 ./limited 8 "$WORK/pages" map:4000 write:0-4000 read:0-100 fork write:5 end
	refaulted refault "$WORK/phases" 32 2 60 anon
	refaulted refault-shared "$WORK/phases" 32 2 60 shared
	refaulted refault-file "$WORK/phases" 32 2 60 private-file
	tuned huge-64k transparent_hugepage/hugepages-64kB/enabled=always \
		steps 'map:64 write:5 read:20 write:40 advise:4:33-36 fork write:6 end'
	tuned huge-64k-move transparent_hugepage/hugepages-64kB/enabled=always \
		steps 'map:640:rwT read:3 write:5 write:50 move:60 write:20 unmap:3'
	tuned huge-64k-swap transparent_hugepage/hugepages-64kB/enabled=always swapping \
		steps 'map:64 write:5 write:40 advise:21 read:6 write:41'
	on_tmpfs collapse-tmpfs huge=advise 'disk:1024 map:1024:rwsT advise:15 write:5 write:600 fork read:5 advise:14
		advise:25 read:6 save end save'
	steps collapse-file 'disk:1024 map:1024:rxT read:5 fork read:5 advise:25 read:6 end read:600' 100
	tuned khugepaged "$khugepaged" steps "map:1024:rwT advise:15 write:5 advise:14 rises:3:$huge/khugepaged/full_scans"
	tuned ksm 'ksm/sleep_millisecs=10 ksm/pages_to_scan=4000 ksm/run=1' steps "map:40 write:0-20 advise:12
		rises:3:/sys/kernel/mm/ksm/full_scans write:3 read:4 fork write:5 end advise:13"
	tuned hugetlb-2m hugepages/hugepages-2048kB/nr_hugepages=8 \
		steps 'map:1024:rwH read:5 write:600 advise:4:3 advise:4:512-700 fork read:7 write:600 end'
	tuned hugetlb-2m-shared hugepages/hugepages-2048kB/nr_hugepages=4 \
		steps 'map:1024:rwsH read:5 fork write:600 end read:601 advise:9:0-512'
	tuned hugetlb-1g hugepages/hugepages-1048576kB/nr_hugepages=1 steps 'map:262144:rwB read:5 fork read:7 end write:9' 100
}
