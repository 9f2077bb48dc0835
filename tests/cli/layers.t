#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The order of the rooms, read from the includes: cmd -> {ftrace, stap, perf} -> lib -> libc and small
# libraries. And what holds for every file: a name of its own, a licence tag, no traces of a machine.

. "${0%/*}/../tap.sh"
cd "$ROOT" || exit 1

rooms='lib ftrace stap perf cmd'
sources=$(for room in $rooms; do [ -d $room ] && find $room -name '*.[ch]'; done)

# Lines "room file header" of every include of one of our own headers, with the header's room.
own_includes()
{
	grep -HoE '^# *include *"[^"]+"' $sources | sed -E 's/:# *include *"(.*)"/ \1/' |
	while read -r file header; do
		found=$(find $rooms -name "${header##*/}" 2>/dev/null | head -n 1)
		echo "${file%%/*} $file ${found%%/*} $header"
	done
}

# violations ROOM ALLOWED_ROOMS: includes from ROOM that go elsewhere.
violations()
{
	awk -v room="$1" -v may=" $2 " '$1 == room && !index(may, " " $3 " ") { print $2 ": " $4 }' \
		"$T/includes"
}

own_includes >"$T/includes"
[ "$(wc -l <"$T/includes")" -gt 100 ]
is $? 0 'includes are found at all'
is "$(violations lib lib)" '' 'lib includes lib only'
is "$(violations ftrace 'ftrace lib')" '' 'ftrace includes itself and lib'
is "$(violations stap 'stap lib')" '' 'stap includes itself and lib'
is "$(violations perf 'perf lib')" '' 'perf includes itself and lib'
is "$(violations cmd "$rooms")" '' 'every own header that is included exists'

foreign='tracefs|traceevent|event-parse|kbuffer|trace-cmd|trace-seq'
is "$(grep -nE "^# *include *[<\"](.*/)?($foreign)" $(find lib cmd -name '*.[ch]'))" '' \
	'lib and cmd include no header of libtracefs, libtraceevent or libtracecmd'
is "$(grep -nE '^# *include *[<"](.*/)?trace-cmd' $sources)" '' \
	'the program does without libtracecmd'
is "$(nm -u "$BUILD/liblib.a" 2>/dev/null | grep -E ' (tracefs|tep|tracecmd|kbuffer)_' | sort -u)" '' \
	'and so does what lib became'
is "$(grep -lE '^# *include *"(\.\./)*(ftrace|stap|perf|cmd)/' tests/unit/test_lib_*.c)" '' \
	'tests of lib include nothing above it'
is "$(grep -nE '\b(printf|puts|perror|exit|abort)\(' $(find lib ftrace stap perf -name '*.c' 2>/dev/null) |
	grep -vE '\b_exit\(|^ftrace/keeper\.c')" '' 'libraries neither print nor exit'

all=$(find Makefile README.md LICENSE .ci .clang-format lib ftrace stap perf cmd tests docs completion \
	examples -type f ! -name '*.o' 2>/dev/null)
is "$(printf '%s\n' $all | grep -E '\.[cht]$' | grep -v ^tests/data/ | xargs basename -a | sort | uniq -d)" '' \
	'names of sources are unique in the tree'

tagged=$(for file in $all; do
	case $file in
	*.c | *.h | *.t | *.sh | *.py | *.1 | *.5 | Makefile | completion/* | .ci/*) echo "$file" ;;
	tests/run | tests/bench | tests/fuzz/fuzz | *.dict) echo "$file" ;;
	esac
done)
is "$(for file in $tagged; do
	head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' || echo "$file"
done)" '' 'every source, script and page begins with its licence tag'
is "$(for file in .ci/run tests/run tests/bench tests/fuzz/fuzz; do [ -x $file ] || echo $file; done)" '' \
	'scripts can be executed'

text=$(for file in $all; do [[ $file = tests/data/* && $file != *.py ]] || echo "$file"; done)
is "$(grep -nIE '(^|[^A-Za-z_])/wor[k]([/ ]|$)|pyp[i]|npmj[s]|crates\.i[o]|deb\.debia[n]|golang\.or[g]' $text)" '' \
	'no file names a place of the machine that made it, or a package registry'
is "$(grep -nIE ' +$' $(printf '%s\n' $text | grep -E '\.([cht]|sh|1|5)$|Makefile'))" '' \
	'no line of a source ends in spaces'

done_testing
