/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --stack=dwarf: a sample has the registers of user mode and a part of the stack. They are unwound when the turn of the sample
 * has come, in the layout that the process had then, and forgotten.
 */
#include "faults/faults_priv.h"

#include "base/array.h"
#include "unwind/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct perf_unwinder {
	struct pfs_unwind_files *files;
	struct perf_chain *chain; /* the last one */
	size_t max_words;
	uint64_t frames[PFS_MAX_FRAMES];
};

int perf_unwinder_open(struct perf_session *s, struct pfs_err *err)
{
	s->unwinder = calloc(1, sizeof(*s->unwinder));
	if (!s->unwinder)
		return pfs_err_set(err, -ENOMEM, "no memory to record");
	s->unwinder->files = pfs_unwind_files_new(err);
	return s->unwinder->files ? 0 : -errno;
}

void perf_unwinder_close(struct perf_session *s)
{
	if (!s->unwinder)
		return;
	pfs_unwind_files_free(s->unwinder->files);
	free(s->unwinder->chain);
	free(s->unwinder);
}

/* ---- what is mapped ---- */

static struct pfs_unwind_space *space_of(struct perf_proc *p)
{
	if (p && !p->space)
		p->space = pfs_unwind_space_new();
	return p ? p->space : NULL;
}

static int on_fork(struct perf_session *s, const struct pfs_unwind_space *parent, const struct pfs_event *ev)
{
	struct pfs_unwind_space *space = space_of(perf_proc(s, ev->child));

	return space ? pfs_unwind_space_copy(space, parent, ev->child) : -ENOMEM;
}

int perf_dump_event(struct perf_session *s, const struct pfs_event *ev)
{
	const struct pfs_unwind_map map = { ev->start, ev->end, ev->off, ev->ino, ev->dev, ev->pid, ev->name };
	struct pfs_unwind_space *space;
	int ret = 0;

	if (!s->unwinder ||
	    (ev->kind != PFS_FORK && ev->kind != PFS_EXEC && ev->kind != PFS_UNMAP && ev->kind != PFS_MAP))
		return 0;
	space = space_of(perf_proc(s, ev->pid));
	if (!space)
		return -ENOMEM;
	if (ev->kind == PFS_FORK)
		return on_fork(s, space, ev);
	if (ev->kind == PFS_MAP)
		ret = pfs_unwind_space_map(space, &map, ev->perms & PFS_PERM_X);
	else if (ev->kind == PFS_EXEC || !pfs_has(ev, PFS_F_START))
		ret = pfs_unwind_space_unmap(space, 0, UINT64_MAX);
	else
		ret = pfs_unwind_space_unmap(space, ev->start, ev->end);
	return ret < 0 ? ret : 0;
}

/* ---- unwinding ---- */

const struct perf_chain *perf_dump_chain(struct perf_session *s, struct perf_proc *p, const struct perf_item *item,
					 bool *cut)
{
	const struct pfs_stack_sample *sample = item->data;
	struct perf_unwinder *u = s->unwinder;
	uint64_t *words = (uint64_t *)u->chain, *to;
	unsigned int nr;

	*cut = true;
	if (!space_of(p))
		return NULL;
	nr = pfs_stack_sample_unwind(sample, u->files, p->space, item->mode == PFS_USER ? item->ip : 0, u->frames, cut);
	if (!pfs_array_reserve(words, 0, u->max_words, sample->nr_kernel + nr + 2))
		return NULL;
	u->chain = (struct perf_chain *)words;
	to = words + 1;
	memcpy(to, sample->kernel, sample->nr_kernel * sizeof(*to));
	to += sample->nr_kernel;
	*to++ = PERF_CONTEXT_USER;
	memcpy(to, u->frames, nr * sizeof(*to));
	*words = sample->nr_kernel + 1 + nr;
	return u->chain;
}
