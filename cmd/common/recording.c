/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options and the life cycle of a recording, for `run` and `attach`.
 */
#include "common/recording.h"

#include "base/units.h"
#include "common/command.h"
#include "os/frames.h"
#include "os/huge_pages.h"
#include "os/memory_nodes.h"
#include "os/process.h"
#include "refault/zram.h"
#include "symbol/build_ids.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HIDER_MS 1000 /* what hides pages for the source has next to nothing to say */

enum { OPT_EVENTS = 0x200, OPT_STACK };

enum { PERF_MAP_SECONDS = 120 }; /* before a recording: attach finds a process that has written its perf map */

static const struct argp_option options[] = {
	{ "output-file", 'o', "FILE", 0,
	  "Keep the recording in FILE (`-o -- ...': in pfscope.dat); with stap or perf as event lines", 0 },
	{ "stack", OPT_STACK, "HOW", OPTION_ARG_OPTIONAL, "Record the stack of each fault (fp, dwarf)", 0 },
	{ "report-file", OPTION_WORD(struct recording_args, view.output), "FILE", 0, "Draw the bars into FILE", 1 },
	{ "output", OPTION_WORD(struct recording_args, view.output), "FILE", OPTION_HIDDEN, NULL, 1 },
	{ "buffer-size", 'b', "SIZE", 0, "Ring buffer per CPU (default 8M; a number: KB)", 1 },
	{ "events", OPT_EVENTS, "FORM", OPTION_ARG_OPTIONAL,
	  "Print events on standard output as they arrive: `lines' (the default), `json' or `csv'", 1 },
	{ "no-bars", OPTION_FLAG(struct recording_args, no_bars), NULL, 0, "Do not draw bars at the end", 1 },
	{ "strict", OPTION_FLAG(struct recording_args, strict), NULL, 0, "Exit with status 3 if events were lost", 1 },
	{ 0 },
};

static const char *const forms[] = { "lines", "json", "csv" }; /* enum pfs_export_form, from PFS_EXPORT_LINES on */

/* --stack, and its words. */
#define STACK "--stack="
static const struct stack_how {
	const char *option;
	enum pfs_stack_how how;
	enum pfs_source_can needs; /* of the source */
	enum pfs_source_can wants; /* ... of one that pfscope chooses */
	const char *why_not;	   /* or NULL */
} stack_hows[] = {
	{ STACK "fp", PFS_STACK_FP, PFS_CAN_FP, PFS_CAN_FP, NULL },
	{ STACK "dwarf", PFS_STACK_DWARF, PFS_CAN_DWARF, PFS_IS_FOR_DWARF, NULL },
	{ STACK "lbr", PFS_STACK_NONE, 0, 0,
	  "the CPU's branch records come with samples of its own counters only, not with page faults" },
};

static const struct stack_how *stack_how_of(const char *word)
{
	for (size_t i = 0; i < sizeof(stack_hows) / sizeof(stack_hows[0]); i++)
		if (!strcmp(stack_hows[i].option + strlen(STACK), word))
			return &stack_hows[i];
	return NULL;
}

static void set_stack(struct recording_args *args, const char *word, struct argp_state *state)
{
	args->stack = stack_how_of(word ? word : "fp");
	args->stack_chosen = !word;
	if (!args->stack)
		argp_error(state, "--stack: %s: must be fp or dwarf", word);
	if (args->stack->why_not)
		argp_error(state, "%s: %s", args->stack->option, args->stack->why_not);
	args->config.stack = args->stack->how;
}

/* There is something to be done that only the first source does. */
static bool needs_root(const struct recording_args *args)
{
	return args->config.count || args->config.all_of_user || args->refault.interval_ns;
}

/* To one that records such stacks, if the present one does not, and nothing else is against it. False: no change. */
static bool change_source(struct recording_args *args, const struct stack_how *how)
{
	struct pfs_err err;

	return !needs_root(args) && !args->by_trait && source_args_change(&args->sources, how->wants, how->option) &&
	       !source_args_check(&args->sources, NULL, &args->config.options, &err);
}

