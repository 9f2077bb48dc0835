# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# How long `pfscope mrc` takes for REFS references, all of a page that was referenced before: in a loop, and at
# random, which is the worst for the processor's caches; and what each size under CLOCK and OPT costs beyond that.

refs=${REFS:-10000000}
shapes=('loop pages=100000 order=up' 'random pages=100000 order=random' 'wide pages=1000000 order=random')

mrc_once()
{
	local name rest size

	for shape in "${shapes[@]}"; do
		read -r name rest <<<"$shape"
		size=${rest#pages=}
		size=$((${size%% *} / 2))
		timed "$name" "$dir/pfscope" mrc "$T/$name.dat"
		timed "$name-clock" "$dir/pfscope" mrc --policy clock --sizes $size "$T/$name.dat"
		timed "$name-opt" "$dir/pfscope" mrc --policy opt --sizes $size "$T/$name.dat"
		timed "$name-window" "$dir/pfscope" mrc --window 10ms,1s "$T/$name.dat"
	done
}

for shape in "${shapes[@]}"; do
	read -ra words <<<"$shape"
	"$dir/tests/tools/dat_make" "$T/${words[0]}.dat" faults="$refs" "${words[@]:1}" || exit 1
done
for ((i = 0; i < rounds; i++)); do
	mrc_once
done
echo "pfscope mrc of $refs references, seconds, median of $rounds [quartiles]"
printf '%-30s %24s %10s %12s %12s %12s\n' '' 'lru, all sizes' million/s 'clock, half' 'opt, half' '2 windows'
for shape in "${shapes[@]}"; do
	read -r name rest <<<"$shape"
	printf '%-30s %24s %10.1f %12s %12s %12s\n' "$rest" "$(quartiles <"$T/$name")" \
		"$(awk -v n="$refs" -v s="$(median "$T/$name")" 'BEGIN { print n / s / 1e6 }')" "$(median "$T/$name-clock")" \
		"$(median "$T/$name-opt")" "$(median "$T/$name-window")"
done
