/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The skeleton of every command that reads a recording: arguments, file, filter, model, exit status.
 */
#ifndef CMD_READING_H
#define CMD_READING_H

#include "classes/classes.h"
#include "common/pipeline.h"
#include "common/view_args.h"
#include "symbol/debug_file.h"

struct input_options {
	bool salvage;  /* read what is readable of a damaged file */
	bool other;    /* also events that pfscope does not decode */
	bool objects;  /* kernel objects are wanted: page faults need not be there */
	bool quiet;    /* no messages but errors: it will be read again */
	bool progress; /* show progress on a terminal; nothing else may print there meanwhile */
};

/*
 * Reads the file (NULL or "-": standard input) into the sink. Its kind, a row in input.c's table, is detected from the
 * content. Lines that are not events are counted and reported in one message. So is a recording that has no page-fault
 * events: 1. Else 0, also if the sink wanted no more (-ECANCELED), or -errno with err set.
 */
int input_read(const char *path, const struct input_options *options, const struct pfs_sink *sink, struct pfs_err *err);

/* The arguments of such a command begin with this struct. */
struct reading_args {
	const char *file; /* NULL: standard input, or at a terminal pfscope.dat or trace.dat */
	struct input_options input;
	struct view_args view;
	enum pfs_export_form events;	/* printed while reading */
	bool strict;			/* lost events are a failure */
	struct pfs_debug_files symbols; /* where names are, beside the recorded files */
	bool names;			/* code is named, by build-ids, which are at the recording's end: */
	struct pfs_model *notes;	/* these, if names are wanted before, or without what is there; or NULL */
	bool classify;			/* the class of each fault is wanted, also without --class */
	struct pfs_labels labels;	/* these, of a first reading, */
	struct pfs_classes *classes;	/* and their sums; NULL: there was no such reading */
	struct pfs_arounds *arounds;	/* what it has concluded of fault-around */
};

/* Keys of options of such a command. */
enum { OPT_JSON = 0x400, OPT_CSV, OPT_TABLE_FORMAT };

/* Of those that print tables or events, in one of these formats. */
#define FORMAT_OPTIONS_OF(formats)                                                 \
	{ "format", OPT_TABLE_FORMAT, "FORMAT", 0, "Output format: " formats, 1 }, \
		{ "json", OPT_JSON, NULL, 0, "The same as --format=json", 1 },     \
	{                                                                          \
		"csv", OPT_CSV, NULL, 0, "The same as --format=csv", 1             \
	}
#define FORMAT_OPTIONS FORMAT_OPTIONS_OF("`text' (the default), `json' or `csv'")

#define DEBUGINFOD_OPTION                                                                    \
	{                                                                                    \
		"debuginfod", OPTION_FLAG(struct reading_args, symbols.debuginfod), NULL, 0, \
			"Names also from the servers in DEBUGINFOD_URLS", 1                  \
	}

/* Of those that name code. */
#define SYMBOLS_OPTIONS                                                           \
	{ "symbols", OPTION_WORD(struct reading_args, symbols.archive),	  "FILE", \
	  0,	     "Names also from this archive of `pfscope archive'", 1 },    \
		DEBUGINFOD_OPTION

/* The option of those that was given; NULL: none. */
const char *reading_symbols_option(const struct reading_args *args);

/*
 * The only child of such a command's argp: the file, --salvage, --strict and the filters. Its input is the
 * command's own. reading_parse() is the command's parser, or what that calls for other keys: it handles
 * FORMAT_OPTIONS and option_store().
 */
extern const struct argp reading_argp;
extern const struct argp_child reading_children[];
extern const struct argp fault_reading_argp; /* with --class */
extern const struct argp_child fault_reading_children[];
extern const struct argp_child reading_unfiltered[]; /* the same without filters */
error_t reading_parse(int key, char *arg, struct argp_state *state);

/* The argp of such a command, mostly with reading_children. */
#define READING_ARGP(options, parse, children, doc)                   \
	{                                                             \
		options, parse, "[FILE|-]", doc, children, NULL, NULL \
	}

/* What somebody at a terminal means who names no recording: the one of this folder. 0 or -ENOENT with err set. */
int reading_find(const char **file, struct pfs_err *err);

/*
 * What has to be read before, if anything: the classes of faults, the build-ids. reading_main() calls both; a command that
 * reads several recordings calls them around each. 0 or -errno with err set.
 */
int reading_first(struct reading_args *args, struct pfs_err *err);
void reading_fini(struct reading_args *args);

/* Reads the file through the filter into the pipeline. 0 or -errno with err set; -ENODATA, err empty: nothing to show. */
int reading_read(const struct reading_args *args, struct pipeline *p, struct pfs_err *err);

/* Reads the file and draws args->view. 0 or -errno with err set. */
int reading_draw(struct reading_args *args, struct pipeline *p, struct pfs_err *err);

/*
 * Reads the file and writes it for the viewer of that number (pfs_viewer_names), with args->symbols and notes. 0 or -errno with
 * err set; -ENODATA, err empty: nothing to show.
 */
int reading_export(const struct reading_args *args, struct pipeline *p, unsigned int viewer, FILE *out,
		   struct pfs_err *err);

/* Says that events were lost, if that viewer, which the option has chosen, does not show where. */
void reading_export_losses(const struct pipeline *p, unsigned int viewer, const char *option);

/* All of a command: parses the arguments, calls body with a pipeline. Returns the exit status. */
int reading_main(struct reading_args *args, const struct argp *argp, int argc, char **argv,
		 int (*body)(struct reading_args *args, struct pipeline *p, struct pfs_err *err));

#endif
