/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cairo, loaded when a picture is drawn: who only records shall not have it, and all that it needs, in the
 * process.
 */
#ifndef PFS_PLOT_CAIRO_H
#define PFS_PLOT_CAIRO_H

#include "base/err.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>

/* clang-format off */
#define PFS_CAIRO_FUNCTIONS(X)                                                               \
	X(create) X(destroy) X(status) X(status_to_string) X(surface_destroy)                \
	X(surface_finish) X(surface_status) X(surface_write_to_png_stream)                   \
	X(image_surface_create) X(svg_surface_create_for_stream)                             \
	X(pdf_surface_create_for_stream) X(pdf_surface_set_metadata) X(set_source_rgba)      \
	X(set_source_surface) X(rectangle) X(fill) X(paint) X(stroke) X(move_to) X(line_to)  \
	X(set_line_width) X(select_font_face) X(set_font_size) X(show_text) X(text_extents)  \
	X(save) X(restore) X(scale) X(translate) X(set_antialias) X(set_dash)
/* clang-format on */

/* Its functions by their names without "cairo_". */
struct pfs_cairo {
	void *library;
#define X(name) typeof(cairo_##name) *name;
	PFS_CAIRO_FUNCTIONS(X)
#undef X
};

/* 0, or -ENOENT with err set: it is not installed. It stays loaded, for it cannot be unloaded cleanly. */
int pfs_cairo_load(struct pfs_cairo *cairo, struct pfs_err *err);

#endif
