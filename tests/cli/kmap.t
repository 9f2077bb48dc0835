#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kmap: lines and tables of kernel objects, from events written by hand and from text of the kernel and of trace-cmd.
# tests/live/kmap.t compares recordings with what programs did.

. "${0%/*}/../tap.sh"

cat >"$T/hand" <<'EVENTS'
# pfscope-events 2
1.000000000 note key="pfscope" value="0"
1.000000000 note key="objects" value="pages=0"
1.000000000 note key="command" value="sh -c x"
1.000000000 note tid=7 key="launch" value="7"
1.000000000 comm pid=7 tid=7 comm="sh"
1.000000000 comm pid=9 tid=9 comm="kworker, \"x\""
1.000000000 alloc cpu=0 pid=7 tid=7 site=ffffffff81000010 func="alloc_pipe_info+0x10" ptr=ffff888000001000 size=100 allocated=128 cache="kmalloc"
1.000100000 alloc cpu=0 pid=7 tid=7 site=ffffffff81000020 ptr=ffff888000002000 size=184 allocated=192 cache="filp"
1.000150000 alloc cpu=1 pid=9 tid=9 site=ffffffff81000020 ptr=ffff888000003000 size=184 allocated=192 cache="filp"
1.000200000 free cpu=1 pid=9 tid=9 site=ffffffff81000030 func="free_pipe_info+0x20" ptr=ffff888000001000
1.000250000 fork pid=7 tid=7 child=8
1.000300000 alloc cpu=0 pid=8 tid=8 site=ffffffff81000020 ptr=ffff888000002000 size=184 allocated=192 cache="filp"
1.000400000 alloc cpu=0 pid=7 tid=7 pfn=1234 order=1 size=8192 allocated=8192
1.001000000 free cpu=1 pid=9 tid=9 site=ffffffff81000040 ptr=ffff888000003000 cache="filp"
1.002000000 free cpu=1 pid=9 tid=9 ptr=ffff888000009000 cache="dentry"
EVENTS

pfscope kmap "$T/hand"
is "$status|$err" '0|' 'event lines'
like "$out" '^# Kernel objects.*alloc_ip,pid,obj_va_ptr,size,alloc_time,free_time,free_ip,executable' 'a comment explains them'
is "$(grep -c '^#' <<<"$out")" 1 '... in one line'
is "$(grep -v '^#' <<<"$out")" '0xffffffff81000010,7,0xffff888000001000,100,0.000000000,0.000200000,0xffffffff81000030,sh
0xffffffff81000020,7,0xffff888000002000,184,0.000100000,?,?,sh
0xffffffff81000020,8,0xffff888000002000,184,0.000300000,-,-,sh
?,7,pfn:1234,8192,0.000400000,-,-,sh' 'objects of the command and its child, by whomever they are freed'
is "$("$PFSCOPE" kmap - <"$T/hand" | md5sum)" "$("$PFSCOPE" kmap "$T/hand" | md5sum)" 'from standard input'
pfscope kmap --symbols "$T/hand"
like "$out" 'alloc_pipe_info\+0x10,7,.*,free_pipe_info\+0x20,sh.0xffffffff81000020,7,' '--symbols: where they are known'
for filter in --pid=8 --size=184-184,2,3 --size=-128,1 --cache=filp,2,3 '--cache=kmalloc*,1' --comm=sh,1,2,3,4 --comm=x --pid=7,1,2,4; do
	case $filter in
	--pid=8) wanted=3 args=(--pid=8) ;;
	*) wanted=$(cut -d, -f2- <<<"$filter,") args=("${filter%%,*}") ;;
	esac
	[ "$filter" != --comm=x ] || wanted=
	is "$("$PFSCOPE" kmap "${args[@]}" "$T/hand" | grep -v '^#' | md5sum)" \
		"$("$PFSCOPE" kmap "$T/hand" | grep -v '^#' | awk -v rows=",$wanted," 'index(rows, "," NR ",")' | md5sum)" \
		"${args[*]}"
done

pfscope kmap --json "$T/hand"
is "$(perl -MJSON::PP -e 'my $o = decode_json(join("", <STDIN>))->{objects};
	print scalar(@$o), " $o->[0]{free_pid} $o->[0]{free_func} $o->[0]{cache} $o->[1]{fate} $o->[3]{pfn}"' <"$T/out")" \
	'4 9 free_pipe_info+0x20 kmalloc 128 unseen 0x1234' 'JSON'
ok 'well-formed JSON' eval '"$TOOLS/well_formed" json <"$T/out"'
pfscope kmap --csv "$T/hand"
is "$(head -n 2 <<<"$out")" 'alloc_ip,alloc_func,pid,obj_va_ptr,size,allocated,cache,alloc_time,free_time,free_ip,free_func,free_pid,fate,executable,unsure
0xffffffff81000010,"alloc_pipe_info+0x10",7,0xffff888000001000,100,128,"kmalloc 128",0.000000000,0.000200000,0xffffffff81000030,"free_pipe_info+0x20",9,freed,"sh",0' \
	'CSV'

pfscope kmap --kmap-compat "$T/hand"
is "$status|$err" '0|' '--kmap-compat'
printf '%s\n' ffffffff81000010,7,ffff888000001000,100,250,250,ffffffff81000030,sh \
	ffffffff81000020,7,ffff888000002000,184,250,250,00000000deadbeef,sh \
	'ffffffff81000020,8,ffff888000002000,184,250,0,(null),sh' \
	'(null),7,0000000000001234,8192,250,0,(null),sh' >"$T/wanted"
same "$T/out" "$T/wanted" '... byte for byte'
grep -v ' alloc ' "$T/hand" >"$T/none"
pfscope kmap --kmap-compat "$T/none"
is "$status|$out" '0|' '... of no object no line'
for option in --stats --symbols --json; do
	pfscope kmap --kmap-compat $option "$T/hand"
	is "$status" 2 "... not with $option"
done

# ---- tables ----

