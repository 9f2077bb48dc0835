/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of faults. A `frames` event gives a number to the frames of a process, and its faults have that number. Where each
 * frame lies is looked up when the number is defined, in the layout of that moment: it may be another one later.
 */
#ifndef PFS_STACKS_H
#define PFS_STACKS_H

#include "model/model.h"

struct pfs_frame {
	uint64_t addr;	  /* in user mode, or of no known function; else 0 */
	const char *func; /* of the kernel, "do_user_addr_fault+0x1c"; NULL: addr has it */
	const char *name; /* of the region there (pfs_region_name()): "" is anonymous; NULL: unknown */
	uint64_t off;	  /* of addr in the file or the vdso, bytes */
	uint64_t ino;	  /* its file; 0 and dev 0: it has none, or it is unknown */
	uint32_t dev;
	int32_t pid; /* of its process; 0: unknown */
	bool call;   /* addr is where a call returns: what called is the instruction before it */
	uint32_t nr; /* of equal frames of the same stacks, from 1 without gaps; 0: it is of no stack */
};

/* In user mode and in no file that has a name: what is there may be a JIT compiler's, and change while the layout does not. */
bool pfs_frame_is_memory(const struct pfs_frame *frame);

/*
 * The frame of a fault's own instruction, as the layout of its process is now: what is known of a fault without a stack. Its
 * name lives as long as the model.
 */
struct pfs_frame pfs_frame_of_fault(struct pfs_space *space, uint64_t ip, enum pfs_mode mode, int32_t pid);

struct pfs_stack {
	uint64_t nr;
	int32_t pid; /* of its process; 0: unknown */
	bool cut;    /* more frames were not recorded */
	bool memory; /* some frame does: pfs_frame_is_memory() */
	uint32_t nr_frames;
	const struct pfs_frame *frames[]; /* the innermost first; equal ones are one, and live as long as the stacks */
};

/* All stacks of a recording. */
struct pfs_stacks;

struct pfs_stacks *pfs_stacks_new(void); /* NULL: no memory */
void pfs_stacks_free(struct pfs_stacks *stacks);

/* Receives each event, and its outcome in the model; takes those that define a stack. 0 or -ENOMEM. */
int pfs_stacks_event(struct pfs_stacks *stacks, const struct pfs_event *ev, const struct pfs_outcome *outcome);

/* The same frame, with a number and strings of its own, as those of stacks. NULL: no memory. */
const struct pfs_frame *pfs_stacks_frame(struct pfs_stacks *stacks, const struct pfs_frame *frame);

/* The stack of that number; NULL: it was not defined so far. It lives as long as the stacks. */
const struct pfs_stack *pfs_stacks_find(const struct pfs_stacks *stacks, uint64_t nr);

#endif
