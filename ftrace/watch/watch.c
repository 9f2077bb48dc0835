/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The helper that sets watchpoints, and pfscope's side of it. See watch.h. */
#include "watch/watch.h"

#include "base/array.h"
#include "base/clock.h"
#include "objects/slots.h"
#include "os/helper.h"
#include "os/kallsyms.h"
#include "os/perf_event.h"
#include "record/record.h"
#include "watch/points.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define ALLOC_RING_PAGES 256

/* At the latest after that the rings are read. */
#define DRAIN_NS 20000000

#define FILTER_MAX 4096

struct record {
	uint64_t ts_ns;
	enum { BEGIN, ACCESS, END } what;
	int32_t cpu, pid, tid;
	uint64_t ptr, ip, count;
	uint32_t off;
	bool is_write;
};

struct message {
	enum { READY, FAILED, RECORDS } what;
	int code;
	union {
		struct pfs_err err;
		struct {
			uint64_t until_ns; /* nothing before it will come */
			uint32_t nr;
			struct record at[400];
		};
	};
};

struct alloc_cpu {
	struct work *work;
	struct pfs_perf_ring ring;
};

/* The helper's. */
struct work {
	const struct pfs_watchpoints *config;
	char filters[2][FILTER_MAX]; /* of allocations by kmalloc() and from caches, with the site */
	struct pfs_points *points;
	struct pfs_slots slots;
	struct alloc_cpu *cpus;
	int nr_cpus;

	struct pfs_slot_word words[PFS_NR_POINTS]; /* that are watched */
	unsigned int nr_words;
	uint64_t begun_ns, ended_ns; /* since and until when; ended_ns 0: they still are */
	struct record *records;	     /* to be sent */
	size_t nr, max;
	struct message message;
};

/* ---- allocations ---- */

/* A record of perf's, whose raw data are the record of the trace event. */
static int take_alloc(void *ctx, const struct perf_event_header *header)
{
	struct work *work = ((struct alloc_cpu *)ctx)->work;
	const uint32_t *size = (const void *)(header + 1);
	char scratch[PFS_RECORD_STR];
	struct raw_event raw;

	if (header->type != PERF_RECORD_SAMPLE || header->size < sizeof(*header) + sizeof(*size) ||
	    *size > header->size - sizeof(*header) - sizeof(*size))
		return 0;
	switch (pfs_record_decode(work->config->formats, (const void *)(size + 1), *size, scratch, &raw)) {
	case RAW_KMALLOC:
	case RAW_CACHE_ALLOC:
		if (raw.arg[1] && raw.arg[1] != RAW_ABSENT && raw.arg[3] != RAW_ABSENT)
			pfs_slots_add(&work->slots, raw.arg[1], raw.arg[3]);
		return 0;
	default:
		return 0;
	}
}

static int learn(struct work *work)
{
	int ret = 0;

	for (int cpu = 0; !ret && cpu < work->nr_cpus; cpu++)
		ret = pfs_perf_ring_drain(&work->cpus[cpu].ring, take_alloc, &work->cpus[cpu]);
	return ret;
}

static int open_alloc(struct work *work, unsigned int id, const char *filter, pid_t tid, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
		.inherit = tid >= 0,
		.watermark = 1,
		.wakeup_watermark = 1u << 31,
	};
	int fd = pfs_perf_open(&attr, tid, cpu); /* open as long as the helper runs */

	if (fd < 0)
		return fd == -ENODEV || fd == -ESRCH ? 0 : fd;
	if (*filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		return -errno;
	return pfs_perf_ring_join(&work->cpus[cpu].ring, fd, ALLOC_RING_PAGES);
}

static int open_of_thread(struct work *work, pid_t tid)
{
	const struct pfs_watchpoints *config = work->config;
	const struct pfs_formats *f = config->formats;
	int ret = 0;

	for (unsigned int id = 0; !ret && id <= f->max_id; id++) {
		const struct raw_desc *desc = f->row_of[id] ? f->rows[f->row_of[id]].desc : NULL;
		bool kmalloc = desc && desc->kind == RAW_KMALLOC, cache = desc && desc->kind == RAW_CACHE_ALLOC;

		if (!(kmalloc && config->filter_kmalloc) && !(cache && config->filter_cache_alloc))
			continue;
		for (int cpu = 0; !ret && cpu < work->nr_cpus; cpu++)
			ret = open_alloc(work, id, work->filters[cache], tid, cpu);
	}
	return ret;
}

