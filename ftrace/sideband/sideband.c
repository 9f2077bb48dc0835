/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf's side-band, see sideband.h: one ring per CPU, whose records are queued until all earlier ones are known.
 */
#include "sideband/sideband.h"

#include "base/array.h"
#include "base/write_all.h"
#include "os/perf_event.h"
#include "record/pfscope_records.h"
#include "sideband/execs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES 128 /* data pages per CPU: about 4,000 mappings between two drains */

/* An exec writes more, so that its command line is read (execs.h) while even a short program runs. */
#define WAKEUP_BYTES 2048

struct ring {
	struct pfs_perf_ring perf;
	struct pfs_sideband *sideband;
	bool hung_up; /* the thread of its first event has ended: it wakes nobody any more */
	int cpu;
	uint64_t last_ns; /* of its last record; 0: none yet */
};

struct queued {
	struct raw_event ev;
	uint64_t order; /* of arrival: equal times keep it */
	char *str;
};

struct pfs_sideband {
	struct ring *rings;
	int nr_cpus;
	int *fds;
	size_t nr_fds, max_fds;
	struct queued *queue;
	size_t nr_queued, max_queued;
	bool sorted;
	bool works;
	uint64_t begin_ns;  /* of the recording */
	uint64_t passed_ns; /* of the last record that was passed on in order of time */
	uint64_t arrivals;
	struct pfs_execs execs;
};

struct pfs_sideband *pfs_sideband_new(struct pfs_err *err)
{
	struct pfs_sideband *sb = calloc(1, sizeof(*sb));

	if (!sb)
		goto no_memory;
	sb->nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	sb->begin_ns = UINT64_MAX;
	sb->rings = calloc(sb->nr_cpus, sizeof(*sb->rings));
	if (!sb->rings)
		goto no_memory;
	for (int i = 0; i < sb->nr_cpus; i++)
		sb->rings[i] = (struct ring){ .perf.fd = -1, .sideband = sb, .cpu = i };
	return sb;
no_memory:
	pfs_sideband_free(sb);
	pfs_err_set(err, -ENOMEM, "no memory for the side-band of mappings");
	return NULL;
}

void pfs_sideband_free(struct pfs_sideband *sb)
{
	if (!sb)
		return;
	for (int i = 0; sb->rings && i < sb->nr_cpus; i++)
		pfs_perf_ring_fini(&sb->rings[i].perf);
	for (size_t i = 0; i < sb->nr_fds; i++)
		close(sb->fds[i]);
	for (size_t i = 0; i < sb->nr_queued; i++)
		free(sb->queue[i].str);
	free(sb->queue);
	pfs_execs_fini(&sb->execs);
	free(sb->fds);
	free(sb->rings);
	free(sb);
}

int pfs_sideband_works(const struct pfs_sideband *sb)
{
	return sb->works;
}

/* ---- opening ---- */

static void attr_init(struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr->sample_id_all = 1;
	attr->inherit = 1;
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->mmap_data = 1; /* not only executable mappings */
	attr->comm = 1;
	attr->task = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC; /* the same as trace_clock mono */
	attr->watermark = 1;
	attr->wakeup_watermark = WAKEUP_BYTES;
}

int pfs_sideband_keep(struct pfs_sideband *sb, int fd)
{
	int *kept = pfs_array_add(sb->fds, sb->nr_fds, sb->max_fds);

	if (!kept) {
		close(fd);
		return -ENOMEM;
	}
	*kept = fd;
	return 0;
}

static int open_on(struct pfs_sideband *sb, struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = pfs_perf_open(attr, tid, cpu);
	int err;

	if (fd < 0)
		return fd == -ENODEV ? 0 : fd; /* ENODEV: this CPU is off line */
	err = pfs_sideband_keep(sb, fd);
	return err ? err : pfs_perf_ring_join(&sb->rings[cpu].perf, fd, RING_PAGES);
}

int pfs_sideband_add(struct pfs_sideband *sb, pid_t tid, struct pfs_err *err)
{
	struct perf_event_attr attr;
	int ret = 0;

	attr_init(&attr);
	for (int cpu = 0; !ret && cpu < sb->nr_cpus; cpu++)
		ret = open_on(sb, &attr, tid, cpu);
	if (ret)
		return pfs_err_set(err, ret, "perf_event_open for thread %d: %s", tid, strerror(-ret));
	sb->works = true;
	return pfs_sideband_drain(sb); /* each takes a while, and the rings are small */
}

/* With events of pfscope's own that have no records. */
int pfs_sideband_open_rings(struct pfs_sideband *sb, struct pfs_err *err)
{
	struct perf_event_attr attr;
	int ret = 0;

	attr_init(&attr);
	attr.inherit = attr.mmap = attr.mmap2 = attr.mmap_data = attr.comm = attr.task = 0;
	for (int cpu = 0; !ret && cpu < sb->nr_cpus; cpu++)
		ret = open_on(sb, &attr, 0, cpu);
	if (ret)
		return pfs_err_set(err, ret, "perf_event_open: %s", strerror(-ret));
	sb->works = true;
	return 0;
}

