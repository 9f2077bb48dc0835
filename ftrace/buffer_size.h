/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How large the kernel's buffer of a processor shall be, by what was found in it.
 */
#ifndef PFS_BUFFER_SIZE_H
#define PFS_BUFFER_SIZE_H

#include <stdint.h>

/*
 * A buffer of size_kb in which so many bytes were found at once: the size that it shall have, twice as large if it
 * was more than half full, but no larger than max_kb. size_kb if it may stay.
 */
uint32_t pfs_buffer_size(uint32_t size_kb, uint64_t found_bytes, uint32_t max_kb);

/* The most that one of so many processors gets on a machine with so much memory. */
uint32_t pfs_buffer_max_kb(uint64_t memory_bytes, unsigned int nr_cpus);

#endif
