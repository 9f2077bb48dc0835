#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/tools/pagesdiff, which compares `pfscope pages` with the kernel's page table: it finds both kinds of wrong
# pages, and nothing else.

. "${0%/*}/../tap.sh"
cd "$T" || exit 1

cat >kernel <<'END'
# t0=81234567890 t1=81234601234 pid=4711 tid=4711 why=exit
1000-6000 r--p 00000000 fe:00 1234     /usr/bin/two words
 2000 2 present,file
 4000 1 swapped
8000-a000 rw-p 00000000 00:00 0
 8000 1 present,zero
 9000 1 guard
10000-14000 r--p 00000000 00:00 0      [vvar]
14000-16000 r-xp 00000000 00:00 0      [vdso]
 14000 1 present,file
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0      [vsyscall]
# end
END
cat >equal <<'END'
# pid 4711
  address pages  presence  how  reason
1000-6000 r--p /usr/bin/two words
  1000   1 absent  -           -
  2000   1 present read,user   -
  3000   1 unknown around      fault-around
  4000   2 absent  -           -
8000-a000 rw-p
  8000   1 present read,kernel -
  9000   1 absent  -           -
14000-16000 r-xp [vdso]
  14000  1 present read,user   -
  15000  1 unknown -           special
END

# compared NAME STATUS OUTPUT [-u PERCENT]: of what the last sed made of the equal one
compared()
{
	local out status

	out=$("$TOOLS/pagesdiff" "${@:4}" kernel said 2>&1)
	status=$?
	is "$status $out" "$2 $3" "$1"
}

cp equal said
sum='9 pages: 3 present, 4 absent, 2 unknown (fault-around 1, special 1)'
compared 'all of it is so' 0 "$sum, 0 wrong"
compared 'as many unknown as allowed' 0 "$sum, 0 wrong" -u 40
compared 'more unknown than allowed' 1 "$sum, 0 wrong" -u 39
is "$("$TOOLS/pagesdiff" kernel - <said)" "$sum, 0 wrong" 'from standard input'
sed '/vdso/,$d' equal >said
compared 'the [vdso] may be missing' 0 '7 pages: 2 present, 4 absent, 1 unknown (fault-around 1), 0 wrong'

sed 's/1000   1 absent  -  /1000   1 present read,user/' equal >said
compared 'said present, and absent' 1 \
	"1000-2000 1 kernel absent, said present read,user -, /usr/bin/two words
9 pages: 3 present, 3 absent, 2 unknown (fault-around 1, special 1), 1 wrong"
sed 's/4000   2 absent/4000   2 present/' equal >said
compared 'said present, and swapped' 1 \
	"4000-5000 1 kernel swapped, said present - -, /usr/bin/two words
5000-6000 1 kernel absent, said present - -, /usr/bin/two words
9 pages: 3 present, 2 absent, 2 unknown (fault-around 1, special 1), 2 wrong"
sed 's/present read,kernel/absent -/' equal >said
compared 'said absent, and present' 1 \
	"8000-9000 1 kernel present,zero, said absent - -, anon
9 pages: 2 present, 4 absent, 2 unknown (fault-around 1, special 1), 1 wrong"
sed 's/9000   1 absent  -/9000   1 present write/' equal >said
compared 'said present, and guarded' 1 \
	"9000-a000 1 kernel guard, said present write -, anon
9 pages: 3 present, 3 absent, 2 unknown (fault-around 1, special 1), 1 wrong"
sed '/rw-p/,/9000/d' equal >said
compared 'a region that was not said' 1 \
	"8000-9000 1 kernel present,zero, said missing - -, anon
9000-a000 1 kernel guard, said missing - -, anon
9 pages: 2 present, 3 absent, 2 unknown (fault-around 1, special 1), 2 wrong"
sed '/  9000/a b000-d000 rw-p [heap]\n  b000 2 absent - -' equal >said
compared 'a region that is not there' 1 \
	"b000-d000 2 kernel missing, said absent - -, [heap]
11 pages: 3 present, 4 absent, 2 unknown (fault-around 1, special 1), 2 wrong"

sed 's/ 1 absent/ 20 absent/' equal >said
compared 'more pages than the region has' 2 "pagesdiff: said:4: not a line of \`pfscope pages'"
sed 's/ present / perhaps /' equal >said
compared 'an unknown word' 2 "pagesdiff: said:5: not a line of \`pfscope pages'"
: >said
compared 'nothing' 2 'pagesdiff: said:0: is empty'
"$TOOLS/pagesdiff" kernel 2>/dev/null
is $? 2 'wrong usage'
done_testing
