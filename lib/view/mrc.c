/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of the curves: see view/mrc.h. view/mrc_words.c has the sentences about what they contain.
 */
#include "view/mrc.h"

#include "base/units.h"
#include "base/array.h"
#include "reference/refs.h"
#include "view/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MILLION 1000000

struct drawing {
	const struct pfs_mrc_view *view;
	const struct pfs_view_options *options;
	const struct pfs_mrc *mrc;
	unsigned int page_shift;
	struct pfs_json *json;		   /* where JSON goes; that form only */
	struct pfs_unobserved *unobserved; /* of each curve */
};

/* The process; in text a heading has it. */
/* clang-format off */
#define WHOSE					\
	{ "process", "", PFS_COLUMN_NOT_TEXT },	\
	{ "pid", "", PFS_COLUMN_NOT_TEXT },	\
	{ "comm", "", PFS_COLUMN_NOT_TEXT }
#define KIND { "references", "", PFS_COLUMN_NOT_TEXT }	/* exact, sampled */
#define UNOBSERVED { "unobserved", "not observed", PFS_COLUMN_OPTIONAL }	/* at most, then */
#define END { NULL, NULL, 0 }
/* clang-format on */

static const struct pfs_column string_columns[] = {
	WHOSE,
	{ "refs", "", 0 },
	{ "pages", "", 0 },
	{ "first", "", 0 },
	{ "again", "", 0 },
	{ "exact", "", 0 },
	{ "sampled", "", 0 },
	{ "interval_ns", "", 0 },
	{ "by_address", "", 0 },
	{ "seen", "", 0 },
	{ "unseen", "", 0 },
	{ "unobserved", "", 0 },
	{ "unobserved_of", "", 0 },
	END,
};

static const struct pfs_column miss_columns[] = {
	WHOSE,
	{ "policy", "policy", PFS_COLUMN_LEFT },
	{ "pages", "pages", 0 },
	{ "memory", "memory", PFS_COLUMN_TEXT_ONLY },
	{ "bytes", "", PFS_COLUMN_NOT_TEXT },
	{ "misses", "misses", 0 },
	{ "first", "first", PFS_COLUMN_NOT_TEXT },
	{ "again", "repeated", 0 },
	{ "ratio", "miss ratio", PFS_COLUMN_MILLIONTHS },
	KIND,
	{ "bar", "", PFS_COLUMN_BAR },
	END,
};

static const struct pfs_column set_columns[] = {
	WHOSE,
	{ "window", "window", PFS_COLUMN_TEXT_ONLY },
	{ "window_ns", "", PFS_COLUMN_NOT_TEXT },
	{ "mean_pages", "mean pages", PFS_COLUMN_MILLIONTHS },
	{ "mean_memory", "memory", PFS_COLUMN_TEXT_ONLY },
	{ "max_pages", "max pages", 0 },
	{ "max_memory", "memory", PFS_COLUMN_TEXT_ONLY },
	{ "max_bytes", "", PFS_COLUMN_NOT_TEXT },
	UNOBSERVED,
	KIND,
	END,
};

static const struct pfs_column step_columns[] = {
	WHOSE,
	{ "window", "window", PFS_COLUMN_TEXT_ONLY },
	{ "window_ns", "", PFS_COLUMN_NOT_TEXT },
	{ "end_s", "until", PFS_COLUMN_SECONDS },
	{ "pages", "pages", 0 },
	{ "memory", "memory", PFS_COLUMN_TEXT_ONLY },
	{ "bytes", "", PFS_COLUMN_NOT_TEXT },
	UNOBSERVED,
	KIND,
	{ "bar", "", PFS_COLUMN_BAR },
	END,
};

/* ---- cells ---- */

static void add_whose(struct pfs_table *table, const struct pfs_mrc_curve *curve)
{
	if (curve->process) {
		pfs_table_numbers(table, curve->process, curve->pid);
		pfs_table_word(table, curve->comm ? curve->comm : "");
	} else {
		for (int i = 0; i < 3; i++)
			pfs_table_missing(table);
	}
}

static void add_memory(struct pfs_table *table, const struct drawing *d, uint64_t pages)
{
	char text[24];

	pfs_table_word(table, pfs_size_text(text, pages << d->page_shift));
}

static void add_bar(struct pfs_table *table, uint64_t part, uint64_t all)
{
	pfs_table_number(table, all ? (double)part / all * MILLION + 0.5 : 0);
}

