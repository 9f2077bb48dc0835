/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf's records to events. */
#include "faults/faults_priv.h"

#include "event/notes.h"
#include "unwind/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * A sample has more: with --stack CALLCHAIN; of a major fault then WEIGHT, which nobody needs: samples of the two classes
 * differ in size, and need no other mark. With --pfn then PHYS_ADDR, if that is allowed, and DATA_PAGE_SIZE.
 */

/* What any other record has of these, at its end. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
};

/* ---- from the rings ---- */

/* How many words of it are behind the call chain; that is copied. Or -errno. */
static int take_chain(const struct pfs_perf_sample *r, struct perf_item *item)
{
	size_t nr_words = (r->header.size - sizeof(*r)) / sizeof(uint64_t);
	uint64_t nr = nr_words ? r->more[0] : 0;
	struct perf_chain *chain;

	if (!nr_words || nr > nr_words - 1)
		return -EBADMSG;
	chain = malloc(sizeof(*chain) + nr * sizeof(chain->ip[0]));
	if (!chain)
		return -ENOMEM;
	memcpy(chain, r->more, sizeof(*chain) + nr * sizeof(chain->ip[0]));
	item->data = chain;
	return nr_words - 1 - nr;
}

static int take_dump(const struct perf_session *s, const uint64_t *at, const uint64_t *end, struct perf_item *item)
{
	struct pfs_stack_sample *sample;
	int nr = pfs_stack_sample_take(s->kernel, at, end, &sample);

	item->data = nr < 0 ? NULL : sample;
	return nr;
}

static int take_sample(struct perf_cpu *cpu, const struct pfs_perf_sample *r)
{
	struct perf_session *s = cpu->session;
	unsigned int mode = r->header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	const bool phys = s->pfn && s->kernel;
	struct perf_item item = {
		.ts_ns = r->time,
		.addr = r->addr,
		.ip = r->ip,
		.cpu = cpu->cpu,
		.pid = r->pid,
		.tid = r->tid,
		.kind = PERF_FAULT,
		.mode = mode == PERF_RECORD_MISC_KERNEL ? PFS_KERNEL : PFS_USER,
	};
	const uint64_t *end = (const void *)((const char *)r + r->header.size);
	int nr = s->unwinder ? take_dump(s, r->more, end, &item) : s->max_frames ? take_chain(r, &item) : end - r->more;

	if (nr < 0)
		return nr == -EBADMSG ? 0 : nr;
	item.class = nr > s->pfn + phys ? PFS_MAJOR_CLASS : PFS_MINOR;
	item.phys = phys ? end[-2] : 0;
	item.page_size = s->pfn ? end[-1] : 0;
	cpu->last_ns = r->time;
	return perf_queue_put(&s->queue, item);
}

static const struct trailer *trailer_of(const struct perf_event_header *header)
{
	return (const void *)((const char *)header + header->size - sizeof(struct trailer));
}

int perf_take(void *ctx, const struct perf_event_header *header)
{
	struct perf_cpu *cpu = ctx;
	const struct trailer *trailer = trailer_of(header);
	const struct pfs_perf_task *task = (const void *)header;
	struct perf_item item;

	if (header->type == PERF_RECORD_SAMPLE)
		return take_sample(cpu, (const void *)header);
	item = (struct perf_item){
		.ts_ns = trailer->time,
		.ip = cpu->last_ns,
		.cpu = cpu->cpu,
		.pid = trailer->pid,
		.tid = trailer->tid,
		.kind = PERF_RECORD,
	};
	cpu->last_ns = trailer->time;
	if (header->type == PERF_RECORD_LOST)
		cpu->nr_lost += ((const struct pfs_perf_lost *)header)->lost;
	/* A child's own comm, or its end, may be reported by another. */
	if (header->type == PERF_RECORD_COMM || header->type == PERF_RECORD_EXIT) {
		item.pid = task->pid;
		item.tid = header->type == PERF_RECORD_EXIT ? task->tid : ((const struct pfs_perf_comm *)task)->tid;
	}
	item.data = malloc(header->size);
	if (!item.data)
		return -ENOMEM;
	memcpy(item.data, header, header->size);
	return perf_queue_put(&cpu->session->queue, item);
}

