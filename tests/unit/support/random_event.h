/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events with anything in them, as a hostile file could have, over a few pages, threads and processes.
 */
#ifndef PFS_TEST_RANDOM_EVENT_H
#define PFS_TEST_RANDOM_EVENT_H

#include "support/random.h"
#include "support/feed.h"

/* any_space: faults in the new images of forks and execs too, which can be thrown away later. */
static inline void random_event(struct pfs_event *ev, uint64_t *s, bool any_space)
{
	memset(ev, 0, sizeof(*ev));
	ev->kind = random_u64(s) % 3 ? random_u64(s) % PFS_NR_KINDS : PFS_FAULT;
	ev->have = random_u64(s) | random_u64(s);
	ev->have &= ~(HAS(COMM) | HAS(CACHE) | HAS(KEY) | HAS(VALUE) | HAS(NAME));
	if (ev->kind == PFS_FAULT)
		ev->have |= HAS(ADDR) | HAS(TID);
	ev->ts_ns = random_u64(s) % 1000000;
	ev->tid = random_u64(s) % 6;
	ev->pid = random_u64(s) % 4;
	ev->child = random_u64(s) % 6;
	ev->child_tid = random_u64(s) % 6;
	ev->space = ev->kind == PFS_FAULT && !any_space ? 0 : random_u64(s) % 3;
	ev->op = random_u64(s) % PFS_NR_OPS;
	ev->access = random_u64(s) % 5;
	ev->mode = random_u64(s) % 4;
	ev->class = random_u64(s) % 4;
	ev->perms = random_u64(s);
	ev->traits = random_u64(s);
	ev->shared = random_u64(s) % 2;
	ev->last = random_u64(s) % 2;
	ev->order = random_u64(s);
	ev->start = random_u64(s) % 64 * PAGE;
	ev->end = random_u64(s) % 8 ? ev->start + random_u64(s) % 16 * PAGE : random_u64(s) % 80 * PAGE;
	ev->addr = random_u64(s) % (80 * PAGE);
	ev->from = random_u64(s) % 64 * PAGE;
	ev->len = random_u64(s) % 16 * PAGE;
	ev->off = random_u64(s) % 16 * PAGE;
	ev->end_off = random_u64(s) % 32 * PAGE;
	ev->dev = 1;
	ev->ino = random_u64(s) % 3;
	ev->id = random_u64(s) % 8;
	ev->count = random_u64(s) % 100;
	if (random_u64(s) % 16 == 0) {
		ev->start += random_u64(s) % PAGE;
		ev->end += random_u64(s) % PAGE;
		ev->from += random_u64(s) % PAGE;
		ev->len += random_u64(s) % PAGE;
		ev->off += random_u64(s) % PAGE;
	}
}

#endif
