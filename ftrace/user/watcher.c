/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The watcher, see watcher.h.
 *
 * The kernel's list of threads (set_event_pid) shows which processes are recorded, and the kernel adds their children to
 * it: so the successor of a killed watcher needs no other state. What a new process started before it was entered joins
 * with it; if that has another parent by then, a scan of /proc afterwards finds it.
 */
#include "user/watcher.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/write_all.h"
#include "os/helper.h"
#include "os/process.h"
#include "sideband/sideband.h"
#include "sideband/snapshot.h"
#include "tracefs/instance.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Scans of /proc take at most that part of a CPU. */
#define SCAN_PART 10

#define NR_REPORTED 256

/* Attempts to read a layout whose process executes another program each time. */
#define NR_TRIES 3

/* In the helper: its descriptors in this order, those of the rings behind them. */
enum { SOCKET_FD = PFS_HELPER_FD, EVENT_PID_FD, CONNECTOR_FD, FUNCTION_PID_FD, RINGS_FD };
#define NR_FDS (RINGS_FD - SOCKET_FD)
_Static_assert(NR_FDS + PFS_WATCH_MAX_CPUS <= PFS_HELPER_MAX_FDS, "the helper takes them all");

struct watcher {
	const struct pfs_watch *of;
	bool over;     /* pfscope has ended */
	pid_t *traced; /* set_event_pid as last read, ascending */
	unsigned int nr_traced, max_traced;
	uint64_t scan_ns;	 /* when /proc is to be looked at; UINT64_MAX: not */
	uint64_t rest_ns;	 /* not before */
	struct joining *joining; /* those who are about to */
	unsigned int nr_joining, max_joining;
	struct pfs_tids tids;	     /* their threads */
	pid_t reported[NR_REPORTED]; /* the last ones, as a ring: the kernel may report each several times */
	unsigned int nr_reported;
};

/* ---- traced threads ---- */

static void read_traced(struct watcher *w)
{
	char *text = lseek(EVENT_PID_FD, 0, SEEK_SET) ? NULL : pfs_read_whole(EVENT_PID_FD, NULL);
	const char *at = text;
	uint64_t pid;
	pid_t *entry;

	for (w->nr_traced = 0; at && pfs_take_dec(&at, INT32_MAX, &pid); at += strspn(at, "\n")) {
		entry = pfs_array_add(w->traced, w->nr_traced, w->max_traced);
		if (entry)
			*entry = pid;
	}
	free(text);
}

static int by_number(const void *left, const void *right)
{
	return pfs_order(*(const pid_t *)left, *(const pid_t *)right);
}

static bool is_traced(const struct watcher *w, pid_t pid)
{
	return w->nr_traced && bsearch(&pid, w->traced, w->nr_traced, sizeof(pid), by_number);
}

/* ---- reporting ---- */

static void report(struct watcher *w, const struct pfs_join *join, const int *fds, unsigned int nr_fds)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(PFS_JOIN_MAX_FDS * sizeof(int))] = { 0 };
	struct iovec iov = { (void *)join, sizeof(*join) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg = (struct cmsghdr *)control;

	if (nr_fds) {
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, nr_fds * sizeof(int));
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
	}
	if (sendmsg(SOCKET_FD, &msg, MSG_NOSIGNAL) < 0)
		w->over = true;
}

static bool is_reported(const struct watcher *w, pid_t pid)
{
	for (unsigned int i = 0; i < NR_REPORTED; i++)
		if (w->reported[i] == pid)
			return true;
	return false;
}

static void remember_reported(struct watcher *w, pid_t pid)
{
	w->reported[w->nr_reported++ % NR_REPORTED] = pid;
}

/* ---- entering ---- */

/* A process that is being entered. */
struct joining {
	struct pfs_snapshot layout;
	uint64_t ts_ns, since_ns;
};

static void report_thread(struct watcher *w, const struct pfs_join *join, int *fds, unsigned int *nr_fds)
{
	report(w, join, fds, *nr_fds);
	while (*nr_fds)
		close(fds[--*nr_fds]);
}

