// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Version 6 of trace.dat: all parts one after the other, the data at the end.
 *
 * Each other buffer (option BUFFER) has a header of its own at an offset, which begins with its options.
 */
#include "dat/dat_priv.h"

#include <errno.h>
#include <string.h>

#define WORD_LEN 10

/* "flyrecord\0": offset and size of each CPU's data. */
static int flyrecord(struct pfs_dat *dat, struct dat_buffer *buffer, struct dat_cursor *c)
{
	for (uint32_t cpu = 0; cpu < dat->nr_cpus; cpu++) {
		uint64_t offset = dat_u64(c, "offset of a CPU's data");
		uint64_t size = dat_u64(c, "size of a CPU's data");

		if (c->code)
			return c->code;
		if (size && dat_add_cpu(buffer, cpu, offset, size) < 0)
			return dat_cursor_error(c, -ENOMEM);
	}
	return 0;
}

/* From the options on: of the top buffer, or of another one. */
static int buffer_header(struct pfs_dat *dat, unsigned int index, struct dat_cursor *c)
{
	struct dat_buffer *buffer;
	const char *word = dat_take(c, WORD_LEN, "options, flyrecord or latency");

	if (word && !memcmp(word, "options  ", WORD_LEN)) {
		if (dat_options(dat, c, NULL) < 0)
			return c->code;
		word = dat_take(c, WORD_LEN, "options, flyrecord or latency");
	}
	if (!word)
		return c->code;
	/* the options may have added buffers, and so moved this one */
	buffer = &dat->buffers[index];
	buffer->page_size = dat->info.page_size;
	if (!memcmp(word, "flyrecord", WORD_LEN))
		return flyrecord(dat, buffer, c);
	if (!memcmp(word, "latency  ", WORD_LEN)) {
		buffer->text = true;
		return dat_add_cpu(buffer, 0, c->pos, dat->size - c->pos);
	}
	c->pos -= WORD_LEN;
	return dat_cursor_fail(c, "neither options nor flyrecord nor latency");
}

static int other_buffers(struct pfs_dat *dat, struct pfs_err *err)
{
	/* the options of these may not add more, which could go on for ever */
	const unsigned int nr_buffers = dat->nr_buffers;

	for (unsigned int i = 1; i < nr_buffers; i++) {
		struct dat_cursor c;
		int ret;

		dat_cursor_file(&c, dat, dat->buffers[i].offset, dat->size, err);
		if (dat->buffers[i].offset > dat->size)
			ret = dat_fail(dat, err, -EBADMSG, dat->buffers[i].offset,
				       "the header of a buffer should be there, behind the end of the file");
		else
			ret = buffer_header(dat, i, &c);
		if (!ret && !dat_claim_header(dat, dat->buffers[i].offset, c.pos)) {
			dat->buffers[i].nr_cpus = 0;
			ret = dat_fail(dat, err, -EBADMSG, dat->buffers[i].offset, "two buffers have the same header");
		}
		dat_cursor_fini(&c);
		if (ret < 0)
			ret = dat_damage(dat, ret, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int dat_v6_open(struct pfs_dat *dat, struct dat_cursor *c)
{
	int ret = 0;

	if (!dat_add_buffer(dat, ""))
		return dat_cursor_error(c, -ENOMEM);
	for (unsigned int i = 0; !ret && i < DAT_NR_METAS; i++)
		ret = dat_metas[i].read(dat, c);
	dat->nr_cpus = dat_u32(c, "number of CPUs");
	if (!ret)
		ret = buffer_header(dat, 0, c);
	return ret < 0 ? ret : other_buffers(dat, c->err);
}
