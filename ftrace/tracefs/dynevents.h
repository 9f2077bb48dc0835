/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dynamic events of pfscope's own: probes at the kernel's fault handler, made for one recording.
 *
 * Definitions belong to the whole system, so each pfscope has a group of its own, named after its tracefs instance
 * ("pfscope_PID_START_N"), and enables its events in that instance only. They are removed after the instance: by the
 * keeper, or by any pfscope that finds that their owner is dead.
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
 * Makes both events in the group; with `region` the first also records flags and region. *how is set to how they are
 * made ("kprobe", with "btf" where the kernel finds arguments by name) or "". 0, or -errno with err set.
 */
int pfs_dynevents_create(const char *group, bool region, const char **how, struct pfs_err *err);

/* Removes those of both that exist. They must not be in use any more. */
void pfs_dynevents_remove(const char *group);

/* How many hits of such events the kernel left out, in all processes. Closes fd. */
#define PFS_DYNEVENTS_PROFILE "../../kprobe_profile" /* as seen from an instance */
unsigned long long pfs_dynevents_missed(int fd);

/* Removes the events of each group of which is_orphaned() returns true. */
void pfs_dynevents_clean(bool (*is_orphaned)(const char *group));

#endif
