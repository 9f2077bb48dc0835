// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Format texts to offsets, by name and once.
 *
 * A trace.dat may hold thousands of formats: only those of the events in raw_desc.c are looked
 * into (format_text.c). Called by dat/meta.c for a file and by the capture for tracefs.
 */
#include "record/formats.h"

#include "base/array.h"
#include "base/number.h"
#include "base/write_all.h"
#include "record/handlers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pfs_formats *pfs_formats_new(bool big_endian, unsigned int long_size)
{
	struct pfs_formats *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->nr_rows = 1;
	f->pid_at = 4;
	f->ring.big_endian = big_endian;
	f->ring.swap = big_endian != PFS_HOST_BIG_ENDIAN;
	f->ring.long_size = long_size == 4 ? 4 : 8;
	f->ring.commit_at = 8;
	f->ring.data_at = 8 + f->ring.long_size;
	return f;
}

void pfs_formats_free(struct pfs_formats *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->nr_texts; i++) {
		free(f->texts[i].system);
		free(f->texts[i].text);
	}
	free(f->texts);
	pfs_symbols_free(f->symbols);
	free(f->header_page);
	free(f->header_event);
	free(f);
}

/* "a|b": the first of these fields; "a[2]": an element of an array of longs. */
static void place_arg(const char *text, const char *names, unsigned int long_size, struct pfs_arg_at *arg)
{
	const char *element = strchr(names, '[');
	uint64_t at = 0;
	struct pfs_format_field field;
	char array[32];

	if (element)
		pfs_dec(element + 1, &at);
	at *= long_size;
	snprintf(array, sizeof(array), "%.*s", element ? (int)(element - names) : 0, names);
	if (!pfs_format_field(text, element ? array : names, &field))
		return;
	if (element && field.form == PFS_FIELD_ARRAY && at + long_size <= field.size) {
		*arg = (struct pfs_arg_at){ field.off + at, long_size, field.is_signed };
		return;
	}
	if (field.form != PFS_FIELD_PLAIN || element)
		return;
	if (field.size != 1 && field.size != 2 && field.size != 4 && field.size != 8)
		return;
	*arg = (struct pfs_arg_at){ field.off, field.size, field.is_signed };
}

static void place_str(const char *text, const char *names, struct pfs_row *row)
{
	struct pfs_format_field field;

	if (!pfs_format_field(text, names, &field))
		return;
	row->str_at = field.off;
	row->str_size = field.size ? field.size : UINT16_MAX; /* "char buf[]": to the end of the record */
	if (field.form == PFS_FIELD_ARRAY)
		row->str_form = PFS_STR_FIXED;
	else if (field.form == PFS_FIELD_DATA_LOC && field.size == 4)
		row->str_form = PFS_STR_LOC;
	else if (field.form == PFS_FIELD_REL_LOC && field.size == 4)
		row->str_form = PFS_STR_REL;
}

/* Can record.c load the arguments without looking at their sizes? Page faults qualify. */
static void place_quick(const struct pfs_formats *f, struct pfs_row *row)
{
	row->quick = row->nr_args == 3 && !f->ring.swap && row->str_form == PFS_STR_NONE;
	for (unsigned int i = 0; i < 3; i++) {
		if (row->arg[i].size != 8)
			row->quick = false;
		if (row->arg[i].off + 8 > row->quick_len)
			row->quick_len = row->arg[i].off + 8;
	}
}

/* The fields that every record begins with; the same in all events of a kernel. */
static void place_common(struct pfs_formats *f, const char *text)
{
	struct pfs_format_field type, pid;

	if (f->common_known || !pfs_format_field(text, "common_type", &type) ||
	    !pfs_format_field(text, "common_pid", &pid))
		return;
	if (type.size != 2 || pid.size != 4)
		return;
	f->type_at = type.off;
	f->pid_at = pid.off;
	f->common_known = true;
}

static int keep_text(struct pfs_formats *f, const char *system, const char *text)
{
	struct pfs_format_text *kept = pfs_array_add(f->texts, f->nr_texts, f->max_texts);

	if (!kept)
		return -ENOMEM;
	*kept = (struct pfs_format_text){ strdup(system), strdup(text) };
	return kept->system && kept->text ? 0 : -ENOMEM;
}

static int add_row(struct pfs_formats *f, const struct raw_desc *desc, const char *system, int id, const char *text)
{
	struct pfs_row *row = &f->rows[f->nr_rows];

	if (keep_text(f, system, text) < 0)
		return -ENOMEM;
	*row = (struct pfs_row){ .desc = desc };
	place_common(f, text);
	while (row->nr_args < RAW_MAX_ARGS && desc->args[row->nr_args]) {
		place_arg(text, desc->args[row->nr_args], f->ring.long_size, &row->arg[row->nr_args]);
		row->nr_args++;
	}
	if (desc->str)
		place_str(text, desc->str, row);
	place_quick(f, row);
	f->row_of[id] = f->nr_rows++;
	return 1;
}

