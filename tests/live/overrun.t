#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 200
#
# A buffer that runs over: what was delivered and what is said to be lost are together what happened, by
# the kernel's own count and by what the workload is known to do; and all views say that something is
# missing.

. "${0%/*}/live.sh"

# What the instance of that pfscope has taken in so far, all processors: read, waiting or overwritten.
happened()
{
	cat "$TRACING/instances/pfscope-$1-"*/per_cpu/cpu*/stats |
		awk '/^(entries|overrun|commit overrun|dropped events|read events):/ { n += $NF } END { print n }'
}

# has_ended COMM PARENT: a child of that name that nobody has waited for yet.
has_ended()
{
	grep -qsE "^[0-9]+ \($1\) Z $2 " /proc/[0-9]*/stat
}

# delivered FILE: the kernel's events in a recording, without pfscope's own and without losses.
delivered()
{
	trace-cmd report "$1" 2>/dev/null | grep -avE ' pfs_(map|task|note|cached): |^cpus=|^version|EVENTS DROPPED|EVENTS LOST' |
		grep -ac ': '
}

# Of each page that a workload touched and the recording lacks, by what the workload says: a gap has its time, and its
# region may lack something by what the report says. Prints how many lack: time, region; and how many pages they are.
unplaced()
{
	awk -F '[ =,]' '
	BEGIN { n = 0 }
	FILENAME == ARGV[1] && $2 == "lost" {
		to[n] = $1; from[n] = 0
		for (i = 3; i <= NF; i++)
			if ($i == "interval")
				from[n] = $1 - $(i + 1) / 1e9
		n++
	}
	FILENAME == ARGV[1] && $2 == "fault" && match($0, / addr=[0-9a-f]+/) {
		split($0, pid, / pid=/)
		seen[pid[2] + 0, substr($0, RSTART + 6, RLENGTH - 9)] = 1
	}
	FILENAME == ARGV[2] && $1 == "region" { split($4, r, "-"); if ($gaps > 0) ranges[$2] = ranges[$2] " " r[1] " " r[2] }
	FILENAME == ARGV[2] && $1 == "table" { for (i = 1; i <= NF; i++) if ($i == "gaps") gaps = i }
	$1 == "pid" { pid_ = $2 }
	$1 == "at" && !((pid_, substr($2, 1, length($2) - 3)) in seen) {
		missing++
		for (i = 0; i < n && !(from[i] <= $4 / 1e9 && to[i] >= $3 / 1e9); i++)
			;
		times += i == n
		nr = split(ranges[pid_], r, " ")
		for (i = 1; i < nr && !($2 >= r[i] && $2 < r[i + 1]); i += 2)
			;
		regions += i >= nr
	}
	END { print times + 0, regions + 0, missing + 0 }' "$1" "$2" "$3"
}

# all_touched REPORT: the same of a workload that says only when it began and ended.
all_touched()
{
	local t0 t1

	t0=$(value t0_ns "$1") t1=$(value t1_ns "$1")
	echo "pid=$(value pid "$1")"
	perl -e 'for ($at = hex $ARGV[0]; $at < hex $ARGV[1]; $at += 4096) { printf "at %x $ARGV[2] $ARGV[3]\n", $at }' \
		"$(value start "$1")" "$(value end "$1")" "$t0" "$t1"
}

