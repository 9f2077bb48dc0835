#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The order of the rooms, read from the includes and from the symbols of the built objects. The table below is
# the whole truth: docs/ARCHITECTURE.md draws it. Beside it what holds for every file: a licence tag, no traces of a
# machine.

. "${0%/*}/../tap.sh"
cd "$ROOT" || exit 1

# LAYER ROOM: the rooms that it may include, each of which it does include. Files of cmd itself are room `commands`.
rooms()
{
	cat <<-'END'
	lib base:
	lib os: base
	lib event: base
	lib jit: event os base
	lib model: event base
	lib stack: model base
	lib classes: model event base
	lib reference: model event base
	lib simulate: reference base
	lib view: classes simulate reference model event base
	lib compare: view model event base
	lib live: view model base
	lib symbol: jit stack model event os base
	lib code: view symbol jit stack model base
	lib unwind: os base
	lib plot: compare view classes symbol model objects event base
	lib export: classes plot symbol jit stack model event base
	lib objects: event base
	lib refault: os event base
	ftrace record: event os base
	ftrace tracefs: os base
	ftrace print: os base
	ftrace dat: print record os base
	ftrace text: record base
	ftrace assemble: record event base
	ftrace sideband: unwind record event os base
	ftrace user: sideband tracefs os base
	ftrace watch: record objects os base
	ftrace capture: watch user sideband assemble text dat tracefs record event os base
	stap tapset:
	stap module: os base
	stap decode: tapset event base
	stap session: decode module tapset event os base
	perf faults: unwind event os base
	cmd common: export classes capture faults user text dat assemble record session live view symbol refault model event os base
	cmd kmap: common module plot symbol objects event base
	cmd commands: kmap common classes capture tracefs assemble session module compare export plot code symbol view simulate reference objects refault model event os base
	END
}

# What libraries the rooms may use beyond libc; all others none of these.
foreign='tracefs|traceevent|event-parse|kbuffer|trace-cmd|trace-seq'

sources=$(find lib ftrace stap perf cmd -name '*.[ch]' 2>/dev/null)

# Lines "ROOM FILE HEADER'S_ROOM HEADER" of every include of one of our own headers.
own_includes()
{
	grep -HoE '^# *include *"[^"]+"' $sources | sed -E 's/:# *include *"(.*)"/ \1/' |
		awk '{ n = split($1, at, "/"); split($2, to, "/")
		       print (n > 2 ? at[2] : "commands"), $1, (index($2, "/") ? to[1] : "?"), $2 }'
}

own_includes >"$T/includes"
[ "$(wc -l <"$T/includes")" -gt 100 ]
is $? 0 'includes are found at all'

rooms | sed 's/^[a-z]* //; s/://' >"$T/rooms"
is "$(awk 'NR == FNR { room = $1; may[room, room]; for (i = 2; i <= NF; i++) may[room, $i]; next }
	!(($1, $3) in may) { print $2 ": " $4 }' "$T/rooms" "$T/includes")" '' \
	'every include is one that the table allows'
is "$(awk 'NR == FNR { used[$1, $3]; next }
	{ for (i = 2; i <= NF; i++) if (!(($1, $i) in used)) print $1 " does not use " $i }' \
	"$T/includes" "$T/rooms")" '' 'and the table allows no more than is used'
# A header of each room opens it: its first comment names all other headers of the room that other rooms include.
names_all()
{
	local opening name

	opening=$(sed 1d "$1" | sed '/\*\//q')
	shift
	for name; do
		grep -qw "${name##*/}" <<<"$opening" || return 1
	done
}
is "$(cut -d' ' -f1 "$T/rooms" | grep -v commands | while read -r room; do
	mapfile -t offered < <(awk -v room="$room" '$3 == room && $1 != room { print $4 }' "$T/includes" | sort -u)
	for header in */"$room"/*.h; do
		names_all "$header" "${offered[@]/#"$room/${header##*/}"/.}" && continue 2
	done
	echo "$room: ${offered[*]}"
done)" '' 'a header opens each room'
is "$(awk '$4 ~ /_priv\.h$/ && $1 != $3 { print $2 ": " $4 }' "$T/includes")" '' \
	'private headers are included in their own room only'
is "$(while read -r room file to header; do
	for layer in lib ftrace stap perf cmd; do
		[ -f "$layer/$header" ] && continue 2
	done
	echo "$file: $header"
done <"$T/includes")" '' 'every own header that is included exists, under the name of its room'
is "$(rooms | awk '{ sub(":", ""); print $2 == "commands" ? $1 : $1 "/" $2 }' | sort)" \
	"$(for file in $sources stap/tapset/wire.h; do dirname "$file"; done | sort -u)" \
	'every folder of sources is a room of the table, and every room a folder'
