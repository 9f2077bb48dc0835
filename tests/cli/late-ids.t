#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A recording's build-ids are at its end, behind any number of faults. All views know them nevertheless, also of a part of the
# time: a file that was touched later has its names, and one that was overwritten in its place (as compilers do) has none.

. "${0%/*}/../tap.sh"
need_programs gcc nm perl readelf
cd "$T" || exit 1

for name in recorded other; do
	echo "__attribute__((noinline)) void ${name}_leaf(volatile char *p) { p[0] = 1; } int main(int c, char **v) { ${name}_leaf(v[0]); }" |
		gcc -O1 -g -fno-pie -no-pie -Wl,--build-id -x c - -o $name || exit 1
done
cp recorded program

# recording FAULTS: that many faults of program's leaf, half of them with a stack, and its build-id behind them.
recording()
{
	local off addr leaf device

	device=$(stat -c '%Hd %Ld' program | { read -r a b; printf '%02x:%02x' "$a" "$b"; })
	read -r off addr < <(readelf -lW program | awk '$1 == "LOAD" && /R E/ { print $2, $3; exit }')
	leaf=$(nm program | awk '$3 == "recorded_leaf" { print $1 }')
	printf '# pfscope-events 2\n0.000000001 comm pid=1 tid=1 comm="x"\n'
	printf '0.000000002 map pid=1 tid=1 start=%x end=%x id=1 perms=r-xp off=%d dev=%s ino=%d name="%s"\n' $((addr)) \
		$((addr + 0x1000)) $((off)) "$device" \
		"$(stat -c %i program)" "$T/program"
	echo '0.000000003 map pid=1 tid=1 start=10000000 end=20000000 id=2 perms=rw-p name=""'
	echo "0.000000004 frames pid=1 tid=1 stack=1 frames=\"0x$leaf\""
	perl -e 'my ($nr, $leaf) = @ARGV;
		printf "0.%09d fault pid=1 tid=1 addr=%x ip=%s access=write mode=user%s\n", 100 + $_, 0x10000000 + 4096 * $_, $leaf,
			$_ % 2 ? " stack=1" : "" for 0 .. $nr - 1' "$1" "$leaf"
	printf '0.9 note key="build_id" value="dev=%s ino=%d id=%s"\n' \
		"$device" "$(stat -c %i program)" \
		"$(readelf -n recorded | awk '/Build ID/ { print $3 }')"
}

# views [OPTION...]: which functions each view names, a line for each.
views()
{
	local view

	for view in 'report --csv --by function' 'report --csv --by function --by class' 'render --by-function' 'export --to folded' \
		'export --to firefox' 'plot --format html'; do
		echo "${view%% *}: $("$PFSCOPE" $view "$@" <"$recording" 2>err | grep -o '[a-z]*_leaf' | sort -u | paste -sd' ')$(cat err)"
	done
}
same() { for view in report report render export export plot; do echo "$view: $1"; done; }

for faults in 20 40000; do
	recording=rec$faults.ev
	recording $faults >"$recording"
done
touch -d '1 hour ago' rec*.ev
chmod u+x program # its status has changed since
for recording in rec*.ev; do
	is "$(views)" "$(same recorded_leaf)" "$recording: a file with the recorded build-id has its names"
	is "$(views --to 0.000000110)" "$(same recorded_leaf)" '... in a part of the time, too'
	is "$(views --at 0.000000110)" "$(same recorded_leaf)" '... and at a moment'
done
cat other >program
touch rec*.ev # as a copy of the recording is: newer than that
for recording in rec*.ev; do
	is "$(views)" "$(same '')" "$recording: the file was overwritten: no names"
	is "$(views --to 0.000000110)" "$(same '')" '... in a part of the time, too'
done
done_testing
