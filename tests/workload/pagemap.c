/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a command and saves the state of every page (snapshot.h) of each of its processes when a program starts
 * (after exec) and when the process ends. Beneath a recording it gives the truth to compare the recording with:
 *
 *     pfscope run -o rec.dat -- pagemap DIR gcc -c file.c       DIR/0001.pages, DIR/0002.pages, ...
 *     pagemap -i 20 DIR python3 program.py                      and each 20 ms, all threads stopped
 *
 * It follows processes and threads by ptrace. Nothing is saved while a thread could run in the address space; where
 * the only others are parents that wait in vfork, the file's first line has shared=1. The exit status is the command's.
 */
#include "snapshot.h"

#include <linux/kcmp.h>
#include <sys/ptrace.h>
#include <sys/time.h>

#define MAX_TEXT (64u << 20)
#define MAX_RUNS (4u << 20)
#define MAX_TIDS 8192
#define OPTIONS                                                                                                     \
	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | \
	 PTRACE_O_TRACEVFORKDONE | PTRACE_O_EXITKILL)

static const char usage[] = "pagemap [-i MS] DIR COMMAND [ARG]...";

struct task {
	pid_t tid, tgid;
	bool exiting;  /* it has stopped at its exit, and was let go */
	bool in_vfork; /* it waits for its child */
	bool asked;    /* it was interrupted, and has not stopped yet */
	bool held;     /* it has stopped for that */
	bool listens;  /* stopped by job control before */
};

struct tracer {
	const char *dir;
	unsigned int nr_files;
	struct snapshot snap;
	struct task tasks[MAX_TIDS];
	unsigned int nr_tasks;
	pid_t held;	      /* the process whose threads are being stopped, or 0 */
	unsigned int nr_held; /* turns, to choose it by */
	unsigned int waited;  /* ticks since it was interrupted */
};

/* ---- the tasks ---- */

static struct task *find(struct tracer *t, pid_t tid)
{
	for (unsigned int i = 0; i < t->nr_tasks; i++)
		if (t->tasks[i].tid == tid)
			return &t->tasks[i];
	return NULL;
}

/* The number after `key` in /proc/TID/status, -1 if the task is gone. */
static long status_of(pid_t tid, const char *key)
{
	char path[32], text[4096], *at;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	len = snapshot_maps(path, text, sizeof(text) - 1);
	if (len < 0)
		return -1;
	text[len] = '\0';
	at = strstr(text, key);
	return at ? strtol(at + strlen(key), NULL, 10) : -1;
}

/* A task that has given up its memory: Z or X, or no task any more. */
static bool is_dead(pid_t tid)
{
	char path[32], text[512], *at;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	len = snapshot_maps(path, text, sizeof(text) - 1);
	if (len < 0)
		return true;
	text[len] = '\0';
	at = strrchr(text, ')');
	return !at || at[2] == 'Z' || at[2] == 'X';
}

static struct task *get(struct tracer *t, pid_t tid)
{
	struct task *task = find(t, tid);
	long tgid;

	if (task)
		return task;
	if (t->nr_tasks == MAX_TIDS)
		wl_die("more than %d tasks", MAX_TIDS);
	tgid = status_of(tid, "\nTgid:");
	task = &t->tasks[t->nr_tasks++];
	*task = (struct task){ .tid = tid, .tgid = tgid < 0 ? tid : tgid };
	return task;
}

static void forget(struct tracer *t, pid_t tid)
{
	struct task *task = find(t, tid);

	if (task)
		*task = t->tasks[--t->nr_tasks];
}

static bool same_memory(const struct task *a, const struct task *b)
{
	return a->tgid == b->tgid || !syscall(SYS_kcmp, a->tid, b->tid, KCMP_VM, 0, 0);
}

/* ---- saving ---- */

enum sharing { ALONE, SHARED, BUSY };

/* A task that is past its exit stop needs a moment to give up its memory. */
static bool wait_dead(pid_t tid)
{
	for (int i = 0; i < 20000; i++) {
		if (is_dead(tid))
			return true;
		usleep(100);
	}
	return false;
}

/* Who else could run in the memory of `me`, which is stopped. */
static enum sharing sharing_of(struct tracer *t, const struct task *me)
{
	enum sharing sharing = ALONE;

	for (unsigned int i = 0; i < t->nr_tasks; i++) {
		const struct task *other = &t->tasks[i];

		if (other == me || !same_memory(me, other) || is_dead(other->tid))
			continue;
		if (other->tgid != me->tgid)
			sharing = SHARED;
		if (other->held || other->in_vfork)
			continue;
		if (!other->exiting || !wait_dead(other->tid))
			return BUSY;
	}
	return sharing;
}

static void save(struct tracer *t, const struct task *task, const char *why)
{
	enum sharing sharing = sharing_of(t, task);
	char path[4096], head[128];

	if (sharing == BUSY)
		return;
	if (snapshot_take(&t->snap, task->tid)) {
		if (errno == ENOENT || errno == ESRCH) /* it was killed */
			return;
		wl_die("cannot read the pages of %d", task->tid);
	}
	if (!t->snap.len_text)
		return;
	snprintf(path, sizeof(path), "%s/%04u.pages", t->dir, ++t->nr_files);
	snprintf(head, sizeof(head), "pid=%d tid=%d why=%s%s", task->tgid, task->tid, why,
		 sharing == SHARED ? " shared=1" : "");
	if (snapshot_write(&t->snap, path, head))
		wl_die("cannot write %s", path);
}

static void cont(pid_t tid, int sig)
{
	if (ptrace(PTRACE_CONT, tid, NULL, (long)sig) && errno != ESRCH)
		wl_die("cannot continue %d", tid);
}

