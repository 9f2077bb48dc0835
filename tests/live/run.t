#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# pfscope run: the command runs as it would without it, and as whom it should; everything that it
# starts is recorded; its exit status is passed on; nothing is left behind.

. "${0%/*}/live.sh"
mkdir "$T/tmp" "$T/cwd"
chmod 755 "$T"
export TMPDIR=$T/tmp
cd "$T/cwd" || exit

# run ARG...: as try() has it; nothing but what is asked for is left.
run()
{
	pfscope run "$@"
}

# ---- the exit status ----

for n in $(some 0 1 2 42 125 126 127 128 130 200 255); do
	run --no-bars -- sh -c "exit $n"
	is $status $n "exit $n"
done
for n in $(some 1 2 3 6 9 11 13 14 15); do
	run --no-bars -- sh -c "kill -$n \$\$"
	is $status $((128 + n)) "killed by signal $n"
done
run no-such-command-here
is "$status $err" '127 pfscope: no-such-command-here: command not found' 'no such command'
run /no/such/file
is "$status $err" '127 pfscope: /no/such/file: command not found' 'no such path'
run /etc/passwd
is "$status $err" '126 pfscope: /etc/passwd: Permission denied' 'not executable'
run /
is "$status $err" '126 pfscope: /: Permission denied' 'a directory'
run --no-such-option -- true
is $status 2 'an unknown option'
run -o kept.dat no-such-command-here
is "$status $(ls)" '127 ' 'no such command: no file'

# ---- what is left behind, and who gets what ----

run -- echo text
is "$status $out" '0 text' 'the standard output is the command'"'"'s own'
like "$err" '^echo text: [0-9]+ faults .*no events lost.*pid [0-9]+ echo ' 'bars and summary on standard error'
is "$(find "$T/cwd" "$T/tmp" -mindepth 1)" '' 'nothing is left without -o'
run --report-file bars.txt --no-follow -- sh -c 'echo text; echo more >&2'
is "$status $out $err" '0 text more' '--report-file: standard error is the command'"'"'s own, too'
like "$(<bars.txt)" '^sh -c .*no events lost' '--report-file: the bars'
rm bars.txt
run --output /no/such/dir/bars -- touch started
is "$status $(ls)" '1 ' '--output that cannot be: the command is not even started'
run -o /no/such/dir/file -- touch started
is "$status $(ls)" '1 ' '-o that cannot be: the command is not even started'
like "$err" '^pfscope: /no/such/dir/file: cannot write: No such file' '-o that cannot be: message'
run -o . -- touch started
is "$status $(ls) $err" '1  pfscope: .: is a directory' '-o of a directory'
mkfifo fifo
run -o fifo -- true
is "$status $(stat -c %F fifo)" '1 fifo' '-o of what is no regular file leaves it as it is'
rm fifo

umask 000
run --no-bars -o kept.dat -- true
is "$(stat -c '%a %u' kept.dat) $(ls)" "600 $(id -u) kept.dat" '-o: mode 0600 whatever the umask'
umask 022
echo old >old.dat
chmod 644 old.dat
run --no-bars -o old.dat -- true
is "$(stat -c %a old.dat)" 600 '-o over another file: mode 0600'
ln -s old.dat link.dat
before=$(stat -c %i old.dat)
run --no-bars -o link.dat -- true
ok '-o through a link replaces what it leads to' test -L link.dat -a "$before" != "$(stat -c %i old.dat)"
rm ./*.dat

run --no-bars -- cat </etc/passwd
is "$out" "$(</etc/passwd)" 'standard input is the command'"'"'s'
out=$(printf 'one\ntwo\n' | "$PFSCOPE" run --no-bars -- sh -c 'read -r x; echo "$x!"; cat')
is "$out" $'one!\ntwo' 'standard input through a pipe'

# ---- the command's surroundings ----

cat >"$T/look" <<'END'
grep -E '^(Sig[PBIC]|Shd|NoNew|Seccomp:|Cap|Cpus_allowed:|CoreDumping|THP|Umask|Groups|Uid|Gid)' /proc/self/status
for fd in /proc/self/fd/*; do
	echo "$fd" "$(readlink "$fd" | sed -E 's/:\[.*//; s/[0-9]{3,}/N/')"
