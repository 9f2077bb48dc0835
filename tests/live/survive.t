#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 200
#
# What may become of who is traced, and of the room for it: stopped before and meanwhile, killed in the midst of a
# fault, no room on the disk. It is left as it was, nothing hangs, and each fault has its process and its region.

. "${0%/*}/live.sh"

# state_of PID: of each of its threads, one letter; S and R are the same here: it runs.
state_of()
{
	local task states=

	for task in /proc/"$1"/task/*; do
		states+=$(sed 's/.*) //; s/^[RS] .*/R/; s/ .*//' "$task/stat")
	done
	echo "$states"
}

in_state()
{
	[ "$(state_of "$1")" = "$2" ]
}

# Nobody stopped them. (Threads that fault together wait for each other now and then, and are in D.)
runs_on()
{
	[[ $(state_of "$1") =~ ^[RSD]{3}$ ]]
}

# nr KIND FILE
nr()
{
	"$PFSCOPE" events "$2" | awk -v kind="$1" '$2 == kind { n++ } END { print n + 0 }'
}

start_loop()
{
	rm -f "$T/ready"
	"$WORK/loop" 100 --threads 2 "$@" >"$T/ready" &
	target=$!
	wait_for 10 grep -q ready "$T/ready" || diag 'the workload does not begin'
}

# end_loop NAME: it goes on, and then ends as it does unwatched.
end_loop()
{
	kill -CONT $target
	ok "$1: it goes on" wait_for 10 runs_on $target
	kill $target
	wait $target
	is $? 0 "$1: and ends in order"
}

start_attach()
{
	timeout $((60 * slowness)) "$PFSCOPE" attach --no-bars -o "$T/rec" $target >"$T/out" 2>"$T/err" &
	watcher=$!
	wait_for 10 grep -q . /proc/$watcher/task/$watcher/children
	read -r attach </proc/$watcher/task/$watcher/children
	wait_for 20 has_entered $attach || diag "it does not trace: $(<"$T/err")"
}

# end_attach NAME: by Ctrl-C.
end_attach()
{
	kill -INT $attach
	wait $watcher
	is $? 0 "$1: Ctrl-C ends it" || diag "$(<"$T/err")"
	ok "$1: no instance is left" no_instance_of $attach
}

# ---- attach: stopped before, meanwhile, not at all ----

start_loop
kill -STOP $target
wait_for 5 in_state $target TTT
start_attach
is "$(state_of $target)" TTT 'stopped before: and while it is watched'
end_attach 'stopped before'
is "$(state_of $target)" TTT 'stopped before: and afterwards'
is "$(nr fault "$T/rec")" 0 'stopped before: there is nothing but its layout'
ok 'stopped before: which is the right one' "$TOOLS/mapsdiff" <("$PFSCOPE" maps "$T/rec") /proc/$target/maps
end_loop 'stopped before'

start_loop
kill -STOP $target
wait_for 5 in_state $target TTT
start_attach
kill -CONT $target
sleep 0.3
end_attach 'stopped before, goes on meanwhile'
ok 'stopped before, goes on meanwhile: and afterwards' runs_on $target
ok 'stopped before, goes on meanwhile: from then on there are faults' test "$(nr fault "$T/rec")" -gt 10
is "$(outside "$T/rec")" 0 'stopped before, goes on meanwhile: each in its region'
end_loop 'stopped before, goes on meanwhile'

start_loop
start_attach
sleep 0.3
kill -STOP $target
wait_for 5 in_state $target TTT
end_attach 'stopped meanwhile'
is "$(state_of $target)" TTT 'stopped meanwhile: and afterwards'
ok 'stopped meanwhile: what was before is there' test "$(nr fault "$T/rec")" -gt 10
is "$(outside "$T/rec")" 0 'stopped meanwhile: each fault in its region'
ok 'stopped meanwhile: the layout is the right one' "$TOOLS/mapsdiff" <("$PFSCOPE" maps "$T/rec") /proc/$target/maps
end_loop 'stopped meanwhile'

start_loop
start_attach
end_attach 'never stopped'
ok 'never stopped: nor by us' runs_on $target
end_loop 'never stopped'

