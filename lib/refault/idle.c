/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refault/idle.h"

#include "os/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each page is a folder in sysfs, and an event if it is used: so many take some tenths of a second and 4 MB. */
#define MAX_PAGES 65536
#define MAX_AREAS 4096

/* Longer regions are left out as a whole. */
#define MAX_REGION (UINT64_C(4) << 30)

/* /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst): 8 bytes a page. */
#define IN_MEMORY (UINT64_C(1) << 63)

/* A target of DAMON's, by its number. */
struct area {
	pid_t pid;   /* 0: it has no pages */
	pid_t noted; /* its process in the last note */
	uint64_t start;
	uint64_t pages[PFS_DAMON_WORDS]; /* that are watched, or to be */
	uint64_t seen[PFS_DAMON_WORDS];	 /* in the look under way */
	bool changed;			 /* since it was written to the kernel */
};

struct pfs_idle {
	struct pfs_damon *damon;
	struct area areas[MAX_AREAS];
	unsigned int nr, nr_targets; /* of those; of DAMON's */
	unsigned int at;	     /* the last one that was found: the search begins there */
	unsigned int nr_pages;	     /* in the look under way */
	uint64_t page_size;
	pid_t noted_tid; /* DAMON's thread in the last note */
};

struct look {
	struct pfs_idle *idle;
	const struct pfs_pageout_want *want;
	struct pfs_pageout *sums;
	pid_t pid;
	int pagemap;
};

struct pfs_idle *pfs_idle_new(struct pfs_damon *damon, unsigned int nr_targets)
{
	struct pfs_idle *idle = calloc(1, sizeof(*idle));

	if (!idle)
		return NULL;
	idle->damon = damon;
	idle->nr_targets = nr_targets;
	idle->page_size = sysconf(_SC_PAGESIZE);
	return idle;
}

/* ---- looking ---- */

/* Finds or adds one. NULL: there are too many. */
static struct area *area_of(struct pfs_idle *idle, pid_t pid, uint64_t start)
{
	struct area *unused = NULL;

	for (unsigned int i = 0; i < idle->nr; i++) {
		unsigned int at = (idle->at + i) % idle->nr;
		struct area *area = &idle->areas[at];

		if (area->pid == pid && area->start == start) {
			idle->at = at;
			return area;
		}
		if (!area->pid && !area->changed)
			unused = area;
	}
	if (!unused && idle->nr < MAX_AREAS)
		unused = &idle->areas[idle->nr++];
	if (unused) {
		unused->pid = pid;
		unused->start = start;
	}
	return unused;
}

static bool see_page(struct pfs_idle *idle, pid_t pid, uint64_t addr)
{
	uint64_t size = PFS_DAMON_PAGES * idle->page_size, nr = addr % size / idle->page_size;
	struct area *area = idle->nr_pages < MAX_PAGES ? area_of(idle, pid, addr - addr % size) : NULL;

	if (!area)
		return false;
	area->seen[nr / 64] |= UINT64_C(1) << nr % 64;
	idle->nr_pages++;
	return true;
}

static int see_region(void *ctx, const struct pfs_smap *region)
{
	struct look *look = ctx;
	uint64_t page_size = look->idle->page_size, map[512], addr = region->start;

	if (!region->resident || (look->want->wanted && !look->want->wanted(look->want->ctx, region)))
		return 0;
	if (region->end - region->start > MAX_REGION) {
		look->sums->fixed += region->resident / page_size;
		return 0;
	}
	while (addr < region->end && !(look->want->stop && look->want->stop(look->want->ctx))) {
		uint64_t left = (region->end - addr) / page_size, most = sizeof(map) / sizeof(map[0]);
		ssize_t got = pread(look->pagemap, map, (left < most ? left : most) * 8, addr / page_size * 8);

		if (got < 8)
			break;
		for (unsigned int i = 0; i < got / 8; i++, addr += page_size) {
			if (!(map[i] & IN_MEMORY))
				continue;
			if (see_page(look->idle, look->pid, addr))
				look->sums->pages++;
			else
				look->sums->fixed++;
		}
	}
	return 0;
}

