/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events as JSON Lines and as CSV; the two forms are rows of one table at the end.
 *
 * `pfscope events --json` and `--csv` call it. What cannot be said in a form is said twice rather
 * than lost: JSON has no bytes, so a string that is not UTF-8 is followed by its bytes in hex.
 */
#include "event/export.h"

#include <errno.h>
#include <stdlib.h>

#include "base/escape.h"
#include "event/text.h"

/* JSON's worst case of a byte: \uXXXX, and two digits more in the _hex member. */
#define EXPORT_EVENT_MAX (5 * (8 * PFS_EVENT_STR_MAX + 128) + 8192)

/* Greater integers are not exact in programs that read JSON numbers as floating point. */
#define JSON_EXACT_MAX (UINT64_C(1) << 53)

struct export_form {
	char *(*head)(char *p); /* NULL: none */
	char *(*event)(char *p, const struct pfs_event *ev);
};

struct pfs_export {
	struct pfs_event_out out;
	const struct export_form *form;
};

static char *put_u16_escape(char *p, unsigned int unit)
{
	p = put_text(p, "\\u");
	for (int shift = 12; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[unit >> shift & 15];
	return p;
}

/* Controls as in RFC 8259; other invisible characters too, so that a terminal may see the line. */
static char *put_json_escape(char *p, uint32_t code)
{
	static const char named[] = "\"\\\n\t\r\b\f", letters[] = "\"\\ntrbf";
	const char *name = code && code < 0x80 ? strchr(named, code) : NULL;

	if (name) {
		*p++ = '\\';
		*p++ = letters[name - named];
		return p;
	}
	if (code < 0x10000)
		return put_u16_escape(p, code);
	p = put_u16_escape(p, 0xd800 + ((code - 0x10000) >> 10));
	return put_u16_escape(p, 0xdc00 + (code & 0x3ff));
}

/* A quoted string. Bytes that are not UTF-8 become U+FFFD each, and *exact false. */
static char *put_json_string(char *p, const char *s, size_t len, bool *exact)
{
	*exact = true;
	*p++ = '"';
	while (len) {
		uint32_t code;
		size_t nr = pfs_utf8_decode(s, len, &code);

		if (!nr) {
			p = put_text(p, "\xef\xbf\xbd");
			*exact = false;
			nr = 1;
		} else if (code == '"' || code == '\\' || pfs_escape_needed(code)) {
			p = put_json_escape(p, code);
		} else {
			p = mempcpy(p, s, nr);
		}
		s += nr;
		len -= nr;
	}
	*p++ = '"';
	return p;
}

/* "name": */
static char *put_json_key(char *p, const char *name, const char *suffix)
{
	*p++ = '"';
	p = put_text(p, name);
	p = put_text(p, suffix);
	return put_text(p, "\":");
}

/* "name":"caf?","name_hex":"636166e9" */
static char *put_json_text(char *p, const char *name, const char *s)
{
	size_t len = strnlen(s, PFS_EVENT_STR_MAX);
	bool exact;

	p = put_json_key(p, name, "");
	p = put_json_string(p, s, len, &exact);
	if (exact)
		return p;
	*p++ = ',';
	p = put_json_key(p, name, "_hex");
	*p++ = '"';
	for (size_t i = 0; i < len; i++) {
		*p++ = "0123456789abcdef"[(unsigned char)s[i] >> 4];
		*p++ = "0123456789abcdef"[s[i] & 15];
	}
	*p++ = '"';
	return p;
}

static char *put_json_set(char *p, unsigned int set, const char *const *names)
{
	bool first = true;

	*p++ = '[';
	for (unsigned int i = 0; names[i]; i++) {
		if (!(set >> i & 1))
			continue;
		if (!first)
			*p++ = ',';
		first = false;
		*p++ = '"';
		p = put_text(p, names[i]);
		*p++ = '"';
	}
	*p++ = ']';
	return p;
}

static char *put_json_scalar(char *p, const struct pfs_event *ev, const struct pfs_field_info *f)
{
	bool number = f->type == PFS_T_S32 || f->type == PFS_T_U8 ||
		      (f->type == PFS_T_U64 && field_u64(ev, f) <= JSON_EXACT_MAX);

	p = put_json_key(p, f->name, "");
	if (f->type == PFS_T_BOOL)
		return put_text(p, field_u8(ev, f) ? "true" : "false");
	if (f->type == PFS_T_SET)
		return put_json_set(p, field_set(ev, f), f->names);
	if (!number)
		*p++ = '"';
	if (f->type == PFS_T_HEX)
		p = put_text(p, "0x");
	p = pfs_event_put_scalar(p, ev, f);
	if (!number)
		*p++ = '"';
	return p;
}

/* "inferred":["class","how"] */
static char *put_json_inferred(char *p, uint64_t inferred)
{
	p = put_text(p, ",\"inferred\":[");
	for (; inferred; inferred &= inferred - 1) {
		*p++ = '"';
		p = put_text(p, pfs_fields[__builtin_ctzll(inferred)].name);
		p = put_text(p, inferred & (inferred - 1) ? "\"," : "\"");
	}
	*p++ = ']';
	return p;
}

static char *put_json_event(char *p, const struct pfs_event *ev)
{
	uint64_t fields = pfs_event_fields(ev);

	p = put_text(p, "{\"time\":\"");
	p = put_time(p, ev->ts_ns);
	p = put_text(p, "\",\"kind\":\"");
	p = put_text(p, pfs_kind_name(ev->kind));
	*p++ = '"';
	for (uint64_t bits = fields; bits; bits &= bits - 1) {
		const struct pfs_field_info *f = &pfs_fields[__builtin_ctzll(bits)];

		*p++ = ',';
		if (f->type == PFS_T_STR)
			p = put_json_text(p, f->name, field_str(ev, f));
		else
			p = put_json_scalar(p, ev, f);
	}
	if (fields & ev->inferred)
		p = put_json_inferred(p, fields & ev->inferred);
	return put_text(p, "}\n");
}

/* Always in quotes, so that "" (known to be empty) is told from an absent field. */
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
		return put_csv_string(p, field_str(ev, f), shown);
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

static char *put_csv(char *p, const struct pfs_event *ev, bool shown)
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

static char *put_csv_event(char *p, const struct pfs_event *ev)
{
	return put_csv(p, ev, false);
}

static char *put_csv_shown(char *p, const struct pfs_event *ev)
{
	return put_csv(p, ev, true);
}

static const struct export_form forms[] = {
	[PFS_EXPORT_JSON] = { NULL, put_json_event },
	[PFS_EXPORT_CSV] = { put_csv_head, put_csv_event },
	[PFS_EXPORT_CSV_SHOWN] = { put_csv_head, put_csv_shown },
};

static int export_event(void *ctx, const struct pfs_event *ev)
{
	struct pfs_export *export = ctx;
	char *start = export->out.buf + export->out.used;

	if (!pfs_kind_name(ev->kind))
		return -EINVAL;
	return pfs_event_out_add(&export->out, export->form->event(start, ev) - start);
}

struct pfs_export *pfs_export_new(FILE *out, enum pfs_export_form form)
{
	struct pfs_export *export = malloc(sizeof(*export));

	if (!export)
		return NULL;
	if (pfs_event_out_init(&export->out, out, EXPORT_EVENT_MAX)) {
		free(export);
		return NULL;
	}
	export->form = &forms[form];
	if (export->form->head)
		export->out.used = export->form->head(export->out.buf) - export->out.buf;
	return export;
}

struct pfs_sink pfs_export_sink(struct pfs_export *export)
{
	return (struct pfs_sink){ .fn = export_event, .ctx = export };
}

int pfs_export_flush(struct pfs_export *export)
{
	return pfs_event_out_flush(&export->out);
}

void pfs_export_free(struct pfs_export *export)
{
	if (!export)
		return;
	pfs_event_out_fini(&export->out);
	free(export);
}
