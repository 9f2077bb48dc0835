/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a plot in its format: SVG, PNG and PDF by cairo. SVG also has its content as text and numbers, for readers and
 * programs.
 */
#include "plot/draw.h"

#include <dlfcn.h>
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

/* Text in XML, after pfs_plot_escape(). */
static void write_xml(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '<' || *s == '&' || *s == '>')
			fputs(*s == '<' ? "&lt;" : *s == '>' ? "&gt;" : "&amp;", out);
		else
			fputc(*s, out);
	}
}

/* ---- surfaces ---- */

/* 0, or -ENOENT with err set: it is not installed. It stays loaded, for it cannot be unloaded cleanly. */
static int load_cairo(struct pfs_cairo *cairo, struct pfs_err *err)
{
	cairo->library = dlopen("libcairo.so.2", RTLD_NOW | RTLD_NODELETE);
	if (!cairo->library)
		return pfs_err_set(err, -ENOENT, "libcairo cannot be loaded (Debian: apt install libcairo2): %s",
				   dlerror());
#define X(name)                                                                   \
	cairo->name = (typeof(cairo->name))dlsym(cairo->library, "cairo_" #name); \
	if (!cairo->name)                                                         \
		return pfs_err_set(err, -ENOENT, "libcairo has no cairo_" #name);
	PFS_CAIRO_FUNCTIONS(X)
#undef X
	return 0;
}

static cairo_status_t write_bytes(void *closure, const unsigned char *data, unsigned int length)
{
	return fwrite(data, 1, length, closure) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* out NULL: nothing is written. */
static cairo_surface_t *surface_new(const struct pfs_plot_picture *p, enum pfs_plot_format format, FILE *out)
{
	char text[PFS_PLOT_TEXT_MAX];
	cairo_surface_t *surface;

	switch (format) {
	case PFS_PLOT_SVG:
		return p->cairo->svg_surface_create_for_stream(out ? write_bytes : NULL, out, p->width, p->total);
	case PFS_PLOT_PDF:
		surface = p->cairo->pdf_surface_create_for_stream(out ? write_bytes : NULL, out, p->width, p->total);
		p->cairo->pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE,
						   pfs_plot_title(p->plot, p->style, text));
		p->cairo->pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT,
						   pfs_plot_sum_text(p->plot, text));
		return surface;
	default:
		return p->cairo->image_surface_create(CAIRO_FORMAT_RGB24, p->width, p->total);
	}
}

/* Into memory first, because cairo may write at any time. */
static int draw_to(struct pfs_plot_picture *p, enum pfs_plot_format format, FILE *memory, struct pfs_err *err)
{
	cairo_surface_t *surface = surface_new(p, format, memory);
	cairo_status_t status;
	int ret;

	p->on = p->cairo->create(surface);
	ret = pfs_plot_picture_draw(p, err);
	p->cairo->destroy(p->on);
	status = ret || format != PFS_PLOT_PNG ? CAIRO_STATUS_SUCCESS
					       : p->cairo->surface_write_to_png_stream(surface, write_bytes, memory);
	p->cairo->surface_finish(surface);
	if (!ret && !status)
		status = p->cairo->surface_status(surface);
	p->cairo->surface_destroy(surface);
	if (ret || !status)
		return ret;
	return pfs_err_set(err, -ENOMEM, "cairo cannot draw: %s", p->cairo->status_to_string(status));
}

/* Adds title and description for screen readers, and metadata for programs, behind <svg ...>. */
static void write_svg(const struct pfs_plot_picture *p, const char *drawn, size_t len, FILE *out)
{
	const char *svg = strstr(drawn, "<svg"), *end = svg ? strchr(svg, '>') : NULL;
	char text[PFS_PLOT_TEXT_MAX];
	struct pfs_json json;

	if (!end)
		end = drawn - 1;
	fwrite(drawn, 1, end + 1 - drawn, out);
	fputs("\n<title>", out);
	write_xml(out, pfs_plot_title(p->plot, p->style, text));
	fputs("</title>\n<desc>", out);
	write_xml(out, pfs_plot_sum_text(p->plot, text));
	fputs("</desc>\n<metadata id=\"pfscope\">", out);
	pfs_json_init(&json, out);
	json.markup = true;
	pfs_plot_write_summary(p->plot, &p->grid, &json, NULL);
	fputs("</metadata>", out);
	fwrite(end + 1, 1, len - (end + 1 - drawn), out);
}

static int draw_and_write(struct pfs_plot_picture *p, enum pfs_plot_format format, FILE *out, struct pfs_err *err)
{
	char *drawn = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&drawn, &len);
	int ret;

	if (!memory)
		return pfs_err_set(err, -ENOMEM, "no memory for the plot");
	ret = draw_to(p, format, memory, err);
	if (fclose(memory) && !ret)
		ret = pfs_err_set(err, -ENOMEM, "no memory for the plot");
	if (!ret && format == PFS_PLOT_SVG)
		write_svg(p, drawn, len, out);
	else if (!ret)
		fwrite(drawn, 1, len, out);
	free(drawn);
	return ret;
}

/* On a surface of that format, because widths of text differ. */
static int plan(struct pfs_plot_picture *p, enum pfs_plot_format format)
{
	cairo_surface_t *surface;
	int ret;

	p->width = p->total = 1;
	surface = surface_new(p, format, NULL);
	p->on = p->cairo->create(surface);
	ret = pfs_plot_picture_plan(p);
	if (!ret && p->cairo->status(p->on)) /* then it has measured nothing */
		ret = -ENOMEM;
	p->cairo->destroy(p->on);
	p->cairo->surface_finish(surface);
	p->cairo->surface_destroy(surface);
	return ret;
}

/* Lays the plot out with fewer bands if the picture is too low. */
static int plan_with_fewer(struct pfs_plot_picture *p, struct pfs_plot *fewer, enum pfs_plot_format format)
{
	struct pfs_plot_data *data = p->plot->data;
	enum pfs_plot_sort sort = p->plot->sort;
	uint32_t nr = p->plot->nr_bands;
	int ret;

	while ((ret = plan(p, format)) == -ENOSPC) {
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

static int write_drawn(const struct pfs_plot *plot, const struct pfs_plot_style *style, enum pfs_plot_format format,
		       FILE *out, struct pfs_err *err)
{
	struct pfs_cairo cairo;
	struct pfs_plot fewer = { 0 };
	struct pfs_plot_picture p = {
		.plot = plot, .style = style, .cairo = &cairo, .theme = style->theme ?: &pfs_plot_themes[PFS_PLOT_LIGHT]
	};
	int ret = load_cairo(&cairo, err);

	if (ret)
		return ret;
	ret = plan_with_fewer(&p, &fewer, format);
	ret = ret ? pfs_err_set(err, ret, "no memory for the plot") : draw_and_write(&p, format, out, err);
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
