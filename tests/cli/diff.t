#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# diff: what changed between recordings, told from what random addresses and the spread of several runs explain; and the
# conditions of --fail-if. The recordings are event lines of one program at various addresses.

. "${0%/*}/../tap.sh"
cd "$T" || exit 1

# region START PAGES PERMS OFFSET INODE NAME: a mapping; inode 0: of no file.
region()
{
	printf '1.001 map pid=%d tid=%d start=%x end=%x perms=%s off=%d dev=%s ino=%d name="%s"\n' "$pid" "$pid" \
		$(($1)) $(($1 + $2 * 4096)) "$3" "$4" "$([ "$5" = 0 ] && echo 00:00 || echo fe:00)" "$5" "$6"
}

# fault ACCESS ADDRESS [FIELD=VALUE...]: one of the next moments.
fault()
{
	printf '1.%06d fault pid=%d tid=%d addr=%x access=%s mode=user%s\n' $((10000 + ++moment)) "$pid" "$pid" $(($2)) "$1" \
		"${3:+ $3}"
}

# around FIRST END: pages of libfoo's text that the fault before mapped as well.
around()
{
	printf '1.%06d around pid=%d tid=%d off=%d end_off=%d dev=fe:00 ino=%d\n' $((10000 + moment)) "$pid" "$pid" $(($1 * 4096)) \
		$(($2 * 4096)) "$inode"
}

# program: what every run has: the layout from $lib, $heap and $stack on, and some faults of memory.
program()
{
	local i

	moment=0
	printf '# pfscope events 2\n1.0 note key="page_size" value="4096"\n1.0 note key="start" value="mono"\n'
	printf '1.0005 comm pid=%d tid=%d comm="prog"\n' "$pid" "$pid"
	region lib 64 r-xp 0 "$inode" "$path"
	region lib+64*4096 8 rw-p $((64 * 4096)) "$inode" "$path"
	region lib+72*4096 16 rw-p 0 0 ''
	region lib-0x100000 32 rw-p 0 0 ''
	region heap 33 rw-p 0 0 '[heap]'
	region stack 33 rw-p 0 0 '[stack]'
	for i in 0 1 2; do fault write heap+i*4096; done
	for i in 30 31; do fault write stack+i*4096; done
	fault write lib-0x100000
	fault write lib+73*4096
	fault write lib+65*4096
}

pid=100 lib=0x7f1000000000 heap=0x555000000000 stack=0x7ffc00000000 inode=77 path=/usr/lib/libfoo.so.1
{ program; fault exec lib+20*4096; around 16 32; fault exec lib+40*4096; around 32 48; } >a
# The windows of fault-around are aligned by the address, so page 40 is mapped already when it is needed.
pid=2345 lib=0x7fe00000c000 heap=0x561000007000 stack=0x7ffd12345000
{ program; fault exec lib+20*4096; around 20 36; fault exec lib+36*4096; around 36 52; } >moved_windows
{ program; fault exec lib+20*4096; around 12 41; } >one_window
{ program; fault write stack+29*4096; fault exec lib+20*4096; around 16 32; fault exec lib+40*4096; around 32 48; } >stack
{ program; fault exec lib+20*4096; around 16 32; fault exec lib+40*4096; around 32 48; fault write lib+66*4096; } >written
{ program; fault exec lib+20*4096; around 16 32; fault exec lib+40*4096; around 32 48; fault exec lib+60*4096; } >executed
{ program; fault exec lib+20*4096; around 16 32; } >less
inode=78 path=/opt/lib/libfoo.so.1
{ program; fault exec lib+20*4096; around 16 32; fault exec lib+40*4096; around 32 48; fault write lib+66*4096; } >elsewhere
inode=77 path=/usr/lib/libfoo.so.1

pfscope diff a a
is "$status|$err" '0|' 'a recording and itself'
like "$out" $'\nNothing changed\\.$' '... do not differ'
unlike "$out" 'By ' '... and nothing is listed'

for other in moved_windows one_window stack; do
	pfscope diff a $other
	like "$out" $'\nNothing changed\\.' "$other: nothing changed"
	pfscope diff $other a
	like "$out" $'\nNothing changed\\.' "$other: nor the other way"