pfscope kmap --stats "$T/hand"
is "$status|$err" '0|' '--stats'
is "$(head -n 4 <<<"$out")" 'sh -c x: 4 objects allocated by 2 processes in 2 ms
  1 freed, 1 by other processes; <=2 alive at the end; nothing lost
  1 freed without an event, mostly filp: where alive is <=
  8.5K requested, 8.5K used (0 % wasted); most at a time: 8.2K after 400 us' 'the answer comes first'
like "$out" $'\n     2      0     <=1    192    4 %        -        -  filp\n' 'a row of a cache'
like "$out" $'\n     1      1       0    128   21 %   200 us   200 us  alloc_pipe_info\\+0x10\n' 'a row of a call site'
for file in "$T/hand" "$DATA/text/report-kmem.txt" "$DATA/text/kernel-kmem.trace"; do
	"$PFSCOPE" kmap --stats "$file" >"$T/screen"
	is "$(($(wc -l <"$T/screen") <= 22)) $(awk 'length > 80' "$T/screen")" '1 ' "${file##*/}: a screen of 80 columns"
done
pfscope kmap --stats --csv "$T/hand"
is "$(sed 2q <<<"$out")" 'table,objects,frees,frees_by_others,unseen,other_allocs,other_frees,lost,processes,seconds,evicted,pauses,paused_seconds
recording,4,1,1,1,1,2,0,2,0.002000,0,0,0.000000' 'CSV: the recording'
like "$out" $'\nsite,alloc_pipe_info\\+0x10,0xffffffff81000010,,1,1,0,0,1,0,128,100,128,' 'CSV: a call site'
like "$out" $'\nsize,256,,,2,0,1,1,1,192,192,368,384,' 'CSV: a size class'
like "$out" $'\nprocess,sh,,8,1,0,0,1,1,' 'CSV: a process'
pfscope kmap --stats --json "$T/hand"
ok 'JSON of the tables' eval '"$TOOLS/well_formed" json <"$T/out"'

pfscope kmap --stats --cache='no such*' "$T/hand"
is "$status|$out" '0|sh -c x: 0 objects allocated by 0 processes in 2 ms
  0 freed, 0 by other processes; 0 alive at the end; nothing lost
  5 allocations in the recording, none of the chosen processes and objects' 'no object at all: the tables say why, and end there'

# ---- processes: by their number, whatever they are called ----

cat >"$T/renamed" <<'EVENTS'
# pfscope-events 2
1.000000000 note key="watchpoints" value="interval=1000000 where=random"
1.000000000 comm pid=7 tid=7 comm="sh"
1.000000000 thread pid=7 tid=7 child=8
1.000000001 alloc pid=7 tid=7 site=ffffffff81000010 ptr=ffff888000001000 size=100 allocated=128 cache="kmalloc"
1.000000002 watch len=8 off=0 count=16 ptr=ffff888000001000
1.000000003 access pid=7 tid=7 len=8 access=read off=0 site=ffffffff81000100 ptr=ffff888000001000
1.000000004 comm pid=7 tid=7 comm="ls"
1.000000005 comm pid=7 tid=8 comm="worker"
1.000000006 access pid=7 tid=7 len=8 access=write off=0 site=ffffffff81000100 ptr=ffff888000001000
1.000000006 access pid=7 tid=8 len=8 access=read off=0 site=ffffffff81000100 ptr=ffff888000001000
1.000000007 watch len=8 off=0 last=1 count=0 ptr=ffff888000001000
1.000000008 alloc pid=7 tid=7 site=ffffffff81000010 ptr=ffff888000002000 size=100 allocated=128 cache="kmalloc"
1.000000009 alloc pid=7 tid=8 site=ffffffff81000010 ptr=ffff888000003000 size=100 allocated=128 cache="kmalloc"
EVENTS
like "$("$PFSCOPE" kmap --stats "$T/renamed")" ': 3 objects allocated by 1 process in ' 'a process that has three names is one'
is "$("$PFSCOPE" kmap "$T/renamed" | grep '^  ')" '  0xffffffff81000100,7,1,2' '... and one line of an instruction'

# Text without processes: whether another process frees is not known of two threads.
cat >"$T/threads" <<'EVENTS'
# pfscope-events 2
1.000000001 alloc tid=7 site=ffffffff81000010 ptr=ffff888000001000 size=100 allocated=128 cache="kmalloc"
1.000000002 alloc tid=7 site=ffffffff81000010 ptr=ffff888000002000 size=100 allocated=128 cache="kmalloc"
1.000000003 alloc pid=9 tid=9 site=ffffffff81000010 ptr=ffff888000003000 size=100 allocated=128 cache="kmalloc"
1.000000004 free tid=7 site=ffffffff81000020 ptr=ffff888000001000
1.000000005 free tid=8 site=ffffffff81000020 ptr=ffff888000002000
1.000000006 free tid=8 site=ffffffff81000020 ptr=ffff888000003000
EVENTS
like "$("$PFSCOPE" kmap --stats "$T/threads")" $'\n  3 freed, <=2 by other processes; 0 alive' 'frees of threads whose process is unknown: at most so many are by others'
is "$("$PFSCOPE" kmap --stats --csv "$T/threads" | sed -n 2p)" 'recording,3,3,,0,0,0,0,2,0.000000,0,0,0.000000' '... of which CSV has none'

