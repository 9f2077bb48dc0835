/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Firefox Profiler's processed format, version 66 (firefox-devtools/profiler, src/types/profile.ts and
 * docs-developer/CHANGELOG-formats.md). A fault is a sample and a marker of its thread. The pages of a process come and go
 * as native allocations of its first thread, so that the viewer shows retained memory of any selected time. Regions are
 * markers of a thread of their own.
 *
 * The columns of a table stand one behind the other: faults wait in a temporary file until the end.
 */
#include "export/spool.h"
#include "export/viewer_priv.h"

#include "base/array.h"
#include "base/hash.h"

#include <errno.h>
#include <inttypes.h>

enum { VERSION = 66, GECKO_VERSION = 24 };
enum { OTHER, USER, KERNEL, MINOR, MAJOR, REGION, LOST };

static const struct {
	const char *name, *color;
} categories[] = {
	[OTHER] = { "Other", "grey" },		[USER] = { "User", "blue" },	    [KERNEL] = { "Kernel", "orange" },
	[MINOR] = { "Fault", "lightblue" },	[MAJOR] = { "Major fault", "red" }, [REGION] = { "Region", "green" },
	[LOST] = { "Lost events", "darkgrey" },
};

struct fault {
	uint64_t ts_ns, addr, off, latency_ns;
	uint32_t call, region;
	int32_t sig;
	uint8_t access, mode, class, how;
	bool has_off;
};

struct allocation {
	uint64_t ts_ns, addr;
	uint32_t call;
	int32_t tid;
	bool came;
};

struct firefox {
	struct viewer_spool faults;	 /* by thread */
	struct viewer_spool allocations; /* by process */
	struct viewer_spool regions;	 /* by process */
	struct string_slot {
		const char *key;
		uint32_t nr;
		UT_hash_handle hh;
	} * strings;
	const char **order; /* the strings by their numbers */
	uint32_t nr_strings, max_strings;
	struct loss {
		uint64_t from_ns, to_ns;
		const struct pfs_loss *loss;
	} * losses;
	uint32_t nr_losses, max_losses;
	uint32_t *main_index; /* of each process: number of its first thread in the file; UINT32_MAX: none */
	bool failed;	      /* a string was not added */
};

static int begin(struct pfs_viewer *viewer)
{
	struct firefox *f = viewer->state;
	int ret = viewer_spool_init(&f->faults, sizeof(struct fault), &viewer->err);

	if (!ret)
		ret = viewer_spool_init(&f->allocations, sizeof(struct allocation), &viewer->err);
	return ret ? ret : viewer_spool_init(&f->regions, sizeof(struct viewer_region), &viewer->err);
}

/* The number of a string that lives as long as the viewer. */
static uint32_t string(struct pfs_viewer *viewer, const char *s)
{
	struct firefox *f = viewer->state;
	struct string_slot *slot = PFS_HASH_GET(f->strings, key, s);
	const char **added;

	if (slot && !slot->nr) { /* plus 1 */
		added = pfs_array_add(f->order, f->nr_strings, f->max_strings);
		if (added) {
			*added = s;
			slot->nr = f->nr_strings;
		}
	}
	if (slot && slot->nr)
		return slot->nr - 1;
	f->failed = true;
	return 0;
}

static int put_fault(struct pfs_viewer *viewer, const struct viewer_fault *fault)
{
	struct firefox *f = viewer->state;
	struct fault record = {
		.ts_ns = viewer_ns(viewer, fault->ts_ns),
		.addr = fault->addr,
		.off = fault->off,
		.latency_ns = fault->latency_ns,
		.call = fault->call,
		.region = string(viewer, fault->region),
		.sig = fault->sig,
		.access = fault->access,
		.mode = fault->mode,
		.class = fault->class,
		.how = fault->how,
		.has_off = fault->has_off,
	};

	return viewer_spool_add(&f->faults, fault->thread, &record, &viewer->err);
}

