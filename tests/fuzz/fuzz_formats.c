// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a recording says of its records, each text cut from the input at a NUL: the page header, kernel symbols,
 * then system and format of one event after another.
 */
#include "fuzz.h"

#include "record/formats.h"
#include "record/handlers.h"
#include "tracefs/hist.h"

#include <string.h>

/* The next piece of the input, or NULL. It is terminated, for all of the input is. */
static const char *piece(const char **at, const char *end)
{
	const char *text = *at;

	if (text >= end)
		return NULL;
	*at += strlen(text) + 1;
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = malloc(size + 1);
	struct pfs_formats *formats = pfs_formats_new(size & 1, size & 2 ? 4 : 8);
	struct pfs_hist_entry entry;
	const char *at, *end, *text, *system;
	uint64_t start;
	struct pfs_err err;

	memcpy(bytes, data, size);
	bytes[size] = '\0';
	at = bytes;
	end = bytes + size;
	text = piece(&at, end);
	if (text) {
		pfs_formats_set_header_page(formats, text, strlen(text), &err);
		pfs_hist_line(text, 4096, &entry);
	}
	text = piece(&at, end);
	if (text)
		formats->symbols = pfs_symbols_parse(text, strlen(text));
	if (formats->symbols)
		pfs_symbols_find(formats->symbols, UINT64_C(0xffffffff81234568), &start);
	while ((system = piece(&at, end)) && (text = piece(&at, end)))
		pfs_formats_add(formats, system, text, strlen(text));
	pfs_formats_find(formats, "exceptions", "page_fault_user");
	pfs_formats_free(formats);
	free(bytes);
	return 0;
}
