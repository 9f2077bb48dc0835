/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is what comes from standard input well-formed? One line if it is not, and status 1.
 *
 *     well_formed json      JSON values, one after the other, and nothing else; prints how many
 *     well_formed csv       records of RFC 4180, all of as many fields as the header before them, that is, the
 *                           first one, or one after a change of the first field of "table,..." lines; how many
 *     well_formed text      UTF-8 without control characters (C0 but for newline, DEL, C1); prints lines
 */
#include "base/escape.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t len;

static int wrong(const char *what, size_t at)
{
	printf("byte %zu: %s\n", at, what);
	return 1;
}

static int check_json(void)
{
	size_t at = 0;
	int nr = 0;

	for (;; nr++) {
		json_error_t error;
		json_t *value;

		while (at < len && strchr(" \t\r\n", text[at]))
			at++;
		if (at == len)
			break;
		value = json_loadb(text + at, len - at,
				   JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
		if (!value)
			return wrong(error.text, at + error.position);
		json_decref(value);
		at += error.position;
	}
	printf("%d\n", nr);
	return 0;
}

/* The field at *at, which ends before a comma, a newline or the end: false if it is none. */
static int take_field(size_t *at)
{
	if (*at < len && text[*at] == '"') {
		for ((*at)++; *at < len; (*at)++) {
			if (text[*at] != '"')
				continue;
			if (*at + 1 < len && text[*at + 1] == '"')
				(*at)++;
			else
				break;
		}
		if (*at == len)
			return 0;
		(*at)++;
		return *at == len || text[*at] == ',' || text[*at] == '\n';
	}
	while (*at < len && text[*at] != ',' && text[*at] != '\n')
		if (text[(*at)++] == '"')
			return 0;
	return 1;
}

static int check_csv(void)
{
	size_t at = 0, want = 0;
	int nr = 0;

	for (; at < len; nr++) {
		size_t start = at, fields = 1;

		if (!strncmp(text + at, "table,", 6) || !nr)
			want = 0;
		while (take_field(&at) && at < len && text[at] == ',') {
			fields++;
			at++;
		}
		if (at == len || text[at] != '\n')
			return wrong("a field that does not end", at);
		at++;
		if (want && fields != want)
			return wrong("another number of fields than in the header", start);
		want = fields;
	}
	printf("%d\n", nr);
	return 0;
}

static int check_text(void)
{
	int nr = 0;

	for (size_t at = 0; at < len;) {
		uint32_t code;
		size_t size = pfs_utf8_decode(text + at, len - at, &code);

		if (!size)
			return wrong("not UTF-8", at);
		if (code != '\n' && (code < 0x20 || (code >= 0x7f && code < 0xa0)))
			return wrong("a control character", at);
		nr += code == '\n';
		at += size;
	}
	printf("%d\n", nr);
	return 0;
}

int main(int argc, char **argv)
{
	size_t max = 0, got;

	do {
		if (len == max) {
			max = max ? 2 * max : 1 << 16;
			text = realloc(text, max + 1);
			if (!text)
				return 2;
		}
		got = fread(text + len, 1, max - len, stdin);
		len += got;
	} while (got);
	text[len] = '\0';
	if (argc == 2 && !strcmp(argv[1], "json"))
		return check_json();
	if (argc == 2 && !strcmp(argv[1], "csv"))
		return check_csv();
	if (argc == 2 && !strcmp(argv[1], "text"))
		return check_text();
	fputs("usage: well_formed json|csv|text <FILE\n", stderr);
	return 2;
}
