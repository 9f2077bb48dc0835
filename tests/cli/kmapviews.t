#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kmap --plot and --bars: each number of a picture and each cell of a bar against naive programs over `kmap --csv`, and
# against the tables of `kmap --stats`.

. "${0%/*}/../tap.sh"
need_programs xmllint
# fontconfig keeps a cache until the end.
echo leak:libfontconfig >"$T/not-ours"
export LSAN_OPTIONS=${LSAN_OPTIONS:+$LSAN_OPTIONS:}suppressions=$T/not-ours:print_suppressions=0

# make_events SEED: objects of some sizes, each of its cache, by two call sites each; some frees are lost, and slabs are given
# back and become those of another cache, or of the same one with its pages in other places of it.
make_events()
{
	perl -e '
		srand(shift);
		my ($t, $n, %alive, @free) = (1_000_000_000, 0);
		my @size = (16, 64, 136, 192, 1000, 2048, 8192);
		my @page = map { 0xffff888000000000 + $_ * 32768 } 0 .. 40;
		my @shift = (0) x @page;
		my @owner = map { int(rand @size) } @page;
		print "# pfscope-events 2\n";
		printf "1.000000000 comm pid=7 tid=7 comm=\"sh\"\n";
		for my $i (1 .. 4000) {
			$t += 1 + int(rand 100) ** 3;
			my $time = sprintf "%d.%09d", $t / 1e9, $t % 1e9;
			if (rand() < 0.45 && %alive) {
				my $at = (sort keys %alive)[int rand keys %alive];
				my $size = delete $alive{$at};
				next if rand() < 0.1;
				printf "%s free pid=7 tid=7 site=ffffffff82000000 ptr=%x cache=\"c%d\"\n", $time, $at, $size;
				next;
			}
			my $slab = int rand @page;
			if (rand() < 0.02) {	# the slab is given back, and has objects of another size then
				delete @alive{grep { $_ >= $page[$slab] && $_ < $page[$slab] + 32768 } keys %alive};
				$owner[$slab] = int(rand @size) if rand() < 0.5;
				$shift[$slab] = 4096 * int(rand 3);
			}
			my $size = $size[$owner[$slab]];
			my $at = $page[$slab] + $shift[$slab] + $size * int(rand(16384 / $size > 60 ? 60 : int(16384 / $size)));
			next if $alive{$at};
			$alive{$at} = $size;
			printf "%s alloc pid=7 tid=7 site=ffffffff8100%04x func=\"make_%d_%d+0x1\" ptr=%x size=%d allocated=%d\n",
				$time, $size * 2 + $i % 2, $size, $i % 2, $at, $size - $i % 3, $size;
		}' "$1"
}

# All objects as "ALLOCATED_AT ENDED_AT ADDRESS FUNCTION BYTES CACHE FATE", in order of time: an object that was freed unseen
# has ended when its address was allocated again. No module for CSV is needed: no name here has a comma.
objects()
{
	"$PFSCOPE" kmap --csv "$1" | perl -F, -lane '
		next if $. == 1;
		s/"//g, s/ /_/g for @F;
		push @o, { from => $F[7], to => $F[8], at => $F[3], func => $F[1], bytes => $F[5], cache => $F[6], fate => $F[12] };
		END {
			@o = sort { $a->{from} <=> $b->{from} } @o;
			for my $o (reverse @o) {
				$o->{to} = $next{$o->{at}} if $o->{fate} eq "unseen";
				$o->{to} = "inf" if $o->{fate} eq "alive";
				$next{$o->{at}} = $o->{from};
			}
			print join " ", @$_{qw(from to at func bytes cache fate)} for @o;
		}'
}

