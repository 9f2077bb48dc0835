/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From events to objects: a short queue before the table of live objects, so that the memory of a slot has come when it is
 * needed; pauses, losses, accesses.
 */
#include "objects/objects.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/intern.h"
#include "event/notes.h"
#include "objects/accesses.h"
#include "objects/names.h"
#include "objects/pairs.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	NR_QUEUED = 32,	    /* a power of 2 */
	NO_OBJECT = 1 << 0, /* of an operation's flags: of an object that is not wanted */
	IS_FREE = 1 << 1,
};

/* A queued allocation or free; a free has time, site and who in the object's members. */
struct operation {
	struct pfs_object object;
	unsigned int flags;
};

struct pfs_objects {
	struct pfs_object_filter filter;
	struct pfs_object_sink sink;
	struct pfs_pairs pairs;
	struct operation queue[NR_QUEUED];
	unsigned int head; /* of the queue: operations so far */
	struct pfs_names names;
	bool *allocated; /* by process: it is counted in nr_processes */
	size_t max_allocated;
	uint64_t lost_ns;	      /* of the last loss; 0: none */
	uint64_t noted_lost;	      /* by the kernel's own counts */
	uint64_t pause_ns;	      /* when the last pause ended, or began if it is the present one; 0: none */
	uint64_t paused_ns;	      /* when the present one began; 0: it is not paused */
	struct pfs_accesses accesses; /* stats.where NULL: nothing was watched */
	struct pfs_watch_choice choice;
	char *command;
	const char *kernel; /* its release; NULL: unknown */
	struct pfs_objects_stats stats;
};

/* ---- allocations and frees ---- */

/* Is it one of those whose accesses were to be seen? cache: its own, or as its free named it. */
static bool is_of_choice(const struct pfs_objects *o, const struct pfs_object *object, uint32_t cache)
{
	const struct pfs_watch_choice *choice = &o->choice;
	const char *func;
	size_t len;

	if (!o->accesses.stats.where)
		return false;
	if (choice->cache)
		return !fnmatch(choice->cache, o->names.caches[cache].name, 0);
	if (!choice->site)
		return true;
	func = o->names.sites[object->site].func;
	len = strlen(choice->site);
	return func && !strncmp(func, choice->site, len) && (!func[len] || func[len] == '+');
}

static int pass_end(struct pfs_objects *o, const struct pfs_object *object, struct pfs_object_end end)
{
	bool chosen = is_of_choice(o, object, end.cache);
	int ret;

	end.paused = object->alloc_ns < o->pause_ns;
	end.unsure = end.paused || object->alloc_ns < o->lost_ns;
	if (chosen)
		pfs_accesses_end(&o->accesses, object, &end);
	ret = o->sink.end ? o->sink.end(o->sink.ctx, object, &end) : 0;
	if (chosen)
		pfs_accesses_forget(&o->accesses, object);
	return ret;
}

/* One that was freed during a pause is none that the kernel frees without an event. */
static int unseen_end(struct pfs_objects *o, const struct pfs_object *old, uint64_t ts_ns)
{
	o->stats.unseen++;
	o->stats.unseen_paused += old->alloc_ns < o->pause_ns;
	return pass_end(o, old,
			(struct pfs_object_end){ .fate = PFS_OBJECT_UNSEEN, .ts_ns = ts_ns, .cache = old->cache });
}

static int evict(struct pfs_objects *o, uint64_t keep, uint64_t ts_ns)
{
	struct pfs_object old;

	if (!pfs_pairs_evict(&o->pairs, keep, &old))
		return 0;
	o->stats.evicted++;
	return pass_end(o, &old,
			(struct pfs_object_end){ .fate = PFS_OBJECT_EVICTED, .ts_ns = ts_ns, .cache = old.cache });
}

