/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The comparison: matches the regions of all runs, judges each measure of each region, and adds up files, processes and
 * the whole. See compare/compare.h for what the judgements mean.
 */
#include "compare/compare_priv.h"

#include "base/array.h"
#include "view/labels.h"

#include <errno.h>
#include <string.h>

const char *const pfs_measure_names[PFS_NR_MEASURES] = { "faults", "major", "pages", "around", "time" };
const char *const pfs_why_names[] = { "", "spread", "placement", "unknown", "changed" };

/* The kernel lets a stack begin anywhere in 8 KiB: arch_align_stack(). */
enum { STACK_SLACK = 2 };

/* Runs of a side that show how much times differ anyway. */
enum { LEAST_TIMED = 3 };

/* A line with what each run has of it. */
struct part {
	struct pfs_change_line line;
	uint64_t (*number)[PFS_NR_MEASURES]; /* of each run */
	size_t image;
};

struct parts {
	struct part *part;
	size_t nr;
};

/* ---- one measure ---- */

static int compare_numbers(const void *a, const void *b)
{
	return pfs_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* number[run]; sorted is room for as many. Returns SAME, SPREAD or CHANGED. */
static enum pfs_why judge(const struct pfs_compare *c, struct pfs_change *change, const uint64_t *number,
			  uint64_t *sorted)
{
	for (int side = 0; side < 2; side++) {
		size_t nr = 0;

		for (size_t run = 0; run < c->priv->nr_runs; run++)
			if ((int)c->priv->runs[run].side == side)
				sorted[nr++] = number[run];
		qsort(sorted, nr, sizeof(*sorted), compare_numbers);
		change->least[side] = sorted[0];
		change->most[side] = sorted[nr - 1];
		change->median[side] = (sorted[(nr - 1) / 2] + sorted[nr / 2]) / 2;
	}
	if (change->median[0] == change->median[1])
		return PFS_SAME;
	return change->least[0] <= change->most[1] && change->least[1] <= change->most[0] ? PFS_SPREAD : PFS_CHANGED;
}

static void add_difference(struct pfs_change *change, const struct pfs_change *of)
{
	if (of->median[1] > of->median[0])
		change->gained += of->median[1] - of->median[0];
	else
		change->lost += of->median[0] - of->median[1];
}

/* Room for a number of each run. */
struct scratch {
	uint64_t *reads, *writes, *touched, *sorted;
	const struct compare_region **region;
	size_t *next; /* page */
};

static int scratch_init(struct scratch *s, size_t nr_runs)
{
	s->reads = calloc(4 * nr_runs, sizeof(*s->reads));
	s->region = calloc(nr_runs, sizeof(*s->region));
	s->next = calloc(nr_runs, sizeof(*s->next));
	if (!s->reads || !s->region || !s->next)
		return -ENOMEM;
	s->writes = s->reads + nr_runs;
	s->touched = s->writes + nr_runs;
	s->sorted = s->touched + nr_runs;
	return 0;
}

static void scratch_fini(struct scratch *s)
{
	free(s->reads);
	free(s->region);
	free(s->next);
}

/* ---- pages of a file ---- */

/* Reads the next page of all runs into the scratch; false: there are no more. */
static bool next_page(const struct pfs_compare *c, struct scratch *s, bool *silent)
{
	uint64_t off = UINT64_MAX;
	bool any = false;

	*silent = false;
	for (size_t run = 0; run < c->priv->nr_runs; run++) {
		const struct compare_region *region = s->region[run];

		if (region && s->next[run] < region->nr_pages && region->pages[s->next[run]].off <= off) {
			off = region->pages[s->next[run]].off;
			any = true;
		}
	}
	for (size_t run = 0; any && run < c->priv->nr_runs; run++) {
		const struct compare_region *region = s->region[run];
		const struct compare_page *page = region ? region->pages + s->next[run] : NULL;
		bool has = page && s->next[run] < region->nr_pages && page->off == off;

		s->reads[run] = has ? page->reads : 0;
		s->writes[run] = has ? page->writes : 0;
		s->touched[run] = s->reads[run] || s->writes[run];
		*silent |= has && page->silent;
		s->next[run] += has;
	}
	return any;
}

static enum pfs_why greater(enum pfs_why a, enum pfs_why b)
{
	return a > b ? a : b;
}

/*
 * Writes to private pages of a file fault wherever the mapping is; other faults do not where another fault has mapped the
 * page, too.
 */
static void judge_pages(const struct pfs_compare *c, struct pfs_change_line *line, struct scratch *s, bool lacks_around)
{
	struct pfs_change *faults = &line->change[PFS_M_FAULTS], *pages = &line->change[PFS_M_PAGES];
	bool silent;

	memset(s->next, 0, c->priv->nr_runs * sizeof(*s->next));
	while (next_page(c, s, &silent)) {
		enum pfs_why otherwise = silent ? PFS_PLACEMENT : lacks_around ? PFS_UNKNOWN : PFS_CHANGED;
		struct pfs_change reads, writes, touched;
		enum pfs_why of_writes = judge(c, &writes, s->writes, s->sorted);
		enum pfs_why of_reads = judge(c, &reads, s->reads, s->sorted);
		enum pfs_why of_page = judge(c, &touched, s->touched, s->sorted);

		if (of_reads == PFS_CHANGED)
			of_reads = otherwise;
		if (of_page == PFS_CHANGED && of_writes != PFS_CHANGED)
			of_page = otherwise;
		if (of_writes == PFS_CHANGED)
			add_difference(faults, &writes);
		if (of_reads == PFS_CHANGED)
			add_difference(faults, &reads);
		if (of_page == PFS_CHANGED)
			add_difference(pages, &touched);
		faults->why = greater(faults->why, greater(of_reads, of_writes));
		pages->why = greater(pages->why, of_page);
	}
}

/* ---- a region ---- */

/* Do random addresses explain a difference of memory that maps no file? */
static bool is_placement(const struct pfs_compare *c, const struct pfs_change *change, const struct scratch *s)
{
	const struct compare_region *first = NULL;
	bool huge = false, aligned = true;

	for (size_t run = 0; run < c->priv->nr_runs; run++) {
		const struct compare_region *region = s->region[run];

		if (!region)
			continue;
		first = first ? first : region;
		huge |= region->is_huge;
		aligned &= !((region->start ^ first->start) & ((UINT64_C(2) << 20) - 1));
	}
	if (first && first->is_stack)
		return change->median[1] + STACK_SLACK >= change->median[0] &&
		       change->median[0] + STACK_SLACK >= change->median[1];
	return huge && !aligned;
}

/* What the numbers alone say of the measure, by its nature. */
static enum pfs_why judge_alone(const struct pfs_compare *c, const struct pfs_change_line *line, enum pfs_measure m,
				enum pfs_why why, const struct scratch *s)
{
	const struct pfs_change *change = &line->change[m];
	bool both = line->has[0] && line->has[1];

	if (why != PFS_CHANGED)
		return why;
	switch (m) {
	case PFS_M_FAULTS:
	case PFS_M_PAGES:
		return both && is_placement(c, change, s) ? PFS_PLACEMENT : why;
	case PFS_M_AROUND: /* the kernel's doing, as much as the program's */
		return both && line->change[PFS_M_FAULTS].why != PFS_CHANGED ? PFS_PLACEMENT : why;
	case PFS_M_TIME_NS: /* no two runs take the same time */
		return c->nr_runs[0] >= LEAST_TIMED && c->nr_runs[1] >= LEAST_TIMED ? why : PFS_UNKNOWN;
	default:
		return why;
	}
}

/* Lost events can be any. */
static void doubt(const struct pfs_compare *c, struct pfs_change *change)
{
	if (change->why == PFS_SAME || !(c->lost[0] || c->lost[1]))
		return;
	change->why = PFS_UNKNOWN;
	change->gained = change->lost = 0;
}

static void number_column(const struct pfs_compare *c, uint64_t *to, const struct part *part, int m)
{
	for (size_t run = 0; run < c->priv->nr_runs; run++)
		to[run] = part->number[run][m];
}

static void judge_region(const struct pfs_compare *c, struct part *part, struct scratch *s, bool is_file)
{
	bool lacks_around = c->priv->lacks_around;
	struct pfs_change_line *line = &part->line;

	if (is_file)
		judge_pages(c, line, s, lacks_around);
	for (int m = 0; m < PFS_NR_MEASURES; m++) {
		struct pfs_change *change = &line->change[m];
		enum pfs_why why;

		number_column(c, s->reads, part, m);
		why = judge(c, change, s->reads, s->sorted);
		change->known = m == PFS_M_TIME_NS ? !c->priv->untimed : m == PFS_M_AROUND ? !lacks_around : true;
		if (is_file && (m == PFS_M_FAULTS || m == PFS_M_PAGES)) {
			if (change->why < PFS_UNKNOWN)
				change->why = why == PFS_SAME ? why : greater(PFS_SPREAD, change->why);
		} else {
			change->why = change->known ? judge_alone(c, line, m, why, s) : PFS_SAME;
			if (change->why == PFS_CHANGED)
				add_difference(change, change);
		}
		doubt(c, change);
	}
}

/* ---- sums ---- */

static void sum_measure(const struct pfs_compare *c, struct part *sum, struct part *const *parts, size_t nr, int m,
			struct scratch *s)
{
	struct pfs_change *change = &sum->line.change[m];
	enum pfs_why alone;

	change->known = parts[0]->line.change[m].known;
	for (size_t i = 0; i < nr; i++) {
		const struct pfs_change *of = &parts[i]->line.change[m];

		change->why = greater(change->why, of->why);
		change->gained += of->gained;
		change->lost += of->lost;
		for (size_t run = 0; run < c->priv->nr_runs; run++)
			sum->number[run][m] += parts[i]->number[run][m];
	}
	number_column(c, s->reads, sum, m);
	alone = judge(c, change, s->reads, s->sorted);
	if (m == PFS_M_TIME_NS && change->known) {
		change->gained = change->lost = 0;
		change->why = judge_alone(c, &sum->line, m, alone, s);
		if (change->why == PFS_CHANGED)
			add_difference(change, change);
		doubt(c, change);
	} else if (change->known && change->why < PFS_UNKNOWN) {
		change->why = alone == PFS_SAME ? alone : greater(PFS_SPREAD, change->why);
	}
}

static int sum_up(const struct pfs_compare *c, struct pfs_change_line *to, struct part *const *parts, size_t nr,
		  struct scratch *s)
{
	struct part sum = { .number = calloc(c->priv->nr_runs, sizeof(*sum.number)) };

	if (!sum.number)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		sum.line.moved |= parts[i]->line.moved;
		for (int side = 0; side < 2; side++)
			sum.line.has[side] |= parts[i]->line.has[side];
	}
	for (int m = 0; nr && m < PFS_NR_MEASURES; m++)
		sum_measure(c, &sum, parts, nr, m, s);
	*to = sum.line;
	free(sum.number);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct part *x = *(struct part *const *)a, *y = *(struct part *const *)b;

	return strcmp(x->line.name, y->line.name) ?: pfs_order(x, y);
}

