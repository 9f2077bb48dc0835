/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/nearest.h"

#include <string.h>

enum { LONGEST = 63 };

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Levenshtein's, by rows: row[j] is the distance of the letters of the glob so far to the first j of the name. */
static unsigned int distance(const char *glob, const char *name)
{
	unsigned int row[LONGEST + 1], len = strnlen(name, LONGEST);

	for (unsigned int j = 0; j <= len; j++)
		row[j] = j;
	for (unsigned int i = 0; i < LONGEST && glob[i]; i++) {
		unsigned int step = glob[i] != '*', before = row[0];

		row[0] += step;
		for (unsigned int j = 1; j <= len; j++) {
			unsigned int changed = before + (step && glob[i] != '?' && glob[i] != name[j - 1]);

			before = row[j];
			row[j] = least(changed, least(row[j], row[j - 1]) + step);
		}
	}
	return row[len];
}

void pfs_nearest_try(struct pfs_nearest *nearest, const char *name)
{
	unsigned int far = distance(nearest->word, name);

	if (far > nearest->most || (nearest->name && far == nearest->most))
		return;
	nearest->most = far;
	nearest->name = name;
}
