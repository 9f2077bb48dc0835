#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
#
# Killed with -9 at any moment, whichever half it is: pfscope itself, which runs as the caller, or its keeper,
# which is root. Nothing of it stays behind, what it traced goes on, and nobody else notices.
#
# PFSCOPE_KILLS: how many times (80; `make soak`: 200).

. "${0%/*}/live.sh"

kills=${PFSCOPE_KILLS:-80}
[ "$(id -nu 65534 2>/dev/null)" = nobody ] || skip_all 'no user nobody with number 65534'
chmod 777 "$T"

is_stopped()
{
	[[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) =~ ^[Tt] ]]
}

# The moment of a kill, somewhere in what a recording takes here: set-up and tear-down are most of it.
moment()
{
	sleep "0.$(printf '%03d' $((RANDOM % span)))"
}

# start run|attach MARK: sets $victim, and $target to what is traced.
start()
{
	local sudo=()

	((RANDOM % 2)) && sudo=(SUDO_UID=65534 SUDO_GID=65534)
	if [ "$1" = attach ]; then
		"$WORK/loop" 20 >/dev/null 2>&1 &
		target=$!
		env "${sudo[@]}" PFSCOPE_TEST="$2" "$PFSCOPE" attach -d 0.1 -o "$T/$2.dat" $target >/dev/null 2>"$T/$2.err" &
		victim=$!
	else
		env "${sudo[@]}" PFSCOPE_TEST="$2" "$PFSCOPE" run -o "$T/$2.dat" -- \
			sh -c "echo \$\$ >$T/$2.pid; sleep 0.1; echo through >$T/$2.through" >/dev/null 2>"$T/$2.err" &
		victim=$!
		target=
	fi
}

# The traced one goes on, and to its end: a process that was attached to runs, a command is through.
traced_is_well()
{
	if [ "$1" = attach ]; then
		kill -0 "$target" 2>/dev/null && ! is_stopped "$target"
	else
		[ ! -s "$T/$2.pid" ] || wait_for 3 test -s "$T/$2.through"
	fi
}

end_target()
{
	[ "$target" ] || return
	kill "$target"
	wait "$target"
}

somebody_else
tracefs_state >"$T/before"

before=${EPOCHREALTIME/./}
start run "$$-0"
wait $victim
span=$(((${EPOCHREALTIME/./} - before) / 1000))
[ $span -lt 999 ] || span=999
diag "a recording takes $span ms"
RANDOM=${PFSCOPE_SEED:-1}
killed=0 left='' unwell='' keepers='' half='' unfinished=''
for ((i = 1; i <= kills; i++)); do
	how=run
	((i % 2)) && how=attach
	start $how "$$-$i"
	moment
	case $((i / 2 % 2)) in
	0)	# pfscope
		kill -9 $victim 2>/dev/null && killed=$((killed + 1))
		wait $victim
		no_instance_of $victim || left+=" $i"
		[ ! -e "$T/$$-$i.dat" ] || "$PFSCOPE" report "$T/$$-$i.dat" >/dev/null || half+=" $i"
		;;
	1)	# one of its keepers: which one, chance decides
		mapfile -t pids < <(keepers_of "$$-$i")
		[ ${#pids[@]} = 0 ] ||
			{ kill -9 "${pids[RANDOM % ${#pids[@]}]}" && killed=$((killed + 1)); } 2>/dev/null
		wait $victim || unfinished+=" $i ($(grep -s ^pfscope: "$T/$$-$i.err"))"
		no_instance_of $victim || left+=" $i"
		"$PFSCOPE" report "$T/$$-$i.dat" >/dev/null || half+=" $i"
		;;
	esac
	traced_is_well $how "$$-$i" || unwell+=" $i"
	no_keepers_of $$-$i || keepers+=" $i"
	end_target
	rm -f "$T/$$-$i".*
done 2>/dev/null
diag "$killed of $kills were killed in time"
ok "killed at $kills random moments of run and attach" test $killed -gt $((kills * 3 / 4))
is "$left" '' 'no instance is left after a second'
is "$keepers" '' 'nor a keeper'
is "$unwell" '' 'what was traced goes on'
is "$half" '' 'what has the name of a recording is a whole one'
is "$unfinished" '' 'a keeper killed: the recording ends in order'
tracefs_state >"$T/after"
same "$T/before" "$T/after" 'the rest of tracefs is as it was, bit for bit'

# ---- both halves at once: it may stay until the next start, but traces nothing ----

left=''
for ((i = 1; i <= kills / 10; i++)); do
	start run "$$-both$i"
	wait_for 5 is_tracing $victim
	# shellcheck disable=SC2046 # numbers
	kill -9 $(keepers_of "$$-both$i") $victim
	wait $victim
	"$PFSCOPE" run --no-bars -- true
	no_instance_of $victim || left+=" $i"
	rm -f "$T/$$-both$i".*
done 2>/dev/null
is "$left" '' 'both killed: the next start removes what is left'

# ---- both keepers: pfscope finishes, and what it may not remove it leaves still ----

env SUDO_UID=65534 SUDO_GID=65534 PFSCOPE_TEST=$$-k "$PFSCOPE" run -o "$T/k.dat" --no-bars -- sleep 0.5 2>"$T/err" &
victim=$!
wait_for 5 is_tracing $victim
# shellcheck disable=SC2046
kill -9 $(keepers_of $$-k)
wait $victim
is $? 1 'both keepers killed: 1, for root has something to do'
like "$(<"$T/err")" '^pfscope: [^ ]*instances/pfscope-[^ ]*: cannot remove .*pfscope clean' 'and one line that says what'
pfscope report "$T/k.dat"
like "$status $out" '^0 .*sleep' 'the recording is whole'
is "$(cat "$TRACING/instances/pfscope-$victim-"*/tracing_on) $(grep -lx 1 "$TRACING/instances/pfscope-$victim-"*/events/*/*/enable)" \
	'0 ' 'what is left traces nothing'
pfscope clean
is "$status" 0 'pfscope clean'
ok 'removes it' no_instance_of $victim
tracefs_state >"$T/after"
same "$T/before" "$T/after" 'the rest of tracefs is as it was, bit for bit'

done_testing
