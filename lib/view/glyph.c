/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of glyphs and the pen that writes them: see bars_priv.h.
 */
#include "view/bars_priv.h"

#include "classes/classes.h"

#include <inttypes.h>
#include <string.h>

/* Classes beyond those, and none. */
enum { OTHER = PFS_PAGE_NR_LABELS - 1 };
_Static_assert(OTHER == (int)PFS_CLASS_SIGNAL, "every class before it has a mark");

struct style {
	char dense, sparse;
	const char *color, *faint; /* for most and for few of a cell's pages */
	const char *what;	   /* legend */
};

static const struct style styles[PFS_NR_GLYPHS] = {
	[PFS_GLYPH_SIGNAL] = { '!', '!', "\033[1;97;41m", "\033[97;41m", "ended in a signal" },
	[PFS_GLYPH_MAJOR] = { 'M', 'm', "\033[30;43m", "\033[33m", "major: read from disk" },
	[PFS_GLYPH_BOTH] = { 'B', 'b', "\033[1;35m", "\033[35m", "read and written" },
	[PFS_GLYPH_WRITE] = { 'W', 'w', "\033[1;31m", "\033[31m", "written" },
	[PFS_GLYPH_EXEC] = { 'X', 'x', "\033[1;94m", "\033[94m", "executed" },
	[PFS_GLYPH_READ] = { 'R', 'r', "\033[1;32m", "\033[32m", "read" },
	[PFS_GLYPH_TOUCHED] = { 'T', 't', "\033[1m", "\033[37m", "touched, access unknown" },
	[PFS_GLYPH_KERNEL] = { 'K', 'k', "\033[1;33m", "\033[33m", "by the kernel only" },
	[PFS_GLYPH_HUGE] = { 'H', 'h', "\033[1;95m", "\033[95m", "rest of a huge page" },
	[PFS_GLYPH_POPULATED] = { 'P', 'p', "\033[1;36m", "\033[36m", "populated" },
	[PFS_GLYPH_REFERENCED] = { 'A', 'a', "\033[1;37m", "\033[37m", "accessed" },
	[PFS_GLYPH_AROUND] = { '+', '+', "\033[36m", "\033[2;36m", "fault-around" },
	[PFS_GLYPH_MAYBE_AROUND] = { '<', '<', "\033[2;36m", "\033[2;36m", "at most: may be mapped by fault-around" },
	[PFS_GLYPH_MAYBE] = { '?', '?', "\033[35m", "\033[2;35m",
			      "not known: a huge page or userfaultfd may have mapped it, or it was not observed" },
	[PFS_GLYPH_NONE] = { '.', '.', "\033[2m", "\033[2m", "untouched" },
#define CLASS(name, letter, small, color) \
	[PFS_GLYPH_CLASS + PFS_CLASS_##name] = { letter, small, "\033[1;" color "m", "\033[" color "m", NULL }
	CLASS(ANON, 'N', 'n', "31"),
	CLASS(ZERO, 'Z', 'z', "36"),
	CLASS(COW_ZERO, 'Y', 'y', "91"),
	CLASS(COW_FILE, 'C', 'c', "35"),
	CLASS(COW_FORK, 'F', 'f', "95"),
	CLASS(FILE_READ, 'R', 'r', "32"),
	CLASS(FILE_WRITE, 'W', 'w', "34"),
	CLASS(SHARED, 'S', 's', "94"),
	CLASS(SWAP, 'I', 'i', "33"),
	CLASS(NUMA, 'M', 'm', "33"),
	CLASS(HUGE, 'G', 'g', "95"),
	CLASS(USERFAULTFD, 'U', 'u', "96"),
	CLASS(HIDDEN, 'D', 'd', "90"),
	CLASS(KERNEL, 'K', 'k', "93"),
	[PFS_GLYPH_CLASS + OTHER] = { 'O', 'o', "\033[1m", "\033[2m", "other: unknown, EFAULT, or tried again" },
};

static enum pfs_glyph touched_glyph(uint32_t flags)
{
	if (flags & PFS_PAGE_SIGNAL)
		return PFS_GLYPH_SIGNAL;
	if (flags & PFS_PAGE_MAJOR)
		return PFS_GLYPH_MAJOR;
	if (flags & PFS_PAGE_KERNEL && !(flags & PFS_PAGE_USER))
		return PFS_GLYPH_KERNEL;
	if (flags & PFS_PAGE_WRITE)
		return flags & (PFS_PAGE_READ | PFS_PAGE_EXEC) ? PFS_GLYPH_BOTH : PFS_GLYPH_WRITE;
	if (flags & PFS_PAGE_EXEC)
		return PFS_GLYPH_EXEC;
	return flags & PFS_PAGE_READ ? PFS_GLYPH_READ : PFS_GLYPH_TOUCHED;
}

enum pfs_glyph pfs_glyph_of(uint32_t flags)
{
	if (flags & PFS_PAGE_TOUCHED)
		return touched_glyph(flags);
	if (flags & PFS_PAGE_HUGE)
		return PFS_GLYPH_HUGE;
	if (flags & PFS_PAGE_POPULATED)
		return PFS_GLYPH_POPULATED;
	if (flags & PFS_PAGE_REFERENCED)
		return PFS_GLYPH_REFERENCED;
	if (flags & PFS_PAGE_AROUND)
		return PFS_GLYPH_AROUND;
	if (flags & PFS_PAGE_MAYBE_AROUND)
		return PFS_GLYPH_MAYBE_AROUND;
	return flags & PFS_PAGE_MAYBE ? PFS_GLYPH_MAYBE : PFS_GLYPH_NONE;
}

/* ---- the pen ---- */

static void switch_to(struct pfs_pen *pen, const char *color)
{
	if (!pen->color || pen->current == color)
		return;
	if (pen->current)
		fputs("\033[0m", pen->out);
	if (color)
		fputs(color, pen->out);
	pen->current = color;
}

void pfs_pen_lift(struct pfs_pen *pen)
{
	switch_to(pen, NULL);
}

/* What a page is drawn as that nothing happened to. */
static enum pfs_glyph nothing(const struct pfs_pen *pen)
{
	return pen->unobserved ? PFS_GLYPH_MAYBE : PFS_GLYPH_NONE;
}

/* The class of most pages; of as many, a copy, which comes after what it was made of. *nr: of how many classes there are any. */
static enum pfs_glyph class_of(const struct pfs_cell *cell, unsigned int *nr)
{
	const uint64_t *count = &cell->count[PFS_GLYPH_CLASS];
	unsigned int best = PFS_CLASS_COW_ZERO;

	*nr = 0;
	for (unsigned int i = 0; i < PFS_PAGE_NR_LABELS; i++) {
		unsigned int class = (PFS_CLASS_COW_ZERO + i) % PFS_PAGE_NR_LABELS;

		*nr += !!count[class];
		if (count[class] > count[best])
			best = class;
	}
	return PFS_GLYPH_CLASS + best;
}

static void put_glyph(struct pfs_pen *pen, enum pfs_glyph glyph, bool dense)
{
	const struct style *style = &styles[glyph];

	switch_to(pen, dense ? style->color : style->faint);
	fputc(dense ? style->dense : style->sparse, pen->out);
	pen->used |= 1u << glyph;
}

void pfs_pen_cell(struct pfs_pen *pen, const struct pfs_cell *cell, uint64_t nr_pages)
{
	enum pfs_glyph best = 0, glyph;
	unsigned int nr_classes;
	uint64_t count;
	bool dense;

	glyph = class_of(cell, &nr_classes);
	if (nr_classes && !cell->count[PFS_GLYPH_SIGNAL]) {
		put_glyph(pen, glyph, nr_classes == 1);
		pen->mixed_used |= nr_classes > 1;
		return;
	}
	while (best < PFS_GLYPH_NONE && !cell->count[best])
		best++;
	if (best == PFS_GLYPH_NONE)
		best = nothing(pen);
	count = cell->count[best];
	if (best <= PFS_GLYPH_KERNEL) /* all that faulted count, whatever the kind */
		for (glyph = best + 1; glyph <= PFS_GLYPH_KERNEL; glyph++)
			count += cell->count[glyph];
	dense = count > nr_pages / 2;
	put_glyph(pen, best, dense);
	pen->sparse_used |= !dense && styles[best].dense != styles[best].sparse;
}

void pfs_pen_untouched(struct pfs_pen *pen, uint64_t nr)
{
	if (!nr)
		return;
	switch_to(pen, styles[nothing(pen)].color);
	for (; nr; nr--)
		fputc(styles[nothing(pen)].dense, pen->out);
	pen->used |= 1u << nothing(pen);
}

void pfs_pen_fold(struct pfs_pen *pen, uint64_t nr_pages)
{
	char number[8];

	char mark = pen->unobserved ? '?' : '~';

	switch_to(pen, styles[nothing(pen)].color);
	if (nr_pages)
		fprintf(pen->out, "%c%s%c", mark, pfs_short_number(number, nr_pages), mark);
	else
		fputc(mark, pen->out);
	pen->fold_used |= !pen->unobserved;
	pen->used |= pen->unobserved ? 1u << PFS_GLYPH_MAYBE : 0;
}

void pfs_put_page_glyph(FILE *out, uint32_t flags, bool color)
{
	struct pfs_pen pen = { .out = out, .color = color };
	struct pfs_cell cell = { 0 };

	pfs_cell_add(&cell, flags, 1);
	pfs_pen_cell(&pen, &cell, 1);
	pfs_pen_lift(&pen);
}

/* ---- the legend ---- */

void pfs_pen_legend(const struct pfs_pen *pen, struct pfs_list *list)
{
	for (unsigned int i = 0; i < PFS_NR_GLYPHS; i++) {
		if (!(pen->used >> i & 1))
			continue;
		list->start = pfs_color_on(pen->color, styles[i].color);
		list->end = pfs_color_off(pen->color);
		pfs_list_add(list, "%c %s", styles[i].dense, styles[i].what ?: pfs_class_names[i - PFS_GLYPH_CLASS]);
	}
	list->start = list->end = NULL;
	if (pen->fold_used)
		pfs_list_add(list, "~ untouched, folded");
	if (pen->scale_used)
		pfs_list_add(list, "xN: a cell is N pages");
	if (pen->mixed_used)
		pfs_list_add(list, "lower case: other classes, too");
	if (pen->sparse_used)
		pfs_list_add(list, "lower case%s: at most half of the cell's pages",
			     pen->mixed_used ? " of the others" : "");
}
