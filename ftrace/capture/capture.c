/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture from its start on: drained, stopped, read back.
 */
#include "capture/capture_priv.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/write_all.h"
#include "record/handlers.h"
#include "record/page_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The same for a process that joins. */
#define JOIN_MARGIN_NS 100000000

/* At the end the recording waits no longer for the probes of the page cache. */
#define CACHE_PATIENCE_MS 2000

#define MARKS_US 10000 /* some hundred times what lies between a fault's exception and its mark */

/* ---- draining ---- */

static int move_spliced(struct capture_cpu *cpu, int pipe_fd, size_t len)
{
	while (len) {
		ssize_t got = TEMP_FAILURE_RETRY(splice(pipe_fd, NULL, cpu->spool_fd, NULL, len, SPLICE_F_MOVE));

		if (got <= 0)
			return got ? -errno : -EIO;
		len -= got;
		cpu->bytes += got;
	}
	return 0;
}

/* Full pages go from the ring buffer to the spool without being copied. */
static int splice_pages(const struct capture_drain *d, struct capture_cpu *cpu)
{
	int ret = 0;

	while (!ret) {
		ssize_t got = TEMP_FAILURE_RETRY(splice(cpu->raw_fd, NULL, d->pipe_fds[1], NULL,
							(size_t)d->page_size * 16, SPLICE_F_MOVE | SPLICE_F_NONBLOCK));

		if (got <= 0)
			return !got || errno == EAGAIN ? 0 : -errno;
		ret = move_spliced(cpu, d->pipe_fds[0], got);
	}
	return ret;
}

/* The page that is being written, as far as it is, as a page of its own. */
static int read_pages(const struct capture_drain *d, struct capture_cpu *cpu)
{
	int ret = 0;

	for (bool goes_on = true; !ret && goes_on; goes_on = !d->once) {
		ssize_t got = TEMP_FAILURE_RETRY(read(cpu->raw_fd, d->page, d->page_size));

		if (got <= 0)
			return !got || errno == EAGAIN ? 0 : -errno;
		memset(d->page + got, 0, d->page_size - got);
		ret = pfs_write_all(cpu->spool_fd, d->page, d->page_size);
		cpu->bytes += d->page_size;
	}
	return ret;
}

static int drain_cpu(const struct capture_drain *d, struct capture_cpu *cpu, bool all)
{
	uint64_t before = cpu->bytes;
	int ret = splice_pages(d, cpu);

	if (!ret && all)
		ret = read_pages(d, cpu);
	if (cpu->bytes - before > cpu->fullest)
		cpu->fullest = cpu->bytes - before;
	return ret;
}

static int write_own(void *ctx, const struct raw_event *ev)
{
	struct pfs_capture *c = ctx;
	struct raw_event own = *ev;

	/* One that is late, see date_late() of the side-band; the stacks are queued beside that. */
	if (own.ts_ns < c->own.last_ns)
		own.ts_ns = c->own.last_ns;
	c->own.last_ns = own.ts_ns;
	return pfs_records_write(&c->own.records, c->own.pages, &own);
}

static int append_own(void *ctx, const struct raw_event *ev)
{
	return capture_own_comes(ctx, ev, write_own, ctx) ?: write_own(ctx, ev);
}

/* All that is in the ring buffers. `all`: with the page that is being written, for live decoding and at the end. */
static int drain(struct pfs_capture *c, bool all, struct pfs_err *err)
{
	uint64_t margin_ns = c->joins.fd < 0 ? CAPTURE_MARGIN_NS : JOIN_MARGIN_NS;
	uint64_t until = c->tracing ? pfs_now_ns() - margin_ns : UINT64_MAX;
	struct capture_drain *d = &c->drain;
	int ret = 0;

	d->flushed_ns = until = capture_watch_until(c, until);
	ret = c->accounts ? pfs_accounts_take(c->accounts) : 0;
	if (ret)
		return pfs_err_set(err, ret, "no memory for the kernel's counts");
	if (c->options->text)
		return capture_text_drain(c, until, err);
	for (int i = 0; !ret && i < d->nr_cpus; i++)
		if (d->cpus[i].raw_fd >= 0)
			ret = drain_cpu(d, &d->cpus[i], all);
	if (!ret && c->dumps)
		ret = pfs_dumps_drain(c->dumps);
	if (!ret)
		ret = pfs_sideband_drain(c->sideband) ?: pfs_sideband_flush(c->sideband, 0, until, append_own, c);
	if (!ret && c->dumps)
		ret = pfs_dumps_flush(c->dumps, until, write_own, c);
	if (!ret && all)
		ret = pfs_ringwrite_flush(c->own.pages);
	if (ret)
		return pfs_err_set(err, ret, "cannot spool the recording: %s", strerror(-ret));
	return d->live && all ? pfs_merge_run(d->live, until, capture_live_event, c, err) : 0;
}

