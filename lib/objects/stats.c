/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the objects add up to. Text begins with the answer and fits a screen; CSV and JSON have all rows and columns.
 *
 *     sh -c true: 12,345 objects allocated by 3 processes in 2.0 s (3.1M requested, 4.0M used)
 *       12,001 freed, 40 by other processes; 12 freed unseen; 332 alive at the end; no events lost
 *       most at a time: 120K at 1.2 s; size classes waste 22 %
 *
 *     allocs  frees  alive   peak waste life 50%    99%  cache
 */
#include "objects/kmap.h"

#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"
#include "objects/accesses_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define BOLD "\033[1m"
#define OFF  "\033[m"

enum { NAME_MAX_LEN = 300, NUMBERS_WIDTH = 55, LEAKS_SHOWN = 1, LEAK_LINES = 2, ROWS = 4 };

/* Per table: its name in CSV and JSON, its column's head in text, and rows on the first screen (0: with --top only). */
static const struct {
	const char *name, *head;
	unsigned int rows;
} tables[PFS_NR_TALLIES] = {
	[PFS_TALLY_ALL] = { "all", NULL, 0 },
	[PFS_TALLY_CACHE] = { "cache", "cache", 3 },
	[PFS_TALLY_SITE] = { "site", "allocated by", 3 },
	[PFS_TALLY_SIZE] = { "size", "bytes, at most", 0 },
	[PFS_TALLY_PROCESS] = { "process", "process", 1 },
};

static const char *row_name(char *buf, size_t size, const struct pfs_kmap *k, int by, const struct pfs_tally_row *row)
{
	const struct pfs_object_who *who;

	switch (by) {
	case PFS_TALLY_CACHE:
		snprintf(buf, size, "%s", pfs_objects_cache(k->objects, row->nr));
		break;
	case PFS_TALLY_SITE:
		pfs_objects_site_text(k->objects, row->nr, buf, size);
		break;
	case PFS_TALLY_SIZE:
		snprintf(buf, size, "%" PRIu64, UINT64_C(1) << row->nr);
		break;
	case PFS_TALLY_PROCESS:
		who = pfs_objects_who(k->objects, row->nr);
		snprintf(buf, size, "%s (%s %" PRId32 ")", who->comm ? who->comm : "?", who->pid ? "pid" : "thread",
			 who->pid ? who->pid : who->tid);
		break;
	default:
		snprintf(buf, size, "all");
	}
	return buf;
}

/* Of the bytes given, those that were not requested. */
static unsigned int waste_percent(const struct pfs_tally_row *row)
{
	return row->used > row->asked ? 100 * (row->used - row->asked) / row->used : 0;
}

static uint64_t duration_ns(const struct pfs_kmap *k)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(k->objects);

	return s->last_ns - s->first_ns;
}

/* Without the pauses. */
static uint64_t recorded_ns(const struct pfs_kmap *k)
{
	uint64_t whole = duration_ns(k), paused = pfs_objects_stats(k->objects)->paused_ns;

	return whole > paused ? whole - paused : 0;
}

/* ---- text ---- */

/* The kernel frees objects of some caches without an event, which shows when their addresses are allocated again. */
static void put_unseen(const struct pfs_kmap *k, const struct pfs_tally *tally)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(k->objects);
	const struct pfs_tally_table *caches = &tally->by[PFS_TALLY_CACHE];
	const struct pfs_tally_row *most = caches->rows;
	char count[32], name[NAME_MAX_LEN], fit[40];

	for (size_t i = 1; i < caches->nr; i++)
		if (caches->rows[i].unseen - caches->rows[i].unseen_paused > most->unseen - most->unseen_paused)
			most = &caches->rows[i];
	pfs_escape(name, sizeof(name), pfs_objects_cache(k->objects, most->nr), 0);
	pfs_fit_head(fit, sizeof(fit), name, 24, "..");
	fprintf(k->out, "  %s freed without an event, mostly %s: where alive is <=\n",
		pfs_grouped_text(count, s->unseen - s->unseen_paused), fit);
}

static void put_pauses(const struct pfs_kmap *k, bool unsure)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(k->objects);
	char recorded[32], whole[32], times[32];

	snprintf(times, sizeof(times), "%u times", s->nr_pauses);
	fprintf(k->out, "  recorded %s of %s: paused %s%s\n", pfs_duration_text(recorded, recorded_ns(k), 3),
		pfs_duration_text(whole, duration_ns(k), 3),
		s->nr_pauses == 1   ? "once"
		: s->nr_pauses == 2 ? "twice"
				    : times,
		unsure ? "; some alive (<=) may be freed" : "");
}

