// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading a trace.dat's header forward, number by number, with every bound checked in one place; and failures, with
 * their place in the file. Nothing is allocated by what the file claims before dat_take() has seen that the file is
 * that long.
 */
#include "dat/dat_priv.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/write_all.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW	   (64u << 10)
#define MAX_STRING 4096

int dat_fail(const struct pfs_dat *dat, struct pfs_err *err, int code, uint64_t offset, const char *fmt, ...)
{
	char why[384];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return pfs_err_set(err, code, "%.100s: offset %llu: %s", dat->name, (unsigned long long)offset, why);
}

int dat_damage(struct pfs_dat *dat, int code, const struct pfs_err *err)
{
	if (!dat->salvage || code == -ENOMEM)
		return code;
	if (!dat->open_damage++ && err)
		dat->first_damage = *err;
	return 0;
}

void dat_cursor_file(struct dat_cursor *c, const struct pfs_dat *dat, uint64_t pos, uint64_t end, struct pfs_err *err)
{
	*c = (struct dat_cursor){ .dat = dat, .err = err, .pos = pos, .end = end };
	if (c->end > dat->size)
		c->end = dat->size;
}

void dat_cursor_mem(struct dat_cursor *c, const struct pfs_dat *dat, const void *mem, size_t len, uint64_t base,
		    struct pfs_err *err)
{
	*c = (struct dat_cursor){ .dat = dat, .err = err, .mem = mem, .end = len, .base = base };
}

void dat_cursor_fini(struct dat_cursor *c)
{
	free(c->window);
	c->window = NULL;
}

int dat_cursor_fail(struct dat_cursor *c, const char *what)
{
	if (c->code)
		return c->code;
	c->code = -EBADMSG;
	if (c->mem)
		dat_fail(c->dat, c->err, c->code, c->base, "the block there is damaged at its byte %llu: %s",
			 (unsigned long long)c->pos, what);
	else
		dat_fail(c->dat, c->err, c->code, c->pos, "damaged or cut short: %s", what);
	return c->code;
}

int dat_cursor_error(struct dat_cursor *c, int code)
{
	return c->code = dat_fail(c->dat, c->err, code, c->mem ? c->base : c->pos, "%s", strerror(-code));
}

/* Reads at least len bytes at pos into the window; they are known to be in the file. */
static int fill(struct dat_cursor *c, size_t len)
{
	size_t want = len < WINDOW ? WINDOW : len;
	ssize_t n;

	if (want > c->end - c->pos)
		want = c->end - c->pos;
	if (!pfs_array_reserve(c->window, 0, c->window_room, want))
		return -ENOMEM;
	c->window_pos = c->pos;
	c->window_len = 0;
	n = pfs_read_all_at(c->dat->fd, c->window, want, c->pos);
	if (n < 0)
		return n;
	c->window_len = n;
	return c->window_len < len ? -EIO : 0;
}

const void *dat_take(struct dat_cursor *c, uint64_t len, const char *what)
{
	const uint8_t *p;

	if (c->code)
		return NULL;
	if (len > c->end - c->pos) {
		dat_cursor_fail(c, what);
		return NULL;
	}
	if (c->mem) {
		p = c->mem + c->pos;
	} else {
		if (c->pos < c->window_pos || c->pos + len > c->window_pos + c->window_len) {
			c->code = fill(c, len);
			if (c->code) {
				dat_fail(c->dat, c->err, c->code, c->pos, "cannot read: %s", strerror(-c->code));
				return NULL;
			}
		}
		p = c->window + (c->pos - c->window_pos);
	}
	c->pos += len;
	return p;
}

void dat_skip(struct dat_cursor *c, uint64_t len, const char *what)
{
	if (c->code)
		return;
	if (len > c->end - c->pos)
		dat_cursor_fail(c, what);
	else
		c->pos += len;
}

#define READ_NUMBER(bits)                                                  \
	uint##bits##_t dat_u##bits(struct dat_cursor *c, const char *what) \
	{                                                                  \
		const uint8_t *p = dat_take(c, bits / 8, what);            \
                                                                           \
		return p ? pfs_load##bits(p, c->dat->swap) : 0;            \
	}
READ_NUMBER(16)
READ_NUMBER(32)
READ_NUMBER(64)

const char *dat_string(struct dat_cursor *c, const char *what)
{
	uint64_t left = c->end - c->pos, start = c->pos;
	const char *str, *nul;

	if (left > MAX_STRING)
		left = MAX_STRING;
	/* of nothing, even a NUL is too much to ask */
	str = dat_take(c, left ? left : 1, what);
	if (!str)
		return NULL;
	nul = memchr(str, 0, left);
	c->pos = start;
	if (!nul) {
		dat_cursor_fail(c, what);
		return NULL;
	}
	c->pos += nul - str + 1;
	return str;
}
