#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The page of pfscope plot in a browser, with a real mouse and keys, in windows of several sizes. That its numbers add
# up is plot.t's.

. "${0%/*}/../tap.sh"
. "${0%/*}/../browser.sh"
command -v chromium >/dev/null || skip_all 'no chromium'

# ---- recordings ----

# Enough for a scroll bar: 60 regions, each with three faults.
{
	echo '# pfscope events 1'
	for ((i = 0; i < 60; i++)); do
		echo "1.0 map pid=1 tid=1 start=$((i + 10))00000 end=$((i + 10))10000 perms=r--p off=0 dev=fe:00 ino=$((i + 9)) name=\"/lib/$i\""
	done
	for ((i = 0; i < 180; i++)); do
		echo "1.$((i + 100)) fault pid=1 tid=1 addr=$((i * 7 % 60 + 10))0$((i % 9))000"
	done
} >"$T/regions"

# A thousand seconds: a bin is half of one. Two touches in the same bin and page; a gap in the region; events lost from 400 to 500 s.
# Of the second region 40 pages, and many touches of one of them.
{
	echo '# pfscope events 1'
	echo '1.0 comm pid=1 tid=1 comm="old"'
	echo '1.0 map pid=1 tid=1 start=100000 end=200000 perms=rw-p off=0 dev=00:00 ino=0 name=""'
	echo '1.0 map pid=1 tid=1 start=7f0000000000 end=7f0000400000 perms=rw-p off=0 dev=00:00 ino=0 name=""'
	echo '1.0 fault pid=1 tid=1 addr=100123 access=write'
	echo '300.20 fault pid=1 tid=1 addr=101200 access=write'
	echo '300.25 fault pid=1 tid=1 addr=101300 access=write'
	echo '500.0 lost cpu=0 count=5 interval=100000000000'
	for ((i = 0; i < 40; i++)); do
		echo "$((500 + i)).0 fault pid=1 tid=1 addr=7f0000$(printf %03x $((i + (i >= 20) * 500)))000 access=write"
	done
	for ((i = 0; i < 100; i++)); do
		echo "600.$((i + 100)) fault pid=1 tid=1 addr=7f0000000000 access=read"
	done
	echo '1000.0 fault pid=1 tid=1 addr=100000 access=read'
} >"$T/long"

# A process that twice becomes the same program, with ten others of which the last share a block.
{
	echo '# pfscope events 1'
	echo '1.0 comm pid=1 tid=1 comm="sh"'
	for image in 1 2; do
		echo "1.$image map pid=1 tid=1 start=10000 end=20000 perms=rw-p off=0 dev=fe:00 ino=7 name=\"/bin/$image\" space=exec"
		echo "1.$image exec pid=1 tid=1 name=\"/bin/sh\""
		for ((i = 0; i < 9; i++)); do
			echo "1.$image$((i + 1)) fault pid=1 tid=1 addr=1${i}000 access=read"
		done
	done
	for ((i = 2; i < 12; i++)); do
		echo "2.0 comm pid=$i tid=$i comm=\"child$i\""
		echo "2.0 map pid=$i tid=$i start=10000 end=20000 perms=rw-p off=0 dev=fe:00 ino=7 name=\"/bin/$i\""
		for ((k = 0; k < 1 + (i < 8) + (i < 7); k++)); do
			echo "2.$i fault pid=$i tid=$i addr=1${k}000 access=read"
		done
	done
} >"$T/images"
for name in regions long images; do
	pfscope plot -o "$T/$name.html" "$T/$name"
	is "$status $err" '0 ' "$name: a page"
done

# page NAME WIDTH HEIGHT: opens it in such a window.
page()
{
	browser_size "$2" "$3"
	browser_open "$T/$1.html"
}

# wheel X Y DOWN [MODIFIERS]: 1 alt, 2 ctrl, 8 shift.
wheel()
{
	browser_mouse mouseWheel "$1" "$2" "\"deltaX\":0,\"deltaY\":$3,\"modifiers\":${4:-0}"
	browser_frame
}

# ---- hovering ----

