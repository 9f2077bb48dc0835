/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events with anything in them, as a hostile file could have, over a few pages, threads and processes.
 */
#ifndef PFS_TEST_RANDOM_EVENT_H
#define PFS_TEST_RANDOM_EVENT_H

#include "support/feed.h"

static inline uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33 ^ *state << 31;
}

/* any_space: faults in the new images of forks and execs too, which can be thrown away later. */
static inline void random_event(struct pfs_event *ev, uint64_t *s, bool any_space)
{
	memset(ev, 0, sizeof(*ev));
	ev->kind = next_random(s) % 3 ? next_random(s) % PFS_NR_KINDS : PFS_FAULT;
	ev->have = next_random(s) | next_random(s);
	ev->have &= ~(HAS(COMM) | HAS(CACHE) | HAS(KEY) | HAS(VALUE) | HAS(NAME));
	if (ev->kind == PFS_FAULT)
		ev->have |= HAS(ADDR) | HAS(TID);
	ev->ts_ns = next_random(s) % 1000000;
	ev->tid = next_random(s) % 6;
	ev->pid = next_random(s) % 4;
	ev->child = next_random(s) % 6;
	ev->child_tid = next_random(s) % 6;
	ev->space = ev->kind == PFS_FAULT && !any_space ? 0 : next_random(s) % 3;
	ev->op = next_random(s) % PFS_NR_OPS;
	ev->access = next_random(s) % 5;
	ev->mode = next_random(s) % 4;
	ev->class = next_random(s) % 4;
	ev->perms = next_random(s);
	ev->traits = next_random(s);
	ev->shared = next_random(s) % 2;
	ev->last = next_random(s) % 2;
	ev->order = next_random(s);
	ev->start = next_random(s) % 64 * PAGE;
	ev->end = next_random(s) % 8 ? ev->start + next_random(s) % 16 * PAGE : next_random(s) % 80 * PAGE;
	ev->addr = next_random(s) % (80 * PAGE);
	ev->from = next_random(s) % 64 * PAGE;
	ev->len = next_random(s) % 16 * PAGE;
	ev->off = next_random(s) % 16 * PAGE;
	ev->end_off = next_random(s) % 32 * PAGE;
	ev->dev = 1;
	ev->ino = next_random(s) % 3;
	ev->id = next_random(s) % 8;
	ev->count = next_random(s) % 100;
	if (next_random(s) % 16 == 0) {
		ev->start += next_random(s) % PAGE;
		ev->end += next_random(s) % PAGE;
		ev->from += next_random(s) % PAGE;
		ev->len += next_random(s) % PAGE;
		ev->off += next_random(s) % PAGE;
	}
}

#endif
