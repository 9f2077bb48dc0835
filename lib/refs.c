/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * References out of events. Objects are made as they are first referenced, and so are numbered the same in every run
 * that does the same, wherever the kernel puts things.
 */
#include "refs.h"

#include "escape.h"
#include "hash.h"
#include "page_index.h"
#include "space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object {
	struct pfs_object pub;
	uint32_t key;			/* of the page index */
	uint64_t dev_ino[2];		/* files; those without an inode by name alone */
	UT_hash_handle hh;
	struct object *next;		/* all of them */
	struct object *next_named;	/* of its image's */
};

/* How many objects of everybody's have that name (the model keeps one copy of each name). */
struct namesakes {
	const char *name;
	uint32_t nr;
	UT_hash_handle hh;
};

/* A piece of an address space that was mapped in one go, as far as references show it. */
struct mapping {
	uint64_t start, end;
	uint64_t base;			/* where its page 0 is, or would be */
	uint64_t created_ns;
	struct object *object;		/* NULL: private copies of pages of a file */
	uint32_t key;
};

struct image {
	const struct pfs_space *space;
	uint32_t nr;
	struct mapping *mappings;	/* sorted, apart from each other */
	unsigned int nr_mappings, max_mappings;
	struct object *named;		/* the few that it has one of */
	uint32_t nr_anon, nr_unknown;
	UT_hash_handle hh;
};

struct process {
	const struct pfs_proc *proc;
	uint32_t nr;
	uint64_t retried, no_access;	/* of its counts, as they were */
	bool below_stack;		/* its last fault was, where nothing was mapped: */
	struct pfs_ref last;
	UT_hash_handle hh;
};

struct pfs_refs {
	const struct pfs_model *model;
	struct pfs_refs_options options;
	pfs_ref_fn fn;
	void *ctx;
	struct pfs_refs_stats stats;
	uint64_t last_ns;	/* of the reference told last */
	struct object *objects, *files;
	struct namesakes *names;
	struct image *images;
	struct process *processes;
	struct pfs_page_index frames;
	uint32_t nr_keys;
};

const char *pfs_object_text(const struct pfs_object *object, char *buf, size_t size)
{
	size_t len;

	pfs_escape(buf, size, object->name, 0);
	len = strlen(buf);
	if (object->kind == PFS_OBJECT_ANON || object->nr > 1)
		snprintf(buf + len, size - len, "#%u", object->nr);
	return buf;
}

struct pfs_refs *pfs_refs_new(const struct pfs_model *model, const struct pfs_refs_options *options,
			      pfs_ref_fn fn, void *ctx)
{
	struct pfs_refs *refs = calloc(1, sizeof(*refs));

	if (!refs)
		return NULL;
	refs->model = model;
	refs->options = *options;
	refs->fn = fn;
	refs->ctx = ctx;
	return refs;
}

void pfs_refs_free(struct pfs_refs *refs)
{
	struct namesakes *name, *next_name;
	struct process *process, *next_process;
	struct image *image, *next_image;

	if (!refs)
		return;
	HASH_CLEAR(hh, refs->files);
	while (refs->objects) {
		struct object *object = refs->objects;

		refs->objects = object->next;
		free(object);
	}
	HASH_ITER(hh, refs->names, name, next_name) {
		HASH_DEL(refs->names, name);
		free(name);
	}
	HASH_ITER(hh, refs->images, image, next_image) {
		HASH_DEL(refs->images, image);
		free(image->mappings);
		free(image);
	}
	HASH_ITER(hh, refs->processes, process, next_process) {
		HASH_DEL(refs->processes, process);
		free(process);
	}
	pfs_page_index_fini(&refs->frames);
	free(refs);
}

const struct pfs_refs_stats *pfs_refs_stats(const struct pfs_refs *refs)
{
	return &refs->stats;
}

/* ---- who ---- */

static struct process *process_of(struct pfs_refs *refs, const struct pfs_proc *proc)
{
	struct process *p;

	HASH_FIND_PTR(refs->processes, &proc, p);
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->proc = proc;
	HASH_ADD_PTR(refs->processes, proc, p);
	if (!HASH_ADD_FAILED(p))
		return p;
	free(p);
	return NULL;
}

