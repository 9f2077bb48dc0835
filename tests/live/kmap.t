#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# kmap record: the kernel objects that a program makes, by number, size and call site; event by event what trace-cmd
# reports of the same file; frees by other processes; running processes; caches and sizes.

. "${0%/*}/live.sh"
need_programs "$WORK/objects"
[ -d $TRACING/events/kmem/kfree ] || skip_all "the kernel has no kmem events"

# made FILE REGEX [OPTION...]: how many objects by such call sites of the program, and how many of them were freed.
made()
{
	local file=$1 regex=$2

	shift 2
	"$PFSCOPE" kmap --csv "$@" "$file" | awk -F, -v regex="$regex" '$2 ~ regex && $14 ~ /"objects"/ {
		n++; freed += $13 == "freed" } END { print n + 0, freed + 0 }'
}

"$PFSCOPE" kmap record -o "$T/rec.dat" -- "$WORK/objects" 50 30 20 2>"$T/log"
is "$?|$(<"$T/log")" '0|' 'recorded'
is "$(stat -c %a "$T/rec.dat")" 600 'for its owner only'
"$PFSCOPE" kmap --stats "$T/rec.dat" >"$T/stats"
like "$(<"$T/stats")" '; nothing lost' 'and nothing is lost'
is "$(made "$T/rec.dat" alloc_pipe_info)" '100 100' '50 pipes: two objects each, all freed'
like "$(made "$T/rec.dat" eventfd)" '^30 ' '30 event descriptors'
like "$(made "$T/rec.dat" '"(do_epoll|ep_alloc)')" '^20 ' '20 epoll instances'
like "$(made "$T/rec.dat" alloc_pipe_info --size=-512)" '^50 50$' '--size: one object of each pipe'
is "$(made "$T/rec.dat" alloc_pipe_info --comm=nobody)" '0 0' '--comm: none of others'

# ---- event by event ----

"$PFSCOPE" events "$T/rec.dat" 2>/dev/null | perl -ne '
	next unless /^\S+ (alloc|free) .*site=(\w+) func="([^"]*)" ptr=(\w+)(?: size=(\d+))?/;
	print "$1 0x$2 $3 $4 ", $5 // "", "\n"' >"$T/events"
cut -d' ' -f1,3- "$T/events" >"$T/ours"
# libtraceevent has no name for what follows the last symbol of the file.
trace-cmd report -R "$T/rec.dat" 2>/dev/null | perl -ne '
	BEGIN { open my $events, "<", shift; while (<$events>) { my @f = split; $func{$f[1]} = $f[2] } }
	next unless /: +(kmalloc|kmem_cache_alloc|kmalloc_node|kmem_cache_alloc_node|kfree|kmem_cache_free): +(.*)/;
	my ($name, $fields) = ($1, $2);
	my ($site) = $fields =~ /call_site=([^\s\/]+)/;
	my ($ptr) = $fields =~ /ptr=0x([0-9a-f]+)/;
	my ($req) = $fields =~ /bytes_req=(\w+)/;
	next if $ptr =~ /^0*$/;
	print $name =~ /alloc/ ? "alloc" : "free", " ", $func{$site} // $site, " $ptr ",
		defined $req ? $req =~ /^0x/ ? hex $req : $req : "", "\n"' "$T/events" >"$T/theirs"
ok 'trace-cmd reports some' test "$(wc -l <"$T/theirs")" -gt 100
same "$T/ours" "$T/theirs" 'each allocation and free is as trace-cmd reports it, in its order'
trace-cmd report "$T/rec.dat" 2>/dev/null >"$T/report"
lines()
{
	"$PFSCOPE" kmap --symbols "$@" | grep -v '^#' | cut -d, -f1-4,8 | sort
}
lines "$T/rec.dat" >"$T/ours"
lines "$T/report" >"$T/theirs"
sed -i -E "s/^(0x|[a-z_])[^,]*,//" "$T/ours" "$T/theirs"
sort -o "$T/ours" "$T/ours"
sort -o "$T/theirs" "$T/theirs"
same "$T/ours" "$T/theirs" 'the text of trace-cmd has the same objects'
"$PFSCOPE" events "$T/rec.dat" 2>/dev/null >"$T/lines"
is "$("$PFSCOPE" kmap "$T/lines" | md5sum)" "$("$PFSCOPE" kmap "$T/rec.dat" | md5sum)" 'event lines have the same objects'

# ---- who frees ----

"$PFSCOPE" kmap record -o "$T/leave.dat" -- "$WORK/objects" 40 0 0 leave 2>"$T/log"
is "$("$PFSCOPE" kmap --csv "$T/leave.dat" | awk -F, '$2 ~ /alloc_pipe_info/ && $14 ~ /"objects"/ {
	n++; others += $13 == "freed" && $12 != $3 } END { print n, others }')" '80 80' 'a child frees what its parent has allocated'

# ---- running processes ----

mkfifo "$T/fifo"
"$WORK/objects" 25 0 0 wait <"$T/fifo" &
waits=$!
exec 3>"$T/fifo"
"$PFSCOPE" kmap record --pid=$waits -o "$T/pid.dat" 2>"$T/log" &
recorder=$!
wait_for 60 has_entered $recorder
"$WORK/objects" 10 0 0
echo >&3
exec 3>&-
wait $waits
wait $recorder
is "$?|$(<"$T/log")" '0|' '--pid: recorded until the process has ended'
is "$(made "$T/pid.dat" alloc_pipe_info)" '50 50' '--pid: objects of that process, not of another one of that name'
"$PFSCOPE" kmap record --all -o "$T/all.dat" -- "$WORK/objects" 5 0 0 2>"$T/log"
is "$(made "$T/all.dat" alloc_pipe_info)" '10 10' '--all: has them'
ok '--all: and those of others' test "$("$PFSCOPE" kmap "$T/all.dat" | cut -d, -f2 | sort -u | wc -l)" -gt 3

# ---- caches ----

"$PFSCOPE" kmap record --cache=filp -o "$T/cache.dat" -- "$WORK/objects" 5 0 0 2>"$T/log"
status=$?
if grep -q 'do not name the cache' "$T/log"; then
	is $status 1 '--cache: a kernel whose events do not name it'
else
	is "$("$PFSCOPE" kmap --csv "$T/cache.dat" | cut -d, -f7 | sort -u)" $'"filp"\ncache' '--cache: only that one'
	ok '--cache: two files for each pipe' test "$("$PFSCOPE" kmap --csv "$T/cache.dat" | grep -c '"objects",[01]$')" -ge 10
fi
"$PFSCOPE" kmap record --pages -o "$T/pages.dat" -- "$WORK/objects" 5 0 0 2>"$T/log"
ok '--pages: pages' test "$("$PFSCOPE" kmap "$T/pages.dat" | grep -c ',pfn:')" -gt 10

# ---- without a file ----

"$PFSCOPE" kmap record -- "$WORK/objects" 50 0 0 >"$T/out" 2>"$T/log" &
pid=$!
wait $pid
is "$?|$(<"$T/out")" '0|' 'without -o: the status of the command, nothing on standard output'
like "$(<"$T/log")" '^objects 50 0 0: [0-9,]+ objects allocated by ' '... and the tables on standard error'
no_instance_of $pid
is $? 0 'no instance is left'
"$PFSCOPE" kmap record -- sh -c 'exit 7' 2>"$T/log"
is $? 7 'the status of the command'
done_testing
