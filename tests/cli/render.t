#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every recording under tests/data is drawn, and the same whichever way it comes in. The filters do
# what they say, on a recording written by hand.

. "${0%/*}/../tap.sh"

fixtures=$(cd "$DATA" && ls dat/*.dat text/*.dat text/*.trace text/report*.txt | grep -v kmem)

# ---- every fixture, every way in ----

# Those without page faults are refused: kmap reads them.
for name in text/kernel-kmem.trace text/kernel-kmem-wprobe.trace text/report-kmem.txt; do
	pfscope render "$DATA/$name"
	like "$status|$out|$err" '^1\|\|pfscope: .*: no page-fault events, only .*km(alloc|em_cache_alloc).*pfscope kmap' "$name: holds no page faults"
done
for name in $fixtures; do
	file=$DATA/$name
	pfscope render "$file"
	is "$status $(wc -c <"$T/err")" '0 0' "$name: is drawn, without a complaint" || diag "$err"
	mv "$T/out" "$T/picture"
	"$PFSCOPE" render - <"$file" >"$T/other" 2>&1
	same "$T/other" "$T/picture" "$name: the same from standard input"
	cat "$file" | "$PFSCOPE" render >"$T/other" 2>&1
	same "$T/other" "$T/picture" "$name: and from a pipe, without a name"
	"$PFSCOPE" events "$file" >"$T/lines"
	"$PFSCOPE" render "$T/lines" >"$T/other" 2>&1
	same "$T/other" "$T/picture" "$name: its event lines give the same picture"
	"$PFSCOPE" events "$T/lines" | cmp -s - "$T/lines"
	is $? 0 "$name: event lines of event lines are the same lines"
done

# ---- the same facts as text and as bytes ----

"$PFSCOPE" render "$DATA/text/small.dat" >"$T/dat"
"$PFSCOPE" render "$DATA/text/report-t.txt" >"$T/text"
same "$T/text" "$T/dat" 'trace-cmd report of a file gives the picture of the file'
"$PFSCOPE" render --classic "$DATA/text/small.dat" >"$T/dat"
"$PFSCOPE" render --classic "$DATA/text/kernel.trace" >"$T/text"
same "$T/text" "$T/dat" 'and so does the trace file of the same buffer'
for name in v6 v6-date v6-counter v7-none v7-zstd; do
	command -v trace-cmd >/dev/null || { skip 'no trace-cmd' "report of $name.dat"; continue; }
	"$PFSCOPE" render --classic "$DATA/dat/$name.dat" >"$T/dat"
	trace-cmd report -t "$DATA/dat/$name.dat" 2>/dev/null | "$PFSCOPE" render --classic - >"$T/text"
	same "$T/text" "$T/dat" "trace-cmd report of $name.dat gives its picture"
done

# ---- forms ----

file=$DATA/text/small.dat
pfscope render --classic "$file"
is "$(grep -vcE '^(Process: [0-9]+.*|(Region|Unknown): [0-9a-f]{8,} - [0-9a-f]{8,} \( *[0-9]+ pages\): \|[X.]*(\.\.\([0-9]+ untouched\)\.\.[X.]*)*\|)$' \
	<<<"$out")" 0 '--classic: lines of its form only'
is "$(sed -nE 's/.*\( *([0-9]+) pages\): \|([X.]*)\|$/\1 \2/p' <<<"$out" |
	awk '$1 != length($2)' | wc -l)" 0 '--classic: a character a page'
for width in 40 57 80 133 200; do
	pfscope render --width=$width "$file"
	[ $width -ge 80 ] || out=	# a row needs that much
	is "$status $(awk -v w=$width 'length > w' <<<"$out")" '0 ' "--width $width: no line is wider"
	pfscope render --full --width=$width "$file"
	[ $width -ge 80 ] || out=
	is "$status $(awk -v w=$width 'length > w' <<<"$out")" '0 ' "--full --width $width: no line is wider"
done
COLUMNS=100 "$PFSCOPE" render "$file" >"$T/a"
"$PFSCOPE" render --width 100 "$file" >"$T/b"
same "$T/a" "$T/b" 'COLUMNS counts where there is no terminal'
COLUMNS=100 "$PFSCOPE" render --width 80 "$file" >"$T/a"
"$PFSCOPE" render "$file" >"$T/b"
same "$T/a" "$T/b" '--width before COLUMNS; 80 without either'

escape=$'\e'
unlike "$("$PFSCOPE" render "$file")" "$escape" 'pipes are plain'
like "$("$PFSCOPE" render --color "$file")" "$escape\[" '--color is in colour, into a pipe, too'
"$PFSCOPE" render --color=always "$file" | sed -E "s/$escape\[[0-9;]*m//g" >"$T/a"
"$PFSCOPE" render "$file" >"$T/b"
same "$T/a" "$T/b" 'colours add nothing but colours'
# terminal COMMAND: its output on a terminal
terminal()
{
	TERM=xterm script -qec "$1" /dev/null </dev/null
}
if command -v script >/dev/null; then
	like "$(terminal "$PFSCOPE render $file")" "$escape\[" 'a terminal gets colours'
	unlike "$(NO_COLOR=1 terminal "$PFSCOPE render $file")" "$escape" 'NO_COLOR: not'
	unlike "$(terminal "TERM=dumb $PFSCOPE render $file")" "$escape" 'a dumb terminal: not'
	unlike "$(terminal "$PFSCOPE render --color=never $file")" "$escape" '--color=never: not'
	like "$(NO_COLOR=1 terminal "$PFSCOPE render --color=always $file")" "$escape\[" \
		'--color=always before NO_COLOR'
else
	skip 'no script(1)' 'colours on a terminal'
fi
pfscope render -o "$T/picture" "$file"
is "$status [$out]" '0 []' '--output: nothing on standard output'
"$PFSCOPE" render "$file" >"$T/b"
same "$T/picture" "$T/b" '--output: the picture is in the file'

# ---- filters ----

cat >"$T/hand" <<'EVENTS'
# pfscope events 1
10.000000000 note key="start" value="mono"
10.100000000 comm pid=100 tid=100 comm="one"
10.100000001 map pid=100 tid=100 start=10000 end=14000 perms=rw-p off=0 dev=00:00 ino=0 name=""
10.100000002 map pid=100 tid=100 start=40000 end=44000 perms=r--p off=0 dev=fe:00 ino=7 name="/lib/libexample.so"
10.150000000 thread pid=100 tid=100 child=101
10.150000001 comm pid=100 tid=101 comm="worker"
10.200000000 fault cpu=0 pid=100 tid=100 addr=10010 access=write mode=user
10.300000000 fault cpu=0 pid=100 tid=101 addr=11010 access=write mode=user
10.350000000 fault cpu=0 pid=100 tid=100 addr=40010 access=read mode=user
10.400000000 comm pid=200 tid=200 comm="two"
10.400000001 map pid=200 tid=200 start=20000 end=23000 perms=rw-p off=0 dev=00:00 ino=0 name=""
10.450000000 fault cpu=1 pid=200 tid=200 addr=22010 access=read mode=kernel
10.500000000 unmap pid=100 tid=100 start=12000 end=14000
10.600000000 map pid=100 tid=100 start=60000 end=61000 perms=rw-p off=0 dev=00:00 ino=0 name=""
10.700000000 fault cpu=0 pid=100 tid=100 addr=60000 access=write mode=user
EVENTS

# drawn NAME OPTION...: the classic bars with these options are those on standard input.
drawn()
{
	local name=$1

	shift
	cat >"$T/wanted"
	"$PFSCOPE" render --classic "$@" "$T/hand" >"$T/got" 2>&1
	same "$T/got" "$T/wanted" "$name"
}

drawn 'without a filter' <<'BARS'
Process: 100 one
Region: 00010000 - 00012000 (   2 pages): |XX|
Region: 00012000 - 00014000 (   2 pages): |..|
Region: 00040000 - 00044000 (   4 pages): |X...|
Region: 00060000 - 00061000 (   1 pages): |X|
Process: 200 two
Region: 00020000 - 00023000 (   3 pages): |..X|
BARS
drawn '--names: behind the bars' --names --pid 100 <<'BARS'
Region: 00010000 - 00012000 (   2 pages): |XX| anon
Region: 00012000 - 00014000 (   2 pages): |..| anon
Region: 00040000 - 00044000 (   4 pages): |X...| /lib/libexample.so
Region: 00060000 - 00061000 (   1 pages): |X| anon
BARS
drawn '--pid: this process' --pid 200 <<'BARS'
Region: 00020000 - 00023000 (   3 pages): |..X|
BARS
drawn '--tid: what this thread touched, in the layout of all' --tid 101 <<'BARS'
Region: 00010000 - 00012000 (   2 pages): |.X|
Region: 00012000 - 00014000 (   2 pages): |..|
Region: 00040000 - 00044000 (   4 pages): |....|
Region: 00060000 - 00061000 (   1 pages): |.|
BARS
for option in --region=libexample.so --region='*/libex*' --region=00040000-00044000; do
	drawn "$option" "$option" --pid=100 <<'BARS'
Region: 00040000 - 00044000 (   4 pages): |X...|
BARS
done
drawn 'several --region: any of them' --region 'lib*' --region 00060000-00061000 --pid 100 <<'BARS'
Region: 00040000 - 00044000 (   4 pages): |X...|
Region: 00060000 - 00061000 (   1 pages): |X|
BARS
for word in 'lbe*' examp libexample.so.1 file:libx; do
	drawn "--region $word: the nearest is named" --region "$word" <<<"pfscope: --region '$word': no region matches; the nearest is libexample.so"
done
drawn '--region of no letters that any has' --region 'zz*' <<<"pfscope: --region 'zz*': no region matches (\`pfscope maps\` lists them)"
drawn '--region, one of two that matches' --region 'zz*' --region 'lib*' --pid 100 <<<'Region: 00040000 - 00044000 (   4 pages): |X...|'
drawn '--comm: what threads of that name touched' --comm 'w*r' --pid 100 <<'BARS'
Region: 00010000 - 00012000 (   2 pages): |.X|
Region: 00012000 - 00014000 (   2 pages): |..|
Region: 00040000 - 00044000 (   4 pages): |....|
Region: 00060000 - 00061000 (   1 pages): |.|
BARS
drawn '--from: touches from then on' --from 0.3 --pid=100,200 <<'BARS'
Process: 100 one
Region: 00010000 - 00012000 (   2 pages): |.X|
Region: 00012000 - 00014000 (   2 pages): |..|
Region: 00040000 - 00044000 (   4 pages): |X...|
Region: 00060000 - 00061000 (   1 pages): |X|
Process: 200 two
Region: 00020000 - 00023000 (   3 pages): |..X|
BARS
drawn '--to: nothing from then on' --to .35 <<'BARS'
Region: 00010000 - 00014000 (   4 pages): |XX..|
Region: 00040000 - 00044000 (   4 pages): |....|
BARS
for at in 0.35 350ms @10.35 @10.350000000; do
	drawn "--at $at: as it was then, what happened then included" --at $at <<'BARS'
Region: 00010000 - 00014000 (   4 pages): |XX..|
Region: 00040000 - 00044000 (   4 pages): |X...|
BARS
done
drawn '--from and --to: in between' --from 0.25 --to 0.31 <<'BARS'
Region: 00010000 - 00014000 (   4 pages): |.X..|
Region: 00040000 - 00044000 (   4 pages): |....|
BARS
# A recording of pfscope's own has notes before its start, and times count from the start.
sed '2i 9.000000000 note key="pfscope" value="0"' "$T/hand" >"$T/hand.notes"
"$PFSCOPE" render --classic --at 0.35 "$T/hand.notes" >"$T/got"
"$PFSCOPE" render --classic --at @10.35 "$T/hand" >"$T/wanted"
same "$T/got" "$T/wanted" '--at counts from the start, not from a note before it'
is "$("$PFSCOPE" render --pid 300 "$T/hand" | head -n 1)" 'no process to draw (of 2 in the recording)' \
	'a process that is not in it'

# Without a start note times count from the first event.
cat >"$T/no-start" <<-'END'
	# pfscope events 2
	1.000000000 fault pid=1 tid=1 addr=1000 access=write mode=user
	1.000000500 fault pid=1 tid=1 addr=2000 access=write mode=user
	1.000000900 fault pid=1 tid=2 addr=3000 access=read mode=user
END
faults()
{
	"$PFSCOPE" render --by-address "$@" | grep -oE '^[0-9]+ faults?'
}
is "$(faults "$T/no-start"), $(faults --from 0 "$T/no-start")" '3 faults, 3 faults' '--from 0 without a start note'
is "$(faults --from 0.0000004 "$T/no-start"), $(faults --from @1.0000004 "$T/no-start")" '2 faults, 2 faults' \
	'--from leaves the first event out as well'
sed -i '2i 0.900000000 comm pid=1 tid=1 comm="alpha"\n0.900000000 fault pid=3 tid=3 addr=1000' "$T/no-start"
is "$(faults --comm alpha "$T/no-start")" '3 faults' '--comm: a thread without a name has that of its process'

pfscope maps --at 0.45 --pid 100 "$T/hand"
space=' '	# as the kernel ends such lines
is "$out" "00010000-00014000 rw-p 00000000 00:00 0$space
00040000-00044000 r--p 00000000 fe:00 7                                  /lib/libexample.so" \
	'maps --at: the layout then'
pfscope events --tid 101 "$T/hand"
is "$(grep -c ' fault ' <<<"$out") $(grep -c ' map ' <<<"$out")" '1 4' \
	'events --tid: the faults of one, the layout of all'
pfscope report --csv "$T/hand"
is "$status" 0 'report --csv'
pfscope report --json "$T/hand"
is "$status" 0 'report --json'

# ---- progress ----

awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%d.%09d fault pid=7 tid=7 addr=%x access=read\n", i / 1000, i % 1000 * 1000000,
	4096 * (i % 500) }' >"$T/many"
