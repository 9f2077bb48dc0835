/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The default form of bars: what it says first, which rows it draws in which order, and that it fits the terminal.
 */
#include "support/draw.h"
#include "support/scenario.h"

#include <stdlib.h>

static const struct pfs_view_options plain = { .width = 80 };

static const char scenario_80[] = "sh (pid 100): 245 faults (3 read from disk) in 310 us by 3 processes\n"
				  "  10 read, 221 written, 13 executed, 1 by unknown access; 1 by the kernel;\n"
				  "  1 ended in a signal; 244 pages touched (976K), 126 more by fault-around,\n"
				  "  2 populated, 512 in huge pages\n"
				  "lost 12 events on CPU 1 between 0.000294 and 0.000295 s,\n"
				  "  so more pages may have been touched than are drawn\n"
				  "      205 faults  84 %  [heap]                          sh                ######\n"
				  "       16 faults   7 %  libc.so.6                       sh                #\n"
				  "\n"
				  "pid 100 sh  /usr/bin/dash  since 0.000007 s\n"
				  " perm touched name\n"
				  " rw-p 204/289 [heap]                   |WWWWWWWWWWWWWWWWWWWWWWWWW.........b..|x8\n"
				  " r-xp  12/342 libc.so.6                |x+m+xx+x+mx+x+xm+x+x.........|x12\n"
				  "         4/17 unknown 10000000         |WWW.............R|\n"
				  "-rw-p    4/16 anon 7f4200000000        |...WWWW.........|\n"
				  " rw-p  3/256M anon 7e0000000000        |WW~144M~R~112M~|\n"
				  " rw-p  3/2048 thread stack 7f4100000.. |~2045~WWW|\n"
				  " rw-p     3/4 libc.so.6                |WWW.|\n"
				  " rw-p  1/2048 anon 7f4000000000        |~wHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH~|x16\n"
				  " r--p    1/38 libc.so.6                |R+++++++++++++++......................|\n"
				  " r-xp     1/5 dash                     |X+++.|\n"
				  " rw-p    1/33 [stack]                  |...............................WP|\n"
				  "          1/1 unknown 20000000         |R|\n"
				  " rw-p     1/1 dash                     |W|\n"
				  " ---p     1/4 anon 7f4300000000        |.!..|\n"
				  " ????     1/3 ? 7f4400000000           |.T.|\n"
				  "  13 untouched regions\n"
				  "\n"
				  "pid 101 cat  /usr/bin/cat  parent 100  0.000311 to 0.000314 s\n"
				  " perm touched name\n"
				  " r--p     2/2 /usr/bin/cat |RR|\n"
				  " rw-p    0/33 [stack]      |................................P|\n"
				  "  3 untouched regions\n"
				  "\n"
				  "pid 102 sh  /usr/bin/dash  forked by 100  since 0.000316 s\n"
				  " perm touched name\n"
				  " rw-p     1/1 /usr/bin/dash |W|\n"
				  "  13 untouched regions\n"
				  "\n"
				  "! ended in a signal  M major: read from disk  B read and written  W written\n"
				  "X executed  R read  T touched, access unknown  H rest of a huge page\n"
				  "P populated  + fault-around  . untouched  ~ untouched, folded\n"
				  "xN: a cell is N pages  lower case: at most half of the cell's pages\n"
				  "- unmapped before the end\n"
				  "to see more: --all\n";

static void test_whole(void **state)
{
	struct feed f = feed_new(0);

	scenario(&f);
	assert_drawn(&f, "bars", plain, scenario_80);
	feed_free(&f);
}

