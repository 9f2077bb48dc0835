/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --refault without a kernel: which method it is, what recordings keep of it, what it cost, and smaps as kernels
 * print it.
 */
#include "refault/damon.h"
#include "event/event.h"
#include "event/notes.h"
#include "refault/refault.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

/* ---- the system ---- */

static char root[] = "/tmp/test_lib_refault.XXXXXX";

static void put(const char *file, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, file);
	if (!text) {
		remove(path);
		return;
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define SWAPS "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

static struct pfs_refault_system look(const char *swaps, const char *nodes, const char *numa)
{
	struct pfs_refault_system system;

	put("/proc/swaps", swaps);
	put("/sys/devices/system/node/online", nodes);
	put("/proc/sys/kernel/numa_balancing", numa);
	pfs_refault_look(root, &system);
	return system;
}

static void a_system_is_read(void **state)
{
	struct pfs_refault_system system = look(SWAPS "/dev/zram0 partition 1 0 -2\n", "0-1\n", "1\n");

	assert_true(system.swap);
	assert_int_equal(system.nr_nodes, 2);
	assert_true(system.numa && system.numa_on);
	system = look(SWAPS, "0\n", "0\n");
	assert_false(system.swap);
	assert_int_equal(system.nr_nodes, 1);
	assert_true(system.numa && !system.numa_on);
	assert_int_equal(look(SWAPS, "0,2-3,7\n", "2\n").nr_nodes, 4);
	system = look(NULL, NULL, NULL);
	assert_false(system.swap || system.numa || system.numa_on || system.damon);
	assert_false(system.soft_dirty);
	put("/proc/self/smaps",
	    "1000-2000 r--p 00000000 00:00 0\nSize: 4 kB\nVmFlags: rd mr mw me \n3000-4000 rw-p sd\n");
	assert_false(look(NULL, NULL, NULL).soft_dirty);
	put("/proc/self/smaps", "1000-2000 r--p 00000000 00:00 0\nSize: 4 kB\nVmFlags: rd mr mw me sd \n");
	assert_true(look(NULL, NULL, NULL).soft_dirty);
	put("/proc/self/smaps", NULL);
	put(PFS_DAMON_DIR "/nr_kdamonds", "0\n");
	assert_false(look(NULL, NULL, NULL).damon);
	put("/proc/kallsyms", "0000000000000000 t damon_pa_young\n"); /* of physical memory alone */
	assert_false(look(NULL, NULL, NULL).damon);
	put("/proc/kallsyms", "0000000000000000 t damon_pa_young\n0000000000000000 t damon_va_init\n");
	assert_true(look(NULL, NULL, NULL).damon);
	put(PFS_DAMON_DIR "/nr_kdamonds", NULL);
	assert_false(look(NULL, NULL, NULL).damon);
	put("/proc/kallsyms", NULL);
	assert_int_equal(system.nr_nodes, 0);
}

static const struct pfs_refault_system bare = { .pageout = true, .nr_nodes = 1, .numa = true },
				       swapping = { .pageout = true, .swap = true, .nr_nodes = 1 },
				       balancing = { .pageout = true, .nr_nodes = 2, .numa = true, .numa_on = true },
				       old = { .swap = true, .nr_nodes = 1 },
				       looking = { .pageout = true, .nr_nodes = 1, .damon = true },
				       all = { .pageout = true,
					       .swap = true,
					       .nr_nodes = 2,
					       .numa = true,
					       .numa_on = true,
					       .damon = true,
					       .soft_dirty = true };

/* The method, or what it says against it. */
static const char *chosen(struct pfs_refault_config config, const struct pfs_refault_system *system)
{
	enum pfs_refault_method method;
	static struct pfs_err err;

	config.interval_ns = 1000000;
	err.msg[0] = '\0';
	if (!pfs_refault_choose(&config, system, &method, &err))
		return pfs_refault_methods[method];
	assert_int_equal(pfs_refault_choose(&config, system, &method, NULL), -ENOTSUP);
	return err.msg;
}

#define WITH(...) ((struct pfs_refault_config){ __VA_ARGS__ })

static void the_method_is_what_there_is(void **state)
{
	assert_string_equal(chosen(WITH(.method = PFS_REFAULT_AUTO), &swapping), "pageout");
	assert_string_equal(chosen(WITH(.zram_bytes = 1), &bare), "pageout");
	assert_string_equal(chosen(WITH(.files_only = true), &bare), "pageout");
	assert_string_equal(chosen(WITH(.method = PFS_REFAULT_AUTO), &balancing), "numa");
	assert_string_equal(chosen(WITH(.method = PFS_REFAULT_NUMA), &balancing), "numa");
	assert_string_equal(chosen(WITH(.method = PFS_REFAULT_PAGEOUT), &swapping), "pageout");
	assert_string_equal(chosen(WITH(.method = PFS_REFAULT_AUTO), &looking), "idle");
	assert_string_equal(chosen(WITH(.method = PFS_REFAULT_AUTO), &all), "pageout");
	assert_string_equal(chosen(WITH(.method = PFS_REFAULT_IDLE), &all), "idle");
	assert_string_equal(chosen(WITH(.method = PFS_REFAULT_SOFT_DIRTY), &all), "soft-dirty");
	assert_string_equal(chosen(WITH(.hide_file = "/sys/module/m/parameters/pfs_hide_now"), &all), "hide");
	assert_string_equal(chosen(WITH(.method = PFS_REFAULT_PAGEOUT, .hide_file = ""), &all), "pageout");
}

static void what_is_missing_is_said(void **state)
{
	const char *why = chosen(WITH(.method = PFS_REFAULT_AUTO), &bare);

	assert_non_null(strstr(why, "there is no swap"));
	assert_non_null(strstr(why, "--zram SIZE"));
	assert_non_null(strstr(why, "one NUMA node"));
	assert_non_null(strstr(why, "hide: only with --source=stap or ftrace; "));
	assert_non_null(strstr(why, "idle: this kernel has no DAMON for address spaces (CONFIG_DAMON_VADDR, "
				    "CONFIG_DAMON_SYSFS)"));
	assert_string_equal(
		chosen(WITH(.method = PFS_REFAULT_IDLE), &swapping),
		"--refault by idle: this kernel has no DAMON for address spaces (CONFIG_DAMON_VADDR, CONFIG_DAMON_SYSFS)");
	assert_string_equal(chosen(WITH(.method = PFS_REFAULT_HIDE, .why_not_hide = "for a reason"), &all),
			    "--refault by hide: for a reason");
	assert_string_equal(chosen(WITH(.method = PFS_REFAULT_SOFT_DIRTY), &balancing),
			    "--refault by soft-dirty: this kernel has no soft-dirty bits (CONFIG_MEM_SOFT_DIRTY)");
	assert_non_null(strstr(chosen(WITH(.method = PFS_REFAULT_SOFT_DIRTY, .some_regions = true), &all), "--region"));
	assert_null(strstr(chosen(WITH(.method = PFS_REFAULT_AUTO), &bare), "soft-dirty"));
	why = chosen(WITH(.faults_only = true), &looking);
	assert_non_null(strstr(why, "idle: accesses without a fault are recorded with --source=ftrace only"));
	assert_string_equal(chosen(WITH(.faults_only = true), &balancing), "numa");
	assert_non_null(strstr(chosen(WITH(.method = PFS_REFAULT_PAGEOUT), &balancing), "there is no swap"));
	assert_null(strstr(chosen(WITH(.method = PFS_REFAULT_PAGEOUT), &balancing), "numa"));
	assert_non_null(strstr(chosen(WITH(.method = PFS_REFAULT_PAGEOUT), &old), "no process_madvise"));
	assert_non_null(strstr(chosen(WITH(.method = PFS_REFAULT_NUMA), &old), "CONFIG_NUMA_BALANCING"));
	assert_non_null(strstr(
		chosen(WITH(.method = PFS_REFAULT_NUMA), &(struct pfs_refault_system){ .numa = true, .nr_nodes = 2 }),
		"sysctl kernel.numa_balancing=1"));
}

/* ---- notes ---- */

static const struct pfs_refault_tick some = {
	.cycle = true,
	.began_ns = 98765432109,
	.took_ns = 1234567,
	.before = PFS_PACE_CYCLED,
	.wall_ns = 50000001,
	.user_ns = 40000000,
	.faults = 950,
	.skipped = 3,
	.pages = { .pages = 1000, .away = 900, .shared = 80, .fixed = 20, .nr_processes = 2 },
};

static void a_tick_comes_back(void **state)
{
	char text[PFS_REFAULT_TEXT_MAX];
	struct pfs_fact back;

	for (int pace = 0; pace < PFS_PACE_NR; pace++) {
		struct pfs_refault_tick tick = some;

		tick.before = pace;
		tick.cycle = pace != PFS_PACE_QUIET;
		tick.pages.full = tick.cycle;
		pfs_note_write(PFS_FACT(REFAULT_TICK, .tick = tick), text, sizeof(text));
		assert_true(pfs_note_read(&back, "refault_tick", text));
		assert_memory_equal(&back.tick.pages, &tick.pages, sizeof(tick.pages));
		assert_int_equal(back.tick.cycle, tick.cycle);
		assert_int_equal(back.tick.before, tick.before);
		assert_int_equal(back.tick.began_ns, tick.began_ns);
		assert_int_equal(back.tick.took_ns, tick.took_ns);
		assert_int_equal(back.tick.wall_ns, tick.wall_ns);
		assert_int_equal(back.tick.user_ns, tick.user_ns);
		assert_int_equal(back.tick.faults, tick.faults);
		assert_int_equal(back.tick.skipped, tick.skipped);
	}
}

static void what_is_no_tick_is_none(void **state)
{
	char text[PFS_REFAULT_TEXT_MAX];
	struct pfs_fact fact;

	assert_false(pfs_note_read(&fact, "refault_tick", ""));
	assert_false(pfs_note_read(&fact, "refault_tick", "cycle of 1 processes: pages"));
	pfs_note_write(PFS_FACT(REFAULT_TICK, .tick = some), text, sizeof(text));
	*strstr(text, "since=c") = 'S';
	assert_false(pfs_note_read(&fact, "refault_tick", text));
	pfs_note_write(PFS_FACT(REFAULT_TICK, .tick = some), text, sizeof(text));
	strstr(text, "since=c")[6] = 'k';
	assert_false(pfs_note_read(&fact, "refault_tick", text));
}

static const char *in_words(const struct pfs_refault_how *how)
{
	static char text[PFS_REFAULT_HOW_MAX];

	pfs_refault_how_text(text, how);
	return text;
}

/* What the note `refault` records, and how that reads. NULL: unreadable. */
static const char *how_words(const char *value)
{
	struct pfs_refault_how how;
	struct pfs_fact fact;

	if (!pfs_note_read(&fact, "refault", value))
		return NULL;
	how = (struct pfs_refault_how){ .method = fact.method, .interval_ns = fact.interval_ns };
	return in_words(&how);
}

static void how_comes_back(void **state)
{
	char text[PFS_REFAULT_TEXT_MAX];

	pfs_note_write(
		PFS_FACT(REFAULT, .method = PFS_REFAULT_PAGEOUT, .interval_ns = 50000000, .text = "heap,file:*.so"),
		text, sizeof(text));
	assert_string_equal(text, "method=pageout interval=50000000 regions=heap,file:*.so");
	assert_string_equal(how_words(text), "every 50 ms (pageout)");
	assert_string_equal(how_words("method=pageout interval=1500000000"), "every 1.5 s (pageout)");
	pfs_note_write(PFS_FACT(REFAULT, .method = PFS_REFAULT_NUMA), text, sizeof(text));
	assert_string_equal(text, "method=numa");
	assert_string_equal(how_words(text), "at the kernel's own pace (numa)");
	pfs_note_write(PFS_FACT(REFAULT, .method = PFS_REFAULT_IDLE, .interval_ns = 50000000, .text = "heap"), text,
		       sizeof(text));
	assert_string_equal(text, "method=idle interval=50000000 regions=heap");
	assert_string_equal(how_words(text), "every 50 ms (idle)");
	assert_string_equal(pfs_refault_what(PFS_REFAULT_IDLE), "accesses were sampled");
	assert_null(how_words(""));
	assert_null(how_words("method=pageout interval=x"));
	assert_null(how_words("method=pagein interval=1"));
}

/* Cycles that took longer than an interval, and swap that was full: a trace is not what was asked for then. */
static void what_became_of_it_is_said(void **state)
{
	struct pfs_refault_how how = { .method = PFS_REFAULT_PAGEOUT, .interval_ns = 5000000 };
	struct pfs_refault_sums sums = { 0 };
	struct pfs_refault_tick tick = some;

	tick.wall_ns = 40000000;
	tick.skipped = 0;
	pfs_refault_sum(&sums, &tick);
	pfs_refault_how(&how, &sums);
	assert_string_equal(in_words(&how), "every 5 ms (pageout)");
	tick.wall_ns = 30000000;
	tick.skipped = 5;
	tick.pages.full = true;
	pfs_refault_sum(&sums, &tick);
	pfs_refault_how(&how, &sums);
	assert_string_equal(in_words(&how),
			    "every 35 ms on average (pageout; every 5 ms was asked for; swap was full in 1 "
			    "of 2 cycles: what found no room stayed in memory)");
}

/* ---- cost ---- */

static struct pfs_refault_tick tick_of(enum pfs_refault_pace before, uint64_t user_ms, uint64_t wall_ms)
{
	struct pfs_refault_tick tick = some;

	tick.before = before;
	tick.user_ns = user_ms * 1000000;
	tick.wall_ns = wall_ms * 1000000;
	return tick;
}

static double slowdown_of(uint64_t cycled_ms, uint64_t quiet_ms)
{
	struct pfs_refault_tick ticks[] = {
		tick_of(PFS_PACE_START, 5000, 1000),
		tick_of(PFS_PACE_CYCLED, cycled_ms, 1000),
		tick_of(PFS_PACE_QUIET, quiet_ms, 500),
		tick_of(PFS_PACE_CYCLED, cycled_ms, 1000),
	};
	struct pfs_refault_sums sums = { 0 };

	for (int i = 0; i < 4; i++)
		pfs_refault_sum(&sums, &ticks[i]);
	assert_int_equal(sums.nr_cycles, 4);
	assert_int_equal(sums.nr[PFS_PACE_QUIET], 1);
	return pfs_refault_slowdown(&sums);
}

static void slower_than_when_left_alone(void **state)
{
	assert_true(slowdown_of(500, 500) == 2); /* half of the time instead of all of it */
	assert_true(slowdown_of(1000, 500) == 1);
	assert_true(slowdown_of(1000, 99) == 0); /* of too little */
	assert_true(slowdown_of(49, 500) == 0);
}

static void the_cost_in_words(void **state)
{
	struct pfs_refault_tick tick = tick_of(PFS_PACE_CYCLED, 400, 1000), quiet = tick_of(PFS_PACE_QUIET, 800, 1000);
	struct pfs_refault_sums sums = { 0 };
	char text[PFS_REFAULT_TEXT_MAX];

	pfs_refault_sum(&sums, &tick);
	pfs_refault_cost_text(text, PFS_REFAULT_PAGEOUT, &sums);
	assert_string_equal(text,
			    "  looked at   1000 pages in memory, in 1 cycle\n"
			    "  put out     900; not 80 that other processes have mapped; not 20 locked or a device's\n"
			    "              (pages that others have mapped: only --refault-by=hide)\n"
			    "  time spent  1.23 ms of 1 s; 3 intervals were skipped\n"
			    "  came back   950.0 faults an interval\n"
			    "  slower by   not known (no interval was left alone)\n");
	sums.pages.shared = 0;
	pfs_refault_cost_text(text, PFS_REFAULT_IDLE, &sums);
	assert_string_equal(text, "  looked at   1020 pages in memory, in 1 look; 20 not watched (too many)\n"
				  "  time spent  1.23 ms of 1 s; 3 intervals were skipped\n");
	pfs_refault_cost_text(text, PFS_REFAULT_SOFT_DIRTY, &sums);
	assert_non_null(strstr(text, "  marked      1000 pages in memory as not written, in 1 cycle\n"));
	quiet.cycle = false;
	quiet.faults = 3;
	quiet.pages = (struct pfs_pageout){ 0 };
	pfs_refault_sum(&sums, &quiet);
	pfs_refault_cost_text(text, PFS_REFAULT_PAGEOUT, &sums);
	assert_non_null(strstr(text, "  came back   950.0 faults an interval; 3.0 in the 1 without cycles\n"
				     "  slower by   a factor of 2.0, or more\n"));
	memset(&sums, 0xff, sizeof(sums)); /* whatever a recording says */
	pfs_refault_cost_text(text, PFS_REFAULT_PAGEOUT, &sums);
	assert_true(strlen(text) < sizeof(text) - 1);
}

/* ---- smaps ---- */

struct seen {
	struct pfs_smap regions[8];
	char names[8][64];
	unsigned int nr;
	int ret;
};

static int see(void *ctx, const struct pfs_smap *region)
{
	struct seen *seen = ctx;

	snprintf(seen->names[seen->nr], sizeof(seen->names[0]), "%s", region->name);
	seen->regions[seen->nr++] = *region;
	return seen->ret;
}

static int read_text(const char *text, struct seen *seen)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	int ret = pfs_smaps_read(f, see, seen);

	fclose(f);
	return ret;
}

