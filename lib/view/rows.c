/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Epochs and rows for the views: see view/rows.h.
 */
#include "view/rows.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/nearest.h"
#include "view/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Touched pages in no known region are one row up to a hole of that many untouched ones. */
enum { CLUSTER_GAP = 256 };

/* ---- tallies ---- */

static bool is_maybe_around(uint32_t flags)
{
	return flags & PFS_PAGE_MAYBE_AROUND && !(flags & PFS_PAGE_MAPPED);
}

/* nr pages like that one. */
static void tally_pages(struct pfs_tally *t, const struct pfs_page *page, uint64_t nr)
{
	t->faults += nr * page->nr_faults;
	t->read += nr * page->nr_read;
	t->write += nr * page->nr_write;
	t->exec += nr * page->nr_exec;
	t->access_unknown += nr * (page->nr_faults - page->nr_read - page->nr_write - page->nr_exec);
	t->kernel += nr * page->nr_kernel;
	if (page->flags & PFS_PAGE_USER)
		t->user += nr * (page->nr_faults - page->nr_kernel);
	t->signal += nr * page->nr_signal;
	t->touched += page->flags & PFS_PAGE_TOUCHED ? nr : 0;
	t->major += page->flags & PFS_PAGE_MAJOR ? nr : 0;
	t->around += page->flags & PFS_PAGE_AROUND ? nr : 0;
	t->maybe_around += is_maybe_around(page->flags) ? nr : 0;
	t->populated += page->flags & PFS_PAGE_POPULATED ? nr : 0;
	t->huge += page->flags & PFS_PAGE_HUGE ? nr : 0;
	t->maybe += page->flags == PFS_PAGE_MAYBE ? nr : 0;
	t->referenced += page->flags & PFS_PAGE_REFERENCED ? nr : 0;
	if (!t->seen || page->first_ns < t->first_ns)
		t->first_ns = page->first_ns;
	if (page->last_ns > t->last_ns)
		t->last_ns = page->last_ns;
	t->seen += nr;
}

void pfs_tally_add(struct pfs_tally *sum, const struct pfs_tally *t)
{
	const uint64_t *from = (const uint64_t *)t;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < offsetof(struct pfs_tally, seen) / sizeof(*from); i++)
		to[i] += from[i];
	if (t->seen && (!sum->seen || t->first_ns < sum->first_ns))
		sum->first_ns = t->first_ns;
	if (t->seen && t->last_ns > sum->last_ns)
		sum->last_ns = t->last_ns;
	sum->seen += t->seen;
}

uint64_t pfs_row_pages(const struct pfs_row *row, const struct pfs_model *model)
{
	return (row->end - row->start) >> model->page_shift;
}

/* ---- rows ---- */

/* May userfaultfd have filled pages of the region? It has no private mappings of files. */
static bool is_filled(const struct pfs_space *space, const struct pfs_region *region)
{
	return space->filled_ns > region->since_ns && space->filled_ns > region->born_ns &&
	       space->filled_ns < region->died_ns && !(region->perms & PFS_PERM_X) &&
	       (!pfs_region_is_file(region) || region->perms & PFS_PERM_SHARED);
}

/* What --refault did not observe of it in the time that is shown. */
static void add_stays(struct pfs_row *row, const struct pfs_epochs *at, const struct pfs_region *region)
{
	bool from = at->filter && at->filter->from.set;
	uint64_t from_ns = from ? pfs_time_ns(&at->filter->from, at->model) : 0;
	struct pfs_stay stay;
	unsigned int i = 0;

	while (pfs_stay_next(at->epoch->space, region, at->model->page_shift, &i, &stay)) {
		uint64_t to_ns = stay.to_ns < at->model->last_ns ? stay.to_ns : at->model->last_ns;

		stay.from_ns = stay.from_ns > from_ns ? stay.from_ns : from_ns;
		row->unobserved_ns += to_ns > stay.from_ns ? to_ns - stay.from_ns : 0;
		if (stay.to_ns <= from_ns || stay.pages <= row->tally.unobserved)
			continue;
		row->tally.unobserved = stay.pages;
		row->tally.in_memory = stay.of;
	}
	row->unobserved = (row->tally.unobserved && (from || !region->since_ns)) || is_filled(at->epoch->space, region);
}

