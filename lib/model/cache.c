/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the page cache: see cache.h. */
#include "model/cache.h"

#include "base/array.h"
#include "model/model_priv.h"
#include "model/space.h"

#include <errno.h>

static void probe_free(struct cache_probe *probe)
{
	free(probe->runs);
	*probe = (struct cache_probe){ 0 };
}

struct cache_file *cache_file(struct pfs_model_private *priv, uint32_t dev, uint64_t ino)
{
	struct cache_key key = { ino, dev };
	struct cache_file *file = priv->last_file;

	if (file && file->key.ino == ino && file->key.dev == dev)
		return file;
	HASH_FIND(hh, priv->files, &key, sizeof(key), file);
	if (!file && (file = calloc(1, sizeof(*file)))) {
		file->key = key;
		HASH_ADD(hh, priv->files, key, sizeof(key), file);
		if (HASH_ADD_FAILED(file)) {
			free(file);
			return NULL;
		}
	}
	return priv->last_file = file;
}

const struct pfs_pages *pfs_model_vanished(const struct pfs_model *model, const struct pfs_region *region)
{
	struct cache_key key = { region->ino, region->dev };
	struct cache_file *file;

	HASH_FIND(hh, model->priv->files, &key, sizeof(key), file);
	return file ? file->vanished : NULL;
}

void cache_free(struct pfs_model_private *priv)
{
	struct cache_file *file, *next;

	HASH_ITER (hh, priv->files, file, next) {
		HASH_DEL(priv->files, file);
		probe_free(&file->last);
		probe_free(&file->before);
		probe_free(&file->coming);
		pfs_pages_free(file->added);
		pfs_pages_free(file->removed);
		pfs_pages_free(file->split);
		pfs_pages_free(file->vanished);
		for (size_t i = 0; i < file->nr_open; i++)
			pfs_space_put(file->open[i].space);
		for (size_t i = 0; i < file->nr_faults; i++)
			pfs_space_put(file->faults[i].space);
		free(file->faults);
		free(file->open);
		free(file);
	}
}

/* ---- the state of a page ---- */

/* The flags of a page that was added are the order of its folio, above this; 0: unknown. */
enum { ORDER_SHIFT = 16, NO_ORDER = -1, PAGE_SHIFT = 12 };

static int order_of(const struct pfs_event *ev)
{
	return pfs_has(ev, PFS_F_ORDER) && ev->order < 32 ? ev->order : NO_ORDER;
}

/* The last time at which that happened to the page, or 0, and the order of its folio then. */
static uint64_t last_change_order(const struct pfs_pages *pages, uint64_t off, int *order)
{
	const struct pfs_page *page = NULL;
	struct pfs_page_walk walk;

	*order = NO_ORDER;
	if (!pages)
		return 0;
	pfs_page_walk_start(&walk, pages, off, off + 1);
	page = pfs_page_walk_next(&walk);
	if (!page)
		return 0;
	*order = (int)((page->flags & ~PFS_PAGE_NEWEST) >> ORDER_SHIFT) + NO_ORDER;
	return page->last_ns;
}

static uint64_t last_change(const struct pfs_pages *pages, uint64_t off)
{
	int order;

	return last_change_order(pages, off, &order);
}

static const struct cache_run *run_at(const struct cache_probe *probe, uint64_t off)
{
	static const struct cache_run between = { .state = CACHE_ABSENT, .order = NO_ORDER };
	size_t i = pfs_lower_bound(probe->nr, j, probe->runs[j].end_off <= off);

	if (i < probe->nr && probe->runs[i].off > off)
		return i ? &between : NULL;
	return i < probe->nr ? &probe->runs[i] : NULL;
}

static enum cache_state probed(const struct cache_probe *probe, uint64_t off)
{
	const struct cache_run *run = run_at(probe, off);

	return run ? run->state : CACHE_UNKNOWN;
}

/* By a probe and what happened afterwards. */
static enum cache_state state_by(const struct cache_probe *probe, uint64_t off, uint64_t added, uint64_t removed)
{
	if (added <= probe->begun_ns && removed <= probe->begun_ns)
		return probed(probe, off);
	return added > removed ? CACHE_ADDED : CACHE_ABSENT;
}

enum cache_state cache_before(const struct cache_file *file, uint64_t off)
{
	return state_by(&file->last, off, last_change(file->added, off), last_change(file->removed, off));
}

/* ---- what comes ---- */

static int learn_change(struct pfs_pages **pages, uint64_t off, uint64_t end_off, int order, uint64_t ts_ns)
{
	struct pfs_page what = { .first_ns = ts_ns, .last_ns = ts_ns };
	uint64_t nr;

	what.flags = PFS_PAGE_NEWEST | PFS_PAGE_REFERENCED | (uint32_t)(order - NO_ORDER) << ORDER_SHIFT;

	if (!*pages)
		*pages = pfs_pages_new(PAGE_SHIFT);
	return *pages ? pfs_pages_mark(*pages, off, end_off, &what, 0, &nr) : -ENOMEM;
}

static bool is_in(enum cache_state state)
{
	return state == CACHE_READY || state == CACHE_HELD || state == CACHE_ADDED;
}

