#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# The live tests, unchanged, on Debian's 6.1 and 6.12 kernels. (Layouts: layouts.t.) LIVE="run clean" runs
# just those.

. "${0%/*}/vm.sh"

# shellcheck disable=SC2016,SC2086 # for the guest's shell; words are meant
in_guests 800 bash -c 'for test; do bash "tests/live/$test.t"; done' live \
	${LIVE:-counts attach run storms overrun clean recording}
done_testing
