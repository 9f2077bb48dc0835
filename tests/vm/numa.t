#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# --refault by NUMA hinting faults, on machines with two nodes: numa.guest has the tests.

. "${0%/*}/vm.sh"
boot_args=(-n 2)
in_guests 200 bash tests/vm/numa.guest
done_testing
