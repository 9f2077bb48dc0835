/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of allocations. The kernel writes the stack of an event as a record of its own, on the same CPU and in the same
 * context (of a process, a softirq, an interrupt, an NMI): between the two is nothing else of that context. It does not say
 * which event it belongs to; other events may have stacks, too, and come to nothing here.
 */
#include "assemble/assemble_priv.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NR_CONTEXTS = 4, MAX_CPUS = 1 << 14 };

/* common_flags: enum trace_flag_type of the kernel */
enum { IN_HARDIRQ = 0x08, IN_SOFTIRQ = 0x10, IN_NMI = 0x40 };

/* An allocation whose stack may be the next one of its CPU and context. */
struct asm_awaits {
	enum { NOTHING, OBJECT, PAGES } what;
	int32_t tid;
	uint64_t where; /* address or page frame */
};

struct asm_stack {
	uint64_t key; /* a hash of the addresses */
	UT_hash_handle hh;
	char *frames;
};

void asm_stacks_free(struct pfs_assembler *a)
{
	for (struct asm_stack *s = a->stacks; s; s = s->hh.next)
		free(s->frames);
	PFS_HASH_FREE(a->stacks);
	a->stacks = NULL;
	free(a->awaits);
}

void asm_stacks_lost(struct pfs_assembler *a, int32_t cpu)
{
	for (size_t i = 0; cpu >= 0 && i < NR_CONTEXTS && (size_t)cpu * NR_CONTEXTS + i < a->nr_awaits; i++)
		a->awaits[(size_t)cpu * NR_CONTEXTS + i].what = NOTHING;
}

/* NULL: no memory, or nothing that can be told apart. */
static struct asm_awaits *awaits_of(struct pfs_assembler *a, int32_t cpu, uint64_t flags)
{
	unsigned int context = flags & IN_NMI ? 3 : flags & IN_HARDIRQ ? 2 : flags & IN_SOFTIRQ ? 1 : 0;
	size_t i = (size_t)cpu * NR_CONTEXTS + context;

	if (cpu < 0 || cpu >= MAX_CPUS || flags == RAW_ABSENT)
		return NULL;
	if (i >= a->nr_awaits) {
		if (!pfs_array_extend(a->awaits, a->max_awaits, i + 1))
			return NULL;
		a->nr_awaits = i + 1;
	}
	return &a->awaits[i];
}

void asm_stack_await(struct pfs_assembler *a, const struct raw_event *raw, const struct pfs_event *ev)
{
	bool pages = pfs_has(ev, PFS_F_PFN);
	struct asm_awaits *awaits = awaits_of(a, raw->cpu, raw->arg[5]);

	if (awaits)
		*awaits = (struct asm_awaits){ pages ? PAGES : OBJECT, raw->tid, pages ? ev->pfn : ev->ptr };
}

static const char *frames_of(struct pfs_assembler *a, const struct raw_event *raw)
{
	struct asm_stack *s =
		PFS_HASH_GET(a->stacks, key, pfs_hash(PFS_HASH_START, raw->record, raw->arg[0] * sizeof(uint64_t)));

	if (s && !s->frames) {
		struct asm_frames frames = { 0 };
		const char *text = asm_frames_take(&frames, raw) ? NULL : asm_frames_text(a, &frames, NULL);

		s->frames = text ? strdup(text) : NULL;
		free(frames.list);
	}
	return s ? s->frames : NULL;
}

int asm_object_stack(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_awaits *awaits = awaits_of(a, raw->cpu, raw->arg[1]), of;
	struct pfs_event ev;
	const char *frames;

	if (!awaits || awaits->what == NOTHING)
		return 0;
	of = *awaits;
	awaits->what = NOTHING;
	if (of.tid != raw->tid || !raw->arg[0])
		return 0;
	frames = frames_of(a, raw);
	if (!frames)
		return -ENOMEM;
	asm_event_init(&ev, raw, t, PFS_STACK);
	PFS_SET(&ev, frames, FRAMES, frames);
	if (of.what == PAGES)
		PFS_SET(&ev, pfn, PFN, of.where);
	else
		PFS_SET(&ev, ptr, PTR, of.where);
	return asm_emit(a, &ev);
}