# Where a spot is on the screen, and what is told of it.
at='(s => { const r = canvas.getBoundingClientRect(); return [r.left + s.x * canvas.clientWidth / plan.width, r.top + s.y].map(Math.round).join(" "); })'
told='($("tip").style.display === "block" ? $("tip").textContent.match(/address .*/)[0] : "nothing")'
# Those that lie in the window and have a place of their own, from left to right.
alone='(() => { const r = canvas.getBoundingClientRect(), end = under.getBoundingClientRect().top;
	return spots.filter(s => r.top + s.y < end - 10 && r.top + s.y > 10 && s.x > plan.left && s.x < plan.right &&
		!spots.some(o => o !== s && (o.x - s.x) ** 2 + (o.y - s.y) ** 2 < 100)).sort((a, b) => a.x - b.x); })()'

# hovers NAME: over the first, the last and some between them.
hovers()
{
	local x y wanted got nr=0 part

	for part in 0 0.25 0.5 0.75 0.999; do
		read -r x y < <(browser_value "$at($alone[Math.floor($alone.length * $part)])")
		wanted=$(browser_value "spotText($alone[Math.floor($alone.length * $part)]).match(/address .*/)[0]")
		browser_mouse mouseMoved "$x" "$y"
		got=$(browser_value "$told")
		if [ "$wanted" ] && [ "$got" = "$wanted" ]; then
			nr=$((nr + 1))
		else
			diag "at $x $y: $got, not $wanted"
		fi
	done
	is "$nr" 5 "$1: the mouse is told of what is under it"
	is "$(browser_value '(t => t.left >= 0 && t.right <= document.documentElement.clientWidth && t.bottom <= innerHeight)($("tip").getBoundingClientRect())')" \
		true "$1: inside the window"
}

browser_start
for size in '1200 900' '360 740' '1900 1000'; do
	page regions ${size% *} ${size#* }
	hovers "$size, as first opened"
	is "$(browser_value 'canvas.width === canvas.clientWidth && canvas.clientWidth === document.documentElement.clientWidth')" true \
		"$size: nothing is distorted"
done
browser_size 700 900
browser_frame
hovers 'in a window that became narrower'

# A tip beside what has moved on.
page regions 1200 900
read -r x y < <(browser_value "$at($alone[3])")
browser_mouse mouseMoved "$x" "$y"
before=$(browser_value "$told")
for key in + ArrowRight + ArrowRight ArrowRight; do
	browser_key $key
	is "$(browser_value "$told")" "$(browser_value "(() => { const r = canvas.getBoundingClientRect(), s = spotAt($x - r.left, $y - r.top);
		return s ? spotText(s).match(/address .*/)[0] : 'nothing'; })()")" "after $key it tells what is there now"
done
ok 'that is something else' test "$(browser_value "$told")" != "$before"

# ---- keys and wheel ----

page regions 1200 700
browser_key +
ok 'a key zooms without a click' test "$(browser_value 'view.x1 - view.x0 < D.bins')" = true
browser_key 0
browser_mouse mouseMoved 600 300
wheel 600 300 120
is "$(browser_value 'scrollY > 0')$(browser_value 'view.x1 === D.bins')" truetrue 'the wheel moves the page'
ok 'charts and time axis stay in the window' test "$(browser_value 'under.getBoundingClientRect().bottom <= innerHeight + 1')" = true
wheel 600 300 -120 2
is "$(browser_value 'view.x1 - view.x0 < D.bins && view.y1 === 1')" true 'with Ctrl it zooms in time'
wheel 600 300 -120 10
is "$(browser_value 'view.y1 - view.y0 < 1')" true 'with Ctrl and shift in addresses'
browser_key 0
is "$(browser_value 'view.x0 === 0 && view.x1 === D.bins && view.y0 === 0 && view.y1 === 1')" true '0: all'
for type in mousePressed mouseReleased; do
	browser_mouse $type 600 300 '"button":"left","clickCount":1'
done
wheel 600 300 -120
is "$(browser_value 'view.x1 - view.x0 < D.bins')" true 'after a click without it'
browser_mouse mousePressed 600 300 '"button":"left","clickCount":1'
before=$(browser_value 'view.x0')
browser_mouse mouseMoved 650 300 '"button":"left","buttons":1'
browser_mouse mouseReleased 650 300 '"button":"left","clickCount":1'
is "$(browser_value "view.x0 < $before")" true 'dragging moves it'
browser_value 'scrollTo(0, 0)' >"$T/said"
browser_frame
browser_mouse mouseMoved 600 5
browser_mouse mouseMoved 600 300
before=$(browser_value 'view.x0')
wheel 600 300 -120
is "$(browser_value 'view.x0')" "$before" 'until the mouse has left'

# ---- names ----

# What is written, with where in the window: since the last draw().
record='written = []; write = g.fillText; g.fillText = (s, x, y) => {
	written.push([s, y + canvas.getBoundingClientRect().top]); write.call(g, s, x, y); }; draw(); undefined'
