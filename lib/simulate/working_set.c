/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages are in a list by the time of their last references. The set of a window is the newer end of that list,
 * from the window's edge on; all windows share the list.
 */
#include "simulate/working_set.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

struct entry {
	uint64_t last_ns;
	uint32_t older, newer; /* NOBODY: the end */
	bool seen;
};

struct window {
	uint64_t tau_ns;
	uint32_t edge; /* the oldest page in the set; NOBODY: it is empty */
	uint32_t pages, max;
	unsigned __int128 page_ns; /* how long pages were in it, together */
	uint64_t step_ns;	   /* the end of the step under way; 0: none yet */
	struct pfs_working_set_step *steps;
	uint32_t nr_steps, max_steps;
};

struct pfs_working_sets {
	struct entry *entries;
	size_t nr_entries;
	uint32_t oldest, newest;
	uint64_t first_ns, now_ns, base_ns;
	bool series, begun;
	unsigned int nr;
	struct window windows[];
};

struct pfs_working_sets *pfs_working_sets_new(const uint64_t *windows_ns, unsigned int nr, bool series,
					      uint64_t base_ns)
{
	struct pfs_working_sets *w = calloc(1, sizeof(*w) + nr * sizeof(w->windows[0]));

	if (!w)
		return NULL;
	w->oldest = w->newest = NOBODY;
	w->base_ns = w->now_ns = base_ns;
	w->series = series;
	w->nr = nr;
	for (unsigned int i = 0; i < nr; i++)
		w->windows[i] = (struct window){ .tau_ns = windows_ns[i], .edge = NOBODY };
	return w;
}

void pfs_working_sets_free(struct pfs_working_sets *w)
{
	if (!w)
		return;
	for (unsigned int i = 0; i < w->nr; i++)
		free(w->windows[i].steps);
	free(w->entries);
	free(w);
}

/* ---- time ---- */

/* What was last referenced at or before now - tau is out. */
static void expire(const struct pfs_working_sets *w, struct window *window, uint64_t now_ns)
{
	while (window->edge != NOBODY && now_ns - w->entries[window->edge].last_ns >= window->tau_ns) {
		window->edge = w->entries[window->edge].newer;
		window->pages--;
	}
}

static int add_step(struct window *window)
{
	struct pfs_working_set_step *step;

	if (window->nr_steps >= PFS_WORKING_SET_MAX_STEPS)
		return -EOVERFLOW;
	step = pfs_array_add(window->steps, window->nr_steps, window->max_steps);
	if (!step)
		return -ENOMEM;
	*step = (struct pfs_working_set_step){ window->step_ns, window->pages };
	return 0;
}

/* Ends the steps that end before that time. */
static int end_steps(const struct pfs_working_sets *w, struct window *window, uint64_t now_ns)
{
	int ret = 0;

	if (!window->step_ns) {
		uint64_t nr = (now_ns - w->base_ns + window->tau_ns - 1) / window->tau_ns;

		window->step_ns = w->base_ns + nr * window->tau_ns;
	}
	while (!ret && window->step_ns < now_ns) {
		expire(w, window, window->step_ns);
		ret = add_step(window);
		window->step_ns += window->tau_ns;
	}
	return ret;
}

static int move_on(struct pfs_working_sets *w, uint64_t now_ns)
{
	for (unsigned int i = 0; i < w->nr; i++) {
		int ret = w->series ? end_steps(w, &w->windows[i], now_ns) : 0;

		if (ret)
			return ret;
		expire(w, &w->windows[i], now_ns);
	}
	w->now_ns = now_ns;
	return 0;
}

/* ---- references ---- */

static void unlink_page(struct pfs_working_sets *w, uint32_t page)
{
	const struct entry *e = &w->entries[page];

	if (e->older == NOBODY)
		w->oldest = e->newer;
	else
		w->entries[e->older].newer = e->newer;
	if (e->newer == NOBODY)
		w->newest = e->older;
	else
		w->entries[e->newer].older = e->older;
}

static void link_newest(struct pfs_working_sets *w, uint32_t page)
{
	w->entries[page].older = w->newest;
	w->entries[page].newer = NOBODY;
	if (w->newest == NOBODY)
		w->oldest = page;
	else
		w->entries[w->newest].newer = page;
	w->newest = page;
}

/* The page goes to the newer end of a window's set, wherever it was. `e` is still what it was. */
static void refresh(const struct pfs_working_sets *w, struct window *window, uint32_t page, const struct entry *e)
{
	uint64_t gap = w->now_ns - e->last_ns;

	if (e->seen)
		window->page_ns += gap < window->tau_ns ? gap : window->tau_ns;
	if (!e->seen || gap >= window->tau_ns)
		window->pages++;
	else if (window->edge == page)
		window->edge = e->newer;
	if (window->edge == NOBODY)
		window->edge = page;
	if (window->pages > window->max)
		window->max = window->pages;
}

int pfs_working_sets_refer(struct pfs_working_sets *w, uint32_t page, uint64_t ts_ns)
{
	uint64_t earliest = w->begun ? w->now_ns : w->base_ns + 1;
	int ret;

	if (page >= w->nr_entries && !pfs_array_extend(w->entries, w->nr_entries, (size_t)page + 1))
		return -ENOMEM;
	ret = move_on(w, ts_ns > earliest ? ts_ns : earliest);
	if (ret)
		return ret;
	if (!w->begun)
		w->first_ns = w->now_ns;
	w->begun = true;
	for (unsigned int i = 0; i < w->nr; i++)
		refresh(w, &w->windows[i], page, &w->entries[page]);
	if (w->entries[page].seen)
		unlink_page(w, page);
	link_newest(w, page);
	w->entries[page].seen = true;
	w->entries[page].last_ns = w->now_ns;
	return 0;
}

int pfs_working_sets_end(struct pfs_working_sets *w)
{
	for (uint32_t page = w->begun ? w->oldest : NOBODY; page != NOBODY; page = w->entries[page].newer) {
		for (unsigned int i = 0; i < w->nr; i++) {
			uint64_t gap = w->now_ns - w->entries[page].last_ns, tau_ns = w->windows[i].tau_ns;

			w->windows[i].page_ns += gap < tau_ns ? gap : tau_ns;
		}
	}
	/* The step that holds the last reference ends, too. */
	for (unsigned int i = 0; w->series && w->begun && i < w->nr; i++) {
		int ret;

		expire(w, &w->windows[i], w->windows[i].step_ns);
		ret = add_step(&w->windows[i]);
		if (ret)
			return ret;
	}
	return 0;
}

struct pfs_working_set pfs_working_sets_get(const struct pfs_working_sets *w, unsigned int nr)
{
	const struct window *window = &w->windows[nr];
	uint64_t span_ns = w->now_ns - w->first_ns;

	return (struct pfs_working_set){
		.window_ns = window->tau_ns,
		.max = window->max,
		.mean = w->begun && span_ns ? (double)window->page_ns / span_ns : window->max,
		.steps = window->steps,
		.nr_steps = window->nr_steps,
	};
}
