/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See demangle.h.
 */
#include "symbol/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 16384, HASH_DIGITS = 16 };

typedef char *demangle_fn(const char *name, char *buf, size_t *len, int *status);

/* "core::fmt::write::h0123456789abcdef": without the hash at the end. */
static size_t without_hash(const char *name, size_t len)
{
	const size_t hash = strlen("::h") + HASH_DIGITS;

	if (len <= hash || strncmp(name + len - hash, "::h", 3) ||
	    strspn(name + len - HASH_DIGITS, "0123456789abcdef") != HASH_DIGITS)
		return len;
	return len - hash;
}

/* In the child, which loads the library with the first name. */
static size_t answer(void *ctx, const char *request, size_t len, char *text)
{
	static demangle_fn *demangle;
	static void *library;
	char *name;
	int status;

	if (!library && (library = dlopen("libstdc++.so.6", RTLD_NOW)))
		demangle = (demangle_fn *)dlsym(library, "__cxa_demangle");
	name = demangle ? demangle(request, NULL, NULL, &status) : NULL;
	len = name ? without_hash(name, strlen(name)) : 0;
	if (len >= PFS_GUARD_MAX)
		len = 0;
	memcpy(text, name ? name : "", len);
	free(name);
	return len;
}

const char *pfs_demangle(struct pfs_demangler *d, const char *name, char *buf)
{
	size_t len = strlen(name);

	if (strncmp(name, "_Z", 2) || len > MAX_NAME)
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
