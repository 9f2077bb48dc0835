/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages that a call populates, as far as no probe records each of them. */
#include "assemble/assemble_priv.h"

#include <sys/mman.h>

int asm_emit_reached(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	const struct asm_reached *reached = &t->call.reached;
	struct pfs_event ev;
	bool told;

	if (!reached->end)
		return 0;
	asm_event_range(&ev, raw, t, PFS_REACHED, asm_call_populates(a, t));
	PFS_SET(&ev, end_off, END_OFF, reached->end * (a->page_mask + 1));
	/* Memory files have no device, and their faults are not recorded. */
	told = (reached->dev >> 20 || reached->nr_single) && a->file_faults && !(t->proc && t->proc->is_32bit) &&
	       a->losses == t->call.losses;
	PFS_SET(&ev, dev, DEV, reached->dev);
	PFS_SET(&ev, ino, INO, reached->ino);
	PFS_SET(&ev, last, LAST, reached->ends && told);
	if (told)
		PFS_SET(&ev, count, COUNT, reached->nr_single);
	return asm_emit(a, &ev);
}

int asm_emit_populate(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct pfs_event *ev,
		      enum pfs_by by)
{
	int err;

	if (ev->start >= ev->end || a->handlers) /* probes record each page */
		return 0;
	PFS_SET(ev, by, BY, by);
	err = asm_emit_reached(a, t, raw);
	return err ?: asm_emit(a, ev);
}

int asm_mprotect_populates(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range r)
{
	struct range call = asm_call_range(a, t);
	struct pfs_event ev;

	if ((t->call.nr != SYS_MPROTECT && t->call.nr != SYS_PKEY_MPROTECT) || !(t->call.arg[2] & PROT_WRITE) ||
	    !t->proc || !t->proc->has_locked)
		return 0;
	r.start = r.start > call.start ? r.start : call.start;
	r.end = r.end < call.end ? r.end : call.end;
	asm_event_range(&ev, raw, t, PFS_POPULATE, r);
	PFS_SET(&ev, access, ACCESS, PFS_WRITE);
	return asm_emit_populate(a, t, raw, &ev, PFS_BY_MPROTECT);
}
