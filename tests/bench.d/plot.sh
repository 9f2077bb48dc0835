# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# How fast 5 million faults become a picture, and how large it is. `made` recordings: of 100000 pages of 20 regions in
# turn, and of 1000 processes. The aim for SVG and HTML: at least 10 million events/s, and at most 100 ms for the picture
# besides. The first million of the same faults gives the share of each: time grows with the number of events by the slope,
# and the rest is what the picture and the first events cost.

plot_once()
{
	local shape format

	for shape in pages processes; do
		for format in text svg png pdf html; do
			timed "$shape.$format" "$dir/pfscope" plot --format $format "$T/$shape.dat"
		done
		timed "$shape.render" "$dir/pfscope" render "$T/$shape.dat"
		for format in svg html; do
			timed "$shape-short.$format" "$dir/pfscope" plot --format $format "$T/$shape-short.dat"
		done
	done
}

# made NAME SHAPE...: NAME.dat of 5 million faults, and NAME-short.dat of a million.
made()
{
	local name=$1

	shift
	"$dir/tests/tools/dat_make" "$T/$name.dat" faults=5000000 "$@" >/dev/null || exit 1
	"$dir/tests/tools/dat_make" "$T/$name-short.dat" faults=1000000 "$@" >/dev/null || exit 1
}

made pages pages=100000 regions=20 threads=4 cpus=2
made processes pages=500 regions=10 procs=1000 cpus=2
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
printf '%-42s %22s %14s %24s\n' '' 'million events/s' 'the rest in ms' '1 M, 5 M: x aimed time'
for shape in pages processes; do
	for format in svg html; do
		awk -v long="$(median "$T/$shape.$format")" -v short="$(median "$T/$shape-short.$format")" \
			-v name="$shape, $format" 'BEGIN {
			event = (long - short) / 4e6
			printf "%-42s %22.1f %14.0f %18.2f, %.2f\n", name, 1e-6 / event,
				1e3 * (short - 1e6 * event), short / 0.2, long / 0.6 }'
	done
done
