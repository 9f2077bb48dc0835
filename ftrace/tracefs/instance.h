/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A private tracefs instance: made, set up for some processes, switched on and off, removed.
 *
 * Nothing at the top level of tracefs is ever written. The name of an instance carries the pid and
 * the start time of the pfscope that owns it, so that one that was left behind can be told.
 */
#ifndef PFS_INSTANCE_H
#define PFS_INSTANCE_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

#define PFS_INSTANCE_PREFIX "pfscope-"

struct pfs_instance;

/* Where tracefs is mounted, or NULL with err set (what to do included). Borrowed. */
const char *pfs_tracing_dir(struct pfs_err *err);

/*
 * A new instance, with every event off, tracing off, clock mono, and its keeper. NULL with errno and err set.
 * Events and threads can be entered at once; pfs_instance_settle() comes before all else.
 */
struct pfs_instance *pfs_instance_create(unsigned int buffer_kb, struct pfs_err *err);

/* Waits until the kernel has done its part. 0 or -errno with err set. */
int pfs_instance_settle(struct pfs_instance *instance, struct pfs_err *err);

/*
 * Has the keeper remove it, or says why it could not be. Nothing in it may be open any more but what the
 * instance holds itself. NULL is fine.
 */
int pfs_instance_destroy(struct pfs_instance *instance, struct pfs_err *err);

/*
 * Opens a file of the instance now, for pfs_instance_write() and pfs_instance_open() to use later, when the
 * right to open it has been given up. 0 or -errno with err set.
 */
int pfs_instance_hold(struct pfs_instance *instance, const char *file, int flags, struct pfs_err *err);

/* A descriptor on a file of the instance, at its start; the caller's. -errno with err set. */
int pfs_instance_open(struct pfs_instance *instance, const char *file, int flags, struct pfs_err *err);

/* Its folder. Borrowed. */
const char *pfs_instance_dir(const struct pfs_instance *instance);

/* Has the kernel this event? */
bool pfs_instance_has_event(const struct pfs_instance *instance, const char *system, const char *name);

/* Switches an event on, with a filter (NULL: none). 0 or -errno with err set. */
int pfs_instance_enable(struct pfs_instance *instance, const char *system, const char *name, const char *filter,
			struct pfs_err *err);

/* Writes to a file of the instance. 0 or -errno with err set. */
int pfs_instance_write(struct pfs_instance *instance, const char *file, const char *text, struct pfs_err *err);

/* As set_event_pid takes them, to be freed by the caller; "" for none. NULL: no memory. */
char *pfs_tids_text(const pid_t *tids, unsigned int nr);

/*
 * Adds threads to those whose events are recorded: all of them at once, for each time the kernel takes a grace
 * period, before the end of which it may not see a thread that runs without a break. 0 or -errno with err set.
 */
int pfs_instance_add_tids(struct pfs_instance *instance, const pid_t *tids, unsigned int nr, struct pfs_err *err);

/* The same of per_cpu/cpuN/FILE. */
int pfs_instance_open_cpu(struct pfs_instance *instance, int cpu, const char *file, int flags, struct pfs_err *err);
int pfs_instance_hold_cpu(struct pfs_instance *instance, int cpu, const char *file, int flags, struct pfs_err *err);

/*
 * Removes the instance in that folder, also if it has gone already. Until its last reader has let go it is busy,
 * a moment longer than the reader lives: so long is waited. 0 or -errno. Safe in a keeper: no memory.
 */
int pfs_instance_rmdir(const char *dir, unsigned int patience_ms);

/*
 * Removes the instances of pfscopes that live no more, waiting so long for one that is still read; how
 * many, or -errno with err set. Also what `pfscope clean` does.
 */
int pfs_instance_clean(unsigned int patience_ms, struct pfs_err *err);

#endif