# A leak: nine in ten are freed.
{
	echo '# pfscope-events 2'
	for ((i = 1; i <= 200; i++)); do
		printf '2.%03d000000 alloc pid=1 tid=1 site=ffffffff81000010 func="leaks+0x1" ptr=%x size=64 allocated=64 cache="a"\n' $i $((i * 4096))
		((i % 10)) && printf '2.%03d000500 free pid=1 tid=1 ptr=%x\n' $i $((i * 4096))
		printf '2.%03d000600 alloc pid=1 tid=1 site=ffffffff81000020 func="does_not+0x1" ptr=%x size=64 allocated=64 cache="b"\n' $i $((i * 4096 + 64))
		printf '2.%03d000900 free pid=1 tid=1 ptr=%x\n' $i $((i * 4096 + 64))
	done
} >"$T/leak"
pfscope kmap --stats "$T/leak"
like "$out" $'\nLive objects only grew \\(a leak\\?\\) at 1 call site:\nleaks\\+0x1: at least 0 ' 'a leak is found'
like "$out" 'alive in each 12.8 ms; 200 allocated, 180 freed' '... with the evidence'
ok 'the tables fit a screen' test "$(wc -l <"$T/out")" -le 23
is "$(awk 'length > 80' "$T/out")" '' '... of 80 columns'
like "$("$PFSCOPE" kmap --stats --csv "$T/leak")" $'\nonly_grows,leaks\\+0x1,0.000000,' 'CSV: the evidence'
{ sed 120q "$T/leak"; echo '2.100000000 lost cpu=0 count=5'; sed 1,120d "$T/leak"; } >"$T/lost"
like "$("$PFSCOPE" kmap --stats "$T/lost")" '; 5 EVENTS LOST' 'lost events are counted'
like "$("$PFSCOPE" kmap --json "$T/lost")" '"unsure":true' '... and make the living unsure'
like "$("$PFSCOPE" kmap --stats "$T/lost")" $'\n  380 freed, 0 by other processes; <=20 alive at the end; 5 EVENTS LOST\n' '... also in the headline'

# Each object is freed, but of every fourth that is lost: what seems alive is no more than what is lost.
# lost_frees COUNT: with so many losses of that COUNT in each.
lost_frees()
{
	echo '# pfscope-events 2'
	for ((i = 1; i <= 100; i++)); do
		printf '2.%03d000000 alloc pid=1 tid=1 site=ffffffff81000010 func="innocent+0x1" ptr=%x size=64 allocated=64 cache="a"\n' $i $((i * 4096))
		((i % 4)) && printf '2.%03d000500 free pid=1 tid=1 ptr=%x\n' $i $((i * 4096))
		((i % 4)) || printf '2.%03d000500 lost cpu=0%s\n' $i "$1"
	done
}
lost_frees ' count=1' >"$T/lost"
like "$("$PFSCOPE" kmap --stats "$T/lost")" '; 25 EVENTS LOST.*No call site.s live objects only grew by more than was lost' 'what lost frees explain is no evidence of a leak'
is "$("$PFSCOPE" kmap --stats --csv "$T/lost" | grep -c '^only_grows')" 0 '... in CSV'
{ sed -E 's/(ptr=)/\11/; /free/s/free pid=1/free pid=2/' "$T/leak"; for i in {1..9}; do echo "2.200000000 lost cpu=$i count=123456"; done; } >"$T/many"
for i in {1..60}; do sed 's/\(ptr=[0-9a-f]*\)/\1'$((1000 + i))0'/; /^#/d' "$T/many"; done >>"$T/many.2"
is "$({ echo '# pfscope-events 2'; sort -n "$T/many.2"; } | "$PFSCOPE" kmap --stats - | sed -n 2p)" \
	'  22,800 freed, 22,800 by other processes; <=1200 alive; 66666240 EVENTS LOST' 'large numbers: in 80 columns'
lost_frees '' >"$T/lost"
like "$("$PFSCOPE" kmap --stats "$T/lost")" 'No call site.s live objects only grew by more than was lost' '... nor if it is not known how many were lost'
lost_frees ' count=1' | sed '/ lost /{/2.0[1-9]/d}' >"$T/lost"
like "$("$PFSCOPE" kmap --stats "$T/lost")" 'innocent.0x1: at least' '... but more than was lost is'


# Lines that are out of order: no time goes back.
cat >"$T/back" <<'EVENTS'
# pfscope-events 2
1.000000300 alloc pid=7 tid=7 site=ffffffff81000010 ptr=ffff888000002000 size=100 allocated=128 cache="kmalloc"
1.000000100 free pid=7 tid=7 site=ffffffff81000020 ptr=ffff888000002000
1.000000200 alloc pid=7 tid=7 site=ffffffff81000010 ptr=ffff888000003000 size=100 allocated=128 cache="kmalloc"
EVENTS
is "$("$PFSCOPE" kmap --stats "$T/back" | grep -c '[0-9]\{7\} s')" 0 'events out of order: nothing lives for centuries'
is "$("$PFSCOPE" kmap --csv --stats "$T/back" | awk -F, '$1 == "all" && $2 == "all" { print $17 } $1 == "recording" && $2 == 2 { print $10 }')" \
	$'0.000000\n0' '... they happen when the one before has'

# Wide numbers and names.
{
	echo '# pfscope-events 2'
	for ((i = 1; i <= 20000; i++)); do
		printf '2.%09d alloc pid=1 tid=1 site=ffffffff81000010 func="a_function_of_a_quite_long_name+0x1" ptr=%x size=64 allocated=64 cache="a_cache_of_a_quite_long_name"\n' $i $((i * 64))
	done
	echo '2.100000000 lost cpu=0 count=5'
} >"$T/wide"
pfscope kmap --stats "$T/wide"
is "$(awk 'length > 80' "$T/out")|$(grep -o ' a_.*' "$T/out")" \
	'| a_cache_of_a_quite_long..
 a_function_of_a_quite_l..' 'wide numbers and names: 80 columns'
is "$(awk '/^allocs/ { at = index($0, "alive") + 4 } /<=/ && /%/ { print index($0, "<=20000") + 6 - at }' "$T/out" | sort -u)" 0 '... one below the other'

# ---- pauses ----