done
pfscope diff --csv a one_window
is "$(grep '^total' <<<"$out" | tail -n 1 | cut -d, -f 2,5,8-10)" '10,9,0,0,placement' 'one fault less is placement'
pfscope diff a one_window
like "$out" 'faults .* -1  placement: only addresses differ' '... in words'
like "$out" 'In 1 region only the placement differs: --all' '... and how many regions that concerns'
pfscope diff --csv a one_window
is "$(grep -c '^region,.*,placement,'  <<<"$out")" 1 'in one region'

pfscope diff a written
is "$status|$err" '0|' 'one more page of one library'
is "$(sed -n '/^By file/,/^$/p' <<<"$out" | tail -n +3)" '      +1    3    4     +1  /usr/lib/libfoo.so.1' '... is exactly that'
like "$out" 'faults            10   11      \+1  \+10\.0 %  changed' '... in the sum'
pfscope diff a executed
like "$out" $'\n      \\+1    3    4     \\+1  /usr/lib/libfoo' 'a page of text that nothing had mapped is a change'
pfscope diff a less
like "$out" $'\n      -1    3    2     -1 .* /usr/lib/libfoo' 'one less'
pfscope diff a elsewhere
like "$out" $'\n      \\+1    3    4     \\+1  /opt/lib/libfoo.so.1 \\(moved\\)\n' 'a file with another path is matched by its name'
is "$(awk 'length > 80' <<<"$out")" '' 'it fits 80 columns'

# ---- several runs ----

pfscope diff a moved_windows -- one_window a
like "$out" 'Medians of 2 and 2 runs' 'several runs have medians'
like "$out" $'\nNothing changed' '... and nothing changes'
for i in 1 2 3 4 5; do
	{ program; for ((k = 0; k < i; k++)); do fault write lib-0x100000+4096*k+4096; done; } >noisy$i
done
pfscope diff noisy1 noisy3 noisy2 -- noisy2 noisy4 noisy3
like "$out" 'faults  +10 \[9-11\]  11 \[10-12\]      \+1  within the spread of the runs' 'a difference within the spread'
like "$out" $'\nNothing changed\\.\n' 'is no change'
pfscope diff noisy1 noisy2 -- noisy4 noisy5
like "$out" $'\n      \\+3  3 \\[3-4\\]  6 \\[6-7\\]     \\+3  anon' 'one beyond it is'
like "$out" 'changed' '... is a change'
pfscope diff --fail-if 'faults>+0' noisy1 noisy3 noisy2 -- noisy2 noisy4 noisy3
is "$status" 0 'the spread meets no condition'

# ---- anonymous memory, processes ----

{ program; region lib-0x200000 8 rw-p 0 0 ''; fault write lib-0x200000; } >more_memory
{ program; } >memory
pfscope diff memory more_memory
like "$out" $'\n      \\+1    0    1     \\+1  rw-p  32K   anon \\(new\\)' 'a mapping that only one side has'
{ program; pid=2400; printf '1.02 fork pid=2345 tid=2345 child=2400 child_tid=2400\n1.03 comm pid=2400 tid=2400 comm="worker"\n'
	moment=500000; fault write heap+9*4096; fault write heap+8*4096; } >child
pid=2345
pfscope diff memory child
like "$out" $'By process\n.*\n +\\+2 .* worker \\(new\\)' 'a process that only one side has'
pfscope diff child child
like "$out" $'\nNothing changed' 'processes are matched'

# ---- what is not known ----

{ program; fault exec lib+20*4096; around 16 32; fault exec lib+40*4096; around 32 48; echo '1.5 lost count=5 cpu=0'; } >lossy
pfscope diff lossy less
like "$out" 'unknown: events were lost' 'lost events leave a difference unknown'
pfscope diff --fail-if 'faults>+10' a lossy
like "$status|$out" '^1\|.*undecidable \(events were lost\)' 'and a condition undecided'
sed '2a 1.0 note key="lacks" value="what=filemap:mm_filemap_map_pages tells=pages mapped by fault-around"' a |
	grep -v ' around ' >no_around
sed '2a 1.0 note key="lacks" value="what=filemap:mm_filemap_map_pages tells=pages mapped by fault-around"' one_window |
	grep -v ' around ' >no_around2
