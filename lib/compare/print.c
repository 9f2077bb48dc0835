/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The comparison as text, CSV and JSON:
 *
 *     old.dat -> new.dat
 *                       old  new  change
 *       faults           71   72  +1          changed
 *
 *     By file
 *       faults      old  new  pages  file
 *       +1           12   13     +1  /usr/lib/libfoo.so (moved)
 */
#include "compare/print.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"
#include "view/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* clang-format off */
#define MEASURE_COLUMNS(name)						\
	{ name "_old", "", PFS_COLUMN_NOT_TEXT },			\
	{ name "_old_least", "", PFS_COLUMN_NOT_TEXT },			\
	{ name "_old_most", "", PFS_COLUMN_NOT_TEXT },			\
	{ name "_new", "", PFS_COLUMN_NOT_TEXT },			\
	{ name "_new_least", "", PFS_COLUMN_NOT_TEXT },			\
	{ name "_new_most", "", PFS_COLUMN_NOT_TEXT },			\
	{ name "_gained", "", PFS_COLUMN_NOT_TEXT },			\
	{ name "_lost", "", PFS_COLUMN_NOT_TEXT },			\
	{ name "_why", "", PFS_COLUMN_NOT_TEXT }
/* clang-format on */

static const struct pfs_column line_columns[] = {
	{ "faults", "faults", PFS_COLUMN_TEXT_ONLY },
	{ "old", "old", PFS_COLUMN_TEXT_ONLY },
	{ "new", "new", PFS_COLUMN_TEXT_ONLY },
	{ "major", "major", PFS_COLUMN_TEXT_ONLY | PFS_COLUMN_OPTIONAL },
	{ "pages", "pages", PFS_COLUMN_TEXT_ONLY | PFS_COLUMN_OPTIONAL },
	{ "around", "around", PFS_COLUMN_TEXT_ONLY | PFS_COLUMN_OPTIONAL },
	{ "time", "time", PFS_COLUMN_TEXT_ONLY | PFS_COLUMN_OPTIONAL },
	{ "why", "why", PFS_COLUMN_TEXT_ONLY | PFS_COLUMN_OPTIONAL | PFS_COLUMN_LEFT },
	MEASURE_COLUMNS("faults"),
	MEASURE_COLUMNS("major"),
	MEASURE_COLUMNS("pages"),
	MEASURE_COLUMNS("around"),
	MEASURE_COLUMNS("time_ns"),
	{ "in_old", "", PFS_COLUMN_NOT_TEXT },
	{ "in_new", "", PFS_COLUMN_NOT_TEXT },
	{ "moved", "", PFS_COLUMN_NOT_TEXT },
	{ "process", "process", PFS_COLUMN_LEFT | PFS_COLUMN_OPTIONAL },
	{ "perms", "perm", PFS_COLUMN_LEFT | PFS_COLUMN_OPTIONAL },
	{ "part", "part", PFS_COLUMN_LEFT | PFS_COLUMN_OPTIONAL },
	{ "name", "", PFS_COLUMN_NOT_TEXT },
	{ "shown", "name", PFS_COLUMN_TEXT_ONLY | PFS_COLUMN_LEFT | PFS_COLUMN_TAIL },
	{ NULL, NULL, 0 },
};

static const struct pfs_column sum_columns[] = {
	{ "what", "", PFS_COLUMN_LEFT },
	{ "old", "old", 0 },
	{ "new", "new", 0 },
	{ "change", "change", PFS_COLUMN_OPTIONAL },
	{ "percent", "percent", PFS_COLUMN_OPTIONAL },
	{ "why", "why", PFS_COLUMN_OPTIONAL | PFS_COLUMN_LEFT },
	{ NULL, NULL, 0 },
};

static const struct pfs_column gate_columns[] = {
	{ "condition", "", 0 },
	{ "verdict", "", 0 },
	{ "because", "", 0 },
	{ NULL, NULL, 0 },
};

struct printer {
	const struct pfs_compare *compare;
	const struct pfs_compare_print *print;
	const struct pfs_view_options *options;
	struct pfs_json json;
	bool several; /* a process */
};

