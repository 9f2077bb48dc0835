/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of a capture: one that waits to be launched, and those that run already.
 *
 * How no change of a running process is missed: first its threads are traced (the list is read again
 * until it has no new thread, and once more when tracing is on; threads started by a traced one are
 * traced by the kernel), then the layout is read and tracing switched on. A change made in between is in
 * the stream as well, told by the side-band, and replaying it over the layout gives the same whether the
 * reading caught it or not: rows of the region tree say what a range is from then on, not what became of
 * it. What the side-band does not tell (a munmap), or was under way, a second look mends, and others a
 * moment later; they count only where nothing changed while they were taken.
 */
#include "capture/capture_priv.h"

#include "base/clock.h"
#include "os/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void pfs_capture_tids_file(const struct pfs_capture *c, char *path, size_t size)
{
	snprintf(path, size, "%s/set_event_pid", pfs_instance_dir(c->instance));
}

/* Without perf the recording goes on: names and protections are then not known. */
static int watch(struct pfs_capture *c, pid_t tid, struct pfs_err *err)
{
	struct pfs_err why;
	int ret = pfs_sideband_add(c->sideband, tid, &why);

	if (ret == -ESRCH)
		return ret;
	if (ret && !pfs_sideband_works(c->sideband)) {
		capture_add_lack(c, "", "perf_event_open", "names, devices and protections of regions");
		/* Before that the note is among those of the header. */
		return c->settled ? capture_note_lack(c, &c->lacks[c->nr_lacks - 1]) : 0;
	}
	if (ret)
		return pfs_err_set(err, ret, "%s", why.msg);
	return 0;
}

static int note_sideband(struct pfs_capture *c)
{
	return pfs_sideband_works(c->sideband) ? pfs_capture_note(c, 0, PFS_FACT(SIDEBAND, .text = "mmap2")) : 0;
}

int pfs_capture_launch(struct pfs_capture *c, pid_t pid, struct pfs_err *err)
{
	uint64_t minor, major;
	int ret;

	ret = watch(c, pid, err); /* which takes its time: before the instance is needed */
	if (!ret)
		ret = capture_settle(c, err);
	if (!ret)
		ret = note_sideband(c);
	if (!ret)
		ret = pfs_instance_add_tids(c->instance, &pid, 1, err);
	if (!ret)
		ret = capture_enable_page_alloc(c, false, err);
	if (!ret)
		ret = capture_tracers_add_tid(c, pid, err);
	if (!ret)
		ret = pfs_snapshot_tasks(pid, pfs_now_ns(), pfs_sideband_put, c->sideband, err);
	if (!ret)
		ret = pfs_capture_note(c, pid, PFS_FACT(LAUNCH, .pid = pid));
	if (ret)
		return ret;
	c->launched = pid;
	if (c->config.tracers.count)
		pfs_counters_open(&c->counters, pid); /* without them the check knows less, and says so */
	if (!pfs_process_faults(pid, &minor, &major))
		return 0;
	return pfs_capture_note(c, pid, PFS_FACT(COUNTED_BEFORE, .minor = minor, .major = major));
}

/* ---- processes that run already ---- */

static bool is_entered(const struct pfs_capture *c, pid_t tid)
{
	for (unsigned int i = 0; i < c->nr_entered; i++)
		if (c->entered[i] == tid)
			return true;
	return false;
}

