#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pfscope export: a recording of known faults in every format, read back by programs of others where they are here, by the
# rules of the format where they are not; sums against the report; hostile names; what it refuses.

. "${0%/*}/../tap.sh"
. "$ROOT/tests/browser.sh"
need_programs jq sqlite3 perl chromium

formats='firefox perfetto pprof folded speedscope sqlite chrome html'

# 5 faults of two threads, 3 with stacks; a signal; a page that is discarded, one that is unmapped; names with everything.
cat >"$T/a.events" <<'END'
# pfscope events 2
0.001000000 note key="start" value="mono"
0.001000000 note key="command" value="a\"b;c </script>"
0.001000000 note key="machine" value="x86_64"
0.001000100 exec pid=7 tid=7 comm="prog" name="/bin/prog"
0.001001000 map pid=7 tid=7 start=400000 end=402000 perms=r-xp off=0 dev=8:1 ino=5 name="/bin/pr;og\"x"
0.001002000 map pid=7 tid=7 start=10000000 end=10010000 perms=rw-p name=""
0.001003000 map pid=7 tid=7 start=20000000 end=20004000 perms=rw-s off=4096 dev=8:1 ino=9 name="/d/a\nb\xff\\c<i>'"
0.001004000 frames pid=7 tid=7 stack=1 frames="0x400010;0x400110;0x400210"
0.001004000 frames pid=7 tid=7 stack=2 frames="do_user_addr_fault+0x1c;0x400020;0x400110;0x400210"
0.002000000 fault pid=7 tid=7 comm="prog" cpu=0 addr=10000010 ip=400010 access=write mode=user stack=1
0.003000000 fault pid=7 tid=7 comm="prog" cpu=0 addr=10001010 ip=400010 access=write mode=user stack=1
0.004000000 fault pid=7 tid=7 comm="prog" cpu=0 addr=20000000 ip=400020 access=read mode=kernel class=major stack=2
0.005000000 thread pid=7 tid=7 child=8
0.006000000 fault pid=7 tid=8 comm="wor;ker" cpu=1 addr=10002000 ip=400030 access=read mode=user latency=2500
0.006500000 lost cpu=1 count=3
0.007000000 fault pid=7 tid=8 comm="wor;ker" cpu=1 addr=50 ip=400040 access=write mode=user
0.007000100 signal pid=7 tid=8 sig=11
0.008000000 advise pid=7 tid=7 start=10000000 end=10001000 advice=dontneed
0.009000000 unmap pid=7 tid=7 start=20000000 end=20004000
0.010000000 exit pid=7 tid=8
END

# export FORMAT FILE [ARG...]: into $T/FORMAT
export_to()
{
	rm -f "$T/$1"
	pfscope export --to "$1" -o "$T/$1" "${@:2}"
}

is "$(sed 's/ lost cpu=1 count=3/ lost cpu=1/' "$T/a.events" | "$PFSCOPE" export --to folded - 2>&1 >/dev/null)" \
	'pfscope: some events are lost: --to=folded does not show where' 'losses of unknown number'
is "$(sed '/ lost cpu/d' "$T/a.events" | "$PFSCOPE" export --to folded - 2>&1 >/dev/null)" '' 'no losses'
for format in $formats; do
	export_to $format "$T/a.events"
	case $format in
	pprof | folded | speedscope | html) lost="pfscope: 3 events are lost: --to=$format does not show where" ;;
	*) lost= ;;
	esac
	is "$status|$out|$err" "0||$lost" "$format: is written"
	pfscope export --to $format "$T/a.events"
	ok "$format: is the same on standard output" cmp -s "$T/out" "$T/$format"
done

# ---- folded: the grammar of flamegraph.pl ----

is "$(cat "$T/folded")" 'prog;pr:og"x+0x210;pr:og"x+0x110;pr:og"x+0x10 2
prog;pr:og"x+0x210;pr:og"x+0x110;pr:og"x+0x20;do_user_addr_fault 1
wor:ker;pr:og"x+0x30 1
wor:ker;pr:og"x+0x40 1' 'folded: a line a stack'

