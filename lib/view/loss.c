/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What losses may concern, and how they are printed: see loss.h.
 */
#include "view/loss.h"

#include "base/units.h"
#include "view/labels.h"

#include <inttypes.h>
#include <string.h>

/* ---- which gaps ---- */

struct pfs_gaps pfs_gaps_shown(const struct pfs_model *model, const struct pfs_filter *filter)
{
	struct pfs_gaps gaps = { .model = model, .to_ns = pfs_filter_end_ns(filter, model) };

	if (filter && filter->from.set)
		gaps.from_ns = pfs_time_ns(&filter->from, model);
	return gaps;
}

struct pfs_gaps pfs_gaps_of(struct pfs_gaps gaps, const struct pfs_epochs *at, const struct pfs_row *row)
{
	gaps.at = at;
	gaps.row = row;
	return gaps;
}

struct pfs_gaps pfs_gaps_before(struct pfs_gaps gaps, const struct pfs_epochs *at)
{
	gaps.from_ns = 0;
	return pfs_gaps_of(gaps, at, NULL);
}

struct pfs_epochs pfs_whole_life(const struct pfs_model *model, const struct pfs_proc *proc)
{
	return (struct pfs_epochs){ .model = model, .proc = proc, .epoch = &proc->epochs[0], .end_ns = proc->died_ns };
}

static bool overlaps(const struct pfs_loss *loss, uint64_t from_ns, uint64_t to_ns)
{
	return loss->from_ns <= to_ns && loss->to_ns >= from_ns;
}

/*
 * A process of which no fork is known may have been there before it was first heard of. What exec builds is touched
 * before it runs.
 */
static uint64_t epoch_start(const struct pfs_epochs *at)
{
	uint64_t start_ns = at->index || at->proc->ppid ? at->epoch->start_ns : 0;

	return at->index && !at->epoch->shared && at->epoch->space->born_ns < start_ns ? at->epoch->space->born_ns
										       : start_ns;
}

/* A region without known attributes may be as old as its process. */
static uint64_t region_start(const struct pfs_region *region)
{
	return region->have & PFS_HAS(PFS_F_PERMS) ? region->since_ns : 0;
}

bool pfs_gaps_have(struct pfs_gaps gaps, const struct pfs_loss *loss)
{
	const struct pfs_region *region = gaps.row ? gaps.row->region : NULL;

	if (!overlaps(loss, gaps.from_ns, gaps.to_ns))
		return false;
	if (gaps.at && loss->pid) /* an exec builds its image without it */
		return loss->pid == gaps.at->proc->pid && overlaps(loss, gaps.at->epoch->start_ns, gaps.at->end_ns) &&
		       (!region || overlaps(loss, 0, region->died_ns));
	if (gaps.at && !overlaps(loss, epoch_start(gaps.at), gaps.at->end_ns))
		return false;
	return !region || overlaps(loss, region_start(region), region->died_ns);
}

/* ---- how many ---- */

static void add(struct pfs_missing *sum, const struct pfs_loss *loss)
{
	if (!sum->nr || loss->from_ns < sum->from_ns)
		sum->from_ns = loss->from_ns;
	if (loss->to_ns > sum->to_ns)
		sum->to_ns = loss->to_ns;
	sum->count += loss->count;
	sum->unknown += loss->unknown;
	sum->nr++;
}

struct pfs_missing pfs_gaps_sum(struct pfs_gaps gaps)
{
	struct pfs_missing sum = { 0 };

	for (unsigned int i = 0; i < gaps.model->nr_losses; i++)
		if (pfs_gaps_have(gaps, &gaps.model->losses[i]))
			add(&sum, &gaps.model->losses[i]);
	return sum;
}

bool pfs_missing_may_be(const struct pfs_missing *missing, uint64_t nr)
{
	return missing->unknown || missing->count >= nr;
}

/* The same by cpu: of some each, of the others together. */
struct by_cpu {
	struct {
		struct pfs_missing sum;
		unsigned int on;
	} listed[4];
	unsigned int nr_listed, nr_others;
	struct pfs_missing others;
	bool is_other[PFS_MAX_LOST_ON];
};

static struct pfs_missing *listed_as(struct by_cpu *by, unsigned int on)
{
	unsigned int i = 0;

	while (i < by->nr_listed && by->listed[i].on != on)
		i++;
	if (i == sizeof(by->listed) / sizeof(by->listed[0]))
		return NULL;
	if (i == by->nr_listed)
		by->listed[by->nr_listed++].on = on;
	return &by->listed[i].sum;
}

