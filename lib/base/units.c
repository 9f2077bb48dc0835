/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/units.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_NS (1000000000 * PFS_NS_PER_S)

static const struct {
	const char *name;
	uint64_t ns;
} durations[] = {
	{ "s", PFS_NS_PER_S },
	{ "ms", 1000000 },
	{ "us", 1000 },
	{ "ns", 1 },
};
enum { NR_DURATIONS = sizeof(durations) / sizeof(durations[0]) };

static const char binary_units[] = "KMGTPE", decimal_units[] = "kMGTPE";

/* "12", "1.5", ".25": *rest is behind it. Nothing is rounded: digits after the ninth must be 0. */
static bool parse_decimal(const char *s, uint64_t *whole, uint64_t *billionths, const char **rest)
{
	uint64_t weight = 1000000000;

	*whole = *billionths = 0;
	if ((*s != '.' && !pfs_take_dec(&s, UINT64_MAX, whole)) || (*s == '.' && !pfs_is_digit(s[1])))
		return false;
	for (s += *s == '.'; pfs_is_digit(*s); s++) {
		weight /= 10;
		if (!weight && *s != '0')
			return false;
		*billionths += (*s - '0') * weight;
	}
	*rest = s;
	return true;
}

bool pfs_seconds_parse(const char *word, uint64_t *ns)
{
	uint64_t whole, billionths;
	const char *rest;

	if (!parse_decimal(word, &whole, &billionths, &rest))
		return false;
	for (unsigned int i = 0; i < NR_DURATIONS; i++) {
		if (strcmp(*rest ? rest : "s", durations[i].name))
			continue;
		*ns = whole * durations[i].ns + billionths * durations[i].ns / 1000000000;
		return whole < UINT64_MAX / durations[i].ns;
	}
	return false;
}

bool pfs_duration_parse(const char *word, uint64_t *ns)
{
	return pfs_seconds_parse(word, ns) && *ns && *ns <= LONGEST_NS;
}

bool pfs_size_parse(const char *word, uint64_t *nr, bool *unit)
{
	const char *of;

	*unit = false;
	if (!pfs_take_dec(&word, (UINT64_C(1) << 40) - 1, nr))
		return false;
	of = *word ? strchr(binary_units, *word) : NULL;
	if (!*nr || (*word && (!of || of - binary_units > 3 || word[1])))
		return false;
	if (!of)
		return true;
	*unit = true;
	*nr <<= 10 * (of - binary_units + 1);
	return *nr >> 10 * (of - binary_units + 1) && *nr < UINT64_C(1) << 60;
}

/* n in the first of the units. One decimal where it is not 0 and n is short. */
static const char *put_scaled(char *buf, size_t size, double n, const char *units, unsigned int step)
{
	for (; n >= step - 0.5 && units[1]; n /= step)
		units++;
	snprintf(buf, size, "%.*f%c", n >= 99.95 || n == (uint64_t)n ? 0 : 1, n, *units);
	return buf;
}

const char *pfs_size_text(char buf[8], uint64_t bytes)
{
	return put_scaled(buf, 8, bytes / 1024.0, binary_units, 1024);
}

const char *pfs_bytes_text(char buf[16], uint64_t bytes)
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	double n = bytes;
	unsigned int i;

	for (i = 0; n >= 1000 && i < 4; i++)
		n /= 1000;
	snprintf(buf, 16, "%.*f %s", n < 10 && i, n, units[i]);
	return buf;
}

const char *pfs_short_number(char buf[8], uint64_t number)
{
	if (number >= 100000)
		return pfs_size_text(buf, number);
	snprintf(buf, 8, "%u", (unsigned int)number);
	return buf;
}

const char *pfs_decimal_text(char buf[32], double number)
{
	int decimals = number >= 9.95 || number == (uint64_t)number ? 0 : number >= 1 ? 1 : 2;

	if (number >= 99999.5)
		return put_scaled(buf, 32, number / 1000, decimal_units, 1000);
	if (number > 0 && number < 0.095)
		snprintf(buf, 32, "%.1g", number);
	else
		snprintf(buf, 32, "%.*f", decimals, number);
	return buf;
}

const char *pfs_grouped_text(char buf[32], uint64_t number)
{
	char digits[24];
	size_t len = snprintf(digits, sizeof(digits), "%" PRIu64, number), put = 0;

	for (size_t i = 0; i < len; i++) {
		buf[put++] = digits[i];
		if ((len - i) % 3 == 1 && i + 1 < len)
			buf[put++] = ',';
	}
	buf[put] = '\0';
	return buf;
}

const char *pfs_plural(char *buf, size_t size, uint64_t number, const char *noun)
{
	size_t len = strlen(noun);
	bool hisses = len > 2 && !strcmp(noun + len - 2, "ss");
	char text[32];

	snprintf(buf, size, "%s %s%s", pfs_grouped_text(text, number), noun, number == 1 ? "" : hisses ? "es" : "s");
	return buf;
}

const char *pfs_at_least(char *buf, size_t size, uint64_t number, bool more, const char *noun)
{
	int len = snprintf(buf, size, more ? (number ? "at least " : "some ") : "");

	if (number || !more)
		pfs_plural(buf + len, size - len, number, noun);
	else
		snprintf(buf + len, size - len, "%ss", noun);
	return buf;
}

const char *pfs_duration_text(char buf[32], uint64_t ns, int digits)
{
	unsigned int i = 0;

	while (i + 1 < NR_DURATIONS && ns < durations[i].ns)
		i++;
	if (ns >= 1000 * PFS_NS_PER_S && digits < 10)
		snprintf(buf, 32, "%" PRIu64 " s", ns / PFS_NS_PER_S);
	else
		snprintf(buf, 32, "%.*g %s", digits, (double)ns / durations[i].ns, durations[i].name);
	return buf;
}

const char *pfs_fixed_text(char buf[24], uint64_t number, int decimals)
{
	uint64_t one = 1;

	for (int i = 0; i < decimals; i++)
		one *= 10;
	snprintf(buf, 24, "%" PRIu64 ".%0*" PRIu64, number / one, decimals, number % one);
	return buf;
}
