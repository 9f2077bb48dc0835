/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sizes, durations and numbers: parsed as options give them, printed for people. Machine-readable output goes through
 * base/put.h, base/json.h and base/table.h.
 */
#ifndef PFS_UNITS_H
#define PFS_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFS_NS_PER_S UINT64_C(1000000000)

/* "12", "0.25", ".000000001": seconds, exact to the nanosecond; "1.5s", "10ms", "20us", "100ns". */
bool pfs_seconds_parse(const char *word, uint64_t *ns);

/* The same, more than 0, at most 10^9 s. */
bool pfs_duration_parse(const char *word, uint64_t *ns);

/*
 * "4096", "64K", "10M", "1G", "2T": 1 to 2^40, or with a unit less than 2^60. *unit: there was one, so *nr is in
 * bytes.
 */
bool pfs_size_parse(const char *word, uint64_t *nr, bool *unit);

/* All of these return buf. */

/* "4K", "1.5M": bytes, in units of 1024. */
const char *pfs_size_text(char buf[8], uint64_t bytes);

/* "512 bytes", "1.2 GB", "34 GB": in units of 1000. */
const char *pfs_bytes_text(char buf[16], uint64_t bytes);

/* 99999, 97.7K, 256M: at most five columns, in units of 1024. */
const char *pfs_short_number(char buf[8], uint64_t number);

/* "0.25", "4711", "954M": three digits at least, in units of 1000. */
const char *pfs_decimal_text(char buf[32], double number);

/* "4,016,219" */
const char *pfs_grouped_text(char buf[32], uint64_t number);

/* "1 page", "4,016 passes" */
const char *pfs_plural(char *buf, size_t size, uint64_t number, const char *noun);

/* more: than that, nobody knows how many: "at least 3 events", of 0 "some events". Returns buf. */
const char *pfs_at_least(char *buf, size_t size, uint64_t number, bool more, const char *noun);

/* "250 us", "1.5 s": rounded to that many digits, but a duration of 1000 s and more to seconds. */
const char *pfs_duration_text(char buf[32], uint64_t ns, int digits);

/* "1.204000": a number of the millionths (6 decimals; 9: billionths ...) of something. */
const char *pfs_fixed_text(char buf[24], uint64_t number, int decimals);

#endif
