/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See mapped.h. Faults are counted by blocks of page frames: the notes, which tell their nodes, are at the end of a recording.
 */
#include "classes/mapped.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/units.h"
#include "event/notes.h"
#include "model/model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SHIFT = 9 }; /* nodes begin where 512 frames do; of others the node is unknown */

enum reason { KNOWN, NO_FRAME, UNMAPPED, SIZES, NOT_RECORDED, NO_NOTES, NO_NODE, BOTH_NODES };

static const char *const reasons[] = {
	[NO_FRAME] = "unknown: zero page or of the kernel", /* perf reports none */
	[UNMAPPED] = "unknown: no page was mapped",
	[SIZES] = "unknown: huge page of hugetlbfs",
	[NOT_RECORDED] = "unknown: not recorded (--pfn)",
	[NO_NOTES] = "unknown: the nodes were not recorded",
	[NO_NODE] = "unknown: in no zone",
	[BOTH_NODES] = "unknown: in zones of several nodes",
};

struct counts {
	uint64_t faults, read, write, exec, kernel, major;
};

/* Faults that mapped a page of that size in that block of frames. */
struct sum {
	struct {
		uint64_t page_size;   /* 0: unknown */
		uint64_t block, page; /* page: 1 if the frame is known */
	} key;
	UT_hash_handle hh;
	struct counts counts;
};

struct pfs_mapped {
	const struct pfs_filter *filter;
	struct sum *sums;
	bool any_size, any_frame;
};

struct pfs_mapped *pfs_mapped_new(const struct pfs_filter *filter)
{
	struct pfs_mapped *mapped = calloc(1, sizeof(*mapped));

	if (mapped)
		mapped->filter = filter;
	return mapped;
}

void pfs_mapped_free(struct pfs_mapped *mapped)
{
	if (mapped)
		PFS_HASH_FREE(mapped->sums);
	free(mapped);
}

/* NULL, with *err 0: it is not shown. */
static struct sum *sum_of(struct pfs_mapped *mapped, const struct sum *key, const struct pfs_outcome *o, int *err)
{
	struct sum *sum;

	*err = 0;
	if (!o->space || !o->thread || o->space->launcher || !pfs_filter_outcome(mapped->filter, o))
		return NULL;
	sum = PFS_HASH_GET(mapped->sums, key, key->key);
	*err = sum ? 0 : -ENOMEM;
	return sum;
}

static void count(struct counts *counts, unsigned int access, unsigned int mode, uint64_t nr)
{
	counts->faults += nr;
	counts->read += access == PFS_READ ? nr : 0;
	counts->write += access == PFS_WRITE ? nr : 0;
	counts->exec += access == PFS_EXECUTE ? nr : 0;
	counts->kernel += mode == PFS_KERNEL ? nr : 0;
}

static int take(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *o)
{
	struct pfs_mapped *mapped = ctx;
	bool frame = pfs_has(ev, PFS_F_PFN), size = pfs_has(ev, PFS_F_PAGE_SIZE);
	const struct sum key = { .key = { size ? ev->page_size : 0, frame ? ev->pfn >> BLOCK_SHIFT : 0, frame } };
	uint64_t nr = pfs_has(ev, PFS_F_COUNT) ? ev->count : 1;
	struct sum *sum;
	int err;

	if (ev->kind != PFS_FAULT)
		return 0;
	sum = sum_of(mapped, &key, o, &err);
	if (!sum)
		return err;
	mapped->any_size |= size;
	mapped->any_frame |= frame;
	count(&sum->counts, pfs_has(ev, PFS_F_ACCESS) ? ev->access : 0, pfs_has(ev, PFS_F_MODE) ? ev->mode : 0, nr);
	sum->counts.major += pfs_has(ev, PFS_F_CLASS) && ev->class == PFS_MAJOR_CLASS ? nr : 0;
	return 0;
}

/* Of these neither is known. */
static int take_run(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *o)
{
	const struct sum key = { 0 };
	int err;
	struct sum *sum = sum_of(ctx, &key, o, &err);

	if (sum)
		count(&sum->counts, run->access, run->mode, run->nr);
	return err;
}

struct pfs_observer pfs_mapped_observer(struct pfs_mapped *mapped)
{
	return (struct pfs_observer){ take, take_run, mapped };
}

/* ---- the tables ---- */

/* A row: of a node or a size, or of a reason. */
struct row {
	struct {
		uint64_t reason, value;
	} key;
	UT_hash_handle hh;
	struct counts counts;
};

#define COLUMNS(word, what)                                                                                   \
	{                                                                                                     \
		{ "faults", "faults", 0 }, { "percent", "%", PFS_COLUMN_TENTHS },                             \
			{ "read", "read", PFS_COLUMN_OPTIONAL }, { "write", "write", PFS_COLUMN_OPTIONAL },   \
			{ "exec", "exec", PFS_COLUMN_OPTIONAL }, { "kernel", "kernel", PFS_COLUMN_OPTIONAL }, \
			{ "major", "major", PFS_COLUMN_OPTIONAL }, { "name", what, PFS_COLUMN_LEFT },         \
			{ word, "", PFS_COLUMN_NOT_TEXT },                                                    \
		{                                                                                             \
			NULL, NULL, 0                                                                         \
		}                                                                                             \
	}
const struct pfs_column pfs_mapped_size_columns[] = COLUMNS("bytes", "page size");
const struct pfs_column pfs_mapped_node_columns[] = COLUMNS("node", "NUMA node");

