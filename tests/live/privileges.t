#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 120
#
# What runs as whom: behind sudo pfscope is its caller before the command's first instruction, and root are only
# the keeper and, with attach --user, the watcher. Seen in /proc.

. "${0%/*}/live.sh"

[ "$(id -nu 65534 2>/dev/null)" = nobody ] || skip_all 'no user nobody with number 65534'
for_other_users
mkdir -m 777 "$T/cwd"
cd "$T/cwd" || exit

# As sudo starts it.
sudo_pfscope=(env SUDO_UID=65534 SUDO_GID=65534 PFSCOPE_TEST=$$ "$PFSCOPE")

# who PID: its ids and what it may do, in one line.
who()
{
	grep -E '^(Uid|Gid|Groups|CapPrm|CapEff|CapAmb|NoNewPrivs):' "/proc/$1/status" | tr -s '\t ' ' ' | tr '\n' ';'
}

nobody='Uid: 65534 65534 65534 65534;Gid: 65534 65534 65534 65534;Groups: 65534 ;'
nothing='CapPrm: 0000000000000000;CapEff: 0000000000000000;CapAmb: 0000000000000000;'

# ---- run ----

"${sudo_pfscope[@]}" run -o rec.dat --output bars -- sh -c '
	cat /proc/$PPID/status >main
	for pid in $(pgrep -x pfscope-keeper); do cat /proc/$pid/status >keeper.$pid; done
	cat /proc/self/status >command' 2>err
is "$?|$(<err)" '0|' 'run: it ends in order'
of()
{
	grep -E '^(Uid|Gid|Groups|CapPrm|CapEff|CapAmb|NoNewPrivs):' "$1" | tr -s '\t ' ' ' | tr '\n' ';'
}
is "$(of main)" "$nobody${nothing}NoNewPrivs: 1;" \
	'run: pfscope is the caller before the command begins, and no way leads back'
like "$(of command)" "^${nobody}CapPrm: 0+;CapEff: 0+;CapAmb: 0+;NoNewPrivs: 0;" \
	'run: so is the command, which may gain privileges as ever'
is "$(cat keeper.* | grep -c $'^Uid:\t0\t0\t0\t0$')" "$(ls keeper.* | wc -l)" 'run: its keepers are root'
is "$(stat -c '%u %a' rec.dat bars | sort | tr '\n' ' ')" '65534 600 65534 644 ' \
	'run: the recording and the picture are the caller'"'"'s'
like "$(<bars)" 'no events lost' 'run: it is whole'
pfscope report --check rec.dat
like "$out" 'every fault is accounted for' 'run: and every fault is accounted for'
ok 'run: the keepers have ended' no_keepers_of $$

for how in --events=json '--via text' '--via text --events'; do
	# shellcheck disable=SC2086 # words are meant
	"${sudo_pfscope[@]}" run $how --no-bars -o how.dat -- sh -c 'cat /proc/$PPID/status >main' >out 2>err
	is "$?|$(<err)|$(of main | cut -d';' -f1)" '0||Uid: 65534 65534 65534 65534' "run $how: as the caller"
	ok "run $how: something is recorded" test -s how.dat
done

# While it drains it comes before those who fill the buffer; when it decodes it is like anybody.
if chrt -r 1 true 2>/dev/null; then
	"${sudo_pfscope[@]}" run --no-bars -- sh -c 'chrt -p $PPID; chrt -p $$' >out
	is "$(grep -c SCHED_RR out) $(grep -c SCHED_OTHER out)" '1 1' 'the reader is urgent, the command is not'
	"${sudo_pfscope[@]}" run --no-bars --events -- sh -c 'chrt -p $PPID >&2' >out 2>err
	is "$(grep -c SCHED_OTHER err)" 1 'one that decodes is not either'
fi

