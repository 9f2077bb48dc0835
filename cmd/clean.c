/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope clean: removes what killed pfscopes left in the kernel. `run` and `attach` do the same when they start.
 */
#include "common/command.h"
#include "common/recording.h"
#include "module/module.h"
#include "refault/zram.h"
#include "tracefs/instance.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	argp_error(state, "%s: unexpected argument", arg);
	return 0;
}

static const struct argp argp = {
	.parser = parse,
	.doc = "Remove the tracefs instances, SystemTap modules and swap devices (--zram) that killed pfscopes left behind. Those of running ones stay.\v"
	       "Example:\n"
	       "  sudo pfscope clean",
};

static int print_removed(int nr, const char *what, struct pfs_err *err)
{
	if (nr < 0) {
		see_doctor(nr == -ENOENT || nr == -ENODEV ? -ENOSYS : nr, err);
		return fail(err);
	}
	printf("%d %s%s removed\n", nr, what, nr == 1 ? "" : "s");
	return EXIT_OK;
}

int cmd_clean(int argc, char **argv)
{
	struct pfs_err err = { "" }, module_err = { "" };
	int status, modules, swaps;

	if (cannot_parse(&argp, argc, argv, 0, NULL))
		return EXIT_FAILED;
	modules = pfs_leftovers_remove(&module_err); /* one may refer to an instance */
	status = print_removed(pfs_instance_clean(2000, &err), "instance", &err);
	swaps = pfs_zram_clean(&err);
	if (swaps && print_removed(swaps, "swap device", &err))
		status = EXIT_FAILED;
	if (modules && print_removed(modules, "module", &module_err))
		status = EXIT_FAILED;
	return status;
}
