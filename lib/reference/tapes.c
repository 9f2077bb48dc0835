/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From references to tapes.
 */
#include "reference/tapes.h"

#include "base/array.h"
#include "base/hash.h"
#include "reference/tape_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Where the tape of a process and thread is. Entries change places and are not copied: `before` is the last one among
 * the tape's bytes, `pending` the one under way (count 0: none).
 */
struct slot {
	uint32_t who[2];
	unsigned int tape;
	const char *comm; /* the model's copy */
	struct pfs_tape_entry entries[3], *before, *pending, *next;
	UT_hash_handle hh;
};

struct pfs_tapes *pfs_tapes_new(const struct pfs_model *model, const struct pfs_tape_options *options)
{
	struct pfs_tapes *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->options = *options;
	t->page_shift = model->page_shift;
	t->model = model;
	return t;
}

void pfs_tapes_free(struct pfs_tapes *t)
{
	if (!t)
		return;
	for (unsigned int i = 0; i < t->nr_tapes; i++) {
		free(t->tapes[i].comm);
		free(t->tapes[i].bytes);
	}
	for (unsigned int i = 0; i < t->nr_objects; i++)
		free((char *)t->objects[i].name);
	PFS_HASH_FREE(t->slots);
	free(t->object_nrs);
	free(t->objects);
	free(t->tapes);
	free(t);
}

/* ---- a tape ---- */

static int write_pending(struct pfs_tapes *t, struct slot *slot)
{
	struct pfs_tape *tape = &t->tapes[slot->tape];

	if (!slot->pending->count)
		return 0;
	if (!pfs_array_reserve(tape->bytes, tape->nr_bytes, tape->max_bytes, PFS_TAPE_ENTRY_MAX))
		return -ENOMEM;
	tape->nr_bytes += pfs_tape_encode(tape->bytes + tape->nr_bytes, &t->options, slot->pending, slot->before);
	tape->nr_entries++;
	tape->nr_refs += slot->pending->count;
	return 0;
}

static struct slot *slot_new(struct pfs_tapes *t, const uint32_t who[2])
{
	struct slot *slot;

	if (!pfs_array_reserve(t->tapes, t->nr_tapes, t->max_tapes, 1))
		return NULL;
	slot = calloc(1, sizeof(*slot));
	if (!slot)
		return NULL;
	memcpy(slot->who, who, sizeof(slot->who));
	slot->tape = t->nr_tapes;
	slot->before = &slot->entries[0];
	slot->pending = &slot->entries[1];
	slot->next = &slot->entries[2];
	HASH_ADD(hh, t->slots, who, sizeof(slot->who), slot);
	if (HASH_ADD_FAILED(slot)) {
		free(slot);
		return NULL;
	}
	t->tapes[t->nr_tapes++] = (struct pfs_tape){ .process = who[0], .thread = who[1] };
	return slot;
}

static struct slot *slot_of(struct pfs_tapes *t, const struct pfs_ref *ref)
{
	bool stable = t->options.stable;
	uint32_t who[2] = { stable ? ref->process : (uint32_t)ref->pid, stable ? ref->thread : (uint32_t)ref->tid };
	struct slot *slot = t->hot;

	if (t->options.by != PFS_TAPE_BY_THREAD)
		who[1] = 0;
	if (t->options.by == PFS_TAPE_OF_ALL)
		who[0] = 0;
	if (slot && !memcmp(slot->who, who, sizeof(who)))
		return slot;
	HASH_FIND(hh, t->slots, who, sizeof(who), slot);
	if (!slot)
		slot = slot_new(t, who);
	t->hot = slot;
	return slot;
}

/* ---- references ---- */

static int object_nr(struct pfs_tapes *t, const struct pfs_object *object, uint32_t *nr)
{
	struct pfs_object *copy;

	if (object->key >= t->nr_keys && !pfs_array_extend(t->object_nrs, t->nr_keys, object->key + (size_t)1))
		return -ENOMEM;
	*nr = t->object_nrs[object->key] - 1;
	if (t->object_nrs[object->key])
		return 0;
	*nr = t->nr_objects;
	copy = pfs_array_add(t->objects, t->nr_objects, t->max_objects);
	if (!copy)
		return -ENOMEM;
	*copy = *object;
	copy->name = strdup(object->name);
	t->object_nrs[object->key] = t->nr_objects;
	return copy->name ? 0 : -ENOMEM;
}

