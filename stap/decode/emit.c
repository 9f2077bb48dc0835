/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events begin with the time and the CPU of the record that they come from. */
#include "decode/decode_priv.h"

#include <string.h>

void dec_event(struct pfs_event *ev, const struct pfs_rec *rec, struct dec_subject subject, enum pfs_kind kind)
{
	memset(ev, 0, sizeof(*ev));
	ev->kind = kind;
	ev->ts_ns = rec->ts_ns;
	ev->cpu = rec->cpu;
	ev->pid = subject.pid;
	ev->tid = subject.tid;
	ev->space = subject.space;
	ev->have = PFS_HAS(PFS_F_CPU) | PFS_HAS(PFS_F_PID) | PFS_HAS(PFS_F_TID) |
		   (subject.space ? PFS_HAS(PFS_F_SPACE) : 0);
}

void dec_event_own(struct pfs_event *ev, const struct pfs_rec *rec, enum pfs_kind kind)
{
	dec_event(ev, rec, (struct dec_subject){ rec->pid, rec->tid, PFS_SPACE_CURRENT }, kind);
}

void dec_set_range(struct pfs_event *ev, uint64_t start, uint64_t end)
{
	PFS_SET(ev, start, START, start);
	PFS_SET(ev, end, END, end);
}

void dec_set_file(struct pfs_event *ev, uint32_t dev, uint64_t ino, uint64_t off)
{
	PFS_SET(ev, dev, DEV, dev);
	PFS_SET(ev, ino, INO, ino);
	PFS_SET(ev, off, OFF, off);
}

int dec_note(struct pfs_decoder *d, const struct pfs_rec *rec, const struct dec_subject *subject,
	     const struct pfs_fact *fact)
{
	static const struct dec_subject nobody;
	struct pfs_event ev;
	char value[256];

	dec_event(&ev, rec, subject ? *subject : nobody, PFS_NOTE);
	if (!subject)
		ev.have = 0;
	pfs_note_write(fact, value, sizeof(value));
	PFS_SET(&ev, key, KEY, pfs_note_key(fact->key));
	PFS_SET(&ev, value, VALUE, value);
	return pfs_emit(&d->sink, &ev);
}

const char *dec_name(const struct dec_cpu *cpu)
{
	return cpu->name_bad || !cpu->name_total || cpu->name_len != cpu->name_total ? NULL : cpu->name;
}
