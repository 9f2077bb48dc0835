/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which item of one sequence is the counterpart of which item of another: regions or processes of several recordings.
 *
 * Each item has keys, from the strictest (the path of the file and the offset) to the loosest (the file's name). Items
 * with the same strictest key are counterparts, the first of one sequence with the first of the other, the second with
 * the second; what is left is paired by the next key, and so on. Each item has one counterpart at most in each other
 * sequence. All items that belong together are one line:
 *
 *     struct pfs_match match = { 0 };
 *     struct pfs_match_item a[] = { { .key = { "/lib/libc.so.6 0", "libc.so.6 0" } }, ... }, b[] = { ... };
 *
 *     err = pfs_match_add(&match, a, nr_a) ?: pfs_match_add(&match, b, nr_b);
 *     for (i = 0; i < nr_a; i++)
 *             mine[a[i].line] = i;	// a[i] and b[k] are counterparts if a[i].line == b[k].line
 *     for (size_t line = match.first; line != PFS_MATCH_NONE; line = match.lines[line].next)
 *             ...			// all lines, in an order in which each sequence finds its own
 *     pfs_match_fini(&match);
 *
 * Keys are compared as strings and mean nothing here.
 */
#ifndef PFS_MATCH_H
#define PFS_MATCH_H

#include <stddef.h>

enum { PFS_MATCH_LEVELS = 4 };

#define PFS_MATCH_NONE ((size_t)-1)

struct pfs_match_item {
	const char *key[PFS_MATCH_LEVELS]; /* borrowed while the match lives; NULL: none of this level */
	/* set by pfs_match_add() */
	size_t line;
	int level; /* of the key by which an earlier sequence had the line; -1: none had it */
};

struct pfs_match_line {
	const char *key[PFS_MATCH_LEVELS]; /* of its first item */
	size_t next;			   /* in order; PFS_MATCH_NONE: the last one */
	/* private */
	size_t position;
	unsigned int newest; /* the number of the last sequence that has it */
};

/* It begins with zeroes. */
struct pfs_match {
	struct pfs_match_line *lines; /* by number */
	size_t nr, max;
	size_t first; /* in order */
	/* private */
	unsigned int nr_sequences;
};

/*
 * Adds the next sequence and sets `line` and `level` of its items. A line that no earlier sequence has comes behind
 * that of the item before it. 0 or -ENOMEM.
 */
int pfs_match_add(struct pfs_match *match, struct pfs_match_item *items, size_t nr);

void pfs_match_fini(struct pfs_match *match);

#endif
