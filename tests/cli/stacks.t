#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks of faults in recordings: the chain of each fault, the same from all forms of the events, whatever is filtered.

. "${0%/*}/../tap.sh"

recording=$DATA/dat/stacks.dat # of a program whose chains are known, which stacks.txt has

# chains: "ADDRESS FUNCTION ..." of the faults among the event lines at addresses that the program printed.
chains()
{
	perl -e '
		my (%function, %want, %frames);
		open my $known, "<", $ARGV[0] or die;
		while (<$known>) {
			/^([0-9a-f]{16}) ([0-9a-f]{16}) (\w+)$/ ? ($function{$3} = [hex $1, hex($1) + hex $2]) : ($want{(split)[0]} = 1);
		}
		while (<STDIN>) {
			my %f = /(\w+)=("[^"]*"|\S+)/g;
			s/"//g for values %f;
			$frames{$f{stack}} = $f{frames} if / frames /;
			next unless / fault / && $want{$f{addr}};
			my ($nr, @chain) = 0;
			for my $frame (split /;/, $frames{$f{stack}}) {
				my $addr = $frame =~ /^0x/ ? hex($frame) - !!$nr : 0;
				$nr++;
				push @chain, $frame if $frame eq "...";
				push @chain, grep { $addr >= $function{$_}[0] && $addr < $function{$_}[1] } keys %function;
				last if @chain && $chain[-1] eq "main";
			}
			print "$f{addr} @chain\n";
		}' "$DATA/dat/stacks.txt"
}

awk 'NF != 3 || $1 !~ /^0/ { if (NF > 9) { NF = 9; $0 = $0 " ..." } print }' "$DATA/dat/stacks.txt" >"$T/want"
pfscope events "$recording"
is "$status|$err" '0|' 'a recording with stacks is read'
mv "$T/out" "$T/lines"
chains <"$T/lines" >"$T/got"
same "$T/got" "$T/want" 'each fault has the chain that the program made'
is "$(grep -c ' fault ' "$T/lines") $(grep ' fault ' "$T/lines" | grep -vc ' stack=')" "$(grep -c ' fault ' "$T/lines") 0" 'all faults have stacks'
is "$(grep ' fault ' "$T/lines" | grep -c '__get_user')" 0 'none is of the walk over a stack'
pfscope events "$T/lines"
same "$T/out" "$T/lines" 'the same from event lines'
pfscope report --check "$recording"
is "$status $(tail -n 1 <<<"$out")" '0 every fault is accounted for' 'as many faults as the kernel counted'
pfscope events --json "$recording"
is "$(grep -c '"kind":"frames"' <<<"$out")" "$(grep -c ' frames ' "$T/lines")" 'JSON has them'
pfscope events --region '[[]anon*' "$recording"
is "$(grep ' fault ' <<<"$out" | grep -oE ' stack=[0-9]+' | sort -u | while read -r stack; do
	grep -q " frames .* $stack " <<<"$out" || echo "$stack"
done)" '' 'with a filter each stack of a fault is defined'

done_testing
