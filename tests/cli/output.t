#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A file that a command writes is there when it is complete, and not before; nothing is left of a pfscope that is killed
# meanwhile, also on file systems that have no files without a name.

. "${0%/*}/../tap.sh"
need_programs strace

mkdir "$T/room"
mkfifo "$T/slow"
"$PFSCOPE" tape "$DATA/text/small.dat" >"$T/wanted"

# begin [TRACER...]: a pfscope that has opened its output and waits for its input; its number in $pid.
begin()
{
	"$@" "$PFSCOPE" tape -o "$T/room/out" <"$T/slow" >"$T/begun" 2>&1 &
	exec 9>"$T/slow"
	wait_for 5 eval 'pid=$(pgrep -P $$ -x pfscope || pgrep -P "$(pgrep -P $$ -x strace)" -x pfscope) &&
		find "/proc/$pid/fd" -lname "$T/room/*" | grep -q .' || diag "$(<"$T/begun")"
}

# end_it: gives it the rest of its input.
end_it()
{
	cat "$DATA/text/small.dat" >&9
	exec 9>&-
	wait
}

# kill_it
kill_it()
{
	kill -9 "$pid"
	exec 9>&-
	wait 2>/dev/null
}

in_room()
{
	(cd "$T/room" && echo *)
}
shopt -s dotglob nullglob

# ---- files without a name ----

begin
is "$(in_room)" '' 'while it writes there is no file'
kill_it 2>/dev/null
is "$(in_room)" '' 'killed: nothing is left'
begin
end_it
is "$(in_room)" 'out' 'at its end there is one'
same "$T/room/out" "$T/wanted" '... which is whole'
echo old >"$T/room/out"
chmod 640 "$T/room/out"
begin
is "$(<"$T/room/out")" old 'one that exists stays meanwhile'
end_it
same "$T/room/out" "$T/wanted" '... and is replaced'
is "$(in_room) $(stat -c %a "$T/room/out")" 'out 640' '... with its permissions'
begin
kill_it 2>/dev/null
same "$T/room/out" "$T/wanted" 'killed: the old one stays'
is "$(in_room)" out '... and nothing else'
(cd "$T/room" && rm out && "$PFSCOPE" tape -o out "$DATA/text/small.dat")
same "$T/room/out" "$T/wanted" 'in the working directory'
rm "$T/room/out"

# ---- a file system without these ----

# The leak sanitizer cannot work under strace.
without=(env "ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0" strace -f -o "$T/log" -P "$T/room/" -e trace=openat -e inject=openat:error=EOPNOTSUPP:when=2)
begin "${without[@]}"
grep -q 'O_TMPFILE.*INJECTED' "$T/log" || diag "$(<"$T/log")"
like "$(in_room)" '^\.pfscope-[0-9a-f]{8}$' 'without: it has a temporary name'
first=$(in_room)
"$PFSCOPE" tape -o "$T/room/other" "$DATA/text/small.dat"
is "$(in_room)" "$first other" '... which another pfscope leaves alone'
rm "$T/room/other"
kill_it 2>/dev/null
is "$(in_room)" "$first" '... killed: it is left'
touch "$T/room/.pfscopes" "$T/room/pfscope-12345678"
"$PFSCOPE" tape -o "$T/room/other" "$DATA/text/small.dat"
is "$(in_room)" '.pfscopes other pfscope-12345678' '... until the next one writes there, which removes nothing else'
rm "$T/room"/*
begin "${without[@]}"
end_it
is "$(in_room)" out '... at its end it has its own'
same "$T/room/out" "$T/wanted" '... and is whole'
done_testing