# The leak rises with each pause, too: that is no evidence.
{
	echo '# pfscope-events 2'
	for ((i = 1; i <= 20; i++)); do
		printf '3.%03d000000 alloc pid=1 tid=1 site=ffffffff81000010 func="kept+0x1" ptr=%x size=64 allocated=64 cache="a"\n' $((i * 10)) $((i * 4096))
		((i % 4)) || printf '3.%03d000000 note key="paused" value="yes"\n3.%03d000000 note key="resumed" value="yes"\n' $((i * 10 + 1)) $((i * 10 + 6))
		((i > 8)) || printf '3.%03d000000 free pid=1 tid=1 ptr=%x\n' $((i * 10 + 8)) $((i * 4096))
	done
	echo '3.300000000 note key="end" value="mono"'
} >"$T/paused"
pfscope kmap --stats "$T/paused"
like "$out" $'\n  recorded 171 ms of 196 ms: paused 5 times; some alive \\(<=\\) may be freed\n' 'pauses are told'
like "$out" ' 8 freed, 0 by other processes; <=12 alive; nothing lost' '... of the living some may have been freed'
like "$out" $'\n +20 +8 +<=12 ' '... in the tables, too'
like "$out" "No call site's live objects only grew" '... and do not prove a leak'
is "$(sed '/key="paused"/d; /key="resumed"/d' "$T/paused" | "$PFSCOPE" kmap --stats - | grep -c 'only grew (a leak?) at 1')" 1 '... which they would without them'
ok '... on a screen of 80 columns' eval '[ "$(wc -l <"$T/out")" -le 22 ] && ! grep -q ".\{81\}" "$T/out"'
is "$("$PFSCOPE" kmap --stats --csv "$T/paused" | sed -n 2p)" 'recording,20,8,0,0,0,0,0,1,0.196000,0,5,0.025000' 'CSV: pauses'
is "$("$PFSCOPE" kmap "$T/paused" | tail -n1 | cut -c-52)" '# The recording was paused 5 times, 0.025000000 s in' 'lines: a comment'
is "$("$PFSCOPE" kmap --kmap-compat "$T/paused" | grep -c '#')" 0 '... but for the Memorizer'
is "$("$PFSCOPE" kmap --json "$T/paused" | perl -MJSON::PP -e 'my $o = decode_json(join("", <STDIN>));
	print "$o->{pauses} $o->{paused_seconds} ", scalar(grep { $_->{unsure} } @{$o->{objects}})')" '5 0.025 14' 'JSON: pauses, and the unsure'

# ---- accesses ----

{
	echo '# pfscope-events 2'
	echo '4.000000000 note key="watchpoints" value="interval=1000000 where=cache=filp"'
	for i in 1 2 3 4; do
		echo "4.000001000 alloc pid=1 tid=1 site=ffffffff81000010 func=\"alloc_empty_file+0x3c\" ptr=ffff88800000${i}000 size=16 allocated=16 cache=\"filp\""
	done
	echo '4.000001000 alloc pid=1 tid=1 site=ffffffff81000020 func="other+0x3" ptr=ffff888000009000 size=16 allocated=16 cache="dentry"'
	echo '4.000002000 watch len=8 off=0 count=8 ptr=ffff888000001000'
	echo '4.000002000 watch len=8 off=8 count=8 ptr=ffff888000002000'
	for i in 1 2 3; do
		echo "4.00000200$i access pid=5 tid=6 len=8 access=read off=0 site=ffffffff81000100 func=\"fdget_pos+0x45\" ptr=ffff888000001000"
		echo "4.00000200$i access pid=5 tid=6 len=8 access=write off=8 site=ffffffff81000200 func=\"vfs_setpos+0x9\" ptr=ffff888000002000"
	done
	echo '4.000003000 watch len=8 off=0 last=1 count=0 ptr=ffff888000001000'
	echo '4.000003000 watch len=8 off=8 last=1 count=2 ptr=ffff888000002000'
	echo '4.000003500 access pid=5 tid=6 len=8 access=read off=0 site=ffffffff81000100 func="fdget_pos+0x45" ptr=ffff888000001000'
	echo '4.000005000 free pid=1 tid=1 ptr=ffff888000001000'
} >"$T/accesses"
pfscope kmap --symbols "$T/accesses"
is "$(grep -v '^#' <<<"$out" | sed -n 1,2p)" 'alloc_empty_file+0x3c,1,0xffff888000001000,16,0.000000000,0.000004000,?,?
  fdget_pos+0x45,5,0,3' 'accesses of an object follow it: instruction, process, writes, reads'
like "$(head -n1 <<<"$out")" 'access_ip,access_pid,write_count,read_count' '... which the comment says'
like "$("$PFSCOPE" kmap --kmap-compat "$T/accesses")" $'\n  ffffffff81000200,5,3,0\n' '... as the Memorizer kernel prints them'
pfscope kmap --stats "$T/accesses"
# Two of eight words: 3 x 8 / 2 reads. Of the two words one saw 3 x 8, the other none: a variance of (24 / 2)^2, of which 6 / 8 count,
# and (12.71 / 1.96)^2 times that with one degree of freedom. One hit more: a gamma distribution of mean 24 and variance 4686.
like "$out" $'\nAccesses \\(cache=filp\\): 6 seen at 2 words chosen at random\n  2 ACCESSES LOST\n  6.2 % of bytes x time was watched, in 2 of 4 objects\n  rough .few words. estimates of all accesses, in 25 % of the time:\n' 'tables: how much was watched'
like "$out" $'\n +12 \\(3-181\\) +none seen +3  fdget_pos\\+0x45, filp\n' '... and how many accesses that makes'
ok '... on a screen of 80 columns' eval '[ "$(wc -l <"$T/out")" -le 22 ] && ! grep -q ".\{81\}" "$T/out"'
is "$("$PFSCOPE" kmap --stats --csv "$T/accesses" | tail -n 5)" 'table,where,interval_ns,seconds,words,objects,objects_watched,coverage,seen,strays,lost
watched,cache=filp,1000000,0.000001,2,4,2,0.062500,6,1,2
table,function,address,cache,reads_seen,writes_seen,reads,reads_low,reads_high,writes,writes_low,writes_high
accesses,fdget_pos+0x45,0xffffffff81000100,filp,3,0,12,3,181,0,0,
accesses,vfs_setpos+0x9,0xffffffff81000200,filp,0,3,0,0,,12,3,181' 'CSV: what was watched, and the estimates'
# less waits for a key if the last line of a screen is not free for it. With a leak, merged caches, and frees without an event.
{
	sed 1q "$T/hand"
	echo '1.000000000 note key="watchpoints" value="interval=1000000 where=random"'
	echo '1.000000000 note key="merged" value="a another"'
	sed -n '/ alloc /p; / free /p' "$T/leak"
	echo '2.300000000 alloc pid=1 tid=1 site=ffffffff81000030 ptr=9000 size=16 allocated=16 cache="c"'
	echo '2.300000001 alloc pid=1 tid=1 site=ffffffff81000030 ptr=9000 size=16 allocated=16 cache="c"'
	echo '2.300000002 watch len=8 off=0 count=8 ptr=9000'
	for i in {1..9}; do
		echo "2.30000000$i access pid=5 tid=6 len=8 access=read off=0 site=ffffffff8100010$i ptr=9000"
	done
	echo '2.300000010 watch len=8 off=0 last=1 count=0 ptr=9000'
} >"$T/full"
pfscope kmap --stats "$T/full"
like "$out" 'only grew .a leak.. at 1.*Accesses .*7 more' 'a leak and accesses'
ok '... on a screen, but for its last line' test "$(wc -l <"$T/out")" -le 22
is "$("$PFSCOPE" kmap "$T/accesses" | tail -n 1)" \
	'# Watched (cache=filp): 2 words chosen at random in 2 of 4 objects, 6.2 % of bytes x time; 2 accesses are lost.' 'lines: a comment says how much was watched'