static int add_region(struct pfs_rows *rows, const struct pfs_epochs *epoch, const struct pfs_region *region)
{
	struct pfs_row *row = pfs_array_add(rows->row, rows->nr, rows->max);
	const struct pfs_space *space = epoch->epoch->space;
	const struct pfs_page *page;
	struct pfs_page_walk at;
	uint64_t nr;

	if (!row)
		return -ENOMEM;
	*row = (struct pfs_row){
		.start = region->start,
		.end = region->end,
		.region = region,
		.pages = region->pages,
		.nr_regions = 1,
		.name = pfs_region_name(space, region),
		.gone = region->died_ns != UINT64_MAX && region->died_ns < space->died_ns,
	};
	add_stays(row, epoch, region);
	if (row->pages)
		pfs_page_walk_start(&at, row->pages, row->start, row->end);
	while (row->pages && (page = pfs_page_walk_alike(&at, &nr)))
		tally_pages(&row->tally, page, nr);
	return 0;
}

/* What was touched in [start, end), where no region is known. end == 0: to the top of memory. */
static int add_clusters(struct pfs_rows *rows, const struct pfs_model *model, const struct pfs_space *space,
			uint64_t start, uint64_t end)
{
	uint64_t size = UINT64_C(1) << model->page_shift;
	struct pfs_row *row = NULL;
	const struct pfs_page *page;
	struct pfs_page_walk at;
	uint64_t nr;

	pfs_page_walk_start(&at, space->pages, start, end);
	while ((page = pfs_page_walk_row(&at, &nr))) {
		if (!row || at.addr - row->end > CLUSTER_GAP * size) {
			row = pfs_array_add(rows->row, rows->nr, rows->max);
			if (!row)
				return -ENOMEM;
			*row = (struct pfs_row){ .start = at.addr, .pages = space->pages, .nr_regions = 1 };
		}
		row->end = at.addr + nr * size;
		tally_pages(&row->tally, page, nr);
		row->tally.outside = row->tally.faults;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct pfs_row *x = a, *y = b;

	if (x->start != y->start || !x->region || !y->region)
		return pfs_order(x->start, y->start) ?: !x->region - !y->region ?: pfs_order(x->end, y->end);
	return pfs_order(x->region->born_ns, y->region->born_ns) ?: pfs_order(x->region->died_ns, y->region->died_ns)
		?: pfs_order(x->end, y->end);
}

/* Of a space that belongs to another process, only the touched rows are drawn here. */
static bool is_wanted(const struct pfs_row *row, const struct pfs_epochs *at)
{
	if (at->epoch->shared && !row->tally.seen)
		return false;
	return pfs_filter_region(at->filter, row->name, row->start, row->end) ||
	       pfs_filter_region(at->filter, pfs_label_kind(row), row->start, row->end);
}

static void drop_unwanted(struct pfs_rows *rows, const struct pfs_epochs *at)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < rows->nr; i++)
		if (is_wanted(&rows->row[i], at))
			rows->row[kept++] = rows->row[i];
	rows->nr = kept;
}

int pfs_rows_collect(struct pfs_rows *rows, const struct pfs_epochs *at)
{
	const struct pfs_space *space = at->epoch->space;
	const struct pfs_model *model = at->model;
	uint64_t start = 0;
	int err = 0;

	*rows = (struct pfs_rows){ 0 };
	for (unsigned int i = 0; !err && i < space->nr_live; i++) {
		const struct pfs_region *region = space->live[i];

		if (start < region->start)
			err = add_clusters(rows, model, space, start, region->start);
		if (!err)
			err = add_region(rows, at, region);
		start = region->end;
	}
	if (!err)
		err = add_clusters(rows, model, space, start, 0);
	for (unsigned int i = 0; !err && i < space->nr_retired; i++)
		err = add_region(rows, at, space->retired[i]);
	if (err) {
		pfs_rows_free(rows);
		return err;
	}
	drop_unwanted(rows, at);
	if (rows->nr)
		qsort(rows->row, rows->nr, sizeof(*rows->row), compare_rows);
	return 0;
}

