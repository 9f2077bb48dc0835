/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout in the form of /proc/PID/maps: fs/proc/task_mmu.c, show_map_vma().
 *
 *     7f5d58600000-7f5d58626000 r--p 00000000 fe:00 1234                       /usr/lib/libc.so.6
 *
 * What is not known is written as question marks, never guessed. One address space is printed as it
 * is, so that it can be compared with the kernel's; before each of several stands a line "# pid N".
 */
#include "base/escape.h"
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
	if (name && !name[0]) {
		fprintf(out, "%s\n", head);
		return;
	}
	fprintf(out, "%-*s ", NAME_COLUMN - 1, head);
	put_name(out, name ? name : "?", terminal);
	fputc('\n', out);
}

static void put_region(FILE *out, const struct pfs_space *space, const struct pfs_region *region, bool terminal)
{
	char range[40], perms[5], off[24] = "????????", dev[24] = "??:??", ino[24] = "?", head[160];

	pfs_range_text(range, region->start, region->end);
	pfs_perms_text(perms, region);
	if (KNOWS(region, PFS_F_OFF))
		snprintf(off, sizeof(off), "%08" PRIx64, region->off);
	if (KNOWS(region, PFS_F_DEV))
		snprintf(dev, sizeof(dev), "%02x:%02x", region->dev >> 20, region->dev & 0xfffff);
	if (KNOWS(region, PFS_F_INO))
		snprintf(ino, sizeof(ino), "%" PRIu64, region->ino);
	snprintf(head, sizeof(head), "%s %s %s %s %s ", range, perms, off, dev, ino);
	put_line(out, head, pfs_region_name(space, region), terminal);
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
 * The gate area is in no region tree; the note "vsyscall" has its permissions. A layout that was read from
 * /proc/PID/maps contains it already.
 */
static void put_vsyscall(FILE *out, const struct pfs_model *model, const struct pfs_space *space)
{
	const char *perms = pfs_model_note(model, "vsyscall");
	uint64_t top = top_of(space);
	char head[160];

	if (!perms || !space->complete || top > VSYSCALL || top <= UINT64_C(1) << 32)
		return;
	snprintf(head, sizeof(head), "ffffffffff600000-ffffffffff601000 %.4s 00000000 00:00 0 ", perms);
	put_line(out, head, "[vsyscall]", true);
}

/* ---- processes ---- */

static void put_space(const struct pfs_model *model, const struct pfs_view_options *options,
		      const struct pfs_space *space)
{
	const struct pfs_region *region;
	unsigned int i = 0;

	while ((region = pfs_layout_next(space, &i)))
		put_region(options->out, space, region, options->terminal);
	put_vsyscall(options->out, model, space);
}

/* Lost events may include changes of the layout. */
static void put_doubt(const struct pfs_model *model, const struct pfs_view_options *options,
		      const struct pfs_epochs *at)
{
	char lost[PFS_LOST_TEXT_MAX];

	if (pfs_lost_text(lost, pfs_gaps_before(pfs_gaps_shown(model, options->filter), at)))
		fprintf(options->out, "# may be wrong: %s\n", lost);
}

int pfs_view_maps_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	struct pfs_epochs start = { .model = model, .filter = options->filter }, at = start;
	unsigned int nr = 0;
	char comm[256];

	while (pfs_layouts_next(&at))
		nr++;
	if (!nr)
		return pfs_no_layout(model, options->filter, err);
	for (at = start; pfs_layouts_next(&at);) {
		pfs_escape(comm, sizeof(comm), pfs_epoch_comm(&at) ? pfs_epoch_comm(&at) : "?", 0);
		if (nr > 1)
			fprintf(options->out, "# pid %d %s\n", at.proc->pid, comm);
		put_doubt(model, options, &at);
		put_space(model, options, at.epoch->space);
	}
	return pfs_output_end(options->out, "the layout", err);
}
