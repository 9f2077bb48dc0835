/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets the kernel reach for PAGES untouched pages by get_user_pages: no exception anywhere, yet the
 * pages are there afterwards and rusage counts them, for the process that made the system call.
 *
 *     gup 100 vm-self     process_vm_writev into the own memory
 *     gup 100 vm-child    a child writes into its parent's memory: the child's rusage counts
 *     gup 100 mem         pwrite to /proc/self/mem
 *     gup 100 direct      an O_DIRECT read of a file
 *     gup 100 vmsplice    vmsplice to a pipe: reads, so what is mapped is the zero page
 */
#include "workload.h"

#include <sys/uio.h>
#include <sys/vfs.h>

#define TMPFS 0x01021994 /* takes O_DIRECT and copies all the same */
#define CHUNK 16	 /* pages a pipe holds by default */

struct ends {
	int mem, file, null, pipe[2];
};

static char page[4096] __attribute__((aligned(4096)));

static int vm_write(pid_t pid, char *start, long pages)
{
	for (long i = 0; i < pages; i++) {
		struct iovec local = { page, WL_PAGE };
		struct iovec remote = { start + i * WL_PAGE, WL_PAGE };

		if (process_vm_writev(pid, &local, 1, &remote, 1, 0) < 0)
			return -1;
	}
	return 0;
}

static int from_child(char *start, long pages)
{
	pid_t parent = getpid(), child = fork();
	int status = 0;

	if (!child)
		_exit(vm_write(parent, start, pages) ? 1 : 0);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return -1;
	errno = EPERM;
	return status ? -1 : 0;
}

static int splice_out(const struct ends *ends, char *start, long pages)
{
	for (long i = 0; i < pages; i += CHUNK) {
		long n = pages - i < CHUNK ? pages - i : CHUNK;
		struct iovec iov = { start + i * WL_PAGE, n * WL_PAGE };

		if (vmsplice(ends->pipe[1], &iov, 1, 0) != (ssize_t)iov.iov_len ||
		    splice(ends->pipe[0], NULL, ends->null, NULL, iov.iov_len, 0) < 0)
			return -1;
	}
	return 0;
}

static int each_page(const struct ends *ends, const char *mode, char *start, long pages)
{
	for (long i = 0; i < pages; i++) {
		char *p = start + i * WL_PAGE;
		ssize_t n = *mode == 'm' ? pwrite(ends->mem, page, WL_PAGE, (uintptr_t)p)
					 : pread(ends->file, p, WL_PAGE, 0);

		if (n != (ssize_t)WL_PAGE)
			return -1;
	}
	return 0;
}

static void reach(const struct ends *ends, const char *mode, char *start, long pages)
{
	int err;

	if (!strcmp(mode, "vm-self"))
		err = vm_write(getpid(), start, pages);
	else if (!strcmp(mode, "vm-child"))
		err = from_child(start, pages);
	else if (!strcmp(mode, "vmsplice"))
		err = splice_out(ends, start, pages);
	else
		err = each_page(ends, mode, start, pages);
	if (err)
		wl_die("%s", mode);
}

static void open_ends(struct ends *ends, const char *mode)
{
	int fd = wl_file(1, 0, 1);
	struct statfs fs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ends->mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ends->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ends->file = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (!strcmp(mode, "direct") && (ends->file < 0 || fstatfs(fd, &fs) || fs.f_type == TMPFS))
		wl_skip("the file system of $TMPDIR has no O_DIRECT");
	if (pipe2(ends->pipe, O_CLOEXEC))
		wl_die("pipe");
}

int main(int argc, char **argv)
{
	static struct wl wl;
	struct ends ends;
	const char *mode = argc > 2 ? argv[2] : "vm-self";

	wl_check_args(argc, 1, 2, "gup PAGES", "vm-self|vm-child|mem|direct|vmsplice", mode);
	wl_init(&wl, "gup");
	wl.pages = wl_number(argv[1], 1L << 20);
	open_ends(&ends, mode);
	memset(page, 1, sizeof(page));
	reach(&ends, mode, wl_map_anon(1, PROT_READ | PROT_WRITE), 1);
	wl.start = wl_map_anon(wl.pages, PROT_READ | PROT_WRITE);
	wl.end = wl.start + wl.pages * WL_PAGE;
	wl.expect = (struct wl_expect){ 0, 0, 0, 0, wl.pages };
	if (!strcmp(mode, "vm-child"))
		wl.expect = (struct wl_expect){ 0, 0, WL_UNKNOWN, WL_UNKNOWN, WL_UNKNOWN };

	wl_begin(&wl);
	reach(&ends, mode, wl.start, wl.pages);
	wl_end(&wl);

	printf("let the kernel reach for %ld pages by %s\n", wl.pages, mode);
	wl_report(&wl);
	return 0;
}
