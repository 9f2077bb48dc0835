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
 *     large:N                           ... on disk, written at once: in large folios, where the file system has these
 *     file:PATH                         ... that exists, for reading
 *     same skip:N drop                  the file of the mapping made last; from its page N on; out of the page cache
 *     map:N[:FLAGS]                     maps N pages of it, or anonymous ones. Flags: rwx, s shared, L locked,
 *                                       P populated, N nonblock, H huge pages (hugetlb), B of 1 GiB, T aligned and
 *                                       MADV_HUGEPAGE, G grows down, D droppable, - none; without any: rw
 *     over:I-J[:FLAGS]                  maps the file, or anonymous memory, over these pages
 *     shm:N                             attaches a segment
 *     read:I write:I exec:I             touches; a signal that comes of it is caught
 *     grow:N peek:N                     writes, or reads, N pages below a mapping that grows down
 *     random:I                          touches in kernel mode: getrandom() writes there
 *     mem-read:I mem-write:I            by /proc/self/mem
 *     give:I                            a write() to /dev/null of memory there: only who traces it looks at it
 *     advise:NUMBER[:I]  protect:FLAGS[:I]  lock[:I]  lock-all:NUMBER  unmap:I
 *     remap:N move keep again           mremap: to N pages; elsewhere; elsewhere with DONTUNMAP; a second copy
 *     onto                              ... of the mapping made before the last one: over that
 *     truncate:N punch:I                the file
 *     uffd[:I-J[:MODES]]                userfaultfd: registers pages (all). Modes: m missing (without any), w write-
 *                                       protected, n minor; b: with SIGBUS
 *     copy:I zero-page:I continue:I     ... fills some
 *     forbid:I permit:I                 ... write-protects some, permits writing
 *     register:I-J move-page:I          ... registers others; moves a page to the next one
 *     device:KIND                       a mapping whose pages the kernel puts there by itself (devices[])
 *     maps:PREFIX                       saves /proc/self/maps (checkpoint.h)
 *     save                              the state of all pages, too, in the folder $SAVED
 *     wait:MS                           does nothing for that time
 *     fork ... end                      a child does what is between, then ends; its parent waits
 *     share ... end                     ... a child in the same address space (CLONE_VM)
 *     kill:N core stop                  a signal to itself: number N; one that dumps core; SIGSTOP
 *     rises:N:FILE                      waits until the number in that file has risen by N
 */
#include "checkpoint.h"
#include "workload.h"

#include <linux/aio_abi.h>
#include <linux/falloc.h>
#include <linux/if_packet.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <setjmp.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/socket.h>

#define ROOM_PAGES 4096 /* where mappings are moved to */

