# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# How long `pfscope report --by` takes for FAULTS faults with STACKS distinct stacks of 12 frames each, at random instructions
# of libc.

faults=${FAULTS:-1000000}
stacks=${STACKS:-100000}
libc=$(ldd /bin/true | awk '/libc\.so/ { print $3 }')
libc=$(readlink -f "$libc")

perl -e '
	my ($path, $faults, $stacks, $off, $device, $ino) = @ARGV;
	srand(1);
	my @at = map { 0x400000 + int rand 0x100000 } 1 .. 20000;
	my $t = 1000;
	print "# pfscope-events 2\n0.000000001 comm pid=7 tid=7 comm=\"x\"\n";
	printf "0.000000002 map pid=7 tid=7 start=400000 end=500000 id=1 perms=r-xp off=%d dev=%s ino=%d name=\"%s\"\n",
		hex $off, $device, $ino, $path;
	print "0.000000003 map pid=7 tid=7 start=10000000000 end=20000000000 id=2 perms=rw-p name=\"\"\n";
	printf "0.%09d frames pid=7 tid=7 stack=%d frames=\"%s\"\n", $t++, $_,
		join ";", map { sprintf "0x%x", $at[rand @at] } 1 .. 12 for 1 .. $stacks;
	printf "1.%09d fault pid=7 tid=7 addr=%x ip=%x access=write mode=user stack=%d\n", $_ * 500,
		0x10000000000 + 4096 * $_, $at[$_ % @at], 1 + int rand $stacks for 1 .. $faults;
' "$libc" "$faults" "$stacks" "$(readelf -lW "$libc" | awk '$1 == "LOAD" && /R E/ { print $2; exit }')" \
	"$(stat -c '%Hd %Ld' "$libc" | awk '{ printf "%02x:%02x", $1, $2 }')" "$(stat -c %i "$libc")" >"$T/stacks.ev" || exit 1

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
