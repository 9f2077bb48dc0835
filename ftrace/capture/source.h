/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --source=ftrace: a capture and the assembler that makes events of what it records. */
#ifndef PFS_CAPTURE_SOURCE_H
#define PFS_CAPTURE_SOURCE_H

#include "event/source.h"

extern const struct pfs_source pfs_ftrace_source;
extern const struct argp_option pfs_ftrace_options[];

#endif
