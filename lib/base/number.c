/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/number.h"

#include <string.h>

static bool take(const char **at, const char *end, uint64_t value, uint64_t max, uint64_t *nr)
{
	if (end == *at || value > max)
		return false;
	*at = end;
	*nr = value;
	return true;
}

bool pfs_take_dec(const char **at, uint64_t max, uint64_t *nr)
{
	uint64_t value = 0;
	const char *end = pfs_dec(*at, &value);

	return take(at, end, value, max, nr);
}

bool pfs_take_hex(const char **at, uint64_t max, uint64_t *nr)
{
	uint64_t value = 0;
	const char *end = pfs_hex(*at, &value);

	return take(at, end, value, max, nr);
}

bool pfs_number_parse(const char *word, uint64_t min, uint64_t max, uint64_t *nr)
{
	uint64_t value;

	if (!pfs_take_dec(&word, max, &value) || *word || value < min)
		return false;
	*nr = value;
	return true;
}

pid_t pfs_pid_parse(const char *word)
{
	uint64_t pid;

	return pfs_number_parse(word, 1, INT32_MAX, &pid) ? (pid_t)pid : 0;
}

bool pfs_number_behind(const char *text, const char *key, uint64_t *nr)
{
	const char *at = strstr(text, key);

	if (!at)
		return false;
	at += strlen(key);
	at += strspn(at, " \t");
	return pfs_take_dec(&at, UINT64_MAX, nr);
}