static int put_page(struct pfs_viewer *viewer, const struct viewer_page *page)
{
	struct firefox *f = viewer->state;
	struct allocation record = {
		.ts_ns = viewer_ns(viewer, page->ts_ns),
		.addr = page->addr < PFS_JSON_EXACT_MAX ? page->addr : page->addr >> viewer->page_shift,
		.call = page->call,
		.tid = viewer->threads[page->thread].tid,
		.came = page->came,
	};

	return viewer_spool_add(&f->allocations, page->proc, &record, &viewer->err);
}

static int put_region(struct pfs_viewer *viewer, const struct viewer_region *region)
{
	struct firefox *f = viewer->state;

	return viewer_spool_add(&f->regions, region->proc, region, &viewer->err);
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

/* ---- values ---- */

/* Milliseconds, exact. */
static void put_ms(struct pfs_json *json, const char *key, uint64_t ns)
{
	char *p = put_dec(pfs_json_next(json, key), ns / 1000000);

	if (ns % 1000000) {
		*p++ = '.';
		p = put_digits(p, ns % 1000000, 6);
	}
	pfs_json_done(json, p);
}

static void put_null(struct pfs_json *json, const char *key)
{
	pfs_json_raw(json, key, "null");
}

/* The path's number in the stack table; path 0 is none. */
static void put_stack(struct pfs_json *json, const char *key, uint32_t call)
{
	if (call)
		pfs_json_u64(json, key, call - 1);
	else
		put_null(json, key);
}

static void put_unknown(struct pfs_viewer *viewer, const char *key, const char *word)
{
	if (*word)
		pfs_json_u64(&viewer->json, key, string(viewer, word));
}

/* ---- columns of a table, from records ---- */

typedef int (*record_fn)(void *viewer, const void *record);

static int put_column(struct pfs_viewer *viewer, const char *name, struct viewer_spool *spool, uint32_t owner,
		      record_fn fn)
{
	int ret;

	pfs_json_line(&viewer->json, "\n");
	pfs_json_begin(&viewer->json, name, "[");
	ret = viewer_spool_each(spool, owner, fn, viewer, &viewer->err);
	pfs_json_end(&viewer->json, "]");
	return ret;
}

#define COLUMN(name, record_type, ...)                                        \
	static int name(void *ctx, const void *record)                        \
	{                                                                     \
		struct pfs_viewer *viewer = ctx;                              \
		struct pfs_json *json = &viewer->json;                        \
		const struct record_type *r __attribute__((unused)) = record; \
                                                                              \
		__VA_ARGS__;                                                  \
		return 0;                                                     \
	}

COLUMN(fault_time, fault, put_ms(json, NULL, r->ts_ns))
COLUMN(fault_stack, fault, put_stack(json, NULL, r->call))
COLUMN(fault_name, fault,
       pfs_json_u64(json, NULL, string(viewer, r->class == PFS_MAJOR_CLASS ? "Major fault" : "Fault")))
COLUMN(fault_category, fault, pfs_json_u64(json, NULL, r->class == PFS_MAJOR_CLASS ? MAJOR : MINOR))
COLUMN(no_time, fault, put_null(json, NULL))
COLUMN(phase_instant, fault, pfs_json_u64(json, NULL, 0))
COLUMN(allocation_time, allocation, put_ms(json, NULL, r->ts_ns))
COLUMN(allocation_weight, allocation,
       pfs_json_format(json, NULL, "%s%" PRIu64, r->came ? "" : "-", UINT64_C(1) << viewer->page_shift))
COLUMN(allocation_stack, allocation, put_stack(json, NULL, r->call))
COLUMN(allocation_address, allocation, pfs_json_u64(json, NULL, r->addr))
COLUMN(allocation_tid, allocation, pfs_json_format(json, NULL, "%d", r->tid))
COLUMN(region_start, viewer_region, put_ms(json, NULL, viewer_ns(viewer, r->born_ns)))
COLUMN(region_end, viewer_region, put_ms(json, NULL, viewer_ns(viewer, r->died_ns)))
COLUMN(region_name, viewer_region, pfs_json_u64(json, NULL, string(viewer, r->name)))
COLUMN(region_category, viewer_region, pfs_json_u64(json, NULL, REGION))
COLUMN(phase_interval, viewer_region, pfs_json_u64(json, NULL, 1))

static int fault_data(void *ctx, const void *record)
{
	struct pfs_viewer *viewer = ctx;
	struct pfs_json *json = &viewer->json;
	const struct fault *r = record;

	pfs_json_begin(json, NULL, "{");
	pfs_json_word(json, "type", "PageFault");
	pfs_json_u64(json, "addr", r->addr);
	pfs_json_u64(json, "region", r->region);
	if (r->has_off)
		pfs_json_u64(json, "offset", r->off);
	put_unknown(viewer, "access", viewer_access[r->access]);
	put_unknown(viewer, "mode", viewer_mode[r->mode]);
	put_unknown(viewer, "class", viewer_class[r->class]);
	put_unknown(viewer, "how", viewer_how[r->how]);
	if (r->latency_ns)
		put_ms(json, "latency", r->latency_ns);
	if (r->sig)
		pfs_json_format(json, "signal", "%d", r->sig);
	if (r->call) {
		pfs_json_begin(json, "cause", "{");
		put_stack(json, "stack", r->call);
		pfs_json_end(json, "}");
	}
	pfs_json_end(json, "}");
	return 0;
}

static int region_data(void *ctx, const void *record)
{
	struct pfs_viewer *viewer = ctx;
	struct pfs_json *json = &viewer->json;
	const struct viewer_region *r = record;
	char range[64];

	snprintf(range, sizeof(range), "%" PRIx64 "-%" PRIx64, r->start, r->end);
	pfs_json_begin(json, NULL, "{");
	pfs_json_word(json, "type", "Region");
	pfs_json_word(json, "range", range);
	pfs_json_word(json, "perms", r->perms);
	pfs_json_u64(json, "size", r->end - r->start);
	if (r->has_off)
		pfs_json_u64(json, "offset", r->off);
	pfs_json_u64(json, "faults", r->faults);
	pfs_json_end(json, "}");
	return 0;
}

/* ---- tables ---- */

/* An array of the expression for each i below nr. */
#define PUT_ARRAY(json, key, nr, put)              \
	({                                         \
		uint32_t nr_ = (nr);               \
                                                   \
		pfs_json_line(json, "\n");         \
		pfs_json_begin(json, key, "[");    \
		for (uint32_t i = 0; i < nr_; i++) \
			put;                       \
		pfs_json_end(json, "]");           \
	})

static void put_fields(struct pfs_json *json, const char *const (*fields)[3])
{
	pfs_json_begin(json, "fields", "[");
	for (; (*fields)[0]; fields++) {
		pfs_json_begin(json, NULL, "{");
		pfs_json_word(json, "key", (*fields)[0]);
		pfs_json_word(json, "label", (*fields)[1]);
		pfs_json_word(json, "format", (*fields)[2]);
		pfs_json_end(json, "}");
	}
	pfs_json_end(json, "]");
}

static void put_schema(struct pfs_json *json, const char *name, const char *label, const char *description,
		       const char *const (*fields)[3])
{
	pfs_json_line(json, "\n");
	pfs_json_begin(json, NULL, "{");
	pfs_json_word(json, "name", name);
	pfs_json_word(json, "tooltipLabel", label);
	pfs_json_word(json, "tableLabel", label);
	pfs_json_word(json, "chartLabel", label);
	pfs_json_word(json, "description", description);
	pfs_json_begin(json, "display", "[");
	pfs_json_word(json, NULL, "marker-chart");
	pfs_json_word(json, NULL, "marker-table");
	pfs_json_word(json, NULL, "timeline-memory");
	pfs_json_end(json, "]");
	put_fields(json, fields);
	pfs_json_end(json, "}");
}

static void put_schemas(struct pfs_json *json)
{
	static const char *const fault[][3] = {
		{ "addr", "Address", "hexadecimal" },
		{ "region", "Region", "unique-string" },
		{ "offset", "Offset in the file", "hexadecimal" },
		{ "access", "Access", "unique-string" },
		{ "mode", "Mode", "unique-string" },
		{ "class", "Class", "unique-string" },
		{ "how", "Handled as", "unique-string" },
		{ "latency", "Latency", "duration" },
		{ "signal", "Ended in signal", "integer" },
		{ NULL },
	};
	static const char *const region[][3] = {
		{ "range", "Addresses", "string" },
		{ "perms", "Permissions", "string" },
		{ "size", "Size", "bytes" },
		{ "offset", "Offset in the file", "hexadecimal" },
		{ "faults", "Faults on its pages", "integer" },
		{ NULL },
	};
	static const char *const lost[][3] = {
		{ "count", "Events", "integer" },
		{ "cpu", "CPU", "integer" },
		{ NULL },
	};

	pfs_json_begin(json, "markerSchema", "[");
	put_schema(json, "PageFault", "{marker.data.region}", "A page fault", fault);
	put_schema(json, "Region", "{marker.name} {marker.data.perms}", "A region of the address space", region);
	put_schema(json, "Lost", "{marker.name}", "Events were lost here", lost);
	pfs_json_end(json, "]");
}

static void put_meta(struct pfs_viewer *viewer)
{
	struct pfs_json *json = &viewer->json;
	const char *uname = viewer_note(viewer, "uname"), *machine = viewer_note(viewer, "machine");

	pfs_json_begin(json, "meta", "{");
	pfs_json_u64(json, "interval", 1);
	pfs_json_u64(json, "startTime", 0); /* of the day: a recording does not have it */
	pfs_json_u64(json, "startTimeAsClockMonotonicNanosecondsSinceBoot", viewer->base_ns);
	pfs_json_u64(json, "processType", 0);
	pfs_json_string(json, "product", viewer_title(viewer));
	pfs_json_word(json, "importedFrom", "pfscope " PFS_VERSION);
	if (uname || machine)
		pfs_json_string(json, "oscpu", uname ? uname : machine);
	pfs_json_u64(json, "stackwalk", 1);
	pfs_json_u64(json, "version", GECKO_VERSION);
	pfs_json_u64(json, "preprocessedProfileVersion", VERSION);
	pfs_json_bool(json, "symbolicated", true);
	pfs_json_bool(json, "usesOnlyOneStackType", true);
	pfs_json_bool(json, "sourceCodeIsNotOnSearchfox", true);
	pfs_json_begin(json, "categories", "[");
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
		pfs_json_begin(json, NULL, "{");
		pfs_json_word(json, "name", categories[i].name);
		pfs_json_word(json, "color", categories[i].color);
		pfs_json_begin(json, "subcategories", "[");
		pfs_json_word(json, NULL, "Other");
		pfs_json_end(json, "]");
		pfs_json_end(json, "}");
	}
	pfs_json_end(json, "]");
	put_schemas(json);
	pfs_json_end(json, "}");
}

