#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# The layout that a recording gives is the kernel's own, at every checkpoint of the random workload
# (tests/workload/layout): all of every line of /proc/PID/maps. Through the binary buffer, through
# trace_pipe, through event lines, and as `pfscope maps` prints it. SEEDS="75 89" runs just those; `make soak` runs 200.

. "${0%/*}/live.sh"
export PFSCOPE TOOLS WORK T

# record_seed MODE SEED: into $T/MODE.SEED; the verdict goes to its file `result`.
record_seed()
{
	local dir=$T/$1.$2 coarse=() via=()

	[ "$1" = text ] && via=(--via text) coarse=(--coarse)
	mkdir "$dir" && cd "$dir" || return
	if "$PFSCOPE" run "${via[@]}" --no-bars -o run.dat -- "$WORK/layout" "$2" run >out 2>&1; then
		"$TOOLS/layout_check" "${coarse[@]}" run.dat run.*.maps >result 2>&1 && touch equal
	else
		{ echo "the workload failed:"; cat out; } >result
	fi
	[ -e equal ] && [ "$3" != keep ] && rm -rf run.*
	cd "$T" || return
}
export -f record_seed

# Two at a time: it is a machine's own business who runs when.
record_seeds()
{
	local mode=$1 keep=$2

	shift 2
	printf '%s\n' "$@" | xargs -P 2 -I SEED bash -c 'record_seed "$@"' - "$mode" SEED "$keep"
}

verdict()
{
	local result

	result=$(cat "$T/$1.$2/result" 2>&1)
	[ -e "$T/$1.$2/equal" ] && { pass "$1, seed $2: $result"; return; }
	fail "$1, seed $2: ${result##*$'\n'}"
	diag "$result"
}

# shellcheck disable=SC2206 # words are meant
seeds=(${SEEDS:-$(seq 1 100)}) text_seeds=(${SEEDS:-$(seq 1 20)}) kept=(${SEEDS:-$(seq 201 204)})

record_seeds binary drop "${seeds[@]}"
for seed in "${seeds[@]}"; do
	verdict binary "$seed"
done
record_seeds text drop "${text_seeds[@]}"
for seed in "${text_seeds[@]}"; do
	verdict text "$seed"
done

# maps_equal DIR: what the command says, once a checkpoint. How many differ.
maps_equal()
{
	local point t0 pid nr=0

	for point in "$1"/run.*.maps; do
		t0=$(sed -n '1s/^# t0=\([0-9]*\) .*/\1/p' "$point")
		pid=$(sed -n '1s/.* pid=\([0-9]*\) .*/\1/p' "$point")
		"$PFSCOPE" maps --pid "$pid" --at "@${t0:0:-9}.${t0: -9}" "$1/run.dat" |
			"$TOOLS/mapsdiff" --full "$point" - && continue
		nr=$((nr + 1))
	done
	return $nr
}

record_seeds kept keep "${kept[@]}"
for seed in "${kept[@]}"; do
	dir=$T/kept.$seed
	verdict kept "$seed"
	"$PFSCOPE" events "$dir/run.dat" >"$dir/run.events"
	layouts_equal "event lines, seed $seed" "$dir/run.events" "$dir"/run.*.maps
	ok "pfscope maps --at, seed $seed" maps_equal "$dir"
done
done_testing
