#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pfscope export --to speedscope, opened by speedscope itself: its tables have the functions and faults of the recording.

. "${0%/*}/../tap.sh"
. "$ROOT/tests/browser.sh"
need_programs chromium base64
speedscope=$(dirname "$BUILD")/$(basename "$BUILD" -san)/speedscope
[ -f "$speedscope/index.html" ] || skip_all 'speedscope is missing: make deps-tests'

# Two threads, of 3 and 2 faults, in functions that have no names but their places.
cat >"$T/a.events" <<'END_OF_EVENTS'
# pfscope events 2
0.001000000 note key="start" value="mono"
0.001000000 note key="command" value="a\"b;c </script>"
0.001000100 exec pid=7 tid=7 comm="prog" name="/bin/prog"
0.001001000 map pid=7 tid=7 start=400000 end=402000 perms=r-xp off=0 dev=8:1 ino=5 name="/bin/pr;og\"x"
0.001002000 map pid=7 tid=7 start=10000000 end=10010000 perms=rw-p name=""
0.001004000 frames pid=7 tid=7 stack=1 frames="0x400010;0x400110;0x400210"
0.001004000 frames pid=7 tid=7 stack=2 frames="0x400020;0x400110;0x400210"
0.002000000 fault pid=7 tid=7 comm="prog" cpu=0 addr=10000010 ip=400010 access=write mode=user stack=1
0.003000000 fault pid=7 tid=7 comm="prog" cpu=0 addr=10001010 ip=400010 access=write mode=user stack=1
0.004000000 fault pid=7 tid=7 comm="prog" cpu=0 addr=10003000 ip=400020 access=read mode=user stack=2
0.005000000 thread pid=7 tid=7 child=8
0.006000000 fault pid=7 tid=8 comm="wor;ker" cpu=1 addr=10002000 ip=400030 access=read mode=user
0.007000000 fault pid=7 tid=8 comm="wor;ker" cpu=1 addr=10004000 ip=400030 access=write mode=user
0.010000000 exit pid=7 tid=8
END_OF_EVENTS

# open_profile FORMAT: exports and opens it; returns when it is on the screen, or after 10 s. What speedscope cannot read it
# reports by alert().
open_profile()
{
	local i

	pfscope export --to "$1" -o "$T/$1" "$T/a.events"
	printf 'window.alert = text => { document.title = text }; speedscope.loadFileFromBase64("recording", "%s")' \
		"$(base64 -w0 "$T/$1")" >"$T/$1.js"
	browser_open "$speedscope/index.html#localProfilePath=$T/$1.js"
	for ((i = 0; i < 100; i++)); do
		[ "$(browser_value '/Sandwich/.test(document.body.innerText)')" != true ] || break
		sleep 0.1
	done
	browser_value "[...document.querySelectorAll('div')].filter(d => /Sandwich\$/.test(d.textContent)).pop().click(); 1" >/dev/null
	browser_frame
}

# rows PATTERN: of the tables that it shows, without the heading.
rows()
{
	browser_value "[...document.querySelectorAll('tr')].map(r => [...r.cells].map(c => c.innerText.trim()).join('|')).sort().join('\\\\n')" |
		sed 's/\\n/\n/g' | grep -E "$1"
}

browser_start
browser_size 1000 600
open_profile speedscope
is "$(browser_value 'document.title')" 'a\"b;c </script> - speedscope' 'speedscope: the recording'
is "$(rows '^[0-9]+\|')" '1|prog (7, thread 7)|3
2|wor;ker (7, thread 8)|2' 'speedscope: a profile a thread, with its faults'
is "$(rows '%')" '1 (33%)|1 (33%)|pr;og\"x+0x20
2 (67%)|2 (67%)|pr;og\"x+0x10
3 (100%)|0 (<0.01%)|pr;og\"x+0x110
3 (100%)|0 (<0.01%)|pr;og\"x+0x210' 'speedscope: functions, with those that they called and alone'
open_profile pprof
is "$(rows '%')" '1 (20%)|1 (20%)|pr;og\"x+0x20
2 (40%)|2 (40%)|pr;og\"x+0x10
2 (40%)|2 (40%)|pr;og\"x+0x30
3 (60%)|0 (<0.01%)|pr;og\"x+0x110
3 (60%)|0 (<0.01%)|pr;og\"x+0x210' 'pprof, in speedscope: functions of both threads'
open_profile folded
is "$(rows '%')" '1 (20%)|1 (20%)|pr:og\"x+0x20
2 (40%)|0 (<0.01%)|wor:ker
2 (40%)|2 (40%)|pr:og\"x+0x10
2 (40%)|2 (40%)|pr:og\"x+0x30
3 (60%)|0 (<0.01%)|pr:og\"x+0x110
3 (60%)|0 (<0.01%)|pr:og\"x+0x210
3 (60%)|0 (<0.01%)|prog' 'folded, in speedscope: functions and threads'

done_testing
