#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Containers of podman: around the command, beside a recording of the container's process, and around pfscope.
# podman runs in a mount namespace of its own with a root, a storage and a configuration in the test's folder: it needs
# cgroup v2 alone, and its default limits may exceed those of this machine.

. "${0%/*}/live.sh"
need_programs unshare podman ldd

mkdir -p "$T/root"/{proc,sys,dev,tmp,run,etc} "$T/run"
for file in /bin/sh /bin/ls /bin/sleep "$PFSCOPE" $(ldd /bin/sh /bin/ls /bin/sleep "$PFSCOPE" | grep -o '/[^ )]*' | sort -u); do
	[ -f "$file" ] && mkdir -p "$T/root${file%/*}" && cp "$file" "$T/root$file"
done
printf '[containers]\ndefault_ulimits=[]\n' >"$T/containers.conf"
cat >"$T/podman" <<'END'
# $1: folder, $2: /sys/kernel/tracing; then podman's options and the command
folder=$1 tracing=$2; shift 2
mount --make-rprivate / && umount -R /sys/fs/cgroup 2>/dev/null
mount -t cgroup2 none /sys/fs/cgroup && mount --bind "$folder/root" "$folder/root" || exit 99
export CONTAINERS_CONF=$folder/containers.conf
exec podman --storage-driver=vfs --root "$folder/storage" --runroot "$folder/run" --log-level=error run --rm ${PRIVILEGED---privileged} \
	--ulimit=host --network=none --cgroups=disabled -v "$tracing:$tracing" --rootfs "$folder/root" "$@"
END
podman=(unshare -m sh "$T/podman" "$T" "$TRACING")
try timeout 120 "${podman[@]}" sh -c 'echo "number $$"'
[ "$status|$out" = '0|number 1' ] || skip_all "podman does not run here: ${err##*$'\n'}"

# shellcheck disable=SC2016 # for the shell in the container
try timeout 200 "$PFSCOPE" run --no-bars --strict -o "$T/rec" -- "${podman[@]}" sh -c '/bin/ls /bin; exit 5'
is "$status|$out|$err" $'5|ls\nsh\nsleep|' 'around the command: it runs as it does unrecorded'
pfscope report --check "$T/rec"
like "$status $out" '^0 .*every fault is accounted for$' '... every fault is accounted for'
pfscope report --by process --csv "$T/rec"
like "$out" $'\n[^\n]*,ls,' '... the command in the container among the processes'

# A process of the container, attached to from outside.
timeout 200 "${podman[@]}" sh -c 'while :; do /bin/sleep 0.2; done' >"$T/container" 2>&1 &
job=$!
in_container()
{
	shell=$(pgrep -f '^sh -c while :; do /bin/sleep 0.2; done$' | while read -r pid; do
		[[ $(cat "/proc/$pid/mountinfo") = *"$T/root / "* ]] && echo "$pid"
	done)
	[ "$shell" ]
}
if wait_for 60 in_container; then
	try timeout 100 "$PFSCOPE" attach --no-bars --strict -d 2 -o "$T/rec" "$shell"
	is "$status|$out|$err" '0||' 'attached from outside'
	pfscope report --by process --csv "$T/rec"
	like "$out" $'\n[^\n]*,sleep,' '... children that the process in the container started'
	kill -9 "$shell"
else
	fail 'the container starts'
	diag "$(cat "$T/container")"
fi
wait "$job"

try timeout -k 2 100 "${podman[@]}" "$PFSCOPE" run --source=ftrace --no-bars -- true
like "$status|$(wc -l <"$T/err")|$err" '^1\|1\|pfscope: cannot record from inside a PID namespace' 'around pfscope: ftrace is refused, in one line'
try timeout -k 2 100 "${podman[@]}" "$PFSCOPE" run -- sleep 0
like "$status|$err" '^0\|pfscope: recording through perf events, .*\(cannot record from inside a PID namespace.*libc\.so\.6' \
	'... and perf is used'

# As containers are by default: a filter of system calls that lets only CAP_PERFMON or CAP_SYS_ADMIN open perf events.
try env PRIVILEGED='' timeout -k 2 100 "${podman[@]}" sh -c 'echo "number $$"'
if [ "$status|$out" = '0|number 1' ]; then
	try env PRIVILEGED='' timeout -k 2 100 "${podman[@]}" "$PFSCOPE" run -- sleep 0
	like "$status|$(wc -l <"$T/err")|$err" '^1\|1\|pfscope: .*a seccomp filter, as containers have, refuses perf_event_open .*--security-opt seccomp=unconfined' \
		'a container without privileges: one line names the filter, and what to start it with'
	try env PRIVILEGED="--security-opt=seccomp=unconfined" timeout -k 2 100 "${podman[@]}" "$PFSCOPE" run -- sleep 0
	like "$status|$err" '^0\|pfscope: recording through perf events, .*libc\.so\.6' '... which lets it record'
else
	diag "no container without privileges: $err"
fi
done_testing
