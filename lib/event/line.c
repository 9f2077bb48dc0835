/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing events as lines. Reading them is event/line_read.c; the header is event/line.h.
 *
 * `pfscope events` and every source that can stream call this; it runs once an event of a recording
 * of millions, so there is no printf and no allocation in it.
 */
#include "event/line.h"

#include <errno.h>
#include <stdlib.h>

#include "base/escape.h"

struct pfs_line_writer {
	struct pfs_event_out out;
};

/* Writes one character of a string, escaped if need be; *s moves on. At most 16 bytes. */
static char *put_char(char *p, const char **s, const char *end)
{
	uint32_t code;
	size_t nr = pfs_utf8_decode(*s, end - *s, &code);

	if (nr && !pfs_escape_needed(code) && code != '"' && code != '\\') {
		p = mempcpy(p, *s, nr);
		*s += nr;
		return p;
	}
	for (nr = nr ? nr : 1; nr; nr--) {
		unsigned char c = *(*s)++;

		*p++ = '\\';
		if (c == '"' || c == '\\') {
			*p++ = c;
		} else if (c == '\n' || c == '\t') {
			*p++ = c == '\n' ? 'n' : 't';
		} else {
			*p++ = 'x';
			*p++ = "0123456789abcdef"[c >> 4];
			*p++ = "0123456789abcdef"[c & 15];
		}
	}
	return p;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* NULL: no room before `limit`. */
static char *put_string(char *p, const char *limit, const char *s)
{
	const char *end = s + strnlen(s, PFS_EVENT_STR_MAX);

	if (limit - p < 2)
		return NULL;
	*p++ = '"';
	while (s < end) {
		if (limit - p < 18)
			return NULL;
		if (is_plain(*s))
			*p++ = *s++;
		else
			p = put_char(p, &s, end);
	}
	*p++ = '"';
	return p;
}

ssize_t pfs_line_write(const struct pfs_event *ev, char *buf, size_t size)
{
	char *p = buf, *limit = buf + size;
	const char *kind = pfs_kind_name(ev->kind);

	if (!kind)
		return -EINVAL;
	if (size < PFS_EVENT_SCALAR_MAX)
		return -ENOBUFS;
	p = put_time(p, ev->ts_ns);
	*p++ = ' ';
	p = put_text(p, kind);
	for (uint64_t bits = pfs_event_fields(ev); bits; bits &= bits - 1) {
		unsigned int i = __builtin_ctzll(bits);

		if (limit - p < 2 * PFS_EVENT_SCALAR_MAX)
			return -ENOBUFS;
		*p++ = ' ';
		p = put_text(p, pfs_fields[i].name);
		*p++ = ev->inferred >> i & 1 ? '~' : '=';
		if (pfs_fields[i].type != PFS_T_STR)
			p = pfs_event_put_scalar(p, ev, &pfs_fields[i]);
		else if (!(p = put_string(p, limit - 1, field_str(ev, &pfs_fields[i]))))
			return -ENOBUFS;
	}
	*p++ = '\n';
	return p - buf;
}

static int write_event(void *ctx, const struct pfs_event *ev)
{
	struct pfs_line_writer *writer = ctx;
	ssize_t len;

	len = pfs_line_write(ev, writer->out.buf + writer->out.used, PFS_LINE_MAX + 1);
	if (len < 0)
		return len;
	return pfs_event_out_add(&writer->out, len);
}

/* Writes a run of faults: of their lines, only time, address and instruction differ. */
static int write_run(struct pfs_event_out *out, const struct pfs_fault_run *run)
{
	static const char before_addr[] = " addr=", before_ip[] = " ip=";
	const uint64_t zero = 0;
	struct pfs_fault_run first = *run;
	char like[8 * PFS_EVENT_SCALAR_MAX], *head = like + strlen("0.000000000"), *ip, *end;
	struct pfs_event ev;
	ssize_t len;
	int err = 0;

	first.ts_ns = first.addr = first.ip = &zero;
	pfs_run_event(&ev, &first, 0);
	len = pfs_line_write(&ev, like, sizeof(like));
	if (len < 0)
		return len;
	end = like + len;
	ip = memmem(head, end - head, " addr=0 ip=0", strlen(" addr=0 ip=0"));
	for (uint32_t i = 0; !err && i < run->nr; i++) {
		char *start = out->buf + out->used, *p = put_time(start, run->ts_ns[i]);

		p = mempcpy(p, head, ip - head);
		p = mempcpy(p, before_addr, strlen(before_addr));
		p = put_hex(p, run->addr[i]);
		p = mempcpy(p, before_ip, strlen(before_ip));
		p = put_hex(p, run->ip[i]);
		p = mempcpy(p, ip + strlen(" addr=0 ip=0"), end - ip - strlen(" addr=0 ip=0"));
		err = pfs_event_out_add(out, p - start);
	}
	return err;
}

static int write_faults(void *ctx, const struct pfs_fault_run *runs, unsigned int nr)
{
	struct pfs_line_writer *writer = ctx;
	int err = 0;

	for (unsigned int i = 0; !err && i < nr; i++)
		err = write_run(&writer->out, &runs[i]);
	return err;
}

struct pfs_line_writer *pfs_line_writer_new(FILE *out)
{
	struct pfs_line_writer *writer = malloc(sizeof(*writer));

	if (!writer)
		return NULL;
	if (pfs_event_out_init(&writer->out, out, PFS_LINE_MAX + 1)) {
		free(writer);
		return NULL;
	}
	writer->out.used = sprintf(writer->out.buf, "# pfscope events %d\n", PFS_EVENT_VERSION);
	return writer;
}

struct pfs_sink pfs_line_writer_sink(struct pfs_line_writer *writer)
{
	return (struct pfs_sink){ .fn = write_event, .ctx = writer, .faults = write_faults };
}

int pfs_line_writer_flush(struct pfs_line_writer *writer)
{
	return pfs_event_out_flush(&writer->out);
}

void pfs_line_writer_free(struct pfs_line_writer *writer)
{
	if (!writer)
		return;
	pfs_event_out_fini(&writer->out);
	free(writer);
}
