/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for what objects share, from 0 on in order of appearance: call sites, caches, processes, stacks. So an object is a
 * few numbers, and is compared and added up by them.
 */
#ifndef PFS_OBJECT_NAMES_H
#define PFS_OBJECT_NAMES_H

#include "objects/objects.h"

struct pfs_intern;

enum { PFS_NAMES_HOT = 1024 }; /* a power of 2 */

/* By 64 bits that stand for each; the last one of each place is found at once. */
struct pfs_numbers {
	struct pfs_number *all;
	struct pfs_number_hot {
		uint64_t key;
		uint32_t nr; /* + 1; 0: none */
	} hot[PFS_NAMES_HOT];
	uint32_t nr;
};

struct pfs_object_cache {
	const char *name;
	bool named; /* by the event */
	bool wanted;
};

struct pfs_names {
	const struct pfs_object_filter *filter;
	struct pfs_numbers site_numbers, cache_numbers, who_numbers, stack_numbers;
	struct pfs_object_site *sites;
	struct pfs_object_cache *caches;
	struct pfs_object_who *whos;
	const char **stacks;
	const char **merged; /* names of one cache each, separated by spaces */
	size_t nr_merged;
	size_t nr_sites, nr_caches, nr_whos, nr_stacks, max_sites, max_caches, max_whos, max_stacks;
	struct pfs_name_thread *threads, *hot_threads[PFS_NAMES_HOT];
	struct pfs_name_target *targets;
	struct pfs_name_process *processes;
	bool has_targets; /* some processes were chosen */
	struct pfs_intern *strings;
	uint64_t kmalloc_key;
};

/* The filter is borrowed. */
void pfs_names_init(struct pfs_names *names, const struct pfs_object_filter *filter);
void pfs_names_fini(struct pfs_names *names);

/* Of an event. The number, or -ENOMEM. */
int64_t pfs_names_site(struct pfs_names *names, const struct pfs_event *ev);
int64_t pfs_names_cache(struct pfs_names *names, const struct pfs_event *ev);
int64_t pfs_names_who(struct pfs_names *names, const struct pfs_event *ev);

/* From 1 on; or -ENOMEM. */
int64_t pfs_names_stack(struct pfs_names *names, const char *frames);

/* What an event says of threads and processes. 0 or -ENOMEM. */
int pfs_names_process(struct pfs_names *names, const struct pfs_event *ev);

/* The process was chosen, with its future children. 0 or -ENOMEM. */
int pfs_names_target(struct pfs_names *names, int32_t pid);

/* The kernel keeps the objects of these caches (names with spaces between them) in one. 0 or -ENOMEM. */
int pfs_names_add_merged(struct pfs_names *names, const char *caches);

/* The names of the caches that are one with that one; NULL: none is. */
const char *pfs_names_merged(const struct pfs_names *names, uint32_t cache);

#endif
