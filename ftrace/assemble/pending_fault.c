/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fault of a thread whose handler runs: passed on when that has returned, with all that was recorded of it.
 *
 * Sources: the entries and returns of handle_mm_fault (probes: flags, region, result, time) and the functions in
 * between (the function tracer: which class). A handler that runs without an exception before it is get_user_pages at
 * work: a `populate` of that page. The kernel may run a handler again for the same fault (VM_FAULT_RETRY): the time of
 * all runs is added up.
 *
 * Only records of its own thread end a pending fault, so the order within a thread stays. Between threads it becomes
 * more exact: the kernel handles a fault under a lock against changes of its region, so a fault that is passed on at
 * the handler's return stands where the layout is the one it met.
 */
#include "assemble/assemble_priv.h"

#include "base/array.h"
#include "record/handlers.h"

#include <errno.h>

/* VM_FAULT_* of linux/mm_types.h; each error has a bit of its own. */
#define RET_ERROR 0x873u
#define RET_MAJOR 0x4u
#define RET_RETRY 0x400u

#define MAX_BESIDE 4096 /* of one fault: reading ahead adds some dozens to the page cache */

struct event_list {
	struct pfs_event *list;
	unsigned int nr, max;
};

struct asm_pending {
	bool active;
	bool exception;	     /* else get_user_pages */
	bool began;	     /* a handler has run or runs */
	bool again;	     /* it has ended, and is to be run again */
	bool hidden;	     /* its page was */
	struct pfs_event ev; /* PFS_FAULT or PFS_POPULATE */
	uint64_t addr;
	uint64_t began_ns;	  /* of the handler that runs; 0: none does */
	uint64_t flags;		  /* of the handler's last run, RAW_ABSENT: not recorded */
	uint32_t seen;		  /* functions met: bits of enum pfs_handler */
	uint64_t caller;	  /* of the handler; 0: not known */
	struct range region;	  /* empty: not known */
	struct event_list beside; /* its results so far */
	struct event_list exec;	  /* populates of an exec's arguments, not moved yet */
	bool awaits_stack;	  /* nothing has come behind it yet but its stacks */
	bool has_user;
	struct asm_frames kernel, user; /* its stacks; without records of them empty */
	uint64_t dumped;		/* ... or the number that pfscope gave one; 0: none */
};

