/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/stap_args.h"

enum { OPT_MODULE = 0x600, OPT_NO_DWARF };

static const struct argp_option options[] = {
	{ "module", OPT_MODULE, "FILE", 0, "Load a module that `pfscope stap build' made", 0 },
	{ "no-dwarf", OPT_NO_DWARF, NULL, 0, "Place probes without debuginfo even if there is some", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stap_args *args = state->input;

	switch (key) {
	case OPT_MODULE:
		args->module = arg;
		return 0;
	case OPT_NO_DWARF:
		args->no_dwarf = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp stap_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };
