#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1500
#
# The live tests, unchanged, on Debian's 6.1 and 6.12 kernels. What hardly depends on the kernel runs on one of them, for
# guests are slow, and so do those that not every machine can run (not_here in live.sh); all kinds of faults and their
# counts are witness.t's, layouts are layouts.t's.
# LIVE="run counts" runs just those, on both; `make soak` does so.

. "${0%/*}/vm.sh"

cat >"$T/share/live" <<'EOS'
case ${LIVE:-$KERNEL} in
6.1) LIVE=classes ;;
6.*) LIVE="kmap-control mprotect compat kmap-watch" ;;
esac
for test in $LIVE; do
	start=$SECONDS
	bash "tests/live/$test.t"
	echo "# $test: $((SECONDS - start)) s"
done
exit 0	# each has told by itself
EOS
boot_args=(-e "LIVE=${LIVE:-}")
in_guests 1400 bash "$T/share/live"
done_testing
