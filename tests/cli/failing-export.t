#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# Allocations fail in turn while a recording is written for each of the viewers: see failing.sh. Every eighth, for those of reading
# fail in failing.t, too; `make soak`: each.

. "${0%/*}/../tap.sh"
EVERY=${EVERY:-8}
. "${0%/*}/failing.sh"
need_programs "$TOOLS/well_formed"

file=$PWD/examples/tour.events
export FAIL_ALLOC_IN='pfscope libelf-0 libelf' # not within SQLite, nor dlopen()
each_command 'export --to '{firefox,perfetto,pprof,folded,speedscope,sqlite,chrome,html}
done_testing
