/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a recording of any size and shape, as pfscope itself would have written it: a trace.dat of page faults,
 * with the layouts and tasks in pfscope's own records. What it holds follows from the options alone. No root.
 *
 *     dat_make OUT [faults=N] [pages=N] [regions=N] [procs=N] [threads=N] [cpus=N] [burst=N]
 *              [order=up|down|hop|random]
 *
 * pages, regions and threads are those of each process. Each thread in turn has a burst of faults. A process
 * touches its pages one after the other, again and again; with order=hop each next one is in another region, with
 * order=random any of them.
 * Regions are mapped upwards, or with order=down downwards, as the kernel does.
 */
#include "support/dat_forge.h"

#include "base/write_all.h"
#include "dat/dat.h"
#include "record/pfscope_records.h"

#include <errno.h>
#include <fcntl.h>

enum { MAX_CPUS = 64, PAGE_SIZE = 4096 };
#define BASE UINT64_C(0x10000000000)

static struct shape {
	uint64_t faults, pages, regions, procs, threads, cpus, burst;
	bool down, hop, random;
} shape = { .faults = 1000, .pages = 100, .regions = 1, .procs = 1, .threads = 1, .cpus = 1, .burst = 64 };

static const struct {
	const char *name;
	uint64_t *value;
} numbers[] = {
	{ "faults=", &shape.faults }, { "pages=", &shape.pages },     { "regions=", &shape.regions },
	{ "procs=", &shape.procs },   { "threads=", &shape.threads }, { "cpus=", &shape.cpus },
	{ "burst=", &shape.burst },
};

static void die(const char *what)
{
	fprintf(stderr, "dat_make: %s\n", what);
	exit(1);
}

static void check(int ret, const char *what)
{
	if (ret < 0)
		die(what);
}

static void usage(void)
{
	fprintf(stderr, "usage: dat_make OUT [faults=N] [pages=N] [regions=N] [procs=N] [threads=N] [cpus=N] "
			"[burst=N] [order=up|down|hop|random]\n");
	exit(2);
}

static void parse(const char *arg)
{
	char *rest;

	if (!strcmp(arg, "order=down"))
		shape.down = true;
	else if (!strcmp(arg, "order=hop"))
		shape.hop = true;
	else if (!strcmp(arg, "order=random"))
		shape.random = true;
	else if (strcmp(arg, "order=up")) {
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
			size_t len = strlen(numbers[i].name);

			if (strncmp(arg, numbers[i].name, len))
				continue;
			*numbers[i].value = strtoull(arg + len, &rest, 10);
			if (!*rest && *numbers[i].value)
				return;
		}
		usage();
	}
}

static uint64_t pages_per_region(void)
{
	return (shape.pages + shape.regions - 1) / shape.regions;
}

static uint64_t region_start(uint64_t i)
{
	return BASE + i * (pages_per_region() + 1) * PAGE_SIZE;
}

/* The finalizer of splitmix64. */
static uint64_t mixed(uint64_t n)
{
	n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
	n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ^ n >> 31;
}

/* Where a process's nth fault is. */
static uint64_t fault_addr(uint64_t n)
{
	uint64_t each = pages_per_region(), page = (shape.random ? mixed(n) : n) % shape.pages;
	uint64_t region = shape.hop ? page % shape.regions : page / each;
	uint64_t in = shape.hop ? page / shape.regions : page % each;

	return region_start(region) + in * PAGE_SIZE;
}

static int32_t pid_of(uint64_t proc)
{
	return 1000 + proc * shape.threads;
}

/* ---- pfscope's own records ---- */

static struct raw_event own_event(enum raw_kind kind, int32_t tid, const char *str)
{
	static uint64_t now_ns = (UINT64_C(1) << 40) - 1000000000;
	struct raw_event ev = { .ts_ns = now_ns++, .kind = kind, .tid = tid, .str = str };

	return ev;
}

static void own_task(const struct pfs_records *own, struct pfs_ringwrite *w, int32_t tid, int32_t pid)
{
	struct raw_event ev = own_event(RAW_PFS_TASK, tid, "made");

	ev.arg[0] = tid;
	ev.arg[1] = pid;
	check(pfs_records_write(own, w, &ev), "cannot write a task");
}

