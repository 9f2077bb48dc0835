/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 32-bit program: changes its layout by all the system calls of i386 that can, by a seed, and saves /proc/self/maps at
 * checkpoints, as checkpoint.h does, into PREFIX.PID.NUMBER.maps.
 *
 *     i386 SEED PREFIX [stop]
 *
 * stop: it first stops itself, until it is continued. Prints a line "populated START END" for each range of which it has
 * populated all pages, by the present bits of /proc/self/pagemap. Needs no 32-bit library: it is all here. Forks, by fork, vfork and clone; executes itself once, and
 * a 64-bit program (/bin/true) in a child.
 */
#define PAGE	    4096u
#define ARENA_PAGES 128u
#define NR_OPS	    160

enum {
	NR_EXIT = 1,
	NR_FORK = 2,
	NR_READ = 3,
	NR_WRITE = 4,
	NR_OPEN = 5,
	NR_CLOSE = 6,
	NR_EXECVE = 11,
	NR_GETPID = 20,
	NR_KILL = 37,
	NR_BRK = 45,
	NR_MUNMAP = 91,
	NR_WAIT4 = 114,
	NR_IPC = 117,
	NR_CLONE = 120,
	NR_MPROTECT = 125,
	NR_MLOCK = 150,
	NR_MUNLOCKALL = 153,
	NR_MLOCKALL = 152,
	NR_MREMAP = 163,
	NR_PREAD64 = 180,
	NR_VFORK = 190,
	NR_MMAP2 = 192,
	NR_MADVISE = 219,
	NR_CLOCK_GETTIME = 265,
	NR_MLOCK2 = 376,
};
enum {
	MAP_SHARED = 1,
	MAP_PRIVATE = 2,
	MAP_FIXED = 0x10,
	MAP_ANONYMOUS = 0x20,
	MAP_POPULATE = 0x8000,
	MREMAP_MAYMOVE = 1,
	MREMAP_FIXED = 2,
	MREMAP_DONTUNMAP = 4,
	MADV_POPULATE_WRITE = 23,
};
enum { IPC_SHMAT = 21, IPC_SHMDT = 22, IPC_SHMGET = 23, IPC_SHMCTL = 24 };

static char text[1 << 18], prefix[256], self[256];
static unsigned int seed, nr_points;

static long call6(long nr, long a, long b, long c, long d, long e, long f)
{
	long args[] = { a, f }, ret;

	__asm__ volatile(
		"push %%ebp; push %%ebx; mov 4(%%ebx), %%ebp; mov (%%ebx), %%ebx; int $0x80; pop %%ebx; pop %%ebp"
		: "=a"(ret)
		: "a"(nr), "b"(args), "c"(b), "d"(c), "S"(d), "D"(e)
		: "memory");
	return ret;
}
#define CALL(nr, a, b, c, d, e, f, ...) call6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define SYS(...)			CALL(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define FAILED(ret)			((unsigned long)(ret) > -4096ul)

/* Of two copies in memory the child of vfork returns in the same stack frame: no function may be left between. */
static inline __attribute__((always_inline)) long sys_vfork(void)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(NR_VFORK) : "memory");
	return ret;
}

void *memset(void *to, int c, unsigned int n)
{
	for (char *p = to; n--;)
		*p++ = c;
	return to;
}

/* ---- text ---- */

static char *put(char *to, const char *s)
{
	while (*s)
		*to++ = *s++;
	*to = 0;
	return to;
}

static char *put_number(char *to, unsigned int v, unsigned int base, unsigned int digits)
{
	char buf[12];
	unsigned int nr = 0;

	while (v || nr < digits) {
		buf[nr++] = "0123456789abcdef"[v % base];
		v /= base;
	}
	while (nr)
		*to++ = buf[--nr];
	*to = 0;
	return to;
}

static char *put_now(char *to, const char *before)
{
	long ts[2];

	SYS(NR_CLOCK_GETTIME, 1, ts);
	return put_number(put_number(put(to, before), ts[0], 10, 1), ts[1], 10, 9);
}

