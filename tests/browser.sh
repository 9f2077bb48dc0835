# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A browser for tests, after tap.sh: chromium without a window, told what to do by the DevTools protocol over a pipe,
# so that the mouse is a real one (https://chromedevtools.github.io/devtools-protocol/). Of what it answers no more is
# read than an error, or a value that is a number or a string.
#
#     browser_start
#     browser_size 1200 900
#     browser_open "$T/page.html"
#     browser_mouse mouseMoved 100 200
#     is "$(browser_value 'document.title')" 'a title' 'it has a title'

browser_nr=0 browser_session=

# browser_start: ends with the test.
browser_start()
{
	mkfifo "$T/browser.in" "$T/browser.out"
	exec 8<>"$T/browser.in" 9<>"$T/browser.out"
	chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$T/browser" \
		--remote-debugging-pipe about:blank 3<&8 4>&9 8>&- 9>&- >/dev/null 2>&1 &
	browser_pid=$!
	at_exit browser_end
	browser_send Target.createTarget '"url":"about:blank"'
	browser_send Target.attachToTarget "\"targetId\":\"$(browser_member targetId)\",\"flatten\":true"
	browser_session=$(browser_member sessionId)
	browser_send Page.enable ''
}

browser_end()
{
	browser_session=
	browser_send Browser.close ''
	wait "$browser_pid"
}

# browser_send METHOD MEMBERS: of its parameters. The answer is in $browser_reply, what happened before it in
# $browser_events.
browser_send()
{
	browser_nr=$((browser_nr + 1)) browser_events=
	printf '{"id":%d,"method":"%s","params":{%s}%s}\0' $browser_nr "$1" "$2" \
		"${browser_session:+,\"sessionId\":\"$browser_session\"}" >&8
	while IFS= read -r -d '' -t 60 browser_reply <&9; do
		[[ $browser_reply != "{\"id\":$browser_nr,"* ]] || return 0
		browser_events+=$browser_reply
	done
	diag "$1: no answer"
	return 1
}

# browser_member NAME: a string in the answer, or a number; as JSON escapes it.
browser_member()
{
	sed -nE "s/.*\"$1\":(\"([^\"\\]|\\\\.)*\"|[^\",}]*).*/\1/p" <<<"$browser_reply" | sed -E 's/^"(.*)"$/\1/'
}

# browser_value EXPRESSION: what it is; sets nothing, as it is called in $( ).
browser_value()
{
	local text=${1//\\/\\\\}

	text=${text//\"/\\\"} text=${text//$'\t'/ }
	browser_nr=$((browser_nr + 1000 + RANDOM))	# unlike those of before: this is a subshell
	browser_send Runtime.evaluate "\"returnByValue\":true,\"expression\":\"${text//$'\n'/\\n}\""
	[[ $browser_reply != *'"exceptionDetails"'* ]] || diag "$browser_reply"
	printf '%b\n' "$(browser_member value)"
}

# browser_size WIDTH HEIGHT
browser_size()
{
	browser_send Emulation.setDeviceMetricsOverride "\"width\":$1,\"height\":$2,\"deviceScaleFactor\":1,\"mobile\":false"
}

# browser_open FILE: returns when it is loaded and drawn.
browser_open()
{
	browser_send Page.navigate '"url":"about:blank"'
	browser_send Page.navigate "\"url\":\"file://$1\""
	for ((i = 0; i < 100; i++)); do
		[ "$(browser_value 'document.readyState + location.protocol')" != completefile: ] || break
		sleep 0.1
	done
	browser_frame
}

# browser_frame: until what was changed is on the screen.
browser_frame()
{
	browser_send Runtime.evaluate '"awaitPromise":true,"expression":"new Promise(r => requestAnimationFrame(() => setTimeout(r, 20)))"'
}

# browser_mouse TYPE X Y [MEMBERS]: mouseMoved, mousePressed, mouseReleased, mouseWheel.
browser_mouse()
{
	browser_send Input.dispatchMouseEvent "\"type\":\"$1\",\"x\":$2,\"y\":$3${4:+,$4}"
}

# browser_key KEY
browser_key()
{
	browser_send Input.dispatchKeyEvent "\"type\":\"keyDown\",\"key\":\"$1\""
	browser_send Input.dispatchKeyEvent "\"type\":\"keyUp\",\"key\":\"$1\""
	browser_frame
}

# browser_picture FILE.png: what the window shows.
browser_picture()
{
	browser_send Page.captureScreenshot '"format":"png"'
	browser_member data | base64 -d >"$1"
}
