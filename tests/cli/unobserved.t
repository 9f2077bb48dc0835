#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What could not be observed. By --refault, by region and interval, in every view: pages of /shared stayed in memory from 0.2 to
# 0.6 s, those of /other from 0.4 s on, and from 0.7 to 0.9 s no pages were taken away at all. Nothing may call that
# unused. tests/live/unobserved.t records such a process.

. "${0%/*}/../tap.sh"

tick='processes=1 pages=48 away=9 shared=0 fixed=0 full=0 took=1000 skipped=0 since=cycle faults=1 user=1000 wall=100000000'
cat >"$T/rec" <<EVENTS
# pfscope-events 2
1.000000000 note key="page_size" value="4096"
1.000000000 note key="start" value="mono"
1.000000000 note key="refault" value="method=pageout interval=100000000"
1.000200000 map pid=10 tid=10 start=100000 end=110000 perms=r--s off=0 dev=fe:00 ino=7 name="/shared"
1.000200000 map pid=10 tid=10 start=200000 end=210000 perms=r--s off=0 dev=fe:00 ino=8 name="/other"
1.000200000 map pid=10 tid=10 start=300000 end=310000 perms=rw-p off=0 dev=00:00 ino=0 name=""
1.000200000 note pid=10 tid=10 key="snapshot" value="end"
1.000400000 fault pid=10 tid=10 addr=100000 access=read mode=user
1.000500000 fault pid=10 tid=10 addr=10f000 access=read mode=user
1.000600000 fault pid=10 tid=10 addr=300000 access=write mode=user
1.000700000 fault pid=10 tid=10 addr=30f000 access=write mode=user
1.200000000 note key="refault_stayed" value="pid=10 start=100000 end=110000 pages=16 stayed=12"
1.200000100 note key="refault_tick" value="what=cycle $tick"
1.400000000 note key="refault_stayed" value="pid=10 start=100000 end=110000 pages=16 stayed=4"
1.400000050 note key="refault_stayed" value="pid=10 start=200000 end=210000 pages=16 stayed=16"
1.400000100 note key="refault_tick" value="what=cycle $tick"
1.600000000 note key="refault_stayed" value="pid=10 start=100000 end=110000 pages=16 stayed=0"
1.600000100 note key="refault_tick" value="what=cycle $tick"
1.700000000 note key="refault_tick" value="what=none $tick"
1.800000000 note key="refault_tick" value="what=none ${tick/since=cycle/since=rest}"
1.900000000 note key="refault_tick" value="what=cycle ${tick/since=cycle/since=quiet}"
1.950000000 fault pid=10 tid=10 addr=300000 access=write mode=user
1.999000000 fault pid=10 tid=10 addr=100000 access=read mode=user
EVENTS

# ---- bars: what is from before the recording and was not observed is not known ----
row()
{
	pfscope render --by-address "${@:2}" "$T/rec"
	grep -F "$1" <<<"$out" | sed 's/.*|\(.*\)|.*/\1/'
}
is "$(row /shared)" 'R??????????????R' 'bars: pages of a region that stayed'
is "$(row anon)" 'W..............W' 'bars: and of one that did not'
is "$(row /shared --from 0.65)" 'R...............' 'bars: it was observed from 0.65 s on'
is "$(row /other --from 0.65)" '????????????????' 'bars: but not the other'
is "$(row /other)" '????????????????' 'bars: a region without any fault'
pfscope render "$T/rec"
unlike "$out" 'untouched region' 'bars: that is not called untouched where only the first regions are drawn'
is "$(row /shared --to 0.1)" 'R..............R' 'bars: and none had stayed before'

# ---- report: how many pages, and for how long ----
pfscope report --csv "$T/rec"
is "$(awk -F, '$1 == "table" { for (i = 1; i <= NF; i++) at[$i] = i }
	$1 == "region" { print $at["name"], $at["unobserved"], $at["unobserved_s"] }' <<<"$out")" \
	'/shared 12 0.400000
anon 0 0.000000
/other 16 0.598999' 'report: pages and seconds by region'
pfscope report --wide "$T/rec"
like "$out" 'not observed +for s' 'report: in the text, too'
like "$out" 'every 100 ms \(pageout; not in 2 of 6 intervals\)' 'report: intervals without'

