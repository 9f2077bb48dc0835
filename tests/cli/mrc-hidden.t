#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# pfscope mrc against naive simulators that are fed with all addresses of real programs, as valgrind's lackey traces them: of
# the whole string its ratios are equal; of what --microset 8 records of it (misses of a FIFO of 8) OPT bounds those of the
# whole string on both sides: OPT(M) recorded <= OPT(M) <= OPT(M - 8) recorded.

. "${0%/*}/../tap.sh"
need_programs valgrind "$WORK/kernels"
cd "$T" || exit
sizes='9 12 16 24 32 48 64'
below='1 4 8 16 24 40 56'	# less 8 pages

# The pages of a trace of lackey, numbered as they come; what repeats the page before is one reference.
pages()
{
	awk '/^ [LSM] / {
		page = substr($2, 1, index($2, ",") - 4)
		if (!(page in number))
			number[page] = nr++
		if (page != last)
			print number[page]
		last = page
	}'
}

# fifo N: the misses of a FIFO
fifo()
{
	awk -v max="$1" '!($1 in inside) {
		print $1
		inside[$1]
		queue[tail++] = $1
		if (tail - head > max)
			delete inside[queue[head++]]
	}'
}

# as_events: event lines, 10 us apart
as_events()
{
	printf '# pfscope events 1\n0.000000001 note key="start" value="mono"\n'
	printf '0.000000002 map pid=7 tid=7 start=10000000 end=20000000 perms=rw-p name=""\n'
	awk '{ printf "%d.%09d fault pid=7 tid=7 addr=%x access=write mode=user\n", NR / 100000, NR % 100000 * 10000,
		268435456 + 4096 * $1 }'
}

# misses POLICY SIZE...: those of pages on standard input, naively: who is evicted was used longest ago, or is used last
misses()
{
	awk -v policy="$1" -v sizes="${*:2}" '
		function evict(	p, worst) {
			for (p in time)
				if (worst == "" || (policy == "lru" ? time[p] < time[worst] : time[p] > time[worst]))
					worst = p
			delete time[worst]
		}
		{ string[NR] = $1 }
		END {
			for (i = NR; i > 0; i--) {
				next_use[i] = string[i] in seen ? seen[string[i]] : NR + string[i] + 1
				seen[string[i]] = i
			}
			nr_sizes = split(sizes, size, " ")
			for (s = 1; s <= nr_sizes; s++) {
				split("", time)
				here = missed = 0
				for (i = 1; i <= NR; i++) {
					if (!(string[i] in time)) {
						missed++
						if (++here > size[s]) {
							evict()
							here--
						}
					}
					time[string[i]] = policy == "lru" ? i : next_use[i]
				}
				printf "%s%d:%d", (s > 1 ? " " : ""), size[s], missed
			}
		}'
}

# by_mrc POLICY SIZE...: the same of $T/out
by_mrc()
{
	awk -F, -v policy="$1" -v sizes="${*:2}" '
		$1 == "misses" && $5 == policy && !$3 { missed[$6] = $8 }
		END {
			nr = split(sizes, size, " ")
			for (s = 1; s <= nr; s++)
				printf "%s%d:%d", (s > 1 ? " " : ""), size[s], missed[size[s]]
		}' "$T/out"
}

for kind in ijk ikj sort hash; do
	valgrind --tool=lackey --trace-mem=yes --log-file=trace "$WORK/kernels" $kind
	pages <trace >all
	fifo 8 <all >recorded
	diag "$kind: $(grep -c . all) references, $(grep -c . recorded) recorded, $(sort -u all | grep -c .) pages"
	as_events <all >all.events
	pfscope mrc --csv --policy lru,opt --sizes "${sizes// /,}" all.events
	for policy in lru opt; do
		# shellcheck disable=SC2086 # words are meant
		is "$(by_mrc $policy $sizes)" "$(misses $policy $sizes <all)" "$kind: $policy of all references"
	done
	# shellcheck disable=SC2086
	whole=$(by_mrc opt $sizes)
	as_events <recorded >recorded.events
	pfscope mrc --csv --policy opt --sizes "$(tr ' ' '\n' <<<"$sizes $below" | sort -nu | paste -sd,)" recorded.events
	# shellcheck disable=SC2086
	bounds=$(by_mrc opt $sizes)/$(by_mrc opt $below)
	is "$(awk -v whole="$whole" -v bounds="$bounds" 'BEGIN {
		split(bounds, side, "/")
		nr = split(whole, all, " ")
		split(side[1], low, " ")
		split(side[2], high, " ")
		for (i = 1; i <= nr; i++) {
			split(all[i], a, ":")
			split(low[i], l, ":")
			split(high[i], h, ":")
			good += l[2] <= a[2] && a[2] <= h[2] && h[2] > 0
		}
		print good, nr }')" '7 7' "$kind: OPT of what a set of 8 records bounds that of all references" ||
		diag "$bounds of $whole"
done
done_testing
