/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope pages: prints what is known of each page at a point in time, as /proc/PID/pagemap would have shown it.
 */
#include "common/command.h"
#include "common/reading.h"

#include <errno.h>
#include <string.h>

static const struct argp_option options[] = {
	FORMAT_OPTIONS,
	{ 0 },
};

static const struct argp argp = READING_ARGP(
	options, reading_parse, reading_children,
	"Print for each page of the processes of a recording whether it is mapped, at its end or at the time --at: present, absent, or unknown and why; and how it came to be. One line for each run of pages of which the same is known.\v"
	"Examples:\n"
	"  pfscope pages py.dat\n"
	"  pfscope pages --region heap --at 0.25 py.dat\n"
	"  pfscope pages --json py.dat");

/* With --at or --to: reads all of the file first, for what the kernel counted holds for all of it. */
static int read_whole(const struct reading_args *args, struct pipeline *whole, struct pfs_err *err)
{
	static const struct pfs_filter none;
	int ret = pipeline_init(whole, &none, PFS_EXPORT_NONE, NULL, err) ?: reading_read(args, whole, err);

	return ret == -ENODATA ? 0 : ret;
}

static int draw(struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	bool twice = args->file && strcmp(args->file, "-") && (args->view.filter.at.set || args->view.filter.to.set);
	struct pipeline whole = { 0 };
	int ret = twice ? read_whole(args, &whole, err) : 0;

	args->view.whole = twice ? whole.model : p->model;
	pfs_model_track_presence(p->model);
	if (!ret)
		ret = reading_draw(args, p, err);
	pipeline_fini(&whole);
	return ret;
}

int cmd_pages(int argc, char **argv)
{
	struct reading_args args = { .view = { .view = "pages" } };

	return reading_main(&args, &argp, argc, argv, draw);
}
