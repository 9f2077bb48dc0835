/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the random layout workload does to memory, one small operation at a time: layout.c's table
 * of operations names them. Not which operation comes when, nor processes and threads: that is
 * layout.c. Where they may work: layout_actor.h. Most calls may fail, and failing half-way is
 * welcome.
 */
#ifndef LAYOUT_OPS_H
#define LAYOUT_OPS_H

#include "layout_actor.h"

#include <linux/mempolicy.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/shm.h>

/* What other processors and older headers lack. */
#ifndef MAP_32BIT
#define MAP_32BIT 0
#endif
#define L_MAP_DROPPABLE	      0x08
#define L_MREMAP_DONTUNMAP    4
#define L_MADV_GUARD_INSTALL  102
#define L_MADV_GUARD_REMOVE   103
#define L_PR_SET_MEMORY_MERGE 67
#define L_SYS_MEMFD_SECRET    447
#define L_SYS_MSEAL	      462

static void op_touch(struct actor *a)
{
	int i;
	struct span s = target(a, &i);

	touch_span(a, s, i >= 0 && a->areas[i].code);
}

/* mmap's flags beyond where and what. */
static int random_flags(struct actor *a, bool anonymous)
{
	static const int flags[] = {
		MAP_NORESERVE, MAP_POPULATE, MAP_STACK, MAP_LOCKED, MAP_NONBLOCK | MAP_POPULATE,
	};
	int f = 0;

	if (chance(a, 30))
		f |= flags[below(a, sizeof(flags) / sizeof(*flags))];
	if (anonymous && chance(a, 4))
		f |= MAP_GROWSDOWN;
	return f;
}

/* Where to map: NULL lets the kernel choose. */
static char *random_place(struct actor *a, struct span *s, int *flags)
{
	unsigned int kind = below(a, 10);

	if (kind < 4) {
		s->pages = 1 + below(a, 40);
		*flags |= kind == 3 ? MAP_32BIT : 0;
		return NULL;
	}
	*s = arena_span(a);
	*flags |= kind < 8 ? MAP_FIXED : kind == 8 ? MAP_FIXED_NOREPLACE : 0;
	return s->start;
}

static void op_map_anon(struct actor *a)
{
	int flags = MAP_ANONYMOUS, prot = random_prot(a);
	unsigned int kind = below(a, 20);
	struct area area = { 0 };
	char *where, *p;

	flags |= kind < 14 ? MAP_PRIVATE : kind < 19 ? MAP_SHARED : L_MAP_DROPPABLE;
	flags |= random_flags(a, kind < 14);
	where = random_place(a, &area.span, &flags);
	p = mmap(where, bytes(area.span), prot, flags, -1, 0);
	if (p == MAP_FAILED)
		return;
	area.span.start = p;
	area.removable = kind >= 14 && kind < 19;
	area_add(a, area);
	if (chance(a, 50))
		touch_span(a, area.span, false);
}

/* File 0 is /dev/zero, which is no code; the rest is RET all over. */
static void op_map_file(struct actor *a)
{
	unsigned int file = below(a, NR_FILES);
	int flags = chance(a, 60) ? MAP_PRIVATE : MAP_SHARED, prot = random_prot(a);
	off_t off = below(a, 12) * WL_PAGE;
	struct area area = { .code = file > 0 };
	char *where, *p;

	flags |= random_flags(a, false);
	where = random_place(a, &area.span, &flags);
	p = mmap(where, bytes(area.span), prot, flags, a->layout->fds[file], off);
	if (p == MAP_FAILED)
		return;
	area.span.start = p;
	area_add(a, area);
	if (chance(a, 50))
		touch_span(a, area.span, area.code && !in_arena(a, p));
}

/* Continues a neighbour in the same file, so that the kernel may merge the two. */
static void op_map_beside(struct actor *a)
{
	struct span s = arena_span(a);
	int fd = chance(a, 50) ? a->layout->fds[1 + below(a, 3)] : -1;
	int flags = MAP_PRIVATE | MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0);
	size_t half = s.pages / 2 * WL_PAGE;
	int prot = random_prot(a);

	if (half && mmap(s.start, half, prot, flags, fd, 0) != MAP_FAILED)
		mmap(s.start + half, bytes(s) - half, prot, flags, fd, half);
}

static void op_unmap(struct actor *a)
{
	int i;
	struct span s = target(a, &i);

	if (!munmap(s.start, bytes(s)) && i >= 0)
		area_cut(a, i, s);
}

