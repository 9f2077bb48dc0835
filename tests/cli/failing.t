#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# Each allocation, and each system call on a file, fails in turn while recordings are read and drawn: pfscope reports it
# in one line, does not crash or hang, and gives no partial output its final name. (A failure without effect does not
# count: libc works without some buffers, and some calls are repeated.)

. "${0%/*}/../tap.sh"
. "${0%/*}/failing.sh"
need_programs strace "$TOOLS/well_formed"

# An error of cairo's without memory is reported, and no file is left. In a few places cairo crashes, or draws less
# without an error.
some_of_cairo()
{
	local nr total=0

	run_one FAIL_ALLOC=0 FAIL_ALLOC_COUNT="$T/nr" LD_PRELOAD="$preload"
	rm -f "$target"
	failed=0
	for ((nr = 2; nr <= $(<"$T/nr"); nr += 9)); do
		run_one FAIL_ALLOC=$nr LD_PRELOAD="$preload"
		judge $? $nr
		total=$((total + 1))
	done >"$T/wrong"
	ok "${words[*]}, allocations in cairo: $failed of $total failures, one line each" test "$failed" -ge $((total * 9 / 10)) \
		-a "$total" -gt 20 || diag "$(head -n 5 "$T/wrong")"
}

# each_call CALL ERROR [PATH]: that system call on that file fails with ERROR.
each_call()
{
	local nr only=()

	[ -z "${3-}" ] || only=(-P "$3")
	failed=0
	for ((nr = 1; nr <= 500; nr++)); do
		run_one strace -qq -o "$T/calls" "${only[@]}" -e trace="$1" -e inject="$1:error=$2:when=$nr"
		judge $? $nr
		grep -q INJECTED "$T/calls" || break
	done >"$T/wrong"
	verdict "${words[*]} of ${file##*/}, $1 $2" "$least"
}

for file in "$PWD/examples/tour.events" "$DATA/text/report-kmem.txt" "$DATA"/dat/{pfs-v6,v7-zstd,v6-buffers}.dat "$DATA/text/kernel-pipe.trace"; do
	commands=(render)
	[ "${file##*/}" != report-kmem.txt ] || commands=(kmap 'kmap --stats' 'kmap --json' 'kmap --stats --csv' 'kmap --bars')
	[ "${file##*/}" != v6-buffers.dat ] || commands+=('report --json' 'report --by thread' 'events --csv' maps 'maps --json' 'tape --stable' \
		'tape --format=prefetch' 'tape --format=oracle-general' plot 'plot --format=html')
	[ "${file##*/}" != tour.events ] || commands+=('report --by class,file --class copy' 'events --class copy')
	[ "${file##*/}" != tour.events ] || commands+=('mrc --policy lru,clock,opt --window 1ms --series --each-process' \
		"diff --all --fail-if pages>+1 $file" "diff --json $file")
	each_command "${commands[@]}"
done

# Failures in fontconfig are left out: it crashes without memory.
file=$DATA/dat/v6-buffers.dat
for format in svg png; do
	words=(plot "--format=$format")
	run_one
	mv "$target" "$T/whole"
	export FAIL_ALLOC_IN=pfscope
	each_allocation
	export FAIL_ALLOC_IN=libcairo
	some_of_cairo
	unset FAIL_ALLOC_IN
done

# Pictures that are larger than the memory.
for format in png 'png --heat' 'svg --heat' 'pdf --heat'; do
	(
		ulimit -v $([ "$format" = png ] && echo 65000 || echo 130000)
		exec "$PFSCOPE" plot --size 4000x4000 --format $format -o "$target" "$file" >"$T/printed" 2>"$T/err"
	)
	is "$? $(<"$T/err")" '1 pfscope: cairo cannot draw: no memory' "a large $format and little memory: one line says so"
	is "$(find "$T/room" -mindepth 1)" '' "a large $format and little memory: no file is left"
done

# A page with the functions of a program.
program=$TOOLS/well_formed
cat >"$T/functions.events" <<EVENTS
# pfscope events 1
1.0 map pid=1 tid=1 start=10000 end=90000 perms=rw-p off=0 dev=00:00 ino=0 name="[heap]"
1.1 map pid=1 tid=1 start=100000 end=900000 perms=r-xp off=0 dev=$(printf %x:%x $(stat -c '%Hd %Ld' "$program")) ino=$(stat -c %i "$program") name="$program"
1.2 fault pid=1 tid=1 addr=10010 ip=$(printf %x $((0x100000 + 16#$(nm "$program" | awk '$3 == "main" { print $1 }')))) access=write mode=user
EVENTS
file=$T/functions.events
words=(plot --format=html)
run_one
ok 'the page has its function' grep -q '"main"' "$target"
mv "$target" "$T/whole"
export FAIL_ALLOC_IN='pfscope libelf-0 libelf'
each_allocation

# An archive of that program and another one.
for path in "$program" "$TOOLS/spent"; do
	read -r dev ino < <(printf '%02x:%02x %d\n' $(stat -c '%Hd %Ld %i' "$path"))
	echo "1.1 map pid=1 tid=1 start=1000000 end=1900000 perms=r-xp off=0 dev=$dev ino=$ino name=\"$path\""
	echo "1.3 note key=\"build_id\" value=\"dev=$dev ino=$ino id=$(readelf -n "$path" | awk '/Build ID/ { print $3 }')\""
done >>"$T/functions.events"
words=(archive)
run_one
mv "$target" "$T/whole"
each_allocation
unset FAIL_ALLOC_IN

if ! strace -qq -o "$T/calls" true 2>"$T/err"; then
	skip "strace: $(<"$T/err")" 'system calls that fail'
	done_testing
	exit
fi
words=(render)
for file in "$DATA"/dat/{pfs-v6,v7-zstd}.dat "$DATA/text/kernel-pipe.trace"; do
	run_one
	mv "$target" "$T/whole"
	least=1
	for call in read pread64; do
		case $file in *.trace) [ $call = read ] || continue ;; esac
		each_call $call EIO "$file"
		least=0
		each_call $call EINTR "$file"
		least=1
	done
	each_call openat EMFILE "$file"
	each_call write ENOSPC
	each_call linkat EACCES
	each_call fchmod EPERM
done
done_testing
