/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events become the present moment, as they come or at the speed of a replay. A moment of the past is made of the same
 * lines by the reader of every recording, as `--at` does it.
 */
#include "common/watch.h"

#include "base/clock.h"
#include "base/units.h"
#include "base/write_all.h"
#include "common/command.h"
#include "common/reading.h"
#include "common/terminal.h"
#include "event/line.h"
#include "live/live.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define MS	   UINT64_C(1000000)
#define DRAW_NS	   (500 * MS)  /* between two screens; and at least FRAME_REST times what one took */
#define FEED_NS	   (50 * MS)   /* the longest that events are taken in before keys are looked at */
#define PATIENT_NS (1000 * MS) /* a key ends the making of a past moment that takes longer */
enum { FRAME_REST = 4, BLOCK = 1 << 20 };

/* A model, and what the screen shows of it. */
struct state {
	struct pipeline pipeline;
	struct pfs_filter filter; /* at, of the past */
	struct pfs_moment moment;
};

struct watch {
	const struct watch_config *config;
	struct terminal terminal;
	struct pfs_screen screen;
	struct pfs_live_lines lines; /* of the last screen */
	char text[64];		     /* of the filter */
	int signal_fd;
	struct state *now, *past; /* past: NULL: now is shown */
	struct pfs_line_reader *reader;
	char *block;
	off_t read;    /* how much of the lines the present has taken in */
	bool ended;    /* no more lines will come */
	bool complete; /* and all have been taken in */
	bool frozen, redraw, changed, quit;
	int status;
	uint64_t step_ns, past_ns; /* past: since the start of the recording */
	uint64_t clock_ns, played_ns,
		first_ns; /* of a replay: of its last look at the clock, how far it is, from where */
	uint64_t next_draw_ns;
	char state[64];
};

/* ---- states ---- */

static void state_free(struct state *s)
{
	if (!s)
		return;
	pfs_moment_fini(&s->moment);
	pipeline_fini(&s->pipeline);
	free(s);
}

/* NULL: no memory. */
static struct state *state_new(const struct pfs_time *at)
{
	struct state *s = calloc(1, sizeof(*s));
	struct pfs_err err;

	if (!s)
		return NULL;
	if (at)
		s->filter.at = *at;
	if (pipeline_init(&s->pipeline, &s->filter, PFS_EXPORT_NONE, NULL, &err)) {
		free(s);
		return NULL;
	}
	pfs_moment_init(&s->moment, s->pipeline.model);
	pipeline_observe(&s->pipeline, pfs_moment_observer(&s->moment));
	return s;
}

static struct state *shown(const struct watch *w)
{
	return w->past ? w->past : w->now;
}

static bool stands(const struct watch *w)
{
	return w->frozen || w->past;
}

/* ---- the present ---- */

/* The time at the beginning of a line "6431.215 fault ..."; 0: it has none. */
static uint64_t time_of(const char *line)
{
	char word[32];
	size_t len = strcspn(line, " \n");
	uint64_t ns;

	snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : 0), line);
	return isdigit((unsigned char)*word) && pfs_seconds_parse(word, &ns) ? ns : 0;
}

/* How much of the block a replay has come to: whole lines. */
static size_t played(struct watch *w, const char *block, size_t len)
{
	size_t at = 0;

	while (at < len) {
		uint64_t ns = time_of(block + at);

		if (ns && !w->first_ns)
			w->first_ns = ns;
		if (ns > w->first_ns + w->played_ns)
			break;
		at += (const char *)memchr(block + at, '\n', len - at) + 1 - (block + at);
	}
	return at;
}

/* Takes in a block of lines. Returns whether there are more already, or -errno. */
static int feed_block(struct watch *w)
{
	ssize_t got = pfs_read_all_at(w->config->lines_fd, w->block, BLOCK, w->read);
	const char *end = got > 0 ? memrchr(w->block, '\n', got) : NULL;
	size_t len = end ? end + 1 - w->block : 0, nr;
	int err;

	if (got < 0)
		return got;
	w->block[len] = '\0';
	nr = w->config->speed ? played(w, w->block, len) : len;
	err = pfs_line_reader_feed(w->reader, w->block, nr);
	w->read += nr;
	w->changed |= nr;
	w->complete = w->ended && nr == len && got < BLOCK;
	return err ? err : nr && nr == len && got == BLOCK;
}

/* Returns whether there are more lines already, or -errno. */
static int feed(struct watch *w)
{
	uint64_t start = pfs_now_ns();
	int more = 1;

	if (stands(w) || w->complete)
		return 0;
	while (more > 0 && pfs_now_ns() - start < FEED_NS)
		more = feed_block(w);
	return more;
}

/* A replay goes on while it is shown. */
static void play(struct watch *w)
{
	uint64_t now = pfs_now_ns();
	double ns = w->clock_ns ? (now - w->clock_ns) * w->config->speed : 0;

	w->clock_ns = now;
	if (!stands(w) && ns < 1e18 && w->played_ns < UINT64_C(1) << 61)
		w->played_ns += ns;
}

