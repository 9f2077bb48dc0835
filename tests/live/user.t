#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# pfscope attach --user: all processes of a user, those that become the user's later included, and no others;
# with the right layouts; by the kernel's process connector and without it; and what is left when any of it is
# killed.

. "${0%/*}/live.sh"

# Nobody is that: no other test's processes are among them.
USER_ID=$((64000 + $$ % 1000))
# Where all takes longer: less at once.
many_processes=$((slowness > 1 ? 20 : 200)) busy=$((slowness > 1 ? 40 : 1000))
for_other_users
chmod 777 "$T"

# as_user COMMAND [ARG...]: starts it, and becomes the user before. With setpriv: `pid` goes on as the command.
as_user()
{
	exec setpriv --reuid $USER_ID --regid $USER_ID --clear-groups "$@"
}

# end PID...
end()
{
	kill "$@" 2>/dev/null
}

# start_loop NAME ARG...: of the user, or with --uid of root; sets $loop. Its checkpoints are
# $T/NAME.PID.N.maps.
start_loop()
{
	local name=$1

	shift
	if [[ $* = *--uid* ]]; then
		"$WORK/loop" 2000 --prefix "$T/$name" "$@" >"$T/$name.ready" &
	else
		(as_user "$WORK/loop" 2000 --prefix "$T/$name" "$@") >"$T/$name.ready" &
	fi
	loop=$!
	at_exit end $loop
	wait_for 10 grep -q ready "$T/$name.ready"
}

# start_attach ARG...: sets $attach; on return it traces.
start_attach()
{
	env "${sudo[@]}" PFSCOPE_TEST=$$ "${before[@]}" "$PFSCOPE" attach "$@" >"$T/out" 2>"$T/err" &
	attach=$!
	wait_for 20 has_entered $attach || diag "it does not trace: $(<"$T/err")"
}
sudo=() before=()

watchers()
{
	helpers_of pfscope-watcher $$
}

# entered PID: the kernel records it for $attach.
entered()
{
	grep -qx "$1" "$TRACING/instances/pfscope-$attach-"*/set_event_pid
}

# pids_in FILE: all that are in a recording.
pids_in()
{
	"$PFSCOPE" events "$1" | grep -o ' pid=[0-9]*' | sort -u | tr -d '\n'
}

pids()
{
	printf ' pid=%s\n' "$@" | sort -u | tr -d '\n'
}

# joined PID FILE: what the note says of its joining.
joined()
{
	"$PFSCOPE" events "$2" | sed -n "s/.* note pid=$1 .*key=\"joined\" value=\"\(.*\)\"/\1/p"
}

checkpoint()
{
	kill -USR1 "$2"
	wait_for 20 test -s "$T/$1.$2.${3:-0}.maps" || diag "no checkpoint of $1"
}

# ---- those that run already, what they start, those that come later, and nobody else ----

start_loop old --threads 3 --pace $((busy / 10))
old=$loop
mkfifo "$T/go"
(as_user sh -c 'read -r _ <"$1" && "$2" 5 "$3" && exec "$2" 6 "$3"' - "$T/go" "$WORK/layout" "$T/child") &
shell=$!
start_loop middle --threads 3 --pace $busy --uid $USER_ID
middle=$loop
start_loop other --pace $((busy / 10)) --uid 0
other=$loop
wait_for 5 test "$(stat -c %u /proc/$shell 2>/dev/null)" = $USER_ID
start_attach --user $USER_ID -o "$T/all.dat"
start_loop new --threads 2 --pace $((busy / 2))
new=$loop
wait_for 10 entered $new || diag 'it does not join'
kill -USR2 $middle
wait_for 10 entered $middle || diag 'it does not join'
echo >"$T/go"
wait $shell
checkpoint new $new
sleep 0.3
checkpoint new $new 1
checkpoint old $old
checkpoint middle $middle
kill -INT $attach
wait $attach
is "$? $(grep '^pfscope' "$T/err")" '0 ' 'it ends with Ctrl-C, and has nothing to say'
"$PFSCOPE" events "$T/all.dat" >"$T/events"
grep -o ' child=[0-9]*' "$T/events" | sort -u | sed 's/child/pid/' >"$T/started"
is "$(pids_in "$T/all.dat" | grep -o ' pid=[0-9]*' | grep -vxF -f "$T/started" | tr -d '\n')" \
	"$(pids $old $shell $new $middle)" 'all of the user, what they start, and nobody else'
is "$("$PFSCOPE" report --csv "$T/all.dat" | awk -F, '$1 == "process" { print " pid=" $2 }' |
	grep -vxF -f "$T/started" | sort -u | tr -d '\n')" "$(pids $old $shell $new $middle)" \
	'nor in the report'
layouts_equal 'one that ran already' "$T/all.dat" "$T"/old.*.maps
layouts_equal 'what it starts' "$T/all.dat" "$T"/child.*.maps
layouts_equal 'one that becomes the user'"'"'s' "$T/all.dat" "$T"/new.*.maps
like "$(joined $new "$T/all.dat")" '^whole=[0-9]+ since=[0-9]+$' \
	'a note says since when it is, and from when on it is all there'
