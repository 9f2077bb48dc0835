/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sideband/dumps.h"

#include "base/array.h"
#include "base/hash.h"
#include "event/stack_numbers.h"
#include "os/perf_event.h"
#include "unwind/sample.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define WAKEUP_PART 4 /* of a ring, when full, wakes pfscope */

struct ring {
	struct pfs_perf_ring perf;
	struct pfs_dumps *dumps;
};

struct dump {
	uint64_t ts_ns, addr, ip;
	uint64_t order; /* of arrival */
	int32_t pid, tid;
	bool user; /* the fault was in user mode */
	struct pfs_stack_sample *sample;
};

struct proc {
	int32_t pid;
	struct pfs_unwind_space *space;
	bool executing; /* its new image has executed nothing in user mode: the registers may be the old one's */
	UT_hash_handle hh;
};

/* The number of a stack, by a hash of its frames. */
struct stack {
	uint64_t hash, nr;
	UT_hash_handle hh;
};

struct pfs_dumps {
	struct pfs_unwind_files *files;
	const struct pfs_symbols *symbols;
	struct ring *rings;
	int nr_cpus;
	unsigned int ring_pages;
	bool follow, counts_lost;
	int *fds;
	size_t nr_fds, max_fds;
	struct dump *queue;
	size_t nr, max, next; /* those before `next` are passed on */
	uint64_t arrivals, begin_ns, nr_lost;
	struct proc *procs;
	struct stack *stacks;
	uint64_t nr_stacks;
	char *text;
	size_t max_text;
	uint64_t frames[PFS_MAX_FRAMES + 1024]; /* of one stack: kernel.perf_event_max_stack is at most some hundred */
};

/* ---- opening ---- */

int pfs_dumps_check(struct pfs_err *err)
{
	return pfs_unwind_check(err);
}

static struct perf_event_attr attr_of(const struct pfs_dumps *d, uint64_t config)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = config,
		.sample_period = 1,
		.sample_type = PFS_PERF_SAMPLE,
		.read_format = d->counts_lost ? PERF_FORMAT_LOST : 0,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC, /* the same as trace_clock mono */
		.watermark = 1,
		.wakeup_watermark = d->ring_pages * sysconf(_SC_PAGESIZE) / WAKEUP_PART,
	};
}

static int open_on(struct pfs_dumps *d, struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = pfs_perf_open(attr, tid, cpu), *kept;

	if (fd == -EINVAL && attr->read_format) { /* before Linux 6.0 */
		attr->read_format = 0;
		d->counts_lost = false;
		fd = pfs_perf_open(attr, tid, cpu);
	}
	if (fd < 0)
		return fd == -ENODEV ? 0 : fd; /* ENODEV: this CPU is off line */
	kept = pfs_array_add(d->fds, d->nr_fds, d->max_fds);
	if (!kept) {
		close(fd);
		return -ENOMEM;
	}
	*kept = fd;
	return pfs_perf_ring_join(&d->rings[cpu].perf, fd, d->ring_pages);
}

int pfs_dumps_add(struct pfs_dumps *d, pid_t tid, struct pfs_err *err)
{
	struct perf_event_attr attr = attr_of(d, PERF_COUNT_SW_PAGE_FAULTS);
	int ret = 0;

	attr.inherit = 1;
	attr.inherit_thread = !d->follow; /* not its children */
	pfs_stack_sample_want(&attr, true);
	for (int cpu = 0; !ret && cpu < d->nr_cpus; cpu++)
		ret = open_on(d, &attr, tid, cpu);
	return ret ? pfs_err_set(err, ret, "--stack=dwarf: perf_event_open for thread %d: %s", tid, strerror(-ret)) : 0;
}

/* The rings belong to events of pfscope's own that have no records: those of a thread that has ended would wake nobody. */
static int open_rings(struct pfs_dumps *d, struct pfs_err *err)
{
	struct perf_event_attr attr = attr_of(d, PERF_COUNT_SW_DUMMY);
	int ret = 0;

	for (int cpu = 0; !ret && cpu < d->nr_cpus; cpu++)
		ret = open_on(d, &attr, 0, cpu);
	return ret ? pfs_err_set(err, ret, "--stack=dwarf: perf_event_open: %s", strerror(-ret)) : 0;
}

struct pfs_dumps *pfs_dumps_new(unsigned int kb, bool follow, const struct pfs_symbols *symbols, struct pfs_err *err)
{
	struct pfs_dumps *d = calloc(1, sizeof(*d));
	int nr_cpus = sysconf(_SC_NPROCESSORS_CONF), ret = -ENOMEM;
	unsigned int page_kb = sysconf(_SC_PAGESIZE) >> 10;

