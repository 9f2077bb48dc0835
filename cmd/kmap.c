/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope kmap: prints the kernel objects of a recording, or what they add up to; `pfscope kmap record` records them.
 */
#include "base/array.h"
#include "base/atomic_file.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/term.h"
#include "base/units.h"
#include "common/command.h"
#include "common/pager.h"
#include "common/reading.h"
#include "common/recorded.h"
#include "objects/flame.h"
#include "objects/kmap.h"
#include "module/kernel.h"
#include "objects/series.h"
#include "plot/plot.h"
#include "symbol/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum {
	OPT_PID = 0x500,
	OPT_SIZE,
	OPT_SOURCE,
	OPT_TOP,
	OPT_WATCH_EVERY,
	OPT_PLOT,
	OPT_THEME,
	OPT_BY,
	OPT_MAX_OBJECTS,
};

struct kmap_args {
	/* printing */
	const char *file;
	bool stats, flame, symbols, compat, salvage, bars;
	int by; /* + 1 enum pfs_flame_by; 0: not given */
	const char *vmlinux;
	unsigned int top;
	const char *plot; /* file; NULL: none */
	enum pfs_plot_format plot_format;
	struct pfs_plot_style style;
	const char *format;
	struct pfs_object_filter filter; /* recording: cache and size only */
	int32_t *pids;
	/* recording */
	bool records;
	struct run_args run;
	struct attach_args attach;
	struct pfs_object_choice choice;
	const struct pfs_source *source; /* NULL: the default */
	const char *module;		 /* of that source; or NULL */
	/* asking a recorder */
	const char *asks; /* of control_words; or NULL */
	pid_t recorder;	  /* 0: not given */
};

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "Printing:", 1 },
	{ "stats", OPTION_FLAG(struct kmap_args, stats), NULL, 0,
	  "Print tables by cache, call site, process (with --top, --json or --csv also by size class), and what may leak",
	  1 },
	{ "bars", OPTION_FLAG(struct kmap_args, bars), NULL, 0,
	  "Draw the pages that the objects are in as bars, each object a cell (with --all or --top more than a screen)",
	  1 },
	{ "plot", OPT_PLOT, "FILE", 0, "Draw live bytes by call site over time into FILE: svg, png or pdf", 1 },
	{ "theme", OPT_THEME, "THEME", 0, "With --plot: background `light' (the default) or `dark'", 1 },
	{ "flame", OPTION_FLAG(struct kmap_args, flame), NULL, 0,
	  "Print folded stacks of a recording with --stack, for flamegraph.pl and speedscope", 1 },
	{ "by", OPT_BY, "WHAT", 0,
	  "With --flame: `live' (bytes alive at the end, the default), `bytes' or `allocs' of all allocations", 1 },
	{ "symbols", OPTION_FLAG(struct kmap_args, symbols), NULL, 0,
	  "Print functions instead of addresses, as far as the recording has them", 1 },
	{ "vmlinux", OPTION_WORD(struct kmap_args, vmlinux), "FILE", 0,
	  "With --symbols: the kernel's file with debuginfo, for source lines (default: where distributions have it)",
	  1 },
	{ "kmap-compat", OPTION_FLAG(struct kmap_args, compat), NULL, 0,
	  "Print the lines as the Memorizer kernel does: no comment, jiffies of 4 ms, 0 and deadbeef for what is not known",
	  1 },
	{ "top", OPT_TOP, "N", 0, "With --stats or --bars: N rows of each table or cache (default: one screen)", 1 },
	{ "format", OPT_TABLE_FORMAT, "FORMAT", 0, "Output format: `text' (the default), `json' or `csv'", 1 },
	{ "json", OPT_JSON, NULL, 0, "The same as --format=json", 1 },
	{ "csv", OPT_CSV, NULL, 0, "The same as --format=csv", 1 },
	{ "comm", OPTION_WORD(struct kmap_args, filter.comm), "GLOB", 0,
	  "Only objects allocated by threads of that name", 1 },
	{ "salvage", OPTION_FLAG(struct kmap_args, salvage), NULL, 0, "Show what is readable of a damaged file", 1 },
	{ NULL, 0, NULL, 0, "Printing and recording:", 2 },
	{ "pid", OPT_PID, "PID", 0, "Only objects allocated by these processes (record: and by their future children)",
	  2 },
	{ "cache", OPTION_WORD(struct kmap_args, filter.cache), "GLOB", 0, "Only objects of these caches", 2 },
	{ "size", OPT_SIZE, "MIN-MAX", 0, "Only objects of so many bytes, as requested (64-128, 1K-, -64)", 2 },
	{ "max-objects", OPT_MAX_OBJECTS, "N", 0,
	  "Follow at most N objects at a time; others are evicted, counted and their frees not known (default: no limit)",
	  2 },
	{ NULL, 0, NULL, 0, "Recording (`kmap record'):", 3 },
	{ "output-file", 'o', "FILE", 0,
	  "Keep the recording in FILE (`-o -- ...': in pfscope.dat): a trace.dat, or event lines with --source=stap",
	  3 },
	{ "source", OPT_SOURCE, "SOURCE", 0, "Record through `ftrace' (the default) or SystemTap (`stap')", 3 },
	{ "module", OPTION_WORD(struct kmap_args, module), "FILE", 0,
	  "With --source=stap: load a module that `pfscope stap build --objects' made", 3 },
	{ "all", OPTION_FLAG(struct kmap_args, choice.all), NULL, 0, "Objects of all processes (--bars: all pages)",
	  3 },
	{ "pages", OPTION_FLAG(struct kmap_args, choice.pages), NULL, 0, "Record pages, too", 3 },
	{ "watch", OPTION_WORD(struct kmap_args, choice.watch), "WHAT", 0,
	  "See who reads and writes objects, by hardware watchpoints on two words at a time: those of `cache=GLOB', allocated by `site=FUNCTION', or `random' ones",
	  3 },
	{ "watch-every", OPT_WATCH_EVERY, "TIME", 0, "Choose other words after TIME (default 20ms)", 3 },
	{ "stack", OPTION_FLAG(struct kmap_args, choice.stacks), NULL, 0,
	  "Record from where each object is allocated, too: its kernel stack", 3 },
	{ "duration", 'd', "TIME", 0, "Without a command: stop after TIME (10, 1.5s, 100ms)", 3 },
	{ "buffer-size", 'b', "SIZE", 0, "Ring buffer per CPU (default 8M; a number: KB)", 3 },
	{ 0 },
};

