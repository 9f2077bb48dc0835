/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of images, groups of regions, threads and instructions, by which cells are counted. When there are too many,
 * all further ones share the last number.
 */
#include "plot/data_priv.h"

#include "base/array.h"
#include "model/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Adds a slot with that key, which is not in the table yet. NULL: no memory. */
static struct plot_slot *add_slot(struct plot_slot **table, const void *key, size_t len, uint32_t nr)
{
	struct plot_slot *slot = calloc(1, sizeof(*slot));

	if (!slot)
		return NULL;
	slot->nr = nr;
	memcpy(&slot->space, key, len);
	HASH_ADD_KEYPTR(hh, *table, &slot->space, len, slot);
	if (!HASH_ADD_FAILED(slot))
		return slot;
	free(slot);
	return NULL;
}

/* ---- images ---- */

int plot_image_number(struct pfs_plot_data *data, const struct pfs_space *space, uint32_t *nr)
{
	struct pfs_plot_image *image;
	struct plot_slot *slot;

	HASH_FIND_PTR(data->priv->images, &space, slot);
	*nr = slot ? slot->nr : data->nr_images;
	if (slot)
		return 0;
	if (*nr == PFS_PLOT_MAX_IMAGES) {
		data->images[--*nr].space = NULL;
		return 0;
	}
	image = pfs_array_add(data->images, data->nr_images, data->max_images);
	if (!image || !add_slot(&data->priv->images, &space, sizeof(space), *nr))
		return -ENOMEM;
	*image = (struct pfs_plot_image){ .space = space, .pair = PFS_PLOT_NO_PAIR };
	return 0;
}

/* ---- groups ---- */

int plot_group_number(struct pfs_plot_data *data, uint32_t image, const char *name, uint32_t *nr)
{
	struct plot_slot *slot, key = { .group = { image, name } };
	struct pfs_plot_group *group;

	HASH_FIND(hh, data->priv->groups, &key.group, sizeof(key.group), slot);
	*nr = slot ? slot->nr : data->nr_groups;
	if (slot)
		return 0;
	if (*nr == PFS_PLOT_MAX_GROUPS) {
		data->groups[--*nr].name = "others";
		return 0;
	}
	group = pfs_array_add(data->groups, data->nr_groups, data->max_groups);
	if (!group)
		return -ENOMEM;
	*group = (struct pfs_plot_group){
		.image = image, .name = name, .pair = PFS_PLOT_NO_PAIR, .lone = PFS_PLOT_NO_PAIR
	};
	return add_slot(&data->priv->groups, &key.group, sizeof(key.group), *nr) ? 0 : -ENOMEM;
}

/* Extends [start, end) to hold the range as well; an end of 0 is the top of memory. */
static void extend(const struct pfs_plot_range *range, uint64_t *start, uint64_t *end)
{
	*start = range->start < *start ? range->start : *start;
	*end = range->end - 1 > *end - 1 ? range->end : *end;
}

int plot_group_reach(struct pfs_plot_group *group, uint64_t start, uint64_t end)
{
	struct pfs_plot_range *ranges = group->ranges;
	uint32_t at, to; /* the ranges that become one with this */

	at = to = pfs_lower_bound(group->nr_ranges, i, ranges[i].end != start && ranges[i].end - 1 < start);
	for (; to < group->nr_ranges && (!end || ranges[to].start <= end); to++)
		extend(&ranges[to], &start, &end);
	if (to == at && group->nr_ranges == PFS_PLOT_MAX_RANGES) { /* with its neighbour */
		at -= at == group->nr_ranges;
		to = at + 1;
		extend(&ranges[at], &start, &end);
	}
	if (to == at && !pfs_array_reserve(group->ranges, group->nr_ranges, group->max_ranges, 1))
		return -ENOMEM;
	ranges = group->ranges;
	memmove(ranges + at + 1, ranges + to, (group->nr_ranges - to) * sizeof(*ranges));
	group->nr_ranges += at + 1 - to;
	ranges[at] = (struct pfs_plot_range){ start, end, 0, 0 };
	return 0;
}

/* ---- threads ---- */

