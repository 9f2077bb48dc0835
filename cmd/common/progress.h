/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A progress line for long work, on a terminal only; it is erased at the end. */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool on; /* standard error is a terminal that can erase a line */
	bool shown;
	uint64_t total;		    /* bytes; 0: unknown */
	uint64_t start_ns, next_ns; /* CLOCK_MONOTONIC: of the work, of the next update */
};

/* wanted: false if the terminal receives other output meanwhile. total: bytes, 0: unknown. */
void progress_start(struct progress *p, bool wanted, uint64_t total);

/* Bytes and events read so far. Cheap unless it is called for every event. */
void progress_at(struct progress *p, uint64_t bytes, uint64_t events);

void progress_end(struct progress *p);

#endif