static void parse_pids(struct kmap_args *args, const char *arg, struct argp_state *state)
{
	const char *p = arg;
	uint64_t pid = 0;

	do {
		const char *end = pfs_dec(p, &pid);
		int32_t *add = NULL;

		if (end == p || !pid || pid > INT32_MAX || (*end && *end != ','))
			argp_error(state, "--pid: %s: must be process IDs, separated by commas", arg);
		add = pfs_array_append(args->pids, args->filter.nr_pids);
		if (!add)
			argp_failure(state, EXIT_FAILED, ENOMEM, "--pid");
		*add = pid;
		p = *end ? end + 1 : NULL;
	} while (p);
	args->filter.pids = args->pids;
}

static bool parse_bytes(const char *text, size_t len, uint64_t *bytes)
{
	char word[32];
	bool unit;

	if (!len || len >= sizeof(word))
		return !len;
	snprintf(word, sizeof(word), "%.*s", (int)len, text);
	return pfs_size_parse(word, bytes, &unit);
}

/* "64-128", "64-", "-128", "64" */
static void parse_size(struct kmap_args *args, const char *arg, struct argp_state *state)
{
	struct pfs_object_filter *f = &args->filter;
	const char *dash = strchr(arg, '-');
	size_t len = dash ? (size_t)(dash - arg) : strlen(arg);

	f->min = f->max = 0;
	if (!*arg || !strcmp(arg, "-") || !parse_bytes(arg, len, &f->min) ||
	    !parse_bytes(dash ? dash + 1 : arg, dash ? strlen(dash + 1) : len, &f->max) || (f->max && f->max < f->min))
		argp_error(state, "--size: %s: must be MIN-MAX bytes (64-128, 1K-, -64)", arg);
}