/* "... && ((call_site >= 0x... && call_site < 0x...) || ...)" */
bool pfs_watchpoints_add_site(const struct pfs_symbols *symbols, const char *site, char *filter, size_t size)
{
	size_t len = strlen(filter);
	uint64_t start, end = 0;
	unsigned int nr = 0;

	while (len < size && pfs_symbols_next(symbols, site, &start, &end))
		len += snprintf(filter + len, size - len, "%s(call_site >= 0x%" PRIx64 " && call_site < 0x%" PRIx64 ")",
				nr++  ? " || "
				: len ? " && ("
				      : "(",
				start, end);
	if (nr && len < size)
		snprintf(filter + len, size - len, ")");
	return nr;
}

static int make_filters(struct work *work, struct pfs_err *err)
{
	const struct pfs_watchpoints *config = work->config;
	const char *of[] = { config->filter_kmalloc, config->filter_cache_alloc };

	for (int i = 0; i < 2; i++) {
		snprintf(work->filters[i], FILTER_MAX, "%s", of[i] ? of[i] : "");
		if (config->site &&
		    !pfs_watchpoints_add_site(config->symbols, config->site, work->filters[i], FILTER_MAX))
			return pfs_err_set(err, -ENOENT, "--watch: site=%s: the kernel has no such function",
					   config->site);
	}
	return 0;
}

/* ---- watching ---- */

static int put(struct work *work, const struct record *record)
{
	struct record *r = pfs_array_add(work->records, work->nr, work->max);

	if (!r)
		return -ENOMEM;
	*r = *record;
	return 0;
}

/* Points are switched on and off one after the other: only while all are on they are said to see all. */
static int take_hit(void *ctx, const struct pfs_point_hit *hit)
{
	struct work *work = ctx;
	const struct pfs_slot_word *word = &work->words[hit->point];

	if (hit->ts_ns < work->begun_ns || (work->ended_ns && hit->ts_ns > work->ended_ns))
		return 0;
	return put(work, &(struct record){ .what = ACCESS,
					   .ts_ns = hit->ts_ns,
					   .cpu = hit->cpu,
					   .pid = hit->pid,
					   .tid = hit->tid,
					   .ptr = word->ptr,
					   .off = word->off,
					   .ip = hit->ip,
					   .is_write = hit->is_write });
}

static int put_of_words(struct work *work, int what, uint64_t ts_ns, const uint64_t counts[PFS_NR_POINTS])
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < work->nr_words; i++)
		ret = put(work, &(struct record){ .what = what,
						  .ts_ns = ts_ns,
						  .cpu = -1,
						  .ptr = work->words[i].ptr,
						  .off = work->words[i].off,
						  .count = counts[i] });
	return ret;
}

static int ignore_hit(void *ctx, const struct pfs_point_hit *hit)
{
	return 0;
}

static int begin(struct work *work)
{
	uint64_t words = pfs_slots_words(&work->slots);
	unsigned int nr = pfs_slots_choose(&work->slots, work->words, PFS_NR_POINTS);
	int ret = 0;

	work->nr_words = 0;
	work->begun_ns = UINT64_MAX; /* not yet */
	work->ended_ns = 0;
	for (unsigned int i = 0; !ret && i < nr; i++)
		ret = pfs_points_set(work->points, i, work->words[i].ptr + work->words[i].off);
	ret = ret ?: pfs_points_enable(work->points);
	work->begun_ns = pfs_now_ns();
	if (ret == -ENOSPC) { /* somebody has taken them: nothing is watched until the next choice */
		uint64_t lost[PFS_NR_POINTS];

		work->ended_ns = work->begun_ns;
		return pfs_points_end(work->points, lost, ignore_hit, NULL);
	}
	if (ret)
		return ret;
	work->nr_words = nr;
	return put_of_words(work, BEGIN, work->begun_ns, (const uint64_t[PFS_NR_POINTS]){ words, words });
}

static int end(struct work *work)
{
	uint64_t lost[PFS_NR_POINTS];
	int ret;

	work->ended_ns = pfs_now_ns();
	ret = pfs_points_end(work->points, lost, take_hit, work);
	return ret ?: put_of_words(work, END, work->ended_ns, lost);
}

/* What happens at the same time stays in order: begins come first, ends last. */
static int by_time(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns) ?: (int)x->what - (int)y->what;
}

/* The last message says until when it has all. 0 or -errno: pfscope has ended. */
static int send_records(struct work *work, uint64_t until_ns)
{
	struct message *m = &work->message;
	size_t at = 0;

	qsort(work->records, work->nr, sizeof(*work->records), by_time);
	m->what = RECORDS;
	do {
		size_t nr = work->nr - at, most = sizeof(m->at) / sizeof(m->at[0]);

		m->nr = nr < most ? nr : most;
		memcpy(m->at, work->records + at, m->nr * sizeof(m->at[0]));
		at += m->nr;
		m->until_ns = at == work->nr ? until_ns : work->records[at].ts_ns;
		if (send(PFS_HELPER_FD, m, offsetof(struct message, at[m->nr]), MSG_NOSIGNAL) < 0)
			return -errno;
	} while (at < work->nr);
	work->nr = 0;
	return 0;
}

