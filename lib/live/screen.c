/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a screen: what the recording is, a heading, the lines or the pages of one region, the keys. See live.h.
 */
#include "live/live.h"

#include "base/escape.h"
#include "view/labels.h"
#include "view/loss.h"

#include <inttypes.h>
#include <string.h>

/* Colours that all readers can tell apart (Okabe and Ito); what they mean stands beside them in words. */
#define BOLD	"\033[1m"
#define DIM	"\033[2m"
#define REVERSE "\033[7m"
#define BLUE	"\033[38;5;32m"
#define ORANGE	"\033[38;5;208m"

/* Lines above the table, its heading among them, and below. */
enum { HEAD = 5, FOOT = 1, MAX_TEXT = 1000 };

unsigned int pfs_screen_room(const struct pfs_screen *screen)
{
	return screen->height > HEAD + FOOT ? screen->height - HEAD - FOOT : 0;
}

struct drawing {
	FILE *out;
	struct pfs_screen *screen;
	const struct pfs_moment *moment;
	const struct pfs_filter *filter;
	const struct pfs_live_lines *lines;
};

/* The text in all of a line, in a colour. */
static void put_line(const struct drawing *d, const char *sgr, const char *text)
{
	bool color =
		d->screen->color || !strcmp(sgr, REVERSE); /* which line is selected is seen without colours, too */

	fputs(color ? sgr : "", d->out);
	pfs_put_fitted(d->out, text, d->screen->width < MAX_TEXT ? d->screen->width : MAX_TEXT, false);
	fputs(color ? "\033[0m\n" : "\n", d->out);
}

/* Text at both ends of a line. */
static void put_ends(const struct drawing *d, const char *left_sgr, const char *left, const char *right_sgr,
		     const char *right)
{
	unsigned int width = d->screen->width < MAX_TEXT ? d->screen->width : MAX_TEXT, used = pfs_columns(right);

	if (used + 10 > width) {
		put_line(d, left_sgr, left);
		return;
	}
	fputs(pfs_color_on(d->screen->color, left_sgr), d->out);
	pfs_put_fitted(d->out, left, width - used - 2, false);
	fprintf(d->out, "%s  %s%s%s\n", pfs_color_off(d->screen->color), pfs_color_on(d->screen->color, right_sgr),
		right, pfs_color_off(d->screen->color));
}

/* ---- the head ---- */

static void put_title(const struct drawing *d)
{
	const struct pfs_model *model = d->moment->model;
	char title[1100], name[1024], state[160], time[32];
	struct pfs_fact fact;

	if (pfs_model_fact(model, PFS_NOTE_COMMAND, &fact))
		pfs_escape(name, sizeof(name), fact.text, 0);
	else
		pfs_escape(name, sizeof(name), d->screen->title, 0);
	snprintf(title, sizeof(title), "pfscope top  %s", name);
	snprintf(state, sizeof(state), "%s s  %s",
		 model->nr_events ? pfs_time_text(time, model, d->moment->now_ns) : "0", d->screen->state);
	put_ends(d, BOLD, title, d->screen->alarm ? ORANGE : BLUE, state);
}

static void put_counts(const struct drawing *d)
{
	const struct pfs_model *model = d->moment->model;
	char line[256], now[32], all[32], size[8], procs[48], threads[48], major[64] = "";
	const struct pfs_tally *t = &d->lines->tally;

	if (t->major)
		snprintf(major, sizeof(major), " (%s major)", pfs_grouped_text(now, t->major));
	snprintf(line, sizeof(line), "%s faults%s, resident about %s, %s, %s", pfs_grouped_text(all, t->faults), major,
		 pfs_size_text(size, d->lines->resident << model->page_shift),
		 pfs_plural(procs, sizeof(procs), d->lines->nr_procs, "process"),
		 pfs_plural(threads, sizeof(threads), d->lines->nr_threads, "thread"));
	put_line(d, "", line);
}

static void put_losses(const struct drawing *d)
{
	char lost[PFS_LOST_TEXT_MAX];
	bool any = pfs_lost_text(lost, pfs_gaps_shown(d->moment->model, d->filter));
	char order[64];

	snprintf(order, sizeof(order), "by %s, sorted by %s", pfs_live_by[d->screen->by],
		 pfs_live_sort[d->screen->sort]);
	put_ends(d, any ? ORANGE : "", any ? lost : "no events lost", BLUE, order);
}