export PFSCOPE T
slow='(head -c 500000 "$T/many"; sleep 0.9; tail -c +500001 "$T/many") | "$PFSCOPE" render --classic -'
TERM=xterm script -qec "$slow >\$T/drawn" /dev/null </dev/null >"$T/seen"
like "$(cat -v "$T/seen")" '^\^M[0-9]+ kB, [0-9.]+[kM]? events, [0-9.]+[kM]? events/s\^\[\[K(\^M.*)?\^M\^\[\[K$' \
	'what takes long says on a terminal how far it is, and takes it back'
sh -c "$slow" >"$T/other" 2>"$T/seen"
is "$(<"$T/seen")" '' 'elsewhere it does not'
same "$T/other" "$T/drawn" 'and the picture is the same'

# ---- losses ----

cat >"$T/lost.events" <<-'END'
	# pfscope events 2
	1.000000000 note key="start" value="mono"
	1.000100000 map cpu=0 pid=1 tid=1 start=400000 end=402000 perms=rw-p name=""
	1.000200000 fault cpu=0 pid=1 tid=1 addr=400000 access=write mode=user
	1.000300000 fault cpu=1 pid=1 tid=1 addr=401000 access=write mode=user
	1.000400000 unmap cpu=0 pid=1 tid=1 start=400000 end=402000
	1.000500000 map cpu=0 pid=1 tid=1 start=500000 end=501000 perms=rw-p name=""
	1.000600000 lost cpu=0 count=7 interval=100000
	1.000700000 fault cpu=0 pid=1 tid=1 addr=500000 access=write mode=user
	1.000800000 lost cpu=1 interval=200000
	1.000900000 fault cpu=1 pid=1 tid=1 addr=500000 access=read mode=user
	1.001000000 note key="end" value="mono"
