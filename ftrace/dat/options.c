// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The options of a trace.dat: clocks, the machine, the buffers; and where each CPU's data is, checked against the file.
 *
 * The ids and forms are those of trace-cmd.dat.v7(5); version 6 has the same up to TSC2NSEC. The
 * format asks readers to skip unknown ones.
 */
#include "base/number.h"
#include "dat/dat_priv.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PAGE_SIZE (64u << 20)

struct dat_buffer *dat_add_buffer(struct pfs_dat *dat, const char *name)
{
	struct dat_buffer *buffer = pfs_array_add(dat->buffers, dat->nr_buffers, dat->max_buffers);

	if (buffer)
		*buffer = (struct dat_buffer){ .name = strdup(name) };
	return buffer && buffer->name ? buffer : NULL;
}

int dat_add_cpu(struct dat_buffer *buffer, uint32_t cpu, uint64_t offset, uint64_t size)
{
	struct dat_cpu *added = pfs_array_add(buffer->cpus, buffer->nr_cpus, buffer->max_cpus);

	if (!added)
		return -ENOMEM;
	*added = (struct dat_cpu){ .cpu = cpu, .offset = offset, .size = size };
	return 0;
}

/* Options that are text: the clocks, the name of the machine and of the program that wrote the file. */
static int text_option(struct pfs_dat *dat, unsigned int id, struct dat_cursor *c)
{
	char **where = id == DAT_OPT_UNAME ? &dat->info.uname : &dat->info.writer, *start;
	uint64_t len = c->end - c->pos, offset;
	const char *bytes = dat_take(c, len, "an option");
	char *text = bytes ? strndup(bytes, len) : NULL;

	if (!text)
		return c->code ? c->code : -ENOMEM;
	switch (id) {
	case DAT_OPT_DATE: /* "0x5f5e100": in microseconds, the offset in nanoseconds */
		if (pfs_any_number(text, 10, &offset) > text)
			dat->conv.offset_ns += offset * 1000;
		break;
	case DAT_OPT_OFFSET:
		if (pfs_any_number(text, 10, &offset) > text)
			dat->conv.offset_ns += offset;
		break;
	case DAT_OPT_TRACECLOCK: /* "local global [mono] boot": the clock in use is the one in brackets */
		start = strchr(text, '[');
		if (!start || !strchr(start, ']'))
			break;
		where = &dat->info.clock;
		len = strcspn(start + 1, "]");
		memmove(text, start + 1, len);
		text[len] = 0;
		/* fall through */
	default:
		text[strcspn(text, "\n")] = 0;
		free(*where);
		*where = text;
		return 0;
	}
	free(text);
	return 0;
}

static int set_tsc2nsec(struct pfs_dat *dat, struct dat_cursor *c)
{
	uint32_t mult = dat_u32(c, "multiplier of a clock");
	uint32_t shift = dat_u32(c, "shift of a clock");

	if (!c->code && shift > 63)
		return dat_cursor_fail(c, "shift of a clock");
	dat->conv.mult = mult;
	dat->conv.shift = shift;
	return c->code;
}

