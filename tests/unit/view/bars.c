/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The three forms of bars, line by line, on hand-made events; and two properties on random ones: no line
 * is wider than asked for, and what the rows say adds up to what the model counted.
 */
#include "support/random.h"
#include "support/draw.h"
#include "support/scenario.h"

#include <inttypes.h>

static const struct pfs_view_options plain = { .width = 80 };

/* ---- classic ---- */

static void test_classic_sample(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x40000000, 0x40019000, RW, "");
	feed_faults(&f, 0x40000000, 17, PFS_WRITE);
	feed_faults(&f, 0x40012000, 5, PFS_READ);
	assert_drawn(&f, "classic", plain, "Region: 40000000 - 40019000 (  25 pages): |XXXXXXXXXXXXXXXXX.XXXXX..|\n");
	feed_free(&f);
}

static void test_classic_gone_and_unknown(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400000, 0x402000, RX, "/bin/a");
	feed_map(&f, 0x500000, 0x503000, RW, "");
	feed_fault(&f, 0x501000, PFS_WRITE);
	feed_unmap(&f, 0x500000, 0x503000);
	feed_map(&f, 0x500000, 0x502000, RW, "");
	feed_fault(&f, 0x500000, PFS_WRITE);
	feed_populate(&f, 0x400000, 0x402000);
	feed_fault(&f, 0x123456789abc, PFS_READ);
	feed_clear(&f);
	feed_lost(&f, 3, 0);
	assert_drawn(&f, "classic", plain,
		     "Region: 00400000 - 00402000 (   2 pages): |..|\n"
		     "Region: 00500000 - 00503000 (   3 pages): |.X.|\n"
		     "Region: 00500000 - 00502000 (   2 pages): |X.|\n"
		     "Unknown: 123456789000 - 12345678a000 (   1 pages): |X|\n"
		     "Lost: an unknown number of events on CPU 3 between 0.000008 and 0.000009 s\n");
	feed_free(&f);
}

static void test_classic_processes(void **state)
{
	struct feed f = feed_new(5);

	feed_comm(&f, "a\033[31mb");
	feed_map(&f, 0x400000, 0x401000, R, "");
	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x600000, 0x601000, R, "");
	feed_exec(&f, "/bin/c", "c");
	assert_drawn(&f, "classic", plain,
		     "Process: 5 a\\e[31mb (exec epoch 1 of 2)\n"
		     "Region: 00400000 - 00401000 (   1 pages): |.|\n"
		     "Process: 5 c (exec epoch 2 of 2)\n"
		     "Region: 00600000 - 00601000 (   1 pages): |.|\n");
	feed_free(&f);
}

/* One page less than 64Ki is exact; from there on, long runs are numbers. */
static void test_classic_folds_giants(void **state)
{
	struct feed f = feed_new(1);
	struct drawing d;

	feed_map(&f, 0x10000000, 0x10000000 + UINT64_C(65535) * PAGE, RW, "");
	d = draw(&f, "classic", plain);
	assert_int_equal(d.len, strlen("Region: 10000000 - 1ffff000 (65535 pages): ||\n") + 65535);
	free(d.text);
	feed_unmap(&f, 0x10000000, 0x20000000);
	feed_free(&f);

	f = feed_new(1);
	feed_map(&f, 0x7e0000000000, 0x7f0000000000, RW, "");
	feed_fault(&f, 0x7e0000000000, PFS_WRITE);
	feed_fault(&f, 0x7e0000003000, PFS_WRITE);
	feed_fault(&f, 0x7e0001004000, PFS_WRITE);
	feed_fault(&f, 0x7e9000000000, PFS_READ);
	d = draw(&f, "classic", plain);
	assert_non_null(strstr(d.text, "(268435456 pages): |X..X..........."));
	assert_non_null(strstr(d.text, "X..(150990843 untouched)..X..(117440511 untouched)..|\n"));
	assert_true(d.len < 5000);
	free(d.text);
	feed_free(&f);
}

/* ---- the default form ---- */

