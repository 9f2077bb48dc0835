#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
#
# `make format-check` and `make lint` find nothing. Other versions of the tools have other opinions: only those of
# Debian 12 count.

. "${0%/*}/../tap.sh"
cd "$ROOT" || exit 1
unset MAKEFLAGS MAKELEVEL

# has TOOL VERSION
has()
{
	"$1" --version 2>/dev/null | grep -q "[ :]$2\."
}

if has clang-format 14; then
	ok 'make format-check' make -s format-check
else
	skip 'no clang-format 14' 'make format-check'
fi
if has clang-tidy 14 && has shellcheck 0.9; then
	ok 'make lint' make -s O="${TOOLS%/tests/tools}" lint
else
	skip 'no clang-tidy 14 or no shellcheck 0.9' 'make lint'
fi
done_testing
