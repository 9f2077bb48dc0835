/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the instructions of a page: see plot/plot.h. File by file, so that the symbols of one only are in memory.
 */
#include "plot/plot.h"

#include "base/array.h"
#include "symbol/build_ids.h"
#include "symbol/symbol.h"
#include "view/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_SYMBOL = 200,      /* bytes; of longer ones there is only the beginning */
	MAX_SYMBOLS = 1 << 20, /* bytes of all: the page stays small, whatever the files contain */
};

/* ---- which ---- */

static int compare(const void *a, const void *b)
{
	const struct pfs_plot_site *x = ((const struct pfs_plot_page_site *)a)->site;
	const struct pfs_plot_site *y = ((const struct pfs_plot_page_site *)b)->site;

	return pfs_order(x->kind, y->kind) ?: strcmp(x->name ? x->name : "", y->name ? y->name : "")
		?: pfs_order(x->dev, y->dev) ?: pfs_order(x->ino, y->ino) ?: pfs_order(x->off, y->off);
}

/* Those that cells have, by file and offset; the one that is not known comes first. */
static int collect(struct pfs_plot_sites *sites, const struct pfs_plot_data *data)
{
	sites->number = calloc(data->nr_sites, sizeof(*sites->number));
	sites->sites = calloc(data->nr_sites, sizeof(*sites->sites));
	if (!sites->number || !sites->sites)
		return -ENOMEM;
	sites->sites[sites->nr_sites++].site = &data->sites[0];
	for (size_t i = 0; i < data->cells.nr; i++) {
		uint32_t site = data->cells.cells[i].site;

		if (site && !sites->number[site]++)
			sites->sites[sites->nr_sites++].site = &data->sites[site];
	}
	qsort(sites->sites, sites->nr_sites, sizeof(*sites->sites), compare);
	for (uint32_t i = 0; i < sites->nr_sites; i++)
		sites->number[sites->sites[i].site - data->sites] = i;
	return 0;
}

/* ---- files ---- */

static bool same_file(const struct pfs_plot_site *a, const struct pfs_plot_site *b)
{
	return a->kind == b->kind && a->name == b->name && a->dev == b->dev && a->ino == b->ino;
}

static int add_file(struct pfs_plot_sites *sites, const struct pfs_plot_site *site, const char *why)
{
	static const char *const between[] = {
		[PFS_PLOT_IN_FILE] = "+",   [PFS_PLOT_IN_REGION] = "+", [PFS_PLOT_IN_KERNEL] = " at ",
		[PFS_PLOT_IN_NOTHING] = "", [PFS_PLOT_NOT_KNOWN] = "",
	};
	const char *name = site->kind == PFS_PLOT_IN_KERNEL ? "kernel" : site->name ? site->name : "";
	struct pfs_plot_page_file *file = &sites->files[sites->nr_files];
	char escaped[PFS_LABEL_MAX];

	pfs_plot_escape(escaped, sizeof(escaped), name);
	*file = (struct pfs_plot_page_file){ strdup(pfs_label_base(escaped)), between[site->kind], why };
	if (!file->name)
		return -ENOMEM;
	sites->nr_files++;
	return 0;
}

/* ---- symbols ---- */

/* The number of a symbol: the last one's if it is the same. -1: there is no room for it. 0: no memory. */
static int32_t symbol_number(struct pfs_plot_sites *sites, const char *name)
{
	char cut[MAX_SYMBOL + 4], escaped[4 * sizeof(cut) + 1], **symbol;

	snprintf(cut, sizeof(cut), "%.*s%s", MAX_SYMBOL, name, strlen(name) > MAX_SYMBOL ? "..." : "");
	pfs_plot_escape(escaped, sizeof(escaped), cut);
	if (sites->nr_symbols && !strcmp(sites->symbols[sites->nr_symbols - 1], escaped))
		return sites->nr_symbols;
	if (sites->bytes + strlen(escaped) >= MAX_SYMBOLS)
		return -1;
	sites->bytes += strlen(escaped) + 1;
	symbol = pfs_array_add(sites->symbols, sites->nr_symbols, sites->max_symbols);
	if (symbol)
		*symbol = strdup(escaped);
	return symbol && *symbol ? (int32_t)sites->nr_symbols : 0;
}