/* ---- numbers ---- */

static const char *amount_text(char buf[32], enum pfs_measure measure, uint64_t amount)
{
	return measure == PFS_M_TIME_NS ? pfs_duration_text(buf, amount, 3) : pfs_grouped_text(buf, amount);
}

/* "12", "12 [11-13]": the median, and the least and the most if they differ. */
static const char *side_text(char buf[112], const struct pfs_change *change, enum pfs_measure m, int side)
{
	char median[32], least[32], most[32];

	amount_text(median, m, change->median[side]);
	if (!change->known)
		return strcpy(buf, "?");
	if (change->least[side] == change->most[side])
		return strcpy(buf, median);
	snprintf(buf, 112, "%s [%s-%s]", median, amount_text(least, m, change->least[side]),
		 amount_text(most, m, change->most[side]));
	return buf;
}

/* "+3", "-1", "+3 -1"; "" if it is 0. */
static const char *change_text(char buf[80], const struct pfs_change *change, enum pfs_measure m)
{
	int64_t difference = (int64_t)change->median[1] - (int64_t)change->median[0];
	char gained[32], lost[32];

	if (change->why == PFS_CHANGED && change->gained && change->lost)
		snprintf(buf, 80, "+%s -%s", amount_text(gained, m, change->gained),
			 amount_text(lost, m, change->lost));
	else if (change->why == PFS_CHANGED)
		snprintf(buf, 80, "%s%s", change->gained ? "+" : "-",
			 amount_text(gained, m, change->gained + change->lost));
	else if (difference && change->known)
		snprintf(buf, 80, "%s%s", difference > 0 ? "+" : "-",
			 amount_text(gained, m, difference > 0 ? difference : -difference));
	else
		buf[0] = '\0';
	return buf;
}

/* ---- the sums ---- */

static const char *const titles[PFS_NR_MEASURES] = {
	"faults", "read from disk", "pages touched", "by fault-around", "time in faults",
};

static const char *why_text(const struct printer *p, const struct pfs_change *change)
{
	switch (change->why) {
	case PFS_SPREAD:
		return "within the spread of the runs";
	case PFS_PLACEMENT:
		return "placement: only addresses differ";
	case PFS_UNKNOWN:
		return p->compare->lost[0] || p->compare->lost[1] ? "unknown: events were lost" : "unknown";
	default:
		return change->why == PFS_SAME ? "same" : pfs_why_names[change->why];
	}
}

static void add_sum(struct pfs_table *table, const struct printer *p, enum pfs_measure m)
{
	const struct pfs_change *change = &p->compare->total.change[m];
	uint64_t amount = change->gained + change->lost, old = change->median[0];
	char old_text[112], new_text[112], text[80], percent[32] = "";

	pfs_table_word(table, titles[m]);
	pfs_table_word(table, side_text(old_text, change, m, 0));
	pfs_table_word(table, side_text(new_text, change, m, 1));
	pfs_table_word(table, change_text(text, change, m));
	if (change->why == PFS_CHANGED && old && !(change->gained && change->lost))
		snprintf(percent, sizeof(percent), "%s%.1f %%", change->gained ? "+" : "-", 100.0 * amount / old);
	pfs_table_word(table, percent);
	pfs_table_word(table, why_text(p, change));
}

static void put_names(const struct printer *p, const char *const *names, unsigned int nr)
{
	char text[PFS_LABEL_MAX];

	pfs_escape(text, sizeof(text), names[0], 0);
	fprintf(p->options->out, "%s", text);
	if (nr > 1)
		fprintf(p->options->out, " and %u more", nr - 1);
}

