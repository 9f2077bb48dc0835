/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a capture is opened and closed.
 */
#include "capture/capture_priv.h"

#include "base/write_all.h"
#include "os/process.h"
#include "record/page_source.h"
#include "record/handlers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How much larger a dump is than a record: its ring is that much larger than the ring buffer. */
#define DUMPS_FACTOR 4

static int open_cpus(struct pfs_capture *c, struct pfs_err *err)
{
	struct capture_drain *d = &c->drain;
	char file[64];

	d->nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	d->cpus = calloc(d->nr_cpus, sizeof(*d->cpus));
	if (!d->cpus)
		return pfs_err_set(err, -ENOMEM, "no memory for %d CPUs", d->nr_cpus);
	for (int i = 0; i < d->nr_cpus; i++)
		d->cpus[i].raw_fd = d->cpus[i].spool_fd = -1;
	for (int i = 0; i < d->nr_cpus; i++) {
		int fd;

		snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", i);
		fd = pfs_instance_open(c->instance, file, O_RDONLY | O_NONBLOCK, err);
		if (fd == -ENOENT || fd == -ENODEV) /* there is no such CPU */
			continue;
		if (fd < 0)
			return fd;
		d->cpus[i].raw_fd = fd;
		d->cpus[i].spool_fd = pfs_temp_open(err);
		if (d->cpus[i].spool_fd < 0)
			return d->cpus[i].spool_fd;
	}
	if (pipe2(d->pipe_fds, O_CLOEXEC | O_NONBLOCK))
		return pfs_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	return 0;
}

static int open_live(struct pfs_capture *c, struct pfs_err *err)
{
	struct capture_drain *d = &c->drain;
	int ret = -ENOMEM;

	d->live = pfs_merge_new(c->formats, 0);
	/* Own records first: of equal times, a note or a mapping comes before what it explains. */
	if (d->live)
		ret = pfs_merge_add(d->live, -1, pfs_page_source_growing(c->own.fd, d->page_size), NULL);
	for (int i = 0; !ret && i < d->nr_cpus; i++)
		if (d->cpus[i].spool_fd >= 0)
			ret = pfs_merge_add(d->live, i, pfs_page_source_growing(d->cpus[i].spool_fd, d->page_size),
					    NULL);
	return ret ? pfs_err_set(err, ret, "no memory for live decoding") : 0;
}

/* The formats of other events would be in each recording. */
static bool loads(const void *capture, const struct raw_desc *desc)
{
	const struct pfs_capture *c = capture;

	if (!c->config.objects && raw_is_stack(desc->kind))
		return c->config.stack == PFS_STACK_FP;
	return c->config.objects ? capture_wants(c, desc) : !raw_is_object(desc->kind);
}

static int open_all(struct pfs_capture *c, struct pfs_err *err)
{
	char vsyscall[5];

	c->instance = pfs_instance_create(c->config.owner, c->config.buffer_kb, c->config.leftovers, err);
	if (!c->instance)
		return -errno;
	c->sideband = pfs_sideband_new(err);
	if (!c->sideband)
		return -errno;
	if (!c->config.objects && pfs_instance_has_event(c->instance, "filemap", "mm_filemap_map_pages"))
		c->cache = pfs_cache_open(err);
	pfs_vsyscall_perms(vsyscall);
	if (pfs_header_notes(c->options->text ? "ftrace text" : "ftrace", vsyscall, capture_note, c))
		return pfs_err_set(err, -ENOMEM, "no memory for header notes");
	if (c->config.live && !(c->assembler = pfs_assembler_new(c->config.live)))
		return pfs_err_set(err, -ENOMEM, "no memory for live decoding");
	if (c->options->text)
		return 0;
	c->formats = pfs_formats_new_host();
	if (!c->formats)
		return pfs_err_set(err, -ENOMEM, "no memory for event formats");
	if (c->config.objects || c->config.stack)
		c->tracers.symbols = pfs_symbols_load(NULL); /* without them call sites have no names */
	if (c->config.stack == PFS_STACK_DWARF) {
		c->dumps = pfs_dumps_new(c->config.buffer_kb * DUMPS_FACTOR, !c->config.no_follow, c->tracers.symbols,
					 err);
		if (!c->dumps)
			return -errno;
	}
	return pfs_formats_load_events(c->formats, pfs_tracing_dir(NULL), loads, c, err) ?: capture_watch_open(c, err);
}

