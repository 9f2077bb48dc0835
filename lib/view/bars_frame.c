/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Headers, legend and summary of the bars: see bars_priv.h.
 */
#include "view/bars_priv.h"

#include "base/array.h"
#include "base/escape.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define ALARM "\033[1;31m"

struct pfs_bars pfs_bars_new(const struct pfs_model *model, const struct pfs_view_options *options)
{
	return (struct pfs_bars){ .model = model,
				  .options = options,
				  .width = options->width ? options->width : 80,
				  .pen = { .out = options->out, .color = options->color },
				  .gaps = pfs_gaps_shown(model, options->filter) };
}

struct pfs_list pfs_bars_list(const struct pfs_bars *bars, const char *separator, unsigned int indent)
{
	return (struct pfs_list){
		.out = bars->options->out, .width = bars->width, .indent = indent, .separator = separator
	};
}

struct pfs_list pfs_bars_indented(const struct pfs_bars *bars)
{
	struct pfs_list list = pfs_bars_list(bars, ", ", 2);

	list.column = fprintf(list.out, "%*s", (int)list.indent, "");
	return list;
}

void pfs_bars_count(struct pfs_list *list, uint64_t number, const char *what)
{
	char text[32];

	if (number)
		pfs_list_add(list, "%s %s", pfs_grouped_text(text, number), what);
}

unsigned int pfs_bars_alarm(const struct pfs_bars *bars, const char *text)
{
	struct pfs_list list = pfs_bars_list(bars, ", ", 2);
	char part[512];

	list.start = pfs_color_on(bars->options->color, ALARM);
	list.end = pfs_color_off(bars->options->color);
	while (*text) {
		const char *end = strstr(text, list.separator);
		size_t len = end ? (size_t)(end - text) : strlen(text);

		snprintf(part, sizeof(part), "%.*s", (int)len, text);
		pfs_list_add(&list, "%s", part);
		text += len + (end ? strlen(list.separator) : 0);
	}
	pfs_list_end(&list);
	return list.lines;
}

/* ---- header of an epoch ---- */

static void put_span(struct pfs_bars *bars, struct pfs_list *list, const struct pfs_epochs *at)
{
	uint64_t base_ns = pfs_model_base_ns(bars->model), start_ns = at->epoch->start_ns;
	char from[32], to[32];

	pfs_time_text(from, bars->model, start_ns > base_ns ? start_ns : base_ns);
	if (at->end_ns == UINT64_MAX)
		pfs_list_add(list, "since %s s", from);
	else
		pfs_list_add(list, "%s to %s s", from, pfs_time_text(to, bars->model, at->end_ns));
}