static unsigned int nr_lines(const char *text)
{
	unsigned int nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

/* On a terminal the most rows that fit, and one process on a low one. */
static void test_terminal(void **state)
{
	static const struct {
		unsigned int height, rows, processes;
	} sizes[] = { { 24, 1, 1 }, { 30, 6, 1 }, { 59, 17, 2 }, { 200, 18, 3 } };
	struct feed f = feed_new(0);

	scenario(&f);
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct pfs_view_options options = { .width = 80, .height = sizes[i].height };
		struct drawing d = draw(&f, "bars", options);
		unsigned int rows = 0, processes = 0;

		for (const char *at = d.text; (at = strstr(at, " |")); at++)
			rows++;
		for (const char *at = d.text; (at = strstr(at, "\npid ")); at++)
			processes++;
		if (nr_lines(d.text) > sizes[i].height || rows < sizes[i].rows || processes != sizes[i].processes)
			print_error("%u lines, %u rows, %u processes:\n%s\n", nr_lines(d.text), rows, processes,
				    d.text);
		assert_true(nr_lines(d.text) <= sizes[i].height);
		assert_true(rows >= sizes[i].rows);
		assert_int_equal(processes, sizes[i].processes);
		free(d.text);
	}
	feed_free(&f);
}

static void assert_order(const struct feed *f, struct pfs_view_options options, const char *first, const char *second)
{
	struct drawing d = draw(f, "bars", options);
	const char *table = strstr(d.text, " perm"), *at;

	assert_non_null(table);
	at = strstr(table, first);
	if (!at || !strstr(at, second))
		print_error("not %s before %s:\n%s\n", first, second, d.text);
	assert_true(at && strstr(at, second));
	free(d.text);
}

/* low: first touched, one page often; mid: most pages; high: untouched. */
static struct feed three_regions(void)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400000, 0x404000, RW, "/low");
	feed_map(&f, 0x500000, 0x504000, RW, "/mid");
	feed_map(&f, 0x600000, 0x604000, RW, "/high");
	for (int i = 0; i < 9; i++)
		feed_fault(&f, 0x400000, PFS_WRITE);
	feed_faults(&f, 0x500000, 3, PFS_READ);
	return f;
}

/* By address stand the rows with the most faults, whatever number of them fits. */
static void test_terminal_by_address(void **state)
{
	struct pfs_view_options options = { .width = 80, .height = 24, .sort = PFS_SORT_ADDRESS };
	enum { REGIONS = 40 };
	struct feed f = feed_new(1);
	struct drawing d;
	unsigned int rows = 0;
	char name[16];

	for (unsigned int i = 0; i < REGIONS; i++) { /* the higher, the more faults */
		uint64_t start = 0x400000 + i * 0x100000;

		snprintf(name, sizeof(name), "/file%02u", i);
		feed_map(&f, start, start + 0x4000, RW, name);
		for (unsigned int j = 0; j <= i; j++)
			feed_fault(&f, start, PFS_WRITE);
	}
	d = draw(&f, "bars", options);
	for (const char *at = strstr(d.text, " perm"); (at = strstr(at, " |")); at++)
		rows++;
	assert_in_range(rows, 3, REGIONS / 2);
	for (const char *at = strstr(d.text, " perm"); rows; rows--) {
		snprintf(name, sizeof(name), "/file%02u", REGIONS - rows);
		at = strstr(at, name);
		if (!at)
			print_error("no %s in its place:\n%s\n", name, d.text);
		assert_non_null(at);
	}
	free(d.text);
	feed_free(&f);
}

static void test_orders(void **state)
{
	struct feed f = three_regions();

	assert_order(&f, (struct pfs_view_options){ .sort = PFS_SORT_FAULTS }, "/low", "/mid");
	assert_order(&f, (struct pfs_view_options){ .sort = PFS_SORT_TOUCHED }, "/mid", "/low");
	assert_order(&f, (struct pfs_view_options){ .sort = PFS_SORT_TIME }, "/low", "/mid");
	assert_order(&f, (struct pfs_view_options){ .sort = PFS_SORT_ADDRESS }, "/low", "/mid");
	feed_fault(&f, 0x600000, PFS_READ);
	assert_order(&f, (struct pfs_view_options){ .sort = PFS_SORT_TIME }, "/mid", "/high");
	assert_order(&f, (struct pfs_view_options){ .sort = PFS_SORT_TOUCHED, .all = true }, "/low", "/high");
	feed_free(&f);
}