/* PROT_GROWSDOWN widens the range to the start of a region that grows down. */
static void op_protect(struct actor *a)
{
	int i, prot = random_prot(a);
	struct span s = target(a, &i);

	if (chance(a, 10))
		syscall(SYS_pkey_mprotect, s.start, bytes(s), prot, -1);
	else
		mprotect(s.start, bytes(s), prot | (chance(a, 4) ? PROT_GROWSDOWN : 0));
}

/* What is known of the pages at s after a move; i is the area they were in, or -1. */
static struct area moved(const struct actor *a, int i, struct span to)
{
	struct area area = { .span = to, .dontfork = a->arena_dontfork };

	if (i >= 0)
		area = a->areas[i];
	area.span = to;
	return area;
}

/* Grow, shrink, move where the kernel likes. DONTUNMAP takes the address for a hint. */
static void op_remap(struct actor *a)
{
	int i, flags = chance(a, 60) ? MREMAP_MAYMOVE : 0;
	struct span s = target(a, &i), to;
	struct area area;
	char *p;

	to.pages = 1 + below(a, 2 * s.pages + 2);
	if (flags && chance(a, 25)) {
		flags |= L_MREMAP_DONTUNMAP;
		to.pages = s.pages;
	}
	p = mremap(s.start, bytes(s), to.pages * WL_PAGE, flags, NULL);
	if (p == MAP_FAILED)
		return;
	to.start = p;
	area = moved(a, i, to);
	if (i >= 0 && !(flags & L_MREMAP_DONTUNMAP))
		area_cut(a, i, s);
	area_add(a, area);
	touch_span(a, to, false);
}

/*
 * To an address in the arena, over what is there; since 6.17 several regions may move at once, and
 * the move may end half-way: then nothing is known of the area it came from.
 */
static void op_remap_fixed(struct actor *a)
{
	int i, flags = MREMAP_MAYMOVE | MREMAP_FIXED;
	struct span s = target(a, &i), to = arena_span(a);
	char *p;

	if (chance(a, 60) && to.start + bytes(s) <= a->arena + ARENA_PAGES * WL_PAGE)
		to.pages = s.pages;
	if (to.pages == s.pages && chance(a, 20))
		flags |= L_MREMAP_DONTUNMAP;
	p = mremap(s.start, bytes(s), bytes(to), flags, to.start);
	if (i < 0 || flags & L_MREMAP_DONTUNMAP)
		return;
	if (a->areas[i].dontfork)
		a->arena_dontfork = true;
	if (p == MAP_FAILED)
		area_forget(a, i);
	else
		area_cut(a, i, s);
}

/* An old length of 0 maps the same pages of a shared mapping a second time, where the kernel likes or in the arena. */
static void op_remap_copy(struct actor *a)
{
	bool fixed = chance(a, 50);
	int i;
	struct span s = target(a, &i), to = arena_span(a);
	char *p = mremap(s.start, 0, bytes(s), fixed ? MREMAP_MAYMOVE | MREMAP_FIXED : MREMAP_MAYMOVE, to.start);

	if (p != MAP_FAILED && !fixed)
		area_add(a, moved(a, i, (struct span){ p, s.pages }));
}

/*
 * Not on a System V segment: its id is marked for removal, so the call unmaps the old range, finds the
 * segment gone, and returns EINVAL, as it does when it did nothing. No event tells the two apart.
 */
static void op_remap_file_pages(struct actor *a)
{
	int i;
	struct span s = target(a, &i);

	for (unsigned int n = 0; n < a->nr_shm; n++)
		if (s.start < a->shm[n].start + a->shm[n].pages * WL_PAGE && s.start + bytes(s) > a->shm[n].start)
			return;
	syscall(SYS_remap_file_pages, s.start, bytes(s), 0, below(a, 8), 0);
}

