/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 *     Accesses (cache=filp): 1,989 seen at 448 words chosen at random
 *       1.5 % of bytes x time was watched, in 4 of 6 objects
 *       estimates of all accesses, in 88.7 % of the time:
 *           reads (95 %)       writes (95 %)  seen  next instruction, cache (6 more)
 *     18540 (5104-36021)           none seen   309  ext4_llseek+0x12, filp
 */
#include "objects/accesses_text.h"

#include "base/escape.h"
#include "base/units.h"
#include "objects/accesses.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BOLD "\033[1m"
#define OFF  "\033[m"

enum { NAME_MAX_LEN = 300, NUMBERS_WIDTH = 48, ESTIMATE = 32 };
#define NUMBERS "%19s %19s %5s  "

static double all_of(const struct pfs_access_sum *sum)
{
	return sum->estimate[0] + sum->estimate[1];
}

static int by_estimate(const void *a, const void *b)
{
	const struct pfs_access_sum *const *x = a, *const *y = b;
	double first = all_of(*x), second = all_of(*y);
	uint64_t seen = (*x)->seen[0] + (*x)->seen[1], seen_second = (*y)->seen[0] + (*y)->seen[1];

	return (second > first) - (second < first) ?: (seen_second > seen) - (seen_second < seen);
}

/* The sums, those with the most accesses first. NULL: no memory. */
static const struct pfs_access_sum **sorted(const struct pfs_accesses *a)
{
	const struct pfs_access_sum **list = calloc(a->nr_sums + 1, sizeof(*list));

	for (size_t i = 0; list && i < a->nr_sums; i++)
		list[i] = &a->sums[i];
	if (list)
		qsort(list, a->nr_sums, sizeof(*list), by_estimate);
	return list;
}

static uint64_t rounded(double value)
{
	return value < 0 ? 0 : value + 0.5;
}

/* "412K (380K-441K)"; an exact number has no interval. */
static const char *estimate_text(char buf[ESTIMATE], const struct pfs_accesses *a, const struct pfs_access_sum *sum,
				 bool write)
{
	char number[8], low[8], high[8];
	double interval[2];

	pfs_access_interval(a, sum, write, interval);
	pfs_short_number(number, rounded(sum->estimate[write]));
	if (isinf(interval[1]))
		snprintf(buf, ESTIMATE, "none seen");
	else if (interval[0] < interval[1])
		snprintf(buf, ESTIMATE, "%s (%s-%s)", number, pfs_short_number(low, floor(interval[0])),
			 pfs_short_number(high, ceil(interval[1])));
	else
		snprintf(buf, ESTIMATE, "%s", number);
	return buf;
}

static void put_name(const struct pfs_kmap *k, const struct pfs_access_sum *sum)
{
	char site[NAME_MAX_LEN], name[2 * NAME_MAX_LEN], text[2 * NAME_MAX_LEN], fit[NAME_MAX_LEN];

	snprintf(name, sizeof(name), "%s, %s", pfs_objects_site_text(k->objects, sum->site, site, sizeof(site)),
		 pfs_objects_cache(k->objects, sum->cache));
	pfs_escape(text, sizeof(text), name, 0);
	pfs_fit_head(fit, sizeof(fit), text, k->width > NUMBERS_WIDTH + 8 ? k->width - NUMBERS_WIDTH : 8, "..");
	fprintf(k->out, "%s\n", fit);
}

static void put_row(const struct pfs_kmap *k, const struct pfs_access_sum *sum)
{
	const struct pfs_accesses *a = pfs_objects_accesses(k->objects);
	char reads[ESTIMATE], writes[ESTIMATE], seen[8];

	fprintf(k->out, NUMBERS, estimate_text(reads, a, sum, false), estimate_text(writes, a, sum, true),
		pfs_short_number(seen, sum->seen[0] + sum->seen[1]));
	put_name(k, sum);
}

/* Words that were not chosen at random have no estimates. */
static void put_seen_row(const struct pfs_kmap *k, const struct pfs_access_sum *sum)
{
	char reads[8], writes[8], seen[8];

	fprintf(k->out, NUMBERS, pfs_short_number(reads, sum->seen[0]), pfs_short_number(writes, sum->seen[1]),
		pfs_short_number(seen, sum->seen[0] + sum->seen[1]));
	put_name(k, sum);
}

static uint64_t seen_of(const struct pfs_accesses *a)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < a->nr_sums; i++)
		seen += a->sums[i].seen[0] + a->sums[i].seen[1];
	return seen;
}

static double coverage(const struct pfs_access_stats *s)
{
	return s->byte_ns > 0 ? s->watched_byte_ns / s->byte_ns : 0;
}

