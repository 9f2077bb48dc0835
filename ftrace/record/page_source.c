// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sub-buffers of a file, many at a time: a window of a complete file is mapped, which spares a copy, and a growing file
 * is read. Memory stays flat. The descriptor is the caller's; its file position is not used.
 *
 * A file that was truncated is an error. If that happens between the look at its size and the use of the window, the
 * kernel raises SIGBUS, for which pfscope has a handler (cmd/main.c).
 */
#include "record/page_source.h"

#include "base/write_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK  (128u << 10)
#define WINDOW (256u << 10)

struct file_source {
	struct pfs_page_source src;
	int fd;
	bool growing;
	size_t mapped;	   /* bytes of the block, if it is a window of the file */
	uint64_t pos, end; /* in the file: what to read next */
	uint32_t room;	   /* of a block to read into, which is made when first needed: many CPUs have no data */
};

bool pfs_page_source_take(struct pfs_page_source *src, const uint8_t **page, uint32_t *size)
{
	*size = src->filled - src->given;
	if (*size > src->page_size)
		*size = src->page_size;
	if (!*size) /* perhaps there is no block yet */
		return false;
	*page = src->block + src->given;
	src->given += *size;
	return true;
}

void pfs_page_source_free(struct pfs_page_source *src)
{
	if (src)
		src->free(src);
}

/* Nothing behind this can be read. */
static int give_up(struct file_source *fs, int code, struct pfs_err *err)
{
	uint64_t at = fs->pos + fs->src.filled;

	fs->end = fs->pos;
	fs->src.filled = 0;
	return pfs_err_set(err, code, "offset %llu: cannot read: %s", (unsigned long long)at,
			   code == -EBADMSG ? "the file became shorter" : strerror(-code));
}

static void drop_block(struct file_source *fs)
{
	if (fs->mapped)
		munmap(fs->src.block, fs->mapped);
	else
		free(fs->src.block);
	fs->src.block = NULL;
	fs->mapped = 0;
}

/* False: the file cannot be mapped there, or is shorter. */
static bool map_window(struct file_source *fs)
{
	uint64_t left = fs->end - fs->pos, room = WINDOW - WINDOW % fs->src.page_size;
	size_t len = left < room ? left : room;
	void *window = MAP_FAILED;
	struct stat st;

	if (!fs->growing && !(fs->pos % sysconf(_SC_PAGESIZE)) && !fstat(fs->fd, &st) &&
	    fs->pos + len <= (uint64_t)st.st_size)
		window = mmap(NULL, len, PROT_READ, MAP_SHARED, fs->fd, fs->pos);
	if (window == MAP_FAILED)
		return false;
	/* What cannot be read is an error of reading, with its offset. Before 5.14: EINVAL. */
	if (madvise(window, len, MADV_POPULATE_READ) && errno != EINVAL) {
		munmap(window, len);
		return false;
	}
	drop_block(fs);
	fs->src.block = window;
	fs->src.filled = fs->mapped = len;
	fs->pos += len;
	return true;
}

static int fill(struct file_source *fs, struct pfs_err *err)
{
	struct pfs_page_source *src = &fs->src;
	uint64_t want = fs->end - fs->pos;
	ssize_t n;

	src->given = src->filled = 0;
	if (map_window(fs))
		return 0;
	if (fs->mapped)
		drop_block(fs);
	if (!src->block)
		src->block = malloc(fs->room);
	if (!src->block)
		return give_up(fs, -ENOMEM, err);
	if (want > fs->room)
		want = fs->room;
	n = pfs_read_all_at(fs->fd, src->block, want, fs->pos);
	if (n < 0)
		return give_up(fs, n, err);
	src->filled = n;
	if (fs->growing)
		src->filled -= src->filled % src->page_size;
	else if (src->filled < want)
		return give_up(fs, -EBADMSG, err);
	fs->pos += src->filled;
	return 0;
}

static int file_next(struct pfs_page_source *src, const uint8_t **page, uint32_t *size, struct pfs_err *err)
{
	struct file_source *fs = (struct file_source *)src;
	int ret = src->given == src->filled && fs->pos < fs->end ? fill(fs, err) : 0;

	src->where = fs->pos - src->filled + src->given;
	return ret < 0 ? ret : pfs_page_source_take(src, page, size);
}

static void file_free(struct pfs_page_source *src)
{
	drop_block((struct file_source *)src);
	free(src);
}

struct pfs_page_source *pfs_page_source_file(int fd, uint64_t start, uint64_t len, uint32_t page_size)
{
	struct file_source *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return NULL;
	fs->src.next = file_next;
	fs->src.free = file_free;
	fs->fd = fd;
	fs->src.page_size = page_size;
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