int pfs_sideband_ring_fd(const struct pfs_sideband *sb, int cpu)
{
	return cpu < sb->nr_cpus && sb->rings[cpu].perf.meta ? sb->rings[cpu].perf.fd : -1;
}

int pfs_sideband_watch(pid_t tid, int cpu, int ring_fd)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr);
	fd = pfs_perf_open(&attr, tid, cpu);
	if (fd < 0 || !ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd))
		return fd;
	close(fd);
	return -EIO;
}

int pfs_sideband_begin(struct pfs_sideband *sb, uint64_t ts_ns)
{
	int err;

	sb->begin_ns = ts_ns;
	err = pfs_sideband_drain(sb);
	for (size_t i = 0; i < sb->nr_queued; i++)
		if (sb->queue[i].ev.tid > 0 && sb->queue[i].ev.ts_ns < ts_ns)
			sb->queue[i].ev.ts_ns = ts_ns;
	return err;
}

/* ---- the queue ---- */

int pfs_sideband_put(void *sideband, const struct raw_event *ev)
{
	struct pfs_sideband *sb = sideband;
	struct queued *q;

	if (!pfs_array_reserve(sb->queue, sb->nr_queued, sb->max_queued, 1))
		return -ENOMEM;
	q = &sb->queue[sb->nr_queued];
	q->ev = *ev;
	q->order = sb->arrivals++;
	q->str = NULL;
	if (ev->str && !(q->str = strdup(ev->str)))
		return -ENOMEM;
	q->ev.str = q->str;
	q->ev.comm = NULL;
	sb->nr_queued++;
	sb->sorted = false;
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct queued *a = left, *b = right;

	if (a->ev.ts_ns != b->ev.ts_ns)
		return a->ev.ts_ns < b->ev.ts_ns ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static void sort_queue(struct pfs_sideband *sb)
{
	if (!sb->sorted && sb->nr_queued)
		qsort(sb->queue, sb->nr_queued, sizeof(*sb->queue), by_time);
	sb->sorted = true;
}

/*
 * The kernel takes the time of a record before it writes it. A thread that is preempted in between writes it when later
 * ones have been passed on: then it is dated as the last of those.
 */
static void date_late(struct pfs_sideband *sb, struct raw_event *ev)
{
	if (ev->ts_ns < sb->passed_ns)
		ev->ts_ns = sb->passed_ns;
	sb->passed_ns = ev->ts_ns;
}

int pfs_sideband_flush(struct pfs_sideband *sb, pid_t tid, uint64_t until_ns, raw_event_fn fn, void *ctx)
{
	size_t kept = 0;
	int ret = 0;

	sort_queue(sb);
	if (!sb->nr_queued || sb->queue[0].ev.ts_ns >= until_ns)
		return 0;
	for (size_t i = 0; i < sb->nr_queued; i++) {
		struct queued *q = &sb->queue[i];

		if (ret || q->ev.ts_ns >= until_ns || (tid && q->ev.tid != tid)) {
			sb->queue[kept++] = *q;
			continue;
		}
		if (!tid)
			date_late(sb, &q->ev);
		ret = fn(ctx, &q->ev);
		free(q->str);
	}
	sb->nr_queued = kept;
	return ret;
}

/* ---- records ---- */

/* What sample_id_all puts at the end of each record. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
};

static int on_mmap2(struct pfs_sideband *sb, const struct pfs_perf_mmap2 *r, struct raw_event *ev)
{
	ev->kind = RAW_PFS_MAP;
	ev->arg[0] = r->addr;
	ev->arg[1] = r->addr + r->len;
	ev->arg[2] = r->pgoff;
	ev->arg[3] = r->maj << 20 | r->min;
	ev->arg[4] = r->ino;
	ev->arg[5] = r->prot;
	ev->arg[6] = r->flags;
	ev->arg[7] = PFS_MAP_SIDEBAND;
	ev->str = r->filename;
	return pfs_sideband_put(sb, ev);
}

static int on_task(struct pfs_sideband *sb, uint32_t tid, uint32_t pid, int what, const char *comm,
		   struct raw_event *ev)
{
	ev->kind = RAW_PFS_TASK;
	ev->arg[0] = tid;
	ev->arg[1] = pid;
	ev->arg[2] = what;
	ev->str = comm;
	if (tid == pid && what != PFS_TASK_LIVES && pfs_execs_add(&sb->execs, pid, ev->ts_ns, what == PFS_TASK_ENDED))
		return -ENOMEM;
	return pfs_sideband_put(sb, ev);
}

/* For the whole recording: the lost records may be of any process. */
static int on_lost(struct pfs_sideband *sb, const struct pfs_perf_lost *r, uint64_t since_ns, struct raw_event *ev)
{
	if (since_ns < sb->begin_ns)
		since_ns = sb->begin_ns;
	ev->tid = 0;
	ev->tgid = -1;
	pfs_execs_forget(&sb->execs);
	return pfs_records_note(ev, PFS_FACT(SIDEBAND_LOST, .count = r->lost, .since_ns = since_ns), pfs_sideband_put,
				sb);
}

static int on_record(void *ctx, const struct perf_event_header *header)
{
	struct ring *ring = ctx;
	struct pfs_sideband *sb = ring->sideband;
	const struct trailer *trailer = (const void *)((const char *)header + header->size - sizeof(*trailer));
	const struct pfs_perf_task *task = (const void *)header;
	const struct pfs_perf_comm *comm = (const void *)header;
	struct raw_event ev = {
		.ts_ns = trailer->time,
		.cpu = ring->cpu,
		.tid = trailer->tid,
		.tgid = trailer->pid,
	};
	bool before = trailer->time < sb->begin_ns;
	uint64_t since_ns = ring->last_ns;

	ring->last_ns = trailer->time;
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		return before ? 0 : on_mmap2(sb, (const void *)header, &ev);
	case PERF_RECORD_COMM:
		ev.tid = comm->tid;
		return on_task(sb, comm->tid, comm->pid,
			       header->misc & PERF_RECORD_MISC_COMM_EXEC ? PFS_TASK_EXECS : PFS_TASK_LIVES, comm->comm,
			       &ev);
	case PERF_RECORD_FORK:
		return on_task(sb, task->tid, task->pid, PFS_TASK_LIVES, NULL, &ev);
	case PERF_RECORD_EXIT:
		return on_task(sb, task->tid, task->pid, PFS_TASK_ENDED, NULL, &ev);
	case PERF_RECORD_LOST:
		return before ? 0 : on_lost(sb, (const void *)header, since_ns, &ev);
	default:
		return 0;
	}
}

