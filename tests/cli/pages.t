#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pages: what is printed of each page, from events written by hand: every way to come to be mapped and to be unmapped,
# and every reason not to know. tests/live/pages.t compares it with the kernel's page table.

. "${0%/*}/../tap.sh"

cat >"$T/hand" <<'EVENTS'
# pfscope-events 2
0.900000000 note key="page_size" value="4096"
0.900000000 note key="counted_before" value="minor=0 major=0"
0.900000000 note key="rusage" value="minor=12 major=0"
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
1.001050000 cached dev=00:05 ino=9 off=0 end_off=8192 state=added order=0
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

# shown WHAT [OPTION...]: pages with these options prints standard input, of the file $file, before what it assumes.
file=$T/quiet
shown()
{
	local what=$1

	shift
	cat >"$T/wanted"
	pfscope pages "$@" "$file"
	sed '/^# Assumed: /,$d; s/ *$//' "$T/out" >"$T/pages"
	same "$T/pages" "$T/wanted" "$what"
}

shown 'present, absent and unknown' --pid 100 <<'PAGES'
# 44 pages: 6 present, 29 absent, 9 unknown (device 4, fault-around 4, race 1)
  address   pages  presence  how                reason
00010000-00020000 r--p /lib/a b.so
  00010000      2  absent    -                  -
  00012000      2  unknown   around             fault-around
  00014000      1  present   read,user          -
  00015000      2  unknown   around             fault-around
  00017000      8  absent    -                  -
  0001f000      1  absent    write,user,signal  -
00020000-00029000 rw-p anon
  00020000      1  present   write,user         -
  00021000      1  present   write,kernel       -
  00022000      1  unknown   read,write,user    race
  00023000      1  absent    write,user         -
  00024000      4  absent    -                  -
  00028000      1  absent    populated          -
00029000-0002a000 rw-p anon
  00029000      1  present   populated          -
0002a000-00030000 rw-p anon
  0002a000      6  absent    -                  -
00030000-00034000 rw-s /memfd:m (deleted)
  00030000      1  present   write,user         -
  00031000      1  absent    write,user         -
  00032000      2  absent    -                  -
00040000-00044000 rw-s /dev/dri/card0
  00040000      4  unknown   -                  device
00050000-00054000 rw-p anon
  00050000      1  present   write,user         -
  00051000      3  absent    -                  -
PAGES
shown 'a fork copies the pages of private regions that were written to, but for MADV_WIPEONFORK and droppable ones' \
	--pid 200 <<'PAGES'
# 44 pages: 5 present, 35 absent, 4 unknown (device 4)
  address   pages  presence  how         reason
00010000-00020000 r--p /lib/a b.so
  00010000     16  absent    -           -
00020000-00029000 rw-p anon
  00020000      3  present   fork        -
  00023000      1  present   write,user  -
  00024000      4  absent    -           -
  00028000      1  present   fork        -
00029000-0002a000 rw-p anon
  00029000      1  absent    -           -
0002a000-00030000 rw-p anon
  0002a000      6  absent    -           -
00030000-00034000 rw-s /memfd:m (deleted)
  00030000      4  absent    -           -
00040000-00044000 rw-s /dev/dri/card0
  00040000      4  unknown   -           device
00050000-00054000 rw-p anon
  00050000      4  absent    -           -
PAGES
shown '--at, --region, --json' --pid 100 --at 0.0004 --region 'file:*' --json <<'PAGES'
{
"assumed":"no process outside the recording writes into this memory, takes pages of it away, truncates a mapped file, or locks, adds, removes or splits pages of one while a fault maps them",
"pages":[
  {"pid":100,"range":"00010000-00012000","pages":2,"presence":"absent","how":"-","reason":"-","perms":"r--p","name":"/lib/a b.so","as_of":"-"},
  {"pid":100,"range":"00012000-00014000","pages":2,"presence":"unknown","how":"around","reason":"fault-around","perms":"r--p","name":"/lib/a b.so","as_of":"-"},
  {"pid":100,"range":"00014000-00015000","pages":1,"presence":"unknown","how":"read,user","reason":"under-way","perms":"r--p","name":"/lib/a b.so","as_of":"-"},
  {"pid":100,"range":"00015000-00017000","pages":2,"presence":"unknown","how":"around","reason":"fault-around","perms":"r--p","name":"/lib/a b.so","as_of":"-"},
  {"pid":100,"range":"00017000-00020000","pages":9,"presence":"absent","how":"-","reason":"-","perms":"r--p","name":"/lib/a b.so","as_of":"-"},
  {"pid":100,"range":"00030000-00034000","pages":4,"presence":"absent","how":"-","reason":"-","perms":"rw-s","name":"/memfd:m (deleted)","as_of":"-"},
  {"pid":100,"range":"00040000-00044000","pages":4,"presence":"unknown","how":"-","reason":"device","perms":"rw-s","name":"/dev/dri/card0","as_of":"-"}
]}
PAGES
shown '--csv' --pid 100 --region 00050000-00054000 --csv <<'PAGES'
table,pid,range,pages,presence,how,reason,perms,name,as_of
pages,100,00050000-00051000,1,present,"write,user",-,rw-p,anon,-
pages,100,00051000-00054000,3,absent,-,-,rw-p,anon,-
PAGES

