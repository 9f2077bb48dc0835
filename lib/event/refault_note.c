/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/refault_note.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The kernel samples CPU times 100 to 1000 times a second: shorter times are not significant. */
#define ENOUGH_NS UINT64_C(100000000)

const char *const pfs_refault_methods[PFS_REFAULT_NR_METHODS + 1] = {
	[PFS_REFAULT_AUTO] = "auto",
	[PFS_REFAULT_PAGEOUT] = "pageout",
	[PFS_REFAULT_NUMA] = "numa",
	[PFS_REFAULT_IDLE] = "idle",
	NULL,
};

const char *pfs_refault_what(enum pfs_refault_method method)
{
	return method == PFS_REFAULT_IDLE ? "accesses were sampled" : "pages were made to fault again";
}

void pfs_refault_how(struct pfs_refault_how *how, const struct pfs_refault_sums *sums)
{
	uint64_t wall_ns = 0, nr = 0;

	for (int pace = 0; pace < PFS_PACE_NR; pace++) {
		wall_ns += sums->wall_ns[pace];
		nr += sums->nr[pace];
	}
	how->mean_ns = sums->skipped && nr ? wall_ns / nr : 0;
	how->nr_cycles = sums->nr_cycles;
	how->nr_full = sums->nr_full;
}

void pfs_refault_how_text(char buf[PFS_REFAULT_HOW_MAX], const struct pfs_refault_how *how)
{
	char asked[32], mean[32], full[128] = "";

	pfs_duration_text(asked, how->interval_ns, 3);
	pfs_duration_text(mean, how->mean_ns, 3);
	if (how->nr_full)
		snprintf(full, sizeof(full),
			 "; swap was full in %" PRIu64 " of %" PRIu64 " cycles: what found no room "
			 "stayed in memory",
			 how->nr_full, how->nr_cycles);
	if (!how->interval_ns)
		snprintf(buf, PFS_REFAULT_HOW_MAX, "at the kernel's own pace (%s)", pfs_refault_methods[how->method]);
	else if (how->mean_ns)
		snprintf(buf, PFS_REFAULT_HOW_MAX, "every %s on average (%s; every %s was asked for%s)", mean,
			 pfs_refault_methods[how->method], asked, full);
	else
		snprintf(buf, PFS_REFAULT_HOW_MAX, "every %s (%s%s)", asked, pfs_refault_methods[how->method], full);
}

void pfs_refault_sum(struct pfs_refault_sums *sums, const struct pfs_refault_tick *tick)
{
	if (tick->cycle) {
		sums->nr_cycles++;
		sums->took_ns += tick->took_ns;
	}
	sums->skipped += tick->skipped;
	sums->nr_full += tick->pages.full;
	sums->pages.pages += tick->pages.pages;
	sums->pages.away += tick->pages.away;
	sums->pages.shared += tick->pages.shared;
	sums->pages.fixed += tick->pages.fixed;
	sums->nr[tick->before]++;
	sums->faults[tick->before] += tick->faults;
	sums->wall_ns[tick->before] += tick->wall_ns;
	sums->user_ns[tick->before] += tick->user_ns;
}

double pfs_refault_slowdown(const struct pfs_refault_sums *sums)
{
	const uint64_t *wall = sums->wall_ns, *user = sums->user_ns;

	if (user[PFS_PACE_QUIET] < ENOUGH_NS || user[PFS_PACE_CYCLED] < ENOUGH_NS)
		return 0;
	return ((double)user[PFS_PACE_QUIET] / wall[PFS_PACE_QUIET]) /
	       ((double)user[PFS_PACE_CYCLED] / wall[PFS_PACE_CYCLED]);
}

static double an_interval(const struct pfs_refault_sums *sums, enum pfs_refault_pace pace)
{
	return sums->nr[pace] ? (double)sums->faults[pace] / sums->nr[pace] : 0;
}

/* How much slower, and by how many faults. */
static void put_slowdown(char *buf, size_t size, const struct pfs_refault_sums *sums)
{
	uint64_t nr_quiet = sums->nr[PFS_PACE_QUIET];
	double slowdown = pfs_refault_slowdown(sums);
	int len;

	if (!nr_quiet) {
		snprintf(buf, size, "; how much slower that made it is not known (no interval was left alone)");
		return;
	}
	len = snprintf(buf, size, ", %.1f in the %" PRIu64 " to compare with; ", an_interval(sums, PFS_PACE_QUIET),
		       nr_quiet);
	if (slowdown > 0)
		snprintf(buf + len, size - len, "%.1f times as slow as in these, or slower", slowdown);
	else
		snprintf(buf + len, size - len,
			 "how much slower that made it is not known (too little ran in these; "
			 "a smaller --refault-quiet leaves more alone)");
}

/* Nothing was taken away. */
static void put_watching(char *buf, size_t size, const struct pfs_refault_sums *sums, double wall_s)
{
	int len = snprintf(buf, size, "%" PRIu64 " look%s for %" PRIu64 " pages in memory", sums->nr_cycles,
			   sums->nr_cycles == 1 ? "" : "s", sums->pages.pages + sums->pages.fixed);

	if (sums->pages.fixed)
		len += snprintf(buf + len, size - len, ", %" PRIu64 " of them not watched (too many)",
				sums->pages.fixed);
	snprintf(buf + len, size - len, "; %.3f s of %.3f", sums->took_ns / 1e9, wall_s);
}

void pfs_refault_cost_text(char buf[PFS_REFAULT_TEXT_MAX], enum pfs_refault_method method,
			   const struct pfs_refault_sums *sums)
{
	const struct pfs_pageout *pages = &sums->pages;
	size_t size = PFS_REFAULT_TEXT_MAX;
	double wall_s = 0;
	int len;

	for (int pace = 0; pace < PFS_PACE_NR; pace++)
		wall_s += sums->wall_ns[pace] / 1e9;
	if (method == PFS_REFAULT_IDLE) {
		put_watching(buf, size, sums, wall_s);
		return;
	}
	len = snprintf(buf, size,
		       "%" PRIu64 " cycle%s of %" PRIu64 " pages in memory, %" PRIu64 " of them away right "
		       "after",
		       sums->nr_cycles, sums->nr_cycles == 1 ? "" : "s", pages->pages, pages->away);
	if (pages->shared)
		len += snprintf(buf + len, size - len, ", %" PRIu64 " other processes' as well", pages->shared);
	if (pages->fixed)
		len += snprintf(buf + len, size - len, ", %" PRIu64 " locked or a device's", pages->fixed);
	len += snprintf(buf + len, size - len, "; %.3f s of %.3f", sums->took_ns / 1e9, wall_s);
	if (sums->skipped)
		len += snprintf(buf + len, size - len, ", %" PRIu64 " intervals went by meanwhile", sums->skipped);
	len += snprintf(buf + len, size - len, "; %.1f faults an interval", an_interval(sums, PFS_PACE_CYCLED));
	put_slowdown(buf + len, size - len, sums);
}
