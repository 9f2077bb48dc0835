/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns before an event's name in a line of trace_pipe, `trace` or `trace-cmd report`.
 *
 * It only finds them: text/args.c reads the event, text.c divides bytes into lines.
 */
#ifndef PFS_TEXT_LINE_H
#define PFS_TEXT_LINE_H

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
