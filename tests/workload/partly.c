/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that populate a part of what they are asked for, and the pages that are present afterwards.
 *
 *     partly file-map       64 pages of a file that has 2: MAP_POPULATE, shared
 *     partly madv-hole      MADV_POPULATE_WRITE over a range with a hole, which fails there
 *
 * and more (the table below). It prints a character for each page from /proc/self/pagemap: 1 present, 0 absent.
 */
#include "workload.h"

#include <linux/capability.h>
#include <sys/shm.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif
#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif
#define GUARD_INSTALL 102

#define RW    (PROT_READ | PROT_WRITE)
#define ANON  (MAP_PRIVATE | MAP_ANONYMOUS)
#define PAGES 64
#define LEN   (PAGES * WL_PAGE)

static const char *self;

static char *map(void *at, size_t len, int prot, int flags, int fd)
{
	char *start = mmap(at, len, prot, flags, fd, 0);

	if (start == MAP_FAILED)
		wl_die("mmap");
	return start;
}

/* A file of that many pages, in the page cache. */
static int file_of(long pages)
{
	return wl_file(pages, 1, pages);
}

static int memfd_of(long pages)
{
	int fd = syscall(SYS_memfd_create, "partly", 0);

	if (fd < 0 || ftruncate(fd, pages * WL_PAGE))
		wl_die("memfd_create");
	return fd;
}

static char *anon(void)
{
	return map(NULL, LEN, RW, ANON, -1);
}

/* What fails is meant to. */
static char *fails(char *start, int ret)
{
	if (!ret)
		wl_die("the call was to fail");
	errno = 0;
	return start;
}

static char *works(char *start, int ret)
{
	if (ret)
		wl_die("the call was to succeed");
	return start;
}

/* ---- the end of a file ---- */

static char *file_map(void)
{
	return map(NULL, LEN, PROT_READ, MAP_SHARED | MAP_POPULATE, file_of(2));
}

static char *file_private(void)
{
	return map(NULL, LEN, RW, MAP_PRIVATE | MAP_POPULATE, file_of(2));
}

static char *file_around(void)
{
	return map(NULL, LEN, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file_of(21));
}

static char *file_whole(void)
{
	return map(NULL, LEN, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file_of(PAGES));
}

static char *file_locked(void)
{
	return map(NULL, LEN, RW, MAP_SHARED | MAP_LOCKED, file_of(2));
}

static char *file_future(void)
{
	if (mlockall(MCL_FUTURE))
		wl_die("mlockall");
	return map(NULL, LEN, RW, MAP_SHARED, file_of(2));
}

static char *file_current(void)
{
	char *start = map(NULL, LEN, RW, MAP_SHARED, file_of(2));

	return works(start, mlockall(MCL_CURRENT));
}

static char *memfd_map(void)
{
	return map(NULL, LEN, RW, MAP_SHARED | MAP_POPULATE, memfd_of(2));
}

static char *shared_map(void)
{
	return map(NULL, LEN, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1);
}

static char *none_map(void)
{
	return map(NULL, LEN, PROT_NONE, ANON | MAP_POPULATE, -1);
}

/* ---- mremap of what is locked ---- */

/* The upper half of the room becomes free; of the lower half, which is mapped with these flags, two pages are touched. */
static char *half(int flags)
{
	char *start = anon();

	munmap(start, LEN);
	map(start, LEN / 2, RW, ANON | MAP_FIXED | flags, -1);
	wl_touch_write(start, 2);
	return start;
}

static char *grow(char *start, int flags)
{
	char *to = mremap(start, LEN / 2, LEN, flags);

	if (to == MAP_FAILED)
		wl_die("mremap");
	return to;
}

static char *grow_locked(void)
{
	char *start = half(0);

	return grow(works(start, mlock(start, LEN / 2)), 0);
}

static char *grow_moved(void)
{
	char *start = half(0);

	map(start + LEN / 2, WL_PAGE, PROT_NONE, ANON | MAP_FIXED, -1);
	return grow(works(start, mlock(start, LEN / 2)), MREMAP_MAYMOVE);
}

static char *grow_mapped(void)
{
	return grow(half(MAP_LOCKED), 0);
}

static char *grow_all(void)
{
	char *start = half(0);

	return grow(works(start, mlockall(MCL_CURRENT)), 0);
}

static char *grow_future(void)
{
	if (mlockall(MCL_FUTURE))
		wl_die("mlockall");
	return grow(half(0), 0);
}

static char *grow_onfault(void)
{
	char *start = half(0);

	return grow(works(start, syscall(SYS_mlock2, start, LEN / 2, MLOCK_ONFAULT)), 0);
}

static char *grow_all_onfault(void)
{
	char *start = half(0);

	return grow(works(start, mlockall(MCL_CURRENT | MCL_ONFAULT)), 0);
}

static char *grow_unlocked(void)
{
	char *start = half(0);

	works(start, mlock(start, LEN / 2));
	return grow(works(start, munlock(start, LEN / 2)), 0);
}

static char *grow_all_unlocked(void)
{
	char *start = half(0);

	works(start, mlockall(MCL_CURRENT | MCL_FUTURE));
	return grow(works(start, munlockall()), 0);
}

static char *grow_file(void)
{
	char *start = half(0);

	map(start, LEN / 2, RW, MAP_SHARED | MAP_FIXED, file_of(PAGES / 2 + 3));
	return grow(works(start, mlock(start, LEN / 2)), 0);
}