# ---- speedscope ----

is "$(jq -c '.profiles[] | [.name, .type, .unit, .endValue, (.weights | add), .samples]' "$T/speedscope")" \
	'["prog (7, thread 7)","sampled","none",3,3,[[0,1,2],[0,1,3,4]]]
["wor;ker (7, thread 8)","sampled","none",2,2,[[5],[6]]]' 'speedscope: a profile a thread, root first'
is "$(jq -r '.shared.frames[4].name, .name, ."$schema"' "$T/speedscope")" 'do_user_addr_fault
a"b;c </script> (3 events lost)
https://www.speedscope.app/file-format-schema.json' 'speedscope: its frames and its names'

# ---- SQLite ----

query()
{
	sqlite3 "$T/sqlite" "$1"
}

is "$(query 'pragma integrity_check')" ok 'sqlite: the database is whole'
is "$(query 'select ts, tid, region, access, mode, class, signal, latency, function, depth from faults')" \
	'1000000|7|anon|write|user||||pr;og"x+0x10|3
2000000|7|anon|write|user||||pr;og"x+0x10|3
3000000|7|/d/a\nb\xff\\c<i>'\''|read|kernel|major|||do_user_addr_fault|4
5000000|8|anon|read|user|||2500|pr;og"x+0x30|1
6000000|8|(no known region)|write|user||11||pr;og"x+0x40|1' 'sqlite: every fault with what is known of it'
is "$(query 'select ts, page, weight from resident order by ts')" '1000000|65536|1
2000000|65537|1
3000000|131072|1
5000000|65538|1
7000000|65536|-1
8000000|131072|-1' 'sqlite: pages come with faults, and go when they are discarded and unmapped'
is "$(query 'select page, weight from page')" $'65536|-1\n131072|-1' 'sqlite: ... those have no second row'
is "$(query 'select faults, resident, page_size from run; select cpu, count, begin, end from lost')" '5|2|4096
1|3|0|5500000' 'sqlite: what was recorded, and what was lost'
is "$(query "select value from coverage where key = 'command'")" 'a"b;c </script>' 'sqlite: facts about the recording'
is "$(query 'select name, faults, died from region order by born')" "/bin/pr;og\"x|0|9000000
anon|3|9000000
/d/a\\nb\\xff\\\\c<i>'|1|8000000" 'sqlite: regions'
cp "$T/sqlite" "$T/both"
sed 's/^0\.00/0.50/; s/pid=7/pid=9/' "$T/a.events" >"$T/b.events"
pfscope export --to sqlite -o "$T/other" "$T/b.events"
sqlite3 "$T/both" "attach '$T/other' as o" \
	"$(for table in run process thread region_key fault page stack frame region lost coverage; do
		echo "insert into $table select * from o.$table;"; done)"
is "$(sqlite3 "$T/both" 'select count(*), count(distinct run), sum(weight) from faults where function is not null')" \
	'10|2|10' 'sqlite: the rows of two recordings go into one database'

# ---- pprof: Go's own reader where it is, else a decoder ----

# decode: lines "PATH VALUE" of protocol buffers on standard input; a field is a message if its path is in the list.
decode()
{
	perl -e '
		my %message = map { $_ => 1 } @ARGV;
		local $/; my $all = <STDIN>;
		sub varint { my ($s, $at) = @_; my ($v, $shift) = (0, 0);
			while (1) { my $b = ord substr $$s, $$at++, 1; $v |= ($b & 127) << $shift; $shift += 7;
				return $v if $b < 128; die "truncated" if $$at > length $$s } }
		sub walk { my ($s, $path) = @_; my $at = 0;
			while ($at < length $s) { my $tag = varint(\$s, \$at); my $here = "$path." . ($tag >> 3);
				if (($tag & 7) == 0) { print "$here ", varint(\$s, \$at), "\n" }
				elsif (($tag & 7) == 2) { my $len = varint(\$s, \$at); my $part = substr $s, $at, $len; $at += $len;
					die "truncated" if length $part < $len;
					if ($message{$here}) { print "$here {\n"; walk($part, $here); print "$here }\n" }
					else { print "$here $part\n" } }
				else { die "wire type" } } }
		walk($all, "")' "$@"
}