static int do_alloc(struct pfs_objects *o, const struct operation *op)
{
	struct pfs_object old;
	int had;

	if (op->flags & NO_OBJECT) {
		o->stats.others++;
		return pfs_pairs_take(&o->pairs, op->object.key, &old) ? unseen_end(o, &old, op->object.alloc_ns) : 0;
	}
	had = pfs_pairs_add(&o->pairs, &op->object, &old);
	if (had < 0)
		return had;
	if (had)
		had = unseen_end(o, &old, op->object.alloc_ns);
	else if (o->filter.max_objects && o->pairs.nr > o->filter.max_objects)
		had = evict(o, op->object.key, op->object.alloc_ns);
	if (!had && is_of_choice(o, &op->object, op->object.cache))
		had = pfs_accesses_alloc(&o->accesses, &op->object);
	o->stats.allocs++;
	return had ?: o->sink.alloc ? o->sink.alloc(o->sink.ctx, &op->object) : 0;
}

static int do_free(struct pfs_objects *o, const struct operation *op)
{
	const struct pfs_object_who *by, *of;
	struct pfs_object object;

	if (!pfs_pairs_take(&o->pairs, op->object.key, &object)) {
		o->stats.foreign_frees++;
		return 0;
	}
	by = &o->names.whos[op->object.who];
	of = &o->names.whos[object.who];
	o->stats.frees++;
	if (by->process != of->process)
		++*(by->pid || of->pid ? &o->stats.by_others : &o->stats.by_unknown);
	return pass_end(o, &object,
			(struct pfs_object_end){ .fate = PFS_OBJECT_FREED,
						 .ts_ns = op->object.alloc_ns,
						 .site = op->object.site,
						 .cache = o->names.caches[op->object.cache].named ? op->object.cache
												  : object.cache,
						 .who = op->object.who });
}

static int do_queued(struct pfs_objects *o, const struct operation *op)
{
	return op->flags & IS_FREE ? do_free(o, op) : do_alloc(o, op);
}

/* The oldest of a full queue is done first. */
static int push(struct pfs_objects *o, const struct operation *op)
{
	struct operation *at = &o->queue[o->head % NR_QUEUED];
	int ret = o->head >= NR_QUEUED ? do_queued(o, at) : 0;

	*at = *op;
	o->head++;
	pfs_pairs_prefetch(&o->pairs, op->object.key);
	return ret;
}

static int drain_queue(struct pfs_objects *o)
{
	unsigned int nr = o->head < NR_QUEUED ? o->head : NR_QUEUED;
	int ret = 0;

	for (unsigned int i = o->head - nr; !ret && i != o->head; i++)
		ret = do_queued(o, &o->queue[i % NR_QUEUED]);
	o->head = 0;
	return ret;
}

/* ---- pauses, and other notes ---- */

/* What is queued is done first: it happened before. */
static int begin_pause(struct pfs_objects *o, uint64_t ts_ns)
{
	int ret = drain_queue(o);

	pfs_accesses_stop(&o->accesses, ts_ns);
	o->pause_ns = o->paused_ns = ts_ns;
	o->stats.first_ns = o->stats.first_ns ? o->stats.first_ns : ts_ns;
	o->stats.nr_pauses++;
	return ret;
}

static int end_pause(struct pfs_objects *o, uint64_t ts_ns)
{
	int ret = drain_queue(o);

	if (!o->paused_ns)
		return ret;
	o->stats.paused_ns += ts_ns > o->paused_ns ? ts_ns - o->paused_ns : 0;
	o->stats.last_ns = o->pause_ns = ts_ns;
	o->paused_ns = 0;
	return ret;
}

/* The time begins anew; the source has dropped the objects. */
static void clear(struct pfs_objects *o, uint64_t ts_ns)
{
	pfs_accesses_clear(&o->accesses);
	o->stats.first_ns = o->stats.last_ns = ts_ns;
	o->stats.paused_ns = 0;
	o->stats.nr_pauses = !!o->paused_ns;
	o->paused_ns = o->paused_ns ? ts_ns : 0;
}

