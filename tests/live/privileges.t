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

# ---- groups: -o is opened, written and renamed with the caller's, which are neither root's nor those of the file's ----

mkdir team roots
chgrp 64997 team
chmod 775 team roots
cp /etc/group member
echo 'pfscope-test:x:64997:nobody' >>member
# with_group FILE COMMAND...: with that /etc/group, and root with supplementary groups of its own.
with_group()
{
	unshare -m sh -c 'mount --bind "$0" /etc/group && exec setpriv --groups 0,64997 "$@"' "$@"
}

with_group member "${sudo_pfscope[@]}" run --no-bars -o team/rec.dat -- id -G >out 2>err
is "$?|$(<err)|$(<out)|$(stat -c %u:%g team/rec.dat)" '0||65534 64997|65534:65534' \
	'a member of a group writes into its folder, and so is the command'
rm -f team/rec.dat
for folder in team roots; do
	with_group /etc/group "${sudo_pfscope[@]}" run --no-bars -o $folder/rec.dat -- touch ran 2>err
	is "$?|$(<err)|$(ls $folder)|$(ls ran 2>&-)" "1|pfscope: $folder/rec.dat: cannot write: Permission denied||" \
		"$folder: who is no member is refused before the command runs, and leaves nothing"
done

# ---- the environment ----

# environment_of COMMAND...: what sudo sets for root or of itself, in the command's.
environment()
{
	env - PATH="$PATH" HOME=/root SHELL=/bin/zsh USER=root LOGNAME=root MAIL=/var/mail/root TERM=vt100 KEPT=1 \
		SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody SUDO_COMMAND=x "$@" | grep -v '^PFSCOPE_' | sort | tr '\n' ' '
}
entry=$(getent passwd nobody)
like "$(environment "$PFSCOPE" run --no-bars -- env)" \
	"^HOME=$(cut -d: -f6 <<<"$entry") KEPT=1 LOGNAME=nobody PATH=[^ ]* SHELL=${entry##*:} TERM=vt100 USER=nobody \$" \
	'the command has the environment of its user, and nothing of sudo'
for wrong in SUDO_UID=12abc SUDO_UID=99999999999 SUDO_UID= SUDO_UID=-1 SUDO_UID=4294967295 'SUDO_UID=65534 SUDO_GID=0x1'; do
	# shellcheck disable=SC2086 # words are meant
	env $wrong "$PFSCOPE" run --no-bars -- touch ran 2>err
	is "$?|$(<err)|$(ls ran 2>&-)" \
		"1|pfscope: ${wrong##* } in the environment: must be a number up to 4294967294|" "$wrong is refused"
done

# ---- -u USER on root's terminal: the command cannot type there ----

if [ "$(command -v script)" ] && [ "$(command -v perl)" ]; then
	# TIOCSTI: as if it had been typed.
	# shellcheck disable=SC2016 # the command's shell expands it
	type='perl -e "\$key = q(x); print STDERR ioctl(STDIN, 0x5412, \$key) ? 1 : 0"; cut -d" " -f7 /proc/self/stat >tty'
	echo "$type" >type.sh
	script -qec "\"$PFSCOPE\" run -u nobody --no-bars -- sh type.sh" typescript >out
	is "$?|$(tr -d '\r' <out)|$(<tty)" '0|0|0' '-u USER: the command has not the terminal and cannot type into it'
	script -qec "sh type.sh" typescript >out
	ok '... which it would have without pfscope' test "$(<tty)" -ne 0
	printf '%s\n' 'trap "touch cwd-int; exit 3" INT' 'touch cwd-ready' 'sleep 20 & wait' >int.sh
	# exec: dash would stay in between, and end with Ctrl-C
	{ for ((i = 0; i < 200; i++)); do [ -e cwd-ready ] && break; sleep 0.1; done; printf '\003'; sleep 1; } |
		script -qec "exec \"$PFSCOPE\" run -u nobody --no-bars -- sh int.sh" typescript >out
	is "$?|$(ls cwd-int 2>&-)" '3|cwd-int' '-u USER: Ctrl-C reaches it nevertheless'
else
	skip 'no script(1) or no perl' 'the terminal of -u USER'
fi

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