/* The other names of a merged cache. */
static void other_names(char *buf, size_t size, const char *names, const char *own)
{
	size_t len = 0, word;

	*buf = '\0';
	for (const char *at = names; *at && len < size; at += word + (at[word] == ' ')) {
		word = strcspn(at, " ");
		if (word != strlen(own) || strncmp(at, own, word))
			len += snprintf(buf + len, size - len, "%s%.*s", len ? " " : "", (int)word, at);
	}
}

/* An event names one of a merged cache's names: those of the cache with the most bytes, and how many more there are. */
static void put_merged(const struct pfs_kmap *k, const struct pfs_tally *tally)
{
	const struct pfs_tally_table *caches = &tally->by[PFS_TALLY_CACHE];
	const char *own = NULL, *names;
	char others[NAME_MAX_LEN] = "", text[NAME_MAX_LEN], name[NAME_MAX_LEN], first[40], fit[40];
	size_t nr = 0;

	for (size_t i = 0; i < caches->nr; i++) {
		names = pfs_objects_merged(k->objects, caches->rows[i].nr);
		if (!names || nr++)
			continue;
		own = pfs_objects_cache(k->objects, caches->rows[i].nr);
		other_names(others, sizeof(others), names, own);
	}
	if (!own)
		return;
	pfs_escape(name, sizeof(name), own, 0);
	pfs_escape(text, sizeof(text), others, 0);
	pfs_fit_head(first, sizeof(first), name, 16, "..");
	pfs_fit_head(fit, sizeof(fit), text, 20, "..");
	fprintf(k->out, "  Merged by the kernel: %s is also %s", first, fit);
	if (nr > 1)
		fprintf(k->out, " (%zu more)", nr - 1);
	fputc('\n', k->out);
}

/* Without the folder of the program. */
static const char *short_command(const char *command)
{
	size_t len = strcspn(command, " ");

	while (len && command[len - 1] != '/')
		len--;
	return command + len;
}

/* May some of the living have been freed? Each object is of a cache. */
static bool may_be_fewer(const struct pfs_tally *tally, const struct pfs_tally_row *all)
{
	const struct pfs_tally_table *caches = &tally->by[PFS_TALLY_CACHE];
	bool fewer = all->unsure_live;

	for (size_t i = 0; i < caches->nr; i++)
		fewer |= caches->rows[i].unsure && caches->rows[i].live;
	return fewer;
}

static void put_frees(const struct pfs_kmap *k, const struct pfs_tally *tally, const struct pfs_tally_row *all)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(k->objects);
	char frees[32], others[32], lost[48] = "nothing lost", line[256];
	int len;

	if (s->lost || s->lost_unknown)
		snprintf(lost, sizeof(lost), "%s%" PRIu64 " EVENTS LOST", s->lost_unknown ? "at least " : "", s->lost);
	len = snprintf(line, sizeof(line), "  %s freed, %s%s by other processes; %s%" PRIu64 " alive",
		       pfs_grouped_text(frees, s->frees), s->by_unknown ? "<=" : "",
		       pfs_grouped_text(others, s->by_others + s->by_unknown), may_be_fewer(tally, all) ? "<=" : "",
		       all->live);
	fprintf(k->out, "%s%s; %s\n", line,
		s->nr_pauses || len + strlen(" at the end; ") + strlen(lost) > k->width ? "" : " at the end", lost);
}

static void put_bytes(const struct pfs_kmap *k, const struct pfs_tally_row *all)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(k->objects);
	char asked[8], used[8], time[32], count[64];

	if (!s->allocs) {
		fprintf(k->out, "  %s in the recording%s\n", pfs_plural(count, sizeof(count), s->others, "allocation"),
			s->others ? ", none of the chosen processes and objects" : "");
		return;
	}
	fprintf(k->out, "  %s requested, %s used (%u %% wasted)", pfs_size_text(asked, all->asked),
		pfs_size_text(used, all->used), waste_percent(all));
	fprintf(k->out, "; most at a time: %s after %s\n", pfs_size_text(used, all->peak_bytes),
		pfs_duration_text(time, all->peak_ns - s->first_ns, 3));
}

