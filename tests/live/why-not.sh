#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prints why this machine can make no recording, and fails; prints nothing and succeeds if it can.

[ "$(id -u)" = 0 ] || { echo 'not root'; exit 1; }
tracing=/sys/kernel/tracing
[ -d $tracing/instances ] || tracing=/sys/kernel/debug/tracing
[ -d $tracing/instances ] || { echo 'tracefs is not mounted (mount -t tracefs nodev /sys/kernel/tracing)'; exit 1; }
probe=$tracing/instances/pfscope-probe-$$
mkdir "$probe" 2>/dev/null || { echo "no instance can be made in $tracing"; exit 1; }
rmdir "$probe"
[ -d $tracing/events/exceptions ] || { echo 'this kernel has no page-fault events'; exit 1; }