/*
 * Libraries are the modules of the places, each once: lib_of[] has the number of each place's, plus 1. 0 or -ENOMEM.
 */
static int put_libs(struct pfs_viewer *viewer, uint32_t *lib_of, uint32_t *nr)
{
	struct string_slot *slots = NULL;
	struct pfs_json *json = &viewer->json;
	int ret = 0;

	*nr = 0;
	pfs_json_begin(json, "libs", "[");
	for (uint32_t i = 0; !ret && i < viewer->calls.nr_places; i++) {
		const struct viewer_place *place = &viewer->calls.places[i];
		const char *key = *place->path ? place->path : place->module;
		struct string_slot *slot = *key ? PFS_HASH_GET(slots, key, key) : NULL;

		if (!slot) {
			ret = *key ? -ENOMEM : 0;
			continue;
		}
		if (!slot->nr) {
			slot->nr = ++*nr;
			pfs_json_line(json, "\n");
			pfs_json_begin(json, NULL, "{");
			pfs_json_word(json, "arch", "");
			pfs_json_string(json, "name", place->module);
			pfs_json_string(json, "path", key);
			pfs_json_string(json, "debugName", place->module);
			pfs_json_string(json, "debugPath", key);
			pfs_json_word(json, "breakpadId", "");
			if (*place->build_id)
				pfs_json_string(json, "codeId", place->build_id);
			else
				put_null(json, "codeId");
			pfs_json_end(json, "}");
		}
		lib_of[i] = slot->nr;
	}
	pfs_json_end(json, "]");
	PFS_HASH_FREE(slots);
	return ret;
}

