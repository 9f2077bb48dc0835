#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Plots of every format: well-formed, whatever names are in the recording, and their numbers add up to its faults. What
# the mouse does in the page is plot_page.t's.

. "${0%/*}/../tap.sh"
. "${0%/*}/../browser.sh"
need_programs xmllint "$TOOLS/well_formed"

tour=$ROOT/examples/tour.events

# Fonts that libfontconfig keeps until the end are no leaks of pfscope's.
echo leak:libfontconfig >"$T/not-ours"
export LSAN_OPTIONS=${LSAN_OPTIONS:+$LSAN_OPTIONS:}suppressions=$T/not-ours:print_suppressions=0

# number_in JSON KEY
number_in()
{
	grep -oE "\"$2\":[0-9]+" <<<"$1" | head -n 1 | grep -oE '[0-9]+$'
}

# metadata FILE: what an SVG says of itself.
metadata()
{
	xmllint --xpath 'string(//*[local-name()="metadata"])' "$1"
}

# page_data FILE: the first script of a page.
page_data()
{
	sed -n '/<script type="application\/json"/,/<\/script>/p' "$1" | sed -E '1s/.*id="data">//; $s/<\/script>.*//'
}

# faults_of FILE: as the report counts them.
faults_of()
{
	"$PFSCOPE" report --by process --json "$1" 2>/dev/null | grep -oE '"faults": ?[0-9]+' | head -n 1 | grep -oE '[0-9]+$'
}

# ---- numbers ----

for name in dat/pfs-v6.dat dat/v7-zstd.dat dat/v6-buffers.dat text/kernel.trace stap/ls.events examples; do
	file=$DATA/$name
	[ $name != examples ] || file=$tour
	wanted=$("$PFSCOPE" events --csv "$file" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "kind") k = i; next }
		$k == "fault"' | wc -l)
	for format in svg html; do
		pfscope plot -o "$T/out.$format" "$file"
		is "$status [$out$err]" '0 []' "$name: $format"
	done
	text=$(metadata "$T/out.svg")
	is "$("$TOOLS/well_formed" json <<<"$text")" 1 "$name: what the SVG says is JSON"
	drawn=$(number_in "$text" drawn)
	is "$drawn" "$(number_in "$text" faults)" "$name: all faults are in the picture"
	# of pfscope's own child before the command, nothing is shown
	ok "$name: that is those of the recording" test "$drawn" -le "$wanted" -a "$drawn" -ge $((wanted * 9 / 10)) -a "$drawn" -gt 0
	is "$(page_data "$T/out.html" | "$TOOLS/well_formed" json)" 1 "$name: what the page has is JSON"
	is "$(page_data "$T/out.html" | sed -nE 's/^"cells":\[\[(.*)\]\]\}/\1/p' | sed 's/\],\[/\n/g' | awk -F, '{ n += $6 } END { print n }')" \
		"$drawn" "$name: and its cells add up to the same"
	"$PFSCOPE" plot "$file" >"$T/text"
	is "$(sed -nE 's/^.{22} \|.*\| +([0-9,]+)$/\1/p' "$T/text" | tr -d , | awk '{ n += $1 } END { print n }')" "$drawn" \
		"$name: the bands in characters add up to it, too"
done
is "$(faults_of "$tour")" "$(number_in "$(metadata "$T/out.svg")" faults)" 'report counts as many'

# ---- formats ----

for format in png pdf svg html; do
	pfscope plot --format $format "$tour"
	is "$status [$err]" '0 []' "$format on standard output"
	mv "$T/out" "$T/one.$format"
done
is "$(head -c 8 "$T/one.png" | od -An -tx1 | tr -d ' ')" 89504e470d0a1a0a 'a PNG begins like one'
is "$(head -c 5 "$T/one.pdf")$(tail -c 6 "$T/one.pdf" | tr -d '\n')" %PDF-%%EOF 'a PDF begins and ends like one'
(cd "$T" && "$PFSCOPE" plot -o - --format pdf "$tour" >"$T/minus")
is "$(head -c 5 "$T/minus") $(ls "$T/-" 2>/dev/null)" '%PDF- ' '-o - is standard output'
for by in access class thread fault-class; do
	pfscope plot --format svg --color-by $by "$tour"
	like "$(sed -n 's/.*"colors":\({[^}]*}\).*/\1/p' "$T/out")" "^\{\"" "--color-by $by: has a legend"
	is "$(sed -n 's/.*"colors":{\([^}]*\)}.*/\1/p' "$T/out" | grep -oE ':[0-9]+' | tr -d : | awk '{ n += $1 } END { print n }')" \
		151 "--color-by $by: it adds up"