/* Until then; true: pfscope has ended, or shut the socket down. */
static bool over(uint64_t until_ns)
{
	uint64_t now = pfs_now_ns(), left = until_ns > now ? until_ns - now : 0;
	struct timespec rest = { left / 1000000000, left % 1000000000 };
	struct pollfd fd = { PFS_HELPER_FD, POLLIN | POLLRDHUP, 0 };

	return ppoll(&fd, 1, &rest, NULL) > 0;
}

/* The words of one choice, until the next one is due. 1: the recording is over. -errno */
static int watch_once(struct work *work)
{
	uint64_t due_ns, next_ns;
	bool is_over = false;
	int ret = learn(work) ?: begin(work);

	due_ns = work->begun_ns + work->config->interval_ns;
	while (!ret && !is_over && pfs_now_ns() < due_ns) {
		next_ns = pfs_now_ns() + DRAIN_NS;
		is_over = over(next_ns < due_ns ? next_ns : due_ns);
		ret = pfs_points_drain(work->points, take_hit, work) ?: learn(work);
	}
	ret = ret ?: end(work) ?: send_records(work, work->ended_ns);
	return ret ?: is_over;
}

/* ---- the helper ---- */

/* A word of the helper's own. */
static volatile uint64_t own_words[PFS_NR_POINTS];

static int count_hit(void *ctx, const struct pfs_point_hit *hit)
{
	*(unsigned int *)ctx += hit->is_write && hit->point == 0;
	return 0;
}

/*
 * Writes it on each CPU until that is seen. Linux 6.18 counts the first hits of a CPU, those of one system call or so, without
 * a sample: they are these. False: some CPU does not report any, as under a hypervisor that has none.
 */
static bool they_report(struct work *work)
{
	cpu_set_t before, one;

	sched_getaffinity(0, sizeof(before), &before);
	for (int cpu = 0; cpu < work->nr_cpus && cpu < CPU_SETSIZE; cpu++) {
		unsigned int seen = 0;

		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one)) /* off line, or not for us */
			continue;
		for (int tries = 0; tries < 100 && !seen; tries++) {
			own_words[0] = tries;
			pfs_points_drain(work->points, count_hit, &seen);
			own_words[1] = tries; /* its sample lets go of the one before */
			pfs_points_drain(work->points, count_hit, &seen);
		}
		if (!seen)
			return false;
	}
	sched_setaffinity(0, sizeof(before), &before);
	return true;
}

static int try_points(struct work *work, struct pfs_err *err)
{
	uint64_t lost[PFS_NR_POINTS];
	bool report = false;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < PFS_NR_POINTS; i++)
		ret = pfs_points_set(work->points, i, (uintptr_t)&own_words[i]);
	if (!ret)
		ret = pfs_points_enable(work->points);
	if (!ret)
		report = they_report(work);
	pfs_points_end(work->points, lost, ignore_hit, NULL);
	if (ret == -ENOSPC)
		return pfs_err_set(err, ret,
				   "--watch: the CPUs' hardware watchpoints are in use (gdb or perf -e mem: has them)");
	if (ret == -EPERM || ret == -EACCES)
		return pfs_err_set(err, ret,
				   "--watch: the kernel refuses watchpoints (%s): they take root outside of containers",
				   strerror(-ret));
	if (ret)
		return pfs_err_set(err, ret, "--watch: no hardware watchpoints here: %s", strerror(-ret));
	return report ? 0
		      : pfs_err_set(err, -ENODEV, "--watch: the hardware watchpoints of this machine report nothing");
}

static int set_up(struct work *work, struct pfs_err *err)
{
	work->nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	work->cpus = calloc(work->nr_cpus, sizeof(*work->cpus));
	if (work->config->site && !work->config->symbols)
		return pfs_err_set(err, -EPERM,
				   "--watch: the kernel hides the addresses of its functions (/proc/kallsyms)");
	if (!work->cpus || getrandom(&work->slots.seed, sizeof(work->slots.seed), 0) < 0)
		return pfs_err_set(err, -ENOMEM, "no memory for watchpoints");
	for (int cpu = 0; cpu < work->nr_cpus; cpu++)
		work->cpus[cpu] = (struct alloc_cpu){ work, { .fd = -1 } };
	work->points = pfs_points_new(err);
	return work->points ? try_points(work, err) ?: make_filters(work, err) : -errno;
}

