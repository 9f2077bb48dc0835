/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/tree.h"

#include "module/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is the name a line of the list? */
static bool listed(const char *list, const char *name, size_t len)
{
	for (const char *p = list; *p; p += strcspn(p, "\n") + 1)
		if (!strncmp(p, name, len) && p[len] == '\n')
			return true;
	return false;
}

/* kernel.function("x") and kprobe.function("x") are both written @place("x"). */
char *pfs_placed_names(const char *script)
{
	static const char mark[] = "@place(\"";
	char *names = calloc(1, strlen(script) + 1), *to = names;

	for (const char *p = script; names && (p = strstr(p, mark));) {
		size_t len = strcspn(p += sizeof(mark) - 1, "\"\n");

		if (p[len] != '"' || listed(names, p, len))
			continue;
		memcpy(to, p, len);
		to += len;
		*to++ = '\n';
	}
	return names;
}

static void put_symbol(FILE *out, unsigned int *nr, const char *name)
{
	fprintf(out, "ffffffff81%06x T %s\n", ++*nr * 16, name);
}

static void put_known(FILE *out, FILE *symbols, const char *names)
{
	char name[PFS_SYMBOL_MAX];
	unsigned int nr = 0;

	while (pfs_kernel_symbol_next(symbols, name))
		if (listed(names, name, strlen(name)))
			put_symbol(out, &nr, name);
}

static void put_all(FILE *out, const char *names)
{
	unsigned int nr = 0;
	char name[512];

	for (const char *p = names; *p; p += strcspn(p, "\n") + 1) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, "\n"), p);
		put_symbol(out, &nr, name);
	}
}

static int write_table(const char *path, const struct pfs_kernel *kernel, const char *script, bool *unchecked,
		       struct pfs_err *err)
{
	char *names = pfs_placed_names(script);
	FILE *out = fopen(path, "we"), *symbols = pfs_kernel_symbols(kernel);
	int ret = 0;

	*unchecked = !symbols;
	if (!names)
		ret = pfs_err_set(err, -ENOMEM, "no memory for a symbol table");
	else if (!out)
		ret = pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	else if (symbols)
		put_known(out, symbols, names);
	else
		put_all(out, names);
	if (symbols)
		fclose(symbols);
	if (out && fclose(out) && !ret)
		ret = pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	free(names);
	return ret;
}

/* A link to each thing in the folder, hidden ones (.config) too. */
static int link_all(const char *from, const char *to)
{
	char real[PATH_MAX], target[PATH_MAX + NAME_MAX + 1], link[PATH_MAX + NAME_MAX + 1];
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	if (!realpath(from, real) || !(dir = opendir(real)))
		return -errno;
	while (!ret && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || !strcmp(entry->d_name, "System.map"))
			continue;
		snprintf(target, sizeof(target), "%s/%s", real, entry->d_name);
		snprintf(link, sizeof(link), "%s/%s", to, entry->d_name);
		if (symlink(target, link))
			ret = -errno;
	}
	closedir(dir);
	return ret;
}

/* stap keeps what it worked out of the headers for as long as this file has the same date and size. */
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

/* "build" and "source" side by side, as they are in /lib/modules: stap looks for the latter there. */
int pfs_tree_make(const char *dir, const struct pfs_kernel *kernel, const char *script, char *build, size_t size,
		  bool *unchecked, struct pfs_err *err)
{
	char source[PATH_MAX], path[PATH_MAX], link[PATH_MAX];
	int ret;

	snprintf(build, size, "%s/build", dir);
	ret = pfs_cache_remove_tree(dir);
	if (!ret && (mkdir(dir, 0755) || mkdir(build, 0755)))
		ret = -errno;
	if (!ret)
		ret = link_all(kernel->build, build);
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
