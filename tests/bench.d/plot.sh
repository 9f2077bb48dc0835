# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# How fast 5 million faults become a picture, and how large it is. `made` recordings: of 100000 pages of 20 regions in
# turn, and of 1000 processes.

plot_once()
{
	local shape format

	for shape in pages processes; do
		for format in text svg png pdf html; do
			timed "$shape.$format" "$dir/pfscope" plot --format $format "$T/$shape.dat"
		done
		timed "$shape.render" "$dir/pfscope" render "$T/$shape.dat"
	done
}

"$dir/tests/tools/dat_make" "$T/pages.dat" faults=5000000 pages=100000 regions=20 threads=4 cpus=2 >/dev/null || exit 1
"$dir/tests/tools/dat_make" "$T/processes.dat" faults=5000000 pages=500 regions=10 procs=1000 cpus=2 >/dev/null || exit 1
for ((i = 0; i < rounds; i++)); do
	plot_once
done
echo "Plots of 5000000 faults, median of $rounds [quartiles]"
printf '%-42s %22s %14s\n' '' seconds 'size in KiB'
for shape in pages processes; do
	for format in text svg png pdf html; do
		printf '%-42s %22s %14s\n' "$shape, $format" "$(quartiles <"$T/$shape.$format")" \
			$(($("$dir/pfscope" plot --format $format "$T/$shape.dat" | wc -c) >> 10))
	done
	printf '%-42s %22s\n' "$shape, pfscope render" "$(quartiles <"$T/$shape.render")"
done
