/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a capture once it is set up: drained, stopped, read back. See capture.h.
 */
#include "capture/capture_priv.h"

#include "base/clock.h"
#include "base/write_all.h"
#include "record/page_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An event with an earlier time may still be on its way into the buffer of another processor. */
#define LIVE_MARGIN_NS 5000000

/* So long it may take until it is known what has joined. */
#define JOIN_MARGIN_NS 100000000

/* ---- draining ---- */

static int move_spliced(struct capture_cpu *cpu, int pipe_fd, size_t len)
{
	while (len) {
		ssize_t got = splice(pipe_fd, NULL, cpu->spool_fd, NULL, len, SPLICE_F_MOVE);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		len -= got;
		cpu->bytes += got;
	}
	return 0;
}

/* Full pages go from the ring buffer to the spool without being copied. */
static int splice_pages(struct pfs_capture *c, struct capture_cpu *cpu)
{
	int ret = 0;

	while (!ret) {
		ssize_t got = splice(cpu->raw_fd, NULL, c->pipe_fds[1], NULL, (size_t)c->page_size * 16,
				     SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return !got || errno == EAGAIN ? 0 : -errno;
		ret = move_spliced(cpu, c->pipe_fds[0], got);
	}
	return ret;
}

/* The page that is being written, as far as it is, as a page of its own. */
static int read_pages(struct pfs_capture *c, struct capture_cpu *cpu)
{
	int ret;

	while (1) {
		ssize_t got = read(cpu->raw_fd, c->page, c->page_size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return !got || errno == EAGAIN ? 0 : -errno;
		memset(c->page + got, 0, c->page_size - got);
		ret = pfs_write_all(cpu->spool_fd, c->page, c->page_size);
		if (ret)
			return ret;
		cpu->bytes += c->page_size;
	}
}

static int drain_cpu(struct pfs_capture *c, int cpu, bool all)
{
	struct capture_cpu *of = &c->cpus[cpu];
	uint64_t before = of->bytes;
	int ret = splice_pages(c, of);

	if (!ret && all)
		ret = read_pages(c, of);
	if (of->bytes - before > of->fullest)
		of->fullest = of->bytes - before;
	return ret;
}

static int append_own(void *ctx, const struct raw_event *ev)
{
	struct pfs_capture *c = ctx;

	return pfs_records_write(&c->own, c->own_pages, ev);
}

/* Everything there is. `all`: with the pages under way, as live decoding and the end need it. */
static int drain(struct pfs_capture *c, bool all, struct pfs_err *err)
{
	uint64_t margin_ns = c->joins.fd < 0 ? LIVE_MARGIN_NS : JOIN_MARGIN_NS;
	uint64_t until = c->tracing ? pfs_now_ns() - margin_ns : UINT64_MAX;
	int ret = 0;

	c->flushed_ns = until;
	if (c->config.text)
		return capture_text_drain(c, until, err);
	for (int i = 0; !ret && i < c->nr_cpus; i++)
		if (c->cpus[i].raw_fd >= 0)
			ret = drain_cpu(c, i, all);
	if (ret)
		return pfs_err_set(err, ret, "cannot spool the recording: %s", strerror(-ret));
	ret = pfs_sideband_drain(c->sideband);
	if (!ret)
		ret = pfs_sideband_flush(c->sideband, until, append_own, c);
	if (!ret && all)
		ret = pfs_ringwrite_flush(c->own_pages);
	if (ret)
		return pfs_err_set(err, ret, "cannot spool the recording: %s", strerror(-ret));
	if (c->live && all)
		ret = pfs_merge_run(c->live, until, c->config.live, c->config.live_ctx, err);
	return ret;
}

int pfs_capture_start(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = capture_open_buffers(c, err);

	if (ret)
		return ret;
	ret = pfs_capture_note(c, 0, PFS_FACT(START, .text = "mono"));
	if (!ret)
		ret = pfs_sideband_begin(c->sideband, pfs_now_ns());
	if (ret)
		return pfs_err_set(err, ret, "no memory to begin with");
	ret = capture_tracers_start(c, err);
	if (!ret)
		ret = capture_hold(c, err);
	if (ret)
		return ret;
	if (!c->config.live) /* decoding takes longer than draining, and nobody shall wait for it */
		pfs_sched_priority_raise(&c->priority);
	c->tracing = true;
	ret = capture_take_layouts(c, err);
	if (!ret)
		ret = pfs_instance_write(c->instance, "tracing_on", "1", err);
	if (!ret)
		ret = capture_enter_running(c, err);
	if (!ret)
		ret = capture_joins_start(c, err);
	/* Only now: removing an instance keeps the kernel from making one. */
	pfs_instance_clean_others(c->instance);
	return ret;
}

static int poll_list(struct pfs_capture *c, const struct pollfd *fds, unsigned int nr_fds)
{
	unsigned int want = nr_fds + 2 * sysconf(_SC_NPROCESSORS_CONF) + 2, nr = 0;

	if (want > c->max_poll) {
		struct pollfd *bigger = realloc(c->poll_fds, want * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		c->poll_fds = bigger;
		c->max_poll = want;
	}
	for (unsigned int i = 0; i < nr_fds; i++)
		c->poll_fds[nr++] = fds[i];
	nr += pfs_sideband_poll(c->sideband, c->poll_fds + nr);
	for (int i = 0; i < c->nr_cpus; i++)
		if (c->cpus[i].raw_fd >= 0)
			c->poll_fds[nr++] = (struct pollfd){ c->cpus[i].raw_fd, POLLIN, 0 };
	if (c->pipe_fd >= 0)
		c->poll_fds[nr++] = (struct pollfd){ c->pipe_fd, POLLIN, 0 };
	if (c->joins.fd >= 0)
		c->poll_fds[nr++] = (struct pollfd){ c->joins.fd, POLLIN, 0 };
	return nr;
}

int pfs_capture_wait(struct pfs_capture *c, struct pollfd *fds, unsigned int nr_fds, int timeout_ms,
		     struct pfs_err *err)
{
	/* The side-band is looked at ten times a second: its rings wake nobody once a thread ended. */
	int nr = poll_list(c, fds, nr_fds), limit = 100, ret;

	if (nr < 0)
		return pfs_err_set(err, nr, "no memory to wait with");
	if (timeout_ms >= 0 && timeout_ms < limit)
		limit = timeout_ms;
	if (poll(c->poll_fds, nr, limit) < 0 && errno != EINTR)
		return pfs_err_set(err, -errno, "poll: %s", strerror(errno));
	for (unsigned int i = 0; i < nr_fds; i++)
		fds[i].revents = c->poll_fds[i].revents;
	pfs_sideband_polled(c->sideband, c->poll_fds + nr_fds, nr - nr_fds);
	ret = capture_joins_take(c, err);
	return ret ? ret : drain(c, c->config.live, err);
}

/* Events that never reached the CPU's buffer, or were overwritten in it. */
static uint64_t not_delivered(struct pfs_capture *c, int cpu)
{
	static const char *const counters[] = { "\noverrun:", "\ncommit overrun:", "\ndropped events:" };
	char *text = capture_cpu_stats(c, cpu), *at;
	uint64_t sum = 0;

	for (size_t i = 0; text && i < sizeof(counters) / sizeof(counters[0]); i++) {
		at = strstr(text, counters[i]);
		sum += at ? strtoull(at + strlen(counters[i]), NULL, 10) : 0;
	}
	free(text);
	return sum;
}

/*
 * The kernel's own counts of what is missing. Pages tell of overwritten events, but a page that is full to its
 * end has no room for their number.
 */
static int note_losses(struct pfs_capture *c)
{
	int nr_cpus = sysconf(_SC_NPROCESSORS_CONF), ret = 0;

	for (int cpu = 0; cpu < nr_cpus && !ret; cpu++) {
		uint64_t lost = not_delivered(c, cpu);

		if (lost)
			ret = pfs_capture_note(c, 0, PFS_FACT(LOST, .count = lost, .cpu = cpu));
	}
	return ret;
}

/*
 * Readers are woken at a quarter. They cannot make room by themselves: while a buffer's size is changed the kernel
 * records nothing, and does not count what it leaves out.
 */
static int note_late(struct pfs_capture *c)
{
	uint64_t size = c->config.buffer_kb * UINT64_C(1024);
	int ret = 0;

	for (int cpu = 0; !ret && cpu < c->nr_cpus; cpu++)
		if (c->cpus[cpu].fullest > size / 2)
			ret = pfs_capture_note(c, 0,
					       PFS_FACT(BUFFER_FOUND, .percent = c->cpus[cpu].fullest * 100 / size,
							.kb = c->config.buffer_kb, .cpu = cpu));
	return ret;
}

static int note_counts(struct pfs_capture *c)
{
	struct pfs_counts_read counts;

	if (!c->launched || pfs_counters_read(&c->counters, &counts))
		return 0;
	return pfs_capture_note(
		c, c->launched,
		PFS_FACT(COUNTERS, .faults = counts.faults, .minor = counts.minor, .major = counts.major));
}

int pfs_capture_stop(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = capture_joins_end(c, err);

	if (!ret)
		ret = pfs_instance_write(c->instance, "tracing_on", "0", err);
	pfs_sched_priority_restore(&c->priority);
	c->tracing = false;
	if (!ret)
		ret = capture_tracers_stop(c, err);
	if (ret)
		return ret;
	pfs_instance_silence(c->instance);
	if (note_losses(c) || note_late(c) || note_counts(c) || pfs_capture_note(c, 0, PFS_FACT(END, .text = "mono")))
		return pfs_err_set(err, -ENOMEM, "no memory for a note");
	return drain(c, true, err);
}

/* ---- reading back ---- */

static int replay_pages(struct pfs_capture *c, raw_event_fn fn, raw_faults_fn faults, void *ctx, struct pfs_err *err)
{
	struct pfs_merge *merge;
	int ret;

	merge = pfs_merge_new(c->formats, 0);
	if (!merge)
		return pfs_err_set(err, -ENOMEM, "no memory to read the recording");
	ret = pfs_merge_add(merge, -1, pfs_page_source_growing(c->own_fd, c->page_size), NULL);
	for (int i = 0; !ret && i < c->nr_cpus; i++)
		if (c->cpus[i].spool_fd >= 0)
			ret = pfs_merge_add(
				merge, i, pfs_page_source_file(c->cpus[i].spool_fd, 0, c->cpus[i].bytes, c->page_size),
				NULL);
	if (ret)
		pfs_err_set(err, ret, "no memory to read the recording");
	pfs_merge_take_faults(merge, faults);
	if (!ret)
		ret = pfs_merge_run(merge, UINT64_MAX, fn, ctx, err);
	pfs_merge_free(merge);
	return ret;
}

struct replay {
	const struct pfs_capture_config *config;
	raw_event_fn fn;
	raw_faults_fn faults;
	void *ctx;
	unsigned int nr;
};

static int replay_event(void *ctx, const struct raw_event *ev)
{
	struct replay *r = ctx;

	if (!(++r->nr & 0x3ff) && r->config->give_up && r->config->give_up(r->config->give_up_ctx))
		return -EINTR;
	return r->fn(r->ctx, ev);
}

static int replay_faults(void *ctx, struct pfs_fault_run *runs, unsigned int nr)
{
	struct replay *r = ctx;

	if (r->config->give_up && r->config->give_up(r->config->give_up_ctx))
		return -EINTR;
	return r->faults(r->ctx, runs, nr);
}

int pfs_capture_replay(struct pfs_capture *c, raw_event_fn fn, raw_faults_fn faults, void *ctx, struct pfs_err *err)
{
	struct replay replay = { &c->config, fn, faults, ctx, 0 };
	int ret;

	if (c->config.text)
		ret = capture_text_replay(c, replay_event, &replay, err);
	else
		ret = replay_pages(c, replay_event, replay_faults, &replay, err);
	return ret == -EINTR ? pfs_err_set(err, ret, "interrupted") : ret;
}