static struct image *image_of(struct pfs_refs *refs, const struct pfs_space *space)
{
	struct image *image;

	HASH_FIND_PTR(refs->images, &space, image);
	if (image)
		return image;
	image = calloc(1, sizeof(*image));
	if (!image)
		return NULL;
	image->space = space;
	image->nr = refs->stats.images + 1;
	HASH_ADD_PTR(refs->images, space, image);
	if (!HASH_ADD_FAILED(image)) {
		refs->stats.images++;
		return image;
	}
	free(image);
	return NULL;
}

/* ---- of what ---- */

static struct object *object_new(struct pfs_refs *refs, enum pfs_object_kind kind, const char *name, uint32_t nr,
				 uint32_t image)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->pub = (struct pfs_object){ kind, name, nr, image };
	object->key = refs->nr_keys++;
	object->next = refs->objects;
	refs->objects = object;
	return object;
}

/* The number of the next object of everybody's with that name; 0: no memory. */
static uint32_t next_of_name(struct pfs_refs *refs, const char *name)
{
	struct namesakes *n;

	HASH_FIND_PTR(refs->names, &name, n);
	if (n)
		return ++n->nr;
	n = calloc(1, sizeof(*n));
	if (!n)
		return 0;
	n->name = name;
	HASH_ADD_PTR(refs->names, name, n);
	if (!HASH_ADD_FAILED(n))
		return n->nr = 1;
	free(n);
	return 0;
}

static struct object *file_of(struct pfs_refs *refs, const struct pfs_region *region, const char *name)
{
	bool has_inode = region->have & PFS_HAS(PFS_F_INO) && pfs_is_file(region->dev, region->ino);
	uint64_t key[2] = { has_inode ? region->dev : UINT64_MAX, has_inode ? region->ino : (uintptr_t)name };
	struct object *file;
	uint32_t nr;

	HASH_FIND(hh, refs->files, key, sizeof(key), file);
	if (file)
		return file;
	nr = next_of_name(refs, name);
	file = nr ? object_new(refs, PFS_OBJECT_FILE, name, nr, 0) : NULL;
	if (!file)
		return NULL;
	memcpy(file->dev_ino, key, sizeof(key));
	HASH_ADD(hh, refs->files, dev_ino, sizeof(key), file);
	return HASH_ADD_FAILED(file) ? NULL : file;	/* it is freed with all others */
}

/* What an image has one of: [heap], [stack], [vdso]. */
static struct object *named_of(struct pfs_refs *refs, struct image *image, enum pfs_object_kind kind, const char *name)
{
	struct object *object;

	for (object = image->named; object; object = object->next_named)
		if (!strcmp(object->pub.name, name))
			return object;
	object = object_new(refs, kind, name, 1, image->nr);
	if (!object)
		return NULL;
	object->next_named = image->named;
	image->named = object;
	return object;
}

/* ---- mappings ---- */

