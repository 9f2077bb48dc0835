/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Firefox Profiler's processed format, version 66 (firefox-devtools/profiler, src/types/profile.ts and
 * docs-developer/CHANGELOG-formats.md). A fault is a sample and a marker of its thread. The pages of a process come and go
 * as native allocations of its first thread, so that the viewer shows retained memory of any selected time. Regions are
 * markers of a thread of their own.
 *
 * The columns of a table stand one behind the other: they are written into temporary files, and come together at the end.
 */
#include "export/firefox_priv.h"

#include "base/array.h"

#include <errno.h>

/* Of the faults of a thread, of the pages of a process, of its regions. */
enum { FAULT_STACK, FAULT_TIME, FAULT_NAME, FAULT_CATEGORY, FAULT_DATA, NR_FAULT_COLUMNS };
enum { PAGE_TIME, PAGE_WEIGHT, PAGE_STACK, PAGE_ADDRESS, PAGE_TID, NR_PAGE_COLUMNS };
enum { REGION_DATA, REGION_NAME, REGION_START, REGION_END, REGION_CATEGORY, NR_REGION_COLUMNS };

static int begin(struct pfs_viewer *viewer)
{
	struct firefox *f = viewer->state;
	int ret = viewer_spool_init(&f->faults, &viewer->err);

	if (!ret)
		ret = viewer_spool_init(&f->pages, &viewer->err);
	return ret ? ret : viewer_spool_init(&f->regions, &viewer->err);
}

/* ---- a row of each table: a value a column ---- */

struct row {
	struct pfs_viewer *viewer;
	struct viewer_spool *spool;
	uint32_t column; /* the next one */
	int ret;
	struct pfs_json json; /* a value, the comma before it included */
	char value[1024];
};

static void begin_row(struct row *row, struct pfs_viewer *viewer, struct viewer_spool *spool, uint32_t first_column)
{
	row->viewer = viewer;
	row->spool = spool;
	row->column = first_column;
	row->ret = 0;
}

static struct pfs_json *begin_value(struct row *row)
{
	pfs_json_init_memory(&row->json, row->value);
	row->json.comma = true;
	return &row->json;
}

static void end_value(struct row *row)
{
	if (!row->ret)
		row->ret = viewer_spool_add(row->spool, row->column++, row->value, row->json.p - row->value,
					    &row->viewer->err);
}

static void put_fault_data(struct pfs_viewer *viewer, struct pfs_json *json, const struct viewer_fault *f)
{
	pfs_json_begin(json, NULL, "{");
	pfs_json_word(json, "type", "PageFault");
	put_address(json, "addr", f->addr);
	pfs_json_u64(json, "region", firefox_string(viewer, f->region));
	if (f->has_off)
		put_address(json, "offset", f->off);
	put_unknown(viewer, json, "access", viewer_access[f->access]);
	put_unknown(viewer, json, "mode", viewer_word(PFS_F_MODE, f->mode));
	put_unknown(viewer, json, "class", viewer_word(PFS_F_CLASS, f->class));
	put_unknown(viewer, json, "how", viewer_word(PFS_F_HOW, f->how));
	put_unknown(viewer, json, "faultClass", viewer_class(f->label));
	put_unknown(viewer, json, "faultClassWitness", viewer_witness(f->label, f->how));
	if (f->latency_ns)
		put_ms(json, "latency", f->latency_ns);
	if (f->sig)
		pfs_json_i64(json, "signal", f->sig);
	if (f->call) {
		pfs_json_begin(json, "cause", "{");
		put_stack(json, "stack", f->call);
		pfs_json_end(json, "}");
	}
	pfs_json_end(json, "}");
}

static int put_fault(struct pfs_viewer *viewer, const struct viewer_fault *fault)
{
	struct firefox *f = viewer->state;
	bool major = fault->class == PFS_MAJOR_CLASS;
	struct row row;

	begin_row(&row, viewer, &f->faults, fault->thread * NR_FAULT_COLUMNS);
	put_stack(begin_value(&row), NULL, fault->call);
	end_value(&row);
	put_ms(begin_value(&row), NULL, viewer_ns(viewer, fault->ts_ns));
	end_value(&row);
	pfs_json_u64(begin_value(&row), NULL, firefox_string(viewer, major ? "Major fault" : "Fault"));
	end_value(&row);
	pfs_json_u64(begin_value(&row), NULL, major ? MAJOR : MINOR);
	end_value(&row);
	put_fault_data(viewer, begin_value(&row), fault);
	end_value(&row);
	return row.ret;
}

