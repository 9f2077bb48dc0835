/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains of this program, which has no frame pointers, against those of the C library's backtrace().
 */
#include "event/event.h"
#include "os/smaps.h"
#include "unwind/unwind.h"

#include <alloca.h>
#include <execinfo.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { DUMP = 64 << 10, MAX = 128 };

/* What a function saw of its callers, by backtrace() and by its registers and its stack. */
struct seen {
	void *known[MAX];
	int nr_known;
	struct pfs_regs regs;
	unsigned char stack[DUMP];
	size_t len;
};

static struct seen seen;
static uintptr_t stack_end;
static void *volatile kept; /* so that no function is the tail of another */

#define KEEP __attribute__((noinline, noclone, optimize("omit-frame-pointer")))

/* Those that a call keeps, which is what callers are found by. */
#if defined(__x86_64__)
#define GET_REGS(values)                                                                               \
	__asm__ volatile("mov %%rbx, 24(%0); mov %%rbp, 48(%0); mov %%rsp, 56(%0); mov %%r12, 96(%0);" \
			 "mov %%r13, 104(%0); mov %%r14, 112(%0); mov %%r15, 120(%0);"                 \
			 "lea 1f(%%rip), %%rax; mov %%rax, 128(%0); 1:"                                \
			 :                                                                             \
			 : "D"(values)                                                                 \
			 : "rax", "memory")
enum { KNOWN = 1 << 3 | 1 << 6 | 1 << 7 | 0x1f << 12 };
#else
#define GET_REGS(values)                                                                                 \
	__asm__ volatile("stp x19, x20, [%0, #152]; stp x21, x22, [%0, #168]; stp x23, x24, [%0, #184];" \
			 "stp x25, x26, [%0, #200]; stp x27, x28, [%0, #216]; stp x29, x30, [%0, #232];" \
			 "mov x9, sp; str x9, [%0, #248]; adr x9, 1f; str x9, [%0, #256]; 1:"            \
			 :                                                                               \
			 : "r"(values)                                                                   \
			 : "x9", "memory")
static const uint64_t KNOWN = UINT64_C(0x1fff80000) | UINT64_C(1) << 32;
#endif

__attribute__((no_sanitize("address"))) static void dump_stack(void)
{
	const volatile unsigned char *from = (const unsigned char *)seen.regs.value[PFS_REG_SP];

	seen.len = stack_end - (uintptr_t)from;
	if (seen.len > DUMP)
		seen.len = DUMP;
	for (size_t i = 0; i < seen.len; i++)
		seen.stack[i] = from[i];
}

/* Inlined, so that the frame is that of its caller. */
__attribute__((always_inline)) static inline void look(void)
{
	seen.nr_known = backtrace(seen.known, MAX);
	seen.regs.known = KNOWN;
	GET_REGS(seen.regs.value);
	dump_stack();
}

/* ---- chains ---- */

KEEP static int leaf(int n)
{
	char room[64];

	kept = room;
	look();
	return n + 1;
}

KEEP static int deep(int n)
{
	int result = n ? deep(n - 1) : leaf(n);

	kept = &result;
	return result + 1;
}

KEEP static int with_alloca(int n)
{
	char *room = alloca(n);

	memset(room, n, n);
	kept = room;
	return leaf(n) + room[n / 2];
}

KEEP static int with_large_frame(int n)
{
	char room[20000];

	memset(room, n, sizeof(room));
	kept = room;
	return with_alloca(n) + room[n];
}

KEEP static int with_aligned_frame(int n)
{
	char room[256] __attribute__((aligned(128)));

	memset(room, n, sizeof(room));
	kept = room;
	return deep(n & 3) + room[n & 3];
}

static int compare(const void *a, const void *b)
{
	int result = leaf(1);

	kept = &result;
	return *(const int *)a - *(const int *)b;
}

KEEP static int through_qsort(int n)
{
	int numbers[] = { 3, 1, 2 };

	kept = numbers;
	qsort(numbers, 3, sizeof(*numbers), compare);
	return numbers[0] + n;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	leaf(sig);
	mprotect((void *)((uintptr_t)info->si_addr & -sysconf(_SC_PAGESIZE)), 1, PROT_READ | PROT_WRITE);
}

