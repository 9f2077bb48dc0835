/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See minidebug.h.
 */
#include "symbol/minidebug.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX_UNPACKED = 256 << 20, MAX_MEMORY = 256 << 20 };

/* lzma/container.h, which would need a package of its own for this one. */
typedef int unpack_fn(uint64_t *max_memory, uint32_t flags, const void *allocator, const uint8_t *in, size_t *in_pos,
		      size_t in_len, uint8_t *out, size_t *out_pos, size_t out_len);
enum { LZMA_OK = 0, LZMA_BUF_ERROR = 10 };

void *pfs_minidebug_unpack(const void *packed, size_t len, size_t *unpacked_len)
{
	void *library = dlopen("liblzma.so.5", RTLD_NOW | RTLD_NODELETE);
	unpack_fn *unpack = library ? (unpack_fn *)dlsym(library, "lzma_stream_buffer_decode") : NULL;
	int ret = LZMA_BUF_ERROR;

	for (size_t room = 1 << 20; unpack && ret == LZMA_BUF_ERROR && room <= MAX_UNPACKED; room *= 4) {
		uint64_t memory = MAX_MEMORY;
		size_t in_pos = 0;
		void *out = malloc(room);

		*unpacked_len = 0;
		ret = out ? unpack(&memory, 0, NULL, packed, &in_pos, len, out, unpacked_len, room) : -1;
		if (ret == LZMA_OK)
			return out;
		free(out);
	}
	return NULL;
}
