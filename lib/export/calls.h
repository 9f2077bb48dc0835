/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths: each distinct one is a node of a tree, whose parent is the path without the innermost frame. A frame is one
 * or more places (functions inlined there). Places and paths have numbers in the order of their first use, so that a parent
 * comes before its children. Path 0 is the empty one.
 */
#ifndef PFS_EXPORT_CALLS_H
#define PFS_EXPORT_CALLS_H

#include "base/intern.h"
#include "export/viewer.h"
#include "stack/stacks.h"

#include <pthread.h>
#include <stdatomic.h>

/* All strings are UTF-8 without control characters (pfs_escape()). */
struct viewer_place {
	const char *name;     /* the function, or what stands for it: "libc.so.6+0x1234" */
	const char *module;   /* "libc.so.6", "[kernel]", "[anon]", ...; "" is unknown */
	const char *path;     /* of the file; "": none */
	const char *build_id; /* "": unknown */
	const char *source;   /* "": unknown */
	uint64_t off;	      /* of the first instruction that was seen there: in the file, or its address */
	uint32_t line;	      /* 0: unknown */
	bool kernel;
};

struct viewer_call {
	uint32_t parent; /* 0: it is a root */
	uint32_t place;
	uint32_t depth; /* frames, 1 for a root */
	bool inlined;	/* into the parent */
};

struct viewer_calls {
	struct viewer_place *places;
	struct viewer_call *calls; /* calls[0] is empty */
	uint32_t nr_places, max_places, nr_calls, max_calls;
	struct pfs_intern *strings;
	bool failed; /* no memory for a string: the export fails */
	struct viewer_calls_private *priv;
	pthread_mutex_t lock;
	atomic_uint wanted; /* who waits for the lock */
};

/* What adds to the calls holds this lock, which it may do twice: a second thread (writer.c) looks at them. */
static inline void viewer_calls_lock(struct viewer_calls *calls)
{
	atomic_fetch_add(&calls->wanted, 1);
	pthread_mutex_lock(&calls->lock);
	atomic_fetch_sub(&calls->wanted, 1);
}

static inline void viewer_calls_unlock(struct viewer_calls *calls)
{
	pthread_mutex_unlock(&calls->lock);
}

/* The model and the options are borrowed. Build-ids are those of its notes and of options->notes. 0 or -ENOMEM. */
int viewer_calls_init(struct viewer_calls *calls, const struct pfs_model *model,
		      const struct pfs_viewer_options *options);
void viewer_calls_fini(struct viewer_calls *calls);

/* The string as it may be shown, which lives as long as the calls. NULL: no memory, and `failed` is set. */
const char *viewer_text(struct viewer_calls *calls, const char *s);

/* What a place lies in: its file, or what stands for that; "" is unknown. */
static inline const char *viewer_file(const struct viewer_place *place)
{
	return *place->path ? place->path : place->module;
}

/* The first place in the same file + 1, of each place; 0: its file is not known. 0 or -ENOMEM. */
int viewer_calls_files(const struct viewer_calls *calls, uint32_t *first);

/* Receives each event but faults: what JIT compilers make known; and pfs_jit_epoch(). 0 or -ENOMEM. */
int viewer_calls_event(struct viewer_calls *calls, const struct pfs_event *ev, int32_t pid);
int viewer_calls_epoch(struct viewer_calls *calls, int32_t pid, uint64_t ts_ns, uint64_t *epoch);

/* The path of these frames will be wanted: their source lines are asked for with those of others. 0 or -ENOMEM. */
int viewer_calls_ahead(struct viewer_calls *calls, const struct pfs_frame *const *frames, uint32_t nr, uint64_t ts_ns);

/* The path of these frames at that time, the innermost first, which were asked for before. 0 or -ENOMEM. */
int viewer_calls_find(struct viewer_calls *calls, const struct pfs_frame *const *frames, uint32_t nr, uint64_t ts_ns,
		      uint32_t *call);

/* The path of one frame that is no instruction: "[populated]". 0 or -ENOMEM. */
int viewer_calls_named(struct viewer_calls *calls, const char *name, uint32_t *call);

#endif