static int compare_images(const void *a, const void *b)
{
	const struct part *x = *(struct part *const *)a, *y = *(struct part *const *)b;

	return pfs_order(x->image, y->image) ?: pfs_order(x, y);
}

static int group(const struct pfs_compare *c, struct pfs_change_lines *to, struct part **parts, size_t nr, bool by_name,
		 struct scratch *s)
{
	int err = 0;

	if (nr)
		qsort(parts, nr, sizeof(*parts), by_name ? compare_names : compare_images);
	for (size_t i = 0, end; !err && i < nr; i = end) {
		struct pfs_change_line *line = pfs_array_add(to->line, to->nr, to->max);

		for (end = i + 1; end < nr; end++)
			if (by_name ? strcmp(parts[end]->line.name, parts[i]->line.name) != 0
				    : parts[end]->image != parts[i]->image)
				break;
		if (!line)
			return -ENOMEM;
		err = sum_up(c, line, parts + i, end - i, s);
		line->name = by_name ? parts[i]->line.name : parts[i]->line.process;
	}
	return err;
}

/* ---- order ---- */

static uint64_t size_of_change(const struct pfs_change_line *line, enum pfs_measure m)
{
	return line->change[m].gained + line->change[m].lost;
}

static uint64_t difference(const struct pfs_change_line *line, enum pfs_measure m)
{
	const uint64_t *median = line->change[m].median;

	return median[1] > median[0] ? median[1] - median[0] : median[0] - median[1];
}

