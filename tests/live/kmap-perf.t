#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kmap record, and at the same time perf, whose own reading is the witness: event by event of everybody, and
# call site by call site what `perf kmem` counts in the same time.

. "${0%/*}/live.sh"
need_programs perf "$WORK/objects_known"
[ -d $TRACING/events/kmem/kfree ] || skip_all "the kernel has no kmem events"

events=
for event in kmalloc kmalloc_node kmem_cache_alloc kmem_cache_alloc_node kfree kmem_cache_free; do
	[ ! -d "$TRACING/events/kmem/$event" ] || events+=,kmem:$event
done
perf record -q -a -R -c 1 -m 16M -k CLOCK_MONOTONIC -e "${events#,}" -o "$T/perf.data" -- true >"$T/out" 2>&1 ||
	skip_all "perf cannot record: $(tail -n 1 "$T/out")"
perf record -q -a -R -c 1 -m 16M -k CLOCK_MONOTONIC -e "${events#,}" -o "$T/perf.data" -- \
	"$PFSCOPE" kmap record --all -o "$T/rec.dat" -- "$WORK/objects_known" again pipe=300 socket=200 epoll=100 dentry=50 \
	>"$T/out" 2>"$T/log"
is "$?|$(<"$T/log")" '0|' 'recorded by both'
"$PFSCOPE" events "$T/rec.dat" 2>/dev/null >"$T/events"
is "$(lost_in "$T/events") $(perf script -i "$T/perf.data" --show-lost-events 2>/dev/null | grep -c PERF_RECORD_LOST)" '0 0' \
	'neither has lost events'

# ---- event by event ----

# "TIME TID alloc|free PTR [SIZE]". Not of the idle threads (tid 0), in whose interrupts objects are freed, too: perf leaves those
# out.
perl -ne 'print "$1 $3 $2 $4 ", $5 // "", "\n"
	if /^(\S+) (alloc|free) .*\btid=([1-9]\d*) .*ptr=(\w+)(?: size=(\d+))?/' "$T/events" >"$T/our_events"
perf script -i "$T/perf.data" --ns -F tid,time,event,trace 2>/dev/null | perl -ne '
	next unless /^\s*([1-9]\d*)\s+(\S+):\s+kmem:(\w+):.* ptr=(?:0x)?(\w+)(?:.* bytes_req=(\d+))?/;
	my ($tid, $time, $name, $ptr, $size) = ($1, $2, $3, $4, $5 // "");
	print "$time $tid ", $name =~ /alloc/ ? "alloc" : "free", " $ptr $size\n" unless $ptr =~ /^(0*|nil)$/' >"$T/their_events"

# Each of the two reads the clock for itself, and what is compared is of one time: it begins and ends in the middle of a long pause
# near either end that both have between the same two events. The longest one may be of a processor that was taken away
# between the two that record an event.
read -r from to < <(perl -e '
	sub events { open my $f, "<", shift or die; [ sort { $a->[0] <=> $b->[0] } map { [ split / /, $_, 2 ] } <$f> ] }
	my ($ours, $theirs) = map { events($_) } @ARGV;
	my $third = int(@$ours / 3);
	for my $part ([ 1 .. $third ], [ @$ours - $third .. $#$ours ]) {
		for my $i (sort { $ours->[$b][0] - $ours->[$b - 1][0] <=> $ours->[$a][0] - $ours->[$a - 1][0] } @$part) {
			my $middle = ($ours->[$i - 1][0] + $ours->[$i][0]) / 2;
			my @before = grep { $_->[0] <= $middle } @$theirs;
			next unless @before && @before < @$theirs && $before[-1][1] eq $ours->[$i - 1][1] &&
				$theirs->[@before][1] eq $ours->[$i][1];
			printf "%.9f ", $middle;
			last;
		}
	}
	print "\n"' "$T/our_events" "$T/their_events")
for who in our their; do # sorted: an interrupt may come between the two that record one event
	awk -v from="$from" -v to="$to" '$1 >= from && $1 <= to { sub(/^[^ ]* /, ""); print }' "$T/${who}_events" | sort >"$T/${who}s"
done
ok 'thousands of them' test "$(wc -l <"$T/ours")" -gt 2000
same "$T/ours" "$T/theirs" 'each allocation and free of everybody is one of perf script'

# ---- what perf kmem counts ----

# "SITE BYTES-ALLOCATED BYTES-REQUESTED HITS"
perl -ne 'next unless /^(\S+) alloc .*\btid=[1-9]\d* .*site=(\w+) .*size=(\d+) allocated=(\d+)/ && $1 >= '"$from"' && $1 <= '"$to"';
	$used{$2} += $4; $asked{$2} += $3; $n{$2}++;
	END { print "$_ $used{$_} $asked{$_} $n{$_}\n" for keys %n }' "$T/events" | sort >"$T/ours"
perf kmem -i "$T/perf.data" --time "$from,$to" --slab --caller --raw-ip -l 100000 stat 2>/dev/null | perl -ne '
	print "$1 $2 $3 $4\n" if m{^\s*0x([0-9a-f]+)\s*\|\s*(\d+)/\d+\s*\|\s*(\d+)/\d+\s*\|\s*(\d+)}' | sort >"$T/theirs"
if [ -s "$T/theirs" ]; then
	ok 'perf kmem has some call sites' test "$(wc -l <"$T/theirs")" -gt 10
	same "$T/ours" "$T/theirs" 'each call site has the bytes and the allocations that perf kmem counts'
else
	skip "perf kmem prints nothing: $(perf kmem -i "$T/perf.data" --slab stat 2>&1 | head -n 1)" 'perf kmem'
fi
done_testing
