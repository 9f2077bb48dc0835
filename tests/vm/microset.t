#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1100
#
# --microset on Debian's 6.1 and 6.12: microset.guest has the tests. SEEDS=5: so many random orders of each kind.

KERNELS=${KERNELS:-6.12}
. "${0%/*}/vm.sh"

build_probes || { done_testing; exit; }
boot_args=(-e "MODULES=$T/share" -e "SEEDS=${SEEDS:-2}")
in_guests 800 bash tests/vm/microset.guest
done_testing