static const char bars_80[] = "pid 100 sh  /usr/bin/dash  since 0.000007 s\n"
			      "lost 12 events on CPU 1 between 0.000294 and 0.000295 s,\n"
			      "  so more pages may have been touched than are drawn, except where noted,\n"
			      "  and regions may be wrong from 0.000294 s on\n"
			      " address range             perm touched name\n"
			      " 10000000-10011000                 4/17 (no known region) |WWW.............R|\n"
			      " 20000000-20001000                  1/1 (no known region) |R|\n"
			      " 55d0c8e00000-55d0c8e02000 r--p     0/2 dash              |..|\n"
			      " 55d0c8e02000-55d0c8e07000 r-xp     1/5 dash              |X+++.|\n"
			      " 55d0c8e0a000-55d0c8e0b000 rw-p     1/1 dash              |W|\n"
			      " 55d0ca9ee000-55d0cab0f000 rw-p 204/289 [heap]            |WWWWWWWWw..b.|x24\n"
			      " 7e0000000000-7f0000000000 rw-p  3/256M anon              |WW~144M~R~112M~|\n"
			      " 7f4000000000-7f4000800000 rw-p  1/2048 anon              |~wHHHHHHH........|x64\n"
			      " 7f4100000000-7f4100800000 rw-p  3/2048 thread stack      |~2045~WWW|\n"
			      "-7f4200000000-7f4200010000 rw-p    4/16 anon              |...WWWW.........|\n"
			      "  (no faults lost)\n"
			      " 7f4300000000-7f4300004000 ---p     1/4 anon              |.!..|\n"
			      " 7f4400000000-7f4400003000 ????     1/3 ?                 |.T.|\n"
			      " 7f5d58600000-7f5d58626000 r--p    1/38 libc.so.6         |r+++++.......|x3\n"
			      " 7f5d58626000-7f5d5877c000 r-xp  12/342 libc.so.6         |xmxxmxxmxx.....|x24\n"
			      " 7f5d587cf000-7f5d587d3000 rw-p     3/4 libc.so.6         |WWW.|\n"
			      " 7ffd1a000000-7ffd1a021000 rw-p    1/33 [stack]           |...............wP|x2\n"
			      " 7ffd1a1f0000-7ffd1a1f2000 r-xp     0/2 [vdso]            |..|\n"
			      "  11 untouched regions unmapped (--all shows them)\n"
			      "\n"
			      "pid 101 cat  /usr/bin/cat  parent 100  0.000311 to 0.000314 s\n"
			      " address range             perm touched name\n"
			      " 55d0c8e00000-55d0c8e02000 r--p     2/2 /usr/bin/cat |RR|\n"
			      " 55d0c8e02000-55d0c8e07000 r-xp     0/5 /usr/bin/cat |.....|\n"
			      " 55d0c8e0a000-55d0c8e0b000 rw-p     0/1 /usr/bin/cat |.|\n"
			      " 7ffd1a000000-7ffd1a021000 rw-p    0/33 [stack]      |................P|x2\n"
			      " 7ffd1a1f0000-7ffd1a1f2000 r-xp     0/2 [vdso]       |..|\n"
			      "\n"
			      "pid 102 sh  /usr/bin/dash  forked by 100  since 0.000316 s\n"
			      " address range             perm touched name\n"
			      " 55d0c8e00000-55d0c8e02000 r--p     0/2 dash         |..|\n"
			      " 55d0c8e02000-55d0c8e07000 r-xp     0/5 dash         |.....|\n"
			      " 55d0c8e0a000-55d0c8e0b000 rw-p     1/1 dash         |W|\n"
			      " 55d0ca9ee000-55d0cab0f000 rw-p   0/289 [heap]       |~289~|\n"
			      " 7e0000000000-7f0000000000 rw-p  0/256M anon         |~256M~|\n"
			      " 7f4000000000-7f4000800000 rw-p  0/2048 anon         |~2048~|\n"
			      " 7f4100000000-7f4100800000 rw-p  0/2048 thread stack |~2048~|\n"
			      " 7f4300000000-7f4300004000 ---p     0/4 anon         |....|\n"
			      " 7f4400000000-7f4400003000 ????     0/3 ?            |...|\n"
			      " 7f5d58600000-7f5d58626000 r--p    0/38 libc.so.6    |~38~|\n"
			      " 7f5d58626000-7f5d5877c000 r-xp   0/342 libc.so.6    |~342~|\n"
			      " 7f5d587cf000-7f5d587d3000 rw-p     0/4 libc.so.6    |....|\n"
			      " 7ffd1a000000-7ffd1a021000 rw-p    0/33 [stack]      |~33~|\n"
			      " 7ffd1a1f0000-7ffd1a1f2000 r-xp     0/2 [vdso]       |..|\n"
			      "\n"
			      "! ended in a signal  M major: read from disk  B read and written  W written\n"
			      "X executed  R read  T touched, access unknown  H rest of a huge page\n"
			      "P populated  + fault-around  . untouched  ~ untouched, folded\n"
			      "xN: a cell is N pages  lower case: at most half of the cell's pages\n"
			      "- unmapped before the end\n"
			      "245 faults, 244 pages touched, 45 regions (12 unmapped), 3 processes\n"
			      "  10 by read, 221 by write, 13 by execution, 1 by unknown access,\n"
			      "  243 in user mode, 1 in kernel mode, 1 ended in a signal, 5 in no known region,\n"
			      "  3 pages read from disk, 126 pages mapped by fault-around, 2 pages populated,\n"
			      "  512 pages in huge pages\n"
			      "lost 12 events on CPU 1 between 0.000294 and 0.000295 s\n";

