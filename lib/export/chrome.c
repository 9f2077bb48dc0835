/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chrome's trace events (JSON; "Trace Event Format"), which chrome://tracing, Perfetto and others open: a fault is an instant
 * event of its thread with a stack frame, regions are asynchronous slices, charts are counters. Written as they come.
 */
#include "export/viewer_priv.h"

#include <inttypes.h>

struct chrome {
	uint64_t nr_regions;
};

/* Microseconds, exact. */
static void put_us(struct pfs_json *json, const char *key, uint64_t ns)
{
	char *p = put_dec(pfs_json_next(json, key), ns / 1000);

	if (ns % 1000) {
		*p++ = '.';
		p = put_digits(p, ns % 1000, 3);
	}
	pfs_json_done(json, p);
}

static void put_hex_word(struct pfs_json *json, const char *key, uint64_t value)
{
	char *p = put_text(pfs_json_next(json, key), "\"0x");

	p = put_hex(p, value);
	*p++ = '"';
	pfs_json_done(json, p);
}

static void begin_event(struct pfs_viewer *viewer, const char *phase, int32_t pid, int32_t tid, uint64_t ts_ns)
{
	struct pfs_json *json = &viewer->json;

	pfs_json_line(json, "\n");
	pfs_json_begin(json, NULL, "{");
	pfs_json_word(json, "ph", phase);
	pfs_json_i64(json, "pid", pid);
	pfs_json_i64(json, "tid", tid);
	put_us(json, "ts", viewer_ns(viewer, ts_ns));
}

static void put_known(struct pfs_json *json, const char *key, const char *word)
{
	if (*word)
		pfs_json_word(json, key, word);
}

static int begin(struct pfs_viewer *viewer)
{
	pfs_json_begin(&viewer->json, NULL, "{");
	pfs_json_begin(&viewer->json, "traceEvents", "[");
	return 0;
}

static int put_fault(struct pfs_viewer *viewer, const struct viewer_fault *f)
{
	const struct viewer_thread *thread = &viewer->threads[f->thread];
	struct pfs_json *json = &viewer->json;

	begin_event(viewer, "i", thread->pid, thread->tid, f->ts_ns);
	pfs_json_word(json, "s", "t");
	pfs_json_word(json, "name", f->class == PFS_MAJOR_CLASS ? "Major fault" : "Fault");
	pfs_json_word(json, "cat", "fault");
	if (f->call)
		pfs_json_u64(json, "sf", f->call);
	pfs_json_begin(json, "args", "{");
	put_hex_word(json, "address", f->addr);
	pfs_json_string(json, "region", f->region);
	if (f->has_off)
		put_hex_word(json, "offset", f->off);
	put_known(json, "access", viewer_access[f->access]);
	put_known(json, "mode", viewer_word(PFS_F_MODE, f->mode));
	put_known(json, "class", viewer_word(PFS_F_CLASS, f->class));
	put_known(json, "how", viewer_word(PFS_F_HOW, f->how));
	put_known(json, "fault_class", viewer_class(f->label));
	put_known(json, "fault_class_witness", viewer_witness(f->label, f->how));
	if (f->latency_ns)
		pfs_json_u64(json, "latency_ns", f->latency_ns);
	if (f->sig)
		pfs_json_i64(json, "signal", f->sig);
	pfs_json_end(json, "}");
	pfs_json_end(json, "}");
	return 0;
}

static int count_page(struct pfs_viewer *viewer, const struct viewer_page *page)
{
	return 0;
}

static int put_region(struct pfs_viewer *viewer, const struct viewer_region *r)
{
	struct chrome *chrome = viewer->state;
	int32_t pid = viewer->procs[r->proc]->pid;
	struct pfs_json *json = &viewer->json;
	char range[VIEWER_RANGE_MAX];

	chrome->nr_regions++;
	for (int end = 0; end < 2; end++) {
		begin_event(viewer, end ? "e" : "b", pid, pid, end ? r->died_ns : r->born_ns);
		/* With "id" alone it is no process's for Perfetto. */
		pfs_json_begin(json, "id2", "{");
		pfs_json_format(json, "local", "\"%" PRIu64 "\"", chrome->nr_regions);
		pfs_json_end(json, "}");
		pfs_json_string(json, "name", r->name);
		pfs_json_word(json, "cat", "region");
		if (!end) {
			pfs_json_begin(json, "args", "{");
			pfs_json_word(json, "range", viewer_range(range, r));
			pfs_json_word(json, "permissions", r->perms);
			if (r->has_off)
				put_hex_word(json, "offset", r->off);
			pfs_json_u64(json, "faults", r->faults);
			pfs_json_end(json, "}");
		}
		pfs_json_end(json, "}");
	}
	return 0;
}

