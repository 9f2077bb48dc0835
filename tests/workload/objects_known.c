/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes kernel objects of these kinds and numbers: objects_known [again] KIND=NUMBER...
 *
 *     pipe socket eventfd epoll   file descriptors
 *     file                        this program, opened
 *     watch                       an epoll instance that watches an event descriptor: eventpoll_epi, eventpoll_pwq
 *     dentry                      an empty file in a folder of its own, with its name and inode
 *
 * It prints "made" when it has them all, and undoes them after a byte (or the end) of standard input. again: each is undone
 * at once, and the report says how long all of that took.
 */
#include "workload.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

static char folder[] = "/tmp/objects.XXXXXX";
static int watching[2];

static int make_pipe(int fds[2])
{
	return pipe(fds);
}

static int make_socket(int fds[2])
{
	return fds[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
}

static int make_eventfd(int fds[2])
{
	return fds[0] = eventfd(0, 0);
}

static int make_epoll(int fds[2])
{
	return fds[0] = epoll_create1(0);
}

static int make_file(int fds[2])
{
	return fds[0] = open("/proc/self/exe", O_RDONLY);
}

/* Of one event descriptor in one epoll instance there is one watch: the duplicates are different ones to the kernel. */
static int make_watch(int fds[2])
{
	struct epoll_event event = { .events = EPOLLIN };

	fds[0] = dup(watching[1]);
	return fds[0] < 0 ? -1 : epoll_ctl(watching[0], EPOLL_CTL_ADD, fds[0], &event);
}

static const char *name_of(long nr)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s/%ld", folder, nr);
	return name;
}

static int make_dentry(int fds[2])
{
	static long nr;

	return mknod(name_of(fds[0] = nr++), S_IFREG | 0600, 0);
}

static void undo_fds(const int fds[2])
{
	close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
}

/* A watch belongs to the file, which its duplicates share. */
static void undo_watch(const int fds[2])
{
	epoll_ctl(watching[0], EPOLL_CTL_DEL, fds[0], NULL);
	close(fds[0]);
}

static void undo_dentry(const int fds[2])
{
	unlink(name_of(fds[0]));
}

static const struct kind {
	const char *name;
	int (*make)(int fds[2]);
	void (*undo)(const int fds[2]);
} kinds[] = {
	{ "pipe", make_pipe, undo_fds },	{ "socket", make_socket, undo_fds },
	{ "eventfd", make_eventfd, undo_fds },	{ "epoll", make_epoll, undo_fds },
	{ "file", make_file, undo_fds },	{ "watch", make_watch, undo_watch },
	{ "dentry", make_dentry, undo_dentry },
};

enum { NR_KINDS = sizeof(kinds) / sizeof(*kinds), MOST = 100000000 };

static const struct kind *parse(const char *arg, long *nr)
{
	for (int i = 0; i < NR_KINDS; i++) {
		size_t len = strlen(kinds[i].name);

		if (!strncmp(arg, kinds[i].name, len) && arg[len] == '=') {
			*nr = wl_number(arg + len + 1, MOST);
			return &kinds[i];
		}
	}
	wl_usage("objects_known [again] KIND=NUMBER...");
	return NULL;
}

static void make(const struct kind *kind, int fds[2])
{
	fds[1] = -1;
	if (kind->make(fds) < 0)
		wl_die("%s", kind->name);
}

static void make_again(const struct kind *kind, long nr)
{
	int fds[2];

	while (nr--) {
		make(kind, fds);
		kind->undo(fds);
	}
}

struct made {
	const struct kind *kind;
	int fds[2];
};

static size_t make_all(struct made *made, char **args, bool undoes)
{
	size_t nr_made = 0;
	long nr;

	for (; *args; args++) {
		const struct kind *kind = parse(*args, &nr);

		if (undoes) {
			make_again(kind, nr);
			continue;
		}
		while (nr--) {
			made[nr_made].kind = kind;
			make(kind, made[nr_made++].fds);
		}
	}
	return nr_made;
}

static long sum_of(char **args)
{
	long sum = 0, nr;

	for (; *args; args++) {
		parse(*args, &nr);
		sum += nr;
	}
	return sum;
}

int main(int argc, char **argv)
{
	static struct wl wl;
	bool undoes = argc > 1 && !strcmp(argv[1], "again");
	struct made *made = NULL;
	struct rlimit limit;
	size_t nr;
	char byte;

	argv += 1 + undoes;
	wl_init(&wl, "objects_known");
	wl.pages = sum_of(argv);
	made = calloc(undoes ? 1 : wl.pages + 1, sizeof(*made));
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (!made || !mkdtemp(folder) || (watching[0] = epoll_create1(0)) < 0 || (watching[1] = eventfd(0, 0)) < 0)
		wl_die("%s", folder);
	wl_begin(&wl);
	nr = make_all(made, argv, undoes);
	wl_end(&wl);
	if (!undoes) {
		puts("made");
		fflush(stdout);
		if (read(0, &byte, 1) < 0)
			wl_die("standard input");
	}
	while (nr--)
		made[nr].kind->undo(made[nr].fds);
	rmdir(folder);
	if (undoes)
		wl_report(&wl);
	return 0;
}
