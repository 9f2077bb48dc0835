/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `layout --pages` does beyond layout_ops.h: pages become present and absent in every way, by the process itself,
 * by the kernel on its behalf and by other processes. layout.c's table names these operations.
 *
 * Any page of a file may be called as code: what is written to a page leaves RET in its first byte.
 */
#ifndef LAYOUT_TOUCHES_H
#define LAYOUT_TOUCHES_H

#include "layout_ops.h"

#include <sys/random.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <linux/falloc.h>
#include <linux/futex.h>

/* What older headers lack. */
#define L_MADV_COLD	       20
#define L_MADV_PAGEOUT	       21
#define L_MADV_POPULATE_READ   22
#define L_MADV_POPULATE_WRITE  23
#define L_MADV_DONTNEED_LOCKED 24
#define L_MADV_COLLAPSE	       25

/* ---- by the kernel ---- */

static void kernel_pipe_out(struct layout *l, char *p)
{
	int fds[2];

	(void)l;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return;
	(void)!write(fds[1], p, 1);
	close(fds[0]);
	close(fds[1]);
}

static void kernel_pipe_in(struct layout *l, char *p)
{
	static const char ret = (char)RET;
	int fds[2];

	(void)l;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return;
	if (write(fds[1], &ret, 1) == 1)
		(void)!read(fds[0], p, 1);
	close(fds[0]);
	close(fds[1]);
}

static void kernel_vmsplice(struct layout *l, char *p)
{
	struct iovec iov = { p, WL_PAGE };
	int fds[2];

	(void)l;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return;
	vmsplice(fds[1], &iov, 1, 0);
	close(fds[0]);
	close(fds[1]);
}

static void kernel_getrandom(struct layout *l, char *p)
{
	(void)l;
	(void)!getrandom(p + 8, 16, 0);
}

static void kernel_clear(struct layout *l, char *p)
{
	(void)!read(l->fds[0], p + 8, 16);
}

static void kernel_uname(struct layout *l, char *p)
{
	(void)l;
	uname((struct utsname *)(p + 8));
}

static void kernel_file_out(struct layout *l, char *p)
{
	(void)!pwrite(l->scratch, p, 1, 0);
}

static void kernel_file_in(struct layout *l, char *p)
{
	(void)!pread(l->fds[2], p, 1, 0);
}

/* A whole page past the page cache. */
static void kernel_direct(struct layout *l, char *p)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", l->fds[2]);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)!pread(fd, p, WL_PAGE, 0);
	close(fd);
}

/* By get_user_pages; the file also writes where the process may not. */
static void memory_write(pid_t pid, char *p, bool file)
{
	static char ret = (char)RET;
	struct iovec from = { &ret, 1 }, to = { p, 1 };
	char path[32];
	int fd;

	if (!file) {
		process_vm_writev(pid, &from, 1, &to, 1, 0);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)!pwrite(fd, &ret, 1, (uintptr_t)p);
	close(fd);
}

static void memory_read(pid_t pid, char *p)
{
	char byte;
	struct iovec to = { &byte, 1 }, from = { p, 1 };

	process_vm_readv(pid, &to, 1, &from, 1, 0);
}

static void kernel_vm_write(struct layout *l, char *p)
{
	(void)l;
	memory_write(syscall(SYS_getpid), p, false);
}

static void kernel_mem_write(struct layout *l, char *p)
{
	(void)l;
	memory_write(syscall(SYS_getpid), p, true);
}

static void kernel_vm_read(struct layout *l, char *p)
{
	(void)l;
	memory_read(syscall(SYS_getpid), p);
}

static void kernel_futex(struct layout *l, char *p)
{
	static const struct timespec now = { 0, 0 };

	(void)l;
	syscall(SYS_futex, p + 8, FUTEX_WAIT_PRIVATE, 1, &now, NULL, 0);
}