gzip -dc "$T/pprof" | decode .1 .2 .2.3 .3 .4 .4.4 .5 >"$T/pprof.text"
is "$?" 0 'pprof: is compressed protocol buffers'
is "$(awk '$1 == ".2.2" { sum[n++ % 2] += $2 } END { print sum[0], sum[1] }' "$T/pprof.text")" '5 8192' \
	'pprof: all faults, and what is resident at the end'
is "$(awk '$1 == ".6" { s[n++] = substr($0, 4) } $1 == ".5" && /{/ { f = "" } $1 == ".5.2" { name[i++] = $2 }
	$1 == ".2" && /{/ { stack = "" } $1 == ".2.1" { stack = stack " " $2 } $1 == ".2" && /}/ && !seen[stack]++ { order[k++] = stack }
	END { split(order[1], at, " "); for (j = 1; j in at; j++) print s[name[at[j] - 1]] }' "$T/pprof.text")" \
	'do_user_addr_fault
pr;og"x+0x20
pr;og"x+0x110
pr;og"x+0x210' 'pprof: the leaf is first'
go_pprof=$(dirname "$BUILD")/$(basename "$BUILD" -san)/go-pprof/pprof
if [ -x "$go_pprof" ]; then
	go_top=$("$go_pprof" -symbolize=none -top -sample_index=faults "$T/pprof" 2>&1)
	like "$go_top" 'Total samples = 5 ' 'pprof: go tool pprof reads it'
	is "$(awk '$1 ~ /^[0-9]+$/ { print $1, $4, $6 }' <<<"$go_top" | tr ';' : | sort)" "$(awk '
		{ n = $NF; sub(/ [0-9]+$/, ""); k = split($0, at, ";"); self[at[k]] += n
		  split("", seen); for (i = 2; i <= k; i++) if (!seen[at[i]]++) all[at[i]] += n }
		END { for (f in all) print self[f] + 0, all[f], f }' "$T/folded" | sort)" 'pprof: ... its table is that of the folded stacks'
	like "$("$go_pprof" -comments "$T/pprof" 2>&1)" '.3 events lost.' 'pprof: ... and that events are lost'
else
	diag 'no pprof of Go: it was not asked'
fi

# ---- Firefox: by the types of version 66 of its processed format; firefox.t asks its own loader ----

same_lengths='[.. | objects | select(has("length") and (.length | type) == "number") | .length as $n |
	to_entries[] | select(.value | type == "array") | select((.value | length) != $n) | .key]'
is "$(jq -c "$same_lengths" "$T/firefox")" '[]' 'firefox: the columns of each table have its length'
is "$(jq -c '[.meta.preprocessedProfileVersion, .meta.version, .meta.processType, .meta.product,
	([.meta.categories[] | select(.color == "grey")] | length), ([.meta.markerSchema[].name])]' "$T/firefox")" \
	'[66,24,0,"a\"b;c </script>",1,["PageFault","Region","Lost"]]' 'firefox: what it is'
is "$(jq -c '.shared as $s | .meta as $m | [
	(.shared.stackTable | [.frame[] | select(. >= $s.frameTable.length)], [.prefixOffset | to_entries[] | select(.value > .key)]),
	[.shared.frameTable.func[] | select(. >= $s.funcTable.length)],
	[.shared.frameTable.category[] | select(. >= ($m.categories | length))],
	[.shared.funcTable.name[] | select(. >= ($s.stringArray | length))],
	[.shared.funcTable.resource[] | select(. >= $s.resourceTable.length)],
	[.shared.resourceTable.name[] | select(. >= ($s.stringArray | length))],
	([.libs | length] - [$s.resourceTable.length]),
	[.threads[].samples.stack[] | select(. != null and . >= $s.stackTable.length)],
	[.threads[].markers.name[] | select(. >= ($s.stringArray | length))],
	[.threads[].markers.data[] | .type as $t | select([$m.markerSchema[].name | select(. == $t)] == [])],
	[.threads[] | .markers | range(.length) as $i | select(.phase[$i] != (if .endTime[$i] == null then 0 else 1 end))],
	[.threads[].samples.time | . as $t | range(1; length) | select($t[.] < $t[. - 1])],
	[.threads[].pid | select(type != "string")],
	[.counters[] | .mainThreadIndex as $i | select(.pid != "7" or $i != 0)]] | map(length) | add' "$T/firefox")" 0 \
	'firefox: every index is within its table, times ascend, pids are strings'
