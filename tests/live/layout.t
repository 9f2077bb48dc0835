#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# The layout that pfscope reconstructs equals /proc/self/maps, line by line and in every column, at every
# checkpoint of the random layout workload: 120 seeds through the binary buffer, some through the text
# of trace_pipe. SEEDS="1 2 3" runs others.

. "${0%/*}/../tap.sh"
need_tracefs

# layout_of HOW SEED: one run and its check; prints what is wrong with it.
layout_of()
{
	local how=$1 seed=$2 dir=$T/$1-$2

	mkdir "$dir"
	"$PFSCOPE" run --via "$how" --no-bars -o "$dir/rec" -- \
		"$WORK/layout" "$seed" "$dir/c" >"$dir/log" 2>&1 ||
		{ echo "seed $seed ($how): run failed"; cat "$dir/log"; }
	"$TOOLS/layout_check" "$dir/rec" "$dir"/c.*.maps >"$dir/check" 2>&1 ||
		{ echo "seed $seed ($how):"; head -n 12 "$dir/check"; }
	tail -n 1 "$dir/check" >>"$T/sums.$how"
	rm -rf "$dir"
}

# layouts HOW SEED...: two at a time, as machines with two processors are the smallest in use.
layouts()
{
	local how=$1 seed

	shift
	for seed; do
		layout_of "$how" "$seed" >>"$T/wrong.$how" &
		while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
	done
	wait
}

# judge HOW NR: all runs were checked, none was wrong, and checkpoints there were.
judge()
{
	local how=$1 nr=$2 checkpoints

	is "$(cat "$T/wrong.$how")" "" "$how: the layout equals the kernel's at every checkpoint"
	is "$(wc -l <"$T/sums.$how")" "$nr" "$how: each of $nr seeds was checked"
	checkpoints=$(awk '{ n += $1 } END { print n + 0 }' "$T/sums.$how")
	diag "$checkpoints checkpoints"
	ok "$how: more than 20 checkpoints a seed" test "$checkpoints" -gt $((nr * 20))
}

read -ra seeds <<<"${SEEDS:-$(seq -s ' ' 1 120)}"
layouts binary "${seeds[@]}"
judge binary ${#seeds[@]}

read -ra few <<<"${SEEDS:-3 5 9 23 40 75 89 152 154 245}"
layouts text "${few[@]}"
judge text ${#few[@]}

# What was recorded says the same as lines of events.
mkdir "$T/lines"
"$PFSCOPE" run --no-bars -o "$T/lines/rec" -- "$WORK/layout" 291 "$T/lines/c" >"$T/log" 2>&1
"$PFSCOPE" events "$T/lines/rec" >"$T/lines/events"
ok 'event lines: the layout equals the kernel'\''s' \
	"$TOOLS/layout_check" "$T/lines/events" "$T"/lines/c.*.maps

# The comparison can fail: the same checkpoints against the recording less its removals.
grep -v ' unmap ' "$T/lines/events" >"$T/lines/broken"
"$TOOLS/layout_check" "$T/lines/broken" "$T"/lines/c.*.maps >"$T/log" 2>&1
is $? 1 'a recording without its removals does not pass'

done_testing