is "$("$PFSCOPE" kmap --json "$T/accesses" | perl -MJSON::PP -e 'my $w = decode_json(join("", <STDIN>))->{watched};
	print join " ", map { "$_=$w->{$_}" } sort keys %$w')" 'coverage=0.0625 interval_ns=1000000 lost=2 objects=4 objects_watched=2 where=cache=filp words=2' 'JSON, too'

# ---- losses, in each form ----

lost_frees ' count=1' >"$T/lost"
is "$("$PFSCOPE" kmap "$T/lost" | tail -n 1)" '# 25 events are lost: objects may be missing, and others may have been freed (JSON and CSV mark them as unsure).' 'lines: a comment'
is "$("$PFSCOPE" kmap --json "$T/lost" | perl -MJSON::PP -e 'print decode_json(join("", <STDIN>))->{lost}')" 25 'JSON: how many'
for option in --csv --flame --kmap-compat; do
	like "$("$PFSCOPE" kmap $option "$T/lost" 2>&1 >/dev/null)" 'pfscope: 25 events are lost: objects may be missing, and others may have been freed' "$option: on standard error"
done
lost_frees '' >"$T/lost"
is "$("$PFSCOPE" kmap "$T/lost" | tail -n 1 | cut -c-26)" '# Some events are lost: ob' 'lines: if it is not known how many'
is "$("$PFSCOPE" kmap --json "$T/lost" | perl -MJSON::PP -e 'my $o = decode_json(join("", <STDIN>)); print exists $o->{lost} ? $o->{lost} // "null" : "none"')" null '... JSON'
is "$("$PFSCOPE" kmap --json "$T/hand" | perl -MJSON::PP -e 'print decode_json(join("", <STDIN>))->{lost}')" 0 '... or nothing is'

# ---- source lines ----

# A program of the tests stands for a kernel that was moved by 2 MB: addr2line tells its lines.
program=$WORK/objects
functions=$(nm "$program" | awk '$2 ~ /[tT]/ && $3 ~ /^(make|make_pipe|make_eventfd|make_epoll|main)$/ { print $1, $3 }')
{
	echo '# pfscope-events 2'
	echo '5.000000000 note key="kernel" value="no-such-release"'
	n=0
	while read -r start name; do
		for off in 5 9 14; do
			printf '5.%09d alloc pid=1 tid=1 site=%x func="%s+0x%x" ptr=%x size=8 allocated=8 cache="a"\n' $((n += 1)) \
				$((0x$start + off + 0x200000)) "$name" $off $((n * 4096))
		done
	done <<<"$functions"
	printf '5.000001000 alloc pid=1 tid=1 site=%x func="main+0x5" ptr=100000 size=8 allocated=8 cache="a"\n' 0x12345
	printf '5.000001001 alloc pid=1 tid=1 site=%x func="of_a_module+0x5" ptr=101000 size=8 allocated=8 cache="a"\n' 0x201234
} >"$T/lines"
if compgen -G '/usr/lib/*/libdw.so.1' >/dev/null || ldconfig -p | grep -q 'libdw\.so\.1'; then
	"$PFSCOPE" kmap --symbols --vmlinux "$program" "$T/lines" | sed -nE 's/^([a-z_]+\+0x[0-9a-f]+) \((.*)\),1,.*/\1 \2/p' >"$T/ours"
	while read -r start name; do
		for off in 5 9 14; do
			printf '%s+0x%x %s\n' "$name" $off "$(addr2line -e "$program" "$(printf %x $((0x$start + off - 1)))" | sed 's/ (disc.*//; s|.*/tests/|tests/|')"
		done
	done <<<"$functions" >"$T/theirs"
	sed -i 's|/.*/tests/|tests/|' "$T/ours"
	ok 'lines of a dozen places' test "$(wc -l <"$T/theirs")" -ge 12
	same "$T/ours" "$T/theirs" '--symbols: source lines, as addr2line tells them; none of another address, or of an unknown function'
	is "$("$PFSCOPE" kmap --json --symbols --vmlinux "$program" "$T/lines" | grep -c '"alloc_line"')" "$(wc -l <"$T/theirs")" '... in JSON'
	like "$("$PFSCOPE" kmap --symbols --vmlinux "$T/lines" "$T/lines")" "# No source lines: .*lines: no debuginfo in it" 'a file without debuginfo: said in the comment'
else
	skip 'source lines' 'no libdw'
fi
like "$("$PFSCOPE" kmap --symbols "$T/lines")" '# No source lines: no debuginfo of the recorded kernel here \(Debian: linux-image-no-such-release-dbg, or --vmlinux FILE\)' \
	'no debuginfo: said in the comment'
is "$("$PFSCOPE" kmap "$T/lines" | grep -c 'source lines')" 0 'without --symbols nothing is said of lines'
pfscope kmap --vmlinux "$program" "$T/lines"
is "$status" 2 '--vmlinux without --symbols'