page images 1200 900
browser_value "var written, write; zoomAddresses(0.02, (plan.top[0] + plan.height[0] * 0.1) / plan.bands); $record" >"$T/said"
is "$(browser_value 'written.filter(w => w[0] === D.bands[0].label && w[1] > 0 && w[1] < under.getBoundingClientRect().top).length')" 1 \
	'zoomed into a band, its name is to be seen'
is "$(browser_value 'written.filter(w => w[0].startsWith(D.blocks[0][0]) && w[1] >= canvas.getBoundingClientRect().top && w[1] < 200).length')" 1 \
	'so is the heading of its process'
is "$(browser_value 'D.blocks.slice(0, 2).map(b => b[0]).join("; ")')" 'sh (pid 1, image 1); sh (pid 1, image 2)' \
	'two images of a process have different ones'
browser_value 'reset()' >"$T/said"
is "$(browser_value 'D.blocks[D.blocks.length - 1][0] + ": " + spots.filter(s => D.bands[D.segments[C.segment[s.cell]][0]].block === D.blocks.length - 1).map(
	s => spotText(s).match(/process +(.*)/)[1]).sort().join(", ")')" \
	'5 other process images: child10 (pid 10), child11 (pid 11), child7 (pid 7), child7 (pid 7), child8 (pid 8), child9 (pid 9)' \
	'of a process that shares a block the hover tells which it is'

page long 1200 900
is "$(browser_value 'D.bands.map(b => b.label).join("; ")')" 'anon 100000 1M; anon 7f0000000000 4M' 'regions without a name are told apart by their addresses'
like "$(browser_value 'spotText(spots.find(s => D.segments[C.segment[s.cell]][0] === 0))')" 'region +anon 100000-200000' \
	'also where the mouse points'

# ---- two recordings ----

pfscope plot --compare --format html "$T/images" "$T/images"
mv "$T/out" "$T/both.html"
page both 1200 900
is "$(browser_value 'D.bands.map(b => b.side).join("")')" "$(browser_value 'D.bands.map((b, i) => i % 2 ? 0 : 1).join("")')" \
	'each region of both recordings'
is "$(browser_value 'D.bands.every((b, i) => i % 2 || (b.faults === D.bands[i + 1].faults && Math.abs(plan.height[i] - plan.height[i + 1]) < 0.01))')" true \
	'at one scale'
is "$(browser_value 'spots.filter(s => D.bands[D.segments[C.segment[s.cell]][0]].side).map(s => spotText(s).match(/address +(.*)/)[1]).every(
	a => BigInt(a) >= 0x10000n && BigInt(a) < 0x20000n)')" true 'each with its own addresses'

# ---- legend, folds, losses ----

page long 1200 900

is "$(browser_value '$("marks").textContent')" 'folded: nothing touched events lost' 'the legend has folds and losses'
is "$(browser_value 'folds.map(f => f.length).join()')" 0,1 'one band has a fold'
is "$(browser_value 'new Set(new Uint32Array(g.getImageData(plan.left, Math.round(toY(plan.top[1] + plan.height[1] * (1 - folds[1][0]))), 20, 1).data.buffer)).size > 1')" \
	true 'with a dashed line'
# pixel TIME_S Y: its colour in the picture.
pixel='((s, y) => [...g.getImageData(toX((s * 1e9 - D.from_ns) / D.bin_ns), y, 1, 1).data].join())'
is "$(browser_value "$pixel(399, toY(plan.top[0] + 5)) !== $pixel(350, toY(plan.top[0] + 5)) || 'no'")" true 'it is grey where events were lost'
is "$(browser_value "$pixel(600, toY(plan.top[0] + 5)) === $pixel(350, toY(plan.top[0] + 5))")" true 'and not elsewhere'
browser_value 'document.querySelector("[data-by=heat]").click()' >"$T/said"
like "$(browser_value '$("scale").textContent')" '^faults in a place, at least:1.*[0-9]{2,}$' 'a heat map has a scale'
is "$(browser_value 'new Set([...$("scale").querySelectorAll("i")].map(i => i.style.background)).size === $("scale").querySelectorAll("i").length')" true \
	'of different colours'
