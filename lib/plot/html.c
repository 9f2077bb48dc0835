/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a plot as a page: plot/page.html with the data, plot/page_draw.js and plot/page.js in it. The page loads no
 * other file.
 */
#include "plot/page.h"
#include "classes/classes.h"
#include "plot/plot.h"
#include "view/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Built from the top of the tree: the paths are as the assembler sees them. */
__asm__(".section .rodata\n"
	"pfs_plot_page:\n"
	".incbin \"lib/plot/page.html\"\n"
	".byte 0\n"
	"pfs_plot_script:\n"
	".incbin \"lib/plot/page_draw.js\"\n"
	".incbin \"lib/plot/page.js\"\n"
	".byte 0\n"
	".previous\n");
extern const char pfs_plot_page[], pfs_plot_script[];

struct page {
	const struct pfs_plot *plot;
	const struct pfs_plot_style *style;
	struct pfs_plot_grid grid;
	struct pfs_plot_sites sites;
	struct pfs_json json;
};

/* Another member of an object, on a line of its own. */
static void begin_array(struct pfs_json *json, const char *name)
{
	pfs_json_line(json, "\n");
	pfs_json_begin(json, name, "[");
}

static void begin_object(struct pfs_json *json, const char *name)
{
	pfs_json_line(json, "\n");
	pfs_json_begin(json, name, "{");
}

static void write_string(struct pfs_json *json, const char *name, const char *s)
{
	pfs_json_line(json, "\n");
	pfs_json_string(json, name, s);
}

/* ---- words ---- */

static void write_words(struct page *page)
{
	struct pfs_json *json = &page->json;
	char text[PFS_PLOT_TEXT_MAX];

	pfs_json_begin(json, NULL, "{");
	pfs_json_string(json, "title", pfs_plot_title(page->plot, page->style, text));
	write_string(json, "sum", pfs_plot_sum_text(page->plot, text));
	write_string(json, "notes", pfs_plot_notes_text(page->plot, text));
	write_string(json, "resident_text", PFS_PLOT_RESIDENT_TEXT);
	write_string(json, "unobserved_text", PFS_PLOT_UNOBSERVED_TEXT);
	write_string(json, "theme", page->style->theme ? page->style->theme->name : "");
	write_string(json, "unit", pfs_plot_unit_text(page->plot));
	write_string(json, "by", pfs_plot_by_names[page->style->heat ? PFS_PLOT_BY_NOTHING : page->style->by]);
	pfs_json_line(json, "\n");
	pfs_plot_write_summary(page->plot, &page->grid, json, "summary");
}

static void write_array(struct pfs_json *json, const char *name, const char *const *strings, unsigned int nr)
{
	begin_array(json, name);
	for (unsigned int i = 0; i < nr; i++)
		pfs_json_string(json, NULL, strings[i]);
	pfs_json_end(json, "]");
}

/* All of a theme as the page's script has it: tones by name, colours by what they mean. */
static void write_theme(struct pfs_json *json, const struct pfs_plot_theme *theme)
{
	pfs_json_line(json, "\n");
	pfs_json_begin(json, theme->name, "{");
	pfs_json_begin(json, "tones", "{");
#define X(tone) pfs_json_word(json, #tone, theme->tone);
	PFS_PLOT_TONES(X)
#undef X
	pfs_json_end(json, "}");
	pfs_json_word(json, "sampled", theme->sampled);
	write_array(json, "hot", theme->hot, PFS_PLOT_LEVELS);
	write_array(json, "seen", theme->seen, PFS_PLOT_LEVELS);
	write_array(json, "access", theme->access, 4);
	write_array(json, "class", theme->class, 4);
	write_array(json, "thread", theme->thread, PFS_PLOT_OTHERS + 1);
	write_array(json, "fault-class", theme->thread, PFS_PLOT_OTHERS + 1);
	pfs_json_end(json, "}");
}

static void write_shape(struct pfs_json *json, const struct pfs_plot_shape *shape)
{
	pfs_json_begin(json, NULL, "[");
	pfs_json_bool(json, NULL, shape->hollow);
	for (unsigned int i = 0; i < 2U * shape->nr; i++)
		pfs_json_i64(json, NULL, shape->at[i]);
	pfs_json_end(json, "]");
}

