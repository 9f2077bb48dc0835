#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# pfscope mrc against naive simulators that are fed with all addresses of real programs, as valgrind's lackey traces them: of
# the whole string its ratios are equal; what --microset 8 records of it (misses of a FIFO of 8) bounds those of the whole string
# on both sides: OPT(M) recorded <= OPT(M) <= OPT(M - 8) recorded, and LRU(M + 7) recorded <= LRU(M) <= LRU(M - 7) recorded.

. "${0%/*}/../tap.sh"
need_programs valgrind "$WORK/kernels"
cd "$T" || exit
sizes='9 12 16 24 32 48 64'
below='1 4 8 16 24 40 56'	# less 8 pages
far='15 16 24 32 48 64'		# from 2 * 8 - 1 on
fewer='8 9 17 25 41 57'		# less 7 pages
more='22 23 31 39 55 71'

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

# bounded NAME LOW ALL HIGH: in each place of the lists of SIZE:MISSES
bounded()
{
	is "$(paste <(tr ' ' '\n' <<<"$2") <(tr ' ' '\n' <<<"$3") <(tr ' ' '\n' <<<"$4") | awk -F '[:\t]' '
		{ good += NF == 6 && $2 <= $4 && $4 <= $6 && $6 > 0 }
		END { print good, NR }')" "$(wc -w <<<"$3") $(wc -w <<<"$3")" "$1" || diag "$2 / $3 / $4"
}

# Two strings that make the same recording: no curve of all accesses can be exact.
one='1 2 3 4 1 5 1'
other='1 2 3 4 2 5 1'
is "$(tr ' ' '\n' <<<"$one" | fifo 4)" "$(tr ' ' '\n' <<<"$other" | fifo 4)" 'two strings, one recording'
is "$(tr ' ' '\n' <<<"$one" | misses lru 4) $(tr ' ' '\n' <<<"$other" | misses lru 4)" '4:5 4:6' '... and two curves'
{ as_events <<<"$(tr ' ' '\n' <<<"$one" | fifo 4)" | sed '2a 0.000000001 note key="microset" value="pages=4 by=thread regions=anon"'; } >one.events
pfscope mrc one.events
like "$(tr -s ' \n' ' ' <<<"$out")" 'the last 4 pages of each thread, .* M pages, from 7 on, .* M - 3, .* M \+ 3\)' 'the output says how far they are apart'

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
	bounded "$kind: OPT of what a set of 8 records bounds that of all references" "${bounds%/*}" "$whole" "${bounds#*/}"
	pfscope mrc --csv --sizes "${far// /,}" all.events
	# shellcheck disable=SC2086
	whole=$(by_mrc lru $far)
	pfscope mrc --csv --sizes "$(tr ' ' '\n' <<<"$fewer $more" | sort -nu | paste -sd,)" recorded.events
	# shellcheck disable=SC2086
	bounded "$kind: LRU with 7 pages more and fewer bounds it, too" "$(by_mrc lru $more)" "$whole" "$(by_mrc lru $fewer)"
done
done_testing
