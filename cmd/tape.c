/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope tape: prints the page reference string of a recording.
 */
#include "base/number.h"
#include "common/command.h"
#include "base/atomic_file.h"
#include "base/units.h"
#include "common/reading.h"
#include "model/filter.h"
#include "reference/tape_sim.h"
#include "reference/tapes.h"
#include "view/loss.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum format { TEXT, BINARY, PREFETCH, LACKEY, CSV, ORACLE, NR_FORMATS };

static const char *const formats[NR_FORMATS] = {
	"text", "binary", "prefetch", "lackey", "csv", "oracle-general",
};

static const char *const by_words[] = { "thread", "process", "all" }; /* enum pfs_tape_by */

struct tape_args {
	struct reading_args reading;
	struct pfs_tape_options tape;
	struct pfs_refs_options refs;
	struct pfs_prefetch_options prefetch;
	enum format format;
	const char *output, *by; /* as given, or NULL */
	bool any_window;	 /* --window or --ahead */
	struct pipeline *pipeline;
};

enum { OPT_BY = 0x600, OPT_NO_TIMES, OPT_FORMAT, OPT_WINDOW, OPT_AHEAD };

static const struct argp_option options[] = {
	{ "by", OPT_BY, "WHAT", 0, "One tape per `thread' (default), per `process', or one for `all'", 1 },
	{ "first", OPTION_FLAG(struct tape_args, refs.first_only), NULL, 0, "Only the first reference to each page",
	  1 },
	{ "no-code", OPTION_FLAG(struct tape_args, refs.no_code), NULL, 0, "Leave out executable regions", 1 },
	{ "stable", OPTION_FLAG(struct tape_args, tape.stable), NULL, 0,
	  "Identify pages by file or mapping instead of address: the same in every run", 1 },
	{ "no-times", OPT_NO_TIMES, NULL, 0, "Leave out the times", 1 },
	{ "format", OPT_FORMAT, "FORMAT", 0, "text (default), binary, prefetch, lackey, csv or oracle-general", 1 },
	{ "window", OPT_WINDOW, "TIME", 0, "prefetch: pages that follow within TIME (default 10ms; 0: no limit)", 1 },
	{ "ahead", OPT_AHEAD, "N", 0, "prefetch: at most N pages (default 16; 0: no limit)", 1 },
	{ "output", 'o', "FILE", 0, "Write to FILE", 1 },
	{ 0 },
};

static unsigned int parse_ahead(struct argp_state *state, const char *arg)
{
	uint64_t nr;

	if (!pfs_number_parse(arg, 0, 1000000, &nr))
		argp_error(state, "--ahead: %s: must be between 0 and 1000000", arg);
	return nr;
}

