/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder of the test's own, with files in it, for the tests of stap/ that work on files.
 */
#ifndef TESTS_STAP_DIR_H
#define TESTS_STAP_DIR_H

#include "module/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char stap_dir[64];

static int make_dir(void **state)
{
	strcpy(stap_dir, "/tmp/pfscope-unit-XXXXXX");
	return mkdtemp(stap_dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	return pfs_cache_remove_tree(stap_dir);
}

/* The path in it. Valid until the second next call. */
static const char *in_dir(const char *name)
{
	static char paths[2][PATH_MAX];
	static int turn;

	turn = !turn;
	snprintf(paths[turn], sizeof(paths[0]), "%s/%s", stap_dir, name);
	return paths[turn];
}

/* Makes a file, with the folders that it is in. */
static void put_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", stap_dir, name);
	for (char *slash = strchr(path + strlen(stap_dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

/* The whole of a file; static. */
static inline const char *file_text(const char *path)
{
	static char text[65536];
	FILE *f = fopen(path, "r");
	size_t len = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[len] = '\0';
	return text;
}

#endif