/* What the other source is asked for. */
static struct pfs_source_config hider_config(const struct recording_args *args, const struct pfs_source_config *sources)
{
	struct pfs_source_config config = *sources;

	config.options = args->hider->options;
	config.may_hide = refault_may_hide(&args->refault);
	config.live = NULL;
	config.buffer_kb = 0;
	config.to_file = config.count = false;
	config.stack = PFS_STACK_NONE;
	return config;
}

/* Is the other source, which can hide pages for the one that records (or NULL), to do so? */
static int check_hider(struct recording_args *args, const struct source_options *hider, struct pfs_err *err)
{
	bool given = hider && hider->given && !pfs_filter_has_regions(&args->view.filter);
	struct pfs_source_config config;

	if (!hider)
		return 0;
	if (!hider->source->hides(hider->options) && !refault_hides(&args->refault, given))
		return !hider->given
			       ? 0
			       : pfs_err_set(
					 err, -EINVAL,
					 "--%s: only with --source=%s, or where pages are hidden (--microset, --refault-by=hide)",
					 hider->given, hider->source->name);
	args->hider = hider;
	config = hider_config(args, &args->config);
	return hider->source->check(&config, err);
}

/* Completes args->config, and refuses what the source cannot do. */
static int check(struct recording_args *args, struct pfs_err *err)
{
	const struct pfs_filter *filter = &args->view.filter;
	struct pfs_source_config *config = &args->config;
	const struct pfs_source *source = source_args_choose(&args->sources, needs_root(args));
	const struct source_options *hider;
	int ret;

	if (args->stack && change_source(args, args->stack))
		source = args->sources.source;
	hider = source_args_hider(&args->sources);
	ret = source_args_check(&args->sources, hider ? hider->source : NULL, &config->options, err);
	if (ret)
		return ret;
	if (config->count && !(source->can & PFS_CAN_COUNT))
		return pfs_err_set(err, -EINVAL, "--count: only with --source=%s", source_that(PFS_CAN_COUNT));
	if (config->all_of_user && !(source->can & PFS_CAN_USER))
		return pfs_err_set(err, -EINVAL, "--user: only with --source=%s", source_that(PFS_CAN_USER));
	if (args->stack && !(source->can & args->stack->needs))
		return pfs_err_set(err, -EINVAL, "%s: only with --source=%s", args->stack->option,
				   source_that(args->stack->needs));
	/* The source knows such processes only by what they do, after it has started. */
	if (args->refault.interval_ns && args->by_trait && !source->tids_file)
		return pfs_err_set(err, -EINVAL, "--refault: no process given (--source=%s needs PIDs for it)",
				   source->name);
	/* Processes that are given by PID are recorded whole; --comm then filters the views only. */
	if (args->by_trait && source->can & PFS_CAN_COMM) {
		if (filter->nr_comms > 1)
			return pfs_err_set(err, -EINVAL, "--comm: only one name without a PID");
		config->comm = filter->nr_comms ? filter->comms[0] : NULL;
	}
	config->may_hide = refault_may_hide(&args->refault);
	config->to_file = args->file;
	return source->check(config, err) ?: check_hider(args, hider, err);
}

/* False, and nothing is changed: the source cannot do it, and why tells the reason. */
static bool take_dwarf(struct recording_args *args, struct pfs_err *why)
{
	struct recording_args before = *args;

	args->stack = stack_how_of("dwarf");
	args->config.stack = args->stack->how;
	if ((change_source(args, args->stack) || args->sources.source->can & args->stack->needs) &&
	    !args->sources.source->check(&args->config, why))
		return true;
	*args = before;
	return false;
}

