#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
#
# On machines with two nodes: --refault by NUMA hinting faults (numa.guest), and on which node the page of a fault is.

KERNELS=${KERNELS:-6.12}
. "${0%/*}/vm.sh"
build_probes || { done_testing; exit; }
boot_args=(-n 2 -e "MODULES=$T/share")
in_guests 200 bash tests/vm/numa.guest
in_guests 300 bash tests/live/mapped.t
done_testing
