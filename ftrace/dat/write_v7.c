/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer of version 7: sections, each compressed by itself with zstd, options with their offsets, and their names.
 * dat/v7.c reads it back and describes the format.
 */
#include "dat/dat_priv.h"

#include "base/array.h"
#include "base/write_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define SECTION_HEAD 16

/* Records of faults differ in a few bytes: fast levels of zstd compress them as well as slow ones. */
#define LEVEL 1

/* Sub-buffers of a chunk: as many as trace-cmd puts into one. */
#define CHUNK_PAGES 10

struct v7 {
	int fd;
	int err;      /* the first failure, behind which nothing is written; or 0 */
	uint64_t pos; /* in the file */
	ZSTD_CCtx *zip;
	uint8_t *zipped;
	size_t max_zipped;
	FILE *out; /* a part that is made in memory first: */
	char *part;
	size_t part_len;
	char names[256]; /* of the sections, for people: all of them are below */
	size_t names_len;
	uint64_t sections[DAT_NR_OPTS];
};

static void fail(struct v7 *f, int err)
{
	f->err = f->err ? f->err : err;
}

static void put(struct v7 *f, const void *bytes, size_t len)
{
	if (!f->err)
		f->err = pfs_write_all(f->fd, bytes, len);
	f->pos += len;
}

/* A block as the file has it: its compressed size and its size (4 bytes each), and the compressed bytes. */
static void put_block(struct v7 *f, const void *block, size_t len)
{
	const size_t head = 8, want = head + ZSTD_compressBound(len);
	uint32_t sizes[2] = { 0, len };
	size_t zipped;

	if (f->err || want > UINT32_MAX || !pfs_array_reserve(f->zipped, 0, f->max_zipped, want)) {
		fail(f, -ENOMEM);
		return;
	}
	zipped = ZSTD_compressCCtx(f->zip, f->zipped + head, f->max_zipped - head, block, len, LEVEL);
	if (ZSTD_isError(zipped))
		fail(f, -ENOMEM);
	sizes[0] = zipped;
	memcpy(f->zipped, sizes, head);
	put(f, f->zipped, head + zipped);
}

/* Overwrites 8 bytes whose value was not known yet. */
static void patch64(struct v7 *f, uint64_t at, uint64_t v)
{
	ssize_t n = f->err ? 0 : pwrite(f->fd, &v, sizeof(v), at);

	if (n != sizeof(v))
		fail(f, n < 0 ? -errno : -EIO);
}

static void section_begin(struct v7 *f, unsigned int id, unsigned int flags, const char *name)
{
	const uint16_t id_flags[2] = { id, flags };
	const uint32_t name_at = f->names_len;
	char head[SECTION_HEAD] = { 0 };

	strcpy(f->names + f->names_len, name);
	f->names_len += strlen(name) + 1;
	f->sections[id] = f->pos;
	memcpy(head, id_flags, 4);
	memcpy(head + 4, &name_at, 4);
	put(f, head, sizeof(head));
}

static void section_end(struct v7 *f, unsigned int id)
{
	patch64(f, f->sections[id] + 8, f->pos - f->sections[id] - SECTION_HEAD);
}

/* Writes the part by that function, and begins the next. */
static void put_part(struct v7 *f, void (*put_bytes)(struct v7 *f, const void *bytes, size_t len))
{
	if (fflush(f->out))
		fail(f, -ENOMEM);
	put_bytes(f, f->part, f->part_len);
	rewind(f->out);
}

/* A compressed section of what was put into the part. */
static void put_section(struct v7 *f, unsigned int id, const char *name)
{
	section_begin(f, id, DAT_COMPRESSED, name);
	put_part(f, put_block);
	section_end(f, id);
}

/* Writes a CPU's spool as chunks behind their number. *data becomes their offset and size in the file. */
static void put_data(struct v7 *f, struct dat_data *data, void *chunk, size_t chunk_size)
{
	const uint64_t size = data->size, start = f->pos;
	const uint32_t nr = size / chunk_size + !!(size % chunk_size);

	if (size)
		put(f, &nr, sizeof(nr));
	for (uint64_t at = 0; !f->err && at < size; at += chunk_size) {
		size_t len = size - at < chunk_size ? size - at : chunk_size;
		ssize_t got = pfs_read_all_at(data->fd, chunk, len, at);

		if (got < (ssize_t)len)
			fail(f, got < 0 ? got : -EIO);
		put_block(f, chunk, len);
	}
	data->offset = start;
	data->size = f->pos - start;
}

