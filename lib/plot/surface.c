/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Surfaces of cairo: SVG, PNG and PDF. SVG also has its content as text and numbers, for readers and programs.
 */
#include "plot/draw.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int pfs_plot_cairo_load(struct pfs_cairo *cairo, struct pfs_err *err)
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

/* out NULL: nothing is written, and there is no content yet. */
static cairo_surface_t *surface_new(const struct pfs_plot_picture *p, const struct pfs_plot_content *content,
				    enum pfs_plot_format format, FILE *out)
{
	cairo_surface_t *surface;

	switch (format) {
	case PFS_PLOT_SVG:
		return p->cairo->svg_surface_create_for_stream(out ? write_bytes : NULL, out, p->width, p->total);
	case PFS_PLOT_PDF:
		surface = p->cairo->pdf_surface_create_for_stream(out ? write_bytes : NULL, out, p->width, p->total);
		if (content) {
			p->cairo->pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, content->title);
			p->cairo->pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT, content->summary);
		}
		return surface;
	default:
		return p->cairo->image_surface_create(CAIRO_FORMAT_RGB24, p->width, p->total);
	}
}

/* Into memory first, because cairo may write at any time. */
static int draw_to(struct pfs_plot_picture *p, const struct pfs_plot_content *content, enum pfs_plot_format format,
		   FILE *memory, struct pfs_err *err)
{
	cairo_surface_t *surface = surface_new(p, content, format, memory);
	cairo_status_t status;
	int ret;

	p->on = p->cairo->create(surface);
	ret = content->draw(p, err);
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
static void write_svg(const struct pfs_plot_picture *p, const struct pfs_plot_content *content, const char *drawn,
		      size_t len, FILE *out)
{
	const char *svg = strstr(drawn, "<svg"), *end = svg ? strchr(svg, '>') : NULL;
	struct pfs_json json;

	if (!end)
		end = drawn - 1;
	fwrite(drawn, 1, end + 1 - drawn, out);
	fputs("\n<title>", out);
	write_xml(out, content->title);
	fputs("</title>\n<desc>", out);
	write_xml(out, content->summary);
	fputs("</desc>\n<metadata id=\"pfscope\">", out);
	pfs_json_init(&json, out);
	json.markup = true;
	content->put_numbers(p, &json);
	fputs("</metadata>", out);
	fwrite(end + 1, 1, len - (end + 1 - drawn), out);
}

int pfs_plot_surface_write(struct pfs_plot_picture *p, const struct pfs_plot_content *content,
			   enum pfs_plot_format format, FILE *out, struct pfs_err *err)
{
	char *drawn = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&drawn, &len);
	int ret;

	if (!memory)
		return pfs_err_set(err, -ENOMEM, "no memory for the plot");
	ret = draw_to(p, content, format, memory, err);
	if (fclose(memory) && !ret)
		ret = pfs_err_set(err, -ENOMEM, "no memory for the plot");
	if (!ret && format == PFS_PLOT_SVG)
		write_svg(p, content, drawn, len, out);
	else if (!ret)
		fwrite(drawn, 1, len, out);
	free(drawn);
	return ret;
}

int pfs_plot_surface_plan(struct pfs_plot_picture *p, enum pfs_plot_format format,
			  int (*plan)(struct pfs_plot_picture *picture))
{
	cairo_surface_t *surface;
	int ret;

	p->width = p->total = 1;
	surface = surface_new(p, NULL, format, NULL);
	p->on = p->cairo->create(surface);
	ret = plan(p);
	if (!ret && p->cairo->status(p->on)) /* then it has measured nothing */
		ret = -ENOMEM;
	p->cairo->destroy(p->on);
	p->cairo->surface_finish(surface);
	p->cairo->surface_destroy(surface);
	return ret;
}
