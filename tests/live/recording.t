#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# A recording is a trace.dat like any other, and one run looks the same however it is seen: through the
# binary buffer, the file, trace-cmd's conversion and report of it, the text of trace_pipe, event lines.

. "${0%/*}/live.sh"
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

# faults_of FILE: address, ip and error code of each recorded fault, as trace-cmd report says them.
faults_of()
{
	trace-cmd report -t -R "$1" 2>/dev/null | awk '/page_fault_(user|kernel):/ {
		a = i = c = "?"
		for (f = 1; f <= NF; f++) {
			if ($f ~ /^address=/) a = substr($f, 9)
			if ($f ~ /^ip=/) i = substr($f, 4)
			if ($f ~ /^error_code=/) c = substr($f, 12)
		}
		gsub(/0x/, "", a); gsub(/0x/, "", i); gsub(/0x/, "", c)
		print a, i, c }' | sort
}

# the same of pfscope's events
events_of()
{
	"$PFSCOPE" events "$1" | awk '$2 == "fault" {
		for (f = 3; f <= NF; f++) {
			if ($f ~ /^addr=/) a = substr($f, 6)
			if ($f ~ /^ip=/) i = substr($f, 4)
			if ($f ~ /^code=/) c = substr($f, 6)
		}
		print a, i, c }' | sort
}

# drawn FILE: both kinds of bars of it.
drawn()
{
	"$PFSCOPE" render --width 120 "$1" && "$PFSCOPE" render --classic "$1"
}

"$PFSCOPE" run --no-bars -o "$T/rec.dat" -- \
	sh -c 'ls -l / | sort -r >/dev/null; perl -e "@a = (1..20000)"' 2>"$T/log"
is $? 0 'recorded'
is "$(stat -c %a "$T/rec.dat")" 600 'for its owner only'

trace-cmd report "$T/rec.dat" >"$T/report" 2>"$T/report.err"
is $? 0 'trace-cmd report reads it'
is "$(grep -v '^ *$' "$T/report.err")" "" 'and has nothing to complain of'
ok 'trace-cmd dump reads it' trace-cmd dump --all -i "$T/rec.dat"
ok 'and its summary' trace-cmd dump --summary -i "$T/rec.dat"
like "$(cat "$T/report")" 'pfs_note: .*command=sh -c' 'trace-cmd report shows the command line'

faults_of "$T/rec.dat" >"$T/theirs"
events_of "$T/rec.dat" >"$T/ours"
ok 'there are faults' test -s "$T/ours"
same "$T/theirs" "$T/ours" 'number and fields of the faults are those of trace-cmd report'

drawn "$T/rec.dat" >"$T/of.dat" 2>&1
"$PFSCOPE" events "$T/rec.dat" >"$T/rec.events"
drawn "$T/rec.events" >"$T/of.events" 2>&1
same "$T/of.dat" "$T/of.events" 'event lines draw the same'
"$PFSCOPE" events "$T/rec.events" >"$T/rec.events2"
same "$T/rec.events" "$T/rec.events2" 'event lines of event lines are the same'
{ "$PFSCOPE" render --width 120 - <"$T/rec.dat" && "$PFSCOPE" render --classic <"$T/rec.dat"; } \
	>"$T/of.stdin" 2>&1
same "$T/of.dat" "$T/of.stdin" 'standard input draws the same'
cat "$T/rec.dat" | "$PFSCOPE" render --width 120 - >"$T/of.pipe" 2>&1
cmp -s "$T/of.pipe" <(head -c "$(stat -c %s "$T/of.pipe")" "$T/of.dat")
is $? 0 'a pipe draws the same'

# Compressed by pfscope itself: what trace-cmd makes of it is the file that it would have been.
"$PFSCOPE" run --no-bars --compress -o "$T/zip.dat" -- sh -c 'ls -l / | sort -r >/dev/null; perl -e "@a = (1..20000)"'
is "$? $(stat -c %a "$T/zip.dat")" '0 600' 'recorded compressed'
is "$(head -c 11 "$T/zip.dat" | tail -c 1)" 7 'version 7'
trace-cmd report "$T/zip.dat" >"$T/zip.report" 2>"$T/report.err"
is "$? $(grep -v '^ *$' "$T/report.err")" '0 ' 'trace-cmd report reads it, and has nothing to complain of'
ok 'trace-cmd dump reads it' trace-cmd dump --all -i "$T/zip.dat"
faults_of "$T/zip.dat" >"$T/theirs"
events_of "$T/zip.dat" >"$T/ours"
ok 'there are faults in it' test -s "$T/ours"
same "$T/theirs" "$T/ours" 'number and fields of its faults are those of trace-cmd report'
trace-cmd convert --file-version 7 --compression none -i "$T/zip.dat" -o "$T/unzip.dat" >"$T/log" 2>&1
"$PFSCOPE" events "$T/zip.dat" >"$T/zip.events"
"$PFSCOPE" events "$T/unzip.dat" >"$T/unzip.events"
same "$T/zip.events" "$T/unzip.events" 'trace-cmd convert of it holds the same events'
ok 'it is at most half as large' test $((2 * $(stat -c %s "$T/zip.dat"))) -lt "$(stat -c %s "$T/unzip.dat")"
pfscope report --check "$T/zip.dat"
like "$out" 'every fault is accounted for' 'every fault is accounted for'

