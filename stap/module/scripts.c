/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of stap/tapset/ inside the program, joined by the assembler: what a file uses comes before it, and the
 * header becomes embedded C.
 */
#include "module/check.h"

/* Built from the top of the tree: the path is as the assembler sees it. */
#define INCLUDE(file) ".incbin \"stap/tapset/" file "\"\n"

/* clang-format off */
__asm__(".section .rodata\n"
	".globl pfs_script\n"
	"pfs_script:\n"
	".ascii \"%{\\n\"\n"
	INCLUDE("wire.h")
	".ascii \"%}\\n\"\n"
	INCLUDE("record.stp")
	INCLUDE("trace.stp")
	INCLUDE("target.stp")
	INCLUDE("page.stp")
	INCLUDE("layout.stp")
	INCLUDE("change.stp")
	INCLUDE("fault.stp")
	INCLUDE("life.stp")
	INCLUDE("session.stp")
	INCLUDE("pfscope.stp")
	".byte 0\n"
	".previous\n");
