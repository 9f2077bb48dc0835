/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which page a fault mapped, as far as the source knows: on which NUMA node, and how large it is in the page table. The node
 * is that of its page frame, by the recording's notes of the machine's memory.
 */
#ifndef PFS_MAPPED_H
#define PFS_MAPPED_H

#include "base/table.h"
#include "model/filter.h"

struct pfs_mapped;

/* Borrowed: the filter. NULL: no memory. */
struct pfs_mapped *pfs_mapped_new(const struct pfs_filter *filter);
void pfs_mapped_free(struct pfs_mapped *mapped);
struct pfs_observer pfs_mapped_observer(struct pfs_mapped *mapped);

/*
 * Adds a row for each size, or each node, and for each reason why it is unknown, to a table of these columns; in text one for
 * the sum. model: has the notes.
 */
extern const struct pfs_column pfs_mapped_size_columns[], pfs_mapped_node_columns[];
void pfs_mapped_sizes(const struct pfs_mapped *mapped, struct pfs_table *table, bool text);
void pfs_mapped_nodes(const struct pfs_mapped *mapped, const struct pfs_model *model, struct pfs_table *table,
		      bool text);

#endif
