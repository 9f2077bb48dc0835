/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ranges of addresses that a thread's current system call removes, replaces, populates or moves to, as far as its
 * arguments determine them. Empty where they do not, or where the call does no such thing.
 */
#include "assemble/assemble_priv.h"

static const struct range none;

struct range asm_call_range(const struct pfs_assembler *a, const struct asm_thread *t)
{
	return range_of(t->call.arg[0], page_up(a, t->call.arg[1]));
}

struct range asm_call_removes(const struct pfs_assembler *a, const struct asm_thread *t)
{
	const uint64_t *arg = t->call.arg, brk = t->proc ? t->proc->brk : 0;
	uint64_t old_len = page_up(a, arg[1]), new_len = page_up(a, arg[2]);

	switch (t->call.nr) {
	case SYS_MUNMAP:
		return asm_call_range(a, t);
	case SYS_MREMAP:
		if (new_len < old_len && !(arg[3] & MREMAP_FIXED))
			return range_of(arg[0] + new_len, old_len - new_len);
		return none;
	case SYS_BRK:
		if (arg[0] && arg[0] < brk)
			return (struct range){ page_up(a, arg[0]), page_up(a, brk) };
		return none;
	default:
		return none;
	}
}

struct range asm_call_target(const struct pfs_assembler *a, const struct asm_thread *t)
{
	const uint64_t *arg = t->call.arg;

	return arg[3] & MREMAP_FIXED ? range_of(arg[4], page_up(a, arg[2])) : none;
}

struct range asm_call_replaces(const struct pfs_assembler *a, const struct asm_thread *t)
{
	const uint64_t *arg = t->call.arg;

	switch (t->call.nr) {
	case SYS_MMAP:
		return arg[3] & MAP_FIXED ? asm_call_range(a, t) : none;
	case SYS_MREMAP: /* a call that moves several regions cannot change their length */
		return page_up(a, arg[1]) != page_up(a, arg[2]) ? asm_call_target(a, t) : none;
	case SYS_REMAP_FILE_PAGES:
		return asm_call_range(a, t);
	default:
		return none;
	}
}

struct range asm_call_populates(const struct pfs_assembler *a, const struct asm_thread *t)
{
	const uint64_t *arg = t->call.arg;

	switch (t->call.nr) {
	case SYS_MMAP:
		return t->call.stored ? t->call.last_row : none;
	case SYS_MADVISE:
		return arg[2] == MADV_POPULATE_READ || arg[2] == MADV_POPULATE_WRITE ? asm_call_range(a, t) : none;
	case SYS_MLOCK:
	case SYS_MLOCK2: /* every page that has a byte of the range */
		return range_of(arg[0] & ~a->page_mask, page_up(a, arg[1] + (arg[0] & a->page_mask)));
	case SYS_MLOCKALL:
		return (struct range){ 0, UINT64_MAX };
	default:
		return none;
	}
}
