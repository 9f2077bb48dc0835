/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events as lines, JSON Lines and CSV: rows of one table below. JSON has no bytes, so a string that is not UTF-8 is
 * followed by its bytes in hex.
 */
#include "event/export.h"

#include <errno.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/json.h"
#include "event/line.h"

/* An event in the longest form: a byte in JSON takes \uXXXX, and two digits more in the _hex member. */
#define EVENT_MAX (PFS_EVENT_STRINGS * (8 * PFS_EVENT_STR_MAX + 128) + 8192)
enum { BATCH = 65536 };

struct export_form {
	char *(*head)(char *p); /* NULL: none */
	char *(*event)(char *p, const struct pfs_event *ev, bool shown);
	bool shown; /* on a terminal */
};

/* Text is gathered in buf, with EVENT_MAX bytes free behind `used`. */
struct pfs_export {
	FILE *file;
	char *buf;
	size_t used;
	const struct export_form *form;
};

static char *put_line_head(char *p)
{
	return put_text(put_dec(put_text(p, "# pfscope events "), PFS_EVENT_VERSION), "\n");
}

static char *put_line_event(char *p, const struct pfs_event *ev, bool shown)
{
	return p + pfs_line_write(ev, p, EVENT_MAX);
}

static void put_json_set(struct pfs_json *json, const char *key, unsigned int set, const char *const *names)
{
	pfs_json_begin(json, key, "[");
	for (unsigned int i = 0; names[i]; i++)
		if (set >> i & 1)
			pfs_json_word(json, NULL, names[i]);
	pfs_json_end(json, "]");
}

static void put_json_field(struct pfs_json *json, const struct pfs_event *ev, const struct pfs_field_info *f)
{
	bool number = f->type == PFS_T_S32 || f->type == PFS_T_U8 ||
		      (f->type == PFS_T_U64 && field_as(uint64_t, ev, f) <= PFS_JSON_EXACT_MAX);
	char *p;

	if (f->type == PFS_T_STR)
		return pfs_json_bytes(json, f->name, field_as(char *, ev, f),
				      strnlen(field_as(char *, ev, f), PFS_EVENT_STR_MAX));
	if (f->type == PFS_T_BOOL)
		return pfs_json_bool(json, f->name, field_as(uint8_t, ev, f));
	if (f->type == PFS_T_SET)
		return put_json_set(json, f->name, field_as(uint16_t, ev, f), f->names);
	p = pfs_json_next(json, f->name);
	if (!number)
		*p++ = '"';
	if (f->type == PFS_T_HEX)
		p = put_text(p, "0x");
	p = pfs_event_put_scalar(p, ev, f);
	if (!number)
		*p++ = '"';
	pfs_json_done(json, p);
}

static char *put_json_event(char *p, const struct pfs_event *ev, bool shown)
{
	uint64_t fields = pfs_event_fields(ev), inferred = fields & ev->inferred;
	struct pfs_json json;

	pfs_json_init_memory(&json, p);
	pfs_json_begin(&json, NULL, "{");
	p = pfs_json_next(&json, "time");
	*p++ = '"';
	p = put_time(p, ev->ts_ns);
	*p++ = '"';
	pfs_json_done(&json, p);
	pfs_json_word(&json, "kind", pfs_kind_name(ev->kind));
	for (uint64_t bits = fields; bits; bits &= bits - 1)
		put_json_field(&json, ev, &pfs_fields[__builtin_ctzll(bits)]);
	if (inferred) {
		pfs_json_begin(&json, "inferred", "[");
		for (; inferred; inferred &= inferred - 1)
			pfs_json_word(&json, NULL, pfs_fields[__builtin_ctzll(inferred)].name);
		pfs_json_end(&json, "]");
	}
	pfs_json_end(&json, "}\n");
	return json.p;
}

/* Always in quotes, to distinguish "" (known to be empty) from an absent field. */
static char *put_csv_string(char *p, const char *s, bool shown)
{
	char escaped[4 * PFS_EVENT_STR_MAX + 1];
	size_t len = strnlen(s, PFS_EVENT_STR_MAX);

	if (shown) {
		len = pfs_escape(escaped, sizeof(escaped), s, 0);
		len = len < sizeof(escaped) ? len : sizeof(escaped) - 1;
		s = escaped;
	}
	*p++ = '"';
	if (pfs_is_formula(s))
		*p++ = '\'';
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '"')
			*p++ = '"';
		*p++ = s[i];
	}
	*p++ = '"';
	return p;
}