static int put_page(struct pfs_viewer *viewer, const struct viewer_page *page)
{
	struct firefox *f = viewer->state;
	int64_t size = INT64_C(1) << viewer->page_shift;
	struct row row;

	begin_row(&row, viewer, &f->pages, page->proc * NR_PAGE_COLUMNS);
	put_ms(begin_value(&row), NULL, viewer_ns(viewer, page->ts_ns));
	end_value(&row);
	pfs_json_i64(begin_value(&row), NULL, page->came ? size : -size);
	end_value(&row);
	put_stack(begin_value(&row), NULL, page->call);
	end_value(&row);
	pfs_json_u64(begin_value(&row), NULL,
		     page->addr < PFS_JSON_EXACT_MAX ? page->addr : page->addr >> viewer->page_shift);
	end_value(&row);
	pfs_json_i64(begin_value(&row), NULL, viewer->threads[page->thread].tid);
	end_value(&row);
	return row.ret;
}

static void put_region_data(struct pfs_json *json, const struct viewer_region *r)
{
	char range[VIEWER_RANGE_MAX];

	pfs_json_begin(json, NULL, "{");
	pfs_json_word(json, "type", "Region");
	pfs_json_word(json, "range", viewer_range(range, r));
	pfs_json_word(json, "perms", r->perms);
	pfs_json_u64(json, "size", r->end - r->start);
	if (r->has_off)
		put_address(json, "offset", r->off);
	pfs_json_u64(json, "faults", r->faults);
	pfs_json_end(json, "}");
}

static int put_region(struct pfs_viewer *viewer, const struct viewer_region *region)
{
	struct firefox *f = viewer->state;
	struct row row;

	begin_row(&row, viewer, &f->regions, region->proc * NR_REGION_COLUMNS);
	put_region_data(begin_value(&row), region);
	end_value(&row);
	pfs_json_u64(begin_value(&row), NULL, firefox_string(viewer, region->name));
	end_value(&row);
	put_ms(begin_value(&row), NULL, viewer_ns(viewer, region->born_ns));
	end_value(&row);
	put_ms(begin_value(&row), NULL, viewer_ns(viewer, region->died_ns));
	end_value(&row);
	pfs_json_u64(begin_value(&row), NULL, REGION);
	end_value(&row);
	return row.ret;
}

static int put_lost(struct pfs_viewer *viewer, const struct pfs_loss *loss, uint64_t from_ns, uint64_t to_ns)
{
	struct firefox *f = viewer->state;
	struct loss *added = pfs_array_add(f->losses, f->nr_losses, f->max_losses);

	if (!added)
		return -ENOMEM;
	*added = (struct loss){ viewer_ns(viewer, from_ns), viewer_ns(viewer, to_ns), loss };
	return 0;
}

/* ---- columns ---- */

static int copy_values(void *ctx, const void *bytes, size_t nr)
{
	struct pfs_json *json = ctx;
	bool first = !json->comma;

	pfs_json_drain(json);
	fwrite_unlocked((const char *)bytes + first, 1, nr - first, json->out);
	json->comma = true;
	return 0;
}

static int put_values(struct pfs_viewer *viewer, struct viewer_spool *spool, uint32_t column)
{
	return viewer_spool_each(spool, column, copy_values, &viewer->json, &viewer->err);
}

static int put_column(struct pfs_viewer *viewer, const char *name, struct viewer_spool *spool, uint32_t column)
{
	int ret;

	pfs_json_line(&viewer->json, "\n");
	pfs_json_begin(&viewer->json, name, "[");
	ret = put_values(viewer, spool, column);
	pfs_json_end(&viewer->json, "]");
	return ret;
}

/* ---- threads ---- */

enum { DATA, NAME, START, END, PHASE, CATEGORY, NR_COLUMNS };

