/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events as lines of text. docs/event-format.md has the grammar.
 *
 *     # pfscope events 2
 *     123.456789012 fault cpu=1 pid=42 tid=43 comm="cat" addr=7f0012345000 access=write class~minor
 *
 * What was written and read again is the same event: any bytes in strings, every field, and whether
 * it was inferred (~). Not written are fields without a spelling (event/text.h), and what is beyond
 * PFS_EVENT_STR_MAX bytes of a string.
 */
#ifndef PFS_EVENT_LINE_H
#define PFS_EVENT_LINE_H

#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"
#include "event/event.h"
#include "event/text.h"

/* No line is longer (its newline apart): five strings with every byte as \xNN, all other fields. */
#define PFS_LINE_MAX (PFS_EVENT_STRINGS * (4 * PFS_EVENT_STR_MAX + 32) + 4096)

/* Writes one line with its newline, without a NUL. Its length, or -ENOBUFS if size is too small. */
ssize_t pfs_line_write(const struct pfs_event *ev, char *buf, size_t size);

struct pfs_line_stats {
	uint64_t nr_lines;
	uint64_t nr_events;	    /* passed on */
	uint64_t nr_errors;	    /* lines that are no event: left out */
	uint64_t nr_unknown_kinds;  /* lines left out: this version does not know their kind */
	uint64_t nr_unknown_fields; /* fields left out: unknown name, or unknown value name */
	uint64_t first_error_line;
	struct pfs_err first_error; /* "line 7, column 31: ..."; the caller adds the file */
};

/* Reads lines in pieces of any size. */
struct pfs_line_reader;

/* NULL: no memory. */
struct pfs_line_reader *pfs_line_reader_new(const struct pfs_sink *sink);

/*
 * Passes on the events of all lines that are complete; reader is a struct pfs_line_reader. A line that is no event is
 * counted, not fatal. 0; -EPROTONOSUPPORT: the lines are of a newer version (see first_error); or what the sink returned.
 * After a failure every further call fails in the same way.
 */
int pfs_line_reader_feed(void *reader, const char *buf, size_t len);

/*
 * The input ended. A last line without its newline may be cut off anywhere, in a number too, so it
 * is not an event but an error. As feed.
 */
int pfs_line_reader_end(struct pfs_line_reader *reader);

const struct pfs_line_stats *pfs_line_reader_stats(const struct pfs_line_reader *reader);
void pfs_line_reader_free(struct pfs_line_reader *reader);

/* Whether a file that starts with these bytes is event lines (version line or not). */
bool pfs_line_probe(const char *buf, size_t len);

#endif