static void write_looks(struct pfs_json *json)
{
	write_array(json, "access", pfs_plot_access_texts, 4);
	write_array(json, "class", pfs_plot_class_texts, 4);
	begin_object(json, "themes");
	for (unsigned int i = 0; i < PFS_PLOT_THEMES; i++)
		write_theme(json, &pfs_plot_themes[i]);
	pfs_json_end(json, "}");
	begin_array(json, "shapes");
	for (unsigned int i = 0; i < PFS_PLOT_SHAPES; i++)
		write_shape(json, &pfs_plot_shapes[i]);
	pfs_json_end(json, "]");
	begin_object(json, "shape_of");
	pfs_json_u64(json, "sampled", pfs_plot_shape(PFS_PLOT_BY_NOTHING, PFS_PLOT_SAMPLED));
	for (enum pfs_plot_by by = PFS_PLOT_BY_ACCESS; by < PFS_PLOT_BYS; by++) {
		begin_array(json, pfs_plot_by_names[by]);
		for (unsigned int i = 0; i < (by >= PFS_PLOT_BY_THREAD ? PFS_PLOT_OTHERS + 1 : 4); i++)
			pfs_json_u64(json, NULL, pfs_plot_shape(by, i));
		pfs_json_end(json, "]");
	}
	pfs_json_end(json, "}");
}

static void write_names(struct page *page)
{
	const struct pfs_plot_data *data = page->plot->data;
	struct pfs_json *json = &page->json;
	char text[PFS_LABEL_MAX];

	begin_array(json, "names");
	for (uint32_t i = 0; i < data->nr_groups; i++)
		pfs_json_string(json, NULL, pfs_plot_escape(text, sizeof(text), data->groups[i].name));
	pfs_json_end(json, "]");
	begin_array(json, "threads");
	for (uint32_t i = 0; i < data->nr_threads; i++)
		pfs_json_string(json, NULL, pfs_plot_thread_text(page->plot, i, text, sizeof(text)));
	pfs_json_end(json, "]");
	begin_array(json, "ranks");
	for (uint32_t i = 0; i < data->nr_threads; i++)
		pfs_json_u64(json, NULL, pfs_plot_thread_color(&page->grid, i));
	pfs_json_end(json, "]");
	begin_array(json, "labels");
	for (unsigned int label = 0; label <= PFS_NR_CLASSES; label++)
		pfs_json_string(json, NULL, label ? pfs_plot_label_text(label) : "");
	pfs_json_end(json, "]");
	begin_array(json, "label_ranks");
	for (unsigned int label = 0; label <= PFS_NR_CLASSES; label++)
		pfs_json_u64(json, NULL, pfs_plot_label_color(&page->grid, label));
	pfs_json_end(json, "]");
	begin_array(json, "fault-class");
	for (unsigned int i = 0; i <= PFS_PLOT_OTHERS; i++)
		pfs_json_string(json, NULL,
				i < page->grid.nr_labels ? pfs_plot_label_text(page->grid.labels[i]) : "other classes");
	pfs_json_end(json, "]");
	pfs_plot_sites_write(&page->sites, json);
}

/* ---- places ---- */

/* The labels of images, and the image of each group. */
static int write_images(struct page *page)
{
	const struct pfs_plot_data *data = page->plot->data;
	struct pfs_json *json = &page->json;

	begin_array(json, "images");
	for (uint32_t i = 0; i < data->nr_images; i++) {
		char *label = pfs_plot_image_label(data, i);

		if (!label)
			return -ENOMEM;
		pfs_json_string(json, NULL, label);
		free(label);
	}
	pfs_json_end(json, "]");
	begin_array(json, "image_of");
	for (uint32_t i = 0; i < data->nr_groups; i++)
		pfs_json_u64(json, NULL, data->groups[i].image);
	pfs_json_end(json, "]");
	return 0;
}

