/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of the formats, and the life of a file: see viewer.h.
 */
#include "export/viewer_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct viewer_format *const formats[PFS_NR_VIEWERS] = {
	&viewer_firefox,    &viewer_perfetto, &viewer_pprof,  &viewer_folded,
	&viewer_speedscope, &viewer_sqlite,   &viewer_chrome, [PFS_VIEWER_HTML] = &viewer_html,
};

/* In the order of the table. */
const char *const pfs_viewer_names[] = { "firefox", "perfetto", "pprof", "folded", "speedscope",
					 "sqlite",  "chrome",	"html",	 NULL };

bool pfs_viewer_has_gaps(unsigned int format)
{
	return formats[format]->lost;
}

bool pfs_viewer_is_binary(unsigned int format)
{
	return formats[format]->binary;
}

struct pfs_viewer *pfs_viewer_new(const struct pfs_model *model, unsigned int format,
				  const struct pfs_viewer_options *options, FILE *out, struct pfs_err *err)
{
	struct pfs_viewer *viewer = calloc(1, sizeof(*viewer) + formats[format]->size);
	int ret = -ENOMEM;

	if (!viewer)
		goto out;
	viewer->model = model;
	viewer->options = *options;
	viewer->format = formats[format];
	viewer->state = viewer + 1;
	viewer->out = out;
	pfs_json_init(&viewer->json, out);
	pfs_json_hold(&viewer->json);
	viewer->walk = viewer_walk_new(viewer);
	ret = viewer->walk ? viewer_calls_init(&viewer->calls, model, options) : -ENOMEM;
	if (!ret && viewer->format->begin)
		ret = viewer->format->begin(viewer);
	if (!ret)
		return viewer;
out:
	if (viewer && viewer->err.msg[0])
		*err = viewer->err;
	else
		pfs_err_set(err, ret, "no memory for the export");
	pfs_viewer_free(viewer);
	return NULL;
}

void pfs_viewer_free(struct pfs_viewer *viewer)
{
	if (!viewer)
		return;
	viewer_walk_free(viewer->walk); /* first: nothing is passed on to the format any more */
	if (viewer->format->fini)
		viewer->format->fini(viewer);
	viewer_calls_fini(&viewer->calls);
	for (uint32_t i = 0; i < viewer->nr_procs; i++)
		free(viewer->procs[i]);
	free(viewer->procs);
	free(viewer->threads);
	free(viewer);
}

struct pfs_observer pfs_viewer_observer(struct pfs_viewer *viewer)
{
	return (struct pfs_observer){ viewer_walk_event, viewer_walk_faults, viewer->walk };
}

int pfs_viewer_end(struct pfs_viewer *viewer, int ret, struct pfs_err *err)
{
	if (!ret)
		ret = viewer_walk_end(viewer->walk);
	viewer_walk_stop(viewer->walk);
	if (!ret && viewer->format->end)
		ret = viewer->format->end(viewer);
	if (!ret && viewer->calls.failed)
		ret = -ENOMEM;
	if (ret && viewer->err.msg[0])
		*err = viewer->err;
	else if (ret && !err->msg[0])
		pfs_err_set(err, ret, ret == -ENOMEM ? "no memory for the export" : "cannot export: %s",
			    strerror(-ret));
	return ret;
}
