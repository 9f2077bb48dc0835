#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# How long a recording lasts and who may end it: signals to pfscope once the command has ended and others go on, a
# terminal that is closed, pfscope below a subreaper; and that what a live pfscope owns stays its own, whichever
# namespaces another one is started in.

. "${0%/*}/live.sh"
need_programs script unshare

# The other process, which does not end by itself.
other=$T/other
printf '#!/bin/sh\necho $$ >%s.pid\nexec sleep 1000\n' "$other" >"$other"
chmod 755 "$other"

# end_other: fails if it has ended.
end_other()
{
	wait_for 5 test -s "$other.pid" && kill -KILL "$(<"$other.pid")"
	status=$?
	rm -f "$other.pid"
	return $status
}
at_exit eval 'end_other 2>/dev/null'

# begin COMMAND: run in the background, $run is its number.
begin()
{
	rm -f "$T/rec" "$T/ready" "$other.pid"
	env --default-signal=INT,QUIT,TERM,HUP "$PFSCOPE" run --no-bars -o "$T/rec" -- sh -c "$1" >"$T/out" 2>"$T/err" &
	run=$!
	wait_for 10 test -e "$T/ready" && wait_for 10 is_tracing $run || diag "it does not begin: $(<"$T/err")"
	sleep 0.2
}

# ends_soon NAME STATUS: well before the others do, and in order.
ends_soon()
{
	ok "$1: it ends" wait_for 4 ended $run || kill -KILL $run
	wait $run
	is $? "$2" "$1: with status $2" || diag "$(<"$T/err")"
	ok "$1: no instance is left" no_instance_of $run
}

is_kept()
{
	pfscope report "$T/rec"
	like "$status $out" '^0 .*(sleep|other)' "$1: the recording is kept"
	ok "$1: the other process goes on" end_other
}

# ---- the command has ended ----

for signal in TERM HUP INT QUIT; do
	begin "$other & touch $T/ready; exit 5"
	kill -$signal $run
	ends_soon "SIG$signal when the command has ended" 5
	is_kept "SIG$signal when the command has ended"
done

begin "$other & touch $T/ready; exit 5"
kill -STOP $run
kill -INT $run
kill -TERM $run
kill -CONT $run
ends_soon 'two signals' 130
ok 'two signals: at once, nothing is kept' test ! -e "$T/rec"
end_other

# ---- the command ends by it ----

for signal in TERM HUP; do
	begin "setsid $other & touch $T/ready; exec sleep 100"
	kill -$signal $run
	ends_soon "SIG$signal ends the command, but not all" $((128 + $(kill -l $signal)))
	is_kept "SIG$signal ends the command, but not all"
done

begin "trap 'touch $T/heard' HUP; setsid $other & touch $T/ready; while :; do sleep 0.1; done"
for i in 1 2 3; do
	kill -HUP $run
	ok "SIGHUP that the command handles: it gets number $i" wait_for 5 test -e "$T/heard"
	rm -f "$T/heard"
	sleep 0.1	# one that comes sooner is taken for the same
done
ok '... and goes on' eval '! ended $run'
kill -TERM $run
ends_soon 'and then SIGTERM' 143
is_kept 'and then SIGTERM'

begin "trap '' TERM; touch $T/ready; $other; :"
kill -TERM $run
sleep 0.3
ok 'SIGTERM that the command ignores: it is waited for' eval '! ended $run'
kill -TERM $run
ends_soon 'a second SIGTERM' 130
is_kept 'a second SIGTERM'

# A service manager sends SIGTERM once, and then SIGKILL.
begin "trap '' TERM; touch $T/ready; $other; :"
kill -TERM $run
ok 'SIGTERM that the command ignores: the recording is kept while it goes on' wait_for 60 test -s "$T/rec"
ok '... and it is waited for' eval '! ended $run'
{ kill -KILL $run; wait $run; } 2>/dev/null
is_kept '... also when pfscope is killed then'
begin "trap '' TERM; touch $T/ready; $other; exit 7"
kill -TERM $run
wait_for 60 test -s "$T/rec"
end_other
ends_soon '... and its status is that of the command' 7

rm -f "$T/rec" "$T/ready"
timeout 1 "$PFSCOPE" run --no-bars -o "$T/rec" -- sh -c "setsid $other & touch $T/ready; exec sleep 100" 2>"$T/err"
is $? 124 'timeout: ends it'
is_kept 'timeout'

# ---- attach ----

