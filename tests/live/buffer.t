#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 120
#
# A buffer that is found more than half full is noted; nobody who comes late, but not too late, loses anything.

. "${0%/*}/live.sh"

# late PAGES ARG...: pfscope sleeps while so many pages are touched, so it finds them all in the buffer; then again.
# The notes of its recording are in $T/notes.
late()
{
	local pages=$1

	shift
	# shellcheck disable=SC2016 # the inner shell's
	env ${AS:+SUDO_UID="$AS" SUDO_GID="$AS"} "$PFSCOPE" run --strict --no-bars -o "$T/late.dat" "$@" -- taskset -c 0 \
		sh -c 'for i in 1 2; do
			kill -STOP $PPID
			"$0" "$1" write anon >/dev/null
			kill -CONT $PPID
			sleep 0.5
		done' "$WORK/touch" "$pages" 2>"$T/log"
	status=$?
	"$PFSCOPE" events "$T/late.dat" | sed -n 's/.* note .*key="buffer_found" value="\(.*\)"$/\1/p' >"$T/notes"
}

taskset -c 0 true 2>/dev/null || skip_all 'there is no processor 0 for this test'
for_other_users
chmod 777 "$T"

late 160000
is "$status" 0 'late, but not too late: nothing is lost' || diag "$(<"$T/log")"
like "$(<"$T/notes")" '^percent=[67][0-9] kb=8192 cpu=0$' 'the buffer that was found more than half full is noted, and no other'
rm -f "$T/late.dat"
AS=65534 late 160000
like "$status $(<"$T/notes")" '^0 percent=[67][0-9] kb=8192 cpu=0$' 'behind sudo as well'
rm -f "$T/late.dat"
late 70000
is "$status $(<"$T/notes")" '0 ' 'less than half full: nothing to be noted'
late 160000 -b 16384
is "$status $(<"$T/notes")" '0 ' 'of a larger buffer it is less than half'

# Late again and again, while all processors fault.
"$PFSCOPE" run --strict --no-bars -o "$T/late.dat" -- sh -c '"$0" 2 2000 4s >"$1" &
	for i in 1 2 3 4 5 6; do sleep 0.15; kill -STOP $PPID; sleep 0.08; kill -CONT $PPID; done; wait' \
	"$WORK/flood" "$T/flood" 2>"$T/log"
is $? 0 'stopped now and then while all processors fault: nothing is lost' || diag "$(<"$T/log")"
pages=$(value pages "$T/flood")
faults=$("$PFSCOPE" report --csv "$T/late.dat" | awk -F, '$1 == "table" { for (i in column) delete column[i]
		for (i = 1; i <= NF; i++) column[$i] = i }
	$1 == "process" { n += $column["faults"] } END { print n + 0 }')
ok "and every one of $pages pages is in it" test "$faults" -ge "$pages"

done_testing