/* The present moment goes on without events, too. */
static void update_clock(struct watch *w)
{
	struct pfs_moment *m = &w->now->moment;
	uint64_t now = w->complete ? 0 : w->config->speed ? w->first_ns + w->played_ns : pfs_now_ns();

	if (!stands(w) && w->now->pipeline.model->nr_events && now > m->now_ns)
		m->now_ns = now;
}

/* ---- the past ---- */

struct past_reading {
	struct watch *watch;
	struct pfs_sink to;
	uint64_t start_ns;
	unsigned int nr;
};

static int past_event(void *ctx, const struct pfs_event *ev)
{
	struct past_reading *r = ctx;
	struct pollfd fds[] = { { r->watch->signal_fd, POLLIN, 0 }, { r->watch->terminal.in, POLLIN, 0 } };

	if (!(++r->nr & 0xfff) && poll(fds, pfs_now_ns() - r->start_ns > PATIENT_NS ? 2 : 1, 0) > 0)
		return -EINTR;
	return pfs_emit(&r->to, ev);
}

/* Makes the moment so long after the start. The lines are standard input: their last one may not be whole yet. */
static int make_past(struct watch *w, uint64_t at_ns)
{
	const struct input_options options = { 0 };
	struct pfs_time at = { .ns = at_ns, .set = true };
	struct state *past = state_new(&at);
	struct past_reading reading = { .watch = w, .start_ns = pfs_now_ns() };
	struct pfs_sink sink = { .fn = past_event, .ctx = &reading };
	FILE *messages = stderr, *none = fopen("/dev/null", "w");
	struct pfs_err err = { "" };
	int ret = past && none ? 0 : -ENOMEM;

	if (!ret) {
		reading.to = pipeline_sink(&past->pipeline);
		lseek(STDIN_FILENO, 0, SEEK_SET);
		stderr = none;
		ret = input_read(NULL, &options, &sink, &err);
		stderr = messages;
	}
	if (none)
		fclose(none);
	if (ret < 0) {
		state_free(past);
		return ret;
	}
	past->moment.now_ns = pfs_model_base_ns(past->pipeline.model) + at_ns;
	state_free(w->past);
	w->past = past;
	w->past_ns = at_ns;
	return 0;
}

static uint64_t since_start(const struct watch *w)
{
	uint64_t base = pfs_model_base_ns(w->now->pipeline.model);

	return w->now->moment.now_ns > base ? w->now->moment.now_ns - base : 0;
}

static void leave_past(struct watch *w)
{
	state_free(w->past);
	w->past = NULL;
}

/* ---- drawing ---- */

static void name_state(struct watch *w)
{
	char step[32];

	w->screen.alarm = stands(w);
	if (w->past)
		snprintf(w->state, sizeof(w->state), "past (step %s)", pfs_duration_text(step, w->step_ns, 3));
	else if (w->complete)
		snprintf(w->state, sizeof(w->state), "end");
	else if (w->frozen)
		snprintf(w->state, sizeof(w->state), "frozen");
	else if (w->config->speed)
		snprintf(w->state, sizeof(w->state), "x%g", w->config->speed);
	else
		snprintf(w->state, sizeof(w->state), "live");
	w->screen.state = w->state;
}

static int gather(struct watch *w)
{
	const struct state *s = shown(w);

	pfs_live_free(&w->lines);
	return pfs_live_gather(&w->lines, &s->moment, &s->filter, w->screen.by, w->screen.sort, w->screen.text);
}

static int draw(struct watch *w)
{
	uint64_t start = pfs_now_ns();
	const struct state *s = shown(w);
	char *text = NULL;
	size_t size;
	FILE *out;
	int err;

	w->screen.width = pfs_term_width(w->terminal.out);
	w->screen.height = pfs_term_height(w->terminal.out);
	update_clock(w);
	name_state(w);
	err = gather(w);
	out = err ? NULL : open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	pfs_screen_draw(out, &w->screen, &s->moment, &s->filter, &w->lines);
	if (!fclose(out))
		terminal_show(&w->terminal, text, w->redraw);
	free(text);
	w->redraw = w->changed = false;
	w->next_draw_ns = pfs_now_ns();
	w->next_draw_ns += (w->next_draw_ns - start) * FRAME_REST + (DRAW_NS);
	return 0;
}

/* ---- keys ---- */

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
		leave_past(w);
	else
		w->frozen = !w->frozen;
}

static void step_to(struct watch *w, uint64_t at_ns)
{
	w->screen.message = "reading ...";
	if (draw(w))
		return;
	w->screen.message = NULL;
	if (make_past(w, at_ns) == -ENOMEM)
		w->screen.message = "no memory for a moment of the past";
}

static void on_left(struct watch *w)
{
	uint64_t at = w->past ? w->past_ns : since_start(w);

	if (at)
		step_to(w, (at - 1) / w->step_ns * w->step_ns);
}