for signal in TERM HUP INT; do
	$other &
	target=$!
	rm -f "$T/rec"
	env --default-signal=INT,TERM,HUP "$PFSCOPE" attach --no-bars -o "$T/rec" $target 2>"$T/err" &
	run=$!
	wait_for 10 has_entered $run
	kill -$signal $run
	ends_soon "attach, SIG$signal" 0
	{ is_kept "attach, SIG$signal"; wait $target; } 2>/dev/null
done

# ---- a terminal that is closed ----

for command in "run --no-bars -o $T/rec -- sh -c 'setsid $other & touch $T/ready; exec sleep 100'" \
	"run --no-bars -o $T/rec -- sh -c 'setsid $other & touch $T/ready'"; do
	rm -f "$T/rec" "$T/ready"
	script -qc "exec '$PFSCOPE' $command" /dev/null >"$T/out" 2>&1 </dev/null &
	terminal=$!
	wait_for 10 test -e "$T/ready"
	sleep 0.5
	{ kill -KILL $terminal; wait $terminal; } 2>/dev/null
	ok 'a closed terminal: the recording ends' wait_for 5 test -e "$T/rec"
	is_kept 'a closed terminal'
done

# ---- executed by a subreaper: pfscope is one from the start ----

try timeout -k 2 $((10 * slowness)) "$WORK/subreaper" "$PFSCOPE" run --no-bars -- true
is "$status|$err" '0|' 'a subreaper executes it: it ends'
try timeout -k 2 $((10 * slowness)) "$WORK/subreaper" "$PFSCOPE" run --no-bars -- sh -c '(sleep 0.3; touch "$0") & exit 6' "$T/late"
is "$status|$(ls "$T/late")" "6|$T/late" '... when the last process has ended'

# ---- other namespaces ----

spaces=(-pf '-pf --mount-proc' '-pfm --mount-proc' '-pfmniuT --mount-proc --boottime 100000')
for space in "${spaces[@]}"; do
	for command in 'run --source=ftrace -- true' "attach --source=ftrace -d 1 1"; do
		# shellcheck disable=SC2086
		try timeout -k 2 $((10 * slowness)) unshare $space "$PFSCOPE" $command
		like "$status|$err" '^1\|pfscope: cannot record from inside a PID namespace: [^'$'\n'']*outside[^'$'\n'']*$' \
			"unshare $space, $command: is refused, in one line"
	done
done

begin "touch $T/ready; $other"
instance=$(instances_of $run)
like "$instance" '^pfscope-' 'a recording has an instance'
for space in "${spaces[@]}" '-T --boottime 100000' '-n' '-m'; do
	# shellcheck disable=SC2086
	try unshare $space "$PFSCOPE" clean
	is "$status|$out|$err" '0|0 instances removed|' "unshare $space, clean: leaves a live one's alone"
done
kill -TERM $run
ends_soon 'and goes on' 143
end_other
for space in "${spaces[@]}"; do
	begin() { PFSCOPE_TEST=$$-$1 "$PFSCOPE" run --no-bars -- $other >/dev/null 2>&1 & run=$!; wait_for 10 is_tracing $run; }
	begin dead
	# shellcheck disable=SC2046
	{ kill -9 $(keepers_of $$-dead) $run; wait $run; } 2>/dev/null
	end_other
	# shellcheck disable=SC2086
	try unshare $space "$PFSCOPE" clean
	is "$status|$out|$err|$(instances_of $run)" '0|1 instance removed||' "unshare $space, clean: removes a dead one's"
done

# A copy of a module is removed with its owner alone, and not through somebody else's link.
begin dead
instance=$(instances_of $run)
copy=${instance//-/_}
mkdir "$T/temp" "$T/temp/$copy" "$T/elsewhere" "$T/temp/pfscope_1_x"
touch "$T/temp/$copy/$copy.ko" "$T/elsewhere/pfscope_1_2.ko"
ln -s "$T/elsewhere" "$T/temp/pfscope_1_2"
try env TMPDIR="$T/temp" "$PFSCOPE" clean
is "$status $(ls "$T/temp" | wc -l)" '0 3' "clean: leaves a live one's copy of a module"
# shellcheck disable=SC2046
{ kill -9 $(keepers_of $$-dead) $run; wait $run; } 2>/dev/null
end_other
try env TMPDIR="$T/temp" "$PFSCOPE" clean
is "$(ls "$T/temp") $(ls "$T/elsewhere")" $'pfscope_1_2\npfscope_1_x pfscope_1_2.ko' "... and removes a dead one's"
done_testing
