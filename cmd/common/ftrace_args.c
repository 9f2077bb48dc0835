/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/ftrace_args.h"

enum { OPT_PROBES = 0x700, OPT_LATENCY, OPT_CLASSIFY, OPT_HISTOGRAM };

static const struct argp_option options[] = {
	{ "probes", OPT_PROBES, NULL, 0,
	  "Each fault's flags, region, and whether it was minor or "
	  "major, and faults that the kernel makes itself (probes at its fault handler)",
	  0 },
	{ "latency", OPT_LATENCY, NULL, 0, "The time that each fault took in the kernel (probes)", 0 },
	{ "classify", OPT_CLASSIFY, NULL, 0,
	  "What each fault was (anon, file, cow, swap, huge, numa), "
	  "from the functions that it went through (function tracer)",
	  0 },
	{ "histogram", OPT_HISTOGRAM, NULL, 0,
	  "Count faults by page inside the kernel instead of "
	  "recording each",
	  0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct pfs_capture_tracers *args = state->input;

	switch (key) {
	case OPT_PROBES:
		args->probes = true;
		return 0;
	case OPT_LATENCY:
		args->latency = true;
		return 0;
	case OPT_CLASSIFY:
		args->classify = true;
		return 0;
	case OPT_HISTOGRAM:
		args->histogram = true;
		return 0;
	case ARGP_KEY_END:
		if (args->histogram && (args->probes || args->latency || args->classify))
			argp_error(state, "--histogram counts faults, and so tells nothing of each: not "
					  "with --probes, --latency or --classify");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp ftrace_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

bool ftrace_args_given(const struct pfs_capture_tracers *args)
{
	return args->probes || args->latency || args->classify || args->histogram || args->count;
}
