#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 240
#
# --refault: what is used again shows, phase by phase, whatever memory it is; only what was chosen is touched; what was
# set up for it is taken down, whoever is killed.

. "${0%/*}/live.sh"
cd "$T" || exit
has_zram || skip_all 'this kernel has no zram'

# swaps: what there is to swap to, but for what is not pfscope's.
zrams()
{
	grep -c '^/dev/zram' /proc/swaps
}
before=$(zrams) devices=$(ls /sys/block | grep -c zram)

# nothing_left: no device more than before, nor a helper of ours.
nothing_left()
{
	[ "$(zrams) $(ls /sys/block | grep -c zram)" = "$before $devices" ] && [ -z "$(helpers_of pfscope-refault $$)" ]
}

export PFSCOPE_TEST=$$

# ---- phases ----

# On a machine with more to do cycles may take longer than they should; that is said, then.
every='every ([0-9.]+ ms on average \(pageout; every 50 ms was asked for|50 ms \(pageout)(; not in [0-9]+ of [0-9]+ intervals)?\)'

least=2 # faults of each page in a phase, which lasts until then
for how in anon shared private-file; do
	# A file's pages come back sixteen at a time (around a fault): of those, one faults.
	length=1000+$least
	[ $how != private-file ] || length=1000
	"$PFSCOPE" run --strict --refault 50ms --zram 64M --no-bars -o "$how.dat" -- "$WORK/phases" 32 4 $length $how >said 2>err
	is "$?|$(<err)" '0|' "$how: it is recorded"
	if [ $how = private-file ]; then
		seen=$(phases_seen $how.dat said 32)
		is "$(awk '$2 == 0 && $1 >= 2 { n++ } END { print n + 0 }' <<<"$seen")" 4 \
			"$how: in each phase pages of it fault again, and no others" || diag "$seen"
	else
		each_phase "$how" "$(phases_seen $how.dat said 32)" 32 $least
	fi
	ok "$how: swap is taken down" nothing_left
done

pfscope report anon.dat
like "$out" "made to fault again $every:"$'\n''  looked at +[0-9]+ pages in memory, in [0-9]+ cycles.*put out +[0-9]+' \
	'the report says how, and what it cost'
pfscope events anon.dat
like "$out" 'note key="refault" value="method=pageout interval=50000000"' 'the recording names the method'
cycles=$(grep -c 'key="refault_tick" value="what=cycle' <<<"$out") none=$(grep -c 'key="refault_tick" value="what=none' <<<"$out")
ok "it has a note of each interval, two of sixteen left alone ($cycles cycles, $none not)" \
	test $((cycles >= 10 && none >= 2 && none <= 14)) = 1
pfscope report --json anon.dat
is "$(sed -n 's/.*"refault": {"method": "\([a-z]*\)".*"cycles": \([0-9]*\), .*/\1 \2/p' <<<"$out")" "pageout $cycles" \
	'JSON: the same'
pfscope tape anon.dat
like "$out" "# Pages were made to fault again $every\." 'a tape says it, too'
pfscope tape --format=binary -o anon.tape anon.dat
pfscope tape anon.tape
like "$out" "# Pages were made to fault again $every\." 'a binary one as well'
pfscope mrc anon.dat
like "$(tr -s '\n ' '  ' <<<"$out")" "which pfscope caused $every" 'a curve says it'

"$PFSCOPE" run --strict --refault 50ms --zram 64M --no-bars -o child.dat -- "$WORK/phases" 32 4 1000+$least anon child >said 2>err
is "$?|$(<err)" '0|' 'a child: it is recorded'
each_phase 'a child' "$(phases_seen child.dat said 32)" 32 $least

# ---- attach ----

"$WORK/phases" 32 4 1000+1 anon >said &
target=$!
"$PFSCOPE" attach --strict --refault 50ms --zram 64M --no-bars -o attach.dat $target 2>err
is "$?|$(<err)" '0|' 'attach: it is recorded'
wait $target
# The first phase waits for it.
each_phase attach "$(phases_seen attach.dat said 32)" 32 1
ok 'attach: swap is taken down' nothing_left

"$WORK/phases" 500 1 60000 anon >said &
target=$!
at_exit eval 'kill $target 2>/dev/null'
wait_for 5 grep -q anon "/proc/$target/cmdline"
"$PFSCOPE" attach -d 1 --refault 100ms --zram 64M --no-bars $target 2>err
is "$?|$(<err)" '0|' 'attach for a time: it ends in order'
ok 'attach for a time: swap is taken down though the process lives' nothing_left
is "$(awk '/^Swap:/ { n += $2 } END { print n }' "/proc/$target/smaps")" 0 'attach for a time: its memory is back'
ok 'attach for a time: it goes on undisturbed' grep -q '^State:.[RSD]' "/proc/$target/status"
kill $target
wait $target