done
pfscope plot --format png --heat --size 700x900 "$tour"
is "$(head -c 24 "$T/out" | tail -c 8 | od -An -tx1 | tr -d ' ')" 000002bc00000384 '--size is that of the picture'
{
	echo '# pfscope events 1'
	for ((i = 0; i < 150; i++)); do
		echo "1.0 map pid=1 tid=1 start=$((i + 1))0000 end=$((i + 1))4000 perms=r--p off=0 dev=fe:00 ino=$((i + 9)) name=\"/lib/$i\""
		echo "1.$((i + 100)) fault pid=1 tid=1 addr=$((i + 1))0000"
	done
} >"$T/regions"
for size in 1200x1000 1200x2000 1200x2900; do
	pfscope plot --size $size --format svg "$T/regions"
	text=$(metadata "$T/out")
	is "$(number_in "$text" drawn)" 150 "150 regions, --size $size: all faults are in the picture"
	named+=" $(grep -oE '"[0-9]+",1\]' <<<"$text" | wc -l)"
done
is "$named" ' 43 99 150' 'a higher picture names more of them'

# Every size draws every recording, and nothing is written beyond its edge.
{
	echo '# pfscope events 1'
	for ((i = 0; i < 20; i++)); do
		echo "1.0 fork pid=1 tid=1 child=$((i + 2))"
		echo "1.1 comm pid=$((i + 2)) tid=$((i + 2)) comm=\"a-worker-of-many\""
		echo "1.2 map pid=$((i + 2)) tid=$((i + 2)) start=10000 end=14000 perms=rw-p off=0 dev=00:00 ino=0 name=\"\""
		echo "1.3 fault pid=$((i + 2)) tid=$((i + 2)) addr=10000"
		echo "1.4 fault pid=$((i + 2)) tid=$((i + 2)) addr=${i}00000"
	done
	echo '1.5 lost count=3'
	echo '1.6 fault pid=1 tid=1 addr=10000'
} >"$T/processes"
# lowest FILE: where the lowest character of an SVG stands, rounded up.
lowest()
{
	grep -oE '<use [^>]*y="[0-9.]+"' "$1" | grep -oE ' y="[0-9]+' | tr -dc '0-9\n' | sort -n | tail -n 1
}
for size in 400x300 400x1200 600x800 800x600 1024x768 1280x720 4000x4000; do
	for name in regions processes; do
		pfscope plot --size $size --color-by thread --format svg "$T/$name"
		is "$status [$err]" '0 []' "$name, --size $size: is drawn"
		text=$(metadata "$T/out")
		is "$(number_in "$text" drawn)" "$(number_in "$text" faults)" "$name, --size $size: all faults are in it"
		ok "$name, --size $size: all that is written is" test "$(lowest "$T/out")" -lt ${size#*x}
	done
done
pfscope plot --title 'a <b> & "c"' --format svg "$tour"
is "$(xmllint --xpath 'string(//*[local-name()="title"])' "$T/out")" 'a <b> & "c"' '--title'
pfscope plot --format svg "$T/regions"
is "$(xmllint --xpath 'string(//*[local-name()="title"])' "$T/out")" regions 'where no command was recorded the title is the file'
for options in '--comm painter' '--tid 29316' '--from 0.0006' '--from 0.0006 --tid 29316'; do
	pfscope plot $options "$tour"
	chosen=
	[[ $options != *--[ct]* ]] || chosen+=' of the chosen threads'
	[[ $options != *--from* ]] || chosen+=' from the chosen time on'
	like "$out" "Only touches$chosen are shown; resident pages count these only" "$options: it is said"
done
pfscope plot --to 0.1 "$tour"
unlike "$out" 'Only touches' 'and not without'
pfscope plot --region nothing-like-it --format svg "$tour"
is "$status $(number_in "$(metadata "$T/out")" faults)" '0 0' 'a picture of nothing is one'
pfscope plot --region nothing-like-it --format html "$tour"
is "$status" 0 'and a page'

# ---- characters ----

for width in 40 57 80 133 200; do
	pfscope plot --width $width "$tour"
	is "$status $(awk -v w=$width 'length > w' <<<"$out" | grep '|$')" '0 ' "--width $width: no line is wider"
done
escape=$'\e'
unlike "$("$PFSCOPE" plot "$tour")" "$escape|[^ -~[:space:]]" 'into a pipe: plain ASCII'
like "$("$PFSCOPE" plot --color=always "$tour")" "$escape\[38;5;[0-9]+(;48;5;[0-9]+)?m[▀▄]" '--color: half blocks in colours'
is "$("$PFSCOPE" plot --color=always "$tour" | sed -E "s/$escape\[[0-9;]*m//g; s/▀|▄|▖|▘|▌|▛|▙|▁|▂|▃|▄|▅|▆|▇|█/#/g" |
	awk 'length > 80' | grep '|$')" '' \
	'and they are as wide'

colored=$(LC_ALL=C "$PFSCOPE" plot --color=always "$tour")
unlike "$colored" '[^ -~[:space:]'"$escape"']' 'where there is no UTF-8: ASCII'
like "$colored" "$escape\[38;5;[0-9]+m[.:=+*#%@-]$escape" 'in colours'
is "$(sed "s/$escape\[[0-9;]*m//g" <<<"$colored")" "$("$PFSCOPE" plot "$tour")" 'and else as without'
for locale in C C.UTF-8; do
	unlike "$(LC_ALL=$locale "$PFSCOPE" plot --color=always "$tour" | grep 'at least')" "m[^$escape]*[0-9]+$escape" \
		"$locale: numbers of the legend have no colours"
done

# ---- next to nothing ----

{
	echo '# pfscope events 1'
	echo '10.0 note key="start" value="mono"'
	echo '10.1 map pid=1 tid=1 start=10000 end=90000 perms=rw-p off=0 dev=00:00 ino=0 name="[heap]"'
	echo '10.2 fault pid=1 tid=1 addr=10010 access=write'
} >"$T/one"
pfscope plot "$T/one"
is "$(sed -n 2p <<<"$out")" '1 fault' 'one fault has no duration'
like "$out" '\| 1 at once' 'nor a rate'
like "$out" '\| 1 page
' 'one page'
like "$out" '200\.000000 ms' 'and its time is told'
pfscope plot --region nothing-like-it "$T/one"
is "$out" $'one\nno faults' 'none at all'
{
	cat "$T/one"
	echo '400000.2 fault pid=1 tid=1 addr=80010 access=read'
} >"$T/slow"
pfscope plot --width 80 "$T/slow"
like "$out" '\| 0\.0001/s' 'a rate of less than one is one'
{
	cat "$T/one"
	for i in 1 2 3 4 5 6 7 8; do
		echo "10.20000000$i fault pid=1 tid=1 addr=${i}1010 access=read"
	done
} >"$T/fast"
pfscope plot "$T/fast"
like "$out" '\| 1G/s' 'rates are in units of 1000'
# In a picture the time is beside the name of its axis: no two characters of that line at one place.
pfscope plot --format svg "$T/one"
is "$(grep -oE '<use [^>]*/>' "$T/out" | sed -nE 's/.* x="([0-9.]+)" y="([0-9.]+)".*/\2 \1/p' | sort -n -k1,1 -k2,2 |
	awk '$1 == y && $2 - x < 2.5 { n++ } { y = $1; x = $2 } END { print n + 0 }')" 0 'no character is on another'

# ---- what rows, points and axes say ----

{
	echo '# pfscope events 1'
	echo '10.0 note key="start" value="mono"'
	echo '10.1 comm pid=100 tid=100 comm="sh"'
	for pid in 101 102; do
		echo "10.1 fork pid=100 tid=100 child=$pid"
		echo "10.2 comm pid=$pid tid=$pid comm=\"ls\""
		echo "10.3 map pid=$pid tid=$pid start=10000 end=20000 perms=rw-p off=0 dev=00:00 ino=0 name=\"\""
		echo "10.3 map pid=$pid tid=$pid start=30000 end=40000 perms=rw-p off=0 dev=00:00 ino=0 name=\"[heap]\""
		echo "10.4 fault pid=$pid tid=$pid addr=10000 access=write"
		echo "10.4 fault pid=$pid tid=$pid addr=30000 access=write"
		echo "10.5 fault pid=$pid tid=$pid addr=11000 access=read"
	done
	echo '10.6 fault pid=102 tid=102 addr=31000 access=read class=major'
	echo '10.6 fault pid=102 tid=102 addr=32000 access=read'
	echo '10.6 signal pid=102 tid=102 sig=11'
	echo '10.7 access pid=102 tid=102 addr=12000 interval=100'
	echo '10.7 lost count=3'
	echo '10.8 fault pid=102 tid=102 addr=13000 access=read'
} >"$T/rows"
pfscope plot "$T/rows"
like "$out" 'region +touches
ls \(pid 101\), child of sh 100, from 100 ms: 3 touches
' 'processes of one name have parent and start, counts have a heading and a unit'
like "$out" 'ls \(pid 102\), child of sh 100, from 100 ms: 7 touches
' 'each of them'
like "$out" 'anon 10000 64K ' 'a region without a name has its address and size'
like "$out" '\[heap\] +\|.*[MS].*\| +3' 'rare faults are letters'
like "$out" 'M major: read from disk  S ended in a signal' 'which are explained'
like "$out" ' ms
' 'a short time is in ms'
like "$out" '\+.*!.*\+
' 'losses are in the axis'
is "$(sed -n '/^region/,/^faults.s/p' <<<"$out" | sed -nE 's/^([^ ]+).*\| +([0-9]+)$/\1 \2/p' | paste -sd' ')" '[heap] 1 anon 2 [heap] 3 anon 4' \
	'rows by address, the highest on top'
sed '/comm pid=101/i10.2 note pid=101 tid=101 key="args" value="text=/bin/ls -l"' "$T/rows" >"$T/args"
pfscope plot "$T/args"
like "$out" 'ls \(pid 101\), ls -l: 3 touches
' 'a command line that is known'
pfscope plot --sort faults "$T/rows"
is "$(sed -n '/^region/,/^faults.s/p' <<<"$out" | sed -nE 's/^([^ ]+).*\| +([0-9]+)$/\1 \2/p' | paste -sd' ')" 'anon 4 [heap] 3 anon 2 [heap] 1' \
	'--sort faults: the most on top'
pfscope plot --sort faults --format svg "$T/rows"
is "$(number_in "$(metadata "$T/out")" drawn) $(number_in "$(metadata "$T/out")" drawn_sampled)" '9 1' 'and all is drawn'
pfscope plot --width 120 "$T/rows"
like "$out" 'touches touched pages
' 'a wide one has the touched pages of each row'
like "$out" 'anon 10000 64K +\|.*\|  +4 \#\#\#\# +
' 'from the lowest address on'
colored=$("$PFSCOPE" plot --color=always "$T/rows")
like "$colored" '▘|▖|▌|▛|▙' 'sampled accesses are quarters'
like "$("$PFSCOPE" plot --color=always "$tour")" '▀|▄' 'faults are halves'
unlike "$("$PFSCOPE" plot --color=always "$tour")" '▘|▖|▌|▛|▙' 'and no quarters'

for theme in light dark; do
	pfscope plot --theme $theme --format svg "$tour"
	grounds+=" $(grep -oE 'width="1200"[^>]*rgb\([0-9.%,]*\)' "$T/out" | head -n 1 | sed 's/.*rgb//')"
	pfscope plot --theme $theme --format html "$tour"
	like "$(page_data "$T/out")" "\"theme\":\"$theme\"" "--theme $theme: the page begins with it"
done
is "$grounds" ' (100%,100%,100%) (8.235294%,9.411765%,11.764706%)' '--theme: the background'

# ---- two recordings ----

# The same program twice, the second time later, at other addresses, with one library more and two faults more.
# program BASE PID LIB HEAP [MORE]
program()
{
	echo '# pfscope events 1'
	echo "$1.0 note key=\"start\" value=\"mono\""
	echo "$1.1 comm pid=$2 tid=$2 comm=\"prog\""
	echo "$1.1 map pid=$2 tid=$2 start=${4}0000 end=${4}9000 perms=rw-p off=0 dev=00:00 ino=0 name=\"[heap]\""
	echo "$1.1 map pid=$2 tid=$2 start=${3}0000 end=${3}9000 perms=r-xp off=0 dev=fe:00 ino=7 name=\"/lib/libc.so.6\""
	[ -z "${5:-}" ] || echo "$1.1 map pid=$2 tid=$2 start=${3}a000 end=${3}e000 perms=r-xp off=0 dev=fe:00 ino=8 name=\"/lib/more.so\""
	echo "$1.2 fault pid=$2 tid=$2 addr=${4}0000 access=write"
	echo "$1.3 fault pid=$2 tid=$2 addr=${4}1000 access=write"
	echo "$1.4 fault pid=$2 tid=$2 addr=${3}2000 access=read"
	[ -z "${5:-}" ] || echo "$1.5 fault pid=$2 tid=$2 addr=${4}2000 access=write"
	[ -z "${5:-}" ] || echo "$1.6 fault pid=$2 tid=$2 addr=${3}b000 access=exec"
}
program 10 100 7f00 1 >"$T/old"
program 500 200 7e12 3 more >"$T/new"
pfscope plot --compare "$T/old" "$T/new"
is "$status [$err]" '0 []' '--compare: two recordings'
is "$(head -n 2 <<<"$out")" $'A old, B new\nA 3 faults in 200 ms; B 5 faults in 400 ms' 'both are named and counted'
is "$(sed -n '/^region/,/faults.s/p' <<<"$out" | sed -nE 's/^(. [^ ]+).*\| +([0-9]+)$/\1 \2/p' | paste -sd,)" \
	'B more.so 1,A libc.so.6 1,B libc.so.6 1,A [heap] 2,B [heap] 3' 'counterparts are one above the other, in one order'
like "$out" 'A faults/s .*
B faults/s ' 'each has its charts'
for format in svg png pdf html; do
	pfscope plot --compare --format $format "$T/old" "$T/new"
	is "$status [$err]" '0 []' "--compare: $format"
	mv "$T/out" "$T/both.$format"
done
is "$(number_in "$(metadata "$T/both.svg")" drawn)" 8 'all faults of both are in the picture'
is "$(page_data "$T/both.html" | "$TOOLS/well_formed" json)" 1 'what the page has is JSON'
pfscope plot --compare --sort faults --from 0.25 "$T/old" "$T/new"
like "$out" 'A 2 faults in .*; B 4 faults in ' 'filters count from the start of each'
pfscope plot --compare "$T/old" "$T/old"
is "$(sed -n '/^region/,$p' <<<"$out" | grep -v '^A column' | sed -nE 's/^A (.*)/\1/p')" "$(sed -nE 's/^B (.*)/\1/p' <<<"$out")" 'a recording is as itself'
cp "$T/new" "$T/lossy"
echo '500.9 lost count=3' >>"$T/lossy"
pfscope plot --compare "$T/old" "$T/lossy"
like "$out" '
B .*lost' 'a remark has its recording'

# ---- hostile names ----

cat >"$T/hostile" <<'EVENTS'
# pfscope events 1
10.000000000 note key="start" value="mono"
10.000000001 note key="command" value="</script><script>alert(1)</script><!-- ]]> & \x01"
10.100000000 comm pid=100 tid=100 comm="</title><b>'&"
10.100000001 map pid=100 tid=100 start=10000 end=14000 perms=rw-p off=0 dev=fe:00 ino=6 name="/tmp/</script><img src=x onerror=alert(1)>"
10.100000002 map pid=100 tid=100 start=40000 end=44000 perms=r-xp off=0 dev=fe:00 ino=7 name="/lib/\xff\xfe\x1b]0;x\x07<!--\xe2\x80\xa8\xef\xbf\xbe\xe2\x80\xae\"\\.so"
10.200000000 fault cpu=0 pid=100 tid=100 addr=10010 ip=40010 access=write mode=user
10.350000000 fault cpu=0 pid=100 tid=100 addr=40010 ip=40020 access=read mode=user
EVENTS
pfscope plot --format svg "$T/hostile"
mv "$T/out" "$T/hostile.svg"
ok 'hostile names: the SVG is well-formed' xmllint --noout "$T/hostile.svg"
is "$(xmllint --xpath 'count(//*[local-name()="script" or local-name()="img" or local-name()="b"])' "$T/hostile.svg")" 0 \
	'nothing of them is an element in it'
is "$("$TOOLS/well_formed" json <<<"$(metadata "$T/hostile.svg")")" 1 'and its JSON is JSON'
pfscope plot --format html "$T/hostile"
mv "$T/out" "$T/hostile.html"
is "$(page_data "$T/hostile.html" | "$TOOLS/well_formed" json)" 1 'the JSON of the page is, too'
is "$(page_data "$T/hostile.html" | grep -cE "[<>&']")" 0 'there is nothing in it that HTML would act on'
is "$(grep -c '</script>' "$T/hostile.html")" 2 'a page has its own two scripts'
pfscope plot "$T/hostile"
is "$("$TOOLS/well_formed" text <"$T/out" >/dev/null && echo yes)" yes 'in characters nothing of them acts on the terminal'

# ---- what goes wrong ----

# refused STATUS WORDS ARG...: one line says so, and no file is left.
refused()
{
	local wanted=$1 words=$2

	shift 2
	pfscope plot "$@"
	is "$status $(wc -l <"$T/err")" "$wanted $([ "$wanted" = 2 ] && echo 2 || echo 1)" "$*: status $wanted"
	like "$err" "$words" "$*: says why"
}
mkdir "$T/room"
refused 2 'unknown suffix' -o "$T/room/picture" "$tour"
refused 2 'unknown suffix' -o "$T/room/picture.gif" "$tour"
refused 2 'must be svg' --format gif "$tour"
refused 2 'must be WIDTHxHEIGHT' --size 100x100 "$tour"
refused 2 'must be WIDTHxHEIGHT .* to 4000x4000' --size 1200x4001 --format svg "$tour"
refused 2 'must be WIDTHxHEIGHT' --size 1200 "$tour"
refused 2 'must be access' --color-by size "$tour"
refused 2 'two recordings are needed' --compare "$tour"
refused 2 'only one recording can be read' "$tour" "$tour"
refused 2 'only one recording can be read' --compare "$tour" "$tour" "$tour"
refused 2 '--strict: cannot be combined' --compare --strict "$tour" "$tour"
refused 1 'No such file' --compare "$tour" "$T/missing"
refused 2 'must be light or dark' --theme grey "$tour"
refused 2 '--theme: text output' --theme dark "$tour"
refused 2 'must be address or faults' --sort time "$tour"
refused 2 '--heat: cannot be combined with --color-by' --heat --color-by class --format svg "$tour"
refused 2 '--color-by: text output' --color-by class "$tour"
refused 2 '--size: only for svg, png and pdf .text' --size 800x600 "$tour"
refused 2 '--size: only for svg, png and pdf .an HTML page' --size 800x600 --format html "$tour"
refused 2 '--width: only for text' --width 80 --format svg "$tour"
refused 2 '--color: only for text' --color --format html "$tour"
refused 2 '--to: must be after --from' --from 0.1 --to 0.05 "$tour"
refused 2 '--to: must be after --from' --from @0.1 --to @0.1 "$tour"
refused 2 '--at: must not be before --from' --from 0.1 --at 0.05 "$tour"
refused 2 'unknown suffix' -o - "$tour"
refused 1 'cannot write' -o "$T/nowhere/picture.svg" "$tour"
if [ "$(command -v script)" ]; then
	for format in svg png pdf html; do
		# shellcheck disable=SC2016 # the inner shell expands it
		out=$(PICTURE=$tour FORMAT=$format script -qec '"$PFSCOPE" plot --format $FORMAT "$PICTURE"' "$T/typescript")
		like "$?|$out" '^2\|.*a picture is not written to a terminal' "$format: no terminal is flooded"
	done
else
	skip 'no script(1)' 'a picture on a terminal'
fi
for format in svg png pdf html text; do
	"$PFSCOPE" plot --format $format "$tour" >/dev/full 2>"$T/err"
	is "$? $(wc -l <"$T/err")" '1 1' "$format: a full disk is told"
done
refused 1 'No such file' -o "$T/room/picture.svg" "$T/missing"
is "$(ls -A "$T/room")" '' 'and nothing is left'

# ---- functions ----

# A recording in which a tool of these tests faults in main, and other instructions of which less is known.
program=$TOOLS/well_formed
at=$(nm "$program" | awk '$3 == "main" { print $1 }')
read -r code addr < <(readelf -lW "$program" | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
inode=$(stat -c 'dev=%Hd:%Ld ino=%i' "$program" | while IFS='=: ' read -r _ major minor _ ino; do
	printf 'dev=%x:%x ino=%d' "$major" "$minor" "$ino"
done)
off=$((16#$at - addr + code))
ip=$(printf %x $((0x560000000000 + 16#$at - addr + 7)))
cat >"$T/functions" <<EVENTS
# pfscope events 1
10.000000000 note key="start" value="mono"
10.100000000 comm pid=100 tid=100 comm="prog"
10.100000001 map pid=100 tid=100 start=10000 end=90000 perms=rw-p off=0 dev=00:00 ino=0 name="[heap]"
10.100000002 map pid=100 tid=100 start=560000000000 end=560000100000 perms=r-xp off=$((code)) $inode name="$program"
10.100000003 map pid=100 tid=100 start=570000000000 end=570000100000 perms=r-xp off=$((code)) dev=00:01 ino=1 name="$program"
10.100000004 map pid=100 tid=100 start=580000000000 end=580000100000 perms=r-xp off=$((code)) name="$program"
10.100000005 map pid=100 tid=100 start=590000000000 end=590000001000 perms=r-xp off=0 dev=00:00 ino=0 name="[vdso]"
10.100000006 map pid=100 tid=100 start=5a0000000000 end=5a0000001000 perms=r-xp off=0 dev=00:00 ino=0 name=""
10.200000000 fault cpu=0 pid=100 tid=100 addr=10010 ip=$ip access=write mode=user
10.300000000 fault cpu=0 pid=100 tid=100 addr=20010 ip=${ip/#56/57} access=write mode=user
10.400000000 fault cpu=0 pid=100 tid=100 addr=30010 ip=${ip/#56/58} access=write mode=user
10.500000000 fault cpu=0 pid=100 tid=100 addr=40010 ip=590000000123 access=write mode=user
10.600000000 fault cpu=0 pid=100 tid=100 addr=50010 ip=5a0000000456 access=write mode=user
10.700000000 fault cpu=0 pid=100 tid=100 addr=60010 ip=ffffffff81234567 access=write mode=kernel
10.800000000 fault cpu=0 pid=100 tid=100 addr=70010 ip=5b0000000789 access=write mode=user
10.900000000 fault cpu=0 pid=100 tid=100 addr=80010 access=write mode=user
10.910000000 fault cpu=0 pid=100 tid=100 addr=81010 ip=$ip access=write mode=user
EVENTS
cat >"$T/functions.wanted" <<INSTRUCTIONS
well_formed main+0x7
well_formed+0x$(printf %x $((off + 7))) (another file now)
well_formed+0x$(printf %x $((off + 7))) (no inode was recorded)
[vdso]+0x123
anon+0x456
kernel at 0xffffffff81234567
0x5b0000000789
unknown
well_formed main+0x7
INSTRUCTIONS
pfscope plot -o "$T/functions.html" "$T/functions"
is "$(page_data "$T/functions.html" | "$TOOLS/well_formed" json)" 1 'functions: what the page has is JSON'
is "$(page_data "$T/functions.html" | sed -n 's/^"symbols":\[\(.*\)\],$/\1/p')" '"","main"' 'each is in it once'
cp "$T/functions" "$T/older"
touch -d '2001-01-01' "$T/older"
pfscope plot --format html "$T/older"
like "$(page_data "$T/out" | sed -n 's/^"files"://p')" 'changed since' 'a file that is newer than the recording is not asked'

# ---- in a browser ----

if ! command -v chromium >/dev/null; then
	skip 'no chromium' 'the page in a browser'
	done_testing
	exit
fi
browser_start
browser_size 1200 900
for name in tour hostile both functions; do
	file=$T/$name
	[ $name != tour ] || file=$tour
	[ $name = both ] || pfscope plot -o "$T/$name.html" "$file"
	browser_open "$T/$name.html"
	browser_value "$(<"${0%/*}/plot_page.js")" >"$T/said"
	is "$(grep -c '^ok' "$T/said") $(grep -c 'not ok' "$T/said")" '13 0' "$name: the page finds itself in order" ||
		diag "$(<"$T/said")"
done
is "$(sed -n 's/^# instruction  *//p' "$T/said" | sort)" "$(sort "$T/functions.wanted")" 'pointed at, they are told with their functions'
done_testing
