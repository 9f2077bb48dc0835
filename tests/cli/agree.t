#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One truth in several places: each command's --help, its manual page and the completion name the same
# options; the event format's table, its page and its manual page the same kinds, fields and values;
# the Makefile's targets are those that the README tells of.

. "${0%/*}/../tap.sh"
cd "$ROOT" || exit 1

commands=$("$PFSCOPE" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -v '^sudo$\|^pfscope$')
ok 'the completion is made' completion/generate "$PFSCOPE" "$T/completion"
is "$(wc -w <<<"$commands")" "$(grep -cE '^	\{ "[a-z]+", ' cmd/main.c)" \
	'--help lists every command of the table'

# Short and long options, one a line. argp's own -? is not a letter.
help_options()
{
	sed -nE 's/^ +(-., )?(--[a-z-]+).*/\1\2/p' "$T/out" | tr -d ' ' | tr , '\n' | sort -u
}

man_options()
{
	grep -E '^\.It Fl ' "docs/man/pfscope-$1.1" | grep -oE 'Fl (\\&)?-?[A-Za-z?-]+' |
		sed -E 's/^Fl (\\&)?/-/' | sort -u
}

completed_options()
{
	bash -c 'source "$0"; _pfscope_options "$1"' "$T/completion/pfscope" "$1" | tr ' ' '\n' | sort -u
}

for command in $commands; do
	pfscope $command --help
	ok "$command --help: at most 40 lines" test "$(wc -l <"$T/out")" -le 40
	grep -oE -- '--[a-z-]+' "$T/out" | sort -u >"$T/short"
	pfscope $command --help=all
	is "$status|$err" '0|' "$command --help: success, on standard output"
	like "$out" $'\nExamples?:\n  ' "$command --help has examples"
	is "$(awk 'length > 100' <<<"$out")" '' "$command --help: no line is wider than 100"
	help_options >"$T/help"
	ok "$command has a manual page" test -s "docs/man/pfscope-$command.1"
	man_options $command >"$T/man"
	same "$T/man" "$T/help" "$command: its manual page has the options of --help"
	completed_options $command >"$T/completed"
	grep -- '^--' "$T/help" >"$T/long"
	is "$(comm -13 "$T/short" "$T/long")" '' "$command: --help names all options of --help=all"
	same "$T/completed" "$T/long" "$command: the completion has the options of --help"
	for section in EXAMPLES 'EXIT STATUS' DESCRIPTION OPTIONS 'SEE ALSO'; do
		grep -qx ".Sh $section" "docs/man/pfscope-$command.1" || fail "$command: $section in its page"
	done
	ok "$command: pfscope(1) leads to its page" grep -q "^\.Xr pfscope-$command 1" docs/man/pfscope.1
	like "$(bash -c 'source "$0"; COMP_WORDS=(pfscope "") COMP_CWORD=1; _pfscope
		echo " ${COMPREPLY[*]} "' "$T/completion/pfscope")" " $command " "$command is completed"
done
ok 'every page of a command has a command' bash -c '
	for page in docs/man/pfscope-*.1; do
		name=${page#docs/man/pfscope-}
		grep -qwF "${name%.1}" <<<"$1" || { echo "$page"; exit 1; }
	done' - "$commands"

# ---- the event format ----

kinds=$(grep -oP '\[PFS_\w+\] = \{ "\K[a-z]+' lib/event/event.c | sort)
fields=$(grep -oP '^\s*F\(\w+, \K\w+' lib/event/event.h | sort)
notes=$(perl -0ne 'while (/\[PFS_NOTE_\w+\] = \{ .key = "(\w+)",(.*?)\},\n(?=\t\[|\};)/gs) {
	my ($key, $rest) = ($1, $2);
	my @fields = $rest =~ /(?:FIELD_?|OPTIONAL|NAMED)\("(\w+)"/g;
	print "$key ", @fields > 1 ? "@fields" : "bare", "\n" }' lib/event/notes.c | sort)
values=$(sed -n '/_names\[\] = {/,/};/p' lib/event/event.c | grep -oP '"\K\w+' | grep -vx 'unknown\|current' | sort -u)
is "$([ "$(wc -w <<<"$kinds")" -gt 15 ] && [ "$(wc -w <<<"$fields")" -gt 30 ] && echo found)" found \
	'the tables of the event language are found'
is "$(grep -oP '^\.It Ic \K[a-z]+' docs/man/pfscope-events.5 | sort)" "$kinds" \
	'pfscope-events(5) has the kinds of the table'
is "$(grep -oP '^\.It Va \K\w+' docs/man/pfscope-events.5 | sort)" "$fields" \
	'pfscope-events(5) has the fields of the table'
is "$(sed -n '/^## Kinds/,/^## Fields/p' docs/event-format.md | grep -P '^\| `' | cut -d'|' -f2 |
	grep -oP '`\K\w+' | sort)" "$kinds" 'event-format.md has the kinds of the table'
is "$(sed -n '/^## Fields/,/^## JSON/p' docs/event-format.md | grep -P '^\| `' | cut -d'|' -f2 |
	grep -oP '`\K\w+' | sort)" "$fields" 'event-format.md has the fields of the table'
