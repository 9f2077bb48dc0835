/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer before the evidence: what was recorded, how many faults there were and of which kinds, what they touched, and
 * the five files or regions with the most of them. No more than eight lines of 80 columns (where numbers
 * and losses take more than three, fewer than five files).
 *
 *     gcc -c x.c: 2,413 faults (1 read from disk) in 61 ms by 4 processes
 *       612 read, 1,604 written, 197 executed; 108 by the kernel; no events lost
 *       2,301 pages touched (9.0M), 3,118 more by fault-around
 *           842 faults  35 %  [heap]                          cc1          #########
 */
#include "view/bars_priv.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/table.h"
#include "event/notes.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define BOLD	"\033[1m"
#define WARNING "\033[33m"

/* ---- what was recorded ---- */

/* If it is too long it ends with a whole word, unless that leaves less than half of the columns. */
static void fit_command(char *buf, size_t size, const char *text, unsigned int columns)
{
	static const char more[] = " ...";
	size_t len;

	pfs_fit_head(buf, size, text, columns, "..");
	if (!strcmp(buf, text) || columns < sizeof(more))
		return;
	pfs_fit_head(buf, size, text, columns - strlen(more), "");
	for (len = strlen(buf); len && text[len] != ' ';)
		len--;
	buf[len] = '\0';
	if (pfs_columns(buf) >= columns / 2)
		strcpy(buf + len, more);
	else
		pfs_fit_head(buf, size, text, columns, "..");
}

/* The command; without one the process with the most faults. */
static void title_text(char *buf, size_t size, unsigned int columns, const struct pfs_bars *bars,
		       const struct pfs_images *images)
{
	const char *command = pfs_model_note(bars->model, pfs_note_key(PFS_NOTE_COMMAND)), *comm;
	const struct pfs_image *most = &images->image[0];
	char text[PFS_LABEL_MAX];
	size_t len;

	if (command) {
		pfs_escape(text, sizeof(text), command, 0);
		fit_command(buf, size, text, columns);
		return;
	}
	comm = pfs_epoch_comm(&most->at);
	len = pfs_escape(buf, size / 2, comm ? comm : "?", 0);
	len = len < size / 2 ? len : size / 2 - 1;
	snprintf(buf + len, size - len, " (%s %d)", most->at.proc->pid_known ? "pid" : "thread", most->at.proc->pid);
}

