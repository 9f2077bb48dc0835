#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# report --by class. A program that does the same to more pages has that many more faults of one class, and no other.
# Where the kernel's handlers can be traced (--classify), what they are is what is concluded without them.

. "${0%/*}/live.sh"

# classes_of FILE [OPTION...]: lines "FAULTS CLASS"
classes_of()
{
	"$PFSCOPE" report --by class --csv "$@" | tr -d '\r"' | awk -F, '
		$1 == "table" { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == "class" { n[$at["class"]] += $at["faults"] }
		END { for (class in n) print n[class], class }'
}

# regions_of STEPS: those that the steps map.
regions_of()
{
	case $1 in
	disk*) echo '*workload-*' ;;
	memory*) echo '/memfd:*' ;;
	shm*) echo '/SYSV*' ;;
	*zero* | *:rws*) echo '/dev/zero*' ;;
	*) echo anon ;;
	esac
}

# difference STEPS: what 192 pages have more than 32, for N in the steps: "CLASS +FAULTS", ... sorted.
difference()
{
	local pages steps around="read of a file's page"

	for pages in 032 192; do
		read -ra steps <<<"${1//N/$pages}"
		"$PFSCOPE" run --no-aslr --no-thp --no-bars -o "$T/$pages" -- "$WORK/pages" "${steps[@]}" >"$T/log" 2>&1 || return
		# How often libraries are read depends on what fault-around finds unlocked: that class is the steps' own.
		{
			classes_of "$T/$pages" | grep -v "$around"
			classes_of --region "$(regions_of "$1")" "$T/$pages" | grep "$around"
		} >"$T/$pages.classes"
	done
	awk 'NR == FNR { class = $0; sub(/^[0-9]+ /, "", class); few[class] = $1; next }
		{ class = $0; sub(/^[0-9]+ /, "", class); d[class] = $1 - few[class]; delete few[class] }
		END { for (class in few) d[class] = -few[class]
			for (class in d) if (d[class]) printf "%s %+d\n", class, d[class] }' \
		"$T/032.classes" "$T/192.classes" | sort | paste -sd, | sed 's/,/, /g'
}

# Fault-around maps 16 pages at a time. A third field: where there is no zero page.
zero_page=
has_zero_page && zero_page=yes
while IFS='|' read -r steps wanted without; do
	[ "$zero_page" ] || wanted=${without:-$wanted}
	is "$(difference "$steps")" "$wanted" "$steps" || diag "$(cat "$T/log")"
done <<'END'
map:N write:0-N|anonymous page +160
map:N read:0-N|zero page +160|anonymous page +160
map:N read:0-N write:0-N|copy of the zero page +160, zero page +160|anonymous page +160
map:N write:0-N advise:4:0-N write:0-N|anonymous page +320
disk:N map:N:rw write:0-N|copy of a file's page +160
disk:N map:N:rw read:0-N write:0-N|copy of a file's page +160, read of a file's page +10
disk:N map:N:rws write:0-N|write to a shared file +160
disk:N map:N:rws read:0-N write:0-N|read of a file's page +10, write to a shared file +160
disk:N map:N:rx exec:0-N|read of a file's page +10
map:N:rws write:0-N|shared memory +160
memory:N map:N:rws write:0-N|shared memory +160
shm:N write:0-N|shared memory +160
zero map:N:rw read:0-N write:0-N|copy of the zero page +160, zero page +160|anonymous page +160
zero map:N:rws write:0-N|shared memory +160
memory:N map:N:rw write:0-N|copy of a file's page +160
map:N write:0-N fork write:0-N end|anonymous page +160, copy after fork +160
map:N write:0-N fork write:0-N end write:0-N|anonymous page +160, copy after fork +320
map:N write:0-N fork end write:0-N|anonymous page +160, copy after fork +160
map:N write:0-N fork fork write:0-N end end|anonymous page +160, copy after fork +160
map:N read:0-N fork write:0-N end|copy of the zero page +160, zero page +160|anonymous page +160, copy after fork +160
map:N fork write:0-N end write:0-N|anonymous page +320
disk:N map:N:rw write:0-N fork write:0-N end|copy after fork +160, copy of a file's page +160
map:N:r write:0-N|no access (signal or EFAULT) +160
map:N write:0-N protect:r:0-N protect:rw:0-N write:0-N|anonymous page +160
END

# Sums are those of the report.
"$PFSCOPE" run --no-bars -o "$T/sh" -- sh -c 'ls / | sort >/dev/null; (:)'
is "$(classes_of "$T/sh" | awk '{ n += $1 } END { print n }')" "$("$PFSCOPE" report --by process --json "$T/sh" |
	grep -o '"faults":[ 0-9]*' | awk -F: '{ n += $2 } END { print n }')" 'every fault has a class'
is "$(classes_of "$T/sh" | grep -c unknown)" 0 '... of a shell and its children, a known one' || diag "$(classes_of "$T/sh")"

# What the kernel's own functions say.
if "$PFSCOPE" run --classify --no-bars -o "$T/c" -- sh -c 'ls / | sort >/dev/null; (:)' 2>"$T/err" && [ ! -s "$T/err" ]; then
	reported=$("$PFSCOPE" report --by class --csv "$T/c" | tr -d '\r' | awk -F, '$1 == "class" { n += $4 } END { print n + 0 }')
	ok 'classes that the source reports' test "$reported" -gt 300
	"$PFSCOPE" events "$T/c" | sed 's/ how=[a-z]*//' >"$T/concluded"
	is "$(classes_of "$T/concluded" | sort)" "$(classes_of "$T/c" | sort)" '... are those that are concluded'
else
	diag "not compared with the kernel's functions: $(cat "$T/err")"
fi
done_testing
