/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes protocol buffers (protobuf.dev/programming-guides/encoding) into memory that grows. A failed allocation is kept in
 * `failed`, and nothing more is written.
 */
#ifndef PFS_EXPORT_PROTO_H
#define PFS_EXPORT_PROTO_H

#include "base/array.h"

struct viewer_proto {
	uint8_t *bytes;
	size_t nr, max;
	bool failed;
};

enum { PROTO_VARINT, PROTO_BYTES = 2 };

/* Room for `more` bytes. */
static inline bool proto_room(struct viewer_proto *p, size_t more)
{
	if (p->nr + more > p->max && !p->failed)
		p->failed = !pfs_array_reserve(p->bytes, p->nr, p->max, more);
	return !p->failed;
}

static inline void proto_varint(struct viewer_proto *p, uint64_t value)
{
	if (!proto_room(p, 10))
		return;
	for (; value >= 0x80; value >>= 7)
		p->bytes[p->nr++] = value | 0x80;
	p->bytes[p->nr++] = value;
}

static inline void proto_u64(struct viewer_proto *p, unsigned int field, uint64_t value)
{
	proto_varint(p, field << 3 | PROTO_VARINT);
	proto_varint(p, value);
}

static inline void proto_bytes(struct viewer_proto *p, unsigned int field, const void *bytes, size_t len)
{
	proto_varint(p, field << 3 | PROTO_BYTES);
	proto_varint(p, len);
	if (!proto_room(p, len))
		return;
	memcpy(p->bytes + p->nr, bytes, len);
	p->nr += len;
}

static inline void proto_string(struct viewer_proto *p, unsigned int field, const char *s)
{
	proto_bytes(p, field, s, strlen(s));
}

/*
 * A message within: what is written until proto_end() with the returned place. Its length takes four bytes, which readers
 * take as they take fewer; it is below 256 MB.
 */
static inline size_t proto_begin(struct viewer_proto *p, unsigned int field)
{
	proto_varint(p, field << 3 | PROTO_BYTES);
	if (!proto_room(p, 4))
		return 0;
	p->nr += 4;
	return p->nr;
}

static inline void proto_end(struct viewer_proto *p, size_t begin)
{
	size_t len = p->nr - begin;

	if (p->failed)
		return;
	for (int i = 0; i < 4; i++, len >>= 7)
		p->bytes[begin - 4 + i] = (len & 0x7f) | (i < 3 ? 0x80 : 0);
}

#endif
