#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# kmap record --all, compared with the kernel's own counts: the objects of each cache that it has more after hundreds of
# pipes, sockets, files, epoll instances, event descriptors and names were made, before they are gone.
#
# The counts are those of /sys/kernel/slab/CACHE/objects right after `shrink`. /proc/slabinfo has the same number as long
# as no CPU has a slab of its own of that cache, all of whose objects it counts as used. Each is read several times,
# between two looks at the clock of the events: only one during which the cache had no events counts.

. "${0%/*}/live.sh"
need_programs "$WORK/objects_known"
[ -d $TRACING/events/kmem/kfree ] || skip_all "the kernel has no kmem events"
[ -w /sys/kernel/slab/filp/shrink ] || skip_all "the kernel has no /sys/kernel/slab"
grep -q 'char \* *name\|__data_loc char\[\] name' $TRACING/events/kmem/kmem_cache_alloc/format ||
	skip_all "the events of this kernel do not name the cache"

kinds=(pipe=300 socket=310 eventfd=320 epoll=330 file=340 watch=350 dentry=360)
caches=(filp dentry inode_cache sock_inode_cache)

cat >"$T/looks" <<'END'
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

for my $round (1 .. 40) {
	for my $cache (@ARGV) {
		open my $shrink, '>', "/sys/kernel/slab/$cache/shrink" or die "$cache: $!";
		open my $objects, '<', "/sys/kernel/slab/$cache/objects" or die "$cache: $!";
		my $before = clock_gettime(CLOCK_MONOTONIC);
		syswrite $shrink, 1;
		sysread $objects, my $text, 100;
		my $after = clock_gettime(CLOCK_MONOTONIC);
		printf "%s %.9f %.9f %d\n", $cache, $before, $after, $text =~ /^(\d+)/;
	}
}
END
cat >"$T/session" <<'END'
cd "$1" || exit
objects=$2
shift 2
perl looks $CACHES >before
[ ! -r /proc/allocinfo ] || cat /proc/allocinfo >allocinfo.before
"$objects" "$@" <fifo >said &
exec 3>fifo
until grep -q made said || ! kill -0 $!; do
	sleep 0.05
done
perl looks $CACHES >after
[ ! -r /proc/allocinfo ] || cat /proc/allocinfo >allocinfo.after
echo >&3
wait $!
END

# The kernel's difference of each cache, and that of the events between the same two looks: "CACHE KERNEL EVENTS".
cat >"$T/compare" <<'END'
use strict;
use warnings;

my %events;
while (<STDIN>) {
	push @{$events{$3}}, [$1, $2 eq 'alloc' ? 1 : -1] if /^(\S+) (alloc|free) .*cache="([^"]*)"/;
}

sub count
{
	my ($cache, $from, $to) = @_;
	my @in = grep { $_->[0] >= $from && $_->[0] <= $to } @{$events{$cache} // []};
	my $net = 0;

	$net += $_->[1] for @in;
	return ($net, scalar @in);
}

my @looks;
for my $file (@ARGV) {
	my %quiet;

	open my $lines, '<', $file or die "$file: $!";
	while (<$lines>) {
		my ($cache, $before, $after, $number) = split;
		$quiet{$cache} //= [$before, $after, $number] unless (count($cache, $before, $after))[1];
	}
	push @looks, \%quiet;
}
for my $cache (sort keys %{$looks[0]}) {
	my ($first, $last) = map { $_->{$cache} } @looks;

	next unless $last;
	my ($net) = count($cache, $first->[1], $last->[0]);
	printf "%s %d %d\n", $cache, $last->[2] - $first->[2], $net;
}
END

# Caches that the kernel has merged with others are links there, and events of all of them have one name.
own=()
for cache in "${caches[@]}"; do
	if [ -L "/sys/kernel/slab/$cache" ] || [ "$(cat "/sys/kernel/slab/$cache/aliases")" != 0 ]; then
		diag "$cache: the kernel has merged it with another cache"
	elif [ -d "/sys/kernel/slab/$cache" ]; then
		own+=("$cache")
	fi
done
mkfifo "$T/fifo"
# A session counts in which nobody else made objects without an event: something on a machine may make names in /proc of
# all open files, which neither ftrace nor perf sees. A count that is wrong is wrong each time.
for ((try = 0; try < 5; try++)); do
	CACHES="${own[*]}" "$PFSCOPE" kmap record --all -o "$T/all.dat" -- \
		bash "$T/session" "$T" "$WORK/objects_known" "${kinds[@]}" 2>"$T/log"
	status=$?
	"$PFSCOPE" events "$T/all.dat" 2>/dev/null >"$T/events"
	perl "$T/compare" "$T/before" "$T/after" <"$T/events" >"$T/net"
	[ "$(wc -l <"$T/net")" = ${#own[@]} ] && awk '$2 != $3 { differs = 1 } END { exit differs }' "$T/net" && break
done
is "$status|$(<"$T/log")" '0|' 'recorded'
is "$(lost_in "$T/events")" 0 'nothing is lost'
for cache in "${own[@]}"; do
	read -r kernel events < <(sed -n "s/^$cache //p" "$T/net") ||
		{ diag "$cache: the cache was never quiet"; continue; }
	is "$events" "$kernel" "$cache: allocations less frees are what the kernel has more ($kernel)"
done
ok 'hundreds of them' awk '/^filp|^sock_/ && $2 < 300 { few = 1 } END { exit few || NR == 0 }' "$T/net"

# ---- what is known of the workload ----

# made REGEX: objects by such call sites of the workload, and how many of them were freed.
made()
{
	"$PFSCOPE" kmap --csv --comm=objects_known "$T/all.dat" | awk -F, -v regex="$1" '$2 ~ regex {
		n++; freed += $13 == "freed" } END { print n + 0, freed + 0 }'
}
is "$(made '"alloc_pipe_info')" '600 600' '300 pipes: two objects each, all freed'
# RCU frees those some time later.
like "$(made '"sock_alloc_inode')" '^310 ' '310 sockets'
like "$(made '"(do_epoll_create|ep_alloc)')" '^331 ' '331 epoll instances'
like "$(made '"(do_eventfd|__do_sys_eventfd|eventfd)')" '^321 ' '321 event descriptors'
like "$(made '"(ep_insert|do_epoll_ctl|ep_attach)')" '^351 ' '350 watches, and the list of those of the event descriptor'

# ---- merged caches ----

sed -n 's/.* note key="merged" value="\(.*\)"$/\1/p' "$T/events" | sort >"$T/ours"
for link in /sys/kernel/slab/*; do
	[ ! -L "$link" ] || echo "$(readlink "$link") ${link##*/}"
done | sort | awk '{ names[$1] = names[$1] (names[$1] ? " " : "") $2; n[$1]++ }
	END { for (cache in names) if (n[cache] > 1) print names[cache] }' | sort >"$T/theirs"
same "$T/ours" "$T/theirs" 'which names of caches mean one cache'

# ---- /proc/allocinfo ----

# "  BYTES CALLS file.c:1 [module] func:NAME": how many more objects of that function live.
more_of()
{
	awk -v func="func:$1" '$NF == func || $(NF - 1) == func { n += (FILENAME ~ /after/ ? $2 : -$2) } END { print n + 0 }' \
		"$T/allocinfo.before" "$T/allocinfo.after"
}
if [ -s "$T/allocinfo.after" ]; then
	is "$(more_of alloc_pipe_info)" 600 '/proc/allocinfo: objects of pipes'
	is "$(more_of sock_alloc_inode)" 310 '/proc/allocinfo: sockets'
else
	diag 'the kernel has no /proc/allocinfo'
fi
done_testing
