#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1100
#
# --refault INTERVAL --refault-by hide on Debian's 6.1 and 6.12: refault-hide.guest has the tests.

KERNELS=${KERNELS:-6.12}
. "${0%/*}/vm.sh"

build_probes || { done_testing; exit; }
boot_args=(-e "MODULES=$T/share")
in_guests 800 bash tests/vm/refault-hide.guest
done_testing
