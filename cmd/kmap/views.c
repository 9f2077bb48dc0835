/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `pfscope kmap` prints and draws: lines, tables, folded stacks, a plot, bars. */
#include "kmap/views.h"

#include "base/atomic_file.h"
#include "base/term.h"
#include "common/command.h"
#include "common/pager.h"
#include "common/reading.h"
#include "module/kernel.h"
#include "objects/flame.h"
#include "objects/kmap.h"
#include "objects/series.h"
#include "objects/slabs.h"
#include "symbol/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* ---- source lines ---- */

struct source_lines {
	const char *vmlinux; /* as given; or NULL */
	struct pfs_lines *lines;
	char why[sizeof(((struct pfs_err *)0)->msg)];
};

static const char *open_lines(void *ctx, const char *kernel)
{
	struct source_lines *s = ctx;
	struct pfs_kernel found = { .running = false };
	struct pfs_err err = { "" };

	if (!s->vmlinux && kernel)
		pfs_kernel_find(&found, kernel, NULL);
	if (s->vmlinux || *found.vmlinux)
		s->lines = pfs_lines_open(s->vmlinux ? s->vmlinux : found.vmlinux, &err);
	else if (kernel)
		pfs_err_set(&err, 0,
			    "no debuginfo of the recorded kernel here (Debian: linux-image-%s-dbg, or --vmlinux FILE)",
			    kernel);
	else
		pfs_err_set(&err, 0, "the recording does not name its kernel (--vmlinux FILE)");
	snprintf(s->why, sizeof(s->why), "%s", err.msg);
	return s->lines ? NULL : s->why;
}

static const char *find_line(void *ctx, const struct pfs_object_site *site)
{
	struct source_lines *s = ctx;

	return s->lines ? pfs_lines_find(s->lines, site->func, site->addr) : NULL;
}

/* ---- printing ---- */

int kmap_read_file(const struct kmap_args *args, void *ctx, const struct pfs_sink *sink, struct pfs_err *err)
{
	const struct input_options how = {
		.salvage = args->salvage,
		.objects = true,
		.progress = args->stats || !isatty(pager_terminal(stdout)),
	};

	return input_read(args->file, &how, sink, err);
}

/* Gives all objects that read() passes on to the sink; *objects is known to it, and freed by the caller. */
static int read_objects(const struct kmap_args *args, kmap_read_fn *read, void *ctx,
			const struct pfs_object_filter *filter, const struct pfs_object_sink *to,
			struct pfs_objects **objects, struct pfs_err *err)
{
	struct pfs_sink sink;
	int ret;

	*objects = pfs_objects_new(filter, to);
	if (!*objects)
		return pfs_err_set(err, -ENOMEM, "no memory for objects");
	sink = pfs_objects_sink(*objects);
	ret = read(args, ctx, &sink, err);
	return ret < 0 ? ret : pfs_objects_end(*objects);
}

static void begin(struct pfs_kmap *kmap, const struct kmap_args *args, FILE *out, struct pfs_objects *objects)
{
	*kmap = (struct pfs_kmap){
		.out = out,
		.form = args->compat					 ? PFS_KMAP_COMPAT
			: !args->format || !strcmp(args->format, "text") ? PFS_KMAP_TEXT
			: !strcmp(args->format, "csv")			 ? PFS_KMAP_CSV
									 : PFS_KMAP_JSON,
		.name = args->file ? args->file : "standard input",
		.functions = args->symbols,
		.color = pfs_term_color(pager_terminal(out), PFS_COLOR_AUTO),
		.width = pfs_term_width(pager_terminal(out)),
		.top = args->top,
		.evicts = args->filter.max_objects,
		.objects = objects,
	};
}

static int print_flame(const struct pfs_flame *flame, FILE *out)
{
	uint64_t nr = pfs_objects_stats(flame->objects)->allocs;

	if (nr && flame->nr_without == nr)
		message("no stacks were recorded (`kmap record --stack'): each is a call site only");
	else if (flame->nr_without)
		message("%zu of %" PRIu64 " objects have no recorded stack: these are call sites only",
			flame->nr_without, nr);
	return pfs_flame_print(flame, out);
}

/* Of forms that have no room for it. */
static void report_losses(const struct pfs_kmap *kmap)
{
	char text[200];

	if (pfs_kmap_losses(kmap, text, sizeof(text)))
		message("%s", text);
}

