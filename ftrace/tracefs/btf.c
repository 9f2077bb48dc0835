/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader of BTF, see btf.h. Each question walks the types once: there are few questions.
 */
#include "tracefs/btf.h"

#include "base/array.h"
#include "base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH 8	/* of unnamed structs inside one another */
#define MAX_LOOKS 65536 /* at members: damaged types may contain themselves */

struct pfs_btf {
	const char *strings;
	size_t strings_len;
	const struct btf_type **by_id; /* by_id[0] is void */
	uint32_t nr;
	void *owned;
};

static uint32_t vlen(const struct btf_type *t)
{
	return BTF_INFO_VLEN(t->info);
}

/* Bytes that follow a type of a kind, once and for each of its members. The other kinds have none. */
static const struct {
	uint8_t once, each;
} follows[BTF_KIND_ENUM64 + 1] = {
	[BTF_KIND_INT] = { .once = sizeof(uint32_t) },
	[BTF_KIND_ARRAY] = { .once = sizeof(struct btf_array) },
	[BTF_KIND_STRUCT] = { .each = sizeof(struct btf_member) },
	[BTF_KIND_UNION] = { .each = sizeof(struct btf_member) },
	[BTF_KIND_ENUM] = { .each = sizeof(struct btf_enum) },
	[BTF_KIND_FUNC_PROTO] = { .each = sizeof(struct btf_param) },
	[BTF_KIND_VAR] = { .once = sizeof(struct btf_var) },
	[BTF_KIND_DATASEC] = { .each = sizeof(struct btf_var_secinfo) },
	[BTF_KIND_DECL_TAG] = { .once = sizeof(struct btf_decl_tag) },
	[BTF_KIND_ENUM64] = { .each = sizeof(struct btf_enum64) },
};

/* -1: an unknown kind. */
static int64_t extra_len(const struct btf_type *t)
{
	uint32_t kind = BTF_INFO_KIND(t->info);

	return kind && kind <= BTF_KIND_ENUM64 ? follows[kind].once + (int64_t)vlen(t) * follows[kind].each : -1;
}

/* Fills by_id with the types of [p, end), up to an unknown kind, whose length is unknown. False: no memory. */
static bool find_types(struct pfs_btf *b, const uint8_t *p, const uint8_t *end)
{
	const struct btf_type **added = pfs_array_append(b->by_id, b->nr);

	if (added)
		*added = NULL;
	while (added && end - p >= (ptrdiff_t)sizeof(struct btf_type)) {
		const struct btf_type *t = (const struct btf_type *)p;
		int64_t extra = extra_len(t);

		if (extra < 0 || end - p - (ptrdiff_t)sizeof(*t) < extra)
			break;
		added = pfs_array_append(b->by_id, b->nr);
		if (added)
			*added = t;
		p += sizeof(*t) + extra;
	}
	return added;
}

static bool is_named(const struct pfs_btf *b, uint32_t off, const char *name)
{
	size_t len = strlen(name) + 1;

	return off < b->strings_len && b->strings_len - off >= len && !memcmp(b->strings + off, name, len);
}

/* Is the section inside the bytes? */
static bool has_section(const struct btf_header *h, size_t len, uint32_t off, uint32_t size)
{
	return h->hdr_len <= len && off <= len - h->hdr_len && size <= len - h->hdr_len - off;
}

struct pfs_btf *pfs_btf_parse(const void *bytes, size_t len, struct pfs_err *err)
{
	const struct btf_header *h = bytes;
	const uint8_t *types;
	struct pfs_btf *b;

	if (len < sizeof(*h) || h->magic != BTF_MAGIC || h->hdr_len % 4 || h->type_off % 4 ||
	    !has_section(h, len, h->type_off, h->type_len) || !has_section(h, len, h->str_off, h->str_len)) {
		pfs_err_set(err, -EBADMSG, "the kernel's type information (BTF) is damaged");
		return NULL;
	}
	types = (const uint8_t *)bytes + h->hdr_len + h->type_off;
	b = calloc(1, sizeof(*b));
	if (b) {
		b->strings = (const char *)bytes + h->hdr_len + h->str_off;
		b->strings_len = h->str_len;
	}
	if (b && find_types(b, types, types + h->type_len))
		return b;
	pfs_btf_free(b);
	pfs_err_set(err, -ENOMEM, "no memory for the kernel's type information");
	return NULL;
}

struct pfs_btf *pfs_btf_load(struct pfs_err *err)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	struct pfs_btf *b;
	size_t len;
	char *bytes = pfs_read_whole_file(path, &len);

	if (!bytes) {
		pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
		return NULL;
	}
	b = pfs_btf_parse(bytes, len, err);
	if (b)
		b->owned = bytes;
	else
		free(bytes);
	return b;
}

void pfs_btf_free(struct pfs_btf *b)
{
	if (!b)
		return;
	free(b->by_id);
	free(b->owned);
	free(b);
}

static const struct btf_type *type_of(const struct pfs_btf *b, uint32_t id, uint32_t kind)
{
	const struct btf_type *t = id < b->nr ? b->by_id[id] : NULL;

	return t && BTF_INFO_KIND(t->info) == kind ? t : NULL;
}

static const struct btf_type *find(const struct pfs_btf *b, uint32_t kind, const char *name)
{
	for (uint32_t id = 1; id < b->nr; id++)
		if (BTF_INFO_KIND(b->by_id[id]->info) == kind && is_named(b, b->by_id[id]->name_off, name))
			return b->by_id[id];
	return NULL;
}

/* The offset in bits, or -ENOENT. *left: how many members may still be looked at. */
static int64_t member_at(const struct pfs_btf *b, const struct btf_type *t, const char *name, int depth, uint32_t *left)
{
	const struct btf_member *m = (const struct btf_member *)(t + 1);

	for (uint32_t i = 0; i < vlen(t) && *left; i++) {
		/* with the flag, the upper byte is the size of a bit field */
		uint32_t at = BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m[i].offset) : m[i].offset;
		const struct btf_type *inner;
		int64_t inside;

		--*left;
		if (is_named(b, m[i].name_off, name))
			return at;
		if (!is_named(b, m[i].name_off, "") || depth == MAX_DEPTH)
			continue;
		inner = type_of(b, m[i].type, BTF_KIND_STRUCT);
		if (!inner)
			inner = type_of(b, m[i].type, BTF_KIND_UNION);
		inside = inner ? member_at(b, inner, name, depth + 1, left) : -ENOENT;
		if (inside >= 0)
			return at + inside;
	}
	return -ENOENT;
}

int pfs_btf_member(const struct pfs_btf *b, const char *struct_name, const char *member)
{
	const struct btf_type *t = find(b, BTF_KIND_STRUCT, struct_name);
	uint32_t left = MAX_LOOKS;
	int64_t bits = t ? member_at(b, t, member, 0, &left) : -ENOENT;

	return bits < 0 || bits % 8 || bits / 8 > INT32_MAX ? -ENOENT : bits / 8;
}

int pfs_btf_param(const struct pfs_btf *b, const char *function, const char *param)
{
	const struct btf_type *f = find(b, BTF_KIND_FUNC, function);
	const struct btf_type *proto = f ? type_of(b, f->type, BTF_KIND_FUNC_PROTO) : NULL;
	const struct btf_param *p = proto ? (const struct btf_param *)(proto + 1) : NULL;

	for (uint32_t i = 0; p && i < vlen(proto); i++)
		if (is_named(b, p[i].name_off, param))
			return i + 1;
	return -ENOENT;
}