KEEP static int through_a_signal(int n)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, before;
	volatile char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(page != MAP_FAILED);
	sigaction(SIGSEGV, &action, &before);
	page[n] = 1;
	sigaction(SIGSEGV, &before, NULL);
	munmap((void *)page, 4096);
	return n + 1;
}

/* ---- unwinding them ---- */

static struct pfs_unwind_files *files;

static struct pfs_unwind_space *own_space(void)
{
	struct pfs_unwind_space *space = pfs_unwind_space_new();
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];

	assert_non_null(space);
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		struct pfs_unwind_map map = { 0 };
		struct pfs_smap r;

		line[strcspn(line, "\n")] = '\0';
		if (!pfs_smap_line(&r, line))
			continue;
		map = (struct pfs_unwind_map){ r.start, r.end, r.off, r.ino, r.dev, getpid(), r.name };
		if (!strcmp(r.name, "[stack]"))
			stack_end = r.end;
		assert_true(pfs_unwind_space_map(space, &map, r.perms & PFS_PERM_X) >= 0);
	}
	fclose(maps);
	return space;
}

static unsigned int unwind(struct pfs_unwind_space *space, size_t len, uint64_t *frames, bool *cut)
{
	const struct pfs_dump dump = { seen.regs.value[PFS_REG_SP], seen.stack, len < seen.len ? len : seen.len,
				       false };

	return pfs_unwind(files, space, &seen.regs, &dump, frames, cut);
}

/*
 * Each frame but the innermost, which is where backtrace() was called there and its registers were taken here, is the known one, or one behind it
 * where a signal interrupted it.
 */
static void check_chain(int (*function)(int), int n, int least, unsigned int nr_interrupted)
{
	struct pfs_unwind_space *space = own_space();
	uint64_t frames[PFS_MAX_FRAMES];
	unsigned int nr, own;
	bool cut;

	kept = (void *)(uintptr_t)function(n);
	nr = unwind(space, DUMP, frames, &cut);
	assert_false(cut);
	own = seen.nr_known - nr; /* AddressSanitizer's backtrace() begins with itself */
	assert_in_range(own, 0, 1);
	assert_true(nr > (unsigned int)least);
	for (unsigned int i = 1; i < nr; i++)
		nr_interrupted -= frames[i] - (uintptr_t)seen.known[own + i];
	assert_int_equal(nr_interrupted, 0);
	pfs_unwind_space_free(space);
}

static void test_chains(void **state)
{
	check_chain(leaf, 0, 3, 0);
	check_chain(deep, 0, 4, 0);
	check_chain(deep, 50, 50, 0);
	check_chain(with_alloca, 1000, 4, 0);
	check_chain(with_large_frame, 1000, 5, 0);
	check_chain(with_aligned_frame, 3, 8, 0);
}

static void test_through_the_c_library(void **state)
{
	check_chain(through_qsort, 0, 6, 0);
}

static void test_through_a_signal(void **state)
{
	check_chain(through_a_signal, 1, 5, 1);
}

/* ---- code in no file ---- */

#if defined(__x86_64__)
/* Those of Python: 3.12, and one with a frame pointer; and one that does more than to return. The call is of the fourth argument. */
static const unsigned char trampolines[][12] = {
	{ 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 },
	{ 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3 },
	{ 0x41, 0x54, 0xff, 0xd1, 0x41, 0x5c, 0xc3 },
	{ 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x90, 0x48, 0x83, 0xc4, 0x08, 0xc3 },
};

static void *outer[MAX];
static int nr_outer;
static int (*code)(int, int, int, int (*)(int));

/* Its own frame is found by registers that the trampoline keeps. */
KEEP static int through_code(int n)
{
	char room[256] __attribute__((aligned(128)));

	memset(room, n, sizeof(room));
	kept = room;
	nr_outer = backtrace(outer, MAX);
	return code(n & 3, 0, 0, deep) + room[n & 3];
}

KEEP static int around_code(int n)
{
	int result = through_code(n);

	kept = &result;
	return result + 1;
}