/* The first place of the same function, of each. 0 or -ENOMEM. */
static int find_functions(const struct viewer_calls *calls, uint32_t *func_of)
{
	struct func_slot {
		struct {
			const char *name, *module;
		} key;
		uint32_t nr; /* plus 1 */
		UT_hash_handle hh;
	} *slots = NULL;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < calls->nr_places; i++) {
		const struct viewer_place *place = &calls->places[i];
		struct func_slot *slot = PFS_HASH_GET(slots, key, ((typeof(slots->key)){ place->name, place->module }));

		if (slot && !slot->nr)
			slot->nr = i + 1;
		if (slot)
			func_of[i] = slot->nr - 1;
		else
			ret = -ENOMEM;
	}
	PFS_HASH_FREE(slots);
	return ret;
}

/* Frames are places. So are functions and sources, but only the first place of each is used. */
static void put_shared(struct pfs_viewer *viewer, const uint32_t *lib_of, uint32_t nr_libs, const uint32_t *func_of)
{
	struct firefox *f = viewer->state;
	struct pfs_json *json = &viewer->json;
	const struct viewer_calls *calls = &viewer->calls;
	const struct viewer_place *places = calls->places;
	uint32_t nr = calls->nr_places, stacks = calls->nr_calls - 1, none = string(viewer, "");

	pfs_json_begin(json, "shared", "{");
	pfs_json_begin(json, "stackTable", "{");
	PUT_ARRAY(json, "frame", stacks, pfs_json_u64(json, NULL, calls->calls[i + 1].place));
	PUT_ARRAY(json, "prefixOffset", stacks,
		  pfs_json_u64(json, NULL, calls->calls[i + 1].parent ? i + 1 - calls->calls[i + 1].parent : 0));
	pfs_json_u64(json, "length", stacks);
	pfs_json_end(json, "}");
	pfs_json_begin(json, "frameTable", "{");
	PUT_ARRAY(json, "address", nr,
		  places[i].off < PFS_JSON_EXACT_MAX ? pfs_json_u64(json, NULL, places[i].off)
						     : pfs_json_raw(json, NULL, "-1"));
	PUT_ARRAY(json, "inlineDepth", nr, pfs_json_u64(json, NULL, 0));
	PUT_ARRAY(json, "category", nr, pfs_json_u64(json, NULL, places[i].kernel ? KERNEL : USER));
	PUT_ARRAY(json, "subcategory", nr, pfs_json_u64(json, NULL, 0));
	PUT_ARRAY(json, "func", nr, pfs_json_u64(json, NULL, func_of[i]));
	PUT_ARRAY(json, "nativeSymbol", nr, put_null(json, NULL));
	PUT_ARRAY(json, "innerWindowID", nr, pfs_json_u64(json, NULL, 0));
	PUT_ARRAY(json, "line", nr, places[i].line ? pfs_json_u64(json, NULL, places[i].line) : put_null(json, NULL));
	PUT_ARRAY(json, "column", nr, put_null(json, NULL));
	PUT_ARRAY(json, "originalLocation", nr, put_null(json, NULL));
	pfs_json_u64(json, "length", nr);
	pfs_json_end(json, "}");
	pfs_json_begin(json, "funcTable", "{");
	PUT_ARRAY(json, "name", nr, pfs_json_u64(json, NULL, string(viewer, places[i].name)));
	PUT_ARRAY(json, "isJS", nr, pfs_json_bool(json, NULL, false));
	PUT_ARRAY(json, "relevantForJS", nr, pfs_json_bool(json, NULL, false));
	PUT_ARRAY(json, "resource", nr,
		  lib_of[i] ? pfs_json_u64(json, NULL, lib_of[i] - 1) : pfs_json_raw(json, NULL, "-1"));
	PUT_ARRAY(json, "source", nr, *places[i].source ? pfs_json_u64(json, NULL, i) : put_null(json, NULL));
	PUT_ARRAY(json, "lineNumber", nr, put_null(json, NULL));
	PUT_ARRAY(json, "columnNumber", nr, put_null(json, NULL));
	PUT_ARRAY(json, "originalLocation", nr, put_null(json, NULL));
	pfs_json_u64(json, "length", nr);
	pfs_json_end(json, "}");
	pfs_json_begin(json, "resourceTable", "{");
	PUT_ARRAY(json, "lib", nr_libs, pfs_json_u64(json, NULL, i));
	pfs_json_line(json, "\n");
	pfs_json_begin(json, "name", "[");
	for (uint32_t i = 0, lib = 0; i < nr; i++)
		if (lib_of[i] > lib) {
			pfs_json_u64(json, NULL, string(viewer, places[i].module));
			lib = lib_of[i];
		}
	pfs_json_end(json, "]");
	PUT_ARRAY(json, "host", nr_libs, put_null(json, NULL));
	PUT_ARRAY(json, "type", nr_libs, pfs_json_u64(json, NULL, 1));
	pfs_json_u64(json, "length", nr_libs);
	pfs_json_end(json, "}");
	pfs_json_begin(json, "nativeSymbols", "{");
	PUT_ARRAY(json, "libIndex", 0, put_null(json, NULL));
	PUT_ARRAY(json, "address", 0, put_null(json, NULL));
	PUT_ARRAY(json, "name", 0, put_null(json, NULL));
	PUT_ARRAY(json, "functionSize", 0, put_null(json, NULL));
	pfs_json_u64(json, "length", 0);
	pfs_json_end(json, "}");
	pfs_json_begin(json, "sources", "{");
	PUT_ARRAY(json, "id", nr, put_null(json, NULL));
	PUT_ARRAY(json, "filename", nr,
		  pfs_json_u64(json, NULL, *places[i].source ? string(viewer, places[i].source) : none));
	PUT_ARRAY(json, "startLine", nr, pfs_json_u64(json, NULL, 1));
	PUT_ARRAY(json, "startColumn", nr, pfs_json_u64(json, NULL, 1));
	PUT_ARRAY(json, "sourceMapURL", nr, put_null(json, NULL));
	PUT_ARRAY(json, "content", nr, put_null(json, NULL));
	pfs_json_u64(json, "length", nr);
	pfs_json_end(json, "}");
	pfs_json_begin(json, "sourceLocationTable", "{");
	PUT_ARRAY(json, "source", 0, put_null(json, NULL));
	PUT_ARRAY(json, "line", 0, put_null(json, NULL));
	PUT_ARRAY(json, "column", 0, put_null(json, NULL));
	pfs_json_u64(json, "length", 0);
	pfs_json_end(json, "}");
	PUT_ARRAY(json, "stringArray", f->nr_strings, pfs_json_string(json, NULL, f->order[i]));
	pfs_json_end(json, "}");
}

