#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# What becomes of a SystemTap module: module.guest on Debian's 6.1 and 6.12.

. "${0%/*}/vm.sh"

build_probes || { done_testing; exit; }
boot_args=(-e "MODULES=$T/share")
in_guests 400 bash tests/vm/module.guest
done_testing
