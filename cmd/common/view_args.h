/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options that all drawing commands share: view, width, colors, filters.
 */
#ifndef CMD_VIEW_ARGS_H
#define CMD_VIEW_ARGS_H

#include "base/term.h"
#include "model/filter.h"
#include "view/view.h"

#include <argp.h>

/* What a command draws that is no view. */
struct view_drawing {
	int (*draw)(void *ctx, const struct pfs_model *model, const struct pfs_view_options *options,
		    struct pfs_err *err);
	void *ctx;
};

struct view_args {
	const char *view;	 /* name in the table of views; NULL: the default bars */
	const char *view_option; /* that chose it */
	const char *output;	 /* file, NULL: the command's default stream */
	const char *file;	 /* the recording; NULL: none that can be read again */
	unsigned int width;	 /* 0: the terminal's */
	enum pfs_color_when color;
	bool all, wide, names;
	unsigned int by;
	unsigned int top; /* 0: what fits */
	enum pfs_sort sort;
	enum pfs_view_format format;
	struct pfs_filter filter;
	const struct pfs_model *whole;		  /* of struct pfs_view_options, */
	const struct pfs_report_threads *threads; /* and these */
	const struct pfs_mapped *mapped;
	const struct pfs_classes *classes;
	const struct pfs_report_more *more;
	const struct view_drawing *drawing; /* instead of the view; or NULL */
};

/* Children for a command's argp; their input is a struct view_args. */
extern const struct argp view_argp; /* form and output */
#define FILTERS_HEADER "Filters (repeat an option for OR; different options are ANDed):"
extern const struct argp filter_argp;	    /* --pid, --tid, --comm, --region, --from, --to, --at */
extern const struct argp fault_filter_argp; /* these, and --class, which a recording must be read twice for */

/*
 * Parse --width, --top (a number of `what'), --class (adds labels) and --color (NULL: no value) for commands with such options
 * of their own; errors exit.
 */
unsigned int width_of_option(const char *arg, struct argp_state *state);
unsigned int top_of_option(const char *arg, const char *what, struct argp_state *state);
void classes_of_option(const char *arg, uint32_t *labels, const struct argp_state *state);
enum pfs_color_when color_of_option(const char *arg, struct argp_state *state);

/* Draws the model to args->output or to `stream`. 0, or -errno with err set. */
int view_args_draw(const struct view_args *args, const struct pfs_model *model, FILE *stream, struct pfs_err *err);

#endif