static int compare_lines(const void *a, const void *b)
{
	const struct pfs_change_line *x = a, *y = b;

	for (int m = 0; m <= PFS_M_PAGES; m++)
		if (size_of_change(x, m) != size_of_change(y, m))
			return pfs_order(size_of_change(y, m), size_of_change(x, m));
	return pfs_order(difference(y, PFS_M_FAULTS), difference(x, PFS_M_FAULTS))
		?: pfs_order(y->change[PFS_M_FAULTS].median[1], x->change[PFS_M_FAULTS].median[1])
		?: strcmp(x->name, y->name) ?: pfs_order(x->place, y->place);
}

static void sort_lines(struct pfs_change_lines *lines)
{
	for (size_t i = 0; i < lines->nr; i++)
		lines->line[i].place = i;
	if (lines->nr)
		qsort(lines->line, lines->nr, sizeof(*lines->line), compare_lines);
}

/* ---- all of it ---- */

static int match_run(struct compare_run *run, struct pfs_match *match)
{
	struct pfs_match_item *items = calloc(run->nr_regions + 1, sizeof(*items));
	int err;

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < run->nr_regions; i++)
		items[i] = run->regions[i].item;
	err = pfs_match_add(match, items, run->nr_regions);
	for (size_t i = 0; i < run->nr_regions; i++)
		run->regions[i].item.line = items[i].line;
	free(items);
	return err;
}

