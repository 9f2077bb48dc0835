#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A forked child that registers a part of its parent's memory by an inherited userfaultfd splits regions of the parent: both
# layouts are the kernel's. Which pages are filled is the business of pages.t.

. "${0%/*}/live.sh"
cd "$T" || exit 1
"$PFSCOPE" run --no-bars -o run.dat -- "$WORK/pages" map:16 write:0 uffd:0-1 maps:first fork register:4-8 copy:5 \
	maps:child end maps:last >out 2>&1
status=$?
[ $status != 77 ] || skip_all "$(tail -n 1 out)"
is $status 0 'the workload runs' || diag "$(cat out)"
layouts_equal 'parent and child' run.dat first.*.maps child.*.maps last.*.maps
done_testing
