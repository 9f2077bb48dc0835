/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `pfscope kmap` was asked for, and what it prints and draws of that. */
#ifndef PFS_KMAP_VIEWS_H
#define PFS_KMAP_VIEWS_H

#include "common/recorded.h"
#include "event/source.h"
#include "objects/objects.h"
#include "plot/plot.h"

#include <stdbool.h>
#include <stdio.h>

struct kmap_args {
	/* printing */
	const char *file;
	bool stats, flame, symbols, compat, salvage, bars;
	int by; /* + 1 enum pfs_flame_by; 0: not given */
	const char *vmlinux;
	unsigned int top;
	const char *plot; /* file; NULL: none */
	enum pfs_plot_format plot_format;
	struct pfs_plot_style style;
	const char *format;
	struct pfs_object_filter filter; /* recording: cache and size only */
	int32_t *pids;
	/* recording */
	bool records;
	struct run_args run;
	struct attach_args attach;
	struct pfs_object_choice choice;
	const struct pfs_source *source; /* NULL: the default */
	const char *module;		 /* of that source; or NULL */
	/* asking a recorder */
	const char *asks; /* of control_words; or NULL */
	pid_t recorder;	  /* 0: not given */
};

/* Gives the events to the sink. 0, or negative with err set. */
typedef int kmap_read_fn(const struct kmap_args *args, void *ctx, const struct pfs_sink *sink, struct pfs_err *err);

/* Of the file that was given. */
kmap_read_fn kmap_read_file;

/* Lines, folded stacks, or with stats tables. 0, or -errno with err set; so are the others. */
int kmap_print(const struct kmap_args *args, FILE *out, bool stats, kmap_read_fn *read, void *ctx, struct pfs_err *err);
int kmap_plot(struct kmap_args *args, struct pfs_err *err);
int kmap_bars(struct kmap_args *args, struct pfs_err *err);

#endif
