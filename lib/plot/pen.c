/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plot/draw.h"

#include "base/escape.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

static void ink(const struct pfs_plot_picture *p, const char *color, double alpha)
{
	uint64_t rgb = 0;

	pfs_hex(color + 1, &rgb);
	p->cairo->set_source_rgba(p->on, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0, alpha);
}

void pen_box(const struct pfs_plot_picture *p, double x, double y, double w, double h, const char *color, double alpha)
{
	ink(p, color, alpha);
	p->cairo->rectangle(p->on, x, y, w, h);
	p->cairo->fill(p->on);
}

void pen_point(const struct pfs_plot_picture *p, double x, double y, double size, enum pfs_plot_shapes nr,
	       const char *color, double alpha)
{
	const struct pfs_plot_shape *shape = &pfs_plot_shapes[nr];
	double unit = size / 200;

	for (unsigned int i = 0; i < shape->nr; i++)
		(i ? p->cairo->line_to : p->cairo->move_to)(p->on, x + unit * shape->at[2 * i],
							    y + unit * shape->at[2 * i + 1]);
	p->cairo->close_path(p->on);
	ink(p, color, alpha);
	p->cairo->set_line_width(p->on, size / 4);
	(shape->hollow ? p->cairo->stroke : p->cairo->fill)(p->on);
}

void pen_fill(const struct pfs_plot_picture *p, const char *color)
{
	ink(p, color, 1);
	p->cairo->fill(p->on);
}

void pen_stroke(const struct pfs_plot_picture *p, double width, const char *color)
{
	ink(p, color, 1);
	p->cairo->set_line_width(p->on, width);
	p->cairo->stroke(p->on);
}

void pen_line(const struct pfs_plot_picture *p, double x0, double y0, double x1, double y1, const char *color)
{
	ink(p, color, 1);
	p->cairo->set_line_width(p->on, 1);
	p->cairo->move_to(p->on, floor(x0) + 0.5, floor(y0) + 0.5);
	p->cairo->line_to(p->on, floor(x1) + 0.5, floor(y1) + 0.5);
	p->cairo->stroke(p->on);
}

void pen_dashes(const struct pfs_plot_picture *p, double x0, double y0, double x1, double y1, const char *color)
{
	static const double dashes[] = { 3, 5 };

	p->cairo->set_dash(p->on, dashes, 2, 0);
	pen_line(p, x0, y0, x1, y1, color);
	p->cairo->set_dash(p->on, dashes, 0, 0);
}

void pen_hatch(const struct pfs_plot_picture *p, double x, double y, double w, double h, const char *color)
{
	const double apart = 6;

	ink(p, color, 1);
	p->cairo->set_line_width(p->on, 1);
	for (double sum = ceil((x + y) / apart) * apart; sum < x + w + y + h; sum += apart) {
		p->cairo->move_to(p->on, fmax(x, sum - y - h), fmin(y + h, sum - x));
		p->cairo->line_to(p->on, fmin(x + w, sum - y), fmax(y, sum - x - w));
	}
	p->cairo->stroke(p->on);
}

static void font(const struct pfs_plot_picture *p, double size, bool bold)
{
	p->cairo->select_font_face(p->on, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
				   bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	p->cairo->set_font_size(p->on, size);
}

double pen_width(const struct pfs_plot_picture *p, double size, const char *text)
{
	cairo_text_extents_t extents;

	font(p, size, false);
	p->cairo->text_extents(p->on, text, &extents);
	return extents.x_advance;
}

void pen_text(const struct pfs_plot_picture *p, double x, double y, double size, enum pen_align align, double room,
	      const char *color, const char *text)
{
	cairo_text_extents_t extents;
	char fitted[1024];

	font(p, size, align == PEN_BOLD);
	for (unsigned int columns = 400; columns; columns -= columns > 100 ? 20 : 1) {
		pfs_fit_head(fitted, sizeof(fitted), text, columns, "…");
		p->cairo->text_extents(p->on, fitted, &extents);
		if (extents.x_advance <= room)
			break;
	}
	ink(p, color, 1);
	if (align == PEN_RIGHT)
		x -= extents.x_advance;
	else if (align == PEN_CENTER)
		x -= extents.x_advance / 2;
	p->cairo->move_to(p->on, x, y);
	p->cairo->show_text(p->on, fitted);
}

/* How much of the text fits: up to a space or all of it, and a word at the least. */
static size_t fitting(const struct pfs_plot_picture *p, double size, double room, char *text)
{
	size_t fits = 0;

	for (size_t end = strcspn(text, " ");; end += 1 + strcspn(text + end + 1, " ")) {
		char at_end = text[end];
		bool fit;

		text[end] = '\0';
		fit = pen_width(p, size, text) <= room;
		text[end] = at_end;
		if (fits && !fit)
			return fits;
		fits = end;
		if (!at_end)
			return fits;
	}
}

double pen_lines(const struct pfs_plot_picture *p, double x, double y, double line, double size, double room,
		 const char *color, const char *text)
{
	char copy[PFS_PLOT_TEXT_MAX], *at = copy;

	for (snprintf(copy, sizeof(copy), "%s", text); *at; y += line) {
		size_t len = fitting(p, size, room, at);
		bool more = at[len];

		at[len] = '\0';
		pen_text(p, x, y, size, PEN_LEFT, room, color, at);
		at += len + more;
	}
	return y;
}
