#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# Kernel objects of a kernel module that is made for it, recorded by ftrace, by SystemTap and by both at once, on Debian's
# kernels: objects.guest.

KERNELS=${KERNELS:-6.12}
. "${0%/*}/vm.sh"

probes=()
for kernel in $KERNELS; do
	mkdir -p "$T/share/$kernel"
	cp tests/vm/module/* "$T/share/$kernel"
	release=$(tests/vm/kernel -n "$kernel")
	make -C "/lib/modules/$release/build" M="$T/share/$kernel" modules >"$T/made" 2>&1 || { fail "$kernel: the module is built"; diag "$(tail -n 5 "$T/made")"; }
	probes+=("$kernel objects $T/share/$kernel/probe.ko")
done
build_modules "${probes[@]}"
boot_args=(-e "SHARE=$T/share")
# shellcheck disable=SC2016 # the guest's shell
in_guests 600 bash -c 'bash tests/vm/objects.guest "$SHARE/$KERNEL/pfscope_objects.ko" "$SHARE/$KERNEL/probe.ko"'
done_testing