# ---- what does not go as it was asked for ----

if [ "$(wc -l <"/proc/swaps")" = 1 ]; then
	"$PFSCOPE" run --refault 50ms --zram 1M -o full.dat -- "$WORK/phases" 1000 2 500 anon >said 2>err
	like "$(<err)" 'pfscope: swap was full in [0-9]+ of [0-9]+ cycles: .*--zram SIZE' 'swap is full: it is told at the end'
	pfscope report full.dat
	like "$out" '\(pageout; [^)]*swap was full in [0-9]+ of [0-9]+ cycles' 'swap is full: by the report'
	"$PFSCOPE" tape --format=binary -o full.tape full.dat
	for from in full.dat full.tape; do
		pfscope tape $from
		like "$out" '# Pages were made to fault again every [^)]*swap was full in [0-9]+ of' "swap is full: by a tape of $from"
	done
	pfscope mrc full.dat
	like "$(tr -s '\n ' '  ' <<<"$out")" 'which pfscope caused every [^)]*swap was full in [0-9]+ of' 'swap is full: by a curve'
	pfscope events full.dat
	ok 'swap is full: of each cycle it is noted' grep -q 'key="refault_tick" value="what=cycle .* full=1 took=' <<<"$out"
	pfscope report anon.dat
	unlike "$out" 'swap was full' 'there is swap enough: nothing is told'
fi

"$PFSCOPE" run --refault 1ms --zram 64M --no-bars -o late.dat -- "$WORK/phases" 4000 1 1000 anon spin >said 2>err
pfscope report late.dat
like "$out" 'every [0-9.]+ ms on average \(pageout; every 1 ms was asked for' 'cycles that take longer: how long is said'

# ---- what is chosen ----

"$PFSCOPE" run --strict --refault 50ms --region='file:*libc*' --no-bars -o files.dat -- "$WORK/phases" 32 4 300 anon >said 2>err
is "$?|$(<err)" '0|' 'files alone: no swap is needed'
is "$(phases_seen files.dat said 32 | awk '{ n += $1 + $2 } END { print n }')" 0 'files alone: anonymous memory stays'
like "$("$PFSCOPE" events files.dat)" 'key="refault" value="method=pageout interval=50000000 regions=file:\*libc\*"' \
	'files alone: the recording says which'
"$PFSCOPE" run --strict --refault 50ms --zram 64M --region=heap --no-bars -o heap.dat -- "$WORK/phases" 32 4 300 anon >said 2>err
is "$(phases_seen heap.dat said 32 | awk '{ n += $1 + $2 } END { print n }')" 0 'the heap alone: other anonymous memory stays'

# ---- the cost ----

"$PFSCOPE" run --refault 100ms --refault-quiet 4 --zram 64M -o spin.dat -- "$WORK/phases" 200 1 $((slowness > 1 ? 8000 : 3000)) anon spin >said 2>err
like "$(sed -n '/^pfscope: --refault/,$p' err)" 'pfscope: --refault by pageout:.*came back +[0-9.]+ faults an interval; [0-9.]+ in the [0-9]+ without cycles.*slower by +a factor of [0-9.]+, or more' \
	'how much slower it was is told at the end'
"$PFSCOPE" run --refault 50ms --refault-quiet 0 --zram 64M -o never.dat -- "$WORK/phases" 32 1 500 anon >said 2>err
like "$(<err)" 'not known \(no interval was left alone\)' 'nothing to compare with: it says so'

# ---- what cannot be ----

if [ "$(wc -l </proc/swaps)" = 1 ] && [ "$(cat /proc/sys/kernel/numa_balancing 2>/dev/null)" != 1 ] &&
	! grep -q ' damon_va_' /proc/kallsyms; then
	"$PFSCOPE" run --refault 50ms -- true 2>err
	is $? 1 'no swap: an error'
	like "$(<err)" '^pfscope: --refault: no method works here\. hide: it loads a module[^;]*; pageout: there is no swap .*--zram SIZE.*; numa: [^;]*; idle: [^;]*$' \
		'no swap: one line, and what to do'
	"$PFSCOPE" run --refault 50ms --refault-by numa -- true 2>err
	like "$(<err)" '^pfscope: --refault by numa: .*$' 'no NUMA balancing: one line'
	"$PFSCOPE" run --refault 50ms --refault-by idle -- true 2>err
	is "$?|$(<err)" '1|pfscope: --refault by idle: this kernel has no DAMON for address spaces (CONFIG_DAMON_VADDR, CONFIG_DAMON_SYSFS)' \
		'no DAMON: one line'
