/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects are numbered as they are first referenced, and so the same in every run that does the same, wherever the
 * kernel puts things. See places.h.
 */
#include "reference/places.h"

#include "base/escape.h"
#include "base/hash.h"
#include "model/space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object {
	struct pfs_object pub; /* nr 0: not referenced yet */
	struct image *image;   /* NULL: a file */
	uint64_t dev_ino[2];   /* files; those without an inode by name alone */
	UT_hash_handle hh;
	struct object *next;	   /* all of them */
	struct object *next_named; /* of its image's */
};

/* How many files have that name (the model keeps one copy of each name). */
struct namesakes {
	const char *name;
	uint32_t nr;
	UT_hash_handle hh;
};

struct image {
	struct pfs_space *space; /* referenced, so that no other one gets its address */
	bool holds_space;
	uint32_t nr; /* 0: nothing in it was referenced yet */
	struct pfs_mappings mappings;
	struct object *named; /* objects that an image has one of */
	uint32_t nr_anon, nr_unknown;
	UT_hash_handle hh;
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

/* ---- images ---- */

static struct image *image_of(struct pfs_places *places, struct pfs_space *space)
{
	struct image *image = PFS_HASH_GET(places->images, space, space);

	if (image && !image->holds_space)
		pfs_space_get(space);
	if (image)
		image->holds_space = true;
	return image;
}

/* ---- objects ---- */

static struct object *object_new(struct pfs_places *places, enum pfs_object_kind kind, const char *name,
				 struct image *image)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->pub = (struct pfs_object){ .kind = kind, .name = name, .key = ++places->nr_keys };
	object->image = image;
	object->next = places->objects;
	places->objects = object;
	return object;
}

static struct object *file_of(struct pfs_places *places, const struct pfs_region *region, const char *name)
{
	bool has_inode = pfs_region_is_file(region);
	uint64_t key[2] = { has_inode ? region->dev : UINT64_MAX, has_inode ? region->ino : (uintptr_t)name };
	struct object *file;

	HASH_FIND(hh, places->files, key, sizeof(key), file);
	if (file)
		return file;
	file = object_new(places, PFS_OBJECT_FILE, name, NULL);
	if (!file)
		return NULL;
	memcpy(file->dev_ino, key, sizeof(key));
	HASH_ADD(hh, places->files, dev_ino, sizeof(key), file);
	return HASH_ADD_FAILED(file) ? NULL : file; /* it is freed with all others */
}

/* An object that an image has one of: [heap], [stack], [vdso]. */
static struct object *named_of(struct pfs_places *places, struct image *image, enum pfs_object_kind kind,
			       const char *name)
{
	struct object *object;

	for (object = image->named; object; object = object->next_named)
		if (!strcmp(object->pub.name, name))
			return object;
	object = object_new(places, kind, name, image);
	if (!object)
		return NULL;
	object->next_named = image->named;
	image->named = object;
	return object;
}

/* ---- mappings ---- */

static bool is_anon(const char *name)
{
	return name && !name[0];
}

/* Removes the mappings of a range that is mapped again, or as another kind of memory. */
static int forget_others(struct image *image, bool anon, uint64_t start, uint64_t end)
{
	unsigned int i = pfs_mappings_lower(&image->mappings, start);

	while (i < image->mappings.nr && image->mappings.at[i]->start < end) {
		const struct pfs_mapping *m = image->mappings.at[i];
		uint64_t from = m->start > start ? m->start : start, to = m->end < end ? m->end : end;

		if (anon ? m->anon || m->object : !m->anon)
			i++;
		else if (pfs_mappings_cut(&image->mappings, from, to))
			return -ENOMEM;
		else
			i = pfs_mappings_lower(&image->mappings, to);
	}
	return 0;
}

