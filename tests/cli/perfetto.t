#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pfscope export --to perfetto and --to chrome, read by Perfetto's own trace processor: processes, threads, faults with their
# facts and call paths, regions, charts and lost events are those of the report, of the folded stacks and of the events.
# timeout: 600

. "${0%/*}/../tap.sh"
. "${0%/*}/../export.sh"
need_programs awk jq node perl sqlite3 xz
processor=$(dirname "$BUILD")/$(basename "$BUILD" -san)/perfetto
[ -f "$processor/engine.mjs" ] || skip_all 'the trace processor is missing: make deps-tests'

# What is asked of each trace: NAME, and SQL in one line. [ADDRESS] is an argument of a slice.
of_thread='slice s JOIN thread_track k ON s.track_id = k.id JOIN thread t USING (utid) JOIN process p USING (upid)'
queries=(
	problems "SELECT name, idx, value FROM stats WHERE severity IN ('error', 'data_loss') AND value != 0"
	processes 'SELECT pid, name FROM process WHERE pid'
	threads 'SELECT p.pid, t.tid, t.name FROM thread t JOIN process p USING (upid) WHERE pid'
	faults "SELECT s.name, p.pid, t.tid, CAST(s.ts AS TEXT), [ADDRESS], [ACCESS], [MODE], [REGION], [FAULT_CLASS], [OFFSET] FROM $of_thread WHERE s.name LIKE '%ault'"
	facts "SELECT s.name, [CLASS], [HOW], [WITNESS], [LATENCY], [SIGNAL] FROM $of_thread WHERE s.name LIKE '%ault' ORDER BY s.ts"
	paths "SELECT p.pid, t.tid, c.callsite_id FROM $of_thread JOIN __intrinsic_track_event_callstacks c ON c.slice_id = s.id"
	callsites 'SELECT c.id, c.parent_id, f.name, m.name FROM stack_profile_callsite c JOIN stack_profile_frame f ON c.frame_id = f.id JOIN stack_profile_mapping m ON f.mapping = m.id'
	regions 'SELECT p.pid, s.name, [RANGE], [PERMISSIONS], [FAULTS], s.ts, s.dur FROM slice s JOIN process_track k ON s.track_id = k.id JOIN process p USING (upid) WHERE [RANGE] IS NOT NULL'
	lost "SELECT [COUNT], s.ts, s.dur, k.name FROM slice s JOIN track k ON s.track_id = k.id WHERE s.name = 'lost events'"
	charts 'SELECT p.pid, k.name, CAST(c.ts AS TEXT), c.value FROM counter c JOIN process_counter_track k ON c.track_id = k.id JOIN process p USING (upid) ORDER BY c.ts'
)

# The names of arguments in each format; addresses are numbers in Perfetto's.
arguments_perfetto='s/\[ADDRESS\]/printf("0x%x", extract_arg(s.arg_set_id, "debug.address"))/; s/\[FAULT_CLASS\]/[FAULT CLASS]/
	s/\[OFFSET\]/iif([FILE OFFSET], printf("0x%x", [FILE OFFSET]), NULL)/; s/\[WITNESS\]/[FAULT CLASS WITNESS]/
	s/\[LATENCY\]/[LATENCY NS]/; s/\[([A-Z ]*)\]/extract_arg(s.arg_set_id, "debug.\L\1")/g'
arguments_chrome='s/\[WITNESS\]/[FAULT_CLASS_WITNESS]/; s/\[LATENCY\]/[LATENCY_NS]/
	s/\[([A-Z_]*)\]/extract_arg(s.arg_set_id, "args.\L\1")/g'