static unsigned int length(const char *s)
{
	unsigned int n = 0;

	while (s[n])
		n++;
	return n;
}

static void die(const char *why)
{
	SYS(NR_WRITE, 2, why, length(why));
	SYS(NR_EXIT, 1);
}

/* ---- checkpoints ---- */

static void checkpoint(void)
{
	long fd = SYS(NR_OPEN, "/proc/self/maps", 0), n, len = 0;
	unsigned int pid = SYS(NR_GETPID);
	char head[128], path[300], *p;

	p = put_now(head, "# t0=");
	while ((n = SYS(NR_READ, fd, text + len, sizeof(text) - len)) > 0)
		len += n;
	p = put_now(p, " t1=");
	SYS(NR_CLOSE, fd);
	p = put_number(put(p, " pid="), pid, 10, 1);
	p = put(put_number(put(p, " tid="), pid, 10, 1), "\n");
	put(put_number(put(put_number(put(put(path, prefix), "."), pid, 10, 1), "."), nr_points++, 10, 1), ".maps");
	fd = SYS(NR_OPEN, path, 01101, 0644); /* O_WRONLY | O_CREAT | O_TRUNC */
	if (FAILED(fd) || SYS(NR_WRITE, fd, head, p - head) != p - head || SYS(NR_WRITE, fd, text, len) != len)
		die("cannot write a checkpoint\n");
	SYS(NR_CLOSE, fd);
}

/* Are all pages there? */
static int is_present(unsigned int start, unsigned int pages)
{
	long fd = SYS(NR_OPEN, "/proc/self/pagemap", 0);
	unsigned int entry[2];
	int all = 1;

	for (unsigned int i = 0; i < pages; i++) {
		if (SYS(NR_PREAD64, fd, entry, 8, (start / PAGE + i) * 8, 0) != 8)
			die("cannot read pagemap\n");
		all &= entry[1] >> 31;
	}
	SYS(NR_CLOSE, fd);
	return all;
}

static void populated(unsigned int start, unsigned int pages, long ret)
{
	char line[64], *p;

	if (FAILED(ret) || !is_present(start, pages))
		return;
	p = put_number(put(line, "populated "), start, 16, 8);
	p = put(put_number(put(p, " "), start + pages * PAGE, 16, 8), "\n");
	SYS(NR_WRITE, 1, line, p - line);
}

/* ---- operations ---- */

static unsigned int arena;

static unsigned int random_below(unsigned int n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % n;
}

static long map(unsigned int start, unsigned int pages, unsigned int flags)
{
	static const int prots[] = { 3, 1, 3, 5 };

	return SYS(NR_MMAP2, start, pages * PAGE, prots[random_below(4)], flags, -1, 0);
}

static void map_file(unsigned int start, unsigned int pages)
{
	long fd = SYS(NR_OPEN, self, 0);

	SYS(NR_MMAP2, start, pages * PAGE, 1, MAP_PRIVATE | MAP_FIXED, fd, 1 + random_below(3));
	SYS(NR_CLOSE, fd);
}

static void populate(unsigned int start, unsigned int pages)
{
	switch (random_below(4)) {
	case 0:
		populated(start, pages, SYS(NR_MADVISE, start, pages * PAGE, MADV_POPULATE_WRITE));
		break;
	case 1:
		populated(start, pages, map(start, pages, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE));
		break;
	case 2:
		populated(start, pages, SYS(NR_MLOCK, start, pages * PAGE));
		break;
	default:
		populated(start, pages, SYS(NR_MLOCK2, start, pages * PAGE, 0));
	}
}

