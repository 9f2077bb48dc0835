/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses durations and sizes as options give them. */
#ifndef PFS_UNITS_H
#define PFS_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* "1.5s", "10ms", "20us", "100ns": more than 0, at most 10^9 s. */
bool pfs_duration_parse(const char *word, uint64_t *ns);

/*
 * "4096", "64K", "10M", "1G", "2T": 1 to 2^40, or with a unit less than 2^60. *unit: there was one, so *nr is in
 * bytes.
 */
bool pfs_size_parse(const char *word, uint64_t *nr, bool *unit);

#endif