static int by_time(const void *a, const void *b)
{
	const struct pfs_sync_sample *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static int sync_samples(struct pfs_sync *sync, struct dat_cursor *c)
{
	uint32_t n = dat_u32(c, "number of clock samples");

	/* three numbers of 8 bytes each */
	if (!c->code && n > (c->end - c->pos) / 24)
		return dat_cursor_fail(c, "number of clock samples");
	sync->samples = calloc(n + 1, sizeof(*sync->samples));
	if (!sync->samples)
		return c->code = -ENOMEM;
	sync->nr_samples = n;
	for (uint32_t i = 0; i < n; i++)
		sync->samples[i].time = dat_u64(c, "a clock sample");
	for (uint32_t i = 0; i < n; i++)
		sync->samples[i].offset = dat_u64(c, "a clock sample");
	for (uint32_t i = 0; i < n; i++)
		sync->samples[i].scaling = dat_u64(c, "a clock sample");
	return c->code;
}

/* In order of time, each time once. */
static void order_samples(struct pfs_sync *sync)
{
	uint32_t kept = 0;

	qsort(sync->samples, sync->nr_samples, sizeof(*sync->samples), by_time);
	for (uint32_t i = 0; i < sync->nr_samples; i++)
		if (!i || sync->samples[i].time != sync->samples[i - 1].time)
			sync->samples[kept++] = sync->samples[i];
	sync->nr_samples = kept;
}

/* The host's clock against this guest's, by CPU. */
static int set_time_shift(struct pfs_dat *dat, struct dat_cursor *c)
{
	uint32_t flags, n;

	if (dat->sync)
		return 0;
	dat_u64(c, "trace id of the host");
	flags = dat_u32(c, "flags of a time shift");
	n = dat_u32(c, "number of CPUs of a time shift");
	if (!c->code && n > (c->end - c->pos) / 4)
		return dat_cursor_fail(c, "number of CPUs of a time shift");
	dat->sync = calloc(n + 1, sizeof(*dat->sync));
	if (!dat->sync)
		return c->code = -ENOMEM;
	dat->nr_sync = n;
	for (uint32_t i = 0; i < n && !c->code; i++) {
		dat->sync[i].interpolate = flags & 1;
		sync_samples(&dat->sync[i], c);
	}
	/* later versions add the unit of the scaling */
	for (uint32_t i = 0; i < n && !c->code && c->pos < c->end; i++)
		for (uint32_t k = 0; k < dat->sync[i].nr_samples; k++)
			dat->sync[i].samples[k].fraction = dat_u64(c, "a clock sample");
	for (uint32_t i = 0; i < n && !c->code; i++)
		order_samples(&dat->sync[i]);
	return c->code;
}

/* v7: the CPUs of a buffer, with offset and size of their data. */
static int buffer_cpus(struct dat_buffer *buffer, struct dat_cursor *c)
{
	uint32_t n;

	buffer->page_size = dat_u32(c, "page size of a buffer");
	n = dat_u32(c, "number of CPUs of a buffer");
	while (n-- && !c->code) {
		uint32_t cpu = dat_u32(c, "a CPU");
		uint64_t offset = dat_u64(c, "offset of a CPU's data");
		uint64_t size = dat_u64(c, "size of a CPU's data");

		if (!c->code && dat_add_cpu(buffer, cpu, offset, size) < 0)
			c->code = -ENOMEM;
	}
	return c->code;
}

static int add_buffer(struct pfs_dat *dat, struct dat_cursor *c, bool text)
{
	uint64_t offset = dat_u64(c, "offset of a buffer");
	const char *name = dat_string(c, "name of a buffer");
	struct dat_buffer *buffer;

	if (!name)
		return c->code;
	/* v6 has the top buffer in the header itself */
	if (dat->info.version < 7 && !*name)
		return 0;
	buffer = dat_add_buffer(dat, name);
	if (!buffer)
		return -ENOMEM;
	buffer->offset = offset;
	buffer->text = text;
	if (dat->info.version < 7)
		return c->code;
	name = dat_string(c, "clock of a buffer");
	if (name && !dat->info.clock) {
		dat->info.clock = strdup(name);
		if (!dat->info.clock)
			return -ENOMEM;
	}
	return text || c->code ? c->code : buffer_cpus(buffer, c);
}

/* One option; the cursor is on its data and has no more than that. */
static int read_option(struct pfs_dat *dat, unsigned int id, struct dat_cursor *c)
{
	uint32_t n;

	switch (id) {
	case DAT_OPT_DATE:
	case DAT_OPT_OFFSET:
	case DAT_OPT_TRACECLOCK:
	case DAT_OPT_UNAME:
	case DAT_OPT_VERSION:
		return text_option(dat, id, c);
	case DAT_OPT_BUFFER:
	case DAT_OPT_BUFFER_TEXT:
		return add_buffer(dat, c, id == DAT_OPT_BUFFER_TEXT);
	case DAT_OPT_CPUCOUNT:
		n = dat_u32(c, "number of CPUs");
		dat->nr_cpus = c->code ? dat->nr_cpus : n;
		return c->code;
	case DAT_OPT_TIME_SHIFT:
		return set_time_shift(dat, c);
	case DAT_OPT_TSC2NSEC:
		return set_tsc2nsec(dat, c);
	case DAT_OPT_HEADER_INFO:
	case DAT_OPT_FTRACE_EVENTS:
	case DAT_OPT_EVENT_FORMATS:
	case DAT_OPT_KALLSYMS:
	case DAT_OPT_CMDLINES:
		if (c->end - c->pos >= 8)
			dat->sections[id] = dat_u64(c, "offset of a section");
		return c->code;
	default:
		return 0;
	}
}

int dat_options(struct pfs_dat *dat, struct dat_cursor *c, uint64_t *next)
{
	while (!c->code) {
		unsigned int id = dat_u16(c, "an option");
		struct dat_cursor data;
		const void *bytes;
		uint32_t size;
		uint64_t at;
		int ret;

		if (id == DAT_OPT_DONE && !next)
			break;
		size = dat_u32(c, "size of an option");
		at = c->mem ? c->base : c->pos;
		bytes = dat_take(c, size, "an option");
		if (!bytes)
			break;
		dat_cursor_mem(&data, dat, bytes, size, at, c->err);
		if (id == DAT_OPT_DONE) {
			*next = dat_u64(&data, "offset of the next options");
			return data.code;
		}
		ret = read_option(dat, id, &data);
		if (ret == -ENOMEM)
			dat_cursor_error(&data, ret);
		c->code = ret;
	}
	return c->code;
}

/* Checks the header's claim of one CPU's data against the file. */
static int check_cpu(struct pfs_dat *dat, struct dat_cpu *cpu, struct pfs_err *err)
{
	uint64_t offset = cpu->offset, size = cpu->size;
	int ret;

	if (offset <= dat->size && size <= dat->size - offset) {
		dat->claimed += size;
		if (dat->claimed <= dat->size)
			return 0;
		cpu->size = 0;
		cpu->cut = true;
		ret = dat_fail(dat, err, -EBADMSG, offset, "the data of CPU %u overlaps that of another CPU", cpu->cpu);
		return dat_damage(dat, ret, err);
	}
	cpu->size = offset < dat->size ? dat->size - offset : 0;
	cpu->cut = true;
	ret = dat_fail(dat, err, -EBADMSG, dat->size,
		       "the file ends here, but the data of CPU %u should be %llu bytes from offset %llu on: it is cut "
		       "short%s",
		       cpu->cpu, (unsigned long long)size, (unsigned long long)offset,
		       dat->salvage ? "" : "; try --salvage");
	return dat_damage(dat, ret, err);
}

int dat_check_buffer(struct pfs_dat *dat, struct dat_buffer *buffer, struct pfs_err *err)
{
	int ret = 0;

	if (buffer->nr_cpus && !buffer->text && (buffer->page_size < 64 || buffer->page_size > MAX_PAGE_SIZE)) {
		buffer->nr_cpus = 0;
		ret = dat_fail(dat, err, -EBADMSG, buffer->offset, "sub-buffers of %u bytes in the buffer \"%.64s\"",
			       buffer->page_size, buffer->name);
		return dat_damage(dat, ret, err);
	}
	for (unsigned int i = 0; !ret && i < buffer->nr_cpus; i++)
		ret = check_cpu(dat, &buffer->cpus[i], err);
	return ret;
}