void pfs_bars_moment(const struct pfs_bars *bars, struct pfs_list *list)
{
	const struct pfs_filter *f = bars->options->filter;
	char text[32];

	const struct {
		const char *format;
		const struct pfs_time *time;
	} times[] = {
		{ "touches from %s s on", f ? &f->from : NULL },
		{ "drawn up to %s s", f ? &f->to : NULL },
		{ "drawn as of %s s", f ? &f->at : NULL },
	};

	for (unsigned int i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (f && times[i].time->set)
			pfs_list_add(list, times[i].format,
				     pfs_time_text(text, bars->model, pfs_time_ns(times[i].time, bars->model)));
}

static void put_origin(struct pfs_list *list, const struct pfs_epochs *at)
{
	char exe[PFS_LABEL_MAX], fitted[1024];

	if (at->of > 1 && !at->epoch->shared)
		pfs_list_add(list, "exec epoch %u of %u", at->number, at->of);
	if (pfs_epoch_role(at, exe, sizeof(exe))) {
		pfs_fit_head(fitted, sizeof(fitted), exe, list->width - list->indent, "..");
		pfs_list_add(list, "%s", fitted);
	} else if (at->epoch->space->exe) {
		pfs_escape(exe, sizeof(exe), at->epoch->space->exe, 0);
		pfs_fit_tail(fitted, sizeof(fitted), exe, list->width - list->indent, "..");
		pfs_list_add(list, "%s", fitted);
	}
	if (at->proc->ppid)
		pfs_list_add(list, at->index ? "parent %d" : "forked by %d", at->proc->ppid);
	if (at->epoch->shared)
		pfs_list_add(list, "in its parent's address space (vfork)");
}

void pfs_bars_header(struct pfs_bars *bars, const struct pfs_epochs *at)
{
	const struct pfs_space *space = at->epoch->space;
	struct pfs_list list = pfs_bars_list(bars, "  ", 4);
	const char *comm = pfs_epoch_comm(at);
	char name[256] = "";

	if (bars->nr_epochs)
		fputc('\n', list.out);
	if (comm)
		pfs_escape(name, sizeof(name), comm, 0);
	list.start = pfs_color_on(bars->options->color, BOLD);
	list.end = pfs_color_off(bars->options->color);
	pfs_list_add(&list, "%s %d%s%s", at->proc->pid_known ? "pid" : "thread", at->proc->pid, comm ? " " : "", name);
	list.start = list.end = NULL;
	put_origin(&list, at);
	put_span(bars, &list, at);
	pfs_bars_moment(bars, &list);
	if (!at->proc->pid_known)
		pfs_list_add(&list, "of an unknown process");
	if (!space->nr_live && !space->nr_retired)
		pfs_list_add(&list, "layout unknown");
	else if (pfs_model_polled(bars->model))
		pfs_list_add(&list, "layout ~, read now and then");
	else if (!space->complete)
		pfs_list_add(&list, "layout partly known");
	pfs_list_end(&list);
}

/* ---- losses ---- */

/*
 * Finds out whether the gaps concern all rows or none. If not, the smaller group is marked: the rows that they may
 * concern, or those that they do not.
 */
static void compare_rows(struct pfs_bars *bars, const struct pfs_epochs *at, const struct pfs_rows *rows)
{
	unsigned int nr = 0;

	bars->epoch_gaps = pfs_gaps_of(bars->gaps, at, NULL);
	for (unsigned int i = 0; i < rows->nr; i++)
		nr += !!pfs_gaps_sum(pfs_gaps_of(bars->gaps, at, &rows->row[i])).nr;
	bars->marked = !nr || nr == rows->nr ? ROWS_ALIKE : 2 * nr > rows->nr ? ROWS_SPARED : ROWS_CONCERNED;
}

/* Prints what the gaps may hide: faults of the rows, and changes of the regions. */
static void put_losses(struct pfs_bars *bars, const struct pfs_epochs *at, const struct pfs_rows *rows)
{
	static const char *const where[] = {
		[ROWS_ALIKE] = "so more pages may have been touched than are drawn",
		[ROWS_CONCERNED] = "so more pages may have been touched where noted",
		[ROWS_SPARED] = "so more pages may have been touched than are drawn, except where noted",
	};
	struct pfs_gaps before = pfs_gaps_before(bars->gaps, at);
	uint64_t since_ns = pfs_gaps_sum(before).from_ns;
	char lost[PFS_LOST_TEXT_MAX], text[PFS_LOST_TEXT_MAX + 200], since[48] = "", time[32];

	if (since_ns)
		snprintf(since, sizeof(since), " from %s s on", pfs_time_text(time, bars->model, since_ns));
	compare_rows(bars, at, rows);
	if (pfs_lost_text(lost, bars->epoch_gaps))
		snprintf(text, sizeof(text), "%s, %s, and regions may be wrong%s", lost, where[bars->marked], since);
	else if (pfs_lost_text(lost, before))
		snprintf(text, sizeof(text), "%s, so regions may be wrong%s", lost, since);
	else
		return;
	pfs_bars_alarm(bars, text);
}

void pfs_bars_row_lost(struct pfs_bars *bars, const struct pfs_row *row)
{
	char lost[PFS_LOST_TEXT_MAX], text[PFS_LOST_TEXT_MAX + 32];
	bool concerned;

	if (bars->marked == ROWS_ALIKE)
		return;
	concerned = pfs_lost_text(lost, pfs_gaps_of(bars->gaps, bars->epoch_gaps.at, row));
	if (concerned && bars->marked == ROWS_CONCERNED) {
		snprintf(text, sizeof(text), "  (faults may be lost: %s)", lost + strlen("lost "));
		pfs_bars_alarm(bars, text);
	} else if (!concerned && bars->marked == ROWS_SPARED)
		fputs("  (no faults lost)\n", bars->options->out);
}

/* ---- rows ---- */

/* At most that many unmapped regions of an epoch are drawn: those with the most pages touched. */
#define MAX_GONE 48

/* Rows that are not drawn. */
struct left_out {
	uint64_t untouched, earlier, earlier_pages, more, more_pages;
};

static int more_first(const void *a, const void *b)
{
	return pfs_order(*(const uint64_t *)b, *(const uint64_t *)a);
}

/* How many touched pages an unmapped region needs to be drawn; *ties: how many regions with exactly that number are. */
static uint64_t gone_threshold(const struct pfs_rows *rows, unsigned int *ties)
{
	uint64_t *touched = calloc(rows->nr + 1, sizeof(*touched)), threshold = 0;
	unsigned int nr = 0;

	*ties = UINT_MAX;
	for (unsigned int i = 0; touched && i < rows->nr; i++)
		if (rows->row[i].gone && rows->row[i].tally.seen)
			touched[nr++] = rows->row[i].tally.seen;
	if (nr > MAX_GONE) {
		qsort(touched, nr, sizeof(*touched), more_first);
		threshold = touched[MAX_GONE - 1];
		for (*ties = 1; *ties < MAX_GONE && touched[MAX_GONE - 1 - *ties] == threshold;)
			++*ties;
	}
	free(touched);
	return threshold;
}

static struct left_out leave_out(struct pfs_bars *bars, struct pfs_rows *rows)
{
	const struct pfs_filter *filter = bars->options->filter;
	bool moment = filter && filter->at.set;
	struct left_out left = { 0 };
	unsigned int kept = 0, ties;
	uint64_t threshold = gone_threshold(rows, &ties);

	for (unsigned int i = 0; i < rows->nr; i++) {
		const struct pfs_row *row = &rows->row[i];

		bars->nr_regions += !!row->region;
		bars->nr_gone += row->gone;
		if (row->gone && !row->tally.seen && !bars->options->all) {
			left.untouched++;
			continue;
		}
		if (row->gone && moment && !bars->options->all) {
			left.earlier++;
			left.earlier_pages += row->tally.touched;
			continue;
		}
		pfs_tally_add(&bars->shown, &row->tally);
		if (row->gone && !bars->options->all &&
		    (row->tally.seen < threshold || (row->tally.seen == threshold && !ties--))) {
			ties += row->tally.seen == threshold;
			left.more++;
			left.more_pages += row->tally.touched;
			continue;
		}
		rows->row[kept++] = *row;
	}
	rows->nr = kept;
	return left;
}

static void put_left_out(struct pfs_bars *bars, const struct left_out *left)
{
	const struct {
		uint64_t nr;
		const char *noun, *with;
		uint64_t pages;
		const char *what;
	} rows[] = {
		{ left->untouched, "untouched region", "", 0, "unmapped" },
		{ left->more, "more unmapped region", ", ", left->more_pages, "touched" },
		{ left->earlier, "region", " with ", left->earlier_pages, "touched, unmapped by then" },
	};
	char regions[48], pages[48];

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!rows[i].nr)
			continue;
		pfs_plural(regions, sizeof(regions), rows[i].nr, rows[i].noun);
		pfs_plural(pages, sizeof(pages), rows[i].pages, "page");
		fprintf(bars->options->out, "%s  %s%s%s %s (--all shows them)%s\n",
			pfs_color_on(bars->options->color, DIM), regions, rows[i].with, rows[i].with[0] ? pages : "",
			rows[i].what, pfs_color_off(bars->options->color));
	}
}

