/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a picture shows, as JSON: an SVG file carries it as metadata, an HTML page as data. Nothing in it needs
 * escaping in XML or HTML.
 */
#include "plot/plot.h"

void pfs_plot_write_summary(const struct pfs_plot *plot, const struct pfs_plot_grid *grid, struct pfs_json *json,
			    const char *key)
{
	uint64_t faults = 0, sampled = 0;
	char text[PFS_PLOT_TEXT_MAX];

	for (uint32_t i = 0; i < grid->nr_spots; i++)
		*(grid->spots[i].color == PFS_PLOT_SAMPLED ? &sampled : &faults) += grid->spots[i].count;
	pfs_json_begin(json, key, "{");
	pfs_json_u64(json, "faults", plot->data->faults);
	pfs_json_u64(json, "sampled", plot->data->sampled);
	pfs_json_u64(json, "outside", plot->data->outside);
	pfs_json_u64(json, "timeless", plot->data->timeless);
	pfs_json_u64(json, "drawn", faults);
	pfs_json_u64(json, "drawn_sampled", sampled);
	pfs_json_begin(json, "colors", "{");
	for (uint32_t i = 0; i < PFS_PLOT_COLORS; i++) {
		if (!pfs_plot_color_text(plot, grid, i, text, sizeof(text)))
			continue;
		pfs_json_key(json, text);
		pfs_json_u64(json, NULL, grid->by_color[i]);
	}
	pfs_json_end(json, "}");
	pfs_json_begin(json, "bands", "[");
	for (uint32_t i = 0; i < plot->nr_bands; i++) {
		pfs_json_begin(json, NULL, "[");
		pfs_json_string(json, NULL, plot->blocks[plot->bands[i].block].label);
		pfs_json_string(json, NULL, plot->bands[i].label);
		pfs_json_u64(json, NULL, plot->bands[i].faults + plot->bands[i].sampled);
		pfs_json_end(json, "]");
	}
	pfs_json_end(json, "]");
	pfs_json_end(json, "}");
}