int capture_drain(struct pfs_capture *c, struct pfs_err *err)
{
	int ret;

	c->drain.once = c->tracing;
	ret = drain(c, true, err);
	c->drain.once = false;
	return ret;
}

int capture_start(struct pfs_live *live, struct pfs_err *err)
{
	struct pfs_capture *c = capture_of(live);
	int ret = capture_open_buffers(c, err);

	if (ret)
		return ret;
	ret = capture_note(c, 0, PFS_FACT(START, .text = "mono")) ?: pfs_sideband_begin(c->sideband, pfs_now_ns());
	if (ret)
		return pfs_err_set(err, ret, "no memory to begin with");
	ret = capture_tracers_start(c, err) ?: capture_hold(c, err);
	if (ret)
		return ret;
	if (c->dumps)
		pfs_dumps_begin(c->dumps, pfs_now_ns());
	if (!c->assembler &&
	    !c->dumps) /* decoding and unwinding take longer than draining, and other processes must not wait for it */
		pfs_sched_priority_raise(&c->priority);
	c->tracing = true;
	c->pauses.start_ns = pfs_now_ns();
	ret = capture_take_layouts(c, err) ?: capture_accounts_begin(c, err) ?: capture_list_tasks(c, err)
		      ?: pfs_instance_write(c->instance, "tracing_on", "1", err) ?: capture_accounts_begin(c, err)
		      ?: capture_list_tasks(c, err)
		      ?: capture_enter_running(c, err) ?: capture_joins_start(c, err) ?: capture_watch_start(c, err);
	/* Only now: removing an instance keeps the kernel from making one. */
	pfs_instance_clean_others(c->instance);
	return ret;
}

static void poll_also(struct capture_drain *d, int fd, int *nr)
{
	if (fd >= 0)
		d->poll_fds[(*nr)++] = (struct pollfd){ fd, POLLIN, 0 };
}

static int poll_list(struct pfs_capture *c, const struct pollfd *fds, unsigned int nr_fds)
{
	struct capture_drain *d = &c->drain;
	int nr = nr_fds;

	if (!pfs_array_reserve(d->poll_fds, 0, d->max_poll, nr_fds + 3 * sysconf(_SC_NPROCESSORS_CONF) + 4))
		return -ENOMEM;
	memcpy(d->poll_fds, fds, nr_fds * sizeof(*fds));
	nr += pfs_sideband_poll(c->sideband, d->poll_fds + nr);
	if (c->dumps)
		nr += pfs_dumps_poll(c->dumps, d->poll_fds + nr);
	for (int i = 0; i < d->nr_cpus; i++)
		poll_also(d, d->cpus[i].raw_fd, &nr);
	poll_also(d, c->text.pipe_fd, &nr);
	poll_also(d, c->joins.fd, &nr);
	poll_also(d, c->watch.fd, &nr);
	poll_also(d, c->cache ? pfs_cache_fd(c->cache) : -1, &nr);
	return nr;
}

