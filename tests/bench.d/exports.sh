# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# How long `pfscope export` takes for FAULTS faults in each format: of one instruction, of 20,000 instructions, and with STACKS
# distinct stacks; and `trace-cmd report` for the first of these.

faults=${FAULTS:-1000000}
stacks=${STACKS:-10000}
formats='folded html pprof speedscope firefox perfetto chrome sqlite'
"$dir/tests/tools/dat_make" "$T/none.dat" faults="$faults" pages=100000 || exit 1
made_stacks "$T/some.ev" "$faults" "$stacks" || exit 1
sed '/ frames /d; s/ stack=[0-9]*$//' "$T/some.ev" >"$T/code.ev" || exit 1

for ((i = 0; i < rounds; i++)); do
	for format in $formats; do
		for file in none.dat code.ev some.ev; do
			timed "$file-$format" "$dir/pfscope" export --to "$format" -o "$T/out" "$T/$file"
			rm "$T/out"
		done
	done
	! command -v trace-cmd >/dev/null || timed peer trace-cmd report "$T/none.dat"
done
echo "pfscope export of $faults faults, seconds, median of $rounds [quartiles]; at most 3 s"
printf '%-12s %24s %24s %24s\n' format 'one instruction' '20000 instructions' "$stacks stacks"
for format in $formats; do
	printf '%-12s %24s %24s %24s\n' "$format" "$(quartiles <"$T/none.dat-$format")" "$(quartiles <"$T/code.ev-$format")" \
		"$(quartiles <"$T/some.ev-$format")"
done
[ ! -e "$T/peer" ] || printf '%-12s %24s\n' 'trace-cmd' "$(quartiles <"$T/peer")"