/* Index of the first one that ends after addr. */
static unsigned int mapping_lower(const struct image *image, uint64_t addr)
{
	unsigned int low = 0, high = image->nr_mappings;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (image->mappings[mid].end > addr)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static struct mapping *mapping_insert(struct image *image, unsigned int at, const struct mapping *mapping)
{
	if (image->nr_mappings == image->max_mappings) {
		unsigned int max = image->max_mappings ? 2 * image->max_mappings : 16;
		struct mapping *more = realloc(image->mappings, max * sizeof(*more));

		if (!more)
			return NULL;
		image->mappings = more;
		image->max_mappings = max;
	}
	memmove(&image->mappings[at + 1], &image->mappings[at],
		(image->nr_mappings - at) * sizeof(*image->mappings));
	image->nr_mappings++;
	image->mappings[at] = *mapping;
	return &image->mappings[at];
}

/* Those of what was mapped there before the region. A region that was merged or split is as old as its oldest part. */
static void forget_older(struct image *image, const struct pfs_region *region)
{
	unsigned int from = mapping_lower(image, region->start), to = from;

	for (unsigned int i = from; i < image->nr_mappings; i++) {
		const struct mapping *m = &image->mappings[i];

		if (m->start >= region->end || m->created_ns >= region->since_ns)
			image->mappings[to++] = *m;
	}
	image->nr_mappings = to;
}

/* What mremap took along: the mapping as it was where it came from. */
static bool mapping_moved(const struct image *image, const struct pfs_region *region, uint64_t addr,
			  struct mapping *moved)
{
	uint64_t by = region->start - region->moved_from;
	unsigned int i = mapping_lower(image, addr - by);

	if (!region->moved_from || i == image->nr_mappings || image->mappings[i].start > addr - by ||
	    image->mappings[i].created_ns > region->born_ns)
		return false;
	*moved = image->mappings[i];
	moved->start += by;
	moved->end += by;
	moved->base += by;
	return true;
}

/*
 * The mapping that holds addr. Where there is none yet, it reaches as far as the region and its neighbours let it:
 * what is mapped beside it later is one of its own, also if the kernel makes one region of both.
 */
static struct mapping *mapping_at(struct pfs_refs *refs, struct image *image, const struct pfs_region *region,
				  uint64_t addr, uint64_t now_ns)
{
	unsigned int at = mapping_lower(image, addr);
	struct mapping new;

	if (at < image->nr_mappings && image->mappings[at].start <= addr &&
	    image->mappings[at].created_ns >= region->since_ns)
		return &image->mappings[at];
	forget_older(image, region);
	if (mapping_moved(image, region, addr, &new)) {
		new.created_ns = now_ns;
	} else {
		new = (struct mapping){ .base = UINT64_MAX, .end = UINT64_MAX, .created_ns = now_ns,
					.key = refs->nr_keys++ };
	}
	at = mapping_lower(image, addr);
	if (new.start < region->start)
		new.start = region->start;
	if (new.end > region->end)
		new.end = region->end;
	if (at && image->mappings[at - 1].end > new.start)
		new.start = image->mappings[at - 1].end;
	if (at < image->nr_mappings && image->mappings[at].start < new.end)
		new.end = image->mappings[at].start;
	if (new.base == UINT64_MAX)
		new.base = new.start;
	return mapping_insert(image, at, &new);
}

/* ---- where ---- */

/* An object and a page of it; the key is the object's, but for private copies. */
struct place {
	struct object *object;
	int64_t page;
	uint32_t key;
	int64_t key_page;
};

static int64_t pages_between(const struct pfs_refs *refs, uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) >> refs->model->page_shift;
}

static int place_in_file(struct pfs_refs *refs, struct image *image, const char *name, struct pfs_ref *ref,
			 struct place *place)
{
	const struct pfs_region *region = ref->region;
	bool private = !(region->have & PFS_HAS(PFS_F_PERMS)) || !(region->perms & PFS_PERM_SHARED);
	struct mapping *copies;
	int64_t page;
	uint32_t nr;

	place->object = file_of(refs, region, name);
	if (!place->object)
		return -ENOMEM;
	place->page = pages_between(refs, region->start, ref->addr) +
		(int64_t)(region->have & PFS_HAS(PFS_F_OFF) ? region->off >> refs->model->page_shift : 0);
	place->key = place->object->key;
	place->key_page = place->page;
	if (!private || !region->written)
		return 0;
	/* What was written is a page of its own, for the reader as well. */
	copies = mapping_at(refs, image, region, ref->addr, ref->ts_ns);
	if (!copies)
		return -ENOMEM;
	page = pages_between(refs, copies->base, ref->addr);
	if (ref->access == PFS_WRITE || pfs_page_index_find(&refs->frames, copies->key, page, &nr)) {
		place->key = copies->key;
		place->key_page = page;
	}
	return 0;
}

static int place_in_mapping(struct pfs_refs *refs, struct image *image, const char *name, const struct pfs_ref *ref,
			    struct place *place)
{
	struct mapping *mapping = mapping_at(refs, image, ref->region, ref->addr, ref->ts_ns);

	if (!mapping)
		return -ENOMEM;
	if (!mapping->object)
		mapping->object = name ?
			object_new(refs, PFS_OBJECT_ANON, "anon", ++image->nr_anon, image->nr) :
			object_new(refs, PFS_OBJECT_UNKNOWN, "?", ++image->nr_unknown, image->nr);
	if (!mapping->object)
		return -ENOMEM;
	place->object = mapping->object;
	place->page = pages_between(refs, mapping->base, ref->addr);
	place->key = mapping->key;
	place->key_page = place->page;
	return 0;
}

