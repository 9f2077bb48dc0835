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

struct section {
	unsigned int flags;
	uint64_t size;
	struct dat_cursor c; /* on its contents */
	void *mem;	     /* its uncompressed contents, or NULL */
	uint64_t end;	     /* of the compressed ones, in the file */
};

static void section_close(struct section *s)
{
	dat_cursor_fini(&s->c);
	free(s->mem);
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

/* The head of the section at `offset`, which has to be of that id: the cursor is on what follows it. 0 or -errno. */
static int section_head(struct pfs_dat *dat, struct section *s, unsigned int id, uint64_t offset, struct pfs_err *err)
{
	unsigned int got;

	*s = (struct section){ 0 };
	dat_cursor_file(&s->c, dat, offset, dat->size, err);
	if (offset > dat->size)
		return s->c.code = dat_fail(dat, err, -EBADMSG, offset,
					    "a section should be there, behind the end of the file");
	got = dat_u16(&s->c, "a section");
	s->flags = dat_u16(&s->c, "a section");
	dat_u32(&s->c, "a section");
	s->size = dat_u64(&s->c, "a section");
	if (!s->c.code && got != id)
		s->c.code = dat_fail(dat, err, -EBADMSG, offset, "section %u instead of %u", got, id);
	return s->c.code;
}

static int section_open(struct pfs_dat *dat, struct section *s, unsigned int id, uint64_t offset, struct pfs_err *err)
{
	if (section_head(dat, s, id, offset, err) < 0)
		return s->c.code;
	if (s->size < s->c.end - s->c.pos)
		s->c.end = s->c.pos + s->size;
	return s->flags & DAT_COMPRESSED ? uncompress_section(dat, s, offset, err) : 0;
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
	ret = section_open(dat, &s, meta->id, dat->sections[meta->id], err) ?: meta->read(dat, &s.c);
	section_close(&s);
	return ret < 0 ? dat_damage(dat, ret, err) : 0;
}

/* The header of a buffer's section only records whether its data is compressed. */
static int buffer_section(struct pfs_dat *dat, struct dat_buffer *buffer, struct pfs_err *err)
{
	struct section s;
	int ret;

	if (!buffer->nr_cpus && !buffer->text)
		return 0;
	ret = section_head(dat, &s, buffer->text ? DAT_OPT_BUFFER_TEXT : DAT_OPT_BUFFER, buffer->offset, err);
	buffer->compressed = s.flags & DAT_COMPRESSED;
	if (!ret && buffer->text)
		ret = dat_add_cpu(buffer, 0, s.c.pos, s.size);
	section_close(&s);
	if (ret < 0)
		buffer->nr_cpus = 0;
	return ret < 0 ? dat_damage(dat, ret, err) : 0;
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
				"compressed with \"%.32s\", which pfscope cannot read (known: none, zlib, zstd); try "
				"trace-cmd convert",
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
