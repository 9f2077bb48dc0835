/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Perfetto's trace (google/perfetto, protos/perfetto/trace; docs/reference/synthetic-track-event.md): repeated packets of one
 * sequence, written as they come. A fault is an instant event of its thread's track, with its call path, and a stack sample.
 * Resident pages and faults are counters of a process, its regions slices of tracks under one of their own.
 */
#include "export/lanes.h"
#include "export/proto.h"
#include "export/strings.h"
#include "export/viewer_priv.h"

#include "base/array.h"

#include <errno.h>

/* Fields; of each message its own. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	PACKET_STACK_SAMPLE = 135,
};
enum {
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID,
	EVENT_TRACK,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_CALLSTACK = 56
};
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_STRING_IID = 17
};
enum {
	TRACK_UUID = 1,
	TRACK_NAME,
	TRACK_PROCESS,
	TRACK_THREAD,
	TRACK_PARENT,
	TRACK_COUNTER = 8,
	TRACK_ORDERING = 11,
	TRACK_RANK
};
enum {
	INTERNED_EVENT_NAME = 2,
	INTERNED_ANNOTATION_NAME,
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME,
	INTERNED_CALLSTACK,
	INTERNED_BUILD_ID = 16,
	INTERNED_MAPPING_PATH,
	INTERNED_SOURCE,
	INTERNED_MAPPING,
	INTERNED_STRING = 29
};
enum { CLEARED = 1, NEEDS_STATE = 2 };
enum { UNIT_COUNT = 2, UNIT_BYTES = 3, SAMPLE_PAGE_FAULTS = 5 };

/* Names of annotations and events: their iids. */
enum name {
	ADDR = 1,
	REGION,
	OFFSET,
	ACCESS,
	MODE,
	CLASS,
	HOW,
	FAULT_CLASS,
	WITNESS,
	LATENCY,
	SIGNAL,
	PERMS,
	RANGE,
	FAULTS,
	COUNT,
	CPU,
	NR_NAMES
};
static const char *const names[NR_NAMES] = {
	[ADDR] = "address",
	[REGION] = "region",
	[OFFSET] = "file offset",
	[ACCESS] = "access",
	[MODE] = "mode",
	[CLASS] = "class",
	[HOW] = "how",
	[FAULT_CLASS] = "fault class",
	[WITNESS] = "fault class witness",
	[LATENCY] = "latency ns",
	[SIGNAL] = "signal",
	[PERMS] = "permissions",
	[RANGE] = "range",
	[FAULTS] = "faults",
	[COUNT] = "count",
	[CPU] = "cpu",
};

/* Tracks, each of one process or thread: uuid = number * 8 + kind. */
enum track { PROCESS = 1, THREAD, RESIDENT_TRACK, FAULTS_TRACK, REGIONS_TRACK, GAPS_TRACK };

struct perfetto {
	struct viewer_proto p;
	size_t packet;	    /* where the one under way begins */
	uint32_t nr_places; /* that were interned */
	bool *has_call;	    /* of each path: it was interned */
	uint32_t max_calls;
	uint32_t nr_threads, nr_procs; /* that have tracks */
	struct viewer_string *strings, *functions, *modules;
	bool begun;
	struct viewer_lanes *lanes; /* of the regions of each process */
	uint32_t max_lanes;
	uint64_t nr_lanes; /* of all */
};

static uint64_t uuid(uint32_t nr, enum track track)
{
	return ((uint64_t)nr + 1) << 3 | track;
}

static void begin_packet(struct pfs_viewer *viewer, uint64_t ts_ns, bool timed)
{
	struct perfetto *t = viewer->state;

	t->packet = proto_begin(&t->p, TRACE_PACKET);
	if (timed)
		proto_u64(&t->p, PACKET_TIMESTAMP, ts_ns);
	proto_u64(&t->p, PACKET_SEQUENCE, 1);
	proto_u64(&t->p, PACKET_FLAGS, t->begun ? NEEDS_STATE : CLEARED);
	t->begun = true;
}

static int end_packet(struct pfs_viewer *viewer)
{
	struct perfetto *t = viewer->state;

	proto_end(&t->p, t->packet);
	if (t->p.nr > 1 << 16) {
		fwrite_unlocked(t->p.bytes, 1, t->p.nr, viewer->out);
		t->p.nr = 0;
	}
	return t->p.failed ? -ENOMEM : 0;
}

/* ---- tracks ---- */

