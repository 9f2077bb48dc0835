/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths of faults: by their stacks, or their own instructions. A fault in the queue has the number of its path. What a path
 * is called is asked for when the first fault that has it leaves the queue, and then for all that are in the queue: source lines
 * of many instructions together cost far less than one by one.
 */
#include "export/walk_priv.h"

#include "base/array.h"
#include "model/space.h"

#include <errno.h>

/* Those that are no frames: their numbers are the first ones. */
static const char *const names[NR_NAMED_PATHS] = {
	[PATH_UNKNOWN] = "(unknown instruction)",
	[PATH_POPULATED] = "[populated by a system call]",
};

/* *nr: its number. 0 or -ENOMEM. */
static int add_path(struct viewer_walk *walk, const struct path *path, uint32_t *nr)
{
	struct path *added = pfs_array_add(walk->paths, walk->nr_paths, walk->max_paths);

	if (!added || !pfs_array_extend(walk->path_calls, walk->max_path_calls, walk->nr_paths))
		return -ENOMEM;
	*added = *path;
	*nr = walk->nr_paths - 1;
	return 0;
}

int viewer_walk_named_paths(struct viewer_walk *walk)
{
	uint32_t nr = 0;
	int err = 0;

	while (!err && walk->nr_paths < NR_NAMED_PATHS)
		err = add_path(walk, &(struct path){ 0 }, &nr);
	walk->nr_asked_paths = walk->nr_paths;
	return err;
}

/*
 * Where the number of the path of that instruction is; 0: it has none so far. Code in memory may be another one in each process and
 * epoch, other code is the same in all. NULL: no memory.
 */
static uint32_t *own_path(struct viewer_walk *walk, struct pfs_frame frame, uint64_t epoch,
			  const struct pfs_frame **known)
{
	struct number_slot *slot;
	bool memory = pfs_frame_is_memory(&frame);

	if (!memory)
		frame.pid = 0;
	if (!memory && pfs_is_file(frame.dev, frame.ino))
		frame.addr = 0;
	*known = pfs_stacks_frame(walk->stacks, &frame);
	if (!*known)
		return NULL;
	if (memory) {
		slot = viewer_slot_of(&walk->memory_paths, (*known)->nr, epoch);
		return slot ? &slot->nr : NULL;
	}
	return pfs_array_extend(walk->own_paths, walk->max_own_paths, (size_t)(*known)->nr + 1)
		       ? &walk->own_paths[(*known)->nr]
		       : NULL;
}

int viewer_walk_own_path(struct viewer_walk *walk, struct pfs_space *space, const struct viewer_fault *f, int32_t pid,
			 uint32_t *path)
{
	uint64_t ip = f->ip, epoch;
	unsigned int mode = f->mode;
	typeof(walk->recent[0]) *recent = &walk->recent[(ip ^ ip >> 12 ^ (uintptr_t)space >> 6) % IP_CACHE];
	const struct pfs_frame *frame;
	uint32_t *known;
	int err = viewer_calls_epoch(&walk->viewer->calls, pid, f->ts_ns, &epoch);

	if (err)
		return err;
	if (recent->space != space || recent->ip != ip || recent->layout != walk->layout || recent->mode != mode ||
	    recent->epoch != epoch) {
		known = own_path(walk, pfs_frame_of_fault(space, ip, mode, pid), epoch, &frame);
		if (!known)
			return -ENOMEM;
		if (!*known)
			err = add_path(walk, &(struct path){ .own = frame, .nr_frames = 1, .ts_ns = f->ts_ns }, known);
		if (err)
			return err;
		*recent = (typeof(*recent)){ space, ip, walk->layout, epoch, mode, *known };
	}
	*path = recent->path;
	return 0;
}

/* The same of that stack. */
static uint32_t *stack_path(struct viewer_walk *walk, uint64_t stack, uint64_t epoch)
{
	enum { MOST = 1 << 22 }; /* others may number their stacks as they like */
	struct number_slot *slot;

	if (!epoch && stack < MOST)
		return pfs_array_extend(walk->stack_paths, walk->max_stack_paths, stack + 1) ? &walk->stack_paths[stack]
											     : NULL;
	slot = viewer_slot_of(&walk->other_stack_paths, stack, epoch);
	return slot ? &slot->nr : NULL;
}

bool viewer_walk_stack_path(struct viewer_walk *walk, const struct pfs_event *ev, int32_t pid, uint32_t *path, int *err)
{
	const struct pfs_stack *stack;
	uint32_t *known = NULL;
	uint64_t epoch;

	*err = viewer_calls_epoch(&walk->viewer->calls, pid, ev->ts_ns, &epoch);
	if (!*err && !(known = stack_path(walk, ev->stack, epoch)))
		*err = -ENOMEM;
	if (known && !*known) {
		stack = pfs_stacks_find(walk->stacks, ev->stack);
		if (stack && stack->nr_frames)
			*err = add_path(walk,
					&(struct path){ .frames = stack->frames,
							.nr_frames = stack->nr_frames,
							.ts_ns = ev->ts_ns },
					known);
	}
	if (*err || !*known)
		return false;
	*path = *known;
	return true;
}

static const struct pfs_frame *const *frames_of(const struct path *path)
{
	return path->own ? &path->own : path->frames;
}

/* All that were added since the last time. 0 or -ENOMEM. */
static int ask(struct viewer_walk *walk)
{
	int err = 0;

	for (; !err && walk->nr_asked_paths < walk->nr_paths; walk->nr_asked_paths++) {
		const struct path *path = &walk->paths[walk->nr_asked_paths];

		err = viewer_calls_ahead(&walk->viewer->calls, frames_of(path), path->nr_frames, path->ts_ns);
	}
	return err;
}

int viewer_walk_call(struct viewer_walk *walk, uint32_t nr, uint32_t *call)
{
	const struct path *path = &walk->paths[nr];
	struct viewer_calls *calls = &walk->viewer->calls;
	uint32_t *known = &walk->path_calls[nr];
	int err = 0;

	if (!*known && nr < NR_NAMED_PATHS)
		err = viewer_calls_named(calls, names[nr], known);
	else if (!*known)
		err = (nr < walk->nr_asked_paths ? 0 : ask(walk))
			      ?: viewer_calls_find(calls, frames_of(path), path->nr_frames, path->ts_ns, known);
	*call = *known;
	return err;
}
