# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Programs on a terminal of a known size: tmux runs a shell, to which a test sends keys and whose screen it reads. A test
# waits for what it expects to see, up to a minute, never for a time.
#
#     . "${0%/*}/../tap.sh"
#     . "${0%/*}/../screen.sh"
#     screen_open 80 24
#     keys "$PFSCOPE top x.dat" Enter
#     shows 'end$' 'the replay has ended'
#
# A line "OVER NR:STATUS" is printed when the command NR has ended, "@" is the prompt of the shell.

export TMUX_TMPDIR=$T
unset TMUX
started=0
tm_session=
tm_nr=0 # a new server has a new socket: one that is ending still has its own

tm()
{
	tmux -L "test$tm_nr" -f /dev/null "$@"
}

# A program that checks for leaks at its end may hang in that for ever if its terminal goes meanwhile: nothing of it stays.
screen_close()
{
	tm kill-server 2>/dev/null
	[ ! "$tm_session" ] || pkill -KILL -s "$tm_session"
	tm_session=
}

# screen_open COLUMNS LINES [NAME=VALUE...]: a new terminal with a shell.
screen_open()
{
	local width=$1 height=$2

	shift 2
	[ $tm_nr = 0 ] || screen_close
	tm_nr=$((tm_nr + 1))
	tm new-session -d -x "$width" -y "$height" \
		"cd $(printf %q "$PWD"); exec env LC_ALL=C.UTF-8 HISTFILE= PS1=@ PS2= PROMPT_COMMAND= $* bash --norc --noprofile" ||
		{ fail "a terminal of ${width}x$height"; exit 1; }
	tm_session=$(tm display-message -p '#{pane_pid}') # the shell leads it
	[ $tm_nr -gt 1 ] || at_exit screen_close
	wait_for 60 screen_has '^@' || diag 'the shell does not come'
}

screen()
{
	tm capture-pane -p
}

screen_has()
{
	screen | grep -qE -- "$1"
}

# keys KEY...: as tmux send-keys names them; other words are typed.
keys()
{
	tm send-keys "$@"
}

# start COMMAND: a line for the shell. Its text is gone from the screen before what it draws is looked at. It has a number,
# so that the end of the command before it, which is on the screen until "clear" runs, is not taken for its own.
start()
{
	started=$((started + 1))
	keys -l "clear; $1; echo OVER $started:\$?"
	keys Enter
}

# shows REGEX NAME: until a line of the screen is like it.
shows()
{
	wait_for 60 screen_has "$1" && { pass "$2"; return; }
	fail "$2"
	diag "no line is like: $1"
	diag "$(screen)"
	return 1
}

# over STATUS NAME: the command has ended with that status, and the screen is the one that was before it.
over()
{
	shows "^OVER $started:$1\$" "$2"
}

# golden FILE NAME: the screen is the file's.
golden()
{
	screen | sed 's/ *$//' >"$T/golden"
	[ "${UPDATE_SCREENS:-}" ] && cp "$T/golden" "$1"
	same "$T/golden" "$1" "$2"
}

# settings: of the terminal, and whether the other buffer is shown
settings()
{
	stty -a <"$(tm display-message -p '#{pane_tty}')"
	tm display-message -p '#{alternate_on} #{cursor_flag} #{wrap_flag}'
}

# the_top NAME: the one process of the terminal that is called so.
the_top()
{
	pgrep -t "$(tm display-message -p '#{pane_tty}' | sed 's|/dev/||')" -x "$1"
}

# after_race: the one process that the shell waits for was killed, so the shell may have written to the screen that another
# one was about to leave. It prints again what it would have printed.
after_race()
{
	wait_for 60 eval '! the_top pfscope-screen'
	keys Enter
	keys -l "clear; echo OVER $started:137"
	keys Enter
}

# ---- the lines of pfscope top ----

# rows: lines between the heading and the keys
rows()
{
	screen | sed '1,/^faults\/s/d; $d' | grep -vE '^( *|no faults *)$'
}

# row_faults: their numbers of faults, sorted, in one line
row_faults()
{
	rows | awk '{ print $2 }' | sort -n | xargs
}

# column TABLE NAME: of $report, which is the CSV of a report
column()
{
	awk -F, -v table="$1" -v column="$2" '$1 == "table" { for (i = 1; i <= NF; i++) if ($i == column) at = i }
		$1 == table { print $at }' <<<"$report"
}

# faults_of TABLE: as row_faults
faults_of()
{
	column "$1" faults | sort -n | xargs
}

# total TABLE COLUMN: its sum
total()
{
	column "$1" "$2" | awk '{ n += $1 } END { print n + 0 }'
}