static void test_top_and_all(void **state)
{
	const struct pfs_view_options top = { .top = 1 }, all = { .all = true };
	struct feed f = three_regions();

	assert_true(drawn_with(&f, "bars", plain, "  1 untouched region\n"));
	assert_false(drawn_with(&f, "bars", plain, "|....|"));
	assert_true(drawn_with(&f, "bars", top, "  1 more region with 3 faults, 1 untouched\n"));
	assert_false(drawn_with(&f, "bars", top, "|RRR.|"));
	assert_true(drawn_with(&f, "bars", all, "|....|"));
	assert_false(drawn_with(&f, "bars", all, "to see more"));
	/* chosen by faults, drawn by address */
	feed_faults(&f, 0x600000, 4, PFS_WRITE);
	assert_order(&f, (struct pfs_view_options){ .top = 2, .sort = PFS_SORT_ADDRESS }, "/low", "/high");
	assert_false(drawn_with(&f, "bars", (struct pfs_view_options){ .top = 2, .sort = PFS_SORT_ADDRESS }, "|RRR.|"));
	feed_free(&f);
}

static void test_many_processes(void **state)
{
	struct feed f = feed_new(1);

	feed_comm(&f, "parent");
	feed_map(&f, 0x400000, 0x410000, RW, "");
	feed_faults(&f, 0x400000, 9, PFS_WRITE);
	for (int pid = 2; pid < 9; pid++) {
		feed_fork(&f, pid, false);
		f.pid = f.tid = pid;
		feed_comm(&f, pid < 7 ? "same" : pid == 7 ? "seven" : "eight");
		feed_faults(&f, 0x400000, pid, PFS_READ);
		f.pid = f.tid = 1;
	}
	assert_true(drawn_with(&f, "bars", plain, "\npid 1 parent"));
	assert_true(drawn_with(&f, "bars", plain, "\npid 8 eight"));
	assert_true(drawn_with(&f, "bars", plain, "\npid 7 seven"));
	assert_false(drawn_with(&f, "bars", plain, "\npid 6 same"));
	assert_true(drawn_with(&f, "bars", plain, "\nnot drawn: 5 same with 20 faults\n"));
	assert_true(drawn_with(&f, "bars", plain, "to see more: --all\n"));
	assert_true(drawn_with(&f, "bars", (struct pfs_view_options){ .all = true }, "\npid 2 same"));
	assert_true(drawn_with(&f, "bars", (struct pfs_view_options){ .top = 1000 }, "\npid 2 same"));
	feed_free(&f);
}

/* Regions of files are summed up over processes, other ones by the names of the processes. */
static void test_places(void **state)
{
	struct feed f = feed_new(1);

	feed_comm(&f, "one");
	feed_maps_line(&f, 0x400000, 0x404000, R, 0, 1, 9, "/lib/a.so");
	feed_map(&f, 0x500000, 0x510000, RW, "");
	feed_faults(&f, 0x400000, 2, PFS_READ);
	feed_faults(&f, 0x500000, 5, PFS_WRITE);
	feed_fork(&f, 2, false);
	f.pid = f.tid = 2;
	feed_comm(&f, "two");
	feed_faults(&f, 0x400000, 1, PFS_READ);
	feed_faults(&f, 0x500000, 2, PFS_WRITE);
	assert_true(drawn_with(&f, "bars", plain, "        5 faults  50 %  anon 500000  "));
	assert_true(
		drawn_with(&f, "bars", plain, "        3 faults  30 %  a.so                            2 processes"));
	assert_true(drawn_with(&f, "bars", plain, "        2 faults  20 %  anon 500000                     two "));
	feed_free(&f);
}

