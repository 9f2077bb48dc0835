/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See base/table.h. */
#include "base/table.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_TAIL = 10, LEAST_BAR = 8, WIDEST_BAR = 24, MILLION = 1000000, WORD_MAX = 4 * 4096 + 1 };

struct cell {
	char *word;  /* NULL: a number */
	char *shown; /* the word as text and CSV have it: escaped; the word itself where that is the same */
	uint64_t number;
	bool missing;
};

struct pfs_table {
	const struct pfs_column *columns;
	unsigned int nr_columns;
	struct cell *cells; /* row by row */
	size_t nr, max;
	unsigned int width; /* limit for the text; 0: no bars, no limit */
	int error;
};

struct pfs_table *pfs_table_new(const struct pfs_column *columns)
{
	struct pfs_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->columns = columns;
	while (columns[table->nr_columns].key)
		table->nr_columns++;
	return table;
}

void pfs_table_free(struct pfs_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->nr; i++) {
		if (table->cells[i].shown != table->cells[i].word)
			free(table->cells[i].shown);
		free(table->cells[i].word);
	}
	free(table->cells);
	free(table);
}

static struct cell *cell_add(struct pfs_table *table, struct cell content)
{
	struct cell *cell = table->error ? NULL : pfs_array_add(table->cells, table->nr, table->max);

	if (cell)
		*cell = content;
	else
		table->error = -ENOMEM;
	return cell;
}

void pfs_table_fail(struct pfs_table *table)
{
	table->error = -ENOMEM;
}

void pfs_table_known(struct pfs_table *table, bool known, uint64_t number)
{
	cell_add(table, (struct cell){ .number = known ? number : 0, .missing = !known });
}

void pfs_table_number(struct pfs_table *table, uint64_t number)
{
	pfs_table_known(table, true, number);
}

void pfs_table_missing(struct pfs_table *table)
{
	pfs_table_known(table, false, 0);
}

void pfs_table_array(struct pfs_table *table, const uint64_t *numbers, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		pfs_table_number(table, numbers[i]);
}

void pfs_table_word(struct pfs_table *table, const char *word)
{
	struct cell *cell = cell_add(table, (struct cell){ 0 });
	char escaped[WORD_MAX];

	if (!cell)
		return;
	pfs_escape(escaped, sizeof(escaped), word, 0);
	cell->word = strdup(word);
	cell->shown = cell->word && strcmp(word, escaped) ? strdup(escaped) : cell->word;
	if (!cell->shown)
		table->error = -ENOMEM;
}

int pfs_table_error(const struct pfs_table *table)
{
	return table->error;
}

unsigned int pfs_table_rows(const struct pfs_table *table)
{
	return table->nr / table->nr_columns;
}

static const struct cell *cell_at(const struct pfs_table *table, unsigned int row, unsigned int column)
{
	return &table->cells[(size_t)row * table->nr_columns + column];
}

/* A cell in text and CSV, and numbers in JSON; "" if it is missing. buf is for numbers. */
static const char *cell_text(char buf[32], const struct cell *cell, unsigned int flags)
{
	if (cell->shown)
		return cell->shown;
	if (cell->missing)
		buf[0] = '\0';
	else if (flags & (PFS_COLUMN_THOUSANDTHS | PFS_COLUMN_TENTHS))
		pfs_fixed_text(buf, cell->number, flags & PFS_COLUMN_TENTHS ? 1 : 3);
	else if (flags & (PFS_COLUMN_SECONDS | PFS_COLUMN_MILLIONTHS))
		pfs_fixed_text(buf, flags & PFS_COLUMN_SECONDS ? cell->number / 1000 : cell->number, 6);
	else
		snprintf(buf, 32, "%" PRIu64, cell->number);
	return buf;
}

/* ---- text ---- */

static bool is_empty(const struct pfs_table *table, unsigned int column)
{
	for (unsigned int row = 0; row < pfs_table_rows(table); row++) {
		const struct cell *cell = cell_at(table, row, column);

		if (cell->word ? cell->word[0] != '\0' : cell->number != 0)
			return false;
	}
	return true;
}

