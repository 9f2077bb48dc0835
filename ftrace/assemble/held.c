/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fault while its handler runs: held back until that is through, then passed on with all it told.
 *
 * What tells: the beginnings and ends of handle_mm_fault (probes: flags, region, result, time) and
 * the functions in between (the function tracer: which class). A handler that runs without an
 * exception before it is get_user_pages at work: a `populate` of that page. A handler may have to
 * be run again for the same fault (VM_FAULT_RETRY): the time of all its runs is added up.
 *
 * Only the thread's own records end its fault, so the order within a thread stays. Between threads
 * it becomes what it was: the kernel handles a fault under a lock against changes of its region, so
 * a fault that is passed on at the handler's end stands where the layout was the one it met.
 */
#include "assemble/assemble_priv.h"

#include "record/handlers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* VM_FAULT_* of linux/mm_types.h; what is an error has its own bit each. */
#define RET_ERROR 0x873u
#define RET_MAJOR 0x4u
#define RET_RETRY 0x400u

#define MAX_BESIDE 4096 /* of one fault: reading ahead adds some dozens to the page cache */

struct event_list {
	struct pfs_event *list;
	unsigned int nr, max;
};

struct asm_held {
	bool active;
	bool exception;	     /* else get_user_pages */
	bool began;	     /* a handler has run or runs */
	bool again;	     /* it has ended, and is to be run again */
	struct pfs_event ev; /* PFS_FAULT or PFS_POPULATE */
	uint64_t addr;
	uint64_t began_ns;	  /* of the handler that runs; 0: none does */
	uint64_t flags;		  /* of the handler's last run, RAW_ABSENT: not said */
	uint32_t seen;		  /* functions met: bits of enum pfs_handler */
	uint64_t caller;	  /* of the handler; 0: not known */
	struct range region;	  /* empty: not known */
	struct event_list beside; /* what came of it so far */
	struct event_list exec;	  /* populates of an exec's arguments, not moved yet */
};

static int append(struct event_list *l, const struct pfs_event *ev)
{
	if (l->nr == l->max) {
		unsigned int max = l->max ? l->max * 2 : 8;
		struct pfs_event *bigger = realloc(l->list, max * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		l->list = bigger;
		l->max = max;
	}
	l->list[l->nr++] = *ev;
	return 0;
}

static int emit_list(struct pfs_assembler *a, struct event_list *l)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < l->nr; i++)
		err = asm_emit(a, &l->list[i]);
	l->nr = 0;
	return err;
}

void asm_held_free(struct asm_thread *t)
{
	if (!t->held)
		return;
	free(t->held->beside.list);
	free(t->held->exec.list);
	free(t->held);
}

/* key "probes": how handle_mm_fault is watched; "classify": the functions that are. */
void asm_held_note(struct pfs_assembler *a, const char *key, const char *value)
{
	if (!strcmp(key, "probes"))
		a->handlers = true;
	if (!strcmp(key, "classify"))
		for (const char *p = value; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
			int handler = pfs_handler_find(p, strcspn(p, " "));

			if (handler >= 0)
				a->functions |= 1u << handler;
		}
	a->holds = a->handlers || a->functions;
}

/* Starts on a new one; what was held is passed on before. NULL: *err says why. */
static struct asm_held *begin(struct pfs_assembler *a, struct asm_thread *t, int *err)
{
	struct asm_held *h;

	*err = asm_held_release(a, t);
	if (!t->held)
		t->held = calloc(1, sizeof(*t->held));
	h = t->held;
	if (!h)
		*err = -ENOMEM;
	if (*err)
		return NULL;
	h->active = true;
	h->exception = h->began = h->again = false;
	h->began_ns = h->caller = h->seen = 0;
	h->flags = RAW_ABSENT;
	h->region = (struct range){ 0, 0 };
	return h;
}

int asm_hold(struct pfs_assembler *a, struct asm_thread *t, const struct pfs_event *ev)
{
	int err;
	struct asm_held *h = begin(a, t, &err);

	if (!h)
		return err;
	h->exception = true;
	h->ev = *ev;
	h->addr = ev->addr;
	return 0;
}

