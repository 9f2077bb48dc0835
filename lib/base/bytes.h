/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in a recording's bytes, in the recording's byte order and at any alignment. Callers check the bounds. */
#ifndef PFS_BYTES_H
#define PFS_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PFS_HOST_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint16_t pfs_load16(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t pfs_load32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t pfs_load64(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* The kernel's unsigned long: 4 or 8 bytes. */
static inline uint64_t pfs_load_long(const uint8_t *p, unsigned int size, bool swap)
{
	return size == 8 ? pfs_load64(p, swap) : pfs_load32(p, swap);
}

static inline void pfs_store16(uint8_t *p, uint16_t v, bool swap)
{
	v = swap ? __builtin_bswap16(v) : v;
	memcpy(p, &v, sizeof(v));
}

static inline void pfs_store32(uint8_t *p, uint32_t v, bool swap)
{
	v = swap ? __builtin_bswap32(v) : v;
	memcpy(p, &v, sizeof(v));
}

static inline void pfs_store64(uint8_t *p, uint64_t v, bool swap)
{
	v = swap ? __builtin_bswap64(v) : v;
	memcpy(p, &v, sizeof(v));
}

#endif
