#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Commands that make namespaces of their own, bubblewrap, chroot and pivot_root: each fault is recorded, has its process and its
# region, and the numbers of processes are those of the initial namespace.

. "${0%/*}/live.sh"
need_programs unshare chroot pivot_root ldd bwrap

# A small root: what ls and sh need.
mkdir -p "$T/root/old"
for file in /bin/ls /bin/sh $(ldd /bin/ls /bin/sh | grep -o '/[^ )]*' | sort -u); do
	[ -f "$file" ] && mkdir -p "$T/root${file%/*}" && cp "$file" "$T/root$file"
done
cat >"$T/pivot" <<'END'
mount --make-rprivate / && mount --bind "$1" "$1" && cd "$1" && pivot_root . old && exec /bin/ls /bin
END

# recorded NAME PROCESSES COMMAND...
recorded()
{
	local name=$1 nr=$2 wanted

	shift 2
	wanted=$("$@" 2>&1)
	pfscope run --no-bars --strict -o "$T/rec" -- "$@"
	is "$status|$out|$err" "0|$wanted|" "$name: runs as it does unrecorded"
	pfscope report --check "$T/rec"
	like "$status $out" '^0 .*every fault is accounted for$' "$name: every fault is accounted for"
	is "$(outside "$T/rec")" 0 "$name: each in its region"
	is "$("$PFSCOPE" report --csv "$T/rec" | grep -c '^process,')" "$nr" "$name: $nr processes"
}

shell='ls /bin >/dev/null; (exit 0); ls / | wc -l'
recorded 'a PID namespace' 6 unshare -pf --mount-proc sh -c "$shell"
recorded 'a PID namespace with the /proc of the other' 6 unshare -pf sh -c "$shell"
recorded 'all namespaces' 6 unshare -mnpfuiC --mount-proc sh -c "$shell"
recorded 'a user namespace' 5 unshare -Ur sh -c "$shell"
recorded 'chroot' 1 chroot "$T/root" /bin/ls /bin
recorded 'pivot_root' 4 unshare -m sh "$T/pivot" "$T/root"

# bubblewrap, which containers of desktops are made with: around the command, and around pfscope.
recorded 'bubblewrap' 7 bwrap --ro-bind / / --dev /dev --proc /proc --unshare-pid --unshare-net --unshare-ipc --unshare-uts sh -c "$shell"
recorded 'bubblewrap, the command as process 1' 6 \
	bwrap --ro-bind / / --dev /dev --proc /proc --unshare-pid --as-pid-1 sh -c "$shell"
box=(bwrap --bind / / --dev /dev --bind "$TRACING" "$TRACING" --proc /proc --unshare-net --unshare-ipc --unshare-uts --cap-add ALL)
try "${box[@]}" "$PFSCOPE" run --no-bars --strict -o "$T/rec" -- sh -c "$shell; exit 5"
is "$status|$err" '5|' 'pfscope below bubblewrap: records'
pfscope report --check "$T/rec"
like "$status $out" '^0 .*every fault is accounted for$' '... every fault'
try timeout -k 2 60 "${box[@]}" --unshare-pid "$PFSCOPE" run --source=ftrace --no-bars -- true
like "$status|$(wc -l <"$T/err")|$err" '^1\|1\|pfscope: cannot record from inside a PID namespace' '... in a PID namespace: is refused, in one line'

# What is missing in a namespace is named, in one line. (Not by a remount of tracefs, which would concern all mounts of it.)
# within SETUP WANTED NAME: for each command that needs it
within()
{
	local command

	for command in 'run --source=ftrace -- true' "attach --source=ftrace -d 1 $$" clean; do
		# shellcheck disable=SC2086 # words
		try unshare -m sh -c "{ $1; }"' && exec "$@"' - "$PFSCOPE" $command
		[[ $command = clean && ! ${4:-} ]] || is "$status|${err% (see \`pfscope doctor\`)}" "1|pfscope: $2" "$3: $command: the reason, in one line"
	done
}
within "mount --bind $TRACING $TRACING && mount -o remount,bind,ro $TRACING" \
	"tracefs is mounted read-only: as root, run \`mount -o remount,rw $TRACING\`" 'tracefs is read-only'
within 'mount -t tmpfs none /proc' \
	'/proc is not mounted, or cannot be read: as root, run `mount -t proc proc /proc`' 'no /proc' clean
# Where debugfs is mounted, as trace-cmd leaves it, tracefs is in that, too.
within "umount -l $TRACING && { umount -l /sys/kernel/debug 2>/dev/null || :; }" \
	'tracefs is not mounted: as root, run `mount -t tracefs nodev /sys/kernel/tracing`' 'no tracefs' clean
done_testing
