/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/invoking_user.h"

#include "base/units.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool number_of(const char *text, uint64_t *number)
{
	return text && pfs_number_parse(text, 0, UINT32_MAX - 1, number);
}

bool invoking_user_find_uid(const char *user, uid_t *uid)
{
	const struct passwd *pw = getpwnam(user);
	uint64_t number;

	if (!pw && !number_of(user, &number))
		return false;
	*uid = pw ? pw->pw_uid : number;
	return true;
}

int invoking_user_find(struct invoking_user *user, const char *name, struct pfs_err *err)
{
	const char *sudo_uid = getenv("SUDO_UID"), *sudo_gid = getenv("SUDO_GID");
	uint64_t uid = getuid(), gid = getgid();
	struct passwd *pw;
	uid_t theirs;

	memset(user, 0, sizeof(*user));
	if (name) {
		pw = invoking_user_find_uid(name, &theirs) ? getpwuid(theirs) : NULL;
		if (!pw)
			return pfs_err_set(err, -ENOENT, "%s: no such user", name);
		uid = pw->pw_uid;
		gid = pw->pw_gid;
	} else if (geteuid() == 0 && number_of(sudo_uid, &uid)) {
		pw = getpwuid(uid);
		if (!number_of(sudo_gid, &gid))
			gid = pw ? pw->pw_gid : getgid();
	} else {
		pw = getpwuid(uid);
	}
	user->uid = uid;
	user->gid = gid;
	user->differs = uid != geteuid() || gid != getegid();
	if (user->differs && geteuid())
		return pfs_err_set(err, -EPERM, "%s: only root can run a command as another user",
				   name ? name : "sudo");
	if (pw) {
		snprintf(user->name, sizeof(user->name), "%s", pw->pw_name);
		snprintf(user->home, sizeof(user->home), "%s", pw->pw_dir);
	}
	return 0;
}

static int set_ids(const struct invoking_user *user)
{
	if (user->name[0] ? initgroups(user->name, user->gid) : setgroups(1, &user->gid))
		return -errno;
	if (setresgid(user->gid, user->gid, user->gid) || setresuid(user->uid, user->uid, user->uid))
		return -errno;
	return 0;
}

int invoking_user_drop(struct invoking_user *user)
{
	int ret;

	if (!user->differs)
		return 0;
	ret = set_ids(user);
	if (!ret && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		ret = -errno;
	user->differs = ret != 0;
	return ret;
}

int invoking_user_become(const struct invoking_user *user)
{
	int ret;

	if (!user->differs)
		return 0;
	ret = set_ids(user);
	if (ret)
		return ret;
	if (user->home[0])
		setenv("HOME", user->home, 1);
	if (user->name[0]) {
		setenv("USER", user->name, 1);
		setenv("LOGNAME", user->name, 1);
	}
	return 0;
}

int invoking_user_enter(const struct invoking_user *user)
{
	if (!user->differs)
		return 0;
	if (setegid(user->gid))
		return -errno;
	if (seteuid(user->uid)) {
		int err = -errno;

		invoking_user_leave(user);
		return err;
	}
	return 0;
}

void invoking_user_leave(const struct invoking_user *user)
{
	if (!user->differs)
		return;
	if (seteuid(getuid()) || setegid(getgid()))
		abort(); /* half of one user and half of another must not go on */
}
