/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads event lines and writes what came out as lines again: shared by the tests of event lines.
 *
 * Include cmocka.h and what it needs first.
 */
#ifndef LINE_ECHO_H
#define LINE_ECHO_H

#include <stdlib.h>
#include <string.h>

#include "event/line.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* What the reader passes on, written down as lines again. */
struct echo {
	char *text;
	size_t len, nr;
	int ret;	       /* what the sink returns */
	struct pfs_event last; /* its strings are gone */
	char name[PFS_EVENT_STR_MAX + 1];
};

static inline int echo_event(void *ctx, const struct pfs_event *ev)
{
	struct echo *echo = ctx;
	char *line = malloc(PFS_LINE_MAX + 1);
	ssize_t len = pfs_line_write(ev, line, PFS_LINE_MAX + 1);

	assert_true(len > 0 && len <= PFS_LINE_MAX);
	echo->text = realloc(echo->text, echo->len + len + 1);
	memcpy(echo->text + echo->len, line, len);
	free(line);
	echo->len += len;
	echo->text[echo->len] = '\0';
	echo->nr++;
	echo->last = *ev;
	if (pfs_has(ev, PFS_F_NAME))
		strcpy(echo->name, ev->name);
	return echo->ret;
}

/* Reads text in pieces of `piece` bytes (0: at once), each in memory of its own. */
static inline int read_text(struct echo *echo, struct pfs_line_stats *stats, const char *text, size_t len, size_t piece)
{
	struct pfs_sink sink = { .fn = echo_event, .ctx = echo };
	struct pfs_line_reader *reader = pfs_line_reader_new(&sink);
	int ret = 0;

	assert_non_null(reader);
	for (size_t at = 0, nr; at < len; at += nr) {
		char *copy;

		nr = piece && piece < len - at ? piece : len - at;
		copy = malloc(nr);
		memcpy(copy, text + at, nr);
		ret = pfs_line_reader_feed(reader, copy, nr);
		free(copy);
	}
	if (!ret)
		ret = pfs_line_reader_end(reader);
	assert_int_equal(pfs_line_reader_end(reader), ret);
	*stats = *pfs_line_reader_stats(reader);
	pfs_line_reader_free(reader);
	return ret;
}

/* Reads one text; the events written again come back in *again (to be freed). */
static inline struct pfs_line_stats reread(const char *text, char **again)
{
	struct echo echo = { 0 };
	struct pfs_line_stats stats;

	assert_int_equal(read_text(&echo, &stats, text, strlen(text), 0), 0);
	assert_int_equal(stats.nr_events, echo.nr);
	*again = echo.text ? echo.text : strdup("");
	return stats;
}

#endif