/* Anonymous memory in [start, end) that is in no mapping yet was mapped just now: each such range is a new mapping. */
static int note_mappings(struct image *image, uint64_t start, uint64_t end)
{
	const struct pfs_space *space = image->space;

	for (unsigned int i = pfs_space_lower(space, start); i < space->nr_live && space->live[i]->start < end; i++) {
		const struct pfs_region *r = space->live[i];
		const char *name = pfs_region_name(space, r);
		struct pfs_mapping new = { .anon = true };
		uint64_t from = r->start > start ? r->start : start, to = r->end < end ? r->end : end;

		if (name && forget_others(image, is_anon(name), from, to))
			return -ENOMEM;
		for (; is_anon(name) && from < to; from = new.end) {
			new.start = from;
			new.end = to;
			if (!pfs_mappings_gap(&image->mappings, &new.start, &new.end))
				break;
			if (!pfs_mappings_add(&image->mappings, &new))
				return -ENOMEM;
		}
	}
	return 0;
}

int pfs_places_map(struct pfs_places *places, struct pfs_space *space, const struct pfs_event *ev)
{
	struct image *image = image_of(places, space);

	if (!image)
		return -ENOMEM;
	/* A region that was not there before is all new, whatever was. */
	for (unsigned int i = pfs_space_lower(space, ev->start); i < space->nr_live && space->live[i]->start < ev->end;
	     i++) {
		const struct pfs_region *r = space->live[i];

		if (r->born_ns == ev->ts_ns && pfs_mappings_cut(&image->mappings, r->start, r->end))
			return -ENOMEM;
	}
	return note_mappings(image, ev->start, ev->end);
}

int pfs_places_found(struct pfs_places *places, struct pfs_space *space)
{
	struct image *image = image_of(places, space);

	return image ? note_mappings(image, 0, UINT64_MAX) : -ENOMEM;
}

int pfs_places_unmap(struct pfs_places *places, struct pfs_space *space, uint64_t start, uint64_t end)
{
	struct image *image = image_of(places, space);
	unsigned int i = pfs_space_lower(space, start);
	int ret = image ? 0 : -ENOMEM;

	/* The event may name more than was unmapped: what the model still has stays. */
	for (; !ret && i < space->nr_live && space->live[i]->start < end; i++) {
		ret = pfs_mappings_cut(&image->mappings, start, space->live[i]->start);
		start = space->live[i]->end;
	}
	return ret ? ret : pfs_mappings_cut(&image->mappings, start, end);
}

/* mremap may have grown the mapping at its new place: up to the next mapping, it is the same one. */
static void grow_moved(struct image *image, uint64_t to_end, uint64_t end)
{
	struct pfs_mapping *last = pfs_mappings_find(&image->mappings, to_end - 1);

	if (last && last->anon && last->end == to_end && pfs_mappings_gap(&image->mappings, &to_end, &end) &&
	    to_end == last->end)
		last->end = end;
}

int pfs_places_move(struct pfs_places *places, struct pfs_space *space, const struct pfs_event *ev)
{
	struct image *image = image_of(places, space);
	const struct pfs_region *r = pfs_space_find(space, ev->start);
	uint64_t from = ev->from, to = ev->start, end = ev->end, len = ev->len;
	int ret = 0;

	if (!image)
		return -ENOMEM;
	if (r && r->start == to && r->born_ns == ev->ts_ns && r->moved_from >= from && r->moved_from - from < len) {
		/* With several regions this is but one of them. */
		len -= r->moved_from - from;
		from = r->moved_from;
		end = r->end;
		ret = pfs_mappings_cut(&image->mappings, to, end);
	} else if (!r || !is_anon(pfs_region_name(space, r)) || !pfs_mappings_gap(&image->mappings, &to, &end)) {
		len = 0; /* nothing has moved there; else a neighbour took it in */
	}
	len = len < end - to ? len : end - to;
	if (!ret && len)
		ret = pfs_mappings_move(&image->mappings, from, len, to);
	if (!ret && len) {
		grow_moved(image, to + len, end);
		ret = note_mappings(image, from, from + len); /* until it is unmapped, or for good */
	}
	return ret ? ret : note_mappings(image, ev->start, ev->end);
}