/* The width of the column in text; 0: not shown. */
static unsigned int text_width(const struct pfs_table *table, unsigned int column)
{
	const struct pfs_column *c = &table->columns[column];
	unsigned int width = pfs_columns(c->head), used;
	char number[32];

	if (c->flags & (PFS_COLUMN_NOT_TEXT | PFS_COLUMN_BAR | PFS_COLUMN_GROUP) ||
	    (c->flags & PFS_COLUMN_WIDE && table->width) || (c->flags & PFS_COLUMN_OPTIONAL && is_empty(table, column)))
		return 0;
	for (unsigned int row = 0; row < pfs_table_rows(table); row++) {
		used = pfs_columns(cell_text(number, cell_at(table, row, column), c->flags));
		if (used > width)
			width = used;
	}
	return width;
}

static void put_aligned(FILE *out, const char *s, unsigned int width, bool left, bool last)
{
	unsigned int used = pfs_columns(s), pad = used < width ? width - used : 0;

	if (left)
		fprintf(out, "%s%*s", s, last ? 0 : (int)pad, "");
	else
		fprintf(out, "%*s%s", (int)pad, "", s);
}

static bool is_new_group(const struct pfs_table *table, unsigned int row)
{
	for (unsigned int i = 0; i < table->nr_columns; i++)
		if (table->columns[i].flags & PFS_COLUMN_GROUP &&
		    (!row || strcmp(cell_at(table, row, i)->shown, cell_at(table, row - 1, i)->shown)))
			return true;
	return false;
}

/* Its words, of which the last one is cut to what is left of the width. */
static void put_group(const struct pfs_table *table, FILE *out, unsigned int row, bool bold)
{
	unsigned int used = 0, last = table->nr_columns - 1, width = table->width ? table->width : UINT32_MAX;
	char fitted[WORD_MAX];

	while (!(table->columns[last].flags & PFS_COLUMN_GROUP))
		last--;
	fputs(bold ? "\033[1m" : "", out);
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		const char *word = cell_at(table, row, i)->shown;

		if (!(table->columns[i].flags & PFS_COLUMN_GROUP))
			continue;
		if (i == last) {
			pfs_fit_tail(fitted, sizeof(fitted), word, width > used ? width - used : 0, "..");
			fprintf(out, "%s%s\n", fitted, bold ? "\033[0m" : "");
		} else {
			used += fprintf(out, "%s ", word);
		}
	}
}

/* The width that the other columns leave. */
static unsigned int width_left(const struct pfs_table *table, const unsigned int *widths, unsigned int column)
{
	unsigned int used = 2;

	for (unsigned int i = 0; i < table->nr_columns; i++)
		used += i != column && widths[i] ? widths[i] + 2 : 0;
	return used < table->width ? table->width - used : 0;
}

/* A column of tails has what the others leave; one before another leaves that three fifths, if it needs so much. */
static unsigned int tail_width(const struct pfs_table *table, unsigned int *widths, unsigned int column)
{
	unsigned int left = width_left(table, widths, column), least = LEAST_TAIL, next = column + 1, needed;

	while (next < table->nr_columns && !(table->columns[next].flags & PFS_COLUMN_TAIL))
		next++;
	if (next < table->nr_columns && widths[next]) {
		needed = widths[next] + 2;
		widths[next] = 0;
		left = width_left(table, widths, column);
		widths[next] = needed - 2;
		least = left * 2 / 5 > least ? left * 2 / 5 : least;
		left = left > needed ? left - needed : 0;
	}
	least = left > least ? left : least;
	return widths[column] < least ? widths[column] : least;
}

/* 0: too little for a bar. */
static unsigned int bar_width(unsigned int left)
{
	return left < LEAST_BAR ? 0 : left < WIDEST_BAR ? left : WIDEST_BAR;
}

void pfs_put_bar(FILE *out, uint64_t part, uint64_t whole, unsigned int width)
{
	uint64_t cells = (part * width + whole / 2) / whole;

	for (cells = part && !cells ? 1 : cells; cells; cells--)
		fputc('#', out);
}