/* ---- misses ---- */

static int by_size(const void *a, const void *b)
{
	return pfs_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* The sizes of --sizes in pages, in ascending order, each once; and `enough`. */
static int asked_sizes(const struct drawing *d, const struct pfs_lru_curve *lru, uint64_t **sizes, unsigned int *nr)
{
	uint64_t *pages = malloc((d->view->nr_sizes + 1) * sizeof(*pages));
	unsigned int to = 0;

	if (!pages)
		return -ENOMEM;
	for (unsigned int i = 0; i < d->view->nr_sizes; i++)
		pages[i] = d->view->sizes[i].nr >> (d->view->sizes[i].in_bytes ? d->page_shift : 0);
	pages[d->view->nr_sizes] = lru->enough ? lru->enough : 1;
	qsort(pages, d->view->nr_sizes + 1, sizeof(*pages), by_size);
	for (unsigned int i = 0; i <= d->view->nr_sizes; i++)
		if (!to || pages[to - 1] != pages[i])
			pages[to++] = pages[i];
	*sizes = pages;
	*nr = to;
	return 0;
}

static int misses_of(const struct pfs_mrc_curve *curve, enum pfs_mrc_policy policy, const struct pfs_lru_curve *lru,
		     const uint32_t *next, uint64_t size, uint64_t *misses)
{
	switch (policy) {
	case PFS_MRC_CLOCK:
	case PFS_MRC_CLOCK0:
		return pfs_clock_misses(&curve->string, size, policy == PFS_MRC_CLOCK, misses);
	case PFS_MRC_OPT:
		return pfs_opt_misses(&curve->string, next, size, misses);
	default:
		*misses = pfs_lru_misses(lru, size);
		return 0;
	}
}

static int add_misses(struct pfs_table *table, const struct drawing *d, const struct pfs_mrc_curve *curve,
		      const struct pfs_lru_curve *lru, const uint32_t *next, uint64_t size)
{
	for (enum pfs_mrc_policy policy = 0; policy < PFS_NR_MRC_POLICIES; policy++) {
		uint64_t misses;
		int ret;

		if (!(d->mrc->options.policies & UINT32_C(1) << policy))
			continue;
		ret = misses_of(curve, policy, lru, next, size, &misses);
		if (ret)
			return ret;
		add_whose(table, curve);
		pfs_table_word(table, pfs_mrc_policy_names[policy]);
		pfs_table_number(table, size);
		add_memory(table, d, size);
		pfs_table_numbers(table, size << d->page_shift, misses, lru->pages, misses - lru->pages);
		add_bar(table, misses, lru->refs);
		pfs_table_word(table, pfs_mrc_kind(curve, curve->unobserved));
		add_bar(table, misses, lru->refs);
	}
	return 0;
}

static int fill_misses(struct pfs_table *table, const struct drawing *d, const struct pfs_mrc_curve *curve)
{
	const uint32_t clocks = UINT32_C(1) << PFS_MRC_CLOCK | UINT32_C(1) << PFS_MRC_CLOCK0;
	uint32_t policies = d->mrc->options.policies;
	struct pfs_lru_curve lru;
	unsigned int nr = 0;
	uint64_t *sizes = NULL;
	uint32_t *next = NULL;
	int ret = pfs_stack_distance_curve(curve->distances, &lru);

	if (!ret && policies & UINT32_C(1) << PFS_MRC_OPT)
		ret = pfs_next_uses(&curve->string, &next);
	if (!ret)
		ret = d->view->sizes ? asked_sizes(d, &lru, &sizes, &nr)
				     : pfs_mrc_ladder(&lru, policies & clocks, &sizes, &nr);
	for (unsigned int i = 0; !ret && i < nr; i++)
		ret = add_misses(table, d, curve, &lru, next, sizes[i]);
	free(next);
	free(sizes);
	free(lru.misses);
	return ret;
}

/* ---- working sets ---- */

static void add_window(struct pfs_table *table, const struct pfs_working_set *set)
{
	char text[32];

	pfs_table_word(table, pfs_duration_text(text, set->window_ns, 10));
	pfs_table_number(table, set->window_ns);
}

static void add_unobserved(struct pfs_table *table, const struct drawing *d, const struct pfs_mrc_curve *curve,
			   uint64_t from_ns, uint64_t to_ns)
{
	uint64_t most = pfs_unobserved_most(&d->unobserved[curve->nr], from_ns, to_ns);

	pfs_table_number(table, most);
	pfs_table_word(table, pfs_mrc_kind(curve, most));
}

static int fill_sets(struct pfs_table *table, const struct drawing *d, const struct pfs_mrc_curve *curve)
{
	for (unsigned int i = 0; i < d->mrc->options.nr_windows; i++) {
		struct pfs_working_set set = pfs_working_sets_get(curve->sets, i);

		add_whose(table, curve);
		add_window(table, &set);
		pfs_table_number(table, set.mean * MILLION + 0.5);
		add_memory(table, d, set.mean + 0.5);
		pfs_table_number(table, set.max);
		add_memory(table, d, set.max);
		pfs_table_number(table, (uint64_t)set.max << d->page_shift);
		add_unobserved(table, d, curve, 0, UINT64_MAX);
	}
	return 0;
}

static int fill_steps(struct pfs_table *table, const struct drawing *d, const struct pfs_mrc_curve *curve)
{
	const struct pfs_model *model = d->mrc->model;
	uint64_t start_ns = pfs_model_base_ns(model);

	for (unsigned int i = 0; i < d->mrc->options.nr_windows; i++) {
		struct pfs_working_set set = pfs_working_sets_get(curve->sets, i);

		for (unsigned int j = 0; j < set.nr_steps; j++) {
			const struct pfs_working_set_step *step = &set.steps[j];

			add_whose(table, curve);
			add_window(table, &set);
			pfs_table_numbers(table, step->end_ns > start_ns ? step->end_ns - start_ns : 0, step->pages);
			add_memory(table, d, step->pages);
			pfs_table_number(table, (uint64_t)step->pages << d->page_shift);
			add_unobserved(table, d, curve, step->end_ns - set.window_ns, step->end_ns);
			add_bar(table, step->pages, set.max);
		}
	}
	return 0;
}

/* ---- the string ---- */

static int fill_string(struct pfs_table *table, const struct drawing *d, const struct pfs_mrc_curve *curve)
{
	uint32_t pages = pfs_stack_distance_pages(curve->distances);
	char words[PFS_MRC_WORDS_MAX];

	add_whose(table, curve);
	pfs_table_numbers(table, curve->refs, pages, pages, curve->refs - pages, curve->refs - curve->sampled,
			  curve->sampled, curve->interval_ns, curve->by_address);
	pfs_table_word(table, pfs_mrc_seen(words, curve));
	pfs_table_word(table, pfs_mrc_unseen(words, curve, d->view->stats, d->mrc->model));
	pfs_table_numbers(table, curve->unobserved, curve->in_memory);
	return 0;
}

/* ---- the three forms ---- */

struct section {
	const char *key, *title; /* title NULL: not in text */
	const struct pfs_column *columns;
	int (*fill)(struct pfs_table *table, const struct drawing *d, const struct pfs_mrc_curve *curve);
	bool of_windows, series;
};

static const struct section sections[] = {
	{ "string", NULL, string_columns, fill_string, false, false },
	{ "misses", "Misses of the references seen, by memory", miss_columns, fill_misses, false, false },
	{ "working_set", "Working set: pages of the references seen in a window of time", set_columns, fill_sets, true,
	  false },
	{ "series", "Working set over time, a window each", step_columns, fill_steps, true, true },
};
enum { NR_SECTIONS = sizeof(sections) / sizeof(sections[0]) };

static bool is_wanted(const struct drawing *d, const struct section *section)
{
	return (!section->of_windows || d->mrc->options.nr_windows) && (!section->series || d->mrc->options.series);
}

/* Of the curves from one to another. */
static int put_section(const struct drawing *d, const struct section *section, uint32_t from, uint32_t to)
{
	struct pfs_table *table = pfs_table_new(section->columns);
	int ret = table ? 0 : -ENOMEM;

	for (uint32_t i = from; !ret && i < to; i++)
		ret = section->fill(table, d, d->mrc->curves[i]);
	if (ret) {
		pfs_table_free(table);
		return ret;
	}
	if (d->options->format == PFS_VIEW_TEXT) {
		fputc('\n', d->options->out);
		pfs_table_fit(table, d->options->width);
	}
	return pfs_output_table(d->options, d->json, table, section->key, section->title);
}

/* In text each string has tables of its own, below the sentences about it. */
static int put_as_text(const struct drawing *d)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < d->mrc->nr_curves; i++) {
		pfs_mrc_put_words(d->options, d->mrc->curves[i], d->view->stats, d->mrc->model, i > 0);
		for (unsigned int j = 0; !ret && j < NR_SECTIONS; j++)
			if (sections[j].title && is_wanted(d, &sections[j]))
				ret = put_section(d, &sections[j], i, i + 1);
	}
	return ret ? ret : pfs_mrc_put_left_out(d->options, d->json, d->mrc->model, d->view->stats);
}

