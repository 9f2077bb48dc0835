#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
#
# --source=perf while all processors do nothing but fault: nothing is lost with the buffers that root gets, and what is
# lost with smaller ones is counted. The witness is the kernel's count of the command's faults. FLOOD_SECONDS: for how long (4;
# `make soak` takes 60).

. "${0%/*}/live.sh"
[ -e /proc/sys/kernel/perf_event_paranoid ] || skip_all 'this kernel has no perf events'
seconds=${FLOOD_SECONDS:-4}
for_other_users
cd "$T" || exit
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
mkdir -m 777 own

# counts FILE: recorded faults, lost records, mappings, and faults that the kernel counted
counts()
{
	awk '
	{ for (i = 3; i <= NF; i++) if ($i ~ /^count=/) count = substr($i, 7) }
	$2 == "fault" { faults++ }
	$2 == "lost" { lost += count }
	$2 == "map" && / start=/ { maps++ }
	/key="counted_before"/ { match($0, /minor=[0-9]+/); counted -= substr($0, RSTART + 6, RLENGTH - 6) }
	/key="rusage"/ { match($0, /minor=[0-9]+/); counted += substr($0, RSTART + 6, RLENGTH - 6) }
	END { print faults + 0, lost + 0, maps + 0, counted + 0 }' "$1"
}

# flooded NAME OPTION... -- : records it
flooded()
{
	local name=$1

	shift
	try "$@" run --source=perf --no-bars "${options[@]}" -o own/f.ev -- "${before[@]}" "$WORK/flood" "$(nproc)" 10000 "${seconds}s"
	is "$status" 0 "$name: recorded" || diag "$err"
	read -r faults lost maps counted < <(counts own/f.ev)
	diag "$name: $faults faults, $lost lost, of $counted"
	ok "$name: there are many" test "$faults" -gt $((seconds * 10000))
}

options=() before=()
flooded 'the default buffers' "$PFSCOPE"
is "$lost" 0 '... nothing is lost'
ok '... and each fault that the kernel counted is there, but those of get_user_pages' \
	test $((counted - faults)) -ge 0 -a $((counted - faults)) -le 8
rm own/f.ev

# pfscope stands still for a while. What is lost are records of mappings, too: four for each of the workload's that is there,
# and a few.
options=(--buffer-size 64)
# shellcheck disable=SC2016 # the inner shell's
before=(sh -c '(sleep 1; kill -STOP $PPID; sleep 1; kill -CONT $PPID) & exec "$@"' sh)
flooded 'small buffers' "$PFSCOPE"
ok '... some is lost' test "$lost" -gt 0
ok '... which is counted: all that the kernel counted is recorded or lost' \
	test $((faults + lost - counted)) -ge -8 -a $((faults + lost - counted)) -le $((counted / 1000 + 100))
is "$("$PFSCOPE" report own/f.ev | said_lost)" "$lost" '... and the report says so'
rm own/f.ev

# A ring reports a loss with the next record that it has room for: here there is none, for pfscope stands still until the end.
"$PFSCOPE" run --source=perf --no-bars --buffer-size 64 -o own/f.ev -- "$WORK/flood" 1 10000 20 >out 2>err &
recorder=$!
wait_for 60 pgrep -P $recorder -x flood && kill -STOP $recorder
flood=$(pgrep -P $recorder -x flood)
wait_for 60 ended "$flood"
kill -CONT $recorder
wait $recorder
is $? 0 'a recorder that stands still' || diag "$(<err)"
read -r faults lost maps counted < <(counts own/f.ev)
diag "$faults faults, $lost lost, of $counted"
ok '... what was lost at the end is counted' \
	test $((faults + lost - counted)) -ge -8 -a $((faults + lost - counted)) -le $((counted / 1000 + 100)) -a "$lost" -gt 100000
rm own/f.ev

options=() before=()
if "${nobody[@]}" "$PFSCOPE" doctor --json | grep -q '"name":"without root","state":"ok"'; then
	flooded 'an ordinary account' "${nobody[@]}" "$PFSCOPE"
	ok '... recorded, lost, or in kernel mode' \
		test $((counted - faults - lost)) -ge $((-counted / 1000 - 100)) -a $((counted - faults - lost)) -le $((counted / 100 + 100))
fi
done_testing
