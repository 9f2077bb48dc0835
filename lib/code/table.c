/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables by function, source line, module and instruction. Each fault is in one row: that of its innermost frame (in the
 * modules that are wanted). `total` also counts the faults of what a function called.
 */
#include "code/code_priv.h"

#include "base/array.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

struct row {
	/* interned */
	struct row_key {
		const char *what, *module;
		uint64_t line;
	} key;
	UT_hash_handle hh;
	struct pfs_code_counts self;
	uint64_t total;	  /* faults */
	const void *last; /* the origin that was added to it last */
	const char *func; /* of an instruction */
};

struct rows {
	struct row *rows;
	enum pfs_code_table table;
	struct row **of_places; /* by their numbers; NULL: not known yet */
	size_t max_places;
};

/* ---- words ---- */

const char *pfs_code_module_text(const struct pfs_place *place)
{
	return place->module ? place->module : "(no known region)";
}

const char *pfs_code_func_text(struct pfs_intern **strings, const struct pfs_place *place)
{
	char unknown[256];

	if (place->func)
		return pfs_intern(strings, place->func);
	snprintf(unknown, sizeof(unknown), "(%s)", place->why ? place->why : "unknown");
	return pfs_intern(strings, unknown);
}

/* "libc.so.6+0x8d2f0", "7f1c40001010". */
static void instruction_text(char *text, size_t size, const struct pfs_frame *frame, const struct pfs_place *place)
{
	if (frame->func)
		snprintf(text, size, "%s", frame->func);
	else if (pfs_is_file(frame->dev, frame->ino))
		snprintf(text, size, "%s+0x%" PRIx64, pfs_code_module_text(place), frame->off);
	else
		snprintf(text, size, "%" PRIx64, frame->addr);
}

static const char *line_text(const struct pfs_place *place)
{
	return place->source ? place->source : place->func ? "(no source line)" : "(unknown)";
}

/* NULL: no memory. */
static struct row *hashed_row(struct pfs_code_view *view, struct rows *rows, const struct pfs_frame *frame,
			      const struct pfs_place *place)
{
	struct row_key key = { .module = pfs_intern(&view->strings, pfs_code_module_text(place)) };
	const char *func = pfs_code_func_text(&view->strings, place);
	char text[512];
	struct row *row;

	if (rows->table == PFS_CODE_FUNCTION) {
		key.what = func;
	} else if (rows->table == PFS_CODE_LINE) {
		key.what = pfs_intern(&view->strings, line_text(place));
		key.line = place->source ? place->line : 0;
	} else if (rows->table == PFS_CODE_MODULE) {
		key.what = key.module;
	} else {
		instruction_text(text, sizeof(text), frame, place);
		key.what = pfs_intern(&view->strings, text);
	}
	if (!key.what || !key.module || !func)
		return NULL;
	row = PFS_HASH_GET(rows->rows, key, key);
	if (row && !row->func) /* of a line the first function that was met: it has no other, as a rule */
		row->func = func;
	return row;
}

/* The row of a frame's place; NULL: no memory. */
static struct row *row_of(struct pfs_code_view *view, struct rows *rows, const struct pfs_frame *frame,
			  const struct pfs_place *place)
{
	struct row **known;

	/* An instruction of the vdso has the address of each process. */
	if (!place->nr || rows->table == PFS_CODE_INSTRUCTION)
		return hashed_row(view, rows, frame, place);
	if (!pfs_array_extend(rows->of_places, rows->max_places, (size_t)place->nr + 1))
		return NULL;
	known = &rows->of_places[place->nr];
	if (!*known)
		*known = hashed_row(view, rows, frame, place);
	return *known;
}

/* ---- rows ---- */

const struct pfs_place pfs_code_no_frames = { .why = "its stack was not recorded" };

static int add_place(struct pfs_code_view *view, struct rows *rows, const struct pfs_code_origin *origin,
		     const struct pfs_frame *frame, const struct pfs_place *place, bool self)
{
	struct row *row = row_of(view, rows, frame, place);

	if (!row)
		return -ENOMEM;
	if (self)
		pfs_code_add(&row->self, &origin->counts);
	if (row->last != origin)
		row->total += origin->counts.faults;
	row->last = origin;
	return 0;
}

/* Of a fault without a frame in the module that is wanted. */
static const struct pfs_place elsewhere = { .func = "(elsewhere)", .source = "(elsewhere)", .module = "" };

static bool is_wanted(const char *module, const struct pfs_place *place)
{
	return !module || !fnmatch(module, pfs_code_module_text(place), 0) ||
	       (place->path && !fnmatch(module, place->path, 0));
}

