/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The colours and shapes of plots: the one table of all formats. Categories have the colours of Okabe and Ito, which
 * colour-blind readers tell apart, and a shape each, so that no meaning depends on the colour; counts have those of
 * viridis, whose lightness changes evenly. tests/unit/plot/theme.c measures them.
 */
#ifndef PFS_PLOT_THEME_H
#define PFS_PLOT_THEME_H

#include <stdbool.h>
#include <stdint.h>

enum pfs_plot_by {
	PFS_PLOT_BY_NOTHING, /* a heat map */
	PFS_PLOT_BY_ACCESS,
	PFS_PLOT_BY_CLASS,
	PFS_PLOT_BY_THREAD,
	PFS_PLOT_BY_FAULT_CLASS, /* what the kernel had to do (classes/classes.h) */
	PFS_PLOT_BYS,
};

enum {
	PFS_PLOT_COLORS = 12,
	PFS_PLOT_OTHERS = 10,  /* threads, or classes, without a colour of their own */
	PFS_PLOT_SAMPLED = 11, /* sampled accesses, which are not faults */
	PFS_PLOT_LEVELS = 9,   /* of a heat map */
	PFS_PLOT_AREAS = 7,    /* one upon the other, and one of all others */
};

/* What surrounds the points. */
/* clang-format off */
#define PFS_PLOT_TONES(X)                                                                         \
	X(ground) X(ink) X(dim) X(line) X(rule) X(odd) X(head) X(strange) X(fold) X(hatch) X(lost) \
	X(note) X(chart) X(rate) X(resident)
/* clang-format on */

struct pfs_plot_theme {
	const char *name;	  /* "light" */
#define X(tone) const char *tone; /* "#rrggbb" */
	PFS_PLOT_TONES(X)
#undef X
	const char *access[4], *class[4], *thread[PFS_PLOT_OTHERS + 1], *sampled;
	const char *area[PFS_PLOT_AREAS + 1];
	const char *hot[PFS_PLOT_LEVELS], *seen[PFS_PLOT_LEVELS]; /* faults, sampled accesses: from few to many */
};

enum { PFS_PLOT_LIGHT, PFS_PLOT_DARK, PFS_PLOT_THEMES };

extern const struct pfs_plot_theme pfs_plot_themes[PFS_PLOT_THEMES];

/* Of the 256 colours of a terminal, whose background is not known: both are seen on black and on white. */
extern const uint8_t pfs_plot_terminal_hot[PFS_PLOT_LEVELS], pfs_plot_terminal_seen[PFS_PLOT_LEVELS];

/* That colour of faults coloured by `by`. */
const char *pfs_plot_color(const struct pfs_plot_theme *theme, enum pfs_plot_by by, uint32_t color);

enum pfs_plot_shapes {
	PFS_PLOT_DISC,
	PFS_PLOT_SQUARE,
	PFS_PLOT_UP,
	PFS_PLOT_DIAMOND,
	PFS_PLOT_DOWN,
	PFS_PLOT_PLUS,
	PFS_PLOT_CROSS,
	PFS_PLOT_FRAME,
	PFS_PLOT_BAR,
	PFS_PLOT_DASH,
	PFS_PLOT_GLASS,
	PFS_PLOT_RING,
	PFS_PLOT_SHAPES,
};

/* A polygon: x and y of each corner, in hundredths of half of the point's size. */
struct pfs_plot_shape {
	bool hollow; /* only its outline is drawn */
	uint8_t nr;  /* corners */
	int8_t at[24];
};

extern const struct pfs_plot_shape pfs_plot_shapes[PFS_PLOT_SHAPES];

/* The shape of a point of that colour, faults coloured by `by`. */
enum pfs_plot_shapes pfs_plot_shape(enum pfs_plot_by by, uint32_t color);

#endif
