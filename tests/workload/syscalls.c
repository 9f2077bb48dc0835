/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that read or write PAGES untouched pages, one call a page: faults in kernel mode.
 *
 *     syscalls 100 read          read() of a cached file into the page
 *     syscalls 100 zero          read() of /dev/zero
 *     syscalls 100 getrandom     and pipe, getcwd, stat, uname: the same for other calls
 *     syscalls 100 write         write() of the page to a file: new kernels first try with page
 *                                faults off, then again
 *     syscalls 100 write-pipe    write() of the page to a pipe
 */
#include "workload.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define BYTES 64

struct ends {
	int file, zero, pipe[2];
};

static const char modes[] = "read|zero|pipe|getrandom|getcwd|stat|uname|write|write-pipe";

static long one_write(const struct ends *ends, const char *mode, char *p)
{
	char drain[BYTES];

	if (!strcmp(mode, "write"))
		return pwrite(ends->file, p, BYTES, 0);
	if (write(ends->pipe[1], p, BYTES) != BYTES)
		return -1;
	return read(ends->pipe[0], drain, BYTES);
}

static long one(const struct ends *ends, const char *mode, char *p)
{
	static char full[BYTES];

	if (!strcmp(mode, "read"))
		return pread(ends->file, p, BYTES, 0);
	if (!strcmp(mode, "zero"))
		return read(ends->zero, p, BYTES);
	if (!strcmp(mode, "getrandom"))
		return getrandom(p, BYTES, GRND_NONBLOCK);
	if (!strcmp(mode, "getcwd"))
		return syscall(SYS_getcwd, p, WL_PAGE);
	if (!strcmp(mode, "stat"))
		return syscall(SYS_fstat, ends->zero, p);
	if (!strcmp(mode, "uname"))
		return uname((struct utsname *)p);
	if (*mode == 'w')
		return one_write(ends, mode, p);
	return write(ends->pipe[1], full, BYTES) < 0 ? -1 : read(ends->pipe[0], p, BYTES);
}

static void each(const struct ends *ends, const char *mode, char *start, long pages)
{
	for (long i = 0; i < pages; i++)
		if (one(ends, mode, start + i * WL_PAGE) < 0)
			wl_die("%s", mode);
}

int main(int argc, char **argv)
{
	static struct wl wl;
	struct ends ends = { .file = wl_file(1, 1, 1) };
	const char *mode = argc > 2 ? argv[2] : "read";
	long n;

	wl_check_args(argc, 1, 2, "syscalls PAGES", modes, mode);
	wl_init(&wl, "syscalls");
	wl.pages = n = wl_number(argv[1], 1L << 20);
	ends.zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (pipe2(ends.pipe, O_CLOEXEC))
		wl_die("pipe");
	each(&ends, mode, wl_map_anon(2, PROT_READ | PROT_WRITE), 2);
	wl.start = wl_map_anon(n, PROT_READ | PROT_WRITE);
	wl.end = wl.start + n * WL_PAGE;
	wl.expect = (struct wl_expect){ 0, n, n, n, n };
	if (!strcmp(mode, "write"))
		wl.expect.kernel = WL_UNKNOWN;

	wl_begin(&wl);
	each(&ends, mode, wl.start, n);
	wl_end(&wl);

	printf("called %s on %ld pages\n", mode, n);
	wl_report(&wl);
	return 0;
}
