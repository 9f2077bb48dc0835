#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# What becomes of a SystemTap module, and how its targets' pages are made to fault again: module.guest and again.guest
# on Debian's 6.1 and 6.12.

KERNELS=${KERNELS:-6.1}
. "${0%/*}/vm.sh"

build_probes || { done_testing; exit; }
boot_args=(-e "MODULES=$T/share")
# module.guest is the last: from its end on no module can be loaded.
in_guests 600 sh -c 'bash tests/vm/again.guest; bash tests/vm/module.guest'
done_testing
