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
#include "base/json.h"
#include "event/text.h"

/* JSON's worst case of a byte: \uXXXX, and two digits more in the _hex member. */
#define EXPORT_EVENT_MAX (5 * (8 * PFS_EVENT_STR_MAX + 128) + 8192)

struct export_form {
	char *(*head)(char *p); /* NULL: none */
	char *(*event)(char *p, const struct pfs_event *ev);
};

struct pfs_export {
	struct pfs_event_out out;
	const struct export_form *form;
};

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
		      (f->type == PFS_T_U64 && field_u64(ev, f) <= PFS_JSON_EXACT_MAX);
	char *p;

	if (f->type == PFS_T_STR)
		return pfs_json_bytes(json, f->name, field_str(ev, f), strnlen(field_str(ev, f), PFS_EVENT_STR_MAX));
	if (f->type == PFS_T_BOOL)
		return pfs_json_bool(json, f->name, field_u8(ev, f));
	if (f->type == PFS_T_SET)
		return put_json_set(json, f->name, field_set(ev, f), f->names);
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

static char *put_json_event(char *p, const struct pfs_event *ev)
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