is "$(git ls-files lib ftrace stap perf cmd tests/unit 2>/dev/null | xargs -rn1 dirname | sort | uniq -c |
	awk '$1 > 32 { print $1 " files in " $2 }')" '' 'no folder has more than 32 files'

# The objects tell the same without trusting the includes: who calls whom.
objects=$(for layer in lib ftrace stap perf cmd; do find "$BUILD/$layer" -name '*.o' 2>/dev/null; done)
# Lines "FILE FILE": the first uses a symbol of the second. Only objects whose source is still there.
calls()
{
	local object source there=()

	for object in $objects; do
		source=${object#"$BUILD/"}
		[ -f "$source" ] || [ -f "${source%.o}.c" ] || continue
		there+=("$source")
	done
	(cd "$BUILD" && nm -A "${there[@]}") | awk '
		{ file = $1; sub(/\.o:.*/, "", file); type = $(NF - 1); name = $NF }
		type == "U" { uses[file, name]; next }
		type ~ /^[TDBRCVW]$/ { where[name] = file }
		END { for (use in uses) { split(use, at, SUBSEP)
			if (at[2] in where && where[at[2]] != at[1]) print at[1], where[at[2]] } }' | sort -u
}
calls >"$T/calls"
[ "$(wc -l <"$T/calls")" -gt 100 ]
is $? 0 'symbols are found at all'
is "$(awk 'NR == FNR { room = $1; may[room, room]; for (i = 2; i <= NF; i++) may[room, $i]; next }
	function at(file, part, n) { n = split(file, part, "/"); return n > 2 ? part[2] : "commands" }
	!((at($1), at($2)) in may) { print $1 ": " $2 }' "$T/rooms" "$T/calls")" '' \
	'no object uses a symbol of a room that the table does not allow'
is "$(tsort "$T/calls" 2>&1 >/dev/null | grep -v 'contains a loop' | sed 's/^tsort: //')" '' \
	'no files call each other in a circle'

is "$(grep -nE "^# *include *<(.*/)?($foreign)" $(find lib cmd -name '*.[ch]'))" '' \
	'lib and cmd include no header of libtracefs, libtraceevent or libtracecmd'
is "$(grep -nE '^# *include *[<"](.*/)?trace-cmd' $sources)" '' \
	'the program does without libtracecmd'
is "$(nm -u "$BUILD/liblib.a" 2>/dev/null | grep -E ' (tracefs|tep|tracecmd|kbuffer)_' | sort -u)" '' \
	'and so does what lib became'
is "$(grep -nE '\b(printf|puts|perror|exit|abort|argp_(parse|error|failure|usage|help))\(' $(find lib ftrace stap perf -name '*.c' 2>/dev/null) |
	grep -vE '\b_exit\(|^ftrace/tracefs/keeper\.c')" '' 'libraries neither print nor exit'

# Of sscanf() only words: its numbers take signs and spaces and wrap.
is "$(grep -nE '\b(strto(u?l|u?ll|u?max|d|f|ld)|ato(i|l|ll|f)|fscanf)\(|scanf\(.*%[*0-9]*(l|ll|j|z|h)*[diuxXo]|SCN[a-z]' $sources)" '' \
	'numbers from outside are read by base/number.h alone'

all=$(find Makefile bootstrap *.md LICENSE .ci .clang-format .clang-tidy .editorconfig .shellcheckrc lib ftrace stap perf cmd tests docs completion \
	examples -type f ! -name '*.o' 2>/dev/null)
tagged=$(for file in $all; do
	case $file in
	*.c | *.h | *.t | *.sh | *.py | *.stp | *.1 | *.5 | Makefile | completion/* | .ci/*) echo "$file" ;;
	bootstrap | tests/run | tests/bench | tests/coverage | tests/fuzz/fuzz | *.dict) echo "$file" ;;
	esac
done)
is "$(for file in $tagged; do
	head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' || echo "$file"
done)" '' 'every source, script and page begins with its licence tag'
is "$(for file in bootstrap .ci/run tests/run tests/bench tests/coverage tests/live/why-not.sh tests/fuzz/fuzz; do [ -x $file ] || echo $file; done)" '' \
	'scripts can be executed'

text=$(for file in $all; do [[ $file = tests/data/* && $file != *.py ]] || echo "$file"; done)
is "$(grep -nIE '(^|[^A-Za-z_])/wor[k]([/ ]|$)|pyp[i]|npmj[s]|crates\.i[o]|deb\.debia[n]|golang\.or[g]' $text)" '' \
	'no file names a place of the machine that made it, or a package registry'
is "$(grep -nIE ' +$' $(printf '%s\n' $text | grep -E '\.([cht]|sh|1|5)$|Makefile'))" '' \
	'no line of a source ends in spaces'

done_testing
