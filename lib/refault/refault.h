/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Re-reference sampling: while a recording runs, the pages of its processes are made to fault again, or their accessed
 * bits are read, so that the recording shows later accesses as well as first ones.
 *
 * A helper that stays root (lib/os/helper.h) does it at each interval and reports each (event/refault_note.h). It reads
 * the traced threads where the kernel keeps them, in set_event_pid, so children are included. It ends, and with it the
 * swap device that was made for it, however pfscope ends.
 *
 * Of N intervals of pageout the last two are left alone. They show the cost: the processes' share of time in user mode
 * in the second of them, compared with the other intervals. In the first, pages that were taken away before still return.
 */
#ifndef PFS_REFAULT_H
#define PFS_REFAULT_H

#include "base/err.h"
#include "event/notes.h"
#include "refault/pageout.h"

#include <stdbool.h>
#include <stdint.h>

/* What a system has; pfs_refault_look() fills it in. */
struct pfs_refault_system {
	bool pageout; /* process_madvise(MADV_PAGEOUT) */
	bool swap;
	unsigned int nr_nodes;
	bool numa;    /* the kernel has NUMA balancing ... */
	bool numa_on; /* ... and it is switched on */
	bool damon;   /* DAMON, by sysfs */
};

/* root: "" for this system, or a folder that stands for its /proc and /sys. */
void pfs_refault_look(const char *root, struct pfs_refault_system *system);

struct pfs_refault_config {
	uint64_t interval_ns;
	enum pfs_refault_method method; /* for pfs_refault_open() not PFS_REFAULT_AUTO any more */
	uint64_t zram_bytes;		/* swap to be set up for it; 0: none */
	bool faults_only;		/* accesses could not be recorded */
	bool files_only;		/* no anonymous memory is wanted, so swap is no matter */
	unsigned int quiet; /* of so many intervals the last two are left alone, to compare with; 0: none is */
	bool (*wanted)(void *ctx, const struct pfs_smap *region); /* called in the helper; NULL: all */
	void *ctx;
};

/* Which method it will be. 0, or -ENOTSUP with err set: what is missing, and what to do, for each that was asked. */
int pfs_refault_choose(const struct pfs_refault_config *config, const struct pfs_refault_system *system,
		       enum pfs_refault_method *method, struct pfs_err *err);

struct pfs_refault;

/*
 * Starts the helper, which sets swap up if that is asked for. tids_file: where the numbers of the processes' threads
 * can be read, one a line, at any time; and written, one a time, to have another's events recorded. Root only,
 * and before the caller becomes a subreaper. NULL with errno and err set.
 */
struct pfs_refault *pfs_refault_open(const struct pfs_refault_config *config, const char *tids_file,
				     struct pfs_err *err);

/* From now on at every interval. Needs no privilege, nor do the following. */
void pfs_refault_begin(struct pfs_refault *refault);

enum pfs_refault_told { PFS_TOLD_NOTHING, PFS_TOLD_TICK, PFS_TOLD_NOTE };

/*
 * The next message: a tick, or a note for the recording, dated now; the helper waits until pfs_refault_noted()
 * confirms that it is recorded, for what it sees then makes no sense without it.
 */
enum pfs_refault_told pfs_refault_next(struct pfs_refault *refault, struct pfs_fact *fact);
void pfs_refault_noted(struct pfs_refault *refault);

/* Can be read when something was told. -1: nothing will be any more. */
int pfs_refault_fd(const struct pfs_refault *refault);

/*
 * No more cycles: on return the last tick can be had by pfs_refault_next(), and the helper takes down what it set up.
 */
void pfs_refault_stop(struct pfs_refault *refault);

/* Waits until all is taken down, and forgets it. NULL is fine. 0 or -errno with err set: what could not be. */
int pfs_refault_free(struct pfs_refault *refault, struct pfs_err *err);

#endif
