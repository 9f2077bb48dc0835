// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Failures of the trace.dat reader: the message with its place in the file, and what --salvage lives with.
 */
#include "dat/dat_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int dat_fail(const struct pfs_dat *dat, struct pfs_err *err, int code, uint64_t offset, const char *fmt, ...)
{
	char why[384];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return pfs_err_set(err, code, "%.100s: offset %llu: %s", dat->name, (unsigned long long)offset, why);
}

int dat_damage(struct pfs_dat *dat, int code, const struct pfs_err *err)
{
	if (!dat->salvage || code == -ENOMEM)
		return code;
	if (!dat->open_damage++ && err)
		dat->first_damage = *err;
	return 0;
}
