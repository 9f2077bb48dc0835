/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of faults by class. */
#include "classes/classes_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_FORKED = 3 }; /* more processes whose pages were copied are one row of text */

const struct pfs_column pfs_classes_columns[] = {
	{ "faults", "faults", 0 },
	{ "percent", "%", PFS_COLUMN_TENTHS },
	{ "reported", "reported", PFS_COLUMN_OPTIONAL },
	{ "major", "major", PFS_COLUMN_OPTIONAL },
	{ "kernel", "kernel", PFS_COLUMN_OPTIONAL },
	{ "latency_ns", "total ns", PFS_COLUMN_OPTIONAL },
	{ "class", "class", PFS_COLUMN_LEFT },
	{ "forked", "", PFS_COLUMN_NOT_TEXT },
	{ NULL, NULL, 0 },
};

static void put_row(struct pfs_table *table, const struct pfs_class_sum *sum, uint64_t all, const char *name)
{
	pfs_table_numbers(table, sum->faults, all ? sum->faults * 1000 / all : 0, sum->reported, sum->major,
			  sum->kernel);
	pfs_table_known(table, sum->nr_timed, sum->latency_ns);
	pfs_table_word(table, name);
	pfs_table_known(table, sum->key.forked, sum->key.forked);
}

void pfs_classes_table(const struct pfs_classes *classes, struct pfs_table *table, bool text, bool each)
{
	struct pfs_class_sum all = { 0 }, forks = { 0 };
	const struct pfs_class_sum **sums;
	unsigned int nr_forks = 0;
	size_t nr = 0, rows = 0;
	char name[64];
	bool merged;

	sums = pfs_classes_sorted(classes, &nr);
	if (!sums)
		pfs_table_fail(table);
	for (size_t i = 0; i < nr; i++) {
		class_add(&all, sums[i], 1);
		if (sums[i]->key.class != PFS_CLASS_COW_FORK)
			continue;
		class_add(&forks, sums[i], 1);
		nr_forks++;
	}
	merged = text && nr_forks > MAX_FORKED && !each;
	for (size_t i = 0; i < nr; i++) {
		const struct pfs_class_sum *sum = sums[i];
		const char *class = pfs_class_names[sum->key.class];

		if (merged && forks.faults && (sum->faults <= forks.faults || pfs_class_is_unknown(sum->key.class))) {
			snprintf(name, sizeof(name), "%s (of %u processes)", pfs_class_names[PFS_CLASS_COW_FORK],
				 nr_forks);
			put_row(table, &forks, all.faults, name);
			forks.faults = 0;
			rows++;
		}
		if (merged && sum->key.class == PFS_CLASS_COW_FORK)
			continue;
		snprintf(name, sizeof(name), text && sum->key.forked ? "%s (of process %d)" : "%s", class,
			 sum->key.forked);
		put_row(table, sum, all.faults, name);
		rows++;
	}
	if (text && rows > 1) {
		snprintf(name, sizeof(name), "total of %zu", rows);
		put_row(table, &all, all.faults, name);
	}
	free(sums);
}
