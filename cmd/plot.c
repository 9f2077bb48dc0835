/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope plot: plots touches by time and address, into a file or as text.
 */
#include "base/clock.h"
#include "base/number.h"
#include "common/command.h"
#include "base/atomic_file.h"
#include "common/reading.h"
#include "plot/plot.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_FORMAT = 0x600, OPT_COLOR_BY, OPT_SIZE, OPT_WIDTH, OPT_COLOR, OPT_THEME, OPT_SORT };

enum { CELLS_OF_PAGE = 80000 }; /* some 3 MB */

struct plot_args {
	struct reading_args reading;
	struct pfs_plot_style style;
	unsigned int width;	      /* columns */
	const char *color, *color_by; /* as given; NULL: not given */
	const char *output;	      /* NULL: standard output */
	int format;		      /* enum pfs_plot_format; -1: by the suffix of the file */
	enum pfs_plot_sort sort;
	const char *other; /* the second recording */
	bool compare;
	struct pfs_plot_data *data;
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Draw into FILE, in the format of its suffix: svg, png, pdf, html or txt", 1 },
	{ "format", OPT_FORMAT, "FORMAT", 0, "Output format: `svg', `png', `pdf', `html' or `text'", 1 },
	{ "heat", OPTION_FLAG(struct plot_args, style.heat), NULL, 0, "Draw a heat map of the number of touches", 1 },
	{ "color-by", OPT_COLOR_BY, "WHAT", 0,
	  "Color the points by `access' (the default), `class', `thread' or `fault-class'", 1 },
	{ "theme", OPT_THEME, "THEME", 0, "Background: `light' (the default; a page follows the browser) or `dark'",
	  1 },
	{ "sort", OPT_SORT, "ORDER", 0, "Order of the regions: `address' (the default) or `faults', most on top", 1 },
	{ "compare", OPTION_FLAG(struct plot_args, compare), NULL, 0,
	  "Plot two recordings on one time axis, each region of both beside the other", 1 },
	{ "size", OPT_SIZE, "WIDTHxHEIGHT", 0, "Size of the picture in pixels", 1 },
	{ "title", OPTION_WORD(struct plot_args, style.title), "TEXT", 0, "Title (default: the recorded command)", 1 },
	{ "width", OPT_WIDTH, "COLUMNS", 0, "Width of text output (default: the terminal's)", 1 },
	SYMBOLS_OPTIONS,
	{ "color", OPT_COLOR, "WHEN", OPTION_ARG_OPTIONAL, "Color text output: `always', `never' or `auto'", 1 },
	{ 0 },
};

/* "1200x800". False: not a size, or out of range. */
static bool parse_size(const char *arg, struct pfs_plot_style *style)
{
	uint64_t width, height;

	if (!pfs_take_dec(&arg, PFS_PLOT_MOST_PIXELS, &width) || *arg++ != 'x' ||
	    !pfs_number_parse(arg, PFS_PLOT_LEAST_HEIGHT, PFS_PLOT_MOST_PIXELS, &height) ||
	    width < PFS_PLOT_LEAST_WIDTH)
		return false;
	style->width = width;
	style->height = height;
	return true;
}

/* The format of --format, with which "-" is standard output, else of the suffix. */
static void choose_format(struct plot_args *args, const struct argp_state *state)
{
	if (args->format >= 0) {
		if (args->output && !strcmp(args->output, "-"))
			args->output = NULL;
		return;
	}
	args->format = args->output ? pfs_plot_format_of_file(args->output) : PFS_PLOT_TEXT;
	if (args->format < 0)
		argp_error(state, "--output: %s: unknown suffix (svg, png, pdf, html or txt, or --format)",
			   args->output);
}

