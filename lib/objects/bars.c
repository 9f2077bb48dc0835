/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of slabs as bars, each object a cell. The answer comes first: how many pages are kept for how few objects. Then the
 * caches, and the pages of the one that keeps most.
 *
 *     k.dat: 14 pages hold living objects, 5 of them a single one
 *       81 of 420 places in them are taken: 11.4K of 56K (20 %); 16 pages hold none any more
 *
 *     pfscope_small, 144 bytes from place to place: 14 pages, 5 with a single object
 *     alive             page objects by address
 *      1/28 ffff888104a53000 |#-----=---------------......|
 */
#include "objects/kmap.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/units.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#define BOLD "\033[1m"
#define OFF  "\033[m"

enum {
	BESIDE = 28,	/* columns of a row but its cells */
	CACHES = 5,	/* of the table on the first screen */
	LEAST_ROWS = 3, /* a cache that has room for fewer is left out */
	NAME_MAX_LEN = 300,
};

/* A place as it is drawn. */
enum cell { NEVER, ALIVE, ALIVE_AGAIN, UNSURE, FREED, FREED_AGAIN, NR_CELLS };

static const struct {
	char letter;
	const char *text;
} cells[NR_CELLS] = {
	[NEVER] = { '.', "never seen: free, or from before, or of others" },
	[ALIVE] = { '#', "alive" },
	[ALIVE_AGAIN] = { '@', "alive, again" },
	[UNSURE] = { '?', "alive, if its free was not lost" },
	[FREED] = { '-', "freed" },
	[FREED_AGAIN] = { '=', "freed, again" },
};

struct group {
	const char *name;
	uint32_t size;
	struct pfs_slab_page **pages;
	size_t nr;
	uint64_t unseen;				  /* objects that were freed without an event */
	uint64_t kept, single, alive, places, kept_bytes; /* of pages with living objects */
};

struct bars {
	const struct pfs_kmap *k;
	struct pfs_slab_page **pages; /* sorted by group */
	size_t nr_pages;
	struct group *groups;
	size_t nr_groups, max_groups;
	struct group all;
	uint64_t unnamed; /* pages of the size of those that were chosen, whose cache no event named */
	uint32_t unnamed_size;
	unsigned int height; /* of the screen, but its last line */
	unsigned int lines;  /* printed */
	bool drawn[NR_CELLS];
};

/* ---- groups ---- */

static bool is_single(const struct pfs_slab_page *page)
{
	return page->alive == 1 && page->nr > 1;
}

/* Memory that the page's living objects keep: all of it, and more pages if an object is larger. */
static uint64_t kept_bytes(const struct pfs_slab_page *page)
{
	return page->size > PFS_SLAB_PAGE ? page->size : PFS_SLAB_PAGE;
}

static void count(struct group *g, const struct pfs_slab_page *page)
{
	g->nr++;
	g->unseen += page->unseen;
	if (!page->alive)
		return;
	g->kept++;
	g->single += is_single(page);
	g->alive += page->alive;
	g->places += page->nr;
	g->kept_bytes += kept_bytes(page);
}

/* Those with the fewest living objects come first, and those without any last. */
static int by_group(const void *a, const void *b)
{
	const struct pfs_slab_page *x = *(struct pfs_slab_page *const *)a, *y = *(struct pfs_slab_page *const *)b;

	return strcmp(x->name, y->name)	       ?: pfs_order(x->size, y->size) ?:
	       pfs_order(!x->alive, !y->alive) ?: pfs_order(x->alive, y->alive) ?: pfs_order(x->key, y->key);
}

static int by_kept(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return pfs_order(y->kept_bytes, x->kept_bytes) ?: pfs_order(x->alive * x->size, y->alive * y->size) ?: pfs_order(y->nr, x->nr) ?: strcmp(x->name, y->name) ?:
	       pfs_order(x->size, y->size);
}

