/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All processes of a user: those that run are attached to, those that become the user's are reported by the watcher
 * (user/watcher.h).
 *
 * With an empty list of threads the kernel would record every thread. So its first entry is a child that has ended and
 * is not waited for: no process gets its number, and it has no events.
 */
#include "capture/capture_priv.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/write_all.h"
#include "os/program.h"
#include "user/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in capture_look(). */
#define NR_LOOKS      3
#define LOOK_AGAIN_NS 20000000

/* ---- those that run ---- */

static int enter_dead_child(struct pfs_capture *c, struct pfs_err *err)
{
	pid_t pid = fork();
	siginfo_t info;
	int ret;

	if (!pid)
		_exit(0);
	if (pid < 0)
		return pfs_err_set(err, -errno, "cannot start a process: %s", strerror(errno));
	c->joins.dead_child = pid;
	TEMP_FAILURE_RETRY(waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	ret = pfs_instance_add_tids(c->instance, &(struct pfs_tids){ .tids = &pid, .nr = 1 }, 0, err);
	return ret ? ret : capture_tracers_add_tid(c, pid, err);
}

/* Even root cannot read all of them: for example the first process of a container, from inside. */
static bool is_readable(struct pfs_capture *c, pid_t pid)
{
	struct pfs_snapshot s = { .pid = pid, .maps_fd = -1 };
	struct pfs_err why;
	int ret = pfs_snapshot_open(&s, &why);

	pfs_snapshot_close(&s);
	if (ret && ret != -ESRCH)
		capture_note(c, 0, PFS_FACT(LEFT_OUT, .text = why.msg));
	return !ret;
}

static int attach_readable(struct pfs_capture *c, struct pfs_err *err)
{
	unsigned int nr, nr_readable = 0;
	pid_t *pids = pfs_user_list(c->config.uid, getpid(), &nr);
	int ret;

	if (!pids)
		return pfs_err_set(err, -errno, "/proc: %s", strerror(errno));
	for (unsigned int i = 0; i < nr; i++)
		if (is_readable(c, pids[i]))
			pids[nr_readable++] = pids[i];
	ret = capture_attach_all(c, pids, nr_readable, err);
	free(pids);
	return ret;
}

/* Before the processes are listed. */
static int open_connector(struct pfs_capture *c)
{
	struct pfs_err why, line;
	int fd = c->joins.connector_fd = pfs_connector_open(&why);

	c->joins.polls = fd < 0;
	if (fd >= 0)
		return capture_note(c, 0, PFS_FACT(WATCH, .watch = PFS_WATCH_CONNECTOR));
	pfs_err_set(&line, 0, "%s; polling /proc every 100 ms instead", why.msg);
	c->config.report(c->config.ctx, line.msg);
	return capture_note(c, 0, PFS_FACT(WATCH, .watch = PFS_WATCH_PROC, .text = why.msg));
}

int capture_attach_user(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = capture_settle(c, err);

	if (ret)
		return ret;
	if (capture_note(c, 0, PFS_FACT(USER, .count = c->config.uid)) || open_connector(c))
		return pfs_err_set(err, -ENOMEM, "no memory for a note");
	/* Without perf: see watch() in processes.c for those that run, thread_joined() for those that join. */
	pfs_sideband_open_rings(c->sideband, NULL);
	return enter_dead_child(c, err) ?: capture_begin_running(c, err) ?: attach_readable(c, err);
}

/* ---- those that join ---- */

int capture_joins_start(struct pfs_capture *c, struct pfs_err *err)
{
	struct capture_joins *j = &c->joins;
	long nr_cpus = pfs_sideband_works(c->sideband) ? sysconf(_SC_NPROCESSORS_CONF) : 0;
	int rings[PFS_WATCH_MAX_CPUS], ret;
	struct pfs_watch watch = {
		.uid = c->config.uid,
		.own = getpid(),
		.connector_fd = j->connector_fd,
		.event_pid_fd = -1,
		.function_pid_fd = -1,
		.ring_fds = rings,
		.nr_cpus = nr_cpus < PFS_WATCH_MAX_CPUS ? nr_cpus : PFS_WATCH_MAX_CPUS,
	};

	if (!c->config.all_of_user)
		return 0;
	for (unsigned int cpu = 0; cpu < watch.nr_cpus; cpu++)
		rings[cpu] = pfs_sideband_ring_fd(c->sideband, cpu);
	ret = watch.event_pid_fd = pfs_instance_open(c->instance, "set_event_pid", O_RDWR, err);
	if (ret >= 0 && c->tracers.has_functions)
		ret = watch.function_pid_fd = pfs_instance_open(c->instance, "set_ftrace_pid", O_WRONLY, err);
	if (ret >= 0)
		ret = j->fd = pfs_watcher_start(&watch, err);
	pfs_close(watch.event_pid_fd);
	pfs_close(watch.function_pid_fd);
	if (ret < 0)
		return ret;
	if (j->connector_fd >= 0) /* it is the watcher's from here on, to be closed in order as well */
		close(j->connector_fd);
	j->connector_fd = -1;
	return 0;
}

/* Own records are written in order: one that comes too late gets the earliest time that is left. */
static uint64_t not_before(const struct pfs_capture *c, uint64_t ts_ns)
{
	return ts_ns > c->drain.flushed_ns ? ts_ns : c->drain.flushed_ns;
}

static int thread_joined(struct pfs_capture *c, const struct pfs_join *join, bool lacks_sideband)
{
	struct raw_event task = raw_event_own(RAW_PFS_TASK, not_before(c, join->ts_ns), join->pid);
	int ret;

	task.arg[0] = join->tid;
	task.arg[1] = join->pid;
	task.str = join->text;
	ret = pfs_sideband_put(c->sideband, &task);
	return ret || !lacks_sideband ? ret
				      : capture_note_sideband_lack(c, "names, devices and protections of the regions "
								      "of processes that joined");
}

static int layout_arrived(struct pfs_capture *c, const struct pfs_join *join, int fd, struct pfs_err *err)
{
	struct pfs_snapshot layout = { .pid = join->pid, .maps_fd = -1, .stat = strdup(join->text) };
	int ret = pfs_snapshot_take(&layout, fd, not_before(c, join->ts_ns), err);

	close(fd);
	if (!ret)
		ret = capture_enable_calls(c, join->pid, err)
			      ?: pfs_snapshot_first(&layout, pfs_sideband_put, c->sideband, err);
	pfs_snapshot_close(&layout);
	return ret;
}

/* Its layout is read at once: what it did after the last reading and before it was entered was not recorded. */
static int process_joined(struct pfs_capture *c, const struct pfs_join *join, int maps_fd)
{
	const struct pfs_fact *fact = PFS_FACT(JOINED, .whole_ns = join->whole_ns, .since_ns = join->since_ns);
	struct raw_event ev = raw_event_own(RAW_PFS_NOTE, not_before(c, join->ts_ns), join->pid);
	struct capture_joins *j = &c->joins;
	struct capture_joined *joined;

	if (maps_fd >= 0) {
		joined = pfs_array_add(j->joined, j->nr_joined, j->max_joined);
		if (!joined) {
			close(maps_fd);
			return -ENOMEM;
		}
		*joined = (struct capture_joined){ .layout = { .pid = join->pid, .maps_fd = maps_fd } };
	}
	return pfs_records_note(&ev, fact, pfs_sideband_put, c->sideband)
		       ?: maps_fd < 0 ? 0
				      : pfs_snapshot_args(&joined->layout, pfs_sideband_put, c->sideband);
}

static int take(struct pfs_capture *c, const struct pfs_join *join, int *fds, unsigned int nr_fds, bool dropped,
		struct pfs_err *err)
{
	int ret = 0;

	switch (join->kind) {
	case PFS_JOIN_MISSED:
		return capture_note(c, 0, PFS_FACT(MISSED, .pid = join->pid, .since_ns = join->since_ns));
	case PFS_JOIN_PROCESS:
		return process_joined(c, join, nr_fds ? fds[0] : -1);
	case PFS_JOIN_LAYOUT:
		return nr_fds ? layout_arrived(c, join, fds[0], err) : 0;
	default:
		for (unsigned int i = 0; i < nr_fds; i++)
			ret |= pfs_sideband_keep(c->sideband, fds[i]);
		dropped |= join->unwatched || !pfs_sideband_works(c->sideband);
		return ret ? ret : thread_joined(c, join, dropped);
	}
}

static int watcher_over(struct pfs_capture *c)
{
	close(c->joins.fd);
	c->joins.fd = -1;
	if (c->joins.ending)
		return 0;
	c->config.report(c->config.ctx, "pfscope-watcher was killed; processes that become the user's from now on are "
					"not recorded");
	return capture_note(c, 0, PFS_FACT(WATCH, .watch = PFS_WATCH_OVER));
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

/* Reads the layouts of those that joined again, each NR_LOOKS times. */
static int look_again(struct pfs_capture *c, struct pfs_err *err)
{
	struct capture_joins *j = &c->joins;
	uint64_t now = pfs_now_ns();
	int ret = j->nr_joined ? pfs_sideband_drain(c->sideband) : 0;

	for (unsigned int i = j->nr_joined; !ret && i-- > 0;) {
		struct capture_joined *of = &j->joined[i];

		if (of->next_ns > now)
			continue;
		ret = pfs_snapshot_later(&of->layout, pfs_sideband_put, c->sideband, err);
		of->next_ns = now + LOOK_AGAIN_NS;
		if (!ret && ++of->nr_looks < NR_LOOKS)
			continue;
		pfs_snapshot_close(&of->layout);
		*of = j->joined[--j->nr_joined];
		ret = ret == -ESRCH ? 0 : ret;
	}
	return ret;
}

int capture_joins_take(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = take_all(c, err) ?: look_again(c, err);

	if (ret == -ENOMEM)
		pfs_err_set(err, ret, "no memory for what joins the recording");
	return ret;
}

/* ---- the end ---- */

int capture_joins_end(struct pfs_capture *c, struct pfs_err *err)
{
	if (c->joins.fd < 0)
		return 0;
	c->joins.ending = true;
	return capture_end_helper(c, &c->joins.fd, capture_joins_take, err);
}

void capture_joins_free(struct pfs_capture *c)
{
	struct capture_joins *j = &c->joins;
	struct pfs_err ignored;

	capture_joins_end(c, &ignored);
	pfs_close(j->fd);
	pfs_connector_close(j->connector_fd);
	for (unsigned int i = 0; i < j->nr_joined; i++)
		pfs_snapshot_close(&j->joined[i].layout);
	free(j->joined);
	if (j->dead_child > 0)
		pfs_program_wait(j->dead_child);
}
