/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses to kernel objects beside their allocations: the helper of watch/watch.h, and its records in the recording. */
#include "capture/capture_priv.h"

#include "base/clock.h"
#include "watch/watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* For those that are recorded, and of these the watched caches; NULL: none of that event. */
static const char *filter_for(const struct pfs_capture *c, const char *event, const char *cache, char *buf, size_t size)
{
	const struct raw_desc *desc = raw_desc_find("kmem", event);
	size_t len;

	if (!capture_wants(c, desc) || (cache && !desc->str)) /* kmalloc() has no cache */
		return NULL;
	capture_object_filter(c->config.objects, desc, buf, size);
	len = strlen(buf);
	if (cache)
		snprintf(buf + len, size - len, "%s%s ~ \"%s\"", len ? " && " : "", desc->str, cache);
	return buf;
}

int capture_watch_open(struct pfs_capture *c, struct pfs_err *err)
{
	const struct pfs_object_choice *o = c->config.objects;
	const struct pfs_row *row = c->formats ? pfs_formats_find(c->formats, "kmem", "kmem_cache_alloc") : NULL;
	char kmalloc[512], cache_alloc[512];
	struct pfs_watchpoints config;
	struct pfs_watch_choice choice;

	if (!o || !o->watch)
		return 0;
	if (!c->formats)
		return pfs_err_set(err, -EINVAL, "--watch: not with --via=text");
	if (pfs_watch_choice_read(&choice, o->watch, err))
		return -EINVAL;
	if (choice.cache && (!row || row->str_form == PFS_STR_NONE))
		return pfs_err_set(err, -ENOTSUP,
				   "--watch: the events of this kernel do not name the cache: use site=FUNCTION");
	config = (struct pfs_watchpoints){
		.interval_ns = o->watch_ns,
		.site = choice.site,
		.filter_kmalloc = filter_for(c, "kmalloc", choice.cache, kmalloc, sizeof(kmalloc)),
		.filter_cache_alloc = filter_for(c, "kmem_cache_alloc", choice.cache, cache_alloc, sizeof(cache_alloc)),
		.formats = c->formats,
		.symbols = c->tracers.symbols,
	};
	c->watch.fd = pfs_watchpoints_start(&config, err);
	return c->watch.fd < 0 ? c->watch.fd : 0;
}

static int add_thread(void *capture, const struct raw_event *task)
{
	return pfs_tids_add(&((struct pfs_capture *)capture)->watch.tids, task->tid) < 0 ? -ENOMEM : 0;
}

int capture_watch_process(struct pfs_capture *c, pid_t pid, struct pfs_err *err)
{
	return c->watch.fd < 0 ? 0 : pfs_snapshot_tasks(pid, pfs_now_ns(), add_thread, c, err);
}

int capture_watch_start(struct pfs_capture *c, struct pfs_err *err)
{
	const struct pfs_object_choice *o = c->config.objects;
	int ret;

	if (c->watch.fd < 0)
		return 0;
	ret = pfs_watchpoints_begin(c->watch.fd, o->all ? NULL : c->watch.tids.tids, c->watch.tids.nr, err);
	return ret ?: capture_fact(c, PFS_FACT(WATCHPOINTS, .interval_ns = o->watch_ns, .text = o->watch), err);
}

/* What it has not sent yet is not known: it sends what a word has seen when it is done with that. */
static int helper_over(struct pfs_capture *c)
{
	close(c->watch.fd);
	c->watch.fd = -1;
	if (c->watch.ending)
		return 0;
	c->config.report(c->config.ctx, "pfscope-points was killed; accesses from now on are not recorded");
	return capture_note(
		c, 0,
		PFS_FACT(LACKS, .what = "watchpoints", .tells = "accesses from then on: pfscope-points was killed"));
}

int capture_watch_take(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = c->watch.fd < 0
			  ? 0
			  : pfs_watchpoints_take(c->watch.fd, &c->watch.until_ns, pfs_sideband_put, c->sideband);

	if (ret == -EPIPE)
		ret = helper_over(c);
	return ret ? pfs_err_set(err, ret, "cannot take in accesses: %s", strerror(-ret)) : 0;
}

uint64_t capture_watch_until(const struct pfs_capture *c, uint64_t until_ns)
{
	return c->watch.fd >= 0 && c->watch.until_ns < until_ns ? c->watch.until_ns : until_ns;
}

int capture_watch_end(struct pfs_capture *c, struct pfs_err *err)
{
	int ret;

	if (c->watch.fd < 0)
		return 0;
	c->watch.ending = true;
	ret = capture_end_helper(c, &c->watch.fd, capture_watch_take, err);
	return !ret && c->watch.fd >= 0 ? helper_over(c) : ret;
}

int pfs_capture_can_watch(struct pfs_err *err)
{
	const struct pfs_watchpoints config = { 0 };
	int fd = pfs_watchpoints_start(&config, err);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}
