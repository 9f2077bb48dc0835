/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user/: which processes join a recording.
 *
 *     watcher.h      the helper that adds processes of a user; what it asks of /proc and of the process connector
 *     thread_list.h  a list of threads that the kernel keeps
 *
 * The watcher is the helper (lib/os/helper.h) that adds processes to a recording of `attach --user` when they become
 * the user's.
 *
 * It keeps the privileges that pfscope drops, and takes no requests. The kernel's process connector (proc_connector.c)
 * notifies it of changes of users; without a connector it reads /proc every PFS_WATCH_POLL_MS. For each process it
 *
 * 1. opens /proc/PID/maps, once the process is not in an exec;
 * 2. opens the side-band of each thread, into the rings that pfscope has mapped;
 * 3. reads maps and passes the text to pfscope, dated then: what is touched and unmapped during step 4 is in no later text;
 * 4. enters all threads in set_event_pid with one write (each write takes a grace period), until there are no new ones;
 * 5. passes maps as a descriptor, which pfscope reads as the caller at once, and again a few times;
 * 6. scans /proc, because the kernel's list lacks what the process started before it was entered.
 *
 * The kernel's list is the only state, so the successor of a killed watcher knows everything. It ends with pfscope, or
 * when its socket is shut down.
 */
#ifndef PFS_WATCHER_H
#define PFS_WATCHER_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PFS_JOIN_MAX_FDS   250 /* SCM_MAX_FD is 253 */
#define PFS_WATCH_POLL_MS  100
#define PFS_WATCH_MAX_CPUS 8192

struct pfs_watch {
	uid_t uid;
	pid_t own;	      /* pfscope itself */
	int connector_fd;     /* -1: /proc is looked at every PFS_WATCH_POLL_MS */
	int event_pid_fd;     /* set_event_pid, to be read and written */
	int function_pid_fd;  /* set_ftrace_pid; -1: that is not wanted */
	const int *ring_fds;  /* of the side-band, by CPU; -1: none */
	unsigned int nr_cpus; /* at most PFS_WATCH_MAX_CPUS; 0: no side-band */
};

/* What the watcher reports of a new process: its threads, one by one, its layout, and that it was entered. */
struct pfs_join {
	enum pfs_join_kind {
		PFS_JOIN_THREAD,  /* fds: its side-band (sideband.h); it may take several messages */
		PFS_JOIN_LAYOUT,  /* fds: a copy of /proc/PID/maps, read before it was entered */
		PFS_JOIN_PROCESS, /* fds: /proc/PID/maps; none if it has ended */
		PFS_JOIN_MISSED,  /* it has ended already; pid and since_ns alone */
	} kind;
	pid_t pid, tid;
	uint64_t ts_ns;	   /* when its thread, or its layout, was looked at */
	uint64_t whole_ns; /* from then on everything is recorded; of the process only */
	uint64_t since_ns; /* from when on it is the user's; 0: not known */
	bool unwatched;	   /* a thread without side-band though there is one */
	char text[1024];   /* name of the thread; /proc/PID/stat, of the layout */
};

/*
 * Starts it. The descriptors stay the caller's. Returns the socket of its reports, which also keeps it running; or
 * -errno with err set.
 */
int pfs_watcher_start(const struct pfs_watch *watch, struct pfs_err *err);

/*
 * The next report; the descriptors are the caller's. *dropped: there was no room for all of them. 1; 0: none now; -EPIPE:
 * the watcher has ended; or another -errno.
 */
int pfs_watcher_next(int fd, struct pfs_join *join, int fds[PFS_JOIN_MAX_FDS], unsigned int *nr_fds, bool *dropped);

/* ---- user_procs.c: the processes of a user ---- */

/*
 * Is it one of those with that effective user, as in stap/tapset/target.stp, and memory of its own? own: the calling
 * pfscope. It, its children, and the helpers of any pfscope (os/helper.h) are not.
 */
bool pfs_user_has(uid_t uid, pid_t own, pid_t pid);

/* Is it one of any user's? */
bool pfs_is_program(pid_t own, pid_t pid);

/* Has it ended, or is it about to and has no memory any more? */
bool pfs_has_ended(pid_t pid);

/* All *nr of the user's, to be freed by the caller. NULL with errno: no memory, no /proc. */
pid_t *pfs_user_list(uid_t uid, pid_t own, unsigned int *nr);

/* ---- proc_connector.c: the kernel's process connector (Documentation/driver-api/connector.rst, linux/cn_proc.h) ---- */

/* A process, or a thread of it, has become another user's. */
struct pfs_uid_change {
	pid_t pid;
	uid_t euid;	/* the effective one that it has now */
	uint64_t ts_ns; /* CLOCK_MONOTONIC */
};

/*
 * A descriptor to poll, which does not block; or -errno with err set. Needs CAP_NET_ADMIN, and the first namespaces of
 * users, processes and the network.
 */
int pfs_connector_open(struct pfs_err *err);

/* The next change. 1; 0: none now; -ENOBUFS: some were lost; or another -errno. */
int pfs_connector_next(int fd, struct pfs_uid_change *change);

/*
 * Stops the kernel's messages; the descriptor is closed. Up to Linux 6.5 it does not conclude that from its
 * being closed.
 */
void pfs_connector_close(int fd);

#endif
