/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines that text forms of tapes have in common. To files: errors are looked for at the end.
 */
#ifndef PFS_TAPE_TEXT_H
#define PFS_TAPE_TEXT_H

#include "reference/tapes.h"

/* A line of numbers and one object's name. */
enum { PFS_TAPE_LINE_MAX = PFS_OBJECT_TEXT_MAX + 256 };

/* Gathers lines before they go to the file. */
struct pfs_tape_lines {
	const struct pfs_tapes *tapes;
	FILE *out;
	char **names; /* of objects, as they are printed */
	char *end;
	char buf[8 * PFS_TAPE_LINE_MAX];
};

/* Writes the comment lines that a file begins with; what: "tape". 0 or -ENOMEM. */
int pfs_tape_lines_begin(struct pfs_tape_lines *lines, const struct pfs_tapes *tapes, const char *what, FILE *out);

/* Writes what was gathered, and frees what lines have. 0 or -EIO. */
int pfs_tape_lines_end(struct pfs_tape_lines *lines);

void pfs_tape_lines_flush(struct pfs_tape_lines *lines);

/* Where the next line is to be written (base/put.h); the caller sets lines->end to the end of it. */
static inline char *pfs_tape_line(struct pfs_tape_lines *lines)
{
	if (lines->buf + sizeof(lines->buf) - lines->end < PFS_TAPE_LINE_MAX)
		pfs_tape_lines_flush(lines);
	return lines->end;
}

/* The line that a tape begins with. */
void pfs_tape_write_who(struct pfs_tape_lines *lines, const struct pfs_tape *tape);

/* "image 2": the entries that follow are of that one. */
void pfs_tape_write_image(struct pfs_tape_lines *lines, uint32_t image);

/* The entry's page at the end of its line, which is complete then. */
void pfs_tape_end_line(struct pfs_tape_lines *lines, char *p, const struct pfs_tape_entry *entry);

#endif
