#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# pfscope run: the command runs as it would without it, and what it left behind is what was asked for.

. "${0%/*}/../tap.sh"
need_tracefs

# Those whose pfscope is gone: others may be at work on this machine.
instances()
{
	local name pid nr=0

	for name in $(ls /sys/kernel/tracing/instances | grep '^pfscope-'); do
		pid=${name#pfscope-}
		[ -d /proc/"${pid%%-*}" ] || nr=$((nr + 1))
	done
	echo $nr
}

# ---- the command's own status, output and input ----

for code in 0 1 2 77 126 127 255; do
	pfscope run -- sh -c "exit $code"
	is "$status" $code "exit status $code is passed on"
done
for sig in 9 11 15; do
	pfscope run -- sh -c "kill -$sig \$\$"
	is "$status" $((128 + sig)) "killed by signal $sig: $((128 + sig))"
done
pfscope run -- /no/such/command
is "$status" 127 'a command that is not found: 127'
like "$err" '^pfscope: /no/such/command: command not found$' 'and one line that says so'
pfscope run -- no-such-command-anywhere
is "$status" 127 'not found along PATH: 127'
echo data >"$T/data"
pfscope run -- "$T/data"
is "$status" 126 'a file that is not executable: 126'
like "$err" '^pfscope: .*/data: Permission denied$' 'and one line that says so'
pfscope run
is "$status" 2 'no command: 2'
pfscope run --no-such-option -- true
is "$status" 2 'an unknown option: 2'

pfscope run -- sh -c 'echo out; echo err >&2'
is "$out" out "the command's own output is all there is on standard output"
like "$err" '^err' 'its errors are on standard error'
like "$err" ' faults, [0-9]+ pages touched' 'and so are the bars'
is "$(echo in | "$PFSCOPE" run --no-bars -- cat)" in 'standard input is the command'\''s'
pfscope run --output "$T/bars" -- true
is "$err" "" '--output: nothing on standard error'
ok '--output: the bars are in the file' grep -q 'faults, .*pages touched' "$T/bars"

# ---- as if the shell had started it ----

probe='grep -E "^(Sig(Blk|Ign|Cgt)|NoNewPrivs|Seccomp|Groups|Uid|Gid)" /proc/self/status
	ls -1 /proc/self/fd; ulimit -a; pwd; umask; nice'
bash -c "$probe" >"$T/plain" 2>&1
"$PFSCOPE" run --no-bars -- bash -c "$probe" >"$T/traced" 2>&1
same "$T/plain" "$T/traced" 'signals, descriptors, limits, ids: as without pfscope'

# ---- what is left behind ----

mkdir "$T/empty"
(cd "$T/empty" && TMPDIR=$T/empty "$PFSCOPE" run --no-bars -- true)
is "$(ls -A "$T/empty")" "" 'without -o nothing is left behind'
"$PFSCOPE" run --no-bars -o "$T/rec" -- true
is "$(stat -c '%a %u' "$T/rec")" "600 $(id -u)" '-o: a file of mode 600'
is "$(ls "$T" | grep -c '^rec')" 1 'and none beside it'
is "$(instances)" 0 'no tracefs instance is left'
pfscope run -o "$T/no/such/dir/rec" -- true
is "$status" 1 'a file that cannot be made: 1'
like "$err" '/no/such/dir/rec: cannot be written' 'and which'
pfscope run -o "$T/empty" -- touch "$T/ran"
is "$status" 1 'a directory is no file'
ok 'and the command was not run' test ! -e "$T/ran"
echo old >"$T/keep"
pfscope run -o "$T/keep" -- /no/such/command
is "$(cat "$T/keep")" old 'a recording that did not come about leaves the old file alone'

# ---- as whom ----

export SUDO_UID=65534 SUDO_GID=65534
mkdir -m 777 "$T/open"
chmod 755 "$T"
is "$("$PFSCOPE" run --no-bars -o "$T/open/rec" -- id -u)" 65534 'behind sudo: as the calling user'
is "$(stat -c '%u %g %a' "$T/open/rec")" '65534 65534 600' 'whose the file is'
mkdir -m 700 "$T/closed"
pfscope run -o "$T/closed/rec" -- true
is "$status" 1 'a directory that the user may not write to: 1'
unset SUDO_UID SUDO_GID
is "$("$PFSCOPE" run --no-bars -u nobody -- id -un)" nobody '-u: as that user'
pfscope run -u no-such-user -- true
is "$status" 1 '-u: no such user'
like "$err" 'no-such-user: no such user' 'and which'

# ---- who is recorded ----

pfscope run -o "$T/rec" -- sh -c '"$0" 5; exec "$1" 3' "$WORK/forks" "$WORK/execs"
is "$("$PFSCOPE" report --csv "$T/rec" | grep -c '^process,.*,forks$')" 6 'every child is followed'
"$PFSCOPE" events "$T/rec" | grep ' exec ' >"$T/execs"
is "$(grep -c 'proc/self/exe' "$T/execs")" 3 'every exec is followed' || diag "$(cat "$T/execs")"
pfscope run --no-follow -o "$T/rec" -- sh -c 'ls >/dev/null; true'
is "$("$PFSCOPE" events "$T/rec" | grep -c ' exec ')" 1 '--no-follow: only the first process'
start=$SECONDS
"$PFSCOPE" run --no-bars -o "$T/rec" -- sh -c '(setsid sh -c "sleep 1; ls / >/dev/null" &) &' </dev/null
ok 'an orphan is waited for' test $((SECONDS - start)) -ge 1
ok 'and recorded to its end' grep -q 'exec .*/ls"' <("$PFSCOPE" events "$T/rec")
pfscope run -o "$T/rec" -- "$WORK/threads" 50 10
like "$("$PFSCOPE" events "$T/rec" | grep -c ' thread ')" '^(50|5[1-9])$' 'all threads are followed'
"$PFSCOPE" run --no-bars -o "$T/rec" -- "$WORK/names" >"$T/out" 2>&1
unlike "$("$PFSCOPE" render "$T/rec"; "$PFSCOPE" report "$T/rec")" $'\033' 'no escape sequence of a name gets through'

# ---- events as they come ----

"$PFSCOPE" run --no-bars --events -o "$T/rec" -- ls / >"$T/live" 2>"$T/log"
grep -E '^(#|[0-9])' "$T/live" | grep -vxF -f <(ls /) >"$T/live.events"
"$PFSCOPE" events "$T/rec" >"$T/rec.events"
is "$(grep -c ' fault ' "$T/live.events")" "$(grep -c ' fault ' "$T/rec.events")" \
	'--events: every fault'
is "$(sort "$T/live.events" | md5sum)" "$(sort "$T/rec.events" | md5sum)" 'and the events of the recording'
"$PFSCOPE" run --no-bars --events=json -- true | head -n 5 >"$T/five"
is "$(grep -c '^{"time":' "$T/five")" 5 '--events=json: a reader that goes away harms nobody'

# ---- Ctrl-C and its like ----

(trap - INT; exec "$PFSCOPE" run -o "$T/int" -- sh -c 'trap "exit 5" INT; kill -INT $PPID; sleep 0.3; exit 7') \
	>"$T/out" 2>"$T/err"
is $? 7 'SIGINT to pfscope alone: the command decides'
ok 'and the recording is whole' "$PFSCOPE" render "$T/int"
"$PFSCOPE" run -o "$T/term" -- sh -c 'trap "exit 9" TERM; while :; do sleep 0.05; done' 2>"$T/err" &
sleep 0.7
kill -TERM $!
wait $!
is $? 9 'SIGTERM is passed on to the command'
ok 'and the recording is whole' "$PFSCOPE" render "$T/term"
is "$(instances)" 0 'no tracefs instance is left after all this'

done_testing
