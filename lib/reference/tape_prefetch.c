/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes rules for a prefetcher: for each page, the pages that are referenced next, with the number of times each of
 * them followed.
 */
#include "reference/tape_text.h"

#include "base/array.h"
#include "base/put.h"
#include "reference/page_index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is summed up for a page while it follows one trigger after the other. */
struct follower {
	uint64_t delay_ns; /* all of them */
	uint64_t distance; /* the same in entries */
	uint32_t times;
	uint32_t seen_at; /* the case in which it was seen last, from 1 */
};

/* An entry of the tape. */
struct position {
	uint64_t ts_ns;
	uint32_t page;	/* its number */
	uint32_t image; /* a page of a file is the same in all images */
};

struct page {
	struct pfs_tape_entry entry; /* as it is printed */
	struct follower follower;
	uint32_t first_case; /* where its own begin */
};

struct rules {
	const struct pfs_tapes *tapes;
	const struct pfs_prefetch_options *options;
	struct pfs_tape_lines *lines;
	struct pfs_page_index index;
	struct position *string;   /* in order */
	struct page *pages;	   /* by number */
	uint32_t *cases;	   /* positions in the string, by page */
	uint32_t *found, nr_found; /* pages that followed */
	size_t nr;
};

static void rules_free(struct rules *r)
{
	pfs_page_index_fini(&r->index);
	free(r->string);
	free(r->pages);
	free(r->cases);
	free(r->found);
}

static int allocate(struct rules *r, const struct pfs_tape *tape)
{
	size_t n = tape->nr_entries + 2;

	if (tape->nr_entries > UINT32_MAX - 2)
		return -ENOMEM;
	r->string = calloc(n, sizeof(*r->string));
	r->pages = calloc(n, sizeof(*r->pages));
	r->cases = calloc(n, sizeof(*r->cases));
	r->found = calloc(n, sizeof(*r->found));
	return r->string && r->pages && r->cases && r->found ? 0 : -ENOMEM;
}

/* The same address in another image is another page; an object belongs to one image, or is a file. */
static int number_pages(struct rules *r, const struct pfs_tape *tape)
{
	struct pfs_tape_cursor cursor;
	int ret;

	for (pfs_tape_rewind(&cursor, r->tapes, tape); (ret = pfs_tape_next(&cursor)) > 0; r->nr++) {
		const struct pfs_tape_entry *entry = &cursor.last;
		uint32_t number;
		bool new;

		ret = pfs_page_index_get(&r->index, r->tapes->options.stable ? entry->object : entry->image,
					 entry->page, &number, &new);
		if (ret)
			return ret;
		if (new)
			r->pages[number].entry = *entry;
		r->string[r->nr] = (struct position){ entry->ts_ns, number, entry->image };
	}
	return ret;
}

/* Which positions each page has: counted, then dealt out. */
static void sort_cases(struct rules *r)
{
	for (size_t i = 0; i < r->nr; i++)
		r->pages[r->string[i].page + 1].first_case++;
	for (uint32_t page = 0; page < r->index.nr; page++)
		r->pages[page + 1].first_case += r->pages[page].first_case;
	for (size_t i = r->nr; i-- > 0;)
		r->cases[--r->pages[r->string[i].page + 1].first_case] = i;
	/* Each is now where the one before it ended: one too far. */
	for (uint32_t page = 0; page < r->index.nr; page++)
		r->pages[page].first_case = r->pages[page + 1].first_case;
	r->pages[r->index.nr].first_case = r->nr;
}

/*
 * One case: what follows until the window ends, the page itself comes again, which is the next case, or the next
 * entry is of another image: an exec's, or another process's on one tape, which did not come of it.
 */
