/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines that text forms of tapes have in common. To files: errors are looked for at the end.
 */
#ifndef PFS_TAPE_TEXT_H
#define PFS_TAPE_TEXT_H

#include "reference/tapes.h"

/* The comment lines that a file begins with; what: "tape". */
void pfs_tape_write_head(const struct pfs_tapes *tapes, const char *what, FILE *out);

/* The line that a tape begins with. */
void pfs_tape_write_who(const struct pfs_tapes *tapes, const struct pfs_tape *tape, const char *what, FILE *out);

/* The entry's page, and the end of the line. */
void pfs_tape_write_page(const struct pfs_tapes *tapes, const struct pfs_tape_entry *entry, FILE *out);

#endif
