/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a session: set up, loaded, drained, stopped, read back. See session.h.
 */
#include "session/session_priv.h"

#include "base/array.h"
#include "base/clock.h"
#include "event/header.h"
#include "module/loaded.h"
#include "os/process.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long the kernel may take to place the probes, and to take them out again. */
#define START_MS 120000
#define STOP_MS	 60000

/* staprun writes each record by itself: so many are waited for that one wake-up takes many. */
#define GATHER_NS 2000000

/* What happened so long ago has come out of the kernel: staprun looks five times a second. */
#define LIVE_MARGIN_NS UINT64_C(1000000000)

static bool given_up(const struct pfs_stap *s)
{
	return s->config.give_up && s->config.give_up(s->config.give_up_ctx);
}

/* ---- notes ---- */

static int put_note(void *ctx, int32_t tid, const struct pfs_fact *fact)
{
	return pfs_stap_note(ctx, tid, fact);
}

/* ---- opening ---- */

static int open_all(struct pfs_stap *s, struct pfs_err *err)
{
	struct utsname uts;
	char vsyscall[5];
	int ret;

	/* The one that runs; that its headers are missing matters only to who builds. */
	uname(&uts);
	pfs_kernel_find(&s->kernel, NULL, NULL);
	snprintf(s->kernel.release, sizeof(s->kernel.release), "%s", uts.release);
	pfs_vsyscall_perms(vsyscall);
	pfs_leftovers_remove(NULL); /* what a dead one left is no reason not to start */
	if (pfs_header_notes("stap", vsyscall, put_note, s))
		return pfs_err_set(err, -ENOMEM, "no memory for header notes");
	ret = stap_choose_module(s, err);
	if (!ret)
		ret = pfs_spool_init(&s->spool, err);
	if (!ret && s->config.live && stap_outlet_init(&s->live, &s->notes, s->config.live))
		ret = pfs_err_set(err, -ENOMEM, "no memory for live events");
	return ret;
}

struct pfs_stap *pfs_stap_new(const struct pfs_stap_config *config, struct pfs_err *err)
{
	struct pfs_stap *s = calloc(1, sizeof(*s));
	int ret;

	if (!s) {
		pfs_err_set(err, -ENOMEM, "no memory for a recording");
		return NULL;
	}
	s->config = *config;
	s->spool.fd = -1;
	s->loader = (struct pfs_loader){ -1, -1, -1 };
	ret = open_all(s, err);
	if (!ret)
		return s;
	pfs_stap_free(s, NULL);
	errno = -ret;
	return NULL;
}

int pfs_stap_free(struct pfs_stap *s, struct pfs_err *err)
{
	int ret = 0;

	if (!s)
		return 0;
	pfs_loader_close(&s->loader);
	/* Left behind by the loader, or this was killed. (Without HELLO it is not ours.) */
	if (s->hello && pfs_module_loaded(s->name) && pfs_module_end(s->name, NULL))
		ret = pfs_err_set(err, -EBUSY, "module %s is still loaded; `pfscope clean' tries again to remove it",
				  s->name);
	if (s->temp_dir[0]) { /* gone already, unless the loader was killed */
		unlink(s->temp_file);
		rmdir(s->temp_dir);
	}
	stap_outlet_fini(&s->live);
	pfs_spool_fini(&s->spool);
	pfs_output_free(&s->errors);
	stap_notes_free(&s->notes);
	free(s->pids);
	free(s->poll_fds);
	free(s);
	return ret;
}

/* ---- processes ---- */

static int add_pid(struct pfs_stap *s, pid_t pid, struct pfs_err *err)
{
	char *longer;

	if (kill(pid, 0) && errno == ESRCH)
		return pfs_err_set(err, -ESRCH, "process %d: no such process", pid);
	if (asprintf(&longer, "%s%s%d", s->pids ? s->pids : "", s->pids ? "," : "", pid) < 0)
		return pfs_err_set(err, -ENOMEM, "no memory for the list of processes");
	free(s->pids);
	s->pids = longer;
	return 0;
}

