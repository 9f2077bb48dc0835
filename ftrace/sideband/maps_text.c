/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of /proc/PID/maps to raw events. See snapshot.h.
 */
#include "sideband/snapshot.h"

#include "base/perms.h"
#include "os/smaps.h"

#include <string.h>
#include <sys/mman.h>

/* The kernel writes a newline in a name as \012, and nothing else so. */
static void unescape(char *name)
{
	char *to = name;

	for (const char *from = name; *from; to++) {
		if (!strncmp(from, "\\012", 4)) {
			*to = '\n';
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* 55d0c6a00000-55d0c6a21000 rw-p 00000000 00:00 0                          [heap] */
static bool line_parse(char *line, struct raw_event *ev)
{
	struct pfs_smap region;

	if (!pfs_smap_line(&region, line))
		return false;
	unescape(line + (region.name - line));
	ev->arg[0] = region.start;
	ev->arg[1] = region.end;
	ev->arg[2] = region.off;
	ev->arg[3] = region.dev;
	ev->arg[4] = region.ino;
	ev->arg[5] = region.perms & (PROT_READ | PROT_WRITE | PROT_EXEC); /* the same bits */
	ev->arg[6] = region.perms & PFS_PERM_SHARED ? MAP_SHARED : MAP_PRIVATE;
	ev->str = region.name;
	return true;
}

int pfs_maps_text_lines(struct pfs_maps_text *maps)
{
	char *line = maps->text, *next;
	int err = 0;

	maps->text[maps->len] = '\0';
	for (; !err && (next = strchr(line, '\n')); line = next) {
		*next++ = '\0';
		maps->ev.kind = RAW_PFS_MAP;
		maps->ev.arg[7] = PFS_MAP_SNAPSHOT;
		if (!line_parse(line, &maps->ev) || !strcmp(maps->ev.str, "[vsyscall]"))
			continue; /* [vsyscall] is in no process's region tree */
		if (!strcmp(maps->ev.str, "[heap]"))
			maps->heap_end = maps->ev.arg[1];
		err = maps->fn(maps->ctx, &maps->ev);
	}
	maps->len -= line - maps->text;
	memmove(maps->text, line, maps->len);
	return err;
}