static void put_headline(const struct pfs_kmap *k, const struct pfs_tally *tally, const struct pfs_tally_row *all)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(k->objects);
	const char *command = pfs_objects_command(k->objects);
	bool unsure = s->nr_pauses && all->unsure_live;
	char title[NAME_MAX_LEN], fit[60], count[64], processes[64], time[32];

	pfs_escape(title, sizeof(title), command ? short_command(command) : k->name, 0);
	pfs_fit_head(fit, sizeof(fit), title, 22, "..");
	fprintf(k->out, "%s%s: %s allocated by %s in %s%s\n", k->color ? BOLD : "", fit,
		pfs_plural(count, sizeof(count), s->allocs, "object"),
		pfs_plural(processes, sizeof(processes), s->nr_processes, "process"),
		pfs_duration_text(time, recorded_ns(k), 3), k->color ? OFF : "");
	put_frees(k, tally, all);
	if (s->nr_pauses)
		put_pauses(k, unsure);
	if (s->unseen > s->unseen_paused)
		put_unseen(k, tally);
	put_bytes(k, all);
	if (s->evicted)
		fprintf(k->out, "  %s evicted (--max-objects) count as alive; %" PRIu64 " frees have no allocation\n",
			pfs_grouped_text(count, s->evicted), s->foreign_frees);
	put_merged(k, tally);
	if (s->hashed)
		fputs("  Addresses are hashed in this text: two objects may look like one.\n", k->out);
}

static const char *life_text(char buf[32], const struct pfs_tally_row *row, unsigned int permille)
{
	return row->frees ? pfs_duration_text(buf, pfs_tally_life_ns(row, permille), 3) : "-";
}

static const char *bytes_text(char buf[8], uint64_t bytes)
{
	return bytes < 1024 ? pfs_short_number(buf, bytes) : pfs_size_text(buf, bytes);
}

static void put_row(const struct pfs_kmap *k, int by, const struct pfs_tally_row *row)
{
	char allocs[8], frees[8], alive[8], peak[8], half[32], most[32], name[NAME_MAX_LEN], text[NAME_MAX_LEN];
	char fit[NAME_MAX_LEN], most_alive[16];

	snprintf(most_alive, sizeof(most_alive), "%s%s", (row->unsure && row->live) || row->unsure_live ? "<=" : "",
		 pfs_short_number(alive, row->live));
	pfs_escape(text, sizeof(text), row_name(name, sizeof(name), k, by, row), 0);
	pfs_fit_head(fit, sizeof(fit), text, k->width > NUMBERS_WIDTH + 8 ? k->width - NUMBERS_WIDTH : 8, "..");
	fprintf(k->out, "%6s %6s %7s %6s %4u %% %8s %8s  %s\n", pfs_short_number(allocs, row->allocs),
		pfs_short_number(frees, row->frees), most_alive, bytes_text(peak, row->peak_bytes), waste_percent(row),
		life_text(half, row, 500), life_text(most, row, 990), fit);
}

static void put_table(const struct pfs_kmap *k, const struct pfs_tally *tally, int by)
{
	const struct pfs_tally_table *table = &tally->by[by];
	/* Of a recording with accesses these have the room. */
	size_t few = pfs_objects_accesses(k->objects) ? tables[by].rows > 1 : tables[by].rows;
	size_t rows = k->top ? k->top : few, nr = table->nr < rows ? table->nr : rows;

	if (!nr)
		return;
	fprintf(k->out, "\n%s%6s %6s %7s %6s %6s %8s %8s  %s%s", k->color ? BOLD : "", "allocs", "frees", "alive",
		"peak", "waste", "life 50%", "99%", tables[by].head, k->color ? OFF : "");
	if (table->nr > nr)
		fprintf(k->out, " (%zu more)", table->nr - nr);
	fputc('\n', k->out);
	for (size_t i = 0; i < nr; i++)
		put_row(k, by, &table->rows[i]);
}

/* The evidence: the fewest alive in each slice of time. */
static void put_leak(const struct pfs_kmap *k, const struct pfs_tally_row *row)
{
	char name[NAME_MAX_LEN], text[NAME_MAX_LEN], line[NAME_MAX_LEN], time[32], fit[NAME_MAX_LEN];
	size_t len = 0;

	pfs_escape(text, sizeof(text), row_name(name, sizeof(name), k, PFS_TALLY_SITE, row), 0);
	for (unsigned int i = 0; i < row->low.nr && len < sizeof(line); i++)
		len += snprintf(line + len, sizeof(line) - len, " %" PRIu32, row->low.low[i]);
	fprintf(k->out, "%s%s%s: at least%s\n", k->color ? BOLD : "", text, k->color ? OFF : "",
		(pfs_fit_head(fit, sizeof(fit), line, k->width > 60 ? k->width - 40 : 30, ".."), fit));
	fprintf(k->out, "  alive in each %s; %" PRIu64 " allocated, %" PRIu64 " freed\n",
		pfs_duration_text(time, row->low.slice_ns, 3), row->allocs, row->frees + row->unseen);
}

