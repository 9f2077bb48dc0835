#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# diff of recordings: the same program twice, at random addresses, differs by nothing; a library that writes to one more
# page differs by exactly that.

. "${0%/*}/live.sh"
cd "$T" || exit 1

# record FILE COMMAND...: without lost events.
record()
{
	local file=$1

	shift
	"$PFSCOPE" run --no-bars -o "$file" -- "$@" >/dev/null 2>"$T/err" || diag "$(<"$T/err")"
}

record cold /bin/true	# its files are in the page cache then
for i in 1 2 3 4 5 6; do
	record true$i /bin/true
done
is "$(for i in 1 2 3 4 5 6; do "$PFSCOPE" maps --region '[[]stack[]]' true$i; done | cut -d' ' -f1 | sort -u | wc -l)" 6 \
	'each run has other addresses' || diag 'are they random here? kernel.randomize_va_space'
differ=()
for i in 1 2 3 4 5; do
	for ((k = i + 1; k <= 6; k++)); do
		pfscope diff true$i true$k
		[ "$status" = 0 ] && [[ $out = *$'\nNothing changed.'* ]] || differ+=("$out")
	done
done
is "${#differ[@]}" 0 'the same program twice differs by nothing: 15 pairs' || diag "${differ[0]}"
pfscope diff --fail-if 'faults>+0' --fail-if 'pages>+0' true1 true2 true3 -- true4 true5 true6
is "$status" 0 'nor several runs of it'
like "$out" $'\nNothing changed\\.' '... by what is printed'

mkdir old new
cat "$TOOLS/../preload/touch_pages.so" >old/libtouch.so
sed 's/TOUCH_PAGES=3/TOUCH_PAGES=4/' "$TOOLS/../preload/touch_pages.so" >new/libtouch.so
chmod 755 . old new && chmod 644 old/libtouch.so new/libtouch.so
for build in old new; do
	for i in cold 1 2 3; do
		record $build$i env LD_PRELOAD="$T/$build/libtouch.so" /bin/true
	done
done
pfscope diff old1 old2
like "$out" $'\nNothing changed\\.' 'one build twice differs by nothing'
pfscope diff --fail-if 'pages[libtouch*]>+0' --fail-if 'faults>+1' old1 new1
is "$status" 3 'another build: a condition on its library holds'
is "$(sed -n '/^By file/,/^$/p' <<<"$out" | tail -n +3)" '      +1    '"$(sed -n 's/^      +1    \(.* +1  \).*(moved)$/\1/p' <<<"$out" |
	head -n 1)$T/new/libtouch.so (moved)" 'another build that writes to one more page differs by exactly that' || diag "$out"
like "$out" "'faults>\\+1': passed \\(\\+1\\)" '... one fault'
pfscope diff --csv old1 old2 old3 -- new1 new2 new3
is "$(grep '^total' <<<"$out" | tail -n 1 | cut -d, -f 8-10,26-28)" '1,0,changed,1,0,changed' 'and of three runs each'

done_testing