static double of_time(const struct pfs_kmap *k, const struct pfs_access_stats *s)
{
	const struct pfs_objects_stats *all = pfs_objects_stats(k->objects);

	return all->last_ns > all->first_ns ? (double)s->watched_ns / (all->last_ns - all->first_ns) : 0;
}

/* Columns: of words chosen at random, of wprobe events, of samples. */
static const char *const heads[3][2] = {
	{ "reads (95 %)", "writes (95 %)" },
	{ "value unchanged", "value changed" },
	{ "reads or unknown", "writes" },
};

void pfs_kmap_accesses_text(const struct pfs_kmap *k, unsigned int few)
{
	const struct pfs_accesses *a = pfs_objects_accesses(k->objects);
	const struct pfs_access_sum **list = a ? sorted(a) : NULL;
	char seen[32], words[48], watched[32], objects[48], where[NAME_MAX_LEN], fit[40];
	size_t rows = k->top ? k->top : few;
	const char *const *head;

	if (!list)
		return;
	head = heads[a->stats.samples + a->stats.not_random];
	pfs_escape(where, sizeof(where), a->stats.where, 0);
	pfs_fit_head(fit, sizeof(fit), where, 22, "..");
	pfs_grouped_text(watched, a->stats.nr_watched);
	pfs_plural(objects, sizeof(objects), a->stats.nr_objects, "object");
	fprintf(k->out, "\nAccesses (%s): %s seen ", fit, pfs_grouped_text(seen, seen_of(a)));
	if (a->stats.samples)
		fprintf(k->out, "in %s of %s\n", watched, objects);
	else
		fprintf(k->out, "at %s %s\n", pfs_plural(words, sizeof(words), a->stats.nr_words, "word"),
			a->stats.not_random ? "by wprobe events" : "chosen at random");
	if (a->stats.lost || a->stats.lost_unknown)
		fprintf(k->out, "  %s%" PRIu64 " ACCESSES LOST\n", a->stats.lost_unknown ? "at least " : "",
			a->stats.lost);
	if (!a->stats.samples)
		fprintf(k->out, "  %s%.2g %% of bytes x time was watched, in %s of %s\n",
			a->stats.not_random ? "at least " : "", 100 * coverage(&a->stats), watched, objects);
	if (a->stats.not_random)
		fputs("  what was seen; how much that is of all is not known:\n", k->out);
	else
		fprintf(k->out, "  %sestimates of all accesses, in %.3g %% of the time:\n",
			a->stats.nr_spreads < PFS_ACCESS_FEW ? "rough (few words) " : "", 100 * of_time(k, &a->stats));
	if (!a->nr_sums)
		fputs("  (none)\n", k->out);
	else
		fprintf(k->out, "%s" NUMBERS "%s%s", k->color ? BOLD : "", head[0], head[1], "seen",
			a->stats.samples ? "instruction, cache" : "next instruction, cache", k->color ? OFF : "");
	if (a->nr_sums > rows)
		fprintf(k->out, " (%zu more)", a->nr_sums - rows);
	if (a->nr_sums)
		fputc('\n', k->out);
	for (size_t i = 0; i < a->nr_sums && i < rows; i++)
		(a->stats.not_random ? put_seen_row : put_row)(k, list[i]);
	free(list);
}

static void watched_comment(const struct pfs_kmap *k, const struct pfs_access_stats *s)
{
	char words[48], watched[32], objects[48], where[NAME_MAX_LEN], lost[32];

	if (s->samples) {
		fprintf(k->out,
			"# Accesses: data addresses that CPUs have sampled, in %s of %s; how many accesses each of them stands for is not known. access_ip is the instruction itself; what is not known to be a write counts as a read.\n",
			pfs_grouped_text(watched, s->nr_watched),
			pfs_plural(objects, sizeof(objects), s->nr_objects, "object"));
		return;
	}
	pfs_escape(where, sizeof(where), s->where, 0);
	fprintf(k->out, "# Watched (%s): %s %s in %s of %s, %s%.2g %% of bytes x time%s", where,
		pfs_plural(words, sizeof(words), s->nr_words, "word"),
		s->not_random ? "by wprobe events" : "chosen at random", pfs_grouped_text(watched, s->nr_watched),
		pfs_plural(objects, sizeof(objects), s->nr_objects, "object"), s->not_random ? "at least " : "",
		100 * coverage(s), s->not_random ? "; write_count: the value changed, read_count: it did not" : "");
	if (s->lost || s->lost_unknown)
		fprintf(k->out, "; %s%s accesses are lost", s->lost_unknown ? "at least " : "",
			pfs_grouped_text(lost, s->lost));
	fputs(".\n", k->out);
}

