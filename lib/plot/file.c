/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a plot in its format: SVG, PNG and PDF by cairo (plot/surface.c).
 */
#include "plot/draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "text", "svg", "png", "pdf", "html" };

int pfs_plot_format_find(const char *name)
{
	for (int i = 0; i < PFS_PLOT_FORMATS; i++)
		if (!strcasecmp(names[i], name))
			return i;
	return -ENOENT;
}

int pfs_plot_format_of_file(const char *file)
{
	const char *dot = strrchr(file, '.');

	if (dot && !strcasecmp(dot, ".txt"))
		return PFS_PLOT_TEXT;
	if (dot && !strcasecmp(dot, ".htm"))
		return PFS_PLOT_HTML;
	return dot ? pfs_plot_format_find(dot + 1) : -ENOENT;
}

/* With a given height a band has at least PIXELS pixels: fewer suffice for a name, but not for its points. */
uint32_t pfs_plot_bands(const struct pfs_plot_style *style, enum pfs_plot_format format)
{
	enum { OF_TEXT = 20, OF_PICTURE = 44, OF_PAGE = 100, PIXELS = 16, BESIDE = 400 };

	if (format == PFS_PLOT_TEXT || format == PFS_PLOT_HTML)
		return format == PFS_PLOT_TEXT ? OF_TEXT : OF_PAGE;
	return style->height > BESIDE + OF_PICTURE * PIXELS ? (style->height - BESIDE) / PIXELS : OF_PICTURE;
}

/* Lays the plot out with fewer bands if the picture is too low. */
static int plan_with_fewer(struct pfs_plot_picture *p, struct pfs_plot *fewer, enum pfs_plot_format format)
{
	struct pfs_plot_data *data = p->plot->data;
	enum pfs_plot_sort sort = p->plot->sort;
	uint32_t nr = p->plot->nr_bands;
	int ret;

	while ((ret = pfs_plot_surface_plan(p, format, pfs_plot_picture_plan)) == -ENOSPC) {
		nr -= nr > 4 ? nr / 4 : nr > 1;
		nr = p->bands_fit < nr && p->bands_fit ? p->bands_fit : nr;
		pfs_plot_picture_fini(p);
		pfs_plot_fini(fewer);
		ret = pfs_plot_lay_out(fewer, data, nr, sort);
		if (ret)
			return ret;
		p->plot = fewer;
	}
	return ret;
}

static void put_numbers(const struct pfs_plot_picture *p, struct pfs_json *json)
{
	pfs_plot_write_summary(p->plot, &p->grid, json, NULL);
}

static int write_drawn(const struct pfs_plot *plot, const struct pfs_plot_style *style, enum pfs_plot_format format,
		       FILE *out, struct pfs_err *err)
{
	struct pfs_cairo cairo;
	struct pfs_plot fewer = { 0 };
	char title[PFS_PLOT_TEXT_MAX], sum[PFS_PLOT_TEXT_MAX];
	struct pfs_plot_content content = { .draw = pfs_plot_picture_draw, .put_numbers = put_numbers };
	struct pfs_plot_picture p = {
		.plot = plot, .style = style, .cairo = &cairo, .theme = style->theme ?: &pfs_plot_themes[PFS_PLOT_LIGHT]
	};
	int ret = pfs_plot_cairo_load(&cairo, err);

	if (ret)
		return ret;
	ret = plan_with_fewer(&p, &fewer, format);
	content.title = pfs_plot_title(plot, style, title);
	content.summary = pfs_plot_sum_text(plot, sum);
	ret = ret ? pfs_err_set(err, ret, "no memory for the plot")
		  : pfs_plot_surface_write(&p, &content, format, out, err);
	pfs_plot_picture_fini(&p);
	pfs_plot_fini(&fewer);
	return ret;
}

int pfs_plot_write(const struct pfs_plot *plot, const struct pfs_plot_style *style, enum pfs_plot_format format,
		   FILE *out, struct pfs_err *err)
{
	int ret = format == PFS_PLOT_TEXT   ? pfs_plot_write_text(plot, style, out, err)
		  : format == PFS_PLOT_HTML ? pfs_plot_write_html(plot, style, out, err)
					    : write_drawn(plot, style, format, out, err);

	if (!ret && (fflush(out) || ferror(out)))
		ret = pfs_err_set(err, -EIO, "the plot cannot be written: %s", strerror(errno));
	return ret;
}
