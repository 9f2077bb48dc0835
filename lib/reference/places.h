/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where references are: the object that a page is a page of, and which one, the same in every run; and a number for
 * the page itself, private copies apart. refs.c asks for each reference.
 */
#ifndef PFS_PLACES_H
#define PFS_PLACES_H

#include "reference/mappings.h"
#include "reference/page_index.h"
#include "reference/refs.h"

/* All but `model` begins as zeroes. */
struct pfs_places {
	const struct pfs_model *model; /* borrowed */
	struct object *objects, *files;
	struct namesakes *names;
	struct image *images;
	struct pfs_page_index frames;
	bool no_frames; /* they get no numbers */
	uint32_t nr_images, nr_keys;
};

/* Where a reference was, before anything is numbered. */
struct pfs_spot {
	struct image *image;
	struct object *object;
	uint64_t start, end; /* until the layout changes, pages of [start, end) are numbered on from here: */
	uint64_t addr;
	int64_t page;
	uint32_t key;	  /* of the page index; the object's, but for mappings */
	bool may_be_copy; /* of a page of a file: the mapping's own, if that has such a page */
	uint32_t copies_key;
	int64_t copies_page;
};

/* Where a reference is, as the layout is now; the region is NULL if it is not known. 0 or -ENOMEM. */
int pfs_places_find(struct pfs_places *places, struct pfs_space *space, const struct pfs_region *region,
		    const char *region_name, uint64_t addr, struct pfs_spot *spot);

static inline bool pfs_spot_holds(const struct pfs_spot *spot, uint64_t addr)
{
	return addr - spot->start < spot->end - spot->start;
}

/*
 * Completes a reference that the spot holds, of which address and access are set: object, page, frame, `again` and the
 * number of the image, all numbered in the order of these calls. 0, -ENOMEM or -EOVERFLOW.
 */
int pfs_places_number(struct pfs_places *places, const struct pfs_spot *spot, struct pfs_ref *ref);

/*
 * Changes of the layout, after the model has applied them. So a new mapping is known as such even if the kernel merges
 * its region with a neighbour. 0 or -ENOMEM.
 */
int pfs_places_map(struct pfs_places *places, struct pfs_space *space, const struct pfs_event *ev);
int pfs_places_unmap(struct pfs_places *places, struct pfs_space *space, uint64_t start, uint64_t end);
int pfs_places_move(struct pfs_places *places, struct pfs_space *space, const struct pfs_event *ev);

/* The whole layout became known at once: each region is a mapping. 0 or -ENOMEM. */
int pfs_places_found(struct pfs_places *places, struct pfs_space *space);

/* The child has the parent's mappings, as its own. 0 or -ENOMEM. */
int pfs_places_fork(struct pfs_places *places, struct pfs_space *parent, struct pfs_space *child);

void pfs_places_fini(struct pfs_places *places);

#endif
