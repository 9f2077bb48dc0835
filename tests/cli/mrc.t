#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pfscope mrc: published strings as event lines, every option, every form, and what it refuses.

. "${0%/*}/../tap.sh"
need_programs "$TOOLS/well_formed"

# lines PAGE...: event lines of process 7 referencing these pages of a mapping, a millisecond apart from 0.001 on.
lines()
{
	printf '# pfscope events 1\n0.000000001 note key="start" value="mono"\n'
	printf '0.000000002 map pid=7 tid=7 start=10000000 end=20000000 perms=rw-p name=""\n'
	printf '%s\n' "$@" | awk '{ printf "%d.%09d fault pid=7 tid=7 comm=\"loop\" addr=%x access=write mode=user\n",
		NR / 1000, NR % 1000 * 1000000, 268435456 + 4096 * $1 }'
}

# misses POLICY: "SIZE:MISSES ..." of the CSV in $out; whose process is $2, if given.
misses()
{
	awk -F, -v policy="$1" -v pid="${2-}" '$1 == "misses" && $5 == policy && $3 == pid {
		printf "%s%s:%s", nr++ ? " " : "", $6, $8 }' "$T/out"
}

form()
{
	"$TOOLS/well_formed" "$1" <"$T/out"
}

belady=$T/belady
lines 1 2 3 4 1 2 5 1 2 3 4 5 >"$belady"

# ---- policies and sizes ----

pfscope mrc --csv --policy lru,opt,clock --sizes 3,4 "$belady"
is "$status|$err" '0|' 'the string of Belady, Nelson and Shedler'
is "$(misses lru)" '3:10 4:8 5:5' 'LRU'
is "$(misses opt)" '3:7 4:6 5:5' 'OPT'
is "$(misses clock)" '3:9 4:10 5:5' 'CLOCK without hits in time: as FIFO'
ok 'its CSV' form csv
lines 7 0 1 2 0 3 0 4 2 3 0 3 2 1 2 0 1 7 0 1 >"$T/silberschatz"
pfscope mrc --csv --policy lru --policy opt --sizes 3 "$T/silberschatz"
is "$(misses lru)|$(misses opt)" '3:12 6:6|3:9 6:6' 'the string of Silberschatz, Galvin and Gagne'
lines 2 3 2 1 5 2 4 5 3 2 5 2 >"$T/stallings"
pfscope mrc --csv --policy lru,clock,clock0,opt --sizes 3 "$T/stallings"
is "$(misses lru)|$(misses clock)|$(misses opt)" '3:7 5:5|3:8 5:5|3:6 5:5' 'the string of Stallings' ||
	diag "$out"
is "$(misses clock0)" '3:6 5:5' 'new pages with their bits clear'

pfscope mrc --csv "$belady"
is "$(misses lru)" '1:12 2:12 4:8 5:5' 'without sizes: powers of two and the smallest with nothing but first references'
pfscope mrc --csv --policy clock,opt "$belady"
is "$(misses lru)" '' 'only the policies asked for'
pfscope mrc --csv --sizes 20K,3,3,1M,12K "$belady"
is "$(misses lru)" '3:10 5:5 256:5' 'sizes in bytes, sorted, each once'
pfscope mrc --csv --sizes 4097M,1G,1T "$belady"
is "$(misses lru)" '5:5 262144:5 1048832:5 268435456:5' 'M, G and T'
sed '1a 0.000000000 note key="page_size" value="16384"' "$belady" >"$T/large-pages"
pfscope mrc --csv --sizes 32K "$T/large-pages"
like "$out" $'\nmisses,,,,lru,2,32768,' 'bytes by the page size of the recording'
pfscope mrc --sizes 8K "$T/large-pages"
like "$status|$out|$err" '^1\|\|pfscope: --sizes: 8192 bytes are less than a page, which is 16384 bytes$' 'less than a page'

# ---- text ----

pfscope mrc "$belady"
like "$out" '^Seen: 12 references to 5 pages: 5 first touches, 7 repeated; all exact'$'\n' 'text: what is seen'
like "$out" $'\n''Not seen: accesses to a page between two of its faults;' 'text: what is not'
like "$out" $'\n''  lru         4     16K       8         3    0\.666667  #{16}'$'\n' 'text: a row with a bar'
is "$(awk 'length > 80' "$T/out")" '' 'no line is wider than 80 columns'
COLUMNS=120 pfscope mrc "$belady"
like "$out" $'0\.666667  #{16}\n' 'a wider bar where there is room'
COLUMNS=60 pfscope mrc "$belady"
unlike "$out" '#' 'and none where there is not'
lines 1 2 3 >"$T/first"
pfscope mrc "$T/first"
like "$(tr -s '\n ' ' ' <<<"$out")" 'No page was seen referenced a second time: every miss is a first touch' \
	'a recording of first touches says that it is one'