/* The number of a thread that was not seen before. */
static int new_thread(struct pfs_plot_data *data, const struct plot_thread *key, uint32_t *nr)
{
	struct pfs_plot_thread *thread;

	*nr = data->nr_threads;
	if (*nr == PFS_PLOT_MAX_THREADS) {
		data->threads[--*nr].tid = 0;
		return 0;
	}
	thread = pfs_array_add(data->threads, data->nr_threads, data->max_threads);
	if (!thread)
		return -ENOMEM;
	*thread = (struct pfs_plot_thread){ .pid = key->id.pid, .tid = key->id.tid };
	return 0;
}

int plot_thread_number(struct pfs_plot_data *data, const struct pfs_thread *thread, struct plot_slot **found)
{
	const struct plot_thread key = { .id = { thread->proc->pid, thread->tid } };
	struct plot_slot *slot = data->priv->last_thread;
	uint32_t nr;

	if (!slot || memcmp(&slot->thread.id, &key.id, sizeof(key.id)))
		HASH_FIND(hh, data->priv->threads, &key.id, sizeof(key.id), slot);
	if (!slot && !new_thread(data, &key, &nr))
		slot = add_slot(&data->priv->threads, &key.id, sizeof(key.id), nr);
	if (!slot)
		return -ENOMEM;
	if (data->threads[slot->nr].tid)
		data->threads[slot->nr].comm = thread->comm;
	*found = data->priv->last_thread = slot;
	return 0;
}

/* ---- instructions ---- */

/* Where the instruction is, by the layout of now. mode 0: not known. *site is all zeroes. */
static void locate(struct pfs_plot_site *site, const struct pfs_space *space, uint64_t ip, unsigned int mode)
{
	unsigned int at = pfs_space_lower(space, ip);
	const struct pfs_region *region = at < space->nr_live ? space->live[at] : NULL;
	const char *kind;

	site->off = ip;
	site->kind = (mode ? mode == PFS_KERNEL : ip >> 63) ? PFS_PLOT_IN_KERNEL : PFS_PLOT_IN_NOTHING;
	if (site->kind == PFS_PLOT_IN_KERNEL || !region || region->start > ip)
		return;
	site->name = pfs_region_name(space, region);
	kind = pfs_region_kind(region, site->name);
	site->name = kind ? kind : site->name;
	site->off = ip - region->start;
	site->kind = PFS_PLOT_IN_REGION;
	if (site->name[0] != '/' || !(region->have & PFS_HAS(PFS_F_OFF)))
		return;
	site->kind = PFS_PLOT_IN_FILE;
	site->off += region->off;
	if (region->have & PFS_HAS(PFS_F_INO)) {
		site->dev = region->dev;
		site->ino = region->ino;
	}
}

int plot_site_number(struct pfs_plot_data *data, const struct pfs_space *space, uint64_t ip, unsigned int mode,
		     uint32_t *nr)
{
	typeof(*data->priv->recent) *recent =
		&data->priv->recent[(ip ^ ip >> 12 ^ (uintptr_t)space >> 6) % PLOT_SITE_CACHE];
	struct pfs_plot_site site, *added;
	struct plot_slot *slot;

	*nr = recent->nr;
	if (recent->space == space && recent->ip == ip && recent->mode == mode && recent->layout == data->priv->layout)
		return 0;
	memset(&site, 0, sizeof(site));
	locate(&site, space, ip, mode);
	HASH_FIND(hh, data->priv->sites, &site, sizeof(site), slot);
	*nr = 0;
	if (!slot && data->nr_sites >= PFS_PLOT_MAX_SITES)
		return 0;
	if (!slot) {
		slot = add_slot(&data->priv->sites, &site, sizeof(site), data->nr_sites);
		added = slot ? pfs_array_add(data->sites, data->nr_sites, data->max_sites) : NULL;
		if (!added)
			return -ENOMEM;
		*added = site;
	}
	*nr = slot->nr;
	*recent = (typeof(*recent)){ space, ip, data->priv->layout, mode, slot->nr };
	return 0;
}

void plot_numbers_free(struct pfs_plot_data_private *priv)
{
	struct plot_slot *tables[] = { priv->images, priv->groups, priv->threads, priv->sites };

	for (unsigned int i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct plot_slot *slot = tables[i], *next;

		HASH_CLEAR(hh, tables[i]);
		for (; slot; slot = next) {
			next = slot->hh.next;
			free(slot);
		}
	}
}
