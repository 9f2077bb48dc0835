#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pfscope export --to firefox, read by Firefox Profiler's own loader and queries (its profiler-cli): threads, faults by function,
# markers with their stacks and facts, charts, lost events and retained memory are those of the report, of the folded
# stacks and of the events. It also reads --to chrome, as threads and markers without facts.
# timeout: 600

. "${0%/*}/../tap.sh"
. "${0%/*}/../export.sh"
need_programs awk gcc jq nm node readelf setpriv xz
cli=$(dirname "$BUILD")/$(basename "$BUILD" -san)/firefox-profiler/profiler-cli.js
[ -f "$cli" ] || skip_all 'profiler-cli is missing: make deps-tests'

# It keeps the profile in a daemon, which has a socket there: the path of one has no more than 107 bytes.
export PROFILER_CLI_SESSION_DIR=$T/sessions
[ ${#T} -le 80 ] || PROFILER_CLI_SESSION_DIR=$(mktemp -d /tmp/pfscope-test.XXXXXX)
at_exit rm -rf "$PROFILER_CLI_SESSION_DIR"

# `profiler-cli load' gives its daemon half a second, which is too little on a busy machine. So the test starts the daemon, which
# ends with the test, also when that is killed.
daemon=
at_exit end_daemon
end_daemon()
{
	[ "$daemon" ] || return 0
	firefox stop >/dev/null
	{ kill "$daemon"; wait "$daemon"; } 2>/dev/null
	rm -rf "$PROFILER_CLI_SESSION_DIR"
	daemon=
}

# firefox COMMAND...: of profiler-cli.
firefox()
{
	timeout --foreground 60 node "$cli" "$@" --session test 2>&1
}

# open_profile FILE [OPTION...]: exports and loads the recording. $T/threads has its threads then, $T/info processes and the whole.
format=firefox
open_profile()
{
	recording=$1 options=("${@:2}")
	end_daemon
	mkdir -p "$PROFILER_CLI_SESSION_DIR"
	"$PFSCOPE" export --to "$format" -o "$T/profile.json" "${options[@]}" "$recording"
	setpriv --pdeathsig KILL node "$cli" --daemon "$T/profile.json" --session test >/dev/null 2>&1 &
	daemon=$!
	ok "$format, ${*##*/}: is loaded" wait_for 60 grep -q 'Profile loaded successfully' "$PROFILER_CLI_SESSION_DIR/test.log" ||
		diag "$(cat "$PROFILER_CLI_SESSION_DIR/test.log")"
	firefox thread list --sort index --json >"$T/threads"
	firefox profile info --all --json >"$T/info"
}

# column_of FILE FILTER: what jq prints of it, sorted.
column_of()
{
	jq -r "$2" "$1" | sort
}

# thread_queries HANDLE PID TID: compares the functions and stacks of one thread.
thread_queries()
{
	local thread=$1 pid=$2 tid=$3

	"$PFSCOPE" export --to folded --pid "$pid" --tid "$tid" "${options[@]}" "$recording" 2>/dev/null | sed 's/^[^;]*;//' >"$T/folded"
	firefox thread functions --thread "$thread" --limit 0 --json >"$T/functions"
	firefox thread samples-top-down --thread "$thread" --max-lines 100000 --json >"$T/tree"
	jq -r '.functions[] | "\(.selfSamples) \(.totalSamples) \(.name | gsub(";"; ":"))"' "$T/functions" |
		awk '{ self = $1; total = $2; sub(/^[0-9]+ [0-9]+ /, ""); s[$0] += self; t[$0] += total }
			END { for (f in t) print s[f], t[f], f }' | sort >"$T/functions.got"
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); k = split($0, at, ";"); self[at[k]] += n
		split("", seen); for (i = 1; i <= k; i++) if (!seen[at[i]]++) all[at[i]] += n }
		END { for (f in all) print self[f] + 0, all[f], f }' "$T/folded" | sort >"$T/functions.wanted"
	same "$T/functions.got" "$T/functions.wanted" "... thread $tid: $(wc -l <"$T/functions.wanted") functions, alone and with those that they called"
	jq -r 'def walk($above): ($above + [.name | gsub(";"; ":")]) as $path |
		(select(.selfSamples > 0) | "\($path[1:] | join(";")) \(.selfSamples)"), (.children[] | walk($path));
		.regularCallTree | walk([])' "$T/tree" | sort >"$T/tree.got"
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n } END { for (s in sum) print s, sum[s] }' "$T/folded" | sort >"$T/tree.wanted"
	same "$T/tree.got" "$T/tree.wanted" "... thread $tid: $(wc -l <"$T/folded") lines of stacks, frame by frame"
}