/* ---- threads ---- */

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

/* What all threads begin with. tid NULL: that of `thread`. */
static void begin_thread(struct pfs_viewer *viewer, const struct viewer_proc *proc, const char *name, bool is_main,
			 const char *tid)
{
	struct pfs_json *json = &viewer->json;
	uint64_t from = proc->first_ns != UINT64_MAX ? viewer_ns(viewer, proc->first_ns) : 0;
	char pid[VIEWER_PID_MAX];

	pfs_json_line(json, "\n");
	pfs_json_begin(json, NULL, "{");
	pfs_json_string(json, "name", name);
	pfs_json_bool(json, "isMainThread", is_main);
	pfs_json_word(json, "processType", "default");
	pfs_json_string(json, "processName", proc->name);
	put_ms(json, "processStartupTime", from);
	put_null(json, "processShutdownTime");
	put_ms(json, "registerTime", from);
	put_null(json, "unregisterTime");
	pfs_json_bool(json, "showMarkersInTimeline", true);
	pfs_json_word(json, "pid", viewer_pid(pid, proc));
	pfs_json_word(json, "tid", tid);
	put_pauses(viewer);
}

static int put_samples(struct pfs_viewer *viewer, uint32_t owner)
{
	struct firefox *f = viewer->state;
	struct pfs_json *json = &viewer->json;
	int ret;

	pfs_json_begin(json, "samples", "{");
	ret = put_column(viewer, "stack", &f->faults, owner, fault_stack);
	if (!ret)
		ret = put_column(viewer, "time", &f->faults, owner, fault_time);
	put_null(json, "weight");
	pfs_json_word(json, "weightType", "samples");
	pfs_json_u64(json, "length", viewer_spool_count(&f->faults, owner));
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
		case 0:
			pfs_json_begin(json, NULL, "{");
			pfs_json_word(json, "type", "Lost");
			if (!loss->loss->unknown)
				pfs_json_u64(json, "count", loss->loss->count);
			if (loss->loss->cpu >= 0)
				pfs_json_u64(json, "cpu", loss->loss->cpu);
			pfs_json_end(json, "}");
			break;
		case 1:
			pfs_json_u64(json, NULL, string(viewer, "Lost events"));
			break;
		case 2:
			put_ms(json, NULL, loss->from_ns);
			break;
		case 3:
			put_ms(json, NULL, loss->to_ns);
			break;
		case 4:
			pfs_json_u64(json, NULL, 1);
			break;
		default:
			pfs_json_u64(json, NULL, LOST);
		}
	}
}

