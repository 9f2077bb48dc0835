/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw events to pfscope events: system calls of 32-bit processes on x86-64. syscalls:* leaves them out, raw_syscalls:* has
 * them, under the numbers of i386. A number alone does not show whose it is: that takes the process's image.
 */
#include "assemble/assemble_priv.h"

#include "record/i386.h"

int asm_call(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct raw_event call;

	a->has_calls |= raw->arg[0] != RAW_ABSENT;
	if (!a->is_x86_64 || !t->proc || !t->proc->is_32bit || !raw_i386_decode(raw, &call))
		return 0;
	if (raw->arg[0] == RAW_I386_OLD_MMAP)
		return asm_emit_lack(a, t, raw,
				     "what=mmap tells=what the old mmap of a 32-bit process replaced and populated",
				     &a->old_mmap_lack);
	if (call.kind == RAW_SYS_ENTER)
		return asm_sys_enter(a, t, &call);
	if (call.nr == SYS_OTHER)
		call.nr = t->call.nr;
	return asm_sys_exit(a, t, &call);
}
