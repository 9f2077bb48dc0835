#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 120
#
# pfscope tape: each form and option, on a string written by hand and on recordings; and what it refuses.

. "${0%/*}/../tap.sh"

# Two threads; pages 0 to 3 of an anonymous mapping, a file's, and what is no reference.
cat >"$T/hand.events" <<'EOS'
# pfscope events 1
1.000000000 map pid=10 tid=10 start=700000 end=704000 perms=rw-p off=0 dev=00:00 ino=0 name=""
1.000000000 map pid=10 tid=10 start=400000 end=410000 perms=r-xp off=8192 dev=fe:00 ino=7 name="/lib/a, b.so"
1.000000000 map pid=10 tid=10 start=410000 end=411000 perms=r--p off=73728 dev=fe:00 ino=7 name="/lib/a, b.so"
1.000000000 note pid=10 tid=10 key="snapshot" value="first"
1.000001000 fault cpu=0 pid=10 tid=10 comm="prog" addr=700010 access=write mode=user
1.000002000 fault cpu=0 pid=10 tid=10 comm="prog" addr=700020 access=read mode=user
1.000003000 fault cpu=0 pid=10 tid=10 comm="prog" addr=401000 access=exec mode=user
1.000004000 thread pid=10 tid=10 child=11
1.000005000 fault cpu=1 pid=10 tid=11 comm="prog" addr=702000 access=write mode=user
1.000006000 fault cpu=0 pid=10 tid=10 comm="prog" addr=410fff access=read mode=user
1.000007000 fault cpu=1 pid=10 tid=11 comm="prog" addr=700000 access=write mode=user
1.000008000 fault cpu=1 pid=10 tid=11 comm="prog" addr=900000 access=write mode=user
1.000009000 fault cpu=1 pid=10 tid=11 comm="prog" addr=401000 access=write mode=user
2.000010000 fault cpu=0 pid=10 tid=10 comm="prog" addr=700000 access=write mode=user
EOS
cd "$T" || exit

# tape_is NAME WANTED ARG...: what is printed but for comments.
tape_is()
{
	local name=$1 wanted=$2

	shift 2
	pfscope tape "$@"
	is "$status|$err|$(grep -v '^#' <<<"$out")" "0||$wanted" "$name"
}

tape_is 'by thread, with times' 'tape pid=10 tid=10 references=5 comm=prog
image 1
1000 rw 2 700000
2000 x 1 401000
3000 r 1 410000
1000004000 w 1 700000
tape pid=10 tid=11 references=2 comm=prog
image 1
5000 w 1 702000
2000 w 1 700000' hand.events
like "$out" '# Left out: 1 fault where nothing was mapped[.]' 'what is left out is told'
like "$out" 'accesses to a page between its faults are not seen' 'and what cannot be seen'
tape_is 'stable, without times' 'tape process=1 thread=1 references=5 comm=prog
image 1
rw 2 0 anon#1
x 1 3 /lib/a, b.so
r 1 18 /lib/a, b.so
w 1 0 anon#1
tape process=1 thread=2 references=2 comm=prog
image 1
w 1 2 anon#1
w 1 0 anon#1' --stable --no-times hand.events
is "$(grep -c '^#' <<<"$out")|$(grep -c 'not seen' <<<"$out")" '3|0' \
	'what is to be compared tells nothing that differs from run to run'
tape_is 'by process' 'tape pid=10 references=7 comm=prog
image 1
1000 rw 2 700000
2000 x 1 401000
2000 w 1 702000
1000 r 1 410000
1000 w 2 700000' --by=process hand.events
tape_is 'of all, first references, no code' 'tape all references=3
image 1
w 1 0 anon#1
w 1 2 anon#1
r 1 18 /lib/a, b.so' --by=all --first --no-code --stable --no-times hand.events
tape_is 'regions by kind' 'tape process=1 thread=1 references=2 comm=prog
image 1
x 1 3 /lib/a, b.so
r 1 18 /lib/a, b.so' --stable --no-times --region 'file:*b.so' hand.events
tape_is 'anonymous memory of one thread' 'tape process=1 thread=2 references=2 comm=prog
image 1
w 1 2 anon#1
w 1 0 anon#1' --stable --no-times --region heap,anon --tid 11 hand.events
tape_is 'some of the time' 'tape pid=10 tid=10 references=1 comm=prog
image 1
1000010000 w 1 700000' --from 0.5 hand.events