/* Where the regions of a line are in their runs: at[line * nr_runs + run]. */
static const struct compare_region **find_regions(const struct pfs_compare *c)
{
	const struct pfs_compare_private *priv = c->priv;
	const struct compare_region **at = calloc(priv->regions.nr * priv->nr_runs + 1, sizeof(*at));

	for (size_t run = 0; at && run < priv->nr_runs; run++)
		for (size_t i = 0; i < priv->runs[run].nr_regions; i++) {
			const struct compare_region *region = &priv->runs[run].regions[i];

			at[region->item.line * priv->nr_runs + run] = region;
		}
	return at;
}

static bool has_moved(const char *from, const char *to)
{
	return strcmp(from, to) && from[0] == '/' && to[0] == '/';
}

static void fill_part(const struct pfs_compare *c, struct part *part, struct scratch *s)
{
	const struct compare_region *last = NULL;
	bool is_file = true;

	for (size_t run = 0; run < c->priv->nr_runs; run++) {
		const struct compare_region *region = s->region[run];

		if (!region)
			continue;
		part->line.has[c->priv->runs[run].side] = true;
		part->line.moved |= last && has_moved(last->name, region->name);
		memcpy(part->number[run], region->number, sizeof(region->number));
		is_file &= region->is_file;
		last = region;
	}
	part->line.name = last->name;
	part->line.process = last->process;
	memcpy(part->line.perms, last->perms, sizeof(last->perms));
	memcpy(part->line.part, last->part, sizeof(last->part));
	part->image = last->image;
	judge_region(c, part, s, is_file);
}