is "$(sed -n '/^## Notes/,/^## Writing/p' docs/event-format.md | grep -P '^\| `' | cut -d'|' -f2,3 | tr -d '\140|' |
	xargs -n1 -d'\n' echo | sed -E 's/^ +//; s/ +$//; s/ +/ /g' | sort)" "$notes" \
	'event-format.md has the notes of the table, with their fields'
is "$(for value in $values; do
	sed -n '/^## Fields/,/^## JSON/p' docs/event-format.md | grep -q "\`$value\`" || echo "$value"
done)" '' 'event-format.md has the values of the table'
is "$(for value in $values; do
	sed -n '/^\.Sh FIELDS/,/^\.Sh JSON/p' docs/man/pfscope-events.5 | grep -qw -- "$value" || echo "$value"
done)" '' 'pfscope-events(5) has the values of the table'

# ---- what can be copied from the pages ----

is "$(grep -ohE '(`|\$ )make [a-z][a-z-]+' README.md docs/*.md docs/man/* | sed 's/.*make //' | sort -u |
	while read -r target; do grep -qE "^$target:" Makefile || echo "$target"; done)" '' 'every `make TARGET` of the documentation exists'
is "$(grep -ohE '\(([A-Za-z0-9_./-]+\.md)(#[a-z0-9-]*)?\)' README.md | tr -d '()' | sed 's/#.*//' |
	while read -r file; do [ -e "$file" ] || echo "$file"; done)" '' 'every file that the README links exists'
is "$(grep -ohP '`\K(lib|ftrace|cmd|tests|docs|examples|completion)/[A-Za-z0-9_./-]+(?=`)' README.md docs/*.md |
	grep -v NAME | sort -u | while read -r file; do [ -e "$file" ] || echo "$file"; done)" '' \
	'every file that the documentation names exists'
known=$("$PFSCOPE" run --help; "$PFSCOPE" attach --help; "$PFSCOPE" report --help; "$PFSCOPE" events --help; "$PFSCOPE" mrc --help; "$PFSCOPE" top --help; "$PFSCOPE" plot --help=all; "$PFSCOPE" kmap --help=all)
is "$(grep -hE '^ *(\$ )?(sudo )?(\./)?pfscope ' README.md docs/*.md examples/README.md 2>/dev/null |
	sed 's/ -- .*//' | grep -oE -- ' --[a-z-]+' | sort -u | while read -r option; do
		grep -q -- "$option" <<<"$known $("$PFSCOPE" render --help)" || echo "$option"
	done)" '' 'every option in the documentation exists'

is "$(grep -ohE '`tests/[a-zA-Z0-9_./-]+`' docs/*.md README.md CONTRIBUTING.md | tr -d '\`' | grep -v NAME | sort -u | while read -r file; do
	[ -e "$file" ] || echo "$file"
done)" '' 'each test that a page names exists'
is "$(sed '/^# How pfscope is tested/q' docs/RELIABILITY.md | grep -E '^\|' | grep -vE '^\|(-+\|)+$|shown by \|$' | grep -vE '`tests/[^`]+\.(t|c)` \|$')" '' \
	'each statement of RELIABILITY.md names the tests that show it'

done_testing
