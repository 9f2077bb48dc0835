/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Draws per region which functions touched which pages first: a bar of its pages with a letter for each function, and the
 * functions below.
 *
 *     libc.so.6 r-xp of pid 4711: 45 pages first touched by 12 functions
 *     aaaa.bb...ccc......a
 *       a     23   51.1  _dl_relocate_object
 */
#include "code/code_priv.h"

#include "base/array.h"
#include "base/escape.h"
#include "view/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { REGIONS = 4, FUNCTIONS = 5, MAX_WIDTH = 1000 };

/* The pages of a region: a part of the sorted pages. */
struct group {
	size_t first, nr;
};

struct function {
	const char *name; /* interned */
	uint64_t nr;
};

struct drawing {
	struct pfs_code_view view;
	const struct pfs_model *model;
	const char **names; /* of each page, its function's */
	struct group *groups;
	size_t nr_groups, max_groups;
};

static int compare_pages(const void *a, const void *b)
{
	const struct pfs_code_page *x = a, *y = b;

	return pfs_order(x->pid, y->pid) ?: pfs_order(x->region->start, y->region->start) ?: pfs_order(x->region, y->region) ?: pfs_order(x->addr, y->addr);
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return pfs_order(y->nr, x->nr) ?: pfs_order(x->first, y->first);
}

static int group_pages(struct drawing *d)
{
	struct pfs_code *code = d->view.code;

	if (code->nr_pages)
		qsort(code->pages, code->nr_pages, sizeof(*code->pages), compare_pages);
	for (size_t i = 0; i < code->nr_pages; i++) {
		const struct pfs_code_page *page = &code->pages[i], *before = page - 1;
		struct group *group = NULL;

		if (i && page->pid == before->pid && page->region == before->region) {
			d->groups[d->nr_groups - 1].nr++;
			continue;
		}
		group = pfs_array_add(d->groups, d->nr_groups, d->max_groups);
		if (!group)
			return -ENOMEM;
		*group = (struct group){ i, 1 };
	}
	if (d->nr_groups)
		qsort(d->groups, d->nr_groups, sizeof(*d->groups), compare_groups);
	return 0;
}

