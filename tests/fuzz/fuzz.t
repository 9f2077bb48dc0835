#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
#
# Each fuzz target for a short time, on top of its seeds and of all that was found before. A clean build gets the same inputs each
# time, so that what fails is what was changed; `make fuzz` looks for others. The corpus stays in build-fuzz/corpus.

. "${0%/*}/../tap.sh"
cd "$ROOT" || exit 1
fuzz=$BUILD-fuzz seconds=${FUZZ_SECONDS:-8}

command -v clang >/dev/null || skip_all 'no clang: make deps-fuzz'
[ -x "$fuzz/tests/fuzz/seeds" ] || skip_all "nothing was built in $fuzz: make check-fuzz"
for source in tests/fuzz/fuzz_*.c; do
	target=${source#*/fuzz_}
	target=${target%.c}
	said=$(tests/fuzz/fuzz -r 1 -s "$seconds" "$fuzz" "$target" 2>&1)
	is $? 0 "${said%%$'\n'*}" || diag "$said"
done
done_testing
