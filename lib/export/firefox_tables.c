/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Firefox Profiler's format: what the file is, libraries, functions, frames, stacks and strings (firefox.c has the rest). */
#include "export/firefox_priv.h"

#include <errno.h>
#include <inttypes.h>

enum { VERSION = 66, GECKO_VERSION = 24 };

static const struct {
	const char *name, *color;
} categories[] = {
	[OTHER] = { "Other", "grey" },		[USER] = { "User", "blue" },	    [KERNEL] = { "Kernel", "orange" },
	[MINOR] = { "Fault", "lightblue" },	[MAJOR] = { "Major fault", "red" }, [REGION] = { "Region", "green" },
	[LOST] = { "Lost events", "darkgrey" },
};

/* The number of a string that lives as long as the viewer. */
uint32_t firefox_string(struct pfs_viewer *viewer, const char *s)
{
	struct firefox *f = viewer->state;
	typeof(&f->recent[0]) recent = &f->recent[((uintptr_t)s ^ (uintptr_t)s >> 6) % 64];
	bool added;
	uint32_t nr;

	if (recent->s == s)
		return recent->nr;
	nr = viewer_string_number(&f->strings, s, &added);
	f->failed |= !nr;
	recent->s = s;
	return recent->nr = nr ? nr - 1 : 0;
}

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
		{ "addr", "Address", "string" },
		{ "region", "Region", "unique-string" },
		{ "offset", "Offset in the file", "string" },
		{ "access", "Access", "unique-string" },
		{ "mode", "Mode", "unique-string" },
		{ "class", "Class", "unique-string" },
		{ "how", "Handled as", "unique-string" },
		{ "faultClass", "What the kernel had to do", "unique-string" },
		{ "faultClassWitness", "That is", "unique-string" },
		{ "latency", "Latency", "duration" },
		{ "signal", "Ended in signal", "integer" },
		{ NULL },
	};
	static const char *const region[][3] = {
		{ "range", "Addresses", "string" },
		{ "perms", "Permissions", "string" },
		{ "size", "Size", "bytes" },
		{ "offset", "Offset in the file", "string" },
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

void firefox_meta(struct pfs_viewer *viewer)
{
	struct pfs_json *json = &viewer->json;
	const char *uname = viewer_note(viewer, "uname"), *machine = viewer_note(viewer, "machine");

	pfs_json_begin(json, "meta", "{");
	put_ms(json, "interval", UINT64_C(1) << viewer->bin_shift); /* how wide a sample is drawn */
	pfs_json_u64(json, "startTime", 0);			    /* of the day: a recording does not have it */
	put_ms(json, "profilingStartTime", viewer_ns(viewer, viewer->first_ns));
	put_ms(json, "profilingEndTime", firefox_end_ns(viewer) + 1); /* what is then is not shown */
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

static void put_lib(struct pfs_json *json, const struct viewer_place *place)
{
	pfs_json_line(json, "\n");
	pfs_json_begin(json, NULL, "{");
	pfs_json_word(json, "arch", "");
	pfs_json_string(json, "name", place->module);
	pfs_json_string(json, "path", viewer_file(place));
	pfs_json_string(json, "debugName", place->module);
	pfs_json_string(json, "debugPath", viewer_file(place));
	pfs_json_word(json, "breakpadId", "");
	if (*place->build_id)
		pfs_json_string(json, "codeId", place->build_id);
	else
		put_null(json, "codeId");
	pfs_json_end(json, "}");
}

/* Libraries are the files of the places, each once: lib_of[] has the number of each place's, plus 1. 0 or -ENOMEM. */
int firefox_libs(struct pfs_viewer *viewer, uint32_t *lib_of, uint32_t *nr)
{
	const struct viewer_calls *calls = &viewer->calls;
	int ret = viewer_calls_files(calls, lib_of);

	*nr = 0;
	pfs_json_begin(&viewer->json, "libs", "[");
	for (uint32_t i = 0; !ret && i < calls->nr_places; i++) {
		if (lib_of[i] == i + 1) {
			put_lib(&viewer->json, &calls->places[i]);
			lib_of[i] = ++*nr;
		} else if (lib_of[i]) { /* that of an earlier place, which has its number by now */
			lib_of[i] = lib_of[lib_of[i] - 1];
		}
	}
	pfs_json_end(&viewer->json, "]");
	return ret;
}

/* The first place of the same function, of each. 0 or -ENOMEM. */
int firefox_functions(const struct viewer_calls *calls, uint32_t *func_of)
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

/* ---- tables that all threads share: frames are places. So are functions and sources, but only the first one of each is used ---- */

static void put_stacks(struct pfs_viewer *viewer)
{
	struct pfs_json *json = &viewer->json;
	const struct viewer_call *calls = viewer->calls.calls + 1; /* without the empty path */
	uint32_t nr = viewer->calls.nr_calls - 1;

	pfs_json_begin(json, "stackTable", "{");
	PUT_ARRAY(json, "frame", nr, pfs_json_u64(json, NULL, calls[i].place));
	PUT_ARRAY(json, "prefixOffset", nr, pfs_json_u64(json, NULL, calls[i].parent ? i + 1 - calls[i].parent : 0));
	pfs_json_u64(json, "length", nr);
	pfs_json_end(json, "}");
}

static void put_frames(struct pfs_viewer *viewer, const uint32_t *func_of)
{
	struct pfs_json *json = &viewer->json;
	const struct viewer_place *places = viewer->calls.places;
	uint32_t nr = viewer->calls.nr_places;

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
}

static void put_functions(struct pfs_viewer *viewer, const uint32_t *lib_of)
{
	struct pfs_json *json = &viewer->json;
	const struct viewer_place *places = viewer->calls.places;
	uint32_t nr = viewer->calls.nr_places;

	pfs_json_begin(json, "funcTable", "{");
	PUT_ARRAY(json, "name", nr, pfs_json_u64(json, NULL, firefox_string(viewer, places[i].name)));
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
}

/* Libraries, once more. */
static void put_resources(struct pfs_viewer *viewer, const uint32_t *lib_of, uint32_t nr_libs)
{
	struct pfs_json *json = &viewer->json;

	pfs_json_begin(json, "resourceTable", "{");
	PUT_ARRAY(json, "lib", nr_libs, pfs_json_u64(json, NULL, i));
	pfs_json_line(json, "\n");
	pfs_json_begin(json, "name", "[");
	for (uint32_t i = 0, lib = 0; i < viewer->calls.nr_places; i++)
		if (lib_of[i] > lib) {
			pfs_json_u64(json, NULL, firefox_string(viewer, viewer->calls.places[i].module));
			lib = lib_of[i];
		}
	pfs_json_end(json, "]");
	PUT_ARRAY(json, "host", nr_libs, put_null(json, NULL));
	PUT_ARRAY(json, "type", nr_libs, pfs_json_u64(json, NULL, 1));
	pfs_json_u64(json, "length", nr_libs);
	pfs_json_end(json, "}");
}

static void put_sources(struct pfs_viewer *viewer, uint32_t none)
{
	struct pfs_json *json = &viewer->json;
	const struct viewer_place *places = viewer->calls.places;
	uint32_t nr = viewer->calls.nr_places;

	pfs_json_begin(json, "sources", "{");
	PUT_ARRAY(json, "id", nr, put_null(json, NULL));
	PUT_ARRAY(json, "filename", nr,
		  pfs_json_u64(json, NULL, *places[i].source ? firefox_string(viewer, places[i].source) : none));
	PUT_ARRAY(json, "startLine", nr, pfs_json_u64(json, NULL, 1));
	PUT_ARRAY(json, "startColumn", nr, pfs_json_u64(json, NULL, 1));
	PUT_ARRAY(json, "sourceMapURL", nr, put_null(json, NULL));
	PUT_ARRAY(json, "content", nr, put_null(json, NULL));
	pfs_json_u64(json, "length", nr);
	pfs_json_end(json, "}");
}

/* A table without rows; `columns` ends in NULL. */
static void put_empty(struct pfs_json *json, const char *name, const char *const *columns)
{
	pfs_json_begin(json, name, "{");
	for (; *columns; columns++) {
		pfs_json_line(json, "\n");
		pfs_json_begin(json, *columns, "[");
		pfs_json_end(json, "]");
	}
	pfs_json_u64(json, "length", 0);
	pfs_json_end(json, "}");
}

void firefox_shared(struct pfs_viewer *viewer, const uint32_t *lib_of, uint32_t nr_libs, const uint32_t *func_of)
{
	static const char *const symbol[] = { "libIndex", "address", "name", "functionSize", NULL };
	static const char *const location[] = { "source", "line", "column", NULL };
	struct firefox *f = viewer->state;
	struct pfs_json *json = &viewer->json;
	uint32_t none = firefox_string(viewer, "");

	pfs_json_begin(json, "shared", "{");
	put_stacks(viewer);
	put_frames(viewer, func_of);
	put_functions(viewer, lib_of);
	put_resources(viewer, lib_of, nr_libs);
	put_empty(json, "nativeSymbols", symbol);
	put_sources(viewer, none);
	put_empty(json, "sourceLocationTable", location);
	pfs_json_line(json, "\n");
	pfs_json_begin(json, "stringArray", "[");
	for (const struct viewer_string *s = f->strings; s; s = s->hh.next)
		pfs_json_string(json, NULL, s->key);
	pfs_json_end(json, "]");
	pfs_json_end(json, "}");
}