static void sum_by_cpu(struct pfs_gaps gaps, struct by_cpu *by)
{
	for (unsigned int i = 0; i < gaps.model->nr_losses; i++) {
		const struct pfs_loss *loss = &gaps.model->losses[i];
		struct pfs_missing *sum;

		if (!pfs_gaps_have(gaps, loss))
			continue;
		sum = listed_as(by, loss->on);
		add(sum ? sum : &by->others, loss);
		if (!sum && !by->is_other[loss->on]) {
			by->is_other[loss->on] = true;
			by->nr_others++;
		}
	}
	for (unsigned int i = 0; i < by->nr_listed; i++) { /* of all gaps together more may be known */
		const struct pfs_lost_cpu *all = &gaps.model->lost_on[by->listed[i].on];

		if (by->listed[i].sum.nr == all->nr_gaps) {
			by->listed[i].sum.count = all->count;
			by->listed[i].sum.unknown = all->unknown;
		}
	}
}

/* ---- in words ---- */

static int number_text(char *buf, size_t size, const struct pfs_missing *sum, const char *where)
{
	char events[48];

	if (sum->unknown && !sum->count)
		return snprintf(buf, size, "an unknown number of events%s", where);
	return snprintf(buf, size, "%s%s%s", pfs_plural(events, sizeof(events), sum->count, "event"),
			sum->unknown ? " and an unknown number more" : "", where);
}

static int time_text(char *buf, size_t size, const struct pfs_model *model, const struct pfs_missing *sum)
{
	char from[32], to[32];

	if (sum->to_ns == UINT64_MAX)
		return sum->from_ns ? snprintf(buf, size, " from %s s on", pfs_time_text(from, model, sum->from_ns))
				    : 0;
	pfs_time_text(to, model, sum->to_ns);
	if (!sum->from_ns)
		return snprintf(buf, size, " before %s s", to);
	return snprintf(buf, size, " between %s and %s s", pfs_time_text(from, model, sum->from_ns), to);
}

/* Processes that were missed; len: what is in buf already. */
static void add_missed(char buf[PFS_LOST_TEXT_MAX], size_t len, struct pfs_gaps gaps)
{
	bool one = gaps.model->missed == 1;

	if (!gaps.at && gaps.model->missed)
		snprintf(buf + len, PFS_LOST_TEXT_MAX - len,
			 "%s%" PRIu64 " process%s ended before %s could be recorded", len ? ", " : "",
			 gaps.model->missed, one ? "" : "es", one ? "it" : "they");
}

bool pfs_lost_sum_text(char buf[PFS_LOST_TEXT_MAX], struct pfs_gaps gaps)
{
	struct by_cpu by = { 0 };
	struct pfs_missing sum;
	char where[48], number[32];
	size_t len = 0;

	sum_by_cpu(gaps, &by);
	sum = by.others;
	for (unsigned int i = 0; i < by.nr_listed; i++) {
		sum.nr += by.listed[i].sum.nr;
		sum.count += by.listed[i].sum.count;
		sum.unknown += by.listed[i].sum.unknown;
	}
	if (sum.nr) {
		snprintf(where, sizeof(where), " in %s", pfs_plural(number, sizeof(number), sum.nr, "gap"));
		len = snprintf(buf, PFS_LOST_TEXT_MAX, "lost ");
		len += number_text(buf + len, PFS_LOST_TEXT_MAX - len, &sum, where);
	}
	add_missed(buf, len, gaps);
	return sum.nr || (!gaps.at && gaps.model->missed);
}

bool pfs_lost_text(char buf[PFS_LOST_TEXT_MAX], struct pfs_gaps gaps)
{
	const size_t size = PFS_LOST_TEXT_MAX;
	struct by_cpu by = { 0 };
	char where[48];
	size_t len = 0;

	sum_by_cpu(gaps, &by);
	for (unsigned int i = 0; i < by.nr_listed; i++) {
		int32_t cpu = gaps.model->lost_on[by.listed[i].on].cpu;

		where[0] = '\0';
		if (cpu >= 0)
			snprintf(where, sizeof(where), " on CPU %d", cpu);
		if (cpu == PFS_LOST_CALLS)
			strcpy(where, " (system calls of 32-bit processes)");
		len += snprintf(buf + len, size - len, i ? ", " : "lost ");
		len += number_text(buf + len, size - len, &by.listed[i].sum, where);
		len += time_text(buf + len, size - len, gaps.model, &by.listed[i].sum);
	}
	if (by.nr_others) {
		snprintf(where, sizeof(where), " on %u other CPU%s", by.nr_others, by.nr_others == 1 ? "" : "s");
		len += snprintf(buf + len, size - len, ", ");
		len += number_text(buf + len, size - len, &by.others, where);
	}
	add_missed(buf, len, gaps);
	return by.nr_listed || (!gaps.at && gaps.model->missed);
}

void pfs_put_losses(const struct pfs_model *model, FILE *out)
{
	char lost[PFS_LOST_TEXT_MAX];

	if (pfs_lost_text(lost, pfs_gaps_shown(model, NULL)))
		fprintf(out, "%s: the recording is not complete\n", lost);
}