END
cpu0='7 events on CPU 0 between 0.000500 and 0.000600 s'
cpu1='an unknown number of events on CPU 1 between 0.000600 and 0.000800 s'
pfscope render --by-address --width 300 "$T/lost.events"
like "$out" $'\n'"lost $cpu0, $cpu1, so more pages may have been touched where noted, and regions may be wrong from 0.000500 s on" \
	'losses: the header says how many, where and when'
like "$out" "500000-00501000 [^|]*\|B\|"$'\n'"  \(faults may be lost: $cpu0, $cpu1\)" 'losses: and a row'
unlike "$out" '00402000 [^|]*\|[^|]*\|'$'\n''  \(faults' 'losses: what had gone lacks nothing'
pfscope render --width 300 --from 0.0007 "$T/lost.events"
unlike "$out" 'CPU 0 between' 'losses before --from are none of what is shown'
like "$out" "lost $cpu1" 'losses that reach into it are'
# It ends in the gap of cpu 1, which is told behind the end; nothing else of what comes there is.
for file in "$T/lost.events" -; do
	pfscope render --by-address --width 300 --to 0.00065 $file <"$T/lost.events"
	like "$out" "an unknown number of events on CPU 1 between 0.000600 and 0.000649 s" "losses that reach over --to ($file)"
	like "$out" $'\n2 faults' "losses that reach over --to ($file): no faults from there"