/* What is added again has vanished before. The kernel adds one folio at a time: more is not looked at. */
static int learn_added(struct cache_file *file, const struct pfs_event *ev)
{
	const uint64_t size = UINT64_C(1) << PAGE_SHIFT, most = UINT64_C(1) << 22;
	uint64_t end = ev->end_off - ev->off > most ? ev->off : ev->end_off;
	int err = 0;

	for (uint64_t off = ev->off; !err && off < end; off += size)
		if (is_in(cache_before(file, off)))
			err = learn_change(&file->vanished, off, off + size, NO_ORDER, ev->ts_ns);
	return err ?: learn_change(&file->added, ev->off, ev->end_off, order_of(ev), ev->ts_ns);
}

/* These pages, which were there at since_ns, were not when the last probe began, unless they have been removed. */
static int learn_gone(struct cache_file *file, uint64_t off, uint64_t end_off, uint64_t since_ns)
{
	const uint64_t ts_ns = file->last.begun_ns;
	const struct pfs_page *page;
	struct pfs_page_walk walk;
	uint64_t nr;
	int err = 0;

	if (file->removed)
		pfs_page_walk_start(&walk, file->removed, off, end_off);
	while (!err && file->removed && (page = pfs_page_walk_row(&walk, &nr))) {
		if (page->last_ns <= since_ns)
			continue;
		if (walk.addr > off)
			err = learn_change(&file->vanished, off, walk.addr, NO_ORDER, ts_ns);
		off = walk.addr + (nr << PAGE_SHIFT);
	}
	return err || off >= end_off ? err : learn_change(&file->vanished, off, end_off, NO_ORDER, ts_ns);
}

/* Of pages that were there at since_ns, those that the last probe has found absent: also what lies between its runs. */
static int look_again(struct cache_file *file, uint64_t off, uint64_t end_off, uint64_t since_ns)
{
	const struct cache_probe *last = &file->last;
	size_t i = pfs_lower_bound(last->nr, j, last->runs[j].end_off <= off);
	int err = 0;

	for (; !err && i < last->nr; i++) {
		const struct cache_run *run = &last->runs[i];
		uint64_t start = i ? run[-1].end_off : run->off;
		uint64_t end = run->state == CACHE_ABSENT ? run->end_off : run->off;

		start = start > off ? start : off;
		end = end < end_off ? end : end_off;
		if (start < end)
			err = learn_gone(file, start, end, since_ns);
		if (run->end_off >= end_off)
			break;
	}
	return err;
}

/* What has vanished between the last two probes. */
static int learn_vanished(struct cache_file *file)
{
	const struct cache_probe *before = &file->before;
	const struct pfs_page *page;
	struct pfs_page_walk walk;
	uint64_t nr;
	int err = 0;

	for (size_t i = 0; !err && i < before->nr; i++)
		if (is_in(before->runs[i].state))
			err = look_again(file, before->runs[i].off, before->runs[i].end_off, before->begun_ns);
	if (file->added)
		pfs_page_walk_start(&walk, file->added, 0, UINT64_MAX);
	while (!err && file->added && (page = pfs_page_walk_row(&walk, &nr)))
		if (page->last_ns > before->begun_ns && page->last_ns < file->last.begun_ns)
			err = look_again(file, walk.addr, walk.addr + (nr << PAGE_SHIFT), page->last_ns);
	return err;
}

/* The runs of a probe come one after the other, the last one marked. */
static int learn_run(struct cache_file *file, const struct pfs_event *ev, enum pfs_cached state)
{
	static const uint8_t states[PFS_NR_CACHE] = {
		[PFS_CACHE_READY] = CACHE_READY,
		[PFS_CACHE_HELD] = CACHE_HELD,
		[PFS_CACHE_ABSENT] = CACHE_ABSENT,
	};
	struct cache_probe *coming = &file->coming;
	struct cache_run *run = pfs_array_add(coming->runs, coming->nr, coming->max);

	if (!run)
		return -ENOMEM;
	*run = (struct cache_run){ ev->off, ev->end_off, states[state], order_of(ev) };
	if (run->end_off <= run->off || (coming->nr > 1 && run->off < run[-1].end_off))
		coming->nr--; /* not in order: passed over */
	if (!pfs_has(ev, PFS_F_LAST) || !ev->last)
		return 0;
	coming->begun_ns = ev->ts_ns - (pfs_has(ev, PFS_F_INTERVAL) ? ev->interval_ns : 0);
	probe_free(&file->before);
	file->before = file->last;
	file->last = *coming;
	*coming = (struct cache_probe){ 0 };
	return learn_vanished(file);
}

int cache_learn(struct cache_file *file, const struct pfs_event *ev, enum pfs_cached state)
{
	return state == PFS_CACHE_ADDED ? learn_added(file, ev) : learn_run(file, ev, state);
}

int cache_evicted(struct cache_file *file, const struct pfs_event *ev)
{
	return learn_change(&file->removed, ev->off, ev->end_off, order_of(ev), ev->ts_ns);
}

/* ---- what follows ---- */