static int put_track(struct pfs_viewer *viewer, uint64_t id, uint64_t parent, const char *name, int unit, int rank)
{
	struct perfetto *t = viewer->state;
	size_t at, counter;

	begin_packet(viewer, 0, false);
	at = proto_begin(&t->p, PACKET_TRACK);
	proto_u64(&t->p, TRACK_UUID, id);
	if (parent)
		proto_u64(&t->p, TRACK_PARENT, parent);
	proto_string(&t->p, TRACK_NAME, name);
	proto_u64(&t->p, TRACK_RANK, rank);
	if (unit) {
		counter = proto_begin(&t->p, TRACK_COUNTER);
		proto_u64(&t->p, 3, unit);
		proto_end(&t->p, counter);
	}
	proto_end(&t->p, at);
	return end_packet(viewer);
}

static int put_process(struct pfs_viewer *viewer, uint32_t nr)
{
	struct perfetto *t = viewer->state;
	const struct viewer_proc *proc = viewer->procs[nr];
	size_t at, process;
	int ret;

	begin_packet(viewer, 0, false);
	at = proto_begin(&t->p, PACKET_TRACK);
	proto_u64(&t->p, TRACK_UUID, uuid(nr, PROCESS));
	process = proto_begin(&t->p, TRACK_PROCESS);
	proto_u64(&t->p, 1, proc->pid);
	proto_string(&t->p, 6, proc->name ? proc->name : "?");
	proto_end(&t->p, process);
	proto_end(&t->p, at);
	ret = end_packet(viewer);
	if (!ret)
		ret = put_track(viewer, uuid(nr, RESIDENT_TRACK), uuid(nr, PROCESS), "resident (brought by faults)",
				UNIT_BYTES, 1);
	if (!ret)
		ret = put_track(viewer, uuid(nr, FAULTS_TRACK), uuid(nr, PROCESS), "faults/s", UNIT_COUNT, 2);
	return ret;
}

static int put_thread(struct pfs_viewer *viewer, uint32_t nr)
{
	struct perfetto *t = viewer->state;
	const struct viewer_thread *thread = &viewer->threads[nr];
	size_t at, part;

	begin_packet(viewer, 0, false);
	at = proto_begin(&t->p, PACKET_TRACK);
	proto_u64(&t->p, TRACK_UUID, uuid(nr, THREAD));
	part = proto_begin(&t->p, TRACK_THREAD);
	proto_u64(&t->p, 1, thread->pid);
	proto_u64(&t->p, 2, thread->tid);
	proto_string(&t->p, 5, thread->comm);
	proto_end(&t->p, part);
	proto_end(&t->p, at);
	return end_packet(viewer);
}

/* Those that were not seen before. */
static int put_tracks(struct pfs_viewer *viewer)
{
	struct perfetto *t = viewer->state;
	int ret = 0;

	while (!ret && t->nr_procs < viewer->nr_procs)
		ret = put_process(viewer, t->nr_procs++);
	while (!ret && t->nr_threads < viewer->nr_threads)
		ret = put_thread(viewer, t->nr_threads++);
	return ret;
}

/* ---- interned data: within a packet ---- */

static void put_string(struct viewer_proto *p, unsigned int field, uint32_t iid, const char *s)
{
	size_t at = proto_begin(p, field);

	proto_u64(p, 1, iid);
	proto_string(p, 2, s);
	proto_end(p, at);
}

/* The string, into the table of that field. 0: no memory. */
static uint32_t put_interned(struct perfetto *t, struct viewer_string **strings, unsigned int field, const char *s)
{
	bool added;
	uint32_t iid = viewer_string_number(strings, s, &added);

	if (added)
		put_string(&t->p, field, iid, s);
	t->p.failed |= !iid;
	return iid;
}

static uint32_t put_module(struct perfetto *t, const struct viewer_place *place)
{
	const char *path = viewer_file(place);
	bool added;
	uint32_t iid = viewer_string_number(&t->modules, path, &added);
	size_t at;

	t->p.failed |= !iid;
	if (!added)
		return iid;
	put_string(&t->p, INTERNED_MAPPING_PATH, iid, path);
	if (*place->build_id)
		put_string(&t->p, INTERNED_BUILD_ID, iid, place->build_id);
	at = proto_begin(&t->p, INTERNED_MAPPING);
	proto_u64(&t->p, 1, iid);
	if (*place->build_id)
		proto_u64(&t->p, 2, iid);
	proto_u64(&t->p, 7, iid);
	proto_end(&t->p, at);
	return iid;
}