/* Deep (4 frames), the trampoline, and, if it can be left, those outside. */
static void check_trampoline(const unsigned char *bytes, size_t len, bool can_be_left)
{
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pfs_unwind_space *space;
	uint64_t frames[PFS_MAX_FRAMES];
	unsigned int nr, own, at = 5;
	bool cut;

	assert_true(page != MAP_FAILED);
	memcpy(page + 4096 - len, bytes, len); /* nothing is behind it */
	assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
	code = (typeof(code))(uintptr_t)(page + 4096 - len);
	kept = (void *)(uintptr_t)around_code(2);
	space = own_space();
	for (int again = 0; again < 2; again++) {
		nr = unwind(space, DUMP, frames, &cut);
		assert_true(nr >= at);
		assert_in_range(frames[at - 1], (uintptr_t)page, (uintptr_t)page + 4095);
		assert_int_equal(cut, !can_be_left);
		if (!can_be_left) {
			assert_int_equal(nr, at);
			continue;
		}
		own = nr_outer - (nr - at); /* AddressSanitizer's backtrace() begins with itself */
		assert_in_range(own, 0, 1);
		for (unsigned int i = at + 1; i < nr; i++)
			assert_int_equal(frames[i], (uintptr_t)outer[own + i - at]);
	}
	pfs_unwind_space_free(space);
	munmap(page, 4096);
}

static void test_code_in_no_file(void **state)
{
	check_trampoline(trampolines[0], 11, true);
	check_trampoline(trampolines[1], 8, true);
	check_trampoline(trampolines[2], 7, true);
	check_trampoline(trampolines[3], 12, false);
}
#endif

static void test_a_short_dump(void **state)
{
	struct pfs_unwind_space *space = own_space();
	uint64_t all[PFS_MAX_FRAMES], frames[PFS_MAX_FRAMES];
	unsigned int nr_all, nr, last = 0;
	bool cut;

	deep(20);
	nr_all = unwind(space, DUMP, all, &cut);
	for (size_t len = 0; len < seen.len; len += 64) {
		nr = unwind(space, len, frames, &cut);
		assert_true(nr >= last && nr <= nr_all);
		assert_memory_equal(frames, all, nr * sizeof(*frames));
		assert_true(cut || nr == nr_all);
		assert_true(len || cut);
		last = nr;
	}
	pfs_unwind_space_free(space);
}

static void test_what_is_not_mapped(void **state)
{
	struct pfs_unwind_space *space = own_space(), *copy = pfs_unwind_space_new();
	uint64_t all[PFS_MAX_FRAMES], frames[PFS_MAX_FRAMES];
	unsigned int nr_all, nr;
	bool cut;

	deep(3);
	nr_all = unwind(space, DUMP, all, &cut);
	assert_int_equal(pfs_unwind_space_copy(copy, space, getpid()), 0);
	assert_int_equal(pfs_unwind_space_unmap(space, all[nr_all - 1], all[nr_all - 1] + 1), 1);
	assert_int_equal(pfs_unwind_space_unmap(space, all[nr_all - 1], all[nr_all - 1] + 1), 0);
	nr = unwind(space, DUMP, frames, &cut);
	assert_int_equal(nr, nr_all); /* the call is before it */
	assert_int_equal(pfs_unwind_space_unmap(space, all[nr_all - 1] - 1, all[nr_all - 1]), 1);
	nr = unwind(space, DUMP, frames, &cut);
	assert_int_equal(nr, nr_all);
	assert_true(cut);
	assert_int_equal(pfs_unwind_space_unmap(space, 0, UINT64_MAX), 1);
	nr = unwind(space, DUMP, frames, &cut);
	assert_int_equal(nr, 1);
	assert_true(cut);
	nr = unwind(copy, DUMP, frames, &cut);
	assert_int_equal(nr, nr_all);
	assert_false(cut);
	pfs_unwind_space_free(space);
	pfs_unwind_space_free(copy);
}

