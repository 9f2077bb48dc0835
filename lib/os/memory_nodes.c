/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Node 0, zone    DMA32
 *         spanned  1044480
 *   start_pfn:           4096
 */
#include "os/memory_nodes.h"

#include "base/number.h"
#include "base/write_all.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* "  NAME   NUMBER" */
static bool read_number(const char *line, const char *name, uint64_t *nr)
{
	size_t len = strlen(name);
	uint64_t read;

	line += strspn(line, " ");
	if (strncmp(line, name, len) || line[len] != ' ')
		return false;
	line += len;
	line += strspn(line, " ");
	if (!pfs_take_dec(&line, UINT64_MAX / 4, &read) || *line)
		return false;
	*nr = read;
	return true;
}

int pfs_memory_nodes_of(char *text, pfs_zone_fn *fn, void *ctx)
{
	uint64_t node = 0, spanned = 0, start;
	char *line;
	int ret = 0;

	while (!ret && (line = strsep(&text, "\n"))) {
		const char *at = line + 5;

		if (!strncmp(line, "Node ", 5) && pfs_take_dec(&at, INT32_MAX, &node) && *at == ',')
			spanned = 0;
		else if (!read_number(line, "spanned", &spanned) && read_number(line, "start_pfn:", &start) && spanned)
			ret = fn(ctx, node, start, start + spanned);
	}
	return ret;
}

int pfs_memory_nodes(pfs_zone_fn *fn, void *ctx)
{
	char *text = pfs_read_whole_file("/proc/zoneinfo", NULL);
	int ret = text ? pfs_memory_nodes_of(text, fn, ctx) : -errno;

	free(text);
	return ret;
}
