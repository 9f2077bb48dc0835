/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel functions that handle page faults, and the class of fault that each implies.
 *
 * Kernels differ in which of them can be traced (the compiler makes some part of their callers), so the meaning of a
 * fault's functions depends on which were watched. The capture switches on those of the table that the kernel has
 * (capture/tracers.c), the assembler collects those that each fault ran.
 */
#ifndef PFS_HANDLERS_H
#define PFS_HANDLERS_H

#include "os/kallsyms.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a function means; several functions may mean the same. Used as bits of a mask, 1u << handler. */
enum pfs_handler {
	PFS_H_BEGIN,	       /* handle_mm_fault itself: where a fault's own functions begin */
	PFS_H_ANON,	       /* a new page of anonymous memory */
	PFS_H_WRITE_PROTECTED, /* a write to a page that is there but may not be written yet */
	PFS_H_COPIES,	       /* ... which is copied */
	PFS_H_DIRTIES,	       /* ... which is a shared file's, and becomes dirty */
	PFS_H_FILE,	       /* a page of a file, or a private copy of one */
	PFS_H_FILE_READ,
	PFS_H_FILE_COPY,
	PFS_H_FILE_SHARED,
	PFS_H_NEW_ANON,	 /* a page of the process's own is put in place */
	PFS_H_SWAP,	 /* an entry in place of a page: of swap, or while it is moved */
	PFS_H_MIGRATION, /* ... which is the latter */
	PFS_H_NUMA,
	PFS_H_HUGE,	  /* something with a huge page that is there, or of hugetlbfs */
	PFS_H_HUGE_ANON,  /* tries for a huge page of anonymous memory */
	PFS_H_HUGE_SPLIT, /* a huge page becomes small ones */
	PFS_H_HUGE_DONE,  /* a huge page is put in place */
	PFS_NR_HANDLERS,
};

/* What the function of that name (len bytes) means, or -ENOENT. */
int pfs_handler_find(const char *name, size_t len);

/*
 * The enum pfs_how of a fault that met the functions of `seen`, of the watched ones in `traced`; 0:
 * they leave it open. *inferred: concluded from a function that serves several classes.
 */
unsigned int pfs_handlers_how(uint32_t seen, uint32_t traced, bool *inferred);

/* A number for a function's name, equal for equal names; never RAW_ABSENT. */
uint64_t pfs_function_key(const char *name, size_t len);

/* pfs_symbols_find(), as assemble/assemble.h takes it. */
static inline const char *pfs_function_name(const void *symbols, uint64_t addr, uint64_t *start)
{
	return pfs_symbols_find(symbols, addr, start);
}

#endif
