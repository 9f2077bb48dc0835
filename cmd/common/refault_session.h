/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --refault of a recording: its pages are made to fault again, or watched (lib/refault/refault.h), and what that did is
 * noted in it.
 * Without the option all of it does nothing.
 */
#ifndef CMD_REFAULTING_H
#define CMD_REFAULTING_H

#include "base/err.h"
#include "event/refault_note.h"

struct recording;

struct refaulting {
	struct pfs_refault *helper; /* NULL: there is nothing to be done */
	enum pfs_refault_method method;
	struct pfs_refault_sums sums;
};

/* With the source open and root's privileges. 0 or -errno with err set. */
int refaulting_open(struct recording *r, struct pfs_err *err);

/* Once the recording has begun. */
void refaulting_begin(struct recording *r);

/* Notes what was done since; to be called now and then, and when the descriptor (-1: none) can be read. */
int refaulting_note(struct recording *r, struct pfs_err *err);
int refaulting_fd(const struct recording *r);

/* No more of it; before the recording stops. 0 or -errno with err set. */
int refaulting_stop(struct recording *r, struct pfs_err *err);

/* Says what it cost. */
void refaulting_tell(const struct recording *r);

/* 0 or -errno with err set: something is left behind. */
int refaulting_close(struct recording *r, struct pfs_err *err);

#endif