/* A frame has the number of its place + 1. */
static void put_frame(struct pfs_viewer *viewer, uint32_t nr)
{
	struct perfetto *t = viewer->state;
	const struct viewer_place *place = &viewer->calls.places[nr];
	uint32_t function = put_interned(t, &t->functions, INTERNED_FUNCTION, place->name),
		 module = put_module(t, place);
	size_t at;

	if (*place->source)
		put_string(&t->p, INTERNED_SOURCE, nr + 1, place->source);
	at = proto_begin(&t->p, INTERNED_FRAME);
	proto_u64(&t->p, 1, nr + 1);
	proto_u64(&t->p, 2, function);
	proto_u64(&t->p, 3, module);
	proto_u64(&t->p, 4, place->off);
	if (*place->source)
		proto_u64(&t->p, 5, nr + 1);
	if (place->line)
		proto_u64(&t->p, 6, place->line);
	if (place->kernel)
		proto_u64(&t->p, 7, 2);
	proto_end(&t->p, at);
}

static void put_path(struct pfs_viewer *viewer, uint32_t call)
{
	struct perfetto *t = viewer->state;

	if (!call)
		return;
	put_path(viewer, viewer->calls.calls[call].parent);
	proto_u64(&t->p, 2, viewer->calls.calls[call].place + 1);
}

/* Bottom frame first. */
static void put_callstack(struct pfs_viewer *viewer, uint32_t call)
{
	struct perfetto *t = viewer->state;
	size_t at = proto_begin(&t->p, INTERNED_CALLSTACK);

	proto_u64(&t->p, 1, call);
	put_path(viewer, call);
	proto_end(&t->p, at);
}

/* The path, and places up to its last one. */
static void put_call(struct pfs_viewer *viewer, uint32_t call)
{
	struct perfetto *t = viewer->state;
	uint32_t last = 0;

	for (uint32_t at = call; at; at = viewer->calls.calls[at].parent)
		last = viewer->calls.calls[at].place > last ? viewer->calls.calls[at].place : last;
	while (t->nr_places <= last)
		put_frame(viewer, t->nr_places++);
	put_callstack(viewer, call);
	t->has_call[call] = true;
}

/* What a fault refers to and was not interned before. */
static void put_interned_data(struct pfs_viewer *viewer, const struct viewer_fault *f, uint32_t *region)
{
	struct perfetto *t = viewer->state;
	size_t at;
	bool added;

	*region = viewer_string_number(&t->strings, f->region, &added);
	if (!*region || !pfs_array_extend(t->has_call, t->max_calls, f->call + 1)) {
		t->p.failed = true;
		return;
	}
	if (!added && (!f->call || t->has_call[f->call]))
		return;
	at = proto_begin(&t->p, PACKET_INTERNED);
	if (added)
		put_string(&t->p, INTERNED_STRING, *region, f->region);
	if (f->call && !t->has_call[f->call])
		put_call(viewer, f->call);
	proto_end(&t->p, at);
}

static void put_names(struct pfs_viewer *viewer)
{
	struct perfetto *t = viewer->state;
	size_t at = proto_begin(&t->p, PACKET_INTERNED);

	for (uint32_t i = 1; i < NR_NAMES; i++)
		put_string(&t->p, INTERNED_ANNOTATION_NAME, i, names[i]);
	put_string(&t->p, INTERNED_EVENT_NAME, 1, "Fault");
	put_string(&t->p, INTERNED_EVENT_NAME, 2, "Major fault");
	proto_end(&t->p, at);
}

/* ---- annotations ---- */

static void put_number(struct viewer_proto *p, enum name name, unsigned int as, uint64_t value)
{
	size_t at = proto_begin(p, EVENT_ANNOTATION);

	proto_u64(p, ANNOTATION_NAME_IID, name);
	proto_u64(p, as, value);
	proto_end(p, at);
}

static void put_word(struct viewer_proto *p, enum name name, const char *word)
{
	size_t at;

	if (!*word)
		return;
	at = proto_begin(p, EVENT_ANNOTATION);
	proto_u64(p, ANNOTATION_NAME_IID, name);
	proto_string(p, ANNOTATION_STRING, word);
	proto_end(p, at);
}

/* ---- events ---- */

static int begin(struct pfs_viewer *viewer)
{
	begin_packet(viewer, 0, false);
	put_names(viewer);
	return end_packet(viewer);
}