/* Refuses options that would have no effect on the picture. */
static void check_options(const struct plot_args *args, const struct argp_state *state)
{
	bool text = args->format == PFS_PLOT_TEXT, page = args->format == PFS_PLOT_HTML;

	if (args->style.heat && args->color_by)
		argp_error(state, "--heat: cannot be combined with --color-by");
	if (text && args->color_by)
		argp_error(state, "--color-by: text output is a heat map (-o FILE or --format)");
	if (text && args->style.theme)
		argp_error(state, "--theme: text output has the terminal's background (-o FILE or --format)");
	if ((text || page) && args->style.width)
		argp_error(state, "--size: only for svg, png and pdf (%s)",
			   text ? "text output has --width" : "an HTML page fills its window");
	if (!page && reading_symbols_option(&args->reading))
		argp_error(state, "%s: only an HTML page has names of code", reading_symbols_option(&args->reading));
	if (!text && !args->output && isatty(STDOUT_FILENO))
		argp_error(state, "--format: a picture is not written to a terminal (-o FILE)");
	if (!text && (args->width || args->color))
		argp_error(state, "--%s: only for text output", args->width ? "width" : "color");
}

static void check_files(const struct plot_args *args, const struct argp_state *state)
{
	if (args->compare && !args->other)
		argp_error(state, "--compare: two recordings are needed");
	if (!args->compare && args->other)
		argp_error(state, "%s: only one recording can be read (two with --compare)", args->other);
	if (args->compare && args->reading.strict)
		argp_error(state, "--strict: cannot be combined with --compare");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct plot_args *args = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (!args->reading.file || args->other)
			return reading_parse(key, arg, state);
		args->other = arg;
		return 0;
	case ARGP_KEY_END:
		check_files(args, state);
		choose_format(args, state);
		check_options(args, state);
		args->reading.names = args->format == PFS_PLOT_HTML;
		args->reading.classify = args->format == PFS_PLOT_HTML || args->style.by == PFS_PLOT_BY_FAULT_CLASS;
		return 0;
	case 'o':
		args->output = arg;
		return 0;
	case OPT_FORMAT:
		args->format = pfs_plot_format_find(arg);
		if (args->format < 0)
			argp_error(state, "--format: %s: must be svg, png, pdf, html or text", arg);
		return 0;
	case OPT_COLOR_BY:
		args->color_by = arg;
		args->style.by =
			PFS_PLOT_BY_ACCESS + option_word(state, "color-by", arg, pfs_plot_by_names + 1,
							 PFS_PLOT_BYS - 1, "access, class, thread or fault-class");
		return 0;
	case OPT_THEME:
		args->style.theme =
			&pfs_plot_themes[option_word(state, "theme", arg,
						     (const char *const[]){ pfs_plot_themes[PFS_PLOT_LIGHT].name,
									    pfs_plot_themes[PFS_PLOT_DARK].name },
						     PFS_PLOT_THEMES, "light or dark")];
		return 0;
	case OPT_SORT:
		args->sort = option_word(state, "sort", arg, pfs_plot_sort_names, PFS_PLOT_SORTS, "address or faults");
		return 0;
	case OPT_SIZE:
		if (!parse_size(arg, &args->style))
			argp_error(state, "--size: %s: must be WIDTHxHEIGHT from %dx%d to %dx%d", arg,
				   PFS_PLOT_LEAST_WIDTH, PFS_PLOT_LEAST_HEIGHT, PFS_PLOT_MOST_PIXELS,
				   PFS_PLOT_MOST_PIXELS);
		return 0;
	case OPT_WIDTH:
		args->width = width_of_option(arg, state);
		return 0;
	case OPT_COLOR:
		args->color = arg ? arg : "";
		args->reading.view.color = color_of_option(arg, state);
		return 0;
	default:
		return reading_parse(key, arg, state);
	}
}

static const struct argp argp = {
	options,
	parse,
	"[FILE|-]\n--compare A B",
	"Plot the touches of a recording: time from left to right, addresses from bottom to top, one band per region, and below faults per second and resident pages. Without -o the plot is text.\v"
	"Examples:\n"
	"  pfscope plot py.dat\n"
	"  pfscope plot -o py.html py.dat                 zoom and hover in a browser\n"
	"  pfscope plot -o heap.png --heat --region heap py.dat\n"
	"  pfscope plot -o both.html --compare old.dat new.dat",
	fault_reading_children,
	NULL,
	NULL,
};