/* Faults a second of the last minute, the highest of which fills a character. */
static void put_course(const struct drawing *d)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char plain[] = " .,:;-=+#";
	const struct pfs_moment *m = d->moment;
	unsigned int width = d->screen->width < 76 ? 8 : d->screen->width < 100 ? 30 : PFS_MOMENT_SECONDS;
	uint64_t base = pfs_model_base_ns(m->model), now, most = 1;
	char rate[32], major[32];

	now = m->now_ns > base ? (m->now_ns - base) / PFS_NS_PER_S : 0;
	for (unsigned int i = 0; i < width; i++)
		if (now >= i && pfs_moment_second(m, now - i) > most)
			most = pfs_moment_second(m, now - i);
	fputs(pfs_color_on(d->screen->color, BLUE), d->out);
	for (unsigned int i = width; i--;) {
		uint64_t nr = now >= i ? pfs_moment_second(m, now - i) : 0;
		unsigned int level = nr ? 1 + (nr * 7 + most - 1) / most : 0;

		if (d->screen->utf8)
			fputs(blocks[level], d->out);
		else
			fputc(plain[level], d->out);
	}
	fprintf(d->out, "%s %s faults/s", pfs_color_off(d->screen->color),
		pfs_grouped_text(rate, pfs_rate_at(&m->rate, m->now_ns)));
	fprintf(d->out, ", %s%s major/s%s\n",
		pfs_color_on(d->screen->color && pfs_rate_at(&m->major_rate, m->now_ns), ORANGE),
		pfs_grouped_text(major, pfs_rate_at(&m->major_rate, m->now_ns)), pfs_color_off(d->screen->color));
}

/* ---- lines ---- */

/* "faults/s  faults major      touched process          NAME  |BAR|" */
struct columns {
	unsigned int who, name, bar;
};

static struct columns plan(const struct pfs_screen *screen)
{
	struct columns c = { .who = screen->width < 62 ? 4 : screen->width < 100 ? 13 : 20 };
	unsigned int fixed = 8 + 1 + 6 + 1 + 5 + 1 + 11 + 1 + c.who + 1, left;

	left = screen->width > fixed ? screen->width - fixed : 0;
	c.name = left < 80 ? 18 : 36;
	if (screen->by != PFS_LIVE_REGION || left < c.name + 10)
		c.name = left;
	c.bar = left - c.name;
	return c;
}

static void put_heading(const struct drawing *d, const struct columns *c)
{
	char line[MAX_TEXT];

	snprintf(line, sizeof(line), "%8s %6s %5s %11s %-*s %s", "faults/s", "faults", "major", "touched", (int)c->who,
		 "process", pfs_live_by[d->screen->by]);
	put_line(d, BOLD, line);
}

static void put_row(const struct drawing *d, const struct pfs_live_line *line, const struct columns *c)
{
	bool selected = !strcmp(line->key, d->screen->selected);
	char rate[8], faults[8], major[8] = "", touched[8], pages[8], count[24] = "";

	if (line->pages)
		snprintf(count, sizeof(count), "%s/%s", pfs_short_number(touched, line->touched),
			 pfs_short_number(pages, line->pages));
	else if (line->touched)
		snprintf(count, sizeof(count), "%s", pfs_short_number(touched, line->touched));
	fputs(selected ? REVERSE : "", d->out);
	fprintf(d->out, "%8s %6s %s%5s%s%s %11s ", pfs_short_number(rate, line->rate),
		pfs_short_number(faults, line->faults), pfs_color_on(d->screen->color && line->major, ORANGE),
		line->major ? pfs_short_number(major, line->major) : "", pfs_color_off(d->screen->color && line->major),
		selected ? REVERSE : "", count);
	pfs_put_fitted(d->out, line->who, c->who, false);
	fputc(' ', d->out);
	pfs_put_fitted(d->out, line->name, c->name - !!c->bar, true);
	fputs(selected ? "\033[0m" : "", d->out);
	if (c->bar) {
		fputc(' ', d->out);
		pfs_put_row_bar(d->out, &line->row, d->moment->model, c->bar, d->screen->color);
	}
	fputc('\n', d->out);
}

static void put_lines(const struct drawing *d)
{
	struct columns c = plan(d->screen);
	unsigned int room = pfs_screen_room(d->screen);
	struct pfs_screen *screen = d->screen;
	int at = pfs_live_find(d->lines, screen->selected);

	if (at >= 0 && (size_t)at < screen->first)
		screen->first = at;
	else if (at >= 0 && (size_t)at >= screen->first + room)
		screen->first = at + 1 - room;
	if (screen->first >= d->lines->nr)
		screen->first = 0;
	put_heading(d, &c);
	for (size_t i = screen->first; i < screen->first + room; i++) {
		if (i < d->lines->nr)
			put_row(d, &d->lines->line[i], &c);
		else if (i == screen->first)
			put_line(d, "", screen->text ? "no line has the text of the filter" : "no faults");
		else
			fputc('\n', d->out);
	}
}

/* ---- the pages of a region ---- */

/* Then not all columns fit. */
static bool is_narrow(const struct drawing *d)
{
	return d->screen->width < 62;
}

