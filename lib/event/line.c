/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One event as a line, for event/export.c. It runs once an event of a recording of millions, so there is no printf and
 * no allocation in it. Reading lines is event/line_read.c.
 */
#include "event/line.h"

#include <errno.h>

#include "base/escape.h"

/* Writes one character of a string, escaped if need be; *s moves on. At most 16 bytes. */
static char *put_char(char *p, const char **s, const char *end)
{
	uint32_t code;
	size_t nr = pfs_utf8_decode(*s, end - *s, &code);

	if (nr && !pfs_escape_needed(code) && code != '"' && code != '\\') {
		p = mempcpy(p, *s, nr);
		*s += nr;
		return p;
	}
	for (nr = nr ? nr : 1; nr; nr--) {
		unsigned char c = *(*s)++;

		*p++ = '\\';
		if (c == '"' || c == '\\') {
			*p++ = c;
		} else if (c == '\n' || c == '\t') {
			*p++ = c == '\n' ? 'n' : 't';
		} else {
			*p++ = 'x';
			*p++ = "0123456789abcdef"[c >> 4];
			*p++ = "0123456789abcdef"[c & 15];
		}
	}
	return p;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* NULL: no room before `limit`. */
static char *put_string(char *p, const char *limit, const char *s)
{
	const char *end = s + strnlen(s, PFS_EVENT_STR_MAX);

	if (limit - p < 2)
		return NULL;
	*p++ = '"';
	while (s < end) {
		if (limit - p < 18)
			return NULL;
		if (is_plain(*s))
			*p++ = *s++;
		else
			p = put_char(p, &s, end);
	}
	*p++ = '"';
	return p;
}

ssize_t pfs_line_write(const struct pfs_event *ev, char *buf, size_t size)
{
	char *p = buf, *limit = buf + size;
	const char *kind = pfs_kind_name(ev->kind);

	if (!kind)
		return -EINVAL;
	if (size < PFS_EVENT_SCALAR_MAX)
		return -ENOBUFS;
	p = put_time(p, ev->ts_ns);
	*p++ = ' ';
	p = put_text(p, kind);
	for (uint64_t bits = pfs_event_fields(ev); bits; bits &= bits - 1) {
		unsigned int i = __builtin_ctzll(bits);

		if (limit - p < 2 * PFS_EVENT_SCALAR_MAX)
			return -ENOBUFS;
		*p++ = ' ';
		p = put_text(p, pfs_fields[i].name);
		*p++ = ev->inferred >> i & 1 ? '~' : '=';
		if (pfs_fields[i].type != PFS_T_STR)
			p = pfs_event_put_scalar(p, ev, &pfs_fields[i]);
		else if (!(p = put_string(p, limit - 1, field_as(char *, ev, &pfs_fields[i]))))
			return -ENOBUFS;
	}
	*p++ = '\n';
	return p - buf;
}
