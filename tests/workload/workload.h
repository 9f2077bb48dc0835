/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the workloads share: counting a section of a program as the kernel counts it, and printing
 * it as key=value lines. A header and not a library, so that each workload stays one compilation.
 *
 * A section runs twice: once small, to fault in the code and the stack that it needs, then between
 * wl_begin() and wl_end() for the record. Nothing in between may touch memory of its own.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WL_UNUSED  __attribute__((unused))
#define WL_PAGE	   ((size_t)4096)
#define WL_HUGE	   ((size_t)2 << 20)
#define WL_UNKNOWN (-1L) /* not exact: depends on more than the number of pages */
#define WL_NR_PERF 3

/* What the kernel counted for this process up to a moment. */
struct wl_count {
	uint64_t t_ns;			 /* CLOCK_MONOTONIC */
	long cpu_us;			 /* of the processor, children that were waited for included */
	long minflt, majflt;		 /* rusage of the process */
	long child_minflt, child_majflt; /* rusage of its children that were waited for */
	uint64_t perf[WL_NR_PERF];	 /* page-faults, minor-faults, major-faults, with children */
};

/* What the kernel is known to count for the section; exceptions are those inside [start, end). */
struct wl_expect {
	long user, kernel; /* exceptions:page_fault_user, page_fault_kernel */
	long perf_faults, perf_minor;
	long minflt;
};

struct wl {
	const char *kind;
	long pages;
	char *start, *end; /* the memory that the section is about */
	struct wl_count before, after;
	struct wl_expect expect;
	int perf_fd[WL_NR_PERF];
	const char *perf; /* all, user (no right to count in kernel mode) or none */
};

static WL_UNUSED void wl_die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, err ? ": %s\n" : "\n", strerror(err));
	exit(1);
}

/* What the machine does not have: exit status 77. */
static WL_UNUSED void wl_skip(const char *why)
{
	printf("skipped: %s\n", why);
	exit(77);
}

static WL_UNUSED void wl_usage(const char *text)
{
	fprintf(stderr, "usage: %s\n", text);
	exit(2);
}

/* Whether `word` is one of the words of "a|b|c". */
static WL_UNUSED int wl_one_of(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *w = words; w; w = strchr(w, '|')) {
		w += *w == '|';
		if (!strncmp(w, word, len) && (w[len] == '|' || !w[len]))
			return len > 0;
	}
	return 0;
}

/* The end of the program, unless the number of arguments is right and the mode one of `modes`. */
static WL_UNUSED void wl_check_args(int argc, int min, int max, const char *name, const char *modes, const char *mode)
{
	if (argc - 1 >= min && argc - 1 <= max && wl_one_of(modes, mode))
		return;
	fprintf(stderr, "usage: %s [%s]\n", name, modes);
	exit(2);
}

/* A number from 0 to max, or the end of the program. */
static WL_UNUSED long wl_number(const char *text, long max)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < 0 || n > max) {
		errno = 0;
		wl_die("not a number from 0 to %ld: %s", max, text);
	}
	return n;
}

