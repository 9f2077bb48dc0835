// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Version 7 of trace.dat: a chain of option sections, which hold the offsets of all others.
 *
 * A section is its id and flags (2 bytes each), a description (4), its size (8), then its bytes,
 * which may be compressed: their compressed size and size (4 bytes each) come first then.
 */
#include "dat/dat_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FLAG_COMPRESSED 1

struct section {
	unsigned int id, flags;
	struct dat_cursor c; /* on its contents */
	void *mem;	     /* its uncompressed contents, or NULL */
	uint64_t end;	     /* of the compressed ones, in the file */
};

static void section_close(struct section *s)
{
	dat_cursor_fini(&s->c);
	free(s->mem);
	s->mem = NULL;
}

static int uncompress_section(struct pfs_dat *dat, struct section *s, uint64_t offset, struct pfs_err *err)
{
	uint32_t in_len = dat_u32(&s->c, "size of a compressed section");
	uint32_t out_len = dat_u32(&s->c, "size of a compressed section");
	const void *in = dat_take(&s->c, in_len, "a compressed section");

	if (!in)
		return s->c.code;
	s->mem = dat_unzip_block(dat->codec, in, in_len, out_len, &dat->blocks_left);
	if (!s->mem)
		return dat_fail(dat, err, -errno, offset, "a section that does not uncompress");
	s->end = s->c.pos;
	dat_cursor_fini(&s->c);
	dat_cursor_mem(&s->c, dat, s->mem, out_len, offset, err);
	return 0;
}

/* Opens the section at `offset`, which has to be of that id. */
static int section_open(struct pfs_dat *dat, struct section *s, unsigned int id, uint64_t offset, struct pfs_err *err)
{
	uint64_t size;

	s->mem = NULL;
	dat_cursor_file(&s->c, dat, offset, dat->size, err);
	if (offset > dat->size)
		return s->c.code = dat_fail(dat, err, -EBADMSG, offset,
					    "a section should be there, behind the end of the file");
	s->id = dat_u16(&s->c, "a section");
	s->flags = dat_u16(&s->c, "a section");
	dat_u32(&s->c, "a section");
	size = dat_u64(&s->c, "a section");
	if (!s->c.code && s->id != id)
		return s->c.code = dat_fail(dat, err, -EBADMSG, offset, "section %u instead of %u", s->id, id);
	if (s->c.code)
		return s->c.code;
	if (size < s->c.end - s->c.pos)
		s->c.end = s->c.pos + size;
	if (!(s->flags & FLAG_COMPRESSED))
		return 0;
	return uncompress_section(dat, s, offset, err);
}

static int all_options(struct pfs_dat *dat, uint64_t offset, struct pfs_err *err)
{
	uint64_t start, end;

	do {
		struct section s;
		int ret = section_open(dat, &s, DAT_OPT_DONE, offset, err);

		start = offset;
		if (!ret)
			ret = dat_options(dat, &s.c, &offset);
		end = s.mem ? s.end : s.c.pos;
		section_close(&s);
		if (ret < 0 || !offset)
			return ret;
	} while (dat_claim_header(dat, start, end));
	return dat_fail(dat, err, -EBADMSG, offset, "the options form a circle");
}

static int read_meta(struct pfs_dat *dat, const struct dat_meta *meta, struct pfs_err *err)
{
	struct section s;
	int ret;

	if (!dat->sections[meta->id])
		return 0;
	ret = section_open(dat, &s, meta->id, dat->sections[meta->id], err);
	if (!ret)
		ret = meta->read(dat, &s.c);
	section_close(&s);
	return ret < 0 ? dat_damage(dat, ret, err) : 0;
}

/* The header of a buffer's section only records whether its data is compressed. */
static int buffer_section(struct pfs_dat *dat, struct dat_buffer *buffer, struct pfs_err *err)
{
	unsigned int id = buffer->text ? DAT_OPT_BUFFER_TEXT : DAT_OPT_BUFFER;
	struct dat_cursor c;
	unsigned int got, flags;
	int ret = 0;

	if (!buffer->nr_cpus && !buffer->text)
		return 0;
	dat_cursor_file(&c, dat, buffer->offset, dat->size, err);
	if (buffer->offset > dat->size)
		c.pos = c.end;
	got = dat_u16(&c, "a buffer's section");
	flags = dat_u16(&c, "a buffer's section");
	dat_skip(&c, 4, "a buffer's section");
	if (!c.code && got != id)
		ret = dat_fail(dat, err, -EBADMSG, buffer->offset, "section %u instead of the buffer \"%s\"", got,
			       buffer->name);
	buffer->compressed = flags & FLAG_COMPRESSED;
	if (!c.code && !ret && buffer->text) {
		uint64_t size = dat_u64(&c, "a buffer's section");

		if (!c.code && dat_add_cpu(buffer, 0, c.pos, size) < 0)
			ret = -ENOMEM;
	}
	ret = c.code ? c.code : ret;
	dat_cursor_fini(&c);
	if (ret < 0) {
		buffer->nr_cpus = 0;
		ret = dat_damage(dat, ret, err);
	}
	return ret;
}

/* "zstd\0" "1.5.4\0" and the offset of the first options. */
int dat_v7_open(struct pfs_dat *dat, struct dat_cursor *c)
{
	const char *codec = dat_string(c, "name of the compression");
	int found = codec ? dat_codec_find(codec) : 0;
	uint64_t offset;
	int ret;

	if (found < 0)
		return dat_fail(dat, c->err, found, c->pos,
				"compressed with \"%.32s\", which pfscope cannot read (known: "
				"none, zlib, zstd); try trace-cmd convert",
				codec);
	dat->codec = found;
	dat_string(c, "version of the compression");
	offset = dat_u64(c, "offset of the options");
	if (c->code)
		return c->code;
	ret = all_options(dat, offset, c->err);
	if (ret < 0)
		ret = dat_damage(dat, ret, c->err);
	if (!ret && !dat->sections[DAT_OPT_HEADER_INFO])
		ret = dat_fail(dat, c->err, -EBADMSG, offset, "the options name no header_page");
	for (unsigned int i = 0; !ret && i < DAT_NR_METAS; i++)
		ret = read_meta(dat, &dat_metas[i], c->err);
	for (unsigned int i = 0; !ret && i < dat->nr_buffers; i++)
		ret = buffer_section(dat, &dat->buffers[i], c->err);
	return ret;
}