static void put_buffer(struct v7 *f, uint32_t page_size, struct dat_data *data, unsigned int nr)
{
	const size_t chunk_size = (size_t)page_size * CHUNK_PAGES;
	void *chunk = malloc(chunk_size);

	if (!chunk)
		fail(f, -ENOMEM);
	section_begin(f, DAT_OPT_BUFFER, DAT_COMPRESSED, "buffer flyrecord");
	for (unsigned int i = 0; !f->err && i < nr; i++)
		put_data(f, &data[i], chunk, chunk_size);
	section_end(f, DAT_OPT_BUFFER);
	free(chunk);
}

static void put_option(FILE *out, unsigned int id, uint32_t size)
{
	dat_put16(out, id);
	dat_put32(out, size);
}

/* Of "local [mono] boot" the one in brackets. */
static void put_buffer_option(struct v7 *f, const struct pfs_dat_content *content, const char *clock,
			      const struct dat_data *data, unsigned int nr)
{
	const char *name = strchr(clock, '[') + 1;
	size_t len = strcspn(name, "]");

	/* offset, no name: the first buffer, clock, page size, number, and of each number, offset and size */
	put_option(f->out, DAT_OPT_BUFFER, 8 + 1 + len + 1 + 4 + 4 + nr * 20);
	dat_put64(f->out, f->sections[DAT_OPT_BUFFER]);
	dat_put_str(f->out, "");
	fwrite(name, 1, len, f->out);
	dat_put_str(f->out, "");
	dat_put32(f->out, content->page_size);
	dat_put32(f->out, nr);
	for (unsigned int i = 0; i < nr; i++) {
		dat_put32(f->out, i);
		dat_put64(f->out, data[i].offset);
		dat_put64(f->out, data[i].size);
	}
}

static void put_options(struct v7 *f, const struct pfs_dat_content *content, const char *clock,
			const struct dat_data *data, unsigned int nr)
{
	for (unsigned int i = 0; i < DAT_NR_PARTS; i++) {
		put_option(f->out, dat_parts[i].id, 8);
		dat_put64(f->out, f->sections[dat_parts[i].id]);
	}
	put_option(f->out, DAT_OPT_CPUCOUNT, 4);
	dat_put32(f->out, nr);
	dat_put_options(f->out, content, clock);
	put_buffer_option(f, content, clock, data, nr);
	put_option(f->out, DAT_OPT_DONE, 8);
	dat_put64(f->out, 0); /* there are no more */
	section_begin(f, DAT_OPT_DONE, 0, "options");
	put_part(f, put);
	section_end(f, DAT_OPT_DONE);
}

static void put_file(struct v7 *f, const struct pfs_dat_content *content, const char *clock, struct dat_data *data,
		     unsigned int nr)
{
	uint64_t options_at;

	dat_put_magic(f->out, content, '7');
	dat_put_str(f->out, "zstd");
	dat_put_str(f->out, ZSTD_versionString());
	options_at = ftell(f->out);
	dat_put64(f->out, 0);
	put_part(f, put);
	for (unsigned int i = 0; i < DAT_NR_PARTS; i++) {
		dat_parts[i].put(f->out, content);
		put_section(f, dat_parts[i].id, dat_parts[i].name);
	}
	put_buffer(f, content->page_size, data, nr);
	put_options(f, content, clock, data, nr);
	/* The names come last, and readers search for them: no option has their offset. */
	fwrite(f->names, 1, f->names_len, f->out);
	dat_put_str(f->out, "strings");
	put_section(f, DAT_OPT_STRINGS, "strings");
	patch64(f, options_at, f->sections[DAT_OPT_DONE]);
}

int dat_write_v7(int fd, const struct pfs_dat_content *content, struct dat_data *data, unsigned int nr)
{
	struct v7 f = { .fd = fd, .zip = ZSTD_createCCtx() };
	char *clock = dat_clock_text(content->clock);

	f.out = open_memstream(&f.part, &f.part_len);
	if (f.zip && clock && f.out)
		put_file(&f, content, clock, data, nr);
	else
		f.err = -ENOMEM;
	if (f.out)
		fclose(f.out);
	free(f.part);
	free(f.zipped);
	ZSTD_freeCCtx(f.zip);
	free(clock);
	return f.err;
}
