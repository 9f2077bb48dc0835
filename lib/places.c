/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects are made as they are first referenced, and so are numbered the same in every run that does the same,
 * wherever the kernel puts things. See places.h.
 */
#include "places.h"

#include "escape.h"
#include "hash.h"
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

const char *pfs_object_text(const struct pfs_object *object, char *buf, size_t size)
{
	size_t len;

	pfs_escape(buf, size, object->name, 0);
	len = strlen(buf);
	if (object->kind == PFS_OBJECT_ANON || object->nr > 1)
		snprintf(buf + len, size - len, "#%u", object->nr);
	return buf;
}

/* ---- whose ---- */

static struct image *image_of(struct pfs_places *places, const struct pfs_space *space)
{
	struct image *image;

	HASH_FIND_PTR(places->images, &space, image);
	if (image)
		return image;
	image = calloc(1, sizeof(*image));
	if (!image)
		return NULL;
	image->space = space;
	image->nr = places->nr_images + 1;
	HASH_ADD_PTR(places->images, space, image);
	if (!HASH_ADD_FAILED(image)) {
		places->nr_images++;
		return image;
	}
	free(image);
	return NULL;
}

/* ---- of what ---- */

static struct object *object_new(struct pfs_places *places, enum pfs_object_kind kind, const char *name,
				 uint32_t nr, uint32_t image)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->pub = (struct pfs_object){ kind, name, nr, image };
	object->key = places->nr_keys++;
	object->next = places->objects;
	places->objects = object;
	return object;
}

/* The number of the next object of everybody's with that name; 0: no memory. */
static uint32_t next_of_name(struct pfs_places *places, const char *name)
{
	struct namesakes *n;

	HASH_FIND_PTR(places->names, &name, n);
	if (n)
		return ++n->nr;
	n = calloc(1, sizeof(*n));
	if (!n)
		return 0;
	n->name = name;
	HASH_ADD_PTR(places->names, name, n);
	if (!HASH_ADD_FAILED(n))
		return n->nr = 1;
	free(n);
	return 0;
}

static struct object *file_of(struct pfs_places *places, const struct pfs_region *region, const char *name)
{
	bool has_inode = region->have & PFS_HAS(PFS_F_INO) && pfs_is_file(region->dev, region->ino);
	uint64_t key[2] = { has_inode ? region->dev : UINT64_MAX, has_inode ? region->ino : (uintptr_t)name };
	struct object *file;
	uint32_t nr;

	HASH_FIND(hh, places->files, key, sizeof(key), file);
	if (file)
		return file;
	nr = next_of_name(places, name);
	file = nr ? object_new(places, PFS_OBJECT_FILE, name, nr, 0) : NULL;
	if (!file)
		return NULL;
	memcpy(file->dev_ino, key, sizeof(key));
	HASH_ADD(hh, places->files, dev_ino, sizeof(key), file);
	return HASH_ADD_FAILED(file) ? NULL : file;	/* it is freed with all others */
}

/* What an image has one of: [heap], [stack], [vdso]. */
static struct object *named_of(struct pfs_places *places, struct image *image, enum pfs_object_kind kind,
			       const char *name)
{
	struct object *object;

	for (object = image->named; object; object = object->next_named)
		if (!strcmp(object->pub.name, name))
			return object;
	object = object_new(places, kind, name, 1, image->nr);
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

/*
 * Those of what was mapped there before the region. A region that was merged or split is as old as its oldest
 * part.
 */
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
static struct mapping *mapping_at(struct pfs_places *places, struct image *image,
				  const struct pfs_region *region, uint64_t addr, uint64_t now_ns)
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
					.key = places->nr_keys++ };
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

static int64_t pages_between(const struct pfs_places *places, uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) >> places->model->page_shift;
}

static int place_in_file(struct pfs_places *places, struct image *image, const char *name, struct pfs_ref *ref,
			 struct place *place)
{
	const struct pfs_region *region = ref->region;
	bool private = !(region->have & PFS_HAS(PFS_F_PERMS)) || !(region->perms & PFS_PERM_SHARED);
	struct mapping *copies;
	int64_t page;
	uint32_t nr;

