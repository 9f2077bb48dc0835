/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of caches that are links to one directory: /sys/kernel/slab/eventpoll_pwq -> :A-0000064. */
#include "os/slabs.h"

#include "base/array.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

struct alias {
	char target[256], name[256];
};

struct aliases {
	struct alias *all;
	size_t nr;
};

static int by_target(const void *a, const void *b)
{
	const struct alias *x = a, *y = b;

	return strcmp(x->target, y->target) ?: strcmp(x->name, y->name);
}

/* Of a name that is no link nothing is added. */
static int add(struct aliases *aliases, int dir, const char *name)
{
	struct alias *alias;
	char target[sizeof(alias->target)];
	ssize_t len = readlinkat(dir, name, target, sizeof(target) - 1);

	if (len < 0)
		return 0;
	alias = pfs_array_append(aliases->all, aliases->nr);
	if (!alias)
		return -ENOMEM;
	target[len] = '\0';
	snprintf(alias->target, sizeof(alias->target), "%s", target);
	snprintf(alias->name, sizeof(alias->name), "%s", name);
	return 0;
}

/* The names of the first nr, which have one target. */
static int pass(const struct alias *aliases, size_t nr, int (*fn)(void *ctx, const char *names), void *ctx)
{
	char *names = NULL;
	size_t len;
	FILE *out = open_memstream(&names, &len);
	int ret = -ENOMEM;

	if (!out)
		return ret;
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%s", i ? " " : "", aliases[i].name);
	if (!fclose(out))
		ret = fn(ctx, names);
	free(names);
	return ret;
}

static int read_dir(struct aliases *aliases, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return -errno;
	while (!ret && (entry = readdir(dir)))
		ret = add(aliases, dirfd(dir), entry->d_name);
	closedir(dir);
	return ret;
}

int pfs_slabs_merged(const char *dir, int (*fn)(void *ctx, const char *names), void *ctx)
{
	struct aliases aliases = { 0 };
	int ret = read_dir(&aliases, dir);
	size_t end;

	if (aliases.nr)
		qsort(aliases.all, aliases.nr, sizeof(*aliases.all), by_target);
	for (size_t i = 0; !ret && i < aliases.nr; i = end) {
		for (end = i + 1; end < aliases.nr && !strcmp(aliases.all[end].target, aliases.all[i].target);)
			end++;
		if (end - i > 1)
			ret = pass(&aliases.all[i], end - i, fn, ctx);
	}
	free(aliases.all);
	return ret;
}
