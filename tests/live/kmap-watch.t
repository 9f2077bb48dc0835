#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# kmap record --watch: who reads and writes kernel objects. The witness is a program that notes when it uses a file: while a
# word of that file's object is watched, each instruction hits it once for each use, or a fixed number of times.

. "${0%/*}/live.sh"
need_programs "$WORK/seeks" "$WORK/watchpoints" perl
[ -d $TRACING/events/kmem/kfree ] || skip_all "the kernel has no kmem events"
hold 1 || { release; skip_all "no hardware watchpoints here: $(<"$T/held")"; }
release
if ! "$WORK/watchpoints" try; then
	"$PFSCOPE" kmap record --watch random -- true 2>"$T/log"
	is "$?|$(<"$T/log")" '1|pfscope: --watch: the hardware watchpoints of this machine report nothing' 'that is said'
	not_here 'hardware watchpoints that report something'
fi
file=$(grep -m 1 -o ' alloc_empty_file$' /proc/kallsyms) || skip_all 'the kernel has no alloc_empty_file()'
site=${file# }

# ---- each use of a file is seen ----

"$PFSCOPE" kmap record --watch "site=$site" --watch-every 30ms -o "$T/w.dat" -- "$WORK/seeks" 6 "$T/uses" 2>"$T/log"
is "$?|$(<"$T/log")" '0|' 'recorded'
"$PFSCOPE" events "$T/w.dat" >"$T/events" 2>/dev/null
# Lines "WORD FUNCTION ACCESS USES_INSIDE USES_AT_THE_BORDERS HITS", one for each word, instruction and time of watching.
perl -e '
	open my $uses, "<", shift or die;
	my @uses = map { [split] } <$uses>;
	my (%open, %hits, @windows);
	while (<>) {
		my ($s, $ns, $kind, $rest) = /^(\d+)\.(\d+) (\w+) (.*)/ or next;
		my $at = $s * 1e9 + $ns;
		my %f = $rest =~ /(\w+)="?([^" ]*)/g;
		my $word = "$f{ptr} $f{off}";
		if ($kind eq "watch" && !$f{last}) { $open{$word} = { word => $word, from => $at, hits => {} } }
		elsif ($kind eq "watch") { my $w = delete $open{$word} or die "no begin"; $w->{to} = $at; $w->{lost} = $f{count}; push @windows, $w }
		elsif ($kind eq "access" && $f{func} =~ /lseek|fdget_pos|vfs_setpos|llseek/) {
			die "no window" unless $open{$word};
			$open{$word}{hits}{"$f{func} $f{access}"}++ }
	}
	for my $w (@windows) {
		next if $w->{lost}; # it says so: the kernel does not always write the first samples of a CPU
		my $inside = grep { $_->[0] >= $w->{from} && $_->[1] <= $w->{to} } @uses;
		my $borders = grep { $_->[0] < $w->{from} && $_->[1] > $w->{from} || $_->[0] < $w->{to} && $_->[1] > $w->{to} } @uses;
		$w->{hits}{$_} and print "$w->{word} $_ $inside $borders $w->{hits}{$_}\n" for sort keys %{$w->{hits}};
	}' "$T/uses" "$T/events" >"$T/windows"
ok 'words of the file were watched while it was used' test "$(awk '$5 >= 10' "$T/windows" | wc -l)" -ge 4 || diag "$(<"$T/windows")"
# Per use an instruction hits k times: the same k in all of its windows, but for uses at their borders.
is "$(awk '$5 >= 10 { k = int($7 / $5 + 0.5)
	if (k < 1 || $7 < k * $5 || $7 > k * ($5 + $6)) print }' "$T/windows")" '' 'each use of it, by each instruction that uses the word'
is "$(awk '$5 >= 10 { k = int($7 / $5 + 0.5); id = $2 " " $3 " " $4; if (id in of && of[id] != k) print id; of[id] = k }' "$T/windows" | sort -u)" '' \
	'... equally often in all windows'
like "$(awk '$5 >= 10 { print $4 }' "$T/windows" | sort -u | tr '\n' ' ')" 'read' 'reads are seen as reads'

# ---- lines and tables ----

"$PFSCOPE" kmap "$T/w.dat" >"$T/kmap"
"$PFSCOPE" kmap --stats --csv "$T/w.dat" >"$T/stats"
is "$(grep -c '^  0x[0-9a-f]*,[0-9]*,[0-9]*,[0-9]*$' "$T/kmap")" "$(grep -c '^  ' "$T/kmap")" 'lines of accesses'
watched()
{
	awk -F, -v column="$1" '$1 == "table" { for (i in at) delete at[i]; for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == "watched" { print $at[column] }' "$T/stats"
}
is "$(($(watched seen) + $(watched strays)))" "$(grep -c ' access ' "$T/events")" 'each access is counted: of an object, or of none'
is "$(awk -F, '/^  / { n += $3 + $4 } END { print n + 0 }' "$T/kmap")" "$(watched seen)" '... those of objects are in their lines'
is "$("$PFSCOPE" kmap --json "$T/w.dat" | grep -oE '"(writes|reads)": *[0-9]+' | awk -F: '{ n += $NF } END { print n + 0 }')" "$(watched seen)" '... and in JSON'
is "$(watched words)" "$(grep -c ' watch .*count' "$T/events" | awk '{ print $1 / 2 }')" 'words'
ok "next to nothing is lost ($(watched lost))" test "$(watched lost)" -le 12
like "$("$PFSCOPE" kmap --stats "$T/w.dat")" "Accesses \\(site=$site\\): [0-9,]+ seen at [0-9,]+ words chosen at random.*of bytes x time was watched, in [0-9]+ of [0-9]+ objects" \
	'the tables say how much was watched'