static int put_epoch(struct pfs_bars *bars, const struct pfs_epochs *at, pfs_bars_rows_fn fn)
{
	struct left_out left;
	struct pfs_rows rows;
	int err;

	err = pfs_rows_collect(&rows, at);
	if (err)
		return err;
	if (rows.nr) {
		pfs_bars_header(bars, at);
		left = leave_out(bars, &rows);
		put_losses(bars, at, &rows);
		fn(bars, &rows);
		put_left_out(bars, &left);
		bars->nr_epochs++;
		bars->nr_procs += at->proc != bars->last_proc;
		bars->last_proc = at->proc;
	}
	pfs_rows_free(&rows);
	return 0;
}

/* ---- the end ---- */

static void put_details(struct pfs_bars *bars)
{
	const struct pfs_tally *t = &bars->shown;
	struct pfs_list list = pfs_bars_indented(bars);

	pfs_bars_count(&list, t->read, "by read");
	pfs_bars_count(&list, t->write, "by write");
	pfs_bars_count(&list, t->exec, "by execution");
	pfs_bars_count(&list, t->access_unknown, "by unknown access");
	pfs_bars_count(&list, t->user, "in user mode");
	pfs_bars_count(&list, t->kernel, "in kernel mode");
	pfs_bars_count(&list, t->signal, "ended in a signal");
	pfs_bars_count(&list, t->outside, "in no known region");
	pfs_bars_count(&list, t->major, t->major == 1 ? "page read from disk" : "pages read from disk");
	pfs_bars_count(&list, t->around,
		       t->around == 1 ? "page mapped by fault-around" : "pages mapped by fault-around");
	if (t->maybe_around)
		pfs_list_add(&list, "at most %" PRIu64 "%s mapped by fault-around", t->maybe_around,
			     t->around		    ? " more"
			     : t->maybe_around == 1 ? " page"
						    : " pages");
	pfs_bars_count(&list, t->populated, t->populated == 1 ? "page populated" : "pages populated");
	pfs_bars_count(&list, t->huge, "pages in huge pages");
	pfs_bars_count(&list, t->maybe, "pages may be, too");
	pfs_bars_count(&list, t->unobserved, "pages not observed by --refault, at most");
	pfs_bars_count(&list, t->referenced, "pages seen accessed");
	pfs_list_end(&list);
}

