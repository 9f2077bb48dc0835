/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for what the cells of a plot are counted by: images, groups of regions, threads, instructions. When
 * there are too many the last number is everybody's.
 */
#include "plot/data_priv.h"

#include "base/array.h"
#include "model/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more at the end of an array of nr elements of that size, which grows by doubling. */
static int make_room(void *array, uint32_t nr, size_t size)
{
	void **elements = array, *larger;

	if (nr & (nr - 1) && nr)
		return 0;
	larger = realloc(*elements, (nr ? 2 * (size_t)nr : 1) * size);
	if (!larger)
		return -ENOMEM;
	*elements = larger;
	return 0;
}

/* ---- images ---- */

int plot_image_number(struct pfs_plot_data *data, const struct pfs_space *space, uint32_t *nr)
{
	struct plot_image_slot *slot;
	int ret;

	HASH_FIND_PTR(data->priv->images, &space, slot);
	if (slot) {
		*nr = slot->nr;
		return 0;
	}
	*nr = data->nr_images;
	if (*nr == PFS_PLOT_MAX_IMAGES) {
		data->images[--*nr].space = NULL;
		return 0;
	}
	ret = make_room(&data->images, *nr, sizeof(*data->images));
	slot = ret ? NULL : calloc(1, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	slot->space = space;
	slot->nr = *nr;
	HASH_ADD_PTR(data->priv->images, space, slot);
	if (HASH_ADD_FAILED(slot)) {
		free(slot);
		return -ENOMEM;
	}
	data->images[data->nr_images++] = (struct pfs_plot_image){ .space = space };
	return 0;
}

/* ---- groups ---- */

int plot_group_number(struct pfs_plot_data *data, uint32_t image, const char *name, uint32_t *nr)
{
	struct plot_group_slot *slot, key = { .key = { image, name } };
	int ret;

	HASH_FIND(hh, data->priv->groups, &key.key, sizeof(key.key), slot);
	if (slot) {
		*nr = slot->nr;
		return 0;
	}
	*nr = data->nr_groups;
	if (*nr == PFS_PLOT_MAX_GROUPS) {
		data->groups[--*nr].name = "others";
		return 0;
	}
	ret = make_room(&data->groups, *nr, sizeof(*data->groups));
	slot = ret ? NULL : calloc(1, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	slot->key = key.key;
	slot->nr = *nr;
	HASH_ADD(hh, data->priv->groups, key, sizeof(slot->key), slot);
	if (HASH_ADD_FAILED(slot)) {
		free(slot);
		return -ENOMEM;
	}
	data->groups[data->nr_groups++] = (struct pfs_plot_group){ .image = image, .name = name };
	return 0;
}

/* Index of the first range that ends at start or later. */
static unsigned int range_lower(const struct pfs_plot_group *group, uint64_t start)
{
	return pfs_lower_bound(group->nr_ranges, i, group->ranges[i].end != start && group->ranges[i].end - 1 < start);
}

int plot_group_reach(struct pfs_plot_group *group, uint64_t start, uint64_t end)
{
	unsigned int at = range_lower(group, start), to = at;
	struct pfs_plot_range *ranges;

	/* The end of the topmost region is 0. */
	for (; to < group->nr_ranges && (!end || group->ranges[to].start <= end); to++) {
		start = group->ranges[to].start < start ? group->ranges[to].start : start;
		end = group->ranges[to].end - 1 > end - 1 ? group->ranges[to].end : end;
	}
	if (to == at && group->nr_ranges == PFS_PLOT_MAX_RANGES) { /* with its neighbour */
		at -= at == group->nr_ranges;
		to = at + 1;
		start = group->ranges[at].start < start ? group->ranges[at].start : start;
		end = group->ranges[at].end - 1 > end - 1 ? group->ranges[at].end : end;
	}
	if (to == at) {
		if (make_room(&group->ranges, group->nr_ranges, sizeof(*group->ranges)))
			return -ENOMEM;
		memmove(group->ranges + at + 1, group->ranges + at, (group->nr_ranges - at) * sizeof(*ranges));
		group->nr_ranges++;
	} else {
		memmove(group->ranges + at + 1, group->ranges + to, (group->nr_ranges - to) * sizeof(*ranges));
		group->nr_ranges -= to - at - 1;
	}
	group->ranges[at] = (struct pfs_plot_range){ start, end };
	return 0;
}

/* ---- threads ---- */

static int new_thread(struct pfs_plot_data *data, struct plot_thread_slot *slot)
{
	slot->nr = data->nr_threads;
	if (slot->nr == PFS_PLOT_MAX_THREADS) {
		data->threads[--slot->nr].tid = 0;
		return 0;
	}
	if (make_room(&data->threads, slot->nr, sizeof(*data->threads)))
		return -ENOMEM;
	data->threads[data->nr_threads++] = (struct pfs_plot_thread){ .pid = slot->key.pid, .tid = slot->key.tid };
	return 0;
}

int plot_thread_number(struct pfs_plot_data *data, const struct pfs_thread *thread, struct plot_thread_slot **found)
{
	struct plot_thread_slot key = { .key = { thread->proc->pid, thread->tid } }, *slot = data->priv->last_thread;

	if (!slot || memcmp(&slot->key, &key.key, sizeof(key.key)))
		HASH_FIND(hh, data->priv->threads, &key.key, sizeof(key.key), slot);
	if (!slot) {
		slot = calloc(1, sizeof(*slot));
		if (!slot)
			return -ENOMEM;
		slot->key = key.key;
		if (new_thread(data, slot)) {
			free(slot);
			return -ENOMEM;
		}
		HASH_ADD(hh, data->priv->threads, key, sizeof(slot->key), slot);
		if (HASH_ADD_FAILED(slot)) {
			free(slot);
			return -ENOMEM;
		}
	}
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

static int new_site(struct pfs_plot_data *data, struct plot_site_slot *slot)
{
	if (make_room(&data->sites, data->nr_sites, sizeof(*data->sites)))
		return -ENOMEM;
	slot->nr = data->nr_sites;
	HASH_ADD(hh, data->priv->sites, key, sizeof(slot->key), slot);
	if (HASH_ADD_FAILED(slot))
		return -ENOMEM;
	data->sites[data->nr_sites++] = slot->key;
	return 0;
}

int plot_site_number(struct pfs_plot_data *data, const struct pfs_space *space, uint64_t ip, unsigned int mode,
		     uint32_t *nr)
{
	typeof(*data->priv->recent) *recent =
		&data->priv->recent[(ip ^ ip >> 12 ^ (uintptr_t)space >> 6) % PLOT_SITE_CACHE];
	struct pfs_plot_site site;
	struct plot_site_slot *slot;

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
		slot = calloc(1, sizeof(*slot));
		if (!slot)
			return -ENOMEM;
		slot->key = site;
		if (new_site(data, slot)) {
			free(slot);
			return -ENOMEM;
		}
	}
	*nr = slot->nr;
	*recent = (typeof(*recent)){ space, ip, data->priv->layout, mode, slot->nr };
	return 0;
}

void plot_numbers_free(struct pfs_plot_data_private *priv)
{
	struct plot_thread_slot *thread, *next_thread;
	struct plot_image_slot *image, *next_image;
	struct plot_group_slot *group, *next_group;
	struct plot_site_slot *site, *next_site;

	if (!priv)
		return;
	HASH_ITER (hh, priv->threads, thread, next_thread) {
		HASH_DEL(priv->threads, thread);
		free(thread);
	}
	HASH_ITER (hh, priv->images, image, next_image) {
		HASH_DEL(priv->images, image);
		free(image);
	}
	HASH_ITER (hh, priv->groups, group, next_group) {
		HASH_DEL(priv->groups, group);
		free(group);
	}
	HASH_ITER (hh, priv->sites, site, next_site) {
		HASH_DEL(priv->sites, site);
		free(site);
	}
}