static void set_source(struct kmap_args *args, const char *name, struct argp_state *state)
{
	args->source = source_named(name);
	if (!args->source)
		argp_error(state, "--source: %s: must be ftrace or stap", name);
	if (!(args->source->can & PFS_CAN_OBJECTS))
		argp_error(state, "--source=%s: does not record kernel objects: must be ftrace or stap", name);
}

static void set_format(struct kmap_args *args, const char *name, struct argp_state *state)
{
	if (args->format && strcmp(args->format, name))
		argp_error(state, "--json, --csv and --format: only one of them");
	args->format = name;
}

static void set_plot(struct kmap_args *args, const char *file, struct argp_state *state)
{
	int format = pfs_plot_format_of_file(file);

	if (format != PFS_PLOT_SVG && format != PFS_PLOT_PNG && format != PFS_PLOT_PDF)
		argp_error(state, "--plot: %s: unknown suffix (svg, png or pdf)", file);
	args->plot = file;
	args->plot_format = format;
}

static const struct pfs_plot_theme *theme_of_option(const char *arg, struct argp_state *state)
{
	const char *names[PFS_PLOT_THEMES];

	for (int i = 0; i < PFS_PLOT_THEMES; i++)
		names[i] = pfs_plot_themes[i].name;
	return &pfs_plot_themes[option_word(state, "theme", arg, names, PFS_PLOT_THEMES, "light or dark")];
}

/* Refuses options of the other use, which would do nothing. */
static void check(struct kmap_args *args, struct argp_state *state)
{
	const struct recording_args *r = &args->run.recording;
	bool choice = (args->choice.all && !args->bars) || args->choice.pages || args->choice.stacks ||
		      args->choice.watch || args->choice.watch_ns || r->file || r->config.buffer_kb ||
		      args->attach.duration_ns || args->source || args->module;
	bool by_stap = args->source && !strcmp(args->source->name, "stap");
	bool prints = args->stats || args->flame || args->symbols || args->compat || args->top || args->format ||
		      args->filter.comm || args->salvage || args->bars || args->plot;

	if (args->asks && !args->recorder)
		argp_error(state, "%s: no process ID of a recorder given (a file of that name: ./%s)", args->asks,
			   args->asks);
	if (!args->records && choice)
		argp_error(
			state,
			"--all, --pages, --stack, --watch, --source, --module, -o, -d and -b: only with `kmap record'");
	if (args->module && !by_stap)
		argp_error(state, "--module: only with --source=stap");
	if ((args->choice.watch || args->choice.stacks) && by_stap)
		argp_error(state, "--%s: not with --source=stap", args->choice.watch ? "watch" : "stack");
	if (args->by && !args->flame)
		argp_error(state, "--by: only with --flame");
	if (args->stats + args->flame + args->compat + args->bars + !!args->plot > 1)
		argp_error(state, "--stats, --flame, --bars, --plot and --kmap-compat: only one of them");
	if ((args->flame || args->compat) && (args->format || args->symbols))
		argp_error(state, "--%s: prints lines of its own: without --symbols and --format",
			   args->flame ? "flame" : "kmap-compat");
	if ((args->bars || args->plot) && args->format)
		argp_error(state, "--%s: has no --format (without it objects are JSON or CSV)",
			   args->bars ? "bars" : "plot");
	if (args->vmlinux && !args->symbols)
		argp_error(state, "--vmlinux: only with --symbols");
	if (args->style.theme && !args->plot)
		argp_error(state, "--theme: only with --plot");
	if (args->asks &&
	    (prints || args->filter.cache || args->filter.nr_pids || args->filter.min || args->filter.max))
		argp_error(state, "%s: takes no options", args->asks);
	if (!args->records)
		return;
	if (prints)
		argp_error(
			state,
			"record: --stats, --flame, --bars, --plot, --symbols, --kmap-compat, --top, --format, --comm and --salvage are of printing");
	if (args->choice.watch_ns && !args->choice.watch)
		argp_error(state, "--watch-every: nothing is watched (--watch WHAT)");
	if (!args->run.command && !args->filter.nr_pids && !args->choice.all)
		argp_error(state, "record: no command, --pid or --all given");
	if (args->filter.nr_pids && (args->run.command || args->choice.all))
		argp_error(state, "record: --pid: not with a command or --all");
	if (args->filter.cache && strchr(args->filter.cache, '"'))
		argp_error(state, "--cache: %s: no name of a cache", args->filter.cache);
}