static void put_page(const struct drawing *d, uint64_t addr, const struct pfs_page *page)
{
	const struct pfs_model *model = d->moment->model;
	const struct pfs_thread *thread = page->first_tid ? pfs_model_thread(model, page->first_tid) : NULL;
	char who[64] = "", name[48] = "", first[32], last[32];

	if (thread && thread->comm)
		pfs_escape(name, sizeof(name), thread->comm, 0);
	if (page->first_tid)
		snprintf(who, sizeof(who), "%u %s", page->first_tid, name);
	fprintf(d->out, "%*" PRIx64 " ", is_narrow(d) ? 12 : 16, addr);
	pfs_put_page_glyph(d->out, page->flags, d->screen->color);
	fprintf(d->out, "    %6u %12s", page->nr_faults, pfs_time_text(first, model, page->first_ns));
	if (!is_narrow(d)) {
		fprintf(d->out, " %12s ", pfs_time_text(last, model, page->last_ns));
		pfs_put_fitted(d->out, who, d->screen->width - 55, false);
	}
	fputc('\n', d->out);
}

static void put_pages(const struct drawing *d)
{
	int at = pfs_live_find(d->lines, d->screen->selected);
	const struct pfs_row *row = at >= 0 && d->lines->line[at].has_row ? &d->lines->line[at].row : NULL;
	unsigned int room = pfs_screen_room(d->screen), nr = 0;
	const struct pfs_page *page;
	struct pfs_page_walk walk;

	put_line(d, BOLD,
		 is_narrow(d) ? "        page kind faults      first s"
			      : "            page kind faults      first s       last s first touched by");
	if (row && row->pages && room > 1) {
		char range[40], name[PFS_LABEL_MAX + 64];

		pfs_range_text(range, row->start, row->end);
		snprintf(name, sizeof(name), "%s  %s", range, d->lines->line[at].name);
		put_line(d, BLUE, name);
		nr++;
		pfs_page_walk_start(&walk, row->pages,
				    d->screen->first_page > row->start ? d->screen->first_page : row->start, row->end);
		for (; nr < room && (page = pfs_page_walk_next(&walk)); nr++) {
			put_page(d, walk.addr, page);
			d->screen->last_page = walk.addr;
		}
	} else {
		put_line(d, "", "this region does not exist at this time, or none of its pages was touched");
		nr++;
	}
	for (; nr < room; nr++)
		fputc('\n', d->out);
}

/* ---- help and the keys ---- */

static const char *const help[] = {
	"s               sort by the next column: faults/s, faults, major, touched, name",
	"b, Tab          lines by region, file, process, thread;  t  threads",
	"/ TEXT Enter    only lines whose name or process has the text;  Esc  all lines",
	"Space           freeze the screen, and go on (it is recorded meanwhile)",
	"Left, Right     one step back or forward in time;  [ ]  shorter or longer steps",
	"Up, Down, PgUp, PgDn, Home, End   select a line",
	"Enter           pages of the region: who touched them first, when;  Esc  back",
	"Ctrl-L          draw the screen again",
	"?               this help;  q  quit",
	"",
	"The bars have the characters of `pfscope render':",
	"W written  R read  X executed  B both  K by the kernel  M read from disk",
	"! signal  + fault-around  < at most  P populated  H huge page  ? not known",
	". untouched  xN: a cell is N pages; lower case: at most half of them",
	"",
	"faults/s and major/s count one second.  Resident: pages from their first fault",
	"until they are unmapped; what the kernel took back meanwhile is still counted.",
};

static void put_help(const struct drawing *d)
{
	unsigned int room = pfs_screen_room(d->screen), nr = sizeof(help) / sizeof(help[0]);

	put_line(d, BOLD, "Keys");
	for (unsigned int i = 0; i < room; i++)
		put_line(d, "", i < nr ? help[i] : "");
}

static const char keys[] =
	"[q]uit [?]help [s]ort [b]y [t]hreads [/]filter [sp]freeze [\342\206\220\342\206\222]time [enter]pages";

static void put_foot(const struct drawing *d)
{
	const struct pfs_screen *screen = d->screen;
	char line[MAX_TEXT], text[256];

	if (screen->text)
		pfs_escape(text, sizeof(text), screen->text, 0);
	if (screen->typing)
		snprintf(line, sizeof(line), "filter: %s_", screen->text ? text : "");
	else if (screen->message)
		snprintf(line, sizeof(line), "%s", screen->message);
	else if (screen->show != PFS_SCREEN_LINES)
		snprintf(line, sizeof(line), "Esc back  q quit");
	else
		snprintf(line, sizeof(line), "%s%s%s%s", screen->text ? "\"" : "", screen->text ? text : "",
			 screen->text ? "\"  " : "", keys);
	if (!screen->utf8) {
		char *arrows = strstr(line, "\342\206\220");

		if (arrows) /* of six bytes */
			memcpy(arrows, "<-, ->", 6);
	}
	put_line(d, REVERSE, line);
}

void pfs_screen_draw(FILE *out, struct pfs_screen *screen, const struct pfs_moment *moment,
		     const struct pfs_filter *filter, const struct pfs_live_lines *lines)
{
	static void (*const show[])(const struct drawing *d) = { put_lines, put_pages, put_help };
	struct drawing d = { out, screen, moment, filter, lines };

	put_title(&d);
	put_counts(&d);
	put_losses(&d);
	put_course(&d);
	show[screen->show](&d);
	put_foot(&d);
}
