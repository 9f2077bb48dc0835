/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal's size, and whether to use colours. Commands pass both to the views as options. */
#ifndef PFS_TERM_H
#define PFS_TERM_H

#include <stdbool.h>

enum pfs_color_when { PFS_COLOR_AUTO, PFS_COLOR_ALWAYS, PFS_COLOR_NEVER };

/* Columns of the terminal behind fd; of something else: the environment's COLUMNS, or 80. */
unsigned int pfs_term_width(int fd);

/* Lines of the terminal behind fd; 0: it is none, or its height is unknown. */
unsigned int pfs_term_height(int fd);

/* Reads the value of --width: a number from 40 to 10000. The width, or -EINVAL. */
int pfs_term_width_parse(const char *s);

/* Reads the value of --color: auto, always, never. An enum pfs_color_when, or -EINVAL. */
int pfs_color_parse(const char *s);

/*
 * Whether to write colours to fd. auto: to a terminal that is not a "dumb" one, unless NO_COLOR is
 * set and not empty (https://no-color.org).
 */
bool pfs_term_color(int fd, enum pfs_color_when when);

#endif
