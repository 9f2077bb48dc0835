/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "buffer_size.h"

/* Of the machine's memory, for the buffers of all processors; and for one buffer. */
#define SHARE 16
#define MAX_KB (256u << 10)

uint32_t pfs_buffer_size(uint32_t size_kb, uint64_t found_bytes, uint32_t max_kb)
{
	uint32_t larger = size_kb > max_kb / 2 ? max_kb : size_kb * 2;

	return found_bytes > (uint64_t)size_kb * 1024 / 2 && larger > size_kb ? larger : size_kb;
}

uint32_t pfs_buffer_max_kb(uint64_t memory_bytes, unsigned int nr_cpus)
{
	uint64_t share_kb = memory_bytes / 1024 / SHARE / (nr_cpus ? nr_cpus : 1);

	return share_kb < MAX_KB ? share_kb : MAX_KB;
}
