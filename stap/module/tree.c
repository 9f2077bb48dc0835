/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/tree.h"

#include "module/cache.h"
#include "module/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first of the points that is a function of this name, or NULL. */
static const struct pfs_point *find_function(const struct pfs_point *points, unsigned int nr, const char *name)
{
	for (unsigned int i = 0; i < nr; i++)
		if (!points[i].tracepoint && !strcmp(points[i].name, name))
			return &points[i];
	return NULL;
}

static void put_symbol(FILE *out, unsigned int *nr, const char *name)
{
	fprintf(out, "ffffffff81%06x T %s\n", ++*nr * 16, name);
}

static int write_table(const char *path, const struct pfs_kernel *kernel, const char *script, bool *unchecked,
		       struct pfs_err *err)
{
	struct pfs_point points[PFS_POINTS_MAX];
	unsigned int nr = pfs_points_of(script, points), nr_put = 0;
	FILE *out = fopen(path, "we"), *symbols = pfs_kernel_symbols(kernel);
	char name[PFS_SYMBOL_MAX];
	int ret = 0;

	*unchecked = !symbols;
	while (out && symbols && pfs_kernel_symbol_next(symbols, name))
		if (find_function(points, nr, name))
			put_symbol(out, &nr_put, name);
	for (unsigned int i = 0; out && !symbols && i < nr; i++)
		if (find_function(points, nr, points[i].name) == &points[i])
			put_symbol(out, &nr_put, points[i].name);
	if (!out || fclose(out))
		ret = pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (symbols)
		fclose(symbols);
	return ret;
}

/* stap's cache of what it derived from the headers is valid as long as this file has the same date and size. */
static void date_table(const char *path, const struct pfs_kernel *kernel)
{
	char config[PATH_MAX + 16];
	struct timespec times[2];
	struct stat st;

	snprintf(config, sizeof(config), "%s/.config", kernel->build);
	if (stat(config, &st))
		return;
	times[0] = times[1] = st.st_mtim;
	utimensat(AT_FDCWD, path, times, 0);
}

/* "build" and "source" side by side, as in /lib/modules: stap looks for the latter there. */
int pfs_tree_make(const char *dir, const struct pfs_kernel *kernel, const char *script, char *build, size_t size,
		  bool *unchecked, struct pfs_err *err)
{
	char source[PATH_MAX], path[PATH_MAX], link[PATH_MAX];
	int ret;

	snprintf(build, size, "%s/build", dir);
	ret = pfs_cache_remove_tree(dir);
	if (!ret && mkdir(dir, 0755))
		ret = -errno;
	if (!ret)
		ret = pfs_cache_link_tree(kernel->build, build, false, "System.map");
	snprintf(path, sizeof(path), "/lib/modules/%s/source", kernel->release);
	snprintf(link, sizeof(link), "%s/source", dir);
	if (!ret && realpath(path, source) && symlink(source, link))
		ret = -errno;
	if (ret)
		return pfs_err_set(err, ret, "%s: cannot copy %s: %s", dir, kernel->build, strerror(-ret));
	snprintf(path, sizeof(path), "%s/System.map", build);
	ret = write_table(path, kernel, script, unchecked, err);
	date_table(path, kernel);
	return ret;
}
