#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The headline of the bars takes at most eight lines of 80 columns, whatever the recording holds: long commands, many losses.
# Below it thread stacks are one row, and arenas of malloc() another, which add up to what --all draws one by one.

. "${0%/*}/../tap.sh"
need_programs xz
cd "$T" || exit
xz -dc "$DATA/screens/java.events.xz" >java.events

# head_of FILE: the lines above the first process
head_of()
{
	"$PFSCOPE" render --width 80 "$1" | awk '/^pid / { exit } NF'
}

# short FILE NAME
short()
{
	local head

	head=$(head_of "$1")
	ok "$2: at most eight lines" test "$(wc -l <<<"$head")" -le 8 || diag "$head"
	is "$(awk 'length > 80' <<<"$head")" '' '... of 80 columns'
	like "$head" ' faults +[0-9]+ %  ' '... with a place that has the most faults'
}

# ---- losses ----

short java.events 'nothing lost'
grep -v ' key="end"' java.events >some.events
last=$(tail -n 1 some.events)
last=${last%% *}
cp some.events few.events
echo "${last%.*}.999999990 lost cpu=0 count=1234 interval=100" >>few.events
short few.events 'a gap'
like "$(head_of few.events | tr -s '\n ' ' ')" ' lost 1,234 events on CPU 0 .*, so more pages may' '... is named'
cp some.events many.events
for ((i = 0; i < 12; i++)); do
	echo "${last%.*}.9999999$((10 + i)) lost cpu=$i count=$((1000 + i)) interval=100"
done >>many.events
short many.events 'twelve gaps'
like "$(head_of many.events | tr -s '\n ' ' ')" \
	" lost 12,066 events in 12 gaps \(\`pfscope events' lists them\), so more pages may" '... are one sum'
is "$("$PFSCOPE" events many.events | grep -c ' lost .*count=10[01][0-9]')" 12 '... and events lists them'
like "$("$PFSCOPE" report many.events 2>&1)" 'lost 1,?000 events on CPU 0' '... which the report has by CPU'

# ---- commands ----

# command_is TEXT NAME: the headline of a recording of that command
command_is()
{
	sed "s|key=\"command\" value=\"[^\"]*\"|key=\"command\" value=\"$1\"|" java.events >command.events
	short command.events "$2"
}

command_is 'java -Xmx64m -cp one.jar:two.jar:three.jar org.example.Main with arguments' 'a long command'
like "$(head_of command.events)" '^java [^:]* \.\.\.: [0-9]' '... ends with a whole word'
command_is "$(printf 'x%.0s' {1..900})" 'one long word'
like "$(head_of command.events)" '^xxx*\.\.: [0-9]' '... is cut'
command_is "$(printf 'sh -c %.0s' {1..900})" 'a very long command'

# ---- groups ----

# rows REGEX ARG...: "ROWS PAGES SIZE" of the touched ones with that name
rows()
{
	local regex=$1

	shift
	"$PFSCOPE" render "$@" java.events | grep -oE "^[ -][rwxps-]{4} +[0-9]+/[0-9]+ $regex" |
		awk '{ split($2, n, "/") } n[1] { nr++; a += n[1]; b += n[2] } END { print nr + 0, a + 0, b + 0 }'
}

is "$(rows '[0-9]+ thread stacks')" "1 $(rows 'thread stack [0-9a-f]{4}' --all | cut -d' ' -f2-)" \
	'thread stacks are one row with the pages of all'
like "$("$PFSCOPE" render java.events)" " $(rows 'thread stack [0-9a-f]{4}' --all | cut -d' ' -f1) thread stacks " \
	'... and their number'
like "$("$PFSCOPE" render java.events)" ' 104/4312 17 thread stacks ' '... as in the recording'
# An arena begins at a multiple of 64 MiB, and what follows up to the next one is not accessible.
"$PFSCOPE" render --by-address --all --width 80 java.events | awk '
	{ split($1, at, "-") }
	start != "" && at[1] == end && $2 == "---p" { if (at[2] ~ /000000$/) print n, size }
	{ start = "" }
	$2 == "rw-p" && $4 == "anon" && at[1] ~ /[048c]000000$/ { start = at[1]; end = at[2]; split($3, count, "/"); n = count[1]; size = count[2] }' |
	awk '$1 { nr++; a += $1; b += $2 } END { print "1", a, b, nr }' >arenas
is "$(rows '[0-9]+ malloc arenas')" "$(cut -d' ' -f1-3 arenas)" 'arenas are one row with the pages of all'
like "$("$PFSCOPE" render java.events)" " $(cut -d' ' -f4 arenas) malloc arenas " '... and their number'
is "$(rows '[0-9]+ (thread stacks|malloc arenas)' --all)" '0 0 0' '--all draws each'
for sort in faults touched time address; do
	is "$(rows '[0-9]+ thread stacks' --sort $sort)" '1 104 4312' "--sort $sort: grouped, too"
done
like "$("$PFSCOPE" render --top 9 java.events)" ' 17 thread stacks ' '--top: a group is one row'
like "$("$PFSCOPE" render --region 'thread stack' java.events)" 'to see more: --all' \
	'a group alone: --all shows more'
done_testing
