/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes text and numbers into memory, for output whose speed counts. All functions write without a closing NUL, and
 * return the end of what they wrote.
 */
#ifndef PFS_PUT_H
#define PFS_PUT_H

#include <stdint.h>
#include <string.h>

static inline char *put_text(char *p, const char *s)
{
	while (*s)
		*p++ = *s++;
	return p;
}

static inline char *put_hex(char *p, uint64_t value)
{
	int shift = value ? (63 - __builtin_clzll(value)) & ~3 : 0;

	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[value >> shift & 15];
	return p;
}

/* Exactly nr digits. */
static inline char *put_digits(char *p, uint64_t value, unsigned int nr)
{
	for (unsigned int i = nr; i-- > 0; value /= 10)
		p[i] = '0' + value % 10;
	return p + nr;
}

static inline char *put_dec(char *p, uint64_t value)
{
	char digits[20];
	unsigned int i = sizeof(digits);

	do
		digits[--i] = '0' + value % 10;
	while (value /= 10);
	memcpy(p, digits + i, sizeof(digits) - i);
	return p + sizeof(digits) - i;
}

static inline char *put_signed(char *p, int64_t value)
{
	if (value < 0)
		*p++ = '-';
	return put_dec(p, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

#endif