/* ---- at each interval: one process's threads are stopped ---- */

static volatile sig_atomic_t ticked;

static void on_tick(int sig)
{
	(void)sig;
	ticked = 1;
}

static void release(struct tracer *t)
{
	for (unsigned int i = 0; i < t->nr_tasks; i++) {
		struct task *task = &t->tasks[i];

		if (task->held && task->listens)
			ptrace(PTRACE_LISTEN, task->tid, NULL, NULL);
		else if (task->held)
			cont(task->tid, 0);
		task->held = task->asked = false;
	}
	t->held = 0;
}

/* Once all of them have stopped. */
static void save_held(struct tracer *t)
{
	const struct task *any = NULL;

	for (unsigned int i = 0; i < t->nr_tasks; i++) {
		if (t->tasks[i].asked)
			return;
		if (t->tasks[i].held)
			any = &t->tasks[i];
	}
	if (any)
		save(t, any, "interval");
	release(t);
}

/* The processes take turns. One whose threads do not all stop within 20 intervals is let go. */
static void tick(struct tracer *t)
{
	ticked = 0;
	if (t->held && ++t->waited < 20)
		return;
	release(t);
	if (!t->nr_tasks)
		return;
	t->held = t->tasks[t->nr_held++ % t->nr_tasks].tgid;
	t->waited = 0;
	for (unsigned int i = 0; i < t->nr_tasks; i++) {
		struct task *task = &t->tasks[i];

		if (task->tgid == t->held && !task->exiting && !task->in_vfork)
			task->asked = !ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL);
	}
}

/* ---- following ---- */

static void at_exec(struct tracer *t, struct task *task)
{
	unsigned long former = 0;

	ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &former);
	if ((pid_t)former != task->tid)
		forget(t, former);
	task = get(t, task->tid);
	*task = (struct task){ .tid = task->tid, .tgid = task->tgid };
	save(t, task, "exec");
}

static void at_event(struct tracer *t, struct task *task, int event)
{
	unsigned long child = 0;

	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &child);
		task->in_vfork = event == PTRACE_EVENT_VFORK;
		get(t, child); /* moves no other: `task` stays valid */
		break;
	case PTRACE_EVENT_VFORK_DONE:
		task->in_vfork = false;
		break;
	case PTRACE_EVENT_EXEC:
		at_exec(t, task);
		break;
	case PTRACE_EVENT_EXIT:
		save(t, task, "exit");
		task->exiting = true;
		break;
	}
}

/* What it stopped for; then it goes on. */
static void at_stop(struct tracer *t, pid_t tid, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status);
	struct task *task = get(t, tid);

	if (!event) {
		cont(tid, sig);
		return;
	}
	if (event == PTRACE_EVENT_STOP)
		task->listens = sig != SIGTRAP; /* stopped by job control, until it is continued */
	if (event == PTRACE_EVENT_STOP && task->asked) {
		task->asked = false;
		task->held = true;
		return;
	}
	if (event == PTRACE_EVENT_STOP && task->listens) {
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
		return;
	}
	at_event(t, task, event);
	cont(tid, 0);
}

/* To the end of all of them; the command's status. */
static int follow(struct tracer *t, pid_t command)
{
	int status, result = 0;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (ticked)
			tick(t);
		if (tid > 0 && WIFSTOPPED(status))
			at_stop(t, tid, status);
		else if (tid > 0)
			forget(t, tid);
		if (tid == command && !WIFSTOPPED(status))
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (t->held)
			save_held(t);
	}
	return result;
}

/* The command waits until it is traced. */
static pid_t start(char **argv)
{
	int gate[2];
	char byte;
	pid_t pid;

	if (pipe2(gate, O_CLOEXEC))
		wl_die("pipe");
	pid = fork();
	if (pid < 0)
		wl_die("fork");
	if (!pid) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) == 1)
			execvp(argv[0], argv);
		dprintf(STDERR_FILENO, "pagemap: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (ptrace(PTRACE_SEIZE, pid, NULL, (long)OPTIONS))
		wl_die("cannot trace");
	if (write(gate[1], "", 1) != 1)
		wl_die("cannot start");
	close(gate[0]);
	close(gate[1]);
	signal(SIGINT, SIG_IGN); /* the command's to act upon */
	signal(SIGQUIT, SIG_IGN);
	return pid;
}

/* Also where nothing else happens waitpid() returns at each. */
static void start_ticks(long ms)
{
	struct sigaction sa = { .sa_handler = on_tick };
	struct itimerval every = { { ms / 1000, ms % 1000 * 1000 }, { ms / 1000, ms % 1000 * 1000 } };

	if (sigaction(SIGALRM, &sa, NULL) || setitimer(ITIMER_REAL, &every, NULL))
		wl_die("timer");
}

static void init(struct tracer *t)
{
	struct snapshot *s = &t->snap;

	s->max_text = MAX_TEXT;
	s->max_runs = MAX_RUNS;
	s->text = malloc(MAX_TEXT);
	s->runs = malloc(MAX_RUNS * sizeof(*s->runs));
	if (!s->text || !s->runs)
		wl_die("memory");
	s->zero_pfn = snapshot_zero_pfn();
}

int main(int argc, char **argv)
{
	static struct tracer tracer;
	pid_t command;
	long ms = 0;

	if (argc > 2 && !strcmp(argv[1], "-i")) {
		ms = wl_number(argv[2], 1000000);
		argc -= 2;
		argv += 2;
	}
	if (argc < 3)
		wl_usage(usage);
	tracer.dir = argv[1];
	init(&tracer);
	command = start(argv + 2);
	if (ms)
		start_ticks(ms);
	return follow(&tracer, command);
}
