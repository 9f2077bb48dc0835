/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sideband/accounts.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/write_all.h"
#include "os/process.h"
#include "record/pfscope_records.h"

#include <dirent.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES (8 << 20)

/* The end of a thread is in perf's records by then, if it is recorded at all. */
#define KEPT_NS UINT64_C(2000000000)

struct pair {
	uint64_t minor, major;
};

/* A reading of /proc. */
struct reading {
	struct pair count;
	char state; /* 0: not read yet */
	bool exact; /* the thread slept then, and at the reading before, which was the same */
};

struct thread {
	int32_t tid, pid;
	struct reading begin, end;
	UT_hash_handle hh;
};

struct proc {
	int32_t pid;
	unsigned int nr_threads;
	unsigned int nr_uncertain; /* threads whose counts may lack or have a fault that was under way */
	struct pair count;	   /* of threads that have ended */
	bool uncounted;		   /* the count of a thread is missing */
	UT_hash_handle hh;
};

/* The record of a thread's end. */
struct ended {
	int32_t tid;
	struct pair count;
	uint64_t taken_ns;
};

struct pfs_accounts {
	int fd; /* netlink */
	uint16_t family;
	struct thread *threads;
	struct proc *procs;
	struct ended *ended; /* that are not asked for yet, in order */
	size_t nr_ended, max_ended;
};

/* ---- taskstats ---- */

struct message {
	struct nlmsghdr netlink;
	struct genlmsghdr command;
	char body[4096];
};

static const struct nlattr *next_attribute(const struct nlattr *at)
{
	return (const struct nlattr *)((const char *)at + NLA_ALIGN(at->nla_len));
}

/* The attribute of that type in the `len` bytes from `at` on, whose payload has at least `size`; NULL: there is none. */
static const struct nlattr *attribute(const void *at, size_t len, int type, size_t size)
{
	const char *end = (const char *)at + len;

	for (const struct nlattr *a = at; (const char *)(a + 1) <= end; a = next_attribute(a)) {
		if (a->nla_len < NLA_HDRLEN || (const char *)a + a->nla_len > end)
			return NULL;
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a->nla_len >= NLA_HDRLEN + size ? a : NULL;
	}
	return NULL;
}

