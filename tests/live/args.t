#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Command lines: of the command, of its children, of a process that runs already, of one that joins; none where none was
# read; shown where processes have the same name.

. "${0%/*}/live.sh"
cd "$T" || exit 1

# args_of FILE: the command lines in it, the exec that each is of left out.
args_of()
{
	"$PFSCOPE" events "$1" | sed -n 's/.* key="args" value="\(exec=[0-9]* \)\?text=\(.*\)"$/\2/p' | sort -u
}

# has_args FILE LINE...: event lines have these command lines.
has_args()
{
	local file=$1 line

	shift
	args_of "$file" >"$T/has"
	for line; do
		grep -qxF -- "$line" "$T/has" || return 1
	done
}

# Each process waits until the recording has its command line: the events come as they are recorded.
cat >children.sh <<'EOF'
sleep 1001 & a=$!
sleep 1002 & b=$!
"$1" "it's a b" - <one & c=$!
cat <two >/dev/null
kill $a $b
exec cat three
EOF
cp "$(command -v cat)" 'a program'
: >"it's a b"
mkfifo one two three
"$PFSCOPE" run -o children.dat --all --events -- sh children.sh './a program' >live.events 2>bars &
recorder=$!
exec 8<>one 9<>two
wait_for 60 has_args live.events 'sleep 1001' 'sleep 1002' cat "'./a program' 'it'\\\\''s a b' -" ||
	diag "$(args_of live.events)"
exec 8>&- 9>&-
wait_for 60 has_args live.events 'cat three' || diag "$(args_of live.events)"
: >three
wait $recorder
is $? 0 'recorded'
bars=$(cat bars)
args_of children.dat >got
cat >wanted <<'EOF'
'./a program' 'it'\\''s a b' -
cat
cat three
sh children.sh './a program'
sleep 1001
sleep 1002
EOF
is "$(cat got)" "$(sort -u wanted)" 'the command lines of the children, after each exec'
is "$("$PFSCOPE" events children.dat | sed -n 's/.* key="command" value="\(.*\)"$/\1/p')" "sh children.sh './a program'" \
	'the command as it would be typed'
like "$bars" 'pid [0-9]+ sleep  (exec epoch 2 of 2  )?sleep 1002  ' 'processes of the same name show their own'
like "$bars" 'pid [0-9]+ sleep  (exec epoch 2 of 2  )?sleep 1001  ' '... each of them'
unlike "$(grep '^pid .* a program ' <<<"$bars")" 'it.*s a b' '... but not one whose name is its own'
"$PFSCOPE" report --by process --wide children.dat >report
like "$(cat report)" ' sleep +sleep 1002'$'\n' 'report --wide has them'
unlike "$("$PFSCOPE" report --by process children.dat)" '1002' 'report without it has not'
like "$("$PFSCOPE" report --csv --by process children.dat)" ',sleep,sleep 1002'$'\n' 'CSV has them'
"$PFSCOPE" events children.dat >children.events
"$PFSCOPE" report --by process --wide children.events >again
same again report 'event lines have the same'

# As text, and one that is longer than is read.
long=$(printf 'x%.0s' {1..6000})
mkfifo four
"$PFSCOPE" run --via=text -o text.dat --no-bars --events -- sh -c 'cat <four; :' "$long" >live.events &
recorder=$!
exec 8<>four
wait_for 60 has_args live.events cat || diag "$(args_of live.events)"
exec 8>&-
wait $recorder
is $? 0 'recorded as text'
args_of text.dat >got
is "$(grep -cx cat got)" 1 'a recording as text has them'
is "$(grep '^sh -c .*\.\.\.$' got | tr -cd x | wc -c)" $((4096 - $(printf 'sh\0-c\0cat <four; :\0' | wc -c))) \
	'of a long one there are 4 KiB'

# The command's own is known, however short it is.
pfscope run -o true.dat --no-bars -- true a 'b c'
is "$(args_of true.dat)" "true a 'b c'" 'a short command has it all the same'

# ---- processes that run already ----

sleep 1000 &
running=$!
at_exit kill $running
wait_for 20 grep -qz 1000 "/proc/$running/cmdline"
pfscope attach -d 0.2 -o attached.dat --no-bars $running
is "$status $(args_of attached.dat)" '0 sleep 1000' 'attach reads it'

for_others
"$PFSCOPE" attach --user 65534 -o joined.dat --no-bars --events >live.events 2>joined.err &
attached=$!
wait_for 60 has_entered $attached || diag "$(cat joined.err)"
setpriv --reuid=65534 --regid=65534 --clear-groups sleep 1001 &
joined=$!
at_exit kill $joined
wait_for 60 has_args live.events 'sleep 1001' || diag "$(cat joined.err; args_of live.events)"
kill -INT $attached
wait $attached
ok 'one that joins has it' has_args joined.dat 'sleep 1001'

done_testing
