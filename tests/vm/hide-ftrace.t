#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1000
#
# --microset and --refault-by hide with --source=ftrace, on Debian's 6.1 and 6.12: hide-ftrace.guest has the tests.

KERNELS=${KERNELS:-6.1}
. "${0%/*}/vm.sh"

build_probes || { done_testing; exit; }
boot_args=(-e "MODULES=$T/share" -e "EACH=${EACH:-}")
in_guests 700 bash tests/vm/hide-ftrace.guest
done_testing
