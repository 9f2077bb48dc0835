#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# What becomes of a SystemTap module: module.guest on Debian's 6.1 and 6.12.

. "${0%/*}/vm.sh"

wanted=()
for kernel in $KERNELS; do
	mkdir "$T/share/$kernel"
	wanted+=("$kernel symbols $T/share/$kernel/probe.ko")
done
build_modules "${wanted[@]}" || { done_testing; exit; }
boot_args=(-e "MODULES=$T/share")
in_guests 400 bash tests/vm/module.guest
done_testing
