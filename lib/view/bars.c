/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bars, the default form: a headline (headline.c), then the regions with the most faults, as many as fit. What is not drawn
 * is counted in one line for each process, and processes beyond the first few in one line for each name.
 */
#include "view/bars_priv.h"

#include "base/array.h"
#include "base/escape.h"
#include "event/notes.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define DIM "\033[2m"

/*
 * Images that are drawn, one for so many lines of a terminal, and names of those that are not, unless all are asked for.
 */
enum { MAX_IMAGES = 3, LINES_PER_IMAGE = 20, MAX_NAMES = 3 };

/* ---- orders ---- */

static int by_address(const void *a, const void *b)
{
	const struct pfs_row *x = a, *y = b;

	return pfs_order(x->start, y->start) ?: pfs_order(x->end, y->end);
}

/* What may have been used unobserved comes before what was not used. */
static bool is_unused(const struct pfs_row *row)
{
	return !row->tally.seen && !row->unobserved;
}

static int by_faults(const void *a, const void *b)
{
	const struct pfs_row *x = a, *y = b;

	return pfs_order(y->tally.faults, x->tally.faults) ?: pfs_order(y->tally.seen, x->tally.seen)
		?: pfs_order(is_unused(x), is_unused(y)) ?: by_address(a, b);
}

static int by_touched(const void *a, const void *b)
{
	const struct pfs_row *x = a, *y = b;

	return pfs_order(y->tally.touched, x->tally.touched) ?: by_faults(a, b);
}

/* What nothing happened to comes last. */
static int by_time(const void *a, const void *b)
{
	const struct pfs_row *x = a, *y = b;

	return pfs_order(!x->tally.seen, !y->tally.seen) ?: pfs_order(is_unused(x), is_unused(y))
		?: pfs_order(x->tally.first_ns, y->tally.first_ns)
		?: by_address(a, b);
}

typedef int compare_fn(const void *, const void *);

/* By address only what has been chosen is sorted. */
static compare_fn *const choices[] = {
	[PFS_SORT_FAULTS] = by_faults,
	[PFS_SORT_TOUCHED] = by_touched,
	[PFS_SORT_TIME] = by_time,
	[PFS_SORT_ADDRESS] = by_faults,
};

/* ---- images ---- */

static void images_free(struct pfs_images *images)
{
	for (unsigned int i = 0; i < images->nr; i++)
		pfs_rows_free(&images->image[i].rows);
	free(images->image);
}

static void sort_rows(struct pfs_image *image, compare_fn *compare)
{
	struct pfs_rows *rows = &image->rows;

	if (rows->nr)
		qsort(rows->row, rows->nr, sizeof(*rows->row), compare);
	for (unsigned int i = 0; i < rows->nr; i++) {
		pfs_tally_add(&image->tally, &rows->row[i].tally);
		image->nr_seen += !is_unused(&rows->row[i]);
	}
}

static int more_first(const void *a, const void *b)
{
	const struct pfs_image *x = a, *y = b;

	return pfs_order(y->tally.faults, x->tally.faults) ?: pfs_order(y->tally.seen, x->tally.seen)
		?: pfs_order(x->at.epoch->start_ns, y->at.epoch->start_ns)
		?: pfs_order(x->at.proc->pid, y->at.proc->pid) ?: pfs_order(x->at.index, y->at.index);
}

static int collect(struct pfs_images *images, const struct pfs_bars *bars)
{
	struct pfs_epochs at = { .model = bars->model, .filter = bars->options->filter };
	enum pfs_sort sort = bars->options->sort;
	const struct pfs_proc *last = NULL;

	while (pfs_epochs_next(&at)) {
		struct pfs_image *image = pfs_array_add(images->image, images->nr, images->max);

		if (!image)
			return -ENOMEM;
		*image = (struct pfs_image){ .at = at };
		if (pfs_rows_collect(&image->rows, &at) ||
		    (!bars->options->all && pfs_rows_group(&image->rows, bars->model)))
			return -ENOMEM;
		sort_rows(image, choices[sort]);
		pfs_tally_add(&images->tally, &image->tally);
		if (!image->rows.nr) {
			pfs_rows_free(&image->rows);
			images->nr--;
			continue;
		}
		images->nr_threads += at.proc != last ? at.proc->nr_threads : 0;
		images->nr_procs += at.proc != last;
		last = at.proc;
	}
	if (images->nr && sort != PFS_SORT_TIME && sort != PFS_SORT_ADDRESS)
		qsort(images->image, images->nr, sizeof(*images->image), more_first);
	return 0;
}