static const char bars_200[] =
	"pid 100 sh  /usr/bin/dash  since 0.000007 s\n"
	"lost 12 events on CPU 1 between 0.000294 and 0.000295 s, so more pages may have been touched than are drawn, except where noted, and regions may be wrong from 0.000294 s on\n"
	" address range             perm touched name\n"
	" 10000000-10011000                 4/17 (no known region)                   |WWW.............R|\n"
	" 20000000-20001000                  1/1 (no known region)                   |R|\n"
	" 55d0c8e00000-55d0c8e02000 r--p     0/2 /usr/bin/dash                       |..|\n"
	" 55d0c8e02000-55d0c8e07000 r-xp     1/5 /usr/bin/dash                       |X+++.|\n"
	" 55d0c8e0a000-55d0c8e0b000 rw-p     1/1 /usr/bin/dash                       |W|\n"
	" 55d0ca9ee000-55d0cab0f000 rw-p 204/289 [heap]                              |WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW.......................rBk....|x3\n"
	" 7e0000000000-7f0000000000 rw-p  3/256M anon                                |WW~144M~R~112M~|\n"
	" 7f4000000000-7f4000800000 rw-p  1/2048 anon                                |~1020~wHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH~512~|x6\n"
	" 7f4100000000-7f4100800000 rw-p  3/2048 thread stack                        |~2045~WWW|\n"
	"-7f4200000000-7f4200010000 rw-p    4/16 anon                                |...WWWW.........|\n"
	"  (no faults lost)\n"
	" 7f4300000000-7f4300004000 ---p     1/4 anon                                |.!..|\n"
	" 7f4400000000-7f4400003000 ????     1/3 ?                                   |.T.|\n"
	" 7f5d58600000-7f5d58626000 r--p    1/38 /usr/lib/x86_64-linux-gnu/libc.so.6 |R+++++++++++++++......................|\n"
	" 7f5d58626000-7f5d5877c000 r-xp  12/342 /usr/lib/x86_64-linux-gnu/libc.so.6 |...x+++...m+++..x+++...x+++...x+++..m+++...x+++...x+++..x+++...m+++...x+++..x+++..................................|x3\n"
	" 7f5d587cf000-7f5d587d3000 rw-p     3/4 /usr/lib/x86_64-linux-gnu/libc.so.6 |WWW.|\n"
	" 7ffd1a000000-7ffd1a021000 rw-p    1/33 [stack]                             |...............................WP|\n"
	" 7ffd1a1f0000-7ffd1a1f2000 r-xp     0/2 [vdso]                              |..|\n"
	"  11 untouched regions unmapped (--all shows them)\n"
	"\n"
	"pid 101 cat  /usr/bin/cat  parent 100  0.000311 to 0.000314 s\n"
	" address range             perm touched name\n"
	" 55d0c8e00000-55d0c8e02000 r--p     2/2 /usr/bin/cat |RR|\n"
	" 55d0c8e02000-55d0c8e07000 r-xp     0/5 /usr/bin/cat |.....|\n"
	" 55d0c8e0a000-55d0c8e0b000 rw-p     0/1 /usr/bin/cat |.|\n"
	" 7ffd1a000000-7ffd1a021000 rw-p    0/33 [stack]      |................................P|\n"
	" 7ffd1a1f0000-7ffd1a1f2000 r-xp     0/2 [vdso]       |..|\n"
	"\n"
	"pid 102 sh  /usr/bin/dash  forked by 100  since 0.000316 s\n"
	" address range             perm touched name\n"
	" 55d0c8e00000-55d0c8e02000 r--p     0/2 /usr/bin/dash                       |..|\n"
	" 55d0c8e02000-55d0c8e07000 r-xp     0/5 /usr/bin/dash                       |.....|\n"
	" 55d0c8e0a000-55d0c8e0b000 rw-p     1/1 /usr/bin/dash                       |W|\n"
	" 55d0ca9ee000-55d0cab0f000 rw-p   0/289 [heap]                              |~289~|\n"
	" 7e0000000000-7f0000000000 rw-p  0/256M anon                                |~256M~|\n"
	" 7f4000000000-7f4000800000 rw-p  0/2048 anon                                |~2048~|\n"
	" 7f4100000000-7f4100800000 rw-p  0/2048 thread stack                        |~2048~|\n"
	" 7f4300000000-7f4300004000 ---p     0/4 anon                                |....|\n"
	" 7f4400000000-7f4400003000 ????     0/3 ?                                   |...|\n"
	" 7f5d58600000-7f5d58626000 r--p    0/38 /usr/lib/x86_64-linux-gnu/libc.so.6 |......................................|\n"
	" 7f5d58626000-7f5d5877c000 r-xp   0/342 /usr/lib/x86_64-linux-gnu/libc.so.6 |~342~|\n"
	" 7f5d587cf000-7f5d587d3000 rw-p     0/4 /usr/lib/x86_64-linux-gnu/libc.so.6 |....|\n"
	" 7ffd1a000000-7ffd1a021000 rw-p    0/33 [stack]                             |.................................|\n"
	" 7ffd1a1f0000-7ffd1a1f2000 r-xp     0/2 [vdso]                              |..|\n"
	"\n"
	"! ended in a signal  M major: read from disk  B read and written  W written  X executed  R read  T touched, access unknown  K by the kernel only  H rest of a huge page  P populated  + fault-around\n"
	". untouched  ~ untouched, folded  xN: a cell is N pages  lower case: at most half of the cell's pages  - unmapped before the end\n"
	"245 faults, 244 pages touched, 45 regions (12 unmapped), 3 processes\n"
	"  10 by read, 221 by write, 13 by execution, 1 by unknown access, 243 in user mode, 1 in kernel mode, 1 ended in a signal, 5 in no known region, 3 pages read from disk,\n"
	"  126 pages mapped by fault-around, 2 pages populated, 512 pages in huge pages\n"
	"lost 12 events on CPU 1 between 0.000294 and 0.000295 s\n";