static void on_right(struct watch *w)
{
	if (!w->past)
		return;
	if (w->past_ns + w->step_ns >= since_start(w))
		leave_past(w);
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

	if (w->screen.by != PFS_LIVE_REGION || w->screen.show != PFS_SCREEN_LINES || gather(w) || !w->lines.nr)
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
	int at = gather(w) ? -1 : pfs_live_find(&w->lines, w->screen.selected);
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

static void on_key(struct watch *w, int key)
{
	if (w->screen.typing)
		type(w, key);
	else
		on_command(w, key);
	w->changed = true;
	w->next_draw_ns = 0;
}

/* ---- the loop ---- */

static void pause_here(struct watch *w)
{
	terminal_leave(&w->terminal);
	raise(SIGSTOP);
	terminal_enter(&w->terminal);
	w->clock_ns = 0;
}

static void on_signals(struct watch *w)
{
	struct signalfd_siginfo info;

	while (read(w->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		w->redraw = true;
		w->next_draw_ns = 0;
		if (info.ssi_signo == SIGTSTP)
			pause_here(w);
		if (info.ssi_signo == SIGTSTP || info.ssi_signo == SIGCONT || info.ssi_signo == SIGWINCH)
			continue;
		w->quit = true;
		w->status = 128 + info.ssi_signo;
	}
}

static int open_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Until when nothing is to do unless something comes. */
static int timeout_ms(const struct watch *w, int more)
{
	uint64_t now = pfs_now_ns();

	if (more)
		return 0;
	if (w->changed && w->next_draw_ns <= now)
		return 0;
	return stands(w) || w->complete ? (w->changed ? 20 : 500) : 50;
}

static int look(struct watch *w, int more)
{
	struct pollfd fds[] = {
		{ w->terminal.in, POLLIN, 0 },
		{ w->signal_fd, POLLIN, 0 },
		{ w->ended ? -1 : w->config->ended_fd, POLLIN, 0 },
	};
	int key;

	if (poll(fds, 3, timeout_ms(w, more)) < 0 && errno != EINTR)
		return -errno;
	on_signals(w);
	w->ended |= fds[2].revents;
	w->changed |= fds[2].revents;
	if (fds[0].revents & (POLLHUP | POLLERR))
		w->quit = true;
	while (!w->quit && (key = terminal_key(&w->terminal))) {
		if (key < 0)
			return key;
		on_key(w, key);
	}
	return 0;
}

/* What came before nothing more could come is there to be seen until the user leaves; where nothing came, nothing is. */
static bool nothing_came(const struct watch *w)
{
	return w->complete && !w->now->pipeline.model->nr_events;
}

static int loop(struct watch *w)
{
	int more = 0, err = 0;
	bool was_complete;

	while (!err && !w->quit) {
		play(w);
		was_complete = w->complete;
		more = feed(w);
		if (more < 0 || nothing_came(w))
			return more;
		w->changed |= w->complete != was_complete || (!stands(w) && !w->complete);
		if (w->redraw || (w->changed && w->next_draw_ns <= pfs_now_ns()) || (w->complete && !was_complete))
			err = draw(w);
		if (!err)
			err = look(w, more);
	}
	return err;
}

static bool has_utf8(void)
{
	const char *locale = getenv("LC_ALL");

	if (!locale || !*locale)
		locale = getenv("LC_CTYPE");
	if (!locale || !*locale)
		locale = getenv("LANG");
	return locale && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

static int open_all(struct watch *w)
{
	int in = dup(STDIN_FILENO);
	struct pfs_sink sink;

	w->now = state_new(NULL);
	w->block = malloc(BLOCK + 1);
	if (!w->now || !w->block)
		return -ENOMEM;
	sink = pipeline_sink(&w->now->pipeline);
	w->reader = pfs_line_reader_new(&sink);
	if (!w->reader)
		return -ENOMEM;
	if (in < 0 || w->signal_fd < 0 || dup2(w->config->past_fd, STDIN_FILENO) < 0)
		return -errno;
	return terminal_init(&w->terminal, in, STDOUT_FILENO);
}

int watch(const struct watch_config *config)
{
	struct watch w = { .config = config, .step_ns = PFS_NS_PER_S, .redraw = true };
	int err;

	w.signal_fd = open_signals();
	w.screen.title = config->title;
	w.screen.color = pfs_term_color(STDOUT_FILENO, config->color);
	w.screen.utf8 = has_utf8();
	err = open_all(&w);
	if (!err) {
		terminal_enter(&w.terminal);
		err = loop(&w);
		terminal_fini(&w.terminal);
	}
	if (err)
		message("the screen ended: %s", strerror(-err));
	pfs_line_reader_free(w.reader);
	pfs_live_free(&w.lines);
	state_free(w.past);
	state_free(w.now);
	free(w.block);
	return err ? EXIT_FAILED : w.status;
}
