/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line of explanation that travels beside an -errno, so that only cmd/ has to print.
 */
#ifndef PFS_ERR_H
#define PFS_ERR_H

struct pfs_err {
	char msg[512]; /* what failed, on what (file and line or offset), why, what to try */
};

/* Writes the message (err may be NULL) and returns `code`, so that failing is one line. */
int pfs_err_set(struct pfs_err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
