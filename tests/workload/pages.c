/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes pages present and absent, step by step as its arguments have it, for the comparison of `pfscope pages` with
 * pagemap (tests/live/pages.t):
 *
 *     pages disk:40 map:40:rw read:20 write:21 fork write:22 end write:23
 *
 * A step is a word with arguments behind colons. I and J are pages of the mapping made last: I, or I-J for [I, J).
 *
 *     disk:N memory:N secret:N zero     the file that the next map: maps: on disk, memfd, memfd_secret, /dev/zero
 *     map:N[:FLAGS]                     maps N pages of it, or anonymous ones. Flags: rwx, s shared, L locked,
 *                                       P populated, N nonblock, H huge pages (hugetlb), T aligned and MADV_HUGEPAGE,
 *                                       G grows down, - none; without any: rw
 *     shm:N                             attaches a segment
 *     read:I write:I exec:I             touches; a signal that comes of it is caught
 *     grow:N                            writes N pages below a mapping that grows down
 *     mem-read:I mem-write:I            by /proc/self/mem
 *     advise:NUMBER[:I]  protect:FLAGS[:I]  lock[:I]  lock-all:NUMBER  unmap:I
 *     remap:N move keep again           mremap: to N pages; elsewhere; elsewhere with DONTUNMAP; a second copy
 *     truncate:N punch:I                the file
 *     uffd:I-J copy:I zero-page:I       userfaultfd: registers pages (all), fills some
 *     register:I-J move-page:I          ... registers others; moves a page to the next one
 *     maps:PREFIX                       saves /proc/self/maps (checkpoint.h)
 *     fork ... end                      a child does what is between, then ends; its parent waits
 *     kill:N                            a signal to itself
 */
#include "checkpoint.h"
#include "workload.h"

#include <linux/falloc.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/shm.h>

#define ROOM_PAGES 4096 /* where mappings are moved to */

struct run {
	char *start; /* of the mapping */
	size_t pages;
	int fd;	     /* for the next mapping, or -1 */
	int last_fd; /* of the mapping */
	int uffd;
	char **steps; /* those that are left */
};

/* A range of pages. */
struct span {
	char *start;
	size_t len;
};

static sigjmp_buf fault_guard;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(fault_guard, 1);
}

/* "I", "I-J", or all pages without text. */
static struct span span_of(const struct run *r, const char *text)
{
	size_t first = 0, end = r->pages;

	if (text && sscanf(text, "%zu-%zu", &first, &end) == 1)
		end = first + 1;
	return (struct span){ r->start + first * WL_PAGE, (end - first) * WL_PAGE };
}

static long number(const char *text)
{
	return text ? wl_number(text, 1l << 40) : 0;
}

static int prot_of(const char *flags)
{
	int prot = 0;

	if (!flags || !*flags)
		return PROT_READ | PROT_WRITE;
	prot |= strchr(flags, 'r') ? PROT_READ : 0;
	prot |= strchr(flags, 'w') ? PROT_WRITE : 0;
	return prot | (strchr(flags, 'x') ? PROT_EXEC : 0);
}

/* ---- mappings ---- */

static void use_file(struct run *r, int fd, const char *pages, bool resize)
{
	if (fd < 0 || (resize && ftruncate(fd, number(pages) * WL_PAGE)))
		wl_skip("no such file here");
	r->fd = fd;
}

static void step_disk(struct run *r, char *args)
{
	use_file(r, wl_file(number(args), 0xc3, 1), args, false);
}

static void step_memory(struct run *r, char *args)
{
	use_file(r, memfd_create("pages", MFD_CLOEXEC), args, true);
}

static void step_secret(struct run *r, char *args)
{
	use_file(r, syscall(447 /* memfd_secret */, O_CLOEXEC), args, true);
}

static void step_zero(struct run *r, char *args)
{
	use_file(r, open("/dev/zero", O_RDWR | O_CLOEXEC), args, false);
}

