/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the events of a command go: through the filter into the model, and on to writers.
 */
#ifndef CMD_PIPELINE_H
#define CMD_PIPELINE_H

#include "event/export.h"
#include "event/line.h"
#include "model/filter.h"
#include "model/model.h"

enum { PIPELINE_MAX_OBSERVERS = 4 };

struct pipeline {
	struct pfs_model *model;
	const struct pfs_filter *filter;
	struct pfs_export *export;    /* or NULL */
	struct pfs_sink writer;	      /* the export's */
	uint64_t nr_written;	      /* events and runs of faults, without notes */
	struct pfs_observer observer; /* passes events to the writer, or to those below; of zeroes: none */
	struct pfs_observer observers[PIPELINE_MAX_OBSERVERS];
	unsigned int nr_observers;
};

/* filter is borrowed. Events are also written to `out` in that form. 0 or -ENOMEM with err set. */
int pipeline_init(struct pipeline *p, const struct pfs_filter *filter, enum pfs_export_form form, FILE *out,
		  struct pfs_err *err);
void pipeline_fini(struct pipeline *p);

/* Every event that passes the filter goes there, too, after the model, instead of being written. */
void pipeline_observe(struct pipeline *p, struct pfs_observer observer);

/* The sink of the whole. It returns -ECANCELED when nothing more is wanted. */
struct pfs_sink pipeline_sink(struct pipeline *p);

/* Writes out what was gathered. 0 or -errno. */
int pipeline_flush(struct pipeline *p);

#endif
