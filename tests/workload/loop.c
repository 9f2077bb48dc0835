/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs until it is told to stop, mapping, touching and unmapping at a known pace: what to attach
 * to.
 *
 *     loop               until SIGTERM or SIGINT
 *     loop 5 --threads 3 --pace 500 --prefix /tmp/x
 *
 * Each thread, PACE times a second (100): maps 8 pages, writes 5 of them, takes rights away from 2
 * others each time, and unmaps the 8 pages of 16 rounds ago: 5 exceptions a round, whoever watches.
 * On SIGUSR1 all threads stop between two rounds and a checkpoint (checkpoint.h) is saved to
 * PREFIX.PID.N.maps. On SIGUSR2 it becomes the user of --uid, or again who it was. Exit status 0 in either
 * case of the end, and the counts as key=value lines.
 */
#include "checkpoint.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>

#define MAP_PAGES   8
#define TOUCH_PAGES 5
#define KEEP	    16
#define MAX_THREADS 256

struct loop {
	pthread_rwlock_t gate; /* a round holds it to read, a checkpoint to write */
	volatile int stop;
	long pace;
};

struct worker {
	struct loop *loop;
	pthread_t thread;
	char *kept[KEEP];
	long rounds;
};

static void round_of(struct worker *w)
{
	char **slot = &w->kept[w->rounds++ % KEEP];
	size_t len = MAP_PAGES * WL_PAGE;
	char *p;

	if (*slot)
		munmap(*slot, len);
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		wl_die("mmap");
	madvise(p, len, MADV_NOHUGEPAGE);
	wl_touch_write(p, TOUCH_PAGES);
	mprotect(p + w->rounds % 7 * WL_PAGE, 2 * WL_PAGE, w->rounds % 3 ? PROT_READ : PROT_NONE);
	*slot = p;
}

/* Rounds begin at fixed times: a late one does not move the next. */
static void *work(void *arg)
{
	struct worker *w = arg;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!w->loop->stop) {
		pthread_rwlock_rdlock(&w->loop->gate);
		round_of(w);
		pthread_rwlock_unlock(&w->loop->gate);
		next.tv_nsec += 1000000000 / w->loop->pace;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return NULL;
}

/* The saved user stays: it is the way back. */
static void become_other(uid_t uid)
{
	uid_t real, effective, saved, to;

	getresuid(&real, &effective, &saved);
	to = effective == uid ? saved : uid;
	if (setresuid(to, to, -1))
		wl_die("setresuid");
}

/* Until the end of `seconds` (0: none) or a signal that says so. */
static void serve(struct loop *loop, struct checkpoints *cps, int fd, long seconds, uid_t uid)
{
	uint64_t end_ns = wl_now_ns() + seconds * UINT64_C(1000000000);
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct signalfd_siginfo info;

	for (;;) {
		uint64_t now_ns = wl_now_ns();

		if (seconds && now_ns >= end_ns)
			return;
		if (poll(&pfd, 1, seconds ? (int)((end_ns - now_ns) / 1000000) + 1 : -1) <= 0)
			continue;
		if (read(fd, &info, sizeof(info)) != sizeof(info))
			wl_die("signalfd");
		if (info.ssi_signo == SIGUSR2) {
			become_other(uid);
			continue;
		}
		if (info.ssi_signo != SIGUSR1)
			return;
		pthread_rwlock_wrlock(&loop->gate);
		checkpoint(cps);
		pthread_rwlock_unlock(&loop->gate);
	}
}

/* The signals, for all threads, as a descriptor. */
static int take_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		wl_die("signalfd");
	return fd;
}

struct options {
	long seconds, threads, pace, uid;
	const char *prefix;
};

static void parse(struct options *opt, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (argv[i][0] != '-')
			opt->seconds = wl_number(argv[i], 1000000);
		else if (!value)
			wl_usage("loop [SECONDS] [--threads N] [--pace HZ] [--prefix PREFIX] [--uid UID]");
		else if (!strcmp(argv[i], "--threads") && i++)
			opt->threads = wl_number(value, MAX_THREADS);
		else if (!strcmp(argv[i], "--pace") && i++)
			opt->pace = wl_number(value, 100000);
		else if (!strcmp(argv[i], "--uid") && i++)
			opt->uid = wl_number(value, 65535);
		else if (!strcmp(argv[i], "--prefix") && i++)
			opt->prefix = value;
		else
			wl_usage("loop [SECONDS] [--threads N] [--pace HZ] [--prefix PREFIX]");
	}
	if (!opt->threads || !opt->pace)
		wl_usage("loop: --threads and --pace begin at 1");
}

int main(int argc, char **argv)
{
	static struct checkpoints cps;
	static struct worker workers[MAX_THREADS];
	static struct wl wl;
	struct options opt = { 0, 1, 100, getuid(), "loop" };
	struct loop loop = { .gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP };
	int fd;

	parse(&opt, argc, argv);
	loop.pace = opt.pace;
	checkpoints_init(&cps, opt.prefix, 0);
	cps.verbose = 1;
	fd = take_signals();
	wl_init(&wl, "loop");
	wl_begin(&wl);
	for (long i = 0; i < opt.threads; i++) {
		workers[i].loop = &loop;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			wl_die("pthread_create");
	}
	dprintf(STDOUT_FILENO, "ready pid=%d\n", getpid());
	serve(&loop, &cps, fd, opt.seconds, opt.uid);
	loop.stop = 1;
	for (long i = 0; i < opt.threads; i++) {
		pthread_join(workers[i].thread, NULL);
		wl.pages += workers[i].rounds * TOUCH_PAGES;
	}
	wl_end(&wl);
	wl_report(&wl);
	printf("rounds=%ld\ncheckpoints=%u\n", wl.pages / TOUCH_PAGES, cps.nr);
	return 0;
}
