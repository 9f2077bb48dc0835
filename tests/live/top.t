#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# pfscope top of commands and of running processes: what the screen shows is what the report of the kept recording has,
# now and one step back; whoever is killed, the terminal is as it was and nothing is left in the kernel.

. "${0%/*}/live.sh"
. "${0%/*}/../screen.sh"
need_programs tmux
ulimit -c 0

# recorder: its process, the other child of the one that waits
recorder()
{
	pgrep -P "$(the_top pfscope-top)" | grep -vx "$(the_top pfscope-screen)"
}

# same_as_report region|file NAME REPORT-ARG...: the lines of the screen, which is by that
same_as_report()
{
	local by=$1 name=$2

	shift 2
	report=$("$PFSCOPE" report --csv "$@")
	is "$(row_faults)" "$(faults_of $by)" "$name: the faults of each $by"
	is "$(rows | awk '{ n += $2 } END { print n + 0 }')" "$(total $by faults)" '... and their sum'
}

# gone NAME: nothing of top is left, in the kernel neither
gone()
{
	wait_for 60 eval '! the_top pfscope-top && ! the_top pfscope-screen'
	is "$(the_top pfscope-top; the_top pfscope-screen)" '' "$1: no process of it is left"
	wait_for 60 eval '[ "$(settings)" = "$before" ]'
	is "$(settings)" "$before" '... the terminal is as it was'
	wait_for 60 eval '[ -z "$(instances_of $was)" ]'
	is "$(instances_of "$was")" '' '... no instance is left'
	is "$(keepers_of "$$")" '' '... and no helper' || diag "$(ps -ef)"
}

screen_open 200 120 PFSCOPE_TEST=$$
before=$(settings)

# ---- a command ----

start "$PFSCOPE top -o $T/touch.dat -- sh -c 'echo some words; $WORK/touch 64 >/dev/null; exit 7'"
shows ' s  end$' 'a command has ended'
same_as_report region 'at the end' "$T/touch.dat"
unlike "$(screen)" 'some words$' 'its output does not disturb the screen'
keys '[' '[' '['
at='- '
for ((i = 0; i < 500; i++)); do
	keys Left
	wait_for 60 eval 'screen_has " past .step 1 ms" && ! screen_has " $at s  past"'
	at=$(screen | sed -nE '1s/.* ([0-9.]+) s  past.*/\1/p')
	[ "$(rows | wc -l)" -gt 5 ] && break
done
like "$at" '^[0-9.]+$' 'steps back to where the command runs'
same_as_report region "one step back, at $at" --at "$at" "$T/touch.dat"
keys Left
wait_for 60 eval '! screen_has " $at s  past"'
keys Right
shows " $at s  past" '... one more and forward again'
same_as_report region '... it is the same' --at "$at" "$T/touch.dat"
keys b
shows 'by file,' 'by file'
same_as_report file '... of the past' --at "$at" "$T/touch.dat"
keys q
over 7 'q: the status is the command'"'"'s'
screen_has '^some words$'
is $? 0 '... and its output is printed'

start "$PFSCOPE top -- /no/such/command"
over 127 'no such command'
screen_has 'command not found'
is $? 0 '... the message is printed'

if [ -e /proc/sys/kernel/perf_event_paranoid ]; then
	start "$PFSCOPE top --source=perf -o $T/perf.ev -- $WORK/touch 64"
	shows ' s  end$' 'through perf events'
	same_as_report region '... at the end' "$T/perf.ev"
	keys q
	over 0 '... q: the status is the command'"'"'s'
fi

# ---- running processes ----

# start_top ARG...: to a process that runs; sets $was, the recorder
start_top()
{
	"$WORK/loop" 1000 >"$T/ready" &
	loop=$!
	wait_for 60 grep -q ready "$T/ready"
	start "$PFSCOPE top $* $loop 2>/dev/null"
	shows ' s  live$' "top of a process that runs"
	wait_for 60 eval '[ "$(rows | grep -c " $loop ")" -gt 0 ]'
	is $? 0 '... its faults are shown'
	was=$(recorder)
	wait_for 60 is_tracing "$was"
}

end_loop()
{
	kill $loop
	wait $loop 2>/dev/null
}

start_top -o "$T/loop.dat"
keys Space
shows ' frozen$' 'Space: frozen'
keys Space
shows ' live$' '... and on'
end_loop
shows ' s  end$' 'its end is the end'
keys b
shows 'by file,' 'by file'
same_as_report file 'at the end' "$T/loop.dat"
keys q
over 0 'q: status 0'
gone 'after the end'

start_top -o "$T/quit.dat"
keys q
over 0 'q while it runs'
ok '... which it still does' kill -0 $loop
ok '... the recording is kept' "$PFSCOPE" report "$T/quit.dat"
gone q
end_loop

for how in 'TERM pfscope-top 143' 'INT pfscope-top 130' 'HUP pfscope-top 129' 'KILL pfscope-top 137' \
	'KILL pfscope-screen 1' 'SEGV pfscope-screen 1' 'KILL recorder 1' 'KILL keeper 0'; do
	read -r signal whom status <<<"$how"
	start_top
	case $whom in
	recorder) pids=$was ;;
	keeper) pids=$(keepers_of $$) ;;
	*) pids=$(the_top $whom) ;;
	esac
	kill -$signal $pids
	if [ $whom = recorder ]; then
		shows ' s  end$' 'what was recorded stays until q'
		keys q
	elif [ $whom = keeper ]; then
		keys q
		shows '^OVER [0-9]*:' "keepers: q"
		gone 'kill -9 of the keepers'
		end_loop
		continue
	fi
	[ "$status" = 137 ] && after_race
	over "$status" "$signal of $whom: status $status"
	gone "$signal of $whom"
	ok '... the process goes on' kill -0 $loop
	end_loop
done

start_top
keys C-z
shows 'Stopped' 'Ctrl-Z'
wait_for 60 eval '[ "$(settings)" = "$before" ]'
is "$(settings)" "$before" '... the terminal is as it was'
start fg
shows ' s  live$' 'fg: it has gone on'
keys C-c
over 130 'Ctrl-C'
gone 'Ctrl-C'
end_loop
done_testing