done | grep -v '/fd/3 .*proc'
cat /proc/self/limits /proc/self/oom_score_adj /proc/self/coredump_filter /proc/self/cgroup
cat /proc/self/timerslack_ns /proc/self/personality
umask; pwd; nice; env | grep -v '^_=' | sort
ps -o ppid=,pgid=,sid=,tty=,sched=,ni= -p $$ | awk '{ $1 = ""; print }'
exec 0<&- 2>&1; ls /dev/null
END
surroundings()
{
	"$@" sh "$T/look" 2>&1
}
# compare NAME: with and without, in the shell's surroundings of the moment
compare()
{
	surroundings | cat >"$T/without"
	surroundings "$PFSCOPE" run --no-bars -- | cat >"$T/with"
	same "$T/without" "$T/with" "$@"
}
compare 'signals, limits, descriptors, ids, groups are as without'
# Those that the C library keeps for itself are ignored under some programs; pfscope must not come to use them.
if [ "$(uname -m)" = x86_64 ]; then
	# shellcheck disable=SC2016 # perl's
	ignoring=(perl -e '$a = pack("Q4", 1, 0, 0, 0); syscall(13, $_, $a, 0, 8) for (32, 33); exec @ARGV')
	is "$("${ignoring[@]}" "$PFSCOPE" run --no-bars -- grep SigIgn /proc/self/status)" \
		"$("${ignoring[@]}" grep SigIgn /proc/self/status)" 'signals of the C library stay ignored'
fi
(
	trap '' USR1 PIPE CHLD BUS
	ulimit -n 300 -c 0 -t 1000
	exec 7</etc/passwd 8>"$T/eight"
	umask 077
	export ODD=$'a\nb'
	compare 'the same with other signals ignored, limits, descriptors, umask'
	echo $((tap_nr)) >"$T/nr"
	tap_done=subshell
	trap - EXIT
	exit $tap_failed
)
tap_failed=$((tap_failed + $?)) tap_nr=$(<"$T/nr")
(nice -n 5 sh "$T/look"; nice -n 5 "$PFSCOPE" run --no-bars -- nice) 2>&1 | tail -1 >"$T/nice"
is "$(<"$T/nice")" $(($(nice) + 5)) 'nice is passed on'

# ---- on whose behalf ----

if [ "$(id -nu 65534 2>/dev/null)" = nobody ]; then
	chmod 777 "$T/cwd"
	SUDO_UID=65534 SUDO_GID=65534 run -o sudo.dat --output sudo.bars -- \
		sh -c 'id -u; id -g; id -G; echo "$USER $LOGNAME"; touch made'
	is "$out" $'65534\n65534\n65534\nnobody nobody' 'behind sudo it runs as who called'
	is "$(stat -c '%u:%g %a %n' made sudo.*)" \
		$'65534:65534 644 made\n65534:65534 644 sudo.bars\n65534:65534 600 sudo.dat' \
		'behind sudo the files are the caller'"'"'s'
	like "$(<sudo.bars)" 'no events lost' 'behind sudo it records'
	mkdir -m 755 mine
	SUDO_UID=65534 SUDO_GID=65534 run -o mine/x.dat -- touch started
	is "$status $(ls mine) $err" '1  pfscope: mine/x.dat: cannot write: Permission denied' \
		'behind sudo -o writes where the caller may'
	SUDO_UID=65534 SUDO_GID=65534 run -o mine/../kept.dat --no-bars -- sh -c 'kill -9 $$'
	is "$status $(stat -c %u kept.dat)" '137 65534' 'behind sudo: the status is passed on'
	run -u nobody --no-bars -o user.dat -- id -u
	is "$out $(stat -c %u user.dat)" '65534 65534' '-u USER'
	run -u 65534 --no-bars -- id -u
	is "$out" 65534 '-u NUMBER'
	cd "$T" && rm -rf "$T/cwd" && mkdir "$T/cwd" && cd "$T/cwd" || exit
