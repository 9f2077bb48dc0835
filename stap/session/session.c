/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options and the operations of --source=stap: a session is set up, loaded, drained, stopped, read back.
 */
#include "session/session_priv.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/write_all.h"
#include "event/export.h"
#include "event/notes.h"
#include "module/module.h"
#include "os/process.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The time that the kernel gets to place the probes, and to remove them. */
#define START_MS 120000
#define STOP_MS	 60000

/* staprun writes each message by itself; after a pause one wake-up takes many. */
#define GATHER_NS 2000000

/* Records that are this old have arrived: staprun reads the kernel's buffers five times a second. */
#define LIVE_MARGIN_NS UINT64_C(1000000000)

/* ---- options ---- */

enum { OPT_MODULE = 1, OPT_NO_DWARF, OPT_MICROSET, OPT_MICROSET_REGION };

const struct argp_option pfs_stap_options[] = {
	{ "module", OPT_MODULE, "FILE", 0, "Load a module that `pfscope stap build' made", 0 },
	{ "no-dwarf", OPT_NO_DWARF, NULL, 0, "Place probes without debuginfo even if it is installed", 0 },
	{ "microset", OPT_MICROSET, "N[,thread|process]", 0,
	  "Of each thread (or process) only the last N pages stay accessible: the next access to any other page is a recorded fault",
	  0 },
	{ "microset-region", OPT_MICROSET_REGION, "LIST", 0,
	  "Pages to hide: heap, anon, stack, file, file:GLOB, code, START-END (default heap,anon,stack,file)", 0 },
	{ 0 },
};

static int set_option(void *options, int key, const char *arg, struct pfs_err *err)
{
	struct stap_options *o = options;

	switch (key) {
	case OPT_MODULE:
		o->module = arg;
		return 0;
	case OPT_MICROSET:
		return stap_microset_parse(&o->microset, arg, err);
	case OPT_MICROSET_REGION:
		return stap_microset_regions_parse(&o->microset, arg, err);
	default:
		o->no_dwarf = true;
		return 0;
	}
}

/* MAXSTRINGLEN of module/build.c, less the NUL. (A quote, which no module takes, is in no name of a cache.) */
#define CACHE_MAX 511

static bool hides(const void *options)
{
	return ((const struct stap_options *)options)->microset.pages;
}

static int check(const struct pfs_source_config *config, struct pfs_err *err)
{
	const struct stap_options *o = config->options;
	struct pfs_watch_choice choice;

	if (config->objects && config->objects->watch && pfs_watch_choice_read(&choice, config->objects->watch, err))
		return -EINVAL;
	if (config->objects && config->objects->cache && strlen(config->objects->cache) > CACHE_MAX)
		return pfs_err_set(err, -EINVAL, "--cache: longer than %d bytes, which cannot be passed to a module",
				   CACHE_MAX);
	if (o->module && o->no_dwarf)
		return pfs_err_set(err, -EINVAL, "--no-dwarf: applies to building a module, --module loads one");
	if (o->microset.pages && config->objects)
		return pfs_err_set(err, -EINVAL, "--microset: records faults, not kernel objects");
	return stap_microset_check(&o->microset, config->may_hide, err);
}

static struct pfs_stap *of(struct pfs_live *live)
{
	return (struct pfs_stap *)live;
}

static bool given_up(const struct pfs_stap *s)
{
	return s->config.give_up && s->config.give_up(s->config.ctx);
}

/* ---- opening ---- */

static int note_objects(struct pfs_stap *s)
{
	const struct pfs_object_choice *o = s->config.objects;

	int ret = stap_note(&s->base, 0,
			    PFS_FACT(OBJECTS, .count = o->pages, .first = o->min, .last = o->max, .text = o->cache));

	if (!ret && o->watch)
		ret = stap_note(&s->base, 0, PFS_FACT(WATCHPOINTS, .interval_ns = o->watch_ns, .text = o->watch));
	return ret;
}

static int note_microset(struct pfs_stap *s)
{
	const struct stap_microset *m = &((const struct stap_options *)s->config.options)->microset;

	return !m->pages ? 0
			 : stap_note_recording(s, PFS_FACT(MICROSET, .count = m->pages,
							   .what = m->by_process ? "process" : "thread",
							   .text = stap_microset_regions(m)));
}

/* The error names the option. */
static int can_hide_for(const char *option, struct pfs_err *err)
{
	struct pfs_err why;
	int ret = stap_can_hide(&why);

	return ret ? pfs_err_set(err, ret, "%s: %.400s", option, why.msg) : 0;
}

