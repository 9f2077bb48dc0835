#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# 32-bit programs on x86-64, whose system calls syscalls:* does not report: at each checkpoint of tests/workload/i386 the
# layout is the kernel's, and what is populated is what its pagemap shows. SEEDS="3 8" runs just those.

. "${0%/*}/live.sh"
program=$WORK/i386
[ -x "$program" ] || skip_all 'the compiler makes no program for i386'
runs_i386 || not_here 'this kernel runs no 32-bit programs'

# compare NAME DIR [--coarse]
compare()
{
	local name=$1 dir=$2 result

	shift 2
	result=$("$TOOLS/layout_check" "$@" "$dir/run.dat" "$dir"/run.*.maps 2>&1)
	is "$?" 0 "$name: ${result##*$'\n'}" || diag "$result"
	"$PFSCOPE" events "$dir/run.dat" >"$dir/events"
	is "$(sed -nE '/ error=[1-9]/d; s/.* populate .*start=([0-9a-f]+) end=([0-9a-f]+).* by=(mmap|mlock|madvise)\>.*/\1 \2/p' \
		"$dir/events" | sort)" "$(sed -n 's/^populated //p' "$dir/out" | sort)" "$name: what is populated"
	unlike "$(cat "$dir/events")" 'key="lacks" value="what=raw_syscalls' "$name: nothing is missing"
}

# record NAME SEED [OPTION...]
record()
{
	local name=$1 seed=$2

	shift 2
	mkdir "$T/$name" && cd "$T/$name" || exit 1
	"$PFSCOPE" run "$@" --no-bars -o run.dat -- "$program" "$seed" run >out 2>err || fail "$name: it runs"
	cd "$T" || exit 1
}

for seed in ${SEEDS:-1 2 3 4 5 6 7 8}; do
	record "seed-$seed" "$seed"
	compare "seed $seed" "$T/seed-$seed"
done
record text 9 --via text
compare 'by text' "$T/text" --coarse
record all 10 -e raw_syscalls
compare 'with all system calls' "$T/all"
like "$("$PFSCOPE" events --all "$T/all/run.dat")" 'key="raw_syscalls:sys_enter" value="NR 5 ' '... which are printed as well'

# One that runs already.
mkdir "$T/attach" && cd "$T/attach" || exit 1
"$program" 11 run stop >out &
pid=$!
wait_for 5 grep -q "^State:.T" "/proc/$pid/status"
"$PFSCOPE" attach --no-bars -o run.dat "$pid" 2>err &
tracer=$!
ok 'attach begins' wait_for 10 has_entered $tracer
kill -CONT "$pid"
wait $tracer
is "$?" 0 'attach ends with the program' || diag "$(cat err)"
compare 'attached' "$T/attach"

# Started by a 64-bit program: only if asked for, and otherwise every view begins with that.
record_by_shell()
{
	local name=$1

	shift
	mkdir "$T/$name" && cd "$T/$name" || exit 1
	"$PFSCOPE" run "$@" --no-bars -o run.dat -- sh -c '"$0" 12 run; exit' "$program" >out 2>err
	cd "$T" || exit 1
}
record_by_shell wanted --compat
compare 'by a shell, with --compat' "$T/wanted"
record_by_shell without
lost='lost an unknown number of events \(system calls of 32-bit processes\) from [0-9.]+ s on'
like "$("$PFSCOPE" render "$T/without/run.dat")" "$lost" 'without --compat: bars report it'
like "$("$PFSCOPE" report "$T/without/run.dat")" "$lost" '... and so does the report'
maps=$("$PFSCOPE" maps "$T/without/run.dat")
is "$(grep -cE "^# may be wrong: $lost" <<<"$maps")" "$(grep -cE '^# pid [0-9]+ (i386|exe)$' <<<"$maps")" \
	'... maps of each 32-bit process, and of no other'
is "$("$PFSCOPE" events --all "$T/without/run.dat" | grep -c 'trace .*raw_syscalls')" 0 '... and nothing of them is recorded'
done_testing
