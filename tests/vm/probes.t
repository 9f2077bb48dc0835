#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# Much at once, and too much, for the SystemTap source: tests/live/storms.t with it on Debian's 6.1, and
# probes.guest on 6.1 and 6.12.

. "${0%/*}/vm.sh"

build_probes || { done_testing; exit; }
cat >"$T/share/stap" <<'EOS'
export MODULE=$MODULES/$KERNEL/probe.ko
[ "$KERNEL" = 6.12 ] || bash tests/live/storms.t
bash tests/vm/probes.guest
exit 0	# each has told by itself
EOS
boot_args=(-e "MODULES=$T/share")
in_guests 800 bash "$T/share/stap"
done_testing