/* In something that an image has one of, counted from that address. */
static int place_in_named(struct pfs_refs *refs, struct image *image, enum pfs_object_kind kind, const char *name,
			  uint64_t from, uint64_t addr, struct place *place)
{
	place->object = named_of(refs, image, kind, name);
	if (!place->object)
		return -ENOMEM;
	place->page = place->key_page = pages_between(refs, from, addr);
	place->key = place->object->key;
	return 0;
}

static int find_place(struct pfs_refs *refs, struct image *image, struct pfs_ref *ref, struct place *place)
{
	const struct pfs_region *region = ref->region;
	const char *name = ref->region_name;

	if (!region)
		return place_in_named(refs, image, PFS_OBJECT_UNKNOWN, "(no known region)", 0, ref->addr, place);
	if (!name || !name[0])
		return place_in_mapping(refs, image, name, ref, place);
	if (!strcmp(name, "[heap]"))
		return place_in_named(refs, image, PFS_OBJECT_HEAP, "[heap]",
				      image->space->start_brk ? image->space->start_brk : region->start, ref->addr,
				      place);
	if (!strcmp(name, "[stack]"))
		return place_in_named(refs, image, PFS_OBJECT_STACK, "[stack]", region->end, ref->addr, place);
	if (name[0] == '[')
		return place_in_named(refs, image, PFS_OBJECT_SPECIAL, name, region->start, ref->addr, place);
	return place_in_file(refs, image, name, ref, place);
}

/* ---- references ---- */

static bool is_wanted(const struct pfs_refs *refs, const struct pfs_ref *ref)
{
	const struct pfs_region *region = ref->region;
	bool code = ref->access == PFS_EXECUTE ||
		(region && region->have & PFS_HAS(PFS_F_PERMS) && region->perms & PFS_PERM_X);

	if (refs->options.no_code && code)
		return false;
	if (!region)
		return pfs_filter_region(refs->options.filter, NULL, 0, 0);
	return pfs_filter_memory(refs->options.filter, region, ref->region_name);
}

/* Completes the reference, and passes it on. */
static int refer(struct pfs_refs *refs, const struct pfs_thread *thread, const struct pfs_space *space,
		 struct process *process, struct pfs_ref *ref)
{
	struct image *image = image_of(refs, space);
	struct place place;
	bool new;
	int ret = image ? find_place(refs, image, ref, &place) : -ENOMEM;

	if (!ret)
		ret = pfs_page_index_get(&refs->frames, place.key, place.key_page, &ref->frame, &new);
	if (ret)
		return ret;
	refs->stats.frames = refs->frames.nr;
	if (!new && refs->options.first_only) {
		refs->stats.left_out++;
		return 0;
	}
	if (!process->nr)
		process->nr = ++refs->stats.processes;
	refs->stats.refs++;
	refs->last_ns = ref->ts_ns;
	refs->stats.sampled += ref->interval_ns != 0;
	ref->process = process->nr;
	ref->thread = thread->nr;
	ref->image = image->nr;
	ref->comm = thread->comm;
	ref->object = &place.object->pub;
	ref->page = place.page;
	ref->again = !new;
	return refs->fn(refs->ctx, ref);
}

/* Did the model take this fault for one that was not served? */
static bool was_refused(struct pfs_refs *refs, struct process *process)
{
	const struct pfs_counts *counts = &process->proc->counts;
	bool retried = counts->retried != process->retried, refused = counts->no_access != process->no_access;

	process->retried = counts->retried;
	process->no_access = counts->no_access;
	refs->stats.tried_again += retried;
	refs->stats.refused += refused && !retried;
	return retried || refused;
}

/* Where the reference is, now; and on, if it is wanted. */
static int in_region(struct pfs_refs *refs, const struct pfs_thread *thread, struct pfs_space *space,
		     struct process *process, struct pfs_ref *ref)
{
	ref->region = pfs_space_find(space, ref->addr);
	if (!ref->region && space->complete) {
		refs->stats.outside++;
		return 0;
	}
	if (ref->region && pfs_region_forbids(ref->region, ref->access)) {
		refs->stats.refused++;
		return 0;
	}
	ref->region_name = ref->region ? pfs_region_name(space, ref->region) : NULL;
	if (!is_wanted(refs, ref)) {
		refs->stats.left_out++;
		return 0;
	}
	return refer(refs, thread, space, process, ref);
}