static int collect(struct bars *b, const struct pfs_slabs *slabs, const char *cache)
{
	b->pages = calloc(HASH_COUNT(slabs->pages) + 1, sizeof(*b->pages));
	if (!b->pages)
		return -ENOMEM;
	for (struct pfs_slab_page *page = slabs->pages; page; page = page->hh.next)
		if (!cache || !fnmatch(cache, page->name, 0))
			b->pages[b->nr_pages++] = page;
	qsort(b->pages, b->nr_pages, sizeof(*b->pages), by_group);
	for (size_t i = 0; i < b->nr_pages; i++) {
		struct pfs_slab_page *page = b->pages[i];
		struct group *g = b->nr_groups ? &b->groups[b->nr_groups - 1] : NULL;

		if (!g || strcmp(g->name, page->name) || g->size != page->size) {
			g = pfs_array_add(b->groups, b->nr_groups, b->max_groups);
			if (!g)
				return -ENOMEM;
			*g = (struct group){ .name = page->name, .size = page->size, .pages = &b->pages[i] };
		}
		count(g, page);
		count(&b->all, page);
	}
	return 0;
}

/* With --cache: pages that may belong to the cache, too, but no event names theirs. */
static void count_unnamed(struct bars *b, const struct pfs_slabs *slabs, const char *cache)
{
	if (!cache || b->nr_groups != 1 || b->groups[0].name[0] == '?')
		return;
	b->unnamed_size = b->groups[0].size;
	for (struct pfs_slab_page *page = slabs->pages; page; page = page->hh.next)
		b->unnamed += pfs_slab_is_unnamed(page) && page->size == b->unnamed_size;
}

/* ---- text ---- */

static const char *fitted_name(char fit[NAME_MAX_LEN], const char *name, unsigned int columns)
{
	char text[NAME_MAX_LEN];

	pfs_escape(text, sizeof(text), name, 0);
	pfs_fit_head(fit, NAME_MAX_LEN, text, columns, "..");
	return fit;
}

/* A name, of at most so many columns and no more than there is room for, and what is said of it. */
static void bold_line(struct bars *b, const char *name, unsigned int most, const char *text)
{
	unsigned int room = b->k->width > strlen(text) + 8 ? b->k->width - strlen(text) : 8;
	char fit[NAME_MAX_LEN];

	fprintf(b->k->out, "%s%s%s%s\n", b->k->color ? BOLD : "", fitted_name(fit, name, room < most ? room : most),
		text, b->k->color ? OFF : "");
	b->lines++;
}

static const char *bytes_text(char buf[8], uint64_t bytes)
{
	return bytes < 1024 ? pfs_short_number(buf, bytes) : pfs_size_text(buf, bytes);
}

static uint64_t used_bytes(const struct bars *b)
{
	uint64_t used = 0;

	for (size_t i = 0; i < b->nr_groups; i++)
		used += b->groups[i].alive * b->groups[i].size;
	return used;
}

/* The command or the file, without its folder. */
static const char *recording_name(const struct bars *b)
{
	const char *command = pfs_objects_command(b->k->objects), *slash = strrchr(b->k->name, '/');

	if (command)
		for (size_t len = strcspn(command, " "); len--;)
			if (command[len] == '/')
				return command + len + 1;
	return command ? command : slash ? slash + 1 : b->k->name;
}

static void put_headline(struct bars *b)
{
	char text[NAME_MAX_LEN], pages[64], used[8], kept[8], grouped[32], places[32];
	uint64_t bytes = used_bytes(b), none = b->all.nr - b->all.kept;

	snprintf(text, sizeof(text), ": %s %s living objects, %" PRIu64 " of them a single one",
		 pfs_plural(pages, sizeof(pages), b->all.kept, "page"), b->all.kept == 1 ? "holds" : "hold",
		 b->all.single);
	bold_line(b, recording_name(b), 22, text);
	if (b->all.kept)
		b->lines += fprintf(b->k->out, "  %s of %s places in them are taken: %s of %s (%" PRIu64 " %%)\n",
				    pfs_grouped_text(grouped, b->all.alive), pfs_grouped_text(places, b->all.places),
				    bytes_text(used, bytes), bytes_text(kept, b->all.kept_bytes),
				    100 * bytes / b->all.kept_bytes) > 0;
	if (none)
		b->lines += fprintf(b->k->out, "  %s %s none%s\n", pfs_plural(pages, sizeof(pages), none, "page"),
				    none == 1 ? "holds" : "hold", b->all.kept ? " any more" : "") > 0;
}

