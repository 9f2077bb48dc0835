/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of a recorder of objects while it records, see recording.h. */
#include "base/units.h"
#include "base/write_all.h"
#include "common/command.h"
#include "common/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { MAX_MESSAGE = 512, MAX_SERVED = 16, PATIENCE_MS = 5000 };

const char *const control_words[] = {
	[PFS_CONTROL_STATS] = "stats",
	[PFS_CONTROL_PAUSE] = "pause",
	[PFS_CONTROL_RESUME] = "resume",
	[PFS_CONTROL_CLEAR] = "clear",
	NULL,
};

/* ---- messages ---- */

struct message {
	char text[MAX_MESSAGE];
	struct sockaddr_un from;
	socklen_t from_len;
	struct ucred who; /* pid 0: in no PID namespace of ours; -1: the kernel does not say */
};

/* The socket of that process. */
static socklen_t name_of(pid_t pid, struct sockaddr_un *name)
{
	*name = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return offsetof(struct sockaddr_un, sun_path) + 1 +
	       snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "pfscope-kmap-%d", pid);
}

/* len: of the name; of a family alone: any free one. -errno. */
static int open_socket(const struct sockaddr_un *name, socklen_t len)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), ret;

	if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)) &&
	    !bind(fd, (const struct sockaddr *)name, len))
		return fd;
	ret = -errno;
	pfs_close(fd);
	return ret;
}

/* False: there is none. */
static bool receive(int fd, struct message *m)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec iov = { m->text, sizeof(m->text) - 1 };
	struct msghdr msg = { .msg_name = &m->from,
			      .msg_namelen = sizeof(m->from),
			      .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	ssize_t got = TEMP_FAILURE_RETRY(recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));

	if (got < 0)
		return false;
	m->text[got] = '\0';
	m->from_len = msg.msg_namelen;
	m->who = (struct ucred){ .pid = -1 };
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
			memcpy(&m->who, CMSG_DATA(c), sizeof(m->who));
	return true;
}

/* ---- the recorder ---- */

int control_open(void)
{
	struct sockaddr_un name;
	socklen_t len = name_of(getpid(), &name);
	int fd = open_socket(&name, len);

	if (fd < 0)
		message("the recording cannot be paused: no socket: %s", strerror(-fd));
	return fd < 0 ? -1 : fd;
}

/* "3.2 s of 10 s: 12,345 events, 1.2M, nothing lost" */
static const char *recorded_text(char *buf, size_t size, const struct pfs_control_result *r, unsigned int nr_pauses)
{
	char events[32], bytes[8], lost[32], recorded[32], whole[32];

	pfs_duration_text(recorded, r->whole_ns - r->paused_ns, 3);
	pfs_duration_text(whole, r->whole_ns, 3);
	snprintf(buf, size, "%s%s%s: %s events, %s, %s lost", recorded, nr_pauses ? " of " : "", nr_pauses ? whole : "",
		 pfs_grouped_text(events, r->events), pfs_size_text(bytes, r->bytes),
		 r->lost ? pfs_grouped_text(lost, r->lost) : "nothing");
	return buf;
}

/* "0paused after 3.2 s: 12,345 events, 1.2M, nothing lost": before the text stands whether it failed. */
static void put_result(char *buf, size_t size, enum pfs_control what, const struct pfs_control_result *r)
{
	unsigned int nr_pauses = r->nr_pauses - (what == PFS_CONTROL_PAUSE && r->changed);
	char text[MAX_MESSAGE / 2];

	switch (what) {
	case PFS_CONTROL_PAUSE:
		snprintf(buf, size, "0%spaused after %s", r->changed ? "" : "already ",
			 recorded_text(text, sizeof(text), r, nr_pauses));
		break;
	case PFS_CONTROL_RESUME:
		if (r->changed)
			snprintf(buf, size, "0resumed after a pause of %s", pfs_duration_text(text, r->pause_ns, 3));
		else
			snprintf(buf, size, "0not paused");
		break;
	case PFS_CONTROL_CLEAR:
		snprintf(buf, size, "0cleared: %s events dropped%s", pfs_grouped_text(text, r->dropped),
			 r->paused ? "; still paused" : "");
		break;
	default:
		snprintf(buf, size, "0%s %s", r->paused ? "paused after" : "recording for",
			 recorded_text(text, sizeof(text), r, nr_pauses));
	}
}

