# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What tests of `pfscope pages` share (pages.t, tests/vm/pages.t): the cases, as calls of functions that a test defines
# (`steps`, `program`, `layout`), and the comparison of what they saved with a recording.

LIMIT=${LIMIT:-100}	# percent of the pages not absent that may be unknown

# compare DIR RECORDING LIMIT: each snapshot in DIR with what the recording gives of that moment. Prints differences
# and, as its last line, the sum. LIMIT is the percentage of the pages not absent that may be unknown.
compare()
{
	local file pid at wrong

	for file in "$1"/*.pages; do
		pid=$(sed -n '1s/.* pid=\([0-9]*\) .*/\1/p' "$file")
		at=$(sed -n '1s/^# t0=\([0-9]*\) .*/\1/p' "$file")
		wrong=0
		"$PFSCOPE" pages --pid "$pid" --at "@${at:0:-9}.${at: -9}" "$2" >said 2>errors &&
			"$TOOLS/pagesdiff" "$file" said >result 2>&1 || wrong=$?
		[ $wrong = 0 ] || { head -n 1 "$file"; cat errors; grep -v ' pages: ' result; } >>differences
		tail -n 1 result
		[ $wrong != 2 ] && [ ! -s errors ] || echo 'failed: 1'
	done >sums
	[ ! -e differences ] || sed 's/^/    /' differences
	rm -f differences errors said result
	summed "$3" <sums
}

# summed LIMIT: of lines "9 pages: 3 present, 4 absent, 2 unknown (around 1, special 1), 0 wrong".
summed()
{
	awk -v limit="$1" '
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
			exit nr == 0 || failed > 0 || wrong > 0 || unknown * 100 > limit * (present + unknown)
		}'
}

verdict()
{
	local name=$1 output

	shift
	output=$("$@" 2>&1) && { pass "$name: ${output##*$'\n'}"; return; }
	fail "$name: ${output##*$'\n'}"
	diag "$output"
}

# program_files: makes the files that programs use, in the current folder.
program_files()
{
	printf '#include <stdio.h>\nint main(void) { puts("text"); return 0; }\n' >hello.c
	cp hello.c other.c
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
	printf 'class Hello { public static void main(String[] a) { System.out.println("text"); } }\n' >Hello.java
}