/* Waits for the threads whose allocations matter. */
static int open_allocs(struct work *work, struct pfs_err *err)
{
	pid_t tids[PFS_WATCH_MAX_TIDS];
	ssize_t got = TEMP_FAILURE_RETRY(recv(PFS_HELPER_FD, tids, sizeof(tids), 0));
	int ret = got > 0 ? 0 : -EPIPE;

	for (ssize_t i = 0; !ret && i < got / (ssize_t)sizeof(tids[0]); i++)
		ret = open_of_thread(work, tids[i]);
	return ret ? pfs_perf_refused(ret, err) : 0;
}

static int answer(struct work *work, int code)
{
	struct message *m = &work->message;

	m->what = code ? FAILED : READY;
	m->code = code;
	return send(PFS_HELPER_FD, m, offsetof(struct message, err) + sizeof(m->err), MSG_NOSIGNAL) < 0 ? -errno : code;
}

/* The kernel takes back what a helper had that was killed, and what that watched cannot be ended truly by another one. */
static void run(void *ctx, bool again)
{
	struct work *work = again ? NULL : calloc(1, sizeof(*work));
	int ret;

	if (!work)
		return;
	work->config = ctx;
	ret = answer(work, set_up(work, &work->message.err));
	if (!ret)
		ret = answer(work, open_allocs(work, &work->message.err));
	while (!ret)
		ret = watch_once(work);
}

/* ---- pfscope ---- */

static int take_answer(int fd, struct pfs_err *err)
{
	struct message *m = calloc(1, sizeof(*m));
	ssize_t got = m ? TEMP_FAILURE_RETRY(recv(fd, m, sizeof(*m), 0)) : -1;
	int ret = 0;

	if (got <= 0)
		ret = pfs_err_set(err, -EPIPE, "--watch: its helper was killed");
	else if (m->what != READY)
		ret = pfs_err_set(err, m->code, "%s", m->err.msg);
	free(m);
	return ret;
}

int pfs_watchpoints_start(const struct pfs_watchpoints *config, struct pfs_err *err)
{
	int own = -1;
	const struct pfs_helper helper = {
		.name = "pfscope-points",
		.fds = &own,
		.nr_fds = 1,
		.run = run,
		.ctx = (void *)config,
	};
	int fd = pfs_helper_connect(&helper, err), ret = fd < 0 ? fd : take_answer(fd, err);

	if (ret && fd >= 0)
		close(fd);
	return ret ? ret : fd;
}

int pfs_watchpoints_begin(int fd, const pid_t *tids, unsigned int nr, struct pfs_err *err)
{
	const pid_t everybody = -1;

	if (nr > PFS_WATCH_MAX_TIDS)
		return pfs_err_set(err, -E2BIG, "--watch: more than %d threads", PFS_WATCH_MAX_TIDS);
	if (send(fd, tids ? tids : &everybody, tids ? nr * sizeof(*tids) : sizeof(everybody), MSG_NOSIGNAL) < 0)
		return pfs_err_set(err, -errno, "--watch: its helper is gone");
	return take_answer(fd, err);
}

static int pass(const struct record *r, raw_event_fn fn, void *ctx)
{
	bool access = r->what == ACCESS;
	struct raw_event ev = raw_event_own(access ? RAW_PFS_ACCESS : RAW_PFS_WATCH, r->ts_ns, r->tid);

	ev.cpu = r->cpu;
	ev.arg[access + 0] = r->ptr;
	ev.arg[access + 1] = r->off;
	ev.arg[access + 2] = 8;
	if (access) {
		ev.arg[0] = r->ip;
		ev.arg[4] = r->is_write ? PFS_WRITE : PFS_READ;
		ev.arg[5] = r->pid;
	} else {
		ev.arg[3] = r->count;
		ev.arg[4] = r->what == END;
	}
	return fn(ctx, &ev);
}

int pfs_watchpoints_take(int fd, uint64_t *until_ns, raw_event_fn fn, void *ctx)
{
	static struct message m;
	int ret = 0;

	while (!ret) {
		ssize_t got = TEMP_FAILURE_RETRY(recv(fd, &m, sizeof(m), MSG_DONTWAIT));

		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got < (ssize_t)offsetof(struct message, at) || m.what != RECORDS ||
		    (size_t)got != offsetof(struct message, at[m.nr]))
			return got < 0 && errno != ECONNRESET ? -errno : -EPIPE;
		for (uint32_t i = 0; !ret && i < m.nr; i++)
			ret = pass(&m.at[i], fn, ctx);
		*until_ns = m.until_ns;
	}
	return ret;
}
