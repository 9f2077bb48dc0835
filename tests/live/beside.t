#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The pages beside a fault, held against /proc/PID/pagemap: a huge page maps 512 at once, and what the events do not
# tell is drawn as not known.

if [ -z "${BESIDE:-}" ]; then
	BESIDE=1 exec unshare -m bash "$0"
fi
. "${0%/*}/live.sh"
grep -q '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null && skip_all 'no huge pages here'

# cells FILE START END TIME: the character of each page then.
cells()
{
	"$PFSCOPE" render --full --all --region "$2-$3" --at "@${4:0:-9}.${4: -9}" "$1" | awk -v start="$2" '
		function number(hex, i, n) {
			for (i = 1; i <= length(hex); i++)
				n = n * 16 + index("123456789abcdef", substr(hex, i, 1))
			return n
		}
		BEGIN { from = number(start); all = sprintf("%1024s", ""); gsub(/ /, ".", all) }
		/^ +[0-9a-f]+ \|.*\|$/ {
			at = (number($1) - from) / 4096
			text = $0
			sub(/^[^|]*\|/, "", text)
			sub(/\|$/, "", text)
			all = substr(all, 1, at) text substr(all, at + length(text) + 1)
		}
		END { print all }'
}

# presences FILE START END TIME: as pagemap, with a ? where pfscope does not know.
presences()
{
	"$PFSCOPE" pages --json --region "$2-$3" --at "@${4:0:-9}.${4: -9}" "$1" |
		jq -j '.pages[] | (if .presence == "present" then "1" elif .presence == "absent" then "0" else "?" end) * .pages'
	echo
}

# compared: of lines with the pages that are mapped, what is drawn, and what `pages` tells: how many are drawn and were
# never mapped, how many were mapped and drawn untouched, of how many `pages` is wrong, how many are drawn as not known,
# of all steps and of the last one, and of how many in all steps `pages` does not know.
compared()
{
	awk '{
		unknown = 0
		for (i = 1; i <= length($1); i++) {
			page = substr($1, i, 1)
			cell = substr($2, i, 1)
			if (page == 1)
				ever[i] = 1
			unknown += cell == "?"
			false_ += cell !~ /[?.+<]/ && !ever[i]
			missing += cell == "." && page == 1
			presence = substr($3, i, 1)
			wrong += presence != page && presence != "?"
			unsure += presence == "?"
		}
		all += unknown
	}
	END { print false_ + 0, missing + 0, wrong + 0, all, unknown, unsure }'
}

# says_folios: from 6.18 on a fault maps whole folios of a file, which bars cannot show and report as missing.
says_folios()
{
	"$PFSCOPE" render "$T/beside.dat" | tr -s '\n ' ' ' | grep -q 'pages of large folios beyond a fault-around'
}

# beside KIND [FILE]: compared() of its steps
beside()
{
	local t start end pages

	"$PFSCOPE" run --no-bars -o "$T/beside.dat" -- "$WORK/beside" "$@" >"$T/steps" 2>"$T/log" || diag "$(<"$T/log")"
	while read -r _ t start end pages; do
		echo "${pages#pages=} $(cells "$T/beside.dat" "${start#start=}" "${end#end=}" "${t#t_ns=}")" \
			"$(presences "$T/beside.dat" "${start#start=}" "${end#end=}" "${t#t_ns=}")"
	done <"$T/steps" >"$T/lines"
	compared <"$T/lines"
}

# beside_is NAME MOST-UNKNOWN KIND [FILE]: nothing false, and that many unknown at most when all is over.
beside_is()
{
	local name=$1 most=$2 got

	shift 2
	got=$(beside "$@")
	set -- "$name" "$@" '' # FILE is $3, or empty
	read -r false missing wrong all last unsure <<<"$got"
	if [ "$3" != "$T/file" ] || ! says_folios; then
		is "$false $missing $wrong" '0 0 0' "$name: drawn and listed as it was"
	else
		is "$false $wrong" '0 0' "$name: listed as it was, and drawn but for large folios"
	fi
	[ "${last:-9999}" -le "$most" ]
	is $? 0 "$name: at most $most are not known in the end" || diag "$last, in all steps $all"
	[ -z "${VERBOSE:-}" ] || diag "unknown: drawn $all, at the end $last, listed $unsure"
}

beside_is 'huge zero page' 511 zero
beside_is 'huge page' 0 write
beside_is 'collapsed' 0 collapse
beside_is 'shared memory' 0 memory
mkdir "$T/tmpfs"
for huge in never always within_size advise; do
	mount -t tmpfs -o huge=$huge x "$T/tmpfs" 2>/dev/null || continue
	for kind in shared private filled shifted elsewhere; do
		most=1022
		[ $huge = never ] && most=0
		beside_is "tmpfs huge=$huge, $kind" $most $kind "$T/tmpfs/file"
	done
	umount "$T/tmpfs"
done
for kind in shared private filled shifted; do
	beside_is "file, $kind" 1022 $kind "$T/file"
done
done_testing