static int add_origin(struct pfs_code_view *view, struct rows *rows, const struct pfs_code_origin *origin)
{
	struct pfs_code_frames stack = pfs_code_frames(view->code, origin);
	const char *module = view->how->module;
	bool self = true;
	int err = 0;

	if (!stack.nr)
		return add_place(view, rows, origin, origin->frame, &pfs_code_no_frames, true);
	for (uint32_t i = 0; !err && i < stack.nr; i++) {
		uint32_t nr;
		const struct pfs_place *places =
			pfs_symbolizer_frame(view->symbolizer, stack.frames[i], stack.ts_ns, &nr);

		if (!places)
			return -ENOMEM;
		for (uint32_t k = 0; !err && k < nr; k++)
			if (is_wanted(module, &places[k])) {
				err = add_place(view, rows, origin, stack.frames[i], &places[k], self);
				self = false;
			}
	}
	return self && !err ? add_place(view, rows, origin, stack.frames[0], &elsewhere, true) : err;
}

static int compare(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	return pfs_order(y->self.faults, x->self.faults) ?: pfs_order(y->total, x->total)
		?: strcmp(x->key.what, y->key.what) ?: strcmp(x->key.module, y->key.module)
		?: pfs_order(x->key.line, y->key.line);
}

/* ---- output ---- */

enum { RARE = PFS_COLUMN_OPTIONAL | PFS_COLUMN_WIDE, PERCENT = PFS_COLUMN_TENTHS };

/* clang-format off */
#define COUNTS									\
	{ "faults", "faults", 0 },						\
	{ "percent", "%", PERCENT },						\
	{ "total", "with callees", PFS_COLUMN_OPTIONAL | PFS_COLUMN_WIDE },	\
	{ "total_percent", "callees %", PFS_COLUMN_OPTIONAL | PERCENT },	\
	{ "read", "read", RARE },						\
	{ "write", "write", RARE },						\
	{ "exec", "exec", RARE },						\
	{ "kernel", "kernel", RARE },						\
	{ "pages", "new pages", PFS_COLUMN_WIDE },				\
	{ "pages_percent", "pages %", PERCENT | PFS_COLUMN_OPTIONAL },		\
	{ "major", "major", PFS_COLUMN_OPTIONAL | PFS_COLUMN_WIDE },		\
	{ "latency_ns", "total ns", RARE },					\
	{ "major_ns", "major ns", RARE },					\
	{ "major_percent", "major %", PERCENT | PFS_COLUMN_OPTIONAL }
/* clang-format on */

static const struct pfs_column function_columns[] = {
	COUNTS,
	{ "module", "module", PFS_COLUMN_LEFT | PFS_COLUMN_TAIL },
	{ "function", "function", PFS_COLUMN_LEFT | PFS_COLUMN_TAIL },
	{ NULL, NULL, 0 },
};

static const struct pfs_column line_columns[] = {
	COUNTS,
	{ "module", "module", PFS_COLUMN_LEFT | PFS_COLUMN_WIDE },
	{ "function", "function", PFS_COLUMN_LEFT | PFS_COLUMN_WIDE },
	{ "line", "", PFS_COLUMN_NOT_TEXT },
	{ "source", "source line", PFS_COLUMN_LEFT | PFS_COLUMN_TAIL },
	{ NULL, NULL, 0 },
};

static const struct pfs_column module_columns[] = {
	COUNTS,
	{ "module", "module", PFS_COLUMN_LEFT | PFS_COLUMN_TAIL },
	{ NULL, NULL, 0 },
};

static const struct pfs_column instruction_columns[] = {
	COUNTS,
	{ "instruction", "instruction", PFS_COLUMN_LEFT },
	{ "module", "module", PFS_COLUMN_LEFT | PFS_COLUMN_WIDE },
	{ "function", "function", PFS_COLUMN_LEFT | PFS_COLUMN_TAIL },
	{ NULL, NULL, 0 },
};

static const struct pfs_column *const columns_of[PFS_NR_CODE_TABLES] = {
	[PFS_CODE_FUNCTION] = function_columns,
	[PFS_CODE_LINE] = line_columns,
	[PFS_CODE_MODULE] = module_columns,
	[PFS_CODE_INSTRUCTION] = instruction_columns,
};

static void put_counts(struct pfs_table *table, const struct pfs_code_view *view, const struct pfs_code_counts *c,
		       uint64_t total)
{
	const struct pfs_code_counts *all = &view->total;

	pfs_table_number(table, c->faults);
	pfs_table_number(table, pfs_code_share(c->faults, all->faults));
	pfs_table_known(table, view->stacks && total, total);
	pfs_table_known(table, view->stacks && total, pfs_code_share(total, all->faults));
	pfs_table_numbers(table, c->read, c->write, c->exec, c->kernel, c->pages);
	pfs_table_number(table, pfs_code_share(c->pages, all->pages));
	pfs_table_number(table, c->major);
	pfs_table_known(table, all->nr_timed, c->latency_ns);
	pfs_table_known(table, all->nr_timed, c->major_ns);
	pfs_table_known(table, all->major_ns, pfs_code_share(c->major_ns, all->major_ns));
}

