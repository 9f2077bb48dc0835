/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that fail: a signal to a handler, or EFAULT from a system call. PAGES of them. And signals
 * that fault.
 *
 *     segv 100 handler      PROT_NONE, a handler that allows the page: 2 exceptions a page
 *     segv 100 unmapped     no region there, a handler that jumps out: 1 exception, nothing mapped
 *     segv 100 bus          a mapped file's page behind the end of the file: SIGBUS
 *     segv 100 ro           a write to a page without the right to write: SIGSEGV
 *     segv 100 read         read() into PROT_NONE memory: EFAULT, exceptions in kernel mode
 *     segv 100 read-hole    read() into unmapped memory
 *     segv 100 write        write() from PROT_NONE memory to a pipe
 *     segv 100 kernel       a write to a kernel address: perf does not count it
 *     segv 100 vsyscall     a call into the [vsyscall] page: emulated, no signal, no page
 *     segv 100 frame        100 signals, each to an untouched stack of 8 pages: where its frame
 *                           crosses into a page, the kernel tries with page faults off, then again
 *     segv 100 fatal        the first of them kills the process (no key=value lines)
 */
#include "workload.h"

#include <setjmp.h>

#define FRAME_PAGES	 8
#define KERNEL_ADDRESS	 0xffff888000000000ul /* x86-64: where all memory is mapped */
#define VSYSCALL_ADDRESS 0xffffffffff600000ul

static const char modes[] = "handler|unmapped|bus|ro|read|read-hole|write|kernel|vsyscall|frame|fatal";

static struct {
	sigjmp_buf out;
	int allow; /* the handler makes the page usable instead of jumping out */
	volatile long signals, efaults;
} now;

static void handler(int sig, siginfo_t *info, void *context)
{
	uintptr_t addr = (uintptr_t)info->si_addr & -WL_PAGE;

	(void)sig;
	(void)context;
	now.signals++;
	if (!now.allow)
		siglongjmp(now.out, 1);
	if (mprotect((void *)addr, WL_PAGE, PROT_READ | PROT_WRITE))
		_exit(1);
}

static void by_signal(char *start, long pages)
{
	for (volatile long i = 0; i < pages; i++)
		if (!sigsetjmp(now.out, 1))
			*(volatile char *)(start + i * WL_PAGE) = 1;
}

static void by_call(int fd, int writes, char *start, long pages)
{
	for (long i = 0; i < pages; i++) {
		char *p = start + i * WL_PAGE;
		ssize_t n = writes ? write(fd, p, 8) : read(fd, p, 8);

		if (n < 0 && errno == EFAULT)
			now.efaults++;
	}
}

/* time() at the fixed address it had before there was a vdso. */
static void by_vsyscall(char *start, long pages)
{
	long (*volatile vsyscall_time)(long *) = (long (*)(long *))(start + 1024);

	for (volatile long i = 0; i < pages; i++)
		if (!sigsetjmp(now.out, 1))
			vsyscall_time(NULL);
}

/* 2 KiB less than the pages: so that what the frame saves of the processor crosses into a page. */
static void by_frame(char *start, long pages)
{
	for (long i = 0; i < pages; i++) {
		stack_t stack = {
			.ss_sp = start + i * FRAME_PAGES * WL_PAGE,
			.ss_size = FRAME_PAGES * WL_PAGE - 2048,
		};

		if (sigaltstack(&stack, NULL) || raise(SIGUSR1))
			wl_die("sigaltstack");
	}
}

static void on_signal(int sig)
{
	(void)sig;
	now.signals++;
}

static void fail(const char *mode, int fd, char *start, long pages)
{
	now.signals = now.efaults = 0;
	if (*mode == 'r' && mode[1] == 'e')
		by_call(fd, 0, start, pages);
	else if (*mode == 'w')
		by_call(fd, 1, start, pages);
	else if (*mode == 'v')
		by_vsyscall(start, pages);
	else if (!strcmp(mode, "frame"))
		by_frame(start, pages);
	else
		by_signal(start, pages);
}