static int put_data(const struct drawing *d)
{
	int ret = pfs_mrc_put_left_out(d->options, d->json, d->mrc->model, d->view->stats);

	for (unsigned int i = 0; !ret && i < NR_SECTIONS; i++)
		if (is_wanted(d, &sections[i]))
			ret = put_section(d, &sections[i], 0, d->mrc->nr_curves);
	if (d->options->format == PFS_VIEW_JSON)
		pfs_json_end(d->json, "}\n");
	return ret;
}

static int check_sizes(const struct drawing *d, struct pfs_err *err)
{
	for (unsigned int i = 0; i < d->view->nr_sizes; i++) {
		const struct pfs_mrc_size *size = &d->view->sizes[i];

		if (size->in_bytes && !(size->nr >> d->page_shift))
			return pfs_err_set(err, -EINVAL,
					   "--sizes: %" PRIu64 " bytes are less than a page, "
					   "which is %u bytes",
					   size->nr, 1U << d->page_shift);
	}
	return 0;
}

static int find_unobserved(struct drawing *d)
{
	const struct pfs_model *model = d->mrc->model;
	uint64_t base_ns = pfs_model_base_ns(model);
	int ret = 0;

	d->unobserved = calloc(d->mrc->nr_curves, sizeof(*d->unobserved));
	if (!d->unobserved)
		return -ENOMEM;
	for (uint32_t i = 0; !ret && i < d->mrc->nr_curves; i++) {
		struct pfs_mrc_curve *curve = d->mrc->curves[i];
		struct pfs_unobserved *u = &d->unobserved[i];

		ret = pfs_unobserved_find(u, model, d->options->filter, curve->process ? curve->pid : 0,
					  d->view->no_code);
		curve->unobserved = u->pages;
		curve->in_memory = u->of;
		for (unsigned int k = 0; u->nr && k < 2; k++) {
			uint64_t ns = u->moments[k ? u->nr - 1 : 0].ts_ns;

			ns = ns > model->last_ns ? model->last_ns : ns;
			curve->unobserved_ns[k] = ns > base_ns ? ns - base_ns : 0;
		}
	}
	return ret;
}

