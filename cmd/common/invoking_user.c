/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/invoking_user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool number_of(const char *text, unsigned long *number)
{
	char *end;

	if (!text || !*text)
		return false;
	errno = 0;
	*number = strtoul(text, &end, 10);
	return !*end && !errno && *text != '-' && *number < UINT32_MAX;
}

bool caller_find_uid(const char *user, uid_t *uid)
{
	const struct passwd *pw = getpwnam(user);
	unsigned long number;

	if (!pw && !number_of(user, &number))
		return false;
	*uid = pw ? pw->pw_uid : number;
	return true;
}

int caller_find(struct caller *caller, const char *user, struct pfs_err *err)
{
	const char *sudo_uid = getenv("SUDO_UID"), *sudo_gid = getenv("SUDO_GID");
	unsigned long uid = getuid(), gid = getgid();
	struct passwd *pw;
	uid_t theirs;

	memset(caller, 0, sizeof(*caller));
	if (user) {
		pw = caller_find_uid(user, &theirs) ? getpwuid(theirs) : NULL;
		if (!pw)
			return pfs_err_set(err, -ENOENT, "%s: no such user", user);
		uid = pw->pw_uid;
		gid = pw->pw_gid;
	} else if (geteuid() == 0 && number_of(sudo_uid, &uid)) {
		pw = getpwuid(uid);
		if (!number_of(sudo_gid, &gid))
			gid = pw ? pw->pw_gid : getgid();
	} else {
		pw = getpwuid(uid);
	}
	caller->uid = uid;
	caller->gid = gid;
	caller->differs = uid != geteuid() || gid != getegid();
	if (caller->differs && geteuid())
		return pfs_err_set(err, -EPERM, "%s: only root can run a command as another user", user);
	if (pw) {
		snprintf(caller->name, sizeof(caller->name), "%s", pw->pw_name);
		snprintf(caller->home, sizeof(caller->home), "%s", pw->pw_dir);
	}
	return 0;
}

static int set_ids(const struct caller *caller)
{
	if (caller->name[0] ? initgroups(caller->name, caller->gid) : setgroups(1, &caller->gid))
		return -errno;
	if (setresgid(caller->gid, caller->gid, caller->gid) || setresuid(caller->uid, caller->uid, caller->uid))
		return -errno;
	return 0;
}

int caller_drop(struct caller *caller)
{
	int ret;

	if (!caller->differs)
		return 0;
	ret = set_ids(caller);
	if (!ret && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		ret = -errno;
	caller->differs = ret != 0;
	return ret;
}

int caller_become(const struct caller *caller)
{
	int ret;

	if (!caller->differs)
		return 0;
	ret = set_ids(caller);
	if (ret)
		return ret;
	if (caller->home[0])
		setenv("HOME", caller->home, 1);
	if (caller->name[0]) {
		setenv("USER", caller->name, 1);
		setenv("LOGNAME", caller->name, 1);
	}
	return 0;
}

int caller_enter(const struct caller *caller)
{
	if (!caller->differs)
		return 0;
	if (setegid(caller->gid))
		return -errno;
	if (seteuid(caller->uid)) {
		int err = -errno;

		caller_leave(caller);
		return err;
	}
	return 0;
}

void caller_leave(const struct caller *caller)
{
	if (!caller->differs)
		return;
	if (seteuid(getuid()) || setegid(getgid()))
		abort(); /* half of one user and half of another must not go on */
}
