/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects by pages. The size from place to place is that of the events; where the first place is, the first object shows. */
#include "objects/slabs.h"

#include "base/array.h"

#include <errno.h>

/*
 * Places that certainly exist: the last one lies within the page. Whether one more begins in it depends on how many pages
 * the slab has, which only an object there shows.
 */
static uint32_t certain_places(const struct pfs_slab_page *page)
{
	uint32_t nr = (PFS_SLAB_PAGE - page->phase) / page->size;

	return nr ? nr : 1;
}

static uint32_t offset_of(const struct pfs_object *o)
{
	return pfs_object_address(o) % PFS_SLAB_PAGE;
}

static bool has_places_of(const struct pfs_slab_page *page, const struct pfs_object *o)
{
	return page->size == o->allocated && page->phase == offset_of(o) % o->allocated;
}

static void begin_anew(struct pfs_slab_page *page, const struct pfs_object *o)
{
	if (page->nr)
		memset(page->places, 0, page->nr);
	page->name = NULL;
	page->size = o->allocated;
	page->phase = offset_of(o) % o->allocated;
	page->nr = page->alive = page->unseen = 0;
}

/* An event that names the cache knows better than one that does not. */
static void set_cache(const struct pfs_slabs *slabs, struct pfs_slab_page *page, uint32_t cache)
{
	const char *name = pfs_objects_cache(slabs->objects, cache);

	if (page->name && name[0] == '?')
		return;
	page->cache = cache;
	page->name = name;
}

static bool has_place(const struct pfs_object *o)
{
	return o->allocated && !pfs_object_is_pages(o);
}

static int take_alloc(void *ctx, const struct pfs_object *o)
{
	struct pfs_slabs *slabs = ctx;
	struct pfs_slab_page *page;
	uint32_t nr;

	if (!has_place(o)) {
		slabs->elsewhere++;
		return 0;
	}
	page = PFS_HASH_GET(slabs->pages, key, pfs_object_address(o) / PFS_SLAB_PAGE);
	if (!page)
		return -ENOMEM;
	if (!has_places_of(page, o))
		begin_anew(page, o);
	nr = offset_of(o) / o->allocated;
	page->nr = nr >= page->nr ? nr + 1 : page->nr;
	if (page->nr < certain_places(page))
		page->nr = certain_places(page);
	if (!pfs_array_extend(page->places, page->max, page->nr))
		return -ENOMEM;
	set_cache(slabs, page, o->cache);
	page->alive += !(page->places[nr] & PFS_PLACE_ALIVE);
	page->places[nr] = PFS_PLACE_SEEN | PFS_PLACE_ALIVE | (page->places[nr] ? PFS_PLACE_AGAIN : 0);
	return 0;
}

static int take_end(void *ctx, const struct pfs_object *o, const struct pfs_object_end *end)
{
	uint64_t key = pfs_object_address(o) / PFS_SLAB_PAGE;
	struct pfs_slabs *slabs = ctx;
	struct pfs_slab_page *page;
	uint8_t *place;

	HASH_FIND(hh, slabs->pages, &key, sizeof(key), page);
	if (!has_place(o) || !page || !has_places_of(page, o))
		return 0;
	place = &page->places[offset_of(o) / o->allocated];
	set_cache(slabs, page, end->cache);
	if (pfs_object_counts_as_alive(end)) {
		*place |= end->unsure ? PFS_PLACE_UNSURE : 0;
		return 0;
	}
	if (*place & PFS_PLACE_ALIVE) {
		page->alive--;
		page->unseen += end->fate == PFS_OBJECT_UNSEEN;
	}
	*place &= ~PFS_PLACE_ALIVE;
	return 0;
}

struct pfs_object_sink pfs_slabs_sink(struct pfs_slabs *slabs)
{
	return (struct pfs_object_sink){ take_alloc, take_end, slabs };
}

void pfs_slabs_fini(struct pfs_slabs *slabs)
{
	for (struct pfs_slab_page *page = slabs->pages; page; page = page->hh.next)
		free(page->places);
	PFS_HASH_FREE(slabs->pages);
}