/* Markers of one kind of records; with `losses`, those before them. */
static int put_markers(struct pfs_viewer *viewer, struct viewer_spool *spool, uint32_t owner, const record_fn *columns,
		       bool losses)
{
	static const char *const names[] = { "data", "name", "startTime", "endTime", "phase", "category" };
	struct firefox *f = viewer->state;
	struct pfs_json *json = &viewer->json;
	int ret = 0;

	pfs_json_begin(json, "markers", "{");
	for (int i = 0; !ret && i < 6; i++) {
		pfs_json_line(json, "\n");
		pfs_json_begin(json, names[i], "[");
		if (losses)
			put_losses(viewer, i);
		ret = viewer_spool_each(spool, owner, columns[i], viewer, &viewer->err);
		pfs_json_end(json, "]");
	}
	pfs_json_u64(json, "length", viewer_spool_count(spool, owner) + (losses ? f->nr_losses : 0));
	pfs_json_end(json, "}");
	return ret;
}

static int put_allocations(struct pfs_viewer *viewer, uint32_t proc)
{
	struct firefox *f = viewer->state;
	struct viewer_spool *spool = &f->allocations;
	struct pfs_json *json = &viewer->json;
	int ret;

	if (!viewer_spool_count(spool, proc))
		return 0;
	pfs_json_begin(json, "nativeAllocations", "{");
	ret = put_column(viewer, "time", spool, proc, allocation_time);
	if (!ret)
		ret = put_column(viewer, "weight", spool, proc, allocation_weight);
	pfs_json_word(json, "weightType", "bytes");
	if (!ret)
		ret = put_column(viewer, "stack", spool, proc, allocation_stack);
	if (!ret)
		ret = put_column(viewer, "memoryAddress", spool, proc, allocation_address);
	if (!ret)
		ret = put_column(viewer, "threadId", spool, proc, allocation_tid);
	pfs_json_u64(json, "length", viewer_spool_count(spool, proc));
	pfs_json_end(json, "}");
	return ret;
}

