/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See base/intern.h. */
#include "base/intern.h"

#include "base/hash.h"

#include <string.h>

struct pfs_intern {
	UT_hash_handle hh;
	char text[];
};

void pfs_intern_free(struct pfs_intern *pool)
{
	PFS_HASH_FREE(pool);
}

const char *pfs_intern(struct pfs_intern **pool, const char *s)
{
	struct pfs_intern *entry;
	size_t len;

	if (!s)
		return NULL;
	len = strlen(s);
	HASH_FIND(hh, *pool, s, len, entry);
	if (entry)
		return entry->text;
	entry = calloc(1, sizeof(*entry) + len + 1);
	if (!entry)
		return NULL;
	memcpy(entry->text, s, len);
	HASH_ADD_KEYPTR(hh, *pool, entry->text, len, entry);
	if (HASH_ADD_FAILED(entry)) {
		free(entry);
		return NULL;
	}
	return entry->text;
}
