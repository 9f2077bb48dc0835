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
#include "symbol/debug_file.h"

#include <time.h>

struct pfs_jit;
struct pfs_jit_content;

struct pfs_symbolizer_options {
	struct timespec since; /* when the recording began, or somewhat before: older perf maps are not read */
	/* when it was complete: what was changed after that, and has no recorded build-id, is not read; 0: any time */
	struct timespec until;
	bool lines;   /* source lines */
	bool inlines; /* and inlined functions */
	struct pfs_debug_files files;
	const char *jit_dir; /* of perf-PID.map; NULL: /tmp */
	struct pfs_jit *jit; /* knows jitdumps; borrowed; NULL: none are read */
};

/*
 * Sets since and until: the recording is this file (NULL or "-": standard input), and took that long. A pipe has no time.
 */
void pfs_symbolizer_of_recording(struct pfs_symbolizer_options *options, const char *path, uint64_t took_ns);

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
	uint32_t nr;	      /* of places of the same symbolizer, from 1 without gaps; 0: it is of none */
};

struct pfs_symbolizer;

/* NULL: no memory. */
struct pfs_symbolizer *pfs_symbolizer_new(const struct pfs_symbolizer_options *options);
void pfs_symbolizer_free(struct pfs_symbolizer *s);

/* The recorded build-id of a file, before its first frame. 0 or -ENOMEM. */
int pfs_symbolizer_build_id(struct pfs_symbolizer *s, uint32_t dev, uint64_t ino, const char *build_id);

/* The recorded content of a process's perf map, before its first frame. 0 or -ENOMEM. */
int pfs_symbolizer_perf_map(struct pfs_symbolizer *s, int32_t pid, const struct pfs_jit_content *content);

/* All that the notes of the recording have. 0 or -ENOMEM. */
int pfs_symbolizer_notes(struct pfs_symbolizer *s, const struct pfs_model *model);

/*
 * Before the first event: jitdumps are also in an archive, for which the recording's notes are needed. Files and notes are
 * borrowed; notes NULL: they will be among the events. 0 or -ENOMEM.
 */
int pfs_symbolizer_prepare_jit(struct pfs_jit *jit, const struct pfs_debug_files *files, const struct pfs_model *notes);

/*
 * At least one place, the innermost inlined function first; *nr of them: what was there at that time. They and their strings
 * live as long as the symbolizer. Frames of stacks are those of one pfs_stacks. NULL: no memory.
 */
const struct pfs_place *pfs_symbolizer_frame(struct pfs_symbolizer *s, const struct pfs_frame *frame, uint64_t ts_ns,
					     uint32_t *nr);

/*
 * These will be wanted: the next pfs_symbolizer_frame() asks for the source lines of all of them, which costs far less than one by
 * one. 0 or -ENOMEM.
 */
int pfs_symbolizer_ahead(struct pfs_symbolizer *s, const struct pfs_frame *const *frames, uint32_t nr, uint64_t ts_ns);

/*
 * What kept names from being found ("/usr/bin/x: another build-id now"): the next one from *at on, which begins with 0; in
 * buf. False: no more.
 */
bool pfs_symbolizer_problem(const struct pfs_symbolizer *s, unsigned int *at, char *buf, size_t size);

#endif
