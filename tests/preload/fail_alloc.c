/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A shared object for LD_PRELOAD: one allocation of the program fails, the one that $FAIL_ALLOC says (1: the first);
 * 0: none, their number is written to the file $FAIL_ALLOC_COUNT. With $FAIL_ALLOC_IN only those count that are called
 * for in the objects (the program, libraries) of which it has the names, with spaces between them.
 *
 * What the dynamic linker and libc allocate before main() is not counted: no program could help it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static const char *objects;
static atomic_ulong nr_allocations, fail_at;
static atomic_bool counting;

static void stop(void)
{
	counting = false;
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAIL_ALLOC");

	fail_at = at ? strtoul(at, NULL, 10) : 0;
	objects = getenv("FAIL_ALLOC_IN");
	unsetenv("LD_PRELOAD"); /* of this program, not of its children, whose failure is no failure of it */
	pthread_atfork(NULL, NULL, stop);
	counting = at;
}

__attribute__((destructor)) static void end(void)
{
	const char *name = getenv("FAIL_ALLOC_COUNT");
	FILE *f;

	counting = false;
	f = name ? fopen(name, "w") : NULL;
	if (!f)
		return;
	fprintf(f, "%lu\n", nr_allocations);
	fclose(f);
}

/* Is the name of the object, up to a dot or its end, among $FAIL_ALLOC_IN? */
static bool is_in(void *caller)
{
	Dl_info info;
	const char *name, *at;
	size_t len;

	if (!objects)
		return true;
	if (!dladdr(caller, &info) || !info.dli_fname)
		return false;
	name = strrchr(info.dli_fname, '/');
	name = name ? name + 1 : info.dli_fname;
	len = strcspn(name, ".");
	for (at = objects; at; at = strchr(at, ' '), at += at ? 1 : 0)
		if (!strncmp(at, name, len) && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

static int fails(void *caller)
{
	if (!counting || !is_in(caller) || ++nr_allocations != fail_at)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}
