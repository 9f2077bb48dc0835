/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See demangle.h.
 */
#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 16384 };

/* In the child. Rust's names without the hashes of crates and instances. */
static size_t answer(void *ctx, const char *request, size_t len, char *text)
{
	char *name = cplus_demangle(request, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);

	len = name ? strlen(name) : 0;
	if (len >= PFS_GUARD_MAX)
		len = 0;
	memcpy(text, name ? name : "", len);
	free(name);
	return len;
}

const char *pfs_demangle(struct pfs_demangler *d, const char *name, char *buf)
{
	size_t len = strlen(name);

	if ((strncmp(name, "_Z", 2) && strncmp(name, "_R", 2)) || len > MAX_NAME)
		return name;
	if (!d->guard.started)
		pfs_guard_start(&d->guard, answer, NULL, -1);
	len = pfs_guard_ask(&d->guard, name, len, buf);
	if (!len || len >= PFS_GUARD_MAX)
		return name;
	buf[len] = '\0';
	return buf;
}

void pfs_demangler_fini(struct pfs_demangler *d)
{
	pfs_guard_end(&d->guard);
}
