/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel symbols as a sorted array. */
#include "os/kallsyms.h"

#include "base/array.h"
#include "base/number.h"
#include "base/write_all.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
	uint64_t addr;
	const char *name; /* in text */
};

struct pfs_symbols {
	char *text; /* cut up: names end in NUL */
	struct symbol *list;
	size_t nr, max;
};

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* ffffffff81234560 T do_wp_page		or, of a module:  ... t read_page	[ext4] */
static int take_line(struct pfs_symbols *s, char *line)
{
	struct symbol *symbol;
	const char *p = line;
	uint64_t addr;
	char *name;

	if (!pfs_take_hex(&p, UINT64_MAX, &addr) || !addr || p[0] != ' ' || !p[1] || !strchr("tTwW", p[1]) ||
	    p[2] != ' ')
		return 0;
	name = line + (p + 3 - line);
	name[strcspn(name, " \t\r")] = '\0';
	if (!*name)
		return 0;
	symbol = pfs_array_add(s->list, s->nr, s->max);
	if (!symbol)
		return -ENOMEM;
	*symbol = (struct symbol){ addr, name };
	return 0;
}

struct pfs_symbols *pfs_symbols_parse(const char *text, size_t len)
{
	struct pfs_symbols *s = calloc(1, sizeof(*s));
	char *save = NULL;

	if (!s)
		return NULL;
	s->text = strndup(text, len);
	if (!s->text)
		goto no_memory;
	for (char *line = strtok_r(s->text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (take_line(s, line) < 0)
			goto no_memory;
	if (s->nr)
		qsort(s->list, s->nr, sizeof(*s->list), by_addr);
	return s;
no_memory:
	pfs_symbols_free(s);
	return NULL;
}

struct pfs_symbols *pfs_symbols_load(struct pfs_err *err)
{
	static const char path[] = "/proc/kallsyms";
	struct pfs_symbols *s;
	size_t len;
	char *text = pfs_read_whole_file(path, &len);

	if (!text) {
		pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
		return NULL;
	}
	s = pfs_symbols_parse(text, len);
	free(text);
	if (s && s->nr)
		return s;
	pfs_symbols_free(s);
	pfs_err_set(err, s ? -EPERM : -ENOMEM, s ? "%s: the kernel hides its addresses" : "%s: no memory for it", path);
	return NULL;
}

void pfs_symbols_free(struct pfs_symbols *s)
{
	if (!s)
		return;
	free(s->list);
	free(s->text);
	free(s);
}

const char *pfs_symbols_find(const struct pfs_symbols *s, uint64_t addr, uint64_t *start)
{
	size_t lo = s ? pfs_lower_bound(s->nr, i, s->list[i].addr <= addr) : 0;

	if (!lo)
		return NULL;
	if (start)
		*start = s->list[lo - 1].addr;
	return s->list[lo - 1].name;
}

bool pfs_symbols_next(const struct pfs_symbols *s, const char *name, uint64_t *start, uint64_t *end)
{
	size_t first = pfs_lower_bound(s->nr, k, s->list[k].addr < *end);

	for (size_t i = first; i < s->nr; i++) {
		size_t next = i + 1;

		if (strcmp(s->list[i].name, name))
			continue;
		while (next < s->nr && s->list[next].addr == s->list[i].addr)
			next++;
		*start = s->list[i].addr;
		*end = next < s->nr ? s->list[next].addr : *start + 1;
		return true;
	}
	return false;
}

const char *pfs_symbols_chain(const struct pfs_symbols *symbols, const uint64_t *frames, size_t nr, bool cut,
			      char **text, size_t *max)
{
	enum { ROOM = 128 };
	size_t len = 0;

	if (!pfs_array_reserve(*text, 0, *max, nr * ROOM + sizeof(";...")))
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		const char *between = i ? ";" : "", *name;
		uint64_t start;

		name = symbols && frames[i] >> 56 ? pfs_symbols_find(symbols, frames[i], &start) : NULL;
		if (name)
			len += snprintf(*text + len, ROOM, "%s%.90s+0x%" PRIx64, between, name, frames[i] - start);
		else
			len += snprintf(*text + len, ROOM, "%s0x%" PRIx64, between, frames[i]);
	}
	strcpy(*text + len, cut ? ";..." : "");
	return *text;
}