/* From the first image to the end of the last one, as far as both are in the recording and the filter. */
static uint64_t duration_ns(const struct pfs_bars *bars, const struct pfs_images *images)
{
	const struct pfs_filter *filter = bars->options->filter;
	uint64_t from_ns = UINT64_MAX, to_ns = 0, base_ns = pfs_model_base_ns(bars->model);

	for (unsigned int i = 0; i < images->nr; i++) {
		const struct pfs_epochs *at = &images->image[i].at;
		uint64_t end_ns = at->end_ns < bars->model->last_ns ? at->end_ns : bars->model->last_ns;

		if (at->epoch->start_ns < from_ns)
			from_ns = at->epoch->start_ns;
		if (end_ns > to_ns)
			to_ns = end_ns;
	}
	if (from_ns < base_ns)
		from_ns = base_ns;
	if (filter && filter->from.set && pfs_time_ns(&filter->from, bars->model) > from_ns)
		from_ns = pfs_time_ns(&filter->from, bars->model);
	if (pfs_filter_end_ns(filter, bars->model) < to_ns)
		to_ns = pfs_filter_end_ns(filter, bars->model);
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Returns the number of its lines; *columns: of the last one, without the command. */
static unsigned int list_title(struct pfs_list list, const char *title, struct pfs_bars *bars,
			       const struct pfs_images *images, unsigned int *columns)
{
	const struct pfs_tally *t = &images->tally;
	char number[64], more[64];

	list.start = pfs_color_on(bars->options->color, BOLD);
	list.end = pfs_color_off(bars->options->color);
	pfs_list_add(&list, "%s: %s", title, pfs_plural(number, sizeof(number), t->faults, "fault"));
	if (t->major) {
		list.start = pfs_color_on(bars->options->color, WARNING);
		pfs_list_add(&list, "(%s read from disk)", pfs_grouped_text(number, t->major));
		list.start = pfs_color_on(bars->options->color, BOLD);
	}
	pfs_list_add(&list, "in %s", pfs_duration_text(number, duration_ns(bars, images), 3));
	if (images->nr_procs > 1)
		pfs_list_add(&list, "by %s", pfs_plural(number, sizeof(number), images->nr_procs, "process"));
	if (images->nr_threads > images->nr_procs)
		pfs_list_add(&list, "%s %s", images->nr_procs > 1 ? "with" : "by",
			     pfs_plural(more, sizeof(more), images->nr_threads, "thread"));
	list.separator = ", ";
	pfs_bars_moment(bars, &list);
	*columns = list.column;
	pfs_list_end(&list);
	return list.lines;
}

/* The command is as long as there is room beside the rest, if that leaves enough to recognize it. */
static unsigned int put_title(struct pfs_bars *bars, const struct pfs_images *images)
{
	enum { ENOUGH = 14 };
	struct pfs_list list = pfs_bars_list(bars, " ", 2), measured = list;
	unsigned int columns, lines;
	char title[1100];

	measured.out = NULL;
	lines = list_title(measured, "", bars, images, &columns);
	columns = lines == 1 && columns + ENOUGH < list.width ? list.width - 1 - columns : list.width / 2;
	title_text(title, sizeof(title), columns, bars, images);
	return list_title(list, title, bars, images, &columns);
}

/* ---- how many of what ---- */

static void list_kinds(struct pfs_list *list, const struct pfs_bars *bars, const struct pfs_tally *t, bool any_lost)
{
	bool none_known = t->access_unknown && !t->read && !t->write && !t->exec;

	pfs_bars_count(list, t->read, "read");
	pfs_bars_count(list, t->write, "written");
	pfs_bars_count(list, t->exec, "executed");
	if (none_known)
		pfs_list_add(list, "access unknown");
	else
		pfs_bars_count(list, t->access_unknown, "by unknown access");
	list->separator = "; ";
	pfs_bars_count(list, t->kernel, "by the kernel");
	pfs_bars_count(list, t->signal, "ended in a signal");
	pfs_bars_count(list, pfs_counts_hidden(&bars->model->counts), "because pfscope hid the page");
	if (!any_lost)
		pfs_list_add(list, "no events lost");
}

static void list_pages(struct pfs_list *list, struct pfs_bars *bars, const struct pfs_tally *t)
{
	char number[64], most[32], size[8];

	pfs_list_add(list, "%s touched (%s)", pfs_plural(number, sizeof(number), t->touched, "page"),
		     pfs_size_text(size, t->touched << bars->model->page_shift));
	list->separator = ", ";
	if (t->maybe_around)
		pfs_list_add(list, "%s to %s more by fault-around", pfs_grouped_text(number, t->around),
			     pfs_grouped_text(most, t->around + t->maybe_around));
	else
		pfs_bars_count(list, t->around, "more by fault-around");
	pfs_bars_count(list, t->populated, "populated");
	pfs_bars_count(list, t->huge, "in huge pages");
	pfs_bars_count(list, t->unobserved, "not observed");
}

/* Pages go on where the kinds of faults end, if these take more than a line. Returns the number of lines. */
static unsigned int put_numbers(struct pfs_bars *bars, const struct pfs_tally *t, bool any_lost)
{
	struct pfs_list list = pfs_bars_indented(bars);

	list_kinds(&list, bars, t, any_lost);
	if (t->seen || t->unobserved) {
		if (!list.lines) {
			pfs_list_end(&list);
			list.column = fprintf(list.out, "%*s", (int)list.indent, "");
		}
		list_pages(&list, bars, t);
	}
	pfs_list_end(&list);
	return list.lines;
}

/* ---- where ---- */

/* What has the most faults: a file in all processes, or the regions of one kind of all processes of a name. */
struct place {
	const struct pfs_row *row; /* one of them */
	const char *name;	   /* of the file, or the kind */
	const char *comm;	   /* of the processes, NULL: of several names */
	uint64_t faults;
	unsigned int nr_regions, nr_procs;
	const struct pfs_proc *proc; /* the last one that was counted */
};

struct places {
	struct place *place;
	unsigned int nr, max;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	bool file = x->name[0] == '/';

	return strcmp(x->name, y->name) ?: file ? 0 : strcmp(x->comm, y->comm);
}

static int compare_order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return compare_places(a, b) ?: pfs_order(x->proc->pid, y->proc->pid) ?: pfs_order(x->proc->born_ns, y->proc->born_ns);
}

static int more_faults(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return pfs_order(y->faults, x->faults) ?: compare_order(a, b);
}

static int add_rows(struct places *places, const struct pfs_image *image)
{
	const char *comm = pfs_epoch_comm(&image->at);

	for (unsigned int i = 0; i < image->nr_seen; i++) {
		const struct pfs_row *row = &image->rows.row[i];
		const char *kind = pfs_label_kind(row);
		struct place *place;

		if (!row->tally.faults)
			continue;
		place = pfs_array_add(places->place, places->nr, places->max);
		if (!place)
			return -ENOMEM;
		*place = (struct place){
			row, kind ? kind : row->name, comm ? comm : "?", row->tally.faults, row->nr_regions,
			1,   image->at.proc
		};
	}
	return 0;
}