static int put_thread(struct pfs_viewer *viewer, uint32_t nr, bool is_main)
{
	static const record_fn columns[] = {
		fault_data, fault_name, fault_time, no_time, phase_instant, fault_category
	};
	struct firefox *f = viewer->state;
	const struct viewer_thread *thread = &viewer->threads[nr];
	char tid[16];
	int ret;

	snprintf(tid, sizeof(tid), "%d", thread->tid);
	begin_thread(viewer, viewer->procs[thread->proc], thread->comm, is_main, tid);
	ret = put_samples(viewer, nr);
	if (!ret)
		ret = put_markers(viewer, &f->faults, nr, columns, is_main);
	if (!ret && is_main)
		ret = put_allocations(viewer, thread->proc);
	pfs_json_end(&viewer->json, "}");
	return ret;
}

static int put_regions(struct pfs_viewer *viewer, uint32_t nr, bool is_main)
{
	static const record_fn columns[] = { region_data, region_name,	  region_start,
					     region_end,  phase_interval, region_category };
	struct firefox *f = viewer->state;
	int ret;

	begin_thread(viewer, viewer->procs[nr], "regions", is_main, "regions");
	ret = put_samples(viewer, UINT32_MAX);
	if (!ret)
		ret = put_markers(viewer, &f->regions, nr, columns, is_main);
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
	if (!ret && viewer_spool_count(&f->regions, proc))
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
	return memory ? bin->pages * (INT64_C(1) << viewer->page_shift) : bin->faults;
}

