/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzz targets share: bytes become events, events go into a model and are written down as well, and a
 * view of the model is drawn, all of it to nowhere. As the commands do it, but for the files.
 *
 * Which view and which form is chosen by the length of the input, so that the same bytes always do the same.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "assemble/assemble.h"
#include "event/export.h"
#include "event/line.h"
#include "model/filter.h"
#include "model/model.h"
#include "reference/refs.h"
#include "reference/tapes.h"
#include "view/view.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

struct fuzz {
	struct pfs_model *model;
	struct pfs_filter filter;
	struct pfs_sink writer; /* fn NULL: events are not written */
	struct pfs_observer observer;
	struct pfs_export *export;
	struct pfs_refs *refs;
	struct pfs_tapes *tapes;
	unsigned int choice;
};

static inline ssize_t fuzz_swallow(void *cookie, const char *buf, size_t size)
{
	return size;
}

/* A stream that takes everything, one for all runs. */
static inline FILE *fuzz_nowhere(void)
{
	static FILE *out;

	if (!out)
		out = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = fuzz_swallow });
	if (!out)
		abort();
	return out;
}

static inline int fuzz_take(void *ctx, const struct pfs_event *ev)
{
	struct fuzz *f = ctx;
	struct pfs_outcome outcome;
	int err = pfs_filter_apply(&f->filter, f->model, ev, &outcome);

	if (!err && f->refs)
		err = f->observer.event(f->refs, ev, &outcome);
	return err || !f->writer.fn ? err : pfs_emit(&f->writer, ev);
}

static inline int fuzz_take_faults(void *ctx, const struct pfs_fault_run *runs, unsigned int nr)
{
	struct fuzz *f = ctx;
	int err = 0;

	if (!f->writer.fn)
		return pfs_filter_apply_faults(&f->filter, f->model, runs, nr, f->refs ? &f->observer : NULL);
	for (; nr && !err; runs++, nr--)
		for (uint32_t i = 0; i < runs->nr && !err; i++) {
			struct pfs_event ev;

			pfs_run_event(&ev, runs, i);
			err = fuzz_take(f, &ev);
		}
	return err;
}

/* Where the events of an input of that size go. */
static inline struct pfs_sink fuzz_begin(struct fuzz *f, size_t size)
{
	struct pfs_err err;

	*f = (struct fuzz){ .choice = size, .model = pfs_model_new() };
	if (!f->model)
		abort();
	switch (size % 16) { /* most runs without: those have large buffers */
	case 0:
	case 1:
	case 2:
		f->export = pfs_export_new(fuzz_nowhere(),
					   (const enum pfs_export_form[]){ PFS_EXPORT_LINES, PFS_EXPORT_CSV_SHOWN,
									   PFS_EXPORT_JSON }[size % 16]);
		f->writer = pfs_export_sink(f->export);
		break;
	case 3:
		pfs_filter_add(&f->filter, PFS_FILTER_REGION, "*[a-m]*", &err);
		pfs_filter_add(&f->filter, PFS_FILTER_FROM, "0.0001", &err);
		break;
	case 4:
		f->tapes =
			pfs_tapes_new(f->model, &(struct pfs_tape_options){ .stable = size & 16, .times = size & 32 });
		f->refs = pfs_refs_new(f->model, &(struct pfs_refs_options){ .filter = &f->filter }, pfs_tapes_add,
				       f->tapes);
		f->observer = pfs_refs_observer(f->refs);
		break;
	}
	return (struct pfs_sink){ .fn = fuzz_take, .ctx = f, .faults = fuzz_take_faults };
}

/* Draws, and frees all. */
static inline void fuzz_end(struct fuzz *f)
{
	unsigned int nr = 0;
	struct pfs_err err;

	while (pfs_views[nr].name)
		nr++;
	pfs_views[f->choice % nr].draw(f->model,
				       &(struct pfs_view_options){
					       .out = fuzz_nowhere(),
					       .width = f->choice % 5 ? 0 : 40 + f->choice % 200,
					       .color = f->choice & 1,
					       .terminal = f->choice & 2,
					       .all = f->choice & 4,
					       .format = f->choice / 8 % 3,
					       .filter = &f->filter,
				       },
				       &err);
	if (f->tapes) {
		pfs_refs_end(f->refs);
		pfs_tapes_finish(f->tapes, pfs_refs_stats(f->refs));
		if (pfs_tapes_write_text(f->tapes, fuzz_nowhere()))
			abort(); /* what we made ourselves is a tape */
	}
	fflush(fuzz_nowhere());
	pfs_tapes_free(f->tapes);
	pfs_refs_free(f->refs);
	pfs_export_free(f->export);
	pfs_filter_fini(&f->filter);
	pfs_model_free(f->model);
}

#endif
