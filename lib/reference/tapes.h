/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tapes: the reference string of each thread, of each process or of all, as a list of pages in order.
 *
 * References to one page that follow each other are one entry. Entries are kept as they are written into a binary
 * tape, some 3 to 6 bytes each (tape_code.h), and are read with a cursor.
 * docs/tape-format.md describes both forms of a file.
 */
#ifndef PFS_TAPES_H
#define PFS_TAPES_H

#include "base/err.h"
#include "reference/refs.h"

#include <stdio.h>

enum pfs_tape_by { PFS_TAPE_BY_THREAD, PFS_TAPE_BY_PROCESS, PFS_TAPE_OF_ALL };

/* How an entry's page was accessed. */
enum {
	PFS_TAPE_READ = 1,
	PFS_TAPE_WRITE = 2,
	PFS_TAPE_EXECUTE = 4,
	PFS_TAPE_UNKNOWN = 8,
};

struct pfs_tape_options {
	enum pfs_tape_by by;
	bool stable; /* pages by object, processes and threads by order: the same in every run */
	bool times;  /* false: none are kept */
};

/* One page, referenced once or several times without another one between. */
struct pfs_tape_entry {
	uint64_t ts_ns;	      /* of the first; since the start of the recording; 0 without times */
	uint64_t interval_ns; /* of a sampled one: some time in so long a span before ts_ns; 0: not known */
	uint64_t count;
	int64_t page;	 /* address in pages or, of a stable tape, in the object */
	uint32_t object; /* of a stable tape: index in pfs_tapes.objects */
	uint32_t image;	 /* from 1; a process has a new one from each exec on */
	uint8_t access;	 /* PFS_TAPE_* */
	bool sampled;	 /* not exact */
};

struct pfs_tape {
	uint32_t process, thread; /* pid and tid or, of a stable tape, from 1 in order; 0: of all */
	char *comm;		  /* the thread's (the process's first one's), as last known; NULL: not known */
	uint64_t nr_entries, nr_refs;
	uint8_t *bytes; /* the entries */
	size_t nr_bytes, max_bytes;
};

/* What the tapes lack, as far as it is known. */
struct pfs_tape_gaps {
	uint64_t sampled;		/* references that are not exact */
	uint64_t unasked;		/* pages mapped without a fault, whose references were not seen */
	uint64_t unasked_huge;		/* of these: the rest of huge pages */
	uint64_t outside;		/* faults where nothing was mapped */
	uint64_t counted;		/* faults that were only counted */
	struct pfs_refault_how refault; /* re-reference sampling */
	uint64_t lost;			/* events, where the number is known */
	uint64_t lost_unknown;		/* losses of unknown size */
};

struct pfs_tapes {
	struct pfs_tape_options options;
	unsigned int page_shift;
	struct pfs_tape_gaps gaps;
	struct pfs_tape *tapes; /* by process and thread */
	unsigned int nr_tapes, max_tapes;
	struct pfs_object *objects; /* of stable tapes; their names are the tapes' own */
	unsigned int nr_objects, max_objects;
	/* While they are being made: */
	const struct pfs_model *model; /* borrowed */
	struct slot *slots, *hot;
	uint32_t *object_nrs; /* by key of an object: its index in `objects` and 1; 0: not there yet */
	size_t nr_keys;
};

/* ---- making them ---- */

/* model is borrowed until pfs_tapes_finish(). NULL: no memory. */
struct pfs_tapes *pfs_tapes_new(const struct pfs_model *model, const struct pfs_tape_options *options);
void pfs_tapes_free(struct pfs_tapes *tapes);

/* Appends a reference to its tape: a pfs_ref_fn, with the tapes as its ctx. 0 or -ENOMEM. */
int pfs_tapes_add(void *tapes, const struct pfs_ref *ref);

/* There are no more: sorts the tapes, takes names and gaps from the model. 0 or -ENOMEM. */
int pfs_tapes_finish(struct pfs_tapes *tapes, const struct pfs_refs_stats *stats);

/* ---- walking one ---- */

struct pfs_tape_cursor {
	const struct pfs_tapes *tapes;
	const uint8_t *at, *end;
	struct pfs_tape_entry last;
};

void pfs_tape_rewind(struct pfs_tape_cursor *cursor, const struct pfs_tapes *tapes, const struct pfs_tape *tape);

/* The next entry, into cursor->last. 1; 0 at the end; -EINVAL: these are no entries. */
int pfs_tape_next(struct pfs_tape_cursor *cursor);

/* ---- files ---- */

/* As lines. 0; -EIO: see errno; -EINVAL: these are no tapes. */
int pfs_tapes_write_text(const struct pfs_tapes *tapes, FILE *out);

/* What follows each page, and how soon. */
struct pfs_prefetch_options {
	uint64_t window_ns; /* within so long a time; 0: however late */
	unsigned int ahead; /* so many pages; 0: no limit */
};

/* For each page of each tape those that follow it, as lines. 0, -ENOMEM, -EIO or -EINVAL, as above. */
int pfs_tapes_write_prefetch(const struct pfs_tapes *tapes, const struct pfs_prefetch_options *options, FILE *out);

/* In the compact form. 0 or -EIO. */
int pfs_tapes_write_binary(const struct pfs_tapes *tapes, FILE *out);

/* Whether bytes (the first len of a file) begin as a binary tape does. */
bool pfs_tapes_probe(const void *bytes, size_t len);

/*
 * Reads a whole binary tape. All of it is checked; memory is in proportion to len. NULL with err set and *ret -ENOMEM,
 * or -EINVAL if it is damaged; err has the offset.
 */
struct pfs_tapes *pfs_tapes_read(const void *bytes, size_t len, int *ret, struct pfs_err *err);

#endif