static void op_advise(struct actor *a)
{
	static const int advices[] = {
		MADV_DONTFORK,
		MADV_DONTFORK,
		MADV_DOFORK,
		MADV_NOHUGEPAGE,
		MADV_NOHUGEPAGE,
		MADV_HUGEPAGE,
		MADV_DONTDUMP,
		MADV_DONTDUMP,
		MADV_DODUMP,
		MADV_MERGEABLE,
		MADV_UNMERGEABLE,
		MADV_WIPEONFORK,
		MADV_KEEPONFORK,
		MADV_RANDOM,
		MADV_SEQUENTIAL,
		MADV_NORMAL,
		MADV_DONTNEED,
		MADV_WILLNEED,
		MADV_COLD,
		MADV_FREE,
		22 /* MADV_POPULATE_READ */,
		23 /* MADV_POPULATE_WRITE */,
		L_MADV_GUARD_INSTALL,
		L_MADV_GUARD_REMOVE,
	};
	int advice = advices[below(a, sizeof(advices) / sizeof(*advices))], i;
	struct span s = target(a, &i);

	if (advice == MADV_DONTFORK && i >= 0)
		a->areas[i].dontfork = true;
	else if (advice == MADV_DONTFORK)
		a->arena_dontfork = true;
	madvise(s.start, bytes(s), advice);
}

static void op_lock(struct actor *a)
{
	int i;
	struct span s = target(a, &i);
	unsigned int kind = below(a, 3);

	if (kind == 0)
		mlock(s.start, bytes(s));
	else if (kind == 1)
		munlock(s.start, bytes(s));
	else
		syscall(SYS_mlock2, s.start, bytes(s), 1 /* MLOCK_ONFAULT */);
}

/* With MCL_FUTURE whatever is mapped counts: thread stacks too, which must not fail. */
static bool may_lock_all(void)
{
	struct rlimit limit;

	return !geteuid() || (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur == RLIM_INFINITY);
}

/* Marks every region of the process at once, which splits and merges. */
static void op_whole_process(struct actor *a)
{
	static const int flags[] = {
		MCL_CURRENT,
		MCL_CURRENT | 4 /* MCL_ONFAULT */,
		MCL_CURRENT | MCL_FUTURE,
		MCL_FUTURE | 4,
	};
	unsigned int kind = below(a, 8);

	if (kind < 4)
		mlockall(may_lock_all() ? flags[kind] : MCL_CURRENT);
	else if (kind < 7)
		munlockall();
	else
		prctl(L_PR_SET_MEMORY_MERGE, chance(a, 50), 0, 0, 0);
}

/* A memory policy is a reason to split too. */
static void op_policy(struct actor *a)
{
	int i;
	struct span s = target(a, &i);
	unsigned long nodes = 1;
	int mode = chance(a, 50) ? MPOL_PREFERRED : MPOL_DEFAULT;

	syscall(SYS_mbind, s.start, bytes(s), mode, mode ? &nodes : NULL, mode ? 8 : 0, 0);
}

/* A sealed region can never be changed again: forgotten. */
static void op_seal(struct actor *a)
{
	unsigned int i;

	if (!a->nr_areas)
		return;
	i = below(a, a->nr_areas);
	struct span s = part_of(a, a->areas[i].span);
	area_forget(a, i);
	syscall(L_SYS_MSEAL, s.start, bytes(s), 0);
}

static void op_shm_attach(struct actor *a)
{
	struct shm shm = { .pages = 1 + below(a, 20) };
	int id = shmget(IPC_PRIVATE, bytes((struct span){ NULL, shm.pages }), IPC_CREAT | 0600);
	int flags = (chance(a, 30) ? SHM_RDONLY : 0) | (chance(a, 20) ? SHM_EXEC : 0);
	char *where = NULL;

	if (id < 0)
		return;
	if (!a->alone || chance(a, 50)) {
		where = arena_span(a).start;
		if (where + shm.pages * WL_PAGE > a->arena + ARENA_PAGES * WL_PAGE)
			where = a->arena;
		flags |= chance(a, 70) ? SHM_REMAP : SHM_RND;
	}
	shm.start = shmat(id, where, flags);
	shmctl(id, IPC_RMID, NULL);
	if (shm.start == (char *)-1)
		return;
	area_add(a, (struct area){ .span = { shm.start, shm.pages }, .removable = true });
	if (a->nr_shm < MAX_SHM)
		a->shm[a->nr_shm++] = shm;
	touch_span(a, (struct span){ shm.start, shm.pages }, false);
}

/*
 * It detaches what is left of the segment, also if that begins in its middle. The kernel finds it
 * by address and offset, so that segments outside of arenas are for one actor only.
 */