/* What the kernel, or the source, does not report. */
void pfs_bars_lacks(const struct pfs_bars *bars)
{
	struct pfs_list list = pfs_bars_list(bars, ", ", 2);
	unsigned int at = 0;
	char what[256];

	while (pfs_lack_next(bars->model, &at, what, sizeof(what)))
		pfs_list_add(&list, "%s%s%s", list.nr ? "" : pfs_lacks_title(bars->model), list.nr ? "" : ": ", what);
	if (list.nr)
		pfs_list_end(&list);
}

static void put_summary(struct pfs_bars *bars)
{
	struct pfs_list list = pfs_bars_list(bars, ", ", 2);
	const struct pfs_tally *t = &bars->shown;
	char n[48], lost[PFS_LOST_TEXT_MAX];
	bool any_lost = pfs_lost_text(lost, bars->gaps);

	list.start = pfs_color_on(bars->options->color, BOLD);
	list.end = pfs_color_off(bars->options->color);
	pfs_list_add(&list, "%s", pfs_plural(n, sizeof(n), t->faults, "fault"));
	pfs_list_add(&list, "%s touched", pfs_plural(n, sizeof(n), t->touched, "page"));
	pfs_plural(n, sizeof(n), bars->nr_regions, "region");
	if (bars->nr_gone)
		pfs_list_add(&list, "%s (%" PRIu64 " unmapped)", n, bars->nr_gone);
	else
		pfs_list_add(&list, "%s", n);
	if (bars->nr_procs != 1)
		pfs_list_add(&list, "%s", pfs_plural(n, sizeof(n), bars->nr_procs, "process"));
	if (!any_lost)
		pfs_list_add(&list, "no events lost");
	pfs_list_end(&list);
	if (t->seen || t->unobserved)
		put_details(bars);
	pfs_bars_lacks(bars);
	if (any_lost)
		pfs_bars_alarm(bars, lost);
}

void pfs_bars_legend(struct pfs_bars *bars)
{
	struct pfs_list list = pfs_bars_list(bars, "  ", 0);

	if (!bars->nr_epochs)
		fprintf(list.out, "no process to draw (of %u in the recording)\n", bars->model->nr_procs);
	if (!bars->pen.used)
		return;
	fputc('\n', list.out);
	pfs_pen_legend(&bars->pen, &list);
	if (bars->nr_gone)
		pfs_list_add(&list, "- unmapped before the end");
	pfs_list_end(&list);
}

int pfs_bars_frame(const struct pfs_model *model, const struct pfs_view_options *options, pfs_bars_rows_fn fn,
		   struct pfs_err *err)
{
	struct pfs_epochs at = { .model = model, .filter = options->filter };
	struct pfs_bars bars = pfs_bars_new(model, options);
	int ret = 0;

	while (!ret && pfs_epochs_next(&at))
		ret = put_epoch(&bars, &at, fn);
	if (ret)
		return pfs_err_set(err, ret, "no memory to draw with");
	pfs_bars_legend(&bars);
	put_summary(&bars);
	return pfs_output_end(options->out, "the bars", err);
}
