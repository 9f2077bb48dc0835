/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the origins of faults and writes the tables of them that are wanted.
 */
#include "code/code_priv.h"

#include <errno.h>
#include <string.h>

static int put(struct pfs_code_view *view)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < PFS_NR_CODE_TABLES; i++)
		if (view->how->by >> i & 1)
			err = i == PFS_CODE_STACK ? pfs_code_put_stacks(view) : pfs_code_put_table(view, i);
	if (!err && view->options->format == PFS_VIEW_TEXT)
		pfs_code_put_problems(view);
	return err;
}

int pfs_code_put(struct pfs_code *code, const struct pfs_code_options *how, const struct pfs_model *model,
		 const struct pfs_view_options *options, struct pfs_json *json)
{
	struct pfs_code_view view = { .code = code, .how = how, .options = options, .json = json };
	int err = pfs_code_view_begin(&view, model) ?: put(&view);

	pfs_code_view_end(&view);
	return err;
}