/* --stack without HOW, which is `fp' so far. */
void recording_choose_stack(struct recording_args *args, const char *program)
{
	struct pfs_err why = { "" };
	unsigned int with, of;
	bool few;

	if (!args->stack_chosen)
		return;
	if (pfs_program_is_go(program)) {
		message("%s: %s is of Go, whose functions have frame pointers", args->stack->option, program);
		return;
	}
	with = pfs_program_frames(program, &of);
	few = !of || pfs_frames_are_few(with, of); /* of a script that is not known */
	few = few && !take_dwarf(args, &why);
	if (!of)
		message("%s: whether %s has frame pointers is not known", args->stack->option, program);
	else
		message("%s: %u of %u functions of %s have frame pointers%s%s", args->stack->option, with, of, program,
			few ? ": its stacks end early; " : "", few ? why.msg : "");
}

/* `-o -- COMMAND' has no name. */
const char *file_of_option(const char *arg)
{
	return strcmp(arg, "--") ? arg : PFS_RECORDING_NAME;
}

unsigned int buffer_of_option(const char *arg, struct argp_state *state)
{
	uint64_t kb = 0;
	bool bytes, valid = pfs_size_parse(arg, &kb, &bytes);

	kb = bytes ? kb >> 10 : kb;
	if (!valid || kb < 8 || kb > 1 << 24)
		argp_error(state, "--buffer-size: %s: must be between 8K and 16G (a number alone is KB)", arg);
	return kb;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct recording_args *args = state->input;
	struct pfs_err err;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->view;
		state->child_inputs[1] = &args->view.filter;
		state->child_inputs[2] = &args->sources;
		state->child_inputs[3] = &args->refault;
		return 0;
	case 'o':
		args->file = args->view.file = file_of_option(arg);
		return 0;
	case 'b':
		args->config.buffer_kb = buffer_of_option(arg, state);
		return 0;
	case OPT_STACK:
		set_stack(args, arg, state);
		return 0;
	case OPT_EVENTS:
		args->events = PFS_EXPORT_LINES;
		if (arg)
			args->events += option_word(state, "events", arg, forms, 3, "lines, json or csv");
		return 0;
	case ARGP_KEY_END:
		if (check(args, &err))
			argp_error(state, "%s", err.msg);
		return 0;
	default:
		return option_store(args, key, arg);
	}
}

static const struct argp_child children[] = {
	{ &view_argp, 0, "Drawing:", 2 },
	{ &filter_argp, 0, FILTERS_HEADER, 3 },
	{ &sources_argp, 0, "Sources:", 4 },
	{ &refault_argp, 0, "Re-reference sampling:", 5 },
	{ 0 },
};

static const struct argp recording_argp = { options, parse, NULL, NULL, children, NULL, NULL };

const struct argp_child recording_children[] = { { &recording_argp, 0, NULL, 0 }, { 0 } };

void recording_args_fini(struct recording_args *args)
{
	source_args_fini(&args->sources);
	pfs_filter_fini(&args->view.filter);
}

/* Checked before the recording, so that it is not lost at its end. */
static int check_output(const char *output, struct pfs_err *err)
{
	char *copy = strdup(output);
	int ret = 0;

	if (!copy)
		return pfs_err_set(err, -ENOMEM, "no memory for a file name");
	if (euidaccess(output, W_OK) && (errno != ENOENT || euidaccess(dirname(copy), W_OK | X_OK)))
		ret = pfs_err_set(err, -errno, "%s: cannot write: %s", output, strerror(errno));
	free(copy);
	return ret;
}

static int cannot_become(const struct invoking_user *user, int ret, struct pfs_err *err)
{
	return pfs_err_set(err, ret, "cannot become %s: %s", user->name, strerror(-ret));
}

/* As the invoking user, who will own them. */
static int open_files(struct recording *r, struct pfs_err *err)
{
	const char *output = r->args->no_bars ? NULL : r->args->view.output;
	int ret = invoking_user_enter(&r->user);

	if (ret)
		return cannot_become(&r->user, ret, err);
	if (output)
		ret = check_output(output, err);
	if (!ret && r->args->file)
		ret = pfs_atomic_file_open(&r->file, r->args->file, PFS_ATOMIC_FILE_PRIVATE, err);
	invoking_user_leave(&r->user);
	return ret;
}