# overrun PAGES KB [STATE]: pfscope is stopped by the command that it has started, and sleeps through all of it.
overrun()
{
	local pages=$1 kb=$2 kernel faults lost

	# shellcheck disable=SC2016 # the inner shell's
	"$PFSCOPE" run --strict --buffer-size "$kb" -o "$T/over.dat" -- sh -c 'kill -STOP $PPID; exec "$0" "$@"' \
		"$WORK/touch" "$pages" write anon "${@:3}" >"$T/report" 2>"$T/bars" &
	pfscope=$!
	wait_for 60 has_ended touch $pfscope || diag "the workload does not end"
	kernel=$(happened $pfscope)
	kill -CONT $pfscope
	wait $pfscope
	is $? 3 "$kb KB: --strict: the status tells"
	like "$(<"$T/bars")" 'pfscope: lost .*--strict' "$kb KB: --strict: and a line does"
	"$PFSCOPE" events "$T/over.dat" >"$T/events"
	lost=$(lost_in "$T/events")
	ok "$kb KB: it did run over ($lost lost)" test "$lost" -gt $((pages / 2))
	# A page that is full to its end has no room to say how many went before it: only their sum is known then.
	if ! grep '^[0-9.]* lost ' "$T/events" | grep -qv ' count='; then
		grep -v ' key="lost" ' "$T/events" >"$T/places"
		is "$(lost_in "$T/places")" "$lost" "$kb KB: the losses, each at its place, are as many"
	fi
	is $(($(delivered "$T/over.dat") + lost)) "$kernel" "$kb KB: delivered + lost = the kernel's count"
	faults=$(awk -v start="$(value start "$T/report")" -v end="$(value end "$T/report")" '
		$2 == "fault" && match($0, / addr=[0-9a-f]+/) {
			addr = sprintf("%16s", substr($0, RSTART + 6, RLENGTH - 6))
			if (addr >= sprintf("%16s", substr(start, 3)) && addr < sprintf("%16s", substr(end, 3)))
				n++
		}
		END { print n + 0 }' "$T/events")
	# besides the faults, only what there is of the start
	ok "$kb KB: no more faults are missing than are said to be" test $((pages - faults)) -le "$lost"
	ok "$kb KB: and hardly less" test $((lost - (pages - faults))) -lt 3000
	is "$(said_lost <"$T/bars")" "$lost" "$kb KB: the bars say so"
	like "$(<"$T/bars")" '(^|[^0-9])[1-9][0-9,]* faults' "$kb KB: and show what was not lost"
	pfscope report "$T/over.dat"
	is "$(said_lost <<<"$out")" "$lost" "$kb KB: the report says so"
	"$PFSCOPE" report --csv "$T/over.dat" >"$T/tables"
	is "$(unplaced "$T/events" "$T/tables" <(all_touched "$T/report"))" "0 0 $((pages - faults))" \
		"$kb KB: what is missing is in a gap, and in a region that it may concern"
}

overrun 30000 8
overrun 60000 64
# Whether the page that comes behind the gap is such a full one, is a matter of what else was in it.
for _ in 1 2 3 4 5; do
	overrun 5000 8 paused
	grep -qE '^[0-9.]* lost cpu=[0-9]+( interval=[0-9]+)?$' "$T/events" && break
done
ok 'behind one gap was a page too full to say how much is missing' grep -qE '^[0-9.]* lost cpu=[0-9]+( interval=[0-9]+)?$' "$T/events"
# ---- where the losses are ----

# Twice it is stopped, each time two processes fault meanwhile.
"$PFSCOPE" run --buffer-size 64 --no-bars -o "$T/places.dat" -- bash -c '
	for i in 1 2; do
		"$0" 300 write anon timed
		sleep 0.3
		kill -STOP $PPID
		"$0" 9000 write anon timed >"$1.a" & "$0" 9000 write shared timed >"$1.b" &
		wait
		cat "$1.a" "$1.b"
		kill -CONT $PPID
		sleep 0.3
	done
	"$0" 300 write anon timed' "$WORK/touch" "$T/times" >"$T/touched" 2>"$T/log"
is $? 0 'stopped twice: runs' || diag "$(<"$T/log")"
"$PFSCOPE" events "$T/places.dat" >"$T/events"
"$PFSCOPE" report --csv "$T/places.dat" >"$T/report"
read -r times regions missing < <(unplaced "$T/events" "$T/report" "$T/touched")
ok "stopped twice: pages are missing ($missing)" test "$missing" -gt 10000
is "$times" 0 'stopped twice: each of them was touched in a gap'
is "$regions" 0 'stopped twice: each of them is in a region that a gap may concern'
ok 'stopped twice: gaps begin with the event before' grep -q '^[0-9.]* lost cpu=.* interval=' "$T/events"
pfscope report "$T/places.dat"
like "$out" 'Lost events' 'stopped twice: the report has a table of the gaps'

# The same with room enough: nothing is lost, and the counts are the same still.
"$PFSCOPE" run --strict --buffer-size 16384 -o "$T/all.dat" -- "$WORK/touch" 30000 write anon >"$T/report" 2>"$T/bars"
is $? 0 'with room enough --strict passes'
like "$(<"$T/bars")" 'no events lost' 'with room enough nothing is lost'
done_testing