like "$("$PFSCOPE" kmap --kmap-compat "$T/w.dat")" $'\n  [0-9a-f]{16},[0-9]+,[0-9]+,[0-9]+\n' 'as the Memorizer kernel prints them'
"$PFSCOPE" events "$T/w.dat" 2>/dev/null >"$T/lines"
is "$("$PFSCOPE" kmap --stats --csv "$T/lines" | md5sum)" "$("$PFSCOPE" kmap --stats --csv "$T/w.dat" | md5sum)" 'event lines have the same'
like "$(trace-cmd report "$T/w.dat" 2>/dev/null)" 'pfs_access: .*call_site=0x' 'trace-cmd prints them'

# ---- running processes, everybody, random objects ----

"$WORK/seeks" 30 "$T/uses2" &
runs=$!
"$PFSCOPE" kmap record --watch random --pid=$runs -d 1 -o "$T/pid.dat" 2>"$T/log"
is "$?|$(<"$T/log")" '0|' '--pid: recorded'
kill $runs
"$PFSCOPE" kmap record --watch random --all -o "$T/all.dat" -- "$WORK/objects" 500 500 500 2>"$T/log"
is "$?|$(<"$T/log")" '0|' '--all: recorded'
ok '--all: words are watched' test "$("$PFSCOPE" events "$T/all.dat" 2>/dev/null | grep -c ' watch ')" -gt 3

# ---- ends ----

"$PFSCOPE" kmap record --watch random -o "$T/killed.dat" -- "$WORK/seeks" 3 "$T/uses" 2>"$T/log" &
pid=$!
wait_for 20 has_entered $pid
sleep 0.5 # some words
points=$(pgrep -x pfscope-points | while read -r p; do [ "$(readlink "/proc/$p/exe")" = "$(readlink -f "$PFSCOPE")" ] && echo "$p"; done)
ok 'the helper runs' test -n "$points"
kill -9 $points
wait $pid
is $? 0 'the helper is killed: the recording goes on'
like "$(<"$T/log")" 'pfscope-points was killed; accesses from now on are not recorded' '... which is said'
is "$("$PFSCOPE" events "$T/killed.dat" 2>/dev/null | awk '/ watch / { n += /last=1/ ? -1 : 1 } END { print n }')" 0 '... and what was watched ends'
like "$("$PFSCOPE" kmap --stats "$T/killed.dat")" 'in [1-9][0-9.]* % of the time' '... and of how much of the time accesses are known'
is "$(pgrep -x pfscope-points | while read -r p; do readlink "/proc/$p/exe"; done | grep -cFx "$(readlink -f "$PFSCOPE")")" 0 'no helper is left'
"$PFSCOPE" kmap record --watch random -o "$T/gone.dat" -- "$WORK/seeks" 30 "$T/uses" 2>"$T/log" &
pid=$!
wait_for 20 has_entered $pid
command=$(pgrep -P $pid -x seeks)
kill -9 $pid
wait $pid
wait_for 20 eval '! pgrep -x pfscope-points >/dev/null'
is "$(pgrep -x pfscope-points)" '' 'kill -9 of pfscope: its helper ends'
no_instance_of $pid
is $? 0 '... and its instance'
kill $command 2>/dev/null
hold 4
is $? 0 '... and all watchpoints are free'

# Somebody takes them meanwhile: what is watched before and afterwards stays.
release
"$PFSCOPE" kmap record --watch random -o "$T/taken.dat" -- "$WORK/seeks" 4 "$T/uses" 2>"$T/log" &
pid=$!
wait_for 20 has_entered $pid
sleep 1
hold 2 10
is $? 0 'two watchpoints are taken in the moment when they are free'
sleep 1
release
wait $pid
is "$?|$(<"$T/log")" '0|' 'somebody else takes watchpoints: the recording goes on'
ok '... with fewer words' eval '"$PFSCOPE" kmap --stats --csv "$T/taken.dat" | awk -F, "\$1 == \"watched\" { ok = \$4 > 0.5 && \$4 < 3.6 } END { exit !ok }"' || diag "$("$PFSCOPE" kmap --stats --csv "$T/taken.dat" | grep watched)"
hold 4

# ---- what cannot be ----

"$PFSCOPE" kmap record --watch random -- true 2>"$T/log"
like "$?|$(<"$T/log")" '^1\|pfscope: --watch: the CPUs. hardware watchpoints are in use' 'watchpoints that others use'
release
hold 1
"$PFSCOPE" kmap record --watch random -- true 2>"$T/log"
like "$?|$(<"$T/log")" '^1\|pfscope: --watch: the CPUs. hardware watchpoints are in use' 'three are too few'
release
for what in site=no_such_function_at_all cache= site= file=x ''; do
	"$PFSCOPE" kmap record --watch "$what" -- true 2>"$T/log"
	like "$?|$(<"$T/log")" '^1\|pfscope: --watch: ' "--watch '$what': refused"
	is "$(wc -l <"$T/log")" 1 '... in one line'
done
done_testing
