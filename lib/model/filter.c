/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses filters, and decides which touches reach the model and which rows the views show. */
#include "model/filter.h"

#include "base/array.h"
#include "base/number.h"
#include "base/units.h"
#include "model/model_priv.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading options ---- */

int pfs_time_parse(const char *s, struct pfs_time *time, struct pfs_err *err)
{
	bool of_clock = *s == '@';
	uint64_t ns;

	if (!pfs_seconds_parse(s + of_clock, &ns))
		return pfs_err_set(err, -EINVAL,
				   "'%s' is no time: give seconds since the start (0.25, 250ms) "
				   "or, with @, of the recording's clock (@1234.567890123)",
				   s);
	*time = (struct pfs_time){ .ns = ns, .set = true, .of_clock = of_clock };
	return 0;
}

static int add_glob(const char ***globs, unsigned int *nr, const char *glob)
{
	const char **added = pfs_array_append(*globs, *nr);

	if (!added)
		return -ENOMEM;
	*added = glob;
	return 0;
}

static int add_numbers(int32_t **array, unsigned int *nr, const char *arg, struct pfs_err *err)
{
	const char *p = arg;

	do {
		int32_t *added;
		uint64_t number;

		if (!pfs_take_dec(&p, INT32_MAX, &number) || !number || (*p && *p != ','))
			return pfs_err_set(err, -EINVAL, "'%s' is no process or thread number", arg);
		added = pfs_array_append(*array, *nr);
		if (!added)
			return pfs_err_set(err, -ENOMEM, "no memory");
		*added = number;
	} while (*p++);
	return 0;
}

/* The globs of "file:GLOB" (none) or of a kind of memory, a word of len bytes; NULL: it is neither. */
static const char *const *globs_of(const char *word, size_t len)
{
	static const struct {
		const char *word, *globs[3];
	} kinds[] = {
		{ "file:", { NULL } },
		{ "heap", { "[heap]" } },
		{ "stack", { "[stack]" } },
		{ "anon", { "anon", "thread stack" } }, /* as in pfs_region_kind() */
	};

	if (len > 5 && !strncmp(word, "file:", 5))
		return kinds[0].globs;
	for (size_t i = 1; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].word) == len && !strncmp(kinds[i].word, word, len))
			return kinds[i].globs;
	return NULL;
}

static int add_kind(struct pfs_filter *filter, const char *word, size_t len)
{
	const char *const *globs = globs_of(word, len);
	char **added;
	int ret = 0;

	for (unsigned int i = 0; globs[i] && !ret; i++)
		ret = add_glob(&filter->regions, &filter->nr_regions, globs[i]);
	if (globs[0])
		return ret;
	added = pfs_array_append(filter->files, filter->nr_files);
	if (!added)
		return -ENOMEM;
	*added = strndup(word + 5, len - 5);
	return *added ? 0 : -ENOMEM;
}

/* A list of kinds, or one glob, which may contain commas. */
static int add_region(struct pfs_filter *filter, const char *arg, struct pfs_err *err)
{
	const char *stranger = NULL;
	bool more = true, kinds = false;
	int ret = 0;

	for (const char *word = arg; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
		if (globs_of(word, strcspn(word, ",")))
			kinds = true;
		else if (!stranger)
			stranger = word;
	}
	if (!kinds)
		return add_glob(&filter->regions, &filter->nr_regions, arg);
	if (stranger)
		return pfs_err_set(err, -EINVAL,
				   "'%s': '%.*s' is none of heap, stack, anon and file:GLOB; what is no such "
				   "list is a --region of its own",
				   arg, (int)strcspn(stranger, ","), stranger);
	for (; more && !ret; arg += strcspn(arg, ",") + more) {
		more = strchr(arg, ',');
		ret = add_kind(filter, arg, strcspn(arg, ","));
	}
	return ret;
}

int pfs_filter_add(struct pfs_filter *filter, enum pfs_filter_key key, const char *arg, struct pfs_err *err)
{
	int ret = 0;

	switch (key) {
	case PFS_FILTER_PID:
		return add_numbers(&filter->pids, &filter->nr_pids, arg, err);
	case PFS_FILTER_TID:
		return add_numbers(&filter->tids, &filter->nr_tids, arg, err);
	case PFS_FILTER_FROM:
		return pfs_time_parse(arg, &filter->from, err);
	case PFS_FILTER_TO:
		return pfs_time_parse(arg, &filter->to, err);
	case PFS_FILTER_AT:
		return pfs_time_parse(arg, &filter->at, err);
	case PFS_FILTER_COMM:
		ret = add_glob(&filter->comms, &filter->nr_comms, arg);
		break;
	case PFS_FILTER_REGION:
		if (!filter->region)
			filter->region = arg;
		ret = add_region(filter, arg, err);
		if (ret == -EINVAL)
			return ret;
		break;
	}
	return ret ? pfs_err_set(err, ret, "no memory") : 0;
}

