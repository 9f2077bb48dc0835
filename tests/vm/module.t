#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# What becomes of a SystemTap module: module.guest on Debian's 6.1.

KERNELS=6.1
. "${0%/*}/vm.sh"

build_module 6.1 symbols "$T/share/probe.ko" || { done_testing; exit; }
boot_args=(-e "MODULE=$T/share/probe.ko")
in_guests 400 bash tests/vm/module.guest
done_testing
