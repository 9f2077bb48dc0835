/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of stacks, for sources that record them: equal stacks of a process have one number, which its `frames` event
 * defines before the first event with it. Where frames lie depends on the layout at that definition, so that a process has
 * new numbers once its code has changed: after an exec, and when executable memory is mapped, moved or unmapped.
 */
#ifndef PFS_STACK_NUMBERS_H
#define PFS_STACK_NUMBERS_H

#include "event/event.h"

#include <stdbool.h>

struct pfs_stack_numbers;

struct pfs_stack_numbers *pfs_stack_numbers_new(void); /* NULL: no memory */
void pfs_stack_numbers_free(struct pfs_stack_numbers *numbers);

/* Receives each event that may change a layout, before the stacks of what follows it. 0 or -ENOMEM. */
int pfs_stack_numbers_event(struct pfs_stack_numbers *numbers, const struct pfs_event *ev);

/*
 * The number of the event's stack, by a hash of its frames. *first: it is new, and to be defined. A thread of an unknown
 * process has its own. 0: no memory.
 */
uint64_t pfs_stack_number(struct pfs_stack_numbers *numbers, const struct pfs_event *ev, uint64_t hash, bool *first);

/* The `frames` event that defines the number of the event's stack, without its frames: of the same thread and time. */
struct pfs_event pfs_stack_definition(const struct pfs_event *ev);

/*
 * Returns true if no code of a process is there: a program without frame pointers has other values where the next frame would
 * be. What the kernel reads behind such a value is no frame either.
 */
static inline bool pfs_stack_is_over(uint64_t user_addr)
{
	return user_addr < 4096 || user_addr >> 56;
}

#endif