static int put_sums(struct printer *p)
{
	const struct pfs_compare *c = p->compare;
	FILE *out = p->options->out;
	struct pfs_table *table = pfs_table_new(sum_columns);
	int err;

	put_names(p, p->print->old, c->nr_runs[0]);
	fputs(" -> ", out);
	put_names(p, p->print->new, c->nr_runs[1]);
	fputc('\n', out);
	if (c->nr_runs[0] > 1 || c->nr_runs[1] > 1)
		fprintf(out, "Medians of %u and %u runs [least-most]\n", c->nr_runs[0], c->nr_runs[1]);
	for (int m = 0; table && m < PFS_NR_MEASURES; m++)
		if (m != PFS_M_TIME_NS || c->total.change[m].known)
			add_sum(table, p, m);
	err = table ? pfs_table_error(table) : -ENOMEM;
	if (!err)
		pfs_table_text(table, out, p->options->color ? "\033[2m" : NULL);
	pfs_table_free(table);
	fputc('\n', out);
	return err;
}

/* ---- lines ---- */

static enum pfs_why line_why(const struct pfs_change_line *line)
{
	enum pfs_why why = PFS_SAME;

	for (int m = 0; m <= PFS_M_PAGES; m++)
		if (line->change[m].why > why)
			why = line->change[m].why;
	return line->change[PFS_M_TIME_NS].why == PFS_CHANGED ? PFS_CHANGED : why;
}

static bool is_text(const struct printer *p)
{
	return p->options->format == PFS_VIEW_TEXT;
}

static bool is_touched(const struct pfs_change_line *line)
{
	for (int m = 0; m < PFS_NR_MEASURES; m++)
		if (line->change[m].most[0] || line->change[m].most[1])
			return true;
	return false;
}

static bool is_shown(const struct printer *p, const struct pfs_change_line *line)
{
	return !is_text(p) || (p->options->all ? is_touched(line) : line_why(line) >= PFS_UNKNOWN);
}

static void add_measure(struct pfs_table *table, const struct pfs_change *c)
{
	const uint64_t numbers[] = { c->median[0], c->least[0], c->most[0], c->median[1], c->least[1], c->most[1] };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		pfs_table_known(table, c->known, numbers[i]);
	pfs_table_known(table, c->known, c->gained);
	pfs_table_known(table, c->known, c->lost);
	pfs_table_word(table, c->known ? pfs_why_names[c->why] : "unknown");
}

static void add_line(struct pfs_table *table, const struct printer *p, const struct pfs_change_line *line)
{
	char old[112], new[112], text[80], name[PFS_LABEL_MAX];
	const char *note = line->moved ? " (moved)" : !line->has[0] ? " (new)" : !line->has[1] ? " (gone)" : "";

	pfs_table_word(table, change_text(text, &line->change[PFS_M_FAULTS], PFS_M_FAULTS));
	pfs_table_word(table, side_text(old, &line->change[PFS_M_FAULTS], PFS_M_FAULTS, 0));
	pfs_table_word(table, side_text(new, &line->change[PFS_M_FAULTS], PFS_M_FAULTS, 1));
	for (int m = PFS_M_MAJOR; m < PFS_NR_MEASURES; m++)
		pfs_table_word(table, change_text(text, &line->change[m], m));
	pfs_table_word(table, p->options->all ? pfs_why_names[line_why(line)] : "");
	for (int m = 0; m < PFS_NR_MEASURES; m++)
		add_measure(table, &line->change[m]);
	pfs_table_numbers(table, line->has[0], line->has[1], line->moved);
	pfs_table_word(table, line->process && (p->several || !is_text(p)) ? line->process : "");
	pfs_table_word(table, line->perms);
	pfs_table_word(table, line->part);
	pfs_table_word(table, line->name);
	snprintf(name, sizeof(name), "%s%s", line->perms[0] ? pfs_label_base(line->name) : line->name, note);
	pfs_table_word(table, name);
}

static int put_lines(struct printer *p, const char *key, const char *title, const struct pfs_change_lines *lines)
{
	struct pfs_table *table = pfs_table_new(line_columns);
	unsigned int shown = 0, left = 0;
	int err;

	for (size_t i = 0; table && i < lines->nr; i++) {
		if (!is_shown(p, &lines->line[i]))
			continue;
		if (p->options->top && shown == p->options->top) {
			left++;
			continue;
		}
		shown++;
		add_line(table, p, &lines->line[i]);
	}
	if (table && is_text(p) && !shown) {
		pfs_table_free(table);
		return 0;
	}
	if (table)
		pfs_table_fit(table, p->options->width);
	err = pfs_output_table(p->options, &p->json, table, key, title);
	if (!err && left && is_text(p))
		fprintf(p->options->out, "  %u more: --top\n", left);
	if (!err && is_text(p))
		fputc('\n', p->options->out);
	return err;
}