static uint64_t since_start(const struct pfs_model *model, uint64_t ts_ns)
{
	return ts_ns - pfs_model_base_ns(model);
}

static int fill_entry(struct pfs_tapes *t, const struct pfs_ref *ref, struct pfs_tape_entry *entry)
{
	entry->ts_ns = t->options.times ? since_start(t->model, ref->ts_ns) : 0;
	entry->interval_ns = ref->interval_ns;
	entry->sampled = ref->sampled;
	entry->count = 1;
	entry->image = ref->image;
	entry->page = t->options.stable ? ref->page : (int64_t)(ref->addr >> t->page_shift);
	entry->access = ref->access ? 1 << (ref->access - 1) : PFS_TAPE_UNKNOWN;
	return t->options.stable ? object_nr(t, ref->object, &entry->object) : 0;
}

/* A sampled reference and an exact one are never one entry. */
static bool same_page(const struct pfs_tape_entry *a, const struct pfs_tape_entry *b)
{
	return a->page == b->page && a->object == b->object && a->image == b->image && a->sampled == b->sampled &&
	       a->interval_ns == b->interval_ns;
}

int pfs_tapes_add(void *ctx, const struct pfs_ref *ref)
{
	struct pfs_tapes *t = ctx;
	struct slot *slot = slot_of(t, ref);
	int ret = slot ? fill_entry(t, ref, slot->next) : -ENOMEM;
	struct pfs_tape_entry *written;

	if (ret)
		return ret;
	if (ref->comm && (t->options.by == PFS_TAPE_BY_THREAD || ref->tid == ref->pid || !slot->comm))
		slot->comm = ref->comm;
	if (slot->pending->count && same_page(slot->pending, slot->next)) {
		slot->pending->count++;
		slot->pending->access |= slot->next->access;
		return 0;
	}
	ret = write_pending(t, slot);
	written = slot->pending;
	slot->pending = slot->next;
	slot->next = slot->before;
	slot->before = written;
	return ret;
}

/* ---- the end ---- */

static int by_who(const void *a, const void *b)
{
	const struct pfs_tape *x = a, *y = b;

	return pfs_order(x->process, y->process) ?: pfs_order(x->thread, y->thread);
}

int pfs_tapes_finish(struct pfs_tapes *t, const struct pfs_refs_stats *stats)
{
	const struct pfs_model *model = t->model;
	struct slot *slot, *next;
	int ret = 0;

	HASH_ITER (hh, t->slots, slot, next) {
		struct pfs_tape *tape = &t->tapes[slot->tape];

		if (!ret)
			ret = write_pending(t, slot);
		if (!tape->process || !slot->comm)
			continue;
		tape->comm = strdup(slot->comm);
		if (!tape->comm)
			ret = -ENOMEM;
	}
	t->gaps = (struct pfs_tape_gaps){
		.sampled = stats->sampled,
		.unasked = stats->unasked,
		.unasked_huge = stats->unasked_huge,
		.outside = stats->outside,
		.counted = stats->counted,
		.refault = stats->refault,
		.lost = model->lost,
		.lost_unknown = model->lost_unknown,
	};
	if (t->nr_tapes)
		qsort(t->tapes, t->nr_tapes, sizeof(*t->tapes), by_who);
	return ret;
}

/* ---- walking ---- */

void pfs_tape_rewind(struct pfs_tape_cursor *cursor, const struct pfs_tapes *tapes, const struct pfs_tape *tape)
{
	*cursor = (struct pfs_tape_cursor){ .tapes = tapes,
					    .at = tape->bytes,
					    .end = tape->bytes ? tape->bytes + tape->nr_bytes : NULL };
}

int pfs_tape_next(struct pfs_tape_cursor *cursor)
{
	int ret;

	if (cursor->at == cursor->end)
		return 0;
	ret = pfs_tape_decode(&cursor->at, cursor->end, &cursor->tapes->options, &cursor->last);
	if (!ret && cursor->tapes->options.stable && cursor->last.object >= cursor->tapes->nr_objects)
		ret = -EINVAL;
	return ret ? ret : 1;
}