static int map_flags(const char *text, int fd)
{
	static const struct {
		char letter;
		int flags;
	} letters[] = {
		{ 'L', MAP_LOCKED },
		{ 'P', MAP_POPULATE },
		{ 'N', MAP_NONBLOCK },
		{ 'G', MAP_GROWSDOWN },
		{ 'H', MAP_HUGETLB | MAP_NORESERVE },
	};
	int flags = text && strchr(text, 's') ? MAP_SHARED : MAP_PRIVATE;

	for (unsigned int i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		flags |= text && strchr(text, letters[i].letter) ? letters[i].flags : 0;
	return flags | (fd < 0 ? MAP_ANONYMOUS : 0);
}

static void step_map(struct run *r, char *args)
{
	char *flags = strchr(args, ':'), *hint = NULL;
	size_t align = 0;

	if (flags)
		*flags++ = '\0';
	r->pages = number(args);
	if (flags && strchr(flags, 'T'))
		align = WL_HUGE;
	if (flags && strchr(flags, 'G'))
		hint = (char *)0x200000000000;
	r->start = mmap(hint, r->pages * WL_PAGE + align, prot_of(flags), map_flags(flags, r->fd), r->fd, 0);
	if (r->start == MAP_FAILED)
		wl_skip("no such mapping here");
	if (align) {
		r->start = (char *)(((uintptr_t)r->start + align - 1) & -align);
		madvise(r->start, r->pages * WL_PAGE, MADV_HUGEPAGE);
	}
	r->last_fd = r->fd;
	r->fd = -1;
}

static void step_shm(struct run *r, char *args)
{
	int id = shmget(IPC_PRIVATE, number(args) * WL_PAGE, IPC_CREAT | 0600);

	r->start = id < 0 ? (char *)-1 : shmat(id, NULL, 0);
	r->pages = number(args);
	if (id < 0 || shmctl(id, IPC_RMID, NULL) || r->start == (char *)-1)
		wl_die("shmat");
}

static void step_unmap(struct run *r, char *args)
{
	struct span s = span_of(r, args);

	munmap(s.start, s.len);
}

/* A range that is free for a mapping, between pages that nobody uses. */
static char *free_room(void)
{
	char *p = mmap(NULL, ROOM_PAGES * WL_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		wl_die("no room");
	return p + 3 * WL_PAGE;
}

static void remap(struct run *r, size_t old_pages, size_t pages, int flags)
{
	char *to = flags & MREMAP_FIXED ? free_room() : NULL;
	char *p = mremap(r->start, old_pages * WL_PAGE, pages * WL_PAGE, flags | MREMAP_MAYMOVE, to);

	if (p == MAP_FAILED)
		wl_die("mremap");
	r->start = p;
	r->pages = pages;
}

static void step_remap(struct run *r, char *args)
{
	remap(r, r->pages, number(args), 0);
}

static void step_move(struct run *r, char *args)
{
	remap(r, r->pages, args ? number(args) : (long)r->pages, MREMAP_FIXED);
}

static void step_keep(struct run *r, char *args)
{
	(void)args;
	remap(r, r->pages, r->pages, 4 /* MREMAP_DONTUNMAP */);
}

static void step_again(struct run *r, char *args)
{
	(void)args;
	remap(r, 0, r->pages, 0);
}

/* ---- touches ---- */

static void touch(struct run *r, const char *args, char how)
{
	struct span s = span_of(r, args);

	for (char *volatile p = s.start; p < s.start + s.len; p += WL_PAGE) {
		if (sigsetjmp(fault_guard, 1))
			continue;
		if (how == 'w')
			*(volatile char *)p = (char)0xc3;
		else if (how == 'x')
			((void (*)(void))p)();
		else
			(void)*(volatile char *)p;
	}
}

static void step_read(struct run *r, char *args)
{
	touch(r, args, 'r');
}

static void step_write(struct run *r, char *args)
{
	touch(r, args, 'w');
}

static void step_exec(struct run *r, char *args)
{
	touch(r, args, 'x');
}

static void step_grow(struct run *r, char *args)
{
	*(volatile char *)(r->start - number(args) * WL_PAGE) = 1;
}

static void step_mem_read(struct run *r, char *args)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	char byte;

	(void)!pread(fd, &byte, 1, (uintptr_t)span_of(r, args).start);
	close(fd);
}

static void step_mem_write(struct run *r, char *args)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	(void)!pwrite(fd, "x", 1, (uintptr_t)span_of(r, args).start);
	close(fd);
}

/* ---- what takes pages away, or makes them present unasked ---- */

/* The text behind the first colon, which is cut off there. */
static char *second(char *args)
{
	char *colon = args ? strchr(args, ':') : NULL;

	if (colon)
		*colon++ = '\0';
	return colon;
}

static void step_advise(struct run *r, char *args)
{
	struct span s = span_of(r, second(args));

	madvise(s.start, s.len, number(args));
}

static void step_protect(struct run *r, char *args)
{
	struct span s = span_of(r, second(args));

	mprotect(s.start, s.len, prot_of(args));
}

static void step_lock(struct run *r, char *args)
{
	struct span s = span_of(r, args);

	mlock(s.start, s.len);
}

static void step_lock_all(struct run *r, char *args)
{
	(void)r;
	mlockall(number(args));
}

static void step_truncate(struct run *r, char *args)
{
	if (ftruncate(r->last_fd, number(args) * WL_PAGE))
		wl_die("ftruncate");
}

static void step_punch(struct run *r, char *args)
{
	struct span s = span_of(r, args);

	if (fallocate(r->last_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, s.start - r->start, s.len))
		wl_skip("no holes in files here");
}

static void step_uffd(struct run *r, char *args)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	reg.range.start = (uintptr_t)span_of(r, args).start;
	reg.range.len = span_of(r, args).len;
	r->uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1 /* UFFD_USER_MODE_ONLY */);
	if (r->uffd < 0 || ioctl(r->uffd, UFFDIO_API, &api) || ioctl(r->uffd, UFFDIO_REGISTER, &reg))
		wl_skip("no userfaultfd");
}