int pfs_places_fork(struct pfs_places *places, struct pfs_space *parent, struct pfs_space *child)
{
	const struct image *from = image_of(places, parent);
	struct image *to = image_of(places, child);

	if (!from || !to)
		return -ENOMEM;
	for (unsigned int i = 0; parent != child && i < from->mappings.nr; i++) {
		struct pfs_mapping copy = *from->mappings.at[i];

		copy.object = NULL;
		copy.key = 0;
		if (copy.anon && !pfs_mappings_find(&to->mappings, copy.start) &&
		    !pfs_mappings_add(&to->mappings, &copy))
			return -ENOMEM;
	}
	return pfs_places_found(places, child);
}

/* The mapping that holds addr. If no event made it, it extends to its neighbours or to the ends of the region. */
static struct pfs_mapping *mapping_at(struct pfs_places *places, struct image *image, const struct pfs_region *region,
				      uint64_t addr)
{
	struct pfs_mapping *m = pfs_mappings_find(&image->mappings, addr), new = { 0 };

	if (!m) {
		unsigned int i = pfs_mappings_lower(&image->mappings, addr);

		new.start = region->start;
		new.end = region->end;
		if (i && image->mappings.at[i - 1]->end > new.start)
			new.start = image->mappings.at[i - 1]->end;
		if (i < image->mappings.nr && image->mappings.at[i]->start < new.end)
			new.end = image->mappings.at[i]->start;
		m = pfs_mappings_add(&image->mappings, &new);
	}
	if (m && !m->key) {
		m->key = ++places->nr_keys;
		m->base = m->start;
	}
	return m;
}

/* ---- spots ---- */

static int64_t pages_between(const struct pfs_places *places, uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) >> places->model->page_shift;
}

/* Limits the spot to the mapping. */
static void stay_within(struct pfs_spot *spot, const struct pfs_mapping *mapping)
{
	if (mapping->start > spot->start)
		spot->start = mapping->start;
	if (mapping->end < spot->end)
		spot->end = mapping->end;
}

static int place_in_file(struct pfs_places *places, const struct pfs_region *region, const char *name, uint64_t addr,
			 struct pfs_spot *spot)
{
	bool private = !(region->have & PFS_HAS(PFS_F_PERMS)) || !(region->perms & PFS_PERM_SHARED);
	struct pfs_mapping *copies;

	spot->object = file_of(places, region, name);
	if (!spot->object)
		return -ENOMEM;
	spot->page = pages_between(places, region->start, addr) +
		     (int64_t)(region->have & PFS_HAS(PFS_F_OFF) ? region->off >> places->model->page_shift : 0);
	spot->key = spot->object->pub.key;
	if (!private || !region->written)
		return 0;
	/* A private page that was written is a page of its own, for later reads as well. */
	copies = mapping_at(places, spot->image, region, addr);
	if (!copies)
		return -ENOMEM;
	spot->may_be_copy = true;
	spot->copies_key = copies->key;
	spot->copies_page = pages_between(places, copies->base, addr);
	stay_within(spot, copies);
	return 0;
}

static int place_in_mapping(struct pfs_places *places, const struct pfs_region *region, const char *name, uint64_t addr,
			    struct pfs_spot *spot)
{
	struct pfs_mapping *mapping = mapping_at(places, spot->image, region, addr);

	if (!mapping)
		return -ENOMEM;
	if (!mapping->object)
		mapping->object = object_new(places, name ? PFS_OBJECT_ANON : PFS_OBJECT_UNKNOWN, name ? "anon" : "?",
					     spot->image);
	if (!mapping->object)
		return -ENOMEM;
	spot->object = mapping->object;
	spot->page = pages_between(places, mapping->base, addr);
	spot->key = mapping->key;
	stay_within(spot, mapping);
	return 0;
}

