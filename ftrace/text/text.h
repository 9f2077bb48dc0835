/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text reader: lines of trace_pipe, of the `trace` file and of `trace-cmd report` become raw events, in the order of
 * the lines. The room's other headers are its own.
 *
 * It takes text in any pieces, allocates nothing per line and never fails on any text: lines that are no event are
 * counted. The binary reader of the same events is record/record.c.
 */
#ifndef PFS_TEXT_H
#define PFS_TEXT_H

#include "record/raw.h"

#include <stddef.h>
#include <stdint.h>

enum text_clock {
	TEXT_CLOCK_UNKNOWN,
	TEXT_CLOCK_US,	  /* 1281.049542 */
	TEXT_CLOCK_NS,	  /* 1281.049542317, as of trace-cmd report -t */
	TEXT_CLOCK_PLAIN, /* 3414584783418: a counter or CPU cycles */
};

struct text_columns {
	const char *comm; /* in the line, not terminated; NULL: none */
	uint32_t comm_len;
	int32_t tid;
	int32_t tgid; /* -1: none */
	int32_t cpu;
	enum text_clock clock;
	uint64_t ts_ns;
	const char *event; /* in the line: where the event's name starts, never at its end */
};

/* A longer line is counted and dropped. The kernel's own are at most two pages or so. */
#define PFS_TEXT_LINE_MAX 65536

struct pfs_text;

/* All 0: the defaults. */
struct pfs_text_options {
	unsigned int page_shift; /* of the traced machine, which prints file offsets; 0: 12 */
	bool other;		 /* events of no use come with their name and text */
};

/* Each line is one of events, other, lost, headers and unparsed. */
struct pfs_text_stats {
	uint64_t lines;
	uint64_t events;	 /* of raw_desc.c's table */
	uint64_t other;		 /* events that pfscope makes no use of */
	uint64_t lost;		 /* lines that report lost events */
	uint64_t headers;	 /* comments, headers, empty lines, frames of stacks */
	uint64_t unparsed;	 /* no event: neither of these */
	uint64_t first_unparsed; /* number of the first such line, from 1; 0: none */
	uint64_t too_long;	 /* of unparsed: longer than PFS_TEXT_LINE_MAX */
	uint64_t cut;		 /* of unparsed: the last line, if it does not end */
	enum text_clock clock;	 /* the finest one: how exact ts_ns is */
	struct raw_seen seen;
};

/* Events go to fn with ctx. opt is copied, NULL: the defaults. NULL: no memory. */
struct pfs_text *pfs_text_new(raw_event_fn fn, void *ctx, const struct pfs_text_options *opt);
void pfs_text_free(struct pfs_text *text);

/*
 * From now on plain faults go there, with the same ctx, many at once. The first event of a thread, with its name,
 * still goes to fn.
 */
void pfs_text_take_faults(struct pfs_text *text, raw_faults_fn faults);

/*
 * text, a struct pfs_text, takes the next len bytes; a line may go on in the next call. 0, -ENOMEM, or what fn returned if
 * that is not 0; the rest of buf is then not read.
 */
int pfs_text_feed(void *text, const char *buf, size_t len);

/*
 * The input has ended. A last line without a newline may end anywhere, in the middle of an address
 * too, so it is no event but counted as `cut`. As pfs_text_feed().
 */
int pfs_text_finish(struct pfs_text *text);

/* Valid until pfs_text_free(), always up to date. */
const struct pfs_text_stats *pfs_text_stats(const struct pfs_text *text);

/* How much the beginning of some input looks like such text: 0 (not at all) to 100. */
int pfs_text_probe(const char *buf, size_t len);

/* ---- line.c: the columns before an event's name, also for the capture ---- */

/*
 * Finds the columns of [line, end); *end is readable and neither a digit nor a letter. 1, or 0 if
 * this is no line of an event.
 */
int text_line_columns(const char *line, const char *end, struct text_columns *c);

/*
 * "CPU:1 [LOST 5 EVENTS]", "CPU:1 [5 EVENTS DROPPED]", both also without the number: 1 and the cpu
 * (-1: unknown) and the number (UINT64_MAX: unknown), else 0.
 */
int text_line_lost(const char *line, const char *end, int32_t *cpu, uint64_t *lost);

/* A line that is known to be no event: a comment, a header, a frame of a stack. 1 or 0. */
int text_line_header(const char *line, const char *end);

#endif
