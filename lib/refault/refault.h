/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Re-reference sampling: while a recording runs, the pages of its processes are made to fault again, or their accessed
 * bits are read, so that the recording shows later accesses as well as first ones. The methods are in pageout.h,
 * and in idle.h with damon.h; zram.h is the swap device of a recording. Hiding pages is the source's
 * (event/source.h). soft-dirty is the kernel's own: clear_refs of each process.
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
	bool soft_dirty;
};

/* root: "" for this system, or a folder that stands for its /proc and /sys. */
void pfs_refault_look(const char *root, struct pfs_refault_system *system);

struct pfs_refault_config {
	uint64_t interval_ns;
	enum pfs_refault_method method; /* for pfs_refault_open() not PFS_REFAULT_AUTO any more */
	uint64_t zram_bytes;		/* swap to be set up for it; 0: none */
	uint64_t owner;			/* of the swap, see os/owner.h */
	const char *hide_file; /* a write to it hides all pages (struct pfs_hiding); NULL: that is not possible ... */
	const char *why_not_hide; /* ... for this reason; NULL: with this source */
	bool faults_only;	  /* accesses could not be recorded */
	bool files_only;	  /* only pages of files are wanted, which need no swap */
	bool some_regions;	  /* wanted() is not true for all */
	unsigned int quiet;	  /* of so many intervals the last two are left alone, to compare with; 0: none */
	bool (*wanted)(void *ctx, const struct pfs_smap *region); /* called in the helper; NULL: all */
	void *ctx;
};

/* Chooses the method. 0, or -ENOTSUP with err set: what each method lacks here, and what to do. */
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

/* Begins the cycles; also confirms that a note is recorded. Needs no privilege, nor do the following. */
void pfs_refault_go_on(struct pfs_refault *refault);

enum pfs_refault_message { PFS_REFAULT_NONE, PFS_REFAULT_TICK, PFS_REFAULT_NOTE, PFS_REFAULT_STAYED };

/*
 * The next message: a tick, pages that stayed, or a note for the recording, dated now. After a note the helper waits for
 * pfs_refault_go_on(), because the accesses that it finds then need that note.
 */
enum pfs_refault_message pfs_refault_next(struct pfs_refault *refault, struct pfs_fact *fact);

/* Readable when there is a message. -1: there will be none. */
int pfs_refault_fd(const struct pfs_refault *refault);

/*
 * Ends the cycles: on return pfs_refault_next() has the last tick, and the helper removes what it set up.
 */
void pfs_refault_stop(struct pfs_refault *refault);

/* Waits until all is removed. NULL is fine. 0, or -errno with err set: what could not be removed. */
int pfs_refault_free(struct pfs_refault *refault, struct pfs_err *err);

#endif