struct run {
	char *start; /* of the mapping */
	size_t pages;
	char *before; /* the mapping made before it, */
	size_t pages_before;
	int fd;	     /* for the next mapping, or -1 */
	size_t skip; /* pages of it that are not mapped */
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

/* The text behind the first colon, which is cut off there. */
static char *second(char *args)
{
	char *colon = args ? strchr(args, ':') : NULL;

	if (colon)
		*colon++ = '\0';
	return colon;
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

static void step_large(struct run *r, char *args)
{
	use_file(r, wl_file(number(args), 0xc3, number(args)), args, false);
}

static void step_file(struct run *r, char *args)
{
	use_file(r, open(args, O_RDONLY | O_CLOEXEC), NULL, false);
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

static void step_same(struct run *r, char *args)
{
	(void)args;
	r->fd = r->last_fd;
}

static void step_skip(struct run *r, char *args)
{
	r->skip = number(args);
}

static void step_drop(struct run *r, char *args)
{
	(void)args;
	if (fsync(r->fd) || posix_fadvise(r->fd, 0, 0, POSIX_FADV_DONTNEED))
		wl_die("fadvise");
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
		{ 'B', MAP_HUGETLB | 30 << 26 /* MAP_HUGE_1GB */ },
	};
	int flags = text && strchr(text, 's') ? MAP_SHARED : MAP_PRIVATE;

	if (text && strchr(text, 'D'))
		flags = 8; /* MAP_DROPPABLE, 6.11 */
	for (unsigned int i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		flags |= text && strchr(text, letters[i].letter) ? letters[i].flags : 0;
	return flags | (fd < 0 ? MAP_ANONYMOUS : 0);
}

/* Room for the pages, aligned for huge ones. */
static char *aligned_room(size_t pages)
{
	char *p = mmap(NULL, pages * WL_PAGE + WL_HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		wl_die("no room");
	return (char *)(((uintptr_t)p + WL_HUGE - 1) & -WL_HUGE);
}

static void step_map(struct run *r, char *args)
{
	char *letters = second(args) ?: "", *hint = NULL;
	int flags = map_flags(letters, r->fd);

	r->before = r->start;
	r->pages_before = r->pages;
	r->pages = number(args);
	if (strchr(letters, 'T')) {
		hint = aligned_room(r->pages);
		flags |= MAP_FIXED;
	} else if (strchr(letters, 'G')) {
		hint = (char *)0x200000000000;
	}
	r->start = mmap(hint, r->pages * WL_PAGE, prot_of(letters), flags, r->fd, r->skip * WL_PAGE);
	if (r->start == MAP_FAILED)
		wl_skip("no such mapping here");
	if (strchr(letters, 'T'))
		madvise(r->start, r->pages * WL_PAGE, MADV_HUGEPAGE);
	r->last_fd = r->fd;
	r->fd = -1;
	r->skip = 0;
}

static void step_shm(struct run *r, char *args)
{
	int id = shmget(IPC_PRIVATE, number(args) * WL_PAGE, IPC_CREAT | 0600);

	r->start = id < 0 ? (char *)-1 : shmat(id, NULL, 0);
	r->pages = number(args);
	if (id < 0 || shmctl(id, IPC_RMID, NULL) || r->start == (char *)-1)
		wl_die("shmat");
}

static void step_over(struct run *r, char *args)
{
	char *flags = second(args);
	struct span s = span_of(r, args);
	void *p = mmap(s.start, s.len, prot_of(flags), map_flags(flags, r->fd) | MAP_FIXED, r->fd, r->skip * WL_PAGE);

	if (p == MAP_FAILED)
		wl_die("mmap");
	r->fd = -1;
	r->skip = 0;
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

static void step_onto(struct run *r, char *args)
{
	(void)args;
	if (mremap(r->before, r->pages_before * WL_PAGE, r->pages_before * WL_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		   r->start) == MAP_FAILED)
		wl_die("mremap");
	r->pages = r->pages_before;
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

static void step_peek(struct run *r, char *args)
{
	(void)*(volatile char *)(r->start - number(args) * WL_PAGE);
}

static void step_random(struct run *r, char *args)
{
	(void)!getrandom(span_of(r, args).start, 16, 0);
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

static void step_give(struct run *r, char *args)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)!write(fd, span_of(r, args).start, span_of(r, args).len);
	close(fd);
}

/* ---- what takes pages away, or makes them present unasked ---- */

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
	const char *modes = second(args) ?: "m";
	struct uffdio_api api = { .api = UFFD_API, .features = strchr(modes, 'b') ? UFFD_FEATURE_SIGBUS : 0 };
	struct span s = span_of(r, args);
	struct uffdio_register reg = { .range = { (uintptr_t)s.start, s.len } };

	reg.mode = (strchr(modes, 'm') ? UFFDIO_REGISTER_MODE_MISSING : 0) |
		   (strchr(modes, 'w') ? UFFDIO_REGISTER_MODE_WP : 0) |
		   (strchr(modes, 'n') ? UFFDIO_REGISTER_MODE_MINOR : 0);
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

static struct checkpoints cps;

static void step_maps(struct run *r, char *args)
{
	(void)r;
	checkpoints_init(&cps, args, cps.nr);
	checkpoint(&cps);
}

static void step_save(struct run *r, char *args)
{
	static char prefix[4096];

	(void)r;
	(void)args;
	snprintf(prefix, sizeof(prefix), "%s/own", getenv("SAVED") ?: ".");
	checkpoints_init(&cps, prefix, cps.nr);
	checkpoints_with_pages(&cps);
	checkpoint(&cps);
}

static void step_wait(struct run *r, char *args)
{
	(void)r;
	usleep(strtoul(args, NULL, 10) * 1000);
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

static void step_continue(struct run *r, char *args)
{
	struct span s = span_of(r, args);
	struct uffdio_continue cont = { .range = { (uintptr_t)s.start, s.len } };

	if (ioctl(r->uffd, UFFDIO_CONTINUE, &cont))
		wl_die("UFFDIO_CONTINUE");
}

static void write_protect(struct run *r, char *args, uint64_t mode)
{
	struct span s = span_of(r, args);
	struct uffdio_writeprotect wp = { .range = { (uintptr_t)s.start, s.len }, .mode = mode };

	if (ioctl(r->uffd, UFFDIO_WRITEPROTECT, &wp))
		wl_die("UFFDIO_WRITEPROTECT");
}

static void step_forbid(struct run *r, char *args)
{
	write_protect(r, args, UFFDIO_WRITEPROTECT_MODE_WP);
}

static void step_permit(struct run *r, char *args)
{
	write_protect(r, args, 0);
}

/* ---- mappings whose pages the kernel puts there ---- */

static void map_device(struct run *r, int fd, size_t len, int flags)
{
	r->pages = len / WL_PAGE;
	r->start = fd < 0 ? MAP_FAILED : mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (r->start == MAP_FAILED)
		wl_skip("no such device here");
}

static void device_aio(struct run *r)
{
	aio_context_t ctx = 0;

	(void)r;
	if (syscall(SYS_io_setup, 64, &ctx))
		wl_skip("no asynchronous I/O here");
}

static void device_perf(struct run *r)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = 9 /* dummy */ };

	map_device(r, syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), 9 * WL_PAGE, MAP_SHARED);
}

static void device_uring(struct run *r)
{
	struct io_uring_params params = { 0 };

	map_device(r, syscall(425 /* io_uring_setup */, 64, &params), 64 * sizeof(struct io_uring_sqe), MAP_SHARED);
}

static void device_packet(struct run *r)
{
	struct tpacket_req req = { 4 * WL_PAGE, 2, WL_PAGE, 8 };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)))
		wl_skip("no packet sockets here");
	map_device(r, fd, 8 * WL_PAGE, MAP_SHARED);
}