void pfs_filter_fini(struct pfs_filter *filter)
{
	free(filter->pids);
	free(filter->tids);
	free(filter->comms);
	free(filter->regions);
	for (unsigned int i = 0; i < filter->nr_files; i++)
		free(filter->files[i]);
	free(filter->files);
	memset(filter, 0, sizeof(*filter));
}

/* ---- events ---- */

static uint64_t after(uint64_t base_ns, const struct pfs_time *time)
{
	if (time->of_clock)
		return time->ns;
	return time->ns + base_ns < base_ns ? UINT64_MAX : time->ns + base_ns;
}

uint64_t pfs_time_ns(const struct pfs_time *time, const struct pfs_model *model)
{
	return after(pfs_model_base_ns(model), time);
}

/* The time from which touches pass, for an event at ts_ns, which may be the first event of all. */
static uint64_t from_ns(const struct pfs_filter *filter, const struct pfs_model *model, uint64_t ts_ns)
{
	bool first = !model->start_ns && (!model->first_ns || ts_ns < model->first_ns);

	if (!filter->from.set)
		return 0;
	return first ? after(ts_ns, &filter->from) : pfs_time_ns(&filter->from, model);
}

uint64_t pfs_filter_end_ns(const struct pfs_filter *filter, const struct pfs_model *model)
{
	uint64_t end_ns = UINT64_MAX;

	if (filter && filter->to.set)
		end_ns = pfs_time_ns(&filter->to, model);
	if (end_ns && end_ns != UINT64_MAX)
		end_ns--;
	if (filter && filter->at.set && pfs_time_ns(&filter->at, model) < end_ns)
		end_ns = pfs_time_ns(&filter->at, model);
	return end_ns;
}