static void test_regions(void **state)
{
	struct pfs_unwind_space *space = pfs_unwind_space_new();
	struct pfs_unwind_map map = { 0x1000, 0x5000, 0, 7, 8, 1, "/a" };

	assert_int_equal(pfs_unwind_space_map(space, &map, false), 0);
	assert_int_equal(pfs_unwind_space_map(space, &map, true), 1);
	assert_int_equal(pfs_unwind_space_map(space, &map, true), 0);
	map.name = "/b";
	assert_int_equal(pfs_unwind_space_map(space, &map, true), 1);
	assert_int_equal(pfs_unwind_space_unmap(space, 0, 0x1000), 0);
	assert_int_equal(pfs_unwind_space_unmap(space, 0x5000, 0x6000), 0);
	assert_int_equal(pfs_unwind_space_unmap(space, 0x2000, 0x3000), 1);
	assert_int_equal(pfs_unwind_space_unmap(space, 0x2000, 0x3000), 0);
	map = (struct pfs_unwind_map){ 0x3000, 0x5000, 0x2000, 7, 8, 1, "/b" };
	assert_int_equal(pfs_unwind_space_map(space, &map, true), 0);
	assert_int_equal(pfs_unwind_space_map(space, &map, false), 1);
	pfs_unwind_space_free(space);
}

/* ---- damage ---- */

/* The chain through a copy of this program, in which `damage` was done. */
static unsigned int through_copy(const char *path, bool *cut)
{
	struct pfs_unwind_space *space = own_space();
	uint64_t frames[PFS_MAX_FRAMES], at = (uintptr_t)leaf;
	struct pfs_unwind_map map = { 0 };
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];
	struct stat st;
	unsigned int nr;

	assert_int_equal(stat(path, &st), 0);
	while (fgets(line, sizeof(line), maps)) {
		struct pfs_smap r;

		line[strcspn(line, "\n")] = '\0';
		if (!pfs_smap_line(&r, line) || at < r.start || at >= r.end)
			continue;
		map = (struct pfs_unwind_map){ r.start, r.end, r.off, st.st_ino, r.dev, getpid(), path };
		assert_int_equal(pfs_unwind_space_map(space, &map, true), 1);
		break;
	}
	fclose(maps);
	nr = unwind(space, DUMP, frames, cut);
	pfs_unwind_space_free(space);
	return nr;
}

static void test_damaged_files(void **state)
{
	char path[] = "/tmp/pfscope-unwind-XXXXXX";
	int fd = mkstemp(path), exe = open("/proc/self/exe", O_RDONLY);
	unsigned char *bytes;
	unsigned int nr_all;
	struct stat st;
	bool cut;

	assert_true(fd >= 0 && exe >= 0);
	assert_int_equal(fstat(exe, &st), 0);
	bytes = malloc(st.st_size);
	assert_int_equal(read(exe, bytes, st.st_size), st.st_size);
	deep(10);
	assert_int_equal(write(fd, bytes, st.st_size), st.st_size);
	nr_all = through_copy(path, &cut);
	assert_false(cut);
	srandom(1);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(ftruncate(fd, st.st_size + i), 0); /* another file, within a tick of the clock, too */
		for (off_t at = 0; at < st.st_size; at += 1 + random() % 200)
			if (i % 2 || at > 64)
				assert_int_equal(pwrite(fd, &(char){ random() }, 1, at), 1);
		through_copy(path, &cut);
		assert_int_equal(pwrite(fd, bytes, st.st_size, 0), st.st_size);
	}
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(through_copy(path, &cut), 1);
	assert_true(cut);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(through_copy(path, &cut), 1);
	/* And the others are as they were. */
	assert_int_equal(pwrite(fd, bytes, st.st_size, 0), st.st_size);
	assert_int_equal(through_copy(path, &cut), nr_all);
	assert_false(cut);
	unlink(path);
	free(bytes);
	close(fd);
	close(exe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_through_the_c_library),
		cmocka_unit_test(test_through_a_signal),
#if defined(__x86_64__)
		cmocka_unit_test(test_code_in_no_file),
#endif
		cmocka_unit_test(test_a_short_dump),
		cmocka_unit_test(test_what_is_not_mapped),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_damaged_files),
	};
	struct pfs_err err;
	int ret;

	files = pfs_unwind_files_new(&err);
	if (!files) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	pfs_unwind_files_free(files);
	return ret;
}
