/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/output.h"

#include "view/glyph.h"

#include <errno.h>
#include <string.h>

void pfs_output_table(const struct pfs_view_options *options, const struct pfs_table *table, const char *key,
		      const char *title)
{
	bool color = options->color;

	switch (options->format) {
	case PFS_VIEW_CSV:
		pfs_table_csv(table, options->out, key);
		break;
	case PFS_VIEW_JSON:
		fprintf(options->out, ",\n\"%s\": ", key);
		pfs_table_json(table, options->out);
		break;
	default:
		fprintf(options->out, "%s%s%s\n", pfs_color_on(color, "\033[1m"), title, pfs_color_off(color));
		pfs_table_text(table, options->out, color ? "\033[2m" : NULL);
	}
}

int pfs_output_end(FILE *out, const char *what, struct pfs_err *err)
{
	if (fflush(out) || ferror(out))
		return pfs_err_set(err, -EIO, "writing %s: %s", what, strerror(errno));
	return 0;
}