# ---- forms ----

pfscope tape --format=lackey hand.events
is "$out" ' S 00700000,4096
 L 00700000,4096
I  00401000,4096
 S 00702000,4096
 L 00410000,4096
 S 00700000,4096
 S 00700000,4096' 'lackey: each reference by itself'
pfscope tape --format=csv hand.events
is "$out" 'time,object,size
0.000001000,1,4096
0.000002000,1,4096
0.000003000,2,4096
0.000005000,3,4096
0.000006000,4,4096
0.000007000,1,4096
1.000010000,1,4096' 'csv'
pfscope tape --format=oracle-general -o oracle hand.events
is "$status|$(od -A n -v -w24 -t u4 oracle | awk '{ print $1, $2, $4, $5 == 4294967295 ? -1 : $5 }')" '0|0 1 4096 2
0 1 4096 6
0 2 4096 -1
0 3 4096 -1
0 4 4096 -1
0 1 4096 7
1 1 4096 -1' 'oracle-general: seconds, page, size, its next reference'
pfscope tape --format=prefetch --window=2us --ahead=0 hand.events
is "$(grep -v '^#' <<<"$out" | head -n 6)" 'tape pid=10 tid=10 references=5 comm=prog
image 1
trigger 2 700000
1 2000 401000
tape pid=10 tid=11 references=2 comm=prog
image 1' 'prefetch: what follows within the window'
pfscope tape --format=prefetch --window=0 --stable --no-times hand.events
like "$out" 'trigger 2 0 anon#1
1 3 /lib/a, b.so
1 18 /lib/a, b.so
trigger 1 3 /lib/a, b.so
1 18 /lib/a, b.so
1 0 anon#1
trigger 1 18' 'prefetch: without a window and times'

# ---- a binary tape says the same, and recordings keep what they have ----

for file in hand.events "$PWD"/hand.events "$DATA"/dat/{v6,v6-split,v7-zstd,pfs-v7,lost}.dat "$DATA/text/kernel-pipe.trace" "$ROOT/examples/tour.events"; do
	for how in '' '--stable' '--by=process --no-times' '--by=all --first'; do
		# shellcheck disable=SC2086 # words are meant
		"$PFSCOPE" tape $how "$file" >text 2>err && "$PFSCOPE" tape $how --format=binary -o tape "$file" &&
			"$PFSCOPE" tape tape >again && "$PFSCOPE" tape <tape >third
		is $? 0 "${file##*/} $how: printed" || diag "$(<err)"
		same text again "${file##*/} $how: of the binary tape as well"
		same text third "${file##*/} $how: from standard input"
	done
	# Every fault is there, or left out for a reason that is told.
	"$PFSCOPE" tape "$file" >text 2>/dev/null
	faults=$("$PFSCOPE" events "$file" 2>/dev/null | grep -c '^[0-9.]* fault ')
	is "$(awk '/^#/ || /^image/ { next } /^tape/ { sub(".*references=", ""); told += $1; next } { n += $3 }
		END { print n - told }' text)" 0 "${file##*/}: entries are as many as their tapes say"
	told=$(awk '/^tape/ { sub(".*references=", ""); n += $1 } END { print n + 0 }' text)
	ok "${file##*/}: $told of $faults faults, no more" test "$told" -le "$faults" -a "$told" -gt 0
done

# ---- what goes wrong ----