is "$(jq -c '[.threads[] | [.name, .isMainThread, .tid, .samples.length, .markers.length]]' "$T/firefox")" \
	'[["prog",true,"7",3,4],["wor;ker",false,"8",2,2],["regions",false,"regions",0,3]]' \
	'firefox: threads, samples, markers: one of lost events'
is "$(jq -c '.shared.stringArray as $s | .threads[0].markers.data[3] | .region |= $s[.] | .class |= $s[.] | .faultClass |= $s[.] | .access |= $s[.] |
	.mode |= $s[.]' "$T/firefox")" \
	'{"type":"PageFault","addr":"0x20000000","region":"/d/a\\nb\\xff\\\\c<i>'\''","offset":"0x1000","access":"read","mode":"kernel","class":"major","faultClass":"unknown: no error code","cause":{"stack":4}}' \
	'firefox: a marker has all of a fault'
is "$(jq -c '.threads[0].nativeAllocations | [.weightType, .weight, .memoryAddress, .threadId, .stack]' "$T/firefox")" \
	'["bytes",[4096,4096,4096,4096,-4096,-4096],[268435456,268439552,536870912,268443648,268435456,536870912],[7,7,7,8,7,7],[2,2,4,5,2,4]]' \
	'firefox: pages are allocations, freed at the same address and stack'
is "$(jq -c '[.counters[] | [.name, .category, (.samples.count | add)]]' "$T/firefox")" \
	'[["resident","Memory",8192],["faults","Faults",5]]' 'firefox: charts add up'
is "$(jq -c '[.threads[].pausedRanges[0]] | unique' "$T/firefox")" \
	'[{"startTime":0,"endTime":5.5,"reason":"collecting"}]' 'firefox: lost events are a gap'

# ---- Perfetto: by decoding ----

decode .1 .1.11 .1.11.4 .1.12 .1.12.2 .1.12.3 .1.12.5 .1.12.6 .1.12.7 .1.12.29 .1.12.17 .1.12.19 .1.60 .1.60.3 .1.60.4 .1.60.8 \
	.1.135 .1.135.1 .1.135.9 <"$T/perfetto" >"$T/perfetto.text"
is "$?" 0 'perfetto: is protocol buffers'
is "$(grep -c '^.1.11.9 3$' "$T/perfetto.text") $(awk '$1 == ".1.135.11" { sum += $2 } END { print sum }' "$T/perfetto.text")" '5 5' \
	'perfetto: an event and a sample for each fault'
is "$(awk '$1 == ".1.10" && $2 != 1 { bad++ } $1 == ".1.60.1" { track[$2] } $1 == ".1.11.11" && !($2 in track) { bad++ }
	$1 == ".1.60.5" && !($2 in track) { bad++ }
	$1 == ".1.12.5.1" { function_[$2] } $1 == ".1.12.6.1" { frame[$2] } $1 == ".1.12.6.2" { uses[$2] } $1 == ".1.12.7.2" { frames[$2] }
	$1 == ".1.12.7.1" { stack[$2] } ($1 == ".1.11.56" || $1 == ".1.135.6") { stacks[$2] }
	END { for (i in uses) bad += !(i in function_); for (i in frames) bad += !(i in frame); for (i in stacks) bad += !(i in stack)
		print bad + 0 }' "$T/perfetto.text")" 0 'perfetto: tracks are described first, and all that is referred to is there'
is "$(awk '$1 == ".1" && /{/ { ts = type = track = v = "" } $1 == ".1.8" { ts = $2 } $1 == ".1.11.9" { type = $2 }
	$1 == ".1.11.11" { track = $2 } $1 == ".1.11.30" { v = $2 } $1 == ".1" && /}/ && type == 4 && track == 11 { last = v }
	END { print last }' "$T/perfetto.text")" 8192 'perfetto: resident memory is a counter'