static void check(struct argp_state *state, const struct tape_args *args)
{
	if (args->any_window && args->format != PREFETCH)
		argp_error(state, "--window and --ahead: only with --format=prefetch");
	if (args->format == PREFETCH && !args->prefetch.window_ns && !args->prefetch.ahead)
		argp_error(state, "--ahead=0: needs a window (--window TIME)");
	if (args->format >= LACKEY &&
	    (args->tape.stable || !args->tape.times || (args->by && args->tape.by != PFS_TAPE_OF_ALL)))
		argp_error(
			state,
			"--format=%s: cannot be combined with --by, --stable or --no-times (--pid and --tid select processes and threads)",
			formats[args->format]);
	if (!args->output && (args->format == BINARY || args->format == ORACLE) && isatty(STDOUT_FILENO)) {
		message("--format=%s: is binary, and standard output is a terminal (-o FILE)", formats[args->format]);
		exit(EXIT_USAGE);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tape_args *args = state->input;

	args->any_window |= key == OPT_WINDOW || key == OPT_AHEAD;
	switch (key) {
	case OPT_BY:
		args->tape.by = option_word(state, "by", arg, by_words, 3, "thread, process or all");
		args->by = arg;
		return 0;
	case OPT_NO_TIMES:
		args->tape.times = false;
		args->prefetch.window_ns = 0;
		return 0;
	case OPT_FORMAT:
		args->format = option_word(state, "format", arg, formats, NR_FORMATS,
					   "text, binary, prefetch, lackey, csv or oracle-general");
		return 0;
	case OPT_WINDOW:
		args->prefetch.window_ns = strcmp(arg, "0") ? duration_of_option(state, "window", arg, 0) : 0;
		return 0;
	case OPT_AHEAD:
		args->prefetch.ahead = parse_ahead(state, arg);
		return 0;
	case 'o':
		args->output = arg;
		return 0;
	case ARGP_KEY_END:
		check(state, args);
		return 0;
	default:
		return reading_parse(key, arg, state);
	}
}

static const struct argp argp = READING_ARGP(
	options, parse, fault_reading_children,
	"Print the page reference string of a recording: the referenced pages, in order. FILE may also be a binary tape.\v"
	"Examples:\n"
	"  pfscope tape --stable --region heap,anon py.dat\n"
	"  pfscope tape --no-code --format=binary -o py.tape py.dat\n"
	"  pfscope tape --format=prefetch --window=1ms py.tape\n"
	"  pfscope tape --by=all --format=oracle-general -o py.bin py.dat");

static int cannot_write(int ret, const struct tape_args *args, struct pfs_err *err)
{
	if (ret == -EIO)
		return pfs_err_set(err, ret, "%s: cannot write: %s", args->output ? args->output : "the tape",
				   strerror(errno));
	return ret ? pfs_err_set(err, ret, "no memory for the tape") : 0;
}

static int write_tapes(const struct pfs_tapes *tapes, const struct tape_args *args, FILE *out, struct pfs_err *err)
{
	int ret;

	if (args->format == BINARY)
		ret = pfs_tapes_write_binary(tapes, out);
	else if (args->format == PREFETCH)
		ret = pfs_tapes_write_prefetch(tapes, &args->prefetch, out);
	else
		ret = pfs_tapes_write_text(tapes, out);
	return cannot_write(ret, args, err);
}

/* ---- of a recording ---- */

/* Prints what a format without comment lines cannot contain. */
static void report_gaps(const struct tape_args *args, const struct pfs_model *model, const struct pfs_refs_stats *stats)
{
	const struct pfs_filter *filter = &args->reading.view.filter;
	char lost[PFS_LOST_TEXT_MAX];

	if (stats->sampled)
		message("sampled, in an order that is not known, and not marked in --format=%s: %" PRIu64 " of %" PRIu64
			" references",
			formats[args->format], stats->sampled, stats->refs);
	if (stats->counted)
		message("not complete: without %" PRIu64 " fault%s only counted (--histogram)", stats->counted,
			stats->counted == 1 ? " that was" : "s that were");
	if (!args->reading.strict && pfs_lost_text(lost, pfs_gaps_shown(model, filter))) /* --strict prints it itself */
		message("%s", lost);
}

/* Everything in the recording goes through references to fn. */
static int read_refs(const struct tape_args *args, pfs_ref_fn fn, void *ctx, struct pfs_refs_stats *stats,
		     struct pfs_err *err)
{
	struct pfs_refs *refs = pfs_refs_new(args->pipeline->model, &args->refs, fn, ctx);
	int ret;

	if (!refs)
		return pfs_err_set(err, -ENOMEM, "no memory for the references");
	pipeline_observe(args->pipeline, pfs_refs_observer(refs));
	ret = reading_read(&args->reading, args->pipeline, err);
	if (!ret)
		ret = cannot_write(pfs_refs_end(refs), args, err);
	*stats = *pfs_refs_stats(refs);
	if (!ret && !stats->refs) {
		pfs_refs_none(stats, err);
		message("%s", err->msg);
	}
	if (!ret && pfs_model_polled(args->pipeline->model))
		message("names of regions may be wrong: %s", pfs_model_polled(args->pipeline->model));
	pfs_refs_free(refs);
	return ret;
}

static int make_tapes(const struct tape_args *args, FILE *out, struct pfs_err *err)
{
	struct pfs_tapes *tapes = pfs_tapes_new(args->pipeline->model, &args->tape);
	struct pfs_refs_stats stats;
	int ret;

	if (!tapes)
		return pfs_err_set(err, -ENOMEM, "no memory for the tape");
	ret = read_refs(args, pfs_tapes_add, tapes, &stats, err);
	if (!ret)
		ret = cannot_write(pfs_tapes_finish(tapes, &stats), args, err);
	if (!ret)
		ret = write_tapes(tapes, args, out, err);
	pfs_tapes_free(tapes);
	return ret;
}

static int make_string(const struct tape_args *args, FILE *out, struct pfs_err *err)
{
	static const enum pfs_sim_format forms[] = {
		[LACKEY] = PFS_SIM_LACKEY,
		[CSV] = PFS_SIM_CSV,
		[ORACLE] = PFS_SIM_ORACLE,
	};
	struct pfs_sim *sim = pfs_sim_new(args->pipeline->model, forms[args->format], out);
	struct pfs_refs_stats stats;
	int ret;

	if (!sim)
		return pfs_err_set(err, -ENOMEM, "no memory for the tape");
	ret = read_refs(args, pfs_sim_add, sim, &stats, err);
	if (!ret)
		ret = cannot_write(pfs_sim_finish(sim), args, err);
	if (!ret)
		report_gaps(args, args->pipeline->model, &stats);
	pfs_sim_free(sim);
	return ret;
}

/* ---- of a tape ---- */

/* 1: it was a tape, and was printed. 0: it is no tape. */
static int of_tape(const struct tape_args *args, int fd, FILE *out, struct pfs_err *err)
{
	const struct pfs_filter *filter = &args->reading.view.filter;
	struct pfs_tapes *tapes;
	struct stat st;
	char head[8];
	void *bytes;
	int ret;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || pread(fd, head, sizeof(head), 0) != sizeof(head) ||
	    !pfs_tapes_probe(head, sizeof(head)))
		return 0;
	if (args->by || args->refs.first_only || args->refs.no_code || args->tape.stable || !args->tape.times ||
	    args->format >= LACKEY || filter->nr_regions || filter->nr_files || !pfs_filter_is_open(filter))
		return pfs_err_set(
			err, -EINVAL,
			"a tape cannot be filtered or converted except to --format=text, binary or prefetch (make another tape from the recording)");
	bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return pfs_err_set(err, -errno, "%s: cannot read: %s",
				   args->reading.file ? args->reading.file : "standard input", strerror(errno));
	tapes = pfs_tapes_read(bytes, st.st_size, &ret, err);
	munmap(bytes, st.st_size);
	if (!tapes)
		return ret;
	ret = write_tapes(tapes, args, out, err);
	pfs_tapes_free(tapes);
	return ret ? ret : 1;
}