static int serve(const struct message *m, struct pfs_live *live, char *answer, size_t size, struct pfs_err *err)
{
	struct pfs_control_result result;
	int what = 0, ret;

	if (m->who.pid < 0 || (m->who.uid && m->who.uid != geteuid())) {
		snprintf(answer, size, "1not allowed: it is another user's");
		return 0;
	}
	while (control_words[what] && strcmp(control_words[what], m->text))
		what++;
	if (!control_words[what]) {
		snprintf(answer, size, "1this version cannot do it");
		return 0;
	}
	ret = live->source->control(live, what, &result, err);
	if (ret)
		snprintf(answer, size, "1%.400s", err->msg);
	else
		put_result(answer, size, what, &result);
	return ret;
}

int control_serve(int fd, struct pfs_live *live, struct pfs_err *err)
{
	char answer[MAX_MESSAGE];
	struct message m;
	int ret = 0;

	for (int i = 0; !ret && i < MAX_SERVED && receive(fd, &m); i++) {
		ret = serve(&m, live, answer, sizeof(answer), err);
		/* The asker may be gone. */
		(void)!sendto(fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&m.from,
			      m.from_len);
	}
	return ret;
}

void control_close(int *fd)
{
	static const char answer[] = "1the recording is over";
	struct message m;

	for (int i = 0; *fd >= 0 && i < MAX_SERVED && receive(*fd, &m); i++)
		(void)!sendto(*fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&m.from,
			      m.from_len);
	pfs_close(*fd);
	*fd = -1;
}

/* ---- the asker ---- */

static int no_recorder(pid_t pid, int process_fd, struct pfs_err *err)
{
	if (process_fd < 0 && errno == ESRCH)
		return pfs_err_set(err, -ESRCH, "process %d: no such process", pid);
	return pfs_err_set(err, -ENOENT, "process %d: does not record kernel objects (`pfscope kmap record')", pid);
}

static int send_to(int fd, pid_t pid, const char *word)
{
	struct sockaddr_un name;
	socklen_t len = name_of(pid, &name);

	return sendto(fd, word, strlen(word), MSG_NOSIGNAL, (struct sockaddr *)&name, len) < 0 ? -errno : 0;
}

/* From that process only: anybody may take the name of a socket. */
static int await(int fd, pid_t pid, int process_fd, struct message *m, struct pfs_err *err)
{
	struct pollfd fds[] = { { fd, POLLIN, 0 }, { process_fd, POLLIN, 0 } };

	do {
		int ready = TEMP_FAILURE_RETRY(poll(fds, 2, PATIENCE_MS));

		if (ready < 0)
			return pfs_err_set(err, -errno, "poll: %s", strerror(errno));
		while (receive(fd, m))
			if (m->who.pid == pid)
				return 0;
		if (!ready)
			return pfs_err_set(err, -ETIMEDOUT, "process %d: does not answer", pid);
	} while (!fds[1].revents);
	return pfs_err_set(err, -ESRCH, "process %d: has ended", pid);
}

int control_ask(pid_t pid, enum pfs_control what, char *answer, size_t size, struct pfs_err *err)
{
	const struct sockaddr_un any = { .sun_family = AF_UNIX };
	int process_fd = syscall(SYS_pidfd_open, pid, 0), fd, ret;
	struct message m = { 0 };

	if (process_fd < 0)
		return no_recorder(pid, process_fd, err);
	fd = open_socket(&any, sizeof(any.sun_family));
	ret = fd < 0 ? fd : send_to(fd, pid, control_words[what]);
	if (ret == -ECONNREFUSED)
		ret = no_recorder(pid, process_fd, err);
	else if (ret)
		pfs_err_set(err, ret, "process %d: cannot ask: %s", pid, strerror(-ret));
	else
		ret = await(fd, pid, process_fd, &m, err);
	if (!ret && *m.text != '0')
		ret = pfs_err_set(err, -EPERM, "process %d: %s", pid, *m.text ? m.text + 1 : "no answer");
	if (!ret)
		snprintf(answer, size, "%s", m.text + 1);
	pfs_close(fd);
	close(process_fd);
	return ret;
}