int kmap_print(const struct kmap_args *args, FILE *out, bool stats, kmap_read_fn *read, void *ctx, struct pfs_err *err)
{
	struct source_lines lines = { .vmlinux = args->vmlinux };
	struct pfs_kmap kmap;
	struct pfs_tally tally = { 0 };
	struct pfs_flame flame = { .by = args->by ? args->by - 1 : PFS_FLAME_LIVE };
	const struct pfs_object_filter all = { .max_objects = args->filter.max_objects };
	struct pfs_object_sink to = stats ? pfs_tally_sink(&tally) : pfs_flame_sink(&flame);
	int ret;

	begin(&kmap, args, out, NULL);
	kmap.line = find_line;
	kmap.no_lines = open_lines;
	kmap.line_ctx = &lines;
	if (!stats && !args->flame)
		to = pfs_kmap_sink(&kmap);
	ret = read_objects(args, read, ctx, args->records ? &all : &args->filter, &to, &kmap.objects, err);
	tally.objects = flame.objects = kmap.objects;
	if (!ret && stats)
		ret = pfs_kmap_stats(&kmap, &tally);
	else if (!ret && args->flame)
		ret = print_flame(&flame, out);
	else if (!ret)
		pfs_kmap_end(&kmap);
	if (!ret && !stats && (args->flame || kmap.form == PFS_KMAP_CSV || kmap.form == PFS_KMAP_COMPAT))
		report_losses(&kmap);
	if (ret < 0 && !*err->msg)
		pfs_err_set(err, ret, "%s: %s", kmap.name, strerror(-ret));
	if (!ret && (fflush(out) || ferror(out)) && errno != EPIPE)
		ret = pfs_err_set(err, -errno, "standard output: %s", strerror(errno));
	pfs_lines_close(lines.lines);
	pfs_tally_fini(&tally);
	pfs_flame_fini(&flame);
	pfs_objects_free(kmap.objects);
	return ret;
}

/* ---- pictures ---- */

struct plotting {
	const struct kmap_args *args;
	struct pfs_series series;
	struct pfs_tally tally;
};

static int plot_alloc(void *ctx, const struct pfs_object *object)
{
	struct plotting *p = ctx;
	const struct pfs_object_sink series = pfs_series_sink(&p->series), tally = pfs_tally_sink(&p->tally);

	return series.alloc(series.ctx, object) ?: tally.alloc(tally.ctx, object);
}

static int plot_end(void *ctx, const struct pfs_object *object, const struct pfs_object_end *end)
{
	struct plotting *p = ctx;
	const struct pfs_object_sink series = pfs_series_sink(&p->series), tally = pfs_tally_sink(&p->tally);

	return series.end(series.ctx, object, end) ?: tally.end(tally.ctx, object, end);
}

static int draw_plot(void *ctx, FILE *out, struct pfs_err *err)
{
	const struct plotting *p = ctx;

	return pfs_plot_write_alive(&p->series, &p->tally, &p->args->style, p->args->plot_format, out, err);
}

int kmap_plot(struct kmap_args *args, struct pfs_err *err)
{
	struct plotting p = { .args = args };
	const struct pfs_object_sink to = { plot_alloc, plot_end, &p };
	int ret;

	args->style.file = args->file && strcmp(args->file, "-") ? basename(args->file) : NULL;
	ret = read_objects(args, kmap_read_file, NULL, &args->filter, &to, &p.series.objects, err)
		      ?: pfs_series_end(&p.series);
	p.tally.objects = p.series.objects;
	pfs_tally_sort(&p.tally);
	if (!ret)
		ret = pfs_atomic_file_write(args->plot, draw_plot, &p, err);
	if (ret < 0 && !*err->msg)
		pfs_err_set(err, ret, "no memory for the plot");
	pfs_tally_fini(&p.tally);
	pfs_series_fini(&p.series);
	pfs_objects_free(p.series.objects);
	return ret;
}

/* --cache chooses pages, not objects: kernels before 6.18 name the cache of an object only when it is freed. */
int kmap_bars(struct kmap_args *args, struct pfs_err *err)
{
	struct pfs_slabs slabs = { 0 };
	const struct pfs_object_sink to = pfs_slabs_sink(&slabs);
	struct pfs_object_filter filter = args->filter;
	struct pfs_kmap kmap;
	unsigned int height;
	int ret;

	filter.cache = NULL;
	ret = read_objects(args, kmap_read_file, NULL, &filter, &to, &slabs.objects, err);
	if (!ret && pfs_objects_stats(slabs.objects)->hashed)
		ret = pfs_err_set(err, -ENOTSUP,
				  "--bars: addresses are hashed in this text: their pages are not known");
	if (!ret) {
		begin(&kmap, args, stdout, slabs.objects);
		kmap.top = args->choice.all ? UINT_MAX : args->top;
		height = pfs_term_height(pager_terminal(stdout));
		ret = pfs_kmap_bars(&kmap, &slabs, args->filter.cache, (height ? height : 24) - 1);
	}
	if (ret < 0 && !*err->msg)
		pfs_err_set(err, ret, "no memory for bars");
	pfs_slabs_fini(&slabs);
	pfs_objects_free(slabs.objects);
	return ret;
}
