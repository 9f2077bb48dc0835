#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 120
#
# Tapes of real programs: what they touched, thread by thread and in order; the same in every run; and the two things
# that a command can be run without.

. "${0%/*}/live.sh"
cd "$T" || exit

# ---- what was touched ----

"$PFSCOPE" run --strict --no-bars -o touch.dat -- "$WORK/touch" 300 write anon >said
is $? 0 'a sweep is recorded'
"$PFSCOPE" tape --stable --no-times --region anon touch.dat >tape
# largest FILE: of the mapping that has most pages on the tape; its lines there, pages counted from its first.
largest()
{
	awk 'NR == FNR { if (NF == 4) { n[$4]++; if (!($4 in least) || $3 < least[$4]) least[$4] = $3
			if (n[$4] > n[most]) most = $4 }; next }
		/^tape/ || $4 == most { if (NF == 4 && !/^tape/) print $1, $2, $3 - least[most]; else print "tape" }' "$1" "$1"
}
largest tape | grep -v tape >sweep
is "$(<sweep)" "$(for ((i = 0; i < 300; i++)); do echo "w 1 $i"; done)" 'its pages are on the tape, in order, each once'

"$PFSCOPE" tape touch.dat >tape
start=$(value start said)
is "$(grep -c " w 1 ${start#0x}\$" tape)" 1 'by address, unless asked otherwise'
like "$(<tape)" 'accesses to a page between its faults are not seen' 'what cannot be seen is told'

# Most faults of a stack are where it grows to only then.
"$PFSCOPE" run --strict --no-bars -o stack.dat -- "$WORK/stack" 500 >said
"$PFSCOPE" tape --no-times stack.dat >tape
is "$(awk -v from="$(value start said)" -v to="$(value end said)" '/^[rwx]/ && "0x" $3 >= from && "0x" $3 < to { n++ }
	END { print n }' tape)" "$(value pages said)" 'a stack that grows: all of its pages are on the tape'
is "$(grep 'Left out' tape)" '' 'a stack that grows: nothing is left out'

# ---- 300 threads ----

"$PFSCOPE" run --strict --no-bars -o threads.dat -- "$WORK/threads" 300 20 >said
is $? 0 '300 threads are recorded'
for how in '' --stable; do
	# shellcheck disable=SC2086 # none is meant to be none
	"$PFSCOPE" tape --no-times $how threads.dat >tape
	is "$(grep -c '^tape ' tape)" 301 "300 threads ${how:-by number}: a tape for each, and the first one's"
done
"$PFSCOPE" tape --stable --no-times --region anon threads.dat >tape
largest tape | awk '/^tape/ { if (own != "") print own; own = ""; next } { own = own " " $3 }
	END { if (own != "") print own }' | sort -n >owned
is "$(<owned)" "$(for ((i = 0; i < 300; i++)); do
	for ((j = 0; j < 20; j++)); do printf ' %d' $((i * 20 + j)); done; echo; done)" \
	'300 threads: each tape has the twenty pages of its thread, in order'
"$PFSCOPE" tape --format=binary -o threads.tape threads.dat
"$PFSCOPE" tape --no-times threads.dat >one
"$PFSCOPE" tape threads.tape | sed 's/^[0-9-]* \([rwx?]\)/\1/; /^# A ref\|^# Not seen\|^# Left/d' >other
sed -i '/^# A ref\|^# Not seen\|^# Left/d' one
same one other '300 threads: the binary tape has it all'

# ---- the same in every run ----

# again ARG... -- COMMAND...: recorded five times, after once more for the page cache.
again()
{
	local options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	for i in 0 1 2 3 4 5; do
		"$PFSCOPE" run --strict --no-bars ${options[@]+"${options[@]}"} -o "again$i.dat" -- "$@" >/dev/null || return
	done
}

# alike ARG...: how many of the five tapes are the same, those that are most often. Now and then the kernel takes a page
# of a file away for a moment (to move it), and there is a fault more.
alike()
{
	for i in 1 2 3 4 5; do
		"$PFSCOPE" tape --no-times "$@" "again$i.dat" | grep -v '^#\|^tape' | cksum
	done | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }'
}

seq 20000 >numbers
again -- sort -R --random-source=/dev/zero numbers
is $? 0 'a sort is recorded again and again'
"$PFSCOPE" tape --stable --no-times --region heap,anon again1.dat >tape
ok 'its tape is of some length' test "$(wc -l <tape)" -gt 50
ok 'its heap and anonymous memory: the same tape, byte for byte' test "$(alike --stable --region heap,anon)" -ge 3
ok 'while addresses were others' test "$(alike --region heap,anon)" = 1
again --no-aslr -- sort -R --random-source=/dev/zero numbers
ok '--no-aslr: files and the stack as well' test "$(alike --stable)" -ge 3
ok '--no-aslr: even by address' test "$(alike)" -ge 3

# ---- without ----

before=$(</proc/self/personality)
is "$("$PFSCOPE" run --no-aslr --no-bars -- sh -c 'cat /proc/self/personality')" 00040000 '--no-aslr: for the command'
is "$("$PFSCOPE" run --no-bars -- cat /proc/self/personality)" "$before" 'and not without'
is "$(</proc/self/personality)" "$before" 'nor for anybody else'
is "$("$PFSCOPE" run --no-thp --no-bars -- sh -c 'grep -h THP_enabled /proc/self/status; true' | tr -d '\t')" \
	"$(grep -q THP_enabled /proc/self/status && echo THP_enabled:0)" '--no-thp: for the command'
done_testing
