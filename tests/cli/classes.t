#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Classes of faults outside report --by class: the filter --class, and the class of each fault in export. What is known of the
# faults by their addresses alone is what the filter leaves; counts of real recordings are those of report --by class.

. "${0%/*}/../tap.sh"
need_programs jq

# Each class is a range of addresses. Of some a later event tells: the stack that grows, a signal, a huge page, userfaultfd.
cat >"$T/a.events" <<'END'
# pfscope events 2
0.001000000 note key="start" value="mono"
0.001000000 note key="machine" value="x86_64"
0.001001000 map pid=7 tid=7 start=10000000 end=10010000 perms=rw-p off=0 dev=00:00 ino=0 name=""
0.001002000 map pid=7 tid=7 start=20000000 end=20004000 perms=rw-p off=4096 dev=8:1 ino=9 name="/d/f"
0.001003000 map pid=7 tid=7 start=30000000 end=30400000 perms=rw-p off=0 dev=00:00 ino=0 name=""
0.001004000 map pid=7 tid=7 start=40000000 end=40010000 perms=rw-p off=0 dev=00:00 ino=0 name=""
0.001005000 map pid=7 tid=7 start=7ff000000000 end=7ff000100000 perms=rw-p traits=stack off=0 dev=00:00 ino=0 name="[stack]"
0.001006000 thread pid=7 tid=7 child=8
0.002000000 fault pid=7 tid=7 comm="prog" cpu=0 addr=10000000 ip=400010 access=write mode=user code=6
0.002100000 fault pid=7 tid=7 comm="prog" cpu=0 addr=10008000 ip=400010 access=read mode=user code=4
0.002200000 fault pid=7 tid=7 comm="prog" cpu=0 addr=20000000 ip=400010 access=read mode=user code=4
0.002200100 major pid=7 tid=7 dev=8:1 ino=9 off=4096 end_off=8192
0.002300000 fault pid=7 tid=8 comm="prog" cpu=1 addr=40000000 ip=400010 access=write mode=user code=6
0.002400000 fault pid=7 tid=7 comm="prog" cpu=0 addr=10008000 ip=400010 access=write mode=user code=7
0.002500000 fault pid=7 tid=7 comm="prog" cpu=0 addr=20001000 ip=400010 access=write mode=user code=6 how=cow
0.002600000 fault pid=7 tid=7 comm="prog" cpu=0 addr=30000000 ip=400010 access=write mode=user code=6
0.002600100 huge pid=7 tid=7 order=9
0.002700000 populate pid=7 tid=7 start=40000000 end=40001000 by=userfaultfd
0.002800000 fault pid=7 tid=7 comm="prog" cpu=0 addr=7feffffff000 ip=400018 access=write mode=user code=6
0.002800100 map pid=7 tid=7 start=7feffff00000 end=7ff000100000 perms=rw-p traits=stack off=0 dev=00:00 ino=0 name="[stack]"
0.002900000 fault pid=7 tid=8 comm="prog" cpu=1 addr=50 ip=400040 access=write mode=user code=6
0.002900100 signal pid=7 tid=8 sig=11
END

# filtered LIST [FILE]: the addresses of the faults that are left
filtered()
{
	pfscope events --class "$1" "${2-$T/a.events}"
	grep -o ' fault .* addr=[0-9a-f]*' "$T/out" | sed 's/.*addr=//' | paste -sd' '
}

a=$T/a.events
sed "/addr=10000000/d" "$a" >"$T/less.events"
while IFS='|' read -r class addresses others; do
	is "$(filtered "$class")" "$addresses" "events --class '$class'"
	is "$(awk '{ print $2 }' "$T/out" | grep -xE 'major|signal|huge|populate' | paste -sd' ')" "$others" "... and what came of them"
	for table in process thread region file; do
		pfscope report --by $table --json --class "$class" "$T/a.events"
		is "$(jq "[.$table[].faults] | add // 0" "$T/out")" "$(wc -w <<<"$addresses")" "report --by $table --class '$class'"
	done
	pfscope render --class "$class" "$T/a.events"
	like "$out" " $(wc -w <<<"$addresses") fault" "render --class '$class'"
	pfscope tape --by all --class "$class" "$a"
	is "$(sed -n 's/^[0-9]* [rwx?] 1 //p' "$T/out" | sort | paste -sd' ')" \
		"$(tr ' ' '\n' <<<"$addresses" | grep -v '^50$' | sed 's/...$/000/' | sort | paste -sd' ')" "tape --class '$class'"
	pfscope plot --class "$class" --format html "$a"
	is "$(grep -o '"summary":{"faults":[0-9]*' "$T/out" | cut -d: -f3)" "$(wc -w <<<"$addresses")" "plot --class '$class'"
	pfscope diff --class "$class" --json "$a" "$T/less.events"
	is "$(jq '.total[0].faults_new' "$T/out")" \
		"$(tr ' ' '\n' <<<"$addresses" | grep -cvx 10000000)" "diff --class '$class'"