"$PFSCOPE" tape --format=binary -o tape hand.events
fails()
{
	local name=$1 wanted_status=$2 wanted=$3

	shift 3
	pfscope tape "$@"
	is "$status|$(wc -l <<<"$err")|$out" "$wanted_status|1|" "$name: one line"
	like "$err" "$wanted" "$name: which says why"
}
head -c 50 tape >cut
fails 'a tape that was cut' 1 'damaged tape: byte [0-9]+' cut
fails 'another choice of a tape' 1 'a tape cannot be filtered or converted' --stable tape
fails 'a region of a tape' 1 'a tape cannot be filtered or converted' --region heap tape
fails 'a simulator form of a tape' 1 'a tape cannot be filtered or converted' --format=csv tape
fails 'no such file' 1 'No such file' nothing
fails 'a file that is no recording' 1 'neither trace.dat' "$PFSCOPE"
fails 'no room' 1 'No space left' -o /dev/full hand.events
usage()
{
	local name=$1 wanted=$2

	shift 2
	pfscope tape "$@"
	is "$status|$out" '2|' "$name: wrong usage"
	like "$err" "$wanted" "$name: why"
}
usage 'a mistyped kind of memory' "'anno' is none of heap, stack, anon and file:GLOB" --region heap,anno hand.events
usage 'a form that there is not' 'must be text, binary' --format=xml hand.events
usage 'a tape of what' 'must be thread, process or all' --by=core hand.events
usage 'a window' 'must be a time' --format=prefetch --window=soon hand.events
usage 'pages' 'must be between 0' --format=prefetch --ahead=-1 hand.events
usage 'a window for what' 'only with --format=prefetch' --window=1ms hand.events
usage 'a stable form for simulators' 'cannot be combined' --format=csv --stable hand.events
usage 'all that follows' 'needs a window' --format=prefetch --no-times --ahead=0 hand.events
usage 'two recordings' 'only one recording' hand.events hand.events

# ---- what is to be said of a string ----

pfscope tape --region 'nothing*' hand.events
is "$status|$(grep -v '^#' <<<"$out")|$(wc -l <<<"$err")" '0||2' \
	'regions that there are not: an empty tape, what it leaves out, and that none matches'
like "$err" 'no references: .* 7 left out by the options' 'which says why'
pfscope tape --format=csv "$DATA/dat/lost.dat"
like "$status|$err" '^0[|].*lost' 'a form without remarks: losses are told aside'
sed '$a 2.1 access pid=10 tid~10 addr=701000\n2.2 fault pid=10 tid=10 addr=700000 count=4' hand.events >sampled.events
for form in lackey csv oracle-general; do
	"$PFSCOPE" tape --format=$form -o string sampled.events 2>err
	is "$?|$(wc -l <err)" '0|2' "$form: sampled and counted ones are told aside"
	like "$(<err)" '^pfscope: sampled, .* not marked in --format=.*: 1 of 8 references' "$form: sampled"
	like "$(<err)" 'without 4 faults' "$form: counted"
done
head -c -5000 "$DATA/dat/v6.dat" >cut.dat
pfscope tape cut.dat
like "$status|$err" '^1[|].*try --salvage' 'a file that was cut'
pfscope tape --salvage cut.dat
is "$status" 0 'what is left of it' || diag "$err"
unlike "$err" 'try --salvage' 'is not told to be tried again'
like "$out" '# NOT COMPLETE: events are lost, an unknown number of them' 'nor to lack 0 events'
pfscope tape --strict "$DATA/dat/lost.dat"
is "$status" 3 'lost events, --strict: 3'
like "$out" '# NOT COMPLETE: ' 'and the tape says so'
"$PFSCOPE" tape --strict --format=binary -o strict "$DATA/dat/lost.dat" 2>err
is "$?|$(test -s strict && echo there)" '3|there' 'it is written all the same'
if command -v script >/dev/null; then
	script -qec "'$PFSCOPE' tape --format=binary hand.events" /dev/null >terminal </dev/null
	is "$?" 2 'a binary tape is nothing for a terminal'
	like "$(<terminal)" '-o FILE' 'and it says where it would go'
fi
done_testing
