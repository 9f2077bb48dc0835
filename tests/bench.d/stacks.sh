# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the stacks of faults cost without frame pointers, against perf record: seconds of the whole command, and bytes a fault.
# perf loses samples where pfscope does not, so its bytes are those of a sample that it kept.

touches=("$dir/tests/workload/flood" 1 10000 10)

# bytes NAME FILE EVENTS: appends bytes an event.
bytes()
{
	awk -v bytes="$(stat -c %s "$2")" -v events="$3" 'BEGIN { print bytes / (events ? events : 1) }' >>"$T/$1"
}

# of NAME BASE: "median [quartiles]" of NAME / BASE, round by round.
of()
{
	paste -d ' ' "$T/$1" "$T/$2" | awk '{ print $1 / $2 }' | quartiles 3
}

for ((i = 0; i < rounds; i++)); do
	timed ours "$dir/pfscope" run --source=perf --stack=dwarf --no-bars -o "$T/one.ev" -- "${touches[@]}"
	bytes ours.bytes "$T/one.ev" "$(grep -c ' fault ' "$T/one.ev")"
	command -v perf >/dev/null || continue
	timed perf perf record -q -m 16M -e page-faults -c 1 -d --call-graph dwarf,8192 -o "$T/perf.data" -- "${touches[@]}"
	bytes perf.bytes "$T/perf.data" "$(perf report -i "$T/perf.data" --stats 2>/dev/null | awk '$1 == "SAMPLE" { print $3; exit }')"
done
echo "Stacks without frame pointers, 100,000 touches, median of $rounds [quartiles]"
printf '%-44s %-21s %s\n' '' 'seconds' 'bytes a fault'
printf '%-44s %-21s %s\n' 'pfscope run --source=perf --stack=dwarf' "$(quartiles 3 <"$T/ours")" "$(quartiles 0 <"$T/ours.bytes")"
[ ! -s "$T/perf" ] ||
	printf '%-44s %-21s %s\n' 'perf record --call-graph dwarf,8192' "$(quartiles 3 <"$T/perf")" "$(quartiles 0 <"$T/perf.bytes")" \
		'pfscope / perf' "$(of ours perf)" "$(of ours.bytes perf.bytes)"
