/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/refault_args.h"

#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_REFAULT = 0x800, OPT_BY, OPT_QUIET, OPT_ZRAM };

/* Of sixteen intervals two are left alone: enough to compare with, and little that is not seen. */
#define USUAL_QUIET 16

#define SHORTEST_NS 1000000

static const struct argp_option options[] = {
	{ "refault", OPT_REFAULT, "INTERVAL", 0,
	  "Make the pages fault again at every INTERVAL (100ms, 1s), so that "
	  "it is seen what is used again; of --region only, if that is given",
	  0 },
	{ "refault-by", OPT_BY, "METHOD", 0,
	  "How: `pageout' (to swap, or back to their files), `numa' (the kernel's "
	  "own hinting faults), `idle' (not at all: their accessed bits are looked at), or what the system "
	  "has (`auto')",
	  0 },
	{ "refault-quiet", OPT_QUIET, "N", 0,
	  "Of every N intervals leave the last two alone, so that it is known how "
	  "much slower the others are (16); 0: none",
	  0 },
	{ "zram", OPT_ZRAM, "SIZE", 0, "Set up swap in compressed memory for the recording (64M, 1G)", 0 },
	{ 0 },
};

static void set_method(struct refault_args *args, const char *arg, struct argp_state *state)
{
	for (int i = 0; i < PFS_REFAULT_NR_METHODS; i++) {
		if (!strcmp(arg, pfs_refault_methods[i])) {
			args->method = i;
			return;
		}
	}
	argp_error(state, "--refault-by: %s: is neither pageout, numa, idle nor auto", arg);
}

static void check(const struct refault_args *args, bool quiet_given, struct argp_state *state)
{
	if (!args->interval_ns && (args->method || args->zram_bytes || quiet_given))
		argp_error(state, "%s: at which interval are pages to fault again? (--refault INTERVAL)",
			   args->method	      ? "--refault-by"
			   : args->zram_bytes ? "--zram"
					      : "--refault-quiet");
	if ((args->method == PFS_REFAULT_NUMA || args->method == PFS_REFAULT_IDLE) && args->zram_bytes)
		argp_error(state, "--zram is of --refault-by=pageout only");
	if ((args->method == PFS_REFAULT_NUMA || args->method == PFS_REFAULT_IDLE) && quiet_given)
		argp_error(state, "--refault-quiet is of --refault-by=pageout only: nothing else takes pages away");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct refault_args *args = state->input;
	bool unit;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		args->quiet = USUAL_QUIET;
		return 0;
	case OPT_REFAULT:
		if (!span_parse(arg, &args->interval_ns) || args->interval_ns < SHORTEST_NS)
			argp_error(state, "--refault: %s: is no interval from 1ms on (100ms, 1.5s)", arg);
		return 0;
	case OPT_BY:
		set_method(args, arg, state);
		return 0;
	case OPT_QUIET:
		errno = 0;
		args->quiet = strtoul(arg, &end, 10);
		if (errno || *end || *arg < '0' || *arg > '9' || args->quiet == 1 || args->quiet == 2 ||
		    args->quiet > 1000000)
			argp_error(state, "--refault-quiet: %s: is neither 0 nor a number from 3 on", arg);
		state->hook = args; /* it was given */
		return 0;
	case OPT_ZRAM:
		if (!amount_parse(arg, &args->zram_bytes, &unit) || !unit || args->zram_bytes < 1 << 20)
			argp_error(state, "--zram: %s: is no size from 1M on (64M, 1G)", arg);
		return 0;
	case ARGP_KEY_END:
		check(args, state->hook, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp refault_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };
