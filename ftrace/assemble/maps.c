/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raw events to pfscope events: mappings that the side-band and snapshots report. */
#include "assemble/assemble_priv.h"

#include "record/i386.h"

#include <errno.h>
#include <stdlib.h>

#define MAP_HUGETLB_FLAG 0x40000
#ifndef MAP_DROPPABLE
#define MAP_DROPPABLE 0x08 /* 6.11 */
#endif

/* Is the range unchanged since then, as far as is known? 0: always. */
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
	LIST_FOREACH (t, &p->in_flight, in_flight)
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
	       ((flags & MAP_TYPE) == MAP_DROPPABLE ? PFS_TRAIT_DROPPABLE : 0) |
	       (flags & MAP_LOCKED ? PFS_TRAIT_LOCKED : 0) | (flags & MAP_NORESERVE ? PFS_TRAIT_NORESERVE : 0);
}

/* ---- the side-band of mappings, and snapshots ---- */

static void set_file(struct pfs_event *ev, const struct raw_event *raw, const char *name)
{
	bool anon = !strcmp(name, "//anon");

	PFS_SET(ev, dev, DEV, raw->arg[3]);
	PFS_SET(ev, ino, INO, raw->arg[4]);
	/* the kernel numbers anonymous pages, too */
	PFS_SET(ev, off, OFF, pfs_is_file(ev->dev, ev->ino) ? raw->arg[2] : 0);
	PFS_SET(ev, name, NAME, anon ? "" : name);
}

/* Nothing is mapped from the snapshot's line before to this address. */
static int snapshot_gap(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, uint64_t end)
{
	struct range gap = { t->proc->snapshot_end, end };

	if (gap.start >= gap.end || !unchanged(t->proc, gap, t->proc->gap_look_ns))
		return 0;
	return asm_emit_range(a, t, raw, PFS_UNMAP, gap);
}

/*
 * A later snapshot shows more of the heap than is known: it grew before the process was recorded. The next brk() shows
 * where in its last page the break is.
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

bool asm_is_mapped_file(const struct pfs_assembler *a, uint64_t dev, uint64_t ino)
{
	const uint64_t key[2] = { dev, ino };
	struct asm_file *file;

	HASH_FIND(hh, a->files, key, sizeof(key), file);
	return file;
}

/* 0 or -ENOMEM. */
static int add_file(struct pfs_assembler *a, uint64_t dev, uint64_t ino)
{
	struct asm_file *file;

	if (!pfs_is_file(dev, ino) || asm_is_mapped_file(a, dev, ino))
		return 0;
	file = malloc(sizeof(*file));
	if (!file)
		return -ENOMEM;
	*file = (struct asm_file){ .key = { dev, ino } };
	HASH_ADD(hh, a->files, key, sizeof(file->key), file);
	if (HASH_ADD_FAILED(file)) {
		free(file);
		return -ENOMEM;
	}
	return 0;
}

void asm_files_free(struct pfs_assembler *a)
{
	struct asm_file *file, *next;

	HASH_ITER (hh, a->files, file, next) {
		HASH_DEL(a->files, file);
		free(file);
	}
}

int asm_pfs_map(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	bool snapshot = raw->arg[7] == PFS_MAP_SNAPSHOT;
	struct range r = { raw->arg[0], raw->arg[1] };
	const char *name = asm_unescaped(a, raw->str);
	struct pfs_event ev;
	int err = 0;

	if (!name || add_file(a, raw->arg[3], raw->arg[4]))
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
	if (!err && !snapshot)
		err = asm_mprotect_populates(a, t, raw, r);
	if (err)
		return err;
	asm_event_range(&ev, raw, t, PFS_MAP, r);
	set_file(&ev, raw, name);
	PFS_SET(&ev, perms, PERMS, asm_perms_of(raw->arg[5], raw->arg[6]));
	/* Of a lock this does not report whether it populates. */
	if (asm_traits_of(raw->arg[6] & ~(uint64_t)MAP_LOCKED))
		PFS_SET(&ev, traits, TRAITS, asm_traits_of(raw->arg[6] & ~(uint64_t)MAP_LOCKED));
	if (t->exec.under_way && !snapshot) {
		PFS_SET(&ev, space, SPACE, PFS_SPACE_EXEC);
		if (!t->exec.stack_id && !strcmp(name, "[stack]")) /* there are no rows */
			t->exec.is_32bit = a->is_x86_64 && r.end <= RAW_32BIT_END;
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
	int err = 0;

	if (!p)
		return 0;
	if (fact->op == PFS_SNAPSHOT_END) {
		bool counted = p->in_snapshot;

		p->in_snapshot = false;
		if (counted && a->is_x86_64 && !p->is_32bit && p->snapshot_end && p->snapshot_end <= RAW_32BIT_END)
			err = asm_is_32bit(a, t, raw);
		return counted && !err ? snapshot_gap(a, t, raw, UINT64_MAX & ~a->page_mask) : err;
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