/* The memory that each mode needs. An empty file can be mapped, and all of it is behind its end. */
static char *prepare(const char *mode, long pages)
{
	int hole = !strcmp(mode, "unmapped") || !strcmp(mode, "read-hole");
	char *start;

	if (!strcmp(mode, "kernel"))
		return (char *)KERNEL_ADDRESS;
	if (!strcmp(mode, "vsyscall"))
		return (char *)VSYSCALL_ADDRESS;
	if (!strcmp(mode, "bus"))
		return wl_map(pages, PROT_READ | PROT_WRITE, MAP_SHARED, wl_file(0, 0, 1));
	if (!strcmp(mode, "frame"))
		return wl_map_anon(FRAME_PAGES * pages, PROT_READ | PROT_WRITE);
	start = wl_map_anon(pages, !strcmp(mode, "ro") ? PROT_READ : PROT_NONE);
	if (hole)
		munmap(start, pages * WL_PAGE);
	return start;
}

static long region_pages(const char *mode, long pages)
{
	if (*mode == 'v')
		return 1;
	return strcmp(mode, "frame") ? pages : FRAME_PAGES * pages;
}

/* A file to read from, or the end of a pipe to write to. */
static int target(const char *mode)
{
	int fds[2];

	if (*mode != 'w')
		return open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (pipe2(fds, O_CLOEXEC))
		wl_die("pipe");
	return fds[1];
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	struct sigaction frame = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	if (sigaction(SIGSEGV, &sa, NULL) || sigaction(SIGBUS, &sa, NULL) || sigaction(SIGUSR1, &frame, NULL))
		wl_die("sigaction");
}

static void expect(struct wl *wl, const char *mode)
{
	long n = wl->pages;

	if (!strcmp(mode, "handler"))
		wl->expect = (struct wl_expect){ 2 * n, 0, 2 * n, n, n };
	else if (*mode == 'k')
		wl->expect = (struct wl_expect){ n, 0, 0, 0, 0 };
	else if (!strcmp(mode, "frame"))
		wl->expect.user = 0;
	else if (*mode == 'w' || !strncmp(mode, "read", 4))
		wl->expect = (struct wl_expect){ 0, n, n, 0, 0 };
	else
		wl->expect = (struct wl_expect){ n, 0, n, 0, 0 };
}

/*
 * What cannot be copied, some kernels try again byte by byte, as the processor's best way to copy cannot
 * say how far it came: then each EFAULT is two exceptions. Which it is, is no matter of chance.
 */
static void expect_retry(struct wl *wl, const char *mode)
{
	uint64_t counted = wl->after.perf[0] - wl->before.perf[0];
	long n = 2 * wl->pages;

	if ((*mode == 'w' || !strncmp(mode, "read", 4)) && !strcmp(wl->perf, "all") && counted == (uint64_t)n)
		wl->expect = (struct wl_expect){ 0, n, n, 0, 0 };
}

int main(int argc, char **argv)
{
	static struct wl wl;
	const char *mode = argc > 2 ? argv[2] : "handler";
	int fd;

	wl_check_args(argc, 1, 2, "segv PAGES", modes, mode);
	wl_init(&wl, "segv");
	wl.pages = wl_number(argv[1], 1L << 20);
	now.allow = !strcmp(mode, "handler");
	if (strcmp(mode, "fatal"))
		catch_signals();
	fd = target(mode);
	fail(mode, fd, prepare(mode, 2), 2);
	wl.start = prepare(mode, wl.pages);
	wl.end = wl.start + region_pages(mode, wl.pages) * WL_PAGE;
	expect(&wl, mode);

	wl_begin(&wl);
	fail(mode, fd, wl.start, wl.pages);
	wl_end(&wl);
	expect_retry(&wl, mode);

	printf("%s on %ld pages: %ld signals, %ld times EFAULT\n", mode, wl.pages, now.signals, now.efaults);
	wl_report(&wl);
	printf("signals=%ld\nefaults=%ld\n", now.signals, now.efaults);
	return 0;
}
