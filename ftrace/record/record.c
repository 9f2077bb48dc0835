// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The decoder of one record. Most records are page faults, for which it has a fast path.
 *
 * Arguments that the record lacks are absent: a record shorter than its format is no error.
 */
#include "record/record.h"

#include "base/bytes.h"
#include "record/handlers.h"

#include <string.h>

static uint64_t load_arg(const struct pfs_arg_at *at, const uint8_t *record, uint32_t len, bool swap)
{
	const uint8_t *p = record + at->off;
	unsigned int unused = 64 - 8 * at->size;
	uint64_t v;

	if (!at->size || (uint32_t)at->off + at->size > len)
		return RAW_ABSENT;
	v = at->size == 8   ? pfs_load64(p, swap)
	    : at->size == 4 ? pfs_load32(p, swap)
	    : at->size == 2 ? pfs_load16(p, swap)
			    : *p;
	return at->is_signed ? (uint64_t)((int64_t)(v << unused) >> unused) : v;
}

/* The string at [off, off + size): in place if it ends there, else a copy that does. */
static const char *terminate(const uint8_t *record, uint32_t len, uint32_t off, uint32_t size, char *scratch)
{
	const char *str = (const char *)record + off;

	if (off > len || !size)
		return NULL;
	if (size > len - off)
		size = len - off;
	if (memchr(str, 0, size))
		return str;
	if (size >= PFS_RECORD_STR)
		size = PFS_RECORD_STR - 1;
	memcpy(scratch, str, size);
	scratch[size] = 0;
	return scratch;
}

static const char *load_str(const struct pfs_row *row, const uint8_t *record, uint32_t len, bool swap, char *scratch)
{
	uint32_t loc, from = 0;

	if (row->str_form == PFS_STR_FIXED)
		return terminate(record, len, row->str_at, row->str_size, scratch);
	if ((uint32_t)row->str_at + 4 > len)
		return NULL;
	loc = pfs_load32(record + row->str_at, swap);
	if (row->str_form == PFS_STR_REL)
		from = row->str_at + 4;
	return terminate(record, len, from + (loc & 0xffff), loc >> 16, scratch);
}

/* Replaces addresses by the function of handlers.h and a key of its caller's name. */
static void name_function(const struct pfs_formats *f, struct raw_event *ev)
{
	const char *name = pfs_symbols_find(f->symbols, ev->arg[0], NULL);
	const char *caller = pfs_symbols_find(f->symbols, ev->arg[1], NULL);
	int handler = name ? pfs_handler_find(name, strlen(name)) : -1;

	ev->arg[2] = ev->arg[0];
	ev->arg[3] = ev->arg[1];
	ev->arg[0] = handler < 0 ? RAW_ABSENT : (uint64_t)handler;
	ev->arg[1] = caller ? pfs_function_key(caller, strlen(caller)) : RAW_ABSENT;
}

/*
 * The addresses in host order. A kernel of before 5.3 ends them with one of all ones; behind those of a user's stack
 * are zeroes.
 */
static void load_stack(const struct pfs_formats *f, const struct pfs_row *row, const uint8_t *record, uint32_t len,
		       char *scratch, struct raw_event *ev)
{
	uint32_t size = f->ring.long_size, at = row->arg[2].off, nr = 0;
	uint64_t room = row->arg[2].size && at <= len ? (len - at) / size : 0;
	bool user = ev->kind == RAW_USER_STACK;

	if (room > PFS_RECORD_STR / sizeof(uint64_t))
		room = PFS_RECORD_STR / sizeof(uint64_t);
	while (nr < room && (user || nr < ev->arg[0])) {
		uint64_t addr = pfs_load_long(record + at, size, f->ring.swap);

		if (addr == (size == 4 ? UINT32_MAX : UINT64_MAX) || (user && !addr))
			break;
		memcpy(scratch + nr++ * sizeof(addr), &addr, sizeof(addr));
		at += size;
	}
	ev->arg[0] = nr;
	ev->arg[2] = user ? room : RAW_ABSENT;
	ev->record = scratch;
	ev->record_len = nr * sizeof(uint64_t);
}

enum raw_kind pfs_record_decode(const struct pfs_formats *f, const uint8_t *record, uint32_t len, char *scratch,
				struct raw_event *ev)
{
	const bool swap = f->ring.swap;
	const struct pfs_row *row;
	unsigned int i = 0;

	if (len < f->type_at + 2u || len < f->pid_at + 4u)
		return ev->kind = RAW_OTHER;
	row = &f->rows[f->row_of[pfs_load16(record + f->type_at, swap)]];
	ev->tid = pfs_load32(record + f->pid_at, swap);
	if (!row->desc)
		return ev->kind = RAW_OTHER;
	ev->kind = row->desc->kind;
	ev->nr = row->desc->nr;
	ev->tgid = -1;
	ev->comm = NULL;
	ev->str = NULL;
	if (row->quick && len >= row->quick_len) {
		for (; i < 3; i++)
			ev->arg[i] = pfs_load64(record + row->arg[i].off, false);
	} else {
		for (; i < row->nr_args; i++)
			ev->arg[i] = load_arg(&row->arg[i], record, len, swap);
		if (row->str_form != PFS_STR_NONE)
			ev->str = load_str(row, record, len, swap, scratch);
	}
	for (; i < RAW_MAX_ARGS; i++)
		ev->arg[i] = RAW_ABSENT;
	if (__builtin_expect(ev->kind == RAW_FUNCTION, 0))
		name_function(f, ev);
	if (__builtin_expect(ev->kind == RAW_HIDDEN, 0) && !raw_hidden_take(ev))
		return ev->kind = RAW_OTHER;
	if (__builtin_expect(raw_is_stack(ev->kind), 0))
		load_stack(f, row, record, len, scratch, ev);
	return ev->kind;
}
