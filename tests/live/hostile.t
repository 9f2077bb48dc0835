#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# Names that would act on a terminal or break a table (escape sequences, newlines, bytes that are no UTF-8, 4000
# characters) as thread names, as names of mapped and of executed files, of recordings and in command lines:
# nothing of them comes out raw, JSON and CSV stay valid, and the names are known still.

. "${0%/*}/live.sh"
check=$TOOLS/well_formed
need_programs "$check"

ugly=$'a\033[31mb\033]0;title\a\n\t\\ c\351\302\233"\x27,\342\200\256d'

# A folder whose name is that long that paths in it have 4000 characters and more.
long=$T/long
mkdir "$long"
part=$(printf 'd%.0s' {1..199})
(
	cd "$long" || exit
	while [ ${#PWD} -lt 3800 ]; do
		mkdir "$part" && cd "$part" || exit
	done
	pwd >"$T/deep"
)
deep=$(<"$T/deep")

other=$ugly.2
mkdir "$T/$ugly"
cp "$WORK/names" "$T/$ugly/$ugly"
program=$T/$ugly/$ugly

# well WHAT FORM COMMAND...: what it prints is well-formed.
well()
{
	local what=$1 form=$2 said

	shift 2
	"$@" >"$T/printed" 2>"$T/complaints"
	is $? 0 "$what: is printed" || diag "$(head -c 300 "$T/complaints" | cat -v)"
	said=$("$check" "$form" <"$T/printed")
	is "$?" 0 "$what: well-formed $form ($said)"
}

# shown WHAT COMMAND...: and on a terminal there is nothing that it would act on.
shown()
{
	local what=$1 said

	shift
	command -v script >/dev/null || { skip 'no script(1)' "$what on a terminal"; return; }
	PFSCOPE_PAGER= TERM=xterm NO_COLOR=1 script -qec "${*@Q}" /dev/null </dev/null | tr -d '\r' >"$T/printed"
	said=$("$check" text <"$T/printed")
	is "$?" 0 "$what on a terminal: nothing raw ($said)"
	ok "$what on a terminal: something" test -s "$T/printed"
}

# all_views NAME FILE
all_views()
{
	local name=$1 file=$2

	well "$name, bars" text "$PFSCOPE" render --width 300 "$file"
	well "$name, narrow bars" text "$PFSCOPE" render --width 40 "$file"
	well "$name, --full" text "$PFSCOPE" render --full "$file"
	well "$name, --classic" text "$PFSCOPE" render --classic "$file"
	well "$name, report" text "$PFSCOPE" report "$file"
	well "$name, report --csv" csv "$PFSCOPE" report --csv "$file"
	well "$name, report --json" json "$PFSCOPE" report --json "$file"
	well "$name, event lines" text "$PFSCOPE" events "$file"
	well "$name, events --csv" csv "$PFSCOPE" events --csv "$file"	# with the bytes as they are
	well "$name, events --json" json "$PFSCOPE" events --json "$file"
	shown "$name, bars" "$PFSCOPE" render "$file"
	shown "$name, report --csv" "$PFSCOPE" report --csv "$file"
	shown "$name, events --csv" "$PFSCOPE" events --csv "$file"
	shown "$name, events --json" "$PFSCOPE" events --json "$file"
	shown "$name, maps" "$PFSCOPE" maps "$file"	# else it is as the kernel writes it
}

for via in binary text; do
	recording=$T/$ugly.$via
	"$PFSCOPE" run --via $via -o "$recording" -- "$program" "$T/$ugly" "$ugly" "$other" >"$T/report" 2>"$T/bars"
	is $? 0 "--via $via: recorded" || diag "$(cat -v "$T/bars")"
	is "$("$check" text <"$T/bars" >"$T/said"; echo $?)" 0 "--via $via: the bars of run: nothing raw" || diag "$(<"$T/said")"
	all_views "--via $via" "$recording"
	"$PFSCOPE" events "$recording" >"$T/events"
	ok "--via $via: the thread's name is known" grep -qF 'comm="a\x1b[31mb\x1b]0;titl"' "$T/events"
done
# The longest names that there can be.
"$PFSCOPE" run -o "$T/long.dat" -- "$WORK/names" "$deep" >"$T/report" 2>"$T/bars"
is $? 0 'a path of 3900 characters: recorded' || diag "$(head -c 600 "$T/bars")"
is "$("$check" text <"$T/bars" >"$T/said"; echo $?)" 0 'a path of 3900 characters: nothing raw in the bars' || diag "$(<"$T/said")"
all_views 'a path of 3900 characters' "$T/long.dat"
"$PFSCOPE" events --json "$T/long.dat" >"$T/json"
ok 'a path of 3900 characters: is there in full' grep -qF "$deep" "$T/json"

# What is said of files and options.
for arguments in "render|$T/no such $ugly" "events|$T/$ugly" "render|--region|$ugly" "run|--$ugly" "$ugly" "attach|$ugly"; do
	IFS='|' read -rd '' -a words <<<"$arguments"
	words[-1]=${words[-1]%$'\n'}
	"$PFSCOPE" "${words[@]}" >"$T/printed" 2>&1 </dev/null
	status=$?
	ok "${words[0]@Q}: refused" test $status -ne 0
	said=$("$check" text <"$T/printed")
	is $? 0 "${words[0]@Q}: the message has nothing raw ($said)" || diag "$(cat -v "$T/printed")"
done
done_testing
