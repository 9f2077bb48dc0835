/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reference strings for cache simulators. Each reference is one request for a page as memory has it (struct pfs_ref,
 * frame): a page of a file is the same for all processes, private pages differ.
 */
#ifndef PFS_TAPE_SIM_H
#define PFS_TAPE_SIM_H

#include "reference/refs.h"

#include <stdio.h>

enum pfs_sim_format {
	PFS_SIM_LACKEY, /* text: "I  ADDR,SIZE", " L", " S", as Valgrind's lackey traces memory */
	PFS_SIM_CSV,	/* time (s), object, size */
	PFS_SIM_ORACLE, /* libCacheSim's oracleGeneral: 24 bytes a request, with its page's next one */
};

struct pfs_sim;

/* model and out are borrowed. NULL: no memory. */
struct pfs_sim *pfs_sim_new(const struct pfs_model *model, enum pfs_sim_format format, FILE *out);
void pfs_sim_free(struct pfs_sim *sim);

/* Writes a request, or keeps it until the end: a pfs_ref_fn. 0 or -ENOMEM. */
int pfs_sim_add(void *sim, const struct pfs_ref *ref);

/* There are no more references. 0, -ENOMEM or -EIO (see errno). */
int pfs_sim_finish(struct pfs_sim *sim);

#endif