int asm_emit_beside(struct pfs_assembler *a, struct asm_thread *t, const struct pfs_event *ev)
{
	struct asm_held *h = t->held;

	if (!h || !h->active || h->beside.nr >= MAX_BESIDE)
		return asm_emit(a, ev);
	return append(&h->beside, ev);
}

/* ---- passing on ---- */

static uint64_t page_of(const struct pfs_assembler *a, uint64_t addr)
{
	return addr & ~a->page_mask;
}

/*
 * What came of it, if it was get_user_pages' fault: a huge page brings all of its pages, and what
 * was mapped or allocated beside lies in the region.
 */
static void widen(struct pfs_assembler *a, struct asm_held *h)
{
	struct range r = h->region;

	if (r.start >= r.end)
		r = (struct range){ h->ev.start, h->ev.end };
	for (unsigned int i = 0; i < h->beside.nr; i++) {
		struct pfs_event *ev = &h->beside.list[i];
		uint64_t size = (a->page_mask + 1) << (ev->order & 31);
		uint64_t start = h->addr & ~(size - 1);

		if (ev->kind != PFS_HUGE && ev->kind != PFS_AROUND)
			continue;
		ev->start = r.start;
		ev->end = r.end;
		ev->have |= PFS_HAS(PFS_F_START) | PFS_HAS(PFS_F_END);
		if (ev->kind == PFS_HUGE && start >= r.start && start + size <= r.end) {
			h->ev.start = start;
			h->ev.end = start + size;
		}
	}
}

static void set_how(const struct pfs_assembler *a, struct asm_held *h)
{
	bool inferred;
	unsigned int how = pfs_handlers_how(h->seen, a->functions, &inferred);

	if (!how)
		return;
	h->ev.how = how;
	h->ev.have |= PFS_HAS(PFS_F_HOW);
	if (inferred)
		h->ev.inferred |= PFS_HAS(PFS_F_HOW);
}

static int release_populate(struct pfs_assembler *a, struct asm_thread *t, struct asm_held *h)
{
	bool arguments = t->in_exec && !t->switched;
	int err;

	/* Without a class nothing came of it, or nobody knows what. */
	if (!pfs_has(&h->ev, PFS_F_CLASS)) {
		h->beside.nr = 0;
		return 0;
	}
	widen(a, h);
	if (arguments) {
		h->beside.nr = 0;
		return append(&h->exec, &h->ev);
	}
	err = emit_list(a, &h->beside);
	return err ? err : asm_emit(a, &h->ev);
}

int asm_held_release(struct pfs_assembler *a, struct asm_thread *t)
{
	struct asm_held *h = t->held;
	int err;

	if (!h || !h->active)
		return 0;
	h->active = false;
	set_how(a, h);
	if (!h->exception)
		return release_populate(a, t, h);
	err = asm_emit(a, &h->ev);
	return err ? err : emit_list(a, &h->beside);
}

/*
 * The arguments are written at the top of the new space, and moved down with their region later: by
 * as much as the top of that is now lower than the highest of them was.
 */
int asm_held_exec(struct pfs_assembler *a, struct asm_thread *t)
{
	struct event_list *l = t->held ? &t->held->exec : NULL;
	uint64_t top = 0, down;

	if (!l || !l->nr)
		return 0;
	for (unsigned int i = 0; i < l->nr; i++)
		if (l->list[i].end > top)
			top = l->list[i].end;
	down = t->exec_stack_id && t->exec_stack_top < top ? top - t->exec_stack_top : 0;
	for (unsigned int i = 0; i < l->nr; i++) {
		l->list[i].start -= down;
		l->list[i].end -= down;
	}
	return emit_list(a, l);
}

/* ---- the handler ---- */