static const void *payload(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

static size_t payload_len(const struct nlattr *a)
{
	return a->nla_len - NLA_HDRLEN;
}

/* One command with one attribute of text; its answer is in *m. The number of bytes in its body, or -errno. */
static int ask(int fd, uint16_t family, uint8_t command, uint16_t type, const char *text, struct message *m)
{
	struct nlattr a = { .nla_len = NLA_HDRLEN + strlen(text) + 1, .nla_type = type };
	const struct nlmsgerr *error = NLMSG_DATA(&m->netlink);
	ssize_t got;

	*m = (struct message){
		.netlink = { .nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.command = { .cmd = command, .version = 1 },
	};
	if ((size_t)NLA_ALIGN(a.nla_len) > sizeof(m->body))
		return -E2BIG;
	memcpy(m->body, &a, sizeof(a));
	strcpy(m->body + NLA_HDRLEN, text);
	m->netlink.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + NLA_ALIGN(a.nla_len);
	if (send(fd, m, m->netlink.nlmsg_len, 0) < 0)
		return -errno;
	got = TEMP_FAILURE_RETRY(recv(fd, m, sizeof(*m), 0));
	if (got < (ssize_t)NLMSG_LENGTH(sizeof(int)))
		return got < 0 ? -errno : -EPROTO;
	if (m->netlink.nlmsg_type == NLMSG_ERROR)
		return error->error;
	return got > (ssize_t)NLMSG_LENGTH(GENL_HDRLEN) ? got - NLMSG_LENGTH(GENL_HDRLEN) : 0;
}

/* The number of the family, which the kernel assigns. */
static int find_family(int fd, uint16_t *family)
{
	struct message m;
	const struct nlattr *a;
	int ret = ask(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME, &m);
	char acknowledgement[64];

	if (ret < 0)
		return ret;
	a = attribute(m.body, ret, CTRL_ATTR_FAMILY_ID, sizeof(*family));
	if (!a)
		return -EPROTO;
	memcpy(family, payload(a), sizeof(*family));
	(void)!recv(fd, acknowledgement, sizeof(acknowledgement), 0);
	return 0;
}

/* The ends of threads on all CPUs. The kernel forgets a listener that is gone. */
static int listen_to(int fd, uint16_t *family)
{
	const int size = BUFFER_BYTES;
	struct message m;
	char cpus[256];
	ssize_t len = pfs_read_file("/sys/devices/system/cpu/possible", cpus, sizeof(cpus));
	int ret = find_family(fd, family);

	if (ret || len <= 0)
		return ret ? ret : -ENOENT;
	cpus[strcspn(cpus, "\n")] = '\0';
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return ask(fd, *family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus, &m);
}

/* What has been waited for long enough is of threads that are not recorded. */
static void forget(struct pfs_accounts *a, uint64_t now_ns)
{
	size_t nr = 0;

	while (nr < a->nr_ended && a->ended[nr].taken_ns + KEPT_NS < now_ns)
		nr++;
	a->nr_ended -= nr;
	if (nr)
		memmove(a->ended, a->ended + nr, a->nr_ended * sizeof(*a->ended));
}

static int take_one(struct pfs_accounts *a, const struct message *m, size_t len, uint64_t now_ns)
{
	size_t fields = offsetof(struct taskstats, ac_majflt) + sizeof(uint64_t);
	const struct nlattr *of, *tid, *stats;
	struct taskstats s;
	struct ended *e;

	if (len < NLMSG_LENGTH(GENL_HDRLEN) || m->netlink.nlmsg_type != a->family)
		return 0;
	of = attribute(m->body, len - NLMSG_LENGTH(GENL_HDRLEN), TASKSTATS_TYPE_AGGR_PID, 0);
	tid = of ? attribute(payload(of), payload_len(of), TASKSTATS_TYPE_PID, sizeof(e->tid)) : NULL;
	stats = of ? attribute(payload(of), payload_len(of), TASKSTATS_TYPE_STATS, fields) : NULL;
	if (!tid || !stats)
		return 0;
	e = pfs_array_add(a->ended, a->nr_ended, a->max_ended);
	if (!e)
		return -ENOMEM;
	memcpy(&s, payload(stats), fields);
	memcpy(&e->tid, payload(tid), sizeof(e->tid));
	e->count = (struct pair){ s.ac_minflt, s.ac_majflt };
	e->taken_ns = now_ns;
	return 0;
}

int pfs_accounts_take(struct pfs_accounts *a)
{
	uint64_t now_ns = pfs_now_ns();
	struct message m;
	int ret = 0;

	forget(a, now_ns);
	while (!ret) {
		ssize_t got = TEMP_FAILURE_RETRY(recv(a->fd, &m, sizeof(m), MSG_DONTWAIT));

		if (got < 0 && errno == ENOBUFS) /* some are lost: those threads have no count */
			continue;
		if (got <= 0)
			break;
		ret = take_one(a, &m, got, now_ns);
	}
	return ret;
}

struct pfs_accounts *pfs_accounts_open(struct pfs_err *err)
{
	struct pfs_accounts *a = calloc(1, sizeof(*a));
	int ret = a ? 0 : -ENOMEM;

	if (a) {
		a->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
		ret = a->fd < 0 ? -errno : listen_to(a->fd, &a->family);
	}
	if (!ret)
		return a;
	pfs_accounts_free(a);
	pfs_err_set(err, ret, "taskstats: %s", strerror(-ret));
	return NULL;
}

void pfs_accounts_free(struct pfs_accounts *a)
{
	if (!a)
		return;
	PFS_HASH_FREE(a->threads);
	PFS_HASH_FREE(a->procs);
	free(a->ended);
	pfs_close(a->fd);
	free(a);
}

/* ---- readings of /proc ---- */

static struct thread *thread_get(struct pfs_accounts *a, int32_t tid, int32_t pid)
{
	struct thread *t = PFS_HASH_GET(a->threads, tid, tid);
	struct proc *p = t && !t->pid ? PFS_HASH_GET(a->procs, pid, pid) : NULL;

	if (!t || t->pid)
		return t;
	if (!p)
		return NULL;
	t->pid = pid;
	p->nr_threads++;
	return t;
}

static void read_again(struct reading *r, int32_t pid, int32_t tid)
{
	struct reading now = { .state = pfs_thread_faults(pid, tid, &now.count.minor, &now.count.major) };

	if (now.state == 'X')
		return;
	now.exact = strchr("STt", now.state) && r->state == now.state && r->count.minor == now.count.minor &&
		    r->count.major == now.count.major;
	*r = now;
}

/* Reads each thread of the process: its count of now, at the recording's begin or end. */
static int read_process(struct pfs_accounts *a, int32_t pid, bool at_end)
{
	char path[32];
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (!ret && dir && (entry = readdir(dir))) {
		int32_t tid = pfs_pid_parse(entry->d_name);
		struct thread *t;

		if (tid <= 0)
			continue;
		if (at_end)
			HASH_FIND_INT(a->threads, &tid, t);
		else if (!(t = thread_get(a, tid, pid)))
			ret = -ENOMEM;
		if (t && t->pid == pid)
			read_again(at_end ? &t->end : &t->begin, pid, tid);
	}
	if (dir)
		closedir(dir);
	return ret;
}

int pfs_accounts_begin(struct pfs_accounts *a, pid_t pid)
{
	return read_process(a, pid, false);
}

int pfs_accounts_end(struct pfs_accounts *a)
{
	struct proc *p, *next;
	int ret = 0;

	HASH_ITER (hh, a->procs, p, next)
		ret = ret ?: read_process(a, p->pid, true);
	return ret;
}

/* ---- threads and processes ---- */

static void add_count(struct proc *p, const struct thread *t, const struct pair *end)
{
	if (!end || end->minor < t->begin.count.minor || end->major < t->begin.count.major) {
		p->uncounted = true;
		return;
	}
	p->count.minor += end->minor - t->begin.count.minor;
	p->count.major += end->major - t->begin.count.major;
	p->nr_uncertain += !t->begin.exact;
}

static int put_count(const struct proc *p, uint64_t ts_ns, raw_event_fn fn, void *ctx)
{
	struct raw_event ev = raw_event_own(RAW_PFS_NOTE, ts_ns, p->pid);

	if (p->uncounted)
		return 0;
	return pfs_records_note(
		&ev, PFS_FACT(COUNTED, .minor = p->count.minor, .major = p->count.major, .running = p->nr_uncertain),
		fn, ctx);
}

/* A thread that another one started has no count yet; of another that is new here it is not known. */
static int lives(struct pfs_accounts *a, const struct raw_event *ev)
{
	int32_t tid = ev->arg[0];
	struct thread *t;
	struct proc *p;

	HASH_FIND_INT(a->threads, &tid, t);
	if (t)
		return 0;
	t = thread_get(a, tid, ev->arg[1]);
	if (!t)
		return -ENOMEM;
	t->begin.exact = true;
	HASH_FIND_INT(a->procs, &t->pid, p);
	p->uncounted |= ev->str != NULL;
	return 0;
}

/* A thread that executes a program takes the number of the first one; the others have ended. */
static int executes(struct pfs_accounts *a, const struct raw_event *ev)
{
	int32_t pid = ev->arg[1];
	struct thread *t, *next;
	struct proc *p;

	HASH_FIND_INT(a->procs, &pid, p);
	HASH_FIND_INT(a->threads, &pid, t);
	if (!p || (t && p->nr_threads == 1))
		return 0;
	p->uncounted |= t || p->nr_threads != 1;
	HASH_ITER (hh, a->threads, t, next) {
		if (t->pid != pid || t->tid == pid)
			continue;
		HASH_DEL(a->threads, t);
		t->tid = pid;
		p->nr_threads -= p->uncounted;
		if (!p->uncounted)
			HASH_ADD(hh, a->threads, tid, sizeof(t->tid), t);
		if (p->uncounted || HASH_ADD_FAILED(t))
			free(t);
	}
	return 0;
}

/* Each is asked for once: the number of the thread is used again. */
static const struct pair *ended_count(struct pfs_accounts *a, int32_t tid)
{
	for (size_t i = 0; i < a->nr_ended; i++) {
		if (a->ended[i].tid != tid)
			continue;
		a->ended[i].tid = 0;
		return &a->ended[i].count;
	}
	return NULL;
}

static int ends(struct pfs_accounts *a, const struct raw_event *ev, raw_event_fn fn, void *ctx)
{
	int32_t tid = ev->arg[0], pid = ev->arg[1];
	struct thread *t;
	struct proc *p;
	int ret;

	HASH_FIND_INT(a->threads, &tid, t);
	HASH_FIND_INT(a->procs, &pid, p);
	if (!t || !p || t->pid != pid)
		return 0;
	add_count(p, t, ended_count(a, tid));
	HASH_DEL(a->threads, t);
	free(t);
	if (--p->nr_threads)
		return 0;
	ret = put_count(p, ev->ts_ns, fn, ctx);
	HASH_DEL(a->procs, p);
	free(p);
	return ret;
}

int pfs_accounts_task(struct pfs_accounts *a, const struct raw_event *ev, raw_event_fn fn, void *ctx)
{
	if (ev->kind != RAW_PFS_TASK)
		return 0;
	switch (ev->arg[2]) {
	case PFS_TASK_EXECS:
		return executes(a, ev);
	case PFS_TASK_ENDED:
		return ends(a, ev, fn, ctx);
	default:
		return lives(a, ev);
	}
}

int pfs_accounts_finish(struct pfs_accounts *a, uint64_t ts_ns, raw_event_fn fn, void *ctx)
{
	struct thread *t, *next_thread;
	struct proc *p, *next;
	int ret = 0;

	HASH_ITER (hh, a->threads, t, next_thread) {
		HASH_FIND_INT(a->procs, &t->pid, p);
		add_count(p, t, t->end.state ? &t->end.count : NULL);
		p->nr_uncertain += t->begin.exact && !t->end.exact;
	}
	HASH_ITER (hh, a->procs, p, next)
		ret = ret ?: put_count(p, ts_ns, fn, ctx);
	return ret;
}
