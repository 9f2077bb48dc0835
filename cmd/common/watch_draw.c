/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen: see watch_priv.h. */
#include "common/watch_priv.h"

#include "base/clock.h"
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>

#define DRAW_NS UINT64_C(500000000) /* between two screens; and at least FRAME_REST times what one took */
enum { FRAME_REST = 4 };

static void name_state(struct watch *w)
{
	char step[32];

	w->screen.alarm = watch_stands(w);
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

int watch_gather(struct watch *w)
{
	const struct state *s = watch_shown(w);

	pfs_live_free(&w->lines);
	return pfs_live_gather(&w->lines, &s->moment, &s->filter, w->screen.by, w->screen.sort, w->screen.text);
}

int watch_draw(struct watch *w)
{
	uint64_t start = pfs_now_ns();
	const struct state *s = watch_shown(w);
	char *text = NULL;
	size_t size;
	FILE *out;
	int err;

	w->screen.width = pfs_term_width(w->terminal.out);
	w->screen.height = pfs_term_height(w->terminal.out);
	watch_clock(w);
	name_state(w);
	err = watch_gather(w);
	out = err ? NULL : open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	pfs_screen_draw(out, &w->screen, &s->moment, &s->filter, &w->lines);
	if (!fclose(out))
		terminal_show(&w->terminal, text, w->redraw);
	free(text);
	w->redraw = w->changed = false;
	w->next_draw_ns = pfs_now_ns();
	w->next_draw_ns += (w->next_draw_ns - start) * FRAME_REST + DRAW_NS;
	return 0;
}
