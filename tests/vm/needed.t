#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# The command line of events --needed, given to trace-cmd: needed.guest has the tests. KERNELS="6.1 6.12": on both.

KERNELS=${KERNELS:-6.12}
. "${0%/*}/vm.sh"
command -v trace-cmd >/dev/null || skip_all 'trace-cmd is not installed'
in_guests 200 bash tests/vm/needed.guest
done_testing
