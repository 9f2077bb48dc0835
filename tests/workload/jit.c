/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that is generated, replaced at its address and moved, with jit-PID.dump of the current folder as a JIT compiler writes it.
 * Printed is the chain of each fault, the innermost first: "ADDRESS FUNCTION FILE:LINE [CALLER FILE:LINE]".
 *
 *     jit [BEFORE]
 *
 * BEFORE: seconds by which the times in the file are set back, so that they are another clock's, with the flag for that (0).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, NR_PAGES = 64, NS = 1000000000 };
enum { LOAD, MOVE, DEBUG_INFO, CLOSE };

/* Both with a frame pointer. touch(p) writes to *p; call(p, f) calls f(p). */
#if defined(__x86_64__)
static const uint8_t touch[] = { 0x55, 0x48, 0x89, 0xe5, 0xc6, 0x07, 0x01, 0x5d, 0xc3 };
static const uint8_t call[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3 };
enum { SECOND_LINE = 4, MACHINE = 62 }; /* where the instruction is that matters; ELF's number */
#elif defined(__aarch64__)
static const uint8_t touch[] = { 0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x21, 0x00, 0x80, 0x52,
				 0x01, 0x00, 0x00, 0x39, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6 };
static const uint8_t call[] = { 0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x20, 0x00,
				0x3f, 0xd6, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6 };
enum { SECOND_LINE = 8, MACHINE = 183 };
#else
#error "no code for this machine"
#endif

typedef void touch_fn(char *p);
typedef void call_fn(char *p, touch_fn *fn);

static FILE *dump;
static uint64_t set_back;
static char *memory, *code;
static int page;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec - set_back;
}

static void u32(uint32_t v)
{
	fwrite(&v, sizeof(v), 1, dump);
}

static void u64(uint64_t v)
{
	fwrite(&v, sizeof(v), 1, dump);
}

static void record(uint32_t kind, uint32_t size)
{
	u32(kind);
	u32(16 + size);
	u64(now());
}

/* The file is mapped for execution, which is how others learn of it. */
static void begin(void)
{
	char name[64];

	snprintf(name, sizeof(name), "jit-%d.dump", getpid());
	dump = fopen(name, "w+");
	if (!dump || mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED) {
		perror(name);
		exit(1);
	}
	u32(0x4a695444);
	u32(1);
	u32(40);
	u32(MACHINE);
	u32(0);
	u32(getpid());
	u64(now());
	u64(set_back ? 1 : 0);
}

static void lines(uint64_t at, const char *file, uint32_t line)
{
	record(DEBUG_INFO, 16 + 16 + strlen(file) + 1 + 16 + 2);
	u64(at);
	u64(2);
	u64(at);
	u32(line);
	u32(0);
	fwrite(file, strlen(file) + 1, 1, dump);
	u64(at + SECOND_LINE);
	u32(line + 1);
	u32(0);
	fwrite("\xff", 2, 1, dump); /* the same file */
}

static void *load(size_t off, const char *name, uint64_t index, const uint8_t *bytes, size_t size)
{
	char *at = memcpy(code + off, bytes, size);

	__builtin___clear_cache(at, at + size);
	record(LOAD, 40 + strlen(name) + 1 + size);
	u32(getpid());
	u32(getpid());
	u64((uintptr_t)at);
	u64((uintptr_t)at);
	u64(size);
	u64(index);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(bytes, size, 1, dump);
	fflush(dump);
	return at;
}

static void *move(size_t from, size_t to, uint64_t index, size_t size)
{
	char *at = memcpy(code + to, code + from, size);

	__builtin___clear_cache(at, at + size);
	record(MOVE, 48);
	u32(getpid());
	u32(getpid());
	u64((uintptr_t)at);
	u64((uintptr_t)code + from);
	u64((uintptr_t)at);
	u64(size);
	u64(index);
	fflush(dump);
	return at;
}

static void *load_touch(size_t off, const char *name, uint64_t index, const char *file, uint32_t line)
{
	lines((uintptr_t)code + off, file, line);
	return load(off, name, index, touch, sizeof(touch));
}

static char *next(const char *chain)
{
	char *p = memory + (size_t)page++ * PAGE;

	printf("%lx %s\n", (unsigned long)p, chain);
	fflush(stdout);
	return p;
}

int main(int argc, char **argv)
{
	call_fn *caller;
	touch_fn *fn;

	set_back = argc > 1 ? strtoull(argv[1], NULL, 10) * NS : 0;
	memory = mmap(NULL, (size_t)NR_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || code == MAP_FAILED || madvise(memory, (size_t)NR_PAGES * PAGE, MADV_NOHUGEPAGE))
		return 1;
	begin();

	fn = load_touch(0, "first", 1, "/src/a.js", 10);
	fn(next("first /src/a.js:11"));
	fn = load_touch(0, "second", 2, "/src/b.js", 20);
	fn(next("second /src/b.js:21"));
	lines((uintptr_t)code + 512, "/src/c.js", 30);
	caller = load(512, "caller", 3, call, sizeof(call));
	caller(next("second /src/b.js:21 caller /src/c.js:31"), fn);
	/* The same stack, but not the same code. */
	fn = load_touch(0, "_ZN2ns5thirdEPc", 4, "/src/d.js", 40);
	caller(next("ns::third(char*) /src/d.js:41 caller /src/c.js:31"), fn);

	load_touch(1024, "mover", 5, "/src/e.js", 50);
	fn = move(1024, 2048, 5, sizeof(touch));
	fn(next("mover /src/e.js:51"));
	fn = load(1024, "settler", 6, touch, sizeof(touch));
	fn(next("settler :0"));
	fn = memcpy(code + 3072, touch, sizeof(touch));
	__builtin___clear_cache(code + 3072, code + 3072 + sizeof(touch));
	fn(next("unknown :0"));
	record(CLOSE, 0);
	return fclose(dump) != 0;
}
