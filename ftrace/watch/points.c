/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each word has two events on each CPU: one for writes, one for both. An instruction that writes hits both, and the samples
 * follow each other, as the CPU's interrupts are off meanwhile. Each hit is a sample, so what the kernel has counted more than
 * there are samples is lost.
 */
#include "watch/points.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES 512

enum { ON_WRITE, ON_BOTH, NR_EVENTS };

struct sample {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time, addr;
};

struct point {
	int fd; /* -1: none */
	uint64_t id, nr_seen;
};

/* A sample that waits for the other event's. */
struct half {
	struct pfs_point_hit hit;
	bool waits;
	unsigned int event;
};

struct cpu {
	int cpu;
	int ring_fd; /* of an event that never occurs, and owns the ring; -1: the CPU is off line */
	struct pfs_perf_ring ring;
	struct point points[PFS_NR_POINTS][NR_EVENTS];
	struct half half;
	pfs_point_fn fn;
	void *ctx;
};

struct pfs_points {
	int nr_cpus;
	struct cpu cpus[];
};

static int open_ring(struct cpu *cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	cpu->ring_fd = pfs_perf_open(&attr, -1, cpu->cpu);
	if (cpu->ring_fd < 0)
		return cpu->ring_fd == -ENODEV ? 0 : cpu->ring_fd;
	return pfs_perf_ring_join(&cpu->ring, cpu->ring_fd, RING_PAGES);
}

struct pfs_points *pfs_points_new(struct pfs_err *err)
{
	int nr_cpus = sysconf(_SC_NPROCESSORS_CONF), ret = 0;
	struct pfs_points *p = calloc(1, sizeof(*p) + nr_cpus * sizeof(p->cpus[0]));

	if (!p) {
		pfs_err_set(err, -ENOMEM, "no memory for watchpoints");
		return NULL;
	}
	p->nr_cpus = nr_cpus;
	for (int i = 0; i < nr_cpus; i++) {
		p->cpus[i] = (struct cpu){ .cpu = i, .ring_fd = -1, .ring.fd = -1 };
		for (int nr = 0; nr < PFS_NR_POINTS * NR_EVENTS; nr++)
			p->cpus[i].points[nr / NR_EVENTS][nr % NR_EVENTS].fd = -1;
	}
	for (int i = 0; !ret && i < nr_cpus; i++)
		ret = open_ring(&p->cpus[i]);
	if (!ret)
		return p;
	pfs_perf_refused(ret, err);
	pfs_points_free(p);
	return NULL;
}

static void close_point(struct point *point)
{
	if (point->fd >= 0)
		close(point->fd);
	*point = (struct point){ .fd = -1 };
}

void pfs_points_free(struct pfs_points *p)
{
	if (!p)
		return;
	for (int i = 0; i < p->nr_cpus; i++) {
		struct cpu *cpu = &p->cpus[i];

		for (int nr = 0; nr < PFS_NR_POINTS * NR_EVENTS; nr++)
			close_point(&cpu->points[nr / NR_EVENTS][nr % NR_EVENTS]);
		pfs_perf_ring_fini(&cpu->ring);
		if (cpu->ring_fd >= 0)
			close(cpu->ring_fd);
	}
	free(p);
}

static int set_on(struct cpu *cpu, unsigned int nr, unsigned int event, uint64_t addr)
{
	struct point *point = &cpu->points[nr][event];
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = event == ON_WRITE ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
		.bp_addr = addr,
		.bp_len = HW_BREAKPOINT_LEN_8,
		.sample_period = 1,
		.sample_type =
			PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
		.disabled = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1u << 31, /* nobody waits for it */
	};
	int fd = pfs_perf_open(&attr, -1, cpu->cpu);

	if (fd < 0)
		return fd;
	*point = (struct point){ .fd = fd };
	return ioctl(fd, PERF_EVENT_IOC_ID, &point->id) ? -errno : pfs_perf_ring_join(&cpu->ring, fd, RING_PAGES);
}

int pfs_points_set(struct pfs_points *p, unsigned int nr, uint64_t addr)
{
	int ret = 0;

	for (int i = 0; !ret && i < p->nr_cpus; i++)
		if (p->cpus[i].ring_fd >= 0)
			ret = set_on(&p->cpus[i], nr, ON_WRITE, addr) ?: set_on(&p->cpus[i], nr, ON_BOTH, addr);
	return ret;
}

