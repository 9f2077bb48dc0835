/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/stacks.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/number.h"
#include "model/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct stack_slot {
	uint64_t nr;
	UT_hash_handle hh;
	struct pfs_stack stack; /* its frames end it */
};

struct pfs_stacks {
	struct stack_slot *slots;
	struct pfs_frame **frames; /* by their numbers less 1 */
	uint32_t nr_frames, max_frames;
	struct pfs_index frame_nrs;
	struct pfs_intern *strings;
};

struct pfs_stacks *pfs_stacks_new(void)
{
	return calloc(1, sizeof(struct pfs_stacks));
}

void pfs_stacks_free(struct pfs_stacks *stacks)
{
	if (!stacks)
		return;
	PFS_HASH_FREE(stacks->slots);
	for (uint32_t i = 0; i < stacks->nr_frames; i++)
		free(stacks->frames[i]);
	free(stacks->frames);
	free(stacks->frame_nrs.slots);
	pfs_intern_free(stacks->strings);
	free(stacks);
}

const struct pfs_stack *pfs_stacks_find(const struct pfs_stacks *stacks, uint64_t nr)
{
	struct stack_slot *found;

	HASH_FIND(hh, stacks->slots, &nr, sizeof(nr), found);
	return found ? &found->stack : NULL;
}

/* Where the address lies; its name is the model's. */
static void place(struct pfs_space *space, struct pfs_frame *frame)
{
	const struct pfs_region *region = pfs_space_find(space, frame->addr - frame->call);

	frame->name = region ? pfs_region_name(space, region) : NULL;
	if (frame->name && !strcmp(frame->name, "[vdso]"))
		frame->off = frame->addr - region->start;
	if (frame->name && pfs_region_is_file(region) && region->have & PFS_HAS(PFS_F_OFF)) {
		frame->dev = region->dev;
		frame->ino = region->ino;
		frame->off = region->off + (frame->addr - region->start);
	}
}

bool pfs_frame_is_memory(const struct pfs_frame *frame)
{
	bool file = frame->name && pfs_is_file(frame->dev, frame->ino) && strncmp(frame->name, "/memfd:", 7);

	return !frame->func && !(frame->addr >> 63) && !file;
}

struct pfs_frame pfs_frame_of_fault(struct pfs_space *space, uint64_t ip, enum pfs_mode mode, int32_t pid)
{
	struct pfs_frame frame = { .addr = ip, .pid = pid };

	if (mode != PFS_KERNEL)
		place(space, &frame);
	return frame;
}

/* Their strings are interned. */
static bool is_frame(const void *ctx, uint32_t nr, const void *key)
{
	const struct pfs_stacks *stacks = ctx;
	const struct pfs_frame *a = stacks->frames[nr - 1], *b = key;

	return a->addr == b->addr && a->func == b->func && a->name == b->name && a->off == b->off && a->ino == b->ino &&
	       a->dev == b->dev && a->pid == b->pid && a->call == b->call;
}

const struct pfs_frame *pfs_stacks_frame(struct pfs_stacks *stacks, const struct pfs_frame *frame)
{
	struct pfs_frame own = *frame;
	struct pfs_frame *added;
	uint64_t hash = 0;
	uint32_t *nr;

	own.func = pfs_intern(&stacks->strings, frame->func);
	own.name = pfs_intern(&stacks->strings, frame->name);
	if ((frame->func && !own.func) || (frame->name && !own.name))
		return NULL;
	hash = pfs_index_hash(hash, own.addr);
	hash = pfs_index_hash(hash, own.off ^ (uint64_t)own.call << 63);
	hash = pfs_index_hash(hash, own.ino ^ (uint64_t)own.dev << 32);
	hash = pfs_index_hash(hash, (uintptr_t)own.func ^ (uintptr_t)own.name ^ (uint64_t)own.pid << 48);
	nr = pfs_index_find(&stacks->frame_nrs, hash, is_frame, stacks, &own);
	if (!nr)
		return NULL;
	if (*nr)
		return stacks->frames[*nr - 1];
	added = pfs_array_add_new(stacks->frames, stacks->nr_frames, stacks->max_frames);
	if (added) {
		*added = own;
		*nr = added->nr = stacks->nr_frames;
	}
	return added;
}

/* "0x7f12c0de1139", or the name of a function. */
static void parse_frame(struct pfs_space *space, const char *text, struct pfs_frame *frame)
{
	uint64_t addr;

	if (!strncmp(text, "0x", 2) && text[2] && !*pfs_hex(text + 2, &addr)) {
		frame->addr = addr;
		place(space, frame);
	} else {
		frame->func = text;
	}
}

/* Its text is changed. 0 or -ENOMEM. */
static int parse(struct pfs_stacks *stacks, struct pfs_space *space, char *text, struct pfs_stack *stack)
{
	for (char *word; (word = strsep(&text, ";"));) {
		struct pfs_frame frame = { .pid = stack->pid, .call = stack->nr_frames > 0 };
		const struct pfs_frame *known;

		if (!*word)
			continue;
		if (!text && !strcmp(word, "...")) {
			stack->cut = true;
			break;
		}
		parse_frame(space, word, &frame);
		known = pfs_stacks_frame(stacks, &frame);
		if (!known)
			return -ENOMEM;
		stack->memory |= pfs_frame_is_memory(known);
		stack->frames[stack->nr_frames++] = known;
	}
	return 0;
}

int pfs_stacks_event(struct pfs_stacks *stacks, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct stack_slot *slot;
	uint32_t max = 1;
	char *text;
	int err;

	if (ev->kind != PFS_FRAMES || !ev->stack || !outcome->thread || pfs_stacks_find(stacks, ev->stack))
		return 0;
	for (const char *p = ev->frames; *p; p++)
		max += *p == ';';
	slot = calloc(1, sizeof(*slot) + max * sizeof(slot->stack.frames[0]));
	text = strdup(ev->frames);
	err = slot && text ? 0 : -ENOMEM;
	if (!err) {
		const struct pfs_proc *proc = outcome->thread->proc;

		slot->nr = slot->stack.nr = ev->stack;
		slot->stack.pid = proc->pid_known ? proc->pid : 0;
		err = parse(stacks, pfs_proc_space(proc), text, &slot->stack);
	}
	free(text);
	if (!err) {
		HASH_ADD(hh, stacks->slots, nr, sizeof(slot->nr), slot);
		err = HASH_ADD_FAILED(slot) ? -ENOMEM : 0;
	}
	if (err)
		free(slot);
	return err;
}