/* What makes places look taken, or free, that are not. */
static void put_remarks(struct bars *b, const struct pfs_slabs *slabs)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(b->k->objects);
	char number[32];

	if (b->all.unseen)
		b->lines += fprintf(b->k->out,
				    "  %s freed without an event: these look alive until their places are taken\n",
				    pfs_grouped_text(number, b->all.unseen)) > 0;
	pfs_grouped_text(number, s->lost);
	if (s->lost || s->lost_unknown)
		b->lines += fprintf(b->k->out, "  %s%s EVENTS LOST\n", s->lost && s->lost_unknown ? "at least " : "",
				    s->lost ? number : "SOME") > 0;
	if (b->unnamed)
		b->lines += fprintf(b->k->out,
				    "  %s more of objects of that size, of no cache by name: --cache='? %" PRIu32 "'\n",
				    pfs_plural(number, sizeof(number), b->unnamed, "page"), b->unnamed_size) > 0;
	if (slabs->elsewhere)
		b->lines += fprintf(b->k->out, "  %s left out: pages, or of unknown size\n",
				    pfs_plural(number, sizeof(number), slabs->elsewhere, "object")) > 0;
}

static void put_caches(struct bars *b)
{
	size_t rows = b->k->top ? b->nr_groups : CACHES;
	char name[NAME_MAX_LEN], text[8];

	fprintf(b->k->out, "\n%s%7s %7s %7s %7s %6s %5s  %s%s", b->k->color ? BOLD : "", "pages", "single", "alive",
		"places", "bytes", "used", "cache", b->k->color ? OFF : "");
	if (b->nr_groups > rows)
		fprintf(b->k->out, " (%zu more)", b->nr_groups - rows);
	fputc('\n', b->k->out);
	b->lines += 2;
	for (size_t i = 0; i < b->nr_groups && i < rows; i++) {
		const struct group *g = &b->groups[i];

		fprintf(b->k->out, "%7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %6s %3" PRIu64 " %%  %s\n",
			g->kept, g->single, g->alive, g->places, bytes_text(text, g->kept_bytes),
			g->kept_bytes ? 100 * g->alive * g->size / g->kept_bytes : 0,
			fitted_name(name, g->name, b->k->width > 60 ? b->k->width - 48 : 12));
		b->lines++;
	}
}

/* ---- bars ---- */

static enum cell cell_of(uint8_t place)
{
	bool again = place & PFS_PLACE_AGAIN;

	if (!place)
		return NEVER;
	if (!(place & PFS_PLACE_ALIVE))
		return again ? FREED_AGAIN : FREED;
	return place & PFS_PLACE_UNSURE ? UNSURE : again ? ALIVE_AGAIN : ALIVE;
}

/* Cells of a line: all, or a power of two of them. */
static uint32_t cells_of_line(const struct bars *b, const struct pfs_slab_page *page)
{
	uint32_t room = b->k->width > BESIDE + 8 ? b->k->width - BESIDE : 8, nr = 8;

	if (page->nr <= room)
		return page->nr;
	while (2 * nr <= room)
		nr *= 2;
	return nr;
}

