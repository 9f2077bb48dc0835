/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See event/cursor.h. Any bytes are tolerated. */
#include "event/cursor.h"

#include <errno.h>
#include <string.h>

#include "event/text.h"

void pfs_cursor_fail(struct pfs_cursor *c, const char *token, const char *why)
{
	c->token = token;
	c->why = why;
}

static bool is_name_char(char c)
{
	static const bool is[256] = { ['a' ... 'z'] = true, ['0' ... '9'] = true, ['_'] = true };

	return is[(unsigned char)c];
}

/* A byte may alias the cursor: a loop that advances c->at would store and load it for each one. So loops over names and numbers, and
 * pfs_cursor_spaces(), have a copy. */

size_t pfs_cursor_name(struct pfs_cursor *c, const char *why)
{
	const char *start = c->at, *end = c->end, *at = start;

	if (at < end && *at >= 'a' && *at <= 'z')
		while (at < end && is_name_char(*at))
			at++;
	c->at = at;
	if (at == start)
		pfs_cursor_fail(c, start, why);
	return at - start;
}

/* The value of a hexadecimal digit; 16 or more: it is none. A table: digits and letters come in no order. */
static inline unsigned int digit_of(char c)
{
	static const uint8_t more[256] = {
		['0'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ['A'] = 11, 12, 13, 14, 15, 16, ['a'] = 11, 12, 13, 14, 15, 16,
	};

	return more[(unsigned char)c] - 1U;
}

/* Inline, so that the base is a constant: most of the time goes here. */
static inline __attribute__((always_inline)) uint64_t read_number(struct pfs_cursor *c, unsigned int base, uint64_t max,
								  const char *missing)
{
	const unsigned int fit = base == 10 ? 19 : 16; /* that many digits are below 2^64 */
	const char *start = c->at, *end = c->end, *at = start;
	uint64_t value = 0;
	unsigned int digit;
	bool large = false;

	for (; at < end && (digit = digit_of(*at)) < base; at++) {
		large |= at - start >= fit && value > (UINT64_MAX - digit) / base;
		value = value * base + digit;
	}
	c->at = at;
	if (at == start)
		pfs_cursor_fail(c, start, missing);
	else if (large || value > max)
		pfs_cursor_fail(c, start, "this number is too large");
	return value;
}

uint64_t pfs_cursor_dec(struct pfs_cursor *c, uint64_t max)
{
	return read_number(c, 10, max, "a decimal number is missing here");
}

static uint64_t read_hex(struct pfs_cursor *c, uint64_t max)
{
	if (c->end - c->at > 2 && c->at[0] == '0' && (c->at[1] == 'x' || c->at[1] == 'X'))
		c->at += 2;
	return read_number(c, 16, max, "a hexadecimal number is missing here");
}

static int32_t read_s32(struct pfs_cursor *c)
{
	bool minus = c->at < c->end && *c->at == '-';
	uint64_t value;

	c->at += minus;
	value = pfs_cursor_dec(c, (uint64_t)INT32_MAX + minus);
	return minus ? -(int64_t)value : (int64_t)value;
}

/* 123.456789012 */
uint64_t pfs_cursor_time(struct pfs_cursor *c)
{
	const char *start = c->at;
	uint64_t seconds = pfs_cursor_dec(c, UINT64_MAX / 1000000000), places = 0;
	unsigned int nr = 0;

	if (!c->why && c->at < c->end && *c->at == '.') {
		for (c->at++; c->at < c->end && *c->at >= '0' && *c->at <= '9' && nr < 9; nr++)
			places = places * 10 + *c->at++ - '0';
		if (!nr)
			pfs_cursor_fail(c, start, "digits are missing after the point of the time");
	}
	for (; nr < 9; nr++)
		places *= 10;
	if (seconds == UINT64_MAX / 1000000000 && places > UINT64_MAX % 1000000000)
		pfs_cursor_fail(c, start, "this time is too large");
	return seconds * 1000000000 + places;
}

/* rw-p */
static uint8_t read_perms(struct pfs_cursor *c)
{
	static const char set[] = "rwxs", clear[] = "---p";
	uint8_t perms = 0;

	for (unsigned int i = 0; i < 4; i++) {
		if (c->end - c->at <= i || (c->at[i] != set[i] && c->at[i] != clear[i])) {
			pfs_cursor_fail(c, c->at, "permissions like rw-p are missing here");
			return 0;
		}
		perms |= (c->at[i] == set[i]) << i;
	}
	c->at += 4;
	return perms;
}

/* fe:00 */
static uint32_t read_dev(struct pfs_cursor *c)
{
	uint32_t major = read_hex(c, 0xfff);

	if (!c->why && (c->at == c->end || *c->at++ != ':'))
		pfs_cursor_fail(c, c->at, "a device like fe:00 is missing here");
	return c->why ? 0 : major << 20 | read_hex(c, 0xfffff);
}

/* Index of a name in a list that NULL ends; -ENOENT. */
static int list_find(const char *const *names, const char *name, size_t len)
{
	for (int i = 0; names[i]; i++)
		if (pfs_same_name(names[i], name, len))
			return i;
	return -ENOENT;
}

static bool read_enum(struct pfs_cursor *c, const struct pfs_field_info *f, uint8_t *value)
{
	const char *name = c->at;
	size_t len = pfs_cursor_name(c, "the name of a value is missing here");
	int found = len ? list_find(f->names, name, len) : -ENOENT;

	if (found < 0) {
		c->nr_unknown += !c->why;
		return false;
	}
	*value = found;
	return found || strcmp(f->names[0], "unknown");
}

/* stack,noreserve; or none */
static uint16_t read_set(struct pfs_cursor *c, const char *const *names)
{
	uint16_t set = 0;

	do {
		const char *name = c->at;
		size_t len = pfs_cursor_name(c, "a name is missing here");
		int found = len ? list_find(names, name, len) : -ENOENT;

		if (found >= 0)
			set |= 1 << found;
		else
			c->nr_unknown += len != 4 || memcmp(name, "none", 4);
	} while (!c->why && c->at < c->end && *c->at == ',' && c->at++);
	return set;
}

/* The byte of the escape at c->at (behind its backslash); 0: invalid. */
static char read_escape(struct pfs_cursor *c)
{
	static const char from[] = "\"\\nt", to[] = "\"\\\n\t";
	char letter = c->at < c->end ? *c->at : '\0';
	const char *known = letter ? strchr(from, letter) : NULL;
	unsigned int high, low;

	if (known) {
		c->at++;
		return to[known - from];
	}
	if (letter != 'x' || c->end - c->at < 3)
		return '\0';
	high = digit_of(c->at[1]);
	low = digit_of(c->at[2]);
	if ((high | low) > 15)
		return '\0';
	c->at += 3;
	return high << 4 | low;
}

/* A quoted string; returns it unescaped, or NULL. Takes less room than it takes in the line. */
static const char *read_string(struct pfs_cursor *c)
{
	const char *start = c->at;
	char *string = c->string;

	if (c->at == c->end || *c->at++ != '"') {
		pfs_cursor_fail(c, start, "a string in double quotes is missing here");
		return NULL;
	}
	for (; c->at < c->end && *c->at != '"'; c->string++) {
		const char *from = c->at;

		*c->string = *c->at++;
		if (*c->string == '\\')
			*c->string = read_escape(c);
		if (!*c->string) {
			pfs_cursor_fail(c, from, "this is no escape, or a NUL");
			return NULL;
		}
	}
	if (c->at == c->end) {
		pfs_cursor_fail(c, start, "this string has no closing quote");
		return NULL;
	}
	c->at++;
	*c->string++ = '\0';
	return string;
}

bool pfs_cursor_value(struct pfs_cursor *c, struct pfs_event *ev, const struct pfs_field_info *f)
{
	void *to = (char *)ev + f->offset;

	switch (f->type) {
	case PFS_T_S32:
		*(int32_t *)to = read_s32(c);
		return true;
	case PFS_T_U64:
		*(uint64_t *)to = pfs_cursor_dec(c, UINT64_MAX);
		return true;
	case PFS_T_HEX:
		*(uint64_t *)to = read_hex(c, UINT64_MAX);
		return true;
	case PFS_T_ENUM:
		return read_enum(c, f, to);
	case PFS_T_PERMS:
		*(uint8_t *)to = read_perms(c);
		return true;
	case PFS_T_SET:
		*(uint16_t *)to = read_set(c, f->names);
		return true;
	case PFS_T_DEV:
		*(uint32_t *)to = read_dev(c);
		return true;
	case PFS_T_U8:
	case PFS_T_BOOL:
		*(uint8_t *)to = pfs_cursor_dec(c, f->type == PFS_T_BOOL ? 1 : UINT8_MAX);
		return true;
	case PFS_T_STR:
		*(const char **)to = read_string(c);
		return true;
	}
	return false;
}

void pfs_cursor_skip(struct pfs_cursor *c)
{
	if (c->at < c->end && *c->at == '"') {
		read_string(c);
		return;
	}
	while (c->at < c->end && !pfs_is_space(*c->at))
		c->at++;
}