start_loop
kill -STOP $target
start_attach
kill -9 $target
{ wait $target; } 2>/dev/null
ok 'killed while it is stopped: attach ends with it' wait_for 20 ended $attach
wait $watcher
is $? 0 'killed while it is stopped: in order'

# ---- run: the command stops ----

timeout $((60 * slowness)) "$PFSCOPE" run --no-bars -o "$T/rec" -- sh -c 'kill -STOP $$; exec "$0" 1000 write anon' "$WORK/touch" >"$T/out" 2>"$T/err" &
watcher=$!
stopped()
{
	command=$(grep -lsE "^[0-9]+ \([^)]*\) T $1 " /proc/[0-9]*/stat | grep -o '[0-9]*' | head -n 1)
	[ "$command" ]
}
wait_for 10 grep -q . /proc/$watcher/task/$watcher/children
read -r run </proc/$watcher/task/$watcher/children
wait_for 20 stopped $run || diag 'it does not stop'
sleep 0.3
ok 'a command that stops: is waited for' kill -0 $run
is "$(state_of $command)" T 'a command that stops: and stays so'
kill -CONT $command
wait $watcher
is $? 0 'a command that stops: goes on, and ends'
is "$(value pages "$T/out")" 1000 'a command that stops: having done its work'
pfscope report --check "$T/rec"
is "$status|$(outside "$T/rec")" '0|0' 'a command that stops: every fault is accounted for' || diag "$out"

# interrupted SIGNAL...: a stopped command, and signals to pfscope; sets $status.
interrupted()
{
	local signal

	"$PFSCOPE" run --no-bars -- sh -c 'kill -STOP $$; exit 7' 2>"$T/err" &
	run=$!
	wait_for 20 stopped $run || diag 'it does not stop'
	for signal in "$@"; do
		kill -"$signal" $run
		sleep 0.2
	done
}
interrupted INT INT
wait $run
is $? 130 'Ctrl-C twice while the command is stopped: ends the recording'
is "$(state_of "$command")" T 'Ctrl-C twice while the command is stopped: and leaves that as it is'
ok 'Ctrl-C twice while the command is stopped: no instance is left' no_instance_of $run
kill -9 "$command"
interrupted TERM
is "$(state_of "$command")" T 'SIGTERM while the command is stopped: is for the command, when it goes on'
kill -CONT "$command"
wait $run
is $? 143 'SIGTERM while the command is stopped: which it ends then'

# ---- killed in the midst of a fault ----

timeout 1 "$WORK/stuck" 1 >"$T/out"
if grep -q skipped "$T/out"; then
	skip 'no userfaultfd' 'killed in the midst of a fault'
