/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults whose call chains are known. Every function here has a frame pointer, none is inlined and none calls at its very
 * end (Makefile), so that the chain of each fault is what is printed: "ADDRESS FUNCTION CALLER ...", the innermost first, up to
 * main. Of a fault in kernel mode it begins with the function that made the system call.
 *
 *     chains [ROUNDS]
 *
 * ROUNDS: how often all of it is done anew, with memory of its own (1).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, NR_PAGES = 64, DEEP = 40 };

#define PLAIN __attribute__((noinline, noclone))
/* No tail call, and a frame even in a function that needs none. */
#define STAY() __asm__ volatile("" : : "r"(__builtin_frame_address(0)) : "memory")

static char *memory;
static int page;

PLAIN static void leaf(void)
{
	memory[page++ * PAGE] = 1;
	STAY();
}

PLAIN static void middle(void)
{
	leaf();
	STAY();
}

PLAIN static void outer(void)
{
	middle();
	STAY();
}

PLAIN static void deeper(int depth)
{
	if (depth)
		deeper(depth - 1);
	else
		leaf();
	STAY();
}

/* Not through the C library, whose functions have no frame pointers. */
PLAIN static long call_zero(int fd, char *to)
{
	long got;

#if defined(__x86_64__)
	__asm__ volatile("syscall"
			 : "=a"(got)
			 : "0"((long)SYS_read), "D"((long)fd), "S"(to), "d"(1L)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long nr __asm__("x8") = SYS_read, a __asm__("x0") = fd, b __asm__("x1") = (long)to,
			 c __asm__("x2") = 1;

	__asm__ volatile("svc #0" : "+r"(a) : "r"(nr), "r"(b), "r"(c) : "memory");
	got = a;
#else
	got = syscall(SYS_read, fd, to, 1);
#endif
	STAY();
	return got;
}

PLAIN static void kernel_reads(int fd)
{
	call_zero(fd, memory + page++ * PAGE);
	STAY();
}

static void print_chain(int nr, const char *chain)
{
	printf("%lx %s main\n", (unsigned long)(memory + nr * PAGE), chain);
}

PLAIN static void print_deep(int nr, int depth)
{
	printf("%lx leaf", (unsigned long)(memory + nr * PAGE));
	for (int i = 0; i <= depth; i++)
		printf(" deeper");
	puts(" main");
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, zero = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < rounds; i++) {
		memory =
			(char *)mmap(NULL, NR_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED || zero < 0)
			return 1;
		madvise(memory, NR_PAGES * PAGE, MADV_NOHUGEPAGE);
		page = 0;
		outer();
		middle();
		leaf();
		leaf();
		deeper(3);
		deeper(DEEP);
		kernel_reads(zero);
		kernel_reads(zero);
		leaf();
		print_chain(0, "leaf middle outer");
		print_chain(1, "leaf middle");
		print_chain(2, "leaf");
		print_chain(3, "leaf");
		print_deep(4, 3);
		print_deep(5, DEEP);
		print_chain(6, "call_zero kernel_reads");
		print_chain(7, "call_zero kernel_reads");
		print_chain(8, "leaf");
	}
	return 0;
}
