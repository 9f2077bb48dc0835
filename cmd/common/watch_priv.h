/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the screen of `pfscope top`: moments that are shown (watch_moment.c), the screen (watch_draw.c), what keys do
 * (watch_keys.c), and the loop around them (watch.c).
 */
#ifndef CMD_WATCH_PRIV_H
#define CMD_WATCH_PRIV_H

#include "common/pipeline.h"
#include "common/terminal.h"
#include "common/watch.h"
#include "event/line.h"
#include "live/live.h"

enum { WATCH_BLOCK = 1 << 20 }; /* bytes of lines that are read at once */

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

/* ---- moments ---- */

/* at: of the past; NULL: the present. NULL: no memory. */
struct state *watch_state_new(const struct pfs_time *at);
void watch_state_free(struct state *s);

/* The moment that is shown, and whether it stands still. */
struct state *watch_shown(const struct watch *w);
bool watch_stands(const struct watch *w);

/* Takes in lines for a while. Returns whether there are more already, or -errno. */
int watch_feed(struct watch *w);

/* A replay goes on while it is shown; the present moment without events, too. */
void watch_play(struct watch *w);
void watch_clock(struct watch *w);

/*
 * Shows the moment so long after the start. The lines are standard input: their last one may not be whole yet. 0 or -errno,
 * -EINTR: a key or a signal came.
 */
int watch_past(struct watch *w, uint64_t at_ns);
void watch_leave_past(struct watch *w);

/* How long after the start the present is. */
uint64_t watch_since_start(const struct watch *w);

/* ---- the screen, and keys ---- */

/* Fills w->lines with what the moment has. 0 or -ENOMEM. */
int watch_gather(struct watch *w);
int watch_draw(struct watch *w);

void watch_key(struct watch *w, int key);

#endif
