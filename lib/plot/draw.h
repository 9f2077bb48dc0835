/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drawing of a plot by cairo: plot/draw.c plans and draws the picture with the strokes of plot/pen.c, plot/legend.c
 * draws what stands below it, plot/surface.c has the surfaces, and plot/file.c chooses the format. plot/alive.c is the
 * same for a plot of kernel objects. Only these include this header.
 */
#ifndef PFS_PLOT_DRAW_H
#define PFS_PLOT_DRAW_H

#include "plot/plot.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>

/* clang-format off */
#define PFS_CAIRO_FUNCTIONS(X)                                                               \
	X(create) X(destroy) X(status) X(status_to_string) X(surface_destroy)                \
	X(surface_finish) X(surface_status) X(surface_set_device_offset)                     \
	X(surface_write_to_png_stream)                                                       \
	X(image_surface_create) X(svg_surface_create_for_stream)                             \
	X(pdf_surface_create_for_stream) X(pdf_surface_set_metadata) X(set_source_rgba)      \
	X(set_source_surface) X(rectangle) X(fill) X(paint) X(stroke) X(move_to) X(line_to)  \
	X(close_path) X(set_line_width) X(select_font_face) X(set_font_size) X(show_text) X(text_extents)  \
	X(save) X(restore) X(scale) X(translate) X(set_antialias) X(set_dash)
/* clang-format on */

/*
 * cairo's functions by their names without "cairo_". It is loaded to draw a picture, so that a recording process has
 * neither it nor the libraries that it needs.
 */
struct pfs_cairo {
	void *library;
#define X(name) typeof(cairo_##name) *name;
	PFS_CAIRO_FUNCTIONS(X)
#undef X
};

/* What is left out of a low picture, one after another. */
enum pfs_plot_terse {
	PFS_PLOT_AMPLE,
	PFS_PLOT_LOW_CHARTS,
	PFS_PLOT_NO_EXPLANATIONS, /* but remarks on the recording stay */
	PFS_PLOT_NO_CHARTS,
	PFS_PLOT_SHORT_LEGEND,
};

struct pfs_plot_picture {
	const struct pfs_plot *plot; /* NULL: a picture of kernel objects (plot/alive.c) */
	const struct pfs_plot_style *style;
	const struct pfs_plot_theme *theme;
	const struct pfs_cairo *cairo;
	cairo_t *on;
	struct pfs_plot_grid grid;
	uint32_t *rows;	      /* of each band */
	double *top, *height; /* of each band */
	double *heading;      /* top of each block */
	double width, total;  /* of the whole picture */
	double left, right;   /* of the plot within it */
	double first, last;   /* top and bottom of all bands */
	double foot;	      /* height of all below the bands */
	unsigned int terse;   /* enum pfs_plot_terse */
	uint32_t bands_fit;   /* if there are too many */
};

/* Places everything; measures text with `on`. 0, -ENOMEM, or -ENOSPC: the height has room for about bands_fit bands. */
int pfs_plot_picture_plan(struct pfs_plot_picture *picture);

/* Draws on picture->on. 0 or -errno with err set. */
int pfs_plot_picture_draw(const struct pfs_plot_picture *picture, struct pfs_err *err);

void pfs_plot_picture_fini(struct pfs_plot_picture *picture);

/* ---- surfaces, and files of them ---- */

/* What a picture is, in words and numbers, and how it is drawn. */
struct pfs_plot_content {
	const char *title, *summary; /* for readers of the file */
	int (*draw)(const struct pfs_plot_picture *picture, struct pfs_err *err);
	void (*put_numbers)(const struct pfs_plot_picture *picture, struct pfs_json *json); /* for programs */
};

/* 0, or -ENOENT with err set: it is not installed. It stays loaded, for it cannot be unloaded cleanly. */
int pfs_plot_cairo_load(struct pfs_cairo *cairo, struct pfs_err *err);

/* Calls plan() with a picture->on of that format, because widths of text differ. What it returns, or -ENOMEM. */
int pfs_plot_surface_plan(struct pfs_plot_picture *picture, enum pfs_plot_format format,
			  int (*plan)(struct pfs_plot_picture *picture));

/* Draws the picture and writes it as SVG, PNG or PDF. 0 or -errno with err set. */
int pfs_plot_surface_write(struct pfs_plot_picture *picture, const struct pfs_plot_content *content,
			   enum pfs_plot_format format, FILE *out, struct pfs_err *err);

/* ---- the legend: what the colours mean, and remarks on the recording ---- */

enum { PFS_PLOT_MARGIN = 14 };

/* The distance of two lines. */
double pfs_plot_legend_line(const struct pfs_plot_picture *picture);

/* Draws it from y on, and returns the y of the next line, from which its height is known. */
double pfs_plot_legend_draw(const struct pfs_plot_picture *picture, double y);

/* ---- strokes; colours are "#rrggbb" ---- */

enum pen_align { PEN_LEFT, PEN_RIGHT, PEN_CENTER, PEN_BOLD }; /* bold: from the left */

void pen_box(const struct pfs_plot_picture *p, double x, double y, double w, double h, const char *color, double alpha);
/* A point of that shape, as wide and high as `size`. */
void pen_point(const struct pfs_plot_picture *p, double x, double y, double size, enum pfs_plot_shapes shape,
	       const char *color, double alpha);
/* Fills the path. */
void pen_fill(const struct pfs_plot_picture *p, const char *color);
/* Draws a line along the path. */
void pen_stroke(const struct pfs_plot_picture *p, double width, const char *color);
void pen_line(const struct pfs_plot_picture *p, double x0, double y0, double x1, double y1, const char *color);
/* Lines from the lower left to the upper right, which go on in an adjacent box. */
void pen_hatch(const struct pfs_plot_picture *p, double x, double y, double w, double h, const char *color);
void pen_dashes(const struct pfs_plot_picture *p, double x0, double y0, double x1, double y1, const char *color);

/* Draws as much of the text as fits into `room` pixels. */
void pen_text(const struct pfs_plot_picture *p, double x, double y, double size, enum pen_align align, double room,
	      const char *color, const char *text);

/* Draws the text in lines, `line` apart. Returns the y of the next line. */
double pen_lines(const struct pfs_plot_picture *p, double x, double y, double line, double size, double room,
		 const char *color, const char *text);
double pen_width(const struct pfs_plot_picture *p, double size, const char *text);

#endif
