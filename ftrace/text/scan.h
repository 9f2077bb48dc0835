/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the readers of this room share beside base/number.h.
 *
 * All of it leans on one promise of text.c: the byte at a line's end is readable and is part of no
 * word (the newline, or a carriage return before it), so a run of digits stops there by itself.
 */
#ifndef PFS_TEXT_SCAN_H
#define PFS_TEXT_SCAN_H

#include "base/number.h"

#include <string.h>

static inline const char *text_skip_spaces(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
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
		s = pfs_hex(digits, &v[i]);
		if (s == digits)
			return false;
	}
	return s == end;
}

#endif
