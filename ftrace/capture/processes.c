/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of a capture: one that waits to be launched, and those that run already.
 *
 * How no change of a running process is missed: first its threads are traced (their list is read again until it has no
 * new thread, and once more when tracing is on; the kernel adds threads started by a traced one), then the layout is
 * read and tracing switched on. The side-band reports a change made in between, and replaying it over the layout gives
 * the same result whether the reading caught it or not: rows of the region tree report what a range is from then on.
 * What the side-band does not report (a munmap), or was under way, is corrected by a second reading, and by others a
 * moment later; they count only where nothing changed while they were read.
 */
#include "capture/capture_priv.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/number.h"
#include "os/process.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Without perf the recording goes on: names and protections are then not known. */
static int watch(struct pfs_capture *c, pid_t tid, struct pfs_err *err)
{
	struct pfs_err why;
	int ret = pfs_sideband_add(c->sideband, tid, &why);

	if (ret && ret != -ESRCH && !pfs_sideband_works(c->sideband))
		return capture_note_sideband_lack(c, "names, devices and protections of regions");
	if (ret)
		return pfs_err_set(err, ret, "%s", why.msg);
	return c->dumps ? pfs_dumps_add(c->dumps, tid, err) : 0;
}

static int note_sideband(struct pfs_capture *c)
{
	return pfs_sideband_works(c->sideband) ? capture_note(c, 0, PFS_FACT(SIDEBAND, .text = "mmap2")) : 0;
}

/* What a process that has ended did before is recorded. */
static int unless_ended(int ret)
{
	return ret == -ESRCH ? 0 : ret;
}

/* The names and processes of all threads, for any may free. */
static int list_all_tasks(struct pfs_capture *c, struct pfs_err *err)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int ret = dir ? 0 : pfs_err_set(err, -errno, "/proc: %s", strerror(errno));

	while (!ret && (entry = readdir(dir))) {
		pid_t pid = pfs_pid_parse(entry->d_name);

		if (pid)
			ret = unless_ended(pfs_snapshot_tasks(pid, pfs_now_ns(), pfs_sideband_put, c->sideband, err));
	}
	if (dir)
		closedir(dir);
	return ret;
}

int capture_list_tasks(struct pfs_capture *c, struct pfs_err *err)
{
	return c->config.objects ? list_all_tasks(c, err) : 0;
}

int capture_launch(struct pfs_live *live, pid_t pid, struct pfs_err *err)
{
	struct pfs_capture *c = capture_of(live);
	uint64_t minor, major;
	int ret;

	if (c->config.objects)
		return capture_settle(c, err) ?: capture_watch_process(c, pid, err)
			       ?: c->config.objects->all ? 0
							 : capture_note(c, pid, PFS_FACT(LAUNCH, .pid = pid));
	/* The side-band takes its time: it comes before the instance is needed. */
	ret = watch(c, pid, err) ?: capture_settle(c, err) ?: note_sideband(c)
		      ?: pfs_instance_add_tids(c->instance, &(struct pfs_tids){ .tids = &pid, .nr = 1 }, 0, err)
		      ?: capture_enable_later(c, false, err) ?: capture_tracers_add_tid(c, pid, err)
		      ?: pfs_snapshot_tasks(pid, pfs_now_ns(), pfs_sideband_put, c->sideband, err)
		      ?: capture_note(c, pid, PFS_FACT(LAUNCH, .pid = pid));
	if (ret)
		return ret;
	c->launched = pid;
	if (c->config.count)
		pfs_counters_open(&c->counters, pid); /* without them `report --check` reports that they are missing */
	if (!pfs_process_faults(pid, &minor, &major))
		return 0;
	return capture_note(c, pid, PFS_FACT(COUNTED_BEFORE, .minor = minor, .major = major));
}

/* ---- processes that run already ---- */

static int list_thread(void *ctx, const struct raw_event *ev)
{
	struct pfs_capture *c = ctx;
	int added = pfs_tids_add(&c->running.tids, ev->tid);

	return added > 0 ? pfs_sideband_put(c->sideband, ev) : added;
}

/* Enters the threads of the list from that one on. */
static int enter_threads(struct pfs_capture *c, unsigned int first, struct pfs_err *err)
{
	int ret = pfs_instance_add_tids(c->instance, &c->running.tids, first, err);

	for (unsigned int i = first; !ret && i < c->running.tids.nr; i++) {
		ret = capture_tracers_add_tid(c, c->running.tids.tids[i], err)
			      ?: watch(c, c->running.tids.tids[i], err);
		ret = unless_ended(ret);
	}
	return ret;
}

