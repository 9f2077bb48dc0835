/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See base/term.h. */
#include "base/term.h"

#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MIN_WIDTH = 40, MAX_WIDTH = 10000 };

int pfs_term_width_parse(const char *s)
{
	uint64_t width;

	return pfs_number_parse(s, MIN_WIDTH, MAX_WIDTH, &width) ? (int)width : -EINVAL;
}

unsigned int pfs_term_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int width;

	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col < MIN_WIDTH ? MIN_WIDTH : size.ws_col;
	width = columns ? pfs_term_width_parse(columns) : -EINVAL;
	return width > 0 ? width : 80;
}

unsigned int pfs_term_height(int fd)
{
	struct winsize size;

	return isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) ? size.ws_row : 0;
}

int pfs_color_parse(const char *s)
{
	static const char *const names[] = { "auto", "always", "never" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(s, names[i]))
			return i;
	return -EINVAL;
}

bool pfs_term_color(int fd, enum pfs_color_when when)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when != PFS_COLOR_AUTO)
		return when == PFS_COLOR_ALWAYS;
	return isatty(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}
