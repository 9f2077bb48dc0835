#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pages: what is printed of each page, from events written by hand: every way to come to be mapped and to be unmapped,
# and every reason not to know. tests/live/pages.t compares it with the kernel's page table.

. "${0%/*}/../tap.sh"

cat >"$T/hand" <<'EVENTS'
# pfscope-events 2
0.900000000 note key="page_size" value="4096"
1.000000000 note key="start" value="mono"
1.000100000 exec pid=100 tid=100 comm="first" name="/bin/first"
1.000200000 map pid=100 tid=100 start=10000 end=20000 perms=r--p off=0 dev=fe:00 ino=7 name="/lib/a b.so"
1.000200000 map pid=100 tid=100 start=20000 end=30000 perms=rw-p off=0 dev=00:00 ino=0 name=""
1.000200000 map pid=100 tid=100 start=30000 end=34000 perms=rw-s off=0 dev=00:05 ino=9 name="/memfd:m (deleted)"
1.000200000 map pid=100 tid=100 start=40000 end=44000 perms=rw-s off=0 dev=00:06 ino=3 name="/dev/dri/card0"
1.000200000 map pid=100 tid=100 start=50000 end=54000 perms=rw-p off=0 dev=00:00 ino=0 name="" traits=droppable
1.000300000 fault pid=100 tid=100 addr=14010 access=read mode=user code=4
1.000400000 around pid=100 tid=100 off=8192 end_off=28672 dev=fe:00 ino=7
1.000500000 fault pid=100 tid=100 addr=20000 access=write mode=user code=6
1.000600000 fault pid=100 tid=100 addr=21008 access=write mode=kernel code=2
1.000700000 fault pid=100 tid=100 addr=22000 access=read mode=user code=4
1.000800000 fault pid=100 tid=100 addr=23000 access=write mode=user code=6
1.000900000 populate pid=100 tid=100 start=28000 end=2a000 by=madvise access=write
1.001000000 fault pid=100 tid=100 addr=1f000 access=write mode=user code=6
1.001010000 signal pid=100 tid=100 sig=11
1.001100000 fault pid=100 tid=100 addr=30000 access=write mode=user code=6
1.001200000 fault pid=100 tid=100 addr=31000 access=write mode=user code=6
1.001300000 fault pid=100 tid=100 addr=50000 access=write mode=user code=6
1.010000000 advise pid=100 tid=100 start=23000 end=24000 advice=dontneed interval=1000
1.011000000 evict pid=100 tid=100 dev=00:05 ino=9 off=4096 end_off=8192
1.012000000 advise pid=100 tid=100 start=29000 end=2a000 advice=wipeonfork interval=1000
1.020000000 fork pid=100 tid=100 child=200 shared=0
1.021000000 fault pid=200 tid=200 addr=23000 access=write mode=user code=6
1.030000000 advise pid=100 tid=100 start=20000 end=21000 advice=free interval=1000
1.031000000 advise pid=100 tid=100 start=21000 end=22000 advice=pageout interval=1000
1.032000000 fault pid=100 tid=101 addr=22000 access=write mode=user code=7
1.033000000 advise pid=100 tid=100 start=22000 end=23000 advice=dontneed interval=2000000
1.034000000 advise pid=100 tid=100 start=28000 end=29000 advice=dontneed interval=1000
EVENTS
sed '$s/.*/&\n1.040000000 note key="vm_events" value="scanned=0 swapped=0 collapsed=0"/' "$T/hand" >"$T/quiet"

# shown WHAT [OPTION...]: pages with these options prints standard input, of the file $file.
file=$T/quiet
shown()
{
	local what=$1

	shift
	cat >"$T/wanted"
	pfscope pages "$@" "$file"
	sed 's/ *$//' "$T/out" >"$T/pages"
	same "$T/pages" "$T/wanted" "$what"
}

