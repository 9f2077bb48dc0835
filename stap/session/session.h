/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --source=stap: a live recording through a SystemTap module, which is built (or found in the cache), loaded, drained
 * while it runs, stopped, and read back.
 *
 * The module's records (tapset/wire.h) go unread from staprun's standard output into a spool (spool.c); the decoder
 * makes events of them. The source's file format is event lines.
 */
#ifndef PFS_STAP_SESSION_H
#define PFS_STAP_SESSION_H

#include "event/source.h"

/* May the caller load a module that it has built? 0, or -errno with err set to why not. */
int pfs_stap_may_load(struct pfs_err *err);

/* Can the caller build and load a module that hides pages, as far as that is known before? 0, or -errno with err set. */
int pfs_stap_may_hide(struct pfs_err *err);

extern const struct pfs_source pfs_stap_source;
extern const struct argp_option pfs_stap_options[];

#endif