fi
"$PFSCOPE" run --refault 50ms --zram 100000T -- true 2>err
is $? 1 'more swap than there can be: an error'
like "$(<err)" '^pfscope: --zram: [^'$'\n'']*$' 'more swap than there can be: one line'
ok 'more swap than there can be: nothing is left' wait_for 2 nothing_left

# ---- whoever is killed ----

# begin: a recording under way with swap of its own; its number in $pfscope.
begin()
{
	"$PFSCOPE" run --refault 50ms --zram 64M --no-bars -- "$WORK/phases" 32 1 20000 anon >said 2>err &
	pfscope=$!
	wait_for 5 eval 'is_tracing $pfscope && [ "$(zrams)" -gt '"$before"' ]' || diag "$(<err)"
	sleep 0.2
}

begin
kill -KILL $pfscope
wait $pfscope 2>/dev/null
ok 'pfscope is killed: swap goes within two seconds, and so does the helper' wait_for 2 nothing_left
pkill -KILL -P 1 -x phases	# nobody else has one

begin
worker=$(helpers_of pfscope-refault $$ | tail -n 1)
kill -KILL "$worker"
sleep 0.3
is "$(helpers_of pfscope-refault $$ | grep -cvx "$worker")" 2 'the helper that works is killed: another one does'
kill -INT $pfscope
kill -INT $pfscope
wait $pfscope
ok 'the helper that works is killed: its successor takes swap down' wait_for 2 nothing_left
pkill -KILL -P 1 -x phases

begin
# Both helpers, and pfscope: nobody is left to do anything.
mapfile -t helpers < <(helpers_of pfscope-refault $$)
mapfile -t keepers < <(keepers_of $$)
kill -KILL "${helpers[0]}" "${helpers[1]}" "${keepers[@]}" $pfscope
wait $pfscope 2>/dev/null
pkill -KILL -P 1 -x phases
sleep 0.3
is "$(zrams)" $((before + 1)) 'all are killed: swap stays'
pfscope clean
like "$out" '1 swap device removed$' 'all are killed: `pfscope clean` removes it' || diag "$out"
ok 'all are killed: nothing is left' nothing_left

# In another namespace the numbers of processes are others.
begin
for space in '-pf --mount-proc' '-pf' '-T --boottime 100000'; do
	# shellcheck disable=SC2086
	try unshare $space "$PFSCOPE" clean
	is "$status|$out|$err|$(zrams)" "0|0 instances removed||$((before + 1))" "unshare $space, clean: leaves a live one's swap alone"
done
kill -TERM $pfscope
wait $pfscope
ok 'which goes with it' wait_for 2 nothing_left

# Between the device that is made and the swap that it becomes.
if command -v strace >/dev/null; then
	control=/sys/class/zram-control/hot_add
	for at in "-P $control -e trace=close -e inject=close:signal=KILL:when=1" '-e trace=swapon -e inject=swapon:signal=KILL:when=1'; do
		# shellcheck disable=SC2086
		try env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o "$T/log" $at "$PFSCOPE" run --refault 50ms --zram 64M --no-bars -- true
		like "$status|$err" '^1\|pfscope: --refault: its helper was killed$' "killed at strace $at: is told"
		ok '... and the device is removed' wait_for 2 nothing_left || diag "$(<"$T/log")"
	done
else
	skip 'strace is missing' 'killed between the device and the swap'
fi

# made LABEL: a device with a header of that label, which nobody swaps to; its number in $nr.
made()
{
	nr=$(cat /sys/class/zram-control/hot_add)
	echo 1M >"/sys/block/zram$nr/disksize"
	{
		head -c 1024 /dev/zero
		printf '\1\0\0\0\377\0\0\0\0\0\0\0' # version, last page, bad pages
		printf '\1\2\3\4\5\6\7\0\0\0\0\0\0\0\0\0' # its owner
		printf '%s' "$1"
		head -c $(($(getconf PAGESIZE) - 1052 - ${#1} - 10)) /dev/zero
		printf SWAPSPACE2
	} >"/dev/zram$nr"
}
made another
pfscope clean
is "$status|$out|$(ls -d "/sys/block/zram$nr")" "0|0 instances removed|/sys/block/zram$nr" "clean: leaves somebody else's device alone"
echo 1 >"/sys/block/zram$nr/reset"
echo "$nr" >/sys/class/zram-control/hot_remove
made pfscope
pfscope clean
is "$status|$out" $'0|0 instances removed\n1 swap device removed' 'clean: removes a device that was not swapped to yet'
ok '... nothing is left' nothing_left

done_testing