/* Every thread of the processes from that one on; the kernel adds those that they start. */
static int enter_processes(struct pfs_capture *c, unsigned int first, struct pfs_err *err)
{
	struct capture_running *r = &c->running;
	unsigned int before;
	int ret = 0;

	do {
		before = r->tids.nr;
		for (unsigned int i = first; !ret && i < r->nr; i++)
			ret = unless_ended(pfs_snapshot_tasks(r->processes[i].pid, pfs_now_ns(), list_thread, c, err));
		if (!ret)
			ret = enter_threads(c, before, err);
	} while (!ret && r->tids.nr > before);
	return ret;
}

int capture_begin_running(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = c->running.begun ? 0 : capture_enable_later(c, true, err);

	if (!c->running.begun)
		c->accounts = pfs_accounts_open(NULL);
	c->running.begun = true;
	return ret ? ret : note_sideband(c);
}

/* One that is in the list already is passed over. */
static int remember_process(struct capture_running *r, pid_t pid)
{
	struct pfs_snapshot *s;

	for (unsigned int i = 0; i < r->nr; i++)
		if (r->processes[i].pid == pid)
			return 0;
	s = pfs_array_add(r->processes, r->nr, r->max);
	if (!s)
		return -ENOMEM;
	*s = (struct pfs_snapshot){ .pid = pid, .maps_fd = -1 };
	return 0;
}

int capture_attach_all(struct pfs_capture *c, const pid_t *pids, unsigned int nr, struct pfs_err *err)
{
	struct capture_running *r = &c->running;
	unsigned int first = r->nr;
	int ret = capture_settle(c, err);

	for (unsigned int i = 0; !ret && i < nr; i++)
		ret = remember_process(r, pids[i]);
	if (!ret)
		ret = enter_processes(c, first, err);
	if (!ret && r->nr > first)
		ret = capture_begin_running(c, err);
	for (unsigned int i = first; !ret && i < r->nr; i++)
		ret = capture_enable_calls(c, r->processes[i].pid, err)
			      ?: capture_note(c, r->processes[i].pid, PFS_FACT(ATTACH, .pid = r->processes[i].pid));
	return ret;
}

int capture_attach(struct pfs_live *live, pid_t pid, struct pfs_err *err)
{
	struct pfs_capture *c = capture_of(live);
	int ret, added;

	if (c->config.objects)
		return capture_settle(c, err) ?: capture_watch_process(c, pid, err)
			       ?: capture_note(c, pid, PFS_FACT(ATTACH, .pid = pid));
	ret = capture_attach_all(c, &pid, 1, err);
	added = ret ? 0 : pfs_tids_add(&c->running.tids, pid);

	return added > 0 ? pfs_err_set(err, -ESRCH, "process %d: no such process", pid) : ret;
}

int capture_take_layouts(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < c->running.nr; i++) {
		struct pfs_snapshot *s = &c->running.processes[i];

		ret = pfs_snapshot_open(s, err) ?: pfs_snapshot_take(s, s->maps_fd, pfs_now_ns(), err)
			      ?: pfs_snapshot_args(s, pfs_sideband_put, c->sideband);
		ret = unless_ended(ret);
	}
	return ret;
}

int capture_accounts_begin(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && c->accounts && i < c->running.nr; i++)
		ret = pfs_accounts_begin(c->accounts, c->running.processes[i].pid);
	return ret ? pfs_err_set(err, ret, "no memory for the kernel's counts") : 0;
}

int capture_enter_running(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = enter_processes(c, 0, err);

	for (unsigned int i = 0; !ret && i < c->running.nr; i++)
		ret = unless_ended(pfs_snapshot_renew(&c->running.processes[i], err));
	return ret;
}

static int look_at_all(struct pfs_capture *c,
		       int (*look)(const struct pfs_snapshot *s, raw_event_fn fn, void *ctx, struct pfs_err *err),
		       struct pfs_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < c->running.nr; i++)
		ret = unless_ended(look(&c->running.processes[i], pfs_sideband_put, c->sideband, err));
	return ret;
}

int capture_look(struct pfs_live *live, struct pfs_err *err)
{
	const struct timespec moment = { .tv_nsec = 20000000 };
	struct pfs_capture *c = capture_of(live);
	int ret = look_at_all(c, pfs_snapshot_first, err);

	for (int i = 0; !ret && c->running.nr && i < 4; i++) {
		if (i)
			nanosleep(&moment, NULL);
		ret = pfs_sideband_drain(c->sideband) ?: look_at_all(c, pfs_snapshot_later, err);
	}
	return ret;
}
