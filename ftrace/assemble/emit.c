/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events made from raw events and passed on to the sink: what all other files of the assembler need.
 */
#include "assemble/assemble_priv.h"

#include "base/array.h"
#include "record/pfscope_records.h"

#include <string.h>

int asm_emit(struct pfs_assembler *a, const struct pfs_event *ev)
{
	if (a->only_pid && pfs_has(ev, PFS_F_PID) && ev->pid != a->only_pid)
		return 0;
	return pfs_emit(&a->sink, ev);
}

void asm_event_init(struct pfs_event *ev, const struct raw_event *raw, const struct asm_thread *t, enum pfs_kind kind)
{
	memset(ev, 0, sizeof(*ev));
	ev->kind = kind;
	ev->ts_ns = raw->ts_ns;
	if (raw->cpu >= 0) {
		ev->cpu = raw->cpu;
		ev->have |= PFS_HAS(PFS_F_CPU);
	}
	if (!t)
		return;
	ev->tid = t->tid;
	ev->have |= PFS_HAS(PFS_F_TID);
	if (t->proc) {
		ev->pid = t->proc->pid;
		ev->have |= PFS_HAS(PFS_F_PID);
	}
}

void asm_event_range(struct pfs_event *ev, const struct raw_event *raw, const struct asm_thread *t, enum pfs_kind kind,
		     struct range r)
{
	asm_event_init(ev, raw, t, kind);
	asm_event_set_range(ev, r);
}

int asm_emit_unmap(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range r)
{
	struct pfs_event ev;

	if (r.start >= r.end)
		return 0;
	asm_event_range(&ev, raw, t, PFS_UNMAP, r);
	return asm_emit(a, &ev);
}

int asm_emit_comm(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, const char *comm)
{
	struct pfs_event ev;

	t->named = true;
	asm_event_init(&ev, raw, t, PFS_COMM);
	ev.comm = comm;
	ev.have |= PFS_HAS(PFS_F_COMM);
	return asm_emit(a, &ev);
}

const char *asm_unescaped(struct pfs_assembler *a, const char *str)
{
	if (!pfs_array_reserve(a->unescaped, 0, a->max_unescaped, strlen(str) + 1))
		return NULL;
	pfs_records_unescape(a->unescaped, a->max_unescaped, str);
	return a->unescaped;
}
