/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What plot/data.c and plot/numbers.c share.
 */
#ifndef PFS_PLOT_DATA_PRIV_H
#define PFS_PLOT_DATA_PRIV_H

#include "base/hash.h"
#include "base/intern.h"
#include "plot/data.h"

#define PFS_PLOT_NO_REGION "(no known region)"

enum { PLOT_SITE_CACHE = 4096 };
#define PLOT_NO_IP UINT64_MAX

/* A key and its number, in a hash table of keys of its kind. Of a thread `id` is the key. */
struct plot_slot {
	UT_hash_handle hh;
	uint32_t nr;
	union {
		const struct pfs_space *space; /* of an image */
		struct {
			uint64_t image;
			const char *name;
		} group;
		struct pfs_plot_site site;
		struct plot_thread {
			struct {
				int32_t pid, tid;
			} id;
			struct pfs_plot_cell last; /* its last fault */
			bool has_last;		   /* in the cells */
			bool outside;		   /* in no region, but the stack may grow there by it */
		} thread;
	};
};

/* The place of the last touch. */
struct plot_place {
	const struct pfs_space *space;
	const struct pfs_region *region; /* NULL: none is known */
	const char *name;
	uint64_t start, end; /* as the region was then */
	uint32_t image, group;
	bool wanted;
};

struct pfs_plot_data_private {
	struct plot_place place;
	struct plot_slot *images, *groups, *threads, *sites, *last_thread;
	struct pfs_intern *names; /* of regions without a counterpart */
	uint64_t layout;	  /* changes with each event that may change a layout */
	struct {
		const struct pfs_space *space; /* NULL: none yet */
		uint64_t ip, layout;
		unsigned int mode;
		uint32_t nr;
	} recent[PLOT_SITE_CACHE];
};

/* Numbers of what cells are counted by. 0 or -ENOMEM. */
int plot_image_number(struct pfs_plot_data *data, const struct pfs_space *space, uint32_t *nr);
int plot_group_number(struct pfs_plot_data *data, uint32_t image, const char *name, uint32_t *nr);
int plot_thread_number(struct pfs_plot_data *data, const struct pfs_thread *thread, struct plot_slot **slot);
int plot_site_number(struct pfs_plot_data *data, const struct pfs_space *space, uint64_t ip, unsigned int mode,
		     uint32_t *nr);

/* A region of the group has been at [start, end). 0 or -ENOMEM. */
int plot_group_reach(struct pfs_plot_group *group, uint64_t start, uint64_t end);

void plot_numbers_free(struct pfs_plot_data_private *priv);

#endif