# ---- mrc: by window ----
pfscope mrc --window 200ms --series --csv "$T/rec"
is "$(grep '^series,.*exact' <<<"$out" | cut -d, -f7- | tr '\n' ' ')" \
	'4,16384,0,exact 0,0,12,exact where observed 0,0,20,exact where observed 0,0,16,exact where observed 2,8192,16,exact where observed ' \
	'mrc: at most so many more in each window'
pfscope mrc --window 200ms "$T/rec"
like "$(tr -s ' \n' ' ' <<<"$out")" 'Not observed: up to 28 of 32 pages in memory \(87.5 %\) stayed there between 0.200 and' \
	'mrc: from when to when'

# ---- plot: hatched, "?" in text ----
pfscope plot --width 92 "$T/rec"
sed -n '/^ *shared/p; /^ *other/p; /^ *anon/p' <<<"$out" | cut -c1-80 >"$T/bands"
diag "$(<"$T/bands")"
same "$T/bands" - 'plot: text' <<'BANDS'
anon 300000 64K        |:                                     ???????????  .   |
other                  |                     ??????????????????????????????????|
shared                 |:         ???????????????????????     ???????????     .|
BANDS
like "$out" '\? not observed: pages stayed in memory' 'plot: the legend has it'
{ sed '/ fault .*=[13]0/{/1\.999/!d}' "$T/rec"; echo '1.999500000 exit pid=10 tid=10'; } >"$T/ended"
pfscope plot --width 92 "$T/ended"
sed -n '/^ *shared/p; /^ *other/p; /^ *anon/p' <<<"$out" | sed 's/|[^|]*$/|/' >"$T/bands"
same "$T/bands" - 'plot: ... also of a process that has ended, and before the first fault' <<'BANDS'
other                  |             ??????????????????????????????????????????|
shared                 |????????????????????????????      ??????????????      .|
BANDS
pfscope plot -o "$T/rec.html" "$T/rec"
is "$(grep -o '"unobserved":[^"]*' "$T/rec.html")" \
	'"unobserved":[[0,0,1,380.818359,1143.75781,0],[1,0,1,762.288181,1905,0],[0,0,1,1334.49268,1715.9624,1],[1,0,1,1334.49268,1715.9624,1],[2,0,1,1334.49268,1715.9624,1]],' \
	'plot: areas of a page'
pfscope plot -o "$T/rec.svg" "$T/rec"
pfscope plot -o "$T/rec.png" "$T/rec"
sed '/refault/d' "$T/rec" >"$T/without"
pfscope plot -o "$T/without.svg" "$T/without"
ok 'plot: a picture is hatched' test "$(grep -c 'stroke="rgb(60.39\|stroke:rgb(60.39' "$T/rec.svg")" -gt 4
pfscope plot "$T/without"
unlike "$out" '\?' 'without --refault nothing is'

# ---- userfaultfd: which pages it filled is not recorded ----
cat >"$T/uffd" <<'EVENTS'
# pfscope-events 2
1.000000000 note key="page_size" value="4096"
1.000100000 exec pid=10 tid=10 comm="worker" name="/bin/worker"
1.000200000 map pid=10 tid=10 start=100000 end=108000 perms=rw-p off=0 dev=00:00 ino=0 name=""
1.000200000 map pid=10 tid=10 start=200000 end=208000 perms=r--p off=0 dev=fe:00 ino=8 name="/file"
1.000300000 fault pid=10 tid=10 addr=100000 access=read mode=user
1.000400000 remote pid=11 tid=11 target=10
EVENTS
row100000()
{
	pfscope render --by-address "$@" "$T/uffd"
	sed -n 's/.*00100000-.*|\(.*\)|.*/\1/p' <<<"$out"
}
is "$(row100000)" 'R.......' 'bars: an access by process_vm_readv'
cat >>"$T/uffd" <<'EVENTS'
1.000500000 remote pid=10 tid=11 target=10 op=filled
1.000600000 map pid=10 tid=10 start=300000 end=308000 perms=rw-p off=0 dev=00:00 ino=0 name=""
1.000700000 fault pid=10 tid=10 addr=300000 access=write mode=user
EVENTS
is "$(row100000)" 'R???????' 'bars: userfaultfd may have filled the other pages'
pfscope render --by-address --all "$T/uffd"
like "$out" '00200000-.*\|\.{8}\|' 'bars: but none of a private file'
like "$out" '00300000-.*\|W\.{7}\|' 'bars: and none of a later region'
like "$out" '\? not known: a huge page or userfaultfd' 'bars: the legend'
is "$(row100000 --at 0.00035)" 'R.......' 'bars: nor before'
done_testing