/* In text without the arguments: "ns::box<int>::touch" says enough, and fits. */
static const char *short_func(const struct pfs_code_view *view, const char *func, char *buf, size_t size)
{
	const char *args = func[0] == '(' || view->options->format || view->options->wide ? NULL : strchr(func, '(');

	if (!args || !strncmp(args, "(anonymous", 10) || strstr(func, "operator"))
		return func;
	snprintf(buf, size, "%.*s", (int)(args - func), func);
	return buf;
}

static void put_words(struct pfs_table *table, const struct pfs_code_view *view, enum pfs_code_table kind,
		      const struct row *row)
{
	bool text = view->options->format == PFS_VIEW_TEXT;
	char buf[4400];

	switch (kind) {
	case PFS_CODE_LINE:
		pfs_table_word(table, row->key.module);
		pfs_table_word(table, row->func);
		pfs_table_known(table, row->key.line, row->key.line);
		if (text && row->key.line)
			snprintf(buf, sizeof(buf), "%.4096s:%" PRIu64, row->key.what, row->key.line);
		else if (text)
			snprintf(buf, sizeof(buf), "%s%s%s", row->key.what, *row->key.module ? " " : "",
				 row->key.module);
		pfs_table_word(table, text ? buf : row->key.what);
		break;
	case PFS_CODE_MODULE:
		pfs_table_word(table, row->key.module);
		break;
	case PFS_CODE_INSTRUCTION:
		pfs_table_word(table, row->key.what);
		pfs_table_word(table, row->key.module);
		pfs_table_word(table, short_func(view, row->func, buf, sizeof(buf)));
		break;
	default:
		pfs_table_word(table, row->key.module);
		pfs_table_word(table, short_func(view, row->key.what, buf, sizeof(buf)));
	}
}

/* A line that is no row: its text is in the last column. */
static void put_sum(struct pfs_table *table, const struct pfs_code_view *view, enum pfs_code_table kind,
		    const struct pfs_code_counts *counts, const char *text)
{
	const struct pfs_column *column = columns_of[kind];

	put_counts(table, view, counts, 0);
	while (strcmp(column->key, "major_percent"))
		column++;
	for (column++; column->key; column++)
		if (column->flags & PFS_COLUMN_LEFT)
			pfs_table_word(table, column[1].key ? "" : text);
		else
			pfs_table_missing(table);
}

static void fill(struct pfs_table *table, const struct pfs_code_view *view, enum pfs_code_table kind,
		 struct row *const *sorted, size_t nr)
{
	bool text = view->options->format == PFS_VIEW_TEXT;
	size_t top = view->options->top ? view->options->top : text ? PFS_CODE_LINES : nr;
	struct pfs_code_counts rest = { 0 };
	char what[64];

	for (size_t i = 0; i < nr; i++) {
		if (i >= top) {
			pfs_code_add(&rest, &sorted[i]->self);
			continue;
		}
		put_counts(table, view, &sorted[i]->self, sorted[i]->total);
		put_words(table, view, kind, sorted[i]);
	}
	if (!text)
		return;
	if (nr > top) {
		snprintf(what, sizeof(what), "%zu more", nr - top);
		put_sum(table, view, kind, &rest, what);
	}
	snprintf(what, sizeof(what), "total of %zu", nr);
	if (nr > 1)
		put_sum(table, view, kind, &view->total, what);
}

static int put_rows(struct pfs_code_view *view, const struct rows *rows)
{
	static const char *const titles[PFS_NR_CODE_TABLES] = { "By function", "By source line", NULL, "By module",
								"By instruction" };
	const struct pfs_view_options *options = view->options;
	size_t nr = HASH_COUNT(rows->rows), at = 0;
	struct row **sorted = calloc(nr + 1, sizeof(*sorted));
	struct pfs_table *table;
	int err;

	if (!sorted)
		return -ENOMEM;
	for (struct row *row = rows->rows; row; row = row->hh.next)
		sorted[at++] = row;
	qsort(sorted, nr, sizeof(*sorted), compare);
	table = pfs_table_new(columns_of[rows->table]);
	if (table) {
		fill(table, view, rows->table, sorted, nr);
		if (!options->wide)
			pfs_table_fit(table, options->width ? options->width : 80);
	}
	free(sorted);
	err = pfs_output_table(options, view->json, table, pfs_code_tables[rows->table], titles[rows->table]);
	if (!err && options->format == PFS_VIEW_TEXT)
		fputc('\n', options->out);
	return err;
}

int pfs_code_put_table(struct pfs_code_view *view, enum pfs_code_table table)
{
	struct rows rows = { .table = table };
	int err = 0;

	for (uint32_t i = 0; !err && i < view->code->nr_origins; i++)
		err = add_origin(view, &rows, view->code->origins[i]);
	if (!err)
		err = put_rows(view, &rows);
	PFS_HASH_FREE(rows.rows);
	free(rows.of_places);
	return err;
}
