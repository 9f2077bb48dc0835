// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Own records to bytes and to text, and the joining of what came in pieces.
 *
 * All have one form: the kernel's common fields, each argument as 8 bytes, the string (if any) as
 * __data_loc. So the formats are made from the rows of raw_desc.c; only the printing of values is
 * defined here. Reading them is record.c's work, as with any event.
 */
#include "record/pfscope_records.h"

#include "base/array.h"
#include "base/bytes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMON_LEN 8 /* common_type, flags, preempt_count, pid */
#define PIECE	   "name+="

#define NR_RECORDS 8

/* How each value is printed, by kind, in the order of raw_desc.c; an absent one is -1 or all f's. */
static const char *const prints[NR_RECORDS][RAW_MAX_ARGS] = {
	{ "0x%llx", "0x%llx", "0x%llx", "0x%llx", "%lld", "0x%llx", "0x%llx", "%lld" },
	{ "%lld", "%lld", "%lld" },
	{ NULL },
	{ "0x%llx", "0x%llx", "%lld", "%lld", "%lld" },
	{ "0x%llx", "%lld", "0x%llx", "0x%llx", "%lld", "%lld", "%lld", "%lld" },
	{ "0x%llx", "0x%llx", "%lld", "%lld", "%lld", "%lld" },
	{ "0x%llx", "%lld", "%lld", "%lld", "%lld" },
	{ "0x%llx", "0x%llx", "%lld", "%lld", "0x%llx" },
};

/* RAW_PFS_MAP and the kinds after it are 0, 1, ... Returns -EINVAL for another kind. */
static int record_index(enum raw_kind kind)
{
	return kind >= RAW_PFS_MAP && kind < RAW_PFS_MAP + NR_RECORDS ? (int)(kind - RAW_PFS_MAP) : -EINVAL;
}

static const struct raw_desc *record_desc(unsigned int index)
{
	const struct raw_desc *desc = raw_descs;

	while (desc->kind != RAW_PFS_MAP + index)
		desc++;
	return desc;
}

static unsigned int count_args(const struct raw_desc *desc)
{
	unsigned int n = 0;

	while (n < RAW_MAX_ARGS && desc->args[n])
		n++;
	return n;
}

static char *format_text(unsigned int index, unsigned int id)
{
	const struct raw_desc *desc = record_desc(index);
	unsigned int n = count_args(desc);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fprintf(out, "name: %s\nID: %u\nformat:\n", desc->name, id);
	fputs("\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
	      out);
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "\tfield:s64 %s;\toffset:%u;\tsize:8;\tsigned:1;\n", desc->args[i], COMMON_LEN + 8 * i);
	if (desc->str)
		fprintf(out, "\tfield:__data_loc char[] %s;\toffset:%u;\tsize:4;\tsigned:0;\n", desc->str,
			COMMON_LEN + 8 * n);
	fputs("\nprint fmt: \"", out);
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "%s%s=%s", i ? " " : "", desc->args[i], prints[index][i]);
	if (desc->str)
		fprintf(out, "%s%s=%%s", n ? " " : "", desc->str);
	fputc('"', out);
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, ", REC->%s", desc->args[i]);
	if (desc->str)
		fprintf(out, ", __get_str(%s)", desc->str);
	fputc('\n', out);
	return fclose(out) ? (free(text), NULL) : text;
}

int pfs_records_init(struct pfs_records *own, struct pfs_formats *f)
{
	unsigned int first = f->max_id < PFS_RECORDS_FIRST_ID ? PFS_RECORDS_FIRST_ID : f->max_id + 1u;
	int ret = 0;

	if (first + NR_RECORDS - 1 > UINT16_MAX)
		return -ENOSPC;
	own->first_id = first;
	for (unsigned int i = 0; ret >= 0 && i < NR_RECORDS; i++) {
		char *text = format_text(i, first + i);

		ret = text ? pfs_formats_add(f, "pfscope", text, strlen(text)) : -ENOMEM;
		free(text);
	}
	return ret < 0 ? ret : 0;
}

/* Bytes that a line of text cannot hold; a space at either end would be dropped. */
static bool must_escape(const char *str, const char *p)
{
	unsigned char c = *p;

	return c < ' ' || c == 0x7f || c == '\\' || (c == ' ' && (p == str || !p[1]));
}

/* NULL becomes "". The caller frees it. NULL: no memory. */
static char *escape(const char *str)
{
	char *out, *q;

	if (!str)
		str = "";
	q = out = malloc(strlen(str) * 4 + 1);
	if (!out)
		return NULL;
	for (const char *p = str; *p; p++) {
		if (must_escape(str, p))
			q += sprintf(q, "\\%03o", (unsigned char)*p);
		else
			*q++ = *p;
	}
	*q = 0;
	return out;
}

static bool is_escape(const char *p)
{
	return p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' && p[3] >= '0' && p[3] <= '7';
}

size_t pfs_records_unescape(char *dst, size_t size, const char *src)
{
	size_t len = 0;

	for (; *src; src++, len++) {
		char c = *src;

		if (is_escape(src)) {
			c = (src[1] - '0') << 6 | (src[2] - '0') << 3 | (src[3] - '0');
			src += 3;
		}
		if (len + 1 < size)
			dst[len] = c;
	}
	if (size)
		dst[len < size ? len : size - 1] = 0;
	return len;
}

