# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# How long `pfscope report --by` takes for FAULTS faults with STACKS distinct stacks.

faults=${FAULTS:-1000000}
stacks=${STACKS:-100000}
made_stacks "$T/stacks.ev" "$faults" "$stacks" || exit 1

for ((i = 0; i < rounds; i++)); do
	for table in function line stack; do
		timed "by-$table" "$dir/pfscope" report --by "$table" "$T/stacks.ev"
	done
done
echo "pfscope report --by of $faults faults with $stacks stacks, seconds, median of $rounds [quartiles]; at most 5 s"
printf '%-12s %24s\n' table seconds
for table in function line stack; do
	printf '%-12s %24s\n' "$table" "$(quartiles <"$T/by-$table")"
done
