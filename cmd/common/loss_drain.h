/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends the reading of text and event lines early (--to, --at). Events lost before that time may be reported only by the
 * next event of the same CPU, so the reader continues until each CPU that appeared before has another event.
 */
#ifndef CMD_LOSS_DRAIN_H
#define CMD_LOSS_DRAIN_H

#include "event/event.h"

enum { LOSS_DRAIN_CPUS = 1024 }; /* CPUs beyond are not waited for */

struct loss_drain {
	const struct pfs_sink *to;
	bool over; /* only losses from before the end are still passed on */
	unsigned int nr_awaited;
	bool awaited[LOSS_DRAIN_CPUS]; /* by CPU: appeared before the end, and not since */
};

/* A sink before `to` that delays its -ECANCELED. Both are borrowed. */
struct pfs_sink loss_drain_sink(struct loss_drain *drain, const struct pfs_sink *to);

#endif
