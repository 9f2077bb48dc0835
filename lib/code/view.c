/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all tables and drawings of code begin and end with: the symbolizer of the recording, and the sums.
 */
#include "code/code_priv.h"

#include <errno.h>

/* The source lines of all frames are asked for together. 0 or -ENOMEM. */
static int look_ahead(const struct pfs_code_view *view)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < view->code->nr_origins; i++) {
		struct pfs_code_frames stack = pfs_code_frames(view->code, view->code->origins[i]);

		err = pfs_symbolizer_ahead(view->symbolizer, stack.frames, stack.nr, stack.ts_ns);
	}
	return err;
}

int pfs_code_view_begin(struct pfs_code_view *view, const struct pfs_model *model)
{
	struct pfs_symbolizer_options symbols = view->how->symbols;
	uint64_t base = pfs_model_base_ns(model);

	pfs_symbolizer_of_recording(&symbols, view->how->recording, model->last_ns > base ? model->last_ns - base : 0);
	symbols.lines |= view->how->by >> PFS_CODE_LINE & 1;
	for (uint32_t i = 0; i < view->code->nr_origins; i++) {
		const struct pfs_code_origin *origin = view->code->origins[i];

		pfs_code_add(&view->total, &origin->counts);
		view->stacks |= origin->key.stack != 0;
	}
	pfs_jit_refresh(view->code->jit);
	symbols.jit = view->code->jit;
	view->symbolizer = pfs_symbolizer_new(&symbols);
	if (!view->symbolizer)
		return -ENOMEM;
	return pfs_symbolizer_notes(view->symbolizer, model)
		       ?: (view->how->notes ? pfs_symbolizer_notes(view->symbolizer, view->how->notes) : 0)
		       ?: look_ahead(view);
}

void pfs_code_view_end(struct pfs_code_view *view)
{
	pfs_symbolizer_free(view->symbolizer);
	pfs_intern_free(view->strings);
}

/* Why names are missing, a line each, and no more than a few. */
void pfs_code_put_problems(const struct pfs_code_view *view)
{
	unsigned int at = 0, nr = 0;
	char line[512];

	while (pfs_symbolizer_problem(view->symbolizer, &at, line, sizeof(line)) && nr++ < 5)
		fprintf(view->options->out, "no names of %s\n", line);
	if (nr)
		fputc('\n', view->options->out);
}
