# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For scripts in the guest: ftrace and SystemTap watch the same processes at the same time. $module is SystemTap's, and
# what comes of it goes to the folder $out.

# in_force FTRACE: both see what happens from now on.
in_force()
{
	grep -qs 'key="start"' lines && grep -qs poll "/proc/$1/wchan" &&
		[ "$(cat /sys/kernel/tracing/instances/pfscope-"$1"-*/tracing_on 2>/dev/null)" = 1 ]
}

# watch NAME COMMAND...: it waits, stopped, until both have entered it. Recordings, its output, *.maps
# and saved/ go to $out/NAME.
watch()
{
	local name=$1 dir target ftrace stap i failed=0

	shift
	dir=$TMPDIR/$name
	mkdir -p "$dir" "$out/$name" && cd "$dir" || return
	(kill -STOP "$BASHPID"; PATH=$WORK:$PATH; "$@") >said 2>&1 &
	target=$!
	"$PFSCOPE" attach --no-bars -o ftrace.dat $target 2>ftrace.log &
	ftrace=$!
	"$PFSCOPE" attach --no-bars --events --source stap --module "$module" -o stap.events $target \
		>lines 2>stap.log &
	stap=$!
	for ((i = 0; i < 600; i++)); do
		in_force $ftrace && break
		sleep 0.1
	done
	kill -CONT $target
	wait $target
	echo "the workloads: $?"
	wait $ftrace
	echo "ftrace: $?"
	wait $stap
	echo "stap: $?"
	cat ftrace.log stap.log
	cp -r said ftrace.dat stap.events ./*.maps saved "$out/$name" 2>/dev/null
	cd / && rm -rf "$dir"
}
