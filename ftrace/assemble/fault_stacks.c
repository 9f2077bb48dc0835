/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of faults, as the kernel records them (options/userstacktrace): behind an event of a process, on the same CPU,
 * a record with the user's stack of that moment, and if asked for one with the kernel's. Nothing of the thread is between them.
 *
 * To read the user's stack the kernel follows frame pointers through the user's memory. Where they lead to none, its read
 * faults, and is an event of its own: page_fault_kernel behind the stack's record, which the kernel writes no user's
 * stack for, since it is recording one. So a fault in kernel mode directly behind a user's stack is doubtful: if a user's stack
 * follows it, the program did it; else it is the kernel's, and no fault of the program.
 *
 * Stacks of programs without frame pointers are records of pfscope's own (sideband/dumps.c), of a dump that the kernel made
 * directly behind the exception. Address and instruction have to be the fault's. Such a dump may fault, too: then its record has
 * the address, and a fault in kernel mode on that page, directly behind it, is the kernel's unless a record of its own follows.
 */
#include "assemble/assemble_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* common_flags: enum trace_flag_type of the kernel */
enum { IN_INTERRUPT = 0x08 | 0x10 | 0x40 };

struct asm_doubtful {
	bool behind;  /* the last record was a user's stack */
	bool waiting; /* for what follows it */
	struct raw_event fault;
	struct raw_event kernel; /* its stack, of kind RAW_STACK; or of no kind */
	struct asm_frames frames;
	uint64_t unreadable; /* where a dump of the stack met a page that is not there, directly before; or 0 */
};

void asm_doubtful_free(struct asm_thread *t)
{
	if (t->doubtful)
		free(t->doubtful->frames.list);
	free(t->doubtful);
}

static int expect(struct pfs_assembler *a)
{
	if (!a->numbers)
		a->numbers = pfs_stack_numbers_new();
	return a->numbers ? 0 : -ENOMEM;
}

int pfs_assembler_may_have_stacks(struct pfs_assembler *a)
{
	a->stacks_of_faults = STACKS_PERHAPS;
	return expect(a);
}

/* A recording of pfscope's own says whether it has stacks. */
int asm_fault_stacks_note(struct pfs_assembler *a, const struct pfs_fact *fact)
{
	bool dumped = fact->key == PFS_NOTE_STACK && fact->what && !strcmp(fact->what, "dwarf");
	bool has = dumped || (fact->key == PFS_NOTE_STACK && fact->what && !strcmp(fact->what, "fp"));

	if (fact->key == PFS_NOTE_STACK)
		a->kernel_stacks = fact->count;
	if (!has) {
		asm_frames_none(a);
		return 0;
	}
	a->stacks_of_faults = dumped ? STACKS_DUMPED : STACKS;
	return expect(a);
}

/* The program did it. */
static int pass_on(struct pfs_assembler *a, struct asm_thread *t, struct asm_doubtful *d)
{
	int err;

	d->waiting = false;
	t->in_fault = false;
	err = asm_pending_release(a, t) ?: asm_fault(a, t, &d->fault);
	if (!err && d->kernel.kind == RAW_STACK)
		err = asm_pending_stack(a, t, &d->kernel);
	return err;
}

static int on_user_stack(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_doubtful *d = t->doubtful ?: calloc(1, sizeof(*d));
	int err;

	t->doubtful = d;
	if (!d || expect(a))
		return -ENOMEM;
	a->stacks_of_faults = STACKS;
	d->behind = true;
	if (raw->arg[3] == 1) {
		d->waiting = false;
		return asm_pending_stack_over(a, t);
	}
	err = d->waiting ? pass_on(a, t, d) : 0;
	return err ?: asm_pending_stack(a, t, raw);
}

static int on_kernel_stack(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_doubtful *d = t->doubtful;

	if (!d || !d->waiting || asm_pending_awaits_kernel(a, t))
		return asm_pending_stack(a, t, raw);
	if (asm_frames_take(&d->frames, raw))
		return -ENOMEM;
	d->kernel = *raw;
	d->kernel.record = d->frames.list;
	return 0;
}

/* ---- dumped ---- */

int asm_dumped_stack(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_doubtful *d = t->doubtful ?: calloc(1, sizeof(*d));
	const char *frames = asm_unescaped(a, raw->str);
	int err;

	t->doubtful = d;
	if (!d || !frames || (*frames && asm_frames_keep(a, raw->arg[2], frames)))
		return -ENOMEM;
	if (a->stacks_of_faults != STACKS_DUMPED)
		return 0;
	err = d->waiting && d->fault.arg[0] == raw->arg[0] && d->fault.arg[1] == raw->arg[1] ? pass_on(a, t, d) : 0;
	d->waiting = false;
	d->unreadable = raw->arg[4] == RAW_ABSENT ? 0 : raw->arg[4];
	return err ?: asm_pending_dumped(a, t, raw);
}

static int behind_dump(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, bool *taken)
{
	struct asm_doubtful *d = t->doubtful;

	if (d && d->unreadable && raw->kind == RAW_FAULT_KERNEL && !((raw->arg[0] ^ d->unreadable) & ~a->page_mask)) {
		d->waiting = true;
		d->fault = *raw;
		*taken = true;
		return 0;
	}
	if (d)
		d->waiting = false, d->unreadable = 0;
	return asm_pending_stack_over(a, t);
}

int asm_fault_stacks_finish(struct pfs_assembler *a)
{
	const struct raw_event end = { .ts_ns = a->last_ns, .cpu = -1 };
	char lack[160], lost[64] = "";

	if (a->stacks_of_faults != STACKS_DUMPED || !a->nr_undumped)
		return 0;
	if (a->nr_dumps_lost)
		snprintf(lost, sizeof(lost), " (%" PRIu64 " were lost, see --buffer-size)", a->nr_dumps_lost);
	snprintf(lack, sizeof(lack), "what=dumps tells=the stacks of %" PRIu64 " of %" PRIu64 " faults%s",
		 a->nr_undumped, a->nr_undumped + a->nr_dumped, lost);
	return asm_emit_note(a, NULL, &end, "lacks", lack);
}

int asm_fault_stacks(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, bool *taken)
{
	struct asm_doubtful *d = t->doubtful;
	bool behind = d && d->behind;

	if (raw->kind >= RAW_PFS_MAP)
		return 0;
	if (a->stacks_of_faults == STACKS_DUMPED)
		return behind_dump(a, t, raw, taken);
	if (raw_is_stack(raw->kind)) {
		*taken = raw->kind == RAW_USER_STACK;
		if (raw->arg[1] != RAW_ABSENT && raw->arg[1] & IN_INTERRUPT)
			return 0;
		return *taken ? on_user_stack(a, t, raw) : on_kernel_stack(a, t, raw);
	}
	if (d)
		d->behind = d->waiting = false;
	if (behind && raw->kind == RAW_FAULT_KERNEL) {
		*d = (struct asm_doubtful){ .waiting = true, .fault = *raw, .frames = d->frames };
		*taken = true;
		return 0;
	}
	return asm_pending_stack_over(a, t);
}
