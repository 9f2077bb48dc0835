#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# Two witnesses: ftrace and SystemTap watch the same processes at the same time, on Debian's 6.1 with probes
# placed with debuginfo and without, on 6.12 without. Every fault, every touched page, every signal and all of
# process life are the same in both; each alone gives the kernel's own layout at every checkpoint; and
# SystemTap's minor and major faults, those that the kernel makes by itself included, are the kernel's own
# counts, exactly.

. "${0%/*}/vm.sh"
pairs=(6.1-dwarf 6.12-symbols 6.1-symbols)	# kernel and mode
declare -A seeds=([6.1-dwarf]=$(seq -s ' ' 1 10) [6.1-symbols]=$(seq -s ' ' 11 14)
	[6.12-symbols]=$(seq -s ' ' 15 24))

modules=()
for pair in "${pairs[@]}"; do
	mkdir "$T/share/$pair"
	modules+=("${pair%-*} ${pair#*-} $T/share/$pair/probe.ko")
done
build_modules "${modules[@]}"

# run_guest PAIR: what came of it is under $T/share/PAIR.
run_guest()
{
	# shellcheck disable=SC2086 # words are meant
	"$ROOT/tests/vm/boot" -k "${1%-*}" -t 800 -w "$T/share" -- bash tests/vm/witness.guest \
		"$T/share/$1/probe.ko" "$T/share/$1" ${SEEDS:-${seeds[$1]}} >"$T/$1.out" 2>"$T/$1.err"
	echo $? >"$T/$1.status"
}

for pair in "${pairs[@]}"; do
	[ -s "$T/share/$pair/probe.ko" ] && run_guest "$pair" &
done
wait

# ---- comparing ----

# fault_lines FILE: who touched what, and how: a line a fault, sorted.
fault_lines()
{
	awk '$2 == "fault" {
		line = ""
		for (i = 3; i <= NF; i++)
			if ($i ~ /^(tid|addr|access|mode|code)=/)
				line = line " " $i
		print line
	}' "$1" | sort
}

# life_lines FILE: how often each thread was signalled, forked, and so on. Of two that end at the same
# moment either may be said to be the last.
life_lines()
{
	awk '$2 ~ /^(signal|fork|thread|exec|exit)$/ && !/ space=/ {
		line = $2
		for (i = 3; i <= NF; i++)
			if ($i ~ /^(pid|tid|child|sig)=/ && !($2 == "exec" && $i ~ /^tid=/))
				line = line " " $i
		print line
	}' "$1" | sort
}

# process_lines FILE: of the table of processes what both can know. Major faults ftrace only concludes,
# and a fault on the stack it sees before the stack has grown.
process_lines()
{
	"$PFSCOPE" report --json "$1" | python3 -c '
import json, sys
keys = "pid epochs threads faults read write exec user kernel signal touched".split()
for p in json.load(sys.stdin)["process"]:
    print(*(f"{k}={p.get(k, 0)}" for k in keys))' | sort
}

# Pages that SystemTap saw the kernel populate, for a call that ftrace can tell it of, and ftrace did not.
unknown_populated()
{
	awk '
	function hex(text,   n, i) {
		for (i = 1; i <= length(text); i++)
			n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
		return n
	}
	function of(key,   i) {
		for (i = 3; i <= NF; i++)
			if (index($i, key "=") == 1)
				return substr($i, length(key) + 2)
	}
	$2 != "populate" || of("by") ~ /^(gup|userfaultfd)$/ || / space=/ { next }
	{ key = of("tid") " " of("by"); start = hex(of("start")); end = hex(of("end")) }
	NR == FNR { n = ++nr[key]; from[key, n] = start; to[key, n] = end; next }
	{
		for (i = 1; i <= nr[key]; i++)
			if (from[key, i] <= start && to[key, i] >= end)
				next
		print
	}' "$1" "$2"
}

# compare PAIR WHAT
compare()
{
	local name="$1, $2" dir=$T/share/$1/$2 lines

	"$PFSCOPE" events "$dir/ftrace.dat" >"$dir/ftrace.events"
	for lines in fault_lines life_lines process_lines; do
		$lines "$dir/ftrace.events" >"$dir/a"
		$lines "$dir/stap.events" >"$dir/b"
		ok "$name: $(wc -l <"$dir/a") ${lines%_lines} lines: there are some" test -s "$dir/a"
		same "$dir/a" "$dir/b" "$name: ${lines%_lines} lines are the same"
	done
	is "$(unknown_populated "$dir/ftrace.events" "$dir/stap.events" | head -n 5)" '' \
		"$name: what calls populated, both know"
	is "$(grep -c '^[0-9.]* lost' "$dir/ftrace.events") $(grep -c '^[0-9.]* lost' "$dir/stap.events")" '0 0' \
		"$name: nothing is lost"
	pfscope report --check "$dir/stap.events"
	is "$status" 0 "$name: SystemTap's minor and major faults are the kernel's" || diag "$out$err"
	like "$out" 'page faults as the kernel accounts them, of [0-9]+ process' "$name: which were compared"
}

# history_of RESULT RECORDING: the changes of all layouts at the first region that layout_check prints as different, the
# forks and the lost events, up to that checkpoint.
history_of()
{
	local until start

	until=$(sed -nE '1s/.* at ([0-9.]+):$/\1/p' <<<"$1")
	start=$(sed -nE 's/^ +[-+] ([0-9a-f]+)-.*/\1/p' <<<"$1" | head -n 1)
	"$PFSCOPE" events "$2" | awk -v until="$until" -v start="=$start" '
		$1 <= until && ($2 ~ /^(lost|fork)$/ || ($2 ~ /^(map|unmap|move|protect)$/ && index($0, start " ")))' |
		cut -c1-150 | tail -n 40
}

for pair in "${pairs[@]}"; do
	[ -s "$T/share/$pair/probe.ko" ] || continue
	is "$(<"$T/$pair.status")" 0 "$pair: the guest ran to its end" || diag "$(<"$T/$pair.err")"
	is "$(grep -cE '^(the workloads|ftrace|stap): 0$' "$T/$pair.out")" 6 "$pair: both saw all of it" ||
		diag "$(<"$T/$pair.out")"
	for what in layouts faults; do
		compare $pair $what
	done
	dir=$T/share/$pair/layouts
	for recording in ftrace.dat stap.events; do
		result=$("$TOOLS/layout_check" "$dir/$recording" "$dir"/*.maps 2>&1)
		is $? 0 "$pair: layouts by $recording: ${result##*$'\n'}" ||
			diag "$result"$'\n'"$(history_of "$result" "$dir/$recording")"
	done
done
done_testing
