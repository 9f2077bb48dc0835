/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hash tables, and a hash of bytes. uthash, but a table that cannot grow reports an error instead of ending the program. */
#ifndef PFS_HASH_H
#define PFS_HASH_H

#define HASH_NONFATAL_OOM 1
#include <stdint.h>
#include <stdlib.h>
#include <uthash.h>

/* Whether the element just added is not in the table, for want of memory. */
#define HASH_ADD_FAILED(element) (!(element)->hh.tbl)

/* The element whose member `key` has that value; if there is none, a new one, zeroed. NULL: no memory. */
#define PFS_HASH_GET(table, key, value)                                   \
	({                                                                \
		typeof((table)->key) value_ = (value);                    \
		typeof(table) found_;                                     \
		HASH_FIND(hh, table, &value_, sizeof(value_), found_);    \
		if (!found_ && (found_ = calloc(1, sizeof(*found_)))) {   \
			found_->key = value_;                             \
			HASH_ADD(hh, table, key, sizeof(value_), found_); \
			if (HASH_ADD_FAILED(found_)) {                    \
				free(found_);                             \
				found_ = NULL;                            \
			}                                                 \
		}                                                         \
		found_;                                                   \
	})

/* 64 bits of FNV-1a, of the bytes after those of `hash`; it begins with PFS_HASH_START. */
#define PFS_HASH_START UINT64_C(0xcbf29ce484222325)
static inline uint64_t pfs_hash(uint64_t hash, const void *bytes, size_t len)
{
	for (const unsigned char *p = bytes; len--; p++)
		hash = (hash ^ *p) * UINT64_C(0x100000001b3);
	return hash;
}

/* Frees all elements, each of which is one allocation. */
#define PFS_HASH_FREE(table)                             \
	({                                               \
		typeof(table) element_, next_;           \
		HASH_ITER (hh, table, element_, next_) { \
			HASH_DEL(table, element_);       \
			free(element_);                  \
		}                                        \
	})

#endif