static void follow(struct rules *r, size_t from, uint32_t nr_case)
{
	unsigned int distinct = 0;

	for (size_t i = from + 1; i < r->nr; i++) {
		const struct position *at = &r->string[i];
		uint64_t delay_ns = at->ts_ns - r->string[from].ts_ns;
		struct follower *f = &r->pages[at->page].follower;

		if (at->page == r->string[from].page || at->image != r->string[from].image ||
		    (r->options->window_ns && delay_ns > r->options->window_ns) ||
		    (r->options->ahead && distinct == r->options->ahead))
			break;
		if (f->seen_at == nr_case)
			continue;
		f->seen_at = nr_case;
		if (!f->times++)
			r->found[r->nr_found++] = at->page;
		f->delay_ns += delay_ns;
		f->distance += i - from;
		distinct++;
	}
}

/* Those that follow most often first, of these the soonest. */
static int by_use(const void *a, const void *b, void *ctx)
{
	const struct rules *r = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct follower *f = &r->pages[x].follower, *g = &r->pages[y].follower;

	return pfs_order(g->times, f->times) ?: pfs_order(f->delay_ns, g->delay_ns)
		?: pfs_order(f->distance, g->distance) ?: pfs_order(x, y);
}

static void write_rule(struct rules *r, uint32_t trigger)
{
	uint32_t from = r->pages[trigger].first_case, to = r->pages[trigger + 1].first_case;
	char *p;

	r->nr_found = 0;
	for (uint32_t i = from; i < to; i++)
		follow(r, r->cases[i], i + 1);
	if (!r->nr_found)
		return;
	qsort_r(r->found, r->nr_found, sizeof(*r->found), by_use, r);
	p = put_text(pfs_tape_line(r->lines), "trigger ");
	p = put_dec(p, to - from);
	*p++ = ' ';
	pfs_tape_end_line(r->lines, p, &r->pages[trigger].entry);
	for (uint32_t i = 0; i < r->nr_found; i++) {
		struct follower *f = &r->pages[r->found[i]].follower;

		p = put_dec(pfs_tape_line(r->lines), f->times);
		*p++ = ' ';
		if (r->tapes->options.times) {
			p = put_dec(p, f->delay_ns / f->times);
			*p++ = ' ';
		}
		pfs_tape_end_line(r->lines, p, &r->pages[r->found[i]].entry);
		*f = (struct follower){ 0 };
	}
}

static int write_rules(struct pfs_tape_lines *lines, const struct pfs_tape *tape,
		       const struct pfs_prefetch_options *options)
{
	struct rules r = { .tapes = lines->tapes, .options = options, .lines = lines };
	uint32_t image = 0;
	int ret = allocate(&r, tape);

	if (!ret)
		ret = number_pages(&r, tape);
	if (!ret) {
		sort_cases(&r);
		pfs_tape_write_who(lines, tape);
	}
	for (uint32_t page = 0; page < r.index.nr && !ret && !ferror(lines->out); page++) {
		if (r.pages[page].entry.image != image)
			pfs_tape_write_image(lines, image = r.pages[page].entry.image);
		write_rule(&r, page);
	}
	rules_free(&r);
	return ret;
}

int pfs_tapes_write_prefetch(const struct pfs_tapes *t, const struct pfs_prefetch_options *options, FILE *out)
{
	struct pfs_tape_lines lines;
	int ret = pfs_tape_lines_begin(&lines, t, "prefetch", out), end;

	if (ret)
		return ret;
	if (t->gaps.sampled)
		fputs("# Order and delay of sampled references within their interval are unknown.\n", out);
	if (options->window_ns)
		fprintf(out, "# window %" PRIu64 " ns\n", options->window_ns);
	if (options->ahead)
		fprintf(out, "# ahead %u pages\n", options->ahead);
	for (const struct pfs_tape *tape = t->tapes, *past = tape ? tape + t->nr_tapes : NULL;
	     tape != past && !ret && !ferror(out); tape++)
		ret = write_rules(&lines, tape, options);
	end = pfs_tape_lines_end(&lines);
	return ret ? ret : end;
}