/* Returns how many call sites. */
static size_t put_leaks(const struct pfs_kmap *k, const struct pfs_tally *tally)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(k->objects);
	const struct pfs_tally_table *sites = &tally->by[PFS_TALLY_SITE];
	size_t nr = 0, most = k->top ? k->top : LEAKS_SHOWN;

	for (size_t i = 0; i < sites->nr; i++)
		nr += pfs_tally_leaks(&sites->rows[i]);
	if (!nr) {
		fprintf(k->out, "\nNo call site's live objects only grew%s.\n",
			s->lost || s->lost_unknown ? " by more than was lost" : "");
		return 0;
	}
	fprintf(k->out, "\nLive objects only grew (a leak?) at %zu call site%s:\n", nr, nr == 1 ? "" : "s");
	for (size_t i = 0; i < sites->nr && most; i++)
		if (pfs_tally_leaks(&sites->rows[i])) {
			put_leak(k, &sites->rows[i]);
			most--;
		}
	return nr;
}

static int stats_text(const struct pfs_kmap *k, const struct pfs_tally *tally)
{
	static const struct pfs_tally_row none;

	put_headline(k, tally, tally->by[PFS_TALLY_ALL].nr ? tally->by[PFS_TALLY_ALL].rows : &none);
	if (!pfs_objects_stats(k->objects)->allocs)
		return 0;
	for (int by = PFS_TALLY_CACHE; by < PFS_NR_TALLIES; by++)
		put_table(k, tally, by);
	pfs_kmap_accesses_text(k, put_leaks(k, tally) ? ROWS - LEAK_LINES : ROWS);
	return 0;
}

/* ---- CSV and JSON ---- */

static const struct pfs_column columns[] = {
	{ "name", "name", PFS_COLUMN_LEFT },
	{ "address", "address", PFS_COLUMN_LEFT },
	{ "pid", "pid", 0 },
	{ "allocs", "allocs", 0 },
	{ "frees", "frees", 0 },
	{ "unseen", "unseen", 0 },
	{ "alive", "alive", 0 },
	{ "peak", "peak", 0 },
	{ "alive_bytes", "alive_bytes", 0 },
	{ "peak_bytes", "peak_bytes", 0 },
	{ "requested", "requested", 0 },
	{ "allocated", "allocated", 0 },
	{ "allocs_per_s", "allocs_per_s", PFS_COLUMN_MILLIONTHS },
	{ "life_p50_ns", "life_p50_ns", 0 },
	{ "life_p90_ns", "life_p90_ns", 0 },
	{ "life_p99_ns", "life_p99_ns", 0 },
	{ "life_max_ns", "life_max_ns", 0 },
	{ "freed_unseen_in_cache", "freed_unseen_in_cache", 0 },
	{ "only_grows", "only_grows", 0 },
	{ 0 },
};

static void add_row(struct pfs_table *table, const struct pfs_kmap *k, int by, const struct pfs_tally_row *row)
{
	const struct pfs_object_site *site = by == PFS_TALLY_SITE ? pfs_objects_site(k->objects, row->nr) : NULL;
	const struct pfs_object_who *who = by == PFS_TALLY_PROCESS ? pfs_objects_who(k->objects, row->nr) : NULL;
	char name[NAME_MAX_LEN], address[32] = "";
	uint64_t ns = recorded_ns(k);

	row_name(name, sizeof(name), k, by, row);
	if (site && site->addr)
		snprintf(address, sizeof(address), "0x%" PRIx64, site->addr);
	pfs_table_word(table, who ? who->comm ? who->comm : "" : name);
	pfs_table_word(table, address);
	pfs_table_known(table, who && who->pid, who ? who->pid : 0);
	pfs_table_numbers(table, row->allocs, row->frees, row->unseen, row->live, row->peak, row->live_bytes,
			  row->peak_bytes, row->asked, row->used);
	pfs_table_known(table, ns, ns ? row->allocs * 1e15 / ns : 0);
	for (int i = 0; i < 3; i++)
		pfs_table_known(table, row->frees, pfs_tally_life_ns(row, (const unsigned int[]){ 500, 900, 990 }[i]));
	pfs_table_known(table, row->frees, row->longest_ns);
	pfs_table_number(table, row->unsure);
	pfs_table_number(table, pfs_tally_leaks(row));
}

