/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/stack_numbers.h"

#include "base/hash.h"

#include <errno.h>

enum { MAX_CODE = 64 };

/* Executable memory, and of what file. */
struct code {
	uint64_t start, end;
	uint64_t dev, ino;
	uint64_t off; /* of address 0 */
};

#define MIXED UINT64_MAX /* dev: of more than one file */

struct proc {
	int32_t key;	 /* its number; of an unknown one that of a thread, negative */
	uint64_t layout; /* changes with its code; no other process has or had the same */
	unsigned int nr_code;
	struct code code[MAX_CODE]; /* in no order */
	UT_hash_handle hh;
};

struct slot {
	struct stack_key {
		uint64_t layout, hash;
	} key;
	uint64_t nr;
	UT_hash_handle hh;
};

struct pfs_stack_numbers {
	struct proc *procs;
	struct slot *slots;
	uint64_t nr_layouts, nr_stacks;
};

struct pfs_stack_numbers *pfs_stack_numbers_new(void)
{
	return calloc(1, sizeof(struct pfs_stack_numbers));
}

void pfs_stack_numbers_free(struct pfs_stack_numbers *n)
{
	if (!n)
		return;
	PFS_HASH_FREE(n->procs);
	PFS_HASH_FREE(n->slots);
	free(n);
}

/* NULL: no memory. */
static struct proc *proc_of(struct pfs_stack_numbers *n, int32_t pid)
{
	struct proc *p = PFS_HASH_GET(n->procs, key, pid);

	if (p && !p->layout)
		p->layout = ++n->nr_layouts;
	return p;
}

static int32_t key_of(const struct pfs_event *ev)
{
	return pfs_has(ev, PFS_F_PID) ? ev->pid : pfs_has(ev, PFS_F_TID) ? ~ev->tid : 0;
}

/* None that reaches into the range is left there; but one that it splits stays, where there is no room for two. */
static void cut_code(struct proc *p, uint64_t start, uint64_t end)
{
	for (unsigned int i = p->nr_code; i-- > 0;) {
		struct code *c = &p->code[i];

		if (c->start >= end || start >= c->end)
			continue;
		if (c->start < start && c->end > end) {
			if (p->nr_code == MAX_CODE)
				continue;
			p->code[p->nr_code] = *c;
			p->code[p->nr_code++].start = end;
			c->end = start;
		} else if (c->start < start) {
			c->end = start;
		} else if (c->end > end) {
			c->start = end;
		} else {
			*c = p->code[--p->nr_code];
		}
	}
}

/* Where there are too many, the last one becomes all that is between. */
static void add_code(struct proc *p, struct code c)
{
	struct code *last = &p->code[MAX_CODE - 1];

	if (p->nr_code < MAX_CODE) {
		p->code[p->nr_code++] = c;
		return;
	}
	last->start = c.start < last->start ? c.start : last->start;
	last->end = c.end > last->end ? c.end : last->end;
	last->dev = MIXED;
}

/* Is that known? Layouts are reported again now and then. */
static bool has_code(const struct proc *p, const struct code *c)
{
	for (unsigned int i = 0; i < p->nr_code; i++) {
		const struct code *old = &p->code[i];

		if (old->start <= c->start && old->end >= c->end && old->dev == c->dev && old->ino == c->ino &&
		    old->off == c->off)
			return true;
	}
	return false;
}

static bool is_code(const struct proc *p, uint64_t start, uint64_t end)
{
	for (unsigned int i = 0; i < p->nr_code; i++)
		if (p->code[i].start < end && start < p->code[i].end)
			return true;
	return false;
}

static int on_fork(struct pfs_stack_numbers *n, const struct pfs_event *ev)
{
	struct proc *child, *parent;

	if (!pfs_has(ev, PFS_F_CHILD))
		return 0;
	child = proc_of(n, ev->child);
	parent = proc_of(n, key_of(ev));
	if (!child || !parent)
		return -ENOMEM;
	child->layout = ++n->nr_layouts;
	child->nr_code = parent->nr_code;
	for (unsigned int i = 0; i < parent->nr_code; i++)
		child->code[i] = parent->code[i];
	return 0;
}

static struct code code_of(const struct pfs_event *ev)
{
	struct code c = { .start = ev->start, .end = ev->end };

	if (!pfs_has(ev, PFS_F_INO) || !pfs_is_file(ev->dev, ev->ino))
		return c;
	c.dev = ev->dev;
	c.ino = ev->ino;
	c.off = ev->off - ev->start;
	return c;
}

/* Takes in what is in the range from now on. Returns true if it is other code, or was code and is no more. */
static bool changes(struct proc *p, const struct pfs_event *ev)
{
	bool executable = pfs_has(ev, PFS_F_PERMS) && ev->perms & PFS_PERM_X;
	bool moves = ev->kind == PFS_MOVE && pfs_has(ev, PFS_F_FROM) && pfs_has(ev, PFS_F_LEN) &&
		     is_code(p, ev->from, ev->from + ev->len);
	bool known = executable || moves || pfs_has(ev, PFS_F_PERMS) || ev->kind == PFS_UNMAP;
	struct code c;

	if (!pfs_has(ev, PFS_F_START) || !pfs_has(ev, PFS_F_END))
		return true;
	c = code_of(ev);
	if (executable && has_code(p, &c))
		return false;
	if (!executable && !moves && !is_code(p, c.start, c.end))
		return false;
	if (known)
		cut_code(p, c.start, c.end);
	if (executable || moves)
		add_code(p, c);
	return true;
}

int pfs_stack_numbers_event(struct pfs_stack_numbers *n, const struct pfs_event *ev)
{
	struct proc *p;

	if (!key_of(ev) || (pfs_has(ev, PFS_F_SPACE) && ev->space != PFS_SPACE_EXEC))
		return 0;
	switch (ev->kind) {
	case PFS_FORK:
		return on_fork(n, ev);
	case PFS_EXEC:
	case PFS_MAP:
	case PFS_UNMAP:
	case PFS_PROTECT:
	case PFS_MOVE:
		break;
	default:
		return 0;
	}
	p = proc_of(n, key_of(ev));
	if (!p)
		return -ENOMEM;
	if (ev->kind == PFS_EXEC || changes(p, ev))
		p->layout = ++n->nr_layouts;
	return 0;
}

uint64_t pfs_stack_number(struct pfs_stack_numbers *n, const struct pfs_event *ev, uint64_t hash, bool *first)
{
	struct proc *p = proc_of(n, key_of(ev));
	struct slot *slot = p ? PFS_HASH_GET(n->slots, key, ((struct stack_key){ p->layout, hash })) : NULL;

	*first = slot && !slot->nr;
	if (*first)
		slot->nr = ++n->nr_stacks;
	return slot ? slot->nr : 0;
}

struct pfs_event pfs_stack_definition(const struct pfs_event *ev)
{
	return (struct pfs_event){
		.kind = PFS_FRAMES,
		.ts_ns = ev->ts_ns,
		.cpu = ev->cpu,
		.pid = ev->pid,
		.tid = ev->tid,
		.stack = ev->stack,
		.have = ev->have &
			(PFS_HAS(PFS_F_CPU) | PFS_HAS(PFS_F_PID) | PFS_HAS(PFS_F_TID) | PFS_HAS(PFS_F_STACK)),
	};
}
