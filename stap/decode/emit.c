/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events as every part of the decoder begins them: with the time and the CPU of the record that they come from.
 */
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
	ev.key = pfs_note_key(fact->key);
	ev.value = value;
	ev.have |= PFS_HAS(PFS_F_KEY) | PFS_HAS(PFS_F_VALUE);
	return pfs_emit(&d->sink, &ev);
}
