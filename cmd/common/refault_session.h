/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --refault of a recording: its options, the helper that makes pages fault again or samples accesses
 * (lib/refault/refault.h), and the notes that report what it did. Without the option all functions do nothing.
 */
#ifndef CMD_REFAULT_SESSION_H
#define CMD_REFAULT_SESSION_H

#include "event/refault_note.h"
#include "event/source.h"
#include "model/filter.h"

struct refault_args {
	uint64_t interval_ns; /* 0: no re-reference sampling */
	enum pfs_refault_method method;
	unsigned int quiet;
	uint64_t zram_bytes;
};

extern const struct argp refault_argp; /* input: struct refault_args */

struct refault_session {
	struct pfs_live *live;		 /* the recording's */
	struct pfs_refault *helper;	 /* NULL: no helper is needed */
	struct pfs_thread_list *threads; /* for a source without a list of its own, or NULL */
	enum pfs_refault_method method;
	struct pfs_refault_sums sums;
};

/* Needs root's privileges. live and filter are borrowed. 0 or -errno with err set. */
int refault_session_open(struct refault_session *s, const struct refault_args *args, const struct pfs_filter *filter,
			 struct pfs_live *live, struct pfs_err *err);

/* Before a process is added to the recording. 0 or -errno with err set. */
int refault_session_add(struct refault_session *s, pid_t pid, struct pfs_err *err);

/* Once the recording has started. */
void refault_session_begin(struct refault_session *s);

/* Records notes of what was done since the last call: now and then, and when the descriptor (-1: none) is readable. */
int refault_session_note(struct refault_session *s, struct pfs_err *err);
int refault_session_fd(const struct refault_session *s);

/* Before the recording stops. 0 or -errno with err set. */
int refault_session_stop(struct refault_session *s, struct pfs_err *err);

/* Prints what it cost. */
void refault_session_print(const struct refault_session *s);

/* 0, or -errno with err set: something is left behind. */
int refault_session_close(struct refault_session *s, struct pfs_err *err);

#endif