for compression in none zstd; do
	trace-cmd convert --file-version 7 --compression $compression -i "$T/rec.dat" \
		-o "$T/v7.dat" >"$T/log" 2>&1
	drawn "$T/v7.dat" >"$T/of.v7" 2>&1
	same "$T/of.dat" "$T/of.v7" "converted to version 7, compression $compression: the same"
done
trace-cmd report -t "$T/rec.dat" >"$T/rec.report" 2>/dev/null
drawn "$T/rec.report" >"$T/of.report" 2>&1
# The text lacks what a kernel address in it was: the bars do not show that.
same "$T/of.dat" "$T/of.report" 'trace-cmd report -t of it draws the same'

# One process through the binary buffer and through trace_pipe at the same time. It waits until both
# watch it; what both have seen of it is the same.
mkfifo "$T/go"
bash -c 'read -r line <"$0"; exec "$1" 300 write anon' "$T/go" "$WORK/touch" >/dev/null &
target=$!
at_exit eval "kill $target 2>/dev/null"
sleep 0.2
"$PFSCOPE" attach -o "$T/two.dat" --no-bars $target 2>"$T/log.a" &
one=$!
"$PFSCOPE" attach --via text -o "$T/two.txt" --no-bars $target 2>"$T/log.b" &
two=$!
sleep 1.5
echo go >"$T/go"
wait $target
wait $one $two
classic()
{
	"$PFSCOPE" render --classic "$1" 2>/dev/null
}
classic "$T/two.dat" >"$T/classic.dat"
classic "$T/two.txt" >"$T/classic.txt"
ok 'both have seen it' grep -qE 'X{300}' "$T/classic.dat"
same "$T/classic.dat" "$T/classic.txt" 'binary buffer and trace_pipe text show the same bars'
"$PFSCOPE" report --csv "$T/two.dat" | grep '^process,' | cut -d, -f1-12 >"$T/counts.dat"
"$PFSCOPE" report --csv "$T/two.txt" | grep '^process,' | cut -d, -f1-12 >"$T/counts.txt"
same "$T/counts.dat" "$T/counts.txt" 'and the same counts'

# ---- other events beside the faults ----

pfscope run --no-bars -e sched:sched_switch -o "$T/other.dat" -- sleep 0.01
is "$status" 0 'other events are recorded beside the faults'
like "$(trace-cmd report "$T/other.dat" 2>/dev/null)" 'sched_switch:' 'trace-cmd report prints them'
other='trace cpu=[0-9]+ pid=[0-9]+ tid=[0-9]+ key="sched:sched_switch" value="prev_comm=sleep prev_pid=[0-9]+ '
pfscope events --all "$T/other.dat"
like "$out" "$other" 'events --all prints them'
like "$out" ' fault cpu=' 'and the faults'
pfscope events "$T/other.dat"
unlike "$out" 'sched_switch' 'events prints the faults alone'

pfscope run --no-bars -e sched:sched_switch --via text -o "$T/other.txt" -- sleep 0.01
is "$status" 0 'they are recorded through trace_pipe'
pfscope events --all "$T/other.txt"
like "$out" "${other/sched:/}" 'events --all prints them as trace_pipe names them'

mkfifo "$T/silent"
bash -c 'while read -r -t 0.05; [ $? -gt 128 ]; do :; done' <>"$T/silent" &
target=$!
at_exit eval "kill $target 2>/dev/null"
for via in binary text; do
	"$PFSCOPE" attach --no-bars -e sched:sched_switch -e signal --via $via -o "$T/attached.$via" $target 2>"$T/log" &
	attach=$!
	ok "attach, $via: it is entered" wait_for 5 has_entered $attach
	sleep 0.3
	kill -INT $attach
	wait $attach
	is $? 0 "attach, $via: records other events"
	pfscope events --all "$T/attached.$via"
	like "$out" "trace cpu=[0-9]+ pid=$target tid=$target key=\"(sched:)?sched_switch\" value=\"prev_comm=bash " \
		"attach, $via: events --all prints them"
done
kill $target

pfscope run --no-bars -e sched:nope -- true
is "$status|$err" "1|pfscope: -e sched:nope: no such event (see /sys/kernel/tracing/events/)" 'an unknown event: one line'

done_testing
