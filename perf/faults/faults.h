/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --source=perf: a live recording through perf's software events, for ordinary accounts and their own processes.
 *
 * minor-faults and major-faults fire when the kernel has handled a fault: they report address, instruction, thread and
 * class, and neither the access nor a fault that ends in a signal. Without CAP_PERFMON there are those of user mode only.
 * The side-band reports what is mapped; what is unmapped or moved is concluded from /proc/PID/maps, read now and then.
 * The source's file format is event lines.
 */
#ifndef PFS_FAULTS_H
#define PFS_FAULTS_H

#include "event/source.h"

extern const struct pfs_source pfs_perf_source;
extern const struct argp_option pfs_perf_options[];

#endif