static int note_counted(struct pfs_stap *s, pid_t pid)
{
	uint64_t minor, major;

	if (!pfs_process_faults(pid, &minor, &major))
		return 0;
	return pfs_stap_note(s, pid, PFS_FACT(COUNTED_BEFORE, .minor = minor, .major = major));
}

int pfs_stap_launch(struct pfs_stap *s, pid_t pid, struct pfs_err *err)
{
	int ret = add_pid(s, pid, err);

	if (!ret && (pfs_stap_note(s, pid, PFS_FACT(LAUNCH, .pid = pid)) || note_counted(s, pid)))
		ret = pfs_err_set(err, -ENOMEM, "no memory for a note");
	return ret;
}

int pfs_stap_attach(struct pfs_stap *s, pid_t pid, struct pfs_err *err)
{
	int ret = add_pid(s, pid, err);

	if (!ret && pfs_stap_note(s, pid, PFS_FACT(ATTACH, .pid = pid)))
		ret = pfs_err_set(err, -ENOMEM, "no memory for a note");
	return ret;
}

/* ---- draining ---- */

/* Everything that staprun has written by now, on either side. */
static int drain(struct pfs_stap *s, struct pfs_err *err)
{
	int more = s->over ? 0 : pfs_spool_fill(&s->spool, s->loader.out_fd, err), ret;

	if (more < 0)
		return more;
	s->over = !more;
	do {
		size_t before = s->errors.len;

		ret = pfs_output_read(&s->errors, s->loader.error_fd);
		if (ret < 0)
			return pfs_err_set(err, ret, "cannot read staprun's messages: %s", strerror(-ret));
		if (s->errors.len == before)
			break;
	} while (ret);
	return 0;
}

static int feed(void *ctx, const struct pfs_rec *rec)
{
	return pfs_decoder_feed(ctx, rec);
}

/* The sink has returned ret: -ECANCELED is not an error, but the end of what it wants. */
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

/* Waits for staprun's words or the caller's descriptors. */
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

/* ---- what becomes of staprun ---- */

static bool modules_disabled(void)
{
	FILE *f = fopen("/proc/sys/kernel/modules_disabled", "re");
	int c = f ? fgetc(f) : EOF;

	if (f)
		fclose(f);
	return c == '1';
}

/* It has ended, or is about to. 0 if in order, else what was the matter. */
static int judge_end(struct pfs_stap *s, enum pfs_stage stage, struct pfs_err *err)
{
	const struct pfs_diagnosis d = { s->path, s->kernel.release, s->kernel.lockdown, modules_disabled() };
	struct pfs_loader_end end;
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
	if (end.left) /* free() tries again */
		return pfs_err_set(err, -EBUSY, "staprun did not unload the module: %.200s",
				   pfs_output_text(&s->errors));
	if (WIFSIGNALED(end.status))
		return pfs_err_set(err, -EIO, "staprun was killed by signal %d; the recording ends there",
				   WTERMSIG(end.status));
	if (WEXITSTATUS(end.status))
		return pfs_diagnose(stage, pfs_output_text(&s->errors), &d, err);
	return 0;
}

/* ---- starting ---- */

struct looking {
	struct pfs_stap *s;
	struct pfs_err *err;
};

static int look_at(void *ctx, const struct pfs_rec *rec)
{
	struct looking *l = ctx;
	struct pfs_stap *s = l->s;

	if (!s->hello) {
		if (rec->type != PFS_REC_HELLO || rec->hello.magic != PFS_WIRE_MAGIC ||
		    rec->hello.version != PFS_WIRE_VERSION || rec->hello.rec_size != sizeof(*rec))
			return pfs_err_set(l->err, -EPROTO, "%s: built by another version of pfscope: build it again",
					   s->path);
		s->hello = true;
	}
	s->ready |= rec->type == PFS_REC_READY;
	return 0;
}

