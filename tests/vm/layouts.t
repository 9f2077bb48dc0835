#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
#
# As tests/live/layout.t, on Debian's 6.1 and 6.12 kernels: the layout that a recording gives is the
# kernel's own, all of every line of /proc/PID/maps, at every checkpoint of the random workload. The
# guests record, the host compares. SEEDS="75 89" runs just those. (Seeds 1 to 24 are witness.t's.)

. "${0%/*}/vm.sh"
# 9, first on a fresh machine: it splits the first System V segment, whose inode is 0.
seeds=${SEEDS:-9 $(seq -s ' ' 31 38)}
text_seeds=${SEEDS:-$(seq -s ' ' 39 41)}

# In the guest. Recordings are made on its own disk, and then copied out.
cat >"$T/share/record" <<'EOS'
failed=0
record()
{
	local name=$1 seed=$2

	shift 2
	mkdir -p "$TMPDIR/$name" "$SHARE/$KERNEL/$name"
	cd "$TMPDIR/$name" || return
	"$PFSCOPE" run "$@" --no-bars -o run.dat -- "$WORK/layout" "$seed" run >out 2>&1
	echo $? >status
	cp out status run.dat run.*.maps "$SHARE/$KERNEL/$name"
	cd / && rm -rf "${TMPDIR:?}/$name"
}
for seed in $SEEDS; do
	record "binary.$seed" "$seed"
done
for seed in $TEXT_SEEDS; do
	record "text.$seed" "$seed" --via text
done
EOS
boot_args=(-e "SHARE=$T/share" -e "SEEDS=$seeds" -e "TEXT_SEEDS=$text_seeds")
boot_all 500 bash "$T/share/record"

# check KERNEL NAME [layout_check's option]
check()
{
	local dir=$T/share/$1/$2 result

	if [ "$(cat "$dir/status" 2>&1)" != 0 ]; then
		fail "$1, $2: the workload ran"
		diag "$(cat "$dir/status" "$dir/out" 2>&1)"
		return
	fi
	result=$("$TOOLS/layout_check" "${@:3}" "$dir/run.dat" "$dir"/run.*.maps 2>&1) &&
		{ pass "$1, $2: $result"; return; }
	fail "$1, $2: ${result##*$'\n'}"
	diag "$result"
}

for kernel in $KERNELS; do
	is "$(<"$T/$kernel.status")" 0 "$kernel: the guest ran to its end" || diag "$(<"$T/$kernel.err")"
	for seed in $seeds; do
		check "$kernel" "binary.$seed"
	done
	for seed in $text_seeds; do
		check "$kernel" "text.$seed" --coarse
	done
done
done_testing
