/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/reading.h"

#include "base/units.h"
#include "base/write_all.h"
#include "common/command.h"
#include "common/pager.h"
#include "export/viewer.h"
#include "symbol/archive.h"
#include "view/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct argp_option options[] = {
	{ "salvage", OPTION_FLAG(struct reading_args, input.salvage), NULL, 0,
	  "Show what is readable of a damaged file", 1 },
	{ "strict", OPTION_FLAG(struct reading_args, strict), NULL, 0, "Exit with status 3 if events were lost", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct reading_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		if (state->child_inputs) /* has filters */
			state->child_inputs[0] = &args->view.filter;
		return 0;
	case ARGP_KEY_ARG:
		if (args->file)
			argp_error(state, "%s: only one recording can be read", arg);
		args->file = arg;
		return 0;
	default:
		return option_store(args, key, arg);
	}
}

static const struct argp_child filter_children[] = {
	{ &filter_argp, 0, FILTERS_HEADER, 3 },
	{ 0 },
};

const struct argp reading_argp = { options, parse, NULL, NULL, filter_children, NULL, NULL };

static const struct argp unfiltered_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

const struct argp_child reading_unfiltered[] = { { &unfiltered_argp, 0, NULL, 0 }, { 0 } };

const struct argp_child reading_children[] = { { &reading_argp, 0, NULL, 0 }, { 0 } };

static const struct argp_child fault_filter_children[] = {
	{ &fault_filter_argp, 0, FILTERS_HEADER, 3 },
	{ 0 },
};

const struct argp fault_reading_argp = { options, parse, NULL, NULL, fault_filter_children, NULL, NULL };

const struct argp_child fault_reading_children[] = { { &fault_reading_argp, 0, NULL, 0 }, { 0 } };

error_t reading_parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = { "text", "csv", "json" }; /* enum pfs_view_format */
	struct reading_args *args = state->input;
	enum pfs_view_format format = key == OPT_JSON ? PFS_VIEW_JSON : PFS_VIEW_CSV;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = args;
		return 0;
	case OPT_TABLE_FORMAT:
		format = option_word(state, "format", arg, formats, 3, "text, json or csv");
		__attribute__((fallthrough));
	case OPT_JSON:
	case OPT_CSV:
		if (args->view.format && args->view.format != format)
			argp_error(state, "--json, --csv and --format: only one of them");
		args->view.format = format;
		return 0;
	default:
		return option_store(args, key, arg);
	}
}

int reading_read(const struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	struct pfs_sink sink = pipeline_sink(p);
	struct pfs_epochs any = { .model = p->model };
	struct input_options how = args->input;
	int ret;

	how.progress = !p->observer.event || !isatty(pager_terminal(stdout));
	ret = input_read(args->file, &how, &sink, err);
	if (ret <= 0)
		return ret;
	/* Without faults, other events and a layout can be shown, but no references. */
	return (p->observer.event ? p->nr_written > 0 : pfs_epochs_next(&any)) ? 0 : -ENODATA;
}

int reading_export(const struct reading_args *args, struct pipeline *p, unsigned int viewer, FILE *out,
		   struct pfs_err *err)
{
	const struct pfs_viewer_options how = { &args->view.filter, args->file, args->symbols, args->notes };
	struct pfs_viewer *v = pfs_viewer_new(p->model, viewer, &how, out, err);
	int ret = v ? 0 : -EINVAL;

	if (!ret) {
		pfs_model_arounds(p->model, args->arounds, true);
		pipeline_observe(p, pfs_viewer_observer(v));
		ret = reading_read(args, p, err);
		if (ret != -ENODATA)
			ret = pfs_viewer_end(v, ret, err);
	}
	pfs_viewer_free(v);
	if (!ret && out == stdout && fflush(stdout))
		ret = pfs_err_set(err, -errno, "standard output: %s", strerror(errno));
	return ret;
}

void reading_export_losses(const struct pipeline *p, unsigned int viewer, const char *option)
{
	const struct pfs_model *m = p->model;
	char count[64];

	if ((!m->lost && !m->lost_unknown) || pfs_viewer_has_gaps(viewer))
		return;
	message("%s %s lost: %s=%s does not show where",
		pfs_at_least(count, sizeof(count), m->lost, m->lost_unknown, "event"), m->lost == 1 ? "is" : "are",
		option, pfs_viewer_names[viewer]);
}

