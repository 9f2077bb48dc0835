/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dat/zip.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Records of faults differ in a few bytes: fast levels compress them as well as slow ones. */
#define LEVEL 1

#define HEAD 8 /* both sizes */

struct dat_zip {
	ZSTD_CCtx *ctx;
	uint8_t *out;
	size_t room;
};

struct dat_zip *dat_zip_new(void)
{
	struct dat_zip *zip = calloc(1, sizeof(*zip));

	if (!zip)
		return NULL;
	zip->ctx = ZSTD_createCCtx();
	if (zip->ctx)
		return zip;
	free(zip);
	return NULL;
}

void dat_zip_free(struct dat_zip *zip)
{
	if (!zip)
		return;
	ZSTD_freeCCtx(zip->ctx);
	free(zip->out);
	free(zip);
}

const char *dat_zip_name(void)
{
	return "zstd";
}

const char *dat_zip_version(void)
{
	return ZSTD_versionString();
}

const void *dat_zip_block(struct dat_zip *zip, const void *block, size_t len, size_t *out_len)
{
	size_t want = HEAD + ZSTD_compressBound(len), zipped;
	uint32_t sizes[2];

	if (len > UINT32_MAX || want > UINT32_MAX)
		return NULL;
	if (!pfs_array_reserve(zip->out, 0, zip->room, want))
		return NULL;
	zipped = ZSTD_compressCCtx(zip->ctx, zip->out + HEAD, zip->room - HEAD, block, len, LEVEL);
	if (ZSTD_isError(zipped))
		return NULL;
	sizes[0] = zipped;
	sizes[1] = len;
	memcpy(zip->out, sizes, HEAD);
	*out_len = HEAD + zipped;
	return zip->out;
}