static const struct pfs_column low_columns[] = {
	{ "site", "site", PFS_COLUMN_LEFT },
	{ "from", "from", PFS_COLUMN_SECONDS },
	{ "least_alive", "least_alive", 0 },
	{ 0 },
};

static void add_lows(struct pfs_table *table, const struct pfs_kmap *k, const struct pfs_tally_table *sites)
{
	uint64_t first = pfs_objects_stats(k->objects)->first_ns;
	char name[NAME_MAX_LEN];

	for (size_t i = 0; i < sites->nr; i++) {
		const struct pfs_low_water *w = &sites->rows[i].low;

		for (unsigned int j = 0; pfs_tally_leaks(&sites->rows[i]) && j < w->nr; j++) {
			pfs_table_word(table, row_name(name, sizeof(name), k, PFS_TALLY_SITE, &sites->rows[i]));
			pfs_table_numbers(table, w->start_ns - first + j * w->slice_ns, w->low[j]);
		}
	}
}

static const struct pfs_column recording_columns[] = {
	{ "objects", "objects", 0 },
	{ "frees", "frees", 0 },
	{ "frees_by_others", "frees_by_others", 0 },
	{ "unseen", "unseen", 0 },
	{ "other_allocs", "other_allocs", 0 },
	{ "other_frees", "other_frees", 0 },
	{ "lost", "lost", 0 },
	{ "processes", "processes", 0 },
	{ "seconds", "seconds", PFS_COLUMN_SECONDS },
	{ "evicted", "evicted", 0 },
	{ "pauses", "pauses", 0 },
	{ "paused_seconds", "paused_seconds", PFS_COLUMN_SECONDS },
	{ 0 },
};

static void add_recording(struct pfs_table *table, const struct pfs_kmap *k)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(k->objects);

	pfs_table_numbers(table, s->allocs, s->frees);
	pfs_table_known(table, !s->by_unknown, s->by_others);
	pfs_table_numbers(table, s->unseen, s->others, s->foreign_frees);
	pfs_table_known(table, !s->lost_unknown, s->lost);
	pfs_table_numbers(table, s->nr_processes, duration_ns(k), s->evicted, s->nr_pauses, s->paused_ns);
}

/* Writes the table and frees it. NULL: no memory. */
static int write_table(struct pfs_kmap *k, struct pfs_table *table, const char *name)
{
	int ret = table ? pfs_table_error(table) : -ENOMEM;

	if (!ret && k->form == PFS_KMAP_JSON)
		pfs_table_json(table, &k->json, name);
	else if (!ret)
		pfs_table_csv(table, k->out, name);
	pfs_table_free(table);
	return ret;
}

static int stats_tables(struct pfs_kmap *k, const struct pfs_tally *tally)
{
	struct pfs_table *table = pfs_table_new(recording_columns);
	int ret;

	if (k->form == PFS_KMAP_JSON) {
		pfs_json_init(&k->json, k->out);
		pfs_json_begin(&k->json, NULL, "{");
	}
	if (table)
		add_recording(table, k);
	ret = write_table(k, table, "recording");
	for (int by = 0; !ret && by < PFS_NR_TALLIES; by++) {
		table = pfs_table_new(columns);
		for (size_t i = 0; table && i < tally->by[by].nr; i++)
			add_row(table, k, by, &tally->by[by].rows[i]);
		ret = write_table(k, table, tables[by].name);
	}
	table = ret ? NULL : pfs_table_new(low_columns);
	if (table)
		add_lows(table, k, &tally->by[PFS_TALLY_SITE]);
	ret = ret ?: write_table(k, table, "only_grows") ?: pfs_kmap_accesses_tables(k, write_table);
	if (!ret && k->form == PFS_KMAP_JSON) {
		pfs_json_end(&k->json, "}");
		fputc('\n', k->out);
	}
	return ret;
}

int pfs_kmap_stats(struct pfs_kmap *k, struct pfs_tally *tally)
{
	pfs_tally_sort(tally);
	return k->form == PFS_KMAP_TEXT ? stats_text(k, tally) : stats_tables(k, tally);
}
