/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --source=stap: a session; its file is event lines, which every command reads. */
#ifndef PFS_SESSION_SOURCE_H
#define PFS_SESSION_SOURCE_H

#include "event/source.h"

extern const struct pfs_source pfs_stap_source;
extern const struct argp_option pfs_stap_options[];

#endif
