/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A jitdump file: code that a JIT compiler made, with times, and moved later; and the source lines of it. The format is that of
 * tools/perf/Documentation/jitdump-specification.txt in the kernel's sources; what it has for unwinding is passed over.
 *
 * Memory for code is used again. Of several that were at an address the one holds that was loaded last before the time that
 * is asked for, or last of all where the file's times are not CLOCK_MONOTONIC. Where only one ever was, it holds at all times of
 * a recording.
 */
#ifndef PFS_JIT_DUMP_H
#define PFS_JIT_DUMP_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfs_jit_place {
	const char *func;   /* as the compiler calls it; NULL: unknown */
	uint64_t behind;    /* of the address from the function's beginning */
	const char *source; /* NULL: unknown */
	unsigned int line;
};

struct pfs_jit_dump {
	struct pfs_jit_code *codes; /* by address */
	size_t nr, max;
	struct pfs_jit_line *lines; /* those of a function by address */
	size_t nr_lines, max_lines;
	uint64_t lines_behind; /* what must be taken from the addresses of lines */
	uint64_t *moments;     /* when the code at some address became another, in order */
	size_t nr_moments, max_moments;
	bool other_clock; /* its times are not CLOCK_MONOTONIC */
	bool damaged;	  /* only what is before that was read */
};

/*
 * Reads that file from its beginning; the descriptor is closed. 0, with what could be read; 1: it is no jitdump; or -ENOMEM.
 * Strings are interned. pfs_jit_dump_fini() follows in any case.
 */
int pfs_jit_dump_read(struct pfs_jit_dump *dump, int fd, struct pfs_intern **strings);
void pfs_jit_dump_fini(struct pfs_jit_dump *dump);

/* Of the code there at that time, in a recording that ended then; ts_ns UINT64_MAX: of the last one. False: none is known. */
bool pfs_jit_dump_find(const struct pfs_jit_dump *dump, uint64_t addr, uint64_t ts_ns, uint64_t end_ns,
		       struct pfs_jit_place *place);

/* How often code was replaced up to that time: as long as that does not change, all addresses have the same names. */
size_t pfs_jit_dump_epoch(const struct pfs_jit_dump *dump, uint64_t ts_ns);

#endif
