#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --refault and memory that another process uses, too: its pages stay, so their use is not observed. Nothing may call
# that unused, or the curve exact.

. "${0%/*}/live.sh"
has_zram || skip_all 'this kernel has no zram'
PAGES=512

"$WORK/shared" $PAGES 3000 "$T/file" >"$T/said" &
wait_for 20 grep -q ready "$T/said"
"$PFSCOPE" attach --no-bars --refault 100ms --zram 16M -o "$T/shared.dat" "$(value pid "$T/said")" 2>"$T/log"
is $? 0 'it is recorded' || diag "$(<"$T/log")"
wait
range=$(value start "$T/said")-$(value end "$T/said")

# The workload used all of its pages in each round, and hardly any of them faulted.
pfscope events "$T/shared.dat"
seen=$(grep ' fault ' <<<"$out" | grep -o 'addr=[0-9a-f]*' | sort -u |
	awk -F= -v start="$(value start "$T/said")" 'substr($2, 1, length(start) - 6) == substr(start, 1, length(start) - 6)' | wc -l)
diag "pages of it that faulted: about $seen of $PAGES, rounds: $(value rounds "$T/said")"
pfscope report --json --region "$range" "$T/shared.dat"
unobserved=$(jq '.region[0].unobserved' <<<"$out")
ok "report counts them ($unobserved)" test $((unobserved > PAGES / 2)) = 1
pfscope report --wide --region "$range" "$T/shared.dat"
like "$out" 'not observed' 'report has a column of them'
pfscope mrc "$T/shared.dat"
unlike "$(tr -s ' \n' ' ' <<<"$out")" 'all exact[;.]' 'mrc does not call its curve exact'
like "$(tr -s ' \n' ' ' <<<"$out")" 'Not observed: up to [0-9]+ of [0-9]+ pages' 'mrc: how much was not observed'
"$PFSCOPE" mrc --region "$range" "$T/shared.dat" >"$T/mrc" 2>&1
like "$(tr -s ' \n' ' ' <"$T/mrc")" "up to $unobserved of [0-9]+ pages in memory" 'mrc of that region only: the same'
pfscope mrc --json "$T/shared.dat"
is "$(jq -r '[.misses[].references] | unique | join(",")' <<<"$out")" 'exact where observed' 'JSON: the references'
pfscope render --region "$range" "$T/shared.dat"
unlike "$(grep '|' <<<"$out")" '\.|~' 'bars: no page is drawn as untouched'
like "$out" '\?' 'bars: they are not known'
"$PFSCOPE" plot --region "$range" -o "$T/plot.html" "$T/shared.dat"
like "$(grep -o 'not observed: [a-z0-9 ]*' "$T/plot.html")" "not observed: up to $unobserved of" 'plot: how much was not observed'

like "$(grep -o '"unobserved":\[\[[0-9]' "$T/plot.html")" . 'plot: its band is hatched, though it has hardly a fault'

# What only one process uses is observed.
"$PFSCOPE" run --refault 100ms --zram 16M --no-bars -o "$T/own.dat" -- "$WORK/phases" 32 2 500 anon >"$T/said" 2>&1
pfscope mrc --region "$(value start "$T/said")-$(value end "$T/said")" "$T/own.dat"
unlike "$out" 'Not observed' 'mrc of memory of its own: nothing of that'
done_testing
