/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of numbers and words, written as aligned text, CSV or JSON.
 *
 * The table knows nothing of what it holds. Text and CSV show words escaped, so that both are safe to print, whatever
 * the bytes; JSON has them exact, by the rules of base/json.h.
 */
#ifndef PFS_TABLE_H
#define PFS_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"

enum pfs_column_flags {
	PFS_COLUMN_OPTIONAL = 1,   /* not in the text form if all its cells are 0 or empty */
	PFS_COLUMN_LEFT = 2,	   /* words: aligned to the left */
	PFS_COLUMN_SECONDS = 4,	   /* nanoseconds, written as seconds */
	PFS_COLUMN_MILLIONTHS = 8, /* written as a number with six digits behind the point */
	PFS_COLUMN_NOT_TEXT = 16,  /* in CSV and JSON only */
	PFS_COLUMN_TEXT_ONLY = 32,
	PFS_COLUMN_THOUSANDTHS = 128, /* written as a number with three digits behind the point */
	PFS_COLUMN_TENTHS = 2048,     /* ... with one */
	PFS_COLUMN_BAR = 64,	      /* the last one, in text only: millionths, as a bar; see pfs_table_fit() */
	PFS_COLUMN_WIDE = 512,	      /* not in the text form that pfs_table_fit() limits */
	PFS_COLUMN_TAIL =
		1024, /* words: their tails, in what the others leave of that; of two such columns the last has more */
	PFS_COLUMN_GROUP = 256, /* words: in text on a line of their own above the rows that have the same ones */
};

struct pfs_column {
	const char *key;  /* in CSV and JSON */
	const char *head; /* in text */
	unsigned int flags;
};

struct pfs_table;

/* columns is kept, not copied; its end is an entry without key. NULL: no memory. */
struct pfs_table *pfs_table_new(const struct pfs_column *columns);
void pfs_table_free(struct pfs_table *table);

/*
 * Adds the next cell, row by row. A failure for want of memory is remembered: pfs_table_error().
 * A number may be missing (unknown, not yet): pfs_table_missing().
 */
void pfs_table_number(struct pfs_table *table, uint64_t number);
void pfs_table_word(struct pfs_table *table, const char *word);
void pfs_table_missing(struct pfs_table *table);
void pfs_table_fail(struct pfs_table *table); /* there was no memory for its rows: it is incomplete */
void pfs_table_known(struct pfs_table *table, bool known, uint64_t number); /* missing if it is not known */
void pfs_table_array(struct pfs_table *table, const uint64_t *numbers, size_t nr);

#define pfs_table_numbers(table, ...)                             \
	pfs_table_array(table, (const uint64_t[]){ __VA_ARGS__ }, \
			sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

int pfs_table_error(const struct pfs_table *table); /* 0 or -ENOMEM */

unsigned int pfs_table_rows(const struct pfs_table *table);

/*
 * How many columns the text may take: a bar takes what the others leave, if that is enough to see something; the last
 * word of a group loses its head.
 */
void pfs_table_fit(struct pfs_table *table, unsigned int width);

/* Aligned columns under their heads. emphasis: written around the heads, or NULL; groups are bold then. */
void pfs_table_text(const struct pfs_table *table, FILE *out, const char *emphasis);

/* A head row and one row each, the first column being the table's name. */
void pfs_table_csv(const struct pfs_table *table, FILE *out, const char *name);

/* A row as a JSON object; all rows as an array of objects. Numbers stay numbers, however large. */
void pfs_table_json_row(const struct pfs_table *table, unsigned int row, struct pfs_json *json, const char *key);
void pfs_table_json(const struct pfs_table *table, struct pfs_json *json, const char *key);

/* Part of the whole, as '#' in that many columns; at least one unless the part is 0. */
void pfs_put_bar(FILE *out, uint64_t part, uint64_t whole, unsigned int width);

#endif
