/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulate/curves.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pfs_mrc_policy_names[PFS_NR_MRC_POLICIES] = {
	[PFS_MRC_LRU] = "lru",
	[PFS_MRC_CLOCK] = "clock",
	[PFS_MRC_CLOCK0] = "clock0",
	[PFS_MRC_OPT] = "opt",
};

void pfs_mrc_init(struct pfs_mrc *mrc, const struct pfs_model *model, const struct pfs_mrc_options *options)
{
	*mrc = (struct pfs_mrc){ .model = model, .options = *options };
}

static void curve_free(struct pfs_mrc_curve *curve)
{
	if (!curve)
		return;
	pfs_stack_distance_free(curve->distances);
	pfs_string_fini(&curve->string);
	pfs_working_sets_free(curve->sets);
	pfs_page_index_fini(&curve->pages);
	free(curve);
}

void pfs_mrc_fini(struct pfs_mrc *mrc)
{
	for (uint32_t i = 0; i < mrc->nr_curves; i++)
		curve_free(mrc->curves[i]);
	free(mrc->curves);
}

/* ---- strings ---- */

static struct pfs_mrc_curve *curve_new(struct pfs_mrc *mrc, const struct pfs_ref *ref)
{
	const struct pfs_mrc_options *options = &mrc->options;
	uint64_t start_ns = pfs_model_base_ns(mrc->model);
	struct pfs_mrc_curve *curve = calloc(1, sizeof(*curve));

	if (!curve)
		return NULL;
	if (!mrc->nr_curves)
		mrc->base_ns = start_ns < ref->ts_ns ? start_ns : ref->ts_ns;
	curve->nr = mrc->nr_curves;
	if (options->each_process) {
		curve->process = ref->process;
		curve->pid = ref->pid;
	}
	curve->distances = pfs_stack_distance_new();
	if (options->nr_windows)
		curve->sets =
			pfs_working_sets_new(options->windows_ns, options->nr_windows, options->series, mrc->base_ns);
	if (curve->distances && (curve->sets || !options->nr_windows))
		return curve;
	curve_free(curve);
	return NULL;
}

/* Processes are numbered from 1 in the order of their first references, and so are curves. */
static struct pfs_mrc_curve *curve_of(struct pfs_mrc *mrc, const struct pfs_ref *ref)
{
	uint32_t at = mrc->options.each_process ? ref->process - 1 : 0;

	if (at < mrc->nr_curves)
		return mrc->curves[at];
	if (!pfs_array_reserve(mrc->curves, mrc->nr_curves, mrc->max_curves, 1))
		return NULL;
	mrc->curves[at] = curve_new(mrc, ref);
	mrc->nr_curves += mrc->curves[at] != NULL;
	return mrc->curves[at];
}

static int too_many_steps(struct pfs_err *err, int ret)
{
	if (ret != -EOVERFLOW)
		return ret;
	return pfs_err_set(err, ret, "a series of more than %d steps: give a longer window, or --from and --to",
			   PFS_WORKING_SET_MAX_STEPS);
}

int pfs_mrc_refer(void *ctx, const struct pfs_ref *ref)
{
	struct pfs_mrc *mrc = ctx;
	struct pfs_mrc_curve *curve = curve_of(mrc, ref);
	uint32_t page = ref->frame;
	bool is_new;
	int ret = curve ? 0 : -ENOMEM;

	/* Numbers of its own, so that each curve takes memory for its own pages only. */
	if (!ret && mrc->options.each_process)
		ret = pfs_page_index_get(&curve->pages, 0, ref->frame, &page, &is_new);
	if (!ret)
		ret = pfs_stack_distance_refer(curve->distances, page, NULL);
	if (!ret && mrc->options.policies & ~(UINT32_C(1) << PFS_MRC_LRU))
		ret = pfs_string_add(&curve->string, page);
	if (ret)
		return ret;
	curve->refs++;
	curve->sampled += ref->sampled;
	curve->by_address += ref->by_address;
	if (ref->interval_ns > curve->interval_ns)
		curve->interval_ns = ref->interval_ns;
	if (ref->comm)
		curve->comm = ref->comm; /* the model keeps it */
	if (curve->sets)
		ret = too_many_steps(&mrc->err, pfs_working_sets_refer(curve->sets, page, ref->ts_ns));
	return ret;
}

int pfs_mrc_end(struct pfs_mrc *mrc, struct pfs_err *err)
{
	for (uint32_t i = 0; i < mrc->nr_curves; i++) {
		int ret = mrc->curves[i]->sets ? pfs_working_sets_end(mrc->curves[i]->sets) : 0;

		if (ret == -ENOMEM)
			return pfs_err_set(err, ret, "no memory for the working sets");
		if (ret)
			return too_many_steps(err, ret);
	}
	return 0;
}

/* ---- sizes ---- */

enum { MAX_KNEES = 8, MAX_RUNGS = 32 + MAX_KNEES + 3 };

/* A size, and at which size between it and the next one the straight line between them is the most wrong. */
struct rung {
	uint64_t size, knee;
	double wrong;
};

static void find_knee(const struct pfs_lru_curve *curve, struct rung *rung)
{
	uint64_t from = rung[0].size, to = rung[1].size;
	double high = curve->misses[from], slope = (high - curve->misses[to]) / (to - from);

	rung->wrong = 0;
	for (uint64_t size = from + 1; size < to; size++) {
		double wrong = fabs(high - slope * (size - from) - curve->misses[size]);

		if (wrong > rung->wrong) {
			rung->wrong = wrong;
			rung->knee = size;
		}
	}
}

/* One rung more, unless the line is right to a hundredth of what is not a first reference. */
static bool add_knee(const struct pfs_lru_curve *curve, struct rung *rungs, unsigned int *nr)
{
	double most = (curve->refs - curve->pages) / 100.0;
	struct rung *worst = NULL;

	for (struct rung *rung = rungs; rung < rungs + *nr - 1; rung++)
		if (rung->wrong > most) {
			most = rung->wrong;
			worst = rung;
		}
	if (!worst)
		return false;
	memmove(worst + 2, worst + 1, (rungs + *nr - (worst + 1)) * sizeof(*rungs));
	worst[1].size = worst->knee;
	++*nr;
	find_knee(curve, worst);
	find_knee(curve, worst + 1);
	return true;
}

int pfs_mrc_ladder(const struct pfs_lru_curve *curve, bool all_pages, uint64_t **sizes, unsigned int *nr)
{
	struct rung rungs[MAX_RUNGS] = { 0 };

	*nr = 0;
	for (uint64_t size = 1; size < curve->enough; size *= 2)
		rungs[(*nr)++].size = size;
	rungs[(*nr)++].size = curve->enough ? curve->enough : 1;
	for (unsigned int i = 0; i + 1 < *nr; i++)
		find_knee(curve, &rungs[i]);
	for (unsigned int knees = 0; knees < MAX_KNEES && add_knee(curve, rungs, nr); knees++)
		;
	if (all_pages && curve->pages > rungs[*nr - 1].size)
		rungs[(*nr)++].size = curve->pages;
	*sizes = malloc(*nr * sizeof(**sizes));
	if (!*sizes)
		return -ENOMEM;
	for (unsigned int i = 0; i < *nr; i++)
		(*sizes)[i] = rungs[i].size;
	return 0;
}
