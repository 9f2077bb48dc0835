#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# Fault-around: the pages that are drawn as mapped by it are those that the kernel has mapped (tests/workload/cached
# prints its own pagemap), and where pfscope cannot know it, it says `at most`.

. "${0%/*}/live.sh"
need_programs sqlite3
cd "$T" || exit
[ -d /sys/kernel/tracing/events/filemap/mm_filemap_map_pages ] || skip_all 'this kernel does not report fault-around'
case $(stat -f -c %T .) in ext2/ext3 | xfs | btrfs) ;; *) skip_all 'no local file system here' ;; esac

# record OPERATION...: records the workload with its file `file` of 64 pages; $truth is a 0 or 1 for each page of it.
record()
{
	truth=$("$PFSCOPE" run -o rec.dat -- "$WORK/cached" "$PWD/file" "$@" 2>bars | grep -x "[01]*")
}

# drawn: the same as the bars have it, where ? stands for a page that may be mapped.
drawn()
{
	"$PFSCOPE" render --full --region "*/file" rec.dat | sed -n 's/^ *[0-9a-f]* |\(.*\)|$/\1/p' | tr -d '\n' |
		tr '.<' '0?' | tr -c '0?' 1
}

# agree WHAT: what is known is true.
agree()
{
	local said i wrong=''

	said=$(drawn)
	for ((i = 0; i < ${#truth}; i++)); do
		[ "${said:i:1}" = "${truth:i:1}" ] || [ "${said:i:1}" = '?' ] || wrong+=" $i"
	done
	is "${#said}:$wrong" "${#truth}:" "$1"
	[ -z "$wrong" ] || diag "kernel $truth" "drawn  $said"
}

# exported: the same as an export has it, where 0 also stands for a page that may be mapped.
exported()
{
	rm -f rec.db
	"$PFSCOPE" export --to sqlite -o rec.db rec.dat
	sqlite3 rec.db "select r.page - g.start / 4096 from resident r, region_key k, region g
		where k.region_key = r.region_key and k.name like '%/file' and g.name like '%/file' and r.weight > 0" |
		awk '{ there[$1] = 1 } END { for (i = 0; i < 64; i++) printf "%d", there[i] }'
}

# export_agrees WHAT: resident are pages that are mapped, and all that are drawn as such.
export_agrees()
{
	local got said i wrong=''

	got=$(exported)
	said=$(drawn)
	for ((i = 0; i < ${#truth}; i++)); do
		[ "${got:i:1}" = "${truth:i:1}" ] || [ "${got:i:1}${said:i:1}" = '0?' ] || wrong+=" $i"
	done
	is "${#got}:$wrong" "${#truth}:" "$1"
	[ -z "$wrong" ] || diag "kernel $truth" "export $got" "drawn  $said"
}

"$WORK/cached" file make 64 >/dev/null

# A page that is still being read, or that the kernel locks just then, is passed over: then once more.
for try in 1 2 3 4 5 6; do
	"$WORK/cached" file drop page 20 page 21 pause 20 >/dev/null
	record map touch 20
	[ "${truth//0/}" != 11 ] || break
done
is "$(drawn)" "$truth" 'two pages in the page cache: fault-around maps the other one'
is "${truth//0/}" 11 '... and that is what happened'
export_agrees '... and exported'
like "$("$PFSCOPE" render --by-address --region '*/file' rec.dat)" '1 page mapped by fault-around' '... which is counted'

"$WORK/cached" file drop page 3 page 5 page 40 page 41 >/dev/null
record map touch 5 touch 40
is "$(drawn)" "$truth" 'pages that were there before the recording'
export_agrees '... exported'

"$WORK/cached" file drop ahead 0 page 20 >/dev/null
record map touch 2
is "$(drawn)" "$truth" 'the page that is marked for readahead is passed over'
like "${truth//0/}" '^1{2,8}$' '... there was one'

"$WORK/cached" file drop page 7 >/dev/null
record map touch 7 pause 400 touch 7 page 8 page 9 pause 10
is "$(drawn)" "$truth" 'a page that is added later was not mapped before'
export_agrees '... exported'

record drop page 20 page 21 map touch 20
agree 'two pages that the process itself has just read'
record drop page 30 map touch 30 pause 300 page 31 page 32 drop page 33 pause 300 touch 33
agree 'pages that come and go'
export_agrees '... exported'

# Read from disk: which pages of the readahead were ready when the fault went on is not known.
record drop page 20 map touch 16
agree 'a fault that reads from disk'
record drop map touch 16 touch 40
agree 'two of them'
export_agrees '... exported'

# Another process, which is not recorded, changes the page cache once pfscope has looked at it.
for try in 1 2 3 4 5 6; do
	"$WORK/cached" file drop page 50 page 51 pause 20 >/dev/null
	rm -f events
	# shellcheck disable=SC2016 # the command's shell expands it
	"$PFSCOPE" run --events -o rec.dat -- sh -c 'exec "$0" "$@" >truth' "$WORK/cached" "$PWD/file" map touch 50 pause 600 \
		>events 2>bars &
	wait_for 5 eval 'grep -qs " cached .* ino=$(stat -c %i file) .*last=1" events'
	"$WORK/cached" file page 49 page 52 >/dev/null
	wait
	truth=$(grep -x "[01]*" truth)
	[ "${truth//0/}" != 11 ] || break
done
agree 'added by another process in between: not taken for mapped'
like "$(drawn)" '11' '... what was known stays known'

# A removed file has no name to be opened by.
"$WORK/cached" gone make 64 >/dev/null
record2=$("$PFSCOPE" run -o rec.dat -- sh -c 'exec 3<gone; rm gone; "$0" /dev/fd/3 map touch 5 pause 400' "$WORK/cached" 2>bars |
	grep -x "[01]*")
truth=$record2
said=$("$PFSCOPE" render --full --region '*gone*' rec.dat | sed -n 's/^ *[0-9a-f]* |\(.*\)|$/\1/p' | tr -d '\n' |
	tr '.<' '0?' | tr -c '0?' 1)
is "$said" "$truth" 'a removed file'

# Without probes (a recording of old, of trace-cmd) nothing is certain. How many pages are tried depends on the address.
record map touch 5
"$PFSCOPE" events rec.dat | grep -v ' cached ' >old.events
like "$("$PFSCOPE" render --by-address --region '*/file' old.events)" 'at most [0-9]+ pages mapped by fault-around' 'without knowledge: at most'
like "$("$PFSCOPE" report --csv --region '*/file' old.events)" ',maybe_around,' 'and a column of the report'

# The probe leaves no trace: neither pages in the cache nor marks.
"$WORK/cached" file drop ahead 0 >/dev/null
before=$(fincore -n -o PAGES file)
record map pause 300
is "$(fincore -n -o PAGES file)" "$before" 'the probe reads nothing'
truth=$("$WORK/cached" "$PWD/file" map touch 2)
like "$(tr -d '0\n' <<<"$truth" | wc -c)" '^[23]$' '... and leaves the mark for readahead: of 4 pages one is passed over'

# Real programs: no page of a region that lives at the end is drawn as mapped and is not, or the other way round.
for program in 'python3 -c print(1)' 'git --version' 'make --version' 'perl -e 1'; do
	[ -n "$(type -p "${program%% *}")" ] || continue
	rm -rf truths
	mkdir truths
	"$PFSCOPE" run -o rec.dat -- "$WORK/pagemap" truths $program >/dev/null 2>bars
	wrong=0 unknown=0
	for file in truths/*.pages; do
		pid=$(sed -n '1s/.* pid=\([0-9]*\) .*/\1/p' "$file")
		at=$(sed -n '1s/^# t0=\([0-9]*\) .*/\1/p' "$file")
		"$PFSCOPE" pages --pid "$pid" --at "@${at:0:-9}.${at: -9}" rec.dat >said
		"$TOOLS/pagesdiff" "$file" said >result 2>&1
		grep -q 'around .*present\|around .*absent' result && diag "$(grep around result | head -n 5)"
		wrong=$((wrong + $(grep -c 'around' <(grep -v ' pages: ' result))))
		unknown=$((unknown + $(grep -c ' fault-around ' said)))
	done
	is "$wrong" 0 "$program: no page is wrong because of fault-around"
	diag "$unknown runs of pages unknown because of it"
done
done_testing
