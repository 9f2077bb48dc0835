/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a file of a JIT compiler had in it when the recording ended: its size and a hash of its bytes. By that it is recognized
 * later and elsewhere, as ELF files are by their build-ids, though it may have grown meanwhile.
 */
#ifndef PFS_JIT_CONTENT_H
#define PFS_JIT_CONTENT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct pfs_jit_content {
	uint64_t size; /* 0: unknown */
	char id[17];   /* of so many bytes: 16 hexadecimal digits */
};

/* Opens a regular file, for reading; last written to between these times (until 0: any time). -1: there is none. */
int pfs_jit_open(const char *path, struct timespec since, struct timespec until);

/* False: the file is empty, cannot be read, or is longer than anybody wants to read. */
bool pfs_jit_content_of(struct pfs_jit_content *content, int fd);

/* Does the file begin with that? */
bool pfs_jit_content_is(const struct pfs_jit_content *content, int fd);

/* What a note says: false, unless these are a size and an id. */
bool pfs_jit_content_set(struct pfs_jit_content *content, uint64_t size, const char *id);

#endif
