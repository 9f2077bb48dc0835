/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Escaping, and the UTF-8 decoder; columns.c has the other half of escape.h. Event lines have their own quoting
 * (event/line.c), which keeps every byte.
 */
#include "base/escape.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t pfs_utf8_decode(const char *s, size_t len, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char lead = len ? *s : 0xff;
	size_t nr = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
	uint32_t value;

	if (!nr || nr > len)
		return 0;
	value = nr == 1 ? lead : lead & (0x7f >> nr);
	for (size_t i = 1; i < nr; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (s[i] & 0x3f);
	}
	/* overlong forms, surrogates and what lies beyond Unicode are not UTF-8: RFC 3629 */
	if (value < least[nr] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	*code = value;
	return nr;
}

bool pfs_is_formula(const char *word)
{
	return *word && strchr("=+-@\t\r'", *word) && word[strspn(word, "-rwxps")];
}

bool pfs_escape_needed(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
	       code == 0x180e ||		     /* direction mark, vowel separator */
	       (code >= 0x200b && code <= 0x200f) || /* zero width, direction marks */
	       (code >= 0x2028 && code <= 0x202e) || /* line ends, direction overrides */
	       (code >= 0x2060 && code <= 0x206f) || /* invisible operators, isolates */
	       code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) || (code >= 0xe0000 && code <= 0xe007f); /* tags */
}

/* Writes the escape of the nr bytes at s to out (16 bytes); returns its length. */
static size_t escape_bytes(char *out, const char *s, size_t nr)
{
	static const char digits[] = "0123456789abcdef";
	static const char named[] = "\n\t\r\e\\", letters[] = "ntre\\";
	const char *name = nr == 1 && *s ? strchr(named, *s) : NULL;
	size_t len = 0;

	if (name) {
		out[0] = '\\';
		out[1] = letters[name - named];
		return 2;
	}
	for (size_t i = 0; i < nr; i++) {
		out[len++] = '\\';
		out[len++] = 'x';
		out[len++] = digits[(unsigned char)s[i] >> 4];
		out[len++] = digits[s[i] & 15];
	}
	return len;
}

size_t pfs_escape(char *buf, size_t size, const char *s, unsigned int flags)
{
	size_t left = strlen(s), len = 0, put = 0;

	while (left) {
		uint32_t code;
		char escaped[16];
		const char *piece = s;
		size_t nr = pfs_utf8_decode(s, left, &code), piece_len = nr;

		if (!nr || pfs_escape_needed(code) || (code == '\\' && !(flags & PFS_ESCAPE_AGAIN))) {
			nr = nr ? nr : 1;
			piece_len = escape_bytes(escaped, s, nr);
			piece = escaped;
		}
		if (put == len && put + piece_len < size) {
			memcpy(buf + put, piece, piece_len);
			put += piece_len;
		}
		len += piece_len;
		s += nr;
		left -= nr;
	}
	if (size)
		buf[put] = '\0';
	return len;
}

/* ---- command lines ---- */

/* A tilde or `=' matters only to some shells, and only in some places; most arguments have one in another. */
static bool needs_quotes(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)word[i] < ' ' || word[i] == 0x7f || strchr(" !\"#$&'()*;<>?[\\]^`{|}", word[i]))
			return true;
	return !len || *word == '~';
}

static char *put_quoted(char *to, const char *word, size_t len)
{
	*to++ = '\'';
	for (size_t i = 0; i < len; i++)
		if (word[i] == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = word[i];
	*to++ = '\'';
	return to;
}

char *pfs_quote_words(const char *words, size_t len)
{
	const char *end = words + len;
	char *text = malloc(4 * len + 4), *to = text; /* the longest: one byte becomes four, an empty word two quotes */

	if (!text)
		return NULL;
	for (size_t word_len; words < end; words += word_len + 1) {
		word_len = strnlen(words, end - words);
		if (to > text)
			*to++ = ' ';
		if (needs_quotes(words, word_len))
			to = put_quoted(to, words, word_len);
		else
			to = mempcpy(to, words, word_len);
	}
	*to = '\0';
	return text;
}
