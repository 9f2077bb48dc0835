/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/stacks.h"

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

/* "0x7f12c0de1139", or the name of a function. 0 or -ENOMEM. */
static int parse_frame(struct pfs_stacks *stacks, struct pfs_space *space, char *text, struct pfs_frame *frame)
{
	uint64_t addr;
	bool known;

	if (!strncmp(text, "0x", 2) && text[2] && !*pfs_hex(text + 2, &addr)) {
		frame->addr = addr;
		place(space, frame);
		known = frame->name;
		if (known)
			frame->name = pfs_intern(&stacks->strings, frame->name);
		return known && !frame->name ? -ENOMEM : 0;
	}
	frame->func = pfs_intern(&stacks->strings, text);
	return frame->func ? 0 : -ENOMEM;
}

/* Its text is changed. 0 or -ENOMEM. */
static int parse(struct pfs_stacks *stacks, struct pfs_space *space, char *text, struct pfs_stack *stack)
{
	int err = 0;

	for (char *word; !err && (word = strsep(&text, ";"));) {
		struct pfs_frame *frame = &stack->frames[stack->nr_frames];

		if (!*word)
			continue;
		if (!text && !strcmp(word, "...")) {
			stack->cut = true;
			break;
		}
		frame->call = stack->nr_frames++ > 0;
		frame->pid = stack->pid;
		err = parse_frame(stacks, space, word, frame);
		stack->memory |= pfs_frame_is_memory(frame);
	}
	return err;
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
