/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A shared object for LD_PRELOAD: the file $TRUNCATE loses all but its first page, $WHEN a file is mapped shared ("mapped")
 * or when what is mapped is in memory ("populated").
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void cut(bool now, const char *when)
{
	const char *name = getenv("TRUNCATE"), *wanted = getenv("WHEN");

	if (now && name && wanted && !strcmp(wanted, when) && truncate(name, 4096))
		abort();
}

void *mmap64(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	void *mapped = (void *)syscall(SYS_mmap, at, len, prot, flags, fd, off);

	cut(fd >= 0 && (flags & MAP_TYPE) == MAP_SHARED, "mapped");
	return mapped;
}

int madvise(void *at, size_t len, int advice)
{
	int ret = syscall(SYS_madvise, at, len, advice);

	cut(advice == MADV_POPULATE_READ, "populated");
	return ret;
}
