// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sections of a trace.dat that come before the data: page header, event formats, names.
 *
 * Version 6 has them one after the other, version 7 each at a place of its own; inside they are
 * the same. The cursor is on the section's first byte.
 */
#include "base/number.h"
#include "dat/dat_priv.h"

#include "base/array.h"
#include "os/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int tag(struct dat_cursor *c, const char *expected, size_t len)
{
	const char *p = dat_take(c, len, expected);

	if (p && memcmp(p, expected, len)) {
		c->pos -= len;
		return dat_cursor_fail(c, expected);
	}
	return c->code;
}

static int read_header_info(struct pfs_dat *dat, struct dat_cursor *c)
{
	struct pfs_err why;
	const char *text;
	uint64_t len, at;
	int ret = 0;

	tag(c, "header_page", 12);
	len = dat_u64(c, "size of header_page");
	at = c->pos;
	text = dat_take(c, len, "header_page");
	if (!text)
		return c->code;
	ret = pfs_formats_set_header_page(dat->info.formats, text, len, &why);
	if (ret < 0)
		return c->code = dat_fail(dat, c->err, ret, c->mem ? c->base : at, "%s", why.msg);
	tag(c, "header_event", 13);
	len = dat_u64(c, "size of header_event");
	text = dat_take(c, len, "header_event");
	if (text)
		ret = pfs_formats_set_header_event(dat->info.formats, text, len);
	return ret < 0 ? dat_cursor_error(c, ret) : c->code;
}

static int event_format(struct pfs_dat *dat, const char *system, struct dat_cursor *c)
{
	uint64_t len = dat_u64(c, "size of a format");
	const char *text = dat_take(c, len, "an event format");
	int ret = text ? pfs_formats_add(dat->info.formats, system, text, len) : 0;

	/* the last are decoded and printed: raw_is_call() */
	if (ret >= 0 && text && dat->printer && (!ret || !strcmp(system, "raw_syscalls")))
		ret = pfs_printer_add(dat->printer, system, text, len);
	return ret < 0 ? dat_cursor_error(c, ret) : c->code;
}

static int read_ftrace_formats(struct pfs_dat *dat, struct dat_cursor *c)
{
	uint32_t n = dat_u32(c, "number of ftrace formats");

	while (n-- && !c->code)
		event_format(dat, "ftrace", c);
	return c->code;
}

/*
 * The kernel's symbols. Only kernel objects and a recording of pfscope's own have use for them: there are few in that,
 * where other files have all.
 */
static int read_symbols(struct pfs_dat *dat, struct dat_cursor *c)
{
	uint32_t len = dat_u32(c, "kernel symbols");
	const char *text;

	if (!dat->printer && !dat->info.formats->seen.objects &&
	    !pfs_formats_find(dat->info.formats, "pfscope", "pfs_note")) {
		dat_skip(c, len, "kernel symbols");
		return c->code;
	}
	text = dat_take(c, len, "kernel symbols");
	if (!text)
		return c->code;
	pfs_symbols_free(dat->info.formats->symbols);
	dat->info.formats->symbols = pfs_symbols_parse(text, len);
	if (!dat->info.formats->symbols || (dat->printer && pfs_printer_symbols(dat->printer, text, len)))
		return dat_cursor_error(c, -ENOMEM);
	return 0;
}

static int read_event_formats(struct pfs_dat *dat, struct dat_cursor *c)
{
	uint32_t nr_systems = dat_u32(c, "number of event systems");

	while (nr_systems-- && !c->code) {
		const char *name = dat_string(c, "name of an event system");
		char *system = strdup(name ? name : "");
		uint32_t nr_events = dat_u32(c, "number of events");

		if (!system)
			return dat_cursor_error(c, -ENOMEM);
		while (nr_events-- && !c->code)
			event_format(dat, system, c);
		free(system);
	}
	return c->code;
}

static int skip_printk(struct pfs_dat *dat, struct dat_cursor *c)
{
	(void)dat;
	dat_skip(c, dat_u32(c, "printk formats"), "printk formats");
	return c->code;
}

static int by_tid(const void *a, const void *b)
{
	const struct dat_comm *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* "1234 bash\n" lines to the table; the text stays, cut up, behind the names. */
static int read_cmdlines(struct pfs_dat *dat, struct dat_cursor *c)
{
	uint64_t len = dat_u64(c, "size of the command lines");
	const char *text = dat_take(c, len, "command lines");
	char *save;

	if (!text)
		return c->code;
	free(dat->comm_text);
	dat->nr_comms = 0;
	dat->comm_text = strndup(text, len);
	if (!dat->comm_text)
		return dat_cursor_error(c, -ENOMEM);
	for (char *line = strtok_r(dat->comm_text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *name = line + strspn(line, " ");
		struct dat_comm *comm;
		uint64_t tid;

		if (!pfs_take_dec(&name, INT32_MAX, &tid) || *name != ' ')
			continue;
		comm = pfs_array_add(dat->comms, dat->nr_comms, dat->max_comms);
		if (!comm)
			return dat_cursor_error(c, -ENOMEM);
		*comm = (struct dat_comm){ tid, name + strspn(name, " ") };
	}
	if (dat->nr_comms)
		qsort(dat->comms, dat->nr_comms, sizeof(*dat->comms), by_tid);
	return 0;
}

const struct dat_meta dat_metas[DAT_NR_METAS] = {
	{ DAT_OPT_HEADER_INFO, read_header_info },
	{ DAT_OPT_FTRACE_EVENTS, read_ftrace_formats },
	{ DAT_OPT_EVENT_FORMATS, read_event_formats },
	{ DAT_OPT_KALLSYMS, read_symbols },
	{ DAT_OPT_PRINTK, skip_printk },
	{ DAT_OPT_CMDLINES, read_cmdlines },
};

const char *pfs_dat_comm(const struct pfs_dat *dat, int32_t tid)
{
	struct dat_comm key = { .tid = tid };
	const struct dat_comm *found = NULL;

	if (dat->nr_comms)
		found = bsearch(&key, dat->comms, dat->nr_comms, sizeof(key), by_tid);
	return found ? found->comm : NULL;
}
