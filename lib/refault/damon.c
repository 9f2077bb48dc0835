/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DAMON by its files in sysfs. See damon.h.
 */
#include "refault/damon.h"

#include "base/number.h"
#include "base/write_all.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CONTEXT "0/contexts/0"

/* More than there are pages: the kernel neither merges regions, as for too many, nor splits them, as for too few. */
#define MIN_REGIONS (1 << 21)
#define MAX_REGIONS (1 << 23)

static void rest_ms(unsigned int ms)
{
	const struct timespec rest = { .tv_nsec = ms * 1000000L };

	nanosleep(&rest, NULL);
}

/* The kernel refuses a write while another file is being written. */
static int put(const char *text, const char *file)
{
	char path[PATH_MAX];
	int ret = -EBUSY;

	snprintf(path, sizeof(path), PFS_DAMON_DIR "/%s", file);
	for (int i = 0; ret == -EBUSY && i < 20; i++) {
		if (i)
			rest_ms(10);
		ret = pfs_write_file(path, text);
	}
	return ret;
}

/* fmt and what follows: the file. */
__attribute__((format(printf, 2, 3))) static int put_number(uint64_t number, const char *fmt, ...)
{
	char text[32], file[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(file, sizeof(file), fmt, ap);
	va_end(ap);
	snprintf(text, sizeof(text), "%" PRIu64, number);
	return put(text, file);
}

/* -1: it cannot be read. */
static int64_t get_number(const char *file)
{
	char path[PATH_MAX], text[32];
	uint64_t nr;

	snprintf(path, sizeof(path), PFS_DAMON_DIR "/%s", file);
	if (pfs_read_file(path, text, sizeof(text)) <= 0 || !pfs_take_dec(&(const char *){ text }, INT64_MAX, &nr))
		return -1;
	return nr;
}

/* One check in each interval: was the page used in it? */
static int set_attributes(uint64_t interval_ns)
{
	return put_number(MAX_REGIONS, CONTEXT "/monitoring_attrs/nr_regions/max")
		?: put_number(MIN_REGIONS, CONTEXT "/monitoring_attrs/nr_regions/min")
		?: put_number(interval_ns / 1000, CONTEXT "/monitoring_attrs/intervals/sample_us")
		?: put_number(interval_ns / 1000, CONTEXT "/monitoring_attrs/intervals/aggr_us");
}

static int set_targets(unsigned int nr_targets)
{
	const uint64_t none[PFS_DAMON_WORDS] = { 0 };
	int ret = put_number(nr_targets, CONTEXT "/targets/nr_targets");

	for (unsigned int i = 0; !ret && i < nr_targets; i++)
		ret = pfs_damon_target(i, 0, 0, none);
	return ret;
}

int pfs_damon_up(struct pfs_damon *damon, uint64_t interval_ns, unsigned int nr_targets, struct pfs_err *err)
{
	int64_t nr = get_number("nr_kdamonds");
	int ret;

	if (nr < 0)
		return pfs_err_set(err, -ENOTSUP, "--refault by idle: " PFS_DAMON_DIR "/nr_kdamonds cannot be read");
	if (nr)
		return pfs_err_set(err, -EBUSY,
				   "--refault by idle: DAMON is in use (" PFS_DAMON_DIR "/nr_kdamonds is not 0)");
	damon->mine = true;
	ret = put_number(1, "nr_kdamonds") ?: put_number(1, "0/contexts/nr_contexts");
	if (!ret && put("fvaddr", CONTEXT "/operations"))
		return pfs_err_set(err, -ENOTSUP,
				   "--refault by idle: DAMON does not know ranges of address spaces here "
				   "(CONFIG_DAMON_VADDR, Linux 6.0)");
	ret = ret ?: set_attributes(interval_ns) ?: set_targets(nr_targets) ?: pfs_damon_start(damon);
	return ret ? pfs_err_set(err, ret, "--refault by idle: DAMON cannot be started: %s", strerror(-ret)) : 0;
}

int pfs_damon_target(unsigned int nr, pid_t pid, uint64_t start, const uint64_t pages[PFS_DAMON_WORDS])
{
	uint64_t page_size = sysconf(_SC_PAGESIZE);
	unsigned int nr_pages = 0, at = 0;
	int ret;

	for (int i = 0; i < PFS_DAMON_WORDS; i++)
		nr_pages += __builtin_popcountll(pages[i]);
	/* Even a target without pages needs a process that exists. */
	ret = put_number(pid ?: getpid(), CONTEXT "/targets/%u/pid_target", nr)
		      ?: put_number(nr_pages, CONTEXT "/targets/%u/regions/nr_regions", nr);
	for (unsigned int i = 0; !ret && i < PFS_DAMON_PAGES; i++) {
		if (!(pages[i / 64] >> i % 64 & 1))
			continue;
		ret = put_number(start + i * page_size, CONTEXT "/targets/%u/regions/%u/start", nr, at)
			      ?: put_number(start + (i + 1) * page_size, CONTEXT "/targets/%u/regions/%u/end", nr, at);
		at++;
	}
	return ret;
}

/* The writer waits in the kernel, uninterruptible, for the interval's end: so another process writes. */
int pfs_damon_commit(struct pfs_damon *damon, bool (*stop)(void *ctx), void *ctx)
{
	bool stopped = false;
	int status = 0;
	pid_t pid;

	damon->asked = true;
	pid = fork();
	if (!pid)
		_exit(-put("commit", "0/state"));
	if (pid < 0)
		return -errno;
	while (!waitpid(pid, &status, WNOHANG)) {
		if (!stopped && stop(ctx)) {
			stopped = true;
			put("off", "0/state"); /* it comes back then */
		}
		rest_ms(2);
	}
	damon->asked = false;
	if (stopped)
		return -ECANCELED;
	if (get_number("0/pid") != damon->tid)
		return -ESRCH;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

int pfs_damon_stop(struct pfs_damon *damon, unsigned int nr_targets)
{
	int ret = damon->tid ? put("off", "0/state") : 0;

	damon->tid = 0;
	return ret ?: set_targets(nr_targets);
}

int pfs_damon_start(struct pfs_damon *damon)
{
	int ret = put("on", "0/state");

	if (!ret)
		damon->tid = get_number("0/pid");
	return ret ? ret : damon->tid > 0 ? 0 : -ESRCH;
}

int pfs_damon_down(struct pfs_damon *damon, struct pfs_err *err)
{
	int ret;

	if (!damon->mine)
		return 0;
	put("off", "0/state"); /* fails if it does not run */
	if (damon->asked) /* a killed helper's commit: its writer checks ten times a second whether the kdamond still runs */
		rest_ms(300);
	ret = put_number(0, "nr_kdamonds");
	if (ret)
		return pfs_err_set(err, ret, "--refault by idle: DAMON is left behind (%s/nr_kdamonds): %s",
				   PFS_DAMON_DIR, strerror(-ret));
	*damon = (struct pfs_damon){ 0 };
	return 0;
}
