# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What other programs read in an export, against the report and the events of the same recording. A test sets `recording` and
# `options`, which are also those of the export.
#
#     . "${0%/*}/../tap.sh"
#     . "${0%/*}/../export.sh"
#     is "$seen" "$(report process .pid)" 'processes'

# report TABLE FILTER: its rows, as jq prints them.
report()
{
	"$PFSCOPE" report --json --by "$1" "${options[@]}" "$recording" | jq -r ".$1[] | $2"
}

# start_ns: when the recording starts
start_ns()
{
	"$PFSCOPE" report --json "$recording" | jq .recording.start_ns
}

# same_faults: reads lines "NS TID 0xADDRESS ACCESS MODE". Each must be an event.
same_faults()
{
	sort >"$T/faults.got"
	"$PFSCOPE" events "$recording" | awk '$2 == "fault" { split("", at)
		for (i = 3; i <= NF; i++) { split($i, field, "="); at[field[1]] = field[2] }
		sub(/\./, "", $1); sub(/^0+/, "", $1); access = at["access"] == "exec" ? "execute" : at["access"]
		print $1, at["tid"], "0x" at["addr"], access, at["mode"] }' | sort >"$T/faults.wanted"
	is "$(comm -23 "$T/faults.got" "$T/faults.wanted")" '' '... times, addresses, accesses and modes are those of the events'
}

# same_regions: reads lines "PID START-END PERMISSIONS FAULTS NAME".
same_regions()
{
	sort >"$T/regions.got"
	report region 'select(.gone != null and .perms != "") |
		"\(.pid) \(.range | split("-") | map(ltrimstr("0") | sub("^0+"; "")) | join("-")) \(.perms) \(.faults) \(.name)"' | sort >"$T/regions.wanted"
	is "$(comm -13 "$T/regions.got" "$T/regions.wanted")" '' "... $(wc -l <"$T/regions.wanted") regions"
	is "$(comm -23 "$T/regions.got" "$T/regions.wanted" | grep -vE '^[0-9]+ [0-9a-f]+-[0-9a-f]+ [-rwxps?]{4} 0 ')" '' \
		'... and no others with faults'
}
