/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The set-up of a capture's instance, as late as possible: when the first process or user is added.
 *
 * The kernel waits for a grace period, with a lock held, to change the clock of a new instance, and for another one
 * for the first perf event. Meanwhile pfscope does what needs no instance.
 */
#include "capture/capture_priv.h"

#include "base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static uint32_t sub_buffer_size(struct pfs_instance *instance)
{
	int fd = pfs_instance_open(instance, "buffer_subbuf_size_kb", O_RDONLY, NULL); /* Linux 6.8 */
	char text[32] = "";
	uint32_t kb;

	if (fd < 0)
		return sysconf(_SC_PAGESIZE);
	kb = read(fd, text, sizeof(text) - 1) > 0 ? atoi(text) : 0;
	close(fd);
	return kb ? kb * 1024 : sysconf(_SC_PAGESIZE);
}

/* The stream of pfscope's own records, beside the kernel's. */
static int open_own(struct pfs_capture *c, struct pfs_err *err)
{
	struct capture_own *own = &c->own;
	int ret = pfs_formats_load_headers(c->formats, pfs_tracing_dir(NULL), err);

	if (!ret && capture_tracers_load_formats(c))
		ret = pfs_err_set(err, -ENOMEM, "no memory for event formats");
	if (!ret)
		ret = pfs_records_init(&own->records, c->formats);
	if (!ret)
		ret = own->fd = pfs_temp_open(err);
	if (ret < 0)
		return ret;
	own->pages = pfs_ringwrite_new(own->fd, &c->formats->ring, c->drain.page_size);
	return own->pages ? 0 : pfs_err_set(err, -errno, "no memory for pfscope's own records");
}

/* All that needs the instance but the buffers. */
static int settle(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = pfs_instance_settle(c->instance, err);

	if (ret)
		return ret;
	c->drain.page_size = sub_buffer_size(c->instance);
	c->drain.page = malloc(c->drain.page_size);
	if (!c->drain.page)
		return pfs_err_set(err, -ENOMEM, "no memory for a page");
	if (capture_tracers_set_up(c))
		return pfs_err_set(err, -ENOMEM, "no memory for a note");
	ret = capture_enable_events(c, err);
	return ret || c->options->text ? ret : open_own(c, err);
}

int capture_settle(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = c->settled ? 0 : settle(c, err);

	c->settled = true;
	return ret;
}
