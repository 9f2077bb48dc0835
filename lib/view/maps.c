/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout in the form of /proc/PID/maps: fs/proc/task_mmu.c, show_map_vma().
 *
 *     7f5d58600000-7f5d58626000 r--p 00000000 fe:00 1234                       /usr/lib/libc.so.6
 *
 * What is not known is written as question marks, never guessed. One address space is printed as it
 * is, so that it can be compared with the kernel's; before each of several stands a line "# pid N". CSV and JSON have one
 * table of all processes.
 */
#include "base/escape.h"
#include "base/table.h"
#include "view/labels.h"
#include "view/loss.h"
#include "view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Where the kernel has the name start: 25 + 6 * sizeof(void *) - 1 columns, and a blank. */
enum { NAME_COLUMN = 73 };
#define VSYSCALL	     0xffffffffff600000
#define KNOWS(region, field) ((region)->have & PFS_HAS(field))

static const struct pfs_column columns[] = {
	{ "pid", "", 0 },   { "range", "", 0 }, { "perms", "", 0 }, { "off", "", 0 },	{ "device", "", 0 },
	{ "inode", "", 0 }, { "gaps", "", 0 },	{ "name", "", 0 },  { "since", "", 0 }, { NULL, NULL, 0 },
};

/* What all forms print. */
struct layout {
	const struct pfs_model *model;
	const struct pfs_view_options *options;
	struct pfs_table *table; /* CSV and JSON */
};

static bool is_shown(const struct layout *l, const struct pfs_space *space, const struct pfs_region *region)
{
	return pfs_filter_memory(l->options->filter, region, pfs_region_name(space, region));
}

/* As the kernel writes names: a newline would be a line. For a terminal, all that it acts on. */
static void put_name(FILE *out, const char *name, bool terminal)
{
	char escaped[PFS_LABEL_MAX];

	if (terminal) {
		pfs_escape(escaped, sizeof(escaped), name, 0);
		fputs(escaped, out);
		return;
	}
	for (; *name; name++) {
		if (*name == '\n')
			fputs("\\012", out);
		else
			fputc(*name, out);
	}
}

static void put_line(FILE *out, const char *head, const char *name, bool terminal)
{
	fputs(head, out);
	if (name && !name[0])
		return;
	fprintf(out, "%*s ", NAME_COLUMN - 1 - (int)strlen(head), "");
	put_name(out, name ? name : "?", terminal);
}

static void put_region(const struct layout *l, const struct pfs_space *space, const struct pfs_region *region)
{
	FILE *out = l->options->out;
	char range[40], perms[5], off[24] = "????????", dev[24] = "??:??", ino[24] = "?", head[160], since[32];

	pfs_range_text(range, region->start, region->end);
	pfs_perms_text(perms, region);
	if (KNOWS(region, PFS_F_OFF))
		snprintf(off, sizeof(off), "%08" PRIx64, region->off);
	if (KNOWS(region, PFS_F_DEV))
		snprintf(dev, sizeof(dev), "%02x:%02x", region->dev >> 20, region->dev & 0xfffff);
	if (KNOWS(region, PFS_F_INO))
		snprintf(ino, sizeof(ino), "%" PRIu64, region->ino);
	snprintf(head, sizeof(head), "%s %s %s %s %s ", range, perms, off, dev, ino);
	put_line(out, head, pfs_region_name(space, region), l->options->terminal);
	if (pfs_model_polled(l->model))
		fprintf(out, "\t# since %s", pfs_time_text(since, l->model, region->born_ns));
	fputc('\n', out);
}

/* Where the highest region ends: a 32-bit process has none beyond 4 GiB, and no gate area. */
static uint64_t top_of(const struct pfs_space *space)
{
	const struct pfs_region *region;
	unsigned int i = 0;
	uint64_t top = 0;

	while ((region = pfs_layout_next(space, &i)))
		top = region->end;
	return top;
}

/*
 * The permissions of the gate area, which is in no region tree: the note "vsyscall" has them. NULL: the process has none, or a
 * layout that was read from /proc/PID/maps and contains it already.
 */
static const char *vsyscall_of(const struct layout *l, const struct pfs_space *space)
{
	const char *perms = pfs_model_note(l->model, "vsyscall");
	uint64_t top = top_of(space);

	if (!perms || !space->complete || top > VSYSCALL || top <= UINT64_C(1) << 32 ||
	    !pfs_filter_region(l->options->filter, "[vsyscall]", VSYSCALL, VSYSCALL + 4096))
		return NULL;
	return perms;
}

/* ---- processes ---- */

static bool has_any(const struct layout *l, const struct pfs_space *space)
{
	const struct pfs_region *region;
	unsigned int i = 0;

	while ((region = pfs_layout_next(space, &i)))
		if (is_shown(l, space, region))
			return true;
	return vsyscall_of(l, space);
}

static void put_space(const struct layout *l, const struct pfs_space *space)
{
	const char *vsyscall = vsyscall_of(l, space);
	const struct pfs_region *region;
	unsigned int i = 0;
	char head[160];

	while ((region = pfs_layout_next(space, &i)))
		if (is_shown(l, space, region))
			put_region(l, space, region);
	if (!vsyscall)
		return;
	snprintf(head, sizeof(head), "ffffffffff600000-ffffffffff601000 %.4s 00000000 00:00 0 ", vsyscall);
	put_line(l->options->out, head, "[vsyscall]", true);
	fputc('\n', l->options->out);
}

