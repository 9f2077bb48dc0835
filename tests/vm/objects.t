#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
#
# Kernel objects of a kernel module that is made for it, on Debian's kernels: objects.guest.

. "${0%/*}/vm.sh"

for kernel in $KERNELS; do
	mkdir -p "$T/share/$kernel"
	cp tests/vm/module/* "$T/share/$kernel"
	release=$(tests/vm/kernel -n "$kernel")
	make -C "/lib/modules/$release/build" M="$T/share/$kernel" modules >"$T/made" 2>&1 || { fail "$kernel: the module is built"; diag "$(tail -n 5 "$T/made")"; }
done
boot_args=(-e "SHARE=$T/share")
# shellcheck disable=SC2016 # the guest's shell
in_guests 300 bash -c 'bash tests/vm/objects.guest "$SHARE/$KERNEL/pfscope_objects.ko"'
done_testing