static int open_all(struct pfs_stap *s, struct pfs_err *err)
{
	char vsyscall[5];
	int ret = 0;

	pfs_kernel_find(&s->kernel, NULL, NULL); /* headers are needed for building only */
	pfs_vsyscall_perms(vsyscall);
	pfs_leftovers_remove(NULL); /* failing is no reason not to start */
	if (pfs_header_notes("stap", vsyscall, stap_note, s))
		return pfs_err_set(err, -ENOMEM, "no memory for header notes");
	if ((s->config.objects && note_objects(s)) || note_microset(s))
		return pfs_err_set(err, -ENOMEM, "no memory for a note");
	if (s->config.objects)
		s->symbols = pfs_symbols_load(NULL); /* without them call sites have no names */
	if (((const struct stap_options *)s->config.options)->microset.pages)
		ret = can_hide_for("--microset", err);
	ret = ret ?: stap_choose_module(s, err) ?: pfs_spool_init(&s->spool, err);
	if (!ret && s->config.live && stap_outlet_init(&s->live, s, s->config.live))
		ret = pfs_err_set(err, -ENOMEM, "no memory for live events");
	return ret;
}

static int close_live(struct pfs_live *live, struct pfs_err *err)
{
	struct pfs_stap *s = of(live);
	int ret = 0;

	if (!s)
		return 0;
	pfs_loader_close(&s->loader);
	/* The loader could not remove it, or was killed. (Without HELLO the module is not ours.) */
	if (s->hello && pfs_module_loaded(s->name) && pfs_module_end(s->name, NULL))
		ret = pfs_err_set(err, -EBUSY, "module %s is still loaded; `pfscope clean' tries again to remove it",
				  s->name);
	if (s->temp_dir[0]) { /* removed already, unless the loader was killed */
		unlink(s->temp_file);
		rmdir(s->temp_dir);
	}
	stap_outlet_fini(&s->live);
	pfs_spool_fini(&s->spool);
	pfs_output_free(&s->errors);
	stap_notes_free(&s->notes);
	pfs_symbols_free(s->symbols);
	free(s->pids);
	free(s->poll_fds);
	free(s);
	return ret;
}

static struct pfs_live *open_live(const struct pfs_source_config *config, struct pfs_err *err)
{
	struct pfs_stap *s = calloc(1, sizeof(*s));
	int ret;

	if (!s) {
		pfs_err_set(err, -ENOMEM, "no memory for a recording");
		return NULL;
	}
	s->base.source = &pfs_stap_source;
	s->config = *config;
	s->spool.fd = -1;
	s->loader = (struct pfs_loader){ -1, -1, -1, NULL };
	ret = open_all(s, err);
	if (!ret)
		return &s->base;
	close_live(&s->base, NULL);
	errno = -ret;
	return NULL;
}

/* ---- processes ---- */

/* Of objects the module records all processes'; only what it watches is of these. */
static int add_pid(struct pfs_stap *s, pid_t pid, struct pfs_err *err)
{
	const struct pfs_object_choice *o = s->config.objects;
	char *longer;

	if (kill(pid, 0) && errno == ESRCH)
		return pfs_err_set(err, -ESRCH, "process %d: no such process", pid);
	if (o && (!o->watch || o->all))
		return 0;
	if (asprintf(&longer, "%s%s%d", s->pids ? s->pids : "", s->pids ? "," : "", pid) < 0)
		return pfs_err_set(err, -ENOMEM, "no memory for the list of processes");
	free(s->pids);
	s->pids = longer;
	return 0;
}

static int attach(struct pfs_live *live, pid_t pid, struct pfs_err *err)
{
	int ret = add_pid(of(live), pid, err);

	if (!ret && stap_note(live, pid, PFS_FACT(ATTACH, .pid = pid)))
		ret = pfs_err_set(err, -ENOMEM, "no memory for a note");
	return ret;
}

static int launch(struct pfs_live *live, pid_t pid, struct pfs_err *err)
{
	int ret = add_pid(of(live), pid, err), noted = 0;
	uint64_t minor, major;

	if (ret || (of(live)->config.objects && of(live)->config.objects->all))
		return ret;
	noted = stap_note(live, pid, PFS_FACT(LAUNCH, .pid = pid));
	if (!noted && !of(live)->config.objects && pfs_process_faults(pid, &minor, &major))
		noted = stap_note(live, pid, PFS_FACT(COUNTED_BEFORE, .minor = minor, .major = major));
	return noted ? pfs_err_set(err, noted, "no memory for a note") : 0;
}