int reading_draw(struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	struct view_args *view = &args->view;
	int ret = reading_read(args, p, err);

	if (args->file && strcmp(args->file, "-"))
		view->file = args->file;
	if (!ret && (view->view || view->all || view->top)) /* the default bars fit */
		pager_start();
	return ret ? ret : view_args_draw(&args->view, p->model, stdout, err);
}

int reading_find(const char **file, struct pfs_err *err)
{
	static const char *const names[] = { PFS_RECORDING_NAME, "trace.dat" };

	if (*file || !isatty(STDIN_FILENO))
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!access(names[i], F_OK)) {
			*file = names[i];
			message("reading %s", names[i]);
			return 0;
		}
	return pfs_err_set(err, -ENOENT, "no recording given, and neither %s nor %s is here", names[0], names[1]);
}

/* ---- a first reading, for the classes of faults and the build-ids of files ---- */

/* Makes a temporary file with its content the standard input. 0 or -errno with err set. */
static int copy_to_input(const char *file, struct pfs_err *err)
{
	bool standard = !file || !strcmp(file, "-");
	int in = standard ? 0 : open(file, O_RDONLY | O_CLOEXEC), fd = in < 0 ? -1 : pfs_temp_open(err), ret = 0;
	char buf[1 << 14];
	ssize_t got = 1;

	if (in < 0)
		return 0; /* the second reading reports it */
	while (fd >= 0 && !ret && got > 0) {
		got = read(in, buf, sizeof(buf));
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			ret = pfs_temp_write(fd, buf, got, err);
	}
	if (fd < 0)
		ret = fd;
	else if (got < 0)
		ret = pfs_err_set(err, -errno, "%s: %s", standard ? "standard input" : file, strerror(errno));
	else if (!ret && (lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, 0) < 0))
		ret = pfs_err_set(err, -errno, "cannot read a temporary file: %s", strerror(errno));
	if (fd > 0)
		close(fd);
	if (!standard)
		close(in);
	return ret;
}

