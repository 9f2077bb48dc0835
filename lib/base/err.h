/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every room shares; nothing here knows of events.
 *
 *     err.h, units.h, number.h, nearest.h, escape.h, table.h, json.h, put.h, term.h    messages and text
 *     array.h, nested.h, hash.h, match.h, intern.h, bytes.h, perms.h, clock.h          data
 *     write_all.h, atomic_file.h                                                       files
 *
 * Here: the message that goes with an -errno up to cmd/, which alone prints.
 */
#ifndef PFS_ERR_H
#define PFS_ERR_H

struct pfs_err {
	char msg[512]; /* what failed, on what (file and line or offset), why, what to try */
};

/* Writes the message (err may be NULL) and returns `code`; if that is negative, errno is -code. */
int pfs_err_set(struct pfs_err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
