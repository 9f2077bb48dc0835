#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes examples/leak.events: records examples/leak.pl on Debian's 6.12, in a virtual machine (tests/vm/README.md), where
# the kernel module of the tests forgets to free objects. Needs root and what `make deps-vm` installs.
#
#     examples/leak.sh

set -eu
cd "$(dirname "$0")/.."
kernel=6.12
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cp tests/vm/module/* "$T"
make -s -C "/lib/modules/$(tests/vm/kernel -n $kernel)/build" M="$T" modules >"$T/made" 2>&1 || { tail "$T/made" >&2; exit 1; }
PFSCOPE=${PFSCOPE:-$PWD/build/pfscope}

# The name of the kernel function in which a process waits tells when the recording has begun.
# shellcheck disable=SC2016 # the guest's shell
tests/vm/boot -k $kernel -t 120 -w "$T" -e "SHARE=$T" -e "PFSCOPE=$PFSCOPE" -- bash -c '
	insmod "$SHARE/pfscope_objects.ko"
	mkfifo /tmp/begin
	perl examples/leak.pl </tmp/begin &
	exec 3>/tmp/begin
	until grep -q pipe "/proc/$!/wchan"; do sleep 0.1; done
	"$PFSCOPE" kmap record --pid $! -o "$SHARE/leak.dat" &
	recorder=$!
	until grep -q poll "/proc/$recorder/wchan"; do sleep 0.1; done
	echo >&3
	wait $recorder'

# What the others did at other addresses does not matter.
"$PFSCOPE" events "$T/leak.dat" 2>"$T/log" >"$T/events"
process=$(sed -n 's/.* key="attach" value="\([0-9]*\)"/\1/p' "$T/events")
perl -ne '
	BEGIN { $own = shift; $of_own = qr/ pid=$own / }
	($ptr) = / (?:alloc|free) .* ptr=(\w+)/ or / comm / && !/$of_own/ or push(@kept, $_), next;
	$ours{$ptr} = 1 if / alloc / && /$of_own/;
	push @kept, [$ptr, $_] if $ptr;
	END { ref && !$ours{$_->[0]} or print ref ? $_->[1] : $_ for @kept }' "$process" "$T/events" >examples/leak.events
cmp <("$PFSCOPE" kmap --kmap-compat "$T/leak.dat") <("$PFSCOPE" kmap --kmap-compat examples/leak.events)
