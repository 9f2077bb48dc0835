/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope archive: packs the files that the names of a recording come from.
 */
#include "base/atomic_file.h"
#include "base/units.h"
#include "common/command.h"
#include "common/reading.h"
#include "symbol/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPORTED = 5 };

struct archive_args {
	struct reading_args reading; /* the first member */
	const char *output;	     /* NULL: the recording's name with .symbols */
	struct pfs_build_ids *ids;
	struct pfs_pack pack;
	const struct pfs_model *model;
	unsigned int nr_left_out;
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Write to FILE (default: the name of the recording with .symbols)", 1 },
	DEBUGINFOD_OPTION,
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct archive_args *args = state->input;

	if (key == 'o') {
		args->output = arg;
		return 0;
	}
	return reading_parse(key, arg, state);
}

static const struct argp argp = READING_ARGP(
	options, parse, reading_unfiltered,
	"Pack the programs and libraries of a recording, their debug files as far as they are installed, and the names of code that JIT compilers made, into one file. With it `report', `render' and `export' print names of functions and source lines on another machine, or after an upgrade.\v"
	"Examples:\n"
	"  pfscope archive py.dat                        writes py.dat.symbols\n"
	"  pfscope report --symbols py.dat.symbols --by function,line py.dat\n"
	"  pfscope archive -o py.symbols py.dat");

static int take(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct archive_args *args = ctx;
	struct pfs_sink sink = pfs_build_ids_sink(args->ids);

	return sink.fn(sink.ctx, ev);
}

static int take_faults(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *outcome)
{
	return 0;
}

static void report(void *ctx, const char *line)
{
	struct archive_args *args = ctx;

	if (args->nr_left_out++ < MAX_REPORTED)
		message("not packed: %s", line);
}

static int write_archive(void *ctx, FILE *out, struct pfs_err *err)
{
	struct archive_args *args = ctx;

	return pfs_pack_write(&args->pack, args->ids, args->model, out, err);
}

static void print_result(const struct archive_args *args, const char *output)
{
	const struct pfs_pack *pack = &args->pack;
	char size[8], files[32], jit[48] = "";

	if (pack->nr_jit)
		snprintf(jit, sizeof(jit), ", %u of JIT compilers", pack->nr_jit);
	printf("%s: %s, %u of them with a debug file%s, %s\n", output,
	       pfs_plural(files, sizeof(files), pack->nr_files, "file"), pack->nr_debug, jit,
	       pfs_size_text(size, pack->bytes));
	if (args->nr_left_out > MAX_REPORTED)
		message("not packed: %u more", args->nr_left_out - MAX_REPORTED);
	if (pack->nr_without_id)
		message("%u mapped file%s no recorded build-id, and cannot be packed", pack->nr_without_id,
			pack->nr_without_id == 1 ? " has" : "s have");
}

static int read_and_write(struct reading_args *reading, struct pipeline *p, struct pfs_err *err)
{
	struct archive_args *args = (struct archive_args *)reading;
	bool piped = !reading->file || !strcmp(reading->file, "-");
	char *output = NULL;
	int ret;

	if (!args->output && piped)
		return pfs_err_set(err, -EINVAL, "the recording has no name: give the archive's with -o");
	if (args->output ? !(output = strdup(args->output)) : asprintf(&output, "%s.symbols", reading->file) < 0)
		return pfs_err_set(err, -ENOMEM, "no memory for a name");
	args->model = p->model;
	args->ids = pfs_build_ids_new();
	pipeline_observe(p, (struct pfs_observer){ take, take_faults, args });
	ret = args->ids ? reading_read(reading, p, err) : pfs_err_set(err, -ENOMEM, "no memory for the files");
	if (!ret)
		ret = pfs_atomic_file_write(output, write_archive, args, err);
	if (!ret)
		print_result(args, output);
	pfs_build_ids_free(args->ids);
	free(output);
	return ret;
}

int cmd_archive(int argc, char **argv)
{
	struct archive_args args = { .pack.report = report };

	args.pack.ctx = &args;
	args.pack.files = &args.reading.symbols;
	return reading_main(&args.reading, &argp, argc, argv, read_and_write);
}