/* row -1: the heads */
static void put_text_row(const struct pfs_table *table, FILE *out, const unsigned int *widths, int row)
{
	unsigned int last = table->nr_columns;
	char number[32], fitted[WORD_MAX];

	while (last && !widths[last - 1])
		last--;
	for (unsigned int i = 0; i < last; i++) {
		const struct pfs_column *c = &table->columns[i];
		const char *s = c->head;

		if (!widths[i])
			continue;
		if (c->flags & PFS_COLUMN_BAR) {
			if (row >= 0 && cell_at(table, row, i)->number) {
				fputs("  ", out);
				pfs_put_bar(out, cell_at(table, row, i)->number, MILLION, widths[i]);
			}
			continue;
		}
		if (row >= 0)
			s = cell_text(number, cell_at(table, row, i), c->flags);
		if (row >= 0 && c->flags & PFS_COLUMN_TAIL) {
			pfs_fit_tail(fitted, sizeof(fitted), s, widths[i], "..");
			s = fitted;
		}
		fputs("  ", out);
		put_aligned(out, s, widths[i], c->flags & PFS_COLUMN_LEFT, i + 1 == last);
	}
}

void pfs_table_fit(struct pfs_table *table, unsigned int width)
{
	table->width = width;
}

void pfs_table_text(const struct pfs_table *table, FILE *out, const char *emphasis)
{
	unsigned int widths[64] = { 0 };

	for (unsigned int i = 0; i < table->nr_columns && i < 64; i++)
		widths[i] = text_width(table, i);
	for (unsigned int i = 0; i < table->nr_columns && i < 64; i++) {
		if (table->columns[i].flags & PFS_COLUMN_BAR)
			widths[i] = bar_width(width_left(table, widths, i));
		else if (table->columns[i].flags & PFS_COLUMN_TAIL && table->width && widths[i])
			widths[i] = tail_width(table, widths, i);
	}
	fputs(emphasis ? emphasis : "", out);
	put_text_row(table, out, widths, -1);
	fputs(emphasis ? "\033[0m\n" : "\n", out);
	for (unsigned int row = 0; row < pfs_table_rows(table); row++) {
		if (is_new_group(table, row))
			put_group(table, out, row, emphasis);
		put_text_row(table, out, widths, row);
		fputc('\n', out);
	}
}

/* ---- CSV (RFC 4180) and JSON ---- */

static void put_csv_word(FILE *out, const char *s)
{
	const char *guard = pfs_is_formula(s) ? "'" : "";

	if (!s[strcspn(s, "\",\r\n")]) {
		fprintf(out, "%s%s", guard, s);
		return;
	}
	fprintf(out, "\"%s", guard);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', out);
		fputc(*s, out);
	}
	fputc('"', out);
}

static bool is_text_only(const struct pfs_column *column)
{
	return column->flags & (PFS_COLUMN_TEXT_ONLY | PFS_COLUMN_BAR);
}

void pfs_table_csv(const struct pfs_table *table, FILE *out, const char *name)
{
	char number[32];

	fputs("table", out);
	for (unsigned int i = 0; i < table->nr_columns; i++)
		if (!is_text_only(&table->columns[i]))
			fprintf(out, ",%s", table->columns[i].key);
	fputc('\n', out);
	for (unsigned int row = 0; row < pfs_table_rows(table); row++) {
		put_csv_word(out, name);
		for (unsigned int i = 0; i < table->nr_columns; i++) {
			if (is_text_only(&table->columns[i]))
				continue;
			fputc(',', out);
			put_csv_word(out, cell_text(number, cell_at(table, row, i), table->columns[i].flags));
		}
		fputc('\n', out);
	}
}

void pfs_table_json_row(const struct pfs_table *table, unsigned int row, struct pfs_json *json, const char *key)
{
	char number[32];

	pfs_json_begin(json, key, "{");
	for (unsigned int i = 0; i < table->nr_columns; i++) {
		const struct pfs_column *column = &table->columns[i];
		const struct cell *cell = cell_at(table, row, i);

		if (is_text_only(column))
			continue;
		if (cell->word)
			pfs_json_string(json, column->key, cell->word);
		else
			pfs_json_raw(json, column->key, *cell_text(number, cell, column->flags) ? number : "null");
	}
	pfs_json_end(json, "}");
}

void pfs_table_json(const struct pfs_table *table, struct pfs_json *json, const char *key)
{
	unsigned int nr = pfs_table_rows(table);

	pfs_json_begin(json, key, "[");
	for (unsigned int row = 0; row < nr; row++) {
		pfs_json_line(json, "\n  ");
		pfs_table_json_row(table, row, json, NULL);
	}
	pfs_json_end(json, nr ? "\n]" : "]");
}
