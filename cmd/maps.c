/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope maps: the layout at a moment, as /proc/PID/maps would have shown it.
 */
#include "common/command.h"
#include "common/reading.h"

static const struct argp argp = {
	NULL,
	reading_parse,
	"[FILE|-]",
	"Print the memory regions that the processes of a recording had at its end, or at the moment --at, "
	"in the form of /proc/PID/maps. What the recording does not know is shown as `?'.\v"
	"Examples:\n"
	"  pfscope maps py.dat\n"
	"  pfscope maps --pid 1234 --at 0.25 py.dat\n"
	"  pfscope maps --at @5120.000123456 py.dat     a time of the recording's clock",
	reading_children,
	NULL,
	NULL,
};

int cmd_maps(int argc, char **argv)
{
	struct reading_args args = { .view = { .view = "maps" } };

	return reading_main(&args, &argp, argc, argv, reading_draw);
}