# Names that are too long for the 80 columns of a pipe lose their heads; --csv has them whole.
name=/usr/lib/x86_64-linux-gnu/a-very-long-name-of-a-directory/and-another-one/libname.so.1.2.3
cat >"$T/long" <<EVENTS
# pfscope-events 2
1.000100000 exec pid=100 tid=100 comm="first" name="/bin/first"
1.000200000 map pid=100 tid=100 start=7f5d58600000 end=7f5d98600000 perms=r--p off=0 dev=fe:00 ino=7 name="$name"
1.000300000 fault pid=100 tid=100 addr=7f5d58602000 access=read mode=user code=4 class=major
1.000400000 around pid=100 tid=100 off=0 end_off=28672 dev=fe:00 ino=7
1.000500000 fault pid=100 tid=100 addr=7f5d58602000 access=exec mode=user code=14
1.000600000 fault pid=100 tid=100 addr=7f5d58602000 access=read mode=kernel code=1
1.000700000 fault pid=100 tid=100 addr=7f5d58609000 access=read mode=user code=4
EVENTS
file=$T/long
shown 'no line is longer than 80 columns, whatever the name' --pid 100 <<'PAGES'
# 262144 pages: 0 present, 0 absent, 262144 unknown (fault-around 6,
# under-way 1, reclaimable 1, khugepaged 262136)
  address        pages  presence  how                          reason
7f5d58600000-7f5d98600000 r--p ..of-a-directory/and-another-one/libname.so.1.2.3
  7f5d58600000       2  unknown   around                       fault-around
  7f5d58602000       1  unknown   read,exec,user,kernel,major  reclaimable
  7f5d58603000       4  unknown   around                       fault-around
  7f5d58607000       2  unknown   -                            khugepaged
  7f5d58609000       1  unknown   read,user                    under-way
  7f5d5860a000  262134  unknown   -                            khugepaged
PAGES
is "$(awk 'length > 80' "$T/out")" "" "... none"
is "$(sed -n '/^# Assumed: /,$p' "$T/out")" '# Assumed: no process outside the recording writes into this memory, takes pages
# of it away, truncates a mapped file, or locks, adds, removes or splits pages
# of one while a fault maps them' 'the listing ends with what it assumes'
is "$(pfscope pages --csv "$T/long"; grep -cF "$name" <<<"$out")" 6 '--csv: the whole name'

cat >"$T/setuid" <<'EVENTS'
# pfscope-events 2
1.000000000 exec pid=100 tid=100 comm="su"
1.000200000 map pid=100 tid=100 start=1000 end=4000 id=7
1.000500000 fault pid=100 tid=100 addr=2000 access=write mode=user code=6
1.000600000 map pid=100 tid=100 start=5000 end=6000 perms=rw-s off=0 dev=00:08 ino=9 name="socket:[9]"
1.040000000 note key="vm_events" value="scanned=0 swapped=0 collapsed=0"
EVENTS
file=$T/setuid
shown 'regions of which only the range is known; rings' <<'PAGES'
# 4 pages: 1 present, 0 absent, 3 unknown (unknown-region 2, device 1)
  address   pages  presence  how         reason
00001000-00004000 ???? ?
  00001000      1  unknown   -           unknown-region
  00002000      1  present   write,user  -
  00003000      1  unknown   -           unknown-region
00005000-00006000 rw-s socket:[9]
  00005000      1  unknown   -           device
PAGES
file=$T/quiet

# sum: the lines of the sum as one
sum()
{
	sed -n '/^# Assumed: /,$d; s/^# *//p' <<<"$out" | paste -sd' '
}

# sums NOTE: the sum if the kernel did that meanwhile.
sums()
{
	sed "s/scanned=0 swapped=0 collapsed=0/$1/" "$T/quiet" >"$T/other"
	pfscope pages --pid 100 "$T/other"
	sum
}
is "$(sums 'scanned=5 swapped=0 collapsed=0')" \
	'44 pages: 2 present, 28 absent, 14 unknown (device 4, fault-around 4, madv-free 1, race 1, reclaimable 4)' \
	'scanned for reclaim: pages of files, and droppable ones'
is "$(sums 'scanned=5 swapped=2 collapsed=0')" \
	'44 pages: 0 present, 28 absent, 16 unknown (device 4, fault-around 4, madv-free 1, race 1, reclaimable 6)' \
	'swapped out: anonymous ones, too'