/* *start: where the second reading of the standard input begins; -1: the file is read. 0 or -errno with err set. */
static int prepare_to_read_twice(struct reading_args *args, off_t *start, struct pfs_err *err)
{
	bool standard = !args->file || !strcmp(args->file, "-");
	struct stat st;
	int ret;

	*start = -1;
	if (standard ? fstat(0, &st) : stat(args->file, &st))
		return 0; /* the second reading reports why */
	if (!standard && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return 0;
	ret = S_ISREG(st.st_mode) ? 0 : copy_to_input(args->file, err);
	args->file = NULL;
	*start = lseek(0, 0, SEEK_CUR);
	return ret;
}

static int take_build_id(void *ctx, const struct pfs_event *ev)
{
	bool wanted = ev->kind == PFS_NOTE && (!strcmp(ev->key, pfs_note_key(PFS_NOTE_BUILD_ID)) ||
					       !strcmp(ev->key, pfs_note_key(PFS_NOTE_JIT_FILE)));

	return wanted ? pfs_model_apply(ctx, ev, NULL) : 0;
}

/* Those of a reading that has ended. 0 or -ENOMEM. */
static int keep_build_ids(struct reading_args *args, const struct pfs_model *m)
{
	int ret = 0;

	args->notes = pfs_model_new();
	for (unsigned int i = 0; args->notes && !ret && i < m->nr_notes; i++) {
		struct pfs_event ev = { .kind = PFS_NOTE, .ts_ns = m->notes[i].ts_ns };

		PFS_SET(&ev, key, KEY, m->notes[i].key);
		PFS_SET(&ev, value, VALUE, m->notes[i].value);
		ret = take_build_id(args->notes, &ev);
	}
	return args->notes ? ret : -ENOMEM;
}

static int read_classes(struct reading_args *args, struct pfs_err *err)
{
	struct pfs_filter *filter = &args->view.filter;
	struct input_options how = args->input;
	struct pfs_sink sink;
	struct pipeline p;
	int ret;

	filter->labelled = &args->labels;
	if (pipeline_init(&p, filter, PFS_EXPORT_NONE, stdout, err))
		return -ENOMEM;
	pfs_model_track_presence(p.model);
	args->classes = pfs_classes_new(p.model, filter);
	args->arounds = pfs_arounds_new();
	if (args->classes && args->arounds) {
		pfs_model_arounds(p.model, args->arounds, false);
		pipeline_observe(&p, pfs_classes_observer(args->classes));
		sink = pipeline_sink(&p);
		how.quiet = true;
		ret = input_read(args->file, &how, &sink, err);
		if (args->names && !args->notes && keep_build_ids(args, p.model))
			ret = pfs_err_set(err, -ENOMEM, "no memory for build-ids");
	} else {
		ret = pfs_err_set(err, -ENOMEM, "no memory for the classes of faults");
	}
	pipeline_fini(&p);
	args->labels.decided = true;
	args->labels.read = 0;
	return ret;
}

static int take_no_faults(void *ctx, const struct pfs_fault_run *runs, unsigned int nr)
{
	return 0;
}

/* To the end, whatever --to says. */
static int read_build_ids(struct reading_args *args, struct pfs_err *err)
{
	struct pfs_sink sink = { .fn = take_build_id, .faults = take_no_faults };
	struct input_options how = args->input;

	how.quiet = true;
	sink.ctx = args->notes = pfs_model_new();
	return args->notes ? input_read(args->file, &how, &sink, err)
			   : pfs_err_set(err, -ENOMEM, "no memory for build-ids");
}

/* An archive that is damaged costs names. */
static int check_symbols(const char *archive, struct pfs_err *err)
{
	int ret = pfs_archive_check(archive, err);

	if (ret > 0)
		message("%s", err->msg);
	return ret < 0 ? ret : 0;
}

const char *reading_symbols_option(const struct reading_args *args)
{
	return args->symbols.archive ? "--symbols" : args->symbols.debuginfod ? "--debuginfod" : NULL;
}

static int read_first(struct reading_args *args, int (*fn)(struct reading_args *args, struct pfs_err *err), off_t start,
		      struct pfs_err *err)
{
	int ret = fn(args, err);

	if (ret > 0) /* nothing to show, which the last reading reports */
		ret = 0;
	if (!ret && start >= 0 && lseek(0, start, SEEK_SET) < 0)
		ret = pfs_err_set(err, -errno, "standard input: %s", strerror(errno));
	return ret;
}

int reading_first(struct reading_args *args, struct pfs_err *err)
{
	const struct pfs_filter *filter = &args->view.filter;
	bool classes = args->classify || filter->labels, part = filter->to.set || filter->at.set;
	bool ids = reading_symbols_option(args) || (args->names && part);
	off_t start = -1;
	int ret = args->symbols.archive ? check_symbols(args->symbols.archive, err) : 0;

	if (!ret && args->symbols.debuginfod)
		ret = pfs_debuginfod_load(err);
	if (!ret && (ids || classes))
		ret = prepare_to_read_twice(args, &start, err);
	if (!ret && ids)
		ret = read_first(args, read_build_ids, start, err);
	if (!ret && classes)
		ret = read_first(args, read_classes, start, err);
	return ret;
}

void reading_fini(struct reading_args *args)
{
	pfs_classes_free(args->classes);
	pfs_arounds_free(args->arounds);
	pfs_model_free(args->notes);
	free(args->labels.of);
	args->classes = NULL;
	args->arounds = NULL;
	args->notes = NULL;
	args->labels = (struct pfs_labels){ .marks = args->labels.marks };
}

int reading_main(struct reading_args *args, const struct argp *argp, int argc, char **argv,
		 int (*body)(struct reading_args *args, struct pipeline *p, struct pfs_err *err))
{
	struct pfs_err err = { "" };
	struct pipeline p;
	int status = EXIT_FAILED;

	if (cannot_parse(argp, argc, argv, 0, args))
		return status;
	if (reading_find(&args->file, &err) || reading_first(args, &err) ||
	    pipeline_init(&p, &args->view.filter, args->events, stdout, &err)) {
		fail(&err);
	} else {
		status = body(args, &p, &err) ? fail(&err) : strict_status(args->strict, p.model, EXIT_OK);
		warn_no_region(p.model, &args->view.filter);
		pipeline_fini(&p);
	}
	pager_end();
	pfs_filter_fini(&args->view.filter);
	reading_fini(args);
	return status;
}
