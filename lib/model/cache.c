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
		for (size_t i = 0; i < file->nr_open; i++)
			pfs_space_put(file->open[i].space);
		free(file->open);
		free(file);
	}
}

/* ---- what comes ---- */

static int learn_change(struct pfs_pages **pages, const struct pfs_event *ev)
{
	struct pfs_page what = { .first_ns = ev->ts_ns, .last_ns = ev->ts_ns, .flags = PFS_PAGE_REFERENCED };
	uint64_t nr;

	if (!*pages)
		*pages = pfs_pages_new(12);
	return *pages ? pfs_pages_mark(*pages, ev->off, ev->end_off, &what, 0, &nr) : -ENOMEM;
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
	*run = (struct cache_run){ ev->off, ev->end_off, states[state] };
	if (run->end_off <= run->off || (coming->nr > 1 && run->off < run[-1].end_off))
		coming->nr--; /* not in order: passed over */
	if (!pfs_has(ev, PFS_F_LAST) || !ev->last)
		return 0;
	coming->begun_ns = ev->ts_ns - (pfs_has(ev, PFS_F_INTERVAL) ? ev->interval_ns : 0);
	probe_free(&file->before);
	file->before = file->last;
	file->last = *coming;
	*coming = (struct cache_probe){ 0 };
	return 0;
}

int cache_learn(struct cache_file *file, const struct pfs_event *ev, enum pfs_cached state)
{
	return state == PFS_CACHE_ADDED ? learn_change(&file->added, ev) : learn_run(file, ev, state);
}

int cache_evicted(struct cache_file *file, const struct pfs_event *ev)
{
	return learn_change(&file->removed, ev);
}

/* ---- what follows ---- */

/* The last time at which that happened to the page, or 0. */
static uint64_t last_change(const struct pfs_pages *pages, uint64_t off)
{
	const struct pfs_page *page = NULL;
	struct pfs_page_walk walk;

	if (!pages)
		return 0;
	pfs_page_walk_start(&walk, pages, off, off + 1);
	page = pfs_page_walk_next(&walk);
	return page ? page->last_ns : 0;
}

static enum cache_state probed(const struct cache_probe *probe, uint64_t off)
{
	size_t i = pfs_lower_bound(probe->nr, j, probe->runs[j].end_off <= off);

	return i < probe->nr && probe->runs[i].off <= off ? probe->runs[i].state : CACHE_UNKNOWN;
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

enum cache_verdict cache_verdict(const struct cache_file *file, uint64_t off, uint64_t ts_ns, uint64_t now_ns)
{
	uint64_t added = last_change(file->added, off), removed = last_change(file->removed, off);
	enum cache_state before;

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