/* Locks are not inherited. What the parent makes is not looked at. */
static char *grow_forked(void)
{
	char *start = half(0);
	pid_t child;

	works(start, mlockall(MCL_CURRENT | MCL_FUTURE));
	child = fork();
	if (child > 0) {
		waitpid(child, NULL, 0);
		_exit(0);
	}
	return grow(start, 0);
}

/* Nor do they survive an exec. */
static char *exec_future(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		wl_die("mlockall");
	execl(self, self, "exec-anon", NULL);
	wl_die("exec");
	return NULL;
}

static char *shm_future(void)
{
	int id = shmget(IPC_PRIVATE, LEN, IPC_CREAT | 0600);
	char *start;

	if (id < 0 || mlockall(MCL_FUTURE))
		wl_die("shmget, mlockall");
	start = shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	return start;
}

/* ---- calls that fail half-way ---- */

static char *madv_hole(void)
{
	char *start = anon();

	munmap(start + 20 * WL_PAGE, WL_PAGE);
	return fails(start, madvise(start, LEN, MADV_POPULATE_WRITE));
}

static char *madv_readonly(void)
{
	char *start = anon();

	mprotect(start + 20 * WL_PAGE, WL_PAGE, PROT_READ);
	return fails(start, madvise(start, LEN, MADV_POPULATE_WRITE));
}

static char *madv_none(void)
{
	char *start = anon();

	mprotect(start + 20 * WL_PAGE, WL_PAGE, PROT_NONE);
	return fails(start, madvise(start, LEN, MADV_POPULATE_READ));
}

static char *madv_file(void)
{
	char *start = map(NULL, LEN, RW, MAP_SHARED, file_of(20));

	return fails(start, madvise(start, LEN, MADV_POPULATE_WRITE));
}

static char *madv_unaligned(void)
{
	char *start = anon();

	return fails(start, madvise(start + 1, LEN / 2, MADV_POPULATE_WRITE));
}

static char *mlock_hole(void)
{
	char *start = anon();

	munmap(start + 20 * WL_PAGE, WL_PAGE);
	return fails(start, mlock(start, LEN));
}

static char *mlock_none(void)
{
	char *start = anon();

	mprotect(start + 20 * WL_PAGE, WL_PAGE, PROT_NONE);
	return fails(start, mlock(start, LEN));
}

static char *mlock_file(void)
{
	char *start = map(NULL, LEN, RW, MAP_SHARED, file_of(20));

	return fails(start, mlock(start, LEN));
}

static void lower_limit(void)
{
	struct rlimit limit = { 4 * WL_PAGE, 4 * WL_PAGE };
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { 0 };

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || syscall(SYS_capset, &header, none))
		wl_die("setrlimit, capset");
}

static char *mlock_limit(void)
{
	char *start = anon();

	lower_limit();
	return fails(start, mlock(start, LEN));
}

static char *limit_none(void)
{
	char *start = anon();

	mprotect(start + 20 * WL_PAGE, WL_PAGE, PROT_NONE);
	lower_limit();
	return fails(start, mlock(start, LEN));
}

static char *guard(void)
{
	char *start = anon();

	if (madvise(start + 20 * WL_PAGE, WL_PAGE, GUARD_INSTALL))
		wl_skip("this kernel has no guard pages");
	return fails(start, madvise(start, LEN, MADV_POPULATE_WRITE));
}

/* ---- */

static const struct {
	const char *name;
	char *(*fn)(void);
} modes[] = {
	{ "file-map", file_map },
	{ "file-private", file_private },
	{ "file-around", file_around },
	{ "file-whole", file_whole },
	{ "file-locked", file_locked },
	{ "file-future", file_future },
	{ "file-current", file_current },
	{ "memfd-map", memfd_map },
	{ "shared-map", shared_map },
	{ "none-map", none_map },
	{ "grow-locked", grow_locked },
	{ "grow-moved", grow_moved },
	{ "grow-mapped", grow_mapped },
	{ "grow-all", grow_all },
	{ "grow-future", grow_future },
	{ "grow-onfault", grow_onfault },
	{ "grow-all-onfault", grow_all_onfault },
	{ "grow-unlocked", grow_unlocked },
	{ "grow-all-unlocked", grow_all_unlocked },
	{ "grow-file", grow_file },
	{ "grow-forked", grow_forked },
	{ "exec-anon", anon },
	{ "exec-future", exec_future },
	{ "shm-future", shm_future },
	{ "madv-hole", madv_hole },
	{ "madv-readonly", madv_readonly },
	{ "madv-none", madv_none },
	{ "madv-file", madv_file },
	{ "madv-unaligned", madv_unaligned },
	{ "mlock-hole", mlock_hole },
	{ "mlock-none", mlock_none },
	{ "mlock-file", mlock_file },
	{ "mlock-limit", mlock_limit },
	{ "limit-none", limit_none },
	{ "guard", guard },
};

static void print_present(const char *start)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry[PAGES];

	if (fd < 0 || pread(fd, entry, sizeof(entry), (uintptr_t)start / WL_PAGE * 8) != sizeof(entry))
		wl_die("pagemap");
	printf("present=");
	for (int i = 0; i < PAGES; i++)
		putchar('0' + (int)(entry[i] >> 63));
	printf("\npid=%d\nstart=%lx\nend=%lx\n", getpid(), (unsigned long)start, (unsigned long)(start + LEN));
}

int main(int argc, char **argv)
{
	self = argv[0];
	for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
		print_present(modes[i].fn());
		return 0;
	}
	wl_usage("partly MODE (see the table at the end of tests/workload/partly.c)");
}
