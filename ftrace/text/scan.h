/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers in a line of text, for text/line.c and text/args.c only.
 *
 * All of it leans on one promise of text.c: the byte at a line's end is readable and is part of no
 * word (the newline, or a carriage return before it), so a run of digits stops there by itself.
 * A number that does not fit in 64 bits is no number.
 */
#ifndef PFS_TEXT_SCAN_H
#define PFS_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool text_is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* A byte of a name: of an event, a field, a symbol. */
static inline bool text_is_word(char c)
{
	return text_is_digit(c) || (unsigned char)((c | 32) - 'a') < 26 || c == '_';
}

/* The value of a hexadecimal digit, or 16 and more. A table: most of a fault's text is digits. */
static inline unsigned int text_hex_digit(char c)
{
	static const unsigned char past_value[256] = {
		/* one more, so that 0 is none */
		['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,	['6'] = 7,  ['7'] = 8,
		['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
		['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
	};

	return past_value[(unsigned char)c] - 1u;
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
 * A number as the kernel and libtraceevent print them: "0x1f" is hexadecimal regardless of `base`,
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

/* The rest of a fault's line: "7fa3d0f6bd58 ip=0x7fa3d0ff8d6c error_code=0x6". False: it is something else. */
static inline bool text_fault(const char *s, const char *end, uint64_t v[3])
{
	static const struct {
		const char *text;
		ptrdiff_t len;
	} before[] = { { "", 0 }, { " ip=0x", 6 }, { " error_code=0x", 14 } };

	for (unsigned int i = 0; i < 3; i++) {
		const char *digits = s + before[i].len;

		if (end - s <= before[i].len || memcmp(s, before[i].text, before[i].len))
			return false;
		s = text_hex(digits, &v[i]);
		if (s == digits)
			return false;
	}
	return s == end;
}

#endif