# plot_errors EVENTS SVG: what of the picture is not so. Each column is one moment: the one of its time at which most bytes
# were alive.
plot_errors()
{
	objects "$1" >"$T/objects"
	sed -n 's/.*<metadata id="pfscope">\(.*\)<\/metadata>.*/\1/p' "$2" >"$T/json"
	perl -MJSON::PP -e '
		open my $f, "<", $ARGV[0]; my @o = map { [split] } <$f>;
		open my $j, "<", $ARGV[1]; my $p = decode_json(join "", <$j>);
		sub ns { $_[0] eq "inf" ? 9**9**9 : $_[0] =~ /(\d+)\.(\d{9})/ ? $1 * 1e9 + $2 : die }
		$_->[0] = ns($_->[0]), $_->[1] = ns($_->[1]) for @o;
		sub live { my ($t) = @_; my %b; $_->[0] <= $t && $_->[1] > $t and $b{$_->[3]} += $_->[4] for @o; \%b }
		sub sum { my $s = 0; $s += $_ for @_; $s }
		my @moments = sort { $a <=> $b } map { $_->[0] } @o;
		my ($peak, $at, %total) = (0, 0);
		for (@moments) {
			$total{$_} = sum(values %{live($_)});
			($peak, $at) = ($total{$_}, $_) if $total{$_} > $peak;
		}
		print "peak $p->{peak_bytes} at $p->{peak_ns}, naive $peak at $at\n" if $p->{peak_bytes} != $peak || $p->{peak_ns} != $at;
		my $end = live(9e17);
		print "alive $p->{alive_bytes}\n" if $p->{alive_bytes} != sum(values %$end);
		my @named = grep { $_->[0] !~ / other/ } @{$p->{areas}};
		print "$_->[0] at the end: $_->[1]\n" for grep { $_->[1] != ($end->{$_->[0]} // 0) } @named;
		my $nr = 0;
		for my $c (@{$p->{columns}}) {
			my ($t, $bytes, @areas) = @$c;
			my $live = live($t);
			my ($from, $to) = ($nr * $p->{column_ns}, ($nr + 1) * $p->{column_ns});
			$nr++;
			print "column $nr: moment $t is not in it\n" if $t < $from - 1 || $t >= $to;
			print "column $nr: $bytes bytes\n" if $bytes != sum(values %$live) || $bytes != sum(@areas);
			print "column $nr: $named[$_][0]\n" for grep { $areas[$_] != ($live->{$named[$_][0]} // 0) } 0 .. $#named;
			print "column $nr: more at $_\n" for grep { $_ >= $from && $_ < $to && $total{$_} > $bytes } @moments;
		}
		print "no columns\n" if $nr < 300 && @moments > 1000;
	' "$T/objects" "$T/json"
}

# cells EVENTS: "ADDRESS_OF_PAGE CELLS" of each page, by a program that looks at each page alone; last "unseen NUMBER", of the
# objects in them that were freed without an event.
cells()
{
	objects "$1" | perl -lane '
		my $at = hex $F[2];
		push @{$page{$at >> 12}}, { off => $at % 4096, size => $F[4], fate => $F[6] };
		END {
			for my $nr (sort { $a <=> $b } keys %page) {
				my @all = @{$page{$nr}};
				my ($size, $phase) = ($all[-1]{size}, $all[-1]{off} % $all[-1]{size});
				my @era;	# since objects of another size were here
				for (@all) { $_->{size} == $size && $_->{off} % $size == $phase ? push @era, $_ : (@era = ()) }
				my $cells = "";
				for (my $off = $phase; $off < 4096; $off += $size) {
					my @here = grep { $_->{off} == $off } @era;
					last if !@here && $off > $phase && $off + $size > 4096;
					my $alive = @here && $here[-1]{fate} eq "alive";
					$cells .= !@here ? "." : $alive ? @here > 1 ? "@" : "#" : @here > 1 ? "=" : "-";
				}
				printf "%016x %s\n", $nr * 4096, $cells;
				$unseen += $_->{fate} eq "unseen" for @era;
			}
			print "unseen $unseen";
		}'
}

for seed in 1 2 3; do
	make_events $seed >"$T/random"
	pfscope kmap --plot="$T/$seed.svg" "$T/random"
	is "$status|$err" '0|' "plot $seed: drawn"
	is "$(plot_errors "$T/random" "$T/$seed.svg" | head -n 5)" '' '... its peak, its end and each column as a naive program has them'
	stats=$("$PFSCOPE" kmap --stats --csv "$T/random" | awk -F, '$1 == "all" && $2 == "all" { print $11, $10 }')
	is "$(perl -MJSON::PP -e '$p = decode_json(join "", <STDIN>); print "$p->{peak_bytes} $p->{alive_bytes}"' <"$T/json")" "$stats" \
		'... and as --stats has them'
	like "$(<"$T/$seed.svg")" "<title>random: live kernel objects, peak $(sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta' <<<"${stats% *}") bytes after " \
		'... its title has the peak in bytes'
	cells "$T/random" >"$T/wanted"
	COLUMNS=2000 pfscope kmap --bars --all "$T/random"
	is "$status|$err" '0|' "bars $seed: drawn"
	sed -nE 's/^ *[0-9]+\/[0-9]+ +([0-9a-f]{16}) \|(.*)\|$/\1 \2/p' "$T/out" | sort >"$T/got"
	sed -nE 's/^  ([0-9]+) freed without an event: .*/unseen \1/p' "$T/out" >>"$T/got"
	same "$T/got" "$T/wanted" '... each cell as a naive program has it'
	is "$(sed -nE '1s/.*: ([0-9]+) pages hold living objects, ([0-9]+) of them a single one/\1 \2/p' "$T/out")" \
		"$(awk '$1 != "unseen" { alive = gsub(/[#@]/, "&", $2); kept += alive > 0; single += alive == 1 && length($2) > 1 } END { print kept, single }' "$T/wanted")" \
		'... and so the headline'
	pfscope kmap --bars "$T/random"
	is "$(($(wc -l <"$T/out") <= 23)) $(awk 'length > 80' "$T/out")" '1 ' '... and without --all a screen of 80 columns'
done

# ---- plots ----

for format in png:PNG pdf:%PDF svg:xml; do
	pfscope kmap --plot="$T/p.${format%:*}" --theme dark "$T/random"
	is "$status|$(head -c 8 "$T/p.${format%:*}" | tr -d '\0' | grep -ao "${format#*:}")" "0|${format#*:}" "a ${format%:*}"
done
ok 'the SVG is well-formed' xmllint --noout "$T/1.svg"
like "$(sed -n '/<desc>/,/<\/desc>/p' "$T/3.svg")" 'freed without an event: counted as alive' 'what is not known is said'
pfscope kmap --plot="$T/one.svg" --cache '? 136' --size 136 "$T/random"
is "$status" 0 'with filters'
pfscope kmap --plot="$T/none.svg" --size 7 "$T/random"
is "$status|$err" '1|pfscope: no kernel objects to plot' 'without objects: one line'
ok '... and no file' test ! -e "$T/none.svg"
pfscope kmap --plot="$T/no/p.svg" "$T/random"
like "$status|$err" '^1\|pfscope: .*no/p.svg: cannot write: No such file' 'a file that cannot be written'
for options in --plot=x.gif '--plot=x.svg --stats' '--plot=x.svg --json' --theme=dark '--theme=red --plot=x.svg' '--bars --stats' '--bars --csv' '--bars --kmap-compat' --all; do
	# shellcheck disable=SC2086 # words are meant
	pfscope kmap $options "$T/random"
	is "$status" 2 "$options: refused"
done

# ---- bars ----

cat >"$T/hand" <<'EVENTS'
# pfscope-events 2
1.000000000 alloc pid=7 tid=7 site=ffffffff81000001 func="a+0x1" ptr=ffff888000001000 size=1000 allocated=1024
1.000000001 alloc pid=7 tid=7 site=ffffffff81000001 func="a+0x1" ptr=ffff888000001400 size=1000 allocated=1024
1.000000002 alloc pid=7 tid=7 site=ffffffff81000001 func="a+0x1" ptr=ffff888000001800 size=1000 allocated=1024
1.000000003 free pid=7 tid=7 ptr=ffff888000001400 cache="own"
1.000000004 free pid=7 tid=7 ptr=ffff888000001800 cache="own"
1.000000005 alloc pid=7 tid=7 site=ffffffff81000001 func="a+0x1" ptr=ffff888000001800 size=1000 allocated=1024
1.000000006 free pid=7 tid=7 ptr=ffff888000001800 cache="own"
1.000000007 alloc pid=7 tid=7 site=ffffffff81000001 func="a+0x1" ptr=ffff888000002000 size=1000 allocated=1024
1.000000008 lost cpu=0 count=3
1.000000009 alloc pid=7 tid=7 site=ffffffff81000001 func="a+0x1" ptr=ffff888000003000 size=1000 allocated=1024
1.000000010 free pid=7 tid=7 ptr=ffff888000003000 cache="own"
1.000000011 alloc pid=7 tid=7 site=ffffffff81000001 func="a+0x1" ptr=ffff888000003000 size=1000 allocated=1024
EVENTS
pfscope kmap --bars "$T/hand"
is "$out" "hand: 3 pages hold living objects, 3 of them a single one
  3 of 12 places in them are taken: 3K of 12K (25 %)
  3 EVENTS LOST

  pages  single   alive  places  bytes  used  cache
      2       2       2       8     8K  25 %  own
      1       1       1       4     4K  25 %  ? 1024

own, a place every 1024 bytes: 2 pages, 2 with one living object
alive/of page             objects by address
   1/4   ffff888000001000 |?-=.|
   1/4   ffff888000003000 |@...|

? 1024, a place every 1024 bytes: 1 page, 1 with one living object
alive/of page             objects by address
   1/4   ffff888000002000 |?...|

@ alive, again  ? alive, if its free was not lost  - freed  = freed, again
. never seen: free, or from before, or of others" 'each kind of cell'
{
	echo '# pfscope-events 2'
	echo '1.000000000 note key="command" value="a command of many words"'
	perl -e 'printf "1.%09d alloc pid=7 tid=7 site=ffffffff81000001 ptr=%x size=1000 allocated=1024 cache=\"a_cache_of_a_quite_long_name\"\n",
		$_, 0xffff888000000000 + $_ * 4096 for 1 .. 12000'
} >"$T/many"
pfscope kmap --bars "$T/many"
is "$(awk 'length > 80' "$T/out")|$(sed -n '1p; /every/p' "$T/out")" "|a command of man..: 12,000 pages hold living objects, 12000 of them a single one
a_cache_.., a place every 1024 bytes: 12,000 pages, 12000 with one living object" 'many pages: in 80 columns'
pfscope kmap --bars --cache own "$T/hand"
like "$out" $'hand: 2 pages hold living objects, 2 of them a single one\n.*\n  1 page more of objects of that size, of no cache by name: --cache=.\\? 1024.\n' \
	'--cache: chooses pages, and leads to those that may be of it, too'
pfscope kmap --bars --cache nothing "$T/hand"
like "$status|$out" '^0\|hand: 0 pages hold living objects, 0 of them a single one' 'no page'
pfscope kmap --bars "$DATA/text/kernel-kmem.trace"
is "$status|$err" '1|pfscope: --bars: addresses are hashed in this text: their pages are not known' 'hashed addresses: refused'
done_testing
