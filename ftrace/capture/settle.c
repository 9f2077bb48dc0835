/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The set-up of a capture's instance, as late as possible: the first process or user that is added calls it.
 *
 * The kernel waits for a grace period with a lock held to change the clock of a new instance, and for another one
 * for the first event of perf's. Meanwhile pfscope does what needs no instance.
 */
#include "capture/capture_priv.h"

#include "base/temp_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint32_t sub_buffer_size(const struct pfs_instance *instance)
{
	char path[4096];
	unsigned int kb;
	FILE *f;

	snprintf(path, sizeof(path), "%s/buffer_subbuf_size_kb", pfs_instance_dir(instance));
	f = fopen(path, "re");
	if (f) {
		int got = fscanf(f, "%u", &kb);

		fclose(f);
		if (got == 1 && kb)
			return kb * 1024;
	}
	return sysconf(_SC_PAGESIZE);
}

/* One more stream beside the kernel's for what pfscope itself has to say. */
static int open_own(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = pfs_formats_load_headers(c->formats, pfs_tracing_dir(NULL), err);

	if (!ret && capture_tracers_load_formats(c))
		ret = pfs_err_set(err, -ENOMEM, "no memory for event formats");
	if (!ret)
		ret = pfs_records_init(&c->own, c->formats);
	if (ret)
		return ret;
	c->own_fd = pfs_temp_open(err);
	if (c->own_fd < 0)
		return c->own_fd;
	c->own_pages = pfs_ringwrite_new(c->own_fd, &c->formats->ring, c->page_size);
	return c->own_pages ? 0 : pfs_err_set(err, -errno, "no memory for pfscope's own records");
}

/* What needs the instance, all but the buffers. */
static int settle(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = pfs_instance_settle(c->instance, err);

	if (ret)
		return ret;
	c->page_size = sub_buffer_size(c->instance);
	c->page = malloc(c->page_size);
	if (!c->page)
		return pfs_err_set(err, -ENOMEM, "no memory for a page");
	capture_tracers_set_up(c);
	ret = capture_enable_events(c, err);
	if (!ret && capture_header_notes(c))
		ret = pfs_err_set(err, -ENOMEM, "no memory for header notes");
	return ret || c->config.text ? ret : open_own(c, err);
}

int capture_settle(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = c->settled ? 0 : settle(c, err);

	c->settled = true;
	return ret;
}
