/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See base/intern.h. */
#include "base/intern.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	UT_hash_handle hh;
	char text[];
};

struct pfs_intern {
	struct entry *entries;
};

struct pfs_intern *pfs_intern_new(void)
{
	return calloc(1, sizeof(struct pfs_intern));
}

void pfs_intern_free(struct pfs_intern *pool)
{
	struct entry *entry, *next;

	if (!pool)
		return;
	HASH_ITER (hh, pool->entries, entry, next) {
		HASH_DELETE(hh, pool->entries, entry);
		free(entry);
	}
	free(pool);
}

const char *pfs_intern(struct pfs_intern *pool, const char *s)
{
	struct entry *entry;
	size_t len;

	if (!s)
		return NULL;
	len = strlen(s);
	HASH_FIND(hh, pool->entries, s, len, entry);
	if (entry)
		return entry->text;
	entry = calloc(1, sizeof(*entry) + len + 1);
	if (!entry)
		return NULL;
	memcpy(entry->text, s, len);
	HASH_ADD_KEYPTR(hh, pool->entries, entry->text, len, entry);
	if (HASH_ADD_FAILED(entry)) {
		free(entry);
		return NULL;
	}
	return entry->text;
}
