/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layouts read from /proc/PID/maps. A process changes its layout while that is read, and no record reports what it
 * unmaps or moves, so what is concluded from such a text is marked as inferred. Which pages are mapped is asked for at the
 * same time; that is true of each page for some moment of the look. Of a process without records the sizes are compared
 * (/proc/PID/statm), which change when it unmaps something or gives back its memory.
 */
#include "faults/faults_priv.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/write_all.h"
#include "os/process.h"
#include "os/smaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Processes that changed are looked at this often: a new one sooner, then ever more rarely, and never for more than a
 * fiftieth of the time.
 */
#define LOOK_FIRST_NS UINT64_C(10000000)
#define LOOK_NS	      UINT64_C(200000000)
#define LOOK_PART     50
#define WAIT_NS	      UINT64_C(100000000)

/* The regions, and what of them is present, if that can be asked for. NULL: no memory, or the process has ended (errno). */
static struct perf_pages *scan(struct perf_proc *p, const char *maps, bool can_scan)
{
	struct pfs_page_ranges ranges = { 0 };
	struct perf_pages *pages = NULL;
	size_t nr_regions;
	int ret = 0;

	for (const char *at = maps; can_scan && !ret && *at; at += strcspn(at, "\n"), at += *at == '\n') {
		struct pfs_page_range *added, read;
		const char *range = at;

		if (!pfs_take_hex(&range, INT64_MAX, &read.start) || *range++ != '-' ||
		    !pfs_take_hex(&range, INT64_MAX, &read.end)) /* [vsyscall] is above */
			continue;
		added = pfs_array_add(ranges.range, ranges.nr, ranges.max);
		if (added)
			*added = read;
		else
			ret = -ENOMEM;
	}
	nr_regions = ranges.nr;
	if (!ret && nr_regions)
		ret = pfs_pagemap_scan(p->key, ranges.range[0].start, ranges.range[nr_regions - 1].end, &ranges);
	if (!ret)
		pages = malloc(sizeof(*pages) + ranges.nr * sizeof(*ranges.range));
	if (pages) {
		*pages = (struct perf_pages){ pfs_now_ns() - p->looked_ns, nr_regions, ranges.nr - nr_regions };
		memcpy(pages->range, ranges.range, ranges.nr * sizeof(*ranges.range));
	}
	free(ranges.range);
	errno = ret ? -ret : ENOMEM;
	return pages;
}

/* "22019 1044 736 27 0 2071 0": all that it has mapped, all that is present, ... in pages; "" of one that has ended. */
static void read_sizes(pid_t pid, char sizes[PERF_SIZES_MAX])
{
	if (!pfs_process_read(pid, "statm", sizes, PERF_SIZES_MAX))
		*sizes = '\0';
}

static bool has_changed(const struct perf_proc *p)
{
	char sizes[PERF_SIZES_MAX];

	if (p->changed)
		return true;
	read_sizes(p->key, sizes);
	return *sizes && strcmp(sizes, p->sizes) != 0;
}

static int look(struct perf_session *s, struct perf_proc *p)
{
	struct perf_item item = { .cpu = -1, .pid = p->key, .tid = p->key };
	struct perf_pages *pages;
	char path[64], *text;

	read_sizes(p->key, p->sizes);
	item.ts_ns = p->looked_ns = pfs_now_ns();
	p->changed = false;
	snprintf(path, sizeof(path), "/proc/%d/maps", p->key);
	text = pfs_read_whole_file(path, NULL);
	item.took_ns = pfs_now_ns() - item.ts_ns;
	if (!text || !*text) {
		free(text);
		return text || errno != ENOMEM ? 0 : -ENOMEM;
	}
	pages = scan(p, text, s->scans);
	p->took_ns = pfs_now_ns() - p->looked_ns;
	if (!pages && errno == ENOMEM) {
		free(text);
		return -ENOMEM;
	}
	item.kind = PERF_LAYOUT;
	item.data = text;
	if (perf_queue_put(&s->queue, item)) {
		free(pages);
		return -ENOMEM;
	}
	if (!pages)
		return 0;
	item.kind = PERF_PAGES;
	item.ts_ns += pages->took_ns;
	item.data = pages;
	return perf_queue_put(&s->queue, item);
}

static uint64_t pause_after(const struct perf_proc *p)
{
	uint64_t pause_ns = p->pause_ns ? p->pause_ns * 2 : LOOK_FIRST_NS;

	pause_ns = pause_ns < LOOK_NS ? pause_ns : LOOK_NS;
	return p->took_ns * LOOK_PART > pause_ns ? p->took_ns * LOOK_PART : pause_ns;
}

