/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of views, by which the commands find them.
 */
#include "view/view.h"

#include <string.h>

const struct pfs_view *pfs_view_find(const char *name)
{
	for (const struct pfs_view *view = pfs_views; view->name; view++)
		if (!strcmp(view->name, name))
			return view;
	return NULL;
}

const struct pfs_view pfs_views[] = {
	{ "bars", "what happened in a few lines, then the regions with the most faults as bars", pfs_bars_draw },
	{ "by-address", "one row per region, with a bar of how its pages were touched", pfs_bars_by_address_draw },
	{ "full", "one character per page, wrapped", pfs_bars_full_draw },
	{ "classic", "one line per region, X for a page that faulted", pfs_bars_classic_draw },
	{ "report", "tables by process, region and file", pfs_view_report_draw },
	{ "check", "the recording compared with the kernel's own counts", pfs_view_check_draw },
	{ "pages", "which pages are mapped, how they came to be, and what is not known", pfs_view_pages_draw },
	{ "maps", "the layout in the form of /proc/PID/maps", pfs_view_maps_draw },
	{ NULL, NULL, NULL },
};