/* Of markers: one of the spool, or the same for all. */
struct column {
	uint32_t nr;
	const char *same;
};

static void put_pauses(struct pfs_viewer *viewer)
{
	const struct firefox *f = viewer->state;
	struct pfs_json *json = &viewer->json;

	pfs_json_begin(json, "pausedRanges", "[");
	for (uint32_t i = 0; i < f->nr_losses; i++) {
		pfs_json_begin(json, NULL, "{");
		put_ms(json, "startTime", f->losses[i].from_ns);
		put_ms(json, "endTime", f->losses[i].to_ns);
		pfs_json_word(json, "reason", "collecting");
		pfs_json_end(json, "}");
	}
	pfs_json_end(json, "]");
}

static void put_lifetime(struct pfs_viewer *viewer, const char *begin, const char *end, uint64_t born_ns,
			 uint64_t died_ns)
{
	put_ms(&viewer->json, begin, viewer_ns(viewer, born_ns));
	if (died_ns != UINT64_MAX)
		put_ms(&viewer->json, end, viewer_ns(viewer, died_ns));
	else
		put_null(&viewer->json, end);
}

/* What all threads begin with. thread NULL: the regions of the process. */
static void begin_thread(struct pfs_viewer *viewer, const struct viewer_proc *proc, const struct viewer_thread *thread,
			 const char *name, bool is_main, const char *tid)
{
	struct pfs_json *json = &viewer->json;
	uint64_t born_ns = proc->main ? viewer->threads[proc->main - 1].born_ns : 0;
	char pid[VIEWER_PID_MAX];

	pfs_json_line(json, "\n");
	pfs_json_begin(json, NULL, "{");
	pfs_json_string(json, "name", name);
	pfs_json_bool(json, "isMainThread", is_main);
	pfs_json_word(json, "processType", "default");
	pfs_json_string(json, "processName", proc->name);
	put_lifetime(viewer, "processStartupTime", "processShutdownTime", born_ns, proc->died_ns);
	put_lifetime(viewer, "registerTime", "unregisterTime", thread ? thread->born_ns : born_ns,
		     thread ? thread->died_ns : proc->died_ns);
	pfs_json_bool(json, "showMarkersInTimeline", true);
	pfs_json_word(json, "pid", viewer_pid(pid, proc));
	pfs_json_word(json, "tid", tid);
	put_pauses(viewer);
}

/* The regions have none. */
static int put_samples(struct pfs_viewer *viewer, const uint32_t *thread)
{
	struct firefox *f = viewer->state;
	struct pfs_json *json = &viewer->json;
	uint32_t first = thread ? *thread * NR_FAULT_COLUMNS : UINT32_MAX - NR_FAULT_COLUMNS;
	int ret;

	pfs_json_begin(json, "samples", "{");
	ret = put_column(viewer, "stack", &f->faults, first + FAULT_STACK)
		      ?: put_column(viewer, "time", &f->faults, first + FAULT_TIME);
	put_null(json, "weight");
	pfs_json_word(json, "weightType", "samples");
	pfs_json_u64(json, "length", viewer_spool_count(&f->faults, first));
	pfs_json_end(json, "}");
	return ret;
}

static void put_losses(struct pfs_viewer *viewer, int column)
{
	struct firefox *f = viewer->state;
	struct pfs_json *json = &viewer->json;

	for (uint32_t i = 0; i < f->nr_losses; i++) {
		const struct loss *loss = &f->losses[i];

		switch (column) {
		case DATA:
			pfs_json_begin(json, NULL, "{");
			pfs_json_word(json, "type", "Lost");
			if (!loss->loss->unknown)
				pfs_json_u64(json, "count", loss->loss->count);
			if (loss->loss->cpu >= 0)
				pfs_json_u64(json, "cpu", loss->loss->cpu);
			pfs_json_end(json, "}");
			break;
		case NAME:
			pfs_json_u64(json, NULL, firefox_string(viewer, "Lost events"));
			break;
		case START:
			put_ms(json, NULL, loss->from_ns);
			break;
		case END:
			put_ms(json, NULL, loss->to_ns);
			break;
		case PHASE:
			pfs_json_u64(json, NULL, 1);
			break;
		default:
			pfs_json_u64(json, NULL, LOST);
		}
	}
}

