/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/watcher.h"

#include "base/write_all.h"

#include <errno.h>
#include <arpa/inet.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MS    200
#define BUFFER_BYTES (1 << 20)

/* The header is as long as its alignment has it; what follows is not aligned. */
struct request {
	struct nlmsghdr netlink;
	struct cn_msg connector;
	enum proc_cn_mcast_op op;
} __attribute__((packed));

struct message {
	struct nlmsghdr netlink;
	struct cn_msg connector;
	struct proc_event event;
} __attribute__((packed));

/* All other events (forks and ends of the whole system) wake nobody. The filter loads big-endian words. */
static int filter(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct message, event.what)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_UID), 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_NONE), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ? -errno : 0;
}

static int ask(int fd, enum proc_cn_mcast_op op, uint32_t ack)
{
	struct request r = {
		.netlink = { .nlmsg_len = sizeof(r), .nlmsg_type = NLMSG_DONE },
		.connector = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .ack = ack, .len = sizeof(r.op) },
		.op = op,
	};

	return send(fd, &r, sizeof(r), 0) < 0 ? -errno : 0;
}

/* One message of the kernel's. 1, 0: none now, -errno; messages of another size are passed over. */
static int next(int fd, struct message *m)
{
	struct sockaddr_nl from;
	socklen_t from_len;
	ssize_t got;

	for (;;) {
		from_len = sizeof(from);
		got = TEMP_FAILURE_RETRY(
			recvfrom(fd, m, sizeof(*m), MSG_DONTWAIT, (struct sockaddr *)&from, &from_len));
		if (got < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (!from.nl_pid &&
		    (size_t)got >= offsetof(struct message, event.event_data.id) + sizeof(m->event.event_data.id))
			return 1;
	}
}

/* The kernel answers at once, with the next number, or, in another namespace, never. */
static int listen_to(int fd)
{
	struct pollfd poll_fd = { fd, POLLIN, 0 };
	uint32_t ack = getpid();
	struct message m;
	int ret = ask(fd, PROC_CN_MCAST_LISTEN, ack);

	while (!ret && poll(&poll_fd, 1, ANSWER_MS) > 0) {
		ret = next(fd, &m);
		if (ret == 1 && m.event.what == PROC_EVENT_NONE && m.connector.ack == ack + 1)
			return m.event.event_data.ack.err ? -(int)m.event.event_data.ack.err : 0;
		ret = ret == 1 ? 0 : ret;
	}
	return ret ? ret : -ETIMEDOUT;
}

int pfs_connector_open(struct pfs_err *err)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	int fd = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
	int bytes = BUFFER_BYTES, ret = fd < 0 ? -errno : 0;

	if (!ret) {
		setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
		ret = filter(fd);
	}
	if (!ret && bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		ret = -errno;
	if (!ret)
		ret = listen_to(fd);
	if (!ret)
		return fd;
	pfs_close(fd);
	return pfs_err_set(err, ret, "the kernel's process connector: %s", strerror(-ret));
}

int pfs_connector_next(int fd, struct pfs_uid_change *change)
{
	struct message m;
	int ret;

	while ((ret = next(fd, &m)) == 1 && m.event.what != PROC_EVENT_UID)
		;
	if (ret == 1)
		*change = (struct pfs_uid_change){
			.pid = m.event.event_data.id.process_tgid,
			.euid = m.event.event_data.id.e.euid,
			.ts_ns = m.event.timestamp_ns,
		};
	return ret;
}

void pfs_connector_close(int fd)
{
	if (fd < 0)
		return;
	ask(fd, PROC_CN_MCAST_IGNORE, 0);
	close(fd);
}
