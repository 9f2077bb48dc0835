/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For the tests of the text reader: keeps copies of the raw events that it hands out.
 */
#ifndef TEXT_SINK_H
#define TEXT_SINK_H

#include "text/text.h"

#include <stdlib.h>
#include <string.h>

struct text_got {
	struct raw_event ev; /* comm and str point to the two below, or are NULL */
	char comm[64], str[4200];
};

struct text_sink {
	struct text_got *got;
	size_t nr, room;
	int ret; /* what the callback returns */
};

static inline int text_sink_fn(void *ctx, const struct raw_event *ev)
{
	struct text_sink *sink = ctx;
	struct text_got *g;

	if (sink->nr == sink->room) {
		sink->room = sink->room ? 2 * sink->room : 16;
		sink->got = realloc(sink->got, sink->room * sizeof(*sink->got));
	}
	g = &sink->got[sink->nr++];
	g->ev = *ev;
	strncpy(g->comm, ev->comm ? ev->comm : "", sizeof(g->comm) - 1);
	strncpy(g->str, ev->str ? ev->str : "", sizeof(g->str) - 1);
	return sink->ret;
}

/* The strings of event i; NULL where it has none. */
static inline const char *text_got_comm(const struct text_sink *sink, size_t i)
{
	return sink->got[i].ev.comm ? sink->got[i].comm : NULL;
}

static inline const char *text_got_str(const struct text_sink *sink, size_t i)
{
	return sink->got[i].ev.str ? sink->got[i].str : NULL;
}

static inline void text_sink_fini(struct text_sink *sink)
{
	free(sink->got);
	*sink = (struct text_sink){ 0 };
}

/* Reads the whole text; stats may be NULL. What pfs_text_feed() or pfs_text_finish() returned. */
static inline int text_sink_read(struct text_sink *sink, const char *buf, size_t len, struct pfs_text_stats *stats)
{
	struct pfs_text *text = pfs_text_new(text_sink_fn, sink, NULL);
	int ret = pfs_text_feed(text, buf, len);

	if (!ret)
		ret = pfs_text_finish(text);
	if (stats)
		*stats = *pfs_text_stats(text);
	pfs_text_free(text);
	return ret;
}

#endif
