#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kmap record --all while `make -j2` builds lib/base, with default settings and with a buffer that is too small: nothing is
# lost, or the file says how much.
# The witness is perf, which records the same with more memory: the compilers begin and end while both record.

. "${0%/*}/live.sh"
need_programs make perf "${CC:=cc}"
[ -d $TRACING/events/kmem/kfree ] || skip_all "the kernel has no kmem events"

events=
for event in kmalloc kmalloc_node kmem_cache_alloc kmem_cache_alloc_node kfree kmem_cache_free; do
	[ ! -d "$TRACING/events/kmem/$event" ] || events+=,kmem:$event
done
witness=(perf record -q -a -R -c 1 -m 64M -e "${events#,}" -o "$T/perf.data" --)
"${witness[@]}" true >"$T/out" 2>&1 || skip_all "perf cannot record: $(tail -n 1 "$T/out")"
cat >"$T/Makefile" <<END
SOURCES := \$(wildcard $ROOT/lib/base/*.c)
all: \$(SOURCES:$ROOT/lib/base/%.c=%.o)
%.o: $ROOT/lib/base/%.c
	$CC -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O2 -I$ROOT/lib -c -o \$@ \$<
END

# builds NAME [OPTION...]: a recording with these options.
builds()
{
	local name=$1 lost headline

	shift
	"${witness[@]}" "$PFSCOPE" kmap record --all "$@" -o "$T/make.dat" -- make -s -j2 -B -C "$T" all >"$T/out" 2>"$T/log"
	is "$?|$(<"$T/out")" '0|' "$name: recorded, and built" || diag "$(<"$T/log")"
	"$PFSCOPE" events "$T/make.dat" 2>/dev/null >"$T/events"
	lost=$(lost_in "$T/events")
	headline=$("$PFSCOPE" kmap --stats "$T/make.dat" | head -n 3)
	diag "$headline"

	# "TID ALLOCS FREES" of those that were called cc1, have begun and have ended.
	perl -ne '
		$n{$2}{$1}++ if /^\S+ (alloc|free) .*\btid=(\d+) /;
		$cc1{$1} = 1 if /^\S+ comm .*\btid=(\d+) .*comm="cc1"/;
		$begun{$1} = 1 if /^\S+ fork .*\bchild=(\d+)/;
		$ended{$1} = 1 if /^\S+ exit .*\btid=(\d+)/;
		END { printf "%d %d %d\n", $_, $n{$_}{alloc} // 0, $n{$_}{free} // 0 for grep $begun{$_} && $ended{$_}, sort keys %cc1 }' \
		"$T/events" >"$T/ours"
	perf script -i "$T/perf.data" --show-lost-events -F tid,event,trace 2>/dev/null | perl -ne '
		BEGIN { open my $ours, "<", shift; while (<$ours>) { /^(\d+)/; $cc1{$1} = 1 } }
		print "lost\n" if /PERF_RECORD_LOST/;
		$n{$1}{$2}++ if /^\s*(\d+)\s+kmem:\w*(alloc|free)\w*:.* ptr=(?!0x0+\b|\(nil\)|0+\b)/ && $cc1{$1};
		END { printf "%d %d %d\n", $_, $n{$_}{alloc} // 0, $n{$_}{free} // 0 for sort keys %cc1 }' "$T/ours" >"$T/theirs"
	if grep -q lost "$T/theirs"; then
		diag "$name: perf has lost events itself"
		return
	fi
	ok "$name: some compilers, with thousands of objects" awk '{ n += $2 } END { exit NR < 8 || n < 5000 }' "$T/ours"
	if [ "$lost" = 0 ]; then
		like "$headline" 'nothing lost' "$name: the tables say that nothing is lost"
		# perf itself leaves out some that occur while it handles another one.
		is "$(awk 'NR == FNR { allocs[$1] = $2; frees[$1] = $3; next } allocs[$1] < $2 || frees[$1] < $3' "$T/ours" "$T/theirs")" '' \
			"$name: of $(wc -l <"$T/ours") compilers nothing is lost that perf has"
		ok "$name: ... which has nearly all" awk 'NR == FNR { n += $2 + $3; next } { n -= $2 + $3 } END { exit n > 200 }' "$T/ours" "$T/theirs"
	else
		like "$headline" "$lost EVENTS LOST" "$name: the tables say what is lost"
		ok "$name: not more is missing of the compilers" awk -v lost="$lost" 'NR == FNR { n += $2 + $3; next } { n -= $2 + $3 }
			END { exit n > lost }' "$T/theirs" "$T/ours"
	fi
}

builds 'default settings'
builds 'buffers of 64 KB' -b 64
done_testing
