/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user on whose behalf pfscope runs: the one who invoked sudo, or the one named by -u.
 *
 * The traced command runs as that user and output files belong to that user. Once everything is set up, pfscope
 * itself becomes that user, too.
 */
#ifndef CMD_INVOKING_USER_H
#define CMD_INVOKING_USER_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct invoking_user {
	bool differs;	    /* from pfscope's own user */
	bool other_session; /* the command must not have root's terminal: it could type there (TIOCSTI) */
	uid_t uid;
	gid_t gid;
	char name[64]; /* for the supplementary groups; "" if the user has no entry */
	char home[4096], shell[256];
	gid_t *own_groups; /* pfscope's own supplementary groups, between enter and leave */
	int nr_own_groups;
};

/* By name, or by number whether or not that user exists. False: neither. */
bool invoking_user_find_uid(const char *user, uid_t *uid);

/* name: -u's argument (name or number), NULL: sudo's user, if there is one. 0 or -errno with err set. */
int invoking_user_find(struct invoking_user *user, const char *name, struct pfs_err *err);

/* Permanently: neither these nor other privileges can be regained. 0 or -errno. */
int invoking_user_drop(struct invoking_user *user);

/*
 * In the child that executes the command, which may gain privileges as usual (set-user-ID). The environment loses what sudo has
 * put there of root and of itself. 0 or -errno.
 */
int invoking_user_become(const struct invoking_user *user);

/* Temporarily, to create files: effective IDs, and the groups. 0 or -errno. */
int invoking_user_enter(struct invoking_user *user);
void invoking_user_leave(struct invoking_user *user);

#endif