done <<'END'
anonymous page|10000000 7feffffff000|
anonymous|10000000 7feffffff000|
zero page|10008000|
read of a file's page|20000000|major
copy of the zero page|10008000|
copy of a file's page|20001000|
copy|10008000 20001000|
huge page|30000000|huge
UserFaultFD|40000000|
no access*|50|signal
no access (signal or EFAULT),zero*|10008000 50|signal
*page|10000000 10008000 20000000 10008000 20001000 30000000 7feffffff000|major huge
END

pfscope report --by class --json --class 'copy,swap' "$T/a.events"
is "$(jq -c '[.class[] | [.class, .faults, .reported]] | sort' "$T/out")" '[["copy of a file'\''s page",1,1],["copy of the zero page",1,0]]' \
	'report --by class: of those, also none'
is "$(filtered huge <(cat "$T/a.events"))" 30000000 'a pipe is read twice'
pfscope events --class huge - <"$T/a.events"
is "$(grep -c ' fault ' "$T/out")" 1 'standard input, a file'
cat "$T/a.events" | pfscope events --class huge
is "$(grep -c ' fault ' "$T/out")" 1 'standard input, a pipe'
pfscope events --class anonymous,userf,huge --tid 7 --from 0.0015 "$T/a.events"
is "$(grep -c ' fault ' "$T/out")" 2 'other filters are ANDed'
pfscope report --class huge "$T/a.events"
unlike "$out" 'By class' 'no table that was not asked for'
while IFS='|' read -r filters faults; do
	pfscope report --by class,process,thread --json $filters "$T/a.events"
	is "$(jq -c '[.class, .process, .thread | map(.faults) | add // 0]' "$T/out")" "[$faults,$faults,$faults]" \
		"report --by class $filters"
	pfscope events $filters "$T/a.events"
	is "$(grep -c ' fault ' "$T/out")" "$faults" '... and events'
done <<'END'
--tid 8|2
--pid 8|0
--from 0.0013 --to 0.00155|3
--tid 7 --class zero,read|2
END
for list in none '' 'zero page,none' ',' 'huge,'; do
	pfscope report --class "$list" "$T/a.events"
	is "$status|$(head -1 <<<"$err" | grep -c 'anonymous page; zero page; .*unknown: region not known$')" '2|1' \
		"--class '$list': a line that lists the names"
done
{ cat "$T/a.events"; echo nonsense; } >"$T/odd.events"
pfscope events --class huge "$T/odd.events"
is "$(grep -c 'lines that are not events: 1' <<<"$err")" 1 'a message is printed once'
pfscope report --class huge --check "$T/a.events"
is "$status|$(head -1 <<<"$err")" '2|pfscope report: --check: compares faults of all classes: without --class' '--check'
pfscope report --class huge "$T/missing"
is "$status|$(wc -l <<<"$err")" '1|1' 'a recording that is not there'

head -c 3000 "$DATA/dat/v6.dat" >"$T/cut.dat"
pfscope events --class huge "$T/cut.dat"
is "$status|$(wc -l <<<"$err")|$out" '1|1|' 'a damaged recording'
pfscope export --class huge --to folded <"$T"
is "$status|$(wc -l <<<"$err")" '1|1' 'a directory'
TMPDIR=/nonexistent pfscope events --class huge <(cat "$T/a.events")
is "$status|$(grep -c TMPDIR <<<"$err")" '1|1' 'a pipe without a place for temporary files'

# A recording without gaps: 64 pages are touched again and again, and only the first touch of each is no reference to a hidden
# page.
awk 'BEGIN {
	print "# pfscope-events 2\n0.000000001 exec pid=7 tid=7 comm=\"x\" name=\"/bin/x\""
	print "0.000000002 map pid=7 tid=7 start=10000000 end=10040000 id=1 perms=rw-p name=\"\""
	for (i = 0; i < 300; i++)
		printf "0.%09d fault pid=7 tid=7 addr=%x access=write mode=user%s\n", 1000 + i, 268435456 + i * 7 % 64 * 4096,
			i < 64 ? "" : " how=hidden"
}' >"$T/gapless.events"
pfscope plot --format svg --color-by fault-class "$T/gapless.events"
is "$(sed -n 's/.*"colors":\({[^}]*}\).*/\1/p' "$T/out" | sed 's/&quot;/"/g' | jq -r '.["hidden by pfscope"]')" 236 \
	'plot --color-by fault-class: references and first touches apart'