/* Writes first: while only those of reads and writes are seen, a write would pass for a read. */
static int switch_all(struct pfs_points *p, unsigned long request, bool both_first)
{
	int ret = 0;

	for (int event = 0; event < NR_EVENTS; event++)
		for (int i = 0; i < p->nr_cpus * PFS_NR_POINTS; i++) {
			int fd = p->cpus[i / PFS_NR_POINTS].points[i % PFS_NR_POINTS][event ^ both_first].fd;

			if (fd >= 0 && ioctl(fd, request, 0))
				ret = -errno;
		}
	return ret;
}

int pfs_points_enable(struct pfs_points *p)
{
	return switch_all(p, PERF_EVENT_IOC_ENABLE, false);
}

/* Who hit: false: a point of before. */
static bool find_point(struct cpu *cpu, uint64_t id, unsigned int *nr, unsigned int *event)
{
	for (*nr = 0; *nr < PFS_NR_POINTS; ++*nr)
		for (*event = 0; *event < NR_EVENTS; ++*event)
			if (cpu->points[*nr][*event].fd >= 0 && cpu->points[*nr][*event].id == id)
				return true;
	return false;
}

static int pass_half(struct cpu *cpu)
{
	struct half *half = &cpu->half;

	if (!half->waits)
		return 0;
	half->waits = false;
	half->hit.is_write = half->event == ON_WRITE;
	return cpu->fn(cpu->ctx, &half->hit);
}

static int take_sample(void *ctx, const struct perf_event_header *header)
{
	const struct sample *s = (const void *)header;
	struct cpu *cpu = ctx;
	struct half *half = &cpu->half;
	unsigned int nr, event;
	int ret;

	if (header->type != PERF_RECORD_SAMPLE || header->size < sizeof(*s) || !find_point(cpu, s->id, &nr, &event))
		return 0;
	cpu->points[nr][event].nr_seen++;
	if (half->waits && half->event != event && half->hit.point == nr && half->hit.ip == s->ip &&
	    half->hit.tid == (int32_t)s->tid) {
		half->event = ON_WRITE;
		return pass_half(cpu);
	}
	ret = pass_half(cpu);
	*half = (struct half){
		.waits = true,
		.event = event,
		.hit = { .ts_ns = s->time, .ip = s->ip, .pid = s->pid, .tid = s->tid, .cpu = cpu->cpu, .point = nr }
	};
	return ret;
}

/* The larger of the two: a write that lacks one of its samples is one access. */
static uint64_t end_point(struct point points[NR_EVENTS])
{
	uint64_t lost = 0, count;

	for (int event = 0; event < NR_EVENTS; event++) {
		struct point *point = &points[event];

		if (point->fd >= 0 && read(point->fd, &count, sizeof(count)) == sizeof(count) &&
		    count - point->nr_seen > lost)
			lost = count - point->nr_seen;
		close_point(point);
	}
	return lost;
}

int pfs_points_drain(struct pfs_points *p, pfs_point_fn fn, void *ctx)
{
	int ret = 0;

	for (int i = 0; !ret && i < p->nr_cpus; i++) {
		struct cpu *cpu = &p->cpus[i];

		cpu->fn = fn;
		cpu->ctx = ctx;
		ret = pfs_perf_ring_drain(&cpu->ring, take_sample, cpu);
	}
	return ret;
}

int pfs_points_end(struct pfs_points *p, uint64_t lost[PFS_NR_POINTS], pfs_point_fn fn, void *ctx)
{
	int ret = switch_all(p, PERF_EVENT_IOC_DISABLE, true) ?: pfs_points_drain(p, fn, ctx);

	memset(lost, 0, PFS_NR_POINTS * sizeof(*lost));
	for (int i = 0; i < p->nr_cpus; i++) {
		ret = ret ?: pass_half(&p->cpus[i]);
		p->cpus[i].half.waits = false;
		for (int nr = 0; nr < PFS_NR_POINTS; nr++)
			lost[nr] += end_point(p->cpus[i].points[nr]);
	}
	return ret;
}
