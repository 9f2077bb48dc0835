/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of the probe module (tapset/wire.h) to events. The room decode/ offers this header alone.
 *
 * Records report layouts as states; the decoder keeps the regions that it has reported of each address space
 * (mirror.c) and emits only the difference. It counts the gaps in the record numbers of each CPU.
 *
 * Records of different CPUs arrive out of order, because those of a quiet CPU wait in the kernel. The decoder holds
 * records back for PFS_DECODE_WINDOW_NS, and at most PFS_DECODE_HELD_MAX of them. A caller that wants events sooner
 * calls pfs_decoder_flush(); records that arrive too late for that are decoded all the same, and counted.
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
	uint64_t lost;	    /* missing by their numbers */
	uint64_t skipped;   /* probe hits that SystemTap skipped, by its last counters */
	uint64_t damaged;   /* of no known type, or impossible: what they reported is lost */
	uint64_t late;	    /* arrived after later ones had been decoded */
	uint64_t torn;	    /* layouts of which a record is missing */
	uint64_t corrected; /* faults in another region than the one reported before */
	uint64_t no_page;   /* faults by the kernel itself that got no page: no events */
	bool ready, ended;  /* PFS_REC_READY, PFS_REC_END came */
};

struct pfs_decoder *pfs_decoder_new(const struct pfs_sink *sink); /* NULL: no memory */
void pfs_decoder_free(struct pfs_decoder *decoder);

/*
 * Names call sites of kernel objects: function(ctx, addr, &start) returns the name of the function that addr lies in and
 * where it begins; NULL: not known. Without it they have their addresses alone.
 */
void pfs_decoder_set_functions(struct pfs_decoder *decoder,
			       const char *(*function)(const void *ctx, uint64_t addr, uint64_t *start),
			       const void *ctx);

/* One record. 0, what the sink returned, -ENOMEM, or -EPROTO: the module uses another version of wire.h. */
int pfs_decoder_feed(struct pfs_decoder *decoder, const struct pfs_rec *rec);

/* Decodes the records up to that time (CLOCK_MONOTONIC). Returns as pfs_decoder_feed(). */
int pfs_decoder_flush(struct pfs_decoder *decoder, uint64_t until_ns);

/* Decodes the rest and reports the last losses. 0, what the sink returned, or -ENOMEM. */
int pfs_decoder_finish(struct pfs_decoder *decoder);

const struct pfs_decode_stats *pfs_decoder_stats(const struct pfs_decoder *decoder);

#endif