int perf_look_at(struct perf_session *s, bool all)
{
	uint64_t now_ns = pfs_now_ns();
	struct perf_proc *p, *next;

	s->due_ns = now_ns + WAIT_NS;
	HASH_ITER (hh, s->procs, p, next) {
		bool is_due = all || (now_ns >= p->due_ns && has_changed(p));

		if (is_due && look(s, p))
			return -ENOMEM;
		if (is_due || !p->pause_ns)
			p->pause_ns = pause_after(p);
		if (now_ns >= p->due_ns)
			p->due_ns = now_ns + p->pause_ns;
		if (p->due_ns < s->due_ns)
			s->due_ns = p->due_ns;
	}
	return 0;
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

/* Whether the process executed another program while its layout was read, so that the text may be of either image. */
static bool execs_meanwhile(const struct perf_session *s, const struct perf_item *item)
{
	const struct perf_item *next = item;

	while ((next = perf_queue_next(&s->queue, next, PERF_RECORD_COMM)) &&
	       next->ts_ns <= item->ts_ns + item->took_ns)
		if (((const struct perf_event_header *)next->data)->misc & PERF_RECORD_MISC_COMM_EXEC)
			return true;
	return false;
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
	struct perf_proc *p = perf_proc(s, item->pid);
	char *text = item->data, *line;
	struct pfs_event ev;
	int ret = 0;

	if (!p)
		return -ENOMEM;
	if (execs_meanwhile(s, item))
		return 0;
	if (!p->mapped && p->maps && !strcmp(p->maps, text))
		return 0;
	p->mapped = false;
	p->anew = true;
	free(p->maps);
	p->maps = strdup(text);
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
	return ret ?: emit_range(s, &ev, end, -page);
}

/* Those of [a, a + nr_a) that are not in [b, b + nr_b), both in order of address. */
static int emit_without(struct perf_session *s, struct pfs_event *ev, const struct pfs_page_range *a, size_t nr_a,
			const struct pfs_page_range *b, size_t nr_b)
{
	const struct pfs_page_range *const end_a = a + nr_a, *const end_b = b + nr_b;
	int ret = 0;

	for (; !ret && a < end_a; a++) {
		uint64_t start = a->start;

		while (!ret && start < a->end) {
			uint64_t hole, next;

			while (b < end_b && b->end <= start)
				b++;
			hole = b < end_b && b->start < a->end ? b->start : a->end;
			next = b < end_b && b->end < a->end ? b->end : a->end;
			if (hole > start) {
				PFS_SET(ev, start, START, start);
				PFS_SET(ev, end, END, hole);
				ret = perf_emit(s, ev);
			}
			start = hole == a->end ? hole : next;
		}
	}
	return ret;
}

/* All of it, if the layout was told anew; else what has changed since the last look. */
int perf_pages(struct perf_session *s, const struct perf_item *item)
{
	const struct perf_pages *pages = item->data;
	const struct pfs_page_range *present = pages->range + pages->nr_regions;
	struct perf_proc *p = perf_proc(s, item->pid);
	struct pfs_page_ranges *was = p ? &p->present : NULL;
	struct pfs_event ended = {
		.ts_ns = item->ts_ns,
		.kind = PFS_RESIDENT,
		.pid = item->pid,
		.tid = item->tid,
		.have = PFS_HAS(PFS_F_PID) | PFS_HAS(PFS_F_TID),
	};
	struct pfs_event ev = ended;
	int ret;

	if (!p)
		return -ENOMEM;
	if (item->ts_ns - pages->took_ns <= p->exec_ns) /* it may be of the image before */
		return 0;
	PFS_SET(&ev, state, STATE, PFS_CACHE_ABSENT);
	ret = p->anew ? emit_without(s, &ev, pages->range, pages->nr_regions, present, pages->nr_present)
		      : emit_without(s, &ev, was->range, was->nr, present, pages->nr_present);
	ev.state = PFS_CACHE_MAPPED;
	if (!ret)
		ret = emit_without(s, &ev, present, pages->nr_present, was->range, p->anew ? 0 : was->nr);
	p->anew = false;
	was->nr = 0;
	if (!ret && !pfs_array_reserve(was->range, 0, was->max, pages->nr_present + 1))
		ret = -ENOMEM;
	if (ret)
		return ret;
	was->nr = pages->nr_present;
	memcpy(was->range, present, was->nr * sizeof(*present));
	PFS_SET(&ended, interval_ns, INTERVAL, pages->took_ns);
	return perf_emit(s, &ended);
}
