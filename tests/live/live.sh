# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the live tests have in common beyond tests/tap.sh, which it reads in: waiting, instances, layouts.
# A test begins with
#
#     . "${0%/*}/live.sh"
#
# and is skipped where nothing can be recorded. Other pfscopes may run at the same time: a test looks at
# its own ones' instances only, which their names tell.

. "${0%/*}/../tap.sh"
need_tracefs
TRACING=/sys/kernel/tracing
[ -d $TRACING/instances ] || TRACING=/sys/kernel/debug/tracing

# Do reads of anonymous memory get the zero page, as smaps has it?
has_zero_page()
{
	"$WORK/zero_page"
}

# not_here WHY: this machine cannot do what the test is about, and tests/vm/live.t runs it in a guest, where it must.
not_here()
{
	[ -z "${KERNEL:-}" ] || skip_all "$1"
	pass "not on this machine, but in tests/vm/live.t: $1"
	done_testing
	exit 0
}

# runs_i386: does this kernel run programs for 32 bits?
runs_i386()
{
	[ -x "$WORK/i386" ] && "$WORK/i386" 1 "$T/i386" >/dev/null 2>&1
}

# instances_of PID: the names of the instances that this pfscope has, or left.
instances_of()
{
	local dir

	for dir in "$TRACING/instances/pfscope-$1-"*; do
		[ -d "$dir" ] && echo "${dir##*/}"
	done
	return 0
}

# no_instance_of PID: the keeper may be at it still when pfscope has ended.
no_instance_of()
{
	wait_for 1 eval '[ -z "$(instances_of '"$1"')" ]'
}

# is_tracing PID: its instance is there and switched on.
is_tracing()
{
	[ "$(cat "$TRACING/instances/pfscope-$1-"*/tracing_on 2>/dev/null)" = 1 ]
}

# has_entered PID: it traces, has read the layouts it began with, and waits for what comes (poll).
has_entered()
{
	is_tracing "$1" && grep -q poll "/proc/$1/wchan"
}

# ended PID: it runs no more (it may not have been waited for yet).
ended()
{
	[[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) =~ ^[^ZX] ]] && return 1
	return 0
}

# helpers_of NAME MARK: those of a pfscope that was started with PFSCOPE_TEST=MARK. One works, the other sees to it
# that it lives.
helpers_of()
{
	local pid

	for pid in $(pgrep -x "$1"); do
		grep -qszxF "PFSCOPE_TEST=$2" "/proc/$pid/environ" && echo "$pid"
	done
	return 0
}

# keepers_of MARK
keepers_of()
{
	helpers_of pfscope-keeper "$1"
}

# no_keepers_of MARK
no_keepers_of()
{
	wait_for 2 eval '[ -z "$(keepers_of '"$1"')" ]'
}

# somebody_else: another user of tracefs, whose instance has an event switched on.
somebody_else()
{
	mkdir "$TRACING/instances/another-$$" || skip_all 'no instance can be made'
	at_exit rmdir "$TRACING/instances/another-$$"
	echo 0 >"$TRACING/instances/another-$$/tracing_on"
	echo 1 >"$TRACING/instances/another-$$/events/sched/sched_process_exec/enable"
}

# tracefs_state: all that somebody else could notice, at the top level and in the instance of their own.
tracefs_state()
{
	local file

	for file in tracing_on set_event set_event_pid current_tracer trace_clock buffer_size_kb \
		trace_options set_ftrace_pid tracing_cpumask kprobe_events uprobe_events dynamic_events \
		events/enable; do
		echo "$file: $(cat "$TRACING/$file" 2>/dev/null)"
	done
	cat "$TRACING/instances/another-$$/"{tracing_on,set_event,set_event_pid,trace_clock,buffer_size_kb,trace}
	grep -l 1 "$TRACING"/events/*/enable 2>/dev/null
}

# value KEY FILE: of a line "KEY=VALUE", as workloads print them.
value()
{
	sed -n "s/^$1=//p" "$2"
}

# layouts_equal NAME RECORDING CHECKPOINT...: all of the layouts are the kernel's.
layouts_equal()
{
	local name=$1 result

	shift
	result=$("$TOOLS/layout_check" "$@" 2>&1) && { pass "$name: ${result##*$'\n'}"; return; }
	fail "$name"
	diag "$result"
	return 1
}

# outside FILE: how many faults of that recording are in no known region.
outside()
{
	"$PFSCOPE" report --csv "$1" | awk -F, '
		$1 == "table" { for (i = 1; i <= NF; i++) if ($i == "outside") at = i }
		$1 == "process" { n += $at }
		END { print n + 0 }'
}

# has_zram: can swap be set up in memory?
has_zram()
{
	[ -d /sys/class/zram-control ] || modprobe -nq zram
}

# phases_seen RECORDING SAID PAGES [access]: of each phase of tests/workload/phases how many of its pages faulted in
# it, how many others of the workload's, and the least number of faults that one of its pages had, in lines. Of
# accesses that were sampled instead those whose interval, with one more before it, was in the phase.
phases_seen()
{
	"$PFSCOPE" events "$1" | awk -v kind="${4:-fault}" -v pages="$3" -v start="$(($(value start "$2")))" '
		BEGIN { n = 0 }
		FNR == NR { if (/^phase=/) { from[n] = $2; to[n++] = $3 }; next }
		$2 != kind { next }
		{
			split($1, t, "."); ns = t[1] * 1000000000 + t[2]
			since = ns
			for (i = 3; i <= NF; i++) {
				if ($i ~ /^addr=/) addr = hex(substr($i, 6))
				if ($i ~ /^interval=/) since = ns - 2 * substr($i, 10)
			}
			page = int((addr - start) / 4096)
			if (page < 0 || page >= pages * n) next
			for (p = 0; p < n; p++) {
				if (since < from[p] || ns > to[p]) continue
				if (int(page / pages) == p) times[page]++; else others[p]++
			}
		}
		function hex(s,  i, v) {
			sub(/^0x/, "", s)
			for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return v
		}
		END {
			for (p = 0; p < n; p++) {
				seen = 0; least = 1e9
				for (i = p * pages; i < (p + 1) * pages; i++) {
					if (i in times) seen++
					if (times[i] + 0 < least) least = times[i] + 0
				}
				print seen, others[p] + 0, least
			}
		}' "$2" -
}

# each_phase NAME SEEN PAGES LEAST [PHASES]: all of them, none other, and so often at least.
each_phase()
{
	is "$(awk -v pages="$3" '$1 == pages && $2 == 0 { n++ } END { print n + 0 }' <<<"$2")" "${5:-4}" \
		"$1: in each phase its $3 pages fault again, and no others" || diag "$2"
	ok "$1: each of them several times" awk -v least="$4" '$3 < least { few = 1 } END { exit few }' <<<"$2"
}

# hold NR [SECONDS]: that many watchpoints of each CPU are taken until release; SECONDS: so long it is tried
hold()
{
	local held

	rm -f "$T/held" # of an earlier one
	mkfifo "$T/hold"
	"$WORK/watchpoints" "$@" <"$T/hold" >"$T/held" 2>&1 &
	holder=$!
	exec 9>"$T/hold"
	wait_for 20 test -s "$T/held"
	held=$(<"$T/held")
	[ "$held" = held ]
}
release()
{
	exec 9>&-
	wait $holder
	rm "$T/hold"
}