/* The file's name, and when it was written, at the latest; the older of two. NULL: standard input. */
static const char *look_at_file(const char *file, struct pfs_plot_style *style)
{
	bool is_stdin = !file || !strcmp(file, "-");
	struct stat st;

	if (!(is_stdin ? fstat(STDIN_FILENO, &st) : stat(file, &st)) && S_ISREG(st.st_mode) &&
	    (!style->recorded.tv_sec || pfs_timespec_order(st.st_mtim, style->recorded) < 0))
		style->recorded = st.st_mtim;
	return is_stdin ? NULL : basename(file);
}

/* Does the user's terminal show UTF-8? The program's own locale stays as it is. */
static bool shows_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

	if (locale)
		freelocale(locale);
	return utf8;
}

static int draw(void *ctx, FILE *out, struct pfs_err *err)
{
	const struct plot_args *args = ctx;
	struct pfs_plot_data *data = args->data;
	bool text = args->format == PFS_PLOT_TEXT;
	struct pfs_plot_style style = args->style;
	struct pfs_plot plot;
	int ret = args->format == PFS_PLOT_HTML ? pfs_plot_cells_shrink(&data->cells, CELLS_OF_PAGE) : 0;

	if (!ret)
		ret = pfs_plot_lay_out(&plot, data, pfs_plot_bands(&style, args->format) * data->nr_sides, args->sort);
	if (ret)
		return pfs_err_set(err, ret, "no memory for the plot");
	if (text) {
		style.width = args->width ? args->width : pfs_term_width(fileno(out));
		style.color = pfs_term_color(fileno(out), args->reading.view.color);
		style.blocks = style.color && shows_utf8();
	}
	ret = pfs_plot_write(&plot, &style, args->format, out, err);
	pfs_plot_fini(&plot);
	return ret;
}

static int read_data(struct reading_args *reading, struct pipeline *p, struct pfs_plot_data **data, struct pfs_err *err)
{
	*data = pfs_plot_data_new(p->model, &reading->view.filter);
	if (!*data)
		return pfs_err_set(err, -ENOMEM, "no memory for the plot");
	pipeline_observe(p, pfs_plot_data_observer(*data));
	return reading_read(reading, p, err);
}

static int write_plot(struct plot_args *args, struct pfs_err *err)
{
	return args->output ? pfs_atomic_file_write(args->output, draw, args, err) : draw(args, stdout, err);
}

/* Both recordings, joined. */
static int compare(struct plot_args *args, struct pfs_err *err)
{
	struct reading_args reading = args->reading;
	struct pfs_plot_data *other = NULL;
	struct pipeline p;
	int ret;

	reading.file = args->other;
	reading.classes = NULL;
	reading.arounds = NULL;
	reading.notes = NULL;
	reading.labels = (struct pfs_labels){ 0 };
	ret = reading_first(&reading, err) ?: pipeline_init(&p, &reading.view.filter, PFS_EXPORT_NONE, NULL, err);
	if (ret) {
		reading_fini(&reading);
		return ret;
	}
	args->style.other = look_at_file(args->other, &args->style) ?: "(standard input)";
	ret = read_data(&reading, &p, &other, err);
	if (!ret) {
		ret = pfs_plot_data_join(args->data, other);
		if (ret)
			pfs_err_set(err, ret,
				    ret == -EINVAL ? "--compare: the recordings have pages of different sizes"
						   : "no memory for the plot");
	}
	if (!ret)
		ret = write_plot(args, err);
	pfs_plot_data_free(other);
	pipeline_fini(&p);
	reading_fini(&reading);
	return ret;
}

static int read_and_draw(struct reading_args *reading, struct pipeline *p, struct pfs_err *err)
{
	struct plot_args *args = (struct plot_args *)reading;
	int ret;

	args->style.file = look_at_file(reading->file, &args->style);
	args->style.symbols = &reading->symbols;
	args->style.notes = reading->notes;
	ret = read_data(reading, p, &args->data, err);
	if (!ret)
		ret = args->compare ? compare(args, err) : write_plot(args, err);
	pfs_plot_data_free(args->data);
	return ret;
}

int cmd_plot(int argc, char **argv)
{
	struct plot_args args = { .format = -1, .style.by = PFS_PLOT_BY_ACCESS };

	return reading_main(&args.reading, &argp, argc, argv, read_and_draw);
}
