#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
#
# pfscope doctor on Debian's 6.1 and 6.12: doctor.guest.

KERNELS=${KERNELS:-6.12}
. "${0%/*}/vm.sh"

in_guests 150 bash tests/vm/doctor.guest
done_testing