static int note_event(struct pfs_objects *o, const struct pfs_event *ev)
{
	struct pfs_fact fact;

	if (!pfs_note_read(&fact, ev->key, ev->value))
		return 0;
	switch (fact.key) {
	case PFS_NOTE_LAUNCH:
	case PFS_NOTE_ATTACH:
		o->stats.has_targets = true;
		return pfs_names_target(&o->names, fact.pid);
	case PFS_NOTE_COMMAND:
		free(o->command);
		o->command = strdup(fact.text);
		return o->command ? 0 : -ENOMEM;
	case PFS_NOTE_KERNEL:
		o->kernel = pfs_intern(&o->names.strings, fact.text);
		return o->kernel ? 0 : -ENOMEM;
	case PFS_NOTE_WATCHPOINTS:
		o->accesses.stats.interval_ns = fact.interval_ns;
		o->accesses.stats.where = pfs_intern(&o->names.strings, fact.text);
		if (!o->accesses.stats.where)
			return -ENOMEM;
		pfs_watch_choice_read(&o->choice, o->accesses.stats.where, NULL);
		return 0;
	case PFS_NOTE_LOST:
		o->noted_lost += fact.count;
		return 0;
	case PFS_NOTE_MERGED:
		return pfs_names_add_merged(&o->names, fact.text);
	case PFS_NOTE_LACKS:
		o->stats.hashed |= fact.what && !strcmp(fact.what, "kmem:*");
		return 0;
	case PFS_NOTE_PAUSED:
		return begin_pause(o, ev->ts_ns);
	case PFS_NOTE_RESUMED:
	case PFS_NOTE_END:
		return end_pause(o, ev->ts_ns);
	case PFS_NOTE_CLEARED:
		clear(o, ev->ts_ns);
		return 0;
	default:
		return 0;
	}
}

/* ---- events ---- */

static uint64_t key_of(const struct pfs_event *ev)
{
	if (pfs_has(ev, PFS_F_PFN))
		return ev->pfn << 3 | 1;
	return ev->ptr & ~UINT64_C(1);
}

static uint32_t at_most_32(uint64_t value)
{
	return value < UINT32_MAX ? value : UINT32_MAX;
}

static bool is_wanted(const struct pfs_objects *o, const struct pfs_object *object)
{
	const struct pfs_object_filter *f = &o->filter;

	return o->names.whos[object->who].is_target && o->names.caches[object->cache].wanted &&
	       object->size >= f->min && (!f->max || object->size <= f->max);
}

static int object_event(struct pfs_objects *o, const struct pfs_event *ev)
{
	int64_t site = pfs_names_site(&o->names, ev), who = pfs_names_who(&o->names, ev),
		cache = pfs_names_cache(&o->names, ev);
	struct operation op = { .flags = ev->kind == PFS_FREE ? IS_FREE : 0 };

	if (site < 0 || who < 0 || cache < 0)
		return -ENOMEM;
	op.object = (struct pfs_object){
		.key = key_of(ev), .alloc_ns = o->stats.last_ns, .site = site, .cache = cache, .who = who
	};
	if (!op.object.key)
		return 0;
	o->stats.nr_events++;
	if (ev->kind == PFS_FREE)
		return push(o, &op);
	op.object.size = pfs_has(ev, PFS_F_SIZE) ? at_most_32(ev->size) : 0;
	op.object.allocated = pfs_has(ev, PFS_F_ALLOCATED) ? at_most_32(ev->allocated) : op.object.size;
	if (!is_wanted(o, &op.object)) {
		op.flags |= NO_OBJECT;
	} else if (o->names.nr_whos > o->max_allocated &&
		   !pfs_array_extend(o->allocated, o->max_allocated, o->names.nr_whos)) {
		return -ENOMEM;
	} else if (!o->allocated[o->names.whos[who].process]) {
		o->allocated[o->names.whos[who].process] = true;
		o->stats.nr_processes++;
	}
	return push(o, &op);
}

/* ---- accesses ---- */

/* The object that lives where the event is, if it is of the choice. */
static const struct pfs_object *object_at(struct pfs_objects *o, const struct pfs_event *ev, struct pfs_object *room)
{
	return pfs_pairs_find(&o->pairs, key_of(ev), room) && is_of_choice(o, room, room->cache) ? room : NULL;
}