/* Adds up what is alike. */
static void merge(struct places *places)
{
	unsigned int kept = 0;

	if (places->nr)
		qsort(places->place, places->nr, sizeof(*places->place), compare_order);
	for (unsigned int i = 0; i < places->nr; i++) {
		struct place *place = &places->place[i], *last = kept ? &places->place[kept - 1] : NULL;

		if (!last || compare_places(last, place)) {
			places->place[kept++] = *place;
			continue;
		}
		last->faults += place->faults;
		last->nr_regions += place->nr_regions;
		last->nr_procs += place->proc != last->proc;
		last->proc = place->proc;
		if (last->comm && strcmp(last->comm, place->comm))
			last->comm = NULL;
	}
	places->nr = kept;
	if (kept)
		qsort(places->place, kept, sizeof(*places->place), more_faults);
}

/* "libc.so.6", "[heap]", "anon 7f1c40000000", "anon, 5 regions" */
static void put_name(const struct place *place, FILE *out, unsigned int width)
{
	char text[PFS_LABEL_MAX];

	pfs_label_place(place->row, text, sizeof(text));
	if (place->nr_regions > 1 && pfs_label_kind(place->row))
		snprintf(text, sizeof(text), "%s, %u regions", place->name, place->nr_regions);
	pfs_put_fitted(out, pfs_label_base(text), width, false);
}

/* "cc1", "3 cc1", "4 processes" */
static void put_whose(const struct place *place, FILE *out, unsigned int width)
{
	char text[64] = "processes", number[16] = "";

	if (place->comm)
		pfs_escape(text, sizeof(text), place->comm, 0);
	if (place->nr_procs > 1)
		snprintf(number, sizeof(number), "%u ", place->nr_procs);
	fputs(number, out);
	pfs_put_fitted(out, text, width - strlen(number), false);
}

static void put_place(struct pfs_bars *bars, const struct place *place, const struct pfs_images *images, uint64_t most)
{
	unsigned int name = bars->width * 3 / 8, whose = images->nr > 1 ? bars->width / 5 : 0, left;
	uint64_t all = images->tally.faults;
	FILE *out = bars->options->out;
	char number[32];

	left = bars->width - fprintf(out, "%9s %-6s %3u %%  ", pfs_grouped_text(number, place->faults),
				     place->faults == 1 ? "fault" : "faults",
				     (unsigned int)((place->faults * 100 + all / 2) / all));
	put_name(place, out, name);
	fputs("  ", out);
	if (whose) {
		put_whose(place, out, whose);
		fputs("  ", out);
	}
	left = left > name + whose + 4 ? left - name - whose - 4 : 0;
	pfs_put_bar(out, place->faults, most, left < 40 ? left : 40);
	fputc('\n', out);
}

/* In at most two lines: if the gaps do not fit, their sum. Returns the number of lines. */
static unsigned int put_lost(const struct pfs_bars *bars)
{
	static const char so[] = "so more pages may have been touched than are drawn";
	char lost[PFS_LOST_TEXT_MAX], text[PFS_LOST_TEXT_MAX + 128];
	struct pfs_view_options unseen = *bars->options;
	struct pfs_bars measured = *bars;

	unseen.out = NULL;
	measured.options = &unseen;
	if (!pfs_lost_text(lost, bars->gaps))
		return 0;
	snprintf(text, sizeof(text), "%s, %s", lost, so);
	if (pfs_bars_alarm(&measured, text) > 2) {
		pfs_lost_sum_text(lost, bars->gaps);
		snprintf(text, sizeof(text), "%s (`pfscope events' lists them), %s", lost, so);
	}
	return pfs_bars_alarm(bars, text);
}

int pfs_headline(struct pfs_bars *bars, const struct pfs_images *images)
{
	enum { LINES = 8, MOST = 5 };
	struct places places = { 0 };
	char lost[PFS_LOST_TEXT_MAX];
	unsigned int lines, most;
	int err = 0;

	for (unsigned int i = 0; !err && i < images->nr; i++)
		err = add_rows(&places, &images->image[i]);
	if (!err && images->nr) {
		merge(&places);
		lines = put_title(bars, images);
		lines += put_numbers(bars, &images->tally, pfs_lost_text(lost, bars->gaps));
		lines += put_lost(bars);
		most = lines + MOST <= LINES ? MOST : lines < LINES ? LINES - lines : 1;
		for (unsigned int i = 0; i < places.nr && i < most; i++)
			put_place(bars, &places.place[i], images, places.place[0].faults);
	}
	free(places.place);
	return err;
}
