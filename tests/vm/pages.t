#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1200
#
# As tests/live/pages.t, on Debian's 6.1 and 6.12 kernels, by ftrace and by SystemTap, which watch the same processes at
# the same time: no page that `pfscope pages` calls present is absent in the page table, or the other way round.
# Cases are recorded by themselves, too, by ftrace, as in pages.t; so are random layouts (SEEDS), and what the kernel does by
# itself.
# The guests record, the host compares. GROUPS_WANTED and ALONE name the groups of cases that are recorded in these two ways,
# NAMES="uffd mem-read" just those cases; EACH=1 each case in each way, and programs. Random layouts are recorded by themselves
# only: with --count, as in pages.t. KEEP=DIR keeps the recording and the snapshots of what differs.

KERNELS=${KERNELS:-6.1}
. "${0%/*}/vm.sh"
. "$ROOT/tests/live/pages.sh"
# A guest's files are in no file system that is probed. 6.1 accounts faults that the tracer makes to whom it traces, so any
# page may be one of these.
declare -A uncounted_of=([6.1]='kernel-access populated')
unprobed='reclaimable fault-around large-folio'
groups=${GROUPS_WANTED-steps accesses ${EACH:+programs}}
alone=${ALONE-${EACH:+steps accesses programs} layouts more kernel}

build_probes || { done_testing; exit; }
boot_args=(-e "SEEDS=${SEEDS:-1 2}" -e "NAMES=${NAMES-}" -e "GROUPS_WANTED=$groups" -e "ALONE=$alone"
	-e "PROGRAMS=${PROGRAMS:-true cow threads execs execs-race execs-at-once populate large gup-self gup-child shell perl python3}")
boot_all 900 bash -c "bash tests/vm/pages.guest $T/share/\$KERNEL/probe.ko $T/share/\$KERNEL"
cd "$T" || exit 1

for kernel in $KERNELS; do
	is "$(<"$T/$kernel.status")" 0 "$kernel: the guest ran to its end" || diag "$(<"$T/$kernel.err")"
	is "$(grep -cE '^(ftrace|stap): 0$' "$T/$kernel.out")" $((2 * $(wc -w <<<"$groups"))) \
		"$kernel: both saw all of it" || diag "$(<"$T/$kernel.out")"
	for what in $groups; do
		dir=$T/share/$kernel/$what
		is "$(grep ': failed: ' "$dir/said")" '' "$kernel: $what ran"
		for recording in ftrace.dat stap.events; do
			for saved in "$dir"/saved/*; do
				name="$kernel, ${recording%.*}, ${saved##*/}"
				verdict "$name" compare "$saved" "$dir/$recording" "${LIMIT:-100}" ||
					keep "$name" "$saved" "$dir/$recording"
			done
		done
	done
	[ "$alone" ] || continue
	uncounted="$unprobed ${uncounted_of[$kernel]-}"
	dir=$T/share/$kernel/alone
	is "$(grep ': failed: ' "$dir/said")" '' "$kernel: alone each of them ran"
	for saved in "$dir"/saved/*.dat; do
		saved=${saved%.dat}
		name="$kernel, alone, ${saved##*/}"
		verdict "$name" compare "$saved" "$saved.dat" "$(<"$saved.limit")" || keep "$name" "$saved" "$saved.dat"
	done
done
done_testing
