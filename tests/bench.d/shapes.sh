# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# How time and memory grow with a recording: made ones (tests/tools/dat_make) of FAULTS faults (4 million) over
# ever more regions, processes, threads and pages, and one of LONG (100 million; 3.6 GB twice over in TMPDIR).

faults=${FAULTS:-4000000}
long=${LONG:-100000000}

# shape NAME TIMES PAGES SHAPE...: a row; PAGES are touched in all.
shape()
{
	local name=$1 times=$2 pages=$3 i

	shift 3
	if ! "$dir/tests/tools/dat_make" "$T/made.dat" "$@" 2>"$T/err"; then
		printf '%-46s %s\n' "$name" "(not made: $(tail -n 1 "$T/err"))"
		return
	fi
	rm -f "$T/spent"
	for ((i = 0; i < times; i++)); do
		"$dir/tests/tools/spent" "$T/spent" "$dir/pfscope" render "$T/made.dat" >/dev/null || return
	done
	awk '{ print $1 }' "$T/spent" >"$T/seconds"
	awk -v s="$(median "$T/seconds")" -v spread="$(quartiles <"$T/seconds")" -v n="${1#faults=}" -v name="$name" \
		-v kib="$(awk '{ print $3 }' "$T/spent" | sort -n | tail -n 1)" -v pages="$pages" 'BEGIN {
		printf "%-46s %22s %10.1f %10.1f %10.1f\n", name, spread, n / s / 1e6, kib / 1024,
			64 + pages * 16 / 1048576 }'
}

echo "Drawing made recordings of $faults faults, median of $rounds [quartiles]"
printf '%-46s %22s %10s %10s %10s\n' '' seconds million/s 'peak MiB' allowed
shape '100,000 pages in 1 region' "$rounds" 100000 faults="$faults" pages=100000
shape '100,000 pages in 1,000 regions, by turns' "$rounds" 100000 faults="$faults" pages=100000 regions=1000 order=hop
shape '100,000 pages in 100,000 regions' "$rounds" 100000 faults="$faults" pages=100000 regions=100000 order=down
shape '100,000 pages in 100,000 regions, by turns' "$rounds" 100000 faults="$faults" pages=100000 regions=100000 \
	order=hop
shape '1,000 processes of 1,000 pages in 20 regions' "$rounds" 1000000 faults="$faults" pages=1000 procs=1000 \
	regions=20
shape '500 threads on 8 processors' "$rounds" 100000 faults="$faults" pages=100000 threads=500 cpus=8
shape '2 threads on 2 processors, fault by fault' "$rounds" 100000 faults="$faults" pages=100000 threads=2 cpus=2 \
	burst=1
shape '1,000,000 pages' "$rounds" 1000000 faults="$faults" pages=1000000
shape "$((long / 1000000)) million faults over 1,000,000 pages" 1 1000000 faults="$long" pages=1000000