/* In an object that an image has one of; its pages count from `from`. */
static int place_in_named(struct pfs_places *places, enum pfs_object_kind kind, const char *name, uint64_t from,
			  uint64_t addr, struct pfs_spot *spot)
{
	spot->object = named_of(places, spot->image, kind, name);
	if (!spot->object)
		return -ENOMEM;
	spot->page = pages_between(places, from, addr);
	spot->key = spot->object->pub.key;
	return 0;
}

int pfs_places_find(struct pfs_places *places, struct pfs_space *space, const struct pfs_region *region,
		    const char *name, uint64_t addr, struct pfs_spot *spot)
{
	*spot = (struct pfs_spot){
		.image = image_of(places, space),
		.start = region ? region->start : addr,
		.end = region ? region->end : addr + 1,
		.addr = addr,
	};
	if (!spot->image)
		return -ENOMEM;
	if (!region)
		return place_in_named(places, PFS_OBJECT_UNKNOWN, "(no known region)", 0, addr, spot);
	if (!name || !name[0])
		return place_in_mapping(places, region, name, addr, spot);
	if (!strcmp(name, "[heap]"))
		return place_in_named(places, PFS_OBJECT_HEAP, "[heap]",
				      space->start_brk ? space->start_brk : region->start, addr, spot);
	if (!strcmp(name, "[stack]"))
		return place_in_named(places, PFS_OBJECT_STACK, "[stack]", region->end, addr, spot);
	if (name[0] == '[')
		return place_in_named(places, PFS_OBJECT_SPECIAL, name, region->start, addr, spot);
	return place_in_file(places, region, name, addr, spot);
}

/* ---- numbers ---- */

static int number_object(struct pfs_places *places, struct object *object)
{
	struct image *image = object->image;
	struct namesakes *files;

	if (object->pub.nr)
		return 0;
	if (!image) {
		files = PFS_HASH_GET(places->names, name, object->pub.name);
		object->pub.nr = files ? ++files->nr : 0;
	} else if (object->pub.kind == PFS_OBJECT_ANON) {
		object->pub.nr = ++image->nr_anon;
	} else if (!strcmp(object->pub.name, "?")) {
		object->pub.nr = ++image->nr_unknown;
	} else {
		object->pub.nr = 1;
	}
	object->pub.image = image ? image->nr : 0;
	return object->pub.nr ? 0 : -ENOMEM;
}

/* The page itself, `by` pages from the spot's. */
static int number_frame(struct pfs_places *places, const struct pfs_spot *spot, int64_t by, struct pfs_ref *ref)
{
	int64_t page = spot->page + by;
	uint32_t key = spot->key, nr;
	bool new = false;
	int ret;

	if (spot->may_be_copy && (ref->access == PFS_WRITE || pfs_page_index_find(&places->frames, spot->copies_key,
										  spot->copies_page + by, &nr))) {
		key = spot->copies_key;
		page = spot->copies_page + by;
	}
	ret = pfs_page_index_get(&places->frames, key, page, &ref->frame, &new);
	ref->again = !new;
	return ret;
}

int pfs_places_number(struct pfs_places *places, const struct pfs_spot *spot, struct pfs_ref *ref)
{
	int64_t by = pages_between(places, spot->addr, ref->addr);
	int ret;

	if (!spot->image->nr)
		spot->image->nr = ++places->nr_images;
	ret = number_object(places, spot->object);
	if (!ret && !places->no_frames)
		ret = number_frame(places, spot, by, ref);
	ref->image = spot->image->nr;
	ref->object = &spot->object->pub;
	ref->page = spot->page + by;
	return ret;
}

void pfs_places_fini(struct pfs_places *places)
{
	struct image *image, *next_image;

	HASH_CLEAR(hh, places->files);
	while (places->objects) {
		struct object *object = places->objects;

		places->objects = object->next;
		free(object);
	}
	PFS_HASH_FREE(places->names);
	HASH_ITER (hh, places->images, image, next_image) {
		HASH_DEL(places->images, image);
		pfs_mappings_fini(&image->mappings);
		pfs_space_put(image->space);
		free(image);
	}
	pfs_page_index_fini(&places->frames);
}