static enum pfs_by by_of(const struct asm_thread *t)
{
	switch (t->nr) {
	case SYS_MMAP:
		if (t->arg[3] & MAP_POPULATE && !(t->arg[3] & MAP_LOCKED))
			return PFS_BY_MMAP;
		return PFS_BY_MLOCK;
	case SYS_MADVISE:
	case SYS_PROCESS_MADVISE:
		return PFS_BY_MADVISE;
	case SYS_MLOCK:
	case SYS_MLOCK2:
	case SYS_MLOCKALL:
		return PFS_BY_MLOCK;
	case SYS_MREMAP:
		return PFS_BY_MREMAP;
	case SYS_BRK:
		return PFS_BY_BRK;
	case SYS_SHMAT:
		return PFS_BY_SHMAT;
	case SYS_EXECVE:
	case SYS_EXECVEAT:
		return PFS_BY_EXEC;
	default:
		return PFS_BY_GUP;
	}
}

/* get_user_pages' fault. One in another process's memory is told by its region's identity. */
static void populate_event(const struct pfs_assembler *a, const struct asm_thread *t, const struct raw_event *raw,
			   struct pfs_event *ev)
{
	uint64_t flags = raw->arg[1];

	asm_event_init(ev, raw, t, PFS_POPULATE);
	ev->start = page_of(a, raw->arg[0]);
	ev->end = ev->start + a->page_mask + 1;
	ev->by = by_of(t);
	ev->have |= PFS_HAS(PFS_F_START) | PFS_HAS(PFS_F_END) | PFS_HAS(PFS_F_BY);
	if (t->in_exec) {
		ev->space = PFS_SPACE_EXEC;
		ev->have |= PFS_HAS(PFS_F_SPACE);
	} else if (flags != RAW_ABSENT && flags & PFS_FLAG_REMOTE) {
		ev->space = PFS_SPACE_OTHER;
		ev->have |= PFS_HAS(PFS_F_SPACE);
	}
}

/*
 * A fault in user mode whose exception is not in the recording: it was lost, or came before its
 * start.
 */
static void late_event(const struct asm_thread *t, const struct raw_event *raw, struct pfs_event *ev)
{
	asm_event_init(ev, raw, t, PFS_FAULT);
	ev->addr = raw->arg[0];
	ev->mode = PFS_USER;
	ev->have |= PFS_HAS(PFS_F_ADDR) | PFS_HAS(PFS_F_MODE);
}

/* What the handler was given, as far as the probe could tell. */
static void take_arguments(struct asm_held *h, const struct raw_event *raw)
{
	struct pfs_event *ev = &h->ev;
	uint64_t flags = raw->arg[1];

	h->flags = flags;
	if (flags != RAW_ABSENT) {
		ev->flags = flags & PFS_FLAGS_KNOWN;
		ev->have |= PFS_HAS(PFS_F_FLAGS);
	}
	if (flags != RAW_ABSENT && !pfs_has(ev, PFS_F_ACCESS)) {
		ev->access = flags & PFS_FLAG_WRITE ? PFS_WRITE : flags & PFS_FLAG_INSTRUCTION ? PFS_EXECUTE : PFS_READ;
		ev->have |= PFS_HAS(PFS_F_ACCESS);
	}
	if (raw->arg[2] != RAW_ABSENT) {
		ev->id = raw->arg[2];
		ev->have |= PFS_HAS(PFS_F_ID);
	}
	if (raw->arg[3] == RAW_ABSENT || raw->arg[4] == RAW_ABSENT)
		return;
	h->region = (struct range){ raw->arg[3], raw->arg[4] };
	if (h->exception) {
		ev->start = raw->arg[3];
		ev->end = raw->arg[4];
		ev->have |= PFS_HAS(PFS_F_START) | PFS_HAS(PFS_F_END);
	}
}

/*
 * Do the flags fit? An exception in kernel mode with page faults off is refused at once, and then
 * perhaps get_user_pages brings the same page: an exception's FAULT_FLAG_DEFAULT has INTERRUPTIBLE,
 * that has not.
 */
static bool fits(const struct asm_held *h, uint64_t flags)
{
	if (flags == RAW_ABSENT)
		return true;
	if (!h->exception || h->ev.mode == PFS_KERNEL)
		return !(flags & PFS_FLAG_USER) && (!h->exception || flags & PFS_FLAG_INTERRUPTIBLE);
	return flags & PFS_FLAG_USER;
}