static void op_shm_detach(struct actor *a)
{
	struct shm shm;
	unsigned int n;

	if (!a->nr_shm)
		return;
	n = below(a, a->nr_shm);
	shm = a->shm[n];
	a->shm[n] = a->shm[--a->nr_shm];
	shmdt(shm.start);
	for (unsigned int i = a->nr_areas; i-- > 0;)
		if (a->areas[i].span.start < shm.start + shm.pages * WL_PAGE &&
		    a->areas[i].span.start + bytes(a->areas[i].span) > shm.start)
			area_forget(a, i);
}

/* A region that grows when the page below it is touched, as the first thread's stack does. */
static void op_grow_down(struct actor *a)
{
	char *window = a->arena + ARENA_STRIDE / 2, *top = window + 1024 * WL_PAGE;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN;

	if (a->low && chance(a, 15)) {
		munmap(window, top - window);
		a->low = NULL;
	} else if (!a->low) {
		a->low = mmap(top - 2 * WL_PAGE, 2 * WL_PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
		a->low = a->low == MAP_FAILED ? NULL : a->low;
	} else if (a->low > window + 32 * WL_PAGE) {
		a->low -= (1 + below(a, 20)) * WL_PAGE;
		touch_one(a->low, below(a, 2));
	}
	if (a->low && chance(a, 20))
		mprotect(a->low + WL_PAGE, WL_PAGE, PROT_READ | PROT_GROWSDOWN);
}

/* Regions that no mmap made: an aio ring; and descriptors that make odd ones. */
static void op_odd_memory(struct actor *a)
{
	unsigned int kind = below(a, 3);
	struct area area = { .span = { NULL, 8 } };
	unsigned long ring = 0;
	int fd;

	if (kind == 0) {
		if (!syscall(SYS_io_setup, 1 + below(a, 500), &ring) && chance(a, 60))
			syscall(SYS_io_destroy, ring);
	} else if (kind == 1) {
		area.span.pages = WL_HUGE / WL_PAGE;
		area.span.start = mmap(NULL, WL_HUGE, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE, -1, 0);
	} else {
		fd = syscall(L_SYS_MEMFD_SECRET, O_CLOEXEC);
		if (fd < 0 || ftruncate(fd, bytes(area.span)))
			return;
		area.span.start = mmap(NULL, bytes(area.span), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	if (area.span.start && area.span.start != MAP_FAILED)
		area_add(a, area);
}

/* Registering for userfaultfd splits, closing it merges; nobody touches the pages in between. */
static void op_userfaultfd(struct actor *a)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1 /* UFFD_USER_MODE_ONLY */);
	char *p = mmap(NULL, 16 * WL_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		goto out;
	reg.range.start = (uintptr_t)p + below(a, 8) * WL_PAGE;
	reg.range.len = (1 + below(a, 8)) * WL_PAGE;
	if (fd >= 0 && !ioctl(fd, UFFDIO_API, &api))
		ioctl(fd, UFFDIO_REGISTER, &reg);
	if (a->alone)
		checkpoint(&a->layout->cps);
	area_add(a, (struct area){ .span = { p, 16 } });
out:
	if (fd >= 0)
		close(fd);
}

/* A large reservation of which a little is made usable. */
static void op_reserve(struct actor *a)
{
	size_t pages = (size_t)1 << (12 + below(a, 8));
	struct span all = { NULL, pages }, some;
	char *p;

	p = mmap(NULL, bytes(all), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return;
	some = (struct span){ p + below(a, pages - 64) * WL_PAGE, 1 + below(a, 60) };
	mprotect(some.start, bytes(some), PROT_READ | PROT_WRITE);
	touch_span(a, some, false);
	if (chance(a, 60))
		munmap(p, bytes(all));
	else
		area_add(a, (struct area){ .span = some });
}

static void op_malloc(struct actor *a)
{
	unsigned int i = below(a, MAX_KEPT);
	size_t len = 1 + below(a, chance(a, 70) ? 30000 : 400000);

	free(a->kept[i]);
	a->kept[i] = chance(a, 70) ? malloc(len) : NULL;
	if (a->kept[i])
		memset(a->kept[i], RET, len);
}

/* PROT_READ alone then gives execute permission too, for as long as it lasts. */
static void op_personality(struct actor *a)
{
	personality(chance(a, 40) ? READ_IMPLIES_EXEC : PER_LINUX);
}

static void op_anon_name(struct actor *a)
{
	int i;
	struct span s = target(a, &i);

	if (a->layout->anon_names)
		prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, s.start, bytes(s),
		      chance(a, 80) ? "two words: \\x [y]" + below(a, 3) : NULL);
}

#endif
