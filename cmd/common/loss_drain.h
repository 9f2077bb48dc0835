/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of what is wanted of a recording that is read line by line (--to, --at). What was lost before it may be told
 * only behind it, by the next event of that processor: so such a reader goes on until each processor that was heard
 * of before has said something more.
 */
#ifndef PFS_ENDING_H
#define PFS_ENDING_H

#include "event/event.h"

enum { ENDING_CPUS = 1024 }; /* nobody waits for those beyond */

struct ending {
	const struct pfs_sink *to;
	bool over; /* nothing more is wanted but losses of what came before */
	unsigned int nr_awaited;
	bool awaited[ENDING_CPUS]; /* processors: heard of before, and not since it is over */
};

/* The sink before that one: it returns -ECANCELED later. Both are borrowed. */
struct pfs_sink ending_sink(struct ending *ending, const struct pfs_sink *to);

#endif
