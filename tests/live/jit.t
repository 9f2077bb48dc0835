#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Code of a JIT compiler, by its jitdump: each fault has the functions and lines that the program itself says, though code is
# replaced and moved, through ftrace and perf, with stacks and without; as perf inject --jit names them.

. "${0%/*}/live.sh"
need_programs sqlite3
chmod 755 "$T"
cp "$PFSCOPE" "$WORK/jit" "$T"
cd "$T" || exit 1

# chains FILE SAID: what `jit' prints, of the recording: its generated code only.
chains()
{
	"$PFSCOPE" export --to sqlite -o db "$1" 2>err
	sqlite3 db "select printf('%x', address), stack_id from fault" | while read -r line; do
		addr=${line%|*} stack=${line#*|}
		grep -q "^$addr " "$2" || continue
		echo "$addr $(sqlite3 db "with recursive up(id, n) as (values($stack, 0)
			union all select parent, n + 1 from up join stack on stack_id = id where parent is not null)
			select case when function like '[anon]%' then 'unknown' else function end || ' ' ||
			coalesce(source, '') || ':' || coalesce(line, 0)
			from up join stack on stack_id = id join frame using (frame_id) where module = '[anon]' order by n" |
			paste -sd' ')"
	done
	rm -f db
}

innermost() { cut -d' ' -f1-3; }

record()
{
	rm -f jit-*.dump rec
	"$PFSCOPE" run --no-bars -o rec "$@" >said 2>err
	is "$? $(<err)" '0 ' "recorded: $*"
}

for source in ftrace perf; do
	record --source=$source --stack=fp -- ./jit
	chains rec said >got
	same got said "$source: functions and lines of each stack are those of the program"
	cp said want
	"$PFSCOPE" report --csv --by function,stack rec >report
	is "$(grep -o '^stack.*' report | grep -c -e 'caller;second' -e 'caller;ns::third(char\*)')" 2 \
		"$source: report has both stacks that were at the same addresses"
	record --source=$source -- ./jit
	chains rec said >got
	innermost <said >want
	same got want "$source: without stacks, the innermost"
done
"$PFSCOPE" report --csv --by line rec >report
is "$(grep -c -e ',11,/src/a.js' -e ',21,/src/b.js' -e ',41,/src/d.js' -e ',51,/src/e.js' report)" 4 'report --by line has its lines'

# ---- packed, and read without the files, or with others in their places ----

names() { "$PFSCOPE" report --csv --by function,line,stack "$@" rec; }
for source in ftrace perf; do
	record --source=$source --stack=fp -- sh -c 'echo "0 7fffffffffff anywhere" >/tmp/perf-$$.map; exec ./jit'
	map=/tmp/perf-$("$PFSCOPE" events rec | sed -nE 's/.*"jit_file" value="pid=([0-9]+) .*/\1/p').map
	at_exit rm -f "$map"
	names >want
	grep -q '^function.*\[anon\],anywhere' want && grep -q '^function.*\[anon\],ns::third' want
	is $? 0 "$source: a jitdump and a perf map" || diag "$(<want)"
	"$PFSCOPE" archive -o packed rec >out 2>&1
	like "$(<out)" ', 2 of JIT compilers, ' "$source: both are packed"
	rm "$map"
	for dump in jit-*.dump; do
		cp "$dump" copy && mv copy "$dump"
	done
	names >got
	is "$(grep -c -e ns::third -e anywhere got)" 0 "$source: without them there are no names"
	echo '0 7fffffffffff elsewhere' >"$map"
	names --symbols packed >got
	same got want "$source: with the archive they are those of before"
	rm "$map"
done

# ---- times of another clock: of each address the last one ----

record --source=perf --stack=fp -- ./jit 1000000
sed -E 's/(first|second) [^ ]+/ns::third(char*) \/src\/d.js:41/' said >want
chains rec said >got
same got want 'times of another clock: the last function of each address'

# ---- a file that is not the recorded one ----

mv jit-*.dump away
chains rec said >got
is "$(grep -vc unknown got)" 0 'without the file there are no names'
"$PFSCOPE" report --by function rec >report 2>&1
like "$(<report)" 'no names of .*/jit-[0-9]+\.dump: no such file here' '... and a line says why'
name=$(sed -nE 's/^no names of (.*\/jit-[0-9]+\.dump): .*/\1/p' report)
cp away "$name"
"$PFSCOPE" report --by function rec >report 2>&1
like "$(<report)" 'no names of .*/jit-[0-9]+\.dump: another file now' 'a copy is another file'
mv away "$name"
truncate -s -20 "$name"
chains rec said >got
same got want 'a file whose end is missing has the names before it'

# ---- as perf has it ----

if command -v perf >/dev/null; then
	rm -f jit-*.dump
	perf record -q -k 1 -e page-faults -c 1 -d -o perf.data ./jit >said 2>log
	perf --buildid-dir "$T/.debug" inject --jit -i perf.data -o jitted.data >log 2>&1
	perf --buildid-dir "$T/.debug" script -i jitted.data -F addr,ip,sym 2>>log |
		awk 'NR == FNR { want[$1]; next } $1 in want { print $1, $NF }' said - >theirs
	cut -d' ' -f1,2 said | sed 's/unknown/[unknown]/; s/(char\*)//' >want
	same theirs want 'perf inject --jit has the same functions' || diag "$(<log)"
else
	diag 'there is no perf'
fi

done_testing
