#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The screen of `pfscope top` on recordings: what it shows, and what its keys do. UPDATE_SCREENS=1 writes tests/data/top
# again; look at what has changed.
#
# timeout: 900

. "${0%/*}/../tap.sh"
. "${0%/*}/../screen.sh"
need_programs tmux
ulimit -c 0
cd "$ROOT" || exit 1
tour=examples/tour.events
top="$PFSCOPE top --speed 1000"
report=$("$PFSCOPE" report --csv $tour)

# ---- golden screens ----

screen_open 80 24
start "$top $tour"
shows '0\.002319 s  end$' 'a replay at 80x24 comes to its end'
golden tests/data/top/80x24 'the screen at 80x24'
like "$(screen | sed -n 2p)" "^$(total region faults) faults," 'the sum of the faults is the report'"'"'s'
keys '?'
shows '^Keys' 'help'
golden tests/data/top/help 'the help at 80x24'
is "$(screen | awk 'length > 80' | wc -l)" 0 'it fits'
keys '?'
shows '^faults/s' '... and back'
keys Enter
shows '^ +page kind' 'the pages of the first region'
golden tests/data/top/pages 'the pages at 80x24'
keys PageDown
wait_for 60 screen_has 10001f000
keys Up
shows '^ +10000f000 W' 'scrolled by a screen and back by a page'
keys Home
shows '^ +100000000 W +1 ' '... and to the first one'
keys Escape
shows '^faults/s' '... and back'
keys Down Enter
shows '^300000000-300020000  anon 300000000' 'the pages of a line that is selected'
keys Escape Escape
keys q
over 0 'q: status 0'
is "$(screen | grep -c 'faults')" 0 'the screen is as before'

screen_open 200 60
start "$top $tour"
shows '0\.002319 s  end$' 'a replay at 200x60 comes to its end'
golden tests/data/top/200x60 'the screen at 200x60'
is "$(rows | awk '{ n += $2 } END { print n }')" "$(total region faults)" 'all lines together have the faults of the report'
is "$(rows | wc -l)" "$(awk -F, '$1 == "region"' <<<"$report" | wc -l)" 'there are as many lines as it has regions'

screen_open 80 24
start "$top --class copy $tour"
shows '0\.002319 s  end$' 'a replay of some classes of faults'
is "$(rows | awk '{ n += $2 } END { print n }')" "$(pfscope report --by class --json --class copy "$tour"; jq '[.class[].faults] | add' "$T/out")" \
	'... has the faults that report --class has'
pfscope top --class copy -- true
is "$status|$(head -1 <<<"$err")" '2|pfscope top: --class: only with a recording' 'top --class of a command'
pfscope top --class none "$tour"
is "$status|$(grep -c 'not a list of classes' <<<"$err")" '2|1' 'top --class of none'

screen_open 200 60
start "$top $tour"
shows '0\.002319 s  end$' 'at 200x60 again'

# ---- keys ----

keys b
shows 'by file, sorted by faults/s$' 'b: by file'
is "$(row_faults)" "$(faults_of file)" 'the faults of each file are the report'"'"'s'
keys b
shows 'by process, sorted by faults/s$' 'b: by process'
is "$(rows | awk '{ n += $2 } END { print n }')" "$(total process faults)" 'the faults of the processes are the report'"'"'s'
keys Tab
shows 'by thread, sorted by faults/s$' 'Tab: by thread'
is "$(rows | awk '{ n += $2 } END { print n }')" "$(total process faults)" 'the threads have all of them'
keys t
shows 'by region, sorted by faults/s$' 't: from the threads back to the regions'
keys t
shows 'by thread,' 't: threads'
keys t s
shows 'by region, sorted by faults$' 's: by all faults'
is "$(rows | awk '{ print $2 }' | sort -nrc 2>&1)" '' '... which is their order'
keys s s s
shows 'sorted by name$' 's: ... by name'
keys s
shows 'sorted by faults/s$' '... and again by rate'
keys / ANON
shows '^filter: ANON_' '/: a text is typed'
keys BSpace BSpace N 3
shows '^filter: ANN3_' '... and corrected'
keys BSpace BSpace BSpace
keys -l 'on 3'
keys Enter
shows '^"Aon 3"' 'Enter: it stays'
shows 'no line has the text' 'nothing has it'
keys Escape
shows '^\[q\]uit' 'Esc: no filter'
keys / 'anon 3' Enter
shows '^"anon 3"' 'a filter'
is "$(rows | awk '{ print $5, $6, $7 }')" 'tour anon 300000000' '... leaves one line'
keys Escape
tm resize-window -x 60 -y 15
wait_for 60 eval '[ "$(screen | wc -l)" = 15 ] && screen_has "^.q.uit"'
is "$(screen | awk 'length > 60' | wc -l)|$(screen | wc -l)" '0|15' 'a smaller terminal: it fits'
tm resize-window -x 200 -y 60
wait_for 60 eval 'rows | wc -l | grep -qx "$(grep -c "" tests/data/top/200x60 | awk "{ print \$1 - 6 }")" || screen_has "anon 600000000"'
wait_for 60 eval 'screen | sed "s/ *$//" | cmp -s - tests/data/top/200x60'
golden tests/data/top/200x60 'the former size: the former screen'