/* Markers from the columns of the spool from `first` on; with `losses`, those before them. */
static int put_markers(struct pfs_viewer *viewer, struct viewer_spool *spool, uint32_t first,
		       const struct column *columns, bool losses)
{
	static const char *const names[NR_COLUMNS] = { "data", "name", "startTime", "endTime", "phase", "category" };
	const uint64_t nr = viewer_spool_count(spool, first);
	struct firefox *f = viewer->state;
	struct pfs_json *json = &viewer->json;
	int ret = 0;

	pfs_json_begin(json, "markers", "{");
	for (int i = 0; !ret && i < NR_COLUMNS; i++) {
		pfs_json_line(json, "\n");
		pfs_json_begin(json, names[i], "[");
		if (losses)
			put_losses(viewer, i);
		if (!columns[i].same)
			ret = put_values(viewer, spool, first + columns[i].nr);
		for (uint64_t k = 0; columns[i].same && k < nr; k++)
			pfs_json_raw(json, NULL, columns[i].same);
		pfs_json_end(json, "]");
	}
	pfs_json_u64(json, "length", nr + (losses ? f->nr_losses : 0));
	pfs_json_end(json, "}");
	return ret;
}

static int put_allocations(struct pfs_viewer *viewer, uint32_t proc)
{
	struct firefox *f = viewer->state;
	struct viewer_spool *spool = &f->pages;
	struct pfs_json *json = &viewer->json;
	uint32_t first = proc * NR_PAGE_COLUMNS;
	int ret;

	if (!viewer_spool_count(spool, first))
		return 0;
	pfs_json_begin(json, "nativeAllocations", "{");
	ret = put_column(viewer, "time", spool, first + PAGE_TIME)
		      ?: put_column(viewer, "weight", spool, first + PAGE_WEIGHT);
	pfs_json_word(json, "weightType", "bytes");
	if (!ret)
		ret = put_column(viewer, "stack", spool, first + PAGE_STACK) ?:
		      put_column(viewer, "memoryAddress", spool, first + PAGE_ADDRESS) ?:
		      put_column(viewer, "threadId", spool, first + PAGE_TID);
	pfs_json_u64(json, "length", viewer_spool_count(spool, first));
	pfs_json_end(json, "}");
	return ret;
}

static int put_thread(struct pfs_viewer *viewer, uint32_t nr, bool is_main)
{
	static const struct column columns[NR_COLUMNS] = {
		[DATA] = { FAULT_DATA },    [NAME] = { FAULT_NAME },   [START] = { FAULT_TIME },
		[END] = { .same = "null" }, [PHASE] = { .same = "0" }, [CATEGORY] = { FAULT_CATEGORY },
	};
	struct firefox *f = viewer->state;
	const struct viewer_thread *thread = &viewer->threads[nr];
	char tid[16];
	int ret;

	snprintf(tid, sizeof(tid), "%d", thread->tid);
	begin_thread(viewer, viewer->procs[thread->proc], thread, thread->comm, is_main, tid);
	ret = put_samples(viewer, &nr);
	if (!ret)
		ret = put_markers(viewer, &f->faults, nr * NR_FAULT_COLUMNS, columns, is_main);
	if (!ret && is_main)
		ret = put_allocations(viewer, thread->proc);
	pfs_json_end(&viewer->json, "}");
	return ret;
}

static int put_regions(struct pfs_viewer *viewer, uint32_t nr, bool is_main)
{
	static const struct column columns[NR_COLUMNS] = {
		[DATA] = { REGION_DATA }, [NAME] = { REGION_NAME },  [START] = { REGION_START },
		[END] = { REGION_END },	  [PHASE] = { .same = "1" }, [CATEGORY] = { REGION_CATEGORY },
	};
	struct firefox *f = viewer->state;
	int ret;

	begin_thread(viewer, viewer->procs[nr], NULL, "regions", is_main, "regions");
	ret = put_samples(viewer, NULL);
	if (!ret)
		ret = put_markers(viewer, &f->regions, nr * NR_REGION_COLUMNS, columns, is_main);
	pfs_json_end(&viewer->json, "}");
	return ret;
}

