#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# kmap record --stack: each allocation has the stack that trace-cmd prints behind it, which leads through its call site; folded
# stacks add up to what the tables say; recordings of trace-cmd with stacks; caches, sizes, pages and pauses.

. "${0%/*}/live.sh"
need_programs "$WORK/objects"
[ -d $TRACING/events/kmem/kfree ] || skip_all "the kernel has no kmem events"
[ -e $TRACING/events/ftrace/kernel_stack/format ] || skip_all "the kernel records no stacks"

# stacks FILE: "ALLOCATIONS STACKS", and how many of the stacks are of an object just allocated and lead through its call site.
stacks()
{
	"$PFSCOPE" events "$1" 2>/dev/null | perl -ne '
		my ($kind) = /^\S+ (alloc|stack) / or next;
		my ($of) = /((?:ptr|pfn)=\w+)/;
		if ($kind eq "alloc") {
			$func{$of} = /func="([^"]*)"/ ? $1 : "";
			$allocs++;
		} else {
			my ($frames) = /frames="([^"]*)"/;
			my $func = delete $func{$of};
			$stacks++;
			$right++ if defined $func && ($func eq "" || ";$frames;" =~ /;\Q$func\E;/);
		}
		END { print "$allocs $stacks ", $right // 0, "\n" }'
}

# flame FILE BY: the sum of its lines.
flame()
{
	"$PFSCOPE" kmap --flame --by="$2" "$1" | awk '{ sum += $NF } END { print sum + 0 }'
}

# column NAME FILE: of the table of all objects.
column()
{
	"$PFSCOPE" kmap --stats --csv "$2" | awk -F, -v name="$1" '
		$1 == "table" { for (i = 1; i <= NF; i++) if ($i == name) at = i } $1 == "all" { print $at }'
}

# all_right FILE NAME: each allocation has its stack, but for one that the end cuts off on each CPU.
all_right()
{
	local allocs nr right

	read -r allocs nr right < <(stacks "$1")
	ok "$2: stacks" test "${nr:-0}" -gt 20 -a "${nr:-0}" -le "$allocs" -a "$nr" -ge $((allocs - $(nproc))) ||
		diag "$allocs allocations, $nr stacks"
	is "$right" "$nr" "$2: each leads through the call site of its object"
}

"$PFSCOPE" kmap record --stack -o "$T/rec.dat" -- "$WORK/objects" 50 30 20 2>"$T/log"
is "$?|$(<"$T/log")" '0|' 'recorded'
all_right "$T/rec.dat" 'recorded'
is "$(flame "$T/rec.dat" allocs)" "$(column allocs "$T/rec.dat")" 'folded stacks: as many allocations as the tables have'
is "$(flame "$T/rec.dat" bytes)" "$(column allocated "$T/rec.dat")" '... as many bytes'
is "$(flame "$T/rec.dat" live)" "$(column alive_bytes "$T/rec.dat")" '... and bytes alive'
is "$("$PFSCOPE" kmap --flame "$T/rec.dat" | grep -vcE '^[^ ;]+(;[^ ;]+)* [1-9][0-9]*$')" 0 'each line is a stack and a number'
"$PFSCOPE" kmap --flame --by=allocs "$T/rec.dat" >"$T/folded" 2>"$T/log"
is "$(<"$T/log")" '' 'all objects have stacks'
# Not those of an interrupt meanwhile.
is "$(grep -E 'pipe2;.*;alloc_pipe_info;' "$T/folded" | grep -v ';asm_' | awk '{ n += $NF } END { print n }')" 100 '50 pipes: two objects each'
is "$(cut -d' ' -f1 "$T/folded" | sort | uniq -d)" '' 'no stack comes twice'

# ---- as trace-cmd prints them ----

"$PFSCOPE" events "$T/rec.dat" 2>/dev/null | sed -nE 's/^\S+ stack .*frames="([^"]*)".*/\1/p' |
	sed -E 's/\+0x[0-9a-f]+//g' >"$T/ours"
