/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of stacks to functions, modules and source lines.
 *
 * A name is that of the recorded file: one with the recorded build-id or, where none was recorded, the file that was mapped
 * and was not changed since. What is not known is NULL, and `why` has the reason.
 */
#ifndef PFS_SYMBOLIZER_H
#define PFS_SYMBOLIZER_H

#include "stack/stacks.h"

#include <time.h>

struct pfs_symbolizer_options {
	struct timespec
		until; /* a file without a recorded build-id that was changed after it is not read; 0: any time */
	bool lines;    /* source lines */
	bool inlines;  /* and inlined functions */
};

struct pfs_place {
	const char *func;   /* demangled; NULL: unknown */
	uint64_t behind;    /* of the instruction from the function's beginning; of a call: of where it returns */
	const char *module; /* last component of the file's path, "[kernel]", "[heap]", "[anon]", ...; NULL: unknown */
	const char *path;   /* of the file; NULL: none */
	const char *build_id; /* hex; NULL: unknown */
	const char *source;   /* source file; NULL: unknown */
	unsigned int line;    /* 0: unknown */
	bool inlined;	      /* into the next place */
	const char *why;      /* func is unknown: the reason; else NULL */
};

struct pfs_symbolizer;

/* NULL: no memory. */
struct pfs_symbolizer *pfs_symbolizer_new(const struct pfs_symbolizer_options *options);
void pfs_symbolizer_free(struct pfs_symbolizer *s);

/*
 * At least one place, the innermost inlined function first; *nr of them. They and their strings live as long as the
 * symbolizer. NULL: no memory.
 */
const struct pfs_place *pfs_symbolizer_frame(struct pfs_symbolizer *s, const struct pfs_frame *frame, uint32_t *nr);

#endif