/* Chooses the first nr rows of all images together; their rows are in that order already. */
static void choose(struct pfs_images *images, unsigned int nr, const struct pfs_view_options *options)
{
	unsigned int nr_images = MAX_IMAGES;

	if (options->height && options->height / LINES_PER_IMAGE < nr_images)
		nr_images = options->height / LINES_PER_IMAGE ?: 1;
	if (options->all || options->top || nr_images > images->nr)
		nr_images = images->nr;
	for (unsigned int i = 0; i < images->nr; i++)
		images->image[i].nr_drawn = options->all ? images->image[i].rows.nr : 0;
	for (; !options->all && nr; nr--) {
		struct pfs_image *best = NULL;

		for (unsigned int i = 0; i < nr_images; i++) {
			struct pfs_image *image = &images->image[i];

			if (image->nr_drawn < image->nr_seen &&
			    (!best || choices[options->sort](&image->rows.row[image->nr_drawn],
							     &best->rows.row[best->nr_drawn]) < 0))
				best = image;
		}
		if (!best)
			break;
		best->nr_drawn++;
	}
}

/* ---- what is drawn ---- */

static void put_dim(const struct pfs_bars *bars, const char *line)
{
	fprintf(bars->options->out, "%s%s%s\n", pfs_color_on(bars->options->color, DIM), line,
		pfs_color_off(bars->options->color));
}

static void put_rest(const struct pfs_bars *bars, const struct pfs_image *image)
{
	unsigned int seen = 0, untouched = 0;
	char line[160], number[48], faults[48];
	uint64_t nr_faults = 0;

	for (unsigned int i = image->nr_drawn; i < image->rows.nr; i++) {
		*(i < image->nr_seen ? &seen : &untouched) += image->rows.row[i].nr_regions;
		nr_faults += image->rows.row[i].tally.faults;
	}
	pfs_plural(number, sizeof(number), seen, "more region");
	pfs_plural(faults, sizeof(faults), nr_faults, "fault");
	if (seen && untouched)
		snprintf(line, sizeof(line), "  %s with %s, %u untouched", number, faults, untouched);
	else if (seen)
		snprintf(line, sizeof(line), "  %s with %s", number, faults);
	else if (untouched)
		snprintf(line, sizeof(line), "  %s", pfs_plural(number, sizeof(number), untouched, "untouched region"));
	else
		return;
	put_dim(bars, line);
}

static void put_image(struct pfs_bars *bars, const struct pfs_image *image)
{
	struct pfs_rows drawn = { .row = image->rows.row, .nr = image->nr_drawn };

	bars->nr_epochs = 1; /* an empty line before each */
	pfs_bars_header(bars, &image->at);
	if (bars->options->sort == PFS_SORT_ADDRESS && drawn.nr)
		qsort(drawn.row, drawn.nr, sizeof(*drawn.row), by_address);
	for (unsigned int i = 0; i < drawn.nr; i++)
		bars->nr_gone += drawn.row[i].gone;
	pfs_bars_table(bars, &drawn);
	if (bars->options->sort == PFS_SORT_ADDRESS && drawn.nr)
		qsort(drawn.row, drawn.nr, sizeof(*drawn.row), choices[PFS_SORT_ADDRESS]); /* for another choice */
	put_rest(bars, image);
}

/* Processes of which an image is not drawn: those with the same name together. */
struct name {
	const char *comm;
	int32_t pid; /* of the first */
	unsigned int nr;
	uint64_t faults;
};

