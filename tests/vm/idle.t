#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# --refault by accessed bits, on kernels that have DAMON (KERNELS="6.1 6.12": and on one that has not): idle.guest has
# the tests.

KERNELS=${KERNELS:-6.12}
. "${0%/*}/vm.sh"
in_guests 270 bash tests/vm/idle.guest
done_testing