# ---- stacks ----

cat >"$T/stacks" <<'EVENTS'
# pfscope-events 2
1.000000001 alloc cpu=0 pid=7 tid=7 site=ffffffff81000010 func="alloc_pipe_info+0x10" ptr=ffff888000001000 size=100 allocated=128 cache="kmalloc"
1.000000002 stack cpu=0 pid=7 tid=7 ptr=ffff888000001000 frames="trace_event_raw_event_kmalloc+0xe1;__kmalloc+0x3;alloc_pipe_info+0x10;0xffffffff81000999;do_syscall_64+0x71"
1.000000003 alloc cpu=0 pid=7 tid=7 site=ffffffff81000020 func="alloc_pipe_info+0x20" ptr=ffff888000002000 size=100 allocated=128 cache="kmalloc"
1.000000004 alloc cpu=1 pid=7 tid=7 site=ffffffff81000030 func="d_alloc+0x3" ptr=ffff888000003000 size=192 allocated=192 cache="dentry"
1.000000005 stack cpu=0 pid=7 tid=7 ptr=ffff888000002000 frames="trace_event_raw_event_kmalloc+0xe1;__kmalloc+0x3;alloc_pipe_info+0x20;0xffffffff81000999;do_syscall_64+0x71"
1.000000006 stack cpu=0 pid=7 tid=7 ptr=ffff888000009000 frames="nobody+0x1"
1.000000007 free cpu=0 pid=7 tid=7 ptr=ffff888000001000
1.000000008 alloc cpu=0 pid=7 tid=7 pfn=1234 order=1 size=8192 allocated=8192
1.000000009 stack cpu=0 pid=7 tid=7 pfn=1234 frames="__alloc_pages+0x7"
1.000000010 alloc cpu=0 pid=7 tid=7 site=ffffffff81000040 ptr=ffff888000004000 size=8 allocated=8 cache="kmalloc"
EVENTS
pfscope kmap --flame "$T/stacks"
is "$status|$out" '0|0xffffffff81000040 8
__alloc_pages 8192
d_alloc 192
do_syscall_64;0xffffffff81000999;alloc_pipe_info;__kmalloc 128' '--flame: bytes alive by stack, or by call site'
is "$err" 'pfscope: 2 of 5 objects have no recorded stack: these are call sites only' '... which is said'
pfscope kmap --flame --by=allocs "$T/stacks"
is "$(tail -n1 <<<"$out")" 'do_syscall_64;0xffffffff81000999;alloc_pipe_info;__kmalloc 2' '--by=allocs: places in a function are one'
pfscope kmap --flame --by=bytes "$T/stacks"
is "$(tail -n1 <<<"$out")" 'do_syscall_64;0xffffffff81000999;alloc_pipe_info;__kmalloc 256' '--by=bytes'
pfscope kmap --flame --cache=dentry --by=live "$T/stacks"
is "$out" 'd_alloc 192' '--flame takes filters'
is "$("$PFSCOPE" kmap --json "$T/stacks" | grep -c '"stack": *"__alloc_pages+0x7"')" 1 'JSON: stacks'
is "$("$PFSCOPE" kmap --flame "$T/hand" 2>&1 >/dev/null)" \
	"pfscope: no stacks were recorded (\`kmap record --stack'): each is a call site only" '--flame without stacks'
for args in '--by=live' '--flame --stats' '--flame --csv' '--flame --by=peak' '--stack' 'record --flame true'; do
	# shellcheck disable=SC2086
	pfscope kmap $args "$T/stacks"
	is "$status" 2 "wrong usage: $args"
done

# At most so many objects at a time.
for n in 1 2 3; do
	"$PFSCOPE" kmap --csv --max-objects $n "$T/leak" >"$T/csv"
	is "$(awk -F, '$13 == "freed" { n[$13]++ } $13 == "evicted" { n[$13]++ } $13 == "alive" { n[$13]++ }
		END { print n["freed"] + n["evicted"] + n["alive"], n["alive"] + 0 }' "$T/csv")" "400 $((n - 1))" \
		"--max-objects $n: each object was freed, evicted, or is one of $((n - 1)) alive"
done
pfscope kmap --stats --max-objects 2 "$T/leak"
like "$out" $'freed, 0 by other processes; <=[0-9]+ alive at the end; nothing lost\n.*\n  [0-9]+ evicted \\(--max-objects\\) count as alive; [0-9]+ frees have no allocation\n' \
	'... which the headline says'
like "$out" 'No call site.s live objects only grew' '... and no leak is found where objects were evicted'
is "$(sed -n 's/^  \([0-9]*\) evicted.*; \([0-9]*\) frees.*/\1 \2/p' <<<"$out")" \
	"$("$PFSCOPE" kmap --stats --csv --max-objects 2 "$T/leak" | awk -F, '$1 == "recording" { print $11, $7 }')" '... as CSV does'
like "$("$PFSCOPE" kmap --max-objects 1 "$T/leak")" $',~,~,' '... and a line has ~'
like "$("$PFSCOPE" kmap --kmap-compat --max-objects 1 "$T/leak")" $',0,\(null\),' '... or, for --kmap-compat, looks alive'
is "$("$PFSCOPE" kmap --max-objects 22 "$T/leak" | grep -v '^#' | md5sum)" "$("$PFSCOPE" kmap "$T/leak" | grep -v '^#' | md5sum)" \
	'--max-objects: enough of them change nothing'
for n in 0 -1 x 1K; do
	pfscope kmap --max-objects=$n "$T/leak"
	like "$status|$err" '^2\|.*--max-objects: .*: must be a number of objects' "--max-objects $n"
done

# Caches that the kernel has merged.
for name in 'a b c' 'filp kmalloc d-1' 'dentry'; do
	echo "1.000000000 note key=\"merged\" value=\"$name\""
