#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# --probes, --latency, --classify and --histogram on Debian's 6.1 and 6.12 kernels: tracers.guest there.

KERNELS=${KERNELS:-6.12}
. "${0%/*}/vm.sh"

in_guests 800 bash tests/vm/tracers.guest
done_testing