# Who has pages taken away is root, whose pages they are is not.
if has_zram; then
	"${sudo_pfscope[@]}" run --refault 50ms --zram 16M --no-bars -o again.dat -- sh -c '
		cat /proc/$PPID/status >main
		for pid in $(pgrep -x pfscope-refault); do cat /proc/$pid/status >refault.$pid; done
		exec "$0" 8 1 300 anon' "$WORK/phases" >said 2>err
	is "$?|$(<err)" '0|' 'run --refault: it ends in order'
	is "$(of main)" "$nobody${nothing}NoNewPrivs: 1;" 'run --refault: pfscope is the caller'
	is "$(cat refault.* | grep -c $'^Uid:\t0\t0\t0\t0$')" "$(ls refault.* | wc -l)" 'run --refault: its helpers are root'
	is "$(phases_seen again.dat said 8 | cut -d' ' -f1,2)" '8 0' 'run --refault: the pages fault again'
fi

# Its helpers hold nothing but what they are told through.
"${sudo_pfscope[@]}" run --no-bars -- sleep 1 &
run=$!
wait_for 5 is_tracing $run
is "$(keepers_of $$ | wc -l)" 2 'two keepers: one works, the other sees to it that it lives'
for pid in $(keepers_of $$); do
	is "$(find "/proc/$pid/fd" -mindepth 1 -printf '%f %l\n' | sort | sed 's/\[.*//' | tr '\n' ' ')" \
		'0 /dev/null 1 /dev/null 2 /dev/null 3 socket: ' 'a keeper has its socket and no more'
done
is "$(who $run | cut -d';' -f1)" 'Uid: 65534 65534 65534 65534' 'who was started by root is nobody now'
ok 'the caller cannot trace it, nor read its memory' \
	eval '! setpriv --reuid=65534 --regid=65534 --clear-groups head -c1 /proc/$run/maps 2>/dev/null'
wait $run
is $? 0 'it ends in order'
ok 'no instance is left' no_instance_of $run

# ---- attach, to what is another's ----

sleep 60 &
sleeper=$!
sleep 0.1
"${sudo_pfscope[@]}" attach -o attach.dat $sleeper 2>err &
attach=$!
wait_for 10 has_entered $attach
is "$(who $attach)" "$nobody${nothing}NoNewPrivs: 1;" 'attach: pfscope is the caller'
kill -INT $attach
wait $attach
is "$?" 0 'attach: it ends in order'
"$PFSCOPE" maps attach.dat >maps
ok "attach: the layout of root's process is /proc/PID/maps" "$TOOLS/mapsdiff" --full /proc/$sleeper/maps maps
ok 'attach: no instance is left' no_instance_of $attach
kill $sleeper

# ---- attach, to all of a user: one helper more ----

"${sudo_pfscope[@]}" attach --user 64999 --no-bars 2>err &
attach=$!
wait_for 10 has_entered $attach
is "$(who $attach)" "$nobody${nothing}NoNewPrivs: 1;" 'attach --user: pfscope is the caller'
is "$(helpers_of pfscope-watcher $$ | wc -l)" 2 'two watchers'
for pid in $(helpers_of pfscope-watcher $$); do
	is "$(who $pid | cut -d';' -f1)" 'Uid: 0 0 0 0' 'a watcher is root'
	is "$(find "/proc/$pid/fd" -mindepth 1 -printf '%l\n' |
		sed 's/\[[0-9]*\]$//; s/.*\/set_event_pid/set_event_pid/' | sort -u | tr '\n' ' ')" \
		'/dev/null anon_inode:[perf_event] set_event_pid socket: ' \
		'it has its socket, the connector, the list of threads, the side-band, and no more'
done
is "$(ls -l /proc/$attach/fd | grep -c set_event_pid)" 0 'pfscope has not the list of threads'
kill -INT $attach
wait $attach
is "$?$(<err)" 0 'attach --user: it ends in order'
is "$(helpers_of pfscope-watcher $$)" '' 'attach --user: the watchers ended before it'

# ---- without sudo ----

"$PFSCOPE" run -u nobody --no-bars -- sh -c 'cat /proc/$PPID/status >main'
is "$(of main)" "$nobody${nothing}NoNewPrivs: 1;" '-u USER: pfscope is that user'
"$PFSCOPE" run --no-bars -- sh -c 'cat /proc/$PPID/status' >main
like "$(of main)" '^Uid: 0 0 0 0;.*NoNewPrivs: 0;' 'root itself stays root'

done_testing