static int append(struct event_list *l, const struct pfs_event *ev)
{
	struct pfs_event *added = pfs_array_add(l->list, l->nr, l->max);

	if (!added)
		return -ENOMEM;
	*added = *ev;
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

void asm_pending_free(struct asm_thread *t)
{
	if (!t->pending)
		return;
	free(t->pending->beside.list);
	free(t->pending->exec.list);
	free(t->pending->kernel.list);
	free(t->pending->user.list);
	free(t->pending);
}

void asm_pending_note(struct pfs_assembler *a, const struct pfs_fact *fact)
{
	if (fact->key == PFS_NOTE_PROBES)
		a->handlers = true;
	else if (fact->key == PFS_NOTE_MICROSET)
		a->hides = true;
	else if (fact->key == PFS_NOTE_REFAULT)
		a->hides |= fact->method == PFS_REFAULT_HIDE;
	else
		for (const char *p = fact->text; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
			int handler = pfs_handler_find(p, strcspn(p, " "));

			if (handler >= 0)
				a->functions |= 1u << handler;
		}
	a->defers = a->handlers || a->functions || a->hides;
}

/* Starts a pending fault after passing on the one before. NULL with *err set. */
static struct asm_pending *begin(struct pfs_assembler *a, struct asm_thread *t, int *err)
{
	struct asm_pending *p;

	*err = asm_pending_release(a, t);
	if (!t->pending)
		t->pending = calloc(1, sizeof(*t->pending));
	p = t->pending;
	if (!p)
		*err = -ENOMEM;
	if (*err)
		return NULL;
	*p = (struct asm_pending){ .active = true,
				   .flags = RAW_ABSENT,
				   .beside = p->beside,
				   .exec = p->exec,
				   .awaits_stack = a->stacks_of_faults,
				   .kernel = p->kernel,
				   .user = p->user };
	p->kernel.nr = p->user.nr = 0;
	return p;
}

int asm_pending_begin(struct pfs_assembler *a, struct asm_thread *t, const struct pfs_event *ev)
{
	int err;
	struct asm_pending *p = begin(a, t, &err);

	if (!p)
		return err;
	p->exception = true;
	p->ev = *ev;
	p->addr = ev->addr;
	return 0;
}

int asm_emit_beside(struct pfs_assembler *a, struct asm_thread *t, const struct pfs_event *ev)
{
	struct asm_pending *p = t->pending;

	if (!p || !p->active || p->beside.nr >= MAX_BESIDE)
		return asm_emit(a, ev);
	return append(&p->beside, ev);
}

/* ---- passing on ---- */

static uint64_t page_of(const struct pfs_assembler *a, uint64_t addr)
{
	return addr & ~a->page_mask;
}

/*
 * Of get_user_pages: a huge page populates all of its pages, and pages mapped or allocated with it lie in the region.
 */
static void widen(struct pfs_assembler *a, struct asm_pending *p)
{
	struct range r = p->region;

	if (r.start >= r.end)
		r = (struct range){ p->ev.start, p->ev.end };
	for (unsigned int i = 0; i < p->beside.nr; i++) {
		struct pfs_event *ev = &p->beside.list[i];
		uint64_t size = (a->page_mask + 1) << (ev->order & 31);
		uint64_t start = p->addr & ~(size - 1);

		if (ev->kind != PFS_HUGE && ev->kind != PFS_AROUND)
			continue;
		asm_event_set_range(ev, r);
		if (ev->kind == PFS_HUGE && start >= r.start && start + size <= r.end) {
			p->ev.start = start;
			p->ev.end = start + size;
		}
	}
}

static void set_how(const struct pfs_assembler *a, struct asm_pending *p)
{
	bool inferred;
	unsigned int how = pfs_handlers_how(p->seen, a->functions, &inferred);

	if (!how || p->hidden) /* else a hidden page is one of NUMA balancing */
		return;
	PFS_SET(&p->ev, how, HOW, how);
	if (inferred)
		p->ev.inferred |= PFS_HAS(PFS_F_HOW);
}

static int set_dumped(struct pfs_assembler *a, struct asm_pending *p)
{
	int err = p->dumped ? asm_frames_dumped(a, &p->ev, p->dumped) : 0;

	if (p->exception && asm_is_emitted(a, &p->ev))
		++*(pfs_has(&p->ev, PFS_F_STACK) ? &a->nr_dumped : &a->nr_undumped);
	return err;
}

/* In an exec the stack may still be the old image's. That of the kernel of a fault in user mode is its handler's. */
static int set_stack(struct pfs_assembler *a, struct asm_thread *t, struct asm_pending *p)
{
	if (a->stacks_of_faults == STACKS_DUMPED)
		return set_dumped(a, p);
	if (!p->has_user || (t->proc && t->proc->is_32bit))
		return 0;
	if (t->exec.under_way)
		p->user.nr = 0;
	if (p->ev.mode != PFS_KERNEL)
		p->kernel.nr = 0;
	return asm_frames_number(a, &p->ev, &p->kernel, &p->user);
}

static int release_populate(struct pfs_assembler *a, struct asm_thread *t, struct asm_pending *p)
{
	bool arguments = t->exec.under_way && !t->exec.switched;

	/* Without a class it brought no page, or its result is unknown. */
	if (!pfs_has(&p->ev, PFS_F_CLASS)) {
		p->beside.nr = 0;
		return 0;
	}
	widen(a, p);
	if (arguments) {
		p->beside.nr = 0;
		return append(&p->exec, &p->ev);
	}
	return set_stack(a, t, p) ?: emit_list(a, &p->beside) ?: asm_emit(a, &p->ev);
}

int asm_pending_release(struct pfs_assembler *a, struct asm_thread *t)
{
	struct asm_pending *p = t->pending;

	if (!p || !p->active)
		return 0;
	p->active = false;
	set_how(a, p);
	if (!p->exception)
		return release_populate(a, t, p);
	return set_stack(a, t, p) ?: asm_emit(a, &p->ev) ?: emit_list(a, &p->beside);
}

int asm_pending_finish(struct pfs_assembler *a, struct asm_thread *t)
{
	int err = asm_pending_stack_over(a, t);

	if (t->pending && t->pending->exception && t->pending->began && a->hides && !t->pending->hidden)
		t->pending->active = false;
	return err ?: asm_pending_release(a, t);
}

/* ---- its stack ---- */

bool asm_pending_awaits_kernel(const struct pfs_assembler *a, const struct asm_thread *t)
{
	const struct asm_pending *p = t->pending;

	return a->kernel_stacks && p && p->active && p->awaits_stack && p->ev.mode == PFS_KERNEL && !p->kernel.nr;
}

int asm_pending_stack_over(struct pfs_assembler *a, struct asm_thread *t)
{
	struct asm_pending *p = t->pending;

	if (!p || !p->active || !p->awaits_stack)
		return 0;
	p->awaits_stack = false;
	if (a->stacks_of_faults == STACKS_PERHAPS)
		asm_frames_none(a);
	return a->defers ? 0 : asm_pending_release(a, t);
}

int asm_pending_left_cpu(struct pfs_assembler *a, struct asm_thread *t, int32_t cpu)
{
	return t->pending && t->pending->ev.cpu == cpu ? asm_pending_stack_over(a, t) : 0;
}

/* In an exec the frames of the user may be those of the old image, in the layout of the new one. */
int asm_pending_dumped(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_pending *p = t->pending;

	if (!p || !p->active || !p->awaits_stack || p->ev.addr != raw->arg[0] || p->ev.ip != raw->arg[1])
		return 0;
	if (!t->exec.under_way || !raw->arg[3])
		p->dumped = raw->arg[2];
	p->awaits_stack = false;
	return a->defers ? 0 : asm_pending_release(a, t);
}

int asm_pending_stack(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_pending *p = t->pending;
	bool user = raw->kind == RAW_USER_STACK;

	if (!p || !p->active || !p->awaits_stack || (user ? p->has_user : p->kernel.nr))
		return 0;
	if (asm_frames_take(user ? &p->user : &p->kernel, raw))
		return -ENOMEM;
	p->has_user = p->has_user || user;
	return p->has_user && !asm_pending_awaits_kernel(a, t) ? asm_pending_stack_over(a, t) : 0;
}

/*
 * The arguments are written at the top of the new space, and moved down with their region later: by
 * as much as the top of that is now lower than the highest of them was.
 */
int asm_pending_exec(struct pfs_assembler *a, struct asm_thread *t)
{
	struct event_list *l = t->pending ? &t->pending->exec : NULL;
	uint64_t top = 0, down;

	if (!l || !l->nr)
		return 0;
	for (unsigned int i = 0; i < l->nr; i++)
		if (l->list[i].end > top)
			top = l->list[i].end;
	down = t->exec.stack_id && t->exec.stack_top < top ? top - t->exec.stack_top : 0;
	for (unsigned int i = 0; i < l->nr; i++) {
		l->list[i].start -= down;
		l->list[i].end -= down;
	}
	return emit_list(a, l);
}

/* ---- the handler ---- */

static enum pfs_by by_of(const struct asm_thread *t)
{
	static const uint8_t by[SYS_NR] = {
		[SYS_MMAP] = PFS_BY_MLOCK,
		[SYS_MADVISE] = PFS_BY_MADVISE,
		[SYS_PROCESS_MADVISE] = PFS_BY_MADVISE,
		[SYS_MLOCK] = PFS_BY_MLOCK,
		[SYS_MLOCK2] = PFS_BY_MLOCK,
		[SYS_MLOCKALL] = PFS_BY_MLOCK,
		[SYS_MREMAP] = PFS_BY_MREMAP,
		[SYS_BRK] = PFS_BY_BRK,
		[SYS_SHMAT] = PFS_BY_SHMAT,
		[SYS_EXECVE] = PFS_BY_EXEC,
		[SYS_EXECVEAT] = PFS_BY_EXEC,
		[SYS_MPROTECT] = PFS_BY_MPROTECT,
		[SYS_PKEY_MPROTECT] = PFS_BY_MPROTECT,
	};

	if (t->call.nr == SYS_MMAP && t->call.arg[3] & MAP_POPULATE && !(t->call.arg[3] & MAP_LOCKED))
		return PFS_BY_MMAP;
	return by[t->call.nr] ? by[t->call.nr] : PFS_BY_GUP;
}

/* get_user_pages' fault. The region's identity shows when it is in another process's memory. */
static void populate_event(const struct pfs_assembler *a, const struct asm_thread *t, const struct raw_event *raw,
			   struct pfs_event *ev)
{
	uint64_t flags = raw->arg[1];

	asm_event_range(ev, raw, t, PFS_POPULATE, range_of(page_of(a, raw->arg[0]), a->page_mask + 1));
	PFS_SET(ev, by, BY, by_of(t));
	if (t->exec.under_way)
		PFS_SET(ev, space, SPACE, PFS_SPACE_EXEC);
	else if (flags != RAW_ABSENT && flags & PFS_FLAG_REMOTE)
		PFS_SET(ev, space, SPACE, PFS_SPACE_OTHER);
}

/* A fault in user mode whose exception is not in the recording: it was lost, or came before the recording started. */
static void late_event(const struct asm_thread *t, const struct raw_event *raw, struct pfs_event *ev)
{
	asm_event_init(ev, raw, t, PFS_FAULT);
	PFS_SET(ev, addr, ADDR, raw->arg[0]);
	PFS_SET(ev, mode, MODE, PFS_USER);
}

/* The handler's arguments, as far as the probe recorded them. */
static void take_arguments(struct asm_pending *p, const struct raw_event *raw)
{
	struct pfs_event *ev = &p->ev;
	uint64_t flags = raw->arg[1];

	p->flags = flags;
	if (flags != RAW_ABSENT)
		PFS_SET(ev, flags, FLAGS, flags & PFS_FLAGS_KNOWN);
	if (flags != RAW_ABSENT && !pfs_has(ev, PFS_F_ACCESS))
		PFS_SET(ev, access, ACCESS,
			flags & PFS_FLAG_WRITE	       ? PFS_WRITE
			: flags & PFS_FLAG_INSTRUCTION ? PFS_EXECUTE
						       : PFS_READ);
	if (raw->arg[2] != RAW_ABSENT)
		PFS_SET(ev, id, ID, raw->arg[2]);
	if (raw->arg[3] == RAW_ABSENT || raw->arg[4] == RAW_ABSENT)
		return;
	p->region = (struct range){ raw->arg[3], raw->arg[4] };
	if (p->exception)
		asm_event_set_range(ev, p->region);
}

static uint64_t mark_of(const struct pfs_assembler *a, uint64_t addr, bool exception)
{
	return page_of(a, addr) + 1 + exception;
}

/* Is the last mark this fault's? */
static bool take_mark(const struct pfs_assembler *a, struct asm_thread *t, struct asm_pending *p)
{
	if (t->hidden != mark_of(a, p->addr, p->exception))
		return false;
	PFS_SET(&p->ev, how, HOW, PFS_HOW_HIDDEN);
	p->hidden = true;
	t->hidden = 0;
	return true;
}

/*
 * Do the flags fit? The kernel refuses an exception in kernel mode with page faults off at once, and get_user_pages may
 * bring the same page then: an exception's FAULT_FLAG_DEFAULT has INTERRUPTIBLE, get_user_pages' flags have not.
 */
static bool fits(const struct asm_pending *p, uint64_t flags)
{
	if (flags == RAW_ABSENT)
		return true;
	if (!p->exception || p->ev.mode == PFS_KERNEL)
		return !(flags & PFS_FLAG_USER) && (!p->exception || flags & PFS_FLAG_INTERRUPTIBLE);
	return flags & PFS_FLAG_USER;
}

/* Is this the handler of the pending fault? */
static bool is_its(const struct pfs_assembler *a, const struct asm_pending *p, const struct raw_event *raw)
{
	if (!p || !p->active || (p->began && !p->again) || !fits(p, raw->arg[1]))
		return false;
	return raw->arg[0] == RAW_ABSENT || page_of(a, raw->arg[0]) == page_of(a, p->addr);
}

int asm_handler(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_pending *p = t->pending;
	int err = 0;

	if (!a->handlers)
		return 0;
	if (!is_its(a, p, raw)) {
		if (raw->arg[0] == RAW_ABSENT) /* get_user_pages', at an unknown address */
			return asm_pending_release(a, t);
		p = begin(a, t, &err);
		if (!p)
			return err;
		p->addr = raw->arg[0];
		p->exception = raw->arg[1] != RAW_ABSENT && raw->arg[1] & PFS_FLAG_USER;
		if (p->exception)
			late_event(t, raw, &p->ev);
		else
			populate_event(a, t, raw, &p->ev);
		take_mark(a, t, p);
	}
	p->began = true;
	p->again = false;
	p->began_ns = raw->ts_ns;
	take_arguments(p, raw);
	return 0;
}

/* As the kernel's mm_account_fault() counts: it leaves out failures and retries. */
static void set_class(struct asm_pending *p, uint64_t ret)
{
	bool tried = p->flags != RAW_ABSENT && p->flags & PFS_FLAG_TRIED;

	if (ret == RAW_ABSENT || ret & (RET_ERROR | RET_RETRY))
		return;
	PFS_SET(&p->ev, class, CLASS, ret & RET_MAJOR || tried ? PFS_MAJOR_CLASS : PFS_MINOR);
}

int asm_handler_end(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_pending *p = t->pending;
	uint64_t ret = raw->arg[0];

	if (!p || !p->active || !p->began_ns) /* it began before the recording did */
		return 0;
	PFS_SET(&p->ev, latency_ns, LATENCY, p->ev.latency_ns + raw->ts_ns - p->began_ns);
	p->began_ns = 0;
	p->again = ret != RAW_ABSENT && ret & RET_RETRY;
	if (p->again)
		return 0;
	set_class(p, ret);
	return asm_pending_release(a, t);
}

int asm_function(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_pending *p = t->pending;

	if (!a->functions || !p || !p->active || raw->arg[0] == RAW_ABSENT)
		return 0;
	if (raw->arg[0] == PFS_H_BEGIN) {
		/* Called from elsewhere: get_user_pages, and no longer this fault. */
		if (p->caller && p->caller != raw->arg[1])
			return asm_pending_release(a, t);
		p->caller = raw->arg[1];
	}
	p->seen |= 1u << raw->arg[0];
	return 0;
}

/* get_user_pages met a hidden page, which shows here alone. The handler of such faults has one result. */
static int emit_hidden(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct raw_event entry = *raw;
	struct pfs_event ev;

	entry.arg[1] = RAW_ABSENT; /* the handler's flags */
	populate_event(a, t, &entry, &ev);
	PFS_SET(&ev, how, HOW, PFS_HOW_HIDDEN);
	PFS_SET(&ev, class, CLASS, PFS_MINOR);
	ev.inferred |= PFS_HAS(PFS_F_CLASS);
	return asm_pending_release(a, t) ?: asm_emit(a, &ev);
}

/*
 * The module that hides pages found one at the entry of the handler, where its probe comes before or behind that of the
 * recording.
 */
int asm_hidden(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_pending *p = t->pending;

	if (!a->hides || raw->arg[0] == RAW_ABSENT)
		return 0;
	if (raw->arg[1] && !a->handlers)
		return emit_hidden(a, t, raw);
	t->hidden = mark_of(a, raw->arg[0], !raw->arg[1]);
	if (!p || !p->active || !take_mark(a, t, p))
		return 0;
	return a->handlers || a->functions ? 0 : asm_pending_release(a, t);
}

/* This raw event of the thread, about to be taken in, ends its pending fault. */
int asm_pending_end(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int err = asm_pending_release(a, t);

	/* An exec that returns here has failed: its arguments were in an address space that no longer exists. */
	if (!err && raw->kind == RAW_SYS_EXIT && t->pending && t->pending->exec.nr)
		err = emit_list(a, &t->pending->exec);
	return err;
}
