#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the pager gets, and what it does not.

. "${0%/*}/../tap.sh"
command -v script >/dev/null || { skip 'no script(1)' 'the pager'; done_testing; exit; }
file=$DATA/text/small.dat
unset PAGER PFSCOPE_PAGER LESS

# terminal COMMAND: its output on a terminal
terminal()
{
	TERM=xterm script -qec "stty rows 24 cols 80; $1" /dev/null </dev/null | tr -d '\r'
}

export PFSCOPE_PAGER='sed s/^/PAGED:/'
for command in 'render --all' 'render --by-address' 'render --classic' report events 'report --json'; do
	like "$(terminal "$PFSCOPE $command $file" | head -n 3)" '^PAGED:' "$command: through the pager"
	unlike "$(terminal "$PFSCOPE --no-pager $command $file" | head -n 3)" 'PAGED:' "$command: --no-pager"
	unlike "$("$PFSCOPE" $command "$file" | head -n 3)" 'PAGED:' "$command: into a pipe: without it"
done
unlike "$(terminal "$PFSCOPE render $file")" 'PAGED:' 'the default bars fit: without it'
like "$(terminal "$PFSCOPE render --by-address $file" | head -n 1)" $'\e\[' 'it gets colours, as the terminal would'
is "$(terminal "$PFSCOPE --no-pager render --color=never --by-address $file" | sed 's/^/PAGED:/')" \
	"$(terminal "$PFSCOPE render --color=never --by-address $file")" 'and the same text, as wide as the terminal'
like "$(PAGER='sed s/^/OTHER:/' terminal "$PFSCOPE report $file" | head -n 1)" '^PAGED:' 'PFSCOPE_PAGER before PAGER'
unset PFSCOPE_PAGER
like "$(PAGER='sed s/^/OTHER:/' terminal "$PFSCOPE report $file" | head -n 1)" '^OTHER:' 'PAGER'
for none in '' cat; do
	is "$(PFSCOPE_PAGER=$none PAGER='sed s/^/OTHER:/' terminal "$PFSCOPE report $file" | grep -c OTHER)" 0 \
		"PFSCOPE_PAGER='$none': none"
done
# Who names no recording at a terminal means that of the folder.
mkdir "$T/folder" "$T/none"
cp "$file" "$T/folder/trace.dat"
like "$(cd "$T/folder" && terminal "PFSCOPE_PAGER= $PFSCOPE render")" '^pfscope: reading trace.dat' 'render: of trace.dat'
cp "$file" "$T/folder/pfscope.dat"
like "$(cd "$T/folder" && terminal "PFSCOPE_PAGER= $PFSCOPE report")" '^pfscope: reading pfscope.dat' 'report: pfscope.dat first'
like "$(cd "$T/none" && terminal "PFSCOPE_PAGER= $PFSCOPE events; echo status \$?")" 'neither pfscope.dat nor trace.dat.*status 1' 'there is none'
# A reader that has had enough ends it, without a message.
is "$(PFSCOPE_PAGER='head -n 1' terminal "$PFSCOPE events $file; true" | wc -l)" 1 'a pager that ends early'
is "$(PFSCOPE_PAGER=/no/such/pager terminal "$PFSCOPE events $file; true" | grep -vc 'no/such')" 0 'a pager that is not there'
terminal "$PFSCOPE report --strict /no/such/file; echo status \$?" >"$T/out"
like "$(<"$T/out")" 'status 1' 'the status is the command'"'"'s'
done_testing
