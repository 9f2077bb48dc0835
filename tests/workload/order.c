/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses to pages in a known order, by a seed, and what they read: for recordings that are to show the order.
 *
 *     order anon 300 2000 8 1 10     eight threads, each on 300 pages of its own: 2000 accesses with seed 1, then with 2 ...
 *
 * Memory: anon, shared (of nobody else), file (private, of a file in TMPDIR), forked (a child's, written by its parent before
 * the fork), zero (never written before), locked, folios (large ones, if the kernel has them for memory without a file), huge
 * (of huge pages; PAGES are these). One page in sixteen is chosen eight
 * times as often as others; half of the accesses write. First, but for `forked', `file' and `zero', each thread writes its
 * pages, one after another.
 *
 * All of it is at 0x300000000. The output: a line "THREAD PAGE r|w" for each access, with its `tid'; at the end the sum of what
 * was read. Nothing is printed while pages are accessed. With one more argument, `sum', that is all of the output.
 */
#include "workload.h"

#include <pthread.h>

#define BASE	    ((char *)0x300000000)
#define MAX_THREADS 512

static struct job {
	pthread_t thread;
	pthread_barrier_t *gate;
	char *start;
	int nr, tid;
	uint64_t sum;
} jobs[MAX_THREADS];

static long pages, accesses, nr_threads, seed, nr_seeds;
static int write_first, only_sum;
static size_t size = WL_PAGE;

/* The next access: page * 2 + is it a write. */
static unsigned int next_access(uint32_t *state)
{
	unsigned int page, few = pages / 16 ? pages / 16 : 1;

	*state = *state * 1103515245u + 12345u;
	page = (*state >> 10) % pages;
	if (*state >> 31)
		page %= few;
	return page * 2 + (*state >> 8 & 1);
}

static uint32_t first_state(const struct job *job, long with)
{
	return with * 2654435761u + job->nr * 40503u;
}

static void *run(void *arg)
{
	struct job *job = arg;

	job->tid = syscall(SYS_gettid);
	pthread_barrier_wait(job->gate);
	for (long i = 0; write_first && i < pages; i++)
		*(volatile char *)(job->start + i * size) = i;
	for (long with = seed; with < seed + nr_seeds; with++) {
		uint32_t state = first_state(job, with);

		for (long i = 0; i < accesses; i++) {
			unsigned int what = next_access(&state);
			volatile char *at = job->start + (what >> 1) * size + 64;

			if (what & 1)
				*at = i;
			else
				job->sum = job->sum * 31 + *at;
		}
	}
	return NULL;
}

static void print_order(struct job *job)
{
	for (long i = 0; write_first && i < pages; i++)
		printf("%d %ld w\n", job->tid, i);
	for (long with = seed; with < seed + nr_seeds; with++) {
		uint32_t state = first_state(job, with);

		for (long i = 0; i < accesses; i++) {
			unsigned int what = next_access(&state);

			printf("%d %u %c\n", job->tid, what >> 1, what & 1 ? 'w' : 'r');
		}
	}
}

static int access_all(void)
{
	pthread_barrier_t gate;
	uint64_t sum = 0;

	pthread_barrier_init(&gate, NULL, nr_threads);
	for (long i = 0; i < nr_threads; i++) {
		jobs[i] = (struct job){ .gate = &gate, .nr = i, .start = BASE + i * pages * size };
		if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]))
			wl_die("cannot create thread %ld", i);
	}
	for (long i = 0; i < nr_threads; i++)
		pthread_join(jobs[i].thread, NULL);
	for (long i = 0; i < nr_threads; i++) {
		if (!only_sum)
			print_order(&jobs[i]);
		sum = sum * 31 + jobs[i].sum;
	}
	/* Threads have other numbers in another run: this is all that is equal. */
	printf("sum %016llx\n", (unsigned long long)sum);
	return fflush(stdout) ? 1 : 42;
}

/* A file of so many pages, each with a byte of its own. */
static int make_file(size_t len)
{
	int fd = wl_file(len / WL_PAGE, 0, 1);

	for (size_t at = 64; at < len; at += WL_PAGE) {
		char byte = at >> 12;

		if (pwrite(fd, &byte, 1, at) != 1)
			wl_die("cannot write a file of %zu bytes", len);
	}
	return fd;
}

int main(int argc, char **argv)
{
	const char *memory = argc > 1 ? argv[1] : "";
	int flags = !strcmp(memory, "shared") ? MAP_SHARED : MAP_PRIVATE, fd = -1, status;
	size_t len;
	pid_t child;

	only_sum = argc == 8 && !strcmp(argv[7], "sum");
	if (argc != 7 && !only_sum)
		wl_usage("order MEMORY PAGES ACCESSES THREADS SEED SEEDS [sum]");
	pages = wl_number(argv[2], 1L << 20);
	accesses = wl_number(argv[3], 1L << 30);
	nr_threads = wl_number(argv[4], MAX_THREADS);
	seed = wl_number(argv[5], 1L << 30);
	nr_seeds = wl_number(argv[6], 1L << 20);
	if (!strcmp(memory, "huge"))
		size = WL_HUGE;
	len = nr_threads * pages * size;
	write_first = strcmp(memory, "forked") && strcmp(memory, "file") && strcmp(memory, "zero");
	if (!strcmp(memory, "file"))
		fd = make_file(len);
	if (mmap(BASE, len, PROT_READ | PROT_WRITE, flags | MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0) != BASE)
		wl_die("no memory");
	if ((size == WL_HUGE || !strcmp(memory, "folios")) && madvise(BASE, len, MADV_HUGEPAGE))
		wl_die("no huge pages");
	if (!strcmp(memory, "locked") && mlock2(BASE, len, MLOCK_ONFAULT))
		wl_die("cannot lock");
	if (strcmp(memory, "forked") != 0)
		return access_all();
	for (size_t at = 64; at < len; at += WL_PAGE)
		BASE[at] = at >> 12;
	child = fork();
	if (!child)
		_exit(access_all());
	if (child < 0 || waitpid(child, &status, 0) != child)
		wl_die("no child");
	return WEXITSTATUS(status);
}
