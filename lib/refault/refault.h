/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Re-reference: while a recording runs, the pages of its processes are made to fault again, or their accessed
 * bits are looked at, so that the recording shows what is used again and when, not only what was ever used.
 *
 * A helper with root's rights (lib/os/helper.h) does it at every interval, and tells of each; it ends, and with it the
 * swap device that was made for it, however pfscope ends. refault_note.h is how a recording keeps what it told.
 */
#ifndef PFS_REFAULT_H
#define PFS_REFAULT_H

#include "base/err.h"
#include "refault/pageout.h"

#include <stdbool.h>
#include <stdint.h>

enum pfs_refault_method {
	PFS_REFAULT_AUTO,
	PFS_REFAULT_PAGEOUT, /* pages go to swap, or back to their files (pageout.h) */
	PFS_REFAULT_NUMA,    /* the kernel's own hinting faults, at its own pace: nothing to be done here */
	PFS_REFAULT_IDLE,    /* nothing faults: DAMON looks at accessed bits (idle.h) */
	PFS_REFAULT_NR_METHODS,
};

/* As the user writes it and a recording has it. */
extern const char *const pfs_refault_methods[PFS_REFAULT_NR_METHODS];

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

/*
 * How the interval before a tick began: with a cycle; or left alone, first to get over the cycle before (REST), then
 * to be compared with (QUIET).
 */
enum pfs_refault_pace { PFS_PACE_START, PFS_PACE_CYCLED, PFS_PACE_REST, PFS_PACE_QUIET, PFS_PACE_NR };

/* What the helper tells at the end of each interval. */
struct pfs_refault_tick {
	bool cycle;	  /* pages were taken away now, or are watched; otherwise they are left alone */
	uint64_t took_ns; /* for that */
	struct pfs_pageout pages;
	enum pfs_refault_pace before;
	uint64_t wall_ns; /* of the interval that is over */
	uint64_t user_ns; /* in which the processes ran so long in user mode, all together ... */
	uint64_t faults;  /* ... and faulted so often, as the kernel counts */
	uint32_t skipped; /* intervals that went by while this one's cycle was under way */
	int error;	  /* 0, or -errno: no more cycles */
};

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

enum { PFS_REFAULT_SAID_MAX = 512 };

/*
 * The next thing told: a tick, or "KEY=VALUE" for the recording, dated now; the helper waits until
 * pfs_refault_noted() says that it is there, for what is seen then makes no sense without.
 */
enum pfs_refault_told pfs_refault_next(struct pfs_refault *refault, struct pfs_refault_tick *tick,
				       char note[PFS_REFAULT_SAID_MAX]);
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
