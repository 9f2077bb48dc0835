/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See archive.h. An archive is searched again for each file: there are at most some hundreds, and no state.
 */
#include "symbol/archive.h"

#include "base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 512 };
#define MAX_SIZE (UINT64_C(1) << 33) /* what eleven octal digits can say */

/* Of POSIX.1-1988: "ustar". Numbers are octal digits; names need no NUL where they fill their field. */
struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6],
		version[2], user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

/* All bytes of the header, spaces for its own. */
static unsigned int checksum_of(const struct header *header)
{
	const unsigned char *bytes = (const unsigned char *)header;
	unsigned int sum = 0;

	for (size_t i = 0; i < BLOCK; i++)
		sum += i - offsetof(struct header, checksum) < sizeof(header->checksum) ? ' ' : bytes[i];
	return sum;
}

/* ---- writing ---- */

/* Files have no owner, and no time of their own, so that the same recording makes the same archive. */
static void fill(struct header *header, const char *build_id, const char *what, uint64_t size)
{
	*header = (struct header){
		.mode = "0000444", .uid = "0000000", .gid = "0000000", .mtime = "00000000000", .type = '0'
	};
	memcpy(header->magic, "ustar", sizeof(header->magic));
	memcpy(header->version, "00", sizeof(header->version));
	snprintf(header->prefix, sizeof(header->prefix), "%s", build_id);
	snprintf(header->name, sizeof(header->name), "%s", what);
	snprintf(header->size, sizeof(header->size), "%011llo", (unsigned long long)size);
	snprintf(header->checksum, sizeof(header->checksum), "%06o", checksum_of(header));
	header->checksum[7] = ' ';
}

static int cannot_write(int error, struct pfs_err *err)
{
	return pfs_err_set(err, -error, "the archive cannot be written: %s", strerror(error));
}

static int write_zeroes(FILE *out, size_t len, struct pfs_err *err)
{
	static const char zeroes[2 * BLOCK];

	return fwrite(zeroes, 1, len, out) == len && !fflush(out) ? 0 : cannot_write(errno, err);
}

int64_t pfs_archive_add(FILE *out, const char *build_id, const char *what, int fd, struct pfs_err *err)
{
	struct header header;
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return pfs_err_set(err, -errno, "%s of %s: %s", what, build_id, strerror(errno));
	if ((uint64_t)st.st_size >= MAX_SIZE)
		return pfs_err_set(err, -EFBIG, "%s of %s: too large for an archive", what, build_id);
	fill(&header, build_id, what, st.st_size);
	if (fwrite(&header, sizeof(header), 1, out) != 1 || fflush(out))
		return cannot_write(errno, err);
	ret = pfs_copy_file(fileno(out), fd, st.st_size);
	if (ret)
		return cannot_write(-ret, err);
	return write_zeroes(out, -st.st_size & (BLOCK - 1), err) ?: st.st_size;
}

int pfs_archive_end(FILE *out, struct pfs_err *err)
{
	return write_zeroes(out, 2 * BLOCK, err);
}

/* ---- reading ---- */

/* Reads octal digits up to a NUL, a space or the end of the field. False: the field has no such number. */
static bool read_octal(const char *digits, size_t max, uint64_t *nr)
{
	size_t i = 0;

	*nr = 0;
	for (; i < max && digits[i] >= '0' && digits[i] <= '7'; i++)
		*nr = *nr << 3 | (digits[i] - '0');
	return i && (i == max || !digits[i] || digits[i] == ' ');
}

static bool is_end(const struct header *header)
{
	static const struct header zeroes;

	return !memcmp(header, &zeroes, sizeof(zeroes));
}

static bool is_valid(const struct header *header, uint64_t *size)
{
	uint64_t checksum;

	return !memcmp(header->magic, "ustar", 5) &&
	       read_octal(header->checksum, sizeof(header->checksum), &checksum) && checksum == checksum_of(header) &&
	       read_octal(header->size, sizeof(header->size), size) && *size < MAX_SIZE;
}

/* "./PREFIX/NAME" without "./". */
static bool is_named(const struct header *header, const char *wanted)
{
	char name[sizeof(header->prefix) + sizeof(header->name) + 2];

	snprintf(name, sizeof(name), "%.*s%s%.*s", (int)sizeof(header->prefix), header->prefix,
		 header->prefix[0] ? "/" : "", (int)sizeof(header->name), header->name);
	return (header->type == '0' || !header->type) && !strcmp(name + (strncmp(name, "./", 2) ? 0 : 2), wanted);
}

struct archive {
	int fd;
	uint64_t len, at;    /* of the next header */
	uint64_t data, size; /* of this file */
};

/* 1: the next file; 0: the end; -EINVAL: damaged at `at`. */
static int next_file(struct archive *archive, struct header *header)
{
	const uint64_t padded = (archive->size + BLOCK - 1) & ~(uint64_t)(BLOCK - 1);

	archive->at = archive->data + padded;
	if (archive->at > archive->len || !pfs_read_exactly(archive->fd, header, sizeof(*header), archive->at))
		return -EINVAL;
	if (is_end(header))
		return 0;
	if (!is_valid(header, &archive->size))
		return -EINVAL;
	archive->data = archive->at + BLOCK;
	return archive->size <= archive->len - archive->data ? 1 : -EINVAL;
}

static int open_archive(struct archive *archive, const char *path)
{
	struct stat st;

	*archive = (struct archive){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) };
	if (archive->fd < 0 || fstat(archive->fd, &st))
		return -errno;
	archive->len = st.st_size;
	return S_ISDIR(st.st_mode) ? -EISDIR : S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

static int copy_of(const struct archive *archive)
{
	struct pfs_err err;
	int fd = pfs_temp_open(&err);

	if (fd < 0 || !pfs_copy_range(fd, archive->fd, archive->data, archive->size))
		return fd;
	close(fd);
	return -1;
}

int pfs_archive_open(const char *path, const char *build_id, const char *what)
{
	struct archive archive;
	struct header header;
	char wanted[256];
	int fd = -1;

	snprintf(wanted, sizeof(wanted), "%s/%s", build_id, what);
	if (!open_archive(&archive, path))
		while (next_file(&archive, &header) > 0)
			if (is_named(&header, wanted)) {
				fd = copy_of(&archive);
				break;
			}
	pfs_close(archive.fd);
	return fd;
}

int pfs_archive_check(const char *path, struct pfs_err *err)
{
	struct archive archive;
	struct header header;
	int ret = open_archive(&archive, path), next = 1;

	while (!ret && next > 0)
		next = next_file(&archive, &header);
	if (ret == -EINVAL || (next < 0 && !archive.data))
		ret = pfs_err_set(err, 1, "%s: is no archive of `pfscope archive', and gives no names", path);
	else if (ret == -EISDIR)
		ret = 0;
	else if (ret)
		pfs_err_set(err, ret, "%s: %s", path, strerror(-ret));
	else if (next < 0)
		ret = pfs_err_set(err, 1, "%s: damaged at byte %" PRIu64 ": the files from there on give no names",
				  path, archive.at);
	pfs_close(archive.fd);
	return ret;
}
