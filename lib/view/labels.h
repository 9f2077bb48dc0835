/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How views write what they show: names of rows, numbers, times, lists that wrap.
 */
#ifndef PFS_LABELS_H
#define PFS_LABELS_H

#include <stdio.h>

#include "base/units.h"
#include "view/rows.h"

/* As pfs_region_kind(); "(no known region)" where there is none. */
const char *pfs_label_kind(const struct pfs_row *row);

/* Room for any path, with each byte escaped. */
enum { PFS_LABEL_MAX = 4 * 4096 + 1 };

/* The row's name, escaped for printing, whole. Returns buf. */
const char *pfs_label(const struct pfs_row *row, char *buf, size_t size);

/* The same, but a region without a name of its own has its address: "anon 7f1c40000000"; a group their number. */
const char *pfs_label_place(const struct pfs_row *row, char *buf, size_t size);

/* Just the file's name of a label that is a path; any other label as it is. */
const char *pfs_label_base(const char *label);

/* Writes s in exactly `columns` columns; if it is too long, its head, or its tail (for paths). */
void pfs_put_fitted(FILE *out, const char *s, unsigned int columns, bool tail);

/* The bar of a row and the mark of its scale, in exactly `columns` columns (at least 8). */
void pfs_put_row_bar(FILE *out, const struct pfs_row *row, const struct pfs_model *model, unsigned int columns,
		     bool color);

/* The character of one page by its flags, and of an untouched one (0), in its colour. */
void pfs_put_page_glyph(FILE *out, uint32_t flags, bool color);

/* "rw-p"; "????" if unknown. */
void pfs_perms_text(char text[5], const struct pfs_region *region);

/* "40000000-40019000", as /proc/PID/maps does it. */
void pfs_range_text(char text[40], uint64_t start, uint64_t end);

/* Seconds since the start of the recording, "0.001204"; "-0.000010" for what came before. */
const char *pfs_time_text(char buf[32], const struct pfs_model *model, uint64_t ns);

/*
 * What the recording's kernel did not report, in words ("pages mapped by fault-around"), from its notes: the next
 * one from *at on, which begins with 0. NULL: no more.
 */
const char *pfs_lack_next(const struct pfs_model *model, unsigned int *at, char *buf, size_t size);

/* What a list of them begins with: whether the kernel or the source has them not. */
const char *pfs_lacks_title(const struct pfs_model *model);

/* A list whose items are never broken: lines end before `width`, later lines start indented. */
struct pfs_list {
	FILE *out; /* NULL: it is only measured */
	unsigned int width, indent;
	const char *margin;	 /* of later lines, a part of the indent; NULL: none */
	const char *separator;	 /* between items */
	const char *start, *end; /* written around each item, or NULL: colours */
	bool first_word;	 /* around its first word only */
	unsigned int column;	 /* columns written on this line */
	unsigned int nr;	 /* items on this line */
	unsigned int lines;	 /* that are ended */
};

void pfs_list_add(struct pfs_list *list, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void pfs_list_end(struct pfs_list *list);

/* Colours of everything but glyphs; each "" without colour. */
const char *pfs_color_on(bool color, const char *sgr);
const char *pfs_color_off(bool color);

#endif
