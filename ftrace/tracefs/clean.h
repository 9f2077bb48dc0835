/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes instances and dynamic events whose pfscope is dead. Their names carry its pid and start time.
 */
#ifndef PFS_TRACEFS_CLEAN_H
#define PFS_TRACEFS_CLEAN_H

#include "base/err.h"

#define PFS_INSTANCE_PREFIX "pfscope-" /* PID-START-NUMBER follow */

/*
 * Removes all of them; patience_ms bounds the wait for one that is still read. Returns the number of instances
 * removed, or -errno with err set.
 */
int pfs_instance_clean(unsigned int patience_ms, struct pfs_err *err);

#endif
