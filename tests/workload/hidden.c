/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses to pages in an order by a seed, and between them what changes page tables or reaches for the pages in
 * another way: for recordings that hide pages.
 *
 *     hidden none 64 300 1 4        64 pages, written; 300 accesses, a change of that kind, ..., 4 changes, 300 accesses
 *
 * The memory is at 0x300000000. The output, when all is over: "TID PAGE r|w" for each access, and what lies between:
 *
 *     begin           the first writes are over
 *     ( ... )         the kernel accessed these pages in one system call
 *     moved           the pages have another address, and the next ones another number: none is accessible
 *     dropped PAGE    it is absent
 *     exec            all is new
 *     protected, merged
 *
 * At the end what was counted, and the sum of what was read.
 */
#include "workload.h"

#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#define BASE	((char *)0x300000000)
#define LOG_LEN (8 << 20)

struct kind {
	const char *name;
	void (*begin)(void);
	void (*change)(int round);
	int map_flags;
};

/* Shared with children; outside of the memory that is hidden. */
static struct {
	uint64_t sum;
	long counted;
	size_t len;
	char text[LOG_LEN];
} * said;

static char *start = BASE, **args;
static const struct kind *kind;
static long pages, accesses, rounds;
static uint32_t state;
static int uffd = -1, file = -1, pipes[2], ask[2], answer[2];
static size_t size = WL_PAGE;

static __attribute__((format(printf, 1, 2))) void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	said->len += snprintf(said->text + said->len, LOG_LEN - said->len, "%ld ", (long)syscall(SYS_gettid));
	said->len += vsnprintf(said->text + said->len, LOG_LEN - said->len, fmt, ap);
	va_end(ap);
	if (said->len >= LOG_LEN)
		wl_die("too much to say");
}

static void check(int failed, const char *what)
{
	if (failed)
		wl_die("%s", what);
}

/* The number of a page; another one at another place. */
static long number(long page)
{
	return page + (start - BASE) / size;
}

static void access_page(long page, int write)
{
	volatile char *at = start + page * size + 64;

	if (write)
		*at = state >> 16;
	else
		said->sum = said->sum * 31 + *at;
	say("%ld %c\n", number(page), write ? 'w' : 'r');
}

static void access_some(long nr, int may_write)
{
	for (long i = 0; i < nr; i++) {
		state = state * 1103515245u + 12345u;
		access_page((state >> 10) % pages, may_write && state >> 8 & 1);
	}
}

/* ---- what changes ---- */

static void protect_none(int round)
{
	(void)round;
	check(mprotect(start, pages * size, PROT_NONE), "mprotect");
	check(mprotect(start, pages * size, PROT_READ | PROT_WRITE), "mprotect");
}

static void protect_read(int round)
{
	size_t from = round % 2 ? pages / 2 * size : 0; /* all of it, or the second half */

	check(mprotect(start + from, pages * size - from, PROT_READ), "mprotect");
	access_some(accesses, 0);
	check(mprotect(start + from, pages * size - from, PROT_READ | PROT_WRITE), "mprotect");
}

