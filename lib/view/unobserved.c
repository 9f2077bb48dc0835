/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums over the pages that --refault did not observe: see view/rows.h.
 */
#include "view/rows.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

/* Until put_in_order() a moment has what changes then, modulo 2^64. */
static int add_change(struct pfs_unobserved *u, uint64_t ts_ns, uint64_t pages)
{
	struct pfs_unobserved_moment *moment = pfs_array_add(u->moments, u->nr, u->max);

	if (!moment)
		return -ENOMEM;
	*moment = (struct pfs_unobserved_moment){ ts_ns, pages };
	return 0;
}

static int compare_moments(const void *a, const void *b)
{
	const struct pfs_unobserved_moment *x = a, *y = b;

	return pfs_order(x->ts_ns, y->ts_ns);
}

static void put_in_order(struct pfs_unobserved *u)
{
	uint64_t pages = 0;
	size_t kept = 0;

	if (u->nr)
		qsort(u->moments, u->nr, sizeof(*u->moments), compare_moments);
	for (size_t i = 0; i < u->nr; i++) {
		pages += u->moments[i].pages;
		if (i + 1 < u->nr && u->moments[i + 1].ts_ns == u->moments[i].ts_ns)
			continue;
		u->moments[kept++] = (struct pfs_unobserved_moment){ u->moments[i].ts_ns, pages };
	}
	u->nr = kept;
}

static int add_row(struct pfs_unobserved *u, const struct pfs_epochs *at, const struct pfs_row *row)
{
	struct pfs_stay stay;
	unsigned int i = 0;
	int ret = 0;

	u->pages += row->tally.unobserved;
	u->of += row->tally.in_memory;
	while (!ret && pfs_stay_next(at->epoch->space, row->region, at->model->page_shift, &i, &stay))
		ret = add_change(u, stay.from_ns, stay.pages) ?: add_change(u, stay.to_ns, -stay.pages);
	return ret;
}

int pfs_unobserved_find(struct pfs_unobserved *u, const struct pfs_model *model, const struct pfs_filter *filter,
			int32_t pid, bool no_code)
{
	struct pfs_epochs at = { .model = model, .filter = filter };
	int ret = 0;

	*u = (struct pfs_unobserved){ 0 };
	while (!ret && pfs_epochs_next(&at)) {
		struct pfs_rows rows;

		if (pid && at.proc->pid != pid)
			continue;
		ret = pfs_rows_collect(&rows, &at);
		for (unsigned int i = 0; !ret && i < rows.nr; i++)
			if (rows.row[i].region && !(no_code && rows.row[i].region->perms & PFS_PERM_X))
				ret = add_row(u, &at, &rows.row[i]);
		pfs_rows_free(&rows);
	}
	if (ret)
		pfs_unobserved_fini(u);
	else
		put_in_order(u);
	return ret;
}

void pfs_unobserved_fini(struct pfs_unobserved *u)
{
	free(u->moments);
	*u = (struct pfs_unobserved){ 0 };
}

uint64_t pfs_unobserved_most(const struct pfs_unobserved *u, uint64_t from_ns, uint64_t to_ns)
{
	size_t at = pfs_lower_bound(u->nr, i, u->moments[i].ts_ns <= from_ns);
	uint64_t most = at ? u->moments[at - 1].pages : 0;

	for (; at < u->nr && u->moments[at].ts_ns < to_ns; at++)
		most = u->moments[at].pages > most ? u->moments[at].pages : most;
	return most;
}
