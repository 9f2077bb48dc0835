/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel of our own: each event of raw_desc.c's table has a format, with every argument a number of 8 bytes and
 * the string behind them. Recordings of any kernel can be written down in it (seeds.c), and fuzz_ring.c needs no
 * tables in its input.
 */
#ifndef RING_FORMATS_H
#define RING_FORMATS_H

#include "record/formats.h"
#include "record/handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING_PAGE = 512, RING_ARGS_AT = 8, RING_CUT = 64 };

static inline unsigned int ring_nr_args(const struct raw_desc *desc)
{
	unsigned int nr = 0;

	while (nr < RAW_MAX_ARGS && desc->args[nr])
		nr++;
	return nr;
}

static inline void ring_format(const struct raw_desc *desc, unsigned int id, FILE *out)
{
	unsigned int nr = ring_nr_args(desc);

	fprintf(out,
		"name: %s\nID: %u\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
		desc->name, id);
	for (unsigned int i = 0; i < nr; i++) {
		const char *name = desc->args[i], *array = strstr(name, "[0]") ? "[8]" : "";

		if (!strchr(name, '[') || *array)
			fprintf(out, "\tfield:u64 %.*s%s;\toffset:%u;\tsize:%d;\tsigned:0;\n", (int)strcspn(name, "|["),
				name, array, RING_ARGS_AT + 8 * i, *array ? 64 : 8);
	}
	if (desc->str)
		fprintf(out, "\tfield:__data_loc char[] %.*s;\toffset:%u;\tsize:4;\tsigned:0;\n",
			(int)strcspn(desc->str, "|"), desc->str, RING_ARGS_AT + 8 * nr);
	fprintf(out, "\nprint fmt: \"\"\n");
}

/* The id of an event is its place in the table, from 1. */
static inline struct pfs_formats *ring_formats(void)
{
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield: char data;\toffset:16;\tsize:496;\tsigned:1;\n";
	static const char symbols[] = "ffffffff81000000 T do_anonymous_page\nffffffff81001000 T do_wp_page\n"
				      "ffffffff81002000 T handle_mm_fault\nffffffff81003000 T __handle_mm_fault\n";
	struct pfs_formats *formats = pfs_formats_new_host();
	struct pfs_err err;
	char *text;
	size_t len;

	if (!formats || pfs_formats_set_header_page(formats, page, strlen(page), &err))
		abort();
	for (unsigned int i = 0; i < nr_raw_descs; i++) {
		const char *system = raw_descs[i].system;
		FILE *out = open_memstream(&text, &len);

		ring_format(&raw_descs[i], i + 1, out);
		fclose(out);
		if (pfs_formats_add(formats, strcmp(system, "pfscope_*") ? system : "pfscope_1", text, len) != 1)
			abort();
		free(text);
	}
	formats->symbols = pfs_symbols_parse(symbols, strlen(symbols));
	return formats;
}

#endif
