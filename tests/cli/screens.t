#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The first screen of real recordings (tests/data/screens), in terminals of two sizes and in a pipe: as it was looked at,
# and by rules that hold for all of them. UPDATE=1 writes the screens anew.

. "${0%/*}/../tap.sh"
need_programs xz script
unset PFSCOPE_PAGER PAGER

# screen COLUMNSxROWS FILE: what a terminal of that size shows, without colours.
screen()
{
	script -qec "stty cols ${1%x*} rows ${1#*x}; cd '$T'; exec '$PFSCOPE' --no-pager render '$2' 2>/dev/null" /dev/null </dev/null |
		sed 's/\x1b\[[0-9;]*m//g' | tr -d '\r'
}

for packed in "$DATA"/screens/*.events.xz; do
	name=${packed##*/}
	name=${name%.events.xz}
	xz -dc "$packed" >"$T/$name.events"
	for form in 80x24 200x60 pipe; do
		if [ $form = pipe ]; then
			(cd "$T" && "$PFSCOPE" render "$name.events") | cat >"$T/$name.$form"
		else
			screen $form "$name.events" >"$T/$name.$form"
			ok "$name: it fits into $form" test "$(wc -l <"$T/$name.$form")" -le "${form#*x}"
			is "$(awk -v most="${form%x*}" 'length > most' "$T/$name.$form")" '' '... and is no wider'
		fi
		[ "${UPDATE:-}" ] && cp "$T/$name.$form" "$DATA/screens"
		same "$T/$name.$form" "$DATA/screens/$name.$form" "$name: the screen $form"
	done
	# The headline ends where the first process begins.
	is "$(awk '/^pid / { exit } NF' "$T/$name.80x24" | wc -l | awk '$1 > 8')" '' "$name: the headline is short"
	like "$(head -n 1 "$T/$name.pipe")" ': [0-9,]+ faults' "$name: ... and begins with the command and its faults"
	advice=$(sed -n 's/^to see more: pfscope //p' "$T/$name.80x24")
	like "$advice" "^render --(all|pid [0-9]+) $name.events\$" "$name: ... and the end says what shows more"
	# shellcheck disable=SC2086 # these are words
	ok "$name: ... which can be pasted" sh -c "cd '$T' && '$PFSCOPE' $advice >'$T/$name.more'"
done
done_testing
