/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses to kernel objects beside their allocations: the kernel's own wprobe events, or the helper of watch/watch.h and its
 * records in the recording.
 */
#include "capture/capture_priv.h"

#include "base/clock.h"
#include "tracefs/wprobes.h"
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

/* ---- wprobe events ---- */

#define FILTER_MAX 3072 /* of the 4096 bytes that a trigger may have */
#define CLEAN_MS   100

/* What they cannot do, or NULL. Each takes the next object that is allocated when the one before has been freed. */
static const char *why_no_wprobes(const struct pfs_object_choice *o, const struct pfs_watch_choice *choice)
{
	return !o->all				 ? "cannot be limited to processes (--all)"
	       : !choice->cache && !choice->site ? "cannot choose words at random"
	       : o->watch_every			 ? "keep to an object until it is freed (--watch-every)"
						 : NULL;
}

static int write_trigger(struct pfs_capture *c, const char *event, const char *text)
{
	char file[64];

	snprintf(file, sizeof(file), "events/kmem/%s/trigger", event);
	return pfs_instance_write(c->instance, file, text, NULL);
}

/*
 * An object of a cache may be freed by kfree(), too. The one that sets is refused once others have enabled the wprobe. An object
 * that is freed before these are there stays watched until the next free at its place.
 */
static int set_triggers(struct pfs_capture *c, unsigned int nr, const struct pfs_wprobe *wprobe)
{
	char set[FILTER_MAX + 128], clear[64];

	pfs_wprobe_set(set, sizeof(set), nr, wprobe);
	pfs_wprobe_clear(clear, sizeof(clear), nr, wprobe);
	return write_trigger(c, wprobe->event, set) ?: write_trigger(c, "kmem_cache_free", clear)
		       ?: write_trigger(c, "kfree", clear);
}

/* Without them the kernel leaves a wprobe enabled that has an address. */
static void drop_triggers(struct pfs_capture *c, unsigned int nr, const struct pfs_wprobe *wprobe)
{
	char set[FILTER_MAX + 128] = "!", clear[64] = "!", name[16], file[64];

	pfs_wprobe_set(set + 1, sizeof(set) - 1, nr, wprobe);
	pfs_wprobe_clear(clear + 1, sizeof(clear) - 1, nr, wprobe);
	write_trigger(c, "kfree", clear);
	write_trigger(c, "kmem_cache_free", clear);
	write_trigger(c, wprobe->event, set);
	pfs_wprobe_name(name, sizeof(name), nr);
	snprintf(file, sizeof(file), "events/" PFS_WPROBES_GROUP "/%s/enable", name);
	pfs_instance_write(c->instance, file, "0", NULL);
}

static int load_formats(struct pfs_capture *c, struct pfs_err *err)
{
	char name[16];
	int ret = 0;

	for (unsigned int nr = 0; ret >= 0 && nr < PFS_NR_WPROBES; nr++) {
		pfs_wprobe_name(name, sizeof(name), nr);
		ret = pfs_formats_load_event(c->formats, pfs_tracing_dir(NULL), PFS_WPROBES_GROUP, name);
	}
	return ret < 0 ? pfs_err_set(err, ret, "no memory for event formats") : 0;
}

/* The formats have to be known before the instance is set up: pfscope's own records get numbers that are free. */
static int place_wprobes(struct pfs_capture *c, const struct pfs_wprobe wprobes[PFS_NR_WPROBES], struct pfs_err *err)
{
	int ret = pfs_wprobes_define(wprobes, err);
	unsigned int nr = 0;

	if (ret == -EBUSY && pfs_instance_clean(CLEAN_MS, NULL) > 0) /* a dead pfscope's */
		ret = pfs_wprobes_define(wprobes, err);
	if (ret)
		return ret;
	ret = load_formats(c, err) ?: capture_settle(c, err);
	while (!ret && nr < PFS_NR_WPROBES) {
		ret = set_triggers(c, nr, &wprobes[nr]);
		if (ret)
			pfs_err_set(err, ret, "cannot be set: %s", strerror(-ret));
		nr++;
	}
	if (!ret)
		return 0;
	while (nr--)
		drop_triggers(c, nr, &wprobes[nr]);
	pfs_wprobes_remove();
	return ret;
}

/* One event can set a wprobe, so where both may allocate each gets half of them. */
static int open_wprobes(struct pfs_capture *c, const struct pfs_watchpoints *config, struct pfs_err *err)
{
	const char *events[] = { "kmem_cache_alloc", "kmalloc" };
	const char *given[] = { config->filter_cache_alloc, config->filter_kmalloc };
	struct pfs_wprobe wprobes[PFS_NR_WPROBES];
	char filters[2][FILTER_MAX];
	unsigned int nr_events = !!given[0] + !!given[1];

	for (int i = 0; i < 2; i++) {
		snprintf(filters[i], FILTER_MAX, "%s", given[i] ? given[i] : "");
		if (config->site && !pfs_watchpoints_add_site(config->symbols, config->site, filters[i], FILTER_MAX))
			return -ENOENT; /* the helper reports it */
	}
	for (unsigned int nr = 0; nr < PFS_NR_WPROBES; nr++) {
		unsigned int event = nr_events == 2 ? nr % 2 : !given[0];

		wprobes[nr] = (struct pfs_wprobe){ .off = nr / nr_events * 8,
						   .event = events[event],
						   .filter = filters[event] };
	}
	return place_wprobes(c, wprobes, err);
}

/* True: they are placed. Else the helper is to watch, and the user has been told why. */
static bool use_wprobes(struct pfs_capture *c, const struct pfs_watchpoints *config,
			const struct pfs_watch_choice *choice)
{
	const char *why = why_no_wprobes(c->config.objects, choice);
	struct pfs_err err = { "" }, line;
	int ret;

	if (!pfs_wprobes_work() || (config->site && !config->symbols))
		return false;
	ret = why ? 0 : open_wprobes(c, config, &err);
	c->watch.wprobes = !why && !ret;
	if (!c->watch.wprobes && ret != -ENOENT) {
		pfs_err_set(&line, 0, "--watch: wprobe events %s; perf's watchpoints are used", why ? why : err.msg);
		c->config.report(c->config.ctx, line.msg);
	}
	return c->watch.wprobes;
}

/* ---- the helper ---- */

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
	if (use_wprobes(c, &config, &choice))
		return 0;
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

	if (c->watch.wprobes)
		return capture_fact(c, PFS_FACT(WATCHPOINTS, .text = o->watch), err);
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