/* What is not listed. */
static void put_rest(const struct printer *p)
{
	unsigned int nr[PFS_CHANGED + 1] = { 0 };
	FILE *out = p->options->out;
	char number[64];

	for (size_t i = 0; i < p->compare->regions.nr; i++)
		nr[line_why(&p->compare->regions.line[i])]++;
	if (!nr[PFS_CHANGED] && !nr[PFS_UNKNOWN])
		fputs("Nothing changed.\n", out);
	if (nr[PFS_PLACEMENT] && !p->options->all)
		fprintf(out, "In %s only the placement differs: --all\n",
			pfs_plural(number, sizeof(number), nr[PFS_PLACEMENT], "region"));
	if (nr[PFS_SPREAD] && !p->options->all)
		fprintf(out, "In %s the difference is within the spread of the runs: --all\n",
			pfs_plural(number, sizeof(number), nr[PFS_SPREAD], "region"));
}

/* ---- gates ---- */

static void put_gate(const struct printer *p, const struct pfs_gate *gate, enum pfs_verdict verdict, const char *why)
{
	char text[512];

	pfs_escape(text, sizeof(text), gate->text, 0);
	fprintf(p->options->out, "--fail-if '%s': %s (%s)\n", text, pfs_verdict_names[verdict], why);
}

static int put_gates(struct printer *p)
{
	struct pfs_table *table = is_text(p) ? NULL : pfs_table_new(gate_columns);
	char why[512];

	for (size_t i = 0; i < p->print->nr_gates; i++) {
		const struct pfs_gate *gate = &p->print->gates[i];
		enum pfs_verdict verdict = pfs_gate_judge(gate, p->compare, why, sizeof(why));

		if (is_text(p)) {
			put_gate(p, gate, verdict, why);
		} else if (table) {
			pfs_table_word(table, gate->text);
			pfs_table_word(table, pfs_verdict_names[verdict]);
			pfs_table_word(table, why);
		}
	}
	return is_text(p) ? 0 : pfs_output_table(p->options, &p->json, table, "gate", "");
}

int pfs_compare_print(const struct pfs_compare *c, const struct pfs_compare_print *print,
		      const struct pfs_view_options *options, struct pfs_err *err)
{
	struct printer p = { .compare = c, .print = print, .options = options, .several = c->processes.nr > 1 };
	struct pfs_change_line sum = c->total;
	const struct pfs_change_lines total = { &sum, 1, 1 };
	bool text = options->format == PFS_VIEW_TEXT;
	int ret;

	pfs_json_init(&p.json, options->out);
	p.json.spaced = true;
	if (options->format == PFS_VIEW_JSON) {
		pfs_json_begin(&p.json, NULL, "{");
		pfs_json_u64(&p.json, "old_runs", c->nr_runs[0]);
		pfs_json_u64(&p.json, "new_runs", c->nr_runs[1]);
	}
	ret = text ? put_sums(&p) : put_lines(&p, "total", "", &total);
	if (!ret)
		ret = put_lines(&p, "file", "By file", &c->files);
	if (!ret)
		ret = put_lines(&p, "region", "By region", &c->regions);
	if (!ret && (p.several || !text))
		ret = put_lines(&p, "process", "By process", &c->processes);
	if (!ret && text)
		put_rest(&p);
	if (!ret)
		ret = put_gates(&p);
	if (options->format == PFS_VIEW_JSON)
		pfs_json_end(&p.json, "}\n");
	return ret ? pfs_err_set(err, ret, "no memory for the tables")
		   : pfs_output_end(options->out, "the tables", err);
}
