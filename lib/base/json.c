/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The strings of JSON and the way into a file: see json.h. docs/event-format.md describes the rule for bytes that are
 * not UTF-8.
 */
#include "base/json.h"

#include <stdarg.h>

#include "base/escape.h"

void pfs_json_drain(struct pfs_json *json)
{
	fwrite_unlocked(json->buf, 1, json->p - json->buf, json->out);
	json->p = json->buf;
}

/* Room for 32 bytes at p, which is what a character and a closing quote take. */
static inline char *make_room(struct pfs_json *json, char *p)
{
	if (!json->out || p <= json->buf + sizeof(json->buf) - 32)
		return p;
	json->p = p;
	pfs_json_drain(json);
	return json->p;
}

static char *put_u16_escape(char *p, unsigned int unit)
{
	p = put_text(p, "\\u");
	for (int shift = 12; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[unit >> shift & 15];
	return p;
}

/* Controls as in RFC 8259; other invisible characters too, so that a terminal may show the line. */
static char *put_escape(char *p, uint32_t code, bool markup)
{
	static const char named[] = "\"\\\n\t\r\b\f", letters[] = "\"\\ntrbf";
	const char *name = code && code < 0x80 && !markup ? strchr(named, code) : NULL;

	if (name) {
		*p++ = '\\';
		*p++ = letters[name - named];
		return p;
	}
	if (code < 0x10000)
		return put_u16_escape(p, code);
	p = put_u16_escape(p, 0xd800 + ((code - 0x10000) >> 10));
	return put_u16_escape(p, 0xdc00 + (code & 0x3ff));
}

static inline bool is_special(uint32_t code, bool markup)
{
	return code == '"' || code == '\\' || (markup && (code == '<' || code == '>' || code == '&' || code == '\''));
}

/* Nearly all bytes are. */
static inline bool is_plain(unsigned char byte, bool markup)
{
	return byte >= ' ' && byte < 0x7f && !is_special(byte, markup);
}

/* A quoted string. *exact: all of it is UTF-8. */
static char *put_string(struct pfs_json *json, char *p, const char *s, size_t len, bool *exact)
{
	*exact = true;
	*p++ = '"';
	while (len) {
		uint32_t code;
		size_t nr;

		p = make_room(json, p);
		if (is_plain(*s, json->markup)) {
			*p++ = *s++;
			len--;
			continue;
		}
		nr = pfs_utf8_decode(s, len, &code);
		if (!nr) {
			p = put_text(p, "\xef\xbf\xbd");
			*exact = false;
			nr = 1;
		} else if (is_special(code, json->markup) || pfs_escape_needed(code)) {
			p = put_escape(p, code, json->markup);
		} else {
			p = mempcpy(p, s, nr);
		}
		s += nr;
		len -= nr;
	}
	*p++ = '"';
	return p;
}

void pfs_json_bytes(struct pfs_json *json, const char *key, const char *s, size_t len)
{
	bool exact;
	char *p = put_string(json, pfs_json_next(json, key), s, len, &exact);

	pfs_json_done(json, p);
	if (exact || !key)
		return;
	p = pfs_json_next(json, key);
	p -= json->spaced ? 3 : 2;
	p = put_text(p, json->spaced ? "_hex\": \"" : "_hex\":\"");
	for (size_t i = 0; i < len; i++) {
		p = make_room(json, p);
		*p++ = "0123456789abcdef"[(unsigned char)s[i] >> 4];
		*p++ = "0123456789abcdef"[s[i] & 15];
	}
	*p++ = '"';
	pfs_json_done(json, p);
}

void pfs_json_key(struct pfs_json *json, const char *key)
{
	bool exact;
	char *p = put_string(json, pfs_json_next(json, NULL), key, strlen(key), &exact);

	pfs_json_done(json, put_text(p, json->spaced ? ": " : ":"));
	json->comma = false;
}

void pfs_json_format(struct pfs_json *json, const char *key, const char *fmt, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pfs_json_raw(json, key, text);
}