static void put_page(struct bars *b, const struct pfs_slab_page *page)
{
	uint32_t line = cells_of_line(b, page);

	for (uint32_t i = 0; i < page->nr; i++) {
		if (!i)
			fprintf(b->k->out, "%4" PRIu32 "/%-4" PRIu32 "%016" PRIx64 " |", page->alive, page->nr,
				pfs_slab_address(page));
		else if (!(i % line))
			fprintf(b->k->out, "|\n%26s|", "");
		b->lines += !(i % line);
		b->drawn[cell_of(page->places[i])] = true;
		fputc(cells[cell_of(page->places[i])].letter, b->k->out);
	}
	fputs("|\n", b->k->out);
}

static void put_group(struct bars *b, const struct group *g, size_t rows)
{
	char pages[64], text[NAME_MAX_LEN];

	snprintf(text, sizeof(text), ", a place every %" PRIu32 " bytes: %s, %" PRIu64 " with one living object",
		 g->size, pfs_plural(pages, sizeof(pages), g->nr, "page"), g->single);
	fputc('\n', b->k->out);
	bold_line(b, g->name, 24, text);
	fprintf(b->k->out, "%9s%-16s %s\n", "alive/of ", "page", "objects by address");
	b->lines += 2;
	for (size_t i = 0; i < g->nr && i < rows; i++)
		put_page(b, g->pages[i]);
}

/* Pages of the group that a screen has room for, with what stands above and below them. */
static size_t rows_of(const struct bars *b, const struct group *g)
{
	enum { ABOVE = 3, BELOW = 4 }; /* headings; what is left out, and the legend */
	uint32_t line = cells_of_line(b, g->pages[0]), lines = (g->pages[0]->nr + line - 1) / line;

	if (b->k->top)
		return b->k->top;
	return b->lines + ABOVE + BELOW < b->height ? (b->height - b->lines - ABOVE - BELOW) / lines : 0;
}

static void put_groups(struct bars *b)
{
	uint64_t shown = 0;
	char pages[64];

	for (size_t i = 0; i < b->nr_groups; i++) {
		const struct group *g = &b->groups[i];
		size_t rows = rows_of(b, g);

		if (i && !b->k->top && (rows < LEAST_ROWS || !g->kept))
			break;
		rows = rows && rows < g->nr ? rows : rows ? g->nr : 1;
		put_group(b, g, rows);
		shown += rows;
	}
	if (shown < b->all.nr)
		fprintf(b->k->out, "(%s more: --all, --top, --cache)\n",
			pfs_plural(pages, sizeof(pages), b->all.nr - shown, "page"));
}

/* Of what was drawn, in as many lines as it needs. */
static void put_legend(const struct bars *b)
{
	static const enum cell order[] = { ALIVE, ALIVE_AGAIN, UNSURE, FREED, FREED_AGAIN, NEVER };
	size_t at = 0;

	fputc('\n', b->k->out);
	for (size_t i = 0; i < NR_CELLS; i++) {
		size_t len = 2 + strlen(cells[order[i]].text);

		if (!b->drawn[order[i]])
			continue;
		if (at && at + 2 + len > b->k->width) {
			fputc('\n', b->k->out);
			at = 0;
		}
		at += fprintf(b->k->out, "%s%c %s", at ? "  " : "", cells[order[i]].letter, cells[order[i]].text);
	}
	fputc('\n', b->k->out);
}

int pfs_kmap_bars(const struct pfs_kmap *k, const struct pfs_slabs *slabs, const char *cache, unsigned int height)
{
	struct bars b = { .k = k, .height = height };
	int ret = collect(&b, slabs, cache);

	if (!ret) {
		if (b.nr_groups)
			qsort(b.groups, b.nr_groups, sizeof(*b.groups), by_kept);
		count_unnamed(&b, slabs, cache);
		put_headline(&b);
		put_remarks(&b, slabs);
		if (b.nr_groups > 1)
			put_caches(&b);
		put_groups(&b);
		if (b.nr_groups)
			put_legend(&b);
	}
	free(b.pages);
	free(b.groups);
	return ret;
}
