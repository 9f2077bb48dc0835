/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that fault-around maps, and what happens to them: how many faults does the kernel count?
 *
 *     offered         "KIND START PID FAULTS" for each kind: faults of this process on 64 pages at START (hexadecimal), or
 *                     where they are moved to, up to 1 GB behind
 *
 * Each kind has a process. It does everything at another address first, so that what it counts are faults on these pages.
 */
#include "workload.h"

#define PAGES  64
#define AROUND 16 /* pages that one fault maps */
#define BASE   0x300000000UL
#define APART  0x40000000UL
#define WARM   0x1000000000UL

struct count {
	long pid, faults;
};

static struct count *found; /* shared */
static int file, memory;

static long faults(void)
{
	struct rusage usage;

	/* The first time may be a fault. */
	getrusage(RUSAGE_SELF, &usage);
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static void map(char *at, int fd, int flags)
{
	if (mmap(at, PAGES * WL_PAGE, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0) != at)
		wl_die("mmap");
}

/* Pages `first`, `first` + `step` ... */
static void read_pages(char *at, int first, int step)
{
	for (volatile char *p = at; first < PAGES; first += step)
		(void)p[first * WL_PAGE];
}

static void write_pages(char *at, int first, int step)
{
	for (volatile char *p = at; first < PAGES; first += step)
		p[first * WL_PAGE] = 1;
}

/* All pages, but one after another of each window. */
static void read_all(char *at)
{
	for (int first = 0; first < AROUND; first++)
		read_pages(at, first, AROUND);
}

static void private_read(char *at)
{
	map(at, file, MAP_PRIVATE);
	read_all(at);
	read_all(at);
}

static void read_and_write(char *at, int fd, int flags)
{
	map(at, fd, flags);
	read_pages(at, 3, AROUND);
	write_pages(at, 0, 2);
	read_all(at);
	write_pages(at, 0, 1);
}

static void private_write(char *at)
{
	read_and_write(at, file, MAP_PRIVATE);
}

static void shared_write(char *at)
{
	read_and_write(at, file, MAP_SHARED);
}

static void memory_write(char *at)
{
	read_and_write(at, memory, MAP_SHARED);
}

static void dropped(char *at)
{
	map(at, file, MAP_PRIVATE);
	read_pages(at, 3, AROUND);
	if (madvise(at, PAGES / 2 * WL_PAGE, MADV_DONTNEED))
		wl_die("madvise");
	read_all(at);
}

static void replaced(char *at)
{
	map(at, file, MAP_PRIVATE);
	read_pages(at, 3, AROUND);
	map(at, file, MAP_PRIVATE);
	read_pages(at, 1, AROUND);
}

static void moved(char *at)
{
	char *to = at + APART / 2;

	map(at, file, MAP_PRIVATE);
	read_pages(at, 3, AROUND);
	if (mremap(at, PAGES * WL_PAGE, PAGES * WL_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		wl_die("mremap");
	read_all(to);
}

/* By another process, whose faults they are: one page of each window. */
static void reach(char *at, pid_t of)
{
	static char byte;
	struct iovec local = { &byte, 1 }, remote = { at, 1 };

	for (int i = 0; i < PAGES; i += AROUND) {
		remote.iov_base = at + i * WL_PAGE;
		if (process_vm_readv(of, &local, 1, &remote, 1, 0) != 1)
			_exit(1);
	}
	_exit(0);
}

static void reached(char *at)
{
	pid_t me = getpid(), other;
	int status;

	map(at, file, MAP_PRIVATE);
	other = fork();
	if (!other)
		reach(at, me);
	if (other < 0 || waitpid(other, &status, 0) != other || status)
		wl_die("the other process");
	found->faults = -faults();
	read_all(at);
}

/* A child begins with what its parent has mapped, if that has written. Its faults are counted. */
static void forked(char *at, int write)
{
	pid_t child;

	map(at, file, MAP_PRIVATE);
	if (write)
		write_pages(at, 5, AROUND);
	read_pages(at, 3, AROUND);
	child = fork();
	if (!child) {
		found->pid = getpid();
		found->faults = -faults();
		read_all(at);
		found->faults += faults();
		_exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		wl_die("the child");
}

static void forked_read(char *at)
{
	forked(at, 0);
}

static void forked_written(char *at)
{
	forked(at, 1);
}

static const struct {
	const char *name;
	void (*run)(char *at);
} kinds[] = {
	{ "private-read", private_read },
	{ "private-write", private_write },
	{ "shared-write", shared_write },
	{ "memory-write", memory_write },
	{ "dropped", dropped },
	{ "replaced", replaced },
	{ "moved", moved },
	{ "reached", reached },
	{ "forked-read", forked_read },
	{ "forked-written", forked_written },
};

int main(void)
{
	found = mmap(NULL, WL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memory = memfd_create("offered", MFD_CLOEXEC);
	if (found == MAP_FAILED || memory < 0)
		wl_die("memory");
	file = wl_file(PAGES, 7, 1);
	wl_fill(memory, PAGES, 7, 1);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char *at = (char *)(BASE + i * APART);
		pid_t child = fork();

		if (!child) {
			kinds[i].run(at + WARM);
			found->pid = getpid();
			found->faults = -faults();
			kinds[i].run(at);
			if (found->pid == getpid())
				found->faults += faults();
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			wl_die("fork");
		printf("%s %lx %ld %ld\n", kinds[i].name, (unsigned long)at, found->pid, found->faults);
	}
	return 0;
}
