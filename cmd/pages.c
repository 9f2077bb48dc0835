/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope pages: prints what is known of each page at a point in time, as /proc/PID/pagemap would have shown it.
 */
#include "common/command.h"
#include "common/reading.h"

static const struct argp_option options[] = {
	{ "json", OPT_JSON, NULL, 0, "Print JSON", 1 },
	{ "csv", OPT_CSV, NULL, 0, "Print comma-separated values", 1 },
	{ 0 },
};

static const struct argp argp = READING_ARGP(
	options, reading_parse, reading_children,
	"Print for each page of the processes of a recording whether it is mapped, at its end or at the time --at: present, absent, or unknown and why; and how it came to be. One line for each run of pages of which the same is known.\v"
	"Examples:\n"
	"  pfscope pages py.dat\n"
	"  pfscope pages --region heap --at 0.25 py.dat\n"
	"  pfscope pages --json py.dat");

static int draw(struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	pfs_model_track_presence(p->model);
	return reading_draw(args, p, err);
}

int cmd_pages(int argc, char **argv)
{
	struct reading_args args = { .view = { .view = "pages" } };

	return reading_main(&args, &argp, argc, argv, draw);
}
