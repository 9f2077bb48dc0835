/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope kmap: prints the kernel objects of a recording, or what they add up to; `pfscope kmap record` records them.
 */
#include "base/array.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/units.h"
#include "common/command.h"
#include "common/pager.h"
#include "common/reading.h"
#include "common/recorded.h"
#include "kmap/views.h"
#include "objects/flame.h"

#include <errno.h>
#include <string.h>

/* Without --watch-every. */
#define WATCH_NS UINT64_C(20000000)

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
	if (args->choice.stacks && by_stap)
		argp_error(state, "--stack: not with --source=stap");
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
	args->choice.watch_every = args->choice.watch_ns;
	if (args->choice.watch && !args->choice.watch_ns)
		args->choice.watch_ns = WATCH_NS;
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
	return kmap_print(args_of(recording, true), stderr, true, replay, live, err);
}

static int draw_attach(const struct recording_args *recording, struct pfs_live *live, struct pfs_err *err)
{
	return kmap_print(args_of(recording, false), stderr, true, replay, live, err);
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
	    source_args_check(&recording->sources, NULL, &recording->config.options, &err) ||
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
			status = kmap_plot(&args, &err) ? fail(&err) : EXIT_OK;
		else {
			pager_start();
			status = (args.bars ? kmap_bars(&args, &err)
					    : kmap_print(&args, stdout, args.stats, kmap_read_file, NULL, &err))
					 ? fail(&err)
					 : EXIT_OK;
			pager_end();
		}
	}
	free(args.pids);
	return status;
}
