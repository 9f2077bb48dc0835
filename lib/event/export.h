/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes events to a file, as lines, JSON Lines or CSV. docs/event-format.md describes the forms; pfscope itself reads
 * lines only (event/line.h).
 *
 *     123.456789012 fault pid=42 addr=7f0012345000 access=write
 *     {"time":"123.456789012","kind":"fault","pid":42,"addr":"0x7f0012345000","access":"write"}
 *     123.456789012,fault,,42,,,,0x7f0012345000,...
 */
#ifndef PFS_EVENT_EXPORT_H
#define PFS_EVENT_EXPORT_H

#include <stdio.h>

#include "event/event.h"

enum pfs_export_form {
	PFS_EXPORT_NONE,
	PFS_EXPORT_LINES,     /* after the version line */
	PFS_EXPORT_JSON,      /* one object a line: each line is valid JSON, whatever the bytes */
	PFS_EXPORT_CSV,	      /* RFC 4180, a header row, a column for each field there is */
	PFS_EXPORT_CSV_SHOWN, /* the same for a terminal: nothing in a string that it would act on */
};

struct pfs_export;

/* The file stays the caller's; form is not NONE. NULL: no memory. */
struct pfs_export *pfs_export_new(FILE *out, enum pfs_export_form form);

/* The sink takes runs of faults only as lines, where they cost less than single events. */
struct pfs_sink pfs_export_sink(struct pfs_export *export);

/* Text is gathered: flush for each picture of a live view, and at the end. 0 or -errno. */
int pfs_export_flush(struct pfs_export *export);

/* What was not flushed is dropped. */
void pfs_export_free(struct pfs_export *export);

#endif