void pfs_kmap_watched(struct pfs_kmap *k)
{
	const struct pfs_accesses *a = pfs_objects_accesses(k->objects);

	if (!a)
		return;
	if (k->form == PFS_KMAP_TEXT)
		watched_comment(k, &a->stats);
	if (k->form != PFS_KMAP_JSON)
		return;
	pfs_json_begin(&k->json, "watched", "{");
	pfs_json_string(&k->json, "where", a->stats.where);
	pfs_json_u64(&k->json, "interval_ns", a->stats.interval_ns);
	pfs_json_u64(&k->json, "words", a->stats.nr_words);
	pfs_json_u64(&k->json, "objects", a->stats.nr_objects);
	pfs_json_u64(&k->json, "objects_watched", a->stats.nr_watched);
	if (!a->stats.samples)
		pfs_json_format(&k->json, "coverage", "%.6f", coverage(&a->stats));
	if (a->stats.lost_unknown)
		pfs_json_raw(&k->json, "lost", "null");
	else
		pfs_json_u64(&k->json, "lost", a->stats.lost);
	pfs_json_end(&k->json, "}");
}

static const struct pfs_column watched_columns[] = {
	{ "where", "where", PFS_COLUMN_LEFT },
	{ "interval_ns", "interval_ns", 0 },
	{ "seconds", "seconds", PFS_COLUMN_SECONDS },
	{ "words", "words", 0 },
	{ "objects", "objects", 0 },
	{ "objects_watched", "objects_watched", 0 },
	{ "coverage", "coverage", PFS_COLUMN_MILLIONTHS },
	{ "seen", "seen", 0 },
	{ "strays", "strays", 0 },
	{ "lost", "lost", 0 },
	{ 0 },
};

static const struct pfs_column columns[] = {
	{ "function", "function", PFS_COLUMN_LEFT },
	{ "address", "address", PFS_COLUMN_LEFT },
	{ "cache", "cache", PFS_COLUMN_LEFT },
	{ "reads_seen", "reads_seen", 0 },
	{ "writes_seen", "writes_seen", 0 },
	{ "reads", "reads", 0 },
	{ "reads_low", "reads_low", 0 },
	{ "reads_high", "reads_high", 0 },
	{ "writes", "writes", 0 },
	{ "writes_low", "writes_low", 0 },
	{ "writes_high", "writes_high", 0 },
	{ 0 },
};

static void add_watched(struct pfs_table *table, const struct pfs_accesses *a)
{
	const struct pfs_access_stats *s = &a->stats;

	pfs_table_word(table, s->where);
	pfs_table_numbers(table, s->interval_ns, s->watched_ns, s->nr_words, s->nr_objects, s->nr_watched);
	pfs_table_known(table, !s->samples, rounded(coverage(s) * 1e6));
	pfs_table_numbers(table, seen_of(a), s->strays);
	pfs_table_known(table, !s->lost_unknown, s->lost);
}

static void add_sum(struct pfs_table *table, const struct pfs_kmap *k, const struct pfs_access_sum *sum)
{
	const struct pfs_object_site *site = pfs_objects_site(k->objects, sum->site);
	const struct pfs_accesses *a = pfs_objects_accesses(k->objects);
	bool known = !a->stats.not_random;
	char address[32] = "";

	if (site->addr)
		snprintf(address, sizeof(address), "0x%" PRIx64, site->addr);
	pfs_table_word(table, site->func ? site->func : "");
	pfs_table_word(table, address);
	pfs_table_word(table, pfs_objects_cache(k->objects, sum->cache));
	pfs_table_numbers(table, sum->seen[0], sum->seen[1]);
	for (int write = 0; write < 2; write++) {
		double interval[2];

		pfs_access_interval(a, sum, write, interval);
		pfs_table_known(table, known, rounded(sum->estimate[write]));
		pfs_table_known(table, known, floor(interval[0]));
		pfs_table_known(table, known && !isinf(interval[1]), isinf(interval[1]) ? 0 : ceil(interval[1]));
	}
}

int pfs_kmap_accesses_tables(struct pfs_kmap *k,
			     int (*write)(struct pfs_kmap *kmap, struct pfs_table *table, const char *name))
{
	const struct pfs_accesses *a = pfs_objects_accesses(k->objects);
	const struct pfs_access_sum **list;
	struct pfs_table *table;
	int ret;

	if (!a)
		return 0;
	list = sorted(a);
	if (!list)
		return -ENOMEM;
	table = pfs_table_new(watched_columns);
	if (table)
		add_watched(table, a);
	ret = write(k, table, "watched");
	table = ret ? NULL : pfs_table_new(columns);
	for (size_t i = 0; table && i < a->nr_sums; i++)
		add_sum(table, k, list[i]);
	free(list);
	return ret ?: write(k, table, "accesses");
}