static void put_counter(struct pfs_viewer *viewer, uint32_t nr, bool memory)
{
	const struct firefox *f = viewer->state;
	const struct viewer_proc *proc = viewer->procs[nr];
	struct pfs_json *json = &viewer->json;
	uint32_t first = viewer_ns(viewer, proc->first_ns) >> viewer->bin_shift;
	uint32_t last = viewer_ns(viewer, proc->last_ns) >> viewer->bin_shift, bins = last - first + 3;
	char pid[VIEWER_PID_MAX];

	/* One empty bin before, where there is room, and one behind. */
	first -= first > 0;
	bins = (last + 1 < VIEWER_BINS ? last + 1 : last) - first + 1;
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
	pfs_json_begin(json, NULL, "{");
	pfs_json_word(json, "type", "value");
	pfs_json_word(json, "source", memory ? "accumulated" : "count");
	pfs_json_begin(json, "format", "{");
	pfs_json_word(json, "unit", memory ? "bytes" : "number");
	pfs_json_end(json, "}");
	pfs_json_word(json, "label", memory ? "resident at this time" : "faults here");
	pfs_json_end(json, "}");
	pfs_json_end(json, "]");
	pfs_json_end(json, "}");
	pfs_json_begin(json, "samples", "{");
	PUT_ARRAY(json, "time", bins, put_ms(json, NULL, (uint64_t)(first + i) << viewer->bin_shift));
	PUT_ARRAY(json, "count", bins,
		  pfs_json_format(json, NULL, "%" PRId64, bin_value(viewer, &proc->bins[first + i], memory)));
	pfs_json_u64(json, "length", bins);
	pfs_json_end(json, "}");
	pfs_json_end(json, "}");
}

static int end(struct pfs_viewer *viewer)
{
	struct firefox *f = viewer->state;
	struct pfs_json *json = &viewer->json;
	uint32_t *lib_of = calloc(viewer->calls.nr_places + 1, sizeof(*lib_of)), nr_libs = 0;
	uint32_t *func_of = calloc(viewer->calls.nr_places + 1, sizeof(*func_of));
	int ret = lib_of && func_of ? find_functions(&viewer->calls, func_of) : -ENOMEM;

	pfs_json_begin(json, NULL, "{");
	put_meta(viewer);
	pfs_json_line(json, "\n");
	if (!ret)
		ret = put_libs(viewer, lib_of, &nr_libs);
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
		put_shared(viewer, lib_of, nr_libs, func_of);
	pfs_json_end(json, "}");
	fputc('\n', viewer->out);
	free(lib_of);
	free(func_of);
	return ret ? ret : f->failed ? -ENOMEM : 0;
}

static void fini(struct pfs_viewer *viewer)
{
	struct firefox *f = viewer->state;

	viewer_spool_fini(&f->faults);
	viewer_spool_fini(&f->allocations);
	viewer_spool_fini(&f->regions);
	PFS_HASH_FREE(f->strings);
	free(f->order);
	free(f->losses);
	free(f->main_index);
}

const struct viewer_format viewer_firefox = {
	.name = "firefox",
	.size = sizeof(struct firefox),
	.begin = begin,
	.fault = put_fault,
	.page = put_page,
	.region = put_region,
	.lost = put_lost,
	.end = end,
	.fini = fini,
};
