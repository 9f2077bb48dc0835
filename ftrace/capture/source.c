/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of --source=ftrace, and its operations.
 */
#include "capture/capture_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { OPT_PROBES = 1, OPT_LATENCY, OPT_CLASSIFY, OPT_HISTOGRAM, OPT_COMPRESS, OPT_COMPAT, OPT_VIA };

const struct argp_option pfs_ftrace_options[] = {
	{ "compress", OPT_COMPRESS, NULL, 0, "Write FILE compressed (trace.dat version 7, zstd)", 0 },
	{ "via", OPT_VIA, "HOW", 0, "Read the ring buffer as pages (`binary', the default) or as `text' of trace_pipe",
	  0 },
	{ "event", 'e', "SYSTEM:EVENT", 0, "Also record this trace event, or all of SYSTEM (repeatable)", 0 },
	{ "probes", OPT_PROBES, NULL, 0,
	  "Record each fault's flags, region and class (minor or major), and faults of the kernel itself (probes on the fault handler)",
	  0 },
	{ "latency", OPT_LATENCY, NULL, 0, "Record the time that each fault took in the kernel (probes)", 0 },
	{ "classify", OPT_CLASSIFY, NULL, 0,
	  "Record the kind of each fault (anon, file, cow, swap, huge, numa), from the functions that it called (function tracer)",
	  0 },
	{ "compat", OPT_COMPAT, NULL, 0,
	  "Record the system calls of 32-bit programs, too, if the target starts any (x86-64; slows down system calls)",
	  0 },
	{ "histogram", OPT_HISTOGRAM, NULL, 0, "Count faults per page inside the kernel instead of recording each", 0 },
	{ 0 },
};

static int set_option(void *options, int key, const char *arg, struct pfs_err *err)
{
	struct ftrace_options *o = options;
	bool *const flags[] = {
		[OPT_PROBES] = &o->probes,	 [OPT_LATENCY] = &o->latency,	[OPT_CLASSIFY] = &o->classify,
		[OPT_HISTOGRAM] = &o->histogram, [OPT_COMPRESS] = &o->compress, [OPT_COMPAT] = &o->calls_32bit,
	};

	switch (key) {
	case OPT_VIA:
		o->text = !strcmp(arg, "text");
		if (!o->text && strcmp(arg, "binary"))
			return pfs_err_set(err, -EINVAL, "must be binary or text");
		return 0;
	case 'e':
		if (o->nr_events == MAX_EVENTS)
			return pfs_err_set(err, -EINVAL, "must be one of at most %d", MAX_EVENTS);
		o->events[o->nr_events++] = arg;
		return 0;
	default:
		*flags[key] = true;
		return 0;
	}
}

static int check(const struct pfs_source_config *config, struct pfs_err *err)
{
	const struct ftrace_options *o = config->options;

	if (o->compress && !config->to_file)
		return pfs_err_set(err, -EINVAL, "--compress: no file given (-o FILE)");
	if (o->compress && o->text)
		return pfs_err_set(err, -EINVAL, "--compress: --via=text writes text, which is never compressed");
	if (config->stack && (o->histogram || o->text))
		return pfs_err_set(err, -EINVAL, "--stack: cannot be combined with --%s",
				   o->histogram ? "histogram" : "via=text");
	if (config->stack == PFS_STACK_DWARF && config->all_of_user)
		return pfs_err_set(err, -EINVAL, "--stack=dwarf: cannot be combined with --user");
	if (o->histogram && (o->probes || o->latency || o->classify))
		return pfs_err_set(err, -EINVAL,
				   "--histogram: cannot be combined with --probes, --latency or --classify (it only "
				   "counts faults)");
	return config->stack == PFS_STACK_DWARF ? pfs_dumps_check(err) : 0;
}

static struct pfs_live *open_live(const struct pfs_source_config *config, struct pfs_err *err)
{
	struct pfs_live *live = capture_open(config, err);

	if (live)
		live->source = &pfs_ftrace_source;
	return live;
}

static void tids_file(struct pfs_live *live, char *path, size_t size)
{
	snprintf(path, size, "%s/set_event_pid", pfs_instance_dir(capture_of(live)->instance));
}

static int marks(struct pfs_live *live, char *where, size_t size, struct pfs_err *err)
{
	const char *dir = pfs_instance_dir(capture_of(live)->instance);

	if (capture_of(live)->options->histogram)
		return pfs_err_set(err, -EINVAL, "--histogram: only counts faults, also those on hidden pages");
	snprintf(where, size, "%s", strrchr(dir, '/') + 1);
	capture_of(live)->marked = true;
	return 0;
}

static void want_accesses(struct pfs_live *live)
{
	capture_of(live)->wants_accesses = true;
}

const struct pfs_source pfs_ftrace_source = {
	.name = "ftrace",
	.options = pfs_ftrace_options,
	.options_size = sizeof(struct ftrace_options),
	.can = PFS_CAN_COUNT | PFS_CAN_USER | PFS_CAN_OBJECTS | PFS_CAN_FP | PFS_CAN_DWARF,
	.set_option = set_option,
	.check = check,
	.usable = capture_usable,
	.open = open_live,
	.close = capture_close,
	.launch = capture_launch,
	.attach = capture_attach,
	.note = capture_note,
	.tids_file = tids_file,
	.want_accesses = want_accesses,
	.marks = marks,
	.start = capture_start,
	.look = capture_look,
	.wait = capture_wait,
	.control = capture_control,
	.stop = capture_stop,
	.stopped_notes = capture_stopped_notes,
	.replay = capture_replay,
	.write = capture_write,
};
