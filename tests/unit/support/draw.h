/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Draws a view into a string, for the tests of the views, and compares strings line by line so that a
 * failure shows the line.
 */
#ifndef PFS_TEST_DRAW_H
#define PFS_TEST_DRAW_H

#include "base/escape.h"
#include "support/feed.h"
#include "view/view.h"

#include <errno.h>
#include <stdio.h>

struct drawing {
	char *text;
	size_t len;
	int ret;
	struct pfs_err err;
};

/* `options` but for out; the caller frees text. */
static inline struct drawing draw(const struct feed *f, const char *view, struct pfs_view_options options)
{
	struct drawing d = { 0 };

	options.out = open_memstream(&d.text, &d.len);
	assert_non_null(options.out);
	if (!options.filter)
		options.filter = f->filter;
	d.ret = pfs_view_find(view)->draw(f->model, &options, &d.err);
	fclose(options.out);
	return d;
}

static inline void assert_same_text(const char *text, const char *expected)
{
	const char *t = text, *e = expected;

	while (*t || *e) {
		size_t len_t = strcspn(t, "\n"), len_e = strcspn(e, "\n");

		if (len_t != len_e || memcmp(t, e, len_t)) {
			print_error("all of it:\n%s\n", text);
			print_error("expected: %.*s\n", (int)len_e, e);
			print_error("     got: %.*s\n", (int)len_t, t);
			fail();
		}
		t += len_t + (t[len_t] == '\n');
		e += len_e + (e[len_e] == '\n');
	}
}

static inline void assert_drawn(const struct feed *f, const char *view, struct pfs_view_options options,
				const char *expected)
{
	struct drawing d = draw(f, view, options);

	assert_int_equal(d.ret, 0);
	assert_same_text(d.text, expected);
	free(d.text);
}

/* Whether a line of the drawing holds `part`. */
static inline bool drawn_with(const struct feed *f, const char *view, struct pfs_view_options options, const char *part)
{
	struct drawing d = draw(f, view, options);
	bool found;

	assert_int_equal(d.ret, 0);
	found = strstr(d.text, part);
	free(d.text);
	return found;
}

/* No line is wider than that. */
static inline void assert_narrow(const char *text, unsigned int width)
{
	char line[8192];

	while (*text) {
		size_t len = strcspn(text, "\n");

		assert_true(len < sizeof(line));
		memcpy(line, text, len);
		line[len] = '\0';
		if (pfs_columns(line) > width) {
			print_error("%u columns: %s\n", pfs_columns(line), line);
			fail();
		}
		text += len + (text[len] == '\n');
	}
}

#endif
