/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files share that turn events into the functions of a format. */
#ifndef PFS_WALK_PRIV_H
#define PFS_WALK_PRIV_H

#include "export/pages.h"
#include "export/viewer_priv.h"

#include "base/hash.h"

enum { IP_CACHE = 1 << 16 };

/* Of a thread, a process, a space, a stack: its number + 1. The model's memory of a thread may be used again. */
struct number_slot {
	struct number_key {
		uint64_t what, born_ns;
	} key;
	UT_hash_handle hh;
	uint32_t nr;
	uint64_t last;		 /* of a thread: its last fault in the queue + 1; 0: that is not there */
	unsigned int nr_retired; /* of a space: regions that were unmapped so far */
	struct pfs_space *space; /* of a process: its last one */
};

/* How a fault came about. Stacks and frames are those of walk->stacks. */
struct path {
	const struct pfs_frame *const *frames; /* of a stack, the innermost first */
	const struct pfs_frame *own;	       /* without one: the fault's own instruction */
	uint64_t ts_ns;			       /* of the first fault */
	uint32_t nr_frames;
};

enum { PATH_UNKNOWN, PATH_POPULATED, NR_NAMED_PATHS };

struct item {
	bool is_page;
	bool hidden;   /* by the filter: a fault of no known region, which may turn out to lie in the stack */
	uint32_t path; /* its number */
	union {	       /* without `call`, as long as the item is in the queue */
		struct viewer_fault fault;
		struct viewer_page page;
	};
};

struct viewer_walk {
	struct pfs_viewer *viewer;
	struct viewer_writer *writer;
	struct pfs_stacks *stacks;
	struct number_slot *threads, *procs, *pids, *spaces;
	/* Numbers of paths, not plus 1: the first ones are named. */
	uint32_t *own_paths;   /* by the numbers of frames */
	uint32_t *stack_paths; /* by the numbers of stacks */
	size_t max_own_paths, max_stack_paths;
	struct number_slot *memory_paths, *other_stack_paths; /* those that these cannot have */
	struct path *paths;
	uint32_t *path_calls; /* 0: it was not wanted so far */
	uint32_t nr_paths, max_paths, nr_asked_paths;
	size_t max_path_calls;
	struct viewer_pages pages;
	struct item *queue;
	uint64_t head, tail; /* numbers of the oldest item, and of the next one */
	uint64_t layout;     /* changes with each event that may change a layout */
	uint32_t nr_spaces;
	bool ending;			 /* the event ends an address space */
	const struct pfs_thread *thread; /* of the last event, and its number */
	uint64_t thread_born_ns;
	struct number_slot *thread_slot;
	struct pfs_space *space;
	struct number_slot *space_slot;
	struct {
		const struct pfs_space *space;
		uint64_t ip, layout, epoch;
		unsigned int mode;
		uint32_t path;
	} recent[IP_CACHE];
	struct {
		const struct pfs_region *region;
		uint64_t layout;
		const char *name;
		bool wanted;
	} place;
};

/* The slot of that key; all else is 0 in a new one. NULL: no memory. */
static inline struct number_slot *viewer_slot_of(struct number_slot **slots, uint64_t what, uint64_t born_ns)
{
	return PFS_HASH_GET(*slots, key, ((struct number_key){ what, born_ns }));
}

/* Before the first fault. 0 or -ENOMEM. */
int viewer_walk_named_paths(struct viewer_walk *walk);

/* The path of the fault's own instruction. 0 or -ENOMEM. */
int viewer_walk_own_path(struct viewer_walk *walk, struct pfs_space *space, const struct viewer_fault *f, int32_t pid,
			 uint32_t *path);

/* The path of the event's stack; *err is 0 or -ENOMEM. False: it is not known. */
bool viewer_walk_stack_path(struct viewer_walk *walk, const struct pfs_event *ev, int32_t pid, uint32_t *path,
			    int *err);

/* What a path is called in the formats' tables. 0 or -ENOMEM. */
int viewer_walk_call(struct viewer_walk *walk, uint32_t path, uint32_t *call);

/* The number of the process. UINT32_MAX: no memory. */
uint32_t viewer_proc_number(struct viewer_walk *walk, const struct pfs_proc *proc);

/* Passes on the oldest item of the queue. 0 or -errno. */
int viewer_put_oldest(struct viewer_walk *walk);

/*
 * Passes items on to the format (writer.c): when there are many, by a thread of its own, while the next ones are read. Who adds
 * to the calls meanwhile takes their lock; processes and threads change only while the writer waits, so that what is written
 * does not depend on who is faster.
 */
struct viewer_writer *viewer_writer_new(struct pfs_viewer *viewer);
void viewer_writer_free(struct viewer_writer *writer); /* takes NULL, too */

/* 0, or -errno of this or an earlier item. */
int viewer_writer_put(struct viewer_writer *writer, const struct item *item);

/* All of before are passed on. The same. */
int viewer_writer_wait(struct viewer_writer *writer);

/* All are passed on, and the thread has ended. The same. */
int viewer_writer_end(struct viewer_writer *writer);

/* The thread ends; what it was not given yet is not passed on. */
void viewer_writer_stop(struct viewer_writer *writer);

#endif
