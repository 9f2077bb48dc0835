/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compressing blocks for a trace.dat of version 7, with zstd. dat/unzip.c is the other direction.
 */
#ifndef PFS_DAT_ZIP_H
#define PFS_DAT_ZIP_H

#include <stddef.h>
#include <stdint.h>

struct dat_zip;

/* NULL: no memory. */
struct dat_zip *dat_zip_new(void);
void dat_zip_free(struct dat_zip *zip);

/* The name and the version of the compression, as they stand in the file. */
const char *dat_zip_name(void);
const char *dat_zip_version(void);

/*
 * A block in the form that the file has it: its compressed size and its size (4 bytes each), and the bytes.
 * Borrowed until the next call. NULL: no memory, or more than 4 GB.
 */
const void *dat_zip_block(struct dat_zip *zip, const void *block, size_t len, size_t *out_len);

#endif