static int want_hiding(struct pfs_live *live, struct pfs_hiding *hiding, struct pfs_err *err)
{
	const struct stap_microset *m = &((const struct stap_options *)of(live)->config.options)->microset;
	int ret = m->pages ? pfs_err_set(err, -EINVAL, "--microset hides pages already") : stap_can_hide(err);

	if (ret)
		return ret;
	of(live)->hides = true;
	snprintf(hiding->file, sizeof(hiding->file), "/sys/module/%s/parameters/pfs_hide_now", of(live)->name);
	hiding->regions = stap_microset_regions(m);
	return 0;
}

/* ---- draining ---- */

/* Reads everything that staprun has written by now, records and messages. */
static int drain(struct pfs_stap *s, struct pfs_err *err)
{
	int more = s->over ? 0 : pfs_spool_fill(&s->spool, s->loader.out_fd, err), ret = 1;

	if (more < 0)
		return more;
	s->over = !more;
	for (size_t before = SIZE_MAX; ret > 0 && s->errors.len != before;) {
		before = s->errors.len;
		ret = pfs_output_read(&s->errors, s->loader.error_fd);
	}
	return ret < 0 ? pfs_err_set(err, ret, "cannot read staprun's messages: %s", strerror(-ret)) : 0;
}

static int feed(void *ctx, const struct pfs_rec *rec)
{
	return pfs_decoder_feed(ctx, rec);
}

/* The sink has returned ret; -ECANCELED: it wants no more events. */
static int live_result(struct pfs_stap *s, int ret)
{
	if (ret != -ECANCELED)
		return ret;
	stap_outlet_fini(&s->live);
	return 0;
}

static int decode_live(struct pfs_stap *s, struct pfs_err *err)
{
	uint64_t now = pfs_now_ns();
	int ret;

	if (!s->live.decoder)
		return 0;
	ret = pfs_spool_each(&s->spool, &s->live.at, feed, s->live.decoder, err);
	if (!ret && now > LIVE_MARGIN_NS)
		ret = pfs_decoder_flush(s->live.decoder, now - LIVE_MARGIN_NS);
	return live_result(s, ret);
}

/* Waits for staprun's output or the caller's descriptors. */
static int poll_all(struct pfs_stap *s, struct pollfd *fds, unsigned int nr_fds, int timeout_ms, struct pfs_err *err)
{
	const struct timespec moment = { .tv_nsec = GATHER_NS };
	unsigned int nr = 0;

	if (!pfs_array_reserve(s->poll_fds, 0, s->max_poll, nr_fds + 2))
		return pfs_err_set(err, -ENOMEM, "no memory to wait with");
	for (; nr < nr_fds; nr++)
		s->poll_fds[nr] = fds[nr];
	s->poll_fds[nr++] = (struct pollfd){ s->over ? -1 : s->loader.out_fd, POLLIN, 0 };
	s->poll_fds[nr++] = (struct pollfd){ s->loader.control_fd, POLLIN, 0 };
	if (poll(s->poll_fds, nr, timeout_ms) < 0 && errno != EINTR)
		return pfs_err_set(err, -errno, "poll: %s", strerror(errno));
	for (unsigned int i = 0; i < nr_fds; i++)
		fds[i].revents = s->poll_fds[i].revents;
	if (s->poll_fds[nr_fds].revents & POLLIN)
		nanosleep(&moment, NULL);
	return 0;
}

/* ---- the end of staprun ---- */

/* staprun has ended, or is about to. 0, or -errno with err set to the reason. */
static int judge_end(struct pfs_stap *s, enum pfs_stage stage, struct pfs_err *err)
{
	struct pfs_diagnosis d = { .module = s->path, .release = s->kernel.release, .lockdown = s->kernel.lockdown };
	struct pfs_loader_end end;
	char disabled[4];
	int ret = drain(s, err);

	if (!ret && !pfs_loader_ended(&s->loader, STOP_MS, &end))
		ret = pfs_err_set(err, -ETIMEDOUT, "staprun did not end in time");
	if (!ret)
		ret = drain(s, err);
	if (ret)
		return ret;
	if (end.failed == -EPIPE)
		return pfs_err_set(err, -EPIPE, "the loader of the module was killed");
	if (end.failed)
		return pfs_err_set(err, end.failed, "cannot run staprun: %s", strerror(-end.failed));
	if (end.left) /* close_live() tries again */
		return pfs_err_set(err, -EBUSY, "staprun did not unload the module: %.200s",
				   pfs_output_text(&s->errors));
	if (WIFSIGNALED(end.status))
		return pfs_err_set(err, -EIO, "staprun was killed by signal %d; the recording ends there",
				   WTERMSIG(end.status));
	d.disabled = pfs_read_file("/proc/sys/kernel/modules_disabled", disabled, 4) > 0 && *disabled == '1';
	if (WEXITSTATUS(end.status))
		return pfs_diagnose(stage, pfs_output_text(&s->errors), &d, err);
	return 0;
}

