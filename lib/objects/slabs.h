/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects by the page of memory in which they begin: each page has places, one behind the other, as far apart as its cache
 * gives bytes to an object. A page that comes to have objects of another size belongs to another cache since: its places
 * begin anew.
 */
#ifndef PFS_SLABS_H
#define PFS_SLABS_H

#include "base/hash.h"
#include "objects/objects.h"

enum { PFS_SLAB_PAGE = 4096 };

/* What is known of a place. 0: no object of the recording was there. */
enum {
	PFS_PLACE_SEEN = 1,
	PFS_PLACE_ALIVE = 2,
	PFS_PLACE_AGAIN = 4,  /* allocated more than once */
	PFS_PLACE_UNSURE = 8, /* alive, but events were lost since it was allocated */
};

struct pfs_slab_page {
	uint64_t key;	    /* address / PFS_SLAB_PAGE */
	uint32_t cache;	    /* the last that an event named */
	const char *name;   /* of it; "? 144": no event named it */
	uint32_t size;	    /* from place to place */
	uint32_t phase;	    /* offset of the first place in the page */
	uint32_t nr, alive; /* places; living objects */
	uint32_t unseen;    /* objects that were freed without an event */
	uint8_t *places;    /* in the order of addresses */
	size_t max;
	UT_hash_handle hh;
};

struct pfs_slabs {
	struct pfs_objects *objects;
	struct pfs_slab_page *pages;
	uint64_t elsewhere; /* objects of unknown size, and pages */
};

/* slabs->objects is set by the caller before the first object comes. Of zeroes at first. */
struct pfs_object_sink pfs_slabs_sink(struct pfs_slabs *slabs);
void pfs_slabs_fini(struct pfs_slabs *slabs);

static inline uint64_t pfs_slab_address(const struct pfs_slab_page *page)
{
	return page->key * PFS_SLAB_PAGE;
}

/* Did no event name the cache? */
static inline bool pfs_slab_is_unnamed(const struct pfs_slab_page *page)
{
	return page->name[0] == '?';
}

#endif
