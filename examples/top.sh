#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Draws the screen of `pfscope top` while it records a sort: examples/top.svg, the picture of the README. Needs root, tmux
# and perl.
#
#     examples/top.sh
#
# PFSCOPE: the program (that of BUILD). TO: where the picture goes (examples). BUILD: where make builds (build).

set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build} to=${TO:-examples}
pfscope=${PFSCOPE:-$build/pfscope}
[ "${PFSCOPE:-}" ] || make -s O="$build" "$build/pfscope" >/dev/null
T=$(mktemp -d)
export TMUX_TMPDIR=$T
trap 'tmux -L top kill-server 2>/dev/null || :; rm -rf "$T"' EXIT

seq 2000000 | awk '{ print $1 * 7919 % 2000003 }' >"$T/numbers"
tmux -L top -f /dev/null new-session -d -x 100 -y 24 \
	"LC_ALL=C.UTF-8 $pfscope top -- sort -n -S 256M --parallel=2 -o $T/sorted $T/numbers; sleep 60"
for ((i = 0; i < 1200; i++)); do
	tmux -L top capture-pane -pe >"$T/now"
	# The busiest second, before the command ends.
	grep -qE ' s  end' "$T/now" && break
	grep -qE '[0-9,]{5,}.* faults/s, ' "$T/now" && cp "$T/now" "$T/screen"
	sleep 0.1
done
examples/screen-svg.pl <"$T/screen" >"$T/top.svg"
mv "$T/top.svg" "$to/top.svg"
echo "$to/top.svg"