else
	skip 'no user nobody with number 65534' 'behind sudo'
fi
run -u no-such-user -- touch started
is "$status $(ls) $err" '1  pfscope: no-such-user: no such user' '-u of nobody at all'

# ---- what it starts ----

# kinds FILE: how many processes began, images, processes ended.
kinds()
{
	"$PFSCOPE" events "$1" | awk '
		$2 == "fork" && / child=/ { forks++ } $2 == "exec" { execs++ }
		$2 == "exit" && / last=1/ { exits++ }
		END { print forks + 0, execs + 0, exits + 0 }'
}
# faults_in FILE START END: faults in user mode there, of all processes
faults_in()
{
	"$PFSCOPE" events "$1" | awk -v start="${2#0x}" -v end="${3#0x}" '
		$2 == "fault" && /mode=user/ {
			match($0, / addr=[0-9a-f]+/)
			addr = substr($0, RSTART + 6, RLENGTH - 6)
			if (length(addr) == length(start) && addr >= start && addr < end)
				n++
		}
		END { print n + 0 }'
}
# same_tids FILE: its faults' times and threads as pfscope's events have them, and as libtracecmd reads them
same_tids()
{
	"$PFSCOPE" events "$1" | awk '$2 == "fault" { sub(/\./, "", $1); match($0, / tid=[0-9]+/)
		print $1, substr($0, RSTART, RLENGTH) }' >"$T/tids"
	"$TOOLS/dat_dump" -o "$1" | awk '/ kind=[12] / { match($0, / tid=[0-9]+/)
		print $1, substr($0, RSTART, RLENGTH) }' | diff "$T/tids" -
}
run --no-bars -o k.dat -- "$WORK/forks" 20 3 exec
is "$(kinds k.dat)" '20 21 21' '20 children that become another program'
run --no-bars -o k.dat -- "$WORK/forks" 20 3 spawn
is "$(kinds k.dat)" '20 21 21' '20 children of vfork'
run --no-bars -o k.dat -- "$WORK/forks" 20 3 crowd
is "$(kinds k.dat)" '20 1 21' '20 children at once'
is "$(faults_in k.dat "$(value start "$T/out")" "$(value end "$T/out")")" 60 '... and what each of them wrote'
run --no-bars -o k.dat -- "$WORK/execs" 5 3
is "$(kinds k.dat)" '0 6 1' 'a chain of 6 images'
run --no-bars -o k.dat -- "$WORK/execs" 5 3 0 thread
is "$(kinds k.dat)" '0 6 1' 'a chain of 6 images, by other threads'
ok '... whose faults have the thread numbers that the kernel recorded' same_tids k.dat
run --no-bars -o k.dat -- "$WORK/execs" 5 3 40000 race
is "$(kinds k.dat)" '0 6 1' 'a chain of 6 images, by one of four threads'
ok '... whose faults have the thread numbers that the kernel recorded' same_tids k.dat
unlike "$("$PFSCOPE" report --wide k.dat)" outside '... and are all in regions'

run --no-bars -o k.dat -- sh -c \
	"(setsid sh -c 'sleep 0.4; $WORK/touch 64 write anon' >daemon.out 2>&1 </dev/null &) ; exit 3"
is "$status $(value expect_user daemon.out)" '3 64' 'what goes into the background is waited for'
is "$(faults_in k.dat "$(value start daemon.out)" "$(value end daemon.out)")" 64 '... and recorded to its end'
run --no-bars --no-follow -o k.dat -- sh -c \
	"ls >/dev/null; (timeout $((10 * slowness)) sh -c 'until [ -e go ]; do sleep 0.1; done'; touch late) & exit 4"
is "$status $(kinds k.dat) $(ls late 2>&1)" "4 0 1 1 ls: cannot access 'late': No such file or directory" \
	'--no-follow: only the first process, and not a moment longer'
touch go
wait_for 5 test -e late
rm -f go late

# ---- signals ----

