#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The pictures in README.md and examples/README.md are the output of the commands above them. A command that would
# record examples/tour renders examples/tour.events instead, a recording of it.

. "${0%/*}/../tap.sh"
cd "$ROOT" || exit 1
mkdir "$T/bin"
ln -s "$PFSCOPE" "$T/bin/pfscope"
PATH=$T/bin:$PATH

# Splits a page into $T/block.N.command and $T/block.N.output: "    $ command", what is indented below it.
split_blocks()
{
	awk -v to="$T/block" '
		/^    \$ / { n++; sub(/^    \$ /, ""); print > (to "." n ".command"); more = /[|\\]$/; inside = 1; next }
		inside && more && /^     / { print > (to "." n ".command"); more = /[|\\]$/; next }
		inside && /^(    |$)/ { sub(/^    /, ""); print > (to "." n ".output"); next }
		{ inside = 0 }' "$1"
}

nr=0
for page in README.md examples/README.md; do
	rm -f "$T"/block.*
	split_blocks "$page"
	for command in "$T"/block.*.command; do
		output=${command%.command}.output
		[ -f "$output" ] || continue
		# the page leaves out empty lines at the end
		sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$output" >"$T/wanted"
		[ -s "$T/wanted" ] || continue
		line=$(sed -E 's|^sudo ./pfscope run (.*) -- build/examples/tour$|pfscope render \1 examples/tour.events|;
			s|\./pfscope|pfscope|' "$command")
		[[ $line =~ examples/(tour|leak)[a-z-]*\.events ]] || continue
		bash -c "$line" 2>&1 | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$T/got"
		# a page may show a part of a table
		if [[ $line = *'pfscope report'* ]]; then
			grep -Fxf "$T/wanted" "$T/got" | awk 'NF' >"$T/part"
			awk 'NF' "$T/wanted" >"$T/wanted.part"
			same "$T/part" "$T/wanted.part" "$page: ${line//$'\n'/}"
		else
			same "$T/got" "$T/wanted" "$page: ${line//$'\n'/}"
		fi
		nr=$((nr + 1))
	done
done
ok 'pictures were found' test $nr -ge 6

# plots.sh builds the program that it records, here in an empty build directory. A fake recorder records nothing.
printf '#!/bin/sh\nexit 0\n' >"$T/recorder"
chmod +x "$T/recorder"
PFSCOPE=$T/recorder TO=$T BUILD=$T/build examples/plots.sh matmul-ij >"$T/out" 2>&1
is "$? $(<"$T/out")" "0 $T/plot-matmul-ij.png" 'plots.sh draws a picture'
ok 'and builds the program that it records' test -x "$T/build/examples/matmul"
# fontconfig keeps a cache until the end.
echo leak:libfontconfig >"$T/not-ours"
export LSAN_OPTIONS=${LSAN_OPTIONS:+$LSAN_OPTIONS:}suppressions=$T/not-ours:print_suppressions=0
TO=$T examples/plots.sh leak >"$T/out" 2>&1
is "$? $(<"$T/out")" "0 $T/plot-leak.png" 'plots.sh draws the leak'
like "$(head -c 8 "$T/plot-leak.png" | tr -d '\0')" PNG '... as a PNG'
done_testing