int pfs_formats_add(struct pfs_formats *f, const char *system, const char *text, size_t len)
{
	const struct raw_desc *desc;
	char name[128], *copy = strndup(text, len);
	int id, ret = 0;

	if (!copy)
		return -ENOMEM;
	id = pfs_format_name(copy, name, sizeof(name));
	if (id > f->max_id)
		f->max_id = id;
	desc = id > 0 ? raw_desc_find(system, name) : NULL;
	if (id > 0 && strcmp(system, "ftrace")) /* those are in every file */
		raw_seen_add(&f->seen, desc ? desc->kind : RAW_OTHER, system, name);
	if (desc && !f->row_of[id] && f->nr_rows < PFS_FORMATS_MAX)
		ret = add_row(f, desc, system, id, copy);
	free(copy);
	return ret;
}

int pfs_formats_set_header_page(struct pfs_formats *f, const char *text, size_t len, struct pfs_err *err)
{
	struct pfs_format_field ts, commit, data;
	char *copy;
	int ret = 0;

	if (!len)
		return 0;
	copy = strndup(text, len);
	if (!copy)
		return pfs_err_set(err, -ENOMEM, "out of memory");
	if (!pfs_format_field(copy, "timestamp", &ts) || !pfs_format_field(copy, "commit", &commit) ||
	    !pfs_format_field(copy, "data", &data))
		ret = pfs_err_set(err, -EBADMSG, "header_page has no timestamp, commit or data field");
	else if (ts.size != 8 || (commit.size != 4 && commit.size != 8))
		ret = pfs_err_set(err, -EBADMSG, "header_page: a time stamp of %u bytes and a commit of %u", ts.size,
				  commit.size);
	if (ret) {
		free(copy);
		return ret;
	}
	f->ring.long_size = commit.size;
	f->ring.ts_at = ts.off;
	f->ring.commit_at = commit.off;
	f->ring.data_at = data.off;
	free(f->header_page);
	f->header_page = copy;
	return 0;
}

int pfs_formats_set_header_event(struct pfs_formats *f, const char *text, size_t len)
{
	free(f->header_event);
	f->header_event = strndup(text, len);
	return f->header_event ? 0 : -ENOMEM;
}

/* The text of a file below events/. The caller frees it. NULL with errno set. */
static char *read_events_file(const char *tracing_dir, const char *name, size_t *len)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/events/%s", tracing_dir, name);
	return pfs_read_whole_file(path, len);
}

int pfs_formats_load_event(struct pfs_formats *f, const char *tracing_dir, const char *system, const char *name)
{
	char file[512], *text;
	size_t len;
	int ret;

	snprintf(file, sizeof(file), "%s/%s/format", system, name);
	text = read_events_file(tracing_dir, file, &len);
	ret = text ? pfs_formats_add(f, system, text, len) : 0;
	if (!ret && text && !pfs_formats_find(f, system, name))
		ret = keep_text(f, system, text);
	free(text);
	return ret;
}

int pfs_formats_load_headers(struct pfs_formats *f, const char *tracing_dir, struct pfs_err *err)
{
	size_t len;
	char *text = read_events_file(tracing_dir, "header_page", &len);
	int ret = text ? pfs_formats_set_header_page(f, text, len, err)
		       : pfs_err_set(err, -errno, "%s/events/header_page: %s", tracing_dir, strerror(errno));

	free(text);
	text = ret < 0 ? NULL : read_events_file(tracing_dir, "header_event", &len);
	if (text && pfs_formats_set_header_event(f, text, len) < 0)
		ret = pfs_err_set(err, -ENOMEM, "%s/events/header_event: no memory", tracing_dir);
	free(text);
	return ret;
}

int pfs_formats_load_events(struct pfs_formats *f, const char *tracing_dir,
			    bool (*wants)(const void *ctx, const struct raw_desc *desc), const void *ctx,
			    struct pfs_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; ret >= 0 && i < nr_raw_descs; i++)
		if (!wants || wants(ctx, &raw_descs[i]))
			ret = pfs_formats_load_event(f, tracing_dir, raw_descs[i].system, raw_descs[i].name);
	return ret < 0 ? pfs_err_set(err, ret, "event formats: %s", strerror(-ret)) : 0;
}

const struct pfs_row *pfs_formats_find(const struct pfs_formats *f, const char *system, const char *name)
{
	for (unsigned int i = 1; i < f->nr_rows; i++)
		if (!strcmp(f->rows[i].desc->name, name) && raw_desc_of_system(f->rows[i].desc, system))
			return &f->rows[i];
	return NULL;
}