static int wait_ready(struct pfs_stap *s, struct pfs_err *err)
{
	uint64_t end_ns = pfs_now_ns() + START_MS * UINT64_C(1000000);
	struct looking looking = { s, err };
	int ret;

	while (!s->ready) {
		if (given_up(s))
			return pfs_err_set(err, -EINTR, "interrupted");
		if (pfs_now_ns() > end_ns)
			return pfs_err_set(err, -ETIMEDOUT, "the probes were not in place after %d s%s%.200s",
					   START_MS / 1000, s->errors.len ? ": " : "", pfs_output_text(&s->errors));
		ret = poll_all(s, NULL, 0, 100, err);
		if (!ret)
			ret = drain(s, err);
		if (!ret)
			ret = pfs_spool_each(&s->spool, &s->looked, look_at, &looking, err);
		if (!ret && s->over && !s->ready) {
			ret = judge_end(s, PFS_STAGE_LOAD, err);
			if (!ret)
				ret = pfs_err_set(err, -EIO, "the module ended before it was ready");
		}
		if (ret)
			return ret;
	}
	return 0;
}

int pfs_stap_start(struct pfs_stap *s, struct pfs_err *err)
{
	int ret = stap_load(s, err);

	return ret ? ret : wait_ready(s, err);
}

int pfs_stap_wait(struct pfs_stap *s, struct pollfd *fds, unsigned int nr_fds, int timeout_ms, struct pfs_err *err)
{
	int ret;

	/* Live events are looked for without being woken: of the last one nothing tells. */
	if (s->live.decoder && (timeout_ms < 0 || timeout_ms > 100))
		timeout_ms = 100;
	ret = poll_all(s, fds, nr_fds, timeout_ms, err);
	if (!ret)
		ret = drain(s, err);
	if (!ret)
		ret = decode_live(s, err);
	if (ret || (!s->over && !s->poll_fds[nr_fds + 1].revents))
		return ret;
	ret = judge_end(s, PFS_STAGE_RUN, err);
	return ret ? ret : pfs_err_set(err, -EIO, "staprun was ended from outside; the recording ends there");
}

/* ---- stopping ---- */

/* What staprun warned of: notes, for what was lost is in the records, too. */
static int note_warnings(struct pfs_stap *s)
{
	const char *p = pfs_output_text(&s->errors);
	char line[256];
	int ret = 0;

	while (!ret && (p = pfs_warning_next(p, line, sizeof(line))))
		ret = pfs_stap_note(s, 0, PFS_FACT(WARNING, .text = line));
	return ret;
}

int pfs_stap_stop(struct pfs_stap *s, struct pfs_err *err)
{
	uint64_t end_ns = pfs_now_ns() + STOP_MS * UINT64_C(1000000);
	int ret = 0;

	pfs_loader_stop(&s->loader);
	while (!ret && !s->over) {
		if (given_up(s))
			return pfs_err_set(err, -EINTR, "interrupted");
		if (pfs_now_ns() > end_ns)
			return pfs_err_set(err, -ETIMEDOUT, "staprun did not end in time");
		ret = poll_all(s, NULL, 0, 100, err);
		if (!ret)
			ret = drain(s, err);
	}
	if (!ret)
		ret = judge_end(s, PFS_STAGE_RUN, err);
	if (!ret && (note_warnings(s) || pfs_stap_note(s, 0, PFS_FACT(END, .text = "mono"))))
		ret = pfs_err_set(err, -ENOMEM, "no memory for a note");
	if (!ret && s->live.decoder) {
		ret = pfs_spool_each(&s->spool, &s->live.at, feed, s->live.decoder, err);
		if (!ret)
			ret = stap_outlet_finish(&s->live);
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

int pfs_stap_replay(struct pfs_stap *s, const struct pfs_sink *sink, struct pfs_err *err)
{
	struct replay r = { .s = s };
	uint64_t at = 0;
	int ret;

	if (stap_outlet_init(&r.outlet, &s->notes, sink))
		return pfs_err_set(err, -ENOMEM, "no memory to read the recording");
	ret = pfs_spool_each(&s->spool, &at, replay_one, &r, err);
	if (!ret)
		ret = stap_outlet_finish(&r.outlet);
	stap_outlet_fini(&r.outlet);
	return ret == -EINTR ? pfs_err_set(err, ret, "interrupted") : ret;
}
