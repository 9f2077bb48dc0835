/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of stap/tapset/ inside the program, joined by the assembler: what a file uses comes before it, and the
 * header becomes embedded C. Faults have one script, kernel objects another.
 */
#include "module/check.h"

/* Built from the top of the tree: the path is as the assembler sees it. */
#define INCLUDE(file) ".incbin \"stap/tapset/" file "\"\n"

/* What both scripts begin with, and what they share behind the records of objects. */
#define WIRE(more) ".ascii \"%{\\n\"\n" INCLUDE("wire.h") more ".ascii \"%}\\n\"\n"
#define SHARED                    \
	INCLUDE("record.stp")     \
	INCLUDE("trace.stp")      \
	INCLUDE("target.stp")     \
	INCLUDE("page.stp")       \
	INCLUDE("hide_pages.stp") \
	INCLUDE("hide.stp")       \
	INCLUDE("withhold.stp")   \
	INCLUDE("mark.stp")       \
	INCLUDE("layout.stp")     \
	INCLUDE("change.stp")     \
	INCLUDE("fault.stp")      \
	INCLUDE("life.stp")

/* clang-format off */
__asm__(".section .rodata\n"
	".globl pfs_script, pfs_objects_script\n"
	"pfs_script:\n"
	WIRE("")
	SHARED
	INCLUDE("session.stp")
	INCLUDE("pfscope.stp")
	".byte 0\n"
	"pfs_objects_script:\n"
	WIRE(INCLUDE("objects.h") ".incbin \"lib/objects/slots.h\"\n")
	SHARED
	INCLUDE("watch.stp")
	INCLUDE("objects.stp")
	INCLUDE("session.stp")
	".byte 0\n"
	".previous\n");