void pfs_rows_free(struct pfs_rows *rows)
{
	for (unsigned int i = 0; i < rows->nr; i++)
		pfs_pages_free(rows->row[i].packed);
	free(rows->row);
	*rows = (struct pfs_rows){ 0 };
}

/* ---- epochs ---- */

static bool space_touched(const struct pfs_space *space)
{
	if (pfs_pages_any(space->pages, 0, 0))
		return true;
	for (unsigned int i = 0; i < space->nr_retired; i++)
		if (space->retired[i]->pages)
			return true;
	return false;
}

static bool owns(const struct pfs_epochs *walk, const struct pfs_proc *proc)
{
	if (proc == walk->proc || !pfs_filter_proc(walk->filter, walk->model, proc))
		return false;
	for (unsigned int i = 0; i < proc->nr_epochs; i++)
		if (proc->epochs[i].space == walk->epoch->space && !proc->epochs[i].shared)
			return true;
	return false;
}

/* A process in its parent's space (vfork) is drawn with it, unless the filter hides the parent. */
static bool drawn_elsewhere(const struct pfs_epochs *walk)
{
	const struct pfs_proc *parent;

	parent = pfs_model_proc(walk->model, walk->proc->ppid);
	if (parent && owns(walk, parent))
		return true;
	for (parent = walk->model->procs; parent; parent = parent->next)
		if (owns(walk, parent))
			return true;
	return false;
}

static bool in_time(const struct pfs_epochs *walk)
{
	const struct pfs_filter *f = walk->filter;

	if (f && f->at.set && walk->end_ns != UINT64_MAX)
		return false;
	return !f || !f->from.set || walk->end_ns >= pfs_time_ns(&f->from, walk->model);
}

static bool epoch_shown(const struct pfs_epochs *walk)
{
	const struct pfs_space *space = walk->epoch->space;

	if (space->launcher || !in_time(walk) || !pfs_filter_proc(walk->filter, walk->model, walk->proc))
		return false;
	if (walk->epoch->shared && drawn_elsewhere(walk))
		return false;
	if (space_touched(space))
		return true;
	if (!space->nr_live && !space->nr_retired)
		return false;
	return pfs_filter_comm(walk->filter, pfs_epoch_comm(walk));
}

const char *pfs_epoch_comm(const struct pfs_epochs *walk)
{
	return walk->epoch->comm ? walk->epoch->comm : walk->proc->comm;
}

/* Names are interned. */
static bool has_namesake(const struct pfs_epochs *walk)
{
	const char *comm = pfs_epoch_comm(walk);

	for (const struct pfs_proc *proc = walk->model->procs; proc; proc = proc->next)
		for (unsigned int i = 0; proc != walk->proc && i < proc->nr_epochs; i++)
			if (proc->epochs[i].comm == comm && !proc->epochs[i].space->launcher)
				return true;
	return false;
}

const char *pfs_epoch_role(const struct pfs_epochs *walk, char *buf, size_t size)
{
	const char *args = pfs_space_args(walk->epoch->space), *end, *base;

	if (!args || !has_namesake(walk))
		return NULL;
	end = strchrnul(args, ' ');
	base = *args == '\'' ? NULL : memrchr(args, '/', end - args);
	pfs_escape(buf, size, base ? base + 1 : args, 0);
	return buf;
}

/* Counts the process's epochs, and finds the position of the one at walk->index. */
static void place(struct pfs_epochs *walk)
{
	const struct pfs_proc *proc = walk->proc;

	walk->epoch = &proc->epochs[walk->index];
	walk->end_ns = walk->index + 1 < proc->nr_epochs ? walk->epoch[1].start_ns : proc->died_ns;
	if (walk->epoch->space->died_ns < walk->end_ns && !walk->epoch->shared)
		walk->end_ns = walk->epoch->space->died_ns;
	walk->number = walk->of = 0;
	for (unsigned int i = 0; i < proc->nr_epochs; i++) {
		if (proc->epochs[i].space->launcher || proc->epochs[i].shared)
			continue;
		walk->of++;
		walk->number += i <= walk->index;
	}
}

