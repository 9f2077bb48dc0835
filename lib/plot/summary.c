/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a picture shows, as JSON: an SVG file carries it as metadata, an HTML page as data. Nothing in it needs
 * escaping in XML or HTML.
 */
#include "plot/plot.h"

#include "base/escape.h"

#include <inttypes.h>
#include <string.h>

void pfs_plot_write_string(FILE *out, const char *s)
{
	size_t len = strlen(s), nr;
	uint32_t code;

	fputc('"', out);
	for (; len; s += nr, len -= nr) {
		nr = pfs_utf8_decode(s, len, &code);
		if (!nr) {
			nr = 1;
			fputs("?", out);
		} else if (strchr("\"\\<>&'", code < 128 ? (int)code : 'a') || pfs_escape_needed(code)) {
			if (code >= 0x10000)
				fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
			else
				fprintf(out, "\\u%04x", code);
		} else {
			fwrite(s, 1, nr, out);
		}
	}
	fputc('"', out);
}

void pfs_plot_write_summary(const struct pfs_plot *plot, const struct pfs_plot_grid *grid, FILE *out)
{
	uint64_t faults = 0, sampled = 0;
	char text[PFS_PLOT_TEXT_MAX];

	for (uint32_t i = 0; i < grid->nr_spots; i++)
		*(grid->spots[i].color == PFS_PLOT_SAMPLED ? &sampled : &faults) += grid->spots[i].count;
	fprintf(out,
		"{\"faults\":%" PRIu64 ",\"sampled\":%" PRIu64 ",\"outside\":%" PRIu64 ",\"timeless\":%" PRIu64
		",\"drawn\":%" PRIu64 ",\"drawn_sampled\":%" PRIu64 ",\"colors\":{",
		plot->data->faults, plot->data->sampled, plot->data->outside, plot->data->timeless, faults, sampled);
	for (uint32_t i = 0, nr = 0; i < PFS_PLOT_COLORS; i++) {
		if (!pfs_plot_color_text(plot, grid, i, text, sizeof(text)))
			continue;
		fputs(nr++ ? "," : "", out);
		pfs_plot_write_string(out, text);
		fprintf(out, ":%" PRIu64, grid->by_color[i]);
	}
	fputs("},\"bands\":[", out);
	for (uint32_t i = 0; i < plot->nr_bands; i++) {
		fputs(i ? ",[" : "[", out);
		pfs_plot_write_string(out, plot->blocks[plot->bands[i].block].label);
		fputc(',', out);
		pfs_plot_write_string(out, plot->bands[i].label);
		fprintf(out, ",%" PRIu64 "]", plot->bands[i].faults + plot->bands[i].sampled);
	}
	fputs("]}", out);
}