# ask FORMAT RECORDING [OPTION...]: exports the recording; the answers are in $T/NAME.
ask()
{
	local i arguments=arguments_$1

	format=$1 recording=$2 options=("${@:3}")
	"$PFSCOPE" export --to "$format" -o "$T/trace" "${options[@]}" "$recording"
	for ((i = 1; i < ${#queries[@]}; i += 2)); do
		sed -E "${!arguments}" <<<"${queries[i]}" | sed "s/\"/'/g"
	done | timeout --foreground 120 node "$ROOT/tests/tools/perfetto.mjs" "$processor" "$T/trace" >"$T/answers" 2>"$T/said"
	is "$?|$(cat "$T/said")" '0|' "$format, ${recording##*/}: is read"
	for ((i = 0; i < ${#queries[@]}; i += 2)); do
		awk -v nr=$((i / 2)) '!NF { k++; next } k == nr' "$T/answers" >"$T/${queries[i]}"
	done
	is "$(cat "$T/problems")" '' '... without an error'
}

# of COLUMNS FILE: these columns, sorted.
of() { cut -f "$1" "$T/$2" | sort; }

# summed: lines "NUMBER KEY" to sums, sorted by key.
summed() { awk '{ n = $1; sub(/^[0-9]+ /, ""); sum[$0] += n } END { for (k in sum) print sum[k], k }' | sort -k2; }

# all_answers: compares all of them with the report, the folded stacks and the events.
all_answers()
{
	local base_ns=0 lost

	is "$(of 1 processes | sort -u)" "$(report process .pid | sort -u)" '... processes'
	[ "$format" = chrome ] || is "$(of 1,2 processes)" "$(report process '"\(.pid)\t\(.comm // "?")"' | sort)" '... their names'
	is "$(of 1,2 threads)" "$(report thread '"\(.pid)\t\(.tid)"' | sort)" '... threads'
	is "$(awk -F'\t' '{ n[$2 " " $3]++; major[$2 " " $3] += $1 ~ /^Major/ } END { for (t in n) print t, n[t], major[t] }' "$T/faults" |
		sort)" "$(report thread '"\(.pid) \(.tid) \(.faults) \(.major)"' | sort)" '... faults of each thread, and major ones'
	is "$(awk -F'\t' '{ print 1, $2, $8 }' "$T/faults" | summed)" \
		"$(report region 'select(.faults > 0) | "\(.faults) \(.pid) \(.name)"' | summed)" '... faults of each region'
	is "$(awk -F'\t' '{ print 1, $9 == "" ? "none" : $9 }' "$T/faults" | summed)" \
		"$(report class 'select(.faults > 0) | "\(.faults) \(.class)"' | summed)" '... faults of each class'
	[ "$format" != chrome ] || base_ns=$(start_ns)
	same_faults < <(perl -F'\t' -slane 'print join " ", $F[3] + $base_ns, @F[2, 4 .. 6]' -- -base_ns="$base_ns" "$T/faults")

	awk -F'\t' 'NR == FNR { parent[$1] = $2; gsub(";", ":", $3); name[$1] = $3; next }
		{ path = ""; for (at = $3; at != ""; at = parent[at]) path = name[at] (path == "" ? "" : ";" path); n[path]++ }
		END { for (path in n) print n[path], path }' "$T/callsites" "$T/paths" | sort -k2 >"$T/paths.got"
	"$PFSCOPE" export --to folded "${options[@]}" "$recording" 2>/dev/null | sed -E 's/^[^;]*;(.*) ([0-9]+)$/\2 \1/' | summed >"$T/paths.wanted"
	[ "$format" = chrome ] || same "$T/paths.got" "$T/paths.wanted" "... $(wc -l <"$T/paths.wanted") call paths, frame by frame"

	same_regions < <(awk -F'\t' '{ print $1, $3, $4, $5, $2 }' "$T/regions")
	lost=$("$PFSCOPE" report --json "$recording" | jq .recording.lost)
	is "$(awk -F'\t' '{ n += $1 } END { print n + 0 }' "$T/lost")" "$lost" "... $lost lost events"
	is "$(awk -F'\t' '$2 ~ /^resident/ { last[$1] = $4 } END { for (p in last) print p, last[p] }' "$T/charts" | sort)" \
		"$(resident_by_sqlite)" '... resident at the end, by the chart'
}

# resident_by_sqlite: of each process "PID BYTES", by the export of another format.
resident_by_sqlite()
{
	rm -f "$T/db"
	"$PFSCOPE" export --to sqlite -o "$T/db" "${options[@]}" "$recording"
	sqlite3 -separator ' ' "$T/db" 'SELECT pid, 4096 * total(r.weight) FROM process p LEFT JOIN thread t USING (process)
		LEFT JOIN resident r USING (thread) GROUP BY p.process' | sed 's/\.0$//' | sort
}

xz -dc "$DATA/screens/python.events.xz" >"$T/python.events"
for format in perfetto chrome; do
	ask $format "$DATA/export/facts.events"
	all_answers
	is "$(tr '\t' , <"$T/facts")" 'Fault,,,,,
Fault,,,,,
Major fault,major,,,,
Fault,,,,2500,
Fault,,,concluded,,11' '... the other facts of faults'
	is "$(cut -f 10 "$T/faults" | paste -sd' ')" '  0x1e0001000  ' '... offsets in files'
	is "$(cut -f 1-3 "$T/lost")" "3	$([ $format = chrome ] && echo 0 || echo 1000000)	5500000" '... since when events were lost'
	ask $format "$DATA/dat/lost.dat"
	all_answers
	ask $format "$T/python.events"
	all_answers
done

ask perfetto "$DATA/dat/stacks.dat"
all_answers
done_testing
