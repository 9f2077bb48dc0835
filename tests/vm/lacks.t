#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
#
# What older kernels have no events for: lacks.guest on Debian's 6.1, which lacks those of file faults, and
# on 6.12, which has all.

. "${0%/*}/vm.sh"

in_guests 150 bash tests/vm/lacks.guest
done_testing
