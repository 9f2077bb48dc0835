/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events made from raw events and passed on to the sink: what all other files of the assembler need. */
#include "assemble/assemble_priv.h"

#include "base/array.h"
#include "record/pfscope_records.h"

#include <errno.h>
#include <string.h>

int asm_emit(struct pfs_assembler *a, const struct pfs_event *ev)
{
	if (a->numbers && ev->kind != PFS_FAULT && pfs_stack_numbers_event(a->numbers, ev))
		return -ENOMEM;
	if (!asm_is_emitted(a, ev))
		return 0;
	return pfs_emit(&a->sink, ev);
}

void asm_event_init(struct pfs_event *ev, const struct raw_event *raw, const struct asm_thread *t, enum pfs_kind kind)
{
	memset(ev, 0, sizeof(*ev));
	ev->kind = kind;
	ev->ts_ns = raw->ts_ns;
	if (raw->cpu >= 0)
		PFS_SET(ev, cpu, CPU, raw->cpu);
	if (t)
		PFS_SET(ev, tid, TID, t->tid);
	if (t && t->proc)
		PFS_SET(ev, pid, PID, t->proc->pid);
}

void asm_event_range(struct pfs_event *ev, const struct raw_event *raw, const struct asm_thread *t, enum pfs_kind kind,
		     struct range r)
{
	asm_event_init(ev, raw, t, kind);
	asm_event_set_range(ev, r);
}

int asm_emit_range(struct pfs_assembler *a, const struct asm_thread *t, const struct raw_event *raw, enum pfs_kind kind,
		   struct range r)
{
	struct pfs_event ev;

	asm_event_range(&ev, raw, t, kind, r);
	return r.start < r.end ? asm_emit(a, &ev) : 0;
}

int asm_emit_note(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, const char *key,
		  const char *value)
{
	struct pfs_event ev;

	asm_event_init(&ev, raw, t, PFS_NOTE);
	PFS_SET(&ev, key, KEY, key);
	PFS_SET(&ev, value, VALUE, value);
	return asm_emit(a, &ev);
}

int asm_emit_lack(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, const char *lack,
		  bool *reported)
{
	if (*reported)
		return 0;
	*reported = true;
	return asm_emit_note(a, t, raw, "lacks", lack);
}

int asm_is_32bit(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_event ev;

	t->proc->is_32bit = true;
	if (a->has_calls && a->is_x86_64)
		return 0;
	asm_event_init(&ev, raw, t, PFS_LOST);
	return asm_emit(a, &ev)
		       ?: asm_emit_lack(a, t, raw,
					"what=raw_syscalls:* tells=system calls of 32-bit processes (see --compat)",
					&a->calls_lack);
}

int asm_emit_comm(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, const char *comm)
{
	struct pfs_event ev;

	t->named = true;
	asm_event_init(&ev, raw, t, PFS_COMM);
	PFS_SET(&ev, comm, COMM, comm);
	return asm_emit(a, &ev);
}

int asm_emit_clear(struct pfs_assembler *a, const struct asm_thread *t, const struct raw_event *raw,
		   enum pfs_which space)
{
	struct pfs_event ev;

	asm_event_init(&ev, raw, t, PFS_UNMAP);
	pfs_event_set_op(&ev, PFS_OP_CLEAR);
	if (space)
		PFS_SET(&ev, space, SPACE, space);
	return asm_emit(a, &ev);
}

const char *asm_unescaped(struct pfs_assembler *a, const char *str)
{
	str = str ? str : "";
	if (!pfs_array_reserve(a->unescaped, 0, a->max_unescaped, strlen(str) + 1))
		return NULL;
	pfs_records_unescape(a->unescaped, a->max_unescaped, str);
	return a->unescaped;
}
