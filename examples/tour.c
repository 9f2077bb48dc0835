/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One region for each thing that pfscope tells apart, at addresses that are the same in every run.
 *
 *     sudo ./pfscope run --region '?00000000-*' -- build/examples/tour
 *
 * examples/README.md shows what comes out; examples/tour.events is a run that was recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PAGE	 4096ul
#define PAGES(n) ((n)*PAGE)
#define ANON	 (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#define RW	 (PROT_READ | PROT_WRITE)

static sigjmp_buf after_fault;

/* Region `nr` of the tour: at nr * 4 GiB. */
static volatile char *map_at(unsigned long nr, size_t nr_pages, int prot, int flags, int fd)
{
	void *at = mmap((void *)(nr << 32), PAGES(nr_pages), prot, flags | MAP_FIXED_NOREPLACE, fd, 0);

	if (at != (void *)(nr << 32)) {
		perror("tour: mmap");
		exit(1);
	}
	return at;
}

static void write_pages(volatile char *at, int first, int end, int step)
{
	for (int i = first; i < end; i += step)
		at[PAGES(i)] = 1;
}

static void read_pages(volatile char *at, int first, int end, int step)
{
	for (int i = first; i < end; i += step)
		(void)at[PAGES(i)];
}

/* A file in memory. The first page is code that returns at once. */
static int make_file(size_t nr_pages)
{
	static const unsigned char code[] = { 0xc3 }; /* x86: ret */
	int fd = memfd_create("tour", MFD_CLOEXEC);
	char *page = calloc(1, PAGE);

	memcpy(page, code, sizeof(code));
	for (size_t i = 0; i < nr_pages; i++)
		if (write(fd, page, PAGE) != (ssize_t)PAGE)
			exit(1);
	free(page);
	return fd;
}

static void on_signal(int sig)
{
	siglongjmp(after_fault, sig);
}

/* Reads what may not be read. */
static void trespass(volatile char *at)
{
	signal(SIGSEGV, on_signal);
	if (!sigsetjmp(after_fault, 1))
		(void)*at;
}

static void *paint(void *region)
{
	pthread_setname_np(pthread_self(), "painter");
	write_pages(region, 16, 32, 1);
	return NULL;
}

int main(void)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC), file = make_file(64);
	volatile char *at;
	pthread_t painter;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* or one touch would bring 512 pages */
	at = map_at(1, 32, RW, ANON, -1);
	write_pages(at, 0, 16, 1);
	pthread_create(&painter, NULL, paint, (void *)at);
	pthread_join(painter, NULL);
	at = map_at(2, 32, RW, ANON, -1);
	read_pages(at, 0, 32, 2);
	write_pages(at, 0, 8, 2);
	at = map_at(3, 32, RW, ANON, -1);
	if (read(zero, (void *)at, PAGES(20)) < 0)
		return 1;
	map_at(4, 32, RW, ANON | MAP_POPULATE, -1);
	at = map_at(5, 64, PROT_READ | PROT_EXEC, MAP_PRIVATE, file);
	read_pages(at, 40, 41, 1);
#ifdef __x86_64__
	((void (*)(void))at)();
#endif
	at = map_at(6, 32, RW, ANON, -1);
	write_pages(at, 0, 32, 4);
	mprotect((void *)(at + PAGES(24)), PAGES(8), PROT_NONE);
	trespass(at + PAGES(28));
	at = map_at(7, 16, RW, ANON, -1);
	write_pages(at, 4, 8, 1);
	munmap((void *)at, PAGES(16));
	at = map_at(8, 1ul << 28, RW, ANON, -1); /* 1 TiB */
	write_pages(at, 0, 2, 1);
	at[PAGES(1ul << 27)] = 1;
	return 0;
}