/* The recording continues when the reader of its events has ended. */
static int print_event(void *ctx, const struct pfs_event *ev)
{
	struct recording *r = ctx;
	struct pfs_sink sink = pipeline_sink(&r->printer);
	int ret = r->print_over ? -ECANCELED : pfs_emit(&sink, ev);

	if (!ret)
		return 0;
	r->print_over = true;
	if (ret != -ECANCELED) /* past --to or --at */
		r->print_err = ret;
	return -ECANCELED;
}

static bool is_stop_requested(void *recording)
{
	const struct recording *r = recording;

	return r->stop_fd >= 0 && (r->finishing ? stop_at_once(r->stop_fd) : stop_request(r->stop_fd));
}

static void remove_swap_devices(void)
{
	pfs_zram_clean(NULL);
}

int see_doctor(int ret, struct pfs_err *err)
{
	struct pfs_err why = *err;

	if (ret == -EACCES || ret == -EPERM || ret == -ENOTSUP || ret == -ENOSYS || ret == -EKEYREJECTED)
		pfs_err_set(err, ret, "%.450s (see `pfscope doctor`)", why.msg);
	return ret;
}

/* After the source: its buffers are where faults on hidden pages are marked. */
static int open_hider(struct recording *r, const struct pfs_source_config *sources, struct pfs_err *err)
{
	const struct pfs_source *source = r->args->hider->source;
	struct pfs_source_config config = hider_config(r->args, sources);
	struct pfs_err why;
	int ret = r->live->source->marks(r->live, r->marks, sizeof(r->marks), err);

	if (ret)
		return ret;
	config.hides_for = r->live;
	config.marks = r->marks;
	r->hider = source->open(&config, &why);
	ret = r->hider ? 0 : -errno;
	if (!ret)
		return 0;
	pfs_err_set(err, ret, ret == -EINTR ? "%.440s" : "pages cannot be hidden: %.440s", why.msg);
	return see_doctor(ret == -ENOENT ? -ENOSYS : ret, err);
}

/* Notes, where it is so, that reads of anonymous memory get no zero page. */
static int note_zero_page(struct pfs_live *live, struct pfs_err *err)
{
	if (pfs_has_zero_page() || !live->source->note(live, 0, PFS_FACT(ZERO_PAGE, .text = "no")))
		return 0;
	return pfs_err_set(err, -ENOMEM, "no memory for a note");
}

int recording_open(struct recording *r, const struct recording_args *args, int stop_fd, struct pfs_err *err)
{
	struct pfs_source_config config = args->config;
	int ret;

	*r = (struct recording){
		.args = args, .file = PFS_ATOMIC_FILE_NONE, .stop_fd = stop_fd, .owner.fd = -1, .control_fd = -1
	};
	pfs_owner_open(&r->owner);
	config.give_up = is_stop_requested;
	config.report = report_message;
	config.ctx = r;
	config.leftovers = remove_swap_devices;
	config.owner = r->owner.id;
	ret = invoking_user_find(&r->user, args->user, err);
	if (!ret)
		ret = open_files(r, err);
	if (!ret && args->events != PFS_EXPORT_NONE) {
		ret = pipeline_init(&r->printer, &args->view.filter, args->events, stdout, err);
		r->prints = !ret;
		r->print = (struct pfs_sink){ .fn = print_event, .ctx = r };
		config.live = &r->print;
	}
	if (ret)
		return ret;
	r->live = args->sources.source->open(&config, err);
	if (!r->live)
		return see_doctor(errno == ENOENT ? -ENOSYS : -errno, err);
	source_args_report(&args->sources);
	ret = args->config.objects ? 0 : note_zero_page(r->live, err);
	if (!ret && args->hider)
		ret = open_hider(r, &config, err);
	return ret
		       ?: refault_session_open(&r->refault, &args->refault, &args->view.filter, r->live,
					       args->hider ? r->hider : r->live, r->owner.id, err);
}

static int add_to(struct pfs_live *live, pid_t pid, bool waits, struct pfs_err *err)
{
	return see_doctor((waits ? live->source->launch : live->source->attach)(live, pid, err), err);
}