is "$(grep -c '^.1.11.9 1$' "$T/perfetto.text") $(grep -c '^.1.11.9 2$' "$T/perfetto.text")" '4 4' \
	'perfetto: regions and lost events are slices that end'

# ---- Chrome ----

is "$(jq -c '[([.traceEvents[] | select(.ph == "i")] | length), ([.traceEvents[] | select(.ph == "b")] | length),
	([.traceEvents[] | select(.ph == "e")] | length), ([.traceEvents[] | select(.name == "lost events") | .args.count] | add)]' \
	"$T/chrome")" '[5,3,3,3]' 'chrome: faults, regions that begin and end, lost events'
is "$(jq -c '.stackFrames as $f | [.traceEvents[] | select(.ph == "i") | $f[.sf | tostring].name]' "$T/chrome")" \
	'["pr;og\"x+0x10","pr;og\"x+0x10","do_user_addr_fault","pr;og\"x+0x30","pr;og\"x+0x40"]' 'chrome: stacks of faults'

# ---- a page ----

browser_start
browser_size 1000 600
cp "$T/html" "$T/page.html"
browser_open "$T/page.html"
is "$(browser_value 'document.title')" 'a\"b;c </script> (3 events lost): page faults by stack' 'html: its title'
is "$(browser_value "document.getElementById('sum').textContent")" '5 of 5 faults, 1 process, 2 threads' 'html: all faults'
is "$(browser_value "boxes.map(b => b.n.name + ' ' + b.n.total).sort().join('|')")" \
	'all faults 5|do_user_addr_fault 1|pr;og\"x+0x10 2|pr;og\"x+0x110 3|pr;og\"x+0x20 1|pr;og\"x+0x210 3|pr;og\"x+0x30 1|pr;og\"x+0x40 1|prog 3|wor;ker 2' \
	'html: its frames'
browser_value "document.getElementById('find').value = '0x110'; document.getElementById('find').oninput(); 1" >/dev/null
is "$(browser_value "document.getElementById('found').textContent")" '3 faults, 60.0 %' 'html: search'
read -r x y < <(browser_value "(b => Math.round(b.x + b.w / 2) + ' ' + Math.round(canvas.getBoundingClientRect().top + b.y + 9))(boxes.find(b => b.n.name === 'prog'))")
browser_mouse mouseMoved "$x" "$y"
like "$(browser_value "document.getElementById('tip').textContent")" '3 faults, 60.0 %' 'html: the pointer shows what is there'
browser_mouse mousePressed "$x" "$y" '"button":"left","clickCount":1'
browser_mouse mouseReleased "$x" "$y" '"button":"left","clickCount":1'
is "$(browser_value 'zoomed.name')" prog 'html: a click zooms'
browser_key Escape
is "$(browser_value 'zoomed.name')" 'all faults' 'html: Escape shows the whole'
browser_value "document.querySelector('[data-kind=\"2\"]').click(); 1" >/dev/null
is "$(browser_value "document.getElementById('sum').textContent")" '2 of 5 faults, 1 process, 2 threads' 'html: without writes'
browser_value "document.querySelector('[data-kind=\"2\"]').click(); document.querySelector('[data-by=class]').click(); 1" >/dev/null
is "$(browser_value "[...document.querySelectorAll('[data-class]')].map(b => b.textContent).join('|')")" \
	'no access (signal or EFAULT) 1|unknown: no error code 4' 'html: by class, which classes there are'
is "$(browser_value "new Set([...document.querySelectorAll('[data-class] i')].map(i => i.style.background)).size")" 2 '... in a colour each'
is "$(browser_value "boxes.filter(b => color(b.n) === theme().area[1]).map(b => b.n.name).join('|')")" 'pr;og\"x+0x40' \
	'... that of most faults of a frame'