layouts_equal 'one that is amid its work then' "$T/all.dat" "$T"/middle.*.maps
for loop in $new $middle; do
	"$PFSCOPE" events --pid $loop "$T/all.dat" >"$T/loop"
	is "$(outside "$T/loop") $(grep -c ' fault ' "$T/loop" | sed 's/[1-9][0-9]*/some/')" \
		'0 some' 'every fault is in a known region'
done
is "$(joined $old "$T/all.dat")" '' 'of one that ran already none'
whole=$(joined $new "$T/all.dat") whole=${whole//[a-z=]/}
ok 'it takes less than a second to join' test $((${whole%% *} - ${whole##* })) -lt $((slowness * 1000000000))
is "$(awk -v pid=pid=$new -v since="${whole##* }" '$2 == "fault" && $4 == pid {
		all = 1; split($1, at, "."); if ((at[1] at[2]) + 0 < since + 0) early++ }
	END { print all + 0, early + 0 }' "$T/events")" \
	'1 0' 'no fault of it is older than its being the user'"'"'s'
kill $old $new $middle
wait $old $new $middle

# ---- nobody yet; by name of nobody; and a user that is the caller ----

sudo=(SUDO_UID=$USER_ID SUDO_GID=$USER_ID)
mkdir -m 777 "$T/cwd"
start_attach --user $USER_ID -o "$T/cwd/none.dat"
is "$(stat -c %u /proc/$attach)" $USER_ID 'pfscope itself is that user now'
sleep 0.5
start_loop late --pace 50
late=$loop
wait_for 10 entered $late
sleep 0.2
checkpoint late $late
kill -INT $attach
wait $attach
is $? 0 'nobody yet: it waits'
is "$(pids_in "$T/cwd/none.dat")" "$(pids $late)" \
	'and records who comes, but not itself, and nobody before that'
layouts_equal 'nobody yet' "$T/cwd/none.dat" "$T"/late.*.maps
kill $late
wait $late
sudo=()

# Who has started others, and has ended before the watcher comes to hear of it.
start_attach --user $USER_ID -o "$T/brief.dat"
mapfile -t ids < <(watchers)
kill -STOP "${ids[@]}"
heirs=$( (as_user sh -c 'sleep 200 >/dev/null & echo $!'))
at_exit end $heirs
kill -CONT "${ids[@]}"
ok 'the child of one that is gone already joins' wait_for 10 entered $heirs
sleep 0.3
kill -INT $attach
wait $attach
"$PFSCOPE" maps --pid $heirs "$T/brief.dat" >"$T/maps"
ok 'with its layout' "$TOOLS/mapsdiff" --full /proc/$heirs/maps "$T/maps"
kill $heirs
started=${EPOCHREALTIME/./}
pfscope attach --user $USER_ID -d 0.5 -o "$T/empty.dat"
is "$status $(pids_in "$T/empty.dat")" '0 ' 'nobody at all: -d ends it, and nothing is recorded'
ok 'not before' test $((${EPOCHREALTIME/./} - started)) -ge 500000

# Of root, all but its own. (What else root runs here, runs a little slower.)
start_attach --user root --no-bars -o "$T/root.dat"
mapfile -t own < <(echo $attach; keepers_of $$; watchers)
sleep 0.2
printf ' pid=%s\n' "${own[@]}" >"$T/own"
kill -INT $attach
wait $attach
is "$? ${#own[@]} $(pids_in "$T/root.dat" | grep -o ' pid=[0-9]*' | grep -xF -f "$T/own")" '0 5 ' \
	'none of its own processes is in a recording of root'
like "$(pids_in "$T/root.dat")" " pid=$other( |\$)" 'others are'

# ---- who stops being the user's ----

start_attach --user $USER_ID -o "$T/away.dat"
start_loop away --uid $USER_ID
away=$loop
kill -USR2 $away
wait_for 10 entered $away
kill -USR2 $away
wait_for 5 grep -q $'^Uid:\t0\t0' /proc/$away/status
sleep 0.3
checkpoint away $away
kill -INT $attach
wait $attach
is "$(stat -c %u "$T"/away.*.maps)" 0 'one is root again'
layouts_equal 'and goes on being recorded' "$T/away.dat" "$T"/away.*.maps
kill $away
wait $away

# ---- those that are soon gone ----

start_attach --user $USER_ID --strict -o "$T/soon.dat"
for i in {1..20}; do
	(as_user true)
done
kill -INT $attach
wait $attach
status=$?
events=$("$PFSCOPE" events "$T/soon.dat")
missed=$(grep -c 'key="missed" value="pid=[0-9]*\( since=[0-9]*\)\?"' <<<"$events")
is $((missed + $(grep -c 'key="joined"' <<<"$events"))) 20 "of 20 that end at once each is recorded or missed ($missed)"
is $status $((missed ? 3 : 0)) '--strict says whether all is there'
# A machine on which processes take long enough misses none; then nothing may be said.
for view in report render 'render --classic'; do
	# shellcheck disable=SC2086 # words are meant
	is "$("$PFSCOPE" $view "$T/soon.dat" | grep -cE 'process(es)? ended before (it|they) could be recorded')" \
		$((missed > 0)) "missed ones: $view says so if there are any"
done

# ---- without the connector ----

before=(unshare -n)
start_attach --user $USER_ID -o "$T/poll.dat"
before=()
is "$(grep -c "^pfscope: the kernel's process connector: .*; polling /proc every 100 ms instead" "$T/err")" \
	1 'no connector: it says so, once'
start_loop poll --threads 2
poll=$loop
wait_for 10 entered $poll
sleep 0.2
checkpoint poll $poll
kill -INT $attach
wait $attach
is "$? $(pids_in "$T/poll.dat")" "0 $(pids $poll)" 'no connector: who comes is recorded'
layouts_equal 'no connector' "$T/poll.dat" "$T"/poll.*.maps
like "$(joined $poll "$T/poll.dat")" '^whole=[0-9]+$' \
	'no connector: since when it is the user'"'"'s is not known'
kill $poll
wait $poll

# ---- killed ----

start_attach --user $USER_ID -o "$T/k.dat"
kill -9 $attach
wait $attach 2>/dev/null
ok 'pfscope killed: no watcher is left' wait_for 1 eval '[ -z "$(watchers)" ]'
ok 'nor an instance' no_instance_of $attach

start_attach --user $USER_ID -o "$T/k.dat"
kill -9 "$(watchers | tail -n 1)"
wait_for 2 eval '[ $(watchers | wc -l) = 2 ]'
start_loop heir
heir=$loop
ok 'a watcher killed: it has a successor' wait_for 10 entered $heir
# shellcheck disable=SC2046 # numbers
kill -9 $(watchers)
sleep 0.3
kill -INT $attach
wait $attach
is "$? $(pids_in "$T/k.dat")" "0 $(pids $heir)" 'both killed: the recording ends in order'
is "$("$PFSCOPE" events "$T/k.dat" | grep -c 'key="watch" value="by=over"')" 1 'a note says so'
is "$(grep -c '^pfscope: pfscope-watcher was killed' "$T/err")" 1 'and so does it itself'
kill $heir
wait $heir

# ---- regions that are gone before anybody has looked at them ----

start_attach --user $USER_ID -o "$T/fleeting.dat" --no-bars
fleeting=()
for _ in 1 2 3 4; do
	"$WORK/fleeting" $USER_ID >"$T/ready" &
	fleeting+=($!)
	sleep 0.05
done
at_exit end "${fleeting[@]}"
for pid in "${fleeting[@]}"; do
	wait_for 10 entered "$pid" || diag "$pid does not join"
done
sleep 0.3
kill -INT $attach
wait $attach
is "$? $(pids_in "$T/fleeting.dat") $(outside "$T/fleeting.dat")" "0 $(pids "${fleeting[@]}") 0" \
	'what a process unmaps while it joins is known'
end "${fleeting[@]}"
wait "${fleeting[@]}"

# ---- hundreds ----

mapfile -t many < <((as_user bash -c 'for ((i = 0; i < $0; i++)); do sleep 2000 >/dev/null & echo $!; done' $many_processes) 2>/dev/null)
at_exit end "${many[@]}"
started=${EPOCHREALTIME/./}
start_attach --user $USER_ID -o "$T/many.dat" --no-bars
diag "$many_processes processes are entered in $(((${EPOCHREALTIME/./} - started) / 1000)) ms"
mapfile -t more < <((as_user bash -c 'for i in {1..20}; do sleep 2000 >/dev/null & echo $!; done') 2>/dev/null)
at_exit end "${more[@]}"
# Who had another parent before it could be entered is found by a look at /proc, which may take a moment.
for pid in "${more[@]}"; do
	wait_for 20 entered "$pid" || diag "$pid does not join"
done
sleep 0.3
kill -INT $attach
wait $attach
is "$? $(<"$T/err")" '0 ' "$many_processes processes, and 20 more"
"$PFSCOPE" events "$T/many.dat" | sed -n 's/.* map pid=\([0-9]*\) .*libc.*/\1/p' | sort -u >"$T/have"
is "$(printf '%s\n' "${many[@]}" "${more[@]}" | sort | comm -23 - "$T/have" | wc -l)" 0 \
	'the layout of each is there'
wrong=
for pid in $(some "${many[@]:0:20}" "${more[@]}"); do
	"$PFSCOPE" maps --pid $pid "$T/many.dat" | "$TOOLS/mapsdiff" --full /proc/$pid/maps - >/dev/null ||
		wrong+=" $pid"
done
is "$wrong" '' 'and is the one in /proc'
done_testing