static char *put_csv_value(char *p, const struct pfs_event *ev, const struct pfs_field_info *f, bool shown)
{
	if (f->type == PFS_T_STR)
		return put_csv_string(p, field_as(char *, ev, f), shown);
	if (f->type == PFS_T_SET) /* has commas */
		*p++ = '"';
	if (f->type == PFS_T_HEX)
		p = put_text(p, "0x");
	p = pfs_event_put_scalar(p, ev, f);
	if (f->type == PFS_T_SET)
		*p++ = '"';
	return p;
}

static char *put_csv_head(char *p)
{
	p = put_text(p, "time,kind");
	for (unsigned int i = 0; i < PFS_NR_FIELDS; i++) {
		*p++ = ',';
		p = put_text(p, pfs_fields[i].name);
	}
	return put_text(p, ",inferred\r\n");
}

static char *put_csv_event(char *p, const struct pfs_event *ev, bool shown)
{
	uint64_t fields = pfs_event_fields(ev), inferred = fields & ev->inferred;

	p = put_time(p, ev->ts_ns);
	*p++ = ',';
	p = put_text(p, pfs_kind_name(ev->kind));
	for (unsigned int i = 0; i < PFS_NR_FIELDS; i++) {
		*p++ = ',';
		if (fields >> i & 1)
			p = put_csv_value(p, ev, &pfs_fields[i], shown);
	}
	*p++ = ',';
	for (; inferred; inferred &= inferred - 1) {
		p = put_text(p, pfs_fields[__builtin_ctzll(inferred)].name);
		if (inferred & (inferred - 1))
			*p++ = ' ';
	}
	return put_text(p, "\r\n");
}

static const struct export_form forms[] = {
	[PFS_EXPORT_LINES] = { put_line_head, put_line_event, false },
	[PFS_EXPORT_JSON] = { NULL, put_json_event, false },
	[PFS_EXPORT_CSV] = { put_csv_head, put_csv_event, false },
	[PFS_EXPORT_CSV_SHOWN] = { put_csv_head, put_csv_event, true },
};

static int write_out(struct pfs_export *export)
{
	size_t len = export->used;

	export->used = 0;
	errno = 0;
	if (fwrite(export->buf, 1, len, export->file) != len)
		return errno ? -errno : -EIO;
	return 0;
}

/* Takes `len` more bytes as written. 0 or -errno. */
static int gathered(struct pfs_export *export, size_t len)
{
	export->used += len;
	return export->used < BATCH ? 0 : write_out(export);
}

static int export_event(void *ctx, const struct pfs_event *ev)
{
	struct pfs_export *export = ctx;
	char *start = export->buf + export->used;

	if (!pfs_kind_name(ev->kind))
		return -EINVAL;
	return gathered(export, export->form->event(start, ev, export->form->shown) - start);
}

/* Writes a run of faults: of their lines, only time, address and instruction differ. */
static int write_run(struct pfs_export *export, const struct pfs_fault_run *run)
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
		char *start = export->buf + export->used, *p = put_time(start, run->ts_ns[i]);

		p = mempcpy(p, head, ip - head);
		p = mempcpy(p, before_addr, strlen(before_addr));
		p = put_hex(p, run->addr[i]);
		p = mempcpy(p, before_ip, strlen(before_ip));
		p = put_hex(p, run->ip[i]);
		p = mempcpy(p, ip + strlen(" addr=0 ip=0"), end - ip - strlen(" addr=0 ip=0"));
		err = gathered(export, p - start);
	}
	return err;
}

static int export_faults(void *ctx, const struct pfs_fault_run *runs, unsigned int nr)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < nr; i++)
		err = write_run(ctx, &runs[i]);
	return err;
}

struct pfs_export *pfs_export_new(FILE *out, enum pfs_export_form form)
{
	struct pfs_export *export = malloc(sizeof(*export));

	if (!export)
		return NULL;
	*export = (struct pfs_export){ out, malloc(BATCH + EVENT_MAX), 0, &forms[form] };
	if (!export->buf) {
		free(export);
		return NULL;
	}
	if (export->form->head)
		export->used = export->form->head(export->buf) - export->buf;
	return export;
}

struct pfs_sink pfs_export_sink(struct pfs_export *export)
{
	bool lines = export->form == &forms[PFS_EXPORT_LINES];

	return (struct pfs_sink){ .fn = export_event, .ctx = export, .faults = lines ? export_faults : NULL };
}

int pfs_export_flush(struct pfs_export *export)
{
	int ret = write_out(export);

	errno = 0;
	if (fflush(export->file) && !ret)
		ret = errno ? -errno : -EIO;
	return ret;
}

void pfs_export_free(struct pfs_export *export)
{
	if (export)
		free(export->buf);
	free(export);
}
