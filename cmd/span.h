/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spans of time as options give them. */
#ifndef CMD_SPAN_H
#define CMD_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/* "1.5s", "10ms", "20us", "100ns"; more than nothing, at most 10^9 s. */
bool span_parse(const char *word, uint64_t *ns);

#endif
