/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes jitdump files, in either byte order, into memory: jit_bytes, jit_len. */
#ifndef PFS_JIT_FORGE_H
#define PFS_JIT_FORGE_H

#include "base/bytes.h"

#include <string.h>

enum { JIT_LOAD, JIT_MOVE, JIT_DEBUG_INFO, JIT_CLOSE, JIT_UNWINDING_INFO };

static uint8_t jit_bytes[1 << 16];
static size_t jit_len;
static bool jit_swap;

static inline void jit_u32(uint32_t v)
{
	pfs_store32(jit_bytes + jit_len, v, jit_swap);
	jit_len += 4;
}

static inline void jit_u64(uint64_t v)
{
	pfs_store64(jit_bytes + jit_len, v, jit_swap);
	jit_len += 8;
}

static inline void jit_text(const char *s)
{
	strcpy((char *)jit_bytes + jit_len, s);
	jit_len += strlen(s) + 1;
}

static inline void jit_header(uint64_t flags)
{
	jit_len = 0;
	jit_u32(0x4a695444);
	jit_u32(1);
	jit_u32(48); /* longer than it is today */
	jit_u32(62);
	jit_u32(0);
	jit_u32(4711);
	jit_u64(1);
	jit_u64(flags);
	jit_u64(0);
}

static inline void jit_record(uint32_t kind, uint64_t ts_ns, uint32_t size)
{
	jit_u32(kind);
	jit_u32(16 + size);
	jit_u64(ts_ns);
}

static inline void jit_load(uint64_t ts_ns, uint64_t addr, uint64_t size, uint64_t index, const char *name)
{
	jit_record(JIT_LOAD, ts_ns, 40 + strlen(name) + 1 + size);
	jit_u64(0);
	jit_u64(addr);
	jit_u64(addr);
	jit_u64(size);
	jit_u64(index);
	jit_text(name);
	memset(jit_bytes + jit_len, 0x90, size);
	jit_len += size;
}

static inline void jit_move(uint64_t ts_ns, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	jit_record(JIT_MOVE, ts_ns, 48);
	jit_u64(0);
	jit_u64(to);
	jit_u64(from);
	jit_u64(to);
	jit_u64(size);
	jit_u64(index);
}

/* Lines at addr, addr + 4, ..., the first in `file`. */
static inline void jit_lines(uint64_t ts_ns, uint64_t addr, const char *file, uint32_t first, uint32_t nr)
{
	jit_record(JIT_DEBUG_INFO, ts_ns, 16 + nr * 16 + strlen(file) + 1 + (nr - 1) * 2);
	jit_u64(addr);
	jit_u64(nr);
	for (uint32_t i = 0; i < nr; i++) {
		jit_u64(addr + i * 4);
		jit_u32(first + i);
		jit_u32(0);
		jit_text(i ? "\xff" : file);
	}
}

#endif
