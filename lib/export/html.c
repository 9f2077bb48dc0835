/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph as a page: export/flame.html with the data and export/flame.js in it, in the colours of plots. The page loads
 * no other file. Paths that differ in lines only are one.
 */
#include "export/sums.h"
#include "export/viewer_priv.h"
#include "plot/page.h"
#include "plot/theme.h"

#include <errno.h>

/* Built from the top of the tree: the paths are as the assembler sees them. */
__asm__(".section .rodata\n"
	"pfs_flame_page:\n"
	".incbin \"lib/export/flame.html\"\n"
	".byte 0\n"
	"pfs_flame_script:\n"
	".incbin \"lib/export/flame.js\"\n"
	".byte 0\n"
	".previous\n");
extern const char pfs_flame_page[], pfs_flame_script[];

/* Kinds of faults: enum pfs_access, and 4 if it was read from disk. */
enum { KINDS = 8 };
static const char *const kinds[KINDS] = {
	"unknown access",	 "read",	"write",	"execute",
	"unknown access, major", "read, major", "write, major", "execute, major",
};

struct html {
	struct viewer_sums sums; /* by path, kind, class (as labels have it), process */
};

static int put_fault(struct pfs_viewer *viewer, const struct viewer_fault *f)
{
	struct html *html = viewer->state;
	unsigned int kind = f->access | (f->class == PFS_MAJOR_CLASS ? 4 : 0);
	struct viewer_sum *sum =
		viewer_sum_at(&html->sums, (struct viewer_sum_key){ f->call, kind, f->label, (uintptr_t)f->comm });

	if (!sum)
		return -ENOMEM;
	sum->faults++;
	return 0;
}

static void put_tones(struct pfs_json *json, const struct pfs_plot_theme *theme)
{
	pfs_json_begin(json, theme->name, "{");
#define X(tone) pfs_json_word(json, #tone, theme->tone);
	PFS_PLOT_TONES(X)
#undef X
	pfs_json_begin(json, "access", "[");
	for (int i = 0; i < 4; i++)
		pfs_json_word(json, NULL, theme->access[i]);
	pfs_json_end(json, "]");
	pfs_json_begin(json, "area", "[");
	for (int i = 0; i <= PFS_PLOT_AREAS; i++)
		pfs_json_word(json, NULL, theme->area[i]);
	pfs_json_end(json, "]");
	pfs_json_end(json, "}");
}

static void put_words(struct pfs_viewer *viewer)
{
	struct pfs_json *json = &viewer->json;
	char sum[256];

	snprintf(sum, sizeof(sum), "%u process%s, %u thread%s", viewer->nr_procs, viewer->nr_procs == 1 ? "" : "es",
		 viewer->nr_threads, viewer->nr_threads == 1 ? "" : "s");
	pfs_json_string(json, "title", viewer_title(viewer));
	pfs_json_word(json, "sum", sum);
	pfs_json_u64(json, "faults", viewer->nr_faults);
	pfs_json_u64(json, "losses", viewer->model->nr_losses);
	pfs_json_begin(json, "themes", "{");
	for (int i = 0; i < PFS_PLOT_THEMES; i++)
		put_tones(json, &pfs_plot_themes[i]);
	pfs_json_end(json, "}");
	pfs_json_begin(json, "kinds", "[");
	for (int i = 0; i < KINDS; i++)
		pfs_json_word(json, NULL, kinds[i]);
	pfs_json_end(json, "]");
	pfs_json_begin(json, "classes", "[");
	pfs_json_word(json, NULL, "class unknown");
	for (int i = 0; i < PFS_NR_CLASSES; i++)
		pfs_json_word(json, NULL, pfs_class_names[i]);
	pfs_json_end(json, "]");
}

/* Of each path that is used: [parent, place]; others are [0, 0]. Path 0 is the root. */
static void put_calls(struct pfs_viewer *viewer, const uint32_t *same)
{
	const struct viewer_calls *calls = &viewer->calls;
	struct pfs_json *json = &viewer->json;

	pfs_json_line(json, "\n");
	pfs_json_begin(json, "places", "[");
	for (uint32_t i = 0; i < calls->nr_places; i++) {
		pfs_json_line(json, "\n");
		pfs_json_begin(json, NULL, "[");
		pfs_json_string(json, NULL, calls->places[i].name);
		pfs_json_string(json, NULL, calls->places[i].module);
		pfs_json_end(json, "]");
	}
	pfs_json_end(json, "]");
	pfs_json_line(json, "\n");
	pfs_json_begin(json, "calls", "[");
	for (uint32_t i = 1; i < calls->nr_calls; i++) {
		bool used = same[i] == i;

		pfs_json_u64(json, NULL, used ? same[calls->calls[i].parent] : 0);
		pfs_json_u64(json, NULL, used ? calls->calls[i].place : 0);
	}
	pfs_json_end(json, "]");
}

/* Rows of path, kind, class, number of the name, faults. */
static int put_sums(struct pfs_viewer *viewer, const uint32_t *same)
{
	struct html *html = viewer->state;
	struct pfs_json *json = &viewer->json;
	struct viewer_sums names = { 0 };
	uint32_t nr = 0;
	int ret = 0;

	pfs_json_line(json, "\n");
	pfs_json_begin(json, "sums", "[");
	for (uint32_t i = 0; !ret && i < html->sums.nr; i++) {
		const struct viewer_sum *sum = &html->sums.sums[i];
		struct viewer_sum *name = viewer_sum_at(&names, (struct viewer_sum_key){ .comm = sum->key.comm });

		if (!name) {
			ret = -ENOMEM;
			continue;
		}
		if (!name->faults)
			name->faults = ++nr;
		pfs_json_u64(json, NULL, same[sum->key.call]);
		pfs_json_u64(json, NULL, sum->key.what);
		pfs_json_u64(json, NULL, sum->key.more);
		pfs_json_u64(json, NULL, name->faults - 1);
		pfs_json_u64(json, NULL, sum->faults);
	}
	pfs_json_end(json, "]");
	pfs_json_line(json, "\n");
	pfs_json_begin(json, "comms", "[");
	for (uint32_t i = 0; i < names.nr; i++)
		pfs_json_string(json, NULL, (const char *)(uintptr_t)names.sums[i].key.comm);
	pfs_json_end(json, "]");
	viewer_sums_fini(&names);
	return ret;
}

static int end(struct pfs_viewer *viewer)
{
	uint32_t *same = viewer_same_names(&viewer->calls);
	const char *rest = pfs_page_until(viewer->out, pfs_flame_page, "@DATA@");
	int ret;

	if (!same)
		return -ENOMEM;
	viewer->json.markup = true;
	pfs_json_begin(&viewer->json, NULL, "{");
	put_words(viewer);
	put_calls(viewer, same);
	ret = put_sums(viewer, same);
	pfs_json_end(&viewer->json, "}");
	pfs_json_drain(&viewer->json);
	free(same);
	rest = pfs_page_until(viewer->out, rest, "@SCRIPT@");
	fputs(pfs_flame_script, viewer->out);
	fputs(rest, viewer->out);
	return ret;
}

static void fini(struct pfs_viewer *viewer)
{
	struct html *html = viewer->state;

	viewer_sums_fini(&html->sums);
}

const struct viewer_format viewer_html = {
	.size = sizeof(struct html),
	.fault = put_fault,
	.end = end,
	.fini = fini,
};