static const char full_80[] = "pid 100 sh  /usr/bin/dash  since 0.000007 s\n"
			      "lost 12 events on CPU 1 between 0.000294 and 0.000295 s,\n"
			      "  so more pages may have been touched than are drawn, except where noted,\n"
			      "  and regions may be wrong from 0.000294 s on\n"
			      " 10000000-10011000      4/17 pages  (no known region)\n"
			      "  10000000 |WWW.............R|\n"
			      " 20000000-20001000      1/1 pages  (no known region)\n"
			      "  20000000 |R|\n"
			      " 55d0c8e00000-55d0c8e02000 r--p 0/2 pages  /usr/bin/dash\n"
			      "  55d0c8e00000 |..|\n"
			      " 55d0c8e02000-55d0c8e07000 r-xp 1/5 pages  /usr/bin/dash\n"
			      "  55d0c8e02000 |X+++.|\n"
			      " 55d0c8e0a000-55d0c8e0b000 rw-p 1/1 pages  /usr/bin/dash\n"
			      "  55d0c8e0a000 |W|\n"
			      " 55d0ca9ee000-55d0cab0f000 rw-p 204/289 pages  [heap]\n"
			      "  55d0ca9ee000 |WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW|\n"
			      "  55d0caa1e000 |WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW|\n"
			      "  55d0caa4e000 |WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW|\n"
			      "  55d0caa7e000 |WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW|\n"
			      "  55d0caaae000 |WWWWWWWW........................................|\n"
			      "  55d0caade000 |................................RBR.K...........|\n"
			      "  55d0cab0e000 |.|\n"
			      " 7e0000000000-7f0000000000 rw-p 3/268435456 pages  anon\n"
			      "  7e0000000000 |WW..............................................|\n"
			      "  ~ 150994896 untouched pages ~\n"
			      "  7e9000000000 |R...............................................|\n"
			      "  ~ 117440464 untouched pages ~\n"
			      " 7f4000000000-7f4000800000 rw-p 1/2048 pages  anon\n"
			      "  ~ 1008 untouched pages ~\n"
			      "  7f40003f0000 |................WHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH|\n"
			      "  7f4000420000 |HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH|\n"
			      "  7f4000450000 |HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH|\n"
			      "  7f4000480000 |HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH|\n"
			      "  7f40004b0000 |HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH|\n"
			      "  7f40004e0000 |HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH|\n"
			      "  7f4000510000 |HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH|\n"
			      "  7f4000540000 |HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH|\n"
			      "  7f4000570000 |HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH|\n"
			      "  7f40005a0000 |HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH|\n"
			      "  7f40005d0000 |HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH|\n"
			      "  ~ 512 untouched pages ~\n"
			      " 7f4100000000-7f4100800000 rw-p 3/2048 pages  thread stack\n"
			      "  ~ 2016 untouched pages ~\n"
			      "  7f41007e0000 |.............................WWW|\n"
			      "-7f4200000000-7f4200010000 rw-p 4/16 pages  anon\n"
			      "  (no faults lost)\n"
			      "  7f4200000000 |...WWWW.........|\n"
			      " 7f4300000000-7f4300004000 ---p 1/4 pages  anon\n"
			      "  7f4300000000 |.!..|\n"
			      " 7f4400000000-7f4400003000 ???? 1/3 pages  ?\n"
			      "  7f4400000000 |.T.|\n"
			      " 7f5d58600000-7f5d58626000 r--p 1/38 pages  /usr/lib/x86_64-linux-gnu/libc.so.6\n"
			      "  7f5d58600000 |R+++++++++++++++......................|\n"
			      " 7f5d58626000-7f5d5877c000 r-xp 12/342 pages  ..r/lib/x86_64-linux-gnu/libc.so.6\n"
			      "  7f5d58626000 |..........X+++++++++..........M+++++++++........|\n"
			      "  7f5d58656000 |..X+++++++++..........X+++++++++..........X+++++|\n"
			      "  7f5d58686000 |++++..........M+++++++++..........X+++++++++....|\n"
			      "  7f5d586b6000 |......X+++++++++..........X+++++++++..........M+|\n"
			      "  7f5d586e6000 |++++++++..........X+++++++++..........X+++++++++|\n"
			      "  ~ 102 untouched pages ~\n"
			      " 7f5d587cf000-7f5d587d3000 rw-p 3/4 pages  /usr/lib/x86_64-linux-gnu/libc.so.6\n"
			      "  7f5d587cf000 |WWW.|\n"
			      " 7ffd1a000000-7ffd1a021000 rw-p 1/33 pages  [stack]\n"
			      "  7ffd1a000000 |...............................WP|\n"
			      " 7ffd1a1f0000-7ffd1a1f2000 r-xp 0/2 pages  [vdso]\n"
			      "  7ffd1a1f0000 |..|\n"
			      "  11 untouched regions unmapped (--all shows them)\n";

static void test_bars_80(void **state)
{
	struct feed f = feed_new(0);

	scenario(&f);
	assert_drawn(&f, "by-address", plain, bars_80);
	assert_drawn(&f, "by-address", (struct pfs_view_options){ 0 }, bars_80);
	assert_narrow(bars_80, 80);
	feed_free(&f);
}

static void test_bars_200(void **state)
{
	struct feed f = feed_new(0);

	scenario(&f);
	assert_drawn(&f, "by-address", (struct pfs_view_options){ .width = 200 }, bars_200);
	assert_narrow(bars_200, 200);
	feed_free(&f);
}

/* Takes colours out, and checks that each one is switched off before its line ends. */
static void strip_colors(char *text)
{
	char *to = text;
	bool on = false;

	for (char *s = text; *s;) {
		if (!strncmp(s, "\033[", 2)) {
			on = strncmp(s, "\033[0m", 4);
			s = strchr(s, 'm') + 1;
			continue;
		}
		if (*s == '\n')
			assert_false(on);
		*to++ = *s++;
	}
	*to = '\0';
}

/* Colours say nothing that the glyphs do not say. */
static void test_bars_color(void **state)
{
	static const char *const views[] = { "bars", "by-address", "full" };
	struct feed f = feed_new(0);

	scenario(&f);
	for (int i = 0; i < 3; i++) {
		struct drawing colored = draw(&f, views[i], (struct pfs_view_options){ .color = true });
		struct drawing d = draw(&f, views[i], (struct pfs_view_options){ .color = false });

		assert_null(strchr(d.text, '\033'));
		assert_non_null(strstr(colored.text, "\033[1;31m"));
		strip_colors(colored.text);
		assert_same_text(colored.text, d.text);
		free(colored.text);
		free(d.text);
	}
	feed_free(&f);
}

static void test_full_80(void **state)
{
	struct feed f = feed_new(0);
	struct drawing d;

	scenario(&f);
	d = draw(&f, "full", plain);
	assert_narrow(d.text, 80);
	*strstr(d.text, "\n\n") = '\0';
	assert_same_text(d.text, full_80);
	free(d.text);
	feed_free(&f);
}

/* Two untouched lines are drawn, three are folded; the last line may be short. */
static void test_full_folds_lines(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400000, 0x4f1000, RW, ""); /* 241 pages, 48 a line */
	feed_fault(&f, 0x400000, PFS_WRITE);
	assert_true(drawn_with(&f, "full", plain, "  ~ 193 untouched pages ~\n"));
	feed_fault(&f, 0x490000, PFS_WRITE); /* the first page of the fourth line */
	assert_true(drawn_with(&f, "full", plain, "\n  00460000 |......"));
	assert_false(drawn_with(&f, "full", plain, "~"));
	feed_free(&f);
}

static void test_full_folds_what_is_alike(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400000, 0x400000 + 65535 * 4096, RW, "");
	feed_populate(&f, 0, UINT64_MAX);
	assert_false(drawn_with(&f, "full", plain, "~"));
	/* a megabyte of characters would be the least; lines as they were without, but for the address */
	feed_map(&f, 0x100000001000, 0x700000000000, RW, "");
	feed_populate(&f, 0, UINT64_MAX);
	feed_fault(&f, 0x6fffffff0000, PFS_WRITE);
	assert_true(drawn_with(&f, "full", plain, "\n  100000001000 |PPPPPPPP"));
	assert_true(drawn_with(&f, "full", plain, " more pages like these ~\n  6ffffffd1000 |P"));
	assert_true(drawn_with(&f, "full", plain, "WPPPPPPPPPPPPPPP"));
	assert_true(drawn_with(&f, "by-address", plain, "P"));
	assert_true(drawn_with(&f, "classic", plain, "untouched)..X..............."));
	assert_true(drawn_with(&f, "report", (struct pfs_view_options){ .wide = true }, "25769803775"));
	feed_free(&f);
}