/* Whether an image before it, which is not drawn either, is of the same process (and has that name, unless it is NULL). */
static bool is_counted(const struct pfs_images *images, unsigned int i, const char *comm)
{
	const struct pfs_proc *proc = images->image[i].at.proc;

	while (i-- > 0) {
		const struct pfs_image *image = &images->image[i];

		if (image->at.proc == proc && !image->nr_drawn &&
		    (!comm || !strcmp(comm, pfs_epoch_comm(&image->at) ?: "?")))
			return true;
	}
	return false;
}

/* Those with the most faults come first, as the images do. Returns how many processes have other names only. */
static unsigned int gather(struct name names[MAX_NAMES], unsigned int *nr, const struct pfs_images *images)
{
	unsigned int others = 0;

	for (unsigned int i = *nr = 0; i < images->nr; i++) {
		const struct pfs_image *image = &images->image[i];
		const char *comm = pfs_epoch_comm(&image->at) ?: "?";
		unsigned int j = 0;

		if (image->nr_drawn)
			continue;
		while (j < *nr && strcmp(comm, names[j].comm))
			j++;
		if (j == MAX_NAMES) {
			others += !is_counted(images, i, NULL);
			continue;
		}
		if (j == *nr)
			names[(*nr)++] = (struct name){ comm, image->at.proc->pid, 0, 0 };
		names[j].nr += !is_counted(images, i, comm);
		names[j].faults += image->tally.faults;
	}
	return others;
}

static void put_names(const struct pfs_bars *bars, const struct pfs_images *images)
{
	struct pfs_list list = pfs_bars_list(bars, ", ", 2);
	struct name names[MAX_NAMES];
	unsigned int nr, others = gather(names, &nr, images);
	char comm[PFS_LABEL_MAX], number[32];

	if (!nr || images->nr == 1) /* the headline has it */
		return;
	fputc('\n', bars->options->out);
	for (unsigned int i = 0; i < nr; i++) {
		const struct name *name = &names[i];
		const char *start = i ? "" : "not drawn: ";

		pfs_escape(comm, sizeof(comm), name->comm, 0);
		pfs_grouped_text(number, name->faults);
		if (name->nr > 1)
			pfs_list_add(&list, "%s%u %s with %s faults", start, name->nr, comm, number);
		else
			pfs_list_add(&list, "%s%s (pid %d) with %s", start, comm, name->pid, number);
	}
	if (others)
		pfs_list_add(&list, "%s", pfs_plural(number, sizeof(number), others, "more process"));
	pfs_list_end(&list);
}

/* The option that shows more of the recording. */
static void more_text(char text[48], const struct pfs_bars *bars)
{
	const struct pfs_filter *filter = bars->options->filter;

	if (filter && filter->nr_pids == 1)
		snprintf(text, 48, "--pid %d --all", filter->pids[0]);
	else
		strcpy(text, "--all");
}

/*
 * A line to be pasted: what shows more, or keeps what is shown. A command that is too long for it is not cut. What is no terminal gets
 * the same of a recording under any name.
 */
static void put_more(const struct pfs_bars *bars, const struct pfs_images *images)
{
	static const char keep[] = "to see more, keep it: pfscope";
	const char *command = pfs_model_note(bars->model, pfs_note_key(PFS_NOTE_COMMAND));
	FILE *out = bars->options->out;
	const char *file = bars->options->file;
	char more[48], text[PFS_LABEL_MAX];

	more_text(more, bars);
	if (file || command)
		pfs_escape(text, sizeof(text), file ? file : command, 0);
	if (!bars->options->terminal || (file && strcmp(text, file)))
		fprintf(out, "to see more: %s\n", more);
	else if (file)
		fprintf(out, "to see more: pfscope render %s %s\n", more, text);
	else if (command && (strcmp(text, command) || pfs_columns(text) + sizeof(keep) + 23 > bars->width))
		fprintf(out, "%s run -o pfscope.dat -- COMMAND\n", keep);
	else if (command)
		fprintf(out, "%s run -o pfscope.dat -- %s\n", keep, text);
	else if (pfs_model_note(bars->model, pfs_note_key(PFS_NOTE_ATTACH)))
		fprintf(out, "%s attach -o pfscope.dat %d\n", keep, images->image[0].at.proc->pid);
	else
		fprintf(out, "to see more: %s\n", more);
}