	place->object = file_of(places, region, name);
	if (!place->object)
		return -ENOMEM;
	place->page = pages_between(places, region->start, ref->addr) +
		(int64_t)(region->have & PFS_HAS(PFS_F_OFF) ? region->off >> places->model->page_shift : 0);
	place->key = place->object->key;
	place->key_page = place->page;
	if (!private || !region->written)
		return 0;
	/* What was written is a page of its own, for the reader as well. */
	copies = mapping_at(places, image, region, ref->addr, ref->ts_ns);
	if (!copies)
		return -ENOMEM;
	page = pages_between(places, copies->base, ref->addr);
	if (ref->access == PFS_WRITE || pfs_page_index_find(&places->frames, copies->key, page, &nr)) {
		place->key = copies->key;
		place->key_page = page;
	}
	return 0;
}

static int place_in_mapping(struct pfs_places *places, struct image *image, const char *name,
			    const struct pfs_ref *ref, struct place *place)
{
	struct mapping *mapping = mapping_at(places, image, ref->region, ref->addr, ref->ts_ns);

	if (!mapping)
		return -ENOMEM;
	if (!mapping->object)
		mapping->object = name ?
			object_new(places, PFS_OBJECT_ANON, "anon", ++image->nr_anon, image->nr) :
			object_new(places, PFS_OBJECT_UNKNOWN, "?", ++image->nr_unknown, image->nr);
	if (!mapping->object)
		return -ENOMEM;
	place->object = mapping->object;
	place->page = pages_between(places, mapping->base, ref->addr);
	place->key = mapping->key;
	place->key_page = place->page;
	return 0;
}

/* In something that an image has one of, counted from that address. */
static int place_in_named(struct pfs_places *places, struct image *image, enum pfs_object_kind kind,
			  const char *name, uint64_t from, uint64_t addr, struct place *place)
{
	place->object = named_of(places, image, kind, name);
	if (!place->object)
		return -ENOMEM;
	place->page = place->key_page = pages_between(places, from, addr);
	place->key = place->object->key;
	return 0;
}

static int find_place(struct pfs_places *places, struct image *image, struct pfs_ref *ref, struct place *place)
{
	const struct pfs_region *region = ref->region;
	const char *name = ref->region_name;

	if (!region)
		return place_in_named(places, image, PFS_OBJECT_UNKNOWN, "(no known region)", 0, ref->addr, place);
	if (!name || !name[0])
		return place_in_mapping(places, image, name, ref, place);
	if (!strcmp(name, "[heap]"))
		return place_in_named(places, image, PFS_OBJECT_HEAP, "[heap]",
				      image->space->start_brk ? image->space->start_brk : region->start, ref->addr,
				      place);
	if (!strcmp(name, "[stack]"))
		return place_in_named(places, image, PFS_OBJECT_STACK, "[stack]", region->end, ref->addr, place);
	if (name[0] == '[')
		return place_in_named(places, image, PFS_OBJECT_SPECIAL, name, region->start, ref->addr, place);
	return place_in_file(places, image, name, ref, place);
}

int pfs_places_find(struct pfs_places *places, const struct pfs_space *space, struct pfs_ref *ref)
{
	struct image *image = image_of(places, space);
	struct place place;
	bool new;
	int ret = image ? find_place(places, image, ref, &place) : -ENOMEM;

	if (!ret)
		ret = pfs_page_index_get(&places->frames, place.key, place.key_page, &ref->frame, &new);
	if (ret)
		return ret;
	ref->image = image->nr;
	ref->object = &place.object->pub;
	ref->page = place.page;
	ref->again = !new;
	return 0;
}

void pfs_places_fini(struct pfs_places *places)
{
	struct namesakes *name, *next_name;
	struct image *image, *next_image;

	HASH_CLEAR(hh, places->files);
	while (places->objects) {
		struct object *object = places->objects;

		places->objects = object->next;
		free(object);
	}
	HASH_ITER(hh, places->names, name, next_name) {
		HASH_DEL(places->names, name);
		free(name);
	}
	HASH_ITER(hh, places->images, image, next_image) {
		HASH_DEL(places->images, image);
		free(image->mappings);
		free(image);
	}
	pfs_page_index_fini(&places->frames);
}
