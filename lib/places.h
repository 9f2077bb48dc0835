/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where references are: the object that a page is a page of, and which one, the same in every run; and a number for
 * the page itself, private copies apart. refs.c asks for each reference.
 */
#ifndef PFS_PLACES_H
#define PFS_PLACES_H

#include "page_index.h"
#include "refs.h"

/* All but `model` begins as zeroes. */
struct pfs_places {
	const struct pfs_model *model;	/* borrowed */
	struct object *objects, *files;
	struct namesakes *names;
	struct image *images;
	struct pfs_page_index frames;
	uint32_t nr_images, nr_keys;
};

/*
 * Completes a reference whose address, access, time and region (NULL: unknown) are set: object, page, frame, whether
 * it was there before, and the number of the image that the space is. 0 or -ENOMEM.
 */
int pfs_places_find(struct pfs_places *places, const struct pfs_space *space, struct pfs_ref *ref);

void pfs_places_fini(struct pfs_places *places);

#endif
