/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layouts read from /proc/PID/maps. A process changes its layout while that is read, and no record reports what it
 * unmaps or moves, so what is concluded from such a text is marked as inferred.
 */
#include "faults/faults_priv.h"

#include "base/clock.h"
#include "base/write_all.h"
#include "os/smaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int perf_look(struct perf_session *s, struct perf_proc *p)
{
	char path[64], *text;

	p->looked_ns = pfs_now_ns();
	p->changed = false;
	snprintf(path, sizeof(path), "/proc/%d/maps", p->key);
	text = pfs_read_whole_file(path, NULL);
	if (!text || !*text || (!p->mapped && p->maps && !strcmp(p->maps, text))) {
		free(text);
		return text || errno != ENOMEM ? 0 : -ENOMEM;
	}
	p->mapped = false;
	free(p->maps);
	p->maps = strdup(text);
	return perf_queue_put(&s->queue, (struct perf_item){ .ts_ns = p->looked_ns,
							     .cpu = -1,
							     .pid = p->key,
							     .tid = p->key,
							     .kind = PERF_LAYOUT,
							     .data = text });
}

static int emit_range(struct perf_session *s, struct pfs_event *ev, uint64_t start, uint64_t end)
{
	if (start >= end)
		return 0;
	PFS_SET(ev, start, START, start);
	PFS_SET(ev, end, END, end);
	ev->inferred = PFS_HAS(PFS_F_START) | PFS_HAS(PFS_F_END);
	return perf_emit(s, ev);
}

int perf_layout(struct perf_session *s, const struct perf_item *item)
{
	const struct pfs_event nothing = {
		.ts_ns = item->ts_ns,
		.kind = PFS_UNMAP,
		.pid = item->pid,
		.tid = item->tid,
		.have = PFS_HAS(PFS_F_PID) | PFS_HAS(PFS_F_TID),
	};
	uint64_t page = sysconf(_SC_PAGESIZE), end = 0;
	char *text = item->data, *line;
	struct pfs_event ev;
	int ret = 0;

	while (!ret && (line = strsep(&text, "\n"))) {
		struct pfs_smap r;

		if (!pfs_smap_line(&r, line) || !strcmp(r.name, "[vsyscall]"))
			continue;
		ev = nothing;
		ret = emit_range(s, &ev, end, r.start);
		end = r.end;
		ev = nothing;
		ev.kind = PFS_MAP;
		PFS_SET(&ev, dev, DEV, r.dev);
		PFS_SET(&ev, ino, INO, r.ino);
		PFS_SET(&ev, off, OFF, r.off);
		PFS_SET(&ev, name, NAME, r.name);
		PFS_SET(&ev, perms, PERMS, r.perms);
		if (!ret)
			ret = emit_range(s, &ev, r.start, r.end);
	}
	ev = nothing;
	return ret ? ret : emit_range(s, &ev, end, -page);
}