read -r x y < <(browser_value "(b => Math.round(b.x + b.w / 2) + ' ' + Math.round(canvas.getBoundingClientRect().top + b.y + 9))(boxes.find(b => b.n.name === 'wor;ker'))")
browser_mouse mouseMoved "$x" "$y"
is "$(browser_value "document.getElementById('tip').textContent.split('\n').slice(-2).join('|')")" \
	'1 no access (signal or EFAULT)|1 unknown: no error code' '... the pointer shows all classes of a frame'
browser_value "document.querySelector('[data-class=\"15\"]').click(); 1" >/dev/null
is "$(browser_value "document.getElementById('sum').textContent")" '4 of 5 faults, 1 process, 2 threads' 'html: without those without access'

# ---- the class of each fault: what report --by class counts ----

# Lines "FAULTS CLASS WITNESS", sorted, of lines "CLASS|WITNESS" or "CLASS|WITNESS|FAULTS".
add_up()
{
	awk -F'|' '{ n[$1 "|" $2] += NF > 2 ? $3 : 1 } END { for (class in n) if (n[class]) print n[class] "|" class }' | sort
}

# Those of the report. An unknown class that the source does not report has no witness.
reported_classes()
{
	pfscope report --by class --json "$1"
	jq -r '.class[] | (.class + "|reported|\(.reported)"),
		(.class + (if .class | test("^unknown") then "|" else "|concluded" end) + "|\(.faults - .reported)")' "$T/out" | add_up
}

same_classes()
{
	local wanted

	wanted=$(reported_classes "$1")
	is "$(query "select ifnull(fault_class, ''), ifnull(fault_class_witness, '') from fault" | add_up)" "$wanted" "${1##*/}: sqlite has the classes of the report"
	is "$(jq -r '.traceEvents[] | select(.ph == "i") | .args | "\(.fault_class)|\(.fault_class_witness // "")"' "$T/chrome" | add_up)" \
		"$wanted" '... chrome'
	is "$(jq -r '.shared.stringArray as $s | .threads[].markers.data[] | select(.type == "PageFault") |
		"\($s[.faultClass])|\(if .faultClassWitness then $s[.faultClassWitness] else "" end)"' "$T/firefox" | add_up)" \
		"$wanted" '... firefox'
	is "$(decode .1 .1.11 .1.11.4 .1.12 .1.12.3 <"$T/perfetto" | awk '
		$1 == ".1.12.3.1" { iid = $2 } $1 == ".1.12.3.2" { name[iid] = substr($0, 11) }
		$1 == ".1.11" && /\{/ { fault = 0; class = witness = "" } $1 == ".1.11.4.1" { key = name[$2] }
		$1 == ".1.11.4.6" { value = substr($0, 11) } $1 == ".1.11.4" && /}/ && key == "fault class" { class = value }
		$1 == ".1.11.4" && /}/ && key == "fault class witness" { witness = value }
		$1 == ".1.11.9" && $2 == 3 { fault = 1 } $1 == ".1.11" && /}/ && fault { print class "|" witness }' | add_up)" \
		"$wanted" '... perfetto'
	is "$(gzip -dc "$T/pprof" | decode .2 .2.3 | awk '
		$1 == ".6" { string[n++] = substr($0, 4) } $1 == ".2" && /\{/ { k++; v = 0 } $1 == ".2.2" && !v++ { faults[k] = $2 }
		$1 == ".2.3.1" { key = $2 } $1 == ".2.3.2" { label[k, key] = $2 }
		END { for (i in string) at[string[i]] = i
			for (i = 1; i <= k; i++) print string[label[i, at["fault_class"]]] "|" string[label[i, at["fault_class_witness"]]] "|" faults[i] }' |
		add_up)" "$wanted" '... pprof'
	is "$(sed -n '/id="data">/,/^<.script>/p' "$T/html" | sed 's/.*id="data">//; s/<.script>$//' | jq -r '. as $d | .sums |
		[range(0; length; 5) as $i | "\(.[$i + 4]) \($d.classes[.[$i + 2]])"][]' | awk '{ n = $1; sub(/^[0-9]+ /, ""); sum[$0] += n }
		END { for (class in sum) print sum[class], class }' | sort)" \
		"$(pfscope report --by class --json "$1"; jq -r '.class[] | "\(.faults) \(.class)"' "$T/out" | awk '{ n = $1; sub(/^[0-9]+ /, "")
		sum[$0] += n } END { for (class in sum) print sum[class], class }' | sort)" '... html'
}

