/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer of version 7: sections, each compressed by itself, options with their offsets, and their names.
 * dat/v7.c reads it back and describes the format.
 */
#include "dat/write_priv.h"

#include "base/write_all.h"
#include "dat/dat_priv.h"
#include "dat/zip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTION_HEAD	16
#define FLAG_COMPRESSED 1

/* Sub-buffers of a chunk: as many as trace-cmd puts into one. */
#define CHUNK_PAGES 10

/* A part of the file that is made in memory first. */
struct part {
	FILE *out; /* NULL: no memory */
	char *bytes;
	size_t len;
};

struct v7 {
	int fd;
	uint64_t pos; /* in the file */
	struct dat_zip *zip;
	struct part names; /* of the sections, for people */
	uint64_t sections[DAT_NR_OPTS];
};

static void part_open(struct part *part)
{
	part->bytes = NULL;
	part->out = open_memstream(&part->bytes, &part->len);
}

/* 0 or -ENOMEM; then there are no bytes. */
static int part_close(struct part *part)
{
	if (part->out && !fclose(part->out))
		return 0;
	free(part->bytes);
	part->bytes = NULL;
	return -ENOMEM;
}

static int put(struct v7 *f, const void *bytes, size_t len)
{
	int ret = pfs_write_all(f->fd, bytes, len);

	if (!ret)
		f->pos += len;
	return ret;
}

/* Overwrites 8 bytes whose value was not known yet. */
static int patch64(struct v7 *f, uint64_t at, uint64_t v)
{
	ssize_t n = pwrite(f->fd, &v, sizeof(v), at);

	return n == sizeof(v) ? 0 : n < 0 ? -errno : -EIO;
}

/* Where in the strings the name of a section is from now on. */
static uint32_t add_name(struct v7 *f, const char *name)
{
	uint32_t at = f->names.out ? ftell(f->names.out) : 0;

	if (f->names.out)
		dat_put_str(f->names.out, name);
	return at;
}

static int section_head(struct v7 *f, unsigned int id, unsigned int flags, uint32_t name_at, uint64_t size)
{
	const uint16_t id_flags[2] = { id, flags };
	char head[SECTION_HEAD];

	f->sections[id] = f->pos;
	memcpy(head, id_flags, 4);
	memcpy(head + 4, &name_at, 4);
	memcpy(head + 8, &size, 8);
	return put(f, head, sizeof(head));
}

/* A section of what was put into the part, which is closed. */
static int put_section(struct v7 *f, unsigned int id, uint32_t name_at, struct part *part)
{
	const void *zipped;
	size_t len;
	int ret = part_close(part);

	if (ret)
		return ret;
	zipped = dat_zip_block(f->zip, part->bytes, part->len, &len);
	free(part->bytes);
	if (!zipped)
		return -ENOMEM;
	ret = section_head(f, id, FLAG_COMPRESSED, name_at, len);
	return ret ? ret : put(f, zipped, len);
}

static int put_meta(struct v7 *f, const struct pfs_dat_content *content)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < DAT_NR_PARTS; i++) {
		struct part part;

		part_open(&part);
		if (part.out)
			dat_parts[i].put(part.out, content);
		ret = put_section(f, dat_parts[i].id, add_name(f, dat_parts[i].name), &part);
	}
	return ret;
}

/* ---- data ---- */

/* Writes a CPU's spool as chunks behind their number. *data becomes their offset and size in the file. */
static int put_data(struct v7 *f, struct dat_data *data, void *chunk, size_t chunk_size)
{
	const uint64_t size = data->size, start = f->pos;
	const uint32_t nr = size / chunk_size + !!(size % chunk_size);
	int ret = size ? put(f, &nr, sizeof(nr)) : 0;

	for (uint64_t at = 0; !ret && at < size; at += chunk_size) {
		size_t len = size - at < chunk_size ? size - at : chunk_size, zipped_len;
		ssize_t got = pfs_read_all_at(data->fd, chunk, len, at);
		const void *zipped;

		if (got < (ssize_t)len)
			return got < 0 ? got : -EIO;
		zipped = dat_zip_block(f->zip, chunk, len, &zipped_len);
		ret = zipped ? put(f, zipped, zipped_len) : -ENOMEM;
	}
	data->offset = start;
	data->size = f->pos - start;
	return ret;
}

