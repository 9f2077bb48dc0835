#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
#
# Layouts of --source=perf, which reads them now and then, against those of ftrace, which are exact: of the same run, recorded
# through both at once, in time of the same clock. When perf has looked, its layout is that of ftrace, row by row. Between
# two looks what it has more or less is what has changed since the look before: that is what it says it does not know.

. "${0%/*}/live.sh"
[ -e /proc/sys/kernel/perf_event_paranoid ] || skip_all 'this kernel has no perf events'
cd "$T" || exit
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0

# rows PID FILE AT: of that moment, without what is not in both: remarks, and what is outside of all processes
rows()
{
	"$PFSCOPE" maps --pid "$1" --at "@$3" "$2" 2>/dev/null | sed -E '/^#|vsyscall/d; s/\t# since .*//' | sort
}

# later TIME NS: in seconds
later()
{
	awk -v s="${1%.*}" -v ns="${1#*.}" -v more="$2" 'BEGIN {
		ns += more; while (ns < 0) { ns += 1e9; s-- } while (ns >= 1e9) { ns -= 1e9; s++ }; printf "%d.%09d", s, ns }'
}

# uncovered ROWS LAYOUT CHANGES UNNAMED FROM TO: those of the rows that the layout does not have, be it in several rows or as a part of
# a larger one. Not those that have changed in between, and back. A part of the heap may be without its name where a record
# without one came in between.
uncovered()
{
	perl -e '
		my ($rows, $layout, $changes, $unnamed, $from, $to) = @ARGV;
		sub rows { open my $f, "<", shift or die; map {
			my ($s, $e, $perms, $off, $what) = /^(\w+)-(\w+) (\S+) (\S+) (.*)/ or die;
			my $file = $what !~ /^\S+ 0 /;
			[ hex $s, hex $e, $file ? hex($off) - hex($s) : 0, "$perms " . $what =~ s/ +/ /gr, $_ ] } <$f> }
		sub ranges { open my $f, "<", shift or die; map { [ map { hex } @$_ ] } map {
			my ($time, @ranges) = split; $time gt $from && $time le $to ? map { [ split /-/ ] } @ranges : () } <$f> }
		sub meets { my $row = shift; grep { $_->[0] < $row->[1] && $row->[0] < $_->[1] } @_ }
		my @have = sort { $a->[0] <=> $b->[0] } rows($layout);
		my @changes = ranges($changes);
		my @unnamed = ranges($unnamed);
		for my $row (rows($rows)) {
			next if meets($row, @changes);
			my $at = $row->[0];
			my $unnamed = meets($row, @unnamed) ? $row->[3] =~ s/\[heap\]//r : $row->[3];
			for (@have) {
				$at = $_->[1] if $_->[0] <= $at && $at < $_->[1] && $_->[2] == $row->[2] &&
					($_->[3] eq $row->[3] || $_->[3] eq $unnamed);
			}
			print $row->[4] if $at < $row->[1];
		}' "$@"
}

# nameless FILE: "TIME START-END" of each record of memory without a file, in the recording by perf events. What brk maps has no name
# in a record when the break is below it still.
nameless()
{
	perl -ne 'print "$1 $2-$3\n" if /^(\S+) map .* start=(\w+) end=(\w+) .*name=""/' "$1"
}