static const char smaps[] =
	"55e4b0c00000-55e4b0c21000 rw-p 00000000 00:00 0                          [heap]\n"
	"Size:                132 kB\nKernelPageSize:        4 kB\nRss:                  64 kB\nPss:  60 kB\n"
	"Shared_Clean:          4 kB\nShared_Dirty:          8 kB\nPrivate_Dirty:        52 kB\n"
	"VmFlags: rd wr mr mw me ac sd \n"
	"7f0000000000-7f0000002000 r-xs 00001000 fe:00 1234567                    /a file: with Rss: 5 kB\n"
	"Rss:                   8 kB\nSomething_New:  7 kB\nVmFlags: rd ex lo sh \n"
	"7f0000003000-7f0000004000 ---p 00000000 00:00 0 \n"
	"Rss:                   0 kB\nVmFlags: mr mw me \n";

static void smaps_are_read(void **state)
{
	struct seen seen = { 0 };

	assert_int_equal(read_text(smaps, &seen), 0);
	assert_int_equal(seen.nr, 3);
	assert_int_equal(seen.regions[0].start, 0x55e4b0c00000);
	assert_int_equal(seen.regions[0].end, 0x55e4b0c21000);
	assert_int_equal(seen.regions[0].perms, PFS_PERM_R | PFS_PERM_W);
	assert_int_equal(seen.regions[0].resident, 65536);
	assert_int_equal(seen.regions[0].shared, 12288);
	assert_false(seen.regions[0].fixed);
	assert_string_equal(seen.names[0], "[heap]");
	assert_int_equal(seen.regions[1].perms, PFS_PERM_R | PFS_PERM_X | PFS_PERM_SHARED);
	assert_int_equal(seen.regions[1].off, 0x1000);
	assert_int_equal(seen.regions[1].dev, 0xfe << 20);
	assert_int_equal(seen.regions[1].ino, 1234567);
	assert_int_equal(seen.regions[1].resident, 8192);
	assert_int_equal(seen.regions[1].shared, 0);
	assert_true(seen.regions[1].fixed);
	assert_string_equal(seen.names[1], "/a file: with Rss: 5 kB");
	assert_string_equal(seen.names[2], "");
	assert_int_equal(seen.regions[2].resident, 0);
	assert_false(seen.regions[2].fixed);
}