enum cache_verdict cache_verdict(const struct cache_file *file, uint64_t off, uint64_t ts_ns, uint64_t now_ns)
{
	uint64_t added = last_change(file->added, off), removed = last_change(file->removed, off);
	enum cache_state before;

	if (last_change(file->vanished, off) > ts_ns)
		return CACHE_NEVER_KNOWN;
	/* What is removed is mapped nowhere, and what is added was not there before. */
	if (removed > ts_ns)
		return removed <= now_ns ? CACHE_NOT_MAPPED : CACHE_NEVER_KNOWN;
	if (added > ts_ns)
		return CACHE_NOT_MAPPED;
	if (file->last.begun_ns <= ts_ns)
		return CACHE_UNDECIDED;
	switch (probed(&file->last, off)) {
	case CACHE_ABSENT:
	case CACHE_HELD:
		return CACHE_NOT_MAPPED;
	case CACHE_READY:
		if (file->before.begun_ns > ts_ns)
			return CACHE_NEVER_KNOWN;
		before = state_by(&file->before, off, added, removed);
		return before == CACHE_UNKNOWN || before == CACHE_READY ? CACHE_MAPPED : CACHE_NEVER_KNOWN;
	default:
		return CACHE_UNDECIDED;
	}
}

/* ---- folios ---- */

/* Takes in what another witness has found. False: they differ. */
static bool agree(int *order, int other)
{
	bool same = *order == other || *order == NO_ORDER || other == NO_ORDER;

	*order = other == NO_ORDER ? *order : other;
	return same;
}

/* What the last addition and removal of the page show; *since_ns: from when on that holds. */
static bool order_by_changes(const struct cache_file *file, uint64_t off, uint64_t ts_ns, int *order,
			     uint64_t *since_ns)
{
	int added_order, removed_order;
	uint64_t added = last_change_order(file->added, off, &added_order);
	uint64_t removed = last_change_order(file->removed, off, &removed_order);

	*since_ns = added > removed ? added : removed;
	*order = removed > ts_ns ? removed_order : NO_ORDER;
	if (removed > ts_ns ? added < removed : added > removed)
		return agree(order, added_order);
	return true;
}

/* Did the file go on at off? */
static bool goes_on(const struct cache_file *file, uint64_t off, uint64_t ts_ns)
{
	const struct cache_probe *probes[] = { &file->before, &file->last };
	uint64_t added = last_change(file->added, off), removed = last_change(file->removed, off);

	if (added > ts_ns || (removed > added && removed <= ts_ns))
		return false;
	for (size_t i = 0; i < 2; i++)
		if (probes[i]->nr && off < probes[i]->runs[probes[i]->nr - 1].end_off)
			return true;
	return added || removed;
}

bool cache_folio(const struct cache_file *file, unsigned int page_shift, uint64_t off, uint64_t ts_ns,
		 struct cache_folio *folio)
{
	const struct cache_probe *probes[] = { &file->before, &file->last };
	uint64_t since_ns, size, split_ns = last_change(file->split, off), until_ns = UINT64_MAX;
	int order;

	if (!order_by_changes(file, off, ts_ns, &order, &since_ns))
		return false;
	if (split_ns > since_ns && split_ns <= ts_ns) {
		since_ns = split_ns;
		order = NO_ORDER;
	} else if (split_ns > ts_ns) {
		until_ns = split_ns;
	}
	for (size_t i = 0; i < 2; i++) {
		bool holds = probes[i]->begun_ns > since_ns && probes[i]->begun_ns < until_ns;
		const struct cache_run *run = holds ? run_at(probes[i], off) : NULL;

		if (run && !agree(&order, run->order))
			return false;
	}
	if (order == NO_ORDER || order >= (int)page_shift - 3) /* a whole page of page tables: is mapped otherwise */
		return false;
	size = UINT64_C(1) << page_shift << order;
	folio->off = off & -size;
	folio->end_off = folio->off + size;
	folio->at_end = !goes_on(file, folio->end_off, ts_ns);
	return true;
}

int cache_split(struct cache_file *file, unsigned int page_shift, uint64_t off, uint64_t ts_ns,
		struct cache_folio *folio)
{
	uint64_t size = UINT64_C(1) << page_shift;
	int order, huge = (int)page_shift - 3;

	if (cache_folio(file, page_shift, off, ts_ns, folio)) {
		order = __builtin_ctzll((folio->end_off - folio->off) >> page_shift);
	} else {
		if (!last_change_order(file->split, off, &order) || order == NO_ORDER)
			order = huge;
		folio->off = off & -(size << order);
		folio->end_off = folio->off + (size << order);
	}
	return order ? learn_change(&file->split, folio->off, folio->end_off, order, ts_ns) : 0;
}

bool cache_is_locked(const struct cache_file *file, unsigned int page_shift, const struct cache_locked *locked,
		     uint64_t off, uint64_t ts_ns)
{
	struct cache_folio folio;

	if (locked->off >= locked->end_off)
		return false;
	return !cache_folio(file, page_shift, off, ts_ns, &folio) ||
	       (folio.off < locked->end_off && folio.end_off > locked->off);
}
