/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of stacks: as text, and the numbers that stand for those of faults. */
#include "assemble/assemble_priv.h"

#include "base/array.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* A stack that pfscope unwound while it recorded. */
struct asm_dumped {
	uint64_t nr;
	char *text;
	UT_hash_handle hh;
};

void asm_frames_free(struct pfs_assembler *a)
{
	for (struct asm_dumped *d = a->dumped; d; d = d->hh.next)
		free(d->text);
	PFS_HASH_FREE(a->dumped);
	free(a->frames_text);
}

void asm_frames_none(struct pfs_assembler *a)
{
	pfs_stack_numbers_free(a->numbers);
	a->numbers = NULL;
	a->stacks_of_faults = STACKS_NONE;
}

int asm_frames_take(struct asm_frames *frames, const struct raw_event *raw)
{
	frames->nr = 0;
	frames->cut = false;
	if (!raw->record) /* of text */
		return 0;
	if (!pfs_array_reserve(frames->list, 0, frames->max, raw->arg[0]))
		return -ENOMEM;
	memcpy(frames->list, raw->record, raw->arg[0] * sizeof(frames->list[0]));
	frames->nr = raw->arg[0];
	frames->cut = raw->kind == RAW_USER_STACK && raw->arg[0] && raw->arg[0] == raw->arg[2];
	return 0;
}

/* Puts a frame at text + len. Its length, or -ENOMEM. */
static int put(struct pfs_assembler *a, size_t len, uint64_t addr, bool kernel)
{
	const char *func = kernel && a->function ? asm_function_at(a, addr) : "";
	const char *between = len ? ";" : "";

	if (!func || !pfs_array_reserve(a->frames_text, len, a->max_frames_text, 128))
		return -ENOMEM;
	if (*func)
		return snprintf(a->frames_text + len, 128, "%s%s", between, func);
	return snprintf(a->frames_text + len, 128, "%s0x%" PRIx64, between, addr);
}

const char *asm_frames_text(struct pfs_assembler *a, const struct asm_frames *kernel, const struct asm_frames *user)
{
	const struct asm_frames *const both[] = { kernel, user };
	size_t len = 0;

	for (int i = 0; i < 2; i++)
		for (unsigned int k = 0; both[i] && k < both[i]->nr; k++) {
			int put_len = put(a, len, both[i]->list[k], !i);

			if (put_len < 0)
				return NULL;
			len += put_len;
		}
	if (!pfs_array_reserve(a->frames_text, len, a->max_frames_text, 8))
		return NULL;
	strcpy(a->frames_text + len, user && user->cut && len ? ";..." : "");
	return a->frames_text;
}

/* What the kernel calls to record the stack lies before the instruction that faulted; without that all of it is doubtful. */
static void begin_at(struct asm_frames *kernel, uint64_t ip)
{
	unsigned int i = 0;

	while (i < kernel->nr && kernel->list[i] != ip)
		i++;
	kernel->nr -= i;
	memmove(kernel->list, kernel->list + i, kernel->nr * sizeof(kernel->list[0]));
}

static void end_at_garbage(struct asm_frames *user)
{
	for (unsigned int i = 0; i < user->nr; i++)
		if (pfs_stack_is_over(user->list[i])) {
			user->nr = i;
			user->cut = false;
		}
}

/* *first: the number of the event's stack is new, and is to be defined. 0 or -ENOMEM. */
static int number(struct pfs_assembler *a, struct pfs_event *ev, uint64_t hash, bool *first)
{
	uint64_t nr = pfs_stack_number(a->numbers, ev, hash, first);

	if (!nr)
		return -ENOMEM;
	PFS_SET(ev, stack, STACK, nr);
	return 0;
}

static int define(struct pfs_assembler *a, const struct pfs_event *ev, const char *text)
{
	struct pfs_event frames = pfs_stack_definition(ev);

	PFS_SET(&frames, frames, FRAMES, text);
	return text ? asm_emit(a, &frames) : -ENOMEM;
}

int asm_frames_keep(struct pfs_assembler *a, uint64_t nr, const char *text)
{
	struct asm_dumped *d = PFS_HASH_GET(a->dumped, nr, nr);

	if (!d)
		return -ENOMEM;
	free(d->text);
	d->text = strdup(text);
	return d->text ? 0 : -ENOMEM;
}

int asm_frames_dumped(struct pfs_assembler *a, struct pfs_event *ev, uint64_t nr)
{
	struct asm_dumped *d;
	bool first;
	int err;

	HASH_FIND(hh, a->dumped, &nr, sizeof(nr), d);
	if (!d || !d->text)
		return 0;
	err = number(a, ev, pfs_hash(PFS_HASH_START, &nr, sizeof(nr)), &first);
	return err || !first ? err : define(a, ev, d->text);
}

int asm_frames_number(struct pfs_assembler *a, struct pfs_event *ev, struct asm_frames *kernel, struct asm_frames *user)
{
	uint64_t hash = PFS_HASH_START;
	bool first;
	int err;

	if (kernel->nr)
		begin_at(kernel, ev->ip);
	end_at_garbage(user);
	user->cut = user->cut && user->nr;
	if (!kernel->nr && !user->nr)
		return 0;
	if (ev->mode == PFS_USER && pfs_has(ev, PFS_F_IP) && user->nr && user->list[0] != ev->ip)
		return 0;
	hash = pfs_hash(hash, kernel->list, kernel->nr * sizeof(uint64_t));
	hash = pfs_hash(hash, user->list, user->nr * sizeof(uint64_t));
	hash = pfs_hash(hash, &user->cut, sizeof(user->cut));
	err = number(a, ev, hash, &first);
	return err || !first ? err : define(a, ev, asm_frames_text(a, kernel, user));
}
