// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of /proc/PID/maps to raw events. See maps_text.h.
 */
#include "sideband/maps_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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
static int line_parse(char *line, struct raw_event *ev)
{
	unsigned int major, minor;
	char perms[5] = "";
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &ev->arg[0], &ev->arg[1],
		   perms, &ev->arg[2], &major, &minor, &ev->arg[4], &at) != 7 ||
	    !at)
		return -EINVAL;
	ev->arg[3] = major << 20 | minor;
	ev->arg[5] = (perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0) |
		     (perms[2] == 'x' ? PROT_EXEC : 0);
	ev->arg[6] = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	unescape(line + at);
	ev->str = line + at;
	return 0;
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
		if (line_parse(line, &maps->ev) || !strcmp(maps->ev.str, "[vsyscall]"))
			continue; /* that one is in no process's region tree */
		if (!strcmp(maps->ev.str, "[heap]"))
			maps->heap_end = maps->ev.arg[1];
		err = maps->fn(maps->ctx, &maps->ev);
	}
	maps->len -= line - maps->text;
	memmove(maps->text, line, maps->len);
	return err;
}
