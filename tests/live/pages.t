#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# What `pfscope pages` prints of each page is what the kernel has in the page table: after each exec, at each exit and
# in between, of real programs (tests/workload/pagemap saves the truth), and at each checkpoint of the random workload
# (layout --pages). No page that is said to be present is absent, or the other way round, and few are unknown.
# NAMES="gcc layout" SEEDS="75 89" runs just those.

. "${0%/*}/live.sh"
. "${0%/*}/pages.sh"
cd "$T" || exit
export TMPDIR=$T
program_files

# What pfscope has wrong so far. Named in NAMES it runs.
unmended=' chromium layout '
unmended=${unmended//[[:space:]]/ }

# wanted NAME: is it to run?
wanted()
{
	[ "${NAMES-}" ] || { [[ "$unmended" != *" $1 "* ]]; return; }
	[[ " $NAMES " = *" $1 "* ]]
}

# recorded NAME LIMIT COMMAND...: records it; what it saved is compared. A page of a file that another process locks at the
# very moment of a fault-around is passed over (docs/pages.md), so what differs is recorded a second time.
recorded()
{
	local name=$1 limit=$2 try status output

	shift 2
	for try in 1 2; do
		rm -rf saved run.dat
		mkdir saved
		"$PFSCOPE" run --no-bars -o run.dat -- "$@" >out 2>&1
		status=$?
		[ $status = 0 ] && [ $try = 1 ] || break
		output=$(compare saved run.dat "$limit" 2>&1) && break
		diag "$name: once more after" "$output"
	done
	if [ $status = 77 ]; then
		diag "$name: $(tail -n 1 out)"
	elif [ $status = 0 ]; then
		verdict "$name" compare saved run.dat "$limit"
	else
		fail "$name runs" || diag "$(cat out)"
	fi
	rm -rf saved run.dat
}

# program NAME LIMIT COMMAND...: also each 10 ms. Not every machine has every program.
program()
{
	wanted "$1" || return 0
	command -v "$3" >/dev/null || { diag "$3 is not installed"; return; }
	recorded "$1" "$2" "$WORK/pagemap" -i "${INTERVAL:-10}" saved "${@:3}"
}

# steps NAME "STEP...": of tests/workload/pages
steps()
{
	wanted "$1" || return 0
	# shellcheck disable=SC2086 # words are meant
	recorded "$1" "$LIMIT" "$WORK/pagemap" saved "$WORK/pages" $2
}

# layout SEED
layout()
{
	wanted layout || return 0
	recorded "layout, seed $1" "$LIMIT" "$WORK/layout" --pages "$1" saved/run
}

# present WORKLOAD ARG...: how many pages of the workload's memory the last snapshot has as present.
present()
{
	mkdir saved
	"$WORK/pagemap" saved "$WORK/$1" "${@:2}" >out 2>&1
	cat saved/*.pages | awk -v start="$(value start out)" -v end="$(value end out)" '
		function hex(s,  i, v) {
			sub(/^0x/, "", s)
			for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return v
		}
		BEGIN { start = hex(start); end = hex(end) }
		/^#/ { n = 0 }
		/^ / && / present/ {
			first = hex($1)
			for (i = 0; i < $2; i++) n += first + i * 4096 >= start && first + i * 4096 < end
		}
		END { print n + 0 }'
	rm -rf saved
}

# ---- the truth itself ----

is "$(present touch 256 write anon)" 256 'pagemap: written pages are present'
is "$(present populate 100 map)" 100 'pagemap: populated pages are present'
is "$(present again 10 1 drop)" 0 'pagemap: dropped pages are not'
is "$(present threads 4 100)" 400 'pagemap: threads'' pages are present'
"$WORK/pagemap" . sh -c 'kill -9 $$'
is $? 137 'pagemap: the status is the command'"'"'s'
rm -f ./*.pages

cases
done_testing
