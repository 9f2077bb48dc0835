/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/word.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_inner(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

const char *pfs_word_find(const char *text, const char *from, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = strstr(from, word); p; p = strstr(p + 1, word))
		if ((p == text || !is_inner(p[-1])) && !is_inner(p[len]))
			return p;
	return NULL;
}

char *pfs_word_replace(const char *text, const char *word, const char *by)
{
	const char *from = text, *p;
	char *result = NULL;
	size_t size;
	FILE *out = open_memstream(&result, &size);

	if (!out)
		return NULL;
	for (; (p = pfs_word_find(text, from, word)); from = p + strlen(word)) {
		fwrite(from, 1, p - from, out);
		fputs(by, out);
	}
	fputs(from, out);
	if (!fclose(out))
		return result;
	free(result);
	return NULL;
}