static void move(int round)
{
	char *to = round % 2 ? BASE : BASE + pages * size;

	check(mremap(start, pages * size, pages * size, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to, "mremap");
	start = to;
	say("moved\n");
}

static void lock(int round)
{
	(void)round;
	check(mlock(start, pages * size), "mlock");
	access_some(accesses, 1);
	check(munlock(start, pages * size), "munlock");
}

static void forks(int round)
{
	pid_t child = fork();
	int status;

	if (!child) {
		access_some(accesses, 1);
		_exit(round);
	}
	check(child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != round, "fork");
}

static void execs(int round)
{
	char left[32], sum[32];

	snprintf(left, sizeof(left), "%ld", rounds - round - 1);
	snprintf(sum, sizeof(sum), "%llu", (unsigned long long)said->sum);
	say("exec\n");
	fwrite(said->text, 1, said->len, stdout);
	fflush(stdout);
	execv("/proc/self/exe", (char *[]){ args[0], args[1], args[2], args[3], args[4], left, sum, NULL });
	wl_die("exec");
}

/* The kernel accesses so many pages in one system call: writes to them by read(), reads them by write(). */
static void by_kernel(long nr, int write_them)
{
	long from = (state >> 12) % (pages - nr + 1);
	char *buf = start + from * size;
	ssize_t got;

	say("(\n");
	if (write_them)
		got = pread(file, buf, nr * size, 0);
	else
		got = write(pipes[1], buf, nr * size);
	check(got != (ssize_t)(nr * size), "read or write");
	for (long i = from; i < from + nr; i++)
		say("%ld %c\n", number(i), write_them ? 'w' : 'r');
	say(")\n");
	if (write_them)
		return;
	got = read(pipes[0], said->text + said->len, nr * size); /* what was written, beside the log */
	check(got != (ssize_t)(nr * size), "read from a pipe");
	for (long i = 0; i < got; i++)
		said->sum = said->sum * 31 + said->text[said->len + i];
}

static void prepare_io(void)
{
	file = wl_file(pages, 7, 1);
	check(pipe(pipes) || fcntl(pipes[1], F_SETPIPE_SZ, 1 << 20) < 0, "pipe");
	for (long i = 0; i < pages; i++) {
		char byte = i;

		check(pwrite(file, &byte, 1, i * WL_PAGE + 64) != 1, "pwrite");
	}
}

static void read_write(int round)
{
	by_kernel(3 + round % 5, round & 1);
}

/* More than the module notes of one system call. */
static void read_write_many(int round)
{
	by_kernel(100, round & 1);
}

/* ---- get_user_pages ---- */

static void direct(int round)
{
	char *buf = start + (state >> 12) % (pages - 8) * size;

	(void)round;
	check(pread(file, buf, 8 * size, 0) != (ssize_t)(8 * size), "O_DIRECT");
}

static void prepare_direct(void)
{
	char path[64];

	prepare_io();
	check(fsync(file), "fsync");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	file = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	check(file < 0, "O_DIRECT");
}

/* A process beside, which the recording leaves out: reads all pages, and writes the bytes back, when asked. */
static void peeker(pid_t of)
{
	static char copy[512 * 4096];
	struct iovec local = { copy, pages * size }, remote = { BASE, pages * size };
	char how;

	while (read(ask[0], &how, 1) == 1) {
		check(process_vm_readv(of, &local, 1, &remote, 1, 0) != (ssize_t)local.iov_len, "process_vm_readv");
		check(how == 'w' && process_vm_writev(of, &local, 1, &remote, 1, 0) != (ssize_t)local.iov_len,
		      "process_vm_writev");
		check(write(answer[1], &how, 1) != 1, "answer");
	}
	_exit(0);
}

static void prepare_peeker(void)
{
	pid_t me = getpid();

	check(pages > 512 || pipe2(ask, O_CLOEXEC) || pipe2(answer, O_CLOEXEC), "pipe");
	if (!fork()) {
		close(ask[1]);
		peeker(me);
	}
}

static void peek(int round)
{
	char how = round & 1 ? 'w' : 'r';

	check(write(ask[1], &how, 1) != 1 || read(answer[0], &how, 1) != 1, "the other process");
}

/* ---- userfaultfd ---- */

/* Fills missing pages with their number's byte; lets writes to protected ones through. Counts both. */
static void *serve(void *unused)
{
	static char page[4096] __attribute__((aligned(4096)));
	struct uffd_msg msg;

	while (read(uffd, &msg, sizeof(msg)) == sizeof(msg)) {
		unsigned long at = msg.arg.pagefault.address & -WL_PAGE;

		said->counted++;
		if (msg.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP) {
			check(ioctl(uffd, UFFDIO_WRITEPROTECT, &(struct uffdio_writeprotect){ { at, WL_PAGE }, 0 }),
			      "UFFDIO_WRITEPROTECT");
			continue;
		}
		page[64] = at / WL_PAGE;
		check(ioctl(uffd, UFFDIO_COPY, &(struct uffdio_copy){ at, (unsigned long)page, WL_PAGE, 0, 0 }) &&
			      errno != EEXIST,
		      "UFFDIO_COPY");
	}
	return unused;
}

static void serve_range(unsigned long mode)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP };
	struct uffdio_register reg = { { (unsigned long)start, pages * size }, mode, 0 };
	pthread_t thread;

	uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	check(uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &reg), "userfaultfd");
	check(pthread_create(&thread, NULL, serve, NULL), "thread");
}