/* In the queue are older operations. During a pause nobody knows which object it is. */
static int watch_event(struct pfs_objects *o, const struct pfs_event *ev)
{
	struct pfs_object room;

	if (o->paused_ns)
		return 0;
	if (!o->accesses.stats.where) /* recorded by others: no note */
		o->accesses.stats.where = "all";
	return drain_queue(o) ?: pfs_accesses_watch(&o->accesses, ev, object_at(o, ev, &room));
}

/* Where words were watched, it is no sample of what these have not seen: it is left out. */
static int sample_event(struct pfs_objects *o, const struct pfs_event *ev, uint32_t site, uint32_t who)
{
	struct pfs_object room;
	int ret = drain_queue(o);

	if (ret || (o->accesses.stats.where && !o->accesses.stats.samples))
		return ret;
	o->accesses.stats.where = "memory samples";
	return pfs_accesses_sample(&o->accesses, ev, site, who,
				   pfs_pairs_find_around(&o->pairs, ev->ptr, &room) ? &room : NULL);
}

static int access_event(struct pfs_objects *o, const struct pfs_event *ev)
{
	int64_t site = pfs_has(ev, PFS_F_PTR) ? pfs_names_site(&o->names, ev) : 0,
		who = pfs_has(ev, PFS_F_PTR) ? pfs_names_who(&o->names, ev) : 0;
	struct pfs_object room;

	if (!pfs_has(ev, PFS_F_PTR) || o->paused_ns) /* without: to a page */
		return 0;
	if (site < 0 || who < 0)
		return -ENOMEM;
	if (!pfs_has(ev, PFS_F_OFF))
		return sample_event(o, ev, site, o->names.whos[who].process);
	return drain_queue(o)
		       ?: pfs_accesses_access(&o->accesses, ev, site, o->names.whos[who].process,
					      object_at(o, ev, &room));
}

/* Of the object that was allocated last at that address, which may be queued yet. */
static int stack_event(struct pfs_objects *o, const struct pfs_event *ev)
{
	unsigned int nr = o->head < NR_QUEUED ? o->head : NR_QUEUED;
	int64_t stack = pfs_names_stack(&o->names, ev->frames);
	uint64_t key = key_of(ev);

	if (stack < 0)
		return stack;
	for (unsigned int i = 1; i <= nr; i++) {
		struct operation *op = &o->queue[(o->head - i) % NR_QUEUED];

		if (op->object.key != key)
			continue;
		op->object.stack = stack;
		return 0;
	}
	pfs_pairs_set_stack(&o->pairs, key, stack);
	return 0;
}

static int take_event(void *objects, const struct pfs_event *ev)
{
	struct pfs_objects *o = objects;
	int ret;

	if (!pfs_kind_is(ev, PFS_KIND_RECORDING)) {
		o->stats.first_ns = o->stats.first_ns ? o->stats.first_ns : ev->ts_ns;
		if (ev->ts_ns > o->stats.last_ns) /* lines may be out of order */
			o->stats.last_ns = ev->ts_ns;
	}
	switch (ev->kind) {
	case PFS_ALLOC:
	case PFS_FREE:
		return object_event(o, ev);
	case PFS_WATCH:
		return watch_event(o, ev);
	case PFS_ACCESS:
		return access_event(o, ev);
	case PFS_STACK:
		return stack_event(o, ev);
	case PFS_LOST:
		o->stats.lost += pfs_has(ev, PFS_F_COUNT) ? ev->count : 0;
		o->stats.lost_unknown |= !pfs_has(ev, PFS_F_COUNT);
		ret = drain_queue(o);
		o->lost_ns = ev->ts_ns;
		return ret;
	case PFS_NOTE:
		return note_event(o, ev);
	default:
		return pfs_names_process(&o->names, ev);
	}
}

/* Faults of the recording do not matter here. */
static int take_faults(void *objects, const struct pfs_fault_run *runs, unsigned int nr)
{
	return 0;
}

struct pfs_sink pfs_objects_sink(struct pfs_objects *o)
{
	return (struct pfs_sink){ .fn = take_event, .ctx = o, .faults = take_faults };
}

static int by_time(const void *a, const void *b)
{
	const struct pfs_object *x = a, *y = b;

	return pfs_order(x->alloc_ns, y->alloc_ns) ?: pfs_order(x->key, y->key);
}

