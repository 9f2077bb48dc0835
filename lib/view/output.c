/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view.h"

#include "view/labels.h"

#include <errno.h>
#include <string.h>

int pfs_output_table(const struct pfs_view_options *options, struct pfs_json *json, struct pfs_table *table,
		     const char *key, const char *title)
{
	int ret = table ? pfs_table_error(table) : -ENOMEM;
	bool color = options->color;

	if (!ret && options->format == PFS_VIEW_CSV) {
		pfs_table_csv(table, options->out, key);
	} else if (!ret && options->format == PFS_VIEW_JSON) {
		pfs_json_line(json, "\n");
		pfs_table_json(table, json, key);
	} else if (!ret) {
		fprintf(options->out, "%s%s%s\n", pfs_color_on(color, "\033[1m"), title, pfs_color_off(color));
		pfs_table_text(table, options->out, color ? "\033[2m" : NULL);
	}
	pfs_table_free(table);
	return ret;
}

int pfs_output_row(const struct pfs_view_options *options, struct pfs_json *json, struct pfs_table *table,
		   const char *key)
{
	int ret = table ? pfs_table_error(table) : -ENOMEM;

	if (!ret && options->format == PFS_VIEW_CSV)
		pfs_table_csv(table, options->out, key);
	else if (!ret)
		pfs_table_json_row(table, 0, json, key);
	pfs_table_free(table);
	return ret;
}

int pfs_output_end(FILE *out, const char *what, struct pfs_err *err)
{
	if (fflush(out) || ferror(out))
		return pfs_err_set(err, -EIO, "writing %s: %s", what, strerror(errno));
	return 0;
}
