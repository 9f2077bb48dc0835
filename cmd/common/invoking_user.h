/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On whose behalf pfscope runs: behind sudo the user who called it, or the one named by -u.
 *
 * Traced commands run as that user, and files are made as that user and belong to it. So does pfscope itself
 * as soon as it is set up.
 */
#ifndef CMD_CALLER_H
#define CMD_CALLER_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct caller {
	bool differs; /* from who pfscope itself runs as */
	uid_t uid;
	gid_t gid;
	char name[64]; /* for the supplementary groups; "" if the user has no entry */
	char home[4096];
};

/* By name or by number, whether that one has an entry or not. False: it is neither. */
bool caller_find_uid(const char *user, uid_t *uid);

/* user: -u's argument (name or number), NULL: sudo's caller, if there is one. 0 or -ENOENT. */
int caller_find(struct caller *caller, const char *user, struct pfs_err *err);

/* For good: no way back, nor to any other privilege. 0 or -errno. */
int caller_drop(struct caller *caller);

/* The same in the child that becomes the command, which may gain privileges as any other. 0 or -errno. */
int caller_become(const struct caller *caller);

/* For a while, around the making of files: effective ids only. 0 or -errno. */
int caller_enter(const struct caller *caller);
void caller_leave(const struct caller *caller);

#endif
