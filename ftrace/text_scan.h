/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers in a line of text, for text_line.c and text_args.c only.
 *
 * All of it leans on one promise of text.c: the byte at a line's end is readable and is part of no
 * word (the newline, or a carriage return before it), so a run of digits stops there by itself.
 * A number that does not fit in 64 bits is no number.
 */
#ifndef PFS_TEXT_SCAN_H
#define PFS_TEXT_SCAN_H

#include <stdbool.h>
#include <stdint.h>

static inline bool text_is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* A byte of a name: of an event, a field, a symbol. */
static inline bool text_is_word(char c)
{
	return text_is_digit(c) || (unsigned char)((c | 32) - 'a') < 26 || c == '_';
}

/* The value of a hexadecimal digit, or 16 and more. */
static inline unsigned int text_hex_digit(char c)
{
	unsigned int digit = (unsigned char)(c - '0');
	unsigned int letter = (unsigned char)((c | 32) - 'a');

	return digit < 10 ? digit : letter < 6 ? letter + 10 : 16;
}

static inline const char *text_skip_spaces(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

/* Decimal digits. Returns what follows them, or s itself if there is no number. */
static inline const char *text_dec(const char *s, uint64_t *val)
{
	const char *p = s;
	uint64_t v = 0;

	for (; text_is_digit(*p); p++) {
		if (p - s >= 19 && (v > UINT64_MAX / 10 || v * 10 > UINT64_MAX - (*p - '0')))
			return s;
		v = v * 10 + (*p - '0');
	}
	*val = v;
	return p;
}

/* Hexadecimal digits without 0x, at most 16. As text_dec(). */
static inline const char *text_hex(const char *s, uint64_t *val)
{
	const char *p = s;
	unsigned int digit;
	uint64_t v = 0;

	while ((digit = text_hex_digit(*p)) < 16) {
		v = v << 4 | digit;
		p++;
	}
	if (p - s > 16)
		return s;
	*val = v;
	return p;
}

/*
 * A number as the kernel and libtraceevent print them: "0x1f" is hexadecimal whatever `base` says,
 * "-6" is decimal, anything else is of `base` (10 or 16). A word that only starts like a number
 * ("add_to_page_cache") is none. As text_dec().
 */
static inline const char *text_number(const char *s, unsigned int base, uint64_t *val)
{
	bool minus = *s == '-';
	const char *digits = s + minus, *p;
	uint64_t v;

	if (digits[0] == '0' && (digits[1] | 32) == 'x') {
		digits += 2;
		base = 16;
	}
	p = base == 16 ? text_hex(digits, &v) : text_dec(digits, &v);
	if (p == digits || text_is_word(*p))
		return s;
	*val = minus ? -v : v;
	return p;
}

#endif