shown 'present, absent and unknown' --pid 100 <<'PAGES'
# 44 pages: 6 present, 29 absent, 9 unknown (device 4, fault-around 4, race 1)
  range              pages  presence  how                reason        perm  name
  00010000-00012000      2  absent    -                  -             r--p  /lib/a b.so
  00012000-00014000      2  unknown   around             fault-around  r--p  /lib/a b.so
  00014000-00015000      1  present   read,user          -             r--p  /lib/a b.so
  00015000-00017000      2  unknown   around             fault-around  r--p  /lib/a b.so
  00017000-0001f000      8  absent    -                  -             r--p  /lib/a b.so
  0001f000-00020000      1  absent    write,user,signal  -             r--p  /lib/a b.so
  00020000-00021000      1  present   write,user         -             rw-p  anon
  00021000-00022000      1  present   write,kernel       -             rw-p  anon
  00022000-00023000      1  unknown   read,write,user    race          rw-p  anon
  00023000-00024000      1  absent    write,user         -             rw-p  anon
  00024000-00028000      4  absent    -                  -             rw-p  anon
  00028000-00029000      1  absent    populated          -             rw-p  anon
  00029000-0002a000      1  present   populated          -             rw-p  anon
  0002a000-00030000      6  absent    -                  -             rw-p  anon
  00030000-00031000      1  present   write,user         -             rw-s  /memfd:m (deleted)
  00031000-00032000      1  absent    write,user         -             rw-s  /memfd:m (deleted)
  00032000-00034000      2  absent    -                  -             rw-s  /memfd:m (deleted)
  00040000-00044000      4  unknown   -                  device        rw-s  /dev/dri/card0
  00050000-00051000      1  present   write,user         -             rw-p  anon
  00051000-00054000      3  absent    -                  -             rw-p  anon
PAGES
shown 'a fork copies the pages of private regions that were written to, but for MADV_WIPEONFORK and droppable ones' \
	--pid 200 <<'PAGES'
# 44 pages: 5 present, 35 absent, 4 unknown (device 4)
  range              pages  presence  how         reason  perm  name
  00010000-00020000     16  absent    -           -       r--p  /lib/a b.so
  00020000-00023000      3  present   fork        -       rw-p  anon
  00023000-00024000      1  present   write,user  -       rw-p  anon
  00024000-00028000      4  absent    -           -       rw-p  anon
  00028000-00029000      1  present   fork        -       rw-p  anon
  00029000-0002a000      1  absent    -           -       rw-p  anon
  0002a000-00030000      6  absent    -           -       rw-p  anon
  00030000-00034000      4  absent    -           -       rw-s  /memfd:m (deleted)
  00040000-00044000      4  unknown   -           device  rw-s  /dev/dri/card0
  00050000-00054000      4  absent    -           -       rw-p  anon
PAGES
shown '--at, --region, --json' --pid 100 --at 0.0004 --region 'file:*' --json <<'PAGES'
{
"pages":[
  {"pid":100,"range":"00010000-00012000","pages":2,"presence":"absent","how":"-","reason":"-","perms":"r--p","name":"/lib/a b.so"},
  {"pid":100,"range":"00012000-00014000","pages":2,"presence":"unknown","how":"around","reason":"fault-around","perms":"r--p","name":"/lib/a b.so"},
  {"pid":100,"range":"00014000-00015000","pages":1,"presence":"unknown","how":"read,user","reason":"under-way","perms":"r--p","name":"/lib/a b.so"},
  {"pid":100,"range":"00015000-00017000","pages":2,"presence":"unknown","how":"around","reason":"fault-around","perms":"r--p","name":"/lib/a b.so"},
  {"pid":100,"range":"00017000-00020000","pages":9,"presence":"absent","how":"-","reason":"-","perms":"r--p","name":"/lib/a b.so"},
  {"pid":100,"range":"00030000-00034000","pages":4,"presence":"absent","how":"-","reason":"-","perms":"rw-s","name":"/memfd:m (deleted)"},
  {"pid":100,"range":"00040000-00044000","pages":4,"presence":"unknown","how":"-","reason":"device","perms":"rw-s","name":"/dev/dri/card0"}
]}
PAGES
shown '--csv' --pid 100 --region 00050000-00054000 --csv <<'PAGES'
table,pid,range,pages,presence,how,reason,perms,name
pages,100,00050000-00051000,1,present,"write,user",-,rw-p,anon
pages,100,00051000-00054000,3,absent,-,-,rw-p,anon
PAGES