int recording_add(struct recording *r, pid_t pid, bool waits, struct pfs_err *err)
{
	int ret = refault_session_add(&r->refault, pid, err) ?: add_to(r->live, pid, waits, err);

	return ret || !r->hider ? ret : add_to(r->hider, pid, waits, err);
}

int recording_start(struct recording *r, struct pfs_err *err)
{
	int ret;

	r->vm_known = !pfs_vm_events(&r->vm_before);
	clock_gettime(CLOCK_REALTIME, &r->since);
	r->since.tv_sec -= PERF_MAP_SECONDS;
	ret = r->live->source->start(r->live, err);
	if (!ret && r->hider) /* what is hidden is recorded already */
		ret = r->hider->source->start(r->hider, err);
	if (ret)
		return ret;
	ret = invoking_user_drop(&r->user);
	if (ret)
		return cannot_become(&r->user, ret, err);
	refault_session_begin(&r->refault);
	if (r->args->config.objects && r->live->source->control)
		r->control_fd = control_open();
	return r->live->source->look ? r->live->source->look(r->live, err) : 0;
}

static int draw_model(struct recording *r, const struct pfs_model *model, struct pfs_err *err)
{
	warn_no_region(model, &r->args->view.filter);
	r->lost = strict_status(r->args->strict, model, EXIT_OK) != EXIT_OK;
	if (r->args->no_bars)
		return 0;
	return view_args_draw(&r->args->view, model, stderr, err);
}

static int draw(struct recording *r, struct pfs_err *err)
{
	struct pipeline p;
	struct pfs_sink sink;
	int ret;

	if (r->args->draw)
		return r->args->draw(r->args, r->live, err);
	if (r->prints) /* its model has all events already */
		return draw_model(r, r->printer.model, err);
	ret = pipeline_init(&p, &r->args->view.filter, PFS_EXPORT_NONE, NULL, err);
	if (ret)
		return ret;
	sink = pipeline_sink(&p);
	ret = r->live->source->replay(r->live, &sink, err);
	if (ret == -ECANCELED) /* past --to or --at */
		ret = 0;
	if (ret && !*err->msg) /* the model could not take them */
		pfs_err_set(err, ret, "the bars cannot be drawn: %s", strerror(-ret));
	if (!ret)
		ret = draw_model(r, p.model, err);
	pipeline_fini(&p);
	return ret;
}

/* What the kernel did to pages meanwhile. */
static int note_vm_events(struct recording *r, struct pfs_err *err)
{
	const struct pfs_vm_events *before = &r->vm_before;
	struct pfs_vm_events now;

	if (!r->vm_known || pfs_vm_events(&now))
		return 0;
	if (!r->live->source->note(r->live, 0,
				   PFS_FACT(VM_EVENTS, .scanned = now.scanned - before->scanned,
					    .swapped = now.swapped - before->swapped,
					    .collapsed = now.collapsed - before->collapsed)))
		return 0;
	return pfs_err_set(err, -ENOMEM, "no memory for a note");
}

static int note_zone(void *ctx, unsigned int node, uint64_t start, uint64_t end)
{
	struct recording *r = ctx;

	return r->live->source->note(r->live, 0, PFS_FACT(MEMORY, .count = node, .start = start, .end = end));
}

/* Which page frame is on which node. */
static int note_memory(struct recording *r, struct pfs_err *err)
{
	return pfs_memory_nodes(note_zone, r) == -ENOMEM ? pfs_err_set(err, -ENOMEM, "no memory for a note") : 0;
}

/* Of the files with code, so that they are recognized on another machine, or after an upgrade. */
static int note_build_ids(struct recording *r, struct pfs_err *err)
{
	struct pfs_build_ids *ids = pfs_build_ids_new();
	struct pfs_sink sink = pfs_build_ids_sink(ids);
	int ret = ids ? r->live->source->replay(r->live, &sink, err) : -ENOMEM;

	if (!ret)
		ret = pfs_build_ids_notes(ids, r->since, r->live->source->note, r->live);
	if (!ret)
		ret = r->live->source->stopped_notes(r->live, err);
	pfs_build_ids_free(ids);
	if (ret && !*err->msg)
		pfs_err_set(err, ret, "build-ids: %s", strerror(-ret));
	return ret;
}

