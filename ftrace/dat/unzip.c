// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Uncompressing, with claims of size checked before memory is taken for them.
 *
 * The trace data of a CPU is a count of chunks (4 bytes), then each chunk: its compressed size, its size (4 bytes
 * each) and its bytes. A chunk holds whole sub-buffers (trace-cmd: ten).
 */
#include "dat/dat_priv.h"

#include "base/bytes.h"
#include "base/write_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* trace-cmd puts at most ten sub-buffers into a chunk, and a sub-buffer has at most 1 MB. */
#define MAX_CHUNK_PAGES 16
#define MIN_MAX_CHUNK	(1u << 20)
#define MAX_CHUNK	(16u << 20)

int dat_codec_find(const char *name)
{
	static const char *const names[] = { "none", "zlib", "zstd" }; /* by enum dat_codec */

	for (int i = 0; i < 3; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -ENOTSUP;
}

/* The number of uncompressed bytes, or -EBADMSG. */
static int64_t unzip(enum dat_codec codec, const void *in, size_t in_len, void *out, size_t out_len)
{
	uLongf zlib_len = out_len;
	size_t ret;

	switch (codec) {
	case DAT_CODEC_ZLIB:
		return uncompress(out, &zlib_len, in, in_len) == Z_OK ? (int64_t)zlib_len : -EBADMSG;
	case DAT_CODEC_ZSTD:
		ret = ZSTD_decompress(out, out_len, in, in_len);
		return ZSTD_isError(ret) ? -EBADMSG : (int64_t)ret;
	default:
		return -EBADMSG;
	}
}

void *dat_unzip_block(enum dat_codec codec, const void *in, size_t in_len, uint64_t out_len, uint64_t *left)
{
	void *out = NULL;

	errno = EBADMSG;
	if (out_len > *left)
		return NULL;
	*left -= out_len;
	out = malloc(out_len + 1);
	if (!out)
		return NULL;
	if (unzip(codec, in, in_len, out, out_len) != (int64_t)out_len) {
		free(out);
		errno = EBADMSG;
		return NULL;
	}
	return out;
}

struct chunk_source {
	struct pfs_page_source src;
	enum dat_codec codec;
	int fd;
	bool swap, begun;
	uint64_t pos, end; /* in the file */
	uint32_t nr_left;  /* chunks */
	uint64_t *left;	   /* of the memory for chunks */
	uint8_t *in;
	size_t in_room, out_room; /* out: the block */
};

/* The chunks behind this one cannot be found. */
static int bad_chunk(struct chunk_source *cs, const char *what, struct pfs_err *err)
{
	cs->nr_left = 0;
	return pfs_err_set(err, -EBADMSG, "offset %llu: damaged or cut short: %s", (unsigned long long)cs->pos, what);
}

/* The next len bytes of the file. */
static int take(struct chunk_source *cs, void *buf, size_t len, const char *what, struct pfs_err *err)
{
	ssize_t n;

	if (len > cs->end - cs->pos)
		return bad_chunk(cs, what, err);
	n = pfs_read_all_at(cs->fd, buf, len, cs->pos);
	if (n < (ssize_t)len)
		return bad_chunk(cs, n < 0 ? strerror(-n) : "the file became shorter", err);
	cs->pos += len;
	return 0;
}

static int take_u32(struct chunk_source *cs, uint32_t *v, const char *what, struct pfs_err *err)
{
	uint8_t bytes[4];
	int ret = take(cs, bytes, 4, what, err);

	*v = ret < 0 ? 0 : pfs_load32(bytes, cs->swap);
	return ret;
}

static uint32_t max_chunk(const struct chunk_source *cs)
{
	uint64_t max = (uint64_t)cs->src.page_size * MAX_CHUNK_PAGES;

	return max < MIN_MAX_CHUNK ? MIN_MAX_CHUNK : max > MAX_CHUNK ? MAX_CHUNK : max;
}

/* Exactly as large as it has to be: what is allocated in all has a limit. */
static bool make_room(uint8_t **buf, size_t *room, size_t len)
{
	uint8_t *larger = len > *room ? realloc(*buf, len) : NULL;

	if (larger) {
		*buf = larger;
		*room = len;
	}
	return len <= *room;
}

static int next_chunk(struct chunk_source *cs, struct pfs_err *err)
{
	uint32_t in_len = 0, out_len = 0;
	int ret;

	cs->src.where = cs->pos;
	cs->src.given = cs->src.filled = 0;
	ret = take_u32(cs, &in_len, "size of a chunk", err) ?: take_u32(cs, &out_len, "size of a chunk", err);
	if (ret < 0)
		return ret;
	if (in_len > cs->end - cs->pos || in_len > 2 * max_chunk(cs) || out_len > max_chunk(cs))
		return bad_chunk(cs, "size of a chunk", err);
	if (out_len > cs->out_room) {
		if (out_len - cs->out_room > *cs->left)
			return bad_chunk(cs, "chunks out of all proportion to the file", err);
		*cs->left -= out_len - cs->out_room;
	}
	if (!make_room(&cs->in, &cs->in_room, in_len) || !make_room(&cs->src.block, &cs->out_room, out_len))
		return pfs_err_set(err, -ENOMEM, "out of memory");
	ret = take(cs, cs->in, in_len, "a chunk", err);
	if (ret < 0)
		return ret;
	if (unzip(cs->codec, cs->in, in_len, cs->src.block, out_len) != out_len)
		return pfs_err_set(err, -EBADMSG, "offset %llu: a chunk that cannot be uncompressed",
				   (unsigned long long)cs->src.where);
	cs->src.filled = out_len;
	return 0;
}

static int chunk_next(struct pfs_page_source *src, const uint8_t **page, uint32_t *size, struct pfs_err *err)
{
	struct chunk_source *cs = (struct chunk_source *)src;
	int ret = 0;

	if (!cs->begun)
		ret = take_u32(cs, &cs->nr_left, "number of chunks", err);
	cs->begun = true;
	while (!ret && src->given == src->filled && cs->nr_left) {
		cs->nr_left--;
		ret = next_chunk(cs, err);
	}
	return ret < 0 ? ret : pfs_page_source_take(src, page, size);
}

static void chunk_free(struct pfs_page_source *src)
{
	free(src->block);
	free(((struct chunk_source *)src)->in);
	free(src);
}

struct pfs_page_source *dat_unzip_chunks(enum dat_codec codec, int fd, uint64_t start, uint64_t end, uint32_t page_size,
					 bool swap, uint64_t *left)
{
	struct chunk_source *cs = malloc(sizeof(*cs));

	if (!cs)
		return NULL;
	*cs = (struct chunk_source){
		.src = { .next = chunk_next, .free = chunk_free, .page_size = page_size },
		.codec = codec,
		.fd = fd,
		.pos = start,
		.end = end,
		.swap = swap,
		.left = left,
	};
	return &cs->src;
}