int pfs_idle_see(struct pfs_idle *idle, pid_t pid, const struct pfs_pageout_want *want, struct pfs_pageout *sums)
{
	struct look look = { .idle = idle, .want = want, .sums = sums, .pid = pid };
	FILE *smaps = pfs_smaps_open(pid);
	int ret = 0;

	look.pagemap = smaps ? pfs_process_open(pid, "pagemap") : -1;
	if (look.pagemap < 0)
		ret = -errno;
	else
		ret = pfs_smaps_read(smaps, see_region, &look);
	if (look.pagemap >= 0)
		close(look.pagemap);
	if (smaps)
		fclose(smaps);
	sums->nr_processes += !ret;
	return ret == -ENOENT || ret == -ESRCH ? 0 : ret;
}

/* ---- watching ---- */

/*
 * The pages that were seen are to be watched from now on, where there are new ones, or none any more. A page that left
 * memory may stay: it is not accessed. Returns true if the kernel needs the new targets.
 */
static bool take_over(struct pfs_idle *idle)
{
	bool changed = false;

	for (unsigned int i = 0; i < idle->nr; i++) {
		struct area *area = &idle->areas[i];
		uint64_t seen = 0, new = 0;

		for (int k = 0; k < PFS_DAMON_WORDS; k++) {
			seen |= area->seen[k];
			new |= area->seen[k] & ~area->pages[k];
		}
		if (area->pid && (new || !seen)) {
			memcpy(area->pages, area->seen, sizeof(area->pages));
			area->pid = seen ? area->pid : 0;
			area->changed = true;
		}
		memset(area->seen, 0, sizeof(area->seen));
		changed |= area->changed;
	}
	idle->nr_pages = 0;
	return changed;
}

/* The processes of the targets: a note for each range of targets of one process. */
static int note_targets(struct pfs_idle *idle, const struct pfs_idle_to *to)
{
	int ret = 0;

	for (unsigned int first = 0, i; !ret && first < idle->nr; first = i) {
		pid_t pid = idle->areas[first].pid;

		for (i = first; i < idle->nr && pid && idle->areas[i].pid == pid && idle->areas[i].noted != pid; i++)
			idle->areas[i].noted = pid;
		if (i > first)
			ret = to->note(to->ctx, PFS_FACT(ACCESS_TARGETS, .first = first, .last = i - 1, .pid = pid));
		else
			i++;
	}
	return ret;
}

/* With more targets, or after it stopped, DAMON is started again and gets all of them. */
static int make_room(struct pfs_idle *idle)
{
	while (idle->nr_targets < idle->nr)
		idle->nr_targets *= 2;
	for (unsigned int i = 0; i < idle->nr; i++)
		idle->areas[i].changed = true;
	return pfs_damon_stop(idle->damon, idle->nr_targets);
}

static int write_targets(struct pfs_idle *idle, const struct pfs_pageout_want *want)
{
	bool anew = idle->nr_targets < idle->nr || !idle->damon->tid;
	int ret = anew ? make_room(idle) : 0;

	for (unsigned int i = 0; !ret && i < idle->nr; i++) {
		const struct area *area = &idle->areas[i];

		if (area->changed)
			ret = pfs_damon_target(i, area->pid, area->start, area->pages);
	}
	if (!ret)
		ret = anew ? pfs_damon_start(idle->damon) : pfs_damon_commit(idle->damon, want->stop, want->ctx);
	for (unsigned int i = 0; !ret && i < idle->nr; i++)
		idle->areas[i].changed = false;
	return ret;
}

/* DAMON's thread is no thread of the targets: its note has to precede its events. */
static int note_tid(struct pfs_idle *idle, const struct pfs_idle_to *to)
{
	int ret;

	if (!idle->damon->tid || idle->noted_tid == idle->damon->tid)
		return 0;
	ret = to->note(to->ctx, PFS_FACT(ACCESS_BY, .pid = idle->damon->tid)) ?: to->add_tid(to->ctx, idle->damon->tid);
	if (!ret)
		idle->noted_tid = idle->damon->tid;
	return ret;
}

int pfs_idle_watch(struct pfs_idle *idle, const struct pfs_pageout_want *want, const struct pfs_idle_to *to)
{
	bool changed = take_over(idle);
	int ret = (changed ? note_targets(idle, to) : 0) ?: note_tid(idle, to);

	if (!ret && changed)
		ret = write_targets(idle, want) ?: note_tid(idle, to);
	return ret == -ECANCELED || ret == -EINVAL ? 0 : ret;
}