done >"$T/notes"
{ sed 1q "$T/hand"; cat "$T/notes"; sed 1d "$T/hand"; } >"$T/merged"
pfscope kmap --stats "$T/merged"
is "$(sed -n 5p <<<"$out")" '  Merged by the kernel: filp is also kmalloc d-1' 'caches that the kernel has merged'
sed -i 's/ d-1"/ kmalloc-128"/; s/"dentry"/"pages ext4_inode_cache xfs_inode"/' "$T/merged"
pfscope kmap --stats "$T/merged"
is "$(sed -n 5p <<<"$out")" '  Merged by the kernel: pages is also ext4_inode_cache x.. (1 more)' '... and how many more'
is "$(awk 'length > 80' <<<"$out")" '' '... in 80 columns'

# ---- text ----

for file in kernel-kmem.trace report-kmem.txt; do
	allocs=$(grep -cE ': +(kmalloc|kmem_cache_alloc): ' "$DATA/text/$file")
	frees=$(grep -E ': +(kfree|kmem_cache_free): ' "$DATA/text/$file" | grep -cv 'ptr=(nil)\|ptr=0x0\|ptr=0000000000000000')
	"$PFSCOPE" events "$DATA/text/$file" >"$T/events" 2>"$T/err"
	is "$(grep -c '^[0-9.]* alloc ' "$T/events") $(grep -c '^[0-9.]* free ' "$T/events")" "$allocs $frees" \
		"$file: an event for each line"
	like "$(<"$T/err")" 'no page-fault events, only kmem:?kmalloc.*pfscope kmap|no page-fault events.*pfscope kmap' "$file: events leads to kmap"
	is "$("$PFSCOPE" kmap --stats --csv "$DATA/text/$file" | sed -n 's/^recording,\([0-9]*\),.*/\1/p')" "$allocs" \
		"$file: kmap has its objects"
done
like "$("$PFSCOPE" events "$DATA/text/report-kmem.txt" 2>&1)" ' alloc .* func="[a-z_0-9.]+\+0x[0-9a-f]+" ptr=ffff8' 'trace-cmd: functions, addresses'
unlike "$("$PFSCOPE" kmap --stats "$DATA/text/report-kmem.txt")" hashed 'trace-cmd: addresses are none of hashes'
like "$("$PFSCOPE" kmap --stats "$DATA/text/kernel-kmem.trace")" 'Addresses are hashed' "the kernel's text: they are"
is "$("$PFSCOPE" events "$DATA/text/kernel-kmem.trace" 2>/dev/null | grep -c 'note .*no_hash_pointers')" 1 '... reported once'
pfscope kmap "$DATA/dat/v6.dat"
is "$status|$(grep -cv '^#' <<<"$out")" '0|0' 'a recording without objects has none'
pfscope render "$DATA/text/report-kmem.txt"
like "$status|$err" '^1\|.*no page-fault events.*`pfscope kmap` prints kernel objects' 'render says what the recording has'
pfscope report "$T/events"
like "$status|$err" '^1\|.*no page-fault events, only kernel objects .`pfscope kmap` prints them' '... of event lines, too'

# ---- caches that the event does not name ----

cat >"$T/caches" <<'EVENTS'
# pfscope events 2
1.000000001 alloc pid=1 tid=1 site=ffffffff81000001 ptr=ffff888000001000 size=60 cache="kmalloc"
1.000000002 alloc pid=1 tid=1 site=ffffffff81000001 ptr=ffff888000002000 size=60 allocated=64 cache="kmalloc"
1.000000003 alloc pid=1 tid=1 site=ffffffff81000001 ptr=ffff888000003000 size=60
1.000000004 alloc pid=1 tid=1 site=ffffffff81000001 ptr=ffff888000004000 size=60 allocated=64
1.000000005 alloc pid=1 tid=1 site=ffffffff81000001 ptr=ffff888000005000 size=60 allocated=64
1.000000006 free pid=1 tid=1 site=ffffffff81000002 ptr=ffff888000004000 cache="own"
1.000000007 free pid=1 tid=1 site=ffffffff81000002 ptr=ffff888000002000
EVENTS
is "$("$PFSCOPE" kmap --csv "$T/caches" | awk -F, 'NR > 1 { print substr($4, 15, 1), $7 }' | sort)" '1 "kmalloc"
2 "kmalloc 64"
3 "?"
4 "own"
5 "? 64"' 'a size class, a name that only the free has, or a size'

# ---- wprobe events, which watch words of objects one after the other ----

cat >"$T/wprobes" <<'EVENTS'
# tracer: nop
             cat-42      [001] ..... 100.000100: kmem_cache_alloc: call_site=alloc_empty_file+0x51/0xf0 ptr=0xffff888118e220c0 name=filp bytes_req=232 bytes_alloc=256 gfp_flags=GFP_KERNEL node=-1 accounted=true
             cat-42      [001] d.Z.. 100.000200: pfs_word0: (init_file+0x12/0x90) addr=0xffff888118e220c0 off=0x0 value=0x3 word=0x0
             cat-42      [001] d.Z.. 100.000300: pfs_word0: (do_dentry_open+0x22/0x90) addr=0xffff888118e220c0 off=0x0 value=0x3 word=0x0
             cat-42      [001] d.Z.. 100.000400: pfs_word1: (do_dentry_open+0x42/0x90) addr=0xffff888118e220c8 off=0x8 value=0x7 word=0x1
             cat-42      [000] d.Z.. 100.000500: pfs_word0: (__fput+0x22/0x90) addr=0xffff888118e220c0 off=0x0 value=0x0 word=0x0
             cat-42      [001] ..... 100.000600: kmem_cache_free: call_site=__fput+0x1a/0x20 ptr=0xffff888118e220c0 name=filp
             cat-42      [001] d.Z.. 100.000700: pfs_word0: (other+0x22/0x90) addr=0xffff888118e22f00 off=0x0 value=0x0 word=0x0
EVENTS
# Text of a kernel that has them (6.12 with the events under review, in QEMU): `trace` of an instance of kmap record's.
file=$DATA/text/kernel-kmem-wprobe.trace
is "$("$PFSCOPE" events "$file" 2>/dev/null | grep -c ' access ')" "$(grep -c 'pfs_word[0-9]: (' "$file")" "the kernel's text: each is an access"
like "$("$PFSCOPE" events "$file" 2>/dev/null)" '9.695222000 access cpu=1 tid=105 len=8 access=write off=0 func="dup_fd\+0x1ec" ptr=ff11000002a179c0' '... the one that changed the value wrote'

