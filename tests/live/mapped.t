#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Size and NUMA node of the page that each fault maps, in the recording and in report --by page-size,node: the program's own smaps
# and move_pages() are the witnesses. tests/vm/numa.t runs this in guests with two nodes.

. "${0%/*}/live.sh"
cd "$T" || exit 1

before=$(cat /proc/sys/vm/nr_hugepages 2>/dev/null)
if [ -n "$before" ] && echo $((before + 3)) 2>/dev/null >/proc/sys/vm/nr_hugepages; then
	at_exit eval 'echo "$before" >/proc/sys/vm/nr_hugepages'
fi
ours=(--region '[123]00??????-*') # mbind() splits the first one

# table OPTION...: "COUNT NAME"
table() { "$PFSCOPE" report --csv "${ours[@]}" "$@" | awk -F, 'NF > 8 && $2 != "faults" { print $2, $9 }' | sort; }

# check NAME OPTION...: of a recording with these options.
check()
{
	local name=$1

	shift
	"$PFSCOPE" run --no-bars -o rec "$@" -- "$WORK/mapped" >said 2>err
	is $? 0 "$name: recorded" || diag "$(<err)"
	diag "$name: sizes and nodes: $(cut -d' ' -f2,3 said | sort | uniq -c | tr -s ' \n' ' ')"
	is "$(awk '$2 == 0 || $3 < 0' said)" '' "$name: the witnesses know all"
	cut -d' ' -f1,2 said | sort >want
	"$PFSCOPE" events rec | awk '$2 == "fault" { delete v; for (i = 3; i <= NF; i++) if (split($i, f, "=") == 2) v[f[1]] = f[2]
		if (v["addr"] ~ /^[123]00/ && length(v["addr"]) == 9) print v["addr"], v["page_size"] }' | sort >got
	same got want "$name: each fault has the size of the page"
	awk '{ n[$2 == 4096 ? "4K" : "2M"]++ }
		END { for (size in n) print n[size], size }' want | sort >sizes
	table --by page-size rec >got
	same got sizes "$name: report --by page-size"
	awk '{ n[$3]++ } END { for (node in n) print n[node], node }' said | sort >want
	table --by node rec >got
	same got want "$name: report --by node"
	is "$("$PFSCOPE" report --csv --by node "${ours[@]}" rec | awk -F, '$1 == "node" && $10 != $9')" '' "$name: ... as a number, too"
}

# $MODULES/$KERNEL/probe.ko is SystemTap's module, in guests.
[ -z "${MODULES:-}" ] || check stap --source=stap --module="$MODULES/$KERNEL/probe.ko"
check perf --source=perf --pfn

# ---- what is unknown has a reason ----

"$PFSCOPE" report --csv --by page-size,node rec | grep "unknown: " >got
is "$(grep -vc 'unknown: zero page or of the kernel' got)" 0 'the zero page and the vdso have no node' || diag "$(<got)"
"$PFSCOPE" events rec | grep -v '"memory"' >without.ev
is "$(table --by node without.ev)" "$(grep -c . said) unknown: the nodes were not recorded" 'a recording without the nodes'
"$PFSCOPE" events rec | sed 's/key="memory" value="node=[0-9]* .*/key="memory" value="node=0 start=0 end=fffffffffff"/; $a 9999999.0 note key="memory" value="node=3 start=0 end=fffffffffff"' >several.ev
is "$(table --by node several.ev)" "$(grep -c . said) unknown: in zones of several nodes" 'a frame that may be of several'
"$PFSCOPE" run --source=perf --no-bars -o rec -- "$WORK/mapped" >said 2>err
is "$(table --by page-size rec)|$(table --by node rec)" "$(grep -c . said) unknown: not recorded (--pfn)|$(grep -c . said) unknown: not recorded (--pfn)" \
	'without --pfn'
"$PFSCOPE" run --source=ftrace --no-bars -o rec -- "$WORK/mapped" >said 2>err
is "$(table --by node rec)" "$(grep -c . said) unknown: not recorded (--pfn)" 'ftrace'
"$PFSCOPE" report --by page-size,node rec >out
is "$(awk 'length > 80' out)" '' 'the tables fit'
done_testing