unsigned int pfs_sideband_poll(const struct pfs_sideband *sb, struct pollfd *fds)
{
	unsigned int nr = 0;

	for (int cpu = 0; cpu < sb->nr_cpus; cpu++)
		if (sb->rings[cpu].perf.meta && !sb->rings[cpu].hung_up)
			fds[nr++] = (struct pollfd){ sb->rings[cpu].perf.fd, POLLIN, 0 };
	return nr;
}

void pfs_sideband_polled(struct pfs_sideband *sb, const struct pollfd *fds, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		for (int cpu = 0; cpu < sb->nr_cpus; cpu++)
			if (fds[i].revents & (POLLHUP | POLLERR) && fds[i].fd == sb->rings[cpu].perf.fd)
				sb->rings[cpu].hung_up = true;
}

static int drain_rings(struct pfs_sideband *sb)
{
	int err = 0;

	for (int cpu = 0; !err && cpu < sb->nr_cpus; cpu++)
		err = pfs_perf_ring_drain(&sb->rings[cpu].perf, on_record, &sb->rings[cpu]);
	return err;
}

int pfs_sideband_drain(struct pfs_sideband *sb)
{
	int err = drain_rings(sb);

	if (err || !pfs_execs_read(&sb->execs))
		return err;
	return drain_rings(sb) ?: pfs_execs_put(&sb->execs, pfs_sideband_put, sb);
}

/* ---- the kernel's own counts of faults ---- */

int pfs_counters_open(struct pfs_counters *counters, pid_t pid)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .inherit = 1 };
	static const uint64_t configs[] = {
		PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_PAGE_FAULTS_MIN,
		PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	};
	int ret = 0;

	memset(counters->fds, -1, sizeof(counters->fds));
	for (int i = 0; !ret && i < 3; i++) {
		attr.config = configs[i];
		counters->fds[i] = pfs_perf_open(&attr, pid, -1);
		ret = counters->fds[i] < 0 ? counters->fds[i] : 0;
	}
	if (ret)
		pfs_counters_close(counters);
	return ret;
}

int pfs_counters_read(const struct pfs_counters *counters, struct pfs_counts_read *counts)
{
	uint64_t *const into[] = { &counts->faults, &counts->minor, &counts->major };

	for (int i = 0; i < 3; i++)
		if (read(counters->fds[i], into[i], sizeof(uint64_t)) != sizeof(uint64_t))
			return counters->fds[i] < 0 ? -ENOENT : -EIO;
	return 0;
}

void pfs_counters_close(struct pfs_counters *counters)
{
	for (int i = 0; i < 3; i++)
		pfs_close(counters->fds[i]);
	memset(counters->fds, -1, sizeof(counters->fds));
}
