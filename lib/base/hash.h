/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uthash, but a table that cannot grow is told instead of ending the program. */
#ifndef PFS_HASH_H
#define PFS_HASH_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Was there no memory to add it? It is in no table then. */
#define HASH_ADD_FAILED(element) (!(element)->hh.tbl)

#endif
