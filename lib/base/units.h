/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spans of time and amounts of memory as options give them. */
#ifndef CMD_SPAN_H
#define CMD_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/* "1.5s", "10ms", "20us", "100ns"; more than nothing, at most 10^9 s. */
bool span_parse(const char *word, uint64_t *ns);

/*
 * "4096", "64K", "10M", "1G", "2T": 1 to 2^40, or with a unit less than 2^60. unit: there was one, and *nr is in
 * bytes.
 */
bool amount_parse(const char *word, uint64_t *nr, bool *unit);

#endif