static void device_memory(struct run *r)
{
	map_device(r, open("/dev/mem", O_RDWR | O_CLOEXEC), 4 * WL_PAGE, MAP_SHARED);
}

static void step_device(struct run *r, char *args)
{
	static const struct {
		const char *name;
		void (*fn)(struct run *r);
	} devices[] = {
		{ "aio", device_aio },	     { "perf", device_perf },	  { "uring", device_uring },
		{ "packet", device_packet }, { "memory", device_memory },
	};

	for (unsigned int i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		if (!strcmp(devices[i].name, args))
			devices[i].fn(r);
}

/* ---- processes ---- */

static void do_steps(struct run *r);

/* After the matching `end`. */
static void pass_over(struct run *r)
{
	for (unsigned int depth = 1; depth && *r->steps; r->steps++)
		depth += !strcmp(*r->steps, "fork") + !strcmp(*r->steps, "share") - !strcmp(*r->steps, "end");
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

static int sharing_child(void *run)
{
	struct run own = *(struct run *)run;

	do_steps(&own);
	_exit(0);
}

static void step_share(struct run *r, char *args)
{
	static char stack[1 << 18] __attribute__((aligned(16)));
	pid_t pid = clone(sharing_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, r);

	(void)args;
	if (pid < 0)
		wl_die("clone");
	waitpid(pid, NULL, 0);
	pass_over(r);
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

static void step_core(struct run *r, char *args)
{
	const struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	(void)r;
	(void)args;
	if (setrlimit(RLIMIT_CORE, &limit))
		wl_skip("no core dumps here");
	abort();
}

static void step_stop(struct run *r, char *args)
{
	(void)r;
	(void)args;
	raise(SIGSTOP);
}

static long number_in(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32] = "";

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		wl_skip("no such counter here");
	close(fd);
	return strtol(text, NULL, 10);
}

static void step_rises(struct run *r, char *args)
{
	const char *path = second(args);
	long wanted = number_in(path) + number(args);

	(void)r;
	for (int i = 0; i < 2000 && number_in(path) < wanted; i++)
		usleep(10000);
}

static const struct {
	const char *name;
	void (*fn)(struct run *r, char *args);
} steps[] = {
	{ "disk", step_disk },	       { "large", step_large },		{ "file", step_file },
	{ "memory", step_memory },     { "secret", step_secret },	{ "zero", step_zero },
	{ "same", step_same },	       { "skip", step_skip },		{ "drop", step_drop },
	{ "map", step_map },	       { "over", step_over },		{ "shm", step_shm },
	{ "unmap", step_unmap },       { "remap", step_remap },		{ "move", step_move },
	{ "keep", step_keep },	       { "again", step_again },		{ "onto", step_onto },
	{ "read", step_read },	       { "write", step_write },		{ "exec", step_exec },
	{ "grow", step_grow },	       { "peek", step_peek },		{ "random", step_random },
	{ "mem-read", step_mem_read }, { "mem-write", step_mem_write }, { "give", step_give },
	{ "advise", step_advise },     { "protect", step_protect },	{ "lock", step_lock },
	{ "lock-all", step_lock_all }, { "truncate", step_truncate },	{ "punch", step_punch },
	{ "uffd", step_uffd },	       { "register", step_register },	{ "move-page", step_move_page },
	{ "device", step_device },     { "maps", step_maps },		{ "save", step_save },
	{ "wait", step_wait },	       { "copy", step_copy },		{ "zero-page", step_zero_page },
	{ "continue", step_continue }, { "forbid", step_forbid },	{ "permit", step_permit },
	{ "fork", step_fork },	       { "share", step_share },		{ "end", step_end },
	{ "kill", step_kill },	       { "core", step_core },		{ "stop", step_stop },
	{ "rises", step_rises },
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