else
	timeout $((60 * slowness)) "$PFSCOPE" run --count --no-bars -o "$T/rec" -- "$WORK/stuck" 3 >"$T/out" 2>"$T/err" &
	watcher=$!
	wait_for 20 grep -q ready "$T/out"
	sleep 0.2
	kill -9 "$(value pid "$T/out")"
	wait $watcher
	is $? 137 'killed in the midst of a fault: the status is that of the command'
	start=$(value start "$T/out") end=$(value end "$T/out")
	is "$("$PFSCOPE" events "$T/rec" | awk -v start="${start#0x}" -v end="${end#0x}" '
		$2 == "fault" && match($0, / addr=[0-9a-f]+/) { a = substr($0, RSTART + 6, RLENGTH - 6)
			n += a >= start && a < end } END { print n + 0 }')" 3 'killed in the midst of a fault: the faults are there'
	is "$(outside "$T/rec")" 0 'killed in the midst of a fault: in their regions'
	is "$("$PFSCOPE" events "$T/rec" | grep -c '^[0-9.]* exit .* last=1')" 1 'killed in the midst of a fault: its end, too'
	pfscope report --check "$T/rec"
	is "$status" 0 'killed in the midst of a fault: every fault is accounted for' || diag "$out$err"

	rm "$T/ready"
	"$WORK/stuck" 3 wait >"$T/ready" &
	target=$!
	wait_for 10 grep -q ready "$T/ready"
	start_attach
	kill -USR1 $target
	wait_for 10 in_state $target RRR	# asleep in the kernel, in a fault that can be killed
	sleep 0.2
	kill -9 $target
	{ wait $target; } 2>/dev/null
	ok 'killed in the midst of a fault: attach ends with it' wait_for 20 ended $attach
	wait $watcher
	is $? 0 'killed in the midst of a fault: in order' || diag "$(<"$T/err")"
	is "$(outside "$T/rec")" 0 'killed in the midst of a fault: attach knows its regions'
	is "$("$PFSCOPE" events "$T/rec" | grep -c '^[0-9.]* exit .* last=1')" 1 'killed in the midst of a fault: attach sees its end'

	rm "$T/ready"
	"$WORK/stuck" 3 >"$T/ready" &
	target=$!
	wait_for 10 grep -q ready "$T/ready"
	before=$(state_of $target)
	start_attach
	end_attach 'in the midst of a fault before'
	is "$(state_of $target)" "$before" 'in the midst of a fault before: and afterwards'
	kill -9 $target
	{ wait $target; } 2>/dev/null
fi

# ---- no room ----

mkdir "$T/small"
unshare -m true 2>/dev/null || skip_all 'no mounts of its own'
# full WHAT COMMAND...: in a mount namespace where $T/small is 300 kB. What is in it then, is behind its output.
full()
{
	timeout $((60 * slowness)) unshare -m bash -c 'mount -t tmpfs -o size=300k none "$1" && echo before >"$1/rec" || exit 99
		cd "$1"; shift; "$@"; s=$?; ls -A; cat rec; exit $s' - "$T/small" "$@" >"$T/out" 2>"$T/err"
	status=$? out=$(<"$T/out") err=$(<"$T/err")
}

# full_attach NAME COMMAND...
full_attach()
{
	local name=$1

	shift
	start_loop --pace 2000
	full env PFSCOPE_TEST=$$ "$@" $target
	is "$status" 1 "$name: 1" || diag "$out$err"
	like "$err" '^pfscope: [^'$'\n'']*No space left[^'$'\n'']*$' "$name: one line says why"
	is "$out" $'rec\nbefore' "$name: what had the name before is there still, and nothing else"
	ok "$name: who is traced does not notice" runs_on $target
	end_loop "$name"
	is "$(cat "$TRACING"/instances/pfscope-*/set_event_pid 2>/dev/null | grep -cw $target)" 0 "$name: nothing traces it any more"
}
full_attach 'attach, no room for the spool' env TMPDIR=. "$PFSCOPE" attach --no-bars -d 30 -o rec
full_attach 'attach, no room for the file' "$PFSCOPE" attach --no-bars -d 2 -o rec
full_attach 'attach, no room for lines' bash -c '"$@" >/dev/full' - "$PFSCOPE" attach --no-bars --events -d 3
full "$PFSCOPE" run --no-bars -o rec -- "$WORK/touch" 20000 write anon
is "$status|${out##*minflt=}" $'1|20000\nrec\nbefore' 'run, no room for the file: what had the name before is there still'
full env TMPDIR=. "$PFSCOPE" run --no-bars -- sh -c '"$0" 20000 write anon >/dev/null; sleep 0.5; echo "its own end"' "$WORK/touch"
like "$status|$out|$err" '^1\|its own end.*\|pfscope: .*No space left' 'run, no room for the spool: the command goes on to its end'
# ulimit -f, whose signal would end pfscope. The command has the same limit, and the signal.
rm -f "$T"/limited*
err=$( (ulimit -f 100; exec "$PFSCOPE" run --no-bars -o "$T/limited" -- "$WORK/touch" 20000 write anon) 2>&1 >/dev/null)
like "$?|$err|$(ls "$T"/limited* 2>&-)" '^1\|pfscope: (.*/limited: cannot write|cannot spool the recording): File too large\|$' \
	'run, a limit on the size of files: the reason is reported, and nothing is left'
err=$( (ulimit -f 4000; exec "$PFSCOPE" run --no-bars -- head -c 8000000 /dev/zero >"$T/limited") 2>&1)
is "$?" $((128 + $(kill -l XFSZ))) 'run: the command itself is ended by its limit as ever'
done_testing