is "$(sums 'scanned=0 swapped=0 collapsed=1')" \
	'44 pages: 4 present, 29 absent, 11 unknown (device 4, fault-around 4, race 1, khugepaged 2)' \
	'collapsed to huge pages: pages of files, and where one has room'
sed '$i1.035000000 advise pid=100 tid=100 start=20000 end=22000 advice=pageout interval=1000' "$T/quiet" >"$T/freed"
is "$(pfscope pages --pid 100 "$T/freed"; sum)" \
	'44 pages: 5 present, 29 absent, 10 unknown (device 4, fault-around 4, madv-pageout 1, race 1)' \
	'paged out after it was freed: that takes no swap'
for method in pageout idle hide numa soft-dirty; do
	sed "2s/^/0.950000000 note key=\"refault\" value=\"method=$method interval=100000000\"\n/" "$T/quiet" >"$T/other"
	pfscope pages --pid 100 "$T/other"
	is "$(grep -c ' refaulted$' <<<"$out")" $([ $method = pageout ] && echo 6 || echo 0) "--refault-by $method"
done
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
is "$(pfscope pages --pid 100 "$T/room"; sum)" \
	'514 pages: 1 present, 0 absent, 513 unknown (khugepaged 513)' \
	'collapsed to huge pages: also pages that were discarded'
cat >"$T/filled" <<'EVENTS'
# pfscope-events 2
1.000000000 fork pid=1 tid=1 child=100 shared=0
1.000200000 map pid=100 tid=100 start=10000 end=18000 perms=rw-p off=0 dev=00:00 ino=0 name=""
1.000500000 fault pid=100 tid=100 addr=16000 access=write mode=user code=6
1.001000000 populate pid=100 tid=100 start=11000 end=13000 by=userfaultfd
1.002000000 populate pid=100 tid=100 start=14000 end=15000 from=16000 by=userfaultfd
1.003000000 populate pid=100 tid=100 start=10000 end~11000 from=17000 by=userfaultfd
1.004000000 fork pid=100 tid=100 child=200 shared=0
1.040000000 note key="vm_events" value="scanned=0 swapped=0 collapsed=0"
1.050000000 note key="counted_before" value="minor=0 major=0"
1.050000000 note key="rusage" value="minor=1 major=0"
EVENTS
for pid in 100 200; do
	is "$(pfscope pages --csv --pid $pid "$T/filled"; cut -d, -f3,5 <<<"$out" | sed 1d | paste -sd' ')" \
		"$(echo 00010000-00011000,unknown 00011000-00013000,present 00013000-00014000,absent \
			00014000-00015000,present 00015000-00016000,absent \
			"$([ $pid = 100 ] && echo 00016000-00017000,absent 00017000-00018000,absent || echo 00016000-00018000,absent)")" \
		"pages that a userfaultfd filled, moved, or moved in part, of $pid"
done
file=$T/hand
is "$(pfscope pages --pid 100 "$file"; sum)" \
	'44 pages: 0 present, 28 absent, 16 unknown (device 4, fault-around 4, madv-free 1, race 1, reclaimable 6)' \
	'without the note it is not known'
for option in '' '--at=0.045'; do
	pfscope pages --pid 100 $option "$T/quiet"
	unlike "$out" kernel-access "all faults that the kernel counted have an exception or are populated: nothing is in doubt $option"
done
sed '/ order=0$/d' "$T/quiet" >"$T/other"
pfscope pages --pid 100 "$T/other"
like "$out" $'\n  00030000 +1  unknown   write,user +truncated\n  00031000 +1  absent ' \
	'a page beside one that has gone: it may have been of the same large folio, which the kernel split then'
is "$(pfscope pages --csv --pid 100 --at=@1.00085 "$T/quiet"; cut -d, -f3,5,7 <<<"$out" | grep '^0002[4-a]' | paste -sd' ')" \
	'00024000-00028000,absent,- 00028000-0002a000,unknown,kernel-access 0002a000-00030000,absent,-' \
	'before a call that populates it, memory may be mapped: the call would take as many faults fewer'
# doubted WHAT SED: untouched pages may be mapped if the file is changed like that.
doubted()
{
	local option

	sed "$2" "$T/quiet" >"$T/other"
	for option in '' '--at=0.045'; do
		pfscope pages --pid 100 $option "$T/other"
		like "$out" 'kernel-access' "$1: untouched pages may be mapped $option"
	done
}
doubted 'one more' 's/minor=12/minor=13/'
doubted 'without a count' '/rusage/d'
count_of()
{
	printf '1.050000000 note pid=%d tid=%d key="counted" value="%s"\n' "$1" "$1" "$2"
}
doubted 'the count of one process only' "/rusage/d; \$a$(count_of 100 'minor=11 major=0')"
doubted 'a count that is not certain' \
	"/rusage/d; \$a$(count_of 100 'minor=11 major=0 running=1')\n$(count_of 200 'minor=1 major=0')"
