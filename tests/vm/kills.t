#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 5000
#
# pfscope ends and is killed while it hides pages, on Debian's 6.1 and 6.12: kills.guest has the tests. KILLS: how often
# in each way (1; `make soak` takes 60).

KERNELS=${KERNELS:-6.12}
. "${0%/*}/vm.sh"

KILLS=${KILLS:-1}
build_probes || { done_testing; exit; }
boot_args=(-e "MODULES=$T/share" -e "KILLS=$KILLS")
in_guests $((200 + KILLS * 60)) bash tests/vm/kills.guest
done_testing
