#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1500
#
# pfscope on arm64: arm64.guest in guests of that machine with Debian's kernels. The program and the tests were built by
# Debian's cross compiler (`make arm64`). READING="render kmap" runs just those tests of tests/cli, UNITS=all the unit
# tests of all rooms, not only of those that read bytes.

KERNELS=${KERNELS:-arm64-6.12}
. "${0%/*}/vm.sh"
need_programs qemu-system-aarch64
reason=$("$ROOT/tests/vm/arm64-root" --why-not) || skip_all "$reason"
export PFSCOPE_VM=${PFSCOPE_VM:-$BUILD/vm}
BUILD=$BUILD-arm64 PFSCOPE=$BUILD/pfscope TOOLS=$BUILD/tests/tools WORK=$BUILD/tests/workload
[ -x "$PFSCOPE" ] || skip_all 'not built for arm64 (make arm64)'
like "$(readelf -h "$PFSCOPE")" 'Machine: +AArch64' 'the program is one of arm64'

boot_args=(-e "READING=${READING:-check tape}" -e "UNITS=${UNITS:-base dat decode event os symbol text unwind}")
in_guests 1400 bash -c 'for part in unit reading perf; do bash tests/vm/arm64.guest $part; done'
done_testing