/* ---- to events ---- */

static struct pfs_event event_of(const struct perf_item *item, enum pfs_kind kind)
{
	return (struct pfs_event){
		.ts_ns = item->ts_ns,
		.kind = kind,
		.cpu = item->cpu,
		.pid = item->pid,
		.tid = item->tid,
		.have = (item->cpu >= 0 ? PFS_HAS(PFS_F_CPU) : 0) | (item->pid > 0 ? PFS_HAS(PFS_F_PID) : 0) |
			(item->tid > 0 ? PFS_HAS(PFS_F_TID) : 0),
	};
}

static int on_fault(struct perf_session *s, const struct perf_item *item)
{
	struct pfs_event ev = event_of(item, PFS_FAULT);
	struct perf_proc *p = perf_proc(s, item->pid);
	const struct perf_chain *chain = item->data;
	bool cut = false;
	int ret = 0;

	if (!p)
		return -ENOMEM;
	p->changed = true;
	p->executing = p->executing && item->mode == PFS_KERNEL;
	s->nr_faults++;
	PFS_SET(&ev, addr, ADDR, item->addr);
	PFS_SET(&ev, ip, IP, item->ip);
	PFS_SET(&ev, mode, MODE, item->mode);
	PFS_SET(&ev, class, CLASS, item->class);
	if (item->phys)
		PFS_SET(&ev, pfn, PFN, item->phys / s->page_size);
	if (item->page_size && !(item->page_size & (item->page_size - 1)))
		PFS_SET(&ev, page_size, PAGE_SIZE, item->page_size);
	if (item->data && s->unwinder)
		chain = perf_dump_chain(s, p, item, &cut);
	if (item->data)
		ret = chain ? perf_chain(s, &ev, chain, p->executing, cut) : -ENOMEM;
	ret = ret ?: perf_emit(s, &ev);
	if (ret || item->page_size <= s->page_size || item->page_size & (item->page_size - 1))
		return ret;
	ev = event_of(item, PFS_HUGE);
	PFS_SET(&ev, order, ORDER, __builtin_ctzll(item->page_size / s->page_size));
	return perf_emit(s, &ev);
}

static const char *name_of(const struct pfs_perf_mmap2 *r)
{
	return strcmp(r->filename, "//anon") ? r->filename : "";
}

static int on_mmap2(struct perf_session *s, const struct perf_item *item, const struct pfs_perf_mmap2 *r)
{
	struct pfs_event ev = event_of(item, PFS_MAP);
	struct perf_proc *p = perf_proc(s, item->pid);
	bool first;

	if (!p)
		return -ENOMEM;
	first = p->empty;
	p->empty = false;
	p->changed = p->mapped = true;
	if (first && !*name_of(r)) /* the stack, where exec made it: it is moved before the program begins */
		return 0;
	PFS_SET(&ev, start, START, r->addr);
	PFS_SET(&ev, end, END, r->addr + r->len);
	PFS_SET(&ev, dev, DEV, r->maj << 20 | r->min);
	PFS_SET(&ev, ino, INO, r->ino);
	/* the kernel numbers anonymous pages, too */
	PFS_SET(&ev, off, OFF, pfs_is_file(ev.dev, ev.ino) ? r->pgoff : 0);
	PFS_SET(&ev, name, NAME, name_of(r));
	PFS_SET(&ev, perms, PERMS,
		(r->prot & PROT_READ ? PFS_PERM_R : 0) | (r->prot & PROT_WRITE ? PFS_PERM_W : 0) |
			(r->prot & PROT_EXEC ? PFS_PERM_X : 0) | (r->flags & MAP_SHARED ? PFS_PERM_SHARED : 0));
	return perf_emit(s, &ev);
}