# ---- JSON ----

pfscope mrc --json --policy lru,opt --window 2ms,1s --series "$belady"
is "$(form json)" 1 'JSON: one value'
like "$out" '"seen": "12 references to 5 pages: 5 first touches, 7 repeated; all exact"' 'JSON: what is seen'
like "$out" '"unseen": "accesses to a page between two of its faults; misses and ratios are those of the ' 'JSON: what is not'
like "$out" '"policy": "opt", "pages": 4, "bytes": 16384, "misses": 6, "first": 5, "again": 1, "ratio": 0.500000, "references": "exact"' \
	'JSON: a row'

# ---- working sets ----

# 12 references, 1 to 12 ms: pages in a window of 2 ms are 2 but in the first one
pfscope mrc --csv --window 2ms,500us,1s,3000000ns,0.004s "$belady"
is "$(awk -F, '$1 == "working_set" { print $5, $6, $7 }' "$T/out")" \
	$'2000000 1.909091 2\n500000 0.500000 1\n1000000000 3.909091 5\n3000000 2.727273 3\n4000000 3.272727 4' \
	'working sets: mean and maximum' || diag "$out"
ok 'their CSV' form csv
pfscope mrc --csv --window 1.5s,1.000000001s,20000000000ns,0.001us,1000000000s,0.5us,3,.25s "$belady"
is "$(awk -F, '$1 == "working_set" { print $5 }' "$T/out" | tr '\n' ' ')" \
	'1500000000 1000000001 20000000000 1 1000000000000000000 500 3000000000 250000000 ' \
	'windows, to the nanosecond; without a unit, seconds'
pfscope mrc --csv --window 4ms --series "$belady"
is "$(awk -F, '$1 == "series" { print $6, $7 }' "$T/out")" $'0.004000 4\n0.008000 3\n0.012000 4' 'a series' ||
	diag "$out"
pfscope mrc --window 1ns --series "$belady"
like "$status|$out|$err" '^1\|\|pfscope: a series of more than 1000000 steps: give a longer window, or --from and --to$' \
	'a series too long'

# ---- which references ----

{
	cat "$belady"
	printf '0.02 fork pid=7 tid=7 child=8\n0.021 comm pid=8 tid=8 comm="child"\n'
	printf '0.%s map pid=8 tid=8 start=40000000 end=40010000 perms=r-xp name="/lib/code"\n' 022
	printf '0.%s fault pid=8 tid=8 addr=%s access=%s mode=user\n' 023 10001000 write 024 40000000 exec 025 10001000 read
} >"$T/two"
pfscope mrc --csv "$T/two"
like "$out" $'\nstring,,,,15,7,7,8,15,0,0,' 'all processes together'
pfscope mrc --csv --each-process "$T/two"
is "$(misses lru 7)|$(misses lru 8)" '1:12 2:12 4:8 5:5|1:3 2:2' 'each process'
like "$out" $'\nstring,2,8,child,3,2,2,1,' 'and which it is'
pfscope mrc --each-process "$T/two"
like "$out" $'^pid 7 loop\nSeen: .*\n\npid 8 child\nSeen: ' 'each process, in text'
pfscope mrc --csv --no-code "$T/two"
like "$out" $'\nstring,,,,14,6,' '--no-code'
pfscope mrc --no-code "$T/two"
like "$out" $'\nFaults that are not references: 1 excluded by the options\n' '... which is said'
pfscope mrc --csv --region 'file:code' "$T/two"
like "$out" $'\nstring,,,,1,1,' '--region'
pfscope mrc --csv --pid 8 "$T/two"
like "$out" $'\nstring,,,,3,2,' '--pid'
pfscope mrc --csv --to 0.0045 "$belady"
like "$out" $'\nstring,,,,4,4,' '--to'
pfscope mrc --csv - <"$belady"
like "$out" $'\nstring,,,,12,5,' 'standard input'

{
	cat "$belady"
	printf '0.0%s access pid=7 tid=7 addr=10001000 interval=%s\n' 30 5000000 40 10000000
} >"$T/mixed"
pfscope mrc --csv "$T/mixed"
like "$out" $'\nmisses,[^\n]*,exact and sampled\n' 'exact and sampled references are never mixed in silence'
like "$out" '12 exact, 2 sampled: each of these occurred at some time in the 10 ms before, in unknown order' '... in words'
pfscope mrc --csv --from 0.02 "$T/mixed"
like "$out" $'\nmisses,[^\n]*,sampled$' 'only sampled ones'

