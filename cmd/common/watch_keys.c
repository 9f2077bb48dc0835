/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys do: see watch_priv.h. */
#include "common/watch_priv.h"

#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void on_quit(struct watch *w)
{
	w->quit = true;
}

static void on_sort(struct watch *w)
{
	w->screen.sort = (w->screen.sort + 1) % PFS_NR_LIVE_SORT;
}

static void show_by(struct watch *w, enum pfs_live_by by)
{
	w->screen.by = by;
	w->screen.first = 0;
	w->screen.selected[0] = '\0';
	w->screen.show = PFS_SCREEN_LINES;
}

static void on_by(struct watch *w)
{
	show_by(w, (w->screen.by + 1) % PFS_NR_LIVE_BY);
}

static void on_threads(struct watch *w)
{
	show_by(w, w->screen.by == PFS_LIVE_THREAD ? PFS_LIVE_REGION : PFS_LIVE_THREAD);
}

static void on_filter(struct watch *w)
{
	w->screen.show = PFS_SCREEN_LINES;
	w->screen.typing = true;
}

static void on_freeze(struct watch *w)
{
	if (w->past)
		watch_leave_past(w);
	else
		w->frozen = !w->frozen;
}

static void step_to(struct watch *w, uint64_t at_ns)
{
	w->screen.message = "reading ...";
	if (watch_draw(w))
		return;
	w->screen.message = NULL;
	if (watch_past(w, at_ns) == -ENOMEM)
		w->screen.message = "no memory for a moment of the past";
}

static void on_left(struct watch *w)
{
	uint64_t at = w->past ? w->past_ns : watch_since_start(w);

	if (at)
		step_to(w, (at - 1) / w->step_ns * w->step_ns);
}

static void on_right(struct watch *w)
{
	if (!w->past)
		return;
	if (w->past_ns + w->step_ns >= watch_since_start(w))
		watch_leave_past(w);
	else
		step_to(w, w->past_ns / w->step_ns * w->step_ns + w->step_ns);
}

static void on_shorter(struct watch *w)
{
	if (w->step_ns > 1000)
		w->step_ns /= 10;
}

static void on_longer(struct watch *w)
{
	if (w->step_ns < 1000 * PFS_NS_PER_S)
		w->step_ns *= 10;
}

static void on_help(struct watch *w)
{
	w->screen.show = w->screen.show == PFS_SCREEN_HELP ? PFS_SCREEN_LINES : PFS_SCREEN_HELP;
}

static void on_redraw(struct watch *w)
{
	w->redraw = true;
}

/* From what is over the lines back to them, and then what was chosen of them. */
static void on_escape(struct watch *w)
{
	if (w->screen.show != PFS_SCREEN_LINES) {
		w->screen.show = PFS_SCREEN_LINES;
		return;
	}
	w->text[0] = '\0';
	w->screen.text = NULL;
	w->screen.selected[0] = '\0';
	w->screen.first = 0;
}

static void on_enter(struct watch *w)
{
	int at;

	if (w->screen.by != PFS_LIVE_REGION || w->screen.show != PFS_SCREEN_LINES || watch_gather(w) || !w->lines.nr)
		return;
	at = pfs_live_find(&w->lines, w->screen.selected);
	strcpy(w->screen.selected, w->lines.line[at < 0 ? 0 : at].key);
	w->screen.first_page = 0;
	w->screen.show = PFS_SCREEN_PAGES;
}

static void select_line(struct watch *w, long by)
{
	long at, last = (long)w->lines.nr - 1;

	if (last < 0)
		return;
	at = pfs_live_find(&w->lines, w->screen.selected);
	at = at < 0 && by == 1 ? 0 : (at < 0 ? 0 : at) + by;
	strcpy(w->screen.selected, w->lines.line[at < 0 ? 0 : at > last ? last : at].key);
}

/* Of the touched pages of a region. */
static void scroll_pages(struct watch *w, long by)
{
	int at = watch_gather(w) ? -1 : pfs_live_find(&w->lines, w->screen.selected);
	const struct pfs_row *row = at < 0 ? NULL : &w->lines.line[at].row;
	uint64_t *before, nr = 0, back = by < 0 ? -by : 0;
	struct pfs_page_walk walk;

	if (!row || !row->pages)
		return;
	if (by >= 0) {
		pfs_page_walk_start(&walk, row->pages,
				    w->screen.first_page > row->start ? w->screen.first_page : row->start, row->end);
		for (long i = 0; i <= by && pfs_page_walk_next(&walk); i++)
			w->screen.first_page = walk.addr;
		return;
	}
	before = calloc(back, sizeof(*before));
	pfs_page_walk_start(&walk, row->pages, row->start, row->end);
	while (before && pfs_page_walk_next(&walk) && walk.addr < w->screen.first_page)
		before[nr++ % back] = walk.addr;
	w->screen.first_page = nr ? before[nr < back ? 0 : nr % back] : 0;
	free(before);
}

/* More lines or pages than there can be. */
enum { FAR = 1 << 24 };

static void move(struct watch *w, long by)
{
	if (w->screen.show == PFS_SCREEN_LINES)
		select_line(w, by);
	else if (w->screen.show == PFS_SCREEN_PAGES && by == -FAR)
		w->screen.first_page = 0;
	else if (w->screen.show == PFS_SCREEN_PAGES)
		scroll_pages(w, by);
}

static const struct {
	int key;
	void (*on)(struct watch *w);
} keys[] = {
	{ 'q', on_quit },	 { 's', on_sort },	   { 'b', on_by },
	{ '\t', on_by },	 { 't', on_threads },	   { '/', on_filter },
	{ ' ', on_freeze },	 { KEY_LEFT, on_left },	   { KEY_RIGHT, on_right },
	{ '[', on_shorter },	 { ']', on_longer },	   { '?', on_help },
	{ 'h', on_help },	 { 'L' - '@', on_redraw }, { KEY_ESCAPE, on_escape },
	{ KEY_ENTER, on_enter },
};

/* How far they move; PAGE is a screen. */
enum { PAGE = 1 << 20 };
static const struct {
	int key;
	long by;
} moves[] = {
	{ KEY_UP, -1 },		{ KEY_DOWN, 1 },	 { 'k', -1 },	     { 'j', 1 },
	{ KEY_PAGE_UP, -PAGE }, { KEY_PAGE_DOWN, PAGE }, { KEY_HOME, -FAR }, { KEY_END, FAR },
};

static void type(struct watch *w, int key)
{
	size_t len = strlen(w->text);

	if (key == KEY_ENTER || key == KEY_ESCAPE)
		w->screen.typing = false;
	if (key == KEY_ESCAPE)
		w->text[0] = '\0';
	else if (key == KEY_BACKSPACE && len)
		w->text[len - 1] = '\0';
	else if (key >= ' ' && key < 256 && key != KEY_BACKSPACE && len + 1 < sizeof(w->text))
		w->text[len] = key, w->text[len + 1] = '\0';
	w->screen.text = w->text[0] ? w->text : NULL;
	w->screen.first = 0;
}

static void on_command(struct watch *w, int key)
{
	long page = pfs_screen_room(&w->screen) - 1 - (w->screen.show == PFS_SCREEN_PAGES);

	w->screen.message = NULL;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].key == key)
			keys[i].on(w);
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		if (moves[i].key == key)
			move(w, moves[i].by == PAGE ? page : moves[i].by == -PAGE ? -page : moves[i].by);
}

void watch_key(struct watch *w, int key)
{
	if (w->screen.typing)
		type(w, key);
	else
		on_command(w, key);
	w->changed = true;
	w->next_draw_ns = 0;
}
