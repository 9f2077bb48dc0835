/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a page that is a text with marks, in place of which the data and the script stand. */
#ifndef PFS_PLOT_PAGE_H
#define PFS_PLOT_PAGE_H

#include <stdio.h>
#include <string.h>

/* The page from there to before the mark, which it has. Returns what is behind it. */
static inline const char *pfs_page_until(FILE *out, const char *from, const char *mark)
{
	const char *at = strstr(from, mark);

	fwrite(from, 1, at - from, out);
	return at + strlen(mark);
}

#endif