for file in examples/tour.events tests/data/dat/v6.dat tests/data/text/kernel.trace; do
	pfscope mrc --csv --policy lru,opt,clock --window 1ms,1s --series --each-process "$ROOT/$file"
	mv "$T/out" "$T/direct"
	pfscope events "$ROOT/$file"
	mv "$T/out" "$T/lines"
	pfscope mrc --csv --policy lru,opt,clock --window 1ms,1s --series --each-process "$T/lines"
	same "$T/out" "$T/direct" "${file##*/}: the same by way of event lines"
	ok "${file##*/}: there is something" grep -q ^misses, "$T/direct"
done

# ---- losses ----

printf '0.05 lost cpu=1 count=5\n' >>"$T/two"
pfscope mrc --strict "$T/two"
like "$status|$err" '^3\|pfscope: lost 5 events on CPU 1.*--strict' '--strict'
like "$(tr -s '\n ' ' ' <<<"$out")" ' lost 5 events on CPU 1 .*\(references may be among them\)' 'losses, in text'
pfscope mrc --csv "$T/two"
like "$status|$out" $'^0\|.*\nrecording,4096,15,0,0,0,0,0,0,5,0,0,0\n' 'losses, in CSV'

# ---- what it refuses ----

# refused STATUS REGEX NAME ARG...: one line says why, and nothing else is printed.
refused()
{
	local wanted=$1 regex=$2 name=$3

	shift 3
	pfscope mrc "$@" </dev/null
	like "$status|$out|$err" "^$wanted\|\|pfscope[^|]*: $regex" "$name"
}

for size in 0 x 1x 1KK -1 1.5 '' 1, ,1 0K 99999999999999999999 2000000000000 2000000000T K; do
	refused 2 "--sizes: .*must be pages" "--sizes '$size'" --sizes "$size" "$belady"
done
for policy in fifo LRU '' lru, lru,,opt; do
	refused 2 "--policy: .*must be lru, clock, clock0 or opt" "--policy '$policy'" --policy "$policy" "$belady"
done
for window in 0 0ns 0.1ns x 1h ms 1mss '' 1s,, -1s @1s 1.0000000001s 1000000001s 99999999999999999999s 1e3s; do
	refused 2 "--window: .*must be a time" "--window '$window'" --window "$window" "$belady"
done
refused 2 '--sizes: more than 1024 values' 'too many sizes' --sizes "$(seq -s, 1 1025)" "$belady"
pfscope mrc --csv --sizes "$(seq -s, 1 1024)" "$belady"
is "$status|$(grep -c ^misses, "$T/out")" '0|1024' 'not too many'
refused 2 '--series: no window given' '--series alone' --series "$belady"
refused 1 '.*/none: No such file' 'no such file' "$T/none"
lines </dev/null | head -n 3 >"$T/empty"
refused 1 'no references: nothing of what was asked for touched a page' 'a recording without faults' "$T/empty"
refused 1 'no references: nothing' 'another process' --pid 99 "$belady"
refused 1 'no references: 0 faults were where nothing was mapped, 0 forbidden or ended in a signal, 12 left out' 'another region' --region heap "$belady"
head -c 20000 "$DATA/dat/v6.dat" >"$T/damaged.dat"
refused 1 '.*damaged.dat' 'a damaged file' "$T/damaged.dat"
"$PFSCOPE" mrc --csv "$T/two" >/dev/full 2>"$T/err"
is "$?|$(wc -l <"$T/err")" '1|1' 'a full disk'


# ---- what has no order ----

cat >"$T/counted" <<'EOS'
# pfscope events 1
1.000000000 exec pid=10 tid=10 comm="x" name="/x"
1.000000100 map pid=10 tid=10 start=100000000 end=100400000 perms=rw-p off=0 dev=00:00 ino=0 name=""
2.000000000 fault pid=10 tid=10 addr=100000000 access=write mode=user count=5 interval=1000000000
EOS
refused 1 'no references: 5 faults were only counted' 'nothing but counted faults' "$T/counted"
sed -i '3a 1.000000200 fault pid=10 tid=10 addr=100000000 access=write mode=user\n1.000000300 huge pid=10 tid=10 order=9
3a 1.000000400 access pid=10 tid=10 addr=100000000' "$T/counted"
pfscope mrc "$T/counted"
out=$(tr -s ' \n' '  ' <<<"$out")
like "$out" '1 exact, 1 sampled: each of these occurred at some time before' 'a sampled reference without an interval is none that is exact'
like "$out" 'accesses to 511 pages that the kernel mapped, or may have mapped, by itself, until they fault, 511 of them in huge pages' 'huge pages'
like "$out" 'Faults that are not references: 5 only counted' 'counted faults are told'
pfscope mrc --json "$T/counted"
like "$out" '"mapped_by_kernel": 511, .*"mapped_in_huge_pages": 511, "counted": 5}' 'and in JSON'
pfscope mrc --region '100[0-9]*' --no-code "$T/counted"
like "$out" 'accesses to 511 pages' 'of the region'
done_testing