# A stack of no object, or of an allocation that failed, is left out.
trace-cmd report "$T/rec.dat" 2>/dev/null | perl -ne '
	if (/<stack trace ?>/) { print "\n" if $in; $in = 1; $sep = "" }
	elsif ($in && /^=> (\S+)/) { print $sep, $1 =~ s/\+0x.*//r; $sep = ";" }
	elsif ($in && /\S/) { print "\n"; $in = 0 }
	END { print "\n" if $in }' >"$T/theirs"
ok 'trace-cmd prints some' test "$(wc -l <"$T/theirs")" -gt 100
# libtraceevent has no name for what follows the last symbol of the file.
paste "$T/ours" "$T/theirs" | perl -F'\t' -lane '
	my @ours = split /;/, $F[0]; my @theirs = split /;/, $F[1];
	for (0 .. $#theirs) { $ours[$_] = $theirs[$_] if $theirs[$_] =~ /^[0-9a-f]{16}$/ && $ours[$_] =~ /^[a-z_]/ }
	print join ";", @ours' >"$T/known"
same "$T/known" "$T/theirs" 'each stack is as trace-cmd prints it, in its order'

# In mounts of its own: it mounts debugfs.
if unshare -m trace-cmd record -T -e kmem -o "$T/cmd.dat" "$WORK/objects" 20 10 5 >"$T/log" 2>&1; then
	read -r allocs nr right < <(stacks "$T/cmd.dat")
	ok 'trace-cmd record -T: stacks, though all events have some' test "$nr" -gt 100 -a "$nr" -ge $((allocs - $(nproc))) ||
		diag "$allocs allocations, $nr stacks"
	is "$right" "$nr" '... each of its object'
else
	diag "trace-cmd cannot record with stacks here; in guests it does: $(tail -n1 "$T/log")"
fi

# ---- together with other options ----

"$PFSCOPE" kmap record --stack --size=1024- -o "$T/size.dat" -- "$WORK/objects" 50 0 0 2>"$T/log"
is "$?|$(<"$T/log")" '0|' '--size'
all_right "$T/size.dat" '--size'
is "$("$PFSCOPE" events "$T/size.dat" 2>/dev/null | grep -c '^[0-9.]* stack ')" \
	"$(trace-cmd report "$T/size.dat" 2>/dev/null | grep -c 'stack trace')" '--size: there are no others'
"$PFSCOPE" kmap record --stack --pages -o "$T/pages.dat" -- "$WORK/objects" 5 0 0 2>"$T/log"
all_right "$T/pages.dat" '--pages'
ok '--pages: of pages, too' eval '"$PFSCOPE" events "$T/pages.dat" 2>/dev/null | grep -q "^[0-9.]* stack .*pfn="'

mkfifo "$T/fifo"
"$PFSCOPE" kmap record --stack -o "$T/pause.dat" -- "$WORK/objects" 10 0 0 wait <"$T/fifo" 2>"$T/log" &
recorder=$!
exec 3>"$T/fifo"
wait_for 60 has_entered $recorder
"$PFSCOPE" kmap pause $recorder >"$T/out"
is "$(cat "$TRACING/instances/pfscope-$recorder-"*/events/kmem/{kmalloc,kmem_cache_alloc}/trigger | grep -v '^#')" '' \
	'while it is paused the kernel takes no stacks'
"$PFSCOPE" kmap resume $recorder >"$T/out"
echo >&3
exec 3>&-
wait $recorder
is "$?|$(<"$T/log")" '0|' 'resumed'
is "$("$PFSCOPE" kmap --flame --by=allocs "$T/pause.dat" 2>/dev/null | grep -E 'pipe2;.*;alloc_pipe_info;' |
	awk '{ n += $NF } END { print n }')" 20 '... with stacks'
no_instance_of $recorder
is $? 0 'no instance is left'
done_testing
