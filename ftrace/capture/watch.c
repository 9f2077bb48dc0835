/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses to kernel objects beside their allocations: the helper of watch/watch.h, and its records in the recording. */
#include "capture/capture_priv.h"

#include "base/array.h"
#include "base/clock.h"
#include "watch/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define USUAL_NS (20 * UINT64_C(1000000))

/* A helper that does not end is left alone. */
#define END_PATIENCE_MS 1000

/* "cache=GLOB", "site=FUNCTION", "random": the end of a filter for allocations and the function. False: none of these. */
static bool read_choice(const char *text, const char **cache, const char **site)
{
	*cache = strncmp(text, "cache=", 6) ? NULL : text + 6;
	*site = strncmp(text, "site=", 5) ? NULL : text + 5;
	if (*cache)
		return **cache && !strchr(*cache, '"');
	return *site ? **site && !strpbrk(*site, " \"") : !strcmp(text, "random");
}

static uint64_t interval_of(const struct pfs_object_choice *o)
{
	return o->watch_ns ? o->watch_ns : USUAL_NS;
}

/* Those that are recorded, and of these the watched caches. */
static const char *filter_for(const struct pfs_capture *c, const struct raw_desc *desc, const char *cache, char *buf,
			      size_t size)
{
	struct pfs_object_choice chosen = *c->config.objects;
	size_t len;

	if (cache && desc->kind == RAW_KMALLOC) /* it has none */
		return NULL;
	if (!capture_object_filter(&chosen, desc, buf, size))
		*buf = '\0';
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
	const char *cache, *site;

	if (!o || !o->watch)
		return 0;
	if (!c->formats)
		return pfs_err_set(err, -EINVAL, "--watch: not with --via=text");
	if (!read_choice(o->watch, &cache, &site))
		return pfs_err_set(err, -EINVAL, "--watch: %s: must be cache=GLOB, site=FUNCTION or random", o->watch);
	if (cache && (!row || row->str_form == PFS_STR_NONE))
		return pfs_err_set(err, -ENOTSUP,
				   "--watch: the events of this kernel do not name the cache: use site=FUNCTION");
	config = (struct pfs_watchpoints){
		.interval_ns = interval_of(o),
		.site = site,
		.filter_kmalloc =
			o->cache ? NULL
				 : filter_for(c, raw_desc_find("kmem", "kmalloc"), cache, kmalloc, sizeof(kmalloc)),
		.filter_cache_alloc = filter_for(c, raw_desc_find("kmem", "kmem_cache_alloc"), cache, cache_alloc,
						 sizeof(cache_alloc)),
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
	if (!ret && capture_note(c, 0, PFS_FACT(WATCHPOINTS, .interval_ns = interval_of(o), .text = o->watch)))
		ret = pfs_err_set(err, -ENOMEM, "no memory for a note");
	return ret;
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
	struct capture_watch *w = &c->watch;
	uint64_t end_ns = pfs_now_ns() + END_PATIENCE_MS * UINT64_C(1000000);
	int ret = 0;

	if (w->fd < 0)
		return 0;
	w->ending = true;
	shutdown(w->fd, SHUT_WR);
	while (!ret && w->fd >= 0 && pfs_now_ns() < end_ns) {
		struct pollfd poll_fd = { w->fd, POLLIN, 0 };

		if (poll(&poll_fd, 1, END_PATIENCE_MS) > 0)
			ret = capture_watch_take(c, err);
	}
	if (!ret && w->fd >= 0)
		ret = helper_over(c);
	return ret;
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
