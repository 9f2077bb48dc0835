/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefs/: what pfscope sets up in tracefs.
 *
 *     instance.h   a private instance: made, set up for some processes, switched on and off, removed; where tracefs is mounted;
 *                  removes what dead pfscopes left
 *     keeper.h     the process that removes the instance however pfscope ends
 *     dynevents.h  probes at the kernel's fault handler
 *     wprobes.h    watchpoints on kernel objects, set by triggers
 *     hist.h       faults counted inside the kernel
 *     btf.h        the running kernel's type information
 *
 * Nothing at the top level of tracefs is ever written. The name of an instance carries its owner (os/owner.h), so that
 * instances of dead ones can be found.
 */
#ifndef PFS_INSTANCE_H
#define PFS_INSTANCE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pfs_instance;

/*
 * Begins to make the instance of that owner (os/owner.h) with every event off, tracing off and clock mono, and starts its
 * keeper, which gets leftovers() (keeper.h; may be NULL). Nothing of the instance may be used before
 * pfs_instance_settle(). NULL with errno and err set.
 */
struct pfs_instance *pfs_instance_create(uint64_t owner, unsigned int buffer_kb, void (*leftovers)(void),
					 struct pfs_err *err);

/* Waits until the instance has been made. 0 or -errno with err set. */
int pfs_instance_settle(struct pfs_instance *instance, struct pfs_err *err);

/* Has the keeper remove what dead pfscopes left, while pfscope goes on. */
void pfs_instance_clean_others(struct pfs_instance *instance);

/* Has the keeper switch everything off, while pfscope goes on: half of what a removal takes. */
void pfs_instance_silence(struct pfs_instance *instance);

/*
 * Has the keeper remove it, or reports why that fails. Everything in it must be closed except what the instance holds
 * itself. NULL is fine.
 */
int pfs_instance_destroy(struct pfs_instance *instance, struct pfs_err *err);

/*
 * Opens a file of the instance now, for pfs_instance_write() and pfs_instance_open() to use later, when the
 * right to open it has been given up. 0 or -errno with err set.
 */
int pfs_instance_hold(struct pfs_instance *instance, const char *file, int flags, struct pfs_err *err);

/* A descriptor on a file of the instance, at its start; the caller's. -errno with err set. */
int pfs_instance_open(struct pfs_instance *instance, const char *file, int flags, struct pfs_err *err);

/* Its folder, an absolute path. Borrowed. */
const char *pfs_instance_dir(const struct pfs_instance *instance);

/* Has the kernel this event? */
bool pfs_instance_has_event(const struct pfs_instance *instance, const char *system, const char *name);

/* Switches an event on, with a filter (NULL: none). 0 or -errno with err set. */
int pfs_instance_enable(struct pfs_instance *instance, const char *system, const char *name, const char *filter,
			struct pfs_err *err);

/* Writes to a file of the instance. 0 or -errno with err set. */
int pfs_instance_write(struct pfs_instance *instance, const char *file, const char *text, struct pfs_err *err);

/* Numbers of threads; all 0 is an empty list. The owner frees tids. */
struct pfs_tids {
	pid_t *tids;
	unsigned int nr, max;
};

/* 1: added; 0: it is in the list already; or -ENOMEM. */
int pfs_tids_add(struct pfs_tids *list, pid_t tid);

/* Those from that one on, as set_event_pid takes them, to be freed by the caller; "" for none. NULL: no memory. */
char *pfs_tids_text(const struct pfs_tids *list, unsigned int first);

/*
 * Records the events of the threads from that one on, too. With one write, for each takes the kernel a grace period,
 * before whose end it may miss a thread that runs without a break. 0 or -errno with err set.
 */
int pfs_instance_add_tids(struct pfs_instance *instance, const struct pfs_tids *list, unsigned int first,
			  struct pfs_err *err);

/* ---- dir.c: the folder of tracefs, and the removal of instances in it ---- */

/* Where tracefs is mounted, or NULL with errno and err set (with what to do about it). Borrowed. */
const char *pfs_tracing_dir(struct pfs_err *err);

/*
 * Removes the instance in that folder; one that does not exist is no error. An instance stays busy until its last
 * reader has closed it, a moment longer than the reader lives: patience_ms bounds the wait. 0 or -errno. Allocates
 * no memory, so that a keeper can call it.
 */
int pfs_instance_rmdir(const char *dir, unsigned int patience_ms);

/*
 * Removes all instances and dynamic events whose pfscope is dead; patience_ms bounds the wait for an instance that is
 * still read. Returns the number of instances removed, or -errno with err set.
 */
int pfs_instance_clean(unsigned int patience_ms, struct pfs_err *err);

#endif
