#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# Whole commands in process with sets of their options, on recordings of every kind with changed bytes: the target of
# `make fuzz` without libFuzzer, built by the same compiler as the program (tests/fuzz/replay.c).
#
# REPLAY_RUNS: how many (400). REPLAY_SEED: what all is decided by.

. "${0%/*}/../tap.sh"
replay=$BUILD/tests/fuzz/replay
# Fonts that libfontconfig keeps until the end are no leaks of pfscope's.
echo leak:libfontconfig >"$T/not-ours"
export LSAN_OPTIONS=${LSAN_OPTIONS:+$LSAN_OPTIONS:}suppressions=$T/not-ours:print_suppressions=0
[ -x "$replay" ] || skip_all 'tests/fuzz/replay is not built'
seed=${REPLAY_SEED:-$(date +%s)} runs=${REPLAY_RUNS:-400}

# Text and lines in pieces, so that what is changed is soon reached.
for file in "$DATA"/text/{report.txt,kernel.trace} "$DATA/stap/ls.events" "$ROOT/examples/tour.events"; do
	split -C 4000 -a 3 "$file" "$T/${file##*/}-"
done
cp "$DATA"/dat/{v7-zstd,v7-buffers,pfs-v7,v6}.dat "$T"
for at in 1 2 3 4; do
	out=$(timeout 200 "$replay" $((runs / 4)) $((seed + at)) "$T"/*.dat "$T"/*-aa? 2>&1)
	is "$?|$out" "0|$((runs / 4)) runs" "REPLAY_SEED=$seed, part $at: $((runs / 4)) commands end in order"
done
done_testing