/* Segments of one range stand side by side: each range is there once, with its first segment. */
static void write_ranges(struct page *page)
{
	const struct pfs_plot *plot = page->plot;
	const struct pfs_plot_range *last = NULL;

	begin_array(&page->json, "ranges");
	for (uint32_t i = 0; i < plot->nr_segments; i++) {
		const struct pfs_plot_group *group = &plot->data->groups[plot->segments[i].group];
		uint32_t nr = pfs_plot_find_range(plot, plot->segments[i].group, plot->segments[i].first);
		const struct pfs_plot_range *range = nr < group->nr_ranges ? &group->ranges[nr] : NULL;

		if (range && range != last)
			pfs_json_format(&page->json, NULL, "[%u,\"%" PRIx64 "-%" PRIx64 "\",\"%" PRId64 "\"]", i,
					range->start - range->shift, range->end - range->shift - range->grown,
					(int64_t)range->shift);
		else if (!range && (last || !i))
			pfs_json_format(&page->json, NULL, "[%u,\"\",\"0\"]", i);
		last = range;
	}
	pfs_json_end(&page->json, "]");
}

static void write_bands(struct page *page)
{
	const struct pfs_plot *plot = page->plot;
	struct pfs_json *json = &page->json;
	char count[96];

	begin_array(json, "blocks");
	for (uint32_t i = 0; i < plot->nr_blocks; i++) {
		pfs_json_begin(json, NULL, "[");
		pfs_json_string(json, NULL, plot->blocks[i].label);
		pfs_json_string(json, NULL, pfs_plot_block_text(count, plot, &plot->blocks[i]));
		pfs_json_end(json, "]");
	}
	pfs_json_end(json, "]");
	begin_array(json, "bands");
	for (uint32_t i = 0; i < plot->nr_bands; i++) {
		const struct pfs_plot_band *band = &plot->bands[i];

		if (i)
			pfs_json_line(json, "\n");
		pfs_json_begin(json, NULL, "{");
		pfs_json_string(json, "label", band->label);
		pfs_json_u64(json, "block", band->block);
		pfs_json_u64(json, "side", band->side);
		pfs_json_u64(json, "faults", band->faults);
		pfs_json_u64(json, "sampled", band->sampled);
		pfs_json_format(json, "pages", "%.1f", band->pages);
		pfs_json_bool(json, "unknown", band->unknown);
		pfs_json_begin(json, "thumb", "[");
		for (unsigned int k = 0; k < PFS_PLOT_THUMB; k++)
			pfs_json_u64(json, NULL, band->thumb[k]);
		pfs_json_end(json, "]");
		pfs_json_end(json, "}");
	}
	pfs_json_end(json, "]");
	begin_array(json, "segments");
	for (uint32_t i = 0; i < plot->nr_segments; i++) {
		const struct pfs_plot_segment *s = &plot->segments[i];

		pfs_json_format(json, NULL, "[%u,%.6g,%.6g,%" PRIu64 ",\"0x%" PRIx64 "\",%u]", s->band, s->at, s->len,
				s->last - s->first + 1, s->first, s->group);
	}
	pfs_json_end(json, "]");
}

/* A row a cell; plot/page.js has the names of its columns. */
static void write_cells(struct page *page)
{
	const struct pfs_plot *plot = page->plot;
	const struct pfs_plot_cells *cells = &plot->data->cells;
	const struct pfs_plot_segment *segment = plot->segments;
	struct pfs_json *json = &page->json;

	begin_array(json, "cells");
	for (size_t i = 0; i < cells->nr; i++) {
		const struct pfs_plot_cell *cell = &cells->cells[i];

		segment = pfs_plot_find(segment, cell);
		pfs_json_begin(json, NULL, "[");
		pfs_json_u64(json, NULL, segment - plot->segments);
		pfs_json_u64(json, NULL, cell->page - segment->first);
		pfs_json_u64(json, NULL, cell->bin - cells->first_bin);
		pfs_json_u64(json, NULL, pfs_plot_kind_bits(cell->kind));
		pfs_json_u64(json, NULL, cell->thread);
		pfs_json_u64(json, NULL, cell->count);
		pfs_json_u64(json, NULL, page->sites.number[cell->site]);
		pfs_json_u64(json, NULL, cell->ts_ns - (cell->bin << cells->time_shift));
		pfs_json_u64(json, NULL, cell->addr - (cell->page << plot->unit_shift));
		pfs_json_end(json, "]");
	}
	pfs_json_end(json, "]");
	pfs_json_end(json, "}");
}