/* What to read on. */
static void put_advice(const struct pfs_bars *bars, const struct pfs_images *images)
{
	enum { FEW = 100 }; /* fewer than any program needs to start */
	struct pfs_list list = pfs_bars_list(bars, " ", 2);
	bool left = false;

	for (unsigned int i = 0; i < images->nr; i++) {
		left |= images->image[i].nr_drawn < images->image[i].rows.nr;
		for (unsigned int j = 0; j < images->image[i].nr_drawn; j++)
			left |= images->image[i].rows.row[j].group != NULL;
	}
	if (pfs_model_note(bars->model, pfs_note_key(PFS_NOTE_ATTACH)) && !bars->model->refaults.nr_cycles &&
	    images->nr && images->tally.faults < FEW) {
		pfs_list_add(&list, "A process that runs already has its memory in place.");
		pfs_list_add(&list, "To see what it uses:");
		pfs_list_add(&list, "pfscope attach --refault 500ms --zram 256M %d", images->image[0].at.proc->pid);
		pfs_list_end(&list);
	} else if (left) {
		put_more(bars, images);
	}
}

/* ---- all of it ---- */

/* Everything below the headline. */
static int put_body(struct pfs_bars *bars, const struct pfs_images *images)
{
	char lost[PFS_LOST_TEXT_MAX];

	for (unsigned int i = 0; i < images->nr; i++)
		if (images->image[i].nr_drawn)
			put_image(bars, &images->image[i]);
	bars->nr_epochs = images->nr;
	put_names(bars, images);
	pfs_bars_legend(bars);
	if (!images->nr && !pfs_lost_text(lost, bars->gaps))
		fputs("no events lost\n", bars->options->out);
	else if (!images->nr)
		pfs_bars_alarm(bars, lost);
	pfs_bars_lacks(bars);
	put_advice(bars, images);
	return 0;
}

typedef int part_fn(struct pfs_bars *, const struct pfs_images *);

/* How many lines it draws, or -ENOMEM. */
static int nr_lines(struct pfs_bars bars, const struct pfs_images *images, part_fn *part)
{
	struct pfs_view_options options = *bars.options;
	char *text = NULL;
	int nr = 0, ret;
	size_t size;

	options.out = bars.pen.out = open_memstream(&text, &size);
	if (!options.out)
		return -ENOMEM;
	bars.options = &options;
	ret = part(&bars, images);
	if (fclose(options.out))
		ret = -ENOMEM;
	for (const char *at = text; !ret && (at = strchr(at, '\n')); at++)
		nr++;
	free(text);
	return ret ?: nr;
}

/* Chooses the most rows that fit below the headline; one in any case. */
static int choose_fitting(const struct pfs_bars *bars, struct pfs_images *images)
{
	int height = bars->options->height, head = nr_lines(*bars, images, pfs_headline), body = 0;
	unsigned int fits = 1, too_many = height;

	while (head >= 0 && body >= 0 && too_many - fits > 1) {
		unsigned int nr_rows = (fits + too_many) / 2;

		choose(images, nr_rows, bars->options);
		body = nr_lines(*bars, images, put_body);
		*(head + body > height ? &too_many : &fits) = nr_rows;
	}
	choose(images, fits, bars->options);
	return head < 0 || body < 0 ? -ENOMEM : 0;
}

int pfs_bars_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	struct pfs_images images = { 0 };
	struct pfs_bars bars = pfs_bars_new(model, options);
	int ret = collect(&images, &bars);

	if (!ret && options->height && !options->all && !options->top)
		ret = choose_fitting(&bars, &images);
	else if (!ret)
		choose(&images, options->top ? options->top : UINT32_MAX, options);
	if (!ret)
		ret = pfs_headline(&bars, &images) ?: put_body(&bars, &images);
	images_free(&images);
	if (ret)
		return pfs_err_set(err, ret, "no memory to draw with");
	return pfs_output_end(options->out, "the bars", err);
}