static int make_lines(struct pfs_compare *c, struct parts *parts, struct part **pointers, struct scratch *s)
{
	size_t nr_runs = c->priv->nr_runs;
	const struct compare_region **at = find_regions(c);

	if (!at)
		return -ENOMEM;
	for (; parts->nr < c->priv->regions.nr; parts->nr++) {
		struct part *part = &parts->part[parts->nr];

		part->number = calloc(nr_runs, sizeof(*part->number));
		if (!part->number)
			break;
		memcpy(s->region, at + parts->nr * nr_runs, nr_runs * sizeof(*at));
		fill_part(c, part, s);
		pointers[parts->nr] = part;
	}
	free(at);
	return parts->nr < c->priv->regions.nr ? -ENOMEM : 0;
}

static int keep_lines(struct pfs_compare *c, const struct parts *parts)
{
	if (!pfs_array_reserve(c->regions.line, c->regions.nr, c->regions.max, parts->nr + 1))
		return -ENOMEM;
	for (size_t i = 0; i < parts->nr; i++)
		c->regions.line[c->regions.nr++] = parts->part[i].line;
	sort_lines(&c->regions);
	sort_lines(&c->files);
	sort_lines(&c->processes);
	return 0;
}

int pfs_compare_end(struct pfs_compare *c, struct pfs_err *err)
{
	struct pfs_compare_private *priv = c->priv;
	struct parts parts = { 0 };
	struct part **pointers = NULL;
	struct scratch s = { 0 };
	int ret = scratch_init(&s, priv->nr_runs);

	for (size_t run = 0; !ret && run < priv->nr_runs; run++)
		ret = match_run(&priv->runs[run], &priv->regions);
	if (!ret) {
		parts.part = calloc(priv->regions.nr + 1, sizeof(*parts.part));
		pointers = calloc(priv->regions.nr + 1, sizeof(*pointers));
		ret = parts.part && pointers ? make_lines(c, &parts, pointers, &s) : -ENOMEM;
	}
	if (!ret)
		ret = sum_up(c, &c->total, pointers, parts.nr, &s) ?: group(c, &c->files, pointers, parts.nr, true, &s)
			?: group(c, &c->processes, pointers, parts.nr, false, &s) ?: keep_lines(c, &parts);
	c->total.name = "total";
	for (size_t i = 0; i < parts.nr; i++)
		free(parts.part[i].number);
	free(parts.part);
	free(pointers);
	scratch_fini(&s);
	return ret ? pfs_err_set(err, ret, "no memory for the comparison") : 0;
}

int pfs_compare_add(struct pfs_compare *c, enum pfs_side side, const struct pfs_model *model,
		    const struct pfs_filter *filter, struct pfs_err *err)
{
	struct compare_run *run = pfs_array_add(c->priv->runs, c->priv->nr_runs, c->priv->max_runs);
	int ret = -ENOMEM;

	if (run) {
		*run = (struct compare_run){ .side = side };
		ret = compare_run_gather(run, c->priv, model, filter);
		c->nr_runs[side]++;
		c->lost[side] |= run->lost;
		c->priv->untimed |= !run->timed;
		c->priv->lacks_around |= run->lacks_around;
	}
	return ret ? pfs_err_set(err, ret, "no memory for the comparison") : 0;
}

struct pfs_compare *pfs_compare_new(void)
{
	struct pfs_compare *c = calloc(1, sizeof(*c));

	if (c)
		c->priv = calloc(1, sizeof(*c->priv));
	if (c && c->priv)
		return c;
	free(c);
	return NULL;
}

void pfs_compare_free(struct pfs_compare *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->priv->nr_runs; i++)
		compare_run_fini(&c->priv->runs[i]);
	free(c->priv->runs);
	free(c->priv->times);
	pfs_match_fini(&c->priv->images);
	pfs_match_fini(&c->priv->regions);
	pfs_intern_free(c->priv->pool);
	free(c->priv);
	free(c->files.line);
	free(c->regions.line);
	free(c->processes.line);
	free(c);
}
