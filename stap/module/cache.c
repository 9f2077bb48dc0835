/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/cache.h"

#include "base/write_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int pfs_cache_init(struct pfs_cache *cache, struct pfs_err *err)
{
	const char *named = getenv("PFSCOPE_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int len;

	cache->lock_fd = -1;
	if (named && *named)
		len = snprintf(cache->dir, sizeof(cache->dir), "%s", named);
	else if (!geteuid())
		len = snprintf(cache->dir, sizeof(cache->dir), "/var/cache/pfscope");
	else if (xdg && *xdg == '/')
		len = snprintf(cache->dir, sizeof(cache->dir), "%s/pfscope", xdg);
	else if (home && *home == '/')
		len = snprintf(cache->dir, sizeof(cache->dir), "%s/.cache/pfscope", home);
	else
		return pfs_err_set(err, -ENOENT, "no folder to keep modules in: set HOME or PFSCOPE_CACHE");
	if (cache->dir[0] != '/' || len >= (int)sizeof(cache->dir))
		return pfs_err_set(err, -EINVAL, "%s: the folder to keep modules in must be an absolute path",
				   cache->dir);
	return 0;
}

/* Only root and the caller can have written it. */
static int check_owner(const struct stat *st, const char *path, struct pfs_err *err)
{
	if (st->st_uid && st->st_uid != geteuid())
		return pfs_err_set(err, -EPERM,
				   "%s: belongs to user %u, neither to root nor to you: no module is loaded from there",
				   path, st->st_uid);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return pfs_err_set(err, -EPERM,
				   "%s: others can write to it: no module is loaded from there; chmod go-w", path);
	return 0;
}

int pfs_cache_make(const struct pfs_cache *cache, struct pfs_err *err)
{
	char dir[PATH_MAX];
	struct stat st;

	snprintf(dir, sizeof(dir), "%s", cache->dir);
	for (char *slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(dir, 0755) && errno != EEXIST && errno != EROFS)
			goto failed;
		*slash = '/';
	}
	if (mkdir(dir, geteuid() ? 0700 : 0755) && errno != EEXIST)
		goto failed;
	if (lstat(dir, &st))
		return pfs_err_set(err, -errno, "%s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return pfs_err_set(err, -ENOTDIR, "%s: not a directory", dir);
	return check_owner(&st, dir, err);
failed:
	return pfs_err_set(err, -errno, "cannot create %s: %s; PFSCOPE_CACHE chooses another folder", dir,
			   strerror(errno));
}

int pfs_cache_lock(struct pfs_cache *cache, const char *what, bool (*give_up)(void *ctx),
		   void (*report)(void *ctx, const char *line), void *ctx, struct pfs_err *err)
{
	const struct timespec moment = { .tv_nsec = 100000000 };
	char path[PATH_MAX + 16];
	bool reported = false;

	snprintf(path, sizeof(path), "%s/lock-%s", cache->dir, what);
	cache->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (cache->lock_fd < 0)
		return pfs_err_set(err, -errno, "%s: %s; PFSCOPE_CACHE chooses another folder", path, strerror(errno));
	while (flock(cache->lock_fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
		if (!reported && report)
			report(ctx, "waiting for another pfscope that is compiling a module");
		reported = true;
		if (give_up && give_up(ctx))
			return pfs_err_set(err, -EINTR, "interrupted");
		nanosleep(&moment, NULL);
	}
	return 0;
}

void pfs_cache_unlock(struct pfs_cache *cache)
{
	pfs_close(cache->lock_fd);
	cache->lock_fd = -1;
}

/* Whoever can write to the folder can replace the file, unless it is sticky, as /tmp. */
int pfs_cache_check_folder(const char *dir, struct pfs_err *err)
{
	struct stat st;

	if (stat(dir, &st))
		return pfs_err_set(err, -errno, "%s: %s", dir, strerror(errno));
	if (st.st_mode & S_ISVTX && (!st.st_uid || st.st_uid == geteuid()))
		return 0;
	return check_owner(&st, dir, err);
}

static int check_module_file(int fd, const char *path, struct pfs_err *err)
{
	char dir[PATH_MAX], *slash;
	struct stat st;

	if (fstat(fd, &st) || !realpath(path, dir))
		return pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return pfs_err_set(err, -EINVAL, "%s: not a regular file", path);
	if (check_owner(&st, path, err))
		return -EPERM;
	slash = strrchr(dir, '/');
	slash[slash == dir] = '\0';
	return pfs_cache_check_folder(dir, err);
}

int pfs_cache_open_module(const char *path, int flags, struct pfs_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags), ret;

	if (fd < 0 && errno == ELOOP && flags & O_NOFOLLOW)
		return pfs_err_set(err, -EPERM, "%s: a symbolic link: no module is loaded from there", path);
	if (fd < 0)
		return pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	ret = check_module_file(fd, path, err);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path) && errno != ENOENT ? -1 : 0;
}

/* Without FTW_MOUNT: on an overlay files and folders have different devices, and it would leave the files. */
int pfs_cache_remove_tree(const char *path)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
		return -errno;
	return 0;
}

int pfs_cache_link_tree(const char *from, const char *to, bool deep, const char *except)
{
	char real[PATH_MAX], target[PATH_MAX + NAME_MAX + 2], link[PATH_MAX + NAME_MAX + 2];
	DIR *dir = realpath(from, real) ? opendir(real) : NULL;
	int ret = !dir || mkdir(to, 0755) ? -errno : 0;
	struct dirent *entry;
	struct stat st;

	while (!ret && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!strcmp(name, ".") || !strcmp(name, "..") || (except && !strcmp(name, except)))
			continue;
		snprintf(target, sizeof(target), "%s/%s", real, name);
		snprintf(link, sizeof(link), "%s/%s", to, name);
		if (deep && !stat(target, &st) && S_ISDIR(st.st_mode))
			ret = pfs_cache_link_tree(target, link, deep, except);
		else if (symlink(target, link))
			ret = -errno;
	}
	if (dir)
		closedir(dir);
	return ret;
}

static int is_module(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 3 && !strcmp(entry->d_name + len - 3, ".ko");
}

/* One at most: modules are added one at a time. */
void pfs_cache_trim(const struct pfs_cache *cache, unsigned int keep)
{
	struct dirent **entries;
	char path[PATH_MAX + NAME_MAX], oldest[PATH_MAX + NAME_MAX] = "";
	int nr = scandir(cache->dir, &entries, is_module, NULL);
	struct stat st;
	time_t when = 0;

	for (int i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%s", cache->dir, entries[i]->d_name);
		if (!lstat(path, &st) && (!when || st.st_mtime < when)) {
			when = st.st_mtime;
			snprintf(oldest, sizeof(oldest), "%s", path);
		}
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	if (nr > (int)keep)
		unlink(oldest);
}