# WCAG's contrast of the lowest on white
is "$(browser_value '[D.themes.light.hot[0], D.themes.light.seen[0]].every(c => { const l = [1, 3, 5].map(i => (parseInt(c.substr(i, 2), 16) / 255) ** 2.2);
	return 1.05 / (0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2] + 0.05) > 1.6; })')" true 'its lowest is seen on white'
browser_value 'document.querySelector("[data-by=access]").click()' >"$T/said"
is "$(browser_value '$("scale").textContent')" '' 'other colours have none'

# ---- search ----

# type WORDS: into the search box, as a user does.
type()
{
	local i

	browser_key /
	for ((i = 0; i < ${#1}; i++)); do
		browser_send Input.insertText "\"text\":\"${1:i:1}\""
	done
	browser_frame
}

# names: of the regions found, from top to bottom.
names='found.map(i => D.bands[i].label).join(" ")'
page regions 1200 700
type lib/5
is "$(browser_value "$names")" '59 58 57 56 55 54 53 52 51 50 5' '/ and a name: the regions with it, whole paths are searched'
is "$(browser_value 'document.activeElement.id + " " + $("find").value')" 'find lib/5' 'keys are written, not obeyed'
browser_key Enter
like "$(browser_value '$("found").textContent')" '^1 of 11: 59$' 'Enter: the first'
for ((i = 0; i < 10; i++)); do
	browser_key Enter
done
is "$(browser_value '$("found").textContent')" '11 of 11: 5' 'Enter: the next'
ok 'which is scrolled into the window' test "$(browser_value '(t => t >= 0 && t < under.getBoundingClientRect().top)(canvas.getBoundingClientRect().top + toY(plan.top[found[foundAt]]))')" = true
browser_key Escape
browser_key n
is "$(browser_value '$("found").textContent')" '1 of 11: 59' 'n: the next, after the last the first'
browser_key N
is "$(browser_value '$("found").textContent')" '11 of 11: 5' 'N: the one before'
browser_value 'search("0x1005123")' >"$T/said"
is "$(browser_value "$names")" 0 'an address: its region'
browser_value 'search("nothing like it")' >"$T/said"
is "$(browser_value '$("found").textContent')" 'not found' 'nothing: it is said'

# ---- the selected time ----

# table: its text, a line a row.
table='[...$("table").rows].map(r => [...r.cells].map(c => c.textContent).join(" ")).join("; ")'
page long 1200 900
read -r x y < <(browser_value '(r => [Math.round(r.left + toX((498.5e9 - D.from_ns) / D.bin_ns)), Math.round(r.top + 30)].join(" "))(under.getBoundingClientRect())')
browser_mouse mousePressed "$x" "$y" '"button":"left","clickCount":1'
browser_mouse mouseMoved $((x + 30)) "$y" '"button":"left","buttons":1'
browser_mouse mouseMoved 1190 "$y" '"button":"left","buttons":1'
browser_mouse mouseReleased 1190 "$y" '"button":"left","clickCount":1'
browser_frame
like "$(browser_value "$table")" '^region faults pages first; anon 7f0000000000 4M 140 40 .*; anon 100000 1M 1 1 .* s; all 141 41 $' \
	'dragged in the charts: a table of the selected time, the most first'
is "$(browser_value 'view.x0 === 0 && view.x1 === D.bins')" true 'which moves nothing'
is "$(browser_value 'spanRows().rows.reduce((a, r) => a + r.faults, 0) === C.count.filter((n, i) => C.bin[i] >= span[0] && C.bin[i] < span[1]).reduce((a, n) => a + n, 0)')" true \
	'it adds up'
browser_key z
is "$(browser_value 'view.x0 === span[0] && view.x1 === span[1]')" true 'z zooms to it'
browser_key Escape
is "$(browser_value 'span === null && $("selected").hidden')" true 'Escape clears it'
browser_key 0
browser_key s
like "$(browser_value "$table")" '; all 144 42 $' 's selects what is shown'
browser_value '$("table").querySelector("button").click()' >"$T/said"
is "$(browser_value 'view.y0 === 0')" true 'a name in it leads to the region'

# ---- the address of the page ----

# Another page with this address shows the same.
state='JSON.stringify([view, by, [...hidden], span, $("find").value, theme, found])'
page long 1200 900
browser_key 2
browser_value 'zoomTime(0.3, D.bins / 3); zoomAddresses(0.5, 0.4); select(100, 300); $("find").value = "anon"; search("anon");
	document.querySelector("#legend button").click(); $("dark").click(); undefined' >"$T/said"
browser_frame
saved=$(browser_value "$state") hash=$(browser_value 'location.hash')
like "$hash" '^#time=[0-9]+-[0-9]+&addresses=.*&by=class&hide=class0&selected=[0-9]+-[0-9]+&find=anon&theme=dark$' 'all of the state is in the address'
browser_open "$T/long.html$hash"
is "$(browser_value "(a => { const b = $state, close = (x, y) => JSON.stringify(x).replace(/[0-9.]+/g, n => Math.round(n * 1000)) ===
	JSON.stringify(y).replace(/[0-9.]+/g, n => Math.round(n * 1000)); return close(JSON.parse(a), JSON.parse(b)) || b; })(${saved@Q})")" true \
	'and leads back to it'
browser_value 'location.hash = "time=nonsense&by=toString&hide=x&selected=9-1&theme=__proto__"; undefined' >"$T/said"
browser_frame
is "$(browser_value 'view.x1 === D.bins && by === "access" && !hidden.size && !span && theme === "light" && location.hash')" '' \
	'an address that makes no sense is the whole picture'

# ---- keys ----

for key in 1:access 2:class 3:thread 5:fault-class 4:heat; do
	browser_key ${key%:*}
	is "$(browser_value by)" "${key#*:}" "key ${key%:*}: ${key#*:}"
done
browser_key d
is "$(browser_value 'theme + " " + getComputedStyle(document.body).backgroundColor')" 'dark rgb(21, 24, 30)' 'd: dark'
browser_key ']'
is "$(browser_value 'view.y1 - view.y0 < 1')" true ']: into the addresses'
browser_key '['
is "$(browser_value 'view.y1 - view.y0')" 1 '[: and out'

# ---- paper ----

browser_value 'select(0, 10)' >"$T/said"
browser_send Emulation.setEmulatedMedia '"media":"print"'
browser_value 'dispatchEvent(new Event("beforeprint"))' >"$T/said"
is "$(browser_value 'theme + " " + plan.width')" 'light 1000' 'on paper: light, as wide as a page'
is "$(browser_value '[...document.querySelectorAll(".screen")].every(e => getComputedStyle(e).display === "none")')" true 'nothing to click'
is "$(browser_value '["title", "legend", "plot", "under", "table"].every(id => $(id).getBoundingClientRect().height > 0)')" true \
	'but legend, picture and table'
is "$(browser_value 'location.hash.includes("theme=dark")')" true 'the address stays'
browser_value 'dispatchEvent(new Event("afterprint"))' >"$T/said"
browser_send Emulation.setEmulatedMedia '"media":""'
is "$(browser_value 'theme')" dark 'and afterwards all is as before'

# ---- what stands for a bin ----

page long 1200 900

bin='spots.find(s => C.count[s.cell] === 2)'
ok 'two touches of one bin and page are a narrow spot' test "$(browser_value "Math.max(($bin).w, DOT)")" = 4
browser_value "zoomTime(0.005, ($bin, C.bin[($bin).cell] + 0.5))" >"$T/said"
is "$(browser_value "Math.abs(($bin).w - pixelsOfBin()) < 0.01 && ($bin).w > 50 && ($bin).h > DOT")" true 'zoomed in they are as wide as the bin'
read -r x y < <(browser_value "$at({ x: ($bin).x + 0.4 * ($bin).w, y: ($bin).y })")
browser_mouse mouseMoved "$x" "$y"
like "$(browser_value '$("tip").textContent')" '^2 of them; the first' 'and told anywhere in it'
done_testing