/* The bar alone, of a region of nr pages. */
static void assert_bar(const struct feed *f, unsigned int width, const char *expected)
{
	struct drawing d = draw(f, "by-address", (struct pfs_view_options){ .width = width });
	char *bar = strchr(d.text, '|');

	assert_non_null(bar);
	*strchr(bar, '\n') = '\0';
	assert_string_equal(bar, expected);
	free(d.text);
}

static void test_each_glyph(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_event sampled;

	feed_maps_line(&f, 0x400000, 0x411000, RW | X, 0, 1, 9, "/f");
	feed_fault(&f, 0x400000, PFS_READ);
	feed_fault(&f, 0x401000, PFS_WRITE);
	feed_fault(&f, 0x402000, PFS_EXECUTE);
	feed_fault(&f, 0x403000, PFS_READ);
	feed_fault(&f, 0x403000, PFS_WRITE);
	feed_fault(&f, 0x404000, 0);
	feed_fault_mode(&f, 0x405000, PFS_WRITE, PFS_KERNEL);
	feed_fault(&f, 0x406000, PFS_READ);
	feed_major(&f, 1, 9, 0x6000);
	feed_fault(&f, 0x407000, PFS_WRITE);
	feed_signal(&f, 7);
	feed_fault(&f, 0x408000, PFS_READ);
	feed_cached(&f, 1, 9, 0x9000, 0xa000, PFS_CACHE_READY, 0);
	feed_around(&f, 1, 9, 0x8000, 0xa000);
	feed_reached(&f, 1, 9, 0xb000);
	feed_fault(&f, 0x40f000, PFS_READ);
	feed_around(&f, 1, 9, 0xf000, 0x11000);
	feed_populate(&f, 0x40a000, 0x40b000);
	feed_fault(&f, 0x40c000, PFS_WRITE);
	feed_huge(&f, 1);
	sampled = feed_event(&f, PFS_ACCESS, HAS(ADDR));
	sampled.addr = 0x40e000;
	feed_apply(&f, &sampled);
	assert_bar(&f, 100, "|RWXBTKM!R+P.WHAR<|");
	assert_true(drawn_with(&f, "by-address", plain, "A accessed"));
	assert_true(drawn_with(&f, "by-address", plain, "T touched, access unknown"));
	assert_false(drawn_with(&f, "by-address", plain, "folded"));
	assert_false(drawn_with(&f, "by-address", plain, "xN"));
	assert_false(drawn_with(&f, "by-address", plain, "lower case"));
	/* In user mode too, it is no longer the kernel's only. */
	feed_fault(&f, 0x405000, PFS_WRITE);
	assert_bar(&f, 100, "|RWXBTWM!R+P.WHAR<|");
	feed_free(&f);
}

static void test_scaled_cells(void **state)
{
	struct feed f = feed_new(1);

	/* 60 pages, 36 columns left of 80: two pages a cell. */
	feed_map(&f, 0x400000, 0x43c000, RW, "");
	feed_faults(&f, 0x400000, 2, PFS_WRITE); /* both: upper case */
	feed_fault(&f, 0x402000, PFS_READ);	 /* one of two is not more than half */
	feed_fault(&f, 0x404000, PFS_READ);	 /* the stronger one shows, both count */
	feed_fault(&f, 0x405000, PFS_WRITE);
	feed_fault(&f, 0x43b000, PFS_EXECUTE);
	assert_bar(&f, 80, "|WrW..........................x|x2");
	/* All of it is seen where it fits. */
	assert_bar(&f, 200, "|WWR.RW.....................................................X|");
	assert_true(drawn_with(&f, "by-address", plain, "lower case: at most half"));
	feed_free(&f);
}

static void test_a_short_last_cell(void **state)
{
	struct feed f = feed_new(1);

	/* The last cell stands for one page only: touched, it is more than half. */
	feed_map(&f, 0x400000, 0x43d000, RW, "");
	feed_fault(&f, 0x43c000, PFS_WRITE);
	assert_bar(&f, 80, "|..............................W|x2");
	feed_free(&f);
}

static void test_folding(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x7e0000000000, 0x7f0000000000, RW, "");
	assert_bar(&f, 80, "|~256M~|");
	feed_fault(&f, 0x7e0000000000, PFS_WRITE);
	assert_bar(&f, 80, "|W~256M~|");
	feed_fault(&f, 0x7e8000000000, PFS_READ);
	feed_fault(&f, 0x7effffffe000, PFS_WRITE);
	assert_bar(&f, 80, "|W~128M~R~128M~W.|");
	/* Narrower than the numbers: marks alone. */
	assert_bar(&f, 60, "|W~R~W.|");
	feed_free(&f);
}

static void test_many_touched_of_a_terabyte(void **state)
{
	struct feed f = feed_new(1);
	struct drawing d;

	feed_map(&f, 0x7e0000000000, 0x7f0000000000, RW, "");
	for (uint64_t i = 0; i < 2000; i++)
		feed_fault(&f, 0x7e0000000000 + i * 128 * 1024 * PAGE, PFS_WRITE);
	d = draw(&f, "by-address", plain);
	assert_narrow(d.text, 80);
	assert_non_null(strstr(d.text, "2000/256M"));
	free(d.text);
	feed_free(&f);
}

/* ---- what is known, what is not, what is missing ---- */