static bool is_control(const char *word)
{
	const char *const *w = control_words;

	while (*w && strcmp(*w, word))
		w++;
	return *w;
}

/* The first word may be what is to be done; else it is a file. */
static void take_word(struct kmap_args *args, char *word, struct argp_state *state)
{
	bool first = !args->records && !args->asks && !args->file;

	if (first && !strcmp(word, "record")) {
		args->records = true;
	} else if (first && is_control(word)) {
		args->asks = word;
	} else if (args->asks) {
		if (args->recorder)
			argp_error(state, "%s: only one recorder can be asked", word);
		args->recorder = pid_of_argument(state, word);
	} else if (args->records) { /* the rest belongs to the command */
		args->run.command = &state->argv[state->next - 1];
		state->next = state->argc;
	} else if (args->file) {
		argp_error(state, "%s: only one recording can be read", word);
	} else {
		args->file = word;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const flames[] = { "live", "bytes", "allocs" };
	static const char *const formats[] = { "text", "csv", "json" };
	struct kmap_args *args = state->input;

	switch (key) {
	case OPT_TABLE_FORMAT:
		set_format(args, formats[option_word(state, "format", arg, formats, 3, "text, json or csv")], state);
		return 0;
	case OPT_JSON:
	case OPT_CSV:
		set_format(args, key == OPT_JSON ? "json" : "csv", state);
		return 0;
	case OPT_BY:
		args->by = 1 + option_word(state, "by", arg, flames, 3, "live, bytes or allocs");
		return 0;
	case OPT_TOP:
		args->top = top_of_option(arg, "rows", state);
		return 0;
	case OPT_PLOT:
		set_plot(args, arg, state);
		return 0;
	case OPT_THEME:
		args->style.theme = theme_of_option(arg, state);
		return 0;
	case OPT_MAX_OBJECTS:
		if (!pfs_number_parse(arg, 1, UINT32_MAX, &args->filter.max_objects))
			argp_error(state, "--max-objects: %s: must be a number of objects", arg);
		return 0;
	case OPT_PID:
		parse_pids(args, arg, state);
		return 0;
	case OPT_SIZE:
		parse_size(args, arg, state);
		return 0;
	case OPT_SOURCE:
		set_source(args, arg, state);
		return 0;
	case 'o':
		args->run.recording.file = file_of_option(arg);
		return 0;
	case 'b':
		args->run.recording.config.buffer_kb = buffer_of_option(arg, state);
		return 0;
	case OPT_WATCH_EVERY:
		args->choice.watch_ns = duration_of_option(state, "watch-every", arg, 1000000);
		return 0;
	case 'd':
		args->attach.duration_ns = duration_of_option(state, "duration", arg, 0);
		return 0;
	case ARGP_KEY_ARG:
		take_word(args, arg, state);
		return 0;
	case ARGP_KEY_END:
		check(args, state);
		return 0;
	default:
		return option_store(args, key, arg);
	}
}
static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FILE|record [--] COMMAND [ARG...]|pause|resume|clear|stats PID",
	.doc = "Print for each kernel object of a recording where, when and by whom it was allocated and freed: KMAP lines, or with --stats tables. FILE is a recording of `kmap record' or of any tool that recorded kmem events. `record' records them. `pause', `resume', `clear' and `stats' ask the recorder with that process ID to pause, to go on, to drop what it has so far, or for its numbers.\v"
	       "Examples:\n"
	       "  pfscope kmap record -o k.dat -- make     record the objects of a command\n"
	       "  pfscope kmap --stats k.dat               tables: caches, call sites, leaks\n"
	       "  pfscope kmap --plot=k.svg k.dat          who had how much memory when\n"
	       "  pfscope kmap --symbols --cache 'sock*' k.dat\n"
	       "  pfscope kmap record --all -d 10          tables of 10 s of the whole system\n"
	       "  pfscope kmap record --watch cache=filp -o k.dat -- make    who uses files\n"
	       "  pfscope kmap record --stack -o k.dat -- make\n"
	       "  pfscope kmap --flame k.dat | flamegraph.pl > k.svg\n"
	       "  pfscope kmap pause 4711                  pause until `kmap resume 4711'",
};

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