# Real recordings: each fault has one class, and there are as many as the report counts.
for file in "$T/gapless.events" "$ROOT/examples/tour.events" "$DATA"/dat/*.dat; do
	pfscope report --by class --json "$file"
	[ $status = 0 ] || continue
	jq -r '.class[] | "\(.faults) \(.class)"' "$T/out" | awk '{ n = $1; sub(/^[0-9]+ /, ""); sum[$0] += n }
		END { for (class in sum) print sum[class], class }' | sort >"$T/classes"
	[ -s "$T/classes" ] || continue
	pfscope events "$file"
	grep ' fault ' "$T/out" | grep -v ' count=' | sort >"$T/all"
	: >"$T/each"
	while read -r faults class; do
		pfscope events --class "$class" "$file"
		grep ' fault ' "$T/out" >>"$T/each"
		pfscope report --by process --json --class "$class" "$file"
		echo "$(jq '[.process[].faults] | add // 0' "$T/out") $class"
	done <"$T/classes" >"$T/filtered"
	pfscope plot --format svg --color-by fault-class "$file"
	sed -n 's/.*"colors":\({[^}]*}\).*/\1/p' "$T/out" | sed 's/&quot;/"/g' | jq -r 'to_entries[] | "\(.value) \(.key)"' | sort >"$T/plotted"
	same "$T/plotted" "$T/classes" "${file##*/}: plot --color-by fault-class has the faults that report --by class counts"
	same "$T/filtered" "$T/classes" "${file##*/}: report --class leaves what report --by class counts"
	is "$(wc -l <"$T/each")" "$(awk '{ n += $1 } END { print n }' "$T/classes")" '... and so does events'
	is "$(sort "$T/each" | comm -23 - "$T/all" | wc -l)" 0 '... the same faults, each once'
done

# render --by-class: each page has the letter of the one class that events --class finds at its address, in lower case where
# there are several; a page whose fault ended in a signal has `!'.
letters='anonymous page=N;zero page=Z;copy of the zero page=Y;copy of a file'\''s page=C;copy after fork=F;read of a file'\''s page=R
write to a shared file=W;shared memory=S;swap-in=I;NUMA hint=M;huge page=G;userfaultfd=U;hidden by pfscope=D;page of the kernel*=K'
# naive FILE: address and letter of each page
naive()
{
	tr ';' '\n' <<<"$letters" | while IFS='=' read -r class letter; do
		pfscope events --class "$class" "$1"
		sed -n "s/.* fault .* addr=\([0-9a-f]*\).*/\1 $letter/p" "$T/out"
	done | awk '{ page = length($1) > 3 ? substr($1, 1, length($1) - 3) "000" : "0" } !(page in all) { all[page] = $2; next }
		index(all[page], $2) == 0 { all[page] = all[page] $2 }
		END { for (page in all) print page, all[page] }' | sort
}
# drawn OPTION...: the same of the bars, of those pages alone that faulted
drawn()
{
	pfscope render --full --all --by-class "$@"
	grep -oE '^ +[0-9a-f]+ \|.*\|$' "$T/out" | while read -r address bar; do
		bar=${bar#|} bar=${bar%|}
		for ((i = 0; i < ${#bar}; i++)); do
			[[ ${bar:i:1} = [A-Za-z] && ${bar:i:1} != [HPhp] ]] || continue
			printf '%x %s\n' $((16#$address + i * 4096)) "${bar:i:1}"
		done
	done | sort
}
naive "$T/a.events" | grep -v '^0 ' >"$T/naive"
drawn "$T/a.events" >"$T/drawn"
is "$(cat "$T/naive")" "$(printf '%s\n' '10000000 N' '10008000 ZY' '20000000 R' '20001000 C' '30000000 G' '40000000 U' '7feffffff000 N')" \
	'the classes by page'
is "$(cat "$T/drawn")" "$(sed 's/ ZY/ y/' "$T/naive")" 'render --by-class draws them'
like "$out" 'Y copy of the zero page' '... with a legend'
like "$out" 'lower case: other classes, too' '... that tells what lower case is'
for width in 80 200; do
	pfscope render --by-class --width $width "$ROOT/examples/tour.events"
	is "$(awk -v width=$width 'length > width' "$T/out" | wc -l)" 0 "no line is longer than $width columns"
done
pfscope events --class 'no access*' "$ROOT/examples/tour.events"
signals=$(sed -n 's/.* fault .* addr=\([0-9a-f]*\)... .*/\1000/p' "$T/out")
naive "$ROOT/examples/tour.events" | awk 'length($2) > 1 { $2 = "several" } 1' | grep -v "^$signals " >"$T/naive"
drawn "$ROOT/examples/tour.events" | awk '$2 ~ /[a-z]/ { $2 = "several" } 1' >"$T/drawn"
ok 'of a real program, more than 100 pages' [ "$(wc -l <"$T/drawn")" -gt 100 ]
same "$T/drawn" "$T/naive" '... have their letters'
pfscope render --by-class --class copy "$T/a.events"
is "$(grep -o '|.*|' "$T/out" | tr -d '|.~0-9\n')" YC 'render --by-class --class copy: only these'
pfscope render --by-class --color=always "$T/a.events"
like "$out" $'\033''\[1;31mN' 'in colours'
is "$(sed 's/\x1b\[[0-9;]*m//g' "$T/out" | md5sum)" "$(pfscope render --by-class "$T/a.events"; md5sum <"$T/out")" '... that add nothing'
for option in classic names by-function; do
	pfscope render --by-class --$option "$T/a.events"
	is "$status|$(head -1 <<<"$err" | grep -c -- '--by-class and --')" '2|1' "--by-class --$option"
done

done_testing