/* ---- starting ---- */

static bool is_ours(const struct pfs_rec *rec)
{
	return rec->hello.magic == PFS_WIRE_MAGIC && rec->hello.version == PFS_WIRE_VERSION &&
	       rec->hello.rec_size == sizeof(*rec);
}

/* HELLO is the first record of its CPU; those of others may arrive before it. */
static int look_at(void *ctx, const struct pfs_rec *rec)
{
	struct pfs_stap *s = ctx;

	if (rec->type == PFS_REC_HELLO ? !is_ours(rec)
				       : !s->hello && (rec->type == PFS_REC_READY || rec->type >= PFS_REC_OBJECTS_NR))
		return -EPROTO;
	s->hello |= rec->type == PFS_REC_HELLO;
	s->ready |= rec->type == PFS_REC_READY;
	if (rec->type == PFS_REC_HELLO && rec->hello.marks != !!s->config.hides_for) /* an older one never marks */
		return -EPROTO;
	return 0;
}

static int wait_ready(struct pfs_stap *s, struct pfs_err *err)
{
	uint64_t end_ns = pfs_now_ns() + START_MS * UINT64_C(1000000);
	int ret;

	while (!s->ready) {
		if (given_up(s))
			return pfs_err_set(err, -EINTR, "interrupted");
		if (pfs_now_ns() > end_ns)
			return pfs_err_set(err, -ETIMEDOUT, "the probes were not in place after %d s%s%.200s",
					   START_MS / 1000, s->errors.len ? ": " : "", pfs_output_text(&s->errors));
		ret = poll_all(s, NULL, 0, 100, err) ?: drain(s, err)
			      ?: pfs_spool_each(&s->spool, &s->looked, look_at, s, err);
		if (ret == -EPROTO)
			pfs_err_set(err, ret, "%s: built by another version of pfscope: build it again", s->path);
		if (!ret && s->over && !s->ready) {
			ret = judge_end(s, PFS_STAGE_LOAD, err)
				      ?: pfs_err_set(err, -EIO, "the module ended before it was ready");
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int start(struct pfs_live *live, struct pfs_err *err)
{
	return stap_load(of(live), err) ?: wait_ready(of(live), err);
}

static int wait_live(struct pfs_live *live, struct pollfd *fds, unsigned int nr_fds, int timeout_ms,
		     struct pfs_err *err)
{
	struct pfs_stap *s = of(live);
	int ret;

	/* Live events become old enough for decoding without a wake-up. */
	if (s->live.decoder && (timeout_ms < 0 || timeout_ms > 100))
		timeout_ms = 100;
	ret = poll_all(s, fds, nr_fds, timeout_ms, err) ?: drain(s, err) ?: decode_live(s, err);
	if (ret || (!s->over && !s->poll_fds[nr_fds + 1].revents))
		return ret;
	ret = judge_end(s, PFS_STAGE_RUN, err);
	return ret ? ret : pfs_err_set(err, -EIO, "staprun was ended from outside; the recording ends there");
}

/* ---- stopping ---- */

/* staprun's warnings become notes; the losses are in the records, too. */
static int note_end(struct pfs_stap *s)
{
	const char *p = pfs_output_text(&s->errors);
	char line[256];
	int ret = 0;

	while (!ret && (p = pfs_warning_next(p, line, sizeof(line))))
		ret = stap_note(&s->base, 0, PFS_FACT(WARNING, .text = line));
	return ret ? ret : stap_note(&s->base, 0, PFS_FACT(END, .text = "mono"));
}

static int stop_records(struct pfs_live *live, struct pfs_err *err)
{
	struct pfs_stap *s = of(live);
	uint64_t end_ns = pfs_now_ns() + STOP_MS * UINT64_C(1000000);
	int ret = 0;

	pfs_loader_stop(&s->loader);
	while (!ret && !s->over) {
		if (given_up(s))
			return pfs_err_set(err, -EINTR, "interrupted");
		if (pfs_now_ns() > end_ns)
			return pfs_err_set(err, -ETIMEDOUT, "staprun did not end in time");
		ret = poll_all(s, NULL, 0, 100, err) ?: drain(s, err);
	}
	if (!ret)
		ret = judge_end(s, PFS_STAGE_RUN, err);
	if (!ret && note_end(s))
		ret = pfs_err_set(err, -ENOMEM, "no memory for a note");
	if (!ret && s->live.decoder) {
		ret = pfs_spool_each(&s->spool, &s->live.at, feed, s->live.decoder, err)
			      ?: stap_outlet_finish(&s->live);
		ret = live_result(s, ret);
	}
	return ret;
}

/* ---- reading back ---- */

struct replay {
	struct pfs_stap *s;
	struct stap_outlet outlet;
	uint64_t nr;
};

static int replay_one(void *ctx, const struct pfs_rec *rec)
{
	struct replay *r = ctx;

	if (!(++r->nr & 0xffff) && given_up(r->s))
		return -EINTR;
	return pfs_decoder_feed(r->outlet.decoder, rec);
}

static int replay(struct pfs_live *live, const struct pfs_sink *sink, struct pfs_err *err)
{
	struct pfs_stap *s = of(live);
	struct replay r = { .s = s };
	uint64_t at = 0;
	int ret;

	if (stap_outlet_init(&r.outlet, s, sink))
		return pfs_err_set(err, -ENOMEM, "no memory to read the recording");
	ret = pfs_spool_each(&s->spool, &at, replay_one, &r, err) ?: stap_outlet_finish(&r.outlet);
	stap_outlet_fini(&r.outlet);
	return ret == -EINTR ? pfs_err_set(err, ret, "interrupted") : ret;
}

static int see_lost(void *lost, const struct pfs_event *ev)
{
	*(bool *)lost |= ev->kind == PFS_LOST;
	return 0;
}

/* A probe that was not run, or a thread that was not added, marked no fault. The recording cannot know which those are. */
static int note_unmarked(struct pfs_stap *s, struct pfs_err *err)
{
	static const char text[] =
		"the module that hides pages missed events: some faults on hidden pages count as the program's own";
	bool lost = false;
	int ret = replay(&s->base, &(struct pfs_sink){ .fn = see_lost, .ctx = &lost }, err);

	if (!ret && lost && s->config.report)
		s->config.report(s->config.ctx, text);
	if (!ret && lost && stap_note_recording(s, PFS_FACT(WARNING, .text = text)))
		ret = pfs_err_set(err, -ENOMEM, "no memory for a note");
	return ret;
}

static int stop(struct pfs_live *live, struct pfs_err *err)
{
	return stop_records(live, err) ?: of(live)->config.hides_for ? note_unmarked(of(live), err) : 0;
}

static int write_lines(struct pfs_live *live, int fd, struct pfs_err *err)
{
	int copy = dup(fd), ret = 0;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	struct pfs_export *writer = out ? pfs_export_new(out, PFS_EXPORT_LINES) : NULL;
	struct pfs_sink sink;

	if (!writer) {
		ret = pfs_err_set(err, -ENOMEM, "no memory to write the recording");
	} else {
		sink = pfs_export_sink(writer);
		ret = replay(live, &sink, err);
	}
	if (!ret)
		ret = pfs_export_flush(writer);
	pfs_export_free(writer);
	if (out && fclose(out) && !ret)
		ret = -errno;
	else if (!out)
		pfs_close(copy);
	if (ret && ret != -EINTR)
		pfs_err_set(err, ret, "cannot write the recording: %s", strerror(-ret));
	return ret;
}

const struct pfs_source pfs_stap_source = {
	.name = "stap",
	.options = pfs_stap_options,
	.options_size = sizeof(struct stap_options),
	.can = PFS_CAN_USER | PFS_CAN_COMM | PFS_CAN_OBJECTS,
	.set_option = set_option,
	.check = check,
	.usable = stap_usable,
	.open = open_live,
	.close = close_live,
	.launch = launch,
	.attach = attach,
	.note = stap_note,
	.hides = hides,
	.want_hiding = want_hiding,
	.start = start,
	.wait = wait_live,
	.stop = stop,
	.replay = replay,
	.write = write_lines,
};
