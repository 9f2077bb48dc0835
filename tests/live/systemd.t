#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pfscope as a service of systemd: a manager of its own (systemd --user), in a mount namespace with cgroup v2.

. "${0%/*}/live.sh"
need_programs unshare /lib/systemd/systemd systemd-run systemctl

export XDG_RUNTIME_DIR=$T/runtime HOME=$T
unset DBUS_SESSION_BUS_ADDRESS
mkdir -m 700 "$XDG_RUNTIME_DIR"
cat >"$T/manager" <<'END'
mount --make-rprivate / && umount -R /sys/fs/cgroup 2>/dev/null
mount -t cgroup2 none /sys/fs/cgroup && mkdir "/sys/fs/cgroup/$1" && echo $$ >"/sys/fs/cgroup/$1/cgroup.procs" &&
	mount -t tmpfs none /run && mkdir -p /run/systemd/system || exit 99	# which it asks whether systemd is there
exec /lib/systemd/systemd --user --log-target=console --log-level=warning
END
unshare -m sh "$T/manager" "pfscope-test-$$" >"$T/log" 2>&1 &
manager=$!
end_manager()
{
	kill "$manager" 2>/dev/null && wait "$manager"
	unshare -m sh -c 'umount -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup &&
		find "/sys/fs/cgroup/$1" -depth -type d -exec rmdir {} +' - "pfscope-test-$$" 2>/dev/null
}
at_exit end_manager
answers()
{
	ended "$manager" || systemctl --user is-system-running 2>&1 | grep -qE 'running|degraded'
}
wait_for 60 answers
ended "$manager" && skip_all "systemd does not run here: $(tail -n 1 "$T/log")"

try timeout 100 systemd-run --user --quiet --wait --pipe "$PFSCOPE" run --no-bars --strict -o "$T/rec" -- sh -c 'echo hello; exit 5'
is "$status|$out|$err" '5|hello|' 'systemd-run: output and status are those of the command'
pfscope report --check "$T/rec"
like "$status $out" '^0 .*every fault is accounted for$' '... every fault is accounted for'

# stopped NAME COMMAND: the manager sends TERM, and KILL when its time is over.
stopped()
{
	rm -f "$T/rec" "$T/begun"
	systemd-run --user --quiet --unit "$1" -p TimeoutStopSec=20 "$PFSCOPE" run --no-bars -o "$T/rec" -- sh -c "$2"
	wait_for 60 test -e "$T/begun"
	ok "$1: stops" timeout 100 systemctl --user stop "$1"
	pfscope report --by process --csv "$T/rec"
	like "$status $out" $'^0 .*\n[^\n]*,sh,' "$1: the recording is kept"
	is "$(ls "$T"/rec?* 2>/dev/null)" '' "$1: ... and nothing beside it"
}
stopped obeys "echo >$T/begun; while :; do sleep 1; done"
stopped ends-late "trap 'sleep 1; exit 3' TERM; echo >$T/begun; while :; do sleep 0.1; done"
stopped ignores "trap '' TERM; echo >$T/begun; while :; do sleep 0.1; done"
done_testing
