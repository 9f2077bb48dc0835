/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NS UINT64_C(1000000000000000000)

/* Up to nine decimals, in billionths. */
static bool parse_fraction(char **s, uint64_t *billionths)
{
	uint64_t weight = 1000000000;

	*billionths = 0;
	if (**s != '.')
		return true;
	for (++*s; **s >= '0' && **s <= '9'; ++*s) {
		weight /= 10;
		if (!weight)
			return false;
		*billionths += (**s - '0') * weight;
	}
	return true;
}

bool pfs_duration_parse(const char *word, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "s", 1000000000 },
		{ "ms", 1000000 },
		{ "us", 1000 },
		{ "ns", 1 },
	};
	uint64_t whole, billionths;
	char *rest;

	if (*word < '0' || *word > '9')
		return false;
	whole = strtoull(word, &rest, 10);
	if (!parse_fraction(&rest, &billionths))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(rest, units[i].name) || whole > LONGEST_NS / units[i].ns)
			continue;
		*ns = whole * units[i].ns + billionths * units[i].ns / 1000000000;
		return *ns && *ns <= LONGEST_NS;
	}
	return false;
}

bool pfs_size_parse(const char *word, uint64_t *nr, bool *unit)
{
	static const char units[] = "KMGT";
	const char *of;
	char *end;

	*unit = false;
	if (word[0] < '0' || word[0] > '9')
		return false;
	errno = 0;
	*nr = strtoull(word, &end, 10);
	of = *end ? strchr(units, *end) : NULL;
	if (errno || !*nr || *nr >> 40 || (*end && (!of || end[1])))
		return false;
	if (!of)
		return true;
	*unit = true;
	*nr <<= 10 * (of - units + 1);
	return *nr >> 10 * (of - units + 1) && *nr < UINT64_C(1) << 60;
}