static void add(struct counts *to, const struct counts *counts)
{
	to->faults += counts->faults;
	to->read += counts->read;
	to->write += counts->write;
	to->exec += counts->exec;
	to->kernel += counts->kernel;
	to->major += counts->major;
}

/* Known ones in their order, then reasons. */
static int compare(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	return pfs_order(x->key.reason, y->key.reason) ?: pfs_order(x->key.value, y->key.value);
}

static void put_row(struct pfs_table *table, const struct counts *counts, uint64_t all, const char *name,
		    const uint64_t *value)
{
	pfs_table_numbers(table, counts->faults, all ? counts->faults * 1000 / all : 0, counts->read, counts->write,
			  counts->exec, counts->kernel, counts->major);
	pfs_table_word(table, name);
	pfs_table_known(table, value, value ? *value : 0);
}

static void put_rows(struct pfs_table *table, struct row *rows, bool sizes, bool text)
{
	unsigned int nr = HASH_COUNT(rows), i = 0;
	struct row **sorted = calloc(nr + 1, sizeof(*sorted)), *row, *next;
	struct counts all = { 0 };
	char name[64];

	if (!sorted)
		pfs_table_fail(table);
	HASH_ITER (hh, rows, row, next) {
		if (sorted)
			sorted[i++] = row;
		add(&all, &row->counts);
	}
	if (i)
		qsort(sorted, nr, sizeof(*sorted), compare);
	for (i = 0; sorted && i < nr; i++) {
		char size[8];

		row = sorted[i];
		snprintf(name, sizeof(name), "%" PRIu64, row->key.value);
		put_row(table, &row->counts, all.faults,
			row->key.reason ? reasons[row->key.reason]
			: sizes		? pfs_size_text(size, row->key.value)
					: name,
			row->key.reason ? NULL : &row->key.value);
	}
	snprintf(name, sizeof(name), "total of %u", nr);
	if (text && nr > 1)
		put_row(table, &all, all.faults, name, NULL);
	free(sorted);
}

static bool add_row(struct row **rows, enum reason reason, uint64_t value, const struct counts *counts)
{
	const struct row key = { .key = { reason, reason ? 0 : value } };
	struct row *row = PFS_HASH_GET(*rows, key, key.key);

	if (row)
		add(&row->counts, counts);
	return row;
}

void pfs_mapped_sizes(const struct pfs_mapped *mapped, struct pfs_table *table, bool text)
{
	struct row *rows = NULL;

	for (struct sum *sum = mapped->sums; sum; sum = sum->hh.next) {
		enum reason reason = sum->key.page_size	 ? KNOWN
				     : !mapped->any_size ? NOT_RECORDED
				     : sum->key.page	 ? SIZES
							 : UNMAPPED;

		if (!add_row(&rows, reason, sum->key.page_size, &sum->counts))
			pfs_table_fail(table);
	}
	put_rows(table, rows, true, text);
	PFS_HASH_FREE(rows);
}

struct zone {
	uint64_t node, start, end; /* page frames */
};

/* Of the notes, *nr of them; the caller frees them. NULL: there are none, or no memory, and the table fails. */
static struct zone *zones_of(const struct pfs_model *model, size_t *nr, struct pfs_table *table)
{
	struct zone *zones = NULL, *added;
	size_t max = 0;

	*nr = 0;
	for (unsigned int i = 0; i < model->nr_notes; i++) {
		struct pfs_fact fact;

		if (strcmp(model->notes[i].key, pfs_note_key(PFS_NOTE_MEMORY)) ||
		    !pfs_note_read(&fact, model->notes[i].key, model->notes[i].value))
			continue;
		added = pfs_array_add(zones, *nr, max);
		if (added)
			*added = (struct zone){ fact.count, fact.start, fact.end };
		else
			pfs_table_fail(table);
	}
	return zones;
}

/* The node of all frames of that block. */
static enum reason node_of(const struct zone *zones, size_t nr, uint64_t block, uint64_t *node)
{
	const uint64_t start = block << BLOCK_SHIFT, end = (block + 1) << BLOCK_SHIFT;
	enum reason reason = nr ? NO_NODE : NO_NOTES;

	for (const struct zone *zone = zones; zone < zones + nr; zone++) {
		if (zone->start >= end || zone->end <= start)
			continue;
		if (reason == KNOWN && *node != zone->node)
			return BOTH_NODES;
		*node = zone->node;
		reason = KNOWN;
	}
	return reason;
}

void pfs_mapped_nodes(const struct pfs_mapped *mapped, const struct pfs_model *model, struct pfs_table *table,
		      bool text)
{
	struct row *rows = NULL;
	size_t nr_zones;
	struct zone *zones = zones_of(model, &nr_zones, table);

	for (struct sum *sum = mapped->sums; sum; sum = sum->hh.next) {
		uint64_t node = 0;
		enum reason reason = sum->key.page	  ? node_of(zones, nr_zones, sum->key.block, &node)
				     : !mapped->any_frame ? NOT_RECORDED
				     : sum->key.page_size ? NO_FRAME
							  : UNMAPPED;

		if (!add_row(&rows, reason, node, &sum->counts))
			pfs_table_fail(table);
	}
	put_rows(table, rows, false, text);
	PFS_HASH_FREE(rows);
	free(zones);
}
