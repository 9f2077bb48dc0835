/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/invoking_user.h"

#include "base/number.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The number behind it means "none". */
static const uint64_t most = UINT32_MAX - 1;

/* A number that sudo has put into the environment. 1: it has not. 0 or -EINVAL with err set. */
static int sudo_number(const char *name, uint64_t *number, struct pfs_err *err)
{
	const char *text = getenv(name);

	if (!text)
		return 1;
	return pfs_number_parse(text, 0, most, number)
		       ? 0
		       : pfs_err_set(err, -EINVAL, "%s=%s in the environment: must be a number up to %" PRIu64, name,
				     text, most);
}

bool invoking_user_find_uid(const char *user, uid_t *uid)
{
	const struct passwd *pw = getpwnam(user);
	uint64_t number;

	if (!pw && !pfs_number_parse(user, 0, most, &number))
		return false;
	*uid = pw ? pw->pw_uid : number;
	return true;
}

int invoking_user_find(struct invoking_user *user, const char *name, struct pfs_err *err)
{
	uint64_t uid = getuid(), gid = getgid();
	int by_sudo = 1, has_group = 1;
	struct passwd *pw;
	uid_t theirs;

	memset(user, 0, sizeof(*user));
	if (name) {
		pw = invoking_user_find_uid(name, &theirs) ? getpwuid(theirs) : NULL;
		if (!pw)
			return pfs_err_set(err, -ENOENT, "%s: no such user", name);
		uid = pw->pw_uid;
		gid = pw->pw_gid;
	} else {
		if (geteuid() == 0)
			by_sudo = sudo_number("SUDO_UID", &uid, err);
		if (!by_sudo)
			has_group = sudo_number("SUDO_GID", &gid, err);
		if (by_sudo < 0 || has_group < 0)
			return -EINVAL;
		pw = getpwuid(uid);
		if (!by_sudo && has_group && pw)
			gid = pw->pw_gid;
	}
	user->uid = uid;
	user->gid = gid;
	user->other_session = name && uid && !getuid();
	user->differs = uid != geteuid() || gid != getegid();
	if (user->differs && geteuid())
		return pfs_err_set(err, -EPERM, "%s: only root can run a command as another user",
				   name ? name : "sudo");
	if (pw) {
		snprintf(user->name, sizeof(user->name), "%s", pw->pw_name);
		snprintf(user->home, sizeof(user->home), "%s", pw->pw_dir);
		snprintf(user->shell, sizeof(user->shell), "%s", pw->pw_shell);
	}
	return 0;
}

static int set_groups(const struct invoking_user *user)
{
	return (user->name[0] ? initgroups(user->name, user->gid) : setgroups(1, &user->gid)) ? -errno : 0;
}

static int set_ids(const struct invoking_user *user)
{
	int ret = set_groups(user);

	if (ret)
		return ret;
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

/* sudo(8), "ENVIRONMENT": what it sets for root, or of itself. */
static void set_environment(const struct invoking_user *user)
{
	const struct {
		const char *name, *value;
	} vars[] = {
		{ "HOME", user->home }, { "SHELL", user->shell }, { "USER", user->name }, { "LOGNAME", user->name },
		{ "MAIL", "" },		{ "SUDO_COMMAND", "" },	  { "SUDO_GID", "" },	  { "SUDO_HOME", "" },
		{ "SUDO_TTY", "" },	{ "SUDO_UID", "" },	  { "SUDO_USER", "" },
	};

	for (size_t i = 0; i < sizeof(vars) / sizeof(vars[0]); i++) {
		if (*vars[i].value)
			setenv(vars[i].name, vars[i].value, 1);
		else
			unsetenv(vars[i].name);
	}
}

int invoking_user_become(const struct invoking_user *user)
{
	int ret;

	if (!user->differs)
		return 0;
	ret = set_ids(user);
	if (!ret)
		set_environment(user);
	return ret;
}

int invoking_user_enter(struct invoking_user *user)
{
	int nr, ret;

	if (!user->differs)
		return 0;
	nr = getgroups(0, NULL);
	user->own_groups = nr < 0 ? NULL : calloc(nr + 1, sizeof(gid_t));
	user->nr_own_groups = user->own_groups ? getgroups(nr, user->own_groups) : -1;
	if (user->nr_own_groups < 0) {
		free(user->own_groups);
		return -errno;
	}
	ret = set_groups(user);
	if (!ret && (setegid(user->gid) || seteuid(user->uid)))
		ret = -errno;
	if (ret)
		invoking_user_leave(user);
	return ret;
}

void invoking_user_leave(struct invoking_user *user)
{
	if (!user->differs)
		return;
	if (seteuid(getuid()) || setegid(getgid()) || setgroups(user->nr_own_groups, user->own_groups))
		abort(); /* half of one user and half of another must not go on */
	free(user->own_groups);
	user->own_groups = NULL;
}