# interrupted NAME COMMAND...: in a group of its own, as at a terminal; sets $run.
in_group()
{
	env --default-signal=INT,QUIT,TERM,HUP setsid "$PFSCOPE" run "$@" >"$T/out" 2>"$T/err" &
	run=$!
}
started()
{
	[ -e "$T/cwd/started" ]
}
in_group -o int.dat -- sh -c 'trap "echo caught; exit 5" INT; touch started; while :; do sleep 0.1; done'
wait_for 5 started
kill -INT -$run
wait $run
is "$? $(<"$T/out")" '5 caught' 'Ctrl-C: what it means is the command'"'"'s to say'
like "$(<"$T/err")" 'no events lost' 'Ctrl-C: bars are drawn'
is "$(kinds int.dat | cut -d' ' -f2-)" "$(kinds int.dat | awk '{ print $1 + 1, $1 + 1 }' | sed 's/^/ /;s/^ //')" \
	'Ctrl-C: the file is whole'
rm -f started int.dat
in_group -- sh -c 'touch started; exec sleep 30'
wait_for 5 started
kill -INT -$run
wait $run
is $? 130 'Ctrl-C that kills the command: 130'
rm -f started
in_group --no-bars -o no.dat -- sh -c 'trap "" INT; touch started; sleep 2; touch survived'
wait_for 5 started
kill -INT -$run
sleep 0.2
kill -INT -$run
wait $run
is $? 130 'Ctrl-C twice where the command does not care: pfscope ends'
ok '... without an instance' no_instance_of $run
ok '... and the command goes on' wait_for 5 test -e survived
rm -f started survived no.dat
in_group -- sh -c 'trap "exit 9" TERM; touch started; while :; do sleep 0.1; done'
wait_for 5 started
kill -TERM $run
wait $run
is $? 9 'SIGTERM is passed on to the command'
rm -f started

# Ctrl-C before there is a command: it is not started, and nothing is left.
left=''
for ms in $(some 002 005 010 015 020 030 040); do
	in_group -o early.dat -- true
	sleep 0.$ms
	kill -INT -$run 2>/dev/null
	wait $run
	no_instance_of $run || left=$(instances_of $run)
	left+=$(find . -name 'early.dat.*')
	[ "$left" ] && break
	rm -f early.dat
done
is "$left" '' 'Ctrl-C at the very beginning: nothing is left'

# ---- live events ----

live()
{
	# The command's own output would come in between, in the middle of a line, too.
	run --no-bars -o live.dat "$@" -- sh -c 'exec "$0" 20 3 exec >/dev/null' "$WORK/forks"
	grep -E "$lines" "$T/out" >live.txt
}
# Build-ids are read, for the file, when the last event has been printed.
kept()
{
	"$PFSCOPE" events "$@" live.dat | grep -v '"build_id"' >kept.txt
}
lines='^(#|[0-9]+\.)' live --events
kept
same live.txt kept.txt 'live events are those of the recording'
"$PFSCOPE" render live.txt >live.bars
"$PFSCOPE" render live.dat >kept.bars
same live.bars kept.bars 'live events drawn are the recording drawn'
if [ $slowness = 1 ]; then
	lines='^\{' live --events=json
	kept --json
	same live.txt kept.txt 'as JSON'
	lines='^([0-9]+\.|time)' live --events=csv
	kept --csv
	same live.txt kept.txt 'as CSV'
fi
lines='^(#|[0-9]+\.)' live --events --via text
kept
same live.txt kept.txt 'through text'
head=$({ "$PFSCOPE" run --events -- sh -c 'sleep 0.5; exit 7' 2>"$T/err"; echo $? >"$T/status"; } | head -1)
is "$head $(<"$T/status")" '# pfscope events 2 7' 'a reader that goes away does no harm'
is "$(grep -c '^pfscope' "$T/err")" 0 '... and is no error'
run --events --no-bars -- true >/dev/full
is "$("$PFSCOPE" run --events --no-bars -- true 2>&1 >/dev/full; echo $?)" \
	$'pfscope: standard output: No space left on device\n1' 'a full one is'
done_testing