# changes FILE: "TIME START-END..." of each change of a layout that ftrace has recorded, in hexadecimal digits. Of all processes:
# some share an address space. Of an exec "TIME pid=PID".
changes()
{
	"$PFSCOPE" events "$1" | perl -ne '
		print "$1 pid=$2\n" if /^(\S+) exec .*?pid=(\d+)/;
		next unless /^(\S+) (?:map|unmap|move|protect|brk) /;
		my ($time, %v) = ($1, /(\w+)[=~](\S+)/g);
		my @ranges = defined $v{end} ? ($v{start} // 0) . "-$v{end}" : ();
		push @ranges, sprintf "%s-%x", $v{from}, hex($v{from}) + $v{len} if defined $v{len};
		print join(" ", $time, @ranges ? @ranges : "0-7fffffffffff"), "\n"'
}

# calls FILE RECORDING: "ENTER EXIT" of each call that changes a layout, of the threads in the recording by perf events (its recorder
# is in FILE, too). ftrace has the change at its exit, perf's record when it is made.
calls()
{
	trace-cmd report -t "$1" 2>/dev/null | perl -ne '
		BEGIN { open my $f, "<", shift; while (<$f>) { $ours{$1} = 1 while /(?:tid|child)=(\d+)/g } }
		next unless /-(\d+) +\[\d+\] +([\d.]+): +sys_(enter|exit)_(?:mmap|munmap|mprotect|brk|mremap|shmat|shmdt|remap_file_pages):/;
		next unless $ours{$1};
		if ($3 eq "enter") { $entered{$1} = $2 } elsif (defined $entered{$1}) { print delete $entered{$1}, " $2\n" }
		END { print "$_ ~\n" for values %entered }' "$2"
}

# amid FROM TO: is one of them under way then?
amid()
{
	awk -v from="$1" -v to="$2" '$1 "" <= to && ($2 "" >= from) { found = 1; exit } END { exit !found }' calls
}

# compared NAME COMMAND...: its looks, of all processes
compared()
{
	local name=$1 looks=0 equal=0 between=0 wrong='' pid at took end last

	shift
	"$PFSCOPE" run --source=ftrace --no-bars -o f.dat -- "$PFSCOPE" run --source=perf --no-bars -o p.ev -- "$@" >out 2>err
	is "$? $(<err)" '0 ' "$name: recorded through both at once"
	awk '$2 == "resident" && !/ start=/ { for (i = 3; i <= NF; i++) if (split($i, f, "=") == 2) v[f[1]] = f[2]
		print v["pid"], $1, v["interval"] }' p.ev >looks
	changes f.dat >changed
	calls f.dat p.ev >calls
	nameless p.ev >unnamed
	while read -r pid end took; do
		at=$(later "$end" -"$took")
		rows "$pid" f.dat "$at" >before
		rows "$pid" f.dat "$end" >exact
		cmp -s before exact && [ -s exact ] || continue	# it changed while it was looked at
		! amid "$at" "$end" || continue
		rows "$pid" p.ev "$end" >polled
		[ "$(comm -12 exact polled)" ] || continue	# exec is under way
		looks=$((looks + 1))
		if cmp -s exact polled; then
			equal=$((equal + 1))
		else
			wrong+="pid $pid, $end: $(diff exact polled | head -n 9)"$'\n'
		fi
		# half way to the next look of the process
		last=$(awk -v pid="$pid" -v end="$end" '$1 == pid && $2 > end { print $2; exit }' looks)
		[ "$last" ] || continue
		at=$(later "$end" "$(awk -v a="${end#*.}" -v b="${last#*.}" -v s="${end%.*}" -v t="${last%.*}" \
			'BEGIN { printf "%d", ((t - s) * 1e9 + b - a) / 2 }')")
		rows "$pid" f.dat "$at" >now
		rows "$pid" p.ev "$at" >polled
		[ -s now ] && [ -s polled ] && ! amid "$at" "$at" || continue
		between=$((between + 1))
		# what ftrace has at both times perf has, too
		comm -12 exact now >stays
		uncovered stays polled <(sed "s/pid=$pid\$/0-7fffffffffff/; /pid=/d" changed) unnamed "$end" "$at" >missing
		[ ! -s missing ] || wrong+="pid $pid, $at, missing: $(head -n 9 missing)"$'\n'
	done < <(some_of looks)
	is "$wrong" '' "$name: $equal layouts equal, $between between looks lack nothing that stays"
	ok "$name: there were looks to compare ($looks)" test $looks -ge "${least:-1}"
}

# some_of FILE: at most LOOKS of its lines (20)
some_of()
{
	awk -v n="$(wc -l <"$1")" -v some="${LOOKS:-20}" 'int(NR * some / n) != int((NR - 1) * some / n) || n <= some' "$1"
}

steps='map:60 write:1-50 wait:60 move write:51 wait:80 unmap:1-5 map:9 write:1 wait:150 protect:r:1-3 map:3 write:1 wait:250 remap:20
	map:2 write:1 fork wait:100 map:30 write:1 wait:100 unmap:3-9 map:1 write:0 wait:100 end wait:220'
# shellcheck disable=SC2086 # words are meant
least=5 compared 'moves, removals and a fork' "$WORK/pages" $steps
least=2 compared 'a shell' sh -c 'for i in 1 2 3; do ls -l / >/dev/null; sleep 0.1; done; sleep 0.1; ls >/dev/null; sleep 0.2'
command -v perl >/dev/null &&
	least=3 compared 'perl' perl -e 'my @a; for my $i (1 .. 6) { push @a, "x" x 3000000; pop @a if $i % 3 == 0; select undef, undef, undef, 0.1 }'
for seed in ${SEEDS:-17 75}; do
	mkdir "run$seed"
	least=1 compared "random operations, seed $seed" "$WORK/layout" "$seed" 2000 "run$seed/run"
done

# What a record says of a mapping is what the program has asked for.
"$PFSCOPE" run --source=perf --no-bars -o m.ev -- "$WORK/pages" disk:40 skip:8 map:32:rws >out 2>err
is "$("$PFSCOPE" events m.ev | perl -ne 'print +(hex($2) - hex($1) >> 12), " $3 $4\n"
	if / map .*start=(\w+) end=(\w+) .*?(perms=\S+) (off=\d+) .*workload-/')" '32 perms=rw-s off=32768' \
	'a record has the place, the permissions and the file of what was mapped'

# Nothing reports that memory is unmapped. A process that does nothing else has other sizes then, and is looked at.
"$PFSCOPE" run --source=perf --no-bars -o u.ev -- "$WORK/pages" map:500 write:1-50 wait:1000 unmap:0-499 wait:2000 >out 2>err
is "$? $(<err)" '0 ' 'a process that only unmaps'
at=$(awk '/ note .*key="start"/ { from = $1 } $2 == "exit" { end = $1 } END { print end - from - 0.5 }' u.ev)
# The region is a part of its neighbours.
is "$("$PFSCOPE" events u.ev | perl -ne '/ map .*start~?=?(\w+) end~?=?(\w+)/ && hex($2) - hex($1) >= 500 << 12 && hex($2) - hex($1) < 600 << 12 and $n = 1; END { print $n + 0 }')" 1 '... has a region'
is "$("$PFSCOPE" maps --at "$at" u.ev | perl -ne '/^(\w+)-(\w+)/ && hex($2) - hex($1) >= 500 << 12 && hex($2) - hex($1) < 600 << 12 and print')" '' \
	'... and then has not, though no event came'

# At the end every process is looked at once more.
"$WORK/pages" map:500 write:1-50 wait:1000 unmap:0-499 wait:4000 &
child=$!
sleep 0.3
try "$PFSCOPE" attach --source=perf -d 1.5 --no-bars -o a.ev $child
sed -E '/vsyscall/d' "/proc/$child/maps" | sort >exact
is "$status|$("$PFSCOPE" maps a.ev | sed -E '/^#|vsyscall/d; s/\t# since .*//' | sort | diff - exact)" '0|' \
	'attach: the last layout is that of /proc/PID/maps, though nothing was mapped and no fault came since it changed'
kill $child

# The report of it says so.
pfscope maps p.ev
like "$out" '^(# pid [^'$'\n'']*'$'\n'')?# may be wrong: layouts were read now and then' 'maps says that it may be wrong'
like "$out" $'\t''# since [0-9.]+'$'\n' '... and since when each row is known'
pfscope tape p.ev
like "$err" 'names of regions may be wrong: layouts were read now and then' 'so does tape'
pfscope mrc p.ev
like "$(tr -s ' \n' ' ' <<<"$out")" 'Not seen: removals and moves of regions between two reads of the layout' 'so does mrc'
pfscope plot p.ev
like "$out" $'\n''layouts were read now and then: touches may be in the wrong region' 'so does plot'
done_testing