static int remember_thread(struct pfs_capture *c, pid_t tid)
{
	if (c->nr_entered == c->max_entered) {
		unsigned int want = c->max_entered ? c->max_entered * 2 : 64;
		pid_t *bigger = realloc(c->entered, want * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		c->entered = bigger;
		c->max_entered = want;
	}
	c->entered[c->nr_entered++] = tid;
	return 0;
}

static int remember_process(struct pfs_capture *c, pid_t pid)
{
	struct pfs_snapshot *bigger = realloc(c->attached, (c->nr_attached + 1) * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	c->attached = bigger;
	c->attached[c->nr_attached++] = (struct pfs_snapshot){ .pid = pid, .maps_fd = -1 };
	return 0;
}

void capture_forget_running(struct pfs_capture *c)
{
	for (unsigned int i = 0; i < c->nr_attached; i++)
		pfs_snapshot_close(&c->attached[i]);
	free(c->attached);
	free(c->entered);
}

static int list_thread(void *ctx, const struct raw_event *ev)
{
	struct pfs_capture *c = ctx;
	int ret;

	if (is_entered(c, ev->tid))
		return 0;
	ret = remember_thread(c, ev->tid);
	return ret ? ret : pfs_sideband_put(c->sideband, ev);
}

/* One that has ended: what there was of it is recorded. */
static int unless_ended(int ret)
{
	return ret == -ESRCH ? 0 : ret;
}

/* A thread may have ended by now: then there is nothing to trace. */
static int enter_threads(struct pfs_capture *c, const pid_t *tids, unsigned int nr, struct pfs_err *err)
{
	int ret = pfs_instance_add_tids(c->instance, tids, nr, err);

	for (unsigned int i = 0; !ret && i < nr; i++) {
		ret = capture_tracers_add_tid(c, tids[i], err);
		if (!ret)
			ret = watch(c, tids[i], err);
		ret = unless_ended(ret);
	}
	return ret;
}

/* Every thread there is, of the attached processes from that one on; those they start, the kernel adds by itself. */
static int enter_processes(struct pfs_capture *c, unsigned int first, struct pfs_err *err)
{
	unsigned int before;
	int ret = 0;

	do {
		before = c->nr_entered;
		for (unsigned int i = first; !ret && i < c->nr_attached; i++) {
			ret = pfs_snapshot_tasks(c->attached[i].pid, pfs_now_ns(), list_thread, c, err);
			ret = unless_ended(ret);
		}
		if (!ret)
			ret = enter_threads(c, c->entered + before, c->nr_entered - before, err);
	} while (!ret && c->nr_entered > before);
	return ret;
}

int capture_begin_running(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = c->running_begun ? 0 : capture_enable_page_alloc(c, true, err);

	c->running_begun = true;
	return ret ? ret : note_sideband(c);
}

static bool is_attached(const struct pfs_capture *c, pid_t pid)
{
	for (unsigned int i = 0; i < c->nr_attached; i++)
		if (c->attached[i].pid == pid)
			return true;
	return false;
}

/* Those that are attached to already, or have ended, are passed over. */
int capture_attach(struct pfs_capture *c, const pid_t *pids, unsigned int nr, struct pfs_err *err)
{
	unsigned int first = c->nr_attached;
	int ret = capture_settle(c, err);

	for (unsigned int i = 0; !ret && i < nr; i++)
		if (!is_attached(c, pids[i]))
			ret = remember_process(c, pids[i]);
	if (!ret)
		ret = enter_processes(c, first, err);
	if (!ret && c->nr_attached > first)
		ret = capture_begin_running(c, err);
	for (unsigned int i = first; !ret && i < c->nr_attached; i++)
		ret = pfs_capture_note(c, c->attached[i].pid, PFS_FACT(ATTACH, .pid = c->attached[i].pid));
	return ret;
}

int pfs_capture_attach(struct pfs_capture *c, pid_t pid, struct pfs_err *err)
{
	unsigned int before = c->nr_entered;
	int ret = capture_attach(c, &pid, 1, err);

	if (!ret && c->nr_entered == before && !is_entered(c, pid))
		ret = pfs_err_set(err, -ESRCH, "process %d: no such process", pid);
	return ret;
}

int capture_take_layouts(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < c->nr_attached; i++) {
		struct pfs_snapshot *s = &c->attached[i];

		ret = pfs_snapshot_open(s, err);
		if (!ret)
			ret = pfs_snapshot_take(s, s->maps_fd, pfs_now_ns(), err);
		ret = unless_ended(ret);
	}
	return ret;
}

int capture_enter_running(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = enter_processes(c, 0, err);

	for (unsigned int i = 0; !ret && i < c->nr_attached; i++)
		ret = unless_ended(pfs_snapshot_renew(&c->attached[i], err));
	return ret;
}

static int look_at_all(struct pfs_capture *c,
		       int (*look)(const struct pfs_snapshot *s, raw_event_fn fn, void *ctx, struct pfs_err *err),
		       struct pfs_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < c->nr_attached; i++)
		ret = unless_ended(look(&c->attached[i], pfs_sideband_put, c->sideband, err));
	return ret;
}

int pfs_capture_look(struct pfs_capture *c, struct pfs_err *err)
{
	const struct timespec moment = { .tv_nsec = 20000000 };
	int ret = look_at_all(c, pfs_snapshot_first, err);

	for (int i = 0; !ret && c->nr_attached && i < 4; i++) {
		if (i)
			nanosleep(&moment, NULL);
		ret = pfs_sideband_drain(c->sideband);
		if (!ret)
			ret = look_at_all(c, pfs_snapshot_later, err);
	}
	return ret;
}