/* The function of each page of the group. 0 or -ENOMEM. */
static int name_pages(struct drawing *d, const struct group *group)
{
	for (size_t i = group->first; i < group->first + group->nr; i++) {
		struct pfs_code_frames stack = pfs_code_frames(d->view.code, d->view.code->pages[i].origin);
		const struct pfs_place *place = &pfs_code_no_frames;
		uint32_t nr;

		if (stack.nr)
			place = pfs_symbolizer_frame(d->view.symbolizer, stack.frames[0], stack.ts_ns, &nr);
		d->names[i] = place ? pfs_code_func_text(&d->view.strings, place) : NULL;
		if (!d->names[i])
			return -ENOMEM;
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return pfs_order(*(const char *const *)a, *(const char *const *)b);
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return pfs_order(y->nr, x->nr) ?: strcmp(x->name, y->name);
}

/* The functions of the group, most pages first. NULL: no memory. */
static struct function *count_functions(const struct drawing *d, const struct group *group, size_t *nr)
{
	struct function *functions = calloc(group->nr, sizeof(*functions));
	const char **names = calloc(group->nr, sizeof(*names));

	*nr = 0;
	if (functions && names) {
		memcpy(names, d->names + group->first, group->nr * sizeof(*names));
		qsort(names, group->nr, sizeof(*names), compare_names);
		for (size_t i = 0; i < group->nr; i++) {
			if (!i || names[i] != names[i - 1])
				functions[(*nr)++].name = names[i];
			functions[*nr - 1].nr++;
		}
		qsort(functions, *nr, sizeof(*functions), compare_functions);
	}
	free(names);
	return functions;
}

/* 'a' for the function with the most pages; '+' for those that have no line of their own. */
static char letter_of(const struct function *functions, size_t nr, size_t shown, const char *name)
{
	for (size_t i = 0; i < nr && i < shown; i++)
		if (functions[i].name == name)
			return 'a' + i;
	return '+';
}

/* A cell has several pages where the region has more than fit: the letter of the function that has the most of them. */
static void put_bar(const struct drawing *d, const struct group *group, const struct function *functions, size_t nr,
		    size_t shown)
{
	const struct pfs_code_page *pages = d->view.code->pages + group->first;
	unsigned int width = d->view.options->width ? d->view.options->width : 80, shift = d->model->page_shift;
	uint64_t start = pages[0].region->start >> shift, end = pages[0].region->end >> shift, per_cell;
	uint64_t last = pages[group->nr - 1].addr >> shift;
	char bar[MAX_WIDTH + 1];
	size_t at = 0, used = 0;

	if (start > pages[0].addr >> shift) /* it has grown downwards, or was split */
		start = pages[0].addr >> shift;
	if (end <= last)
		end = last + 1;
	if (width > MAX_WIDTH)
		width = MAX_WIDTH;
	per_cell = (end - start + width - 1) / width;
	for (uint64_t cell = start; cell < end; cell += per_cell) {
		unsigned int counts[26 + 1] = { 0 }, best = 0, any = 0;

		for (; at < group->nr && pages[at].addr >> shift < cell + per_cell; at++) {
			char letter = letter_of(functions, nr, shown, d->names[group->first + at]);

			counts[letter == '+' ? 26 : letter - 'a']++;
			any++;
		}
		for (unsigned int i = 1; i <= 26; i++)
			if (counts[i] > counts[best])
				best = i;
		bar[used++] = !any ? '.' : best == 26 ? '+' : 'a' + best;
	}
	fprintf(d->view.options->out, "%.*s\n", (int)used, bar);
}

static void put_heading(const struct drawing *d, const struct group *group, size_t nr_functions)
{
	const struct pfs_code_page *page = &d->view.code->pages[group->first];
	const struct pfs_region *region = page->region;
	const char *name = region->have & PFS_HAS(PFS_F_NAME) ? region->name : NULL;
	char perms[5], label[PFS_LABEL_MAX], fit[PFS_LABEL_MAX], text[200];
	const struct pfs_view_options *options = d->view.options;
	unsigned int width = options->width ? options->width : 80, len;

	pfs_perms_text(perms, region);
	pfs_escape(label, sizeof(label), name ? (*name ? pfs_label_base(name) : "anon") : "?", 0);
	len = snprintf(text, sizeof(text), " %s %" PRIx64 " of pid %d: %zu pages, first touched by %zu function%s",
		       perms, region->start, page->pid, group->nr, nr_functions, nr_functions == 1 ? "" : "s");
	pfs_fit_head(fit, sizeof(fit), label, width > len + 8 ? width - len : 8, "..");
	fprintf(options->out, "%s%s%s%s\n", pfs_color_on(options->color, "\033[1m"), fit, pfs_color_off(options->color),
		text);
}

static int put_group(struct drawing *d, const struct group *group)
{
	const struct pfs_view_options *options = d->view.options;
	size_t nr, shown = options->all ? 26 : FUNCTIONS;
	struct function *functions = name_pages(d, group) ? NULL : count_functions(d, group, &nr);
	unsigned int width = options->width ? options->width : 80;
	uint64_t rest = group->nr;
	char share[32], fitted[4200];

	if (!functions || !nr) {
		free(functions);
		return -ENOMEM;
	}
	put_heading(d, group, nr);
	put_bar(d, group, functions, nr, shown);
	for (size_t i = 0; i < nr && i < shown; i++) {
		rest -= functions[i].nr;
		pfs_fixed_text(share, pfs_code_share(functions[i].nr, group->nr), 1);
		pfs_fit_head(fitted, sizeof(fitted), functions[i].name, width > 30 ? width - 23 : 10, "..");
		fprintf(options->out, "  %c %8" PRIu64 "  %5s %%  %s\n", (char)('a' + i), functions[i].nr, share,
			fitted);
	}
	if (nr > shown) {
		pfs_fixed_text(share, pfs_code_share(rest, group->nr), 1);
		fprintf(options->out, "  + %8" PRIu64 "  %5s %%  %zu more\n", rest, share, nr - shown);
	}
	free(functions);
	return 0;
}

static int draw(struct drawing *d)
{
	const struct pfs_view_options *options = d->view.options;
	size_t top = options->top ? options->top : options->all ? SIZE_MAX : REGIONS, rest = 0;
	int err = group_pages(d);

	d->names = calloc(d->view.code->nr_pages + 1, sizeof(*d->names));
	if (!d->names)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < d->nr_groups; i++)
		if (i < top)
			err = put_group(d, &d->groups[i]);
		else
			rest += d->groups[i].nr;
	if (!err && rest)
		fprintf(options->out, "%zu pages of %zu more regions (--all)\n", rest, d->nr_groups - top);
	if (!err && !d->nr_groups)
		fprintf(options->out, "no page was touched\n");
	free(d->names);
	free(d->groups);
	return err;
}

int pfs_code_draw(struct pfs_code *code, const struct pfs_code_options *how, const struct pfs_model *model,
		  const struct pfs_view_options *options, struct pfs_err *err)
{
	struct drawing d = { .view = { .code = code, .how = how, .options = options }, .model = model };
	int ret = pfs_code_view_begin(&d.view, model) ?: draw(&d);

	if (!ret)
		pfs_code_put_problems(&d.view);
	pfs_code_view_end(&d.view);
	return ret ? pfs_err_set(err, ret, "no memory for the functions")
		   : pfs_output_end(options->out, "the functions", err);
}