static void serve_missing(void)
{
	serve_range(UFFDIO_REGISTER_MODE_MISSING);
}

static void serve_protected(void)
{
	serve_range(UFFDIO_REGISTER_MODE_WP);
}

static void drop_half(int round)
{
	(void)round;
	check(madvise(start, pages / 2 * size, MADV_DONTNEED), "MADV_DONTNEED");
	for (long i = 0; i < pages / 2; i++)
		say("dropped %ld\n", number(i));
}

static void write_protect(int round)
{
	(void)round;
	check(ioctl(uffd, UFFDIO_WRITEPROTECT,
		    &(struct uffdio_writeprotect){ { (unsigned long)start, pages * size },
						   UFFDIO_WRITEPROTECT_MODE_WP }),
	      "UFFDIO_WRITEPROTECT");
	say("protected\n");
}

/* ---- KSM ---- */

static void prepare_merge(void)
{
	check(madvise(start, pages * size, MADV_MERGEABLE), "MADV_MERGEABLE");
}

static long number_in(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	check(fd < 0 || read(fd, text, sizeof(text) - 1) < 0, path);
	close(fd);
	return strtol(text, NULL, 10);
}

/* Makes all pages equal and waits until they are merged, or 10 seconds. */
static void merge(int round)
{
	uint64_t until = wl_now_ns() + UINT64_C(10000000000);

	for (long i = 0; i < pages; i++) {
		((volatile char *)start)[i * size] = 0;
		((volatile char *)start)[i * size + 64] = round;
		say("%ld w\n", number(i));
	}
	while (number_in("/sys/kernel/mm/ksm/pages_sharing") < pages - 1 && wl_now_ns() < until)
		usleep(10000);
	said->counted += number_in("/sys/kernel/mm/ksm/pages_sharing");
	say("merged\n");
}

/* ---- all of them ---- */

static void nothing(int round)
{
	(void)round;
}

static const struct kind kinds[] = {
	{ "plain", NULL, nothing, 0 },
	{ "none", NULL, protect_none, 0 },
	{ "read", NULL, protect_read, 0 },
	{ "move", NULL, move, 0 },
	{ "lock", NULL, lock, 0 },
	{ "fork", NULL, forks, 0 },
	{ "exec", NULL, execs, 0 },
	{ "kernel", prepare_io, read_write, 0 },
	{ "many", prepare_io, read_write_many, 0 },
	{ "direct", prepare_direct, direct, 0 },
	{ "peek", prepare_peeker, peek, 0 },
	{ "missing", serve_missing, drop_half, 0 },
	{ "protected", serve_protected, write_protect, 0 },
	{ "ksm", prepare_merge, merge, 0 },
	{ "hugetlb", NULL, nothing, MAP_HUGETLB },
};

static void run(void)
{
	if (kind->begin)
		kind->begin();
	for (long i = 0; i < pages; i++) {
		*(volatile char *)(start + i * size) = i;
		say("%ld w\n", number(i));
	}
	say("begin\n");
	for (int round = 0; round < rounds; round++) {
		access_some(accesses, 1);
		kind->change(round);
	}
	access_some(accesses, 1);
	fwrite(said->text, 1, said->len, stdout);
	printf("counted %ld\nsum %016llx\n", said->counted, (unsigned long long)said->sum);
}

int main(int argc, char **argv)
{
	if (argc < 6 || argc > 7)
		wl_usage("hidden KIND PAGES ACCESSES SEED ROUNDS");
	args = argv;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			kind = &kinds[i];
	if (!kind)
		wl_die("no such kind: %s", argv[1]);
	pages = wl_number(argv[2], 4096);
	accesses = wl_number(argv[3], 1000000);
	rounds = wl_number(argv[5], 1000);
	state = wl_number(argv[4], 1L << 30) + rounds;
	if (kind->map_flags & MAP_HUGETLB)
		size = WL_HUGE;
	said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(said == MAP_FAILED || mmap(BASE, pages * size, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | kind->map_flags, -1, 0) != BASE,
	      "mmap");
	said->sum = argc == 7 ? strtoull(argv[6], NULL, 10) : 0;
	run();
	return fflush(stdout) ? 1 : 42;
}
