# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the parts of tests/bench share.

median()
{
	sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# quartiles [DIGITS]: of the numbers of standard input, "median [first, third]"; with 0 the median alone.
quartiles()
{
	sort -n | awk -v digits="${1:-3}" '{ v[NR] = $1 } END {
		form = "%." (digits ? digits : 3) "f"
		printf form, v[int((NR + 1) / 2)]
		if (digits)
			printf " [" form ", " form "]", v[int((NR + 3) / 4)], v[int((3 * NR + 3) / 4)]
		print "" }'
}

# timed NAME COMMAND...: appends its seconds to $T/NAME.
timed()
{
	local name=$1 start=${EPOCHREALTIME/./}

	shift
	"$@" >/dev/null 2>&1 || { echo "bench: failed: $*" >&2; exit 1; }
	awk "BEGIN { print (${EPOCHREALTIME/./} - $start) / 1e6 }" >>"$T/$name"
}

# section NAME COMMAND...: what the workload says of its touches, wall and processor seconds, and what it got.
section()
{
	local name=$1

	shift
	rm -f "$T/said"
	"$@" >"$T/out" 2>"$T/err" || { cat "$T/err" >&2; exit 1; }
	awk -F= '/^t0_ns=/ { t0 = $2 } /^t1_ns=/ { t1 = $2 } /^cpu_us=/ { cpu = $2 / 1e6 } /^pages=/ { pages = $2 }
		END { print (t1 - t0) / 1e9, cpu, pages }' "$([ -e "$T/said" ] && echo "$T/said" || echo "$T/out")" >>"$T/$name"
}

# ratios NAME BASE COLUMN: "median [quartiles]" of NAME / BASE, round by round.
ratios()
{
	paste -d ' ' "$T/$1" "$T/$2" | awk -v c="$3" -v per="${4:-0}" '{
		print per ? ($c / $3) / ($(c + 3) / $6) : $c / $(c + 3) }' | quartiles 3
}

# trace-cmd, which sees an instance of its own as all there is: it would switch off what others do at the top level,
# and give up where the kernel does not let it write what it does not need.
trace_cmd()
{
	local status

	mkdir "$instance" || return
	unshare -m --propagation private bash -c 'mount --bind "$1" "$2" || exit
		for file in /proc/sys/kernel/ftrace_enabled "$2"/set_ftrace_*; do
			[ ! -e "$file" ] || mount --bind /dev/null "$file" || exit
		done
		shift 2
		exec trace-cmd "$@"' - "$instance" "$tracing" "$@"
	status=$?
	rmdir "$instance"
	return $status
}

# made_stacks FILE FAULTS STACKS: events of so many faults with so many distinct stacks of 12 frames, at random instructions of
# libc.
made_stacks()
{
	local libc

	libc=$(readlink -f "$(ldd /bin/true | awk '/libc\.so/ { print $3 }')")
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
	' "$libc" "$2" "$3" "$(readelf -lW "$libc" | awk '$1 == "LOAD" && /R E/ { print $2; exit }')" \
		"$(stat -c '%Hd %Ld' "$libc" | awk '{ printf "%02x:%02x", $1, $2 }')" "$(stat -c %i "$libc")" >"$1"
}