static void kernel_futex_shared(struct layout *l, char *p)
{
	(void)l;
	syscall(SYS_futex, p + 8, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* After such a touch, of which no event has the address, little is known of the process: not in all seeds. */
static bool may_touch_remotely(const struct actor *a)
{
	return a->layout->seed % 4 == 0;
}

static void op_kernel_touch(struct actor *a)
{
	static void (*const touches[])(struct layout *, char *) = {
		kernel_pipe_out,
		kernel_pipe_in,
		kernel_vmsplice,
		kernel_getrandom,
		kernel_clear,
		kernel_uname,
		kernel_file_out,
		kernel_file_in,
		kernel_direct,
		kernel_futex,
		kernel_futex_shared,
		/* remotely */
		kernel_vm_write,
		kernel_vm_read,
		kernel_mem_write,
	};
	int i;
	struct span s = target(a, &i);
	unsigned int nr = sizeof(touches) / sizeof(*touches) - (may_touch_remotely(a) ? 0 : 3);

	for (unsigned int n = 1 + below(a, 4); n; n--)
		touches[below(a, nr)](a->layout, s.start + below(a, s.pages) * WL_PAGE);
}

/* ---- by itself ---- */

static void op_touch_many(struct actor *a)
{
	int i;
	struct span s = target(a, &i);

	for (unsigned int n = 1 + below(a, 6); n; n--)
		touch_span(a, s, i >= 0 && a->areas[i].code);
}

/* Each page of it, in order or backwards. */
static void op_sweep(struct actor *a)
{
	int i;
	struct span s = target(a, &i);
	bool backwards = chance(a, 30);
	unsigned int how = below(a, i >= 0 && a->areas[i].code ? 3 : 2);

	for (size_t n = 0; n < s.pages && n < 200; n++)
		touch_one(s.start + (backwards ? s.pages - 1 - n : n) * WL_PAGE, how);
}

static void op_present(struct actor *a)
{
	static const int advices[] = {
		L_MADV_POPULATE_READ, L_MADV_POPULATE_WRITE,  MADV_WILLNEED, MADV_DONTNEED,
		MADV_DONTNEED,	      L_MADV_DONTNEED_LOCKED, MADV_FREE,     L_MADV_COLD,
		L_MADV_PAGEOUT,	      L_MADV_COLLAPSE,
	};
	int advice = advices[below(a, sizeof(advices) / sizeof(*advices))], i;
	struct span s = target(a, &i);

	madvise(s.start, bytes(s), advice);
	if (chance(a, 30))
		touch_span(a, s, i >= 0 && a->areas[i].code);
}

/* Takes pages out of a shared file's memory, here and everywhere. */
static void op_remove(struct actor *a)
{
	unsigned int i;

	if (!a->nr_areas)
		return;
	i = below(a, a->nr_areas);
	struct span s = part_of(a, a->areas[i].span);
	if (!a->areas[i].removable)
		return;
	madvise(s.start, bytes(s), MADV_REMOVE);
	touch_span(a, s, false);
}

/* A file that shrinks, grows and gets holes while it is mapped. */
static void op_file_changes(struct actor *a)
{
	struct area area = { .span = { NULL, 1 + below(a, 40) } };
	int fd = memfd_create("changing", MFD_CLOEXEC), flags = chance(a, 60) ? MAP_SHARED : MAP_PRIVATE;
	size_t pages = area.span.pages;

	if (fd < 0 || ftruncate(fd, (1 + below(a, pages)) * WL_PAGE - below(a, 2) * 100))
		goto out;
	area.span.start = mmap(NULL, bytes(area.span), PROT_READ | PROT_WRITE, flags, fd, 0);
	if (area.span.start == MAP_FAILED)
		goto out;
	for (unsigned int n = 2 + below(a, 4); n; n--) {
		touch_span(a, area.span, false);
		if (chance(a, 50))
			(void)!ftruncate(fd, below(a, pages * WL_PAGE));
		else if (chance(a, 70))
			fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, below(a, pages) * WL_PAGE,
				  (1 + below(a, pages)) * WL_PAGE);
		else
			(void)!pwrite(fd, "x", 1, below(a, pages * WL_PAGE));
	}
	area_add(a, area);
out:
	if (fd >= 0)
		close(fd);
}

/* Memory that may get huge pages, which then are split and taken away in part. */
static void op_huge(struct actor *a)
{
	struct area area = { .span = { NULL, (1 + below(a, 3)) * WL_HUGE / WL_PAGE } };
	int flags = chance(a, 80) ? MAP_PRIVATE : MAP_SHARED;
	char *p = mmap(NULL, bytes(area.span), PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	area.span.start = p;
	madvise(p, bytes(area.span), MADV_HUGEPAGE);
	for (unsigned int n = 1 + below(a, 4); n; n--) {
		struct span s = part_of(a, area.span);

		touch_span(a, area.span, false);
		if (chance(a, 30))
			madvise(s.start, bytes(s), MADV_DONTNEED);
		else if (chance(a, 20))
			madvise(p, bytes(area.span), L_MADV_COLLAPSE);
		else if (chance(a, 20))
			mprotect(s.start, bytes(s), random_prot(a));
	}
	area_add(a, area);
}

/* Pages that only userfaultfd fills: by a copy, by the zero page. */
static void op_userfaultfd_fill(struct actor *a)
{
	static char page[4096] __attribute__((aligned(4096))) = { (char)RET };
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1 /* UFFD_USER_MODE_ONLY */);
	char *p = mmap(NULL, 16 * WL_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		goto out;
	reg.range.start = (uintptr_t)p;
	reg.range.len = 16 * WL_PAGE;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		goto add;
	for (unsigned int n = below(a, 6); n; n--) {
		struct uffdio_zeropage zero = { .range = { reg.range.start + below(a, 14) * WL_PAGE,
							   (1 + below(a, 2)) * WL_PAGE } };
		struct uffdio_copy copy = { .dst = zero.range.start, .src = (uintptr_t)page, .len = WL_PAGE };

		if (chance(a, 50))
			ioctl(fd, UFFDIO_COPY, &copy);
		else
			ioctl(fd, UFFDIO_ZEROPAGE, &zero);
	}
	if (a->alone)
		checkpoint(&a->layout->cps);
add:
	area_add(a, (struct area){ .span = { p, 16 } });
out:
	if (fd >= 0)
		close(fd);
}

#endif