static bool holds(const int32_t *numbers, unsigned int nr, int32_t number)
{
	for (unsigned int i = 0; i < nr; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* A name is a glob that matches itself, also "[heap]". */
static bool matches(const char *const *globs, unsigned int nr, const char *s)
{
	for (unsigned int i = 0; s && i < nr; i++)
		if (!strcmp(globs[i], s) || !fnmatch(globs[i], s, 0))
			return true;
	return false;
}

/* Whether the process runs in the memory of a wanted one that lives (vfork, CLONE_VM): that one's pages are touched. */
static bool shares_memory(const struct pfs_filter *filter, const struct pfs_model *model, const struct pfs_proc *proc)
{
	for (unsigned int i = 0; i < filter->nr_pids; i++) {
		const struct pfs_proc *wanted = pfs_model_proc(model, filter->pids[i]);

		if (wanted && wanted->died_ns == UINT64_MAX && pfs_proc_space(wanted) == pfs_proc_space(proc))
			return true;
	}
	return false;
}

int pfs_labels_set(struct pfs_labels *labels, uint64_t nr, uint8_t label)
{
	if (nr >= labels->max && !pfs_array_extend(labels->of, labels->max, nr + 1))
		return -ENOMEM;
	labels->nr = nr < labels->nr ? labels->nr : nr + 1;
	labels->of[nr] = label;
	return 0;
}

/* The mark of label 1 is PFS_PAGE_LABEL, and so on; the last one is also that of further labels and of none. */
static uint32_t page_flags(const struct pfs_labels *labels)
{
	unsigned int mark = pfs_labels_last(labels) - 1u;

	if (!labels || !labels->marks || !labels->decided)
		return 0;
	return (uint32_t)PFS_PAGE_LABEL << (mark < PFS_PAGE_NR_LABELS ? mark : PFS_PAGE_NR_LABELS - 1);
}

/* By the label of the fault, or of the one that the event is about. Pages that no fault has brought have none. */
static bool has_label(const struct pfs_filter *filter, const struct pfs_model *model, const struct pfs_event *ev)
{
	const struct pfs_thread *thread;

	switch (ev->kind) {
	case PFS_FAULT:
		return filter->labels >> pfs_labels_last(filter->labelled) & 1;
	case PFS_AROUND:
	case PFS_HUGE:
	case PFS_MAJOR:
	case PFS_SIGNAL:
		thread = pfs_model_thread(model, ev->tid);
		return thread && thread->fault_space;
	default:
		return ev->kind != PFS_POPULATE && ev->kind != PFS_ACCESS;
	}
}

static bool is_wanted(const struct pfs_filter *filter, const struct pfs_model *model, const struct pfs_event *ev)
{
	const struct pfs_thread *thread;
	const char *comm;

	if (filter->labels && filter->labelled->decided && !has_label(filter, model, ev))
		return false;
	if (ev->ts_ns < from_ns(filter, model, ev->ts_ns))
		return false;
	if (filter->nr_tids && !holds(filter->tids, filter->nr_tids, ev->tid))
		return false;
	if (!filter->nr_pids && !filter->nr_comms)
		return true;
	thread = pfs_model_thread(model, ev->tid);
	if (filter->nr_pids) {
		int32_t pid = pfs_has(ev, PFS_F_PID) ? ev->pid : thread ? thread->proc->pid : ev->tid;

		if (!holds(filter->pids, filter->nr_pids, pid) &&
		    !(thread && shares_memory(filter, model, thread->proc)))
			return false;
	}
	if (!filter->nr_comms)
		return true;
	if (!thread && !pfs_has(ev, PFS_F_COMM)) { /* its first event: it gets the name of its process */
		const struct pfs_proc *proc = pfs_model_proc(model, pfs_has(ev, PFS_F_PID) ? ev->pid : ev->tid);

		return matches(filter->comms, filter->nr_comms, proc ? proc->comm : NULL);
	}
	comm = pfs_has(ev, PFS_F_COMM) ? ev->comm : thread->comm;
	return matches(filter->comms, filter->nr_comms, comm);
}

/* Before the first event (notes of the header do not count) no moment relative to the start is known. */
static bool past(const struct pfs_time *time, const struct pfs_model *model, uint64_t now_ns)
{
	if (!time->set || (!time->of_clock && !model->start_ns && !model->first_ns))
		return false;
	return now_ns > pfs_time_ns(time, model);
}

/* Applies the part before the end of a `lost` that comes after it. */
static int apply_loss(struct pfs_model *model, const struct pfs_event *ev, uint64_t end_ns, struct pfs_outcome *outcome)
{
	struct pfs_event part = *ev;

	if (ev->kind != PFS_LOST || !pfs_has(ev, PFS_F_INTERVAL) || ev->interval_ns > ev->ts_ns ||
	    ev->ts_ns - ev->interval_ns > end_ns)
		return -ECANCELED;
	part.ts_ns = end_ns;
	part.interval_ns = end_ns - (ev->ts_ns - ev->interval_ns);
	return pfs_model_apply(model, &part, outcome);
}

static bool is_past_end(const struct pfs_filter *filter, const struct pfs_model *model, uint64_t ts_ns)
{
	return past(&filter->at, model, ts_ns) || past(&filter->to, model, ts_ns + 1);
}

/*
 * An event past the end. Whether pages of before are mapped also depends on notes at the end of the recording, and on what
 * is found in the page cache later: then the source must go on.
 */
static int apply_late(const struct pfs_filter *filter, struct pfs_model *model, const struct pfs_event *ev,
		      struct pfs_outcome *outcome)
{
	int ret;

	model->priv->end_ns = pfs_filter_end_ns(filter, model);
	if (model->priv->presence && ev->kind == PFS_EVICT)
		return around_evicted(model, ev);
	if (model->priv->presence && (ev->kind == PFS_NOTE || ev->kind == PFS_CACHED) && !pfs_has(ev, PFS_F_TID))
		return pfs_model_apply(model, ev, outcome);
	ret = apply_loss(model, ev, pfs_filter_end_ns(filter, model), outcome);
	return ret == -ECANCELED && model->priv->presence ? 0 : ret;
}

int pfs_filter_apply(const struct pfs_filter *filter, struct pfs_model *model, const struct pfs_event *ev,
		     struct pfs_outcome *outcome)
{
	bool wanted;
	int ret;

	if (outcome)
		*outcome = (struct pfs_outcome){ 0 };
	if (filter->labelled)
		filter->labelled->read += ev->kind == PFS_FAULT;
	if (is_past_end(filter, model, ev->ts_ns))
		return apply_late(filter, model, ev, outcome);
	wanted = !pfs_has(ev, PFS_F_TID) || is_wanted(filter, model, ev);
	pfs_model_mute(model, !wanted);
	if (ev->kind == PFS_FAULT)
		model->priv->fault_flags = page_flags(filter->labelled);
	ret = pfs_model_apply(model, ev, outcome);
	if (outcome)
		outcome->unwanted = !wanted;
	pfs_model_mute(model, false);
	return ret;
}

/* The number of faults, from the first on, that are on the same side of the filter's times. */
static uint32_t nr_alike(const struct pfs_filter *filter, const struct pfs_model *model,
			 const struct pfs_fault_run *run)
{
	uint64_t start_ns = from_ns(filter, model, run->ts_ns[0]), end_ns = pfs_filter_end_ns(filter, model);
	bool began = run->ts_ns[0] >= start_ns;
	uint32_t nr = 1;

	if (!filter->from.set && !filter->to.set && !filter->at.set)
		return run->nr;
	/* Times may count from the first event of all, which this one may be. */
	if (!model->start_ns && (!model->first_ns || run->ts_ns[0] < model->first_ns))
		return 1;
	while (nr < run->nr && (run->ts_ns[nr] >= start_ns) == began && run->ts_ns[nr] <= end_ns)
		nr++;
	return nr;
}

static int apply_run(const struct pfs_filter *filter, struct pfs_model *model, const struct pfs_fault_run *run,
		     const struct pfs_observer *observer)
{
	struct pfs_fault_run part = *run;
	int ret = 0;

	for (uint32_t rest = run->nr; rest && !ret; rest -= part.nr) {
		struct pfs_event first;
		bool wanted;

		part.nr = rest;
		if (is_past_end(filter, model, part.ts_ns[0]))
			return model->priv->presence ? 0 : -ECANCELED;
		pfs_run_event(&first, &part, 0);
		wanted = is_wanted(filter, model, &first);
		part.nr = nr_alike(filter, model, &part);
		pfs_model_mute(model, !wanted);
		ret = pfs_model_apply_faults(model, &part, wanted ? observer : NULL);
		pfs_model_mute(model, false);
		part.ts_ns += part.nr;
		part.addr += part.nr;
		part.ip += part.nr;
	}
	return ret;
}

int pfs_filter_apply_faults(const struct pfs_filter *filter, struct pfs_model *model, const struct pfs_fault_run *runs,
			    unsigned int nr, const struct pfs_observer *observer)
{
	int ret = 0;

	for (unsigned int i = 0; i < nr && !ret; i++)
		ret = apply_run(filter, model, &runs[i], observer);
	return ret;
}

bool pfs_filter_is_open(const struct pfs_filter *filter)
{
	return !filter->nr_pids && !filter->nr_tids && !filter->nr_comms && !filter->from.set && !filter->to.set &&
	       !filter->at.set && !filter->labels;
}

/* ---- rows ---- */

bool pfs_filter_region(const struct pfs_filter *filter, const char *name, uint64_t start, uint64_t end)
{
	const char *base = name ? strrchr(name, '/') : NULL;
	char range[40];

	if (!pfs_filter_has_regions(filter))
		return true;
	if (name && name[0] == '/' &&
	    (matches((const char *const *)filter->files, filter->nr_files, name) ||
	     matches((const char *const *)filter->files, filter->nr_files, base + 1)))
		return true;
	snprintf(range, sizeof(range), "%08" PRIx64 "-%08" PRIx64, start, end);
	return matches(filter->regions, filter->nr_regions, name) ||
	       matches(filter->regions, filter->nr_regions, base ? base + 1 : NULL) ||
	       matches(filter->regions, filter->nr_regions, range);
}

bool pfs_filter_memory(const struct pfs_filter *filter, const struct pfs_region *region, const char *name)
{
	return pfs_filter_region(filter, name, region->start, region->end) ||
	       pfs_filter_region(filter, pfs_region_kind(region, name), region->start, region->end);
}

bool pfs_filter_has_regions(const struct pfs_filter *filter)
{
	return filter && (filter->nr_regions || filter->nr_files);
}

bool pfs_filter_outcome(const struct pfs_filter *filter, const struct pfs_outcome *o)
{
	return !pfs_filter_has_regions(filter) ||
	       (o->region && pfs_filter_memory(filter, o->region, pfs_region_name(o->space, o->region)));
}

static bool has_thread(const struct pfs_filter *filter, const struct pfs_model *model, const struct pfs_proc *proc)
{
	for (unsigned int i = 0; i < filter->nr_tids; i++) {
		const struct pfs_thread *thread = pfs_model_thread(model, filter->tids[i]);

		if (thread && thread->proc == proc)
			return true;
	}
	return false;
}

bool pfs_filter_proc(const struct pfs_filter *filter, const struct pfs_model *model, const struct pfs_proc *proc)
{
	if (!filter)
		return true;
	if (filter->nr_pids && !holds(filter->pids, filter->nr_pids, proc->pid))
		return false;
	if (filter->nr_tids && !has_thread(filter, model, proc))
		return false;
	return true;
}

bool pfs_filter_comm(const struct pfs_filter *filter, const char *comm)
{
	return !filter || !filter->nr_comms || matches(filter->comms, filter->nr_comms, comm);
}