int pfs_records_note(const struct raw_event *ev, const struct pfs_fact *fact, raw_event_fn fn, void *ctx)
{
	struct raw_event note = *ev;
	char *text = pfs_note_text(fact);
	int ret;

	if (!text)
		return -ENOMEM;
	note.kind = RAW_PFS_NOTE;
	note.str = text;
	ret = fn(ctx, &note);
	free(text);
	return ret;
}

/* One record of the id: n arguments, then prefix and len bytes of str as its string. */
static int write_one(struct pfs_ringwrite *w, uint16_t id, const struct raw_event *ev, unsigned int n,
		     const char *prefix, const char *str, size_t len)
{
	const bool host = false; /* own records are in this machine's order */
	uint32_t at = COMMON_LEN + 8 * n, pre = strlen(prefix), size = pre + len + 1;
	uint8_t *rec = calloc(1, at + 4 + size);
	int ret;

	if (!rec)
		return -ENOMEM;
	pfs_store16(rec, id, host);
	pfs_store32(rec + 4, ev->tid, host);
	for (unsigned int i = 0; i < n; i++)
		pfs_store64(rec + COMMON_LEN + 8 * i, ev->arg[i], host);
	pfs_store32(rec + at, size << 16 | (at + 4), host);
	memcpy(rec + at + 4, prefix, pre);
	memcpy(rec + at + 4 + pre, str, len);
	ret = pfs_ringwrite_append(w, ev->ts_ns, rec, at + 4 + size);
	free(rec);
	return ret;
}

/* How long a string may be beside n arguments: a record's end, and 16 bits of __data_loc. */
static size_t str_room(const struct pfs_ringwrite *w, unsigned int n, size_t prefix)
{
	size_t room = pfs_ringwrite_max(w) - (COMMON_LEN + 8 * n + 4);

	if (room > UINT16_MAX)
		room = UINT16_MAX;
	return room - prefix - 1;
}

int pfs_records_write(const struct pfs_records *own, struct pfs_ringwrite *w, const struct raw_event *ev)
{
	int i = record_index(ev->kind), ret = 0;
	size_t room, piece, len;
	unsigned int n;
	char *str, *rest;

	if (i < 0)
		return i;
	str = rest = escape(ev->str);
	if (!str)
		return -ENOMEM;
	n = count_args(record_desc(i));
	room = str_room(w, n, 0);
	piece = str_room(w, 0, strlen(PIECE));
	for (len = strlen(rest); !ret && len > room; len = strlen(rest)) {
		if (piece > len - room)
			piece = len - room;
		ret = write_one(w, own->first_id + record_index(RAW_PFS_NOTE), ev, 0, PIECE, rest, piece);
		rest += piece;
	}
	if (!ret)
		ret = write_one(w, own->first_id + i, ev, n, "", rest, len);
	free(str);
	return ret;
}

char *pfs_records_text(const struct raw_event *ev)
{
	int i = record_index(ev->kind);
	const struct raw_desc *desc = i < 0 ? NULL : record_desc(i);
	char *str = desc ? escape(ev->str) : NULL;
	uint64_t us = (ev->ts_ns + 500) / 1000; /* rounded as the kernel does */
	char *text = NULL;
	size_t len;
	FILE *out = str ? open_memstream(&text, &len) : NULL;

	if (!out) {
		free(str);
		return NULL;
	}
	fprintf(out, "%16s-%-7d [%03d] ..... %5llu.%06llu: %s: ", ev->comm ? ev->comm : "<...>", ev->tid,
		ev->cpu < 0 ? 0 : ev->cpu, (unsigned long long)us / 1000000, (unsigned long long)us % 1000000,
		desc->name);
	for (unsigned int a = 0; a < RAW_MAX_ARGS && desc->args[a]; a++) {
		fprintf(out, "%s%s=", a ? " " : "", desc->args[a]);
		fprintf(out, prints[i][a], (unsigned long long)ev->arg[a]);
	}
	if (desc->str)
		fprintf(out, "%s%s=%s", desc->args[0] ? " " : "", desc->str, str);
	fputc('\n', out);
	free(str);
	return fclose(out) ? (free(text), NULL) : text;
}

void pfs_records_join_free(struct pfs_records_join *join)
{
	free(join->str);
}

static int join_piece(struct pfs_records_join *join, const char *piece)
{
	size_t len = strlen(piece);

	if (!join->begun)
		join->len = 0;
	join->begun = true;
	if (len > PFS_RECORDS_STR_MAX - join->len)
		len = PFS_RECORDS_STR_MAX - join->len;
	if (!pfs_array_reserve(join->str, join->len, join->max, len + 1))
		return -ENOMEM;
	memcpy(join->str + join->len, piece, len);
	join->len += len;
	join->str[join->len] = 0;
	return 0;
}

int pfs_records_join(struct pfs_records_join *join, struct raw_event *ev)
{
	const char *str = ev->str ? ev->str : "";
	int ret;

	if (ev->kind == RAW_PFS_NOTE && !strncmp(str, PIECE, strlen(PIECE)))
		return join_piece(join, str + strlen(PIECE));
	if (!join->begun)
		return 1;
	ret = join_piece(join, str);
	if (ret < 0)
		return ret;
	join->begun = false;
	ev->str = join->str;
	return 1;
}
