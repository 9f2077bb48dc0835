/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads in the midst of a page fault that nobody ends: each touches a page whose userfaultfd nobody reads. To be
 * killed, which is the only thing that gets them out.
 *
 *     stuck 3         prints its report and "ready" when three threads, the first among them, are about to fault
 *     stuck 3 wait    when it waits for a SIGUSR1, to begin then
 */
#include "workload.h"

#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>

#define MAX_THREADS 64

static char *region(long pages)
{
	long fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	struct uffdio_api api = { .api = UFFD_API };
	char *start = wl_map_anon(pages, PROT_READ | PROT_WRITE);
	struct uffdio_register all = {
		.range = { (unsigned long)start, pages * WL_PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &all))
		wl_skip("no userfaultfd");
	return start;
}

static void *touch(void *page)
{
	*(volatile char *)page = 1;
	return NULL;
}

static void say(const struct wl *wl, const char *what)
{
	printf("%ld threads %s\n", wl->pages, what);
	wl_report(wl);
	puts("ready");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct wl wl;
	pthread_t thread;
	sigset_t usr1;
	int sig;

	if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "wait")))
		wl_usage("stuck THREADS [wait]");
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	wl_init(&wl, "stuck");
	wl.pages = wl_number(argv[1], MAX_THREADS);
	wl.start = region(wl.pages);
	wl.end = wl.start + wl.pages * WL_PAGE;
	if (argc == 3) {
		say(&wl, "wait");
		sigwait(&usr1, &sig);
	}
	for (long i = 1; i < wl.pages; i++)
		if (pthread_create(&thread, NULL, touch, wl.start + i * WL_PAGE))
			wl_die("pthread_create");
	if (argc == 2)
		say(&wl, "fault for ever");
	touch(wl.start);
	return 1;
}
