/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader of BTF for two questions, see btf.h. It walks the types once a question: there are few.
 */
#include "tracefs/btf.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 8	/* of unnamed structs inside one another */
#define MAX_LOOKS 65536 /* at members: of ten thousand that are in themselves there is no end */

struct pfs_btf {
	const uint8_t *types, *types_end;
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

/* Bytes that follow a type's own; -1: a kind that is not known. */
static int64_t extra_len(const struct btf_type *t)
{
	uint32_t n = vlen(t);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * (int64_t)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * (int64_t)sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return n * (int64_t)sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return n * (int64_t)sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	case BTF_KIND_ENUM64:
		return n * (int64_t)sizeof(struct btf_enum64);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	default:
		return -1;
	}
}

/*
 * Calls once to count (by_id NULL), once to fill. A type that is not known ends it: ids follow no
 * more.
 */
static uint32_t walk(const struct pfs_btf *b, const struct btf_type **by_id)
{
	const uint8_t *p = b->types;
	uint32_t nr = 1;

	while (b->types_end - p >= (ptrdiff_t)sizeof(struct btf_type)) {
		const struct btf_type *t = (const struct btf_type *)p;
		int64_t extra = extra_len(t);

		if (extra < 0 || b->types_end - p - (ptrdiff_t)sizeof(*t) < extra)
			break;
		if (by_id)
			by_id[nr] = t;
		nr++;
		p += sizeof(*t) + extra;
	}
	return nr;
}

static bool is_named(const struct pfs_btf *b, uint32_t off, const char *name)
{
	size_t len = strlen(name) + 1;

	return off < b->strings_len && b->strings_len - off >= len && !memcmp(b->strings + off, name, len);
}

/* Inside the sections that the header names? */
static bool has_section(const struct btf_header *h, size_t len, uint32_t off, uint32_t size)
{
	return h->hdr_len <= len && off <= len - h->hdr_len && size <= len - h->hdr_len - off;
}

struct pfs_btf *pfs_btf_parse(const void *bytes, size_t len, struct pfs_err *err)
{
	const struct btf_header *h = bytes;
	struct pfs_btf *b;

	if (len < sizeof(*h) || h->magic != BTF_MAGIC || h->hdr_len % 4 || h->type_off % 4 ||
	    !has_section(h, len, h->type_off, h->type_len) || !has_section(h, len, h->str_off, h->str_len)) {
		pfs_err_set(err, -EBADMSG, "the kernel's type information (BTF) is damaged");
		errno = EBADMSG;
		return NULL;
	}
	b = calloc(1, sizeof(*b));
	if (!b)
		goto no_memory;
	b->types = (const uint8_t *)bytes + h->hdr_len + h->type_off;
	b->types_end = b->types + h->type_len;
	b->strings = (const char *)bytes + h->hdr_len + h->str_off;
	b->strings_len = h->str_len;
	b->nr = walk(b, NULL);
	b->by_id = calloc(b->nr, sizeof(*b->by_id));
	if (!b->by_id)
		goto no_memory;
	walk(b, b->by_id);
	return b;
no_memory:
	pfs_btf_free(b);
	pfs_err_set(err, -ENOMEM, "no memory for the kernel's type information");
	errno = ENOMEM;
	return NULL;
}

struct pfs_btf *pfs_btf_load(struct pfs_err *err)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	FILE *f = fopen(path, "re");
	struct pfs_btf *b = NULL;
	char *bytes = NULL;
	long len = -1;
	int code;

	if (!f) {
		code = errno;
		pfs_err_set(err, -code, "%s: %s", path, strerror(code));
		errno = code;
		return NULL;
	}
	if (!fseek(f, 0, SEEK_END))
		len = ftell(f);
	if (len > 0)
		bytes = malloc(len);
	rewind(f);
	if (bytes && fread(bytes, 1, len, f) == (size_t)len)
		b = pfs_btf_parse(bytes, len, err);
	else
		pfs_err_set(err, -EIO, "%s: cannot be read", path);
	fclose(f);
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
