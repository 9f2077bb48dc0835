/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far long work has come: a line on a terminal, that goes away at the end; nothing anywhere else. */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool on; /* standard error is a terminal that can take a line back */
	bool shown;
	uint64_t total;		    /* bytes; 0: unknown */
	uint64_t start_ns, next_ns; /* CLOCK_MONOTONIC: of the work, of the next line */
};

/* wanted: something else may be printed to the terminal meanwhile if not. total: bytes, 0: unknown. */
void progress_start(struct progress *p, bool wanted, uint64_t total);

/* So many bytes have been read, and so many events were in them. Cheap, if not called for every event. */
void progress_at(struct progress *p, uint64_t bytes, uint64_t events);

void progress_end(struct progress *p);

#endif
