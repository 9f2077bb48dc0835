#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# What may happen to a recording on a machine of its own only: machine.guest has the tests.

. "${0%/*}/vm.sh"
in_guests 250 bash tests/vm/machine.guest
done_testing
