#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# report: its tables against the event lines of the same recording: by thread and by process, the sums below, --by, --top.

. "${0%/*}/../tap.sh"
cd "$T" || exit 1

# threads_of FILE: lines "TID FAULTS READ WRITE EXEC UNKNOWN USER KERNEL MAJOR SIGNAL" of the event lines, but of what
# pfscope's own child did before its exec.
threads_of()
{
	"$PFSCOPE" events "$1" | awk '
		function of(name) { return match($0, " " name "=[^ ]*") ? substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) : "" }
		/ note .*key="launch"/ { launch[of("pid")]; next }
		$2 == "exec" { delete launch[of("pid")] }
		$2 !~ /^(fault|major|signal)$/ || !of("tid") { next }
		of("pid") in launch && of("space") != "exec" { next }
		{ key = of("tid"); n = of("count") ? of("count") : 1; seen[key] }
		$2 == "fault" { faults[key] += n; by[key, of("access") ? of("access") : "unknown"] += n; by[key, of("mode")] += n
			by[key, "major"] += of("class") == "major" }
		$2 == "major" { by[key, "major"]++ }
		$2 == "signal" { by[key, "signal"]++ }
		END { for (key in seen) print key, faults[key], by[key, "read"] + 0, by[key, "write"] + 0, by[key, "exec"] + 0,
			by[key, "unknown"] + 0, by[key, "user"] + 0, by[key, "kernel"] + 0, by[key, "major"] + 0, by[key, "signal"] + 0 }' |
		sort
}

for file in "$ROOT/examples/tour.events" "$DATA"/dat/{v6,v6-buffers,pfs-v6,v7-zstd}.dat; do
	name=${file##*/}
	threads_of "$file" >wanted
	ok "$name has threads" test -s wanted
	"$PFSCOPE" report --by thread --csv "$file" | awk -F, '$1 == "thread" { print $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 }' |
		sort >got
	same got wanted "$name: by thread as the event lines"
	is "$("$PFSCOPE" report --by thread --csv "$file" | awk -F, '$1 == "thread" { n[$2] += $4 } END { for (pid in n) print pid, n[pid] }' | sort)" \
		"$("$PFSCOPE" report --by process --csv "$file" | awk -F, '$1 == "process" && $6 { print $2, $6 }' | sort)" \
		"$name: the threads of a process add up to it"
done

file=$ROOT/examples/tour.events
pfscope report "$file"
unlike "$out" 'By thread' 'by thread only on request'
pfscope report --by thread "$file"
is "$(tail -n 4 <<<"$out" | head -n 1 | awk '{ print $1, $2, $NF }')" '29316 29317 painter' 'the thread with the most faults comes first'
like "$out" ' 151 .* total of 2' 'and the sum last'
pfscope report --by thread --top 1 "$file"
unlike "$out" painter '--top leaves out the rest'
like "$out" ' 151 .* total of 2' 'the sum is of all'
pfscope report --by thread --wide "$file"
like "$out" 'user .* first +last ' '--wide has all columns'
pfscope report --by process,thread --by region "$file"
is "$(grep '^By ' <<<"$out" | paste -sd,)" 'By process,By region,By thread' '--by: several tables, in one order'
is "$(awk 'length > 80' <<<"$out")" '' 'within 80 columns'
pfscope report --by thread --tid 29317 "$file"
unlike "$out" ' tour$' '--tid leaves its thread'
pfscope report --by thread --region heap,stack --csv "$file"
is "$(awk -F, '$1 == "thread" && $4 != "faults" { n += $4 } END { print n + 0 }' <<<"$out")" \
	"$("$PFSCOPE" report --by region --region heap,stack --csv "$file" | awk -F, '$1 == "region" { n += $8 } END { print n + 0 }')" \
	'--region leaves the faults there'
# sum_of TABLE REGION: of the column `faults`
sum_of()
{
	"$PFSCOPE" report --by "$1" --region "$2" --csv "$file" | tr -d '\r' | awk -F, -v table="$1" '
		$1 == "table" { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == table { n += $at["faults"] } END { print n + 0 }'
}
for region in heap,stack 'file:*' 'file:*,heap'; do
	is "$(for table in process thread class function; do sum_of $table "$region"; done | sort -u)" "$(sum_of region "$region")" \
		"--region $region: every table has the faults there alone"
done
printf '# pfscope events 2\n1.0 fault pid=7 tid=8 addr=1000 latency=500\n1.1 fault pid=7 tid=8 addr=2000 latency=700\n' >timed
pfscope report --by thread timed
like "$out" ' 1200  ' 'the time in faults where it was recorded'
for table in file process region thread; do
	pfscope report --by $table --json "$file"
	like "$out" "\"$table\": \\[" "--by $table --json"
done

# ---- a layout that was read now and then ----

{
	echo '# pfscope events 2'
	echo '1.000000000 note key="source" value="perf"'
	echo '1.000100000 map pid=1 tid=1 start=10000 end=20000 perms=rw-p off=0 dev=00:00 ino=0 name=""'
	for page in 1 2 3; do
		echo "1.00020000$page fault pid=1 tid=1 addr=1${page}000 mode=user class=minor"
	done
	echo '1.000300000 map pid=1 tid=1 start=10000 end=20000 perms=r--p off=0 dev=fe:00 ino=7 name="/lib/over"'
	echo '1.000400000 fault pid=1 tid=1 addr=11000 mode=user class=minor'
} >"$T/polled"
pfscope report --csv --by region "$T/polled"
is "$(awk -F, '/^table/ { for (i = 1; i <= NF; i++) at[$i] = i } /^region/ { print $at["faults"], $at["gone"], $NF }' <<<"$out" | sort)" \
	'1 0 /lib/over
3 1 anon' 'a mapping that another has replaced unreported keeps its faults'
# What is not counted by region is not shown with --region.
pfscope report "$ROOT/examples/tour-stap.events"
like "$out" 'By handling' 'how faults were handled is a table'
pfscope report --region stack "$ROOT/examples/tour-stap.events"
unlike "$out" 'By handling' '... but not of one region'
pfscope report --pid 99999 "$ROOT/examples/tour-stap.events"
like "$out" 'no process to show \(of 1 in the recording\)' 'nothing is left: the report says so'
done_testing