static void write_times(struct page *page)
{
	const struct pfs_model *model = page->plot->data->model;
	uint64_t base = pfs_model_base_ns(model);
	struct pfs_json *json = &page->json;

	pfs_json_line(json, "\n");
	pfs_json_i64(json, "from_ns", page->plot->from_ns - base);
	pfs_json_u64(json, "bin_ns", UINT64_C(1) << page->plot->data->cells.time_shift);
	pfs_json_u64(json, "bins", page->plot->nr_bins);
	pfs_json_u64(json, "unit_shift", page->plot->unit_shift);
	pfs_json_u64(json, "page_shift", model->page_shift);
	pfs_json_u64(json, "resident_bins", page->grid.bins);
	begin_array(json, "resident");
	for (uint32_t side = 0; side < page->plot->data->nr_sides; side++) {
		pfs_json_begin(json, NULL, "[");
		for (uint32_t i = 0; i < page->grid.columns; i++)
			pfs_json_u64(json, NULL, page->grid.resident[side][i]);
		pfs_json_end(json, "]");
	}
	pfs_json_end(json, "]");
}

/* Bins in which events of a recording may be missing, as half-open ranges. */
static void write_losses_of(struct page *page, uint32_t side)
{
	const struct pfs_plot *plot = page->plot;
	unsigned int shift = plot->data->cells.time_shift;
	uint64_t first = 0;
	bool before = false;

	for (uint64_t bin = 0; bin <= plot->nr_bins; bin++) {
		uint64_t from = plot->from_ns + (bin << shift);
		bool lost = bin < plot->nr_bins && pfs_plot_lost(plot, side, from, from + (UINT64_C(1) << shift));

		if (lost && !before)
			first = bin;
		else if (before && !lost)
			pfs_json_format(&page->json, NULL, "[%" PRIu64 ",%" PRIu64 ",%u]", first, bin, side);
		before = lost;
	}
}

static void write_losses(struct page *page)
{
	begin_array(&page->json, "losses");
	for (uint32_t side = 0; side < page->plot->data->nr_sides; side++)
		write_losses_of(page, side);
	pfs_json_end(&page->json, "]");
}

/* Bands, places in them and times in bins. */
static void write_unobserved(struct page *page)
{
	const struct pfs_plot *plot = page->plot;
	double bin_ns = UINT64_C(1) << plot->data->cells.time_shift;

	begin_array(&page->json, "unobserved");
	for (uint32_t i = 0; i < plot->nr_unobserved; i++) {
		const struct pfs_plot_unobserved *area = &plot->unobserved[i];
		uint64_t to_ns = area->to_ns < plot->to_ns ? area->to_ns : plot->to_ns;

		if (to_ns > area->from_ns && to_ns > plot->from_ns)
			pfs_json_format(&page->json, NULL, "[%u,%.6g,%.6g,%.9g,%.9g,%d]", area->band, area->at,
					area->len, ((double)area->from_ns - plot->from_ns) / bin_ns,
					((double)to_ns - plot->from_ns) / bin_ns, area->quiet);
	}
	pfs_json_end(&page->json, "]");
}

int pfs_plot_write_html(const struct pfs_plot *plot, const struct pfs_plot_style *style, FILE *out, struct pfs_err *err)
{
	struct page page = { .plot = plot, .style = style };
	const char *rest;
	int ret = pfs_plot_grid_make(&page.grid, plot, PFS_PLOT_MAX_BINS, NULL, PFS_PLOT_BY_ACCESS);

	if (!ret)
		ret = pfs_plot_sites_find(&page.sites, plot, style);
	pfs_json_init(&page.json, out);
	page.json.markup = true;
	if (!ret) {
		rest = pfs_page_until(out, pfs_plot_page, "@DATA@");
		write_words(&page);
		write_looks(&page.json);
		write_names(&page);
		ret = write_images(&page);
		write_bands(&page);
		write_ranges(&page);
		write_times(&page);
		write_losses(&page);
		write_unobserved(&page);
		write_cells(&page);
		rest = pfs_page_until(out, rest, "@SCRIPT@");
		fputs(pfs_plot_script, out);
		fputs(rest, out);
	}
	pfs_plot_grid_fini(&page.grid);
	pfs_plot_sites_fini(&page.sites);
	return ret ? pfs_err_set(err, ret, "no memory for the plot") : 0;
}