static int put_lost(struct pfs_viewer *viewer, const struct pfs_loss *loss, uint64_t from_ns, uint64_t to_ns)
{
	struct pfs_json *json = &viewer->json;

	begin_event(viewer, "X", 0, loss->cpu >= 0 ? loss->cpu : 0, from_ns);
	put_us(json, "dur", to_ns - from_ns);
	pfs_json_word(json, "name", "lost events");
	pfs_json_word(json, "cat", "lost");
	pfs_json_begin(json, "args", "{");
	if (!loss->unknown)
		pfs_json_u64(json, "count", loss->count);
	if (loss->cpu >= 0)
		pfs_json_i64(json, "cpu", loss->cpu);
	pfs_json_end(json, "}");
	pfs_json_end(json, "}");
	return 0;
}

static void put_counter(struct pfs_viewer *viewer, const struct viewer_proc *proc, uint64_t ts_ns, const char *name,
			const char *unit, int64_t value)
{
	struct pfs_json *json = &viewer->json;

	begin_event(viewer, "C", proc->pid, proc->pid, ts_ns);
	pfs_json_word(json, "name", name);
	pfs_json_begin(json, "args", "{");
	pfs_json_i64(json, unit, value);
	pfs_json_end(json, "}");
	pfs_json_end(json, "}");
}

static void put_bins(struct pfs_viewer *viewer, const struct viewer_proc *proc)
{
	struct viewer_moment moment = { 0 };

	while (viewer_moment_next(viewer, proc, &moment)) {
		if (moment.new_resident)
			put_counter(viewer, proc, moment.ts_ns, "resident", "bytes", moment.resident);
		if (moment.new_rate)
			put_counter(viewer, proc, moment.ts_ns, "faults/s", "faults", moment.rate);
	}
}

static void put_name(struct pfs_viewer *viewer, const char *what, int32_t pid, int32_t tid, const char *name)
{
	struct pfs_json *json = &viewer->json;

	begin_event(viewer, "M", pid, tid, 0);
	pfs_json_word(json, "name", what);
	pfs_json_begin(json, "args", "{");
	pfs_json_string(json, "name", name);
	pfs_json_end(json, "}");
	pfs_json_end(json, "}");
}

/* Frames by the numbers of their paths. */
static void put_frames(struct pfs_viewer *viewer)
{
	struct pfs_json *json = &viewer->json;
	char id[16];

	pfs_json_begin(json, "stackFrames", "{");
	for (uint32_t i = 1; i < viewer->calls.nr_calls; i++) {
		const struct viewer_place *place = viewer_place_of(viewer, i);

		snprintf(id, sizeof(id), "%u", i);
		pfs_json_line(json, "\n");
		pfs_json_begin(json, id, "{");
		pfs_json_string(json, "name", place->name);
		pfs_json_string(json, "category", place->module);
		if (viewer->calls.calls[i].parent)
			pfs_json_u64(json, "parent", viewer->calls.calls[i].parent);
		pfs_json_end(json, "}");
	}
	pfs_json_end(json, "}");
}

static int end(struct pfs_viewer *viewer)
{
	struct pfs_json *json = &viewer->json;

	for (uint32_t i = 0; i < viewer->nr_procs; i++) {
		const struct viewer_proc *proc = viewer->procs[i];

		put_bins(viewer, proc);
		put_name(viewer, "process_name", proc->pid, proc->pid, proc->name ? proc->name : "?");
	}
	for (uint32_t i = 0; i < viewer->nr_threads; i++)
		put_name(viewer, "thread_name", viewer->threads[i].pid, viewer->threads[i].tid,
			 viewer->threads[i].comm);
	pfs_json_end(json, "]");
	put_frames(viewer);
	pfs_json_word(json, "displayTimeUnit", "ns");
	pfs_json_begin(json, "otherData", "{");
	pfs_json_word(json, "version", "pfscope " PFS_VERSION);
	pfs_json_string(json, "command", viewer_title(viewer));
	pfs_json_end(json, "}");
	pfs_json_end(json, "}");
	pfs_json_drain(&viewer->json);
	fputc('\n', viewer->out);
	return 0;
}

const struct viewer_format viewer_chrome = {
	.size = sizeof(struct chrome),
	.begin = begin,
	.fault = put_fault,
	.page = count_page,
	.region = put_region,
	.lost = put_lost,
	.end = end,
};