# Calls of steps NAME "STEP..." (of tests/workload/pages), program NAME LIMIT COMMAND..., and layout SEED.
cases()
{
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
	steps hugetlb 'map:512:rwH read:5 write:9'
	steps grows-down 'map:4:rwG grow:20 grow:30'
	steps grows-down-fork 'map:4:rwG grow:20 fork end'
	steps shm 'shm:10 write:3 again read:3 read:5'
	steps fork 'map:40 write:20 read:21 fork write:22 write:20 read:3 end write:23'
	steps fork-zero-page 'map:40 read:20 fork read:22 write:20 end'
	steps fork-read-only 'map:40 write:20 read:21 protect:r fork read:22 end'
	steps fork-untouched 'map:40:- fork end'
	steps fork-wipe 'map:40 write:20 advise:18 fork write:1 end'
	steps fork-locked 'map:40 write:20 lock fork write:1 end'
	steps fork-file 'disk:40 map:40 read:20 write:21 fork write:22 end write:23'
	steps fork-file-read 'disk:40 map:40:rs read:20 fork end'
	steps fork-shared 'map:40:s write:20 fork write:22 end'
	steps fork-memfd 'memory:40 map:40:rws write:20 fork write:22 end'
	steps fork-twice 'map:40 write:20 fork write:1 fork write:2 write:20 end write:3 end write:4'
	steps fork-hugetlb 'map:512:rwH read:5 fork read:7 end'
	steps fork-uffd 'map:16 write:0 uffd fork end'
	steps killed 'map:40 write:20 fork write:3 kill:9 end'
	steps aborted 'map:40 write:20 fork read:3 kill:6 end'
	steps move 'map:40 write:20 read:21 move'
	steps move-shrink 'map:40 write:0-40 move:10'
	steps move-file 'disk:40 map:40 write:20 read:2 move'
	steps move-keep 'map:40 write:20 keep read:5'
	steps move-again 'map:40:s write:20 again read:3'
	steps remap 'map:40 write:0-40 remap:10 remap:60'
	steps dontneed 'map:40 write:0-40 advise:4:10-20 read:15'
	steps dontneed-memfd 'memory:40 map:40:rws write:20 advise:4 read:3'
	steps dontneed-file 'disk:40 map:40 write:20 advise:4 read:3'
	steps free 'map:40 write:20-22 read:22 advise:8 write:21'
	steps cold 'map:40 write:20 advise:20'
	steps pageout 'map:40 write:20 read:21 advise:21'
	steps pageout-file 'disk:40 map:40:r read:20 advise:21'
	steps remove 'map:40:s write:20-22 advise:9:20'
	steps remove-twice 'memory:40 map:40:rws write:20 again write:20 advise:9:20'
	steps guard 'map:20 write:5-7 advise:102:5-10 read:7 advise:103:5-7 read:5'
	steps punch 'memory:40 map:40:rws write:20-30 punch:22-25'
	steps truncate 'memory:40 map:40:rws write:20 write:2 truncate:10'
	steps truncate-private 'disk:40 map:40 write:20 write:2 truncate:10'
	steps populate 'map:10:rwP map:10:rP map:10:-P map:10:wP map:10:xP map:10:rwPN'
	steps populate-file 'disk:10 map:10:wP'
	steps populate-file-end 'disk:2 map:10:rwP'
	steps populate-advise 'map:40 advise:22:1-6 advise:23:10-15'
	steps populate-refused 'map:40:- advise:22:1-6'
	steps populate-hole 'map:40 unmap:10 advise:23:0-20'
	steps lock 'map:10:r lock:0-5'
	steps lock-none 'map:10:- lock:0-5'
	steps lock-half-way 'map:10 protect:-:3 lock'
	steps lock-file-end 'disk:2 map:10 lock'
	steps locked-grows 'map:4:rwL remap:10'
	steps locked-protect 'map:4:-L protect:rw'
	steps lock-all 'lock-all:3 map:10:rw map:10:r'
	steps lock-all-fault 'lock-all:7 map:10 write:3'
	steps uffd 'map:16 uffd copy:3 zero-page:5-7'
	steps uffd-child 'map:16 write:0 uffd fork copy:3 zero-page:5-7 write:9 end write:3'
	steps uffd-of-child 'map:16 write:0 fork uffd copy:3 end write:1'
	steps uffd-move 'map:16 write:2 uffd move-page:2'
	steps mem-write 'disk:20 map:20:r mem-write:3 map:4:- mem-write:0'
	steps mem-read 'map:20 mem-read:3'
	steps huge 'map:1024:rwT write:5 read:600'
	steps huge-dontneed 'map:1024:rwT write:5 advise:4:9'
	steps huge-fork 'map:1024:rwT write:5 fork write:6 end write:7'
	steps huge-move 'map:512:rwT write:5 move'
	steps huge-shared 'map:1024:rwsT write:5 read:600'
	steps collapse 'map:512:rwT advise:15 write:5 advise:25'
	steps collapse-shared 'map:512:rwsT write:5 advise:25'

	# ---- programs ----

	program true "$LIMIT" true
	program cow "$LIMIT" "$WORK/cow" 100
	program threads "$LIMIT" "$WORK/threads" 4 100
	program execs "$LIMIT" "$WORK/execs" 3 3 0 thread
	program populate "$LIMIT" "$WORK/populate" 100 map
	program stack "$LIMIT" "$WORK/stack" 500
	program large "$LIMIT" "$WORK/touch" 64 read file large
	program gup-self "$LIMIT" "$WORK/gup" 100 vm-self
	program gup-child "$LIMIT" "$WORK/gup" 100 vm-child
	program gup-direct "$LIMIT" "$WORK/gup" 100 direct
	program gup-vmsplice "$LIMIT" "$WORK/gup" 100 vmsplice
	program futex-shared "$LIMIT" "$WORK/futex" 100 shared
	program namespaces "$LIMIT" unshare -rpf sh -c 'echo text; sleep 0.01; true'
	program user "$LIMIT" setpriv --reuid=65534 --clear-groups head -c 100 /etc/passwd
	program shell "$LIMIT" sh -c 'seq 20000 | sort -R | tail -n 3; ls / | wc -l; (exit 3); x=$(date); echo "$x"'
	program gcc "$LIMIT" gcc -O2 -g -o hello hello.c
	program make "$LIMIT" make -s -B -j2
	program git "$LIMIT" git -C "$ROOT" log --stat -5
	program sqlite3 "$LIMIT" sqlite3 test.db '.read tables.sql'
	program perl "$LIMIT" perl -e '$x{$_} = $_ x 10 for 1 .. 20000; print scalar(keys %x), `echo text`'
	program python3 "$LIMIT" /usr/bin/python3 threads.py
	program node "$LIMIT" node program.js
	program java "$LIMIT" java Hello.java
	program chromium "$LIMIT" chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$T/browser" --dump-dom about:blank
	for seed in ${SEEDS-$(seq 1 12)}; do
		layout "$seed"
	done
}
