/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope render: draws the bars of a recording.
 */
#include "code/code.h"
#include "common/command.h"
#include "common/reading.h"

#include <errno.h>
#include <string.h>

struct render_args {
	struct reading_args reading; /* the first member */
	bool by_function, by_class;
	struct pfs_code_options code;
};

enum { OPT_BY_FUNCTION = 0x600 };

static const struct argp_option options[] = {
	{ "by-function", OPT_BY_FUNCTION, NULL, 0, "Draw which functions touched which pages first, per region", 1 },
	{ "by-class", OPTION_FLAG(struct render_args, by_class), NULL, 0,
	  "Draw the classes of faults (`report --by class'), a letter and a color each", 1 },
	SYMBOLS_OPTIONS,
	{ "output", 'o', "FILE", 0, "Draw into FILE", 1 },
	{ 0 },
};

static void check(struct render_args *args, const struct argp_state *state)
{
	struct reading_args *reading = &args->reading;
	bool classic = reading->view.view && !strcmp(reading->view.view, "classic");

	if (args->by_function && reading->view.view)
		argp_error(state, "--by-function and --%s: only one of them", reading->view.view);
	if (args->by_class && (args->by_function || classic))
		argp_error(state, "--by-class and --%s: only one of them", classic ? "classic" : "by-function");
	if (reading_symbols_option(reading) && !args->by_function)
		argp_error(state, "%s: only with --by-function", reading_symbols_option(reading));
	reading->classify = reading->labels.marks = args->by_class;
	reading->names = args->by_function;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct reading_args *args = state->input;

	if (key == OPT_BY_FUNCTION) {
		((struct render_args *)args)->by_function = true;
		return 0;
	}
	if (key == ARGP_KEY_END)
		check(state->input, state);
	if (key == 'o') {
		args->view.output = arg;
		return 0;
	}
	if (key == ARGP_KEY_INIT)
		state->child_inputs[1] = &args->view;
	return reading_parse(key, arg, state);
}

static const struct argp_child children[] = {
	{ &fault_reading_argp, 0, NULL, 0 },
	{ &view_argp, 0, "Drawing:", 2 },
	{ 0 },
};

static const struct argp argp = READING_ARGP(
	options, parse, children,
	"Draw the bars of a recording: a trace.dat of pfscope or trace-cmd, the text of trace_pipe, of the trace file or of trace-cmd report, or pfscope's event lines. The format is detected.\v"
	"Examples:\n"
	"  pfscope render py.dat\n"
	"  pfscope render --classic trace.dat\n"
	"  pfscope render --at 0.5 --region '*libc*' py.dat\n"
	"  trace-cmd report trace.dat | pfscope render -");

struct functions {
	struct pfs_code *code;
	const struct pfs_code_options *how;
};

static int draw_functions(void *ctx, const struct pfs_model *model, const struct pfs_view_options *view,
			  struct pfs_err *err)
{
	const struct functions *functions = ctx;

	return pfs_code_draw(functions->code, functions->how, model, view, err);
}

static int read_functions(struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	struct render_args *render = (struct render_args *)args;
	struct functions functions = { pfs_code_new(&args->view.filter, &args->symbols, args->notes), &render->code };
	struct view_drawing drawing = { draw_functions, &functions };
	int ret = functions.code ? 0 : pfs_err_set(err, -ENOMEM, "no memory for the functions");

	if (!ret) {
		pfs_code_want_pages(functions.code);
		pipeline_observe(p, pfs_code_observer(functions.code));
		render->code.recording = args->file;
		render->code.symbols.files = args->symbols;
		render->code.notes = args->notes;
		args->view.drawing = &drawing;
		ret = reading_draw(args, p, err);
	}
	args->view.drawing = NULL;
	pfs_code_free(functions.code);
	return ret;
}

static int draw(struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	return ((struct render_args *)args)->by_function ? read_functions(args, p, err) : reading_draw(args, p, err);
}

int cmd_render(int argc, char **argv)
{
	struct render_args args = { 0 };

	return reading_main(&args.reading, &argp, argc, argv, draw);
}