static int put_buffer(struct v7 *f, uint32_t page_size, struct dat_data *data, unsigned int nr)
{
	const size_t chunk_size = (size_t)page_size * CHUNK_PAGES;
	void *chunk = malloc(chunk_size);
	int ret =
		chunk ? section_head(f, DAT_OPT_BUFFER, FLAG_COMPRESSED, add_name(f, "buffer flyrecord"), 0) : -ENOMEM;

	for (unsigned int i = 0; !ret && i < nr; i++)
		ret = put_data(f, &data[i], chunk, chunk_size);
	free(chunk);
	if (ret)
		return ret;
	return patch64(f, f->sections[DAT_OPT_BUFFER] + 8, f->pos - f->sections[DAT_OPT_BUFFER] - SECTION_HEAD);
}

/* ---- options ---- */

static void put_option(FILE *out, unsigned int id, uint32_t size)
{
	dat_put16(out, id);
	dat_put32(out, size);
}

static void put_section_option(FILE *out, const struct v7 *f, unsigned int id)
{
	put_option(out, id, 8);
	dat_put64(out, f->sections[id]);
}

/* Of "local [mono] boot" the one in brackets. */
static void put_buffer_option(FILE *out, const struct v7 *f, const struct pfs_dat_content *content, const char *clock,
			      const struct dat_data *data, unsigned int nr)
{
	const char *name = strchr(clock, '[') + 1;
	size_t len = strcspn(name, "]");

	/* offset, no name: the first buffer, clock, page size, number, and of each number, offset and size */
	put_option(out, DAT_OPT_BUFFER, 8 + 1 + len + 1 + 4 + 4 + nr * 20);
	dat_put64(out, f->sections[DAT_OPT_BUFFER]);
	dat_put_str(out, "");
	fwrite(name, 1, len, out);
	dat_put_str(out, "");
	dat_put32(out, content->page_size);
	dat_put32(out, nr);
	for (unsigned int i = 0; i < nr; i++) {
		dat_put32(out, i);
		dat_put64(out, data[i].offset);
		dat_put64(out, data[i].size);
	}
}

static int put_options(struct v7 *f, const struct pfs_dat_content *content, const char *clock,
		       const struct dat_data *data, unsigned int nr)
{
	struct part part;
	int ret;

	part_open(&part);
	if (part.out) {
		for (unsigned int i = 0; i < DAT_NR_PARTS; i++)
			put_section_option(part.out, f, dat_parts[i].id);
		put_option(part.out, DAT_OPT_CPUCOUNT, 4);
		dat_put32(part.out, nr);
		dat_put_options(part.out, content, clock);
		put_buffer_option(part.out, f, content, clock, data, nr);
		put_option(part.out, DAT_OPT_DONE, 8);
		dat_put64(part.out, 0); /* there are no more */
	}
	ret = part_close(&part);
	if (!ret)
		ret = section_head(f, DAT_OPT_DONE, 0, add_name(f, "options"), part.len);
	if (!ret)
		ret = put(f, part.bytes, part.len);
	free(part.bytes);
	return ret;
}

/*
 * The names that the headers of sections refer to. They come last, and readers search for them: no option has their
 * offset.
 */
static int put_names(struct v7 *f)
{
	uint32_t at = add_name(f, "strings");
	int ret = put_section(f, DAT_OPT_STRINGS, at, &f->names);

	f->names.out = NULL; /* closed */
	return ret;
}

/* The offset of the options belongs at *options_at, which is the end of the head. */
static int put_head(struct v7 *f, const struct pfs_dat_content *content, uint64_t *options_at)
{
	struct part part;
	int ret;

	part_open(&part);
	if (part.out) {
		dat_put_magic(part.out, content, '7');
		dat_put_str(part.out, dat_zip_name());
		dat_put_str(part.out, dat_zip_version());
		dat_put64(part.out, 0);
	}
	ret = part_close(&part);
	if (ret)
		return ret;
	*options_at = part.len - 8;
	ret = put(f, part.bytes, part.len);
	free(part.bytes);
	return ret;
}

int dat_write_v7(int fd, const struct pfs_dat_content *content, struct dat_data *data, unsigned int nr)
{
	struct v7 f = { .fd = fd, .zip = dat_zip_new() };
	char *clock = dat_clock_text(content->clock);
	uint64_t options_at = 0;
	int ret = f.zip && clock ? 0 : -ENOMEM;

	part_open(&f.names);
	if (!ret)
		ret = put_head(&f, content, &options_at);
	if (!ret)
		ret = put_meta(&f, content);
	if (!ret)
		ret = put_buffer(&f, content->page_size, data, nr);
	if (!ret)
		ret = put_options(&f, content, clock, data, nr);
	if (!ret)
		ret = put_names(&f);
	if (!ret)
		ret = patch64(&f, options_at, f.sections[DAT_OPT_DONE]);
	if (f.names.out && !part_close(&f.names))
		free(f.names.bytes);
	dat_zip_free(f.zip);
	free(clock);
	return ret;
}
