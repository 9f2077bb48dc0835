/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a capture is opened and freed. See capture.h.
 */
#include "capture/capture_priv.h"

#include "base/temp_file.h"
#include "os/fd_limit.h"
#include "record/page_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_cpus(struct pfs_capture *c, struct pfs_err *err)
{
	c->nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	c->cpus = calloc(c->nr_cpus, sizeof(*c->cpus));
	if (!c->cpus)
		return pfs_err_set(err, -ENOMEM, "no memory for %d processors", c->nr_cpus);
	for (int i = 0; i < c->nr_cpus; i++)
		c->cpus[i].raw_fd = c->cpus[i].spool_fd = -1;
	for (int i = 0; i < c->nr_cpus; i++) {
		char file[64];
		int fd;

		snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", i);
		fd = pfs_instance_open(c->instance, file, O_RDONLY | O_NONBLOCK, err);
		if (fd == -ENOENT || fd == -ENODEV) /* this processor is not there */
			continue;
		if (fd < 0)
			return fd;
		c->cpus[i].raw_fd = fd;
		c->cpus[i].spool_fd = pfs_temp_open(err);
		if (c->cpus[i].spool_fd < 0)
			return c->cpus[i].spool_fd;
	}
	if (pipe2(c->pipe_fds, O_CLOEXEC | O_NONBLOCK))
		return pfs_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	return 0;
}

static int open_live(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = 0;

	c->live = pfs_merge_new(c->formats, 0);
	if (!c->live)
		return pfs_err_set(err, -ENOMEM, "no memory for live decoding");
	/* Own records first: of equal times, a note or a mapping comes before what it explains. */
	ret = pfs_merge_add(c->live, -1, pfs_page_source_growing(c->own_fd, c->page_size), NULL);
	for (int i = 0; !ret && i < c->nr_cpus; i++)
		if (c->cpus[i].spool_fd >= 0)
			ret = pfs_merge_add(c->live, i, pfs_page_source_growing(c->cpus[i].spool_fd, c->page_size),
					    NULL);
	return ret ? pfs_err_set(err, ret, "no memory for live decoding") : 0;
}

static int open_all(struct pfs_capture *c, struct pfs_err *err)
{
	c->instance = pfs_instance_create(c->config.buffer_kb, c->config.leftovers, err);
	if (!c->instance)
		return -errno;
	c->sideband = pfs_sideband_new(err);
	if (!c->sideband)
		return -errno;
	if (c->config.text)
		return 0;
	c->formats = pfs_formats_new_host();
	if (!c->formats)
		return pfs_err_set(err, -ENOMEM, "no memory for event formats");
	return pfs_formats_load_events(c->formats, pfs_tracing_dir(NULL), err);
}

int capture_open_buffers(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = capture_settle(c, err);

	if (!ret && c->config.text)
		return capture_text_open(c, err);
	if (!ret)
		ret = open_cpus(c, err);
	return ret || !c->config.live ? ret : open_live(c, err);
}

struct pfs_capture *pfs_capture_new(const struct pfs_capture_config *config, struct pfs_err *err)
{
	struct pfs_capture *c = calloc(1, sizeof(*c));
	int ret;

	if (!c) {
		pfs_err_set(err, -ENOMEM, "no memory for a capture");
		return NULL;
	}
	c->config = *config;
	if (!c->config.buffer_kb)
		c->config.buffer_kb = 8192;
	c->own_fd = c->pipe_fd = c->text_fd = -1;
	c->pipe_fds[0] = c->pipe_fds[1] = c->joins.fd = c->joins.connector_fd = -1;
	memset(c->counters.fds, -1, sizeof(c->counters.fds));
	pfs_fd_limit_raise();
	ret = open_all(c, err);
	if (!ret)
		return c;
	pfs_capture_free(c, NULL);
	errno = -ret;
	return NULL;
}

int capture_hold(struct pfs_capture *c, struct pfs_err *err)
{
	int nr_cpus = sysconf(_SC_NPROCESSORS_CONF), ret;
	char file[64];

	ret = pfs_instance_hold(c->instance, "tracing_on", O_WRONLY, err);
	if (!ret)
		ret = pfs_instance_hold(c->instance, "events/enable", O_WRONLY, err);
	for (int cpu = 0; !ret && cpu < nr_cpus; cpu++) {
		snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
		ret = pfs_instance_hold(c->instance, file, O_RDONLY, err);
		if (ret == -ENOENT || ret == -ENODEV) /* this processor is not there */
			ret = 0;
	}
	return ret;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

int pfs_capture_free(struct pfs_capture *c, struct pfs_err *err)
{
	int ret;

	if (!c)
		return 0;
	pfs_sched_priority_restore(&c->priority);
	capture_joins_free(c);
	pfs_merge_free(c->live);
	for (int i = 0; c->cpus && i < c->nr_cpus; i++) {
		close_fd(c->cpus[i].raw_fd);
		close_fd(c->cpus[i].spool_fd);
	}
	free(c->cpus);
	capture_text_close(c);
	close_fd(c->pipe_fds[0]);
	close_fd(c->pipe_fds[1]);
	pfs_ringwrite_free(c->own_pages);
	close_fd(c->own_fd);
	pfs_formats_free(c->formats);
	pfs_sideband_free(c->sideband);
	pfs_counters_close(&c->counters);
	free(c->page);
	free(c->poll_fds);
	capture_forget_running(c);
	capture_tracers_free(c);
	/* Last: it cannot go before its readers have. */
	ret = pfs_instance_destroy(c->instance, err);
	free(c);
	return ret;
}