static WL_UNUSED uint64_t wl_now_ns(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Counts all threads that start, and all children that are forked, after wl_init(). */
static int wl_open_perf(unsigned int config, int exclude_kernel)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.inherit = 1,
		.exclude_kernel = exclude_kernel,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static long wl_cpu_us(const struct rusage *r)
{
	return (r->ru_utime.tv_sec + r->ru_stime.tv_sec) * 1000000 + r->ru_utime.tv_usec + r->ru_stime.tv_usec;
}

static void wl_read(const struct wl *wl, struct wl_count *count)
{
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	count->minflt = self.ru_minflt;
	count->majflt = self.ru_majflt;
	count->child_minflt = children.ru_minflt;
	count->child_majflt = children.ru_majflt;
	count->cpu_us = wl_cpu_us(&self) + wl_cpu_us(&children);
	for (int i = 0; i < WL_NR_PERF; i++)
		if (read(wl->perf_fd[i], &count->perf[i], sizeof(count->perf[i])) < 0)
			count->perf[i] = 0;
}

static WL_UNUSED void wl_begin(struct wl *wl)
{
	wl_read(wl, &wl->before);
	wl->before.t_ns = wl_now_ns();
}

static WL_UNUSED void wl_end(struct wl *wl)
{
	wl->after.t_ns = wl_now_ns();
	wl_read(wl, &wl->after);
}

/*
 * The expectation starts as "unknown" all over. Static storage: its pages are touched here. No huge
 * pages in this process from now on: they would make the number of faults the machine's choice.
 */
static WL_UNUSED void wl_init(struct wl *wl, const char *kind)
{
	static const unsigned int configs[WL_NR_PERF] = {
		PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_PAGE_FAULTS_MIN,
		PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	};

	memset(wl, 0, sizeof(*wl));
	wl->kind = kind;
	wl->expect = (struct wl_expect){ WL_UNKNOWN, WL_UNKNOWN, WL_UNKNOWN, WL_UNKNOWN, WL_UNKNOWN };
	wl->perf = "all";
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	for (int i = 0; i < WL_NR_PERF; i++) {
		wl->perf_fd[i] = wl_open_perf(configs[i], 0);
		if (wl->perf_fd[i] < 0) {
			wl->perf_fd[i] = wl_open_perf(configs[i], 1);
			wl->perf = wl->perf_fd[i] < 0 ? "none" : "user";
		}
	}
	wl_begin(wl);
	wl_end(wl);
}

static void wl_print_expected(const char *name, long value)
{
	if (value != WL_UNKNOWN)
		printf("expect_%s=%ld\n", name, value);
}

/* The key=value lines. What has no exact truth is not printed as expected. */
static WL_UNUSED void wl_report(const struct wl *wl)
{
	const struct wl_count *b = &wl->before, *a = &wl->after;

	printf("kind=%s\npid=%d\npages=%ld\n", wl->kind, getpid(), wl->pages);
	printf("start=%#lx\nend=%#lx\n", (unsigned long)wl->start, (unsigned long)wl->end);
	printf("t0_ns=%llu\nt1_ns=%llu\n", (unsigned long long)b->t_ns, (unsigned long long)a->t_ns);
	printf("cpu_us=%ld\n", a->cpu_us - b->cpu_us);
	printf("minflt=%ld\nmajflt=%ld\n", a->minflt - b->minflt, a->majflt - b->majflt);
	printf("child_minflt=%ld\nchild_majflt=%ld\n", a->child_minflt - b->child_minflt,
	       a->child_majflt - b->child_majflt);
	printf("perf=%s\n", wl->perf);
	if (strcmp(wl->perf, "none"))
		printf("perf_faults=%lu\nperf_minor=%lu\nperf_major=%lu\n", a->perf[0] - b->perf[0],
		       a->perf[1] - b->perf[1], a->perf[2] - b->perf[2]);
	wl_print_expected("user", wl->expect.user);
	wl_print_expected("kernel", wl->expect.kernel);
	wl_print_expected("perf_faults", wl->expect.perf_faults);
	wl_print_expected("perf_minor", wl->expect.perf_minor);
	wl_print_expected("minflt", wl->expect.minflt);
}

/*
 * `pages` pages, 2 MiB aligned so that fault-around and huge pages fall the same way each time. The
 * pages around it stay reserved: no neighbour ever merges with it. MADV_NOHUGEPAGE is set.
 */
static WL_UNUSED char *wl_map(long pages, int prot, int flags, int fd)
{
	size_t len = pages * WL_PAGE;
	char *hole, *start, *p;

	hole = mmap(NULL, len + 3 * WL_HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (hole == MAP_FAILED)
		wl_die("cannot reserve %zu bytes", len + 3 * WL_HUGE);
	start = (char *)(((uintptr_t)hole + 2 * WL_HUGE - 1) & -WL_HUGE);
	p = mmap(start, len, prot, flags | MAP_FIXED, fd, 0);
	if (p == MAP_FAILED)
		wl_die("cannot map %ld pages", pages);
	madvise(p, len, MADV_NOHUGEPAGE);
	return p;
}

static WL_UNUSED char *wl_map_anon(long pages, int prot)
{
	return wl_map(pages, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

/* Writes `pages` pages of the byte `fill`, `chunk` (at most 64) pages a time. */
static WL_UNUSED void wl_fill(int fd, long pages, int fill, long chunk)
{
	static char block[64 * 4096];

	memset(block, fill, sizeof(block));
	for (long i = 0; i < pages; i += chunk) {
		size_t len = (pages - i < chunk ? pages - i : chunk) * WL_PAGE;

		if (write(fd, block, len) != (ssize_t)len)
			wl_die("cannot write a file of %ld pages", pages);
	}
}

/*
 * A file of `pages` pages, each byte `fill`, without a name any more; its pages are clean. In
 * $TMPDIR or /tmp: a file of a real file system where there is one. One page a write (chunk 1)
 * keeps each page cached by itself; with more, the file system may cache them as one large folio,
 * and since 6.18 one fault then maps all of it.
 */
static WL_UNUSED int wl_file(long pages, int fill, long chunk)
{
	static char path[4096];
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%s/workload-XXXXXX", dir ? dir : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		wl_die("cannot create %s", path);
	unlink(path);
	wl_fill(fd, pages, fill, chunk);
	if (fsync(fd))
		wl_die("cannot sync %s", path);
	return fd;
}

static WL_UNUSED void wl_touch_write(char *start, long pages)
{
	for (volatile char *p = start; pages-- > 0; p += WL_PAGE)
		*p = 1;
}

static WL_UNUSED void wl_touch_read(char *start, long pages)
{
	for (volatile char *p = start; pages-- > 0; p += WL_PAGE)
		(void)*p;
}

/*
 * Whether reads of anonymous memory get the zero page, by smaps, for which that page is not resident. Kernels for virtual
 * machines may have none.
 */
static WL_UNUSED int wl_has_zero_page(void)
{
	enum { NR_PAGES = 16 };
	char *pages = wl_map_anon(NR_PAGES, PROT_READ), line[256], start[32];
	FILE *smaps = fopen("/proc/self/smaps", "re");
	int found = 0, resident = -1;

	if (!smaps)
		wl_die("cannot read smaps");
	wl_touch_read(pages, NR_PAGES);
	snprintf(start, sizeof(start), "%lx-", (unsigned long)pages);
	while (resident < 0 && fgets(line, sizeof(line), smaps)) {
		found |= !strncmp(line, start, strlen(start));
		if (found)
			sscanf(line, "Rss: %d", &resident);
	}
	fclose(smaps);
	munmap(pages, NR_PAGES * WL_PAGE);
	return !resident;
}

#endif