/* read() gives the events to the sink. */
static int print(const struct kmap_args *args, FILE *out, bool stats,
		 int (*read)(const struct kmap_args *args, void *ctx, const struct pfs_sink *sink, struct pfs_err *err),
		 void *ctx, struct pfs_err *err)
{
	struct source_lines lines = { .vmlinux = args->vmlinux };
	struct pfs_kmap kmap;
	struct pfs_tally tally = { 0 };
	struct pfs_flame flame = { .by = args->by ? args->by - 1 : PFS_FLAME_LIVE };
	const struct pfs_object_filter all = { .max_objects = args->filter.max_objects };
	struct pfs_object_sink to = stats ? pfs_tally_sink(&tally) : pfs_flame_sink(&flame);
	struct pfs_sink sink;
	int ret;

	begin(&kmap, args, out, NULL);
	kmap.line = find_line;
	kmap.no_lines = open_lines;
	kmap.line_ctx = &lines;
	if (!stats && !args->flame)
		to = pfs_kmap_sink(&kmap);
	kmap.objects = tally.objects = flame.objects = pfs_objects_new(args->records ? &all : &args->filter, &to);
	if (!kmap.objects)
		return pfs_err_set(err, -ENOMEM, "no memory for objects");
	sink = pfs_objects_sink(kmap.objects);
	ret = read(args, ctx, &sink, err);
	if (ret >= 0)
		ret = pfs_objects_end(kmap.objects);
	if (!ret && stats)
		ret = pfs_kmap_stats(&kmap, &tally);
	else if (!ret && args->flame)
		ret = print_flame(&flame, out);
	else if (!ret)
		pfs_kmap_end(&kmap);
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

static int read_file(const struct kmap_args *args, void *ctx, const struct pfs_sink *sink, struct pfs_err *err)
{
	const struct input_options how = {
		.salvage = args->salvage,
		.objects = true,
		.progress = args->stats || !isatty(pager_terminal(stdout)),
	};

	return input_read(args->file, &how, sink, err);
}

/* ---- pictures ---- */

/* Gives all objects of the file to the sink. */
static int read_objects(const struct kmap_args *args, const struct pfs_object_filter *filter,
			const struct pfs_object_sink *to, struct pfs_objects **objects, struct pfs_err *err)
{
	struct pfs_sink sink;
	int ret;

	*objects = pfs_objects_new(filter, to);
	if (!*objects)
		return pfs_err_set(err, -ENOMEM, "no memory for objects");
	sink = pfs_objects_sink(*objects);
	ret = read_file(args, NULL, &sink, err);
	return ret < 0 ? ret : pfs_objects_end(*objects);
}

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

static int plot(struct kmap_args *args, struct pfs_err *err)
{
	struct plotting p = { .args = args };
	const struct pfs_object_sink to = { plot_alloc, plot_end, &p };
	int ret;

	args->style.file = args->file && strcmp(args->file, "-") ? basename(args->file) : NULL;
	ret = read_objects(args, &args->filter, &to, &p.series.objects, err) ?: pfs_series_end(&p.series);
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
static int bars(struct kmap_args *args, struct pfs_err *err)
{
	struct pfs_slabs slabs = { 0 };
	const struct pfs_object_sink to = pfs_slabs_sink(&slabs);
	struct pfs_object_filter filter = args->filter;
	struct pfs_kmap kmap;
	unsigned int height;
	int ret;

	filter.cache = NULL;
	ret = read_objects(args, &filter, &to, &slabs.objects, err);
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

/* ---- recording ---- */

static struct kmap_args *args_of(const struct recording_args *recording, bool runs)
{
	return runs ? (struct kmap_args *)((char *)recording - offsetof(struct kmap_args, run.recording))
		    : (struct kmap_args *)((char *)recording - offsetof(struct kmap_args, attach.recording));
}

static int replay(const struct kmap_args *args, void *live, const struct pfs_sink *sink, struct pfs_err *err)
{
	return ((struct pfs_live *)live)->source->replay(live, sink, err);
}

/* Without a file: what the objects add up to. */
static int draw_run(const struct recording_args *recording, struct pfs_live *live, struct pfs_err *err)
{
	return print(args_of(recording, true), stderr, true, replay, live, err);
}

static int draw_attach(const struct recording_args *recording, struct pfs_live *live, struct pfs_err *err)
{
	return print(args_of(recording, false), stderr, true, replay, live, err);
}

static int record(struct kmap_args *args)
{
	struct recording_args *recording = &args->run.recording;
	struct pfs_err err = { "" };
	int status;

	args->choice.cache = args->filter.cache;
	args->choice.min = args->filter.min;
	args->choice.max = args->filter.max;
	recording->config.objects = &args->choice;
	recording->config.to_file = recording->file;
	if (source_args_init(&recording->sources)) {
		source_args_fini(&recording->sources);
		message("no memory to record");
		return EXIT_FAILED;
	}
	if (args->source)
		recording->sources.source = args->source;
	if ((args->module && source_args_set(&recording->sources, "module", args->module, &err)) ||
	    source_args_check(&recording->sources, &recording->config.options, &err) ||
	    recording->sources.source->check(&recording->config, &err)) {
		source_args_fini(&recording->sources);
		return fail(&err);
	}
	if (recording->file)
		recording->no_bars = true;
	if (args->run.command) {
		recording->draw = draw_run;
		return run_recorded(&args->run);
	}
	args->attach.recording = *recording;
	args->attach.recording.draw = draw_attach;
	args->attach.pids = args->pids;
	args->attach.nr_pids = args->filter.nr_pids;
	status = attach_recorded(&args->attach);
	return status;
}

/* Whoever is asked: the answer is theirs. */
static int ask(const struct kmap_args *args)
{
	char answer[512], text[2048];
	struct pfs_err err = { "" };
	int what = PFS_CONTROL_STATS;

	while (strcmp(control_words[what], args->asks))
		what++;
	if (control_ask(args->recorder, what, answer, sizeof(answer), &err))
		return fail(&err);
	pfs_escape(text, sizeof(text), answer, 0);
	printf("%d: %s\n", args->recorder, text);
	return EXIT_OK;
}

int cmd_kmap(int argc, char **argv)
{
	struct kmap_args args = { 0 };
	struct pfs_err err = { "" };
	int status = EXIT_FAILED;

	if (!cannot_parse(&argp, argc, argv, ARGP_IN_ORDER, &args)) {
		if (args.asks)
			status = ask(&args);
		else if (args.records)
			status = record(&args);
		else if (reading_find(&args.file, &err))
			fail(&err);
		else if (args.plot)
			status = plot(&args, &err) ? fail(&err) : EXIT_OK;
		else {
			pager_start();
			status = (args.bars ? bars(&args, &err)
					    : print(&args, stdout, args.stats, read_file, NULL, &err))
					 ? fail(&err)
					 : EXIT_OK;
			pager_end();
		}
	}
	free(args.pids);
	return status;
}