	if (d)
		d->rings = calloc(nr_cpus, sizeof(*d->rings));
	if (!d || !d->rings) {
		pfs_err_set(err, ret, "no memory to record stacks");
		goto failed;
	}
	d->nr_cpus = nr_cpus;
	for (int i = 0; i < nr_cpus; i++)
		d->rings[i] = (struct ring){ .perf.fd = -1, .dumps = d };
	for (d->ring_pages = 1; d->ring_pages * 2 * page_kb <= kb; d->ring_pages *= 2)
		;
	d->follow = follow;
	d->counts_lost = true;
	d->begin_ns = UINT64_MAX;
	d->symbols = symbols;
	ret = open_rings(d, err);
	if (ret)
		goto failed;
	d->files = pfs_unwind_files_new(err);
	if (d->files)
		return d;
	ret = -errno;
failed:
	pfs_dumps_free(d);
	errno = -ret;
	return NULL;
}

static void forget(struct pfs_dumps *d, struct proc *p)
{
	HASH_DEL(d->procs, p);
	pfs_unwind_space_free(p->space);
	free(p);
}

void pfs_dumps_free(struct pfs_dumps *d)
{
	struct proc *p, *next;

	if (!d)
		return;
	for (int i = 0; i < d->nr_cpus; i++)
		pfs_perf_ring_fini(&d->rings[i].perf);
	for (size_t i = 0; i < d->nr_fds; i++)
		close(d->fds[i]);
	for (size_t i = d->next; i < d->nr; i++)
		free(d->queue[i].sample);
	HASH_ITER (hh, d->procs, p, next)
		forget(d, p);
	PFS_HASH_FREE(d->stacks);
	pfs_unwind_files_free(d->files);
	free(d->rings);
	free(d->queue);
	free(d->text);
	free(d->fds);
	free(d);
}

/* ---- from the rings to the queue ---- */

static int take(void *ctx, const struct perf_event_header *header)
{
	struct pfs_dumps *d = ((struct ring *)ctx)->dumps;
	const struct pfs_perf_sample *r = (const void *)header; /* more: of pfs_stack_sample_want() */
	struct pfs_stack_sample *sample;
	struct dump *added;
	int ret;

	if (header->type == PERF_RECORD_LOST)
		d->nr_lost += ((const struct pfs_perf_lost *)header)->lost;
	if (header->type != PERF_RECORD_SAMPLE || r->time < d->begin_ns)
		return 0;
	ret = pfs_stack_sample_take(true, r->more, (const void *)((const char *)r + header->size), &sample);
	if (ret < 0)
		return ret == -EBADMSG ? 0 : ret;
	added = pfs_array_add(d->queue, d->nr, d->max);
	if (!added) {
		free(sample);
		return -ENOMEM;
	}
	*added = (struct dump){
		.ts_ns = r->time,
		.addr = r->addr,
		.ip = r->ip,
		.order = d->arrivals++,
		.pid = r->pid,
		.tid = r->tid,
		.user = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER,
		.sample = sample,
	};
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct dump *a = left, *b = right;

	return pfs_order(a->ts_ns, b->ts_ns) ?: pfs_order(a->order, b->order);
}

int pfs_dumps_drain(struct pfs_dumps *d)
{
	int ret = 0;

	if (d->next) {
		d->nr -= d->next;
		memmove(d->queue, d->queue + d->next, d->nr * sizeof(*d->queue));
		d->next = 0;
	}
	for (int cpu = 0; !ret && cpu < d->nr_cpus; cpu++)
		ret = pfs_perf_ring_drain(&d->rings[cpu].perf, take, &d->rings[cpu]);
	if (d->nr)
		qsort(d->queue, d->nr, sizeof(*d->queue), by_time);
	return ret;
}

void pfs_dumps_begin(struct pfs_dumps *d, uint64_t ts_ns)
{
	d->begin_ns = ts_ns;
}

unsigned int pfs_dumps_poll(const struct pfs_dumps *d, struct pollfd *fds)
{
	unsigned int nr = 0;

	for (int cpu = 0; cpu < d->nr_cpus; cpu++)
		if (d->rings[cpu].perf.meta)
			fds[nr++] = (struct pollfd){ d->rings[cpu].perf.fd, POLLIN, 0 };
	return nr;
}

uint64_t pfs_dumps_lost(const struct pfs_dumps *d)
{
	uint64_t lost = 0, count[2];

	for (size_t i = 0; d->counts_lost && i < d->nr_fds; i++)
		if (read(d->fds[i], count, sizeof(count)) == sizeof(count))
			lost += count[1];
	return lost > d->nr_lost ? lost : d->nr_lost;
}

/* ---- what is mapped ---- */

/* NULL: no memory. */
static struct proc *proc_of(struct pfs_dumps *d, int32_t pid)
{
	struct proc *p = PFS_HASH_GET(d->procs, pid, pid);

	if (p && !p->space)
		p->space = pfs_unwind_space_new();
	return p && p->space ? p : NULL;
}

static int on_map(struct pfs_dumps *d, const struct raw_event *ev)
{
	const char *name = ev->str && strcmp(ev->str, "//anon") ? ev->str : "";
	const struct pfs_unwind_map map = {
		ev->arg[0], ev->arg[1], ev->arg[2], ev->arg[4], ev->arg[3], ev->tgid, name
	};
	struct proc *p = proc_of(d, ev->tgid);
	int ret = p ? pfs_unwind_space_map(p->space, &map, ev->arg[5] & PROT_EXEC) : -ENOMEM;

	return ret < 0 ? ret : 0;
}