static void test_losses(void **state)
{
	struct feed f = feed_new(1);
	const struct pfs_view_options wide = { .width = 400 };

	feed_map(&f, 0x400000, 0x401000, RW, "");
	assert_true(drawn_with(&f, "by-address", plain, "no events lost"));
	feed_lost(&f, 1, 12);
	assert_true(drawn_with(&f, "by-address", plain, "\nlost 12 events on CPU 1 between 0.000000 and 0.000001 s\n"));
	feed_lost(&f, 1, 1);
	feed_lost(&f, 0, 1);
	assert_true(drawn_with(&f, "by-address", wide,
			       "\nlost 13 events on CPU 1 between 0.000000 and 0.000002 s, "
			       "1 event on CPU 0 between 0.000002 and 0.000003 s\n"));
	assert_true(drawn_with(&f, "by-address", wide,
			       " 0.000003 s, so more pages may have been touched than are drawn, and "
			       "regions may be wrong from 0.000000 s on\n"));
	feed_gap(&f, 0, 0, 0);
	feed_gap(&f, -1, 0, 0);
	assert_true(drawn_with(&f, "by-address", wide,
			       "1 event and an unknown number more on CPU 0 before 0.000004 s, "
			       "an unknown number of events before 0.000005 s\n"));
	assert_true(drawn_with(&f, "by-address", wide, "drawn, and regions may be wrong\n"));
	for (int cpu = 2; cpu < 40; cpu++)
		feed_lost(&f, cpu, 2);
	assert_true(drawn_with(&f, "by-address", wide,
			       "2 events on CPU 2 between 0.000005 and 0.000006 s, 74 events on "
			       "37 other CPUs\n"));
	feed_free(&f);
	f = feed_new(1);
	feed_note(&f, "lost", "5 on cpu 1", false); /* nothing says when */
	assert_true(drawn_with(&f, "by-address", wide, "\nlost 5 events on CPU 1\n"));
	feed_free(&f);
}

/* Where only some of the rows may lack something, the fewer ones of them say so. */
static void test_losses_by_row(void **state)
{
	struct feed f = feed_new(1);
	const struct pfs_view_options wide = { .width = 400 };
	struct drawing d;

	feed_map(&f, 0x400000, 0x401000, RW, "");
	feed_fault(&f, 0x400000, PFS_WRITE);
	feed_unmap(&f, 0x400000, 0x401000);
	feed_lost(&f, 1, 12);
	feed_map(&f, 0x500000, 0x501000, RW, "");
	feed_lost(&f, 0, 0);
	feed_map(&f, 0x600000, 0x601000, RW, "");
	feed_map(&f, 0x700000, 0x701000, RW, "");
	d = draw(&f, "by-address", wide);
	assert_non_null(strstr(d.text, "so more pages may have been touched where noted, and regions may be wrong "
				       "from 0.000002 s on\n"));
	assert_non_null(strstr(d.text,
			       "|W|\n 00500000-00501000 rw-p     0/1 anon |.|\n"
			       "  (faults may be lost: an unknown number of events on CPU 0 between 0.000004 and "
			       "0.000005 s)\n 00600000"));
	assert_null(strstr(strstr(d.text, "(faults may be lost") + 1, "(faults may be lost"));
	assert_null(strstr(d.text, "(no faults lost"));
	free(d.text);
	assert_true(drawn_with(&f, "full", wide, "0/1 pages  anon\n  (faults may be lost: an unknown"));
	feed_lost(&f, 0, 1);
	d = draw(&f, "by-address", wide);
	assert_non_null(strstr(d.text, "drawn, except where noted, and"));
	assert_non_null(strstr(d.text, "|W|\n  (no faults lost)\n 00500000"));
	assert_null(strstr(d.text, "(faults may be lost"));
	free(d.text);
	feed_free(&f);
}

/* What a kernel has no events for is said, in the words of the note. */
static void test_not_told(void **state)
{
	struct feed f = feed_new(1);
	const struct pfs_view_options wide = { .width = 200 };

	feed_map(&f, 0x400000, 0x401000, RW, "");
	assert_false(drawn_with(&f, "by-address", wide, "not reported"));
	feed_note(&f, "lacks", "filemap:mm_filemap_map_pages (pages mapped by fault-around)", false);
	feed_note(&f, "lacks", "--classify: no function tracer here (CONFIG_X)", false);
	assert_true(drawn_with(&f, "by-address", wide,
			       "\nnot reported by this kernel: pages mapped by fault-around, "
			       "--classify: no function tracer here (CONFIG_X)\n"));
	assert_true(drawn_with(&f, "report", wide,
			       "\nNot reported\n  what\n"
			       "  pages mapped by fault-around\n"));
	feed_free(&f);
}

/* A loss is shown with the processes that were there at the time. */
static void test_losses_concern_who_was_there(void **state)
{
	struct feed f = feed_new(1);
	struct drawing d;
	char *at;

	feed_map(&f, 0x400000, 0x401000, RW, "");
	feed_fork(&f, 3, false);
	feed_as(&f, 3, 3);
	feed_clear(&f);
	feed_exit(&f, true);
	feed_as(&f, 1, 1);
	feed_lost(&f, 1, 12);
	feed_fork(&f, 2, false);
	d = draw(&f, "by-address", plain);
	at = strstr(d.text, "more pages may have been touched");
	assert_non_null(at);
	assert_true(at < strstr(d.text, "pid 3") && at < strstr(d.text, "pid 2"));
	assert_null(strstr(at + 1, "more pages may have been touched"));
	free(d.text);
	feed_free(&f);
}