/* A process that has executed another program, or the same one again, is one. */
static void test_processes_are_not_images(void **state)
{
	struct feed f = feed_new(1);

	feed_comm(&f, "one");
	for (int i = 0; i < 3; i++) {
		feed_maps_line(&f, 0x400000, 0x404000, R, 0, 1, 9, "/lib/a.so");
		feed_faults(&f, 0x400000, 2, PFS_READ);
		feed_exec(&f, "/bin/one", "one");
	}
	feed_maps_line(&f, 0x400000, 0x404000, R, 0, 1, 9, "/lib/a.so");
	feed_faults(&f, 0x400000, 2, PFS_READ);
	assert_true(drawn_with(&f, "bars", plain, "        8 faults 100 %  a.so                            one "));
	feed_fork(&f, 2, false);
	f.pid = f.tid = 2;
	feed_faults(&f, 0x400000, 1, PFS_READ);
	assert_true(drawn_with(&f, "bars", plain, "        9 faults 100 %  a.so                            2 one "));
	feed_free(&f);
}

static void test_few_after_attach(void **state)
{
	const char *advice = "pfscope attach --refault 500ms --zram 256M 1\n";
	struct feed f = three_regions();

	assert_false(drawn_with(&f, "bars", plain, advice));
	feed_note(&f, "attach", "1", false);
	assert_true(drawn_with(&f, "bars", plain, advice));
	for (int i = 0; i < 100; i++)
		feed_fault(&f, 0x400000, PFS_WRITE);
	assert_false(drawn_with(&f, "bars", plain, advice));
	feed_free(&f);
}

/* The last line can be pasted. */
static void test_more(void **state)
{
	const struct pfs_view_options kept = { .file = "'my gcc.dat'", .terminal = true };
	const struct pfs_view_options terminal = { .terminal = true };
	const struct pfs_view_options odd = { .file = "'\033[31m.dat'", .terminal = true };
	struct feed f = three_regions();

	assert_true(drawn_with(&f, "bars", terminal, "\nto see more: --all\n"));
	assert_true(drawn_with(&f, "bars", plain, "\nto see more: --all\n"));
	assert_true(drawn_with(&f, "bars", kept, "\nto see more: pfscope render --all 'my gcc.dat'\n"));
	assert_true(drawn_with(&f, "bars", odd, "\nto see more: --all\n"));
	feed_note(&f, "attach", "1", false);
	for (int i = 0; i < 100; i++)
		feed_fault(&f, 0x400000, PFS_WRITE);
	assert_true(drawn_with(&f, "bars", terminal, "\nto see more, keep it: pfscope attach -o pfscope.dat 1\n"));
	feed_note(&f, "command", "ls 'a b'", false);
	assert_true(
		drawn_with(&f, "bars", terminal, "\nto see more, keep it: pfscope run -o pfscope.dat -- ls 'a b'\n"));
	feed_note(&f, "command", "ls of more arguments than there is room for in a line", false);
	assert_true(
		drawn_with(&f, "bars", terminal, "\nto see more, keep it: pfscope run -o pfscope.dat -- COMMAND\n"));
	assert_true(drawn_with(&f, "bars", kept, "\nto see more: pfscope render --all 'my gcc.dat'\n"));
	feed_free(&f);
}

/* Lines break between words, not in numbers. */
static void test_many_lost(void **state)
{
	struct feed f = three_regions();

	feed_lost(&f, 1, 2120);
	assert_true(drawn_with(&f, "bars", plain, "\nlost 2,120 events on CPU 1"));
	feed_free(&f);
}

static void test_command(void **state)
{
	struct feed f = three_regions();

	feed_note(&f, "command", "a\033[31mb with arguments that are longer than there is room for in the line", false);
	assert_true(drawn_with(&f, "bars", plain,
			       "a\\e[31mb with arguments that are longer than there is ...: 12 faults in "));
	feed_free(&f);
}

static void test_nothing(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400000, 0x404000, RW, "/low");
	assert_drawn(&f, "bars", plain, "? (pid 1): 0 faults in 0 ns\n  no events lost\nto see more: --all\n");
	feed_free(&f);
	f = feed_new(1);
	assert_true(drawn_with(&f, "bars", plain, "no process to draw (of 0 in the recording)\nno events lost\n"));
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_terminal_by_address),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_top_and_all),
		cmocka_unit_test(test_many_processes),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_processes_are_not_images),
		cmocka_unit_test(test_few_after_attach),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_more),
		cmocka_unit_test(test_many_lost),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