/* The sites of one file: from first to before end. */
static int look_up(struct pfs_plot_sites *sites, uint32_t first, uint32_t end, const struct pfs_elf_symbols *symbols)
{
	for (uint32_t i = first; i < end; i++) {
		struct pfs_plot_page_site *site = &sites->sites[i];
		uint64_t behind;
		const char *name = pfs_elf_symbols_find(symbols, site->site->off, &behind);

		site->file = sites->nr_files;
		site->off = site->site->off;
		site->symbol = name ? symbol_number(sites, name) : 0;
		if (name && !site->symbol)
			return -ENOMEM;
		if (site->symbol > 0)
			site->off = behind;
	}
	return 0;
}

/* The build-id that was recorded of a file, in *fact. NULL: none was. */
static const char *build_id_in(const struct pfs_model *model, const struct pfs_plot_site *site, struct pfs_fact *fact)
{
	uint32_t dev;

	for (unsigned int i = 0; model && i < model->nr_notes; i++)
		if (pfs_recorded_build_id(&model->notes[i], fact, &dev) && dev == site->dev && fact->count == site->ino)
			return fact->text;
	return NULL;
}

static int read_symbols(struct pfs_elf_symbols *symbols, const struct pfs_plot_site *site,
			const struct pfs_plot_data *data, const struct pfs_plot_style *style)
{
	struct pfs_fact fact;
	struct pfs_elf_wanted wanted = { .path = site->name,
					 .dev = site->dev,
					 .ino = site->ino,
					 .until = style->recorded,
					 .files = style->symbols };

	wanted.build_id = build_id_in(data->model, site, &fact) ?: build_id_in(data->side[1].model, site, &fact)
				  ?: build_id_in(style->notes, site, &fact);
	return pfs_elf_symbols_read(symbols, &wanted);
}

int pfs_plot_sites_find(struct pfs_plot_sites *sites, const struct pfs_plot *plot, const struct pfs_plot_style *style)
{
	uint32_t end;
	int ret;

	*sites = (struct pfs_plot_sites){ 0 };
	ret = collect(sites, plot->data);
	sites->files = ret ? NULL : calloc(sites->nr_sites, sizeof(*sites->files));
	if (!sites->files)
		return -ENOMEM;
	for (uint32_t first = 0; !ret && first < sites->nr_sites; first = end) {
		const struct pfs_plot_site *site = sites->sites[first].site;
		bool in_file = site->kind == PFS_PLOT_IN_FILE;
		struct pfs_elf_symbols symbols = { 0 };

		for (end = first + 1; end < sites->nr_sites && same_file(sites->sites[end].site, site); end++)
			continue;
		if (in_file)
			ret = read_symbols(&symbols, site, plot->data, style);
		if (!ret)
			ret = look_up(sites, first, end, &symbols);
		if (!ret)
			ret = add_file(sites, site, in_file ? pfs_elf_symbols_text(symbols.state) : "");
		pfs_elf_symbols_fini(&symbols);
	}
	return ret;
}

void pfs_plot_sites_fini(struct pfs_plot_sites *sites)
{
	for (uint32_t i = 0; i < sites->nr_symbols; i++)
		free(sites->symbols[i]);
	free(sites->symbols);
	for (uint32_t i = 0; i < sites->nr_files; i++)
		free(sites->files[i].name);
	free(sites->files);
	free(sites->sites);
	free(sites->number);
	*sites = (struct pfs_plot_sites){ 0 };
}

/* ---- JSON ---- */

void pfs_plot_sites_write(const struct pfs_plot_sites *sites, struct pfs_json *json)
{
	pfs_json_line(json, "\n");
	pfs_json_begin(json, "files", "[");
	for (uint32_t i = 0; i < sites->nr_files; i++) {
		pfs_json_begin(json, NULL, "[");
		pfs_json_string(json, NULL, sites->files[i].name);
		pfs_json_string(json, NULL, sites->files[i].between);
		pfs_json_string(json, NULL, sites->files[i].why);
		pfs_json_end(json, "]");
	}
	pfs_json_end(json, "]");
	pfs_json_line(json, "\n");
	pfs_json_begin(json, "symbols", "[");
	pfs_json_string(json, NULL, "");
	for (uint32_t i = 0; i < sites->nr_symbols; i++)
		pfs_json_string(json, NULL, sites->symbols[i]);
	pfs_json_end(json, "]");
	pfs_json_line(json, "\n");
	pfs_json_begin(json, "sites", "[");
	for (uint32_t i = 0; i < sites->nr_sites; i++) /* an offset may be beyond what a JSON number holds: a string */
		pfs_json_format(json, NULL, "[%" PRIu32 ",%" PRId32 ",\"0x%" PRIx64 "\"]", sites->sites[i].file,
				sites->sites[i].symbol, sites->sites[i].off);
	pfs_json_end(json, "]");
}