/* Is this the handler of the fault that is held? */
static bool is_its(const struct pfs_assembler *a, const struct asm_held *h, const struct raw_event *raw)
{
	if (!h || !h->active || (h->began && !h->again) || !fits(h, raw->arg[1]))
		return false;
	return raw->arg[0] == RAW_ABSENT || page_of(a, raw->arg[0]) == page_of(a, h->addr);
}

int asm_handler(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_held *h = t->held;
	int err = 0;

	if (!a->handlers)
		return 0;
	if (!is_its(a, h, raw)) {
		if (raw->arg[0] == RAW_ABSENT) /* get_user_pages', nobody knows where */
			return asm_held_release(a, t);
		h = begin(a, t, &err);
		if (!h)
			return err;
		h->addr = raw->arg[0];
		h->exception = raw->arg[1] != RAW_ABSENT && raw->arg[1] & PFS_FLAG_USER;
		if (h->exception)
			late_event(t, raw, &h->ev);
		else
			populate_event(a, t, raw, &h->ev);
	}
	h->began = true;
	h->again = false;
	h->began_ns = raw->ts_ns;
	take_arguments(h, raw);
	return 0;
}

/* As the kernel's mm_account_fault() counts: what failed or is to be tried again is not counted. */
static void set_class(struct asm_held *h, uint64_t ret)
{
	bool tried = h->flags != RAW_ABSENT && h->flags & PFS_FLAG_TRIED;

	if (ret == RAW_ABSENT || ret & (RET_ERROR | RET_RETRY))
		return;
	h->ev.class = ret & RET_MAJOR || tried ? PFS_MAJOR_CLASS : PFS_MINOR;
	h->ev.have |= PFS_HAS(PFS_F_CLASS);
}

int asm_handler_end(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_held *h = t->held;
	uint64_t ret = raw->arg[0];

	if (!h || !h->active || !h->began_ns) /* it began before the recording did */
		return 0;
	if (!pfs_has(&h->ev, PFS_F_LATENCY))
		h->ev.latency_ns = 0;
	h->ev.latency_ns += raw->ts_ns - h->began_ns;
	h->ev.have |= PFS_HAS(PFS_F_LATENCY);
	h->began_ns = 0;
	h->again = ret != RAW_ABSENT && ret & RET_RETRY;
	if (h->again)
		return 0;
	set_class(h, ret);
	return asm_held_release(a, t);
}

int asm_function(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_held *h = t->held;

	if (!a->functions || !h || !h->active || raw->arg[0] == RAW_ABSENT)
		return 0;
	if (raw->arg[0] == PFS_H_BEGIN) {
		/* Called from elsewhere: get_user_pages, and no longer this fault. */
		if (h->caller && h->caller != raw->arg[1])
			return asm_held_release(a, t);
		h->caller = raw->arg[1];
	}
	h->seen |= 1u << raw->arg[0];
	return 0;
}

/*
 * Records that come while a fault is handled, and those that say nothing of where their thread is.
 */
static bool goes_on(enum raw_kind kind)
{
	switch (kind) {
	case RAW_HANDLER:
	case RAW_HANDLER_END:
	case RAW_FUNCTION:
	case RAW_MA_WRITE: /* the stack grows */
	case RAW_MAP_PAGES:
	case RAW_FILE_FAULT:
	case RAW_ADD_CACHE:
	case RAW_PAGE_ALLOC:
	case RAW_PFS_MAP:
	case RAW_PFS_TASK:
	case RAW_PFS_NOTE:
	case RAW_PFS_HIST:
		return true;
	default:
		return false;
	}
}

int asm_held_heed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int err = goes_on(raw->kind) ? 0 : asm_held_release(a, t);

	/* An exec that comes back has failed: its arguments were in a space that is gone. */
	if (!err && raw->kind == RAW_SYS_EXIT && t->held && t->held->exec.nr)
		err = emit_list(a, &t->held->exec);
	return err;
}