static void own_map(const struct pfs_records *own, struct pfs_ringwrite *w, int32_t pid, uint64_t region)
{
	struct raw_event ev = own_event(RAW_PFS_MAP, pid, "//anon");
	uint64_t start = region_start(region);
	uint64_t args[] = { start, start + pages_per_region() * PAGE_SIZE, 0, 0, 0, 3, 0x22, PFS_MAP_SIDEBAND };

	memcpy(ev.arg, args, sizeof(args));
	check(pfs_records_write(own, w, &ev), "cannot write a mapping");
}

static int own_stream(const struct pfs_records *own, const struct pfs_formats *f)
{
	static const char *const notes[] = {
		"pfscope=made",
		"machine=x86_64",
		"page_size=4096",
		"sideband=mmap2",
	};
	int fd = pfs_temp_open(NULL);
	struct pfs_ringwrite *w = pfs_ringwrite_new(fd, &f->ring, PAGE_SIZE);

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		struct raw_event ev = own_event(RAW_PFS_NOTE, 1, notes[i]);

		check(pfs_records_write(own, w, &ev), "cannot write a note");
	}
	for (uint64_t p = 0; p < shape.procs; p++) {
		for (uint64_t t = 0; t < shape.threads; t++)
			own_task(own, w, pid_of(p) + t, pid_of(p));
		for (uint64_t r = 0; r < shape.regions; r++)
			own_map(own, w, pid_of(p), shape.down ? shape.regions - 1 - r : r);
	}
	check(pfs_ringwrite_flush(w), "cannot write");
	pfs_ringwrite_free(w);
	return fd;
}

/* ---- the kernel's ---- */

static void write_faults(struct pfs_ringwrite *const *w)
{
	uint64_t *nth = calloc(shape.procs, sizeof(*nth)), ts = UINT64_C(1) << 40;
	uint64_t tasks = shape.procs * shape.threads;
	uint8_t r[32] = { 0 };

	if (!nth)
		die("no memory");
	pfs_store16(r, FORGE_FAULT, false);
	pfs_store64(r + 24, 6, false);
	for (uint64_t i = 0; i < shape.faults; i++) {
		uint64_t task = i / shape.burst % tasks, proc = task % shape.procs;

		pfs_store32(r + 4, pid_of(proc) + task / shape.procs, false);
		pfs_store64(r + 8, fault_addr(nth[proc]++), false);
		pfs_store64(r + 16, 0x401000 + i % 64, false);
		ts += 500;
		check(pfs_ringwrite_append(w[task % shape.cpus], ts, r, sizeof(r)), "cannot write a fault");
	}
	free(nth);
}

static struct pfs_formats *formats(struct pfs_records *own)
{
	struct forge forge = { .long_size = 8 };
	struct pfs_formats *f = pfs_formats_new_host();
	char *page = forge_header_page(&forge), *fault = forge_format(FORGE_FAULT, 8);

	if (!f || pfs_formats_set_header_page(f, page, strlen(page), NULL) ||
	    pfs_formats_add(f, "exceptions", fault, strlen(fault)) < 0 || pfs_records_init(own, f))
		die("no formats");
	free(page);
	free(fault);
	return f;
}

int main(int argc, char **argv)
{
	struct pfs_dat_task task = { 1000, "made" };
	struct pfs_dat_content content = {
		.page_size = PAGE_SIZE,
		.clock = "mono",
		.uname = "Linux 6.18.0 x86_64",
		.tasks = &task,
		.nr_tasks = 1,
	};
	struct pfs_ringwrite *w[MAX_CPUS];
	struct pfs_err err = { "" };
	struct pfs_records own;
	int spools[MAX_CPUS], out;

	if (argc < 2 || argv[1][0] == '-')
		usage();
	for (int i = 2; i < argc; i++)
		parse(argv[i]);
	if (shape.cpus > MAX_CPUS)
		usage();
	content.formats = formats(&own);
	content.own_fd = own_stream(&own, content.formats);
	content.spool_fds = spools;
	content.nr_cpus = shape.cpus;
	for (uint64_t i = 0; i < shape.cpus; i++) {
		spools[i] = pfs_temp_open(&err);
		w[i] = pfs_ringwrite_new(spools[i], &content.formats->ring, PAGE_SIZE);
		if (!w[i])
			die(err.msg);
	}
	write_faults(w);
	for (uint64_t i = 0; i < shape.cpus; i++) {
		check(pfs_ringwrite_flush(w[i]), "cannot write");
		pfs_ringwrite_free(w[i]);
	}
	out = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (out < 0)
		die(strerror(errno));
	check(pfs_dat_write(out, &content, &err), err.msg);
	pfs_formats_free((struct pfs_formats *)content.formats);
	return 0;
}
