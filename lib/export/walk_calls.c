/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths of faults: by their stacks, or their own instructions. What came recently is found without a hash table. */
#include "export/walk_priv.h"

#include "base/array.h"
#include "model/space.h"

#include <errno.h>

int viewer_walk_own_call(struct viewer_walk *walk, struct pfs_space *space, const struct viewer_fault *f, int32_t pid,
			 uint32_t *call)
{
	uint64_t ip = f->ip, epoch;
	unsigned int mode = f->mode;
	struct pfs_frame frame;
	const struct pfs_frame *frames = &frame;
	typeof(walk->recent[0]) *recent = &walk->recent[(ip ^ ip >> 12 ^ (uintptr_t)space >> 6) % IP_CACHE];
	int err = viewer_calls_epoch(&walk->viewer->calls, pid, f->ts_ns, &epoch);

	if (err)
		return err;
	if (recent->space != space || recent->ip != ip || recent->layout != walk->layout || recent->mode != mode ||
	    recent->epoch != epoch) {
		frame = pfs_frame_of_fault(space, ip, mode, pid);
		err = viewer_calls_find(&walk->viewer->calls, &frames, 1, f->ts_ns, &recent->call);
		if (err)
			return err;
		recent->space = space;
		recent->ip = ip;
		recent->layout = walk->layout;
		recent->mode = mode;
		recent->epoch = epoch;
	}
	*call = recent->call;
	return 0;
}

/* Source lines of many stacks together cost far less than stack by stack. 0 or -ENOMEM. */
static int look_ahead(struct viewer_walk *walk, const struct pfs_stack *wanted, uint64_t ts_ns)
{
	int err = viewer_calls_ahead(&walk->viewer->calls, wanted->frames, wanted->nr_frames, ts_ns);

	for (size_t i = 0; !err && i < walk->nr_new_stacks; i++) {
		const struct pfs_stack *stack = pfs_stacks_find(walk->stacks, walk->new_stacks[i]);

		if (stack)
			err = viewer_calls_ahead(&walk->viewer->calls, stack->frames, stack->nr_frames, ts_ns);
	}
	walk->nr_new_stacks = 0;
	return err;
}

bool viewer_walk_stack_call(struct viewer_walk *walk, const struct pfs_event *ev, int32_t pid, uint32_t *call, int *err)
{
	typeof(walk->recent_stack[0]) *recent = &walk->recent_stack[ev->stack % STACK_CACHE];
	const struct pfs_stack *stack;
	struct number_slot *slot = NULL;
	uint64_t epoch;

	*err = viewer_calls_epoch(&walk->viewer->calls, pid, ev->ts_ns, &epoch);
	if (!*err && recent->call && recent->stack == ev->stack && recent->epoch == epoch) {
		*call = recent->call;
		return true;
	}
	if (!*err && !(slot = viewer_slot_of(&walk->paths, ev->stack, epoch)))
		*err = -ENOMEM;
	if (slot && !slot->nr) {
		stack = pfs_stacks_find(walk->stacks, ev->stack);
		if (stack && stack->nr_frames)
			*err = look_ahead(walk, stack, ev->ts_ns)
				       ?: viewer_calls_find(&walk->viewer->calls, stack->frames, stack->nr_frames,
							    ev->ts_ns, &slot->nr);
	}
	*call = slot ? slot->nr : 0;
	if (*call)
		*recent = (typeof(*recent)){ ev->stack, epoch, *call };
	return *call != 0;
}

int viewer_walk_note_stack(struct viewer_walk *walk, uint64_t stack, const struct pfs_outcome *outcome)
{
	uint64_t *added;

	if (outcome->muted || pfs_proc_space(outcome->thread->proc)->launcher)
		return 0;
	added = pfs_array_add(walk->new_stacks, walk->nr_new_stacks, walk->max_new_stacks);

	if (added)
		*added = stack;
	return added ? 0 : -ENOMEM;
}