# The same accesses as perf's watchpoints report them, which tell reads from writes themselves.
cat >"$T/points" <<'EVENTS'
# pfscope-events 2
100.000100000 alloc cpu=1 tid=42 func="alloc_empty_file+0x51" ptr=ffff888118e220c0 size=232 allocated=256 cache="filp"
100.000150000 watch len=8 off=0 count=32 ptr=ffff888118e220c0
100.000150000 watch len=8 off=8 count=32 ptr=ffff888118e220c0
100.000200000 access cpu=1 tid=42 len=8 access=read off=0 func="init_file+0x12" ptr=ffff888118e220c0
100.000300000 access cpu=1 tid=42 len=8 access=read off=0 func="do_dentry_open+0x22" ptr=ffff888118e220c0
100.000400000 access cpu=1 tid=42 len=8 access=read off=8 func="do_dentry_open+0x42" ptr=ffff888118e220c0
100.000500000 access cpu=0 tid=42 len=8 access=write off=0 func="__fput+0x22" ptr=ffff888118e220c0
100.000600000 free cpu=1 tid=42 func="__fput+0x1a" ptr=ffff888118e220c0 cache="filp"
EVENTS
is "$("$PFSCOPE" kmap "$T/wprobes" | grep -v '^#' | sed 's/,cat$//')" \
	"$("$PFSCOPE" kmap "$T/points" | grep -v '^#' | sed 's/,?$//')" "wprobe events: the same accesses as perf's"
is "$("$PFSCOPE" kmap --csv --stats "$T/wprobes" | sed -n '/^watched/p; /^accesses/p')" 'watched,all,0,0.000000,3,1,1,0.037500,4,1,0
accesses,init_file+0x12,,filp,1,0,,,,,,
accesses,do_dentry_open+0x22,,filp,1,0,,,,,,
accesses,do_dentry_open+0x42,,filp,1,0,,,,,,
accesses,__fput+0x22,,filp,0,1,,,,,,' '... what was watched, no estimates, and one to no object'
is "$("$PFSCOPE" kmap "$T/wprobes" | tail -n 1)" \
	'# Watched (all): 3 words by wprobe events in 1 of 1 object, at least 3.8 % of bytes x time; write_count: the value changed, read_count: it did not.' \
	'... what the counts are'
pfscope kmap --stats "$T/wprobes"
like "$out" 'Accesses \(all\): 4 seen at 3 words by wprobe events
  at least 3.8 % of bytes x time was watched, in 1 of 1 object
  what was seen; how much that is of all is not known:
    value unchanged       value changed  seen  next instruction, cache
                  1                   0     1  init_file\+0x12, filp' '... for people'
unlike "$out" '95 %' '... scaled to nothing'
# Addresses of data that CPUs have sampled: by the manual's own commands, with perf script's output for perf.
cat >"$T/objects" <<'EVENTS'
# pfscope-events 2
1.000000000 note key="clock" value="mono"
1.000000001 alloc pid=1 tid=1 site=ffffffff81000030 func="alloc_empty_file+0x51" ptr=ffff888100001000 size=200 allocated=256 cache="filp"
1.000000002 alloc pid=1 tid=1 site=ffffffff81000030 func="alloc_empty_file+0x51" ptr=ffff888100001100 size=200 allocated=256 cache="filp"
1.500000000 free pid=1 tid=1 ptr=ffff888100001100
EVENTS
cat >"$T/script" <<'SCRIPT'
     5/6         1.000000150: cpu/mem-loads,ldlat=3/Pk:     ffff888100001104 ffffffff81000100
     5/6         1.100000150: cpu/mem-stores/Pk:     ffff888100001104 ffffffff81000100
     7/8         1.200000150: ibs_op//:     ffff8881000010ff ffffffff81000104
     5/6         1.300000150: cpu/mem-loads,ldlat=3/Pk:     ffff888100001200 ffffffff81000100
     5/6         1.600000150: cpu/mem-loads,ldlat=3/Pk:     ffff888100001104 ffffffff81000100
SCRIPT
sed -n '/^# { pfscope events k.dat/,/pfscope kmap --stats -$/p' "$ROOT/docs/man/pfscope-kmap.1" |
	sed "s/^# //; s/perf script [^|]*/cat script /; s/k.dat/objects/; s|pfscope|$PFSCOPE|" >"$T/recipe"
out=$(cd "$T" && bash recipe 2>&1)
like "$out" '
Accesses .memory samples.: 3 seen in 2 of 2 objects
  what was seen; how much that is of all is not known:
   reads or unknown              writes  seen  instruction, cache
                  1                   1     2  0xffffffff81000100, filp
                  1                   0     1  0xffffffff81000104, filp' "samples of perf's, by the commands of the manual"
(cd "$T" && bash <(sed 's/kmap --stats -/kmap -/' recipe)) >"$T/out" 2>&1
like "$(<"$T/out")" $'ffff888100001100,200,0.000000001,0.499999999,\\?,\\?\n  0xffffffff81000100,5,1,1\n' '... below the object that lived there then'
like "$(tail -n 1 "$T/out")" '^# Accesses: data addresses that CPUs have sampled, in 2 of 2 objects; how many accesses each' '... which is said'
sed 's/(init_file+0x12.0x90)/(ffffffff81000012)/; s/ off=0x[08]//' "$T/wprobes" >"$T/bare"
like "$("$PFSCOPE" events "$T/bare" 2>/dev/null)" 'access cpu=1 tid=42 len=8 off=0 site=ffffffff81000012 ptr=ffff888118e220c0
(.*
)*100.000400000 access cpu=1 tid=42 len=8 off=0 func="do_dentry_open\+0x42" ptr=ffff888118e220c8' "an address as trace-cmd prints it; the object's begin without an offset"
done_testing