# all_queries: compares all of the profile with the report, the folded stacks and the events.
all_queries()
{
	local lost thread pid tid

	is "$(grep -v '^\[LOG\]' "$PROFILER_CLI_SESSION_DIR"/*.log)" '' '... without a warning'
	is "$(column_of "$T/info" .processCount) $(column_of "$T/info" '.processes[] | "\(.pid) \(.name)"')" \
		"$(report process .pid | wc -l) $(report process '"\(.pid) \(.comm // "?")"' | sort)" '... processes'
	is "$(column_of "$T/info" '.processes[] | "\(.pid) \(if .endTime then .endTime * 1000 | floor else "-" end)"')" \
		"$(report process '"\(.pid) \(if .end_s then .end_s * 1000000 | round else "-" end)"' | sort)" '... when they ended'
	is "$(jq -r '.threads[] | select(.tid != "regions") | "\(.pid) \(.tid)"' "$T/threads" | sort)" \
		"$(report thread '"\(.pid) \(.tid)"' | sort)" '... threads'

	rm -f "$T/faults" "$T/regions" "$T/losses"
	touch "$T/regions" "$T/losses"
	while read -r thread pid tid; do
		firefox thread markers --thread "$thread" --list --limit 0 --json >"$T/markers"
		jq -c --arg pid "$pid" --arg tid "$tid" '.flatMarkers[] | . + { pid: $pid, tid: $tid } +
			{ at: ((.fields // []) | map({ (.key): .formattedValue }) | add // {}) }' "$T/markers" >"$T/list"
		jq -c 'select(.markerType == "PageFault")' "$T/list" >>"$T/faults"
		jq -c 'select(.markerType == "Region")' "$T/list" >>"$T/regions"
		jq -c 'select(.markerType == "Lost")' "$T/list" >>"$T/losses"
		is "$(jq -c 'select(.markerType | IN("PageFault", "Region", "Lost") | not)' "$T/list")" '' "... thread $tid: markers have a known type"
		[ "$tid" = regions ] || thread_queries "$thread" "$pid" "$tid"
	done < <(jq -r '.threads[] | "\(.threadHandle) \(.pid) \(.tid)"' "$T/threads")

	is "$(jq -r '"\(.pid) \(.tid) \(.name)"' "$T/faults" | awk '{ n[$1 " " $2]++; major[$1 " " $2] += $3 == "Major" }
		END { for (t in n) print t, n[t], major[t] }' | sort)" "$(report thread '"\(.pid) \(.tid) \(.faults) \(.major)"' | sort)" \
		'... faults of each thread, and major ones'
	is "$(jq -r '"\(.pid) \(.at.region)"' "$T/faults" | sort | uniq -c | awk '{ $1 = $1; print }')" \
		"$(report region 'select(.faults > 0) | "\(.faults) \(.pid) \(.name)"' | awk '{ n = $1; sub(/^[0-9]+ /, ""); sum[$0] += n }
			END { for (r in sum) print sum[r], r }' | sort -k2)" '... faults of each region'
	is "$(jq -r '.at.faultClass // "none"' "$T/faults" | sort | uniq -c | awk '{ $1 = $1; print }' | sort)" \
		"$(report class 'select(.faults > 0) | "\(.faults) \(.class)"' | sort)" '... faults of each class'
	same_faults < <(jq -r --argjson base "$(start_ns)" '"\((.start * 1000000 | round) + $base) \(.tid) \(.at.addr) \(.at.access // "") \(.at.mode // "")"' \
		"$T/faults")
	same_regions < <(jq -r '"\(.pid) \(.at.range) \(.at.perms) \(.at.faults | gsub(","; "")) \(.name)"' "$T/regions")
	lost=$("$PFSCOPE" report --json "$recording" | jq .recording.lost)
	is "$(jq -s 'map(.data.count) | add // 0' "$T/losses")" $((lost * $(report process .pid | wc -l))) "... $lost lost events, in each process"

	firefox counter list --json >"$T/counters"
	is "$(column_of "$T/counters" '.counters[] | select(.name == "faults") | "\(.pid) \(.stats[0].value)"')" \
		"$(report process '"\(.pid) \(.faults)"' | sort)" '... the charts of faults add up'
}

# resident: of each process lines "PID BYTES": at the end by the chart, and what is retained of the allocations.
resident()
{
	local handle pid main

	while read -r handle pid main; do
		firefox counter info "$handle" --json >"$T/counter"
		firefox thread functions --thread "$main" --strategy native-retained-allocations --limit 0 --json >"$T/retained"
		echo "$pid $(jq '.overTime[-1].value' "$T/counter") $(jq '[.functions[].selfSamples] | add // 0' "$T/retained")"
	done < <(jq -r '.processes[] | .pid as $pid | .threads[0].threadHandle as $main |
		.counters[] | select(.name == "resident") | "\(.counterHandle) \($pid) \($main)"' "$T/info") | sort
}

# ---- known facts ----

open_profile "$DATA/export/facts.events"
all_queries
is "$(jq -r '.name, .platform' "$T/info")" 'a"b;c </script> – x86_64
x86_64' 'its name and machine'
is "$(jq -c '.context.rootRange | [.start, .end]' "$T/info")" '[0,9.000002]' 'it shows the time of the recording, with its last event'
is "$(firefox thread info --thread t-1 --json | jq -c '[.tid, .createdAt, .endedAt]')" '["8",4,9]' 'a thread begins and ends'
major=$(jq -r 'select(.name == "Major fault").handle' "$T/faults")
is "$(firefox marker info "$major" --json | jq -r '"\(.category.name) \(.tooltipLabel) \(.start) \(.schema.description)",
	(.fields[] | "\(.label): \(.formattedValue)")')" "Major fault /d/a<i>' 3 A page fault
Address: 0x7ff300000000
Region: /d/a<i>'
Offset in the file: 0x1e0001000
Access: read
Mode: kernel
Class: major
What the kernel had to do: unknown: no error code" 'a marker has all of a fault'
is "$(firefox marker stack "$major" --json | jq -r '.stack.frames[].nameWithLibrary')" '[kernel]!do_user_addr_fault
pr;og"x!pr;og"x+0x20
pr;og"x!pr;og"x+0x110
pr;og"x!pr;og"x+0x210' '... and its stack, with the files'
is "$(jq -r 'select(.tid == "8") | "\(.at.latency) \(.at.signal) \(.at.faultClassWitness)"' "$T/faults")" '2.500μs null null
null 11 concluded' '... latency and signal'
is "$(jq -c '[.name, .start, .duration, .data, .category]' "$T/losses")" '["Lost events",0,5.5,{"count":3,"cpu":1},"Lost events"]' \
	'lost events, and since when'
is "$(resident)" '7 8192 8192' 'resident at the end, by the chart and as retained allocations'
for strategy in native-allocations native-deallocations-memory native-deallocations-sites; do
	echo "$strategy $(firefox thread functions --thread t-0 --strategy $strategy --limit 0 --json | jq '[.functions[].selfSamples] | add')"
done >"$T/strategies"
is "$(cat "$T/strategies")" 'native-allocations 16384
native-deallocations-memory -8192
native-deallocations-sites -8192' '... of the pages that came, without those that went'
firefox zoom push 0.0015,0.0045 >/dev/null
is "$(firefox thread functions --thread t-0 --json | jq -c '[.functions[].selfSamples] | add') $(firefox counter list --json |
	jq '.counters[] | select(.name == "faults").stats[0].value')" '2 2' 'faults of a part of the time'

# ---- inlined functions ----

cat >"$T/program.c" <<'END_OF_C'
__attribute__((noinline)) int leaf(volatile char *p) { return p[0]; }
static inline __attribute__((always_inline)) int inlined(volatile char *p) { return p[1] + leaf(p + 1); }
__attribute__((noinline)) int branch(volatile char *p) { return inlined(p); }
int main(int argc, char **argv) { return branch(argv[0]) + argc; }
END_OF_C
gcc -O1 -g -fno-pie -no-pie -o "$T/program" "$T/program.c" || exit 1
address() { echo $((0x$(nm "$T/program" | awk -v f="$1" '$3 == f { print $1 }') + 4)); }
read -r off start < <(readelf -lW "$T/program" | awk '$1 == "LOAD" && /R E/ { print $2, $3; exit }')
{
	echo '# pfscope events 2'
	echo '0.001 comm pid=5 tid=5 comm="program"'
	printf '0.001 map pid=5 tid=5 start=%x end=%x perms=r-xp off=%d dev=%02x:%02x ino=%d name="%s"\n' "$start" $((start + 0x1000)) "$off" \
		"$(stat -c %Hd "$T/program")" "$(stat -c %Ld "$T/program")" "$(stat -c %i "$T/program")" "$T/program"
	echo '0.001 map pid=5 tid=5 start=10000000 end=10010000 perms=rw-p name=""'
	printf '0.001 frames pid=5 tid=5 stack=1 frames="0x%x;0x%x;0x%x"\n' "$(address leaf)" "$(address branch)" "$(address main)"
	for page in 0 1 2; do
		printf '0.002 fault pid=5 tid=5 addr=1000%d000 ip=%x access=write mode=user stack=1\n' $page "$(address leaf)"
	done
} >"$T/inlined.events"
open_profile "$T/inlined.events"
all_queries
is "$(firefox marker stack "$(jq -sr '.[0].handle' "$T/faults")" --json | jq -r '.stack.frames[].nameWithLibrary' | paste -sd' ')" \
	'program!leaf program!inlined program!branch program!main' 'a marker has inlined functions, too'

# ---- recordings ----

open_profile "$DATA/dat/stacks.dat"
all_queries
open_profile "$DATA/dat/lost.dat"
all_queries
is "$(jq -c '.data' "$T/losses")" "$("$PFSCOPE" events "$recording" | awk '$2 == "lost" { split($3, cpu, "="); split($4, count, "=")
	print "{\"count\":" count[2] ",\"cpu\":" cpu[2] "}" }')" 'which events were lost'
xz -dc "$DATA/screens/python.events.xz" >"$T/python.events"
open_profile "$T/python.events"
all_queries

# So far no page has gone but those of regions that have.
for moment in "$ROOT/examples/tour.events 800us" "$ROOT/examples/tour.events 1500us"; do
	open_profile "${moment% *}" --at "${moment#* }"
	is "$(resident)" "$(report region 'select(.gone == 0) | "\(.pid) \((.touched + .around + .huge) * 4096)"' |
		awk '{ sum[$1] += $2 } END { for (p in sum) print p, sum[p], sum[p] }' | sort)" '... resident, by the chart and as retained allocations'
done

# ---- Chrome's format ----

format=chrome
for file in "$DATA/export/facts.events" "$DATA/dat/lost.dat" "$T/python.events"; do
	open_profile "$file"
	while read -r thread pid tid; do
		firefox thread markers --thread "$thread" --list --limit 0 --json >"$T/markers"
		echo "$pid $tid $(jq '[.flatMarkers[] | select(.name == "Fault" or .name == "Major fault")] | length' "$T/markers")"
		jq -r --arg pid "$pid" '.flatMarkers[] | select(.duration) | "\($pid) \(.name)"' "$T/markers" >>"$T/spans"
	done < <(jq -r '.threads[] | select(.pid != "0") | "\(.threadHandle) \(.pid) \(.tid | sub(".*:"; ""))"' "$T/threads") |
		sort >"$T/faults.got" # lost events are in a process 0
	is "$(cat "$T/faults.got")" "$(report thread '"\(.pid) \(.tid) \(.faults)"' | sort)" '... faults of each thread'
	is "$(sort "$T/spans" | comm -13 - <(report region 'select(.gone != null and .perms != "") | "\(.pid) \(.name)"' | sort))" '' '... regions'
	rm "$T/spans"
done

done_testing