done
pfscope render --width 300 --at 0.0004 "$T/lost.events"
like "$out" 'no events lost' 'losses after --at are none of what is shown'
pfscope report --strict --to 0.00065 "$T/lost.events"
is "$status" 3 'losses that reach over --to are losses to --strict'
pfscope render --classic "$T/lost.events"
like "$out" "Lost: $cpu0, $cpu1" 'losses: --classic'
pfscope maps "$T/lost.events"
like "$out" "^# may be wrong: lost $cpu0, $cpu1"$'\n''00500000-00501000 rw-p' 'losses: maps says that it may be wrong'
pfscope maps --at 0.00045 "$T/lost.events"
like "$out" "^# may be wrong: lost an unknown|^# pid|^$" 'losses: maps before them'
pfscope report --csv "$T/lost.events"
like "$out" $'\ngap,0,0.000500,0.000600,7,1,1,1\ngap,1,0.000600,0.000800,,1,1,1$' 'losses: a table of them'
pfscope report --json "$T/lost.events"
like "$out" '"from_s": 0.000600, "to_s": 0.000800, "events": null, "processes": 1, "regions": 1, "pids": "1"' 'losses: as JSON'
like "$out" '"range": "00400000-00402000".*"gaps": 0, "may_lack": 0,.*"range": "00500000-00501000".*"gaps": 2, "may_lack": null,' \
	'losses: regions that may lack something'
