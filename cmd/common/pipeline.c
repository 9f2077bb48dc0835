/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/pipeline.h"

#include <errno.h>
#include <unistd.h>

/* The layout and the life of processes are passed on in any case: without them no touch has a place. */
static int take(void *ctx, const struct pfs_event *ev)
{
	struct pipeline *p = ctx;
	struct pfs_outcome outcome;
	int err = pfs_filter_apply(p->filter, p->model, ev, &outcome);

	if (err || (outcome.muted && pfs_kind_is(ev, PFS_KIND_FILTERED)))
		return err;
	return p->observer.event ? p->observer.event(p->observer.ctx, ev, &outcome) : 0;
}

static int take_faults(void *ctx, const struct pfs_fault_run *runs, unsigned int nr)
{
	struct pipeline *p = ctx;

	return pfs_filter_apply_faults(p->filter, p->model, runs, nr, p->observer.event ? &p->observer : NULL);
}

static int write_event(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct pipeline *p = ctx;

	p->nr_written += ev->kind != PFS_NOTE;
	return pfs_emit(&p->writer, ev);
}

static int write_faults(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *outcome)
{
	struct pipeline *p = ctx;

	p->nr_written++;
	return p->writer.faults(p->writer.ctx, run, 1);
}

int pipeline_init(struct pipeline *p, const struct pfs_filter *filter, enum pfs_export_form form, FILE *out,
		  struct pfs_err *err)
{
	*p = (struct pipeline){ .filter = filter };
	p->model = pfs_model_new();
	if (!p->model)
		goto no_memory;
	if (form == PFS_EXPORT_CSV && isatty(fileno(out)))
		form = PFS_EXPORT_CSV_SHOWN;
	if (form) {
		p->export = pfs_export_new(out, form);
		if (!p->export)
			goto no_memory;
		p->writer = pfs_export_sink(p->export);
	}
	if (p->writer.fn)
		p->observer = (struct pfs_observer){ write_event, p->writer.faults ? write_faults : NULL, p };
	return 0;
no_memory:
	pipeline_fini(p);
	return pfs_err_set(err, -ENOMEM, "no memory for the model");
}

void pipeline_fini(struct pipeline *p)
{
	pfs_export_free(p->export);
	pfs_model_free(p->model);
}

/* ---- several observers ---- */

static int pass_event(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct pipeline *p = ctx;
	int err = 0;

	for (unsigned int i = 0; !err && i < p->nr_observers; i++)
		err = p->observers[i].event(p->observers[i].ctx, ev, outcome);
	return err;
}

static int pass_faults(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *outcome)
{
	struct pipeline *p = ctx;
	int err = 0;

	for (unsigned int i = 0; !err && i < p->nr_observers; i++)
		err = p->observers[i].faults(p->observers[i].ctx, run, outcome);
	return err;
}

void pipeline_observe(struct pipeline *p, struct pfs_observer observer)
{
	bool runs = true;

	p->observers[p->nr_observers++] = observer;
	for (unsigned int i = 0; i < p->nr_observers; i++)
		runs &= !!p->observers[i].faults;
	p->observer =
		p->nr_observers == 1 ? observer : (struct pfs_observer){ pass_event, runs ? pass_faults : NULL, p };
}

struct pfs_sink pipeline_sink(struct pipeline *p)
{
	bool runs = (!p->observer.event || p->observer.faults) && !p->filter->labelled;

	return (struct pfs_sink){ .fn = take, .ctx = p, .faults = runs ? take_faults : NULL };
}

int pipeline_flush(struct pipeline *p)
{
	return p->export ? pfs_export_flush(p->export) : 0;
}
