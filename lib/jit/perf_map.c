/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See perf_map.h. Code may be replaced by newer code at the same address; its later line holds.
 */
#include "jit/perf_map.h"

#include "base/array.h"
#include "base/number.h"
#include "base/nested.h"
#include "jit/content.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FUNCTIONS = 1 << 22, MAX_LINE = 4096 };

struct pfs_jit_function {
	uint64_t start, end;
	uint64_t reach;
	size_t nr; /* of its line */
	const char *name;
};

static int compare(const void *a, const void *b)
{
	const struct pfs_jit_function *x = a, *y = b;

	return pfs_order(x->start, y->start) ?: pfs_order(x->nr, y->nr);
}

static int add_line(struct pfs_perf_map *map, const char *line, struct pfs_intern **strings)
{
	struct pfs_jit_function f = { .nr = map->nr }, *added;
	uint64_t len;

	if (!pfs_take_hex(&line, UINT64_MAX, &f.start) || *line++ != ' ' || !pfs_take_hex(&line, UINT64_MAX, &len) ||
	    *line++ != ' ' || !*line || !len || f.start + len < f.start)
		return 0;
	f.end = f.start + len;
	f.name = pfs_intern(strings, line);
	added = f.name ? pfs_array_add(map->functions, map->nr, map->max) : NULL;
	if (!added)
		return -ENOMEM;
	*added = f;
	return 0;
}

/* The last one may have been cut off in the name. */
static int read_lines(struct pfs_perf_map *map, FILE *file, uint64_t max, struct pfs_intern **strings)
{
	char line[MAX_LINE];
	int err = 0;

	while (!err && map->nr < MAX_FUNCTIONS && fgets(line, sizeof(line), file) && (uint64_t)ftello(file) <= max) {
		size_t len = strcspn(line, "\n");
		bool whole = line[len] || len == sizeof(line) - 1;

		line[len] = '\0';
		if (whole)
			err = add_line(map, line, strings);
	}
	pfs_nested_sort(map->functions, map->nr, compare);
	return err;
}

int pfs_perf_map_open(const char *dir, int32_t pid, struct timespec since, struct timespec until)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/perf-%d.map", dir ? dir : "/tmp", pid);
	return pfs_jit_open(path, since, until);
}

int pfs_perf_map_read(struct pfs_perf_map *map, int fd, uint64_t max, struct pfs_intern **strings)
{
	FILE *file = fdopen(fd, "r");
	int err;

	*map = (struct pfs_perf_map){ 0 };
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	err = read_lines(map, file, max, strings);
	fclose(file);
	return err;
}

void pfs_perf_map_fini(struct pfs_perf_map *map)
{
	free(map->functions);
	*map = (struct pfs_perf_map){ 0 };
}

const char *pfs_perf_map_find(const struct pfs_perf_map *map, uint64_t addr, uint64_t *behind)
{
	const struct pfs_jit_function *found = pfs_nested_find(map->functions, map->nr, addr);

	if (!found)
		return NULL;
	*behind = addr - found->start;
	return found->name;
}
