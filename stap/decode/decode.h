/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of the probe module (wire.h) to events.
 *
 * It keeps what it was told of each address space (mirror.c), so that a layout told again gives no
 * event and a changed one gives just the change; and it counts the gaps in each processor's numbers.
 *
 * Records of different processors come out of order: those of a quiet one wait in the kernel for a
 * while. They are held back until nothing older can be expected: PFS_DECODE_WINDOW_NS, or as many as
 * PFS_DECODE_HELD_MAX. Who wants events sooner calls pfs_decoder_flush(); what comes too late for that
 * is passed on all the same, and counted.
 */
#ifndef PFS_STAP_DECODE_H
#define PFS_STAP_DECODE_H

#include "tapset/wire.h"
#include "event/event.h"

#define PFS_DECODE_WINDOW_NS UINT64_C(10000000000)
#define PFS_DECODE_HELD_MAX  (1u << 19) /* records: 64 MB */

struct pfs_decoder;

struct pfs_decode_stats {
	uint64_t records;   /* read */
	uint64_t lost;	    /* numbered, and not there */
	uint64_t skipped;   /* hits that SystemTap skipped, as its last counters say */
	uint64_t damaged;   /* of no known type, or impossible */
	uint64_t late;	    /* came after later ones had been passed on */
	uint64_t torn;	    /* layouts with a gap in them */
	uint64_t corrected; /* faults whose region was not the one told before */
	uint64_t no_page;   /* faults by the kernel itself that got no page: no events */
	bool ready, ended;  /* PFS_REC_READY, PFS_REC_END came */
};

struct pfs_decoder *pfs_decoder_new(const struct pfs_sink *sink); /* NULL: no memory */
void pfs_decoder_free(struct pfs_decoder *decoder);

/*
 * One record. 0, what the sink returned, -ENOMEM, or -EPROTO: the module speaks another version of
 * wire.h (nothing more can be read then).
 */
int pfs_decoder_feed(struct pfs_decoder *decoder, const struct pfs_rec *rec);

/* Passes on what happened up to that time (CLOCK_MONOTONIC). As feed. */
int pfs_decoder_flush(struct pfs_decoder *decoder, uint64_t until_ns);

/* The end: what is still open is passed on, losses are told. 0, what the sink returned, or -ENOMEM. */
int pfs_decoder_finish(struct pfs_decoder *decoder);

const struct pfs_decode_stats *pfs_decoder_stats(const struct pfs_decoder *decoder);

#endif