static void step_register(struct run *r, char *args)
{
	struct span s = span_of(r, args);
	struct uffdio_register reg = { .range = { (uintptr_t)s.start, s.len }, .mode = UFFDIO_REGISTER_MODE_MISSING };

	if (ioctl(r->uffd, UFFDIO_REGISTER, &reg))
		wl_die("UFFDIO_REGISTER");
}

/* The first page of the span to its second, which has to be registered and absent. */
static void step_move_page(struct run *r, char *args)
{
	struct {
		uint64_t dst, src, len, mode;
		int64_t moved;
	} move = { .src = (uintptr_t)span_of(r, args).start, .len = WL_PAGE };

	move.dst = move.src + WL_PAGE;
	if (ioctl(r->uffd, _IOWR(0xaa, 5, move), &move)) /* UFFDIO_MOVE, 6.8 */
		wl_skip("no UFFDIO_MOVE");
}

static void step_maps(struct run *r, char *args)
{
	static struct checkpoints cps;

	(void)r;
	checkpoints_init(&cps, args, cps.nr);
	checkpoint(&cps);
}

static void step_copy(struct run *r, char *args)
{
	static char page[4096] __attribute__((aligned(4096))) = { 1 };
	struct uffdio_copy copy = { .dst = (uintptr_t)span_of(r, args).start, .src = (uintptr_t)page, .len = WL_PAGE };

	if (ioctl(r->uffd, UFFDIO_COPY, &copy))
		wl_die("UFFDIO_COPY");
}

static void step_zero_page(struct run *r, char *args)
{
	struct span s = span_of(r, args);
	struct uffdio_zeropage zero = { .range = { (uintptr_t)s.start, s.len } };

	if (ioctl(r->uffd, UFFDIO_ZEROPAGE, &zero))
		wl_die("UFFDIO_ZEROPAGE");
}

/* ---- processes ---- */

static void do_steps(struct run *r);

/* After the matching `end`. */
static void pass_over(struct run *r)
{
	for (unsigned int depth = 1; depth && *r->steps; r->steps++)
		depth += !strcmp(*r->steps, "fork") - !strcmp(*r->steps, "end");
}

static void step_fork(struct run *r, char *args)
{
	pid_t pid = fork();

	(void)args;
	if (pid < 0)
		wl_die("fork");
	if (!pid) {
		do_steps(r);
		_exit(0);
	}
	pass_over(r);
	waitpid(pid, NULL, 0);
}

static void step_end(struct run *r, char *args)
{
	(void)r;
	(void)args;
	_exit(0);
}

static void step_kill(struct run *r, char *args)
{
	(void)r;
	kill(syscall(SYS_getpid), number(args));
}

static const struct {
	const char *name;
	void (*fn)(struct run *r, char *args);
} steps[] = {
	{ "disk", step_disk },
	{ "memory", step_memory },
	{ "secret", step_secret },
	{ "zero", step_zero },
	{ "map", step_map },
	{ "shm", step_shm },
	{ "unmap", step_unmap },
	{ "remap", step_remap },
	{ "move", step_move },
	{ "keep", step_keep },
	{ "again", step_again },
	{ "read", step_read },
	{ "write", step_write },
	{ "exec", step_exec },
	{ "grow", step_grow },
	{ "mem-read", step_mem_read },
	{ "mem-write", step_mem_write },
	{ "advise", step_advise },
	{ "protect", step_protect },
	{ "lock", step_lock },
	{ "lock-all", step_lock_all },
	{ "truncate", step_truncate },
	{ "punch", step_punch },
	{ "uffd", step_uffd },
	{ "register", step_register },
	{ "move-page", step_move_page },
	{ "maps", step_maps },
	{ "copy", step_copy },
	{ "zero-page", step_zero_page },
	{ "fork", step_fork },
	{ "end", step_end },
	{ "kill", step_kill },
};

static void do_step(struct run *r, char *step)
{
	char *args = second(step);

	for (unsigned int i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (!strcmp(steps[i].name, step)) {
			steps[i].fn(r, args);
			return;
		}
	}
	errno = 0;
	wl_die("no such step: %s", step);
}

static void do_steps(struct run *r)
{
	while (*r->steps)
		do_step(r, *r->steps++);
}

int main(int argc, char **argv)
{
	struct run run = { .fd = -1, .last_fd = -1, .uffd = -1, .steps = argv + 1 };
	struct sigaction sa = { .sa_handler = on_fault };

	if (argc < 2)
		wl_usage("pages STEP...");
	if (sigaction(SIGSEGV, &sa, NULL) || sigaction(SIGBUS, &sa, NULL))
		wl_die("sigaction");
	do_steps(&run);
	return 0;
}
