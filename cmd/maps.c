/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope maps: prints the layout at a point in time, as /proc/PID/maps would have shown it.
 */
#include "common/command.h"
#include "common/reading.h"

static const struct argp_option options[] = {
	FORMAT_OPTIONS,
	{ 0 },
};

static const struct argp argp = READING_ARGP(
	options, reading_parse, reading_children,
	"Print the memory regions of the processes of a recording, at its end or at the time --at, in the format of /proc/PID/maps. Unknown values are printed as `?'.\v"
	"Examples:\n"
	"  pfscope maps py.dat\n"
	"  pfscope maps --pid 1234 --at 0.25 py.dat\n"
	"  pfscope maps --region heap --json py.dat\n"
	"  pfscope maps --at @5120.000123456 py.dat     in time of the recording's clock");

int cmd_maps(int argc, char **argv)
{
	struct reading_args args = { .view = { .view = "maps" } };

	return reading_main(&args, &argp, argc, argv, reading_draw);
}