static void reading_ends_when_told(void **state)
{
	struct seen seen = { .ret = -ECANCELED };

	assert_int_equal(read_text(smaps, &seen), -ECANCELED);
	assert_int_equal(seen.nr, 1);
	seen = (struct seen){ 0 };
	assert_int_equal(read_text("no line of smaps\nRss: 4 kB\n", &seen), 0);
	assert_int_equal(seen.nr, 0);
}

/* As of a process that has ended and was not waited for. */
static void no_region_is_no_process(void **state)
{
	FILE *f = fopen("/dev/null", "re");
	struct seen seen = { 0 };

	assert_int_equal(pfs_smaps_read(f, see, &seen), -ESRCH);
	fclose(f);
}

static int find_resident(void *ctx, const struct pfs_smap *region)
{
	char on_stack;

	return region->start <= (uintptr_t)&on_stack && (uintptr_t)&on_stack < region->end && region->resident;
}

/* This process's own: its stack is in memory. */
static void the_kernels_own(void **state)
{
	FILE *f = fopen("/proc/self/smaps", "re");

	assert_non_null(f);
	assert_int_equal(pfs_smaps_read(f, find_resident, NULL), 1);
	fclose(f);
}

static int make_root(void **state)
{
	static const char *const dirs[] = {
		"/proc",
		"/proc/self",
		"/proc/sys",
		"/proc/sys/kernel",
		"/sys",
		"/sys/devices",
		"/sys/devices/system",
		"/sys/devices/system/node",
		"/sys/kernel",
		"/sys/kernel/mm",
		"/sys/kernel/mm/damon",
		"/sys/kernel/mm/damon/admin",
		PFS_DAMON_DIR,
	};
	char path[256];

	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, dirs[i]);
		if (mkdir(path, 0700))
			return -1;
	}
	return 0;
}

static int remove_root(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_system_is_read),	     cmocka_unit_test(the_method_is_what_there_is),
		cmocka_unit_test(what_is_missing_is_said),   cmocka_unit_test(a_tick_comes_back),
		cmocka_unit_test(what_is_no_tick_is_none),   cmocka_unit_test(how_comes_back),
		cmocka_unit_test(what_became_of_it_is_said), cmocka_unit_test(slower_than_when_left_alone),
		cmocka_unit_test(the_cost_in_words),	     cmocka_unit_test(smaps_are_read),
		cmocka_unit_test(no_region_is_no_process),   cmocka_unit_test(reading_ends_when_told),
		cmocka_unit_test(the_kernels_own),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