doubted 'one more in one of the processes' "/rusage/d; \$a$(count_of 100 'minor=12 major=0')\n$(count_of 200 'minor=1 major=0')"
sed "/rusage/d; \$a$(count_of 100 'minor=11 major=0')\n$(count_of 200 'minor=1 major=0')" "$T/quiet" >"$T/other"
pfscope pages --pid 100 "$T/other"
unlike "$out" kernel-access 'by the counts of all processes nothing is in doubt'
printf '1.2 lost count=3 cpu=0\n' >>"$T/quiet"
pfscope pages --pid 100 "$T/quiet"
like "$out" '40 unknown|events-lost' 'after lost events nothing is known'
pfscope pages --pid 100 --at 0.01 "$T/quiet"
is "$(grep -c events-lost <<<"$out")" 0 'but before them it is'
pfscope pages --pid 7 "$T/quiet"
is "$status|$out|$err" '1||pfscope: no process 7 in this recording; `report` lists them' 'no such process'

# ---- what left the page cache, and no recorded process removed it ----

cat >"$T/vanished" <<'EVENTS'
# pfscope-events 2
0.900000000 note key="page_size" value="4096"
0.900000000 note key="kernel" value="6.12.1"
0.900000000 note key="counted_before" value="minor=0 major=0"
0.900000000 note key="rusage" value="minor=3 major=0"
1.000000000 note key="start" value="mono"
1.000100000 exec pid=100 tid=100 comm="first" name="/bin/first"
1.000200000 map pid=100 tid=100 start=10000 end=20000 perms=r--p off=4096 dev=fe:00 ino=7 name="/lib/seven"
1.000300000 map pid=100 tid=100 start=30000 end=34000 perms=rw-p off=4096 dev=fe:00 ino=7 name="/lib/seven"
1.000400000 cached dev=fe:00 ino=7 off=0 end_off=65536 state=ready order=0 last=1
1.000500000 fault pid=100 tid=100 addr=13010 access=read mode=user code=4
1.000600000 around pid=100 tid=100 off=4096 end_off=36864 dev=fe:00 ino=7
1.000700000 fault pid=100 tid=100 addr=30000 access=write mode=user code=6
1.000750000 fault pid=100 tid=100 addr=31000 access=write mode=user code=6
1.000800000 evict pid=100 tid=100 off=24576 end_off=28672 dev=fe:00 ino=7
1.000900000 cached pid=100 tid=100 off=8192 end_off=12288 dev=fe:00 ino=7 state=added order=0
1.001000000 cached dev=fe:00 ino=7 off=0 end_off=4096 state=ready order=0 last=0
1.001000000 cached dev=fe:00 ino=7 off=8192 end_off=20480 state=ready order=0 last=0
1.001000000 cached dev=fe:00 ino=7 off=32768 end_off=65536 state=ready order=0 last=1
1.002000000 note key="vm_events" value="scanned=0 swapped=0 collapsed=0"
EVENTS
file=$T/vanished
shown 'a page that is no longer in the page cache, or was added again, may have been unmapped' <<'PAGES'
# 20 pages: 4 present, 11 absent, 5 unknown (under-way 1, reclaimable 4)
  address   pages  presence  how         reason
00010000-00020000 r--p /lib/seven
  00010000      2  unknown   around      reclaimable
  00012000      1  present   around      -
  00013000      1  present   read,user   -
  00014000      1  unknown   around      reclaimable
  00015000      1  absent    around      -
  00016000      1  unknown   around      reclaimable
  00017000      1  present   around      -
  00018000      8  absent    -           -
00030000-00034000 rw-p /lib/seven
  00030000      1  present   write,user  -
  00031000      1  unknown   write,user  under-way
  00032000      2  absent    -           -
PAGES
shown '... and at any time before' --at 0.00078 <<'PAGES'
# 20 pages: 5 present, 10 absent, 5 unknown (under-way 1, reclaimable 4)
  address   pages  presence  how         reason
00010000-00020000 r--p /lib/seven
  00010000      2  unknown   around      reclaimable
  00012000      1  present   around      -
  00013000      1  present   read,user   -
  00014000      1  unknown   around      reclaimable
  00015000      1  present   around      -
  00016000      1  unknown   around      reclaimable
  00017000      1  present   around      -
  00018000      8  absent    -           -
00030000-00034000 rw-p /lib/seven
  00030000      1  present   write,user  -
  00031000      1  unknown   write,user  under-way
  00032000      2  absent    -           -
PAGES
done_testing
