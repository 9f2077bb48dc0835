/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the origins of faults and writes the tables of them that are wanted.
 */
#include "code/code_priv.h"

#include <errno.h>
#include <string.h>

/* Why names are missing, a line each, and no more than a few. */
static void put_problems(const struct pfs_code_view *view)
{
	unsigned int at = 0, nr = 0;
	char line[512];

	while (pfs_symbolizer_problem(view->symbolizer, &at, line, sizeof(line)) && nr++ < 5)
		fprintf(view->options->out, "no names of %s\n", line);
	if (nr)
		fputc('\n', view->options->out);
}

static int put(struct pfs_code_view *view)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < PFS_NR_CODE_TABLES; i++)
		if (view->how->by >> i & 1)
			err = i == PFS_CODE_STACK ? pfs_code_put_stacks(view) : pfs_code_put_table(view, i);
	if (!err && view->options->format == PFS_VIEW_TEXT)
		put_problems(view);
	return err;
}

int pfs_code_put(struct pfs_code *code, const struct pfs_code_options *how, const struct pfs_model *model,
		 const struct pfs_view_options *options, struct pfs_json *json)
{
	struct pfs_symbolizer_options symbols = how->symbols;
	struct pfs_code_view view = { .code = code, .how = how, .options = options, .json = json };
	uint64_t base = pfs_model_base_ns(model);
	int err = -ENOMEM;

	pfs_symbolizer_of_recording(&symbols, how->recording, model->last_ns > base ? model->last_ns - base : 0);
	symbols.lines |= how->by >> PFS_CODE_LINE & 1;
	view.symbolizer = pfs_symbolizer_new(&symbols);
	for (struct pfs_code_origin *origin = code->origins; origin; origin = origin->hh.next) {
		pfs_code_add(&view.total, &origin->counts);
		view.stacks |= origin->key.stack != 0;
	}
	if (view.symbolizer)
		err = pfs_symbolizer_notes(view.symbolizer, model) ?: put(&view);
	pfs_symbolizer_free(view.symbolizer);
	pfs_intern_free(view.strings);
	return err;
}
