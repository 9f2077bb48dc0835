/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who the random layout workload's operations (layout_ops.h) are done by and where.
 *
 * An actor works in two places. Its arena is a range of addresses that the kernel gives to nobody
 * else, so that there any call may hit any pages, mapped or not. Elsewhere, where the kernel chose
 * the address, it touches only what it knows to be its own: its areas. In doubt an area is
 * forgotten, which leaks it until exec and harms nobody.
 */
#ifndef LAYOUT_ACTOR_H
#define LAYOUT_ACTOR_H

#include "checkpoint.h"

#include <setjmp.h>
#include <stdbool.h>

#define ARENA_PAGES  512
#define ARENA_BASE   0x100000000000ul /* far below mmap, far above the low 2 GiB */
#define ARENA_STRIDE 0x40000000ul     /* per actor; the second half is for growing down */
#define MAX_AREAS    24
#define MAX_SHM	     8
#define MAX_MEMO     8
#define MAX_KEPT     6
#define NR_FILES     10
#define RET	     0xc3 /* all files are full of it: any of their pages can be called */

struct span {
	char *start;
	size_t pages;
};

struct area {
	struct span span;
	bool code;	/* each page begins with RET, unless it is behind a file's end */
	bool dontfork;	/* part of it may be missing in a child */
	bool removable; /* shared memory that is nobody's code: MADV_REMOVE does no harm */
};

struct shm {
	char *start;
	size_t pages;
};

struct actor {
	struct layout *layout;
	uint64_t rng;
	char *arena;
	char *low;		    /* lowest page of the region that grows down, or NULL */
	struct span memo[MAX_MEMO]; /* ranges of the arena that were used before */
	unsigned int nr_memo;
	struct area areas[MAX_AREAS];
	unsigned int nr_areas;
	struct shm shm[MAX_SHM];
	unsigned int nr_shm;
	void *kept[MAX_KEPT];
	bool arena_dontfork;
	bool alone; /* nobody else runs in this address space */
};

/* What belongs to the process. */
struct layout {
	struct checkpoints cps;
	const char *self; /* path of this program */
	uint64_t seed;
	long steps;
	unsigned int depth; /* images before this one */
	unsigned int level; /* forks before this process */
	unsigned int max_checkpoints;
	bool verbose, anon_names, pages;
	int scratch; /* a file to write to (--pages) */
	bool vdso_moved;
	int fds[NR_FILES];
	char *heap_base, *heap_end; /* of the part of the heap that is not malloc's */
	bool heap_mixed;	    /* not all of that is plain memory any more */
};

static uint64_t rnd(struct actor *a)
{
	uint64_t z = (a->rng += 0x9e3779b97f4a7c15ul);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebul;
	return z ^ (z >> 31);
}

static unsigned int below(struct actor *a, unsigned int n)
{
	return rnd(a) % n;
}

static bool chance(struct actor *a, unsigned int percent)
{
	return below(a, 100) < percent;
}

static size_t bytes(struct span s)
{
	return s.pages * WL_PAGE;
}

/* Part of s: all of it, its head, its tail or its middle. */
static struct span part_of(struct actor *a, struct span s)
{
	size_t head = 0, tail = 0;

	if (s.pages > 1 && chance(a, 60))
		head = below(a, s.pages);
	if (s.pages - head > 1 && chance(a, 60))
		tail = below(a, s.pages - head);
	return (struct span){ s.start + head * WL_PAGE, s.pages - head - tail };
}

static bool in_arena(const struct actor *a, const char *p)
{
	return p >= a->arena && p < a->arena + ARENA_PAGES * WL_PAGE;
}

static struct span arena_anywhere(struct actor *a)
{
	size_t pages = 1 + below(a, chance(a, 70) ? 12 : 100);

	return (struct span){ a->arena + below(a, ARENA_PAGES - pages) * WL_PAGE, pages };
}

/* A range of the arena: often one that was used before, so that exact fits and splits happen. */
static struct span arena_span(struct actor *a)
{
	struct span s = arena_anywhere(a);
	unsigned int kind = below(a, 10);

	if (a->nr_memo && kind < 6)
		s = a->memo[below(a, a->nr_memo)];
	if (kind == 4 || kind == 5)
		s = part_of(a, s);
	if (a->nr_memo < MAX_MEMO)
		a->memo[a->nr_memo++] = s;
	else
		a->memo[below(a, MAX_MEMO)] = s;
	return s;
}

static void area_forget(struct actor *a, unsigned int i)
{
	a->areas[i] = a->areas[--a->nr_areas];
}

/* Remembers what the kernel has just mapped, or unmaps it if there is no room. */
static void area_add(struct actor *a, struct area area)
{
	if (!area.span.pages || in_arena(a, area.span.start))
		return;
	if (a->nr_areas < MAX_AREAS)
		a->areas[a->nr_areas++] = area;
	else
		munmap(area.span.start, bytes(area.span));
}

/* s is no longer part of area i; what is left of it on both sides is. */
static void area_cut(struct actor *a, unsigned int i, struct span s)
{
	struct area old = a->areas[i], head = old, tail = old;
	char *end = s.start + bytes(s), *old_end = old.span.start + bytes(old.span);

	area_forget(a, i);
	head.span.pages = (s.start - old.span.start) / WL_PAGE;
	area_add(a, head);
	if (end < old_end) {
		tail.span = (struct span){ end, (old_end - end) / WL_PAGE };
		area_add(a, tail);
	}
}

/* A range to do something to; its area's index in *i, or -1 if it is in the arena. */
static struct span target(struct actor *a, int *i)
{
	*i = -1;
	if (!a->nr_areas || chance(a, 60))
		return arena_span(a);
	*i = below(a, a->nr_areas);
	return part_of(a, a->areas[*i].span);
}

static int random_prot(struct actor *a)
{
	static const int prots[] = {
		PROT_READ,
		PROT_READ,
		PROT_READ | PROT_WRITE,
		PROT_READ | PROT_WRITE,
		PROT_READ | PROT_WRITE,
		PROT_READ | PROT_EXEC,
		PROT_NONE,
		PROT_WRITE,
		PROT_EXEC,
		PROT_READ | PROT_WRITE | PROT_EXEC,
	};

	return prots[below(a, sizeof(prots) / sizeof(*prots))];
}

/*
 * Touching. The handler needs to know where to go on, and a signal handler has no other way to be
 * told than a variable of the thread.
 */
static __thread sigjmp_buf *touch_guard;

static void on_fault(int sig)
{
	if (touch_guard)
		siglongjmp(*touch_guard, 1);
	signal(sig, SIG_DFL);
}

static void touch_one(char *p, unsigned int how)
{
	sigjmp_buf guard;

	touch_guard = &guard;
	if (sigsetjmp(guard, 1))
		goto out;
	if (how == 2)
		((void (*)(void))p)();
	else if (how == 1)
		*(volatile char *)p = (char)RET;
	else
		(void)*(volatile char *)p;
out:
	touch_guard = NULL;
}

static void touch_span(struct actor *a, struct span s, bool code)
{
	for (unsigned int n = 1 + below(a, 6); n; n--)
		touch_one(s.start + below(a, s.pages) * WL_PAGE, below(a, code ? 3 : 2));
}

#endif