int capture_wait(struct pfs_live *live, struct pollfd *fds, unsigned int nr_fds, int timeout_ms, struct pfs_err *err)
{
	struct pfs_capture *c = capture_of(live);
	struct pollfd *all;
	/* The side-band is read ten times a second: its rings wake nobody after a thread has ended. */
	int nr = poll_list(c, fds, nr_fds), limit = c->dumps ? PFS_DUMPS_WAIT_MS : 100, ret;

	if (nr < 0)
		return pfs_err_set(err, nr, "no memory to wait with");
	all = c->drain.poll_fds;
	if (timeout_ms >= 0 && timeout_ms < limit)
		limit = timeout_ms;
	if (poll(all, nr, limit) < 0 && errno != EINTR)
		return pfs_err_set(err, -errno, "poll: %s", strerror(errno));
	memcpy(fds, all, nr_fds * sizeof(*fds));
	pfs_sideband_polled(c->sideband, all + nr_fds, nr - nr_fds);
	ret = c->cache ? pfs_cache_take(c->cache, pfs_sideband_put, c->sideband) : 0;
	if (ret)
		return pfs_err_set(err, ret, "no memory for the state of the page cache");
	return capture_joins_take(c, err) ?: capture_watch_take(c, err) ?: drain(c, c->drain.live, err);
}

/*
 * Readers are woken at a quarter. They cannot make room by themselves: while a buffer's size is changed the kernel
 * records nothing, and does not count what it leaves out.
 */
static int note_late(struct pfs_capture *c)
{
	uint64_t size = c->config.buffer_kb * UINT64_C(1024);
	int ret = 0;

	for (int cpu = 0; !ret && cpu < c->drain.nr_cpus; cpu++)
		if (c->drain.cpus[cpu].fullest > size / 2)
			ret = capture_note(c, 0,
					   PFS_FACT(BUFFER_FOUND, .percent = c->drain.cpus[cpu].fullest * 100 / size,
						    .kb = c->config.buffer_kb, .cpu = cpu));
	return ret;
}

static int note_counts(struct pfs_capture *c)
{
	struct pfs_counts_read counts;

	if (!c->launched || pfs_counters_read(&c->counters, &counts))
		return 0;
	return capture_note(c, c->launched,
			    PFS_FACT(COUNTERS, .faults = counts.faults, .minor = counts.minor, .major = counts.major));
}

/* First asks for the files whose mappings are drained only now. */
static int finish_cache(struct pfs_capture *c, struct pfs_err *err)
{
	uint64_t stopped_ns = pfs_now_ns();
	int ret = c->cache ? drain(c, false, err) : 0;

	if (!ret && c->cache)
		ret = pfs_cache_finish(c->cache, stopped_ns, CACHE_PATIENCE_MS, pfs_sideband_put, c->sideband);
	return ret ? pfs_err_set(err, ret, "cannot take in the state of the page cache: %s", strerror(-ret)) : 0;
}

static int accounts_end(struct pfs_capture *c, struct pfs_err *err)
{
	return c->accounts && pfs_accounts_end(c->accounts) ? pfs_err_set(err, -ENOMEM, "no memory for counts") : 0;
}

/* The last ends of processes come first. */
static int finish_accounts(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = c->accounts ? drain(c, false, err) : 0;

	if (!ret && c->accounts)
		ret = pfs_accounts_finish(c->accounts, pfs_now_ns(), pfs_sideband_put, c->sideband);
	return ret ? pfs_err_set(err, ret, "no memory for the kernel's counts") : 0;
}

/*
 * A mark comes behind the fault's exception: so first no more of these are recorded, and then the last marks are waited for.
 * With probes a fault that has no mark yet is known by its handler, which has not returned.
 */
static int settle_marks(struct pfs_capture *c, struct pfs_err *err)
{
	int ret;

	if (!c->marked || c->tracers.has_probes)
		return 0;
	ret = pfs_instance_write(c->instance, CAPTURE_EXCEPTIONS, "0", err);
	usleep(MARKS_US);
	return ret;
}