bool pfs_epochs_next(struct pfs_epochs *walk)
{
	for (;;) {
		if (!walk->epoch) {
			walk->proc = walk->proc ? walk->proc->next : walk->model->procs;
			walk->index = 0;
		} else {
			walk->index++;
		}
		if (!walk->proc)
			return false;
		if (walk->index == walk->proc->nr_epochs) {
			walk->epoch = NULL;
			continue;
		}
		place(walk);
		if (epoch_shown(walk))
			return true;
	}
}

/* ---- a --region that leaves nothing ---- */

/* "lbc*" may be anywhere in the name, and differ by half of its letters. */
static struct pfs_nearest nearest_to(const char *word, char *glob, size_t size)
{
	struct pfs_nearest nearest = { .word = glob };

	word += strncmp(word, "file:", 5) ? 0 : 5;
	snprintf(glob, size, "*%s*", word);
	for (; *word; word++)
		nearest.most += *word != '*' && *word != '?';
	nearest.most /= 2;
	return nearest;
}

static void try_region(struct pfs_nearest *nearest, const char *name)
{
	if (!name)
		return;
	pfs_nearest_try(nearest, pfs_label_base(name));
	pfs_nearest_try(nearest, name);
}

/* Has the epoch a region that the filter leaves? Until one is found the names of all are tried. */
static bool has_region(const struct pfs_epochs *at, struct pfs_nearest *nearest)
{
	const struct pfs_space *space = at->epoch->space;

	for (unsigned int i = 0; i < space->nr_live + space->nr_retired; i++) {
		const struct pfs_region *region =
			i < space->nr_live ? space->live[i] : space->retired[i - space->nr_live];
		const char *name = pfs_region_name(space, region);

		if (pfs_filter_memory(at->filter, region, name))
			return true;
		try_region(nearest, name);
	}
	return false;
}

/* Touched pages in no known region can be what is wanted. */
static bool has_rows(const struct pfs_epochs *at)
{
	struct pfs_rows rows;
	bool any = pfs_rows_collect(&rows, at) || rows.nr;

	pfs_rows_free(&rows);
	return any;
}

bool pfs_no_region(const struct pfs_model *model, const struct pfs_filter *filter, char *text, size_t size)
{
	struct pfs_epochs start = { .model = model, .filter = filter }, at = start;
	struct pfs_nearest nearest;
	bool any = false;
	char glob[128];

	if (!filter->region)
		return false;
	for (nearest = nearest_to(filter->region, glob, sizeof(glob)); pfs_epochs_next(&at); any = true)
		if (has_region(&at, &nearest))
			return false;
	for (at = start; pfs_epochs_next(&at);)
		if (has_rows(&at))
			return false;
	snprintf(text, size, "--region '%s': no region matches%s%s", filter->region,
		 nearest.name ? "; the nearest is " : " (`pfscope maps` lists them)", nearest.name ? nearest.name : "");
	return any;
}

/* ---- layouts ---- */

bool pfs_layouts_next(struct pfs_epochs *walk)
{
	while (pfs_epochs_next(walk))
		if (walk->index + 1 == walk->proc->nr_epochs)
			return true;
	return false;
}

const struct pfs_region *pfs_layout_next(const struct pfs_space *space, unsigned int *at)
{
	/* Retired regions are in order of death: of those that died with the space, the highest is first. */
	while (*at < space->nr_live + (space->empty ? space->nr_retired : 0)) {
		unsigned int i = (*at)++;
		const struct pfs_region *region = i < space->nr_live
							  ? space->live[i]
							  : space->retired[space->nr_live + space->nr_retired - 1 - i];

		if (i < space->nr_live || region->died_ns == space->died_ns)
			return region;
	}
	return NULL;
}

int pfs_no_layout(const struct pfs_model *model, const struct pfs_filter *filter, struct pfs_err *err)
{
	if (filter && filter->nr_pids == 1 && !pfs_model_proc(model, filter->pids[0]))
		return pfs_err_set(err, -ENOENT, "no process %d in this recording; `report` lists them",
				   filter->pids[0]);
	if (filter && filter->at.set)
		return pfs_err_set(err, -ENOENT, "no process with a known layout lived at that time");
	return pfs_err_set(err, -ENOENT, "no layout of any process is known from this recording");
}