/* The objects that are alive, sorted by time; nr of them. NULL: none, or no memory. */
static struct pfs_object *take_alive(struct pfs_pairs *pairs, size_t *nr)
{
	struct pfs_object *alive = pairs->nr ? malloc(pairs->nr * sizeof(*alive)) : NULL;

	*nr = 0;
	for (size_t i = 0; alive && i < pairs->max; i++)
		if (pairs->keys[i])
			alive[(*nr)++] = pfs_pairs_object(pairs, i);
	if (alive)
		qsort(alive, *nr, sizeof(*alive), by_time);
	return alive;
}

/* The kernel's counts at the end are of all losses; an event may not know the number of its own. */
static void sum_up_losses(struct pfs_objects *o)
{
	if (o->noted_lost > o->stats.lost) {
		o->stats.lost = o->noted_lost;
		o->lost_ns = o->stats.lost_unknown ? o->lost_ns : o->stats.last_ns + 1;
	}
	o->stats.lost_unknown &= !o->noted_lost;
}

int pfs_objects_end(struct pfs_objects *o)
{
	int ret = end_pause(o, o->stats.last_ns);
	size_t nr = 0;
	struct pfs_object *alive = ret ? NULL : take_alive(&o->pairs, &nr);

	sum_up_losses(o);
	if (!ret && o->pairs.nr > nr)
		ret = -ENOMEM;
	pfs_pairs_fini(&o->pairs);
	for (size_t i = 0; !ret && i < nr; i++)
		ret = pass_end(o, &alive[i],
			       (struct pfs_object_end){
				       .fate = PFS_OBJECT_ALIVE, .cache = alive[i].cache, .ts_ns = o->stats.last_ns });
	free(alive);
	pfs_accesses_finish(&o->accesses);
	return ret;
}

/* ---- the whole ---- */

struct pfs_objects *pfs_objects_new(const struct pfs_object_filter *filter, const struct pfs_object_sink *sink)
{
	struct pfs_objects *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	if (filter)
		o->filter = *filter;
	o->sink = *sink;
	pfs_names_init(&o->names, &o->filter);
	return o;
}

void pfs_objects_free(struct pfs_objects *o)
{
	if (!o)
		return;
	pfs_pairs_fini(&o->pairs);
	pfs_accesses_fini(&o->accesses);
	pfs_names_fini(&o->names);
	free(o->allocated);
	free(o->command);
	free(o);
}

const struct pfs_objects_stats *pfs_objects_stats(const struct pfs_objects *o)
{
	return &o->stats;
}

const struct pfs_object_site *pfs_objects_site(const struct pfs_objects *o, uint32_t site)
{
	return &o->names.sites[site];
}

const char *pfs_objects_site_text(const struct pfs_objects *o, uint32_t nr, char *buf, size_t size)
{
	const struct pfs_object_site *site = &o->names.sites[nr];

	if (site->func)
		snprintf(buf, size, "%s", site->func);
	else
		snprintf(buf, size, site->addr ? "0x%" PRIx64 : "?", site->addr);
	return buf;
}

const char *pfs_objects_cache(const struct pfs_objects *o, uint32_t cache)
{
	return o->names.caches[cache].name;
}

const char *pfs_objects_merged(const struct pfs_objects *o, uint32_t cache)
{
	return pfs_names_merged(&o->names, cache);
}

const struct pfs_object_who *pfs_objects_who(const struct pfs_objects *o, uint32_t who)
{
	return &o->names.whos[who];
}

const struct pfs_accesses *pfs_objects_accesses(const struct pfs_objects *o)
{
	return o->accesses.stats.where ? &o->accesses : NULL;
}

const char *pfs_objects_stack(const struct pfs_objects *o, uint32_t stack)
{
	return stack ? o->names.stacks[stack - 1] : NULL;
}

const char *pfs_objects_kernel(const struct pfs_objects *o)
{
	return o->kernel;
}

const char *pfs_objects_command(const struct pfs_objects *o)
{
	return o->command;
}
