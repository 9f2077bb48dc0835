/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/refault_note.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The kernel samples CPU times 100 to 1000 times a second: shorter times are not significant. */
#define ENOUGH_NS UINT64_C(100000000)

const char *const pfs_refault_methods[PFS_REFAULT_NR_METHODS + 1] = {
	[PFS_REFAULT_AUTO] = "auto", [PFS_REFAULT_PAGEOUT] = "pageout", [PFS_REFAULT_NUMA] = "numa",
	[PFS_REFAULT_IDLE] = "idle", [PFS_REFAULT_HIDE] = "hide",	[PFS_REFAULT_SOFT_DIRTY] = "soft-dirty",
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
	how->nr_intervals = nr - sums->nr[PFS_PACE_START];
	how->nr_quiet = sums->nr[PFS_PACE_REST] + sums->nr[PFS_PACE_QUIET];
	how->nr_cycles = sums->nr_cycles;
	how->nr_full = sums->nr_full;
}

static const char *shown(enum pfs_refault_method method)
{
	return method == PFS_REFAULT_SOFT_DIRTY ? "soft-dirty: writes only" : pfs_refault_methods[method];
}

void pfs_refault_how_text(char buf[PFS_REFAULT_HOW_MAX], const struct pfs_refault_how *how)
{
	char asked[32], mean[32], rest[256] = "";
	int len = 0;

	pfs_duration_text(asked, how->interval_ns, 3);
	pfs_duration_text(mean, how->mean_ns, 3);
	if (how->nr_quiet)
		len = snprintf(rest, sizeof(rest), "; not in %" PRIu64 " of %" PRIu64 " intervals", how->nr_quiet,
			       how->nr_intervals);
	if (how->nr_full)
		snprintf(rest + len, sizeof(rest) - len,
			 "; swap was full in %" PRIu64 " of %" PRIu64 " cycles: what found no room "
			 "stayed in memory",
			 how->nr_full, how->nr_cycles);
	if (!how->interval_ns)
		snprintf(buf, PFS_REFAULT_HOW_MAX, "at the kernel's own pace (%s)", shown(how->method));
	else if (how->mean_ns)
		snprintf(buf, PFS_REFAULT_HOW_MAX, "every %s on average (%s; every %s was asked for%s)", mean,
			 shown(how->method), asked, rest);
	else
		snprintf(buf, PFS_REFAULT_HOW_MAX, "every %s (%s%s)", asked, shown(how->method), rest);
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

/* A text of PFS_REFAULT_TEXT_MAX, line by line. */
struct lines {
	char *buf;
	size_t len;
};

static void __attribute__((format(printf, 2, 3))) add(struct lines *lines, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	lines->len += vsnprintf(lines->buf + lines->len, PFS_REFAULT_TEXT_MAX - lines->len, fmt, ap);
	va_end(ap);
}

static void add_pages(struct lines *lines, enum pfs_refault_method method, const struct pfs_refault_sums *sums)
{
	const struct pfs_pageout *pages = &sums->pages;
	bool idle = method == PFS_REFAULT_IDLE;

	if (method == PFS_REFAULT_HIDE || method == PFS_REFAULT_SOFT_DIRTY) {
		add(lines,
		    method == PFS_REFAULT_HIDE ? "  hidden      %" PRIu64 " pages that were accessible"
					       : "  marked      %" PRIu64 " pages in memory as not written",
		    pages->pages);
		add(lines, ", in %" PRIu64 " cycle%s\n", sums->nr_cycles, sums->nr_cycles == 1 ? "" : "s");
		return;
	}
	add(lines, "  looked at   %" PRIu64 " pages in memory, in %" PRIu64 " %s%s",
	    pages->pages + (idle ? pages->fixed : 0), sums->nr_cycles, idle ? "look" : "cycle",
	    sums->nr_cycles == 1 ? "" : "s");
	if (pages->fixed && idle)
		add(lines, "; %" PRIu64 " not watched (too many)", pages->fixed);
	if (!idle)
		add(lines, "\n  put out     %" PRIu64, pages->away);
	if (pages->shared)
		add(lines, "; not %" PRIu64 " that other processes have mapped", pages->shared);
	if (pages->fixed && !idle)
		add(lines, "; not %" PRIu64 " locked or a device's", pages->fixed);
	if (pages->shared)
		add(lines, "\n              (pages that others have mapped: only --refault-by=hide)");
	add(lines, "\n");
}

static void add_slowdown(struct lines *lines, const struct pfs_refault_sums *sums)
{
	uint64_t nr_quiet = sums->nr[PFS_PACE_QUIET];
	double slowdown = pfs_refault_slowdown(sums);

	add(lines, "  came back   %.1f faults an interval", an_interval(sums, PFS_PACE_CYCLED));
	if (nr_quiet)
		add(lines, "; %.1f in the %" PRIu64 " without cycles", an_interval(sums, PFS_PACE_QUIET), nr_quiet);
	if (slowdown > 0)
		add(lines, "\n  slower by   a factor of %.1f, or more\n", slowdown);
	else
		add(lines, "\n  slower by   not known (%s)\n",
		    nr_quiet ? "too little ran without cycles: a smaller --refault-quiet"
			     : "no interval was left alone");
}

void pfs_refault_cost_text(char buf[PFS_REFAULT_TEXT_MAX], enum pfs_refault_method method,
			   const struct pfs_refault_sums *sums)
{
	struct lines lines = { buf, 0 };
	char took[32], wall[32];
	uint64_t wall_ns = 0;

	for (int pace = 0; pace < PFS_PACE_NR; pace++)
		wall_ns += sums->wall_ns[pace];
	add_pages(&lines, method, sums);
	add(&lines, "  time spent  %s of %s", pfs_duration_text(took, sums->took_ns, 3),
	    pfs_duration_text(wall, wall_ns, 4));
	if (sums->skipped)
		add(&lines, "; %" PRIu64 " intervals were skipped", sums->skipped);
	add(&lines, "\n");
	if (method != PFS_REFAULT_IDLE)
		add_slowdown(&lines, sums);
}
