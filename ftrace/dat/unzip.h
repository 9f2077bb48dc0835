/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compressed parts of a trace.dat of version 7: blocks, and chunks of trace data.
 *
 * The only file that knows zlib; zstd is known to dat/zip.c as well. dat/v7.c and dat/read.c call it.
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

/* How much memory a file of that size may have for all its blocks, and for chunks of all processors at once. */
uint64_t dat_unzip_blocks_max(uint64_t file_size);
uint64_t dat_unzip_chunks_max(uint64_t file_size);

/*
 * Uncompresses a block of in_len bytes that says to become out_len, which is taken off *left. The caller
 * frees the result. NULL with errno set: -EBADMSG if it does not become that, or the claim is impossible,
 * or more than is left.
 */
void *dat_unzip_block(enum dat_codec codec, const void *in, size_t in_len, uint64_t out_len, uint64_t *left);

/*
 * The sub-buffers in the chunks that begin at `start` of the file and are before `end`. fd and left, of which
 * the memory that they need is taken off, stay the caller's. NULL: no memory.
 */
struct pfs_page_source *dat_unzip_chunks(enum dat_codec codec, int fd, uint64_t start, uint64_t end, uint32_t page_size,
					 bool swap, uint64_t *left);

#endif