static int touched(struct pfs_refs *refs, const struct pfs_event *ev, const struct pfs_thread *thread,
		   struct pfs_space *space)
{
	uint64_t mask = ((uint64_t)1 << refs->model->page_shift) - 1;
	struct pfs_ref ref = {
		.ts_ns = ev->ts_ns, .addr = ev->addr & ~mask, .pid = thread->proc->pid, .tid = thread->tid,
		.ip = pfs_has(ev, PFS_F_IP) ? ev->ip : 0,
		.access = pfs_has(ev, PFS_F_ACCESS) && ev->access <= PFS_EXECUTE ? ev->access : 0,
		.mode = pfs_has(ev, PFS_F_MODE) ? ev->mode : 0,
		.interval_ns = pfs_has(ev, PFS_F_INTERVAL) ? ev->interval_ns : 0,
	};
	struct process *process = process_of(refs, thread->proc);

	if (!process)
		return -ENOMEM;
	if (was_refused(refs, process))
		return 0;
	process->below_stack = ev->kind == PFS_FAULT && space->complete && !pfs_space_find(space, ev->addr) &&
			       pfs_space_below_stack(space, ev->addr);
	process->last = ref;
	return in_region(refs, thread, space, process, &ref);
}

/*
 * A region was made. If the stack reaches to where the thread has just faulted below it, that was a reference to the
 * stack: told now, since until now it might have been the end of the process.
 */
static int grown(struct pfs_refs *refs, const struct pfs_thread *thread, struct pfs_space *space)
{
	struct process *process = process_of(refs, thread->proc);
	struct pfs_ref *ref;

	if (!process)
		return -ENOMEM;
	ref = &process->last;
	if (!process->below_stack || ref->tid != thread->tid || !pfs_space_below_stack(space, ref->addr) ||
	    !pfs_space_find(space, ref->addr))
		return 0;
	process->below_stack = false;
	refs->stats.outside--;
	if (ref->ts_ns < refs->last_ns)	/* another thread's reference has been told meanwhile */
		ref->ts_ns = refs->last_ns;
	return in_region(refs, thread, space, process, ref);
}

static void note_said(struct pfs_refs *refs, const struct pfs_event *ev)
{
	enum pfs_refault_method method;
	uint64_t interval_ns;

	if (!pfs_has(ev, PFS_F_KEY) || !pfs_has(ev, PFS_F_VALUE) || strcmp(ev->key, PFS_REFAULT_NOTE) ||
	    !pfs_refault_note_read(ev->value, &method, &interval_ns))
		return;
	refs->stats.refault = method;
	refs->stats.refault_ns = interval_ns;
}

int pfs_refs_feed(struct pfs_refs *refs, const struct pfs_event *ev)
{
	const struct pfs_thread *thread;
	struct pfs_space *space;

	if (ev->kind == PFS_AROUND || ev->kind == PFS_POPULATE)
		refs->stats.unasked = refs->model->counts.around + refs->model->counts.populated;
	if (ev->kind == PFS_NOTE)
		note_said(refs, ev);
	if (ev->kind != PFS_FAULT && ev->kind != PFS_ACCESS && ev->kind != PFS_MAP)
		return 0;
	thread = pfs_has(ev, PFS_F_TID) ? pfs_model_thread(refs->model, ev->tid) : NULL;
	if (!thread)
		return 0;
	space = ev->kind == PFS_ACCESS ? pfs_proc_space(thread->proc) : thread->fault_space;
	if (!space || space->launcher)
		return 0;
	return ev->kind == PFS_MAP ? grown(refs, thread, space) : touched(refs, ev, thread, space);
}

static int feed(void *ctx, const struct pfs_event *ev)
{
	return pfs_refs_feed(ctx, ev);
}

struct pfs_sink pfs_refs_sink(struct pfs_refs *refs)
{
	return (struct pfs_sink){ .fn = feed, .ctx = refs };
}