static void test_hostile_names(void **state)
{
	struct feed f = feed_new(1);
	char path[4096];

	feed_comm(&f, "\033]0;x\a\n");
	feed_map(&f, 0x400000, 0x401000, RW, "/tmp/\033[2J\n\xff|x");
	assert_true(drawn_with(&f, "by-address", plain, "pid 1 \\e]0;x\\x07\\n  since"));
	assert_true(drawn_with(&f, "by-address", plain, "\\e[2J\\n\\xff|x"));
	memset(path, 'y', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	feed_map(&f, 0x500000, 0x501000, RW, path);
	for (int i = 0; i < 2; i++) {
		struct drawing d = draw(&f, i ? "full" : "by-address", plain);

		for (size_t k = 0; k < d.len; k++)
			assert_true(d.text[k] == '\n' || (d.text[k] >= ' ' && d.text[k] < 0x7f));
		if (!i)
			assert_narrow(d.text, 80);
		free(d.text);
	}
	feed_free(&f);
}

static void test_wide_names_stay_aligned(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400000, 0x401000, RW, "/tmp/漢字");
	feed_map(&f, 0x500000, 0x501000, RW, "/tmp/größe");
	assert_true(drawn_with(&f, "by-address", plain, "/tmp/漢字  |.|\n"));
	assert_true(drawn_with(&f, "by-address", plain, "/tmp/größe |.|\n"));
	feed_free(&f);
}

static void test_nothing_is_known(void **state)
{
	struct feed f = feed_new(0);

	/* Faults alone, without process and layout: what any trace of page faults has. */
	f.tid = 42;
	feed_faults(&f, 0x400000, 3, PFS_READ);
	feed_fault(&f, 0xfffffffffffff123, PFS_WRITE);
	assert_drawn(&f, "by-address", plain,
		     "thread 42  since 0.000000 s  of an unknown process  layout unknown\n"
		     " address range     perm touched name\n"
		     " 00400000-00403000          3/3 (no known region) |RRR|\n"
		     " fffffffffffff000-10000000000000000          1/1  |W|\n"
		     "\n"
		     "W written  R read\n"
		     "4 faults, 4 pages touched, 0 regions, no events lost\n"
		     "  3 by read, 1 by write, 4 in user mode, 4 in no known region\n");
	feed_free(&f);
}

static void test_empty(void **state)
{
	struct feed f = feed_new(0);

	assert_drawn(&f, "by-address", plain,
		     "no process to draw (of 0 in the recording)\n"
		     "0 faults, 0 pages touched, 0 regions, 0 processes, no events lost\n");
	assert_drawn(&f, "classic", plain, "");
	feed_free(&f);
}

/* ---- processes and epochs ---- */

static void test_epochs(void **state)
{
	struct feed f = feed_new(7);
	struct drawing d;

	feed_comm(&f, "sh");
	feed_map(&f, 0x400000, 0x401000, R, "/bin/sh");
	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x600000, 0x601000, R, "/bin/ls");
	feed_exec(&f, "/bin/ls", "ls");
	feed_fault(&f, 0x600000, PFS_READ);
	feed_clear(&f);
	feed_exit(&f, true);
	d = draw(&f, "by-address", plain);
	assert_non_null(strstr(d.text, "pid 7 sh  exec epoch 1 of 2  0.000000 to 0.000003 s"));
	assert_non_null(strstr(d.text, "pid 7 ls  exec epoch 2 of 2  /bin/ls  0.000003 to 0.000005 s"));
	/* What lived until the end of its image is not marked as gone. */
	assert_non_null(strstr(d.text, "\n 00400000-00401000"));
	assert_non_null(strstr(d.text, "\n 00600000-00601000"));
	free(d.text);
	feed_free(&f);
}

static void test_a_launcher_is_not_drawn(void **state)
{
	struct feed f = feed_new(7);

	feed_note(&f, "launch", "x", true);
	feed_fault(&f, 0x400000, PFS_WRITE);
	assert_true(drawn_with(&f, "by-address", plain, "no process to draw (of 1 in"));
	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x600000, 0x601000, R, "/bin/x");
	feed_exec(&f, "/bin/x", "x");
	assert_true(drawn_with(&f, "by-address", plain, "pid 7 x  /bin/x  since"));
	assert_true(drawn_with(&f, "by-address", plain, "0 faults, 0 pages touched, 1 region, no"));
	feed_free(&f);
}

static void test_vfork_is_drawn_once(void **state)
{
	struct pfs_filter filter = { 0 };
	struct pfs_view_options child = { .width = 80, .filter = &filter };
	struct feed f = feed_new(7);

	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_fork(&f, 8, true);
	feed_as(&f, 8, 8);
	feed_fault(&f, 0x401000, PFS_WRITE);
	assert_false(drawn_with(&f, "by-address", plain, "pid 8"));
	assert_true(drawn_with(&f, "by-address", plain, "|.W|"));
	assert_true(drawn_with(&f, "by-address", plain, "1 fault, 1 page touched, 1 region, no"));
	/* Asked for alone, it is drawn in the space that it has. */
	assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_PID, "8", NULL), 0);
	assert_true(drawn_with(&f, "by-address", child, "pid 8  forked by 7  in its parent's address space"));
	pfs_filter_fini(&filter);
	feed_free(&f);
}

static void test_gone_regions(void **state)
{
	struct feed f = feed_new(7);
	struct pfs_view_options all = { .width = 80, .all = true };

	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_unmap(&f, 0x400000, 0x402000);
	feed_map(&f, 0x400000, 0x403000, RW, "");
	feed_fault(&f, 0x401000, PFS_WRITE);
	feed_unmap(&f, 0x400000, 0x403000);
	assert_true(drawn_with(&f, "by-address", plain, "\n-00400000-00403000"));
	assert_false(drawn_with(&f, "by-address", plain, "-00400000-00402000"));
	assert_true(drawn_with(&f, "by-address", plain, "1 untouched region unmapped (--all"));
	assert_true(drawn_with(&f, "by-address", plain, "2 regions (2 unmapped)"));
	assert_true(drawn_with(&f, "by-address", plain, "- unmapped before the end"));
	assert_true(drawn_with(&f, "by-address", all, "\n-00400000-00402000"));
	assert_false(drawn_with(&f, "by-address", all, "came and went"));
	feed_free(&f);
}

/* `nr` regions that came and went, the i-th with i + 1 pages touched. */
static void feed_gone(struct feed *f, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t start = 0x10000000 + (uint64_t)i * 0x100000;

		feed_map(f, start, start + 0x100000, RW, "");
		feed_faults(f, start, i + 1, PFS_WRITE);
		feed_unmap(f, start, start + 0x100000);
	}
}