static void put_event(struct pfs_viewer *viewer, const struct viewer_fault *f, uint32_t region)
{
	struct perfetto *t = viewer->state;
	struct viewer_proto *p = &t->p;
	size_t at = proto_begin(p, PACKET_TRACK_EVENT);

	proto_u64(p, EVENT_TYPE, TYPE_INSTANT);
	proto_u64(p, EVENT_NAME_IID, f->class == PFS_MAJOR_CLASS ? 2 : 1);
	proto_u64(p, EVENT_TRACK, uuid(f->thread, THREAD));
	if (f->call)
		proto_u64(p, EVENT_CALLSTACK, f->call);
	put_number(p, ADDR, ANNOTATION_POINTER, f->addr);
	put_number(p, REGION, ANNOTATION_STRING_IID, region);
	if (f->has_off)
		put_number(p, OFFSET, ANNOTATION_UINT, f->off);
	put_word(p, ACCESS, viewer_access[f->access]);
	put_word(p, MODE, viewer_word(PFS_F_MODE, f->mode));
	put_word(p, CLASS, viewer_word(PFS_F_CLASS, f->class));
	put_word(p, FAULT_CLASS, viewer_class(f->label));
	put_word(p, WITNESS, viewer_witness(f->label, f->how));
	put_word(p, HOW, viewer_word(PFS_F_HOW, f->how));
	if (f->latency_ns)
		put_number(p, LATENCY, ANNOTATION_UINT, f->latency_ns);
	if (f->sig)
		put_number(p, SIGNAL, ANNOTATION_UINT, f->sig);
	proto_end(p, at);
}

static void put_sample(struct pfs_viewer *viewer, const struct viewer_fault *f)
{
	struct perfetto *t = viewer->state;
	struct viewer_proto *p = &t->p;
	size_t at = proto_begin(p, PACKET_STACK_SAMPLE), part = proto_begin(p, 1);

	proto_u64(p, 2, viewer->threads[f->thread].pid);
	proto_u64(p, 3, viewer->threads[f->thread].tid);
	proto_end(p, part);
	proto_u64(p, 6, f->call);
	part = proto_begin(p, 9);
	proto_string(p, 2, "faults");
	proto_u64(p, 3, SAMPLE_PAGE_FAULTS);
	proto_end(p, part);
	proto_u64(p, 11, 1);
	proto_end(p, at);
}

static int put_fault(struct pfs_viewer *viewer, const struct viewer_fault *f)
{
	uint64_t ts_ns = f->ts_ns;
	uint32_t region;
	int ret = put_tracks(viewer);

	if (ret)
		return ret;
	begin_packet(viewer, ts_ns, true);
	put_interned_data(viewer, f, &region);
	put_event(viewer, f, region);
	ret = end_packet(viewer);
	if (ret || !f->call)
		return ret;
	begin_packet(viewer, ts_ns, true);
	put_sample(viewer, f);
	return end_packet(viewer);
}

static size_t begin_event(struct viewer_proto *p, uint64_t type, uint64_t track)
{
	size_t at = proto_begin(p, PACKET_TRACK_EVENT);

	proto_u64(p, EVENT_TYPE, type);
	proto_u64(p, EVENT_TRACK, track);
	return at;
}

static int put_counter(struct pfs_viewer *viewer, uint64_t track, uint64_t ts_ns, int64_t value)
{
	struct perfetto *t = viewer->state;
	size_t at;

	begin_packet(viewer, ts_ns, true);
	at = begin_event(&t->p, TYPE_COUNTER, track);
	proto_u64(&t->p, EVENT_COUNTER, value);
	proto_end(&t->p, at);
	return end_packet(viewer);
}

/* ---- regions: those that overlap in time are on tracks of their own, which the viewer shows as one ---- */

/* The track of a region, and whether it is new. */
static int find_track(struct perfetto *t, const struct viewer_region *r, uint64_t *track, bool *added)
{
	struct viewer_lane *lane;

	if (!pfs_array_extend(t->lanes, t->max_lanes, r->proc + 1))
		return -ENOMEM;
	lane = viewer_lanes_find(&t->lanes[r->proc], r->born_ns, r->died_ns + 1, added);
	if (!lane)
		return -ENOMEM;
	if (*added)
		lane->track = (UINT64_C(1) << 40) + t->nr_lanes++;
	*track = lane->track;
	return 0;
}

static int put_slice_end(struct pfs_viewer *viewer, uint64_t track, uint64_t ts_ns)
{
	struct perfetto *t = viewer->state;
	size_t at;

	begin_packet(viewer, ts_ns, true);
	at = begin_event(&t->p, TYPE_END, track);
	proto_end(&t->p, at);
	return end_packet(viewer);
}