/*
 * Its side-band comes before it is entered: what it maps between the two would be missed otherwise. False: it
 * has ended.
 */
static bool watch_thread(struct watcher *w, struct pfs_join *join)
{
	int fds[PFS_JOIN_MAX_FDS];
	unsigned int nr_fds = 0;

	for (unsigned int cpu = 0; cpu < w->of->nr_cpus; cpu++) {
		int fd = w->of->ring_fds[cpu] < 0 ? -ENODEV : pfs_sideband_watch(join->tid, cpu, RINGS_FD + cpu);

		if (fd == -ESRCH)
			return false;
		if (fd < 0) {
			join->unwatched |= fd != -ENODEV;
			continue;
		}
		fds[nr_fds++] = fd;
		if (nr_fds == PFS_JOIN_MAX_FDS)
			report_thread(w, join, fds, &nr_fds);
	}
	report_thread(w, join, fds, &nr_fds);
	return true;
}

static int list_thread(void *ctx, const struct raw_event *ev)
{
	struct watcher *w = ctx;
	struct pfs_join join = {
		.kind = PFS_JOIN_THREAD,
		.pid = ev->tgid,
		.tid = ev->tid,
		.ts_ns = ev->ts_ns,
	};

	int added = pfs_tids_add(&w->tids, ev->tid);

	if (added <= 0)
		return added;
	snprintf(join.text, sizeof(join.text), "%s", ev->str);
	if (!watch_thread(w, &join))
		w->tids.nr--;
	return 0;
}

/* All at once: see pfs_instance_add_tids(). */
static void enter_threads(struct watcher *w, unsigned int first)
{
	char *text = pfs_tids_text(&w->tids, first);

	if (!text || (*text && write(EVENT_PID_FD, text, strlen(text)) < 0))
		w->over = true; /* nobody could join any more */
	free(text);
	for (unsigned int i = first; !w->over && w->of->function_pid_fd >= 0 && i < w->tids.nr; i++) {
		char tid[12];

		w->over |= write(FUNCTION_PID_FD, tid, snprintf(tid, sizeof(tid), "%d", w->tids.tids[i])) < 0;
	}
}