/* All threads of a process, the first one first, then its regions. *nr: threads in the file so far. */
static int put_process(struct pfs_viewer *viewer, uint32_t proc, uint32_t *const *threads_of, const uint32_t *nr_of,
		       uint32_t *nr)
{
	struct firefox *f = viewer->state;
	uint32_t first = *nr;
	int ret = 0;

	f->main_index[proc] = UINT32_MAX;
	for (uint32_t i = 0; !ret && i < nr_of[proc]; i++)
		ret = put_thread(viewer, threads_of[proc][i], (*nr)++ == first);
	if (!ret && viewer_spool_count(&f->regions, proc * NR_REGION_COLUMNS))
		ret = put_regions(viewer, proc, (*nr)++ == first);
	if (*nr > first)
		f->main_index[proc] = first;
	return ret;
}

/* Threads by process: they have numbers in the order of their first events. */
static int put_threads(struct pfs_viewer *viewer)
{
	struct firefox *f = viewer->state;
	uint32_t **threads_of = calloc(viewer->nr_procs + 1, sizeof(*threads_of));
	uint32_t *nr_of = calloc(viewer->nr_procs + 1, sizeof(*nr_of));
	uint32_t nr = 0;
	int ret;

	f->main_index = calloc(viewer->nr_procs + 1, sizeof(*f->main_index));
	ret = threads_of && nr_of && f->main_index ? 0 : -ENOMEM;
	for (uint32_t i = 0; !ret && i < viewer->nr_threads; i++) {
		uint32_t proc = viewer->threads[i].proc;
		uint32_t *added;

		if (!viewer->threads[i].nr_faults && viewer->procs[proc]->main != i + 1)
			continue;
		added = pfs_array_append(threads_of[proc], nr_of[proc]);
		if (added)
			*added = i;
		else
			ret = -ENOMEM;
	}
	pfs_json_begin(&viewer->json, "threads", "[");
	for (uint32_t i = 0; !ret && i < viewer->nr_procs; i++)
		ret = put_process(viewer, i, threads_of, nr_of, &nr);
	pfs_json_end(&viewer->json, "]");
	for (uint32_t i = 0; threads_of && i < viewer->nr_procs; i++)
		free(threads_of[i]);
	free(threads_of);
	free(nr_of);
	return ret;
}

/* ---- charts ---- */

static int64_t bin_value(const struct pfs_viewer *viewer, const struct viewer_bin *bin, bool memory)
{
	return memory ? bin->pages * (INT64_C(1) << viewer->model->page_shift) : bin->faults;
}

/* When the bin begins, or all ends. */
static uint64_t moment_of(const struct pfs_viewer *viewer, uint32_t bin)
{
	uint64_t ns = (uint64_t)bin << viewer->bin_shift, end_ns = firefox_end_ns(viewer);

	return ns < end_ns ? ns : end_ns;
}

static void put_tooltip_row(struct pfs_json *json, const char *source, const char *unit, const char *label)
{
	pfs_json_begin(json, NULL, "{");
	pfs_json_word(json, "type", "value");
	pfs_json_word(json, "source", source);
	pfs_json_begin(json, "format", "{");
	pfs_json_word(json, "unit", unit);
	pfs_json_end(json, "}");
	pfs_json_word(json, "label", label);
	pfs_json_end(json, "}");
}

