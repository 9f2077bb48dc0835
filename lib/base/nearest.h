/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Did you mean": of some names the one that is nearest to a word, by letters to be changed, added or left out.
 */
#ifndef PFS_NEAREST_H
#define PFS_NEAREST_H

struct pfs_nearest {
	const char *word;  /* a glob: * and ? match as in fnmatch() */
	unsigned int most; /* letters that may differ */
	const char *name;  /* the first of the nearest, or NULL; borrowed */
};

/* The name becomes nearest->name if it is nearer than that. Of long words and names the first 63 letters count. */
void pfs_nearest_try(struct pfs_nearest *nearest, const char *name);

#endif