/* The side-band reports a fork in the name of the parent, without the name that a child has. */
static int on_task(struct pfs_dumps *d, const struct raw_event *ev)
{
	int32_t tid = ev->arg[0], pid = ev->arg[1];
	bool forked = ev->arg[2] == PFS_TASK_LIVES && tid == pid && ev->tgid > 0 && ev->tgid != pid && !ev->str;
	struct proc *p = forked || ev->arg[2] == PFS_TASK_EXECS ? proc_of(d, pid) : NULL;
	const struct proc *parent = forked ? proc_of(d, ev->tgid) : NULL;
	int ret = 0;

	if (forked) {
		if (!p || !parent)
			return -ENOMEM;
		p->executing = parent->executing;
		return pfs_unwind_space_copy(p->space, parent->space, pid);
	}
	if (ev->arg[2] == PFS_TASK_EXECS) {
		if (!p)
			return -ENOMEM;
		p->executing = true;
		ret = pfs_unwind_space_unmap(p->space, 0, UINT64_MAX);
	} else if (ev->arg[2] == PFS_TASK_ENDED && tid == pid && kill(pid, 0) && errno == ESRCH) {
		HASH_FIND_INT(d->procs, &pid, p); /* else other threads of it may go on */
		if (p)
			forget(d, p);
	}
	return ret < 0 ? ret : 0;
}

/* ---- unwinding ---- */

/* The frames of the kernel, without what is between its contexts. */
static size_t kernel_frames(struct pfs_dumps *d, const struct pfs_stack_sample *s)
{
	size_t nr = 0;

	for (uint64_t i = 0; i < s->nr_kernel && nr < sizeof(d->frames) / sizeof(*d->frames) - PFS_MAX_FRAMES; i++)
		if (s->kernel[i] < (uint64_t)PERF_CONTEXT_MAX)
			d->frames[nr++] = s->kernel[i];
	return nr;
}

/* The number of a stack; *first: it is new. 0: no memory. */
static uint64_t number_of(struct pfs_dumps *d, size_t nr, bool cut, bool *first)
{
	uint64_t hash = pfs_hash(pfs_hash(PFS_HASH_START, d->frames, nr * sizeof(*d->frames)), &cut, sizeof(cut));
	struct stack *stack = PFS_HASH_GET(d->stacks, hash, hash);

	*first = stack && !stack->nr;
	if (*first)
		stack->nr = ++d->nr_stacks;
	return stack ? stack->nr : 0;
}

static int pass_on(struct pfs_dumps *d, const struct dump *dump, raw_event_fn put, void *ctx)
{
	const struct pfs_stack_sample *s = dump->sample;
	struct raw_event ev = raw_event_own(RAW_PFS_STACK, dump->ts_ns, dump->tid);
	struct proc *p = proc_of(d, dump->pid);
	size_t nr = kernel_frames(d, s), nr_user = 0;
	bool cut = false, first = false;
	uint64_t *user = d->frames + nr;

	if (!p)
		return -ENOMEM;
	p->executing = p->executing && !dump->user;
	if (!p->executing)
		nr_user = pfs_stack_sample_unwind(s, d->files, p->space, dump->user ? dump->ip : 0, user, &cut);
	for (size_t i = 0; i < nr_user; i++)
		if (pfs_stack_is_over(user[i]))
			nr_user = i;
	ev.tgid = dump->pid;
	ev.arg[0] = dump->addr;
	ev.arg[1] = dump->ip;
	ev.arg[2] = nr + nr_user ? number_of(d, nr + nr_user, cut, &first) : 0;
	ev.arg[3] = nr_user;
	ev.arg[4] = s->unreadable ? s->regs.value[PFS_REG_SP] + s->len : 0;
	ev.str = first ? pfs_symbols_chain(d->symbols, d->frames, nr + nr_user, cut, &d->text, &d->max_text) : NULL;
	if (nr + nr_user && (!ev.arg[2] || (first && !ev.str)))
		return -ENOMEM;
	return put(ctx, &ev);
}

int pfs_dumps_flush(struct pfs_dumps *d, uint64_t until_ns, raw_event_fn put, void *ctx)
{
	int ret = 0;

	for (; !ret && d->next < d->nr && d->queue[d->next].ts_ns < until_ns; d->next++) {
		ret = pass_on(d, &d->queue[d->next], put, ctx);
		free(d->queue[d->next].sample);
	}
	return ret;
}

int pfs_dumps_own(struct pfs_dumps *d, const struct raw_event *ev, raw_event_fn put, void *ctx)
{
	int ret = pfs_dumps_flush(d, ev->ts_ns, put, ctx);

	if (!ret && ev->kind == RAW_PFS_MAP && ev->tgid > 0)
		return on_map(d, ev);
	return !ret && ev->kind == RAW_PFS_TASK ? on_task(d, ev) : ret;
}