struct pfs_live *capture_open(const struct pfs_source_config *config, struct pfs_err *err)
{
	struct pfs_capture *c = calloc(1, sizeof(*c));
	int ret;

	if (!c) {
		pfs_err_set(err, -ENOMEM, "no memory to record");
		return NULL;
	}
	c->config = *config;
	c->options = config->options;
	if (!c->config.buffer_kb)
		c->config.buffer_kb = 8192;
	c->own.fd = c->text.pipe_fd = c->text.spool_fd = c->joins.fd = c->joins.connector_fd = c->watch.fd = -1;
	c->drain.pipe_fds[0] = c->drain.pipe_fds[1] = -1;
	memset(c->counters.fds, -1, sizeof(c->counters.fds));
	pfs_fd_limit_raise();
	ret = open_all(c, err);
	if (!ret && config->all_of_user)
		ret = capture_attach_user(c, err);
	if (!ret)
		return &c->base;
	capture_close(&c->base, NULL);
	errno = -ret;
	return NULL;
}

int capture_open_buffers(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = capture_settle(c, err);

	if (!ret && c->options->text)
		return capture_text_open(c, err);
	if (!ret)
		ret = open_cpus(c, err);
	return ret || !c->assembler ? ret : open_live(c, err);
}

int capture_hold(struct pfs_capture *c, struct pfs_err *err)
{
	int nr_cpus = sysconf(_SC_NPROCESSORS_CONF), ret;
	char file[64];

	ret = pfs_instance_hold(c->instance, "tracing_on", O_WRONLY, err)
		      ?: pfs_instance_hold(c->instance, "events/enable", O_WRONLY, err)
		      ?: capture_hold_calls(c, err) ?: capture_hold_objects(c, err);
	if (!ret && c->marked)
		ret = pfs_instance_hold(c->instance, CAPTURE_EXCEPTIONS, O_WRONLY, err);
	for (int cpu = 0; !ret && cpu < nr_cpus; cpu++) {
		snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
		ret = pfs_instance_hold(c->instance, file, O_RDONLY, err);
		if (ret == -ENOENT || ret == -ENODEV) /* there is no such CPU */
			ret = 0;
	}
	return ret;
}

int capture_close(struct pfs_live *live, struct pfs_err *err)
{
	struct pfs_capture *c = capture_of(live);
	int ret;

	if (!c)
		return 0;
	pfs_sched_priority_restore(&c->priority);
	capture_joins_free(c);
	capture_watch_end(c, &(struct pfs_err){ "" });
	free(c->watch.tids.tids);
	pfs_merge_free(c->drain.live);
	for (int i = 0; c->drain.cpus && i < c->drain.nr_cpus; i++) {
		pfs_close(c->drain.cpus[i].raw_fd);
		pfs_close(c->drain.cpus[i].spool_fd);
	}
	free(c->drain.cpus);
	pfs_close(c->drain.pipe_fds[0]);
	pfs_close(c->drain.pipe_fds[1]);
	free(c->drain.page);
	free(c->drain.poll_fds);
	pfs_close(c->text.pipe_fd);
	pfs_close(c->text.spool_fd);
	pfs_text_free(c->text.live);
	free(c->text.carry);
	pfs_ringwrite_free(c->own.pages);
	pfs_close(c->own.fd);
	pfs_formats_free(c->formats);
	pfs_sideband_free(c->sideband);
	pfs_dumps_free(c->dumps);
	pfs_cache_free(c->cache);
	pfs_accounts_free(c->accounts);
	pfs_counters_close(&c->counters);
	for (unsigned int i = 0; i < c->running.nr; i++)
		pfs_snapshot_close(&c->running.processes[i]);
	free(c->running.processes);
	free(c->running.tids.tids);
	free(c->tracers.functions);
	pfs_symbols_free(c->tracers.symbols);
	pfs_assembler_free(c->assembler);
	/* Last: it cannot be removed before its readers are closed. */
	ret = pfs_instance_destroy(c->instance, err);
	free(c);
	return ret;
}