pfscope diff no_around no_around2
like "$out" 'faults  .*unknown' 'without reports of fault-around, reads of files are unknown'
pfscope diff --fail-if 'faults>+5' no_around no_around2
is "$status" 0 'but not whether there are many more'
pfscope diff --fail-if 'faults<+0' no_around no_around2
is "$status" 1 'or whether there are fewer'

# ---- time ----

{ program; fault read lib+1*4096 'latency=5000'; } >timed1
{ program; fault read lib+1*4096 'latency=9000'; } >timed2
pfscope diff timed1 timed2
like "$out" 'time in faults   5 us  9 us   \+4 us  unknown' 'time in faults, of one run each: no spread is known'
pfscope diff timed1 timed1 timed1 -- timed2 timed2 timed2
like "$out" 'time in faults   5 us  9 us   \+4 us  \+80.0 %  changed' 'of several runs each'
unlike "$out" 'Nothing changed' '... is a change'
pfscope diff --csv timed1 timed1 timed1 -- timed2 timed2 timed2
is "$(grep '^region.*libfoo' <<<"$out" | cut -d, -f 38,41,44-46 | grep -v '^0,0')" '5000,9000,4000,0,changed' 'by region'
pfscope diff a timed1
unlike "$out" 'time in' 'unless a recording has none'

# ---- conditions ----

# gate STATUS CONDITION OLD NEW
gate()
{
	pfscope diff --fail-if "$2" "$3" "$4"
	is "$status" "$1" "$2 of $3 and $4: status $1"
}

gate 3 'faults>+5%' a written
gate 0 'faults>+10%' a written
gate 3 'faults>=+10%' a written
gate 0 'faults>+5%' written a
gate 3 'faults<-5%' written a
gate 3 'faults>+0' a written
gate 0 'faults>+1' a written
gate 3 'faults>10' a written
gate 0 'faults>11' a written
gate 3 'faults<=11' a written
gate 0 'faults>+0%' a one_window
gate 0 'major>0' a written
gate 3 'pages[libfoo*]>+0' a written
gate 3 'pages[/usr/lib/*]>+0' a written
gate 0 'pages[heap]>+0' a written
gate 3 'pages[heap]>2' a written
gate 3 'pages[anon]>=2' a written
gate 1 'pages[libbar*]>+0' a written
gate 1 'time>+1ms' a written
gate 1 'time>+1us' timed1 timed2
gate 0 'time>+1ms' timed1 timed2
gate 3 'time>8us' timed1 timed2
pfscope diff --fail-if 'faults>+100' --fail-if 'pages>+0' --fail-if 'time>1' a written
is "$status" 3 'several conditions: one that holds'
like "$out" "--fail-if 'faults>\\+100': passed .*--fail-if 'pages>\\+0': met .*--fail-if 'time>1': undecidable" '... all are printed'
for wrong in x faults 'faults>' 'faults>+' 'faults>5%' 'faults>+5%%' 'faults[]>1' 'faults[a>1' 'faults=1' 'faults>1ms' 'faults>+-1' 'pages >1'; do
	pfscope diff --fail-if "$wrong" a a
	like "$status|$err" "^2\\|pfscope diff: --fail-if: " "$wrong is no condition"
done

# ---- usage ----

pfscope diff a
like "$status|$err" '2\|pfscope diff: two recordings are needed' 'one recording'
pfscope diff a a a
is "$status" 2 'three without --'
pfscope diff a a -- a
is "$status|$err" '0|' 'three with --'
pfscope diff -- a
is "$status" 2 'nothing before --'
pfscope diff a missing
like "$status|$err" '1\|pfscope: missing: No such file' 'a recording that is not there'
pfscope diff --top 1 --all a written
is "$(grep -c libfoo <<<"$out")" 2 '--top limits each table'
like "$out" ' more: --top' '... and says so'
pfscope diff --top 1 --csv a written
is "$(grep -c '^region,' <<<"$out")" 1 '... in CSV as well'
pfscope diff --pid 1 a written
is "$status" 1 'a filter that leaves nothing'
pfscope diff --json --fail-if 'faults>+0' a written
is "$status" 3 '--json, too, has conditions'
like "$out" '"gate": \[.*"verdict": "met"' '... and their verdicts'
pfscope diff --region 'libfoo*' --csv a written
is "$(grep -c '^region,' <<<"$out")" 2 '--region leaves its regions'

done_testing