int recording_finish(struct recording *r, struct pfs_err *err)
{
	int ret;

	r->finishing = true;
	control_close(&r->control_fd);
	ret = refault_session_stop(&r->refault, err);
	if (!ret)
		ret = note_vm_events(r, err) ?: note_memory(r, err);
	if (!ret)
		ret = r->live->source->stop(r->live, err);
	if (!ret && r->hider) /* until then, what it has hidden is marked */
		ret = r->hider->source->stop(r->hider, err) ?: r->live->source->stopped_notes(r->live, err);
	if (!ret && r->prints && !r->print_err)
		r->print_err = pipeline_flush(&r->printer);
	if (!ret && r->args->file && !r->args->config.objects && r->live->source->stopped_notes)
		ret = note_build_ids(r, err);
	if (!ret && r->args->file)
		ret = r->live->source->write(r->live, r->file.fd, err);
	if (!ret && r->args->file)
		ret = pfs_atomic_file_keep(&r->file, err);
	if (!ret && (!r->args->no_bars || r->args->strict))
		ret = draw(r, err);
	if (!ret && !r->args->no_bars)
		refault_session_print(&r->refault);
	if (!ret && r->print_err && r->print_err != -EPIPE) /* `| head' has seen enough */
		ret = pfs_err_set(err, r->print_err, "standard output: %s", strerror(-r->print_err));
	return ret;
}

int recording_wait(struct recording *r, struct pollfd *fds, unsigned int nr_fds, int timeout_ms, struct pfs_err *err)
{
	struct pollfd *all = realloc(r->fds, (nr_fds + 2) * sizeof(*all));
	int ret;

	if (!all)
		return pfs_err_set(err, -ENOMEM, "no memory to wait with");
	r->fds = all;
	memcpy(all, fds, nr_fds * sizeof(*fds));
	all[nr_fds] = (struct pollfd){ refault_session_fd(&r->refault), POLLIN, 0 };
	all[nr_fds + 1] = (struct pollfd){ r->control_fd, POLLIN, 0 };
	if (r->hider && (timeout_ms < 0 || timeout_ms > HIDER_MS))
		timeout_ms = HIDER_MS;
	ret = r->live->source->wait(r->live, all, nr_fds + 2, timeout_ms, err);
	if (!ret && r->hider)
		ret = r->hider->source->wait(r->hider, NULL, 0, 0, err);
	memcpy(fds, all, nr_fds * sizeof(*fds));

	if (!ret && all[nr_fds + 1].revents)
		ret = control_serve(r->control_fd, r->live, err);
	if (!ret)
		ret = refault_session_note(&r->refault, err);
	if (!ret && r->prints && !r->print_over) {
		r->print_err = pipeline_flush(&r->printer);
		r->print_over = r->print_err;
	}
	return ret;
}

static int close_live(struct recording *r, struct pfs_err *err)
{
	int ret = refault_session_close(&r->refault, err), closed = 0;

	if (r->hider)
		closed = r->hider->source->close(r->hider, ret ? NULL : err);
	ret = ret ? ret : closed;
	r->hider = NULL;
	if (r->live)
		closed = r->live->source->close(r->live, ret ? NULL : err);
	r->live = NULL;
	return ret ? ret : closed;
}

void recording_failed(struct recording *r, const struct pfs_err *err)
{
	fail(err);
	close_live(r, NULL);
}

int recording_close(struct recording *r, struct pfs_err *err)
{
	int ret = close_live(r, err);

	pfs_owner_close(&r->owner);
	control_close(&r->control_fd);
	free(r->fds);
	if (r->prints)
		pipeline_fini(&r->printer);
	if (r->file.path && !invoking_user_enter(&r->user)) { /* it may have failed before the drop */
		pfs_atomic_file_drop(&r->file);
		invoking_user_leave(&r->user);
	}
	return ret;
}