static unsigned int nr_gone_rows(const struct feed *f, struct pfs_view_options options)
{
	struct drawing d = draw(f, "by-address", options);
	unsigned int nr = 0;

	assert_int_equal(d.ret, 0);
	for (const char *s = d.text; (s = strstr(s, "\n-1")); s++)
		nr++;
	free(d.text);
	return nr;
}

static void test_as_many_gone_as_are_drawn(void **state)
{
	struct feed f = feed_new(7);

	feed_gone(&f, 48);
	assert_int_equal(nr_gone_rows(&f, plain), 48);
	assert_false(drawn_with(&f, "by-address", plain, "more region"));
	feed_free(&f);
}

static void test_of_many_gone_the_most_touched_are_drawn(void **state)
{
	struct pfs_view_options all = { .width = 80, .all = true };
	struct feed f = feed_new(7);

	feed_gone(&f, 51);
	assert_int_equal(nr_gone_rows(&f, plain), 48);
	assert_true(drawn_with(&f, "by-address", plain,
			       "\n  3 more unmapped regions, 6 pages touched (--all shows them)\n"));
	assert_false(drawn_with(&f, "by-address", plain, "\n-10200000-"));
	assert_true(drawn_with(&f, "by-address", plain, "\n-10300000-"));
	assert_true(drawn_with(&f, "by-address", plain, "51 regions (51 unmapped)"));
	assert_true(drawn_with(&f, "by-address", plain, "1,326 faults, 1,326 pages touched"));
	assert_int_equal(nr_gone_rows(&f, all), 51);
	assert_false(drawn_with(&f, "by-address", all, "more region"));
	feed_free(&f);
}

/* Of those alike the first ones are drawn, and no more of them than there is room for. */
static void test_many_gone_alike(void **state)
{
	struct feed f = feed_new(7);

	feed_gone(&f, 2);
	for (unsigned int i = 0; i < 60; i++) {
		uint64_t start = 0x1a000000 + (uint64_t)i * 0x1000;

		feed_map(&f, start, start + 0x1000, RW, "");
		feed_fault(&f, start, PFS_WRITE);
		feed_unmap(&f, start, start + 0x1000);
	}
	assert_int_equal(nr_gone_rows(&f, plain), 48);
	assert_true(drawn_with(&f, "by-address", plain, "\n-10100000-"));
	assert_true(drawn_with(&f, "by-address", plain, "14 more unmapped regions, 14 pages touched"));
	feed_free(&f);
}

static void test_one_more_gone(void **state)
{
	struct feed f = feed_new(7);

	feed_gone(&f, 49);
	assert_true(drawn_with(&f, "by-address", plain, "  1 more unmapped region, 1 page touched (--all"));
	feed_free(&f);
}

/* ---- properties ---- */

static void random_events(struct feed *f, uint64_t seed)
{
	uint64_t s = seed * 7919 + 1;

	for (int i = 0; i < 400; i++) {
		uint64_t start = 0x10000000 + (next_random(&s) % 4096 << 12);
		uint64_t len = (1 + next_random(&s) % (next_random(&s) % 8 ? 20 : 3000)) << 12;

		switch (next_random(&s) % 10) {
		case 0:
			feed_map(f, start, start + len, RW, next_random(&s) % 2 ? "" : "/a/b");
			break;
		case 1:
			feed_unmap(f, start, start + len);
			break;
		case 2:
			feed_protect(f, start, start + len, R);
			break;
		case 3:
			feed_populate(f, start, start + len);
			break;
		case 4:
			feed_fork(f, 100 + i, next_random(&s) % 2);
			break;
		default:
			feed_fault_mode(f, start, next_random(&s) % 4, next_random(&s) % 3);
			if (next_random(&s) % 8 == 0)
				feed_signal(f, 11);
		}
	}
}

static void test_random(void **state)
{
	static const unsigned int widths[] = { 68, 80, 100, 133, 200, 400 };

	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct feed f = feed_new(1);
		char expected[64];

		random_events(&f, seed);
		snprintf(expected, sizeof(expected), "%" PRIu64 " faults, ", f.model->counts.faults);
		for (unsigned int i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
			struct pfs_view_options options = { .width = widths[i] };
			struct drawing d = draw(&f, "by-address", options);

			assert_narrow(d.text, widths[i]);
			assert_non_null(strstr(d.text, expected));
			free(d.text);
			d = draw(&f, "full", options);
			assert_narrow(d.text, widths[i]);
			assert_non_null(strstr(d.text, expected));
			free(d.text);
		}
		feed_free(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classic_sample),
		cmocka_unit_test(test_classic_gone_and_unknown),
		cmocka_unit_test(test_classic_processes),
		cmocka_unit_test(test_classic_folds_giants),
		cmocka_unit_test(test_bars_80),
		cmocka_unit_test(test_bars_200),
		cmocka_unit_test(test_bars_color),
		cmocka_unit_test(test_full_80),
		cmocka_unit_test(test_full_folds_lines),
		cmocka_unit_test(test_full_folds_what_is_alike),
		cmocka_unit_test(test_each_glyph),
		cmocka_unit_test(test_scaled_cells),
		cmocka_unit_test(test_a_short_last_cell),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_many_touched_of_a_terabyte),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_losses_by_row),
		cmocka_unit_test(test_not_told),
		cmocka_unit_test(test_losses_concern_who_was_there),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_wide_names_stay_aligned),
		cmocka_unit_test(test_nothing_is_known),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_epochs),
		cmocka_unit_test(test_a_launcher_is_not_drawn),
		cmocka_unit_test(test_vfork_is_drawn_once),
		cmocka_unit_test(test_gone_regions),
		cmocka_unit_test(test_as_many_gone_as_are_drawn),
		cmocka_unit_test(test_of_many_gone_the_most_touched_are_drawn),
		cmocka_unit_test(test_many_gone_alike),
		cmocka_unit_test(test_one_more_gone),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