# ---- real recordings: sums equal the report ----

for file in "$ROOT/examples/tour.events" "$DATA"/dat/*.dat; do
	pfscope report --json --by process "$file"
	[ $status = 0 ] || continue
	faults=$(jq '[.process[].faults] | add // 0' "$T/out" 2>/dev/null)
	[ "${faults:-0}" -gt 0 ] || continue
	for format in $formats; do
		export_to $format "$file"
	done
	is "$(awk '{ sum += $NF } END { print sum }' "$T/folded")
$(jq '[.profiles[].weights[]] | add' "$T/speedscope")
$(query 'select count(*) from fault')
$(gzip -dc "$T/pprof" | decode .2 | awk '$1 == ".2.2" { sum += n++ % 2 ? 0 : $2 } END { print sum }')
$(jq '[.threads[].samples.length] | add' "$T/firefox")
$(decode .1 .1.135 <"$T/perfetto" | awk '$1 == ".1.135.11" { sum += $2 } END { print sum }')
$(jq '[.traceEvents[] | select(.ph == "i")] | length' "$T/chrome")
$(sed -n '/id="data">/,/^<.script>/p' "$T/html" | grep -o '"faults":[0-9]*' | head -1 | cut -d: -f2)" \
		"$(yes "$faults" | head -8)" "${file##*/}: $faults faults in every format"
	is "$(jq '[.threads[].nativeAllocations // empty | [.memoryAddress, .weight] | transpose | group_by(.[0])[] |
		map(.[1]) | add | select(. < 0)] | length' "$T/firefox")" 0 "${file##*/}: no page goes that did not come"
	same_classes "$file"
done

# ---- options, and what is refused ----

export_to folded --tid 8 "$T/a.events"
is "$(awk '{ sum += $NF } END { print sum }' "$T/folded")" 2 'filters by thread'
export_to folded --region 'anon' "$T/a.events"
is "$(awk '{ sum += $NF } END { print sum }' "$T/folded")" 3 'filters by region'

# What came of a fault that a filter hides is not that of the one before. A fault below the stack, which grows, lies in it.
cat >"$T/hidden.events" <<'END'
# pfscope events 2
0.001000000 note key="start" value="mono"
0.001001000 map pid=7 tid=7 start=10000000 end=10400000 perms=rw-p name=""
0.001002000 map pid=7 tid=7 start=20000000 end=20080000 perms=rw-s off=0 dev=8:1 ino=9 name="/d/f"
0.001003000 map pid=7 tid=7 start=7ff000000000 end=7ff000100000 perms=rw-p traits=stack name="[stack]"
0.002000000 fault pid=7 tid=7 comm="prog" cpu=0 addr=10000000 ip=400010 access=write mode=user
0.003000000 fault pid=7 tid=7 comm="prog" cpu=0 addr=20010000 ip=400014 access=read mode=user
0.003000100 major pid=7 tid=7 dev=8:1 ino=9 off=65536 end_off=131072
0.004000000 fault pid=7 tid=7 comm="prog" cpu=0 addr=10001000 ip=400010 access=write mode=user
0.005000000 fault pid=7 tid=7 comm="prog" cpu=0 addr=20012000 ip=400014 access=read mode=user
0.005000100 signal pid=7 tid=7 sig=7
0.006000000 fault pid=7 tid=7 comm="prog" cpu=0 addr=7feffffff000 ip=400018 access=write mode=user
0.006000100 map pid=7 tid=7 start=7feffff00000 end=7ff000100000 perms=rw-p traits=stack name="[stack]"
END
hidden()
{
	export_to sqlite "$@" "$T/hidden.events"
	query 'select address, region, class, signal from faults; select page, weight from resident'
}

