/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fast path for lines of page faults: all but a few digits of such a line equal those of the same thread's line
 * before. It compares a line with the form learned from one that text.c has read, and parses only the digits. Lines
 * that differ are left to text.c.
 */
#ifndef PFS_TEXT_QUICK_H
#define PFS_TEXT_QUICK_H

#include "record/fault_batch.h"
#include "text/text.h"

#include <stdbool.h>

enum { QUICK_FORMS = 16, QUICK_HEAD = 64, QUICK_MIDDLE = 48 };

/* "          touch-6166    [001] d.... 37647.", digits, ": page_fault_user: address=0x", digits ... */
struct text_form {
	uint8_t head_len, digits, middle_len; /* head_len 0: nothing learned */
	uint8_t mode;			      /* enum pfs_mode */
	int32_t cpu, tid;
	uint64_t seconds_ns;
	char head[QUICK_HEAD], middle[QUICK_MIDDLE];
};

struct text_quick {
	struct text_form form[QUICK_FORMS];
};

/* A line [line, end) with those columns was read, and gave this event, a page fault. */
void text_quick_learn(struct text_quick *quick, const char *line, const char *end, const struct text_columns *c,
		      const struct raw_event *ev);

/* Forgets all forms: a thread may have another name or number now. */
void text_quick_forget(struct text_quick *quick);

/* Puts the fault of that line (behind it is a newline) into the batch. False: it is no such line. */
bool text_quick_read(const struct text_quick *quick, const char *line, const char *end, struct fault_batch *batch);

#endif
