/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See content.h. The hash finds files that are others, not those that somebody made to have it.
 */
#include "jit/content.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/write_all.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

enum { PART = 1 << 15 };
#define MAX_SIZE (UINT64_C(1) << 30)

int pfs_jit_open(const char *path, struct timespec since, struct timespec until)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode) && pfs_timespec_order(st.st_mtim, since) >= 0 &&
		       !(until.tv_sec && pfs_timespec_order(st.st_mtim, until) > 0)))
		return fd;
	close(fd);
	return -1;
}

/* Of eight bytes more, in little-endian order, of zeroes where there are fewer. */
static uint64_t mix(uint64_t hash, const uint8_t *bytes)
{
	hash = (hash ^ pfs_load64(bytes, PFS_HOST_BIG_ENDIAN)) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* Of the first bytes. False: there are fewer. */
static bool read_id(struct pfs_jit_content *content, int fd, uint64_t size)
{
	uint64_t hash = size;
	uint8_t bytes[PART];

	for (uint64_t at = 0; at < size; at += PART) {
		size_t len = size - at < PART ? size - at : PART;

		if (!pfs_read_exactly(fd, bytes, len, at))
			return false;
		memset(bytes + len, 0, -len & 7);
		for (size_t i = 0; i < len; i += 8)
			hash = mix(hash, bytes + i);
	}
	content->size = size;
	snprintf(content->id, sizeof(content->id), "%016" PRIx64, hash);
	return true;
}

bool pfs_jit_content_of(struct pfs_jit_content *content, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= MAX_SIZE &&
	       read_id(content, fd, st.st_size);
}

bool pfs_jit_content_is(const struct pfs_jit_content *content, int fd)
{
	struct pfs_jit_content now;

	return content->size && read_id(&now, fd, content->size) && !strcmp(now.id, content->id);
}

bool pfs_jit_content_set(struct pfs_jit_content *content, uint64_t size, const char *id)
{
	if (!size || size > MAX_SIZE || strlen(id) != 16 || strspn(id, "0123456789abcdef") != 16)
		return false;
	content->size = size;
	snprintf(content->id, sizeof(content->id), "%s", id);
	return true;
}