pfscope events "$T/lost.events"
same "$T/out" "$T/lost.events" 'losses: the lines are the same'
head -c -2000 "$DATA/dat/pfs-v6.dat" >"$T/cut.dat"
pfscope events --salvage --strict "$T/cut.dat"
is "$status" 3 'what cannot be read at the end is lost' || diag "$err"

# ---- names with a backslash and names with a newline ----

cat >"$T/backslash" <<'EVENTS'
# pfscope events 2
1.0 exec pid=7 tid=7 comm="c\\n" name="/x\\ny"
1.1 map pid=7 tid=7 start=10000 end=11000 perms=rw-p off=0 dev=00:07 ino=8 name="/t/a\\nb"
1.1 map pid=7 tid=7 start=20000 end=21000 perms=rw-p off=0 dev=00:07 ino=9 name="/t/a\nb"
1.1 map pid=7 tid=7 start=30000 end=31000 perms=rw-p off=0 dev=00:07 ino=9 name="/t/a\\012b"
1.2 fault pid=7 tid=7 addr=10000 access=read mode=user
1.3 fault pid=7 tid=7 addr=20000 access=read mode=user
EVENTS
for view in render 'render --full' report plot mrc\ --each-process 'tape --stable'; do
	pfscope $view "$T/backslash"
	case $view in mrc*) like "$out" 'c\\\\n' "$view: a backslash in a name is escaped"; continue ;; esac
	like "$out" 'a\\\\nb' "$view: a backslash in a name is escaped"
	like "$out" 'a\\nb' '... and a newline not as that'
	case $view in render*) like "$out" 'pid 7 c\\\\n .*  /x\\\\ny' '... nor in the heading' ;; esac
done
pfscope maps "$T/backslash"
is "$(awk '{ print $6 }' <<<"$out" | paste -sd' ')" '/t/a\nb /t/a\012b /t/a\012b' "maps: names as the kernel's, which escapes newlines only"
if command -v script >/dev/null; then
	is "$(terminal "$PFSCOPE --no-pager maps $T/backslash" | tr -d '\r' | awk '{ print $6 }' | paste -sd' ')" '/t/a\\nb /t/a\nb /t/a\\012b' \
		'maps on a terminal: no two names look the same'
	like "$(terminal "$PFSCOPE --no-pager events --csv $T/backslash")" '"/t/a\\\\nb".*"/t/a\\nb"' 'events --csv on a terminal: the same'
else
	skip 'no script(1)' 'names on a terminal'
fi

# ---- --strict ----

for command in render events maps report; do
	pfscope $command --strict "$DATA/dat/lost.dat"
	is "$status" 3 "$command --strict: a recording with losses"
	like "$err" '^pfscope: lost .*--strict' "$command --strict: and a line says so"
	cp "$T/out" "$T/strict"
	pfscope $command "$DATA/dat/lost.dat"
	is "$status" 0 "$command: without it that is no failure"
	same "$T/strict" "$T/out" "$command --strict: prints the same"
	pfscope $command --strict "$DATA/dat/pfs-v6.dat"
	is "$status|$err" '0|' "$command --strict: nothing is lost"
done
done_testing