is "$(hidden --region anon)" '268435456|anon||
268439552|anon||
65536|1
65537|1' 'filters by region: what came of the faults that it shows'
is "$(hidden --region stack)" '140668768874496|[stack]||
34342961151|1' 'filters by region: the stack that a fault made grow'
is "$(hidden --region '(no known region)')" '' 'filters by region: that fault lies in a known one'
export_to folded --to 0.0035 "$T/a.events"
is "$(awk '{ sum += $NF } END { print sum }' "$T/folded")" 3 'filters by time: --to is the format and the end'
export_to sqlite --at 0.004 "$T/a.events"
is "$(query 'select count(*) from fault; select sum(weight) from resident')" $'3\n3' 'as of a moment'
pfscope export "$T/a.events"
is "$status" 2 'without a format: wrong usage'
like "$err" '--to: no format given' 'and a line that says so'
pfscope export --to nothing "$T/a.events"
is "$status" 2 'an unknown format: wrong usage'
pfscope export --to folded -o "$T/none" "$T/missing"
is "$status|$(test -e "$T/none"; echo $?)" '1|1' 'a recording that is not there: no file'
head -c 3000 "$DATA/dat/v6.dat" >"$T/cut.dat"
pfscope export --to firefox -o "$T/none" "$T/cut.dat"
is "$status|$(test -e "$T/none"; echo $?)" '1|1' 'a damaged recording: no file'
for format in $formats; do
	pfscope export --to $format -o /dev/full "$T/a.events"
	is "$status" 1 "$format: a full disk is noticed"
done
TMPDIR=/nonexistent pfscope export --to firefox -o "$T/none" "$T/a.events"
is "$status|$(test -e "$T/none"; echo $?)" '1|1' 'no place for temporary files'
like "$err" TMPDIR 'and a line that says so'

# Each way of handling a fault that the format of events has a name for.
hows=$(sed -n 's/^| `how` | \(.*\) | .*/\1/p' "$ROOT/docs/event-format.md" | grep '`anon`' | tr -d '`' | cut -d'|' -f1)
{
	echo '# pfscope events 2'
	echo '1.0 map pid=5 tid=5 start=400000 end=410000 perms=rw-p off=0 dev=00:00 ino=0 name=""'
	for how in $hows; do
		echo "1.1 fault pid=5 tid=5 addr=401000 ip=400000 access=read mode=user code=4 how=$how"
	done
} >"$T/hows.events"
for format in $formats; do
	export_to $format "$T/hows.events"
done
is "$(query 'select how from fault' | tr '\n' ' ')" "$(tr -s ' ' <<<"$hows ")" 'each way of handling a fault'
same_classes "$T/hows.events"
export_to sqlite --class 'zero page' "$T/hows.events"
is "$(query 'select how, fault_class, fault_class_witness from fault')" 'anon|zero page|reported' 'filters by class'
sed 's/\( fault .*addr=2.*\)/\1 pfn=12ab3/; s/\( fault .*addr=10002000.*\)/\1 pfn=fffffffff/' "$T/a.events" >"$T/frames.events"
export_to sqlite "$T/frames.events"
is "$(query "select printf('%x', pfn) from faults where pfn not null order by ts" | paste -sd' ')|$(query 'select count(*) from fault')" \
	"$(grep -o 'pfn=.*' "$T/frames.events" | cut -d= -f2 | paste -sd' ')|5" 'page frames, where they are known'
export_to sqlite <"$ROOT/examples/tour.events"
is "$(query "select count(*) from fault where fault_class = 'copy of the zero page'")" 5 'classes of standard input'

# The time 0 is known before the first fault, or it is that of the first event.
cat >"$T/late.events" <<'END'
# pfscope events 2
9000.0 fault pid=5 tid=5 addr=401000 ip=400000 access=read mode=user code=4
9001.0 fault pid=5 tid=5 addr=402000 ip=400000 access=read mode=user code=4
1.0 note key="start" value="mono"
END
for format in $formats; do
	export_to $format "$T/late.events"
done
is "$(jq '[.counters[] | select(.name == "faults").samples.count | add] | add' "$T/firefox")" 2 'a start that is told behind the faults'

done_testing
