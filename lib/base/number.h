/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one reader of numbers from outside: arguments, the environment, /proc, tracefs, files. libc's readers skip spaces,
 * take signs, wrap and ignore what follows; tests/cli/layers.t allows none of them. Event lines, which are bounded
 * by a length instead of a byte, have event/cursor.h.
 *
 * Only digits are numbers, and what does not fit is none.
 */
#ifndef PFS_NUMBER_H
#define PFS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

static inline bool pfs_is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* A byte of a name: of an event, a field, a symbol. */
static inline bool pfs_is_word(char c)
{
	return pfs_is_digit(c) || (unsigned char)((c | 32) - 'a') < 26 || c == '_';
}

/* The value of a hexadecimal digit, or 16 and more. A table: most of the text of a fault is digits. */
static inline unsigned int pfs_hex_digit(char c)
{
	static const unsigned char past_value[256] = {
		/* one more, so that 0 is none */
		['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,	['6'] = 7,  ['7'] = 8,
		['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
		['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
	};

	return past_value[(unsigned char)c] - 1u;
}

/* Reads decimal digits into *val. Returns where they end, or s if there are none or they do not fit. */
static inline const char *pfs_dec(const char *s, uint64_t *val)
{
	const char *p = s;
	uint64_t v = 0;

	for (; pfs_is_digit(*p); p++) {
		if (p - s >= 19 && (v > UINT64_MAX / 10 || v * 10 > UINT64_MAX - (*p - '0')))
			return s;
		v = v * 10 + (*p - '0');
	}
	*val = v;
	return p;
}

/* Hexadecimal digits without 0x, at most 16. As pfs_dec(). */
static inline const char *pfs_hex(const char *s, uint64_t *val)
{
	const char *p = s;
	unsigned int digit;
	uint64_t v = 0;

	while ((digit = pfs_hex_digit(*p)) < 16) {
		v = v << 4 | digit;
		p++;
	}
	if (p - s > 16)
		return s;
	*val = v;
	return p;
}

/*
 * A number as the kernel and libtraceevent print them: "0x1f" is hexadecimal regardless of `base`, "-6" is decimal,
 * anything else is of `base` (10 or 16). A word that only starts like a number ("add_to_page_cache") is none. As
 * pfs_dec().
 */
static inline const char *pfs_any_number(const char *s, unsigned int base, uint64_t *val)
{
	bool minus = *s == '-';
	const char *digits = s + minus, *p;
	uint64_t v;

	if (digits[0] == '0' && (digits[1] | 32) == 'x') {
		digits += 2;
		base = 16;
	}
	p = base == 16 ? pfs_hex(digits, &v) : pfs_dec(digits, &v);
	if (p == digits || pfs_is_word(*p))
		return s;
	*val = minus ? -v : v;
	return p;
}

/* The number at *at, at most `max`; *at is then behind it. False: there is none, and nothing is changed. */
bool pfs_take_dec(const char **at, uint64_t max, uint64_t *nr);
bool pfs_take_hex(const char **at, uint64_t max, uint64_t *nr);

/* The whole word, within [min, max]. */
bool pfs_number_parse(const char *word, uint64_t min, uint64_t max, uint64_t *nr);

/* The number of a process or thread: a name in /proc. 0: it is none. */
pid_t pfs_pid_parse(const char *word);

/*
 * The number behind the first `key` of a text, and spaces: of "VmRSS:\t  120 kB\n" behind "VmRSS:". A key that begins with a
 * newline is the start of a line. False: it is not there, and nothing is changed.
 */
bool pfs_number_behind(const char *text, const char *key, uint64_t *nr);

#endif
