// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sub-buffers read from a file, many at a time into a buffer of its own.
 *
 * Read and not mapped: a file that somebody truncates meanwhile ends early instead of ending us,
 * and memory stays flat. The descriptor is the caller's; its file position is not used.
 */
#include "record/page_source.h"

#include "base/write_all.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK (128u << 10)

struct file_source {
	struct pfs_page_source src;
	int fd;
	bool growing;
	uint32_t page_size;
	uint64_t pos, end; /* in the file: what to read next */
	uint8_t *block;	   /* made when first needed: many processors have no data */
	uint32_t room, given, filled;
};

/* Nothing behind this can be read. */
static int give_up(struct file_source *fs, int code, struct pfs_err *err)
{
	uint64_t at = fs->pos + fs->filled;

	fs->end = fs->pos;
	fs->filled = 0;
	return pfs_err_set(err, code, "offset %llu: cannot read: %s", (unsigned long long)at,
			   code == -EBADMSG ? "the file became shorter" : strerror(-code));
}

static int fill(struct file_source *fs, struct pfs_err *err)
{
	uint64_t want = fs->end - fs->pos;
	ssize_t n;

	fs->given = fs->filled = 0;
	if (!fs->block)
		fs->block = malloc(fs->room);
	if (!fs->block)
		return give_up(fs, -ENOMEM, err);
	if (want > fs->room)
		want = fs->room;
	n = pfs_read_all_at(fs->fd, fs->block, want, fs->pos);
	if (n < 0)
		return give_up(fs, n, err);
	fs->filled = n;
	if (fs->growing)
		fs->filled -= fs->filled % fs->page_size;
	else if (fs->filled < want)
		return give_up(fs, -EBADMSG, err);
	fs->pos += fs->filled;
	return 0;
}

static int file_next(struct pfs_page_source *src, const uint8_t **page, uint32_t *size, struct pfs_err *err)
{
	struct file_source *fs = (struct file_source *)src;
	int ret;

	if (fs->given == fs->filled) {
		ret = fs->pos < fs->end ? fill(fs, err) : 0;
		if (ret < 0 || fs->given == fs->filled)
			return ret;
	}
	*size = fs->filled - fs->given;
	if (*size > fs->page_size)
		*size = fs->page_size;
	*page = fs->block + fs->given;
	src->where = fs->pos - fs->filled + fs->given;
	fs->given += *size;
	return 1;
}

static void file_free(struct pfs_page_source *src)
{
	struct file_source *fs = (struct file_source *)src;

	free(fs->block);
	free(fs);
}

struct pfs_page_source *pfs_page_source_file(int fd, uint64_t start, uint64_t len, uint32_t page_size)
{
	struct file_source *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return NULL;
	fs->src.next = file_next;
	fs->src.free = file_free;
	fs->fd = fd;
	fs->page_size = page_size;
	fs->pos = start;
	fs->end = start + len;
	fs->room = page_size > BLOCK ? page_size : BLOCK - BLOCK % page_size;
	if (fs->room > len)
		fs->room = len;
	return &fs->src;
}

struct pfs_page_source *pfs_page_source_growing(int fd, uint32_t page_size)
{
	struct pfs_page_source *src = pfs_page_source_file(fd, 0, INT64_MAX, page_size);

	if (src)
		((struct file_source *)src)->growing = true;
	return src;
}
