// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Archives of symbols that others have made: tar files with right checksums.
 */
#include "fuzz.h"

#include "base/write_all.h"
#include "symbol/archive.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 512, CHECKSUM = 148, CHECKSUM_LEN = 8, MAGIC = 257 };

/* Each header is one: a wrong checksum would end most inputs there. */
static void correct(uint8_t *header)
{
	unsigned int sum = 0;

	if (memcmp(header + MAGIC, "ustar", 5))
		return;
	memset(header + CHECKSUM, ' ', CHECKSUM_LEN);
	for (int i = 0; i < BLOCK; i++)
		sum += header[i];
	snprintf((char *)header + CHECKSUM, CHECKSUM_LEN - 1, "%06o", sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[32];
	struct pfs_err err;
	uint8_t *bytes = malloc(size + 1);
	int got;

	if (fd < 0)
		fd = memfd_create("archive", MFD_CLOEXEC);
	if (!bytes || fd < 0)
		abort();
	memcpy(bytes, data, size);
	for (size_t at = 0; size % 8 && at + BLOCK <= size; at += BLOCK)
		correct(bytes + at);
	if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) || pfs_write_all(fd, bytes, size))
		abort();
	free(bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (pfs_archive_check(path, &err) < 0)
		abort();
	got = pfs_archive_open(path, "abcd", "elf");
	if (got >= 0) {
		struct stat st;

		if (fstat(got, &st) || (size_t)st.st_size > size)
			abort();
		close(got);
	}
	return 0;
}
