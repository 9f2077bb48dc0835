# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The naive simulator that --microset is compared with, for microset.guest.

# For the programs of awk below: a hexadecimal number.
number='
	function number(hex,	i, n) {
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}'

# fifo N COW [SAID]: the references that a FIFO of N pages for each thread would show, from the order that
# tests/workload/order printed: "TID PAGE" lines. A page that is in the FIFO shows no access, but with COW=1 the first write to
# it: it gets its own copy. An access that shows twice (such a page that was not in it) is one.
fifo()
{
	awk -v max="$1" -v cow="$2" '
		NF == 3 {
			key = $1 " " $2
			show = 0
			if (!(key in inside)) {
				show = inside[key] = 1
				queue[$1, tail[$1]++] = $2
				if (tail[$1] - head[$1] > max)
					delete inside[$1 " " queue[$1, head[$1]++]]
			}
			if (cow && $3 == "w" && !(key in written)) {
				show = written[key] = 1
			}
			if (show && last[$1] != key)
				print key
			if (show)
				last[$1] = key
		}'
}

# recorded EVENTS PAGES SAID [ORDER]: the same of a recording: the faults of the threads in SAID, with PAGES of each, which
# are of 2^ORDER small pages.
recorded()
{
	awk -v pages="$2" -v small="$((1 << ${4:-0}))" "$number"'
		FNR == NR { known[$1]; next }
		$2 == "fault" && substr($5, 5) in known && $6 ~ /^addr=3[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]$/ {
			tid = substr($5, 5)
			key = tid " " int(number(substr($6, 7, 5)) / small) % pages
			if (last[tid] != key)
				print key
			last[tid] = key
		}' "$3" "$1"
}

# own_faults EVENTS SAID: "KIND FAULTS" as tests/workload/offered counts them, those on hidden pages left out.
own_faults()
{
	awk "$number"'
		FNR == NR { kind[$3] = name[FNR] = $1; start[$3] = number($2); nr = FNR; next }
		$2 == "fault" && !/ how=hidden/ && (pid = substr($4, 5)) in kind {
			at = number(substr($6, 6)) - start[pid]
			faults[kind[pid]] += at >= 0 && at < 2 ^ 30
		}
		END { for (i = 1; i <= nr; i++) print name[i], faults[name[i]] + 0 }' "$2" "$1"
}

# offered_own WHAT OPTION...: the neighbours that fault-around would map are hidden from the beginning, and the faults of the
# program's own are those of an untraced run.
offered_own()
{
	local what=$1 pid

	shift
	"$WORK/offered" >plain
	"$PFSCOPE" run "$@" --no-thp --strict --microset-region 300000000-600000000 -o run.recorded -- "$WORK/offered" >said 2>err
	is "$?|$(<err)" '0|' "fault-around, $what: it is recorded"
	"$PFSCOPE" events run.recorded >run.events
	is "$(own_faults run.events said)" "$(awk '{ print $1, $4 }' plain)" \
		"fault-around, $what: the program's own faults are those of an untraced run"
	pid=$(awk '$1 == "reached" { print $3 }' said)
	is "$(grep -oE " fault .* pid=$pid .* addr=[345][0-9a-f]{8} .* how=hidden" run.events | grep -oE 'addr=[0-9a-f]{6}' | sort -u | wc -l)" 64 \
		"fault-around, $what: what another process reached is hidden as well"
	is "$(grep -cE ' around .* addr=[345]........ ' run.events)" 0 "fault-around, $what: none"
}

# consistent N EVENTS PAGES SAID: without a limit to one region other pages share the set. Is there for each access of each
# thread in SAID either a fault, in this order, or its page was among the last N that the recording shows to have entered the set?
# Prints how many accesses have a fault; or the first one that fits neither.
consistent()
{
	awk -v max="$1" -v pages="$3" "$number"'
		function enter(tid, page) {
			if ((tid, page) in inside)
				return
			inside[tid, page]
			queue[tid, tail[tid]++] = page
			if (tail[tid] - head[tid] > max)
				delete inside[tid, queue[tid, head[tid]++]]
		}
		# Is the page still in the set when the faults before that one have entered it?
		function stays(tid, page, upto,	i, first, last, copy, has) {
			for (i = head[tid]; i < tail[tid]; i++)
				has[copy[last++] = queue[tid, i]]
			for (i = at[tid] + 0; i < upto; i++)
				if (!(fault[tid, i] in has)) {
					has[copy[last++] = fault[tid, i]]
					if (last - first > max)
						delete has[copy[first++]]
				}
			return page in has
		}
		# The next fault on the data of the thread.
		function next_data(tid,	i) {
			for (i = at[tid] + 0; i < nr[tid] && fault[tid, i] !~ /^d/; i++)
				;
			return i
		}
		FNR == NR {
			if ($2 == "fault" && / class=/ && !/access=exec/) {
				tid = substr($5, 5)
				page = substr($6, 6, length($6) - 8)
				if (page ~ /^3[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]$/)
					page = "d" number(substr(page, 2)) % pages
				fault[tid, nr[tid]++] = page
			}
			next
		}
		NF == 3 {
			page = "d" $2
			i = next_data($1)
			if (i < nr[$1] && fault[$1, i] == page && !stays($1, page, i)) {
				while (at[$1] <= i)
					enter($1, fault[$1, at[$1]++])
				seen++
			} else if (!(($1, page) in inside)) {
				print "access " FNR " of " page " by " $1 ": next fault " fault[$1, i]
				exit
			}
		}
		END { print seen }' "$2" "$4"
}

# fifo_hidden N: the same of the order that tests/workload/hidden printed, behind the first writes: only accesses of pages that
# are hidden. What one system call accesses enters the FIFO when it returns, the last 64 pages of it.
fifo_hidden()
{
	awk -v max="$1" '
		function enter(tid, page,	old) {
			if ((tid, page) in queued)
				return
			queued[tid, page]
			queue[tid, tail[tid]++] = page
			if (tail[tid] - head[tid] > max) {
				old = queue[tid, head[tid]++]
				delete queued[tid, old]
				delete open[tid, old]
			}
		}
		$2 == "begin" { begun = 1 }
		$2 == "moved" || $2 == "exec" { delete open }
		$2 == "exec" {
			begun = 0
			delete queued
			delete head
			delete tail
		}
		$2 == "dropped" {
			delete open[$1, $3]
			absent[$3]
			next
		}
		$2 == "(" {
			in_call = 1
			noted = 0
		}
		$2 == ")" {
			for (i = 0; i < noted; i++)
				if (i < noted - 64)
					delete open[$1, note[i]]
				else
					enter($1, note[i])
			in_call = 0
		}
		NF == 3 && !(($1, $2) in open) {
			if (begun && !($2 in absent)) {
				if (last[$1] != $2)
					print $1, $2
				last[$1] = $2
			}
			delete absent[$2]
			open[$1, $2]
			if (in_call)
				note[noted++] = $2
			else
				enter($1, $2)
		}'
}

# recorded_hidden EVENTS SAID: the faults on hidden pages of the threads in SAID, but for those of get_user_pages.
recorded_hidden()
{
	awk "$number"'
		FNR == NR { known[$1]; next }
		$2 == "fault" && / how=hidden/ && / code=/ && substr($5, 5) in known && $6 ~ /^addr=3........$/ {
			tid = substr($5, 5)
			page = number(substr($6, 7, 5))
			if (last[tid] != page)
				print tid, page
			last[tid] = page
		}' "$2" "$1"
}
