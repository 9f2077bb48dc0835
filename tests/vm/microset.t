#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# --microset on Debian's 6.1 and 6.12: microset.guest has the tests.

. "${0%/*}/vm.sh"

build_probes || { done_testing; exit; }
boot_args=(-e "MODULES=$T/share")
in_guests 600 bash tests/vm/microset.guest
done_testing
