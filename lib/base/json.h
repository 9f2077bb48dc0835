/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JSON (RFC 8259), value by value, into a file or into memory.
 *
 *     pfs_json_begin(json, NULL, "{");
 *     pfs_json_string(json, "name", name);
 *     pfs_json_u64(json, "pages", 3);
 *     pfs_json_end(json, "}");
 *
 * `key` is the name of an object's member, which is not escaped, or NULL in an array. Commas come by themselves; that
 * objects and arrays are closed is the caller's task. The writer keeps nothing back, unless pfs_json_hold() has allowed it: the
 * caller may write to the file in between, and finds errors there.
 */
#ifndef PFS_JSON_H
#define PFS_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "base/put.h"

/* Greater integers are not exact in programs that read JSON numbers as floating point. */
#define PFS_JSON_EXACT_MAX (UINT64_C(1) << 53)

struct pfs_json {
	FILE *out;  /* NULL: memory */
	char *p;    /* the next byte is written here */
	char *full; /* from here on the buffer is handed on to the file */
	bool comma;
	bool spaced; /* {"a": 1, "b": 2}, not {"a":1,"b":2} */
	bool markup; /* the strings need no escapes in XML and HTML either */
	char buf[4096];
};

enum { PFS_JSON_VALUE = 256 }; /* bytes that a value takes at most, its key included, if it is no string */

/* Into a file; the flags are 0. */
static inline void pfs_json_init(struct pfs_json *json, FILE *out)
{
	json->out = out;
	json->p = json->full = json->buf;
	json->comma = json->spaced = json->markup = false;
}

/* Into memory that has room enough: json->p is the end of what was written. A string's byte takes 8 bytes at most. */
static inline void pfs_json_init_memory(struct pfs_json *json, char *p)
{
	pfs_json_init(json, NULL);
	json->p = p;
	json->full = (char *)UINTPTR_MAX;
}

/* Hands the buffer on to the file. */
void pfs_json_drain(struct pfs_json *json);

/* From now on the file has all of it only after pfs_json_drain(). */
static inline void pfs_json_hold(struct pfs_json *json)
{
	json->full = json->buf + sizeof(json->buf) - PFS_JSON_VALUE;
}

static inline void pfs_json_done(struct pfs_json *json, char *p)
{
	json->p = p;
	json->comma = true;
	if (p >= json->full)
		pfs_json_drain(json);
}

/* What stands before a value. The caller writes the value (128 bytes at most) and calls pfs_json_done(). */
static inline char *pfs_json_next(struct pfs_json *json, const char *key)
{
	char *p = json->p;

	if (json->comma) {
		*p++ = ',';
		if (json->spaced)
			*p++ = ' ';
	}
	if (!key)
		return p;
	*p++ = '"';
	p = put_text(p, key);
	*p++ = '"';
	*p++ = ':';
	if (json->spaced)
		*p++ = ' ';
	return p;
}

/* A value that is spelled as JSON already: a number with a point, true, null. */
static inline void pfs_json_raw(struct pfs_json *json, const char *key, const char *text)
{
	pfs_json_done(json, put_text(pfs_json_next(json, key), text));
}

static inline void pfs_json_u64(struct pfs_json *json, const char *key, uint64_t number)
{
	pfs_json_done(json, put_dec(pfs_json_next(json, key), number));
}

static inline void pfs_json_i64(struct pfs_json *json, const char *key, int64_t number)
{
	pfs_json_done(json, put_signed(pfs_json_next(json, key), number));
}

static inline void pfs_json_bool(struct pfs_json *json, const char *key, bool value)
{
	pfs_json_raw(json, key, value ? "true" : "false");
}

/* As pfs_json_raw(), by a format. */
void pfs_json_format(struct pfs_json *json, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A string that needs no escapes. */
static inline void pfs_json_word(struct pfs_json *json, const char *key, const char *word)
{
	char *p = pfs_json_next(json, key);

	*p++ = '"';
	p = put_text(p, word);
	*p++ = '"';
	pfs_json_done(json, p);
}

/*
 * A string of any bytes. Each byte that is not part of a UTF-8 character becomes U+FFFD; then a second member, `key`
 * with _hex appended, has all bytes as hexadecimal digits.
 */
void pfs_json_bytes(struct pfs_json *json, const char *key, const char *s, size_t len);

static inline void pfs_json_string(struct pfs_json *json, const char *key, const char *s)
{
	pfs_json_bytes(json, key, s, strlen(s));
}

/* The key of the next member, whatever its bytes; the member's value has no key then. */
void pfs_json_key(struct pfs_json *json, const char *key);

/* `open` is "{" or "[". */
static inline void pfs_json_begin(struct pfs_json *json, const char *key, const char *open)
{
	pfs_json_raw(json, key, open);
	json->comma = false;
}

/* `close` is "}" or "]", white space before it allowed. */
static inline void pfs_json_end(struct pfs_json *json, const char *close)
{
	pfs_json_done(json, put_text(json->p, close));
}

/* The next value begins after this white space. */
static inline void pfs_json_line(struct pfs_json *json, const char *space)
{
	pfs_json_done(json, put_text(put_text(json->p, json->comma ? "," : ""), space));
	json->comma = false;
}

#endif
