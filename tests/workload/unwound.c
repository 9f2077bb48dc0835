/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwound: touches pages of a mapping through known chains of functions, which have no frame pointers.
 *
 *     function=NAME START END     where each function is
 *     chain=ADDR FUNCTION...      a page that was touched, and this program's functions from the innermost on
 *     cut=ADDR FUNCTION...        the same: the innermost ones of so many that their stack is larger than 64 KB
 *
 * With an argument it begins only once it can read a byte, so that others may attach to it.
 * Behind main() and the start of a thread are functions of the C library only. Each function is a section of its own, whose
 * ends the linker knows.
 */
#include "workload.h"

#include <alloca.h>
#include <pthread.h>

#define FUNCTION(name)                                       \
	extern char __start_in_##name[], __stop_in_##name[]; \
	__attribute__((section("in_" #name), noinline, noclone))

enum { NR_PAGES = 64, NR_THREADS = 4, PAGES_EACH = 64, ALL_PAGES = NR_PAGES + NR_THREADS * PAGES_EACH };

static char *base;

static char *page;
static void *volatile kept; /* so that no call is the last thing that a function does */

static void next(const char *kind, const char *chain)
{
	page += WL_PAGE;
	printf("%s=%p %s\n", kind, (void *)page, chain);
	fflush(stdout);
}

FUNCTION(leaf) int leaf(int n)
{
	*(volatile char *)page = n;
	return n + 1;
}

FUNCTION(middle) int middle(int n)
{
	int result = leaf(n);

	kept = &result;
	return result + 1;
}

FUNCTION(deep) int deep(int n)
{
	int result = n ? deep(n - 1) : leaf(n);

	kept = &result;
	return result + 1;
}

FUNCTION(moving) int moving(int n)
{
	char *room = alloca(n);

	memset(room, n, n);
	kept = room;
	return middle(n) + room[n / 2];
}

FUNCTION(large) int large(int n)
{
	char room[3000] __attribute__((aligned(64)));

	memset(room, n, sizeof(room));
	kept = room;
	return moving(n) + room[n];
}

FUNCTION(larger) int larger(int n)
{
	char room[70000];

	memset(room, n, sizeof(room));
	kept = room;
	return middle(n) + room[n];
}

FUNCTION(compare) int compare(const void *a, const void *b)
{
	if (*(const int *)a + *(const int *)b == 3)
		kept = (void *)(uintptr_t)leaf(1);
	return *(const int *)a - *(const int *)b;
}

FUNCTION(sorting) int sorting(int n)
{
	int numbers[] = { 2, 1 };

	qsort(numbers, 2, sizeof(*numbers), compare);
	return numbers[0] + n;
}

FUNCTION(handler) void handler(int sig)
{
	kept = (void *)(uintptr_t)middle(sig);
}

/* Interrupted amid a function that calls nothing. */
FUNCTION(interrupted) int interrupted(int n)
{
#if defined(__x86_64__)
	__asm__ volatile("ud2");
#else
	__asm__ volatile("udf #0");
#endif
	return n + 1;
}

FUNCTION(signalled) int signalled(int n)
{
	int result = interrupted(n);

	kept = &result;
	return result + 1;
}

/* Passes the instruction, and keeps the stack as it is. */
static void pass(int sig, siginfo_t *info WL_UNUSED, void *context)
{
	ucontext_t *at = context;

	handler(sig);
#if defined(__x86_64__)
	at->uc_mcontext.gregs[REG_RIP] += 2;
#else
	at->uc_mcontext.pc += 4;
#endif
}

FUNCTION(thread) void *thread(void *arg WL_UNUSED)
{
	kept = (void *)(uintptr_t)middle(1);
	return NULL;
}

FUNCTION(reader) int reader(int fd)
{
	int got = read(fd, page, 16);

	kept = &got;
	return got + 1;
}

/* Code in no file: a trampoline as between Python's functions (python -X perf). It calls its fourth argument. */
#if defined(__x86_64__)
static const unsigned char trampoline[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 };
static int (*copy_of_it)(int, int, int, int (*)(int));

static void make_trampoline(void)
{
	void *made = mmap(NULL, WL_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		exit(1);
	memcpy(made, trampoline, sizeof(trampoline));
	if (mprotect(made, WL_PAGE, PROT_READ | PROT_EXEC))
		exit(1);
	copy_of_it = (typeof(copy_of_it))(uintptr_t)made;
	printf("function=trampoline %p %p\n", made, (void *)((char *)made + sizeof(trampoline)));
}

FUNCTION(by_code) int by_code(int n)
{
	int result = copy_of_it(n, 0, 0, middle);

	kept = &result;
	return result + 1;
}
#endif

FUNCTION(all) int all(int n)
{
	struct sigaction action = { .sa_sigaction = pass, .sa_flags = SA_SIGINFO };
	int zero = open("/dev/zero", O_RDONLY);
	pthread_t other;

	next("chain", "leaf all");
	n += leaf(n);
	next("chain", "leaf middle all");
	n += middle(n);
	next("chain", "leaf deep deep deep deep all");
	n += deep(3);
	next("chain", "leaf middle moving all");
	n += moving(1000);
	next("chain", "leaf middle moving large all");
	n += large(500);
	next("chain", "leaf compare sorting all");
	n += sorting(n);
	sigaction(SIGILL, &action, NULL);
	next("chain", "leaf middle handler interrupted signalled all");
	n += signalled(n);
	next("chain", "leaf middle thread");
	if (!pthread_create(&other, NULL, thread, NULL))
		pthread_join(other, NULL);
	next("chain", "reader all");
	n += reader(zero);
#if defined(__x86_64__)
	next("chain", "leaf middle trampoline by_code all");
	n += by_code(n);
#endif
	next("cut", "leaf middle larger");
	n += larger(5);
	return n;
}

/* ---- several at once, each with pages of its own: by two chains in turn ---- */

FUNCTION(touch) int touch(char *at)
{
	*(volatile char *)at = 1;
	return at[1] + 1;
}

FUNCTION(through) int through(char *at)
{
	int result = touch(at);

	kept = &result;
	return result + 1;
}

FUNCTION(worker) void *worker(void *arg)
{
	char *own = arg;
	int sum = 0;

	for (int i = 0; i < PAGES_EACH; i++)
		sum += i % 2 ? through(own + i * WL_PAGE) : touch(own + i * WL_PAGE);
	kept = (void *)(uintptr_t)sum;
	return NULL;
}

static void print_workers(void)
{
	for (int i = 0; i < NR_THREADS * PAGES_EACH; i++)
		printf("chain=%p touch%s worker\n", (void *)(base + (NR_PAGES + i) * WL_PAGE),
		       i % PAGES_EACH % 2 ? " through" : "");
	fflush(stdout);
}

static void work(void)
{
	pthread_t threads[NR_THREADS];

	for (int i = 0; i < NR_THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, base + (NR_PAGES + i * PAGES_EACH) * WL_PAGE))
			exit(1);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void print_functions(void)
{
#define PRINT(name) printf("function=%s %p %p\n", #name, (void *)__start_in_##name, (void *)__stop_in_##name)
	PRINT(leaf);
	PRINT(middle);
	PRINT(deep);
	PRINT(moving);
	PRINT(large);
	PRINT(larger);
	PRINT(compare);
	PRINT(sorting);
	PRINT(handler);
	PRINT(interrupted);
	PRINT(signalled);
	PRINT(thread);
	PRINT(reader);
	PRINT(all);
	PRINT(touch);
	PRINT(through);
	PRINT(worker);
#if defined(__x86_64__)
	PRINT(by_code);
	make_trampoline();
#endif
}

int main(int argc, char **argv WL_UNUSED)
{
	char byte;

	base = page = mmap((void *)0x100000000, ALL_PAGES * WL_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (page == MAP_FAILED)
		return 1;
	madvise(page, ALL_PAGES * WL_PAGE, MADV_NOHUGEPAGE);
	print_functions();
	print_workers();
	if (argc > 1 && read(0, &byte, 1) < 0)
		return 1;
	all(1);
	work();
	usleep(300000); /* the code in no file is read meanwhile */
	return 0;
}
