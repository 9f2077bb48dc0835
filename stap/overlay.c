/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "overlay.h"

#include "cache.h"
#include "temp_file.h"
#include "word.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHANGED "stp_task_work.c"
#define OLD_NAME "task_work_cancel"
#define NEW_NAME "task_work_cancel_func"

unsigned int pfs_stap_version(const char *said)
{
	const char *p = strstr(said, "version ");
	unsigned int major, minor;

	if (!p || sscanf(p, "version %u.%u", &major, &minor) != 2 || minor > 99)
		return 0;
	return major * 100 + minor;
}

/* A whole file as a string; the caller frees. NULL with errno. */
static char *read_text(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

bool pfs_overlay_needed(unsigned int version, const char *runtime, const struct pfs_kernel *kernel)
{
	char path[PATH_MAX], *text;
	bool needed;

	if (version < 400 || version >= 502)
		return false;
	if (!pfs_kernel_header_has(kernel, "linux/task_work.h", NEW_NAME))
		return false;
	snprintf(path, sizeof(path), "%s/" CHANGED, runtime);
	text = read_text(path);	/* a distribution may have mended it already */
	needed = text && pfs_word_find(text, text, OLD_NAME) && !strstr(text, NEW_NAME);
	free(text);
	return needed;
}

/* Folders as folders, for what is included as "../x.c" must be found in the copy; files as links. */
static int link_tree(const char *from, const char *to)
{
	char a[PATH_MAX + NAME_MAX], b[PATH_MAX + NAME_MAX];
	struct dirent *entry;
	struct stat st;
	int ret = 0;
	DIR *dir = opendir(from);

	if (!dir || mkdir(to, 0755))
		ret = -errno;
	while (!ret && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(a, sizeof(a), "%s/%s", from, entry->d_name);
		snprintf(b, sizeof(b), "%s/%s", to, entry->d_name);
		if (strlen(a) >= PATH_MAX || strlen(b) >= PATH_MAX)
			ret = -ENAMETOOLONG;
		else if (stat(a, &st))
			ret = -errno;
		else if (S_ISDIR(st.st_mode))
			ret = link_tree(a, b);
		else if (symlink(a, b))
			ret = -errno;
	}
	if (dir)
		closedir(dir);
	return ret;
}

static int change_file(const char *runtime, const char *copy, struct pfs_err *err)
{
	char from[PATH_MAX + 64], to[PATH_MAX + 64], *text, *changed;
	int fd = -1, ret;

	snprintf(from, sizeof(from), "%s/" CHANGED, runtime);
	snprintf(to, sizeof(to), "%s/" CHANGED, copy);
	text = read_text(from);
	changed = text ? pfs_word_replace(text, OLD_NAME, NEW_NAME) : NULL;
	if (!changed) {
		ret = pfs_err_set(err, -EIO, "%s: cannot be read", from);
		goto out;
	}
	unlink(to);
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	ret = fd < 0 ? pfs_err_set(err, -errno, "%s: %s", to, strerror(errno)) :
		pfs_temp_write(fd, changed, strlen(changed), err);
	if (fd >= 0)
		close(fd);
out:
	free(text);
	free(changed);
	return ret;
}

int pfs_overlay_make(const char *dir, unsigned int version, const char *runtime, char *overlay,
		     size_t size, struct pfs_err *err)
{
	char temp[PATH_MAX], path[PATH_MAX];
	uint64_t hash = pfs_hash(PFS_HASH_START, runtime, strlen(runtime));
	int ret;

	/* Named after what it was made of: a newer SystemTap gets a new one. */
	snprintf(path, sizeof(path), "%s/" CHANGED, runtime);
	hash = pfs_hash_file(hash, path);
	snprintf(overlay, size, "%s/runtime-%u.%u-%d-%08x", dir, version / 100, version % 100,
		 PFS_OVERLAY_VERSION, (unsigned int)(hash ^ hash >> 32));
	snprintf(path, sizeof(path), "%s/" CHANGED, overlay);
	if (!access(path, R_OK))
		return 0;
	snprintf(temp, sizeof(temp), "%s/runtime.%d", dir, getpid());
	pfs_cache_remove_tree(temp);
	ret = link_tree(runtime, temp);
	if (ret)
		pfs_err_set(err, ret, "%s: no copy of %s can be made: "
				      "%s", temp, runtime, strerror(-ret));
	else
		ret = change_file(runtime, temp, err);
	if (!ret && rename(temp, overlay) && errno != EEXIST && errno != ENOTEMPTY)
		ret = pfs_err_set(err, -errno, "%s: %s", overlay, strerror(errno));
	pfs_cache_remove_tree(temp);	/* somebody else was faster, or it failed */
	return ret;
}
