/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reference string: the pages that were referenced, in order, with thread and object. This header opens the room:
 *
 *	refs.h		references from events
 *	tapes.h		a string for each thread or process; its file formats
 *	tape_sim.h	strings for cache simulators
 *	page_index.h	numbers for pages
 *
 * Stands behind the model: an event goes into the model first, and then through here to a function. A reference is
 * a fault that the kernel served (the first access to a page, and each after the page was taken away again), or an
 * access that a sampling source recorded. A fault that ended in a signal is none; that is known with the next event of
 * its thread, so references are passed on with a delay, but in order. Pages that the kernel mapped without a fault are
 * only counted: accesses to them are not recorded.
 *
 * Addresses differ from run to run. So each reference also has the object of its page (a file, the
 * heap, the stack, an anonymous mapping), and where in that.
 */
#ifndef PFS_REFS_H
#define PFS_REFS_H

#include "model/filter.h"
#include "model/model.h"

enum pfs_object_kind {
	PFS_OBJECT_FILE,    /* a file or a segment of shared memory: the same for all who map it */
	PFS_OBJECT_HEAP,    /* of one image, as all that follow: from the lowest break on */
	PFS_OBJECT_STACK,   /* the first thread's; pages count down from its upper end: -1 is the highest */
	PFS_OBJECT_ANON,    /* what one mmap made, numbered from 1 in the order of their first references */
	PFS_OBJECT_SPECIAL, /* [vdso] and such */
	PFS_OBJECT_UNKNOWN, /* a region without a known name, numbered like ANON; or no known region: by address */
};

struct pfs_object {
	enum pfs_object_kind kind;
	const char *name; /* path, "[heap]", "[stack]", "anon", "[vdso]", "?", "(no known region)" */
	uint32_t nr;	  /* of several of that name in one image (files: in the recording), from 1 */
	uint32_t image;	  /* 0: a file, which all images share */
	uint32_t key;	  /* of this object alone, from 1; not in order */
};

/* Room for any object's name, with each byte escaped, and its number. */
enum { PFS_OBJECT_TEXT_MAX = 4 * 4096 + 16 };

/* "/usr/lib/libc.so.6", "[heap]", "anon#3"; escaped. A second file of the same path is "path#2". Returns buf. */
const char *pfs_object_text(const struct pfs_object *object, char *buf, size_t size);

struct pfs_ref {
	uint64_t ts_ns;
	uint64_t addr;	      /* of the page's first byte, in bytes */
	uint64_t ip;	      /* 0: not known */
	uint64_t interval_ns; /* of sampled ones: it was some time in so long a span before ts_ns; 0: not known */
	int32_t pid, tid;
	uint8_t access, mode; /* enum pfs_access, enum pfs_mode; 0: not known */
	uint32_t process;     /* from 1, in the order of first references */
	uint32_t thread;      /* of the process, from 1, in the order of their making */
	uint32_t image;	      /* of the recording, from 1: a process has a new one from each exec on */
	const char *comm;     /* the thread's; NULL: not known */
	bool sampled;	      /* not exact */
	bool by_address;      /* its region is not known: the recording does not know all of the layout */
	const struct pfs_object *object;
	int64_t page; /* in the object, in pages */
	/*
	 * The page itself, numbered from 0 in the order of first references: of a file one for everybody, but a
	 * private copy is one of its own.
	 */
	uint32_t frame;
	bool again; /* it was referenced before */
};

/* 0, or -errno to stop. Pointers in the reference are valid during the call, objects as long as the string. */
typedef int (*pfs_ref_fn)(void *ctx, const struct pfs_ref *ref);

struct pfs_refs_options {
	const struct pfs_filter *filter; /* regions; NULL: all. Who and when has been filtered before */
	bool no_code;			 /* leave out what can be executed, and instructions that are fetched */
	bool first_only;		 /* each page once */
	bool no_frames;			 /* not with first_only: `frame` and `again` are not set, which is faster */
};

/* What came of the events; all but `refs` are no references. */
struct pfs_refs_stats {
	uint64_t refs;
	uint64_t sampled;     /* of refs: not exact */
	uint64_t left_out;    /* by the options */
	uint64_t outside;     /* faults where nothing was mapped */
	uint64_t refused;     /* faults that the region's permissions forbid, or that ended in a signal */
	uint64_t tried_again; /* the same fault of the same thread once more */
	uint64_t counted;     /* faults that were only counted: --histogram */
	/* Known at the end, of the regions that pass the filter: */
	uint64_t unasked;		/* pages mapped without a fault; there may be unseen references to these */
	uint64_t unasked_huge;		/* of these: the rest of huge pages, each of which is referenced as one page */
	struct pfs_refault_how refault; /* re-reference sampling, by the notes so far */
	uint32_t frames;		/* pages referenced */
	uint32_t images, processes;
};

/* Why there are no references: sets err, returns -ENOENT. */
int pfs_refs_none(const struct pfs_refs_stats *stats, struct pfs_err *err);

struct pfs_refs;

/* model and what options point to are borrowed. NULL: no memory. */
struct pfs_refs *pfs_refs_new(const struct pfs_model *model, const struct pfs_refs_options *options, pfs_ref_fn fn,
			      void *ctx);
void pfs_refs_free(struct pfs_refs *refs);

/* Takes what the model has just taken in. It returns 0, -ENOMEM, -EOVERFLOW (2^32 pages), or what fn returned. */
struct pfs_observer pfs_refs_observer(struct pfs_refs *refs);

/* There are no more events: passes on the references that still waited, and completes the numbers. As above. */
int pfs_refs_end(struct pfs_refs *refs);

const struct pfs_refs_stats *pfs_refs_stats(const struct pfs_refs *refs);

#endif