/* Each region is a slice of a track with its address range as its name, under one track a process. */
static int put_region(struct pfs_viewer *viewer, const struct viewer_region *r)
{
	struct perfetto *t = viewer->state;
	struct viewer_proto *p = &t->p;
	uint64_t group = uuid(r->proc, REGIONS_TRACK), track;
	char range[VIEWER_RANGE_MAX];
	bool added;
	size_t at;
	int ret = put_tracks(viewer);

	if (!ret)
		ret = find_track(t, r, &track, &added);
	if (ret)
		return ret;
	if (added) {
		ret = put_track(viewer, group, uuid(r->proc, PROCESS), "regions", 0, 3);
		if (!ret)
			ret = put_track(viewer, track, group, "region", 0, 0);
		if (ret)
			return ret;
	}
	begin_packet(viewer, r->born_ns, true);
	at = begin_event(p, TYPE_BEGIN, track);
	proto_string(p, EVENT_NAME, r->name);
	put_word(p, RANGE, viewer_range(range, r));
	put_word(p, PERMS, r->perms);
	if (r->has_off)
		put_number(p, OFFSET, ANNOTATION_UINT, r->off);
	put_number(p, FAULTS, ANNOTATION_UINT, r->faults);
	proto_end(p, at);
	ret = end_packet(viewer);
	return ret ? ret : put_slice_end(viewer, track, r->died_ns);
}

static int put_lost(struct pfs_viewer *viewer, const struct pfs_loss *loss, uint64_t from_ns, uint64_t to_ns)
{
	struct perfetto *t = viewer->state;
	uint64_t track = uuid(loss->cpu >= 0 ? loss->cpu : 0xffff, GAPS_TRACK);
	char name[64] = "lost events";
	size_t at;
	int ret;

	if (loss->cpu >= 0)
		snprintf(name, sizeof(name), "lost events, CPU %d", loss->cpu);
	ret = put_track(viewer, track, 0, name, 0, 0);
	if (ret)
		return ret;
	begin_packet(viewer, from_ns, true);
	at = begin_event(&t->p, TYPE_BEGIN, track);
	proto_string(&t->p, EVENT_NAME, "lost events");
	if (!loss->unknown)
		put_number(&t->p, COUNT, ANNOTATION_UINT, loss->count);
	proto_end(&t->p, at);
	ret = end_packet(viewer);
	return ret ? ret : put_slice_end(viewer, track, to_ns);
}

/* ---- the end ---- */

static int put_bins(struct pfs_viewer *viewer, uint32_t nr)
{
	struct viewer_moment moment = { 0 };
	int ret = 0;

	while (!ret && viewer_moment_next(viewer, viewer->procs[nr], &moment)) {
		if (moment.new_resident)
			ret = put_counter(viewer, uuid(nr, RESIDENT_TRACK), moment.ts_ns, moment.resident);
		if (!ret && moment.new_rate)
			ret = put_counter(viewer, uuid(nr, FAULTS_TRACK), moment.ts_ns, moment.rate);
	}
	return ret;
}

static int end(struct pfs_viewer *viewer)
{
	struct perfetto *t = viewer->state;
	int ret = 0;

	t->nr_procs = t->nr_threads = 0; /* once more, with their last names */
	ret = put_tracks(viewer);
	for (uint32_t i = 0; !ret && i < viewer->nr_procs; i++)
		ret = put_bins(viewer, i);
	fwrite(t->p.bytes, 1, t->p.nr, viewer->out);
	return ret;
}

static void fini(struct pfs_viewer *viewer)
{
	struct perfetto *t = viewer->state;

	PFS_HASH_FREE(t->strings);
	PFS_HASH_FREE(t->functions);
	PFS_HASH_FREE(t->modules);
	for (uint32_t i = 0; i < t->max_lanes; i++)
		viewer_lanes_fini(&t->lanes[i]);
	free(t->lanes);
	free(t->has_call);
	free(t->p.bytes);
}

/* Charts are made of the bins at the end. */
static int count_page(struct pfs_viewer *viewer, const struct viewer_page *page)
{
	return 0;
}

const struct viewer_format viewer_perfetto = {
	.size = sizeof(struct perfetto),
	.binary = true,
	.begin = begin,
	.fault = put_fault,
	.page = count_page,
	.region = put_region,
	.lost = put_lost,
	.end = end,
	.fini = fini,
};
