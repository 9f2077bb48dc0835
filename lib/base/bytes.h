/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in a recording's bytes, in the recording's byte order and at any alignment. Callers check the bounds. */
#ifndef PFS_BYTES_H
#define PFS_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PFS_HOST_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* pfs_load16(), pfs_store16() and so on; swap: it is not the host's byte order. */
#define PFS_LOAD_AND_STORE(bits)                                                    \
	static inline uint##bits##_t pfs_load##bits(const uint8_t *p, bool swap)    \
	{                                                                           \
		uint##bits##_t v;                                                   \
                                                                                    \
		memcpy(&v, p, sizeof(v));                                           \
		return swap ? __builtin_bswap##bits(v) : v;                         \
	}                                                                           \
	static inline void pfs_store##bits(uint8_t *p, uint##bits##_t v, bool swap) \
	{                                                                           \
		v = swap ? __builtin_bswap##bits(v) : v;                            \
		memcpy(p, &v, sizeof(v));                                           \
	}

PFS_LOAD_AND_STORE(16)
PFS_LOAD_AND_STORE(32)
PFS_LOAD_AND_STORE(64)

/* The kernel's unsigned long: 4 or 8 bytes. */
static inline uint64_t pfs_load_long(const uint8_t *p, unsigned int size, bool swap)
{
	return size == 8 ? pfs_load64(p, swap) : pfs_load32(p, swap);
}

#endif
