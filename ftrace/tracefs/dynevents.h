/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dynamic events of pfscope's own: probes at the kernel's fault handler, made for one recording.
 *
 * Their definitions are the whole system's, so each pfscope has a group of its own, named after its
 * tracefs instance ("pfscope_PID_START_N"), and they are switched on in that instance only. They go
 * when the instance has gone: in order, by the keeper, or by whoever finds that their owner is
 * dead.
 */
#ifndef PFS_DYNEVENTS_H
#define PFS_DYNEVENTS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define PFS_HANDLER_EVENT     "pfs_handler"
#define PFS_HANDLER_END_EVENT "pfs_handler_end"

/* The group of the instance in `dir` ("…/instances/pfscope-1-2-0"): "pfscope_1_2_0". */
void pfs_dynevents_group(const char *dir, char *group, size_t size);

/*
 * Makes both events in the group; with `region` the first also says flags and region. *how is set
 * to how they are made ("kprobe", with "btf" where the kernel finds arguments by name) or "". 0, or
 * -errno with err set: what the kernel refused.
 */
int pfs_dynevents_create(const char *tracing_dir, const char *group, bool region, const char **how,
			 struct pfs_err *err);

/*
 * Removes both, or what there is of them. Must not be in use any more. Safe in a keeper: no memory.
 */
void pfs_dynevents_remove(const char *tracing_dir, const char *group);

/* How often the kernel had to let a hit of such an event pass by, whosever process it was. Closes fd. */
#define PFS_DYNEVENTS_PROFILE "../../kprobe_profile" /* as seen from an instance */
unsigned long long pfs_dynevents_missed(int fd);

/*
 * Calls orphaned() with each group of a pfscope's that is there, and removes those it says yes to.
 * How many went, or -errno with err set.
 */
int pfs_dynevents_clean(const char *tracing_dir, bool (*orphaned)(const char *group), struct pfs_err *err);

#endif
