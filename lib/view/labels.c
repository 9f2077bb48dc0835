/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names, numbers, lists and tables as the views write them: see labels.h.
 */
#include "view/labels.h"

#include "base/escape.h"
#include "event/notes.h"
#include "view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

const char *pfs_label_kind(const struct pfs_row *row)
{
	return row->region ? pfs_region_kind(row->region, row->name) : "(no known region)";
}

const char *pfs_label(const struct pfs_row *row, char *buf, size_t size)
{
	const char *kind = pfs_label_kind(row);

	pfs_escape(buf, size, kind ? kind : row->name, 0);
	return buf;
}

const char *pfs_label_place(const struct pfs_row *row, char *buf, size_t size)
{
	const char *kind = pfs_label_kind(row);

	if (!kind)
		return pfs_label(row, buf, size);
	if (row->group) {
		snprintf(buf, size, "%u %s", row->nr_regions, row->group);
		return buf;
	}
	snprintf(buf, size, "%s %" PRIx64, row->region ? kind : "unknown", row->start);
	return buf;
}

const char *pfs_label_base(const char *label)
{
	const char *slash = label[0] == '/' ? strrchr(label, '/') : NULL;

	return slash && slash[1] ? slash + 1 : label;
}

void pfs_put_fitted(FILE *out, const char *s, unsigned int columns, bool tail)
{
	char fitted[1024];
	unsigned int used;

	(tail ? pfs_fit_tail : pfs_fit_head)(fitted, sizeof(fitted), s, columns, "..");
	used = pfs_columns(fitted);
	fprintf(out, "%s%*s", fitted, used < columns ? (int)(columns - used) : 0, "");
}

void pfs_perms_text(char text[5], const struct pfs_region *region)
{
	strcpy(text, "????");
	if (region->have & PFS_HAS(PFS_F_PERMS))
		pfs_perms_put(text, region->perms);
}

void pfs_range_text(char text[40], uint64_t start, uint64_t end)
{
	/* The end of the topmost page does not fit in 64 bits. */
	snprintf(text, 40, "%08" PRIx64 "-%s%0*" PRIx64, start, end ? "" : "1", end ? 8 : 16, end);
}

const char *pfs_time_text(char buf[32], const struct pfs_model *model, uint64_t ns)
{
	uint64_t base = pfs_model_base_ns(model);

	buf[0] = '-';
	pfs_fixed_text(buf + (ns < base), (ns < base ? base - ns : ns - base) / 1000, 6);
	return buf;
}

const char *pfs_lack_next(const struct pfs_model *model, unsigned int *at, char *buf, size_t size)
{
	while (*at < model->nr_notes) {
		const struct pfs_note *note = &model->notes[(*at)++];
		struct pfs_fact fact;

		if (strcmp(note->key, "lacks") || !pfs_note_read(&fact, note->key, note->value))
			continue;
		if (fact.text && fact.what)
			snprintf(buf, size, "%s: %s", fact.what, fact.text);
		else
			snprintf(buf, size, "%s", fact.tells ? fact.tells : fact.text ? fact.text : fact.what);
		return buf;
	}
	return NULL;
}

const char *pfs_lacks_title(const struct pfs_model *model)
{
	const char *source = pfs_model_note(model, pfs_note_key(PFS_NOTE_SOURCE));

	return source && !strcmp(source, "perf") ? "not recorded by perf" : "not reported by this kernel";
}

const char *pfs_color_on(bool color, const char *sgr)
{
	return color ? sgr : "";
}

const char *pfs_color_off(bool color)
{
	return color ? "\033[0m" : "";
}

/* ---- lists ---- */

void pfs_list_add(struct pfs_list *list, const char *fmt, ...)
{
	unsigned int columns, gap = list->nr ? strlen(list->separator) : 0;
	unsigned int comma = strcspn(list->separator, " ");
	char item[1200];
	int colored;
	va_list args;

	va_start(args, fmt);
	vsnprintf(item, sizeof(item), fmt, args);
	va_end(args);
	columns = pfs_columns(item);
	if (list->nr && list->column + gap + columns + comma > list->width) {
		/* Of the separator, the comma stays at the end of the line. */
		if (list->out)
			fprintf(list->out, "%.*s\n%-*s", (int)comma, list->separator, list->indent,
				list->margin ? list->margin : "");
		list->column = list->indent;
		list->lines++;
		gap = list->nr = 0;
	}
	colored = list->first_word ? strcspn(item, " ") : strlen(item);
	if (list->out)
		fprintf(list->out, "%.*s%s%.*s%s%s", (int)gap, list->separator, list->start ? list->start : "", colored,
			item, list->end ? list->end : "", item + colored);
	list->column += gap + columns;
	list->nr++;
}

void pfs_list_end(struct pfs_list *list)
{
	if (list->out)
		fputc('\n', list->out);
	list->column = list->nr = 0;
	list->lines++;
}

/* ---- tables, and the end ---- */

int pfs_output_table(const struct pfs_view_options *options, struct pfs_json *json, struct pfs_table *table,
		     const char *key, const char *title)
{
	int ret = table ? pfs_table_error(table) : -ENOMEM;
	bool color = options->color;

	if (!ret && options->format == PFS_VIEW_CSV) {
		pfs_table_csv(table, options->out, key);
	} else if (!ret && options->format == PFS_VIEW_JSON) {
		pfs_json_line(json, "\n");
		pfs_table_json(table, json, key);
	} else if (!ret) {
		fprintf(options->out, "%s%s%s\n", pfs_color_on(color, "\033[1m"), title, pfs_color_off(color));
		pfs_table_text(table, options->out, color ? "\033[2m" : NULL);
	}
	pfs_table_free(table);
	return ret;
}

int pfs_output_row(const struct pfs_view_options *options, struct pfs_json *json, struct pfs_table *table,
		   const char *key)
{
	int ret = table ? pfs_table_error(table) : -ENOMEM;

	if (!ret && options->format == PFS_VIEW_CSV)
		pfs_table_csv(table, options->out, key);
	else if (!ret)
		pfs_table_json_row(table, 0, json, key);
	pfs_table_free(table);
	return ret;
}

int pfs_output_end(FILE *out, const char *what, struct pfs_err *err)
{
	if (fflush(out) || ferror(out))
		return pfs_err_set(err, -EIO, "writing %s: %s", what, strerror(errno));
	return 0;
}
