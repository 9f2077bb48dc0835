/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A shared object for LD_PRELOAD: once a file is mapped shared, the file $TRUNCATE loses all but its first page. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *mmap64(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	void *mapped = (void *)syscall(SYS_mmap, at, len, prot, flags, fd, off);
	const char *name = getenv("TRUNCATE");

	if (name && fd >= 0 && (flags & MAP_TYPE) == MAP_SHARED && truncate(name, 4096))
		abort();
	return mapped;
}