/* The name of the program is that of the first file that it maps. */
static int on_exec(struct perf_session *s, const struct perf_item *item, const struct pfs_perf_comm *r)
{
	const struct perf_item *next = item;
	struct pfs_event ev = event_of(item, PFS_EXEC);
	struct perf_proc *p = perf_proc(s, item->pid);

	if (!p)
		return -ENOMEM;
	free(p->maps);
	p->maps = NULL;
	p->changed = p->empty = p->executing = true;
	p->exec_ns = item->ts_ns;
	PFS_SET(&ev, comm, COMM, r->comm);
	while ((next = perf_queue_next(&s->queue, next, PERF_RECORD_MMAP2))) {
		const struct pfs_perf_mmap2 *map = next->data;

		if (!pfs_is_file(map->maj << 20 | map->min, map->ino))
			continue;
		PFS_SET(&ev, name, NAME, map->filename);
		break;
	}
	return perf_emit(s, &ev);
}

static int on_comm(struct perf_session *s, const struct perf_item *item, const struct pfs_perf_comm *r)
{
	struct pfs_event ev = event_of(item, PFS_COMM);

	if (r->header.misc & PERF_RECORD_MISC_COMM_EXEC)
		return on_exec(s, item, r);
	PFS_SET(&ev, comm, COMM, r->comm);
	return perf_emit(s, &ev);
}

static int on_fork(struct perf_session *s, const struct perf_item *item, const struct pfs_perf_task *r)
{
	bool is_thread = r->pid == r->ppid;
	struct pfs_event ev = event_of(item, is_thread ? PFS_THREAD : PFS_FORK);
	struct perf_proc *p;

	if (s->config.no_follow && !is_thread)
		return 0;
	p = perf_proc(s, r->pid);
	if (!p)
		return -ENOMEM;
	p->nr_threads++;
	ev.pid = r->ppid;
	ev.tid = r->ptid;
	ev.have |= PFS_HAS(PFS_F_PID) | PFS_HAS(PFS_F_TID);
	PFS_SET(&ev, child, CHILD, is_thread ? r->tid : r->pid);
	return perf_emit(s, &ev);
}

static int on_end(struct perf_session *s, const struct perf_item *item)
{
	struct pfs_event ev = event_of(item, PFS_EXIT), clear = event_of(item, PFS_UNMAP);
	struct perf_proc *p = perf_proc(s, item->pid);
	bool last;
	int ret;

	if (!p)
		return -ENOMEM;
	last = p->nr_threads <= 1;
	p->nr_threads -= !last;
	PFS_SET(&ev, last, LAST, last);
	ret = perf_emit(s, &ev);
	if (ret || !last)
		return ret;
	perf_proc_end(s, p);
	pfs_event_set_op(&clear, PFS_OP_CLEAR);
	return perf_emit(s, &clear);
}

static int on_lost(struct perf_session *s, const struct perf_item *item, const struct pfs_perf_lost *r)
{
	struct pfs_event ev = event_of(item, PFS_LOST);

	ev.have = PFS_HAS(PFS_F_CPU);
	PFS_SET(&ev, count, COUNT, r->lost);
	if (item->ip && item->ip <= item->ts_ns)
		PFS_SET(&ev, interval_ns, INTERVAL, item->ts_ns - item->ip);
	return perf_emit(s, &ev);
}

static int on_note(struct perf_session *s, const struct perf_item *item)
{
	struct pfs_event ev = event_of(item, PFS_NOTE);
	char *text = item->data, *equals = strchr(text, '=');

	if (!equals)
		return 0;
	*equals = '\0';
	PFS_SET(&ev, key, KEY, text);
	PFS_SET(&ev, value, VALUE, equals + 1);
	return perf_emit(s, &ev);
}

int perf_decode(void *ctx, const struct perf_item *item)
{
	struct perf_session *s = ctx;
	const struct perf_event_header *header = item->data;

	if (item->kind == PERF_FAULT)
		return on_fault(s, item);
	if (item->kind == PERF_NOTE)
		return on_note(s, item);
	if (item->kind == PERF_LAYOUT)
		return perf_layout(s, item);
	if (item->kind == PERF_PAGES)
		return perf_pages(s, item);
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		return on_mmap2(s, item, item->data);
	case PERF_RECORD_COMM:
		return on_comm(s, item, item->data);
	case PERF_RECORD_FORK:
		return on_fork(s, item, item->data);
	case PERF_RECORD_EXIT:
		return on_end(s, item);
	case PERF_RECORD_LOST:
		return on_lost(s, item, item->data);
	default:
		return 0;
	}
}