# ---- time ----

keys '[' '[' '['
keys Left
shows '0\.002000 s  past \(step 1 ms\)$' 'one step back'
shows 'no faults' '... when no process runs any more'
keys Left
shows '0\.001000 s  past' 'one more'
report=$("$PFSCOPE" report --csv --at 0.001 $tour)
is "$(row_faults)" "$(faults_of region)" 'the faults of each region are those of report --at'
keys Left
shows '0\.000000 s  past' 'the start'
keys Right
shows '0\.001000 s  past' 'forward'
keys Right
keys Right
shows '0\.002319 s  end$' 'to the present'
keys Left
shows ' past ' 'back again'
keys Space
shows '0\.002319 s  end$' 'Space: the present'
keys q
over 0 'q'

# A slow replay can be frozen.
start "$PFSCOPE top --speed 0.00001 $tour"
shows ' x1e-05$' 'a slow replay'
keys Space
shows ' frozen$' 'Space: frozen'
at=$(screen | head -n 1)
keys s
shows 'sorted by faults$' 'keys work'
is "$(screen | head -n 1)" "$at" '... and the time stands'
keys Space
shows ' x1e-05$' 'Space: it goes on'
keys C-c
over 130 'Ctrl-C: status 130'

# ---- colours, and terminals ----

start "$top $tour"
shows ' end$' 'with colours'
like "$(tm capture-pane -pe)" $'\e\\[' '... there are some'
keys q
over 0 'q'
start "NO_COLOR=1 $top $tour"
shows ' end$' 'NO_COLOR'
unlike "$(tm capture-pane -pe)" $'\e\\[[0-9;]*(3[0-9]|9[0-9]|4[0-9])' '... has no colours'
keys Down
wait_for 60 eval 'tm capture-pane -pe | grep -q "$(printf "\033")\[7m.*100000000"'
like "$(tm capture-pane -pe)" $'\e\\[7m[^\n]*100000000' 'the selected line is seen without colours'
keys q
over 0 'q'
start "LC_ALL=C $top $tour"
shows '^\[q\]uit.*<-, ->' 'a locale without UTF-8'
unlike "$(screen)" '[^[:print:][:space:]]|█' '... gets plain characters'
keys q
over 0 'q'
start "TERM=dumb $top $tour"
over 2 'TERM=dumb: refused'
start "$top $tour >$T/file"
over 2 'standard output is a file: refused'

# ---- recordings that cannot be read ----

start "$top $T/no"
over 1 'no such file: status 1'
screen_has 'no: No such file or directory'
is $? 0 '... and the message'
start "$top $ROOT/Makefile"
over 1 'no recording: status 1'
for file in dat/v6.dat text/small.dat; do
	start "$top $DATA/$file"
	shows ' end$' "$file"
	keys q
	over 0 '... q'
done

# ---- whoever is killed ----

before=$(settings)
# ended_by SIGNAL WHOM STATUS
ended_by()
{
	start "$PFSCOPE top --speed 0.00001 $tour 2>/dev/null"
	wait_for 60 screen_has ' x1e-05$'
	unlike "$(settings)" "^$before$" "$1 of $2: the terminal is another one while it runs"
	kill "-$1" "$(the_top "$2")"
	[ "$3" = 137 ] && after_race
	over "$3" "... the status is $3"
	wait_for 60 eval '[ "$(settings)" = "$before" ]'
	is "$(settings)" "$before" '... the terminal is as it was'
	wait_for 60 eval '! the_top pfscope-top && ! the_top pfscope-screen'
	is "$(the_top pfscope-top; the_top pfscope-screen)" '' '... no process is left'
}
ended_by TERM pfscope-top 143
ended_by HUP pfscope-top 129
ended_by INT pfscope-top 130
ended_by QUIT pfscope-top 131
ended_by KILL pfscope-top 137
ended_by TERM pfscope-screen 143
ended_by KILL pfscope-screen 1
ended_by SEGV pfscope-screen 1

start "$PFSCOPE top --speed 0.00001 $tour"
shows ' x1e-05$' 'a replay to be stopped'
keys C-z
shows 'Stopped' 'Ctrl-Z: the shell is back'
wait_for 60 eval '[ "$(settings)" = "$before" ]'
is "$(settings)" "$before" '... and the terminal as it was'
start fg
shows ' x1e-05$' 'fg: the screen is back'
keys q
over 0 'q'
wait_for 60 eval '[ "$(settings)" = "$before" ]'
is "$(settings)" "$before" '... the terminal is as it was'
done_testing
