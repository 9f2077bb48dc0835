/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw events to pfscope events: mappings that the side-band and snapshots report, and fault-around.
 */
#include "assemble/assemble_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif
#define MAP_HUGETLB_FLAG 0x40000

/* Is the range unchanged since then, as far as is known? 0: since ever. */
static bool unchanged(const struct asm_proc *p, struct range r, uint64_t since_ns)
{
	const struct asm_change *oldest = &p->recent[p->next_recent % NR_RECENT];
	const struct asm_thread *t;

	if (!since_ns)
		return true;
	if (oldest->ts_ns >= since_ns) /* there may have been more */
		return false;
	for (unsigned int i = 0; i < NR_RECENT; i++)
		if (p->recent[i].ts_ns >= since_ns && overlap(p->recent[i].range, r))
			return false;
	for (t = p->in_flight; t; t = t->next_in_flight)
		if (overlap(t->call.removes, r))
			return false;
	return true;
}

uint8_t asm_perms_of(uint64_t prot, uint64_t flags)
{
	return (prot & PROT_READ ? PFS_PERM_R : 0) | (prot & PROT_WRITE ? PFS_PERM_W : 0) |
	       (prot & PROT_EXEC ? PFS_PERM_X : 0) | (flags & MAP_SHARED ? PFS_PERM_SHARED : 0);
}

uint8_t asm_traits_of(uint64_t flags)
{
	return (flags & MAP_STACK ? PFS_TRAIT_STACK : 0) | (flags & MAP_HUGETLB_FLAG ? PFS_TRAIT_HUGETLB : 0) |
	       (flags & MAP_LOCKED ? PFS_TRAIT_LOCKED : 0) | (flags & MAP_NORESERVE ? PFS_TRAIT_NORESERVE : 0);
}

/* ---- the side-band of mappings, and snapshots ---- */

static void set_file(struct pfs_event *ev, const struct raw_event *raw, const char *name)
{
	bool anon = !strcmp(name, "//anon");

	ev->dev = raw->arg[3];
	ev->ino = raw->arg[4];
	/* the kernel numbers anonymous pages, too */
	ev->off = pfs_is_file(ev->dev, ev->ino) ? raw->arg[2] : 0;
	ev->name = anon ? "" : name;
	ev->have |= PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_INO) | PFS_HAS(PFS_F_OFF) | PFS_HAS(PFS_F_NAME);
}

/* Nothing is mapped from the snapshot's line before to this address. */
static int snapshot_gap(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, uint64_t end)
{
	struct range gap = { t->proc->snapshot_end, end };

	if (gap.start >= gap.end || !unchanged(t->proc, gap, t->proc->gap_look_ns))
		return 0;
	return asm_emit_unmap(a, t, raw, gap);
}

/*
 * A later look sees more of the heap than is known of: it grew before anything of the process was recorded. Where the
 * break is in its last page, the next brk() shows.
 */
static int heap_seen(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range r)
{
	struct pfs_event ev;

	if (r.end <= page_up(a, t->proc->brk))
		return 0;
	asm_event_range(&ev, raw, t, PFS_BRK, r);
	if (t->proc->brk) /* its beginning was reported before */
		ev.have &= ~PFS_HAS(PFS_F_START);
	t->proc->brk = r.end;
	return asm_emit(a, &ev);
}

int asm_pfs_map(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_thread *owner = asm_exec_owner(t);
	bool snapshot = raw->arg[7] == PFS_MAP_SNAPSHOT;
	struct range r = { raw->arg[0], raw->arg[1] };
	const char *name = asm_unescaped(a, raw->str ? raw->str : "");
	struct pfs_event ev;
	int err = 0;

	if (!name)
		return -ENOMEM;
	if (snapshot) {
		if (!t->proc || !t->proc->in_snapshot)
			return 0;
		err = snapshot_gap(a, t, raw, r.start);
		t->proc->snapshot_end = r.end;
		if (!unchanged(t->proc, r, t->proc->look_ns))
			return err;
		if (!err && t->proc->look_ns && !strcmp(name, "[heap]"))
			err = heap_seen(a, t, raw, r);
	} else {
		a->sideband = true;
	}
	if (err)
		return err;
	asm_event_range(&ev, raw, owner->exec.under_way && !snapshot ? owner : t, PFS_MAP, r);
	set_file(&ev, raw, name);
	ev.perms = asm_perms_of(raw->arg[5], raw->arg[6]);
	ev.traits = asm_traits_of(raw->arg[6]);
	ev.have |= PFS_HAS(PFS_F_PERMS) | (ev.traits ? PFS_HAS(PFS_F_TRAITS) : 0);
	if (owner->exec.under_way && !snapshot) {
		asm_event_set_space(&ev, PFS_SPACE_EXEC);
	} else if (!snapshot) {
		t->call.last_row = r;
		t->call.stored = t->call.stored || t->call.nr == SYS_MMAP || t->call.nr == SYS_SHMAT;
		asm_changed(t, raw, r);
	}
	return asm_emit(a, &ev);
}

int asm_snapshot(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		 const struct pfs_fact *fact)
{
	struct asm_proc *p = t->proc;

	if (!p)
		return 0;
	if (fact->op == PFS_SNAPSHOT_END) {
		bool counted = p->in_snapshot;

		p->in_snapshot = false;
		return counted ? snapshot_gap(a, t, raw, UINT64_MAX & ~a->page_mask) : 0;
	}
	if (fact->op == PFS_SNAPSHOT_THEN) {
		p->gap_look_ns = p->look_ns; /* what lies between two pieces, the first one decided */
		p->look_ns = fact->look_ns;
		return 0;
	}
	p->snapshot_end = 0;
	p->in_snapshot = true;
	p->look_ns = p->gap_look_ns = fact->look_ns;
	return 0;
}

/* The break as a snapshot found it. */
int asm_brk_note(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range brk)
{
	struct pfs_event ev;

	if (t->proc)
		t->proc->brk = brk.end;
	asm_event_range(&ev, raw, t, PFS_BRK, brk);
	return asm_emit(a, &ev);
}

/* ---- fault-around ---- */

int asm_map_pages(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct range r = asm_call_populates(a, t);
	struct pfs_event ev;

	if (raw->arg[2] == RAW_ABSENT || raw->arg[3] == RAW_ABSENT)
		return 0;
	asm_event_init(&ev, raw, t, PFS_AROUND);
	ev.dev = raw->arg[0];
	ev.ino = raw->arg[1];
	ev.off = raw->arg[2] * (a->page_mask + 1);
	ev.end_off = (raw->arg[3] + 1) * (a->page_mask + 1);
	ev.have |= PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_INO) | PFS_HAS(PFS_F_OFF) | PFS_HAS(PFS_F_END_OFF);
	if (r.start < r.end) {
		asm_event_set_range(&ev, r);
	}
	if (t->exec.under_way && t->exec.switched) {
		asm_event_set_space(&ev, PFS_SPACE_EXEC);
	}
	return asm_emit_beside(a, t, &ev);
}