/* ---- either ---- */

static int print(void *ctx, FILE *out, struct pfs_err *err)
{
	struct tape_args *args = ctx;
	const char *file = args->reading.file;
	bool is_stdin = !file || !strcmp(file, "-");
	int fd = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	int ret = fd < 0 ? 0 : of_tape(args, fd, out, err); /* if it cannot be opened, reading_read() reports it */

	if (fd >= 0 && !is_stdin)
		close(fd);
	if (ret)
		return ret < 0 ? ret : 0;
	args->refs.no_frames = args->format < LACKEY && !args->refs.first_only;
	return args->format >= LACKEY ? make_string(args, out, err) : make_tapes(args, out, err);
}

static int print_to(struct reading_args *reading, struct pipeline *p, struct pfs_err *err)
{
	struct tape_args *args = (struct tape_args *)reading;

	args->pipeline = p;
	return args->output ? pfs_atomic_file_write(args->output, print, args, err) : print(args, stdout, err);
}

int cmd_tape(int argc, char **argv)
{
	struct tape_args args = {
		.tape = { .times = true },
		.prefetch = { .window_ns = 10000000, .ahead = 16 },
	};

	args.refs.filter = &args.reading.view.filter;
	return reading_main(&args.reading, &argp, argc, argv, print_to);
}