static int nothing_seen(const struct drawing *d, struct pfs_err *err)
{
	struct pfs_unobserved u;
	int ret = pfs_unobserved_find(&u, d->mrc->model, d->options->filter, 0, d->view->no_code);

	if (!ret && u.pages)
		ret = pfs_err_set(err, -ENOENT,
				  "no references: up to %" PRIu64 " of %" PRIu64
				  " pages in memory stayed there, so their "
				  "use was not observed",
				  u.pages, u.of);
	else
		ret = pfs_refs_none(d->view->stats, err);
	pfs_unobserved_fini(&u);
	return ret;
}

int pfs_view_mrc_draw(const struct pfs_mrc_view *view, const struct pfs_view_options *options, struct pfs_err *err)
{
	struct pfs_json json;
	struct drawing d = { view, options, view->mrc, view->mrc->model->page_shift, &json, NULL };
	int ret = check_sizes(&d, err);

	if (ret)
		return ret;
	pfs_json_init(&json, options->out);
	json.spaced = true;
	if (!view->mrc->nr_curves)
		return nothing_seen(&d, err);
	ret = find_unobserved(&d);
	if (!ret)
		ret = options->format == PFS_VIEW_TEXT ? put_as_text(&d) : put_data(&d);
	for (uint32_t i = 0; d.unobserved && i < view->mrc->nr_curves; i++)
		pfs_unobserved_fini(&d.unobserved[i]);
	free(d.unobserved);
	if (ret == -EOVERFLOW)
		return pfs_err_set(err, ret, "more references than opt can look ahead in (2^32)");
	if (ret)
		return pfs_err_set(err, ret, "no memory for the curves");
	return pfs_output_end(options->out, "the curves", err);
}