# sums NOTE: the first line if the kernel did that meanwhile.
sums()
{
	sed "s/scanned=0 swapped=0 collapsed=0/$1/" "$T/quiet" >"$T/other"
	pfscope pages --pid 100 "$T/other"
	head -n 1 <<<"$out"
}
is "$(sums 'scanned=5 swapped=0 collapsed=0')" \
	'# 44 pages: 3 present, 29 absent, 12 unknown (device 4, fault-around 4, madv-free 1, race 1, reclaimable 2)' \
	'scanned for reclaim: pages of files'
is "$(sums 'scanned=5 swapped=2 collapsed=0')" \
	'# 44 pages: 0 present, 29 absent, 15 unknown (device 4, fault-around 4, madv-free 1, madv-pageout 1, race 1, reclaimable 4)' \
	'swapped out: anonymous ones, too'
is "$(sums 'scanned=0 swapped=0 collapsed=1')" \
	'# 44 pages: 6 present, 29 absent, 9 unknown (device 4, fault-around 4, race 1)' \
	'collapsed to huge pages: where one has room'
cat >"$T/room" <<'EVENTS'
# pfscope-events 2
1.000000000 fork pid=1 tid=1 child=100 shared=0
1.000200000 map pid=100 tid=100 start=1ff000 end=401000 perms=rw-p off=0 dev=00:00 ino=0 name=""
1.000500000 fault pid=100 tid=100 addr=200000 access=write mode=user code=6
1.000600000 fault pid=100 tid=100 addr=201000 access=write mode=user code=6
1.000700000 fault pid=100 tid=100 addr=1ff000 access=write mode=user code=6
1.010000000 advise pid=100 tid=100 start=200000 end=201000 advice=dontneed interval=1000
1.011000000 advise pid=100 tid=100 start=1ff000 end=200000 advice=dontneed interval=1000
1.040000000 note key="vm_events" value="scanned=0 swapped=0 collapsed=1"
EVENTS
is "$(pfscope pages --pid 100 "$T/room"; head -n 1 <<<"$out")" \
	'# 514 pages: 1 present, 0 absent, 513 unknown (khugepaged 513)' \
	'collapsed to huge pages: also pages that were discarded'
file=$T/hand
is "$(pfscope pages --pid 100 "$file"; head -n 1 <<<"$out")" \
	'# 44 pages: 0 present, 29 absent, 15 unknown (device 4, fault-around 4, madv-free 1, madv-pageout 1, race 1, reclaimable 4)' \
	'without the note it is not known'
sed "\$a1.050000000 note key=\"counted_before\" value=\"minor=0 major=0\"\n1.050000000 note key=\"rusage\" value=\"minor=12 major=0\"" "$T/quiet" >"$T/other"
for option in '' '--at=0.045'; do
	pfscope pages --pid 100 $option "$T/other"
	unlike "$out" kernel-access "all faults that the kernel counted have an exception or are populated: nothing is in doubt $option"
done
sed "\$a1.050000000 note key=\"counted_before\" value=\"minor=0 major=0\"\n1.050000000 note key=\"rusage\" value=\"minor=13 major=0\"" "$T/quiet" >"$T/other"
for option in '' '--at=0.045'; do
	pfscope pages --pid 100 $option "$T/other"
	like "$out" 'kernel-access' "one more: untouched pages may be mapped $option"
done
printf '1.2 lost count=3 cpu=0\n' >>"$T/quiet"
pfscope pages --pid 100 "$T/quiet"
like "$out" '40 unknown|events-lost' 'after lost events nothing is known'
pfscope pages --pid 100 --at 0.01 "$T/quiet"
is "$(grep -c events-lost <<<"$out")" 0 'but before them it is'
pfscope pages --pid 7 "$T/quiet"
is "$status|$out|$err" '1||pfscope: no process 7 in this recording; `report` lists them' 'no such process'
done_testing
