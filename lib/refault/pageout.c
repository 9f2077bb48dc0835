/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refault/pageout.h"

#include "base/array.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <unistd.h>

/* Memory between two calls of stop(): some 50 ms. */
#define STEP (UINT64_C(64) << 20)

/* Swap counts as full with less than that left. */
#define FEW_BYTES (UINT64_C(64) << 12)

struct region {
	uint64_t start, end, resident, shared;
};

struct look {
	const struct pfs_pageout_want *want;
	struct pfs_pageout *sums;
	struct region *regions;
	size_t nr, max;
	size_t at; /* the second look is there */
	pid_t pid;
	uint64_t page_size;
};

void pfs_pageout_begin(void)
{
	void *page = NULL;
	int node = 0, status;

	/* Moving no pages empties the per-CPU batches of all CPUs first. */
	syscall(SYS_move_pages, 0, 0, &page, &node, &status, 0);
}

static void report(const struct look *look, uint64_t start, uint64_t end, uint64_t resident, uint64_t stayed)
{
	if (look->want->stayed)
		look->want->stayed(look->want->ctx, look->pid, start, end, resident / look->page_size,
				   stayed / look->page_size);
}

static int first_look(void *ctx, const struct pfs_smap *region)
{
	struct look *look = ctx;
	const struct pfs_pageout_want *want = look->want;
	struct region *kept;

	if (!region->resident || (want->wanted && !want->wanted(want->ctx, region)))
		return 0;
	look->sums->pages += region->resident / look->page_size;
	if (region->fixed) {
		look->sums->fixed += region->resident / look->page_size;
		report(look, region->start, region->end, region->resident, region->resident);
		return 0;
	}
	kept = pfs_array_add(look->regions, look->nr, look->max);
	if (!kept)
		return -ENOMEM;
	*kept = (struct region){ region->start, region->end, region->resident, region->shared };
	return 0;
}

/* Regions that were split or moved meanwhile count as if they had stayed. */
static int second_look(void *ctx, const struct pfs_smap *region)
{
	struct look *look = ctx;

	while (look->at < look->nr && look->regions[look->at].start < region->start)
		look->at++;
	if (look->at < look->nr && look->regions[look->at].start == region->start) {
		const struct region *before = &look->regions[look->at++];
		uint64_t stayed = region->resident < before->resident ? region->resident : before->resident;

		look->sums->away += (before->resident - stayed) / look->page_size;
		look->sums->shared += (stayed < before->shared ? stayed : before->shared) / look->page_size;
		report(look, before->start, before->end, before->resident, stayed);
	}
	return 0;
}

static bool stopped(const struct look *look)
{
	return look->want->stop && look->want->stop(look->want->ctx);
}

/* A region takes steps by the memory that it has, not by its length. */
static uint64_t step_of(const struct region *region, uint64_t page_size)
{
	uint64_t nr_steps = region->resident / STEP + 1;

	return ((region->end - region->start) / nr_steps + page_size) / page_size * page_size;
}

/* Each CPU reserves some swap slots, so the last few cannot be used. */
static bool is_swap_full(void)
{
	struct sysinfo info;

	return !sysinfo(&info) && info.totalswap && info.freeswap * info.mem_unit < FEW_BYTES;
}

/* A region that was unmapped or locked meanwhile is passed over. */
static int advise_region(int pidfd, const struct look *look, const struct region *region)
{
	uint64_t step = step_of(region, look->page_size);
	int ret = 0;

	for (uint64_t at = region->start; !ret && at < region->end && !stopped(look); at += step) {
		struct iovec range = {
			(void *)(uintptr_t)at,
			region->end - at < step ? region->end - at : step,
		};

		ret = syscall(SYS_process_madvise, pidfd, &range, 1, MADV_PAGEOUT, 0) < 0 ? -errno : 0;
		look->sums->full |= !look->want->files_only && is_swap_full();
	}
	return ret == -ESRCH || ret == -EPERM || ret == -ENOSYS ? ret : 0;
}

static int advise(int pidfd, const struct look *look)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < look->nr; i++)
		ret = advise_region(pidfd, look, &look->regions[i]);
	return ret;
}

static int look_and_advise(pid_t pid, int pidfd, struct look *look)
{
	FILE *smaps = pfs_smaps_open(pid);
	int ret;

	if (!smaps)
		return errno == ENOENT ? -ESRCH : -errno;
	ret = pfs_smaps_read(smaps, first_look, look);
	if (!ret && look->nr) {
		rewind(smaps);
		ret = advise(pidfd, look) ?: pfs_smaps_read(smaps, second_look, look);
	}
	fclose(smaps);
	return ret;
}

int pfs_pageout_process(pid_t pid, const struct pfs_pageout_want *want, struct pfs_pageout *sums)
{
	struct look look = { .want = want, .sums = sums, .page_size = sysconf(_SC_PAGESIZE), .pid = pid };
	int pidfd = syscall(SYS_pidfd_open, pid, 0), ret;

	if (pidfd < 0)
		return errno == ESRCH ? 0 : -errno;
	ret = look_and_advise(pid, pidfd, &look);
	sums->nr_processes += !ret;
	free(look.regions);
	close(pidfd);
	return ret == -ESRCH ? 0 : ret;
}
