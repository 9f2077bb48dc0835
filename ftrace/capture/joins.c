/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All processes of a user: those there are, as any that are attached to, and those that become the user's
 * while it is recorded, as the watcher (watcher.h) tells of them.
 *
 * A list of threads that is empty would record all there are. So the first in it is a child that has ended
 * and is not waited for: nobody else gets its number, and nothing comes of it.
 */
#include "capture/capture_priv.h"

#include "base/clock.h"
#include "user/proc_connector.h"
#include "user/user_procs.h"
#include "user/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in pfs_capture_look(). */
#define NR_LOOKS      3
#define LOOK_AGAIN_NS 20000000

/* A watcher that does not end is left to itself: it holds nothing of the instance but one file. */
#define END_PATIENCE_MS 1000

/* ---- those there are ---- */

static int enter_nobody(struct pfs_capture *c, struct pfs_err *err)
{
	pid_t pid = fork();
	siginfo_t info;
	int ret;

	if (!pid)
		_exit(0);
	if (pid < 0)
		return pfs_err_set(err, -errno, "cannot start a process: %s", strerror(errno));
	c->joins.nobody = pid;
	while (waitid(P_PID, pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
		;
	ret = pfs_instance_add_tids(c->instance, &pid, 1, err);
	return ret ? ret : capture_tracers_add_tid(c, pid, err);
}

/* Even root may not look into all of them: the first process of a container, say, from inside. */
static bool is_readable(struct pfs_capture *c, pid_t pid)
{
	struct pfs_snapshot s = { .pid = pid, .maps_fd = -1 };
	struct pfs_err why;
	int ret = pfs_snapshot_open(&s, &why);

	pfs_snapshot_close(&s);
	if (ret && ret != -ESRCH)
		pfs_capture_note(c, 0, PFS_FACT(LEFT_OUT, .text = why.msg));
	return !ret;
}

static int attach_all(struct pfs_capture *c, struct pfs_err *err)
{
	unsigned int nr, nr_readable = 0;
	pid_t *pids = pfs_user_list(c->joins.uid, getpid(), &nr);
	int ret;

	if (!pids)
		return pfs_err_set(err, -errno, "/proc: %s", strerror(errno));
	for (unsigned int i = 0; i < nr; i++)
		if (is_readable(c, pids[i]))
			pids[nr_readable++] = pids[i];
	ret = capture_attach(c, pids, nr_readable, err);
	free(pids);
	return ret;
}

int pfs_capture_attach_user(struct pfs_capture *c, uid_t uid, struct pfs_err *err)
{
	struct capture_joins *j = &c->joins;
	struct pfs_err why;
	int ret = capture_settle(c, err);

	if (ret)
		return ret;
	j->wanted = true;
	j->uid = uid;
	/* Before the look at what there is. */
	j->connector_fd = pfs_connector_open(&why);
	if (j->connector_fd < 0 && !(j->polls = strdup(why.msg)))
		return pfs_err_set(err, -ENOMEM, "no memory to record a user");
	/* Without: see watch() in capture/processes.c, and lacks_sideband() for those to come. */
	pfs_sideband_open_rings(c->sideband, NULL);
	ret = enter_nobody(c, err);
	if (!ret)
		ret = capture_begin_running(c, err);
	if (!ret && (pfs_capture_note(c, 0, PFS_FACT(USER, .count = uid)) ||
		     pfs_capture_note(c, 0,
				      PFS_FACT(WATCH, .watch = j->polls ? PFS_WATCH_PROC : PFS_WATCH_CONNECTOR,
					       .text = j->polls))))
		ret = pfs_err_set(err, -ENOMEM, "no memory for a note");
	return ret ? ret : attach_all(c, err);
}

const char *pfs_capture_polls(const struct pfs_capture *c)
{
	return c->joins.polls;
}

/* ---- those to come ---- */

int capture_joins_start(struct pfs_capture *c, struct pfs_err *err)
{
	struct capture_joins *j = &c->joins;
	long nr_cpus = pfs_sideband_works(c->sideband) ? sysconf(_SC_NPROCESSORS_CONF) : 0;
	int rings[PFS_WATCH_MAX_CPUS], ret;
	struct pfs_watch watch = {
		.uid = j->uid,
		.own = getpid(),
		.connector_fd = j->connector_fd,
		.event_pid_fd = -1,
		.function_pid_fd = -1,
		.ring_fds = rings,
		.nr_cpus = nr_cpus < PFS_WATCH_MAX_CPUS ? nr_cpus : PFS_WATCH_MAX_CPUS,
	};

	if (!j->wanted)
		return 0;
	for (unsigned int cpu = 0; cpu < watch.nr_cpus; cpu++)
		rings[cpu] = pfs_sideband_ring_fd(c->sideband, cpu);
	ret = watch.event_pid_fd = pfs_instance_open(c->instance, "set_event_pid", O_RDWR, err);
	if (ret >= 0 && c->has_functions)
		ret = watch.function_pid_fd = pfs_instance_open(c->instance, "set_ftrace_pid", O_WRONLY, err);
	if (ret >= 0)
		ret = j->fd = pfs_watcher_start(&watch, err);
	if (watch.event_pid_fd >= 0)
		close(watch.event_pid_fd);
	if (watch.function_pid_fd >= 0)
		close(watch.function_pid_fd);
	if (ret < 0)
		return ret;
	if (j->connector_fd >= 0) /* it is the watcher's from here on, to be closed in order as well */
		close(j->connector_fd);
	j->connector_fd = -1;
	return 0;
}

/* Own records are written in order; what comes later than it should is dated as early as may be. */
static uint64_t not_before(const struct pfs_capture *c, uint64_t ts_ns)
{
	return ts_ns > c->flushed_ns ? ts_ns : c->flushed_ns;
}

static int lacks_sideband(struct pfs_capture *c)
{
	if (c->joins.lacks_told)
		return 0;
	c->joins.lacks_told = true;
	return pfs_capture_note(
		c, 0,
		PFS_FACT(LACKS, .what = "perf_event_open",
			 .tells = "names, devices and protections of the regions of processes that joined"));
}

static int thread_joined(struct pfs_capture *c, const struct pfs_join *join)
{
	const struct raw_event task = {
		.ts_ns = not_before(c, join->ts_ns),
		.cpu = -1,
		.tid = join->pid,
		.tgid = join->pid,
		.kind = RAW_PFS_TASK,
		.arg = { join->tid, join->pid },
		.str = join->text,
	};

	return pfs_sideband_put(c->sideband, &task);
}

static int note_joined(struct pfs_capture *c, const struct pfs_join *join)
{
	struct raw_event ev = { .ts_ns = not_before(c, join->ts_ns), .cpu = -1, .tid = join->pid, .tgid = join->pid };

	return pfs_records_note(&ev, PFS_FACT(JOINED, .whole_ns = join->whole_ns, .since_ns = join->since_ns),
				(raw_event_fn)pfs_sideband_put, c->sideband);
}

static int layout_told(struct pfs_capture *c, const struct pfs_join *join, int fd, struct pfs_err *err)
{
	struct pfs_snapshot layout = { .pid = join->pid, .maps_fd = -1, .stat = strdup(join->text) };
	int ret = pfs_snapshot_take(&layout, fd, not_before(c, join->ts_ns), err);

	close(fd);
	if (!ret)
		ret = pfs_snapshot_first(&layout, pfs_sideband_put, c->sideband, err);
	pfs_snapshot_close(&layout);
	return ret;
}

static int remember(struct capture_joins *j, const struct capture_joined *joined)
{
	struct capture_joined *bigger = realloc(j->looking, (j->nr_looking + 1) * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	j->looking = bigger;
	j->looking[j->nr_looking++] = *joined;
	return 0;
}

/* It is looked at at once: what it did between its layout and its being entered was not recorded. */
static int process_joined(struct pfs_capture *c, const struct pfs_join *join, int maps_fd)
{
	const struct capture_joined joined = { .layout = { .pid = join->pid, .maps_fd = maps_fd } };
	int ret = note_joined(c, join);

	if (maps_fd < 0)
		return ret;
	if (!ret)
		ret = remember(&c->joins, &joined);
	if (ret)
		close(maps_fd);
	return ret;
}

static int take(struct pfs_capture *c, const struct pfs_join *join, int *fds, unsigned int nr_fds, bool dropped,
		struct pfs_err *err)
{
	int ret = 0;

	if (join->kind == PFS_JOIN_MISSED)
		return pfs_capture_note(c, 0, PFS_FACT(MISSED, .pid = join->pid, .since_ns = join->since_ns));
	if (join->kind == PFS_JOIN_PROCESS)
		return process_joined(c, join, nr_fds ? fds[0] : -1);
	if (join->kind == PFS_JOIN_LAYOUT)
		return nr_fds ? layout_told(c, join, fds[0], err) : 0;
	for (unsigned int i = 0; i < nr_fds; i++)
		ret |= pfs_sideband_keep(c->sideband, fds[i]);
	if (!ret)
		ret = thread_joined(c, join);
	if (!ret && (dropped || join->unwatched || !pfs_sideband_works(c->sideband)))
		ret = lacks_sideband(c);
	return ret;
}

static int watcher_over(struct pfs_capture *c)
{
	close(c->joins.fd);
	c->joins.fd = -1;
	c->joins.killed = !c->joins.ending;
	return c->joins.killed ? pfs_capture_note(c, 0, PFS_FACT(WATCH, .watch = PFS_WATCH_OVER)) : 0;
}

bool pfs_capture_watcher_killed(const struct pfs_capture *c)
{
	return c->joins.killed;
}

static int take_all(struct pfs_capture *c, struct pfs_err *err)
{
	int fds[PFS_JOIN_MAX_FDS], ret = 0, got;
	struct pfs_join join;
	unsigned int nr_fds;
	bool dropped;

	while (!ret && c->joins.fd >= 0) {
		got = pfs_watcher_next(c->joins.fd, &join, fds, &nr_fds, &dropped);
		if (!got)
			break;
		ret = got == 1 ? take(c, &join, fds, nr_fds, dropped, err) : watcher_over(c);
	}
	return ret;
}

/* What has been looked at often enough is not any more. */
static int look_again(struct pfs_capture *c, struct pfs_err *err)
{
	struct capture_joins *j = &c->joins;
	uint64_t now = pfs_now_ns();
	int ret = j->nr_looking ? pfs_sideband_drain(c->sideband) : 0;

	for (unsigned int i = j->nr_looking; !ret && i-- > 0;) {
		struct capture_joined *of = &j->looking[i];

		if (of->next_ns > now)
			continue;
		ret = pfs_snapshot_later(&of->layout, pfs_sideband_put, c->sideband, err);
		of->next_ns = now + LOOK_AGAIN_NS;
		if (!ret && ++of->nr_looks < NR_LOOKS)
			continue;
		pfs_snapshot_close(&of->layout);
		*of = j->looking[--j->nr_looking];
		ret = ret == -ESRCH ? 0 : ret;
	}
	return ret;
}

int capture_joins_take(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = take_all(c, err);

	if (!ret)
		ret = look_again(c, err);
	if (ret == -ENOMEM)
		pfs_err_set(err, ret, "no memory for what joins the recording");
	return ret;
}

/* ---- the end ---- */

int capture_joins_end(struct pfs_capture *c, struct pfs_err *err)
{
	uint64_t end_ns = pfs_now_ns() + END_PATIENCE_MS * UINT64_C(1000000);
	struct capture_joins *j = &c->joins;
	int ret = 0;

	if (j->fd < 0)
		return 0;
	j->ending = true;
	shutdown(j->fd, SHUT_WR);
	while (!ret && j->fd >= 0 && pfs_now_ns() < end_ns) {
		struct pollfd poll_fd = { j->fd, POLLIN, 0 };

		if (poll(&poll_fd, 1, END_PATIENCE_MS) > 0)
			ret = capture_joins_take(c, err);
	}
	return ret;
}

void capture_joins_free(struct pfs_capture *c)
{
	struct capture_joins *j = &c->joins;
	struct pfs_err ignored;

	capture_joins_end(c, &ignored);
	if (j->fd >= 0)
		close(j->fd);
	pfs_connector_close(j->connector_fd);
	for (unsigned int i = 0; i < j->nr_looking; i++)
		pfs_snapshot_close(&j->looking[i].layout);
	free(j->looking);
	free(j->polls);
	if (j->nobody > 0)
		while (waitpid(j->nobody, NULL, 0) < 0 && errno == EINTR)
			;
}