static int copy_of(const char *text)
{
	int fd = memfd_create("pfscope layout", MFD_CLOEXEC);

	if (fd >= 0 && pfs_write_all(fd, text, strlen(text))) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Right before it is entered: what is changed from then on the side-band reports, or is recorded, or was at least
 * there. Later the layout would lack what was unmapped in between, and touched before. If the process goes over to
 * another program by then, the layout is that one's.
 */
static void report_layout(struct watcher *w, struct joining *j)
{
	struct pfs_join join = {
		.kind = PFS_JOIN_LAYOUT,
		.pid = j->layout.pid,
		.tid = j->layout.pid,
	};
	struct pfs_err why;
	int fd, ret = -ESRCH;

	if (j->layout.maps)
		return;
	for (int i = 0; ret == -ESRCH && i < NR_TRIES; i++) {
		ret = pfs_snapshot_renew(&j->layout, &why)
			      ?: pfs_snapshot_take(&j->layout, j->layout.maps_fd, pfs_now_ns(), &why);
	}
	fd = ret ? -1 : copy_of(j->layout.maps);
	if (fd < 0)
		return;
	join.ts_ns = j->ts_ns = j->layout.taken_ns;
	snprintf(join.text, sizeof(join.text), "%s", j->layout.stat ? j->layout.stat : "");
	report(w, &join, &fd, 1);
	close(fd);
}

/* Another program from here on is recorded from its beginning; its layout is looked at all the same. */
static void report_process(struct watcher *w, struct joining *j, uint64_t whole_ns)
{
	struct pfs_join join = {
		.kind = PFS_JOIN_PROCESS,
		.pid = j->layout.pid,
		.tid = j->layout.pid,
		.ts_ns = j->ts_ns,
		.whole_ns = whole_ns,
		.since_ns = j->since_ns,
	};
	struct pfs_err why;

	pfs_snapshot_renew(&j->layout, &why);
	remember_reported(w, join.pid);
	report(w, &join, &j->layout.maps_fd, j->layout.maps_fd >= 0);
}

/* One of the user's has ended before it could join. since_ns: from when on it was; 0: not known. */
static void report_missed(struct watcher *w, pid_t pid, uint64_t since_ns)
{
	struct pfs_join join = { .kind = PFS_JOIN_MISSED, .pid = pid, .tid = pid, .since_ns = since_ns };

	if (is_reported(w, pid))
		return;
	remember_reported(w, pid);
	report(w, &join, NULL, 0);
}

static void begin_to_join(struct watcher *w, pid_t pid, uint64_t since_ns)
{
	struct joining *j;
	struct pfs_err why;
	bool ended;
	int ret;

	for (unsigned int i = 0; i < w->nr_joining; i++)
		if (w->joining[i].layout.pid == pid)
			return;
	j = pfs_array_add(w->joining, w->nr_joining, w->max_joining);
	if (!j)
		return;
	*j = (struct joining){ .layout = { .pid = pid, .maps_fd = -1 }, .since_ns = since_ns };
	ret = pfs_snapshot_open(&j->layout, &why);
	ended = pfs_has_ended(pid);
	if (ended)
		report_missed(w, pid, since_ns);
	if (ended || ret) {
		pfs_snapshot_close(&j->layout);
		w->nr_joining--;
		return;
	}
	j->ts_ns = pfs_now_ns();
}

/* Those that it started before it was entered, as far as they have not been handed on to another parent. */
static void join_children(struct watcher *w, pid_t tid)
{
	char file[64], children[16384];
	const char *at = children;
	uint64_t child;

	snprintf(file, sizeof(file), "task/%d/children", tid);
	if (!pfs_process_read(tid, file, children, sizeof(children)))
		return;
	for (; pfs_take_dec(&at, INT32_MAX, &child); at += strspn(at, " "))
		if (!is_traced(w, child) && pfs_user_has(w->of->uid, w->of->own, child))
			begin_to_join(w, child, 0);
}

/* What begins to join, joins; it may have started others meanwhile. */
static void join_all(struct watcher *w)
{
	unsigned int before, nr_listed;
	struct pfs_err why;
	uint64_t whole_ns;

	if (!w->nr_joining)
		return;
	w->tids.nr = 0;
	do {
		before = w->tids.nr;
		nr_listed = w->nr_joining;
		for (unsigned int i = 0; i < nr_listed; i++)
			pfs_snapshot_tasks(w->joining[i].layout.pid, w->joining[i].ts_ns, list_thread, w, &why);
		for (unsigned int i = before; i < w->tids.nr; i++)
			join_children(w, w->tids.tids[i]); /* now, for it may end while it is entered */
		for (unsigned int i = 0; i < nr_listed; i++)
			report_layout(w, &w->joining[i]);
		enter_threads(w, before);
		read_traced(w);
		for (unsigned int i = before; i < w->tids.nr; i++)
			join_children(w, w->tids.tids[i]);
	} while (w->tids.nr > before && !w->over);
	whole_ns = pfs_now_ns();
	while (w->nr_joining) {
		struct joining *j = &w->joining[--w->nr_joining];

		if (!w->over)
			report_process(w, j, whole_ns);
		pfs_snapshot_close(&j->layout);
	}
	w->scan_ns = 0;
}

/* ---- scanning ---- */

/* The list of those traced is read last: what a traced one starts is in /proc a moment before it is there. */
static void scan(struct watcher *w)
{
	uint64_t began_ns = pfs_now_ns();
	unsigned int nr;
	pid_t *pids = pfs_user_list(w->of->uid, w->of->own, &nr);

	w->scan_ns = UINT64_MAX;
	read_traced(w);
	for (unsigned int i = 0; pids && i < nr; i++)
		if (!is_traced(w, pids[i]))
			begin_to_join(w, pids[i], 0);
	free(pids);
	w->rest_ns = pfs_now_ns() + (pfs_now_ns() - began_ns) * SCAN_PART;
	join_all(w);
}

/* Returns true if a process joined: that takes time in which the kernel may have reported more. */
static bool hear(struct watcher *w)
{
	struct pfs_uid_change change;
	bool joins;
	int ret;

	read_traced(w);
	while ((ret = pfs_connector_next(CONNECTOR_FD, &change)) == 1) {
		if (change.euid != w->of->uid || is_traced(w, change.pid))
			continue;
		if (pfs_is_program(w->of->own, change.pid))
			begin_to_join(w, change.pid, change.ts_ns);
		else if (pfs_has_ended(change.pid))
			report_missed(w, change.pid, change.ts_ns);
		w->scan_ns = 0; /* if it has ended already, what it started may live */
	}
	if (ret) /* -ENOBUFS: some reports were lost */
		w->scan_ns = 0;
	joins = w->nr_joining;
	join_all(w);
	return joins && !w->over;
}

static int timeout_ms(const struct watcher *w)
{
	uint64_t now = pfs_now_ns();

	if (w->of->connector_fd < 0)
		return PFS_WATCH_POLL_MS;
	if (w->scan_ns == UINT64_MAX)
		return -1;
	return w->rest_ns > now ? (w->rest_ns - now) / 1000000 + 1 : 0;
}

static void run(void *ctx, bool again)
{
	struct watcher w = { .of = ctx };
	struct pollfd fds[] = {
		{ SOCKET_FD, POLLIN, 0 },
		{ w.of->connector_fd < 0 ? -1 : CONNECTOR_FD, POLLIN, 0 },
	};

	while (!w.over) {
		while (w.of->connector_fd >= 0 && hear(&w))
			;
		if (w.of->connector_fd < 0 || (!w.scan_ns && pfs_now_ns() >= w.rest_ns))
			scan(&w);
		if (poll(fds, 2, timeout_ms(&w)) < 0 && errno != EINTR)
			break;
		w.over |= !!fds[0].revents; /* it gets no requests: this is the end */
		/* Earlier reports of the kernel are still read, unless pfscope is dead. */
		if (w.of->connector_fd >= 0 && fds[0].revents && !(fds[0].revents & POLLHUP)) {
			w.over = false;
			hear(&w);
			break;
		}
	}
	if (w.of->connector_fd >= 0)
		pfs_connector_close(CONNECTOR_FD);
	free(w.traced);
	free(w.joining);
	free(w.tids.tids);
}

/* ---- pfscope's side ---- */

int pfs_watcher_start(const struct pfs_watch *watch, struct pfs_err *err)
{
	int fds[NR_FDS + PFS_WATCH_MAX_CPUS] = { -1, watch->event_pid_fd, watch->connector_fd, watch->function_pid_fd };
	const struct pfs_helper helper = {
		.name = "pfscope-watcher",
		.fds = fds,
		.nr_fds = NR_FDS + watch->nr_cpus,
		.run = run,
		.ctx = (void *)watch,
	};

	if (watch->nr_cpus)
		memcpy(fds + NR_FDS, watch->ring_fds, watch->nr_cpus * sizeof(*fds));
	return pfs_helper_connect(&helper, err);
}

static unsigned int take_fds(struct msghdr *msg, int fds[PFS_JOIN_MAX_FDS])
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);
	unsigned int nr;

	if (!cmsg || cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
		return 0;
	nr = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(cmsg), nr * sizeof(int));
	return nr;
}

int pfs_watcher_next(int fd, struct pfs_join *join, int fds[PFS_JOIN_MAX_FDS], unsigned int *nr_fds, bool *dropped)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(PFS_JOIN_MAX_FDS * sizeof(int))];
	struct iovec iov = { join, sizeof(*join) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t got;

	got = TEMP_FAILURE_RETRY(recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
	if (got < 0 && errno == EAGAIN)
		return 0;
	if (got != sizeof(*join))
		return got < 0 && errno != ECONNRESET ? -errno : -EPIPE;
	*nr_fds = take_fds(&msg, fds);
	*dropped = msg.msg_flags & MSG_CTRUNC;
	return 1;
}
