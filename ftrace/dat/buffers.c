// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The buffers of a trace.dat, and where in the file each CPU's data is, checked against the file.
 */
#include "dat/dat_priv.h"

#include "base/array.h"

#include <errno.h>
#include <string.h>

#define MAX_PAGE_SIZE (64u << 20)

struct dat_buffer *dat_add_buffer(struct pfs_dat *dat, const char *name)
{
	struct dat_buffer *buffer = pfs_array_add(dat->buffers, dat->nr_buffers, dat->max_buffers);

	if (!buffer)
		return NULL;
	*buffer = (struct dat_buffer){ .name = strdup(name) };
	if (buffer->name)
		return buffer;
	dat->nr_buffers--;
	return NULL;
}

int dat_add_cpu(struct dat_buffer *buffer, uint32_t cpu, uint64_t offset, uint64_t size)
{
	struct dat_cpu *added = pfs_array_add(buffer->cpus, buffer->nr_cpus, buffer->max_cpus);

	if (!added)
		return -ENOMEM;
	*added = (struct dat_cpu){ .cpu = cpu, .offset = offset, .size = size };
	return 0;
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
