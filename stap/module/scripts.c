/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script files, put between two labels each by the assembler, and their order.
 */
#include "module/scripts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Built from the top of the tree: the path is as the assembler sees it. */
#define SCRIPT(id, file)                             \
	__asm__(".section .rodata\n"                 \
		"pfs_script_" #id ":\n"              \
		".incbin \"stap/tapset/" file "\"\n" \
		"pfs_script_" #id "_end:\n"          \
		".byte 0\n"                          \
		".previous\n");                      \
	extern const char pfs_script_##id[], pfs_script_##id##_end[]

SCRIPT(wire, "wire.h");
SCRIPT(record, "record.stp");
SCRIPT(trace, "trace.stp");
SCRIPT(target, "target.stp");
SCRIPT(page, "page.stp");
SCRIPT(layout, "layout.stp");
SCRIPT(change, "change.stp");
SCRIPT(fault, "fault.stp");
SCRIPT(life, "life.stp");
SCRIPT(session, "session.stp");
SCRIPT(pfscope, "pfscope.stp");

/* In this order they make one script: what a file uses comes before it. */
/* clang-format off */
#define ROW(id, file) { file, pfs_script_##id, pfs_script_##id##_end }
/* clang-format on */
const struct pfs_script pfs_scripts[] = {
	ROW(wire, "wire.h"),   ROW(record, "record.stp"),   ROW(trace, "trace.stp"),	 ROW(target, "target.stp"),
	ROW(page, "page.stp"), ROW(layout, "layout.stp"),   ROW(change, "change.stp"),	 ROW(fault, "fault.stp"),
	ROW(life, "life.stp"), ROW(session, "session.stp"), ROW(pfscope, "pfscope.stp"),
};
const size_t pfs_nr_scripts = sizeof(pfs_scripts) / sizeof(pfs_scripts[0]);

static void put(FILE *out, const struct pfs_script *script)
{
	size_t len = strlen(script->path);
	bool header = len > 2 && !strcmp(script->path + len - 2, ".h");

	if (header)
		fputs("%{\n", out);
	fwrite(script->text, 1, script->end - script->text, out);
	if (header)
		fputs("%}\n", out);
}

char *pfs_scripts_whole(void)
{
	char *whole = NULL;
	size_t len;
	FILE *out = open_memstream(&whole, &len);

	if (!out)
		return NULL;
	for (size_t i = 0; i < pfs_nr_scripts; i++)
		put(out, &pfs_scripts[i]);
	if (!fclose(out))
		return whole;
	free(whole);
	return NULL;
}
