# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What a recording of tests/workload/phases has in each interval of --refault, for refault-hide.guest and hide-ftrace.guest.

# intervals RECORDING SAID PAGES: for each interval of hiding that lies in one phase of tests/workload/phases, as does the one
# before it: the phase, how many pages of the phase faulted, how many others of the workload's, how often the one of the phase
# did that faulted most.
# With `first' behind them: how many faults on the workload's pages are first ones.
# What was done is noted when it is over: an interval begins when that began. A page that is still hidden then, as those of the
# next phase are, may fault once more before its turn.
intervals()
{
	"$PFSCOPE" events "$1" | awk -v pages="$3" -v first="${4:-}" -v start="$(($(value start "$2")))" '
		function number(hex,	i, n) {
			sub(/^0x/, "", hex)
			for (i = 1; i <= length(hex); i++)
				n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		function finish(until,	p, i, here, others, most) {
			for (p = 0; p < phases; p++)
				if (before > from[p] && until < to[p]) {
					for (i in times)
						if (int(i / pages) == p) {
							here++
							if (times[i] > most)
								most = times[i]
						} else
							others++
					print p, here + 0, others + 0, most + 0
				}
			delete times
			before = since
			since = until
		}
		FNR == NR {
			if (/^phase=/) { from[phases + 0] = $2; to[phases++] = $3 }
			next
		}
		{ split($1, t, "."); ns = t[1] * 1000000000 + t[2] }
		/key="refault_tick" value="what=cycle/ {
			match($0, / began=[0-9]+/)
			ends[nr_ends++] = substr($0, RSTART + 7, RLENGTH - 7) + 0
		}
		$2 == "fault" {
			for (i = 3; i <= NF; i++)
				if ($i ~ /^addr=/)
					page = int((number(substr($i, 6)) - start) / 4096)
			if (page >= 0 && page < pages * phases) {
				firsts += !/ how=hidden/
				at[nr] = ns
				of[nr++] = page
			}
		}
		END {
			if (first) {
				print firsts
				exit
			}
			for (i = e = 0; i < nr || e < nr_ends;)
				if (e < nr_ends && (i >= nr || ends[e] <= at[i]))
					finish(ends[e++])
				else
					times[of[i++]]++
		}' "$2" -
}

# is_exact RECORDING SAID PAGES: there are intervals of each of the four phases, and in each of them exactly those pages that are
# used fault, once each. $seen: what intervals() says.
is_exact()
{
	seen=$(intervals "$@")
	[ "$(awk '{ phases[$1]; rest[$2 " " $3 " " $4] } END { for (r in rest) print length(phases), r }' <<<"$seen")" = "4 $3 0 1" ]
}

# each_interval NAME RECORDING PAGES COMMAND...: the command records it, with its output in `said' and `err', and it is exact. A
# busy machine may keep the program from its pages for an interval: there are three tries.
each_interval()
{
	local name=$1 recording=$2 pages=$3 seen try status

	shift 3
	for try in 1 2 3; do
		"$@" >said 2>err
		status=$?
		! is_exact "$recording" said "$pages" || break
		diag "$name, try $try:" "$seen"
	done
	is "$status|$(<err)" '0|' "$name: it is recorded"
	ok "$name: in each interval exactly the $pages pages that are used fault, once each" is_exact "$recording" said "$pages"
}