/* A sample has what came since the one before: a bin is the sample at its end. There is none before its first one. */
static void put_counter(struct pfs_viewer *viewer, uint32_t nr, bool memory)
{
	const char *unit = memory ? "bytes" : "number";
	const struct firefox *f = viewer->state;
	const struct viewer_proc *proc = viewer->procs[nr];
	struct pfs_json *json = &viewer->json;
	uint32_t first = viewer_ns(viewer, proc->first_ns) >> viewer->bin_shift;
	uint32_t last = viewer_ns(viewer, proc->last_ns) >> viewer->bin_shift;
	uint32_t nr_samples = last - first + (moment_of(viewer, last + 1) < firefox_end_ns(viewer) ? 3 : 2);
	const struct viewer_bin *bins = &proc->bins[first];
	char pid[VIEWER_PID_MAX];

	pfs_json_line(json, "\n");
	pfs_json_begin(json, NULL, "{");
	pfs_json_word(json, "name", memory ? "resident" : "faults");
	pfs_json_word(json, "category", memory ? "Memory" : "Faults");
	pfs_json_word(json, "description", memory ? "Resident pages that faults brought" : "Page faults");
	pfs_json_word(json, "pid", viewer_pid(pid, proc));
	pfs_json_u64(json, "mainThreadIndex", f->main_index[nr]);
	pfs_json_begin(json, "display", "{");
	pfs_json_word(json, "graphType", memory ? "line-accumulated" : "line-rate");
	pfs_json_word(json, "unit", memory ? "bytes" : "");
	pfs_json_word(json, "color", memory ? "orange" : "blue");
	if (memory)
		pfs_json_word(json, "markerSchemaLocation", "timeline-memory");
	else
		put_null(json, "markerSchemaLocation");
	pfs_json_u64(json, "sortWeight", memory ? 20 : 10);
	pfs_json_word(json, "label", memory ? "Resident memory" : "Faults");
	pfs_json_begin(json, "tooltipRows", "[");
	put_tooltip_row(json, memory ? "accumulated" : "count", unit, memory ? "resident at this time" : "faults here");
	put_tooltip_row(json, memory ? "count-range" : "committed-range-total", unit,
			memory ? "range in the graph" : "faults in the visible range");
	pfs_json_end(json, "]");
	pfs_json_end(json, "}");
	pfs_json_begin(json, "samples", "{");
	PUT_ARRAY(json, "time", nr_samples, put_ms(json, NULL, moment_of(viewer, first + i)));
	PUT_ARRAY(json, "count", nr_samples,
		  pfs_json_i64(json, NULL, i && i <= last - first + 1 ? bin_value(viewer, &bins[i - 1], memory) : 0));
	pfs_json_u64(json, "length", nr_samples);
	pfs_json_end(json, "}");
	pfs_json_end(json, "}");
}

static int end(struct pfs_viewer *viewer)
{
	struct firefox *f = viewer->state;
	struct pfs_json *json = &viewer->json;
	uint32_t *lib_of = calloc(viewer->calls.nr_places + 1, sizeof(*lib_of)), nr_libs = 0;
	uint32_t *func_of = calloc(viewer->calls.nr_places + 1, sizeof(*func_of));
	int ret = lib_of && func_of ? firefox_functions(&viewer->calls, func_of) : -ENOMEM;

	pfs_json_begin(json, NULL, "{");
	firefox_meta(viewer);
	pfs_json_line(json, "\n");
	if (!ret)
		ret = firefox_libs(viewer, lib_of, &nr_libs);
	pfs_json_line(json, "\n");
	if (!ret)
		ret = put_threads(viewer);
	pfs_json_line(json, "\n");
	pfs_json_begin(json, "counters", "[");
	for (uint32_t i = 0; !ret && i < viewer->nr_procs; i++)
		if (viewer->procs[i]->first_ns != UINT64_MAX && f->main_index[i] != UINT32_MAX) {
			put_counter(viewer, i, true);
			put_counter(viewer, i, false);
		}
	pfs_json_end(json, "]");
	pfs_json_line(json, "\n");
	if (!ret)
		firefox_shared(viewer, lib_of, nr_libs, func_of);
	pfs_json_end(json, "}");
	pfs_json_drain(&viewer->json);
	fputc('\n', viewer->out);
	free(lib_of);
	free(func_of);
	return ret ? ret : f->failed ? -ENOMEM : 0;
}

static void fini(struct pfs_viewer *viewer)
{
	struct firefox *f = viewer->state;

	viewer_spool_fini(&f->faults);
	viewer_spool_fini(&f->pages);
	viewer_spool_fini(&f->regions);
	PFS_HASH_FREE(f->strings);
	free(f->losses);
	free(f->main_index);
}

const struct viewer_format viewer_firefox = {
	.size = sizeof(struct firefox),
	.begin = begin,
	.fault = put_fault,
	.page = put_page,
	.region = put_region,
	.lost = put_lost,
	.end = end,
	.fini = fini,
};