int capture_stop(struct pfs_live *live, struct pfs_err *err)
{
	struct pfs_capture *c = capture_of(live);
	int ret = capture_joins_end(c, err) ?: capture_watch_end(c, err) ?: accounts_end(c, err)
		      ?: settle_marks(c, err) ?: pfs_instance_write(c->instance, "tracing_on", "0", err) ?: accounts_end(c, err);

	pfs_sched_priority_restore(&c->priority);
	c->tracing = false;
	if (!ret)
		ret = capture_tracers_stop(c, err);
	if (ret)
		return ret;
	pfs_instance_silence(c->instance);
	ret = finish_cache(c, err) ?: finish_accounts(c, err);
	if (ret)
		return ret;
	if (capture_note_losses(c) || note_late(c) || note_counts(c) ||
	    capture_note(c, 0, PFS_FACT(END, .text = "mono")))
		return pfs_err_set(err, -ENOMEM, "no memory for a note");
	ret = drain(c, true, err);
	if (!ret && c->assembler)
		ret = pfs_assembler_finish(c->assembler);
	return ret == -ECANCELED ? 0 : ret;
}

int capture_stopped_notes(struct pfs_live *live, struct pfs_err *err)
{
	int ret = drain(capture_of(live), true, err);

	return ret == -ECANCELED ? 0 : ret;
}

/* ---- reading back ---- */

static int replay_pages(struct pfs_capture *c, raw_event_fn fn, raw_faults_fn faults, void *ctx, struct pfs_err *err)
{
	struct pfs_merge *merge;
	int ret;

	merge = pfs_merge_new(c->formats, 0);
	if (!merge)
		return pfs_err_set(err, -ENOMEM, "no memory to read the recording");
	ret = pfs_merge_add(merge, -1, pfs_page_source_growing(c->own.fd, c->drain.page_size), NULL);
	for (int i = 0; !ret && i < c->drain.nr_cpus; i++)
		if (c->drain.cpus[i].spool_fd >= 0)
			ret = pfs_merge_add(merge, i,
					    pfs_page_source_file(c->drain.cpus[i].spool_fd, 0, c->drain.cpus[i].bytes,
								 c->drain.page_size),
					    NULL);
	if (ret)
		pfs_err_set(err, ret, "no memory to read the recording");
	pfs_merge_take_faults(merge, faults);
	if (!ret)
		ret = pfs_merge_run(merge, UINT64_MAX, fn, ctx, err);
	pfs_merge_free(merge);
	return ret;
}

/* Passes events on until give_up() returns true. */
struct replay {
	const struct pfs_source_config *config;
	raw_event_fn fn;
	raw_faults_fn faults;
	void *ctx;
	unsigned int nr;
};

static int replay_event(void *ctx, const struct raw_event *ev)
{
	struct replay *r = ctx;

	if (!(++r->nr & 0x3ff) && r->config->give_up(r->config->ctx))
		return -EINTR;
	return r->fn(r->ctx, ev);
}

static int replay_faults(void *ctx, struct pfs_fault_run *runs, unsigned int nr)
{
	struct replay *r = ctx;

	return r->config->give_up(r->config->ctx) ? -EINTR : r->faults(r->ctx, runs, nr);
}

int capture_read_back(struct pfs_capture *c, raw_event_fn fn, raw_faults_fn faults, void *ctx, struct pfs_err *err)
{
	struct replay replay = { &c->config, fn, faults, ctx, 0 };
	int ret;

	if (c->options->text)
		ret = capture_text_replay(c, replay_event, &replay, err);
	else
		ret = replay_pages(c, replay_event, replay_faults, &replay, err);
	return ret == -EINTR ? pfs_err_set(err, ret, "interrupted") : ret;
}

int capture_replay(struct pfs_live *live, const struct pfs_sink *sink, struct pfs_err *err)
{
	struct pfs_assembler *assembler = pfs_assembler_new(sink);
	int ret;

	if (!assembler)
		return pfs_err_set(err, -ENOMEM, "no memory to read the recording");
	if (capture_of(live)->formats)
		pfs_assembler_set_functions(assembler, pfs_function_name, capture_of(live)->formats->symbols);
	ret = capture_read_back(capture_of(live), pfs_assembler_feed, pfs_assembler_faults, assembler, err)
		      ?: pfs_assembler_finish(assembler);
	pfs_assembler_free(assembler);
	return ret;
}