static void move(unsigned int start, unsigned int pages)
{
	unsigned int to = arena + random_below(ARENA_PAGES - 16) * PAGE, size = pages * PAGE;

	switch (random_below(4)) {
	case 0:
		SYS(NR_MREMAP, start, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
		break;
	case 1:
		SYS(NR_MREMAP, start, size, size + PAGE * random_below(3), MREMAP_MAYMOVE);
		break;
	case 2:
		SYS(NR_MREMAP, start, size, PAGE, 0);
		break;
	default:
		SYS(NR_MREMAP, start, size, size, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
	}
}

static void segment(unsigned int start)
{
	long id = SYS(NR_IPC, IPC_SHMGET, 0, 3 * PAGE, 01600), at = 0;

	if (FAILED(id))
		return;
	SYS(NR_IPC, IPC_SHMAT, id, random_below(2) ? 040000 : 0, &at, start); /* SHM_REMAP */
	SYS(NR_IPC, IPC_SHMCTL, id, 0, 0, 0);
	checkpoint();
	if (at && random_below(4))
		SYS(NR_IPC, IPC_SHMDT, 0, 0, 0, at);
}

static void grow_break(void)
{
	unsigned int now = SYS(NR_BRK, 0);

	SYS(NR_BRK, now + (random_below(9) - 3) * PAGE / 2);
}

static void operate(void)
{
	unsigned int at = random_below(ARENA_PAGES - 16), start = arena + at * PAGE, pages = 1 + random_below(12);

	switch (random_below(10)) {
	case 0:
		map(0, pages, MAP_PRIVATE | MAP_ANONYMOUS);
		break;
	case 1:
		map(start, pages, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
		break;
	case 2:
		map(start, pages, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED);
		break;
	case 3:
		map_file(start, pages);
		break;
	case 4:
		SYS(NR_MUNMAP, start, pages * PAGE);
		break;
	case 5:
		SYS(NR_MPROTECT, start, pages * PAGE, random_below(2) ? 1 : 3);
		break;
	case 6:
		move(start, pages);
		break;
	case 7:
		populate(start, pages);
		break;
	case 8:
		grow_break();
		break;
	default:
		segment(start);
	}
}

static void operate_often(int nr)
{
	for (int i = 0; i < nr; i++) {
		operate();
		if (i % 4 == 3)
			checkpoint();
	}
}

/* ---- processes ---- */

static void reap(long pid)
{
	if (FAILED(pid) || FAILED(SYS(NR_WAIT4, pid, 0, 0x40000000, 0))) /* __WALL */
		die("cannot make a child\n");
	checkpoint();
}

static void child(long pid)
{
	if (pid) {
		reap(pid);
		return;
	}
	operate_often(12);
	SYS(NR_EXIT, 0);
}

static void run_64bit(void)
{
	static char *const args[] = { "/bin/true", 0 };
	long pid = sys_vfork();

	if (!pid) {
		SYS(NR_EXECVE, args[0], args, 0);
		SYS(NR_EXIT, 1);
	}
	reap(pid);
}

static void run_self(char **argv)
{
	argv[0][0] = 0; /* the second time */
	SYS(NR_EXECVE, self, argv, 0);
	die("cannot execute itself\n");
}

__attribute__((used)) void begin(long *stack)
{
	char **argv = (char **)(stack + 1), *p;

	if (*stack < 3)
		die("usage: i386 SEED PREFIX [stop]\n");
	if (*stack > 3 && *argv[0])
		SYS(NR_KILL, SYS(NR_GETPID), 19); /* SIGSTOP */
	put(self, "/proc/self/exe");
	for (p = argv[1]; *p; p++)
		seed = seed * 10 + *p - '0';
	seed += !*argv[0];
	nr_points = *argv[0] ? 0 : 1000;
	p = put(prefix, argv[2]);
	arena = map(0, ARENA_PAGES, MAP_PRIVATE | MAP_ANONYMOUS);
	SYS(NR_BRK, 0);
	checkpoint();
	operate_often(NR_OPS);
	child(SYS(NR_FORK));
	child(SYS(NR_CLONE, 17)); /* SIGCHLD */
	run_64bit();
	if (*argv[0])
		run_self(argv);
	SYS(NR_MLOCKALL, 2); /* MCL_FUTURE */
	populated(arena, 8, map(arena, 8, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED));
	SYS(NR_MUNLOCKALL);
	checkpoint();
	SYS(NR_EXIT, 0);
}

__asm__(".globl _start\n_start: mov %esp, %eax\n push %eax\n call begin\n hlt");