/* Lost events may include changes of the layout, and perf does not report all. */
static void put_doubt(const struct pfs_model *model, const struct pfs_view_options *options,
		      const struct pfs_epochs *at)
{
	const char *polled = pfs_model_polled(model);
	uint64_t looked_ns = at->epoch->space->looked_ns;
	char lost[PFS_LOST_TEXT_MAX], time[32];

	if (pfs_lost_text(lost, pfs_gaps_before(pfs_gaps_shown(model, options->filter), at)))
		fprintf(options->out, "# may be wrong: %s\n", lost);
	if (polled && looked_ns)
		fprintf(options->out, "# may be wrong: %s (%s s)\n", polled, pfs_time_text(time, model, looked_ns));
	else if (polled)
		fprintf(options->out, "# may be wrong: %s\n", polled);
}

static void put_lines(const struct layout *l, const struct pfs_epochs *start)
{
	struct pfs_epochs at = *start;
	unsigned int nr = 0;
	char comm[256];

	while (pfs_layouts_next(&at))
		nr++;
	for (at = *start; pfs_layouts_next(&at);) {
		if (!has_any(l, at.epoch->space))
			continue;
		pfs_escape(comm, sizeof(comm), pfs_epoch_comm(&at) ? pfs_epoch_comm(&at) : "?", 0);
		if (nr > 1)
			fprintf(l->options->out, "# pid %d %s\n", at.proc->pid, comm);
		put_doubt(l->model, l->options, &at);
		put_space(l, at.epoch->space);
	}
}

/* ---- CSV and JSON ---- */

static void add_region(const struct layout *l, const struct pfs_space *space, const struct pfs_region *region)
{
	char text[40], perms[5], device[24] = "?";

	pfs_range_text(text, region->start, region->end);
	pfs_table_word(l->table, text);
	pfs_perms_text(perms, region);
	pfs_table_word(l->table, perms);
	pfs_table_known(l->table, KNOWS(region, PFS_F_OFF), region->off);
	if (KNOWS(region, PFS_F_DEV))
		snprintf(device, sizeof(device), "%02x:%02x", region->dev >> 20, region->dev & 0xfffff);
	pfs_table_word(l->table, device);
	pfs_table_known(l->table, KNOWS(region, PFS_F_INO), region->ino);
}

static void list_process(const struct layout *l, const struct pfs_epochs *at, uint64_t nr_gaps)
{
	const struct pfs_space *space = at->epoch->space;
	const char *vsyscall = vsyscall_of(l, space);
	const struct pfs_region *region;
	char since[32];
	unsigned int i = 0;

	while ((region = pfs_layout_next(space, &i))) {
		if (!is_shown(l, space, region))
			continue;
		pfs_table_number(l->table, at->proc->pid);
		add_region(l, space, region);
		pfs_table_number(l->table, nr_gaps);
		pfs_table_word(l->table, pfs_region_name(space, region) ? pfs_region_name(space, region) : "?");
		pfs_table_word(l->table, pfs_time_text(since, l->model, region->born_ns));
	}
	if (!vsyscall)
		return;
	pfs_table_number(l->table, at->proc->pid);
	pfs_table_word(l->table, "ffffffffff600000-ffffffffff601000");
	pfs_table_word(l->table, vsyscall);
	pfs_table_number(l->table, 0);
	pfs_table_word(l->table, "00:00");
	pfs_table_numbers(l->table, 0, nr_gaps);
	pfs_table_word(l->table, "[vsyscall]");
	pfs_table_word(l->table, "-");
}

static int put_data(struct layout *l, const struct pfs_epochs *start)
{
	struct pfs_gaps shown = pfs_gaps_shown(l->model, l->options->filter);
	struct pfs_epochs at = *start;
	struct pfs_json json;
	int ret;

	pfs_json_init(&json, l->options->out);
	if (l->options->format == PFS_VIEW_JSON)
		pfs_json_begin(&json, NULL, "{");
	l->table = pfs_table_new(columns);
	while (l->table && pfs_layouts_next(&at))
		list_process(l, &at, pfs_gaps_sum(pfs_gaps_before(shown, &at)).nr);
	ret = pfs_output_table(l->options, &json, l->table, "maps", NULL);
	if (l->options->format == PFS_VIEW_JSON)
		pfs_json_end(&json, "}\n");
	return ret;
}

int pfs_view_maps_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	struct pfs_epochs start = { .model = model, .filter = options->filter }, at = start;
	struct layout l = { .model = model, .options = options };

	if (!pfs_layouts_next(&at))
		return pfs_no_layout(model, options->filter, err);
	if (options->format == PFS_VIEW_TEXT)
		put_lines(&l, &start);
	else if (put_data(&l, &start))
		return pfs_err_set(err, -ENOMEM, "no memory for the layout");
	return pfs_output_end(options->out, "the layout", err);
}
