/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compressed parts of a trace.dat of version 7: blocks, and chunks of trace data.
 *
 * The only file that knows zlib; the writer uses zstd as well. dat/v7.c and dat/read.c call it.
 */
#ifndef PFS_DAT_UNZIP_H
#define PFS_DAT_UNZIP_H

#include "base/err.h"
#include "record/page_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dat_codec { DAT_CODEC_NONE, DAT_CODEC_ZLIB, DAT_CODEC_ZSTD };

/* The codec of that name in the file's header, or -ENOTSUP. */
int dat_codec_find(const char *name);

/* Limits of memory, by size of the file: of all its blocks, and of the chunks of all CPUs at once. */
uint64_t dat_unzip_blocks_max(uint64_t file_size);
uint64_t dat_unzip_chunks_max(uint64_t file_size);

/*
 * Uncompresses a block of in_len bytes that claims to be out_len uncompressed, and subtracts that from *left. The
 * caller frees the result. NULL with errno set: EBADMSG if the claim is wrong, or more than is left.
 */
void *dat_unzip_block(enum dat_codec codec, const void *in, size_t in_len, uint64_t out_len, uint64_t *left);

/*
 * The sub-buffers in the chunks of [start, end) of the file. fd and left, from which their memory is subtracted, stay
 * the caller's. NULL: no memory.
 */
struct pfs_page_source *dat_unzip_chunks(enum dat_codec codec, int fd, uint64_t start, uint64_t end, uint32_t page_size,
					 bool swap, uint64_t *left);

#endif
