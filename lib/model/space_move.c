/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Regions that mremap moves, and those that are unmapped as a whole: System V segments and rings of io_setup. */
#include "model/space_priv.h"

#include "model/presence.h"

#include <errno.h>
#include <string.h>

/* Whether the region is a piece of a segment attached at addr: by the offset, as in the kernel. */
static bool attached_at(const struct pfs_region *region, uint64_t addr)
{
	return region->segment_len && !strncmp(region->name, "/SYSV", 5) && region->start - addr == region->off;
}

void pfs_space_segment(const struct pfs_space *space, uint64_t addr, struct pfs_segment *segment)
{
	*segment = (struct pfs_segment){ .addr = addr };
	for (unsigned int i = pfs_space_lower(space, addr); i < space->nr_live; i++) {
		const struct pfs_region *r = space->live[i];

		if (!attached_at(r, addr))
			continue;
		segment->first = r->start;
		segment->len = r->segment_len;
		segment->ino = r->ino;
		return;
	}
}

int pfs_space_detach(struct pfs_space *space, const struct pfs_segment *segment, uint64_t now_ns)
{
	unsigned int i = pfs_space_lower(space, segment->addr);
	int err = 0;

	while (!err && segment->first && i < space->nr_live) {
		struct pfs_region *r = space->live[i++];

		if (!attached_at(r, segment->addr) || r->ino != segment->ino)
			continue;
		/* mremap may have enlarged it beyond the segment: then only the first piece is unmapped. */
		if (r->start != segment->first && r->end - segment->addr > segment->len)
			continue;
		if (!(r->traits & PFS_TRAIT_SEALED)) /* shmdt ignores sealed ones */
			err = space_retire(space, --i, now_ns);
	}
	return err;
}

static bool is_ring(const struct pfs_region *region)
{
	return KNOWS(region, PFS_F_NAME) && !strncmp(region->name, "/[aio]", 6);
}

/* A child inherits the mappings of its parent's rings, but cannot destroy them: the call fails. */
int pfs_space_destroy_ring(struct pfs_space *space, uint64_t addr, uint64_t now_ns)
{
	unsigned int i = pfs_space_lower(space, addr);

	if (i == space->nr_live || space->live[i]->start != addr || !is_ring(space->live[i]) ||
	    space->live[i]->inherited)
		return 0;
	space->had_rings = true;
	return space_retire(space, i, now_ns);
}

struct pfs_region *pfs_space_gone_ring(const struct pfs_space *space, uint64_t addr)
{
	for (unsigned int i = space->had_rings ? space->nr_retired : 0; i-- > 0;)
		if (space->retired[i]->start == addr && is_ring(space->retired[i]))
			return space->retired[i];
	return NULL;
}

/* Whether a live region was moved from this address. */
static bool moved_away(const struct pfs_space *space, uint64_t from)
{
	for (unsigned int i = 0; i < space->nr_live; i++)
		if (space->live[i]->moved_from == from)
			return true;
	return false;
}

int pfs_space_unmap_moved(struct pfs_space *space, const struct pfs_event *ev)
{
	uint64_t addr = ev->start;
	int err = 0;

	while (!err && addr < ev->end) {
		unsigned int i = pfs_space_lower(space, addr);
		uint64_t start, end;

		if (i == space->nr_live || space->live[i]->start >= ev->end)
			break;
		start = space->live[i]->start > addr ? space->live[i]->start : addr;
		end = space->live[i]->end < ev->end ? space->live[i]->end : ev->end;
		if (moved_away(space, start))
			err = pfs_space_unmap(space, start, end, ev->ts_ns);
		addr = end;
	}
	return err;
}

/* Whether the range is a part of a larger region, which the kernel splits. */
static bool is_split(struct pfs_space *space, const struct pfs_event *ev)
{
	const struct pfs_region *r = pfs_space_find(space, ev->start);

	return r && r->end >= ev->end && (r->start < ev->start || r->end > ev->end) &&
	       !(pfs_has(ev, PFS_F_ID) && KNOWS(r, PFS_F_ID) && r->id == ev->id);
}

/* Whether one region holds all of the range. Then only a move to a fixed address can have gone there. */
static bool is_within(struct pfs_space *space, const struct pfs_event *ev)
{
	const struct pfs_region *r = pfs_space_find(space, ev->start);

	return r && r->end >= ev->end;
}

int pfs_space_replace(struct pfs_space *space, const struct pfs_event *ev)
{
	struct pfs_event row = *ev;

	row.end = ev->start + ev->len;
	if (is_split(space, &row))
		return 0;
	return pfs_space_unmap(space, ev->start, ev->end, ev->ts_ns);
}

/*
 * A move to a fixed address may take several regions with the gaps between them. Narrows *move to the one that arrived in
 * [start, end); false: none. A length of 0 copies the region at from.
 */
static bool narrow_move(struct pfs_space *space, struct pfs_event *move)
{
	uint64_t from_end = move->from + move->len + !move->len;

	for (unsigned int i = pfs_space_lower(space, move->from);
	     i < space->nr_live && space->live[i]->start < from_end; i++) {
		const struct pfs_region *r = space->live[i];
		uint64_t start = r->start > move->from ? r->start : move->from;
		uint64_t end = r->end < from_end ? r->end : from_end;
		uint64_t to = move->addr + (start - move->from), len = move->len ? end - start : 0;

		if (to >= move->start && to + len <= move->end) {
			move->from = start;
			move->len = len;
			move->addr = to;
			return true;
		}
	}
	return false;
}

/* Maps [start, end) with the attributes that the region at ev->from has. */
static int map_as_source(struct pfs_space *space, const struct pfs_event *ev, bool merged)
{
	const struct pfs_region *source = pfs_space_find(space, ev->from);
	bool written = source && source->written, prepared = source && source->prepared;
	uint64_t since_ns = source ? source->since_ns : 0, source_len = source ? source->segment_len : 0;
	struct pfs_event map = *ev;
	struct pfs_region *dest;
	int err;

	map.kind = PFS_MAP;
	if (source && !merged) {
		map.have |= source->have & ATTRIBUTES;
		map.perms = source->perms;
		map.traits = source->traits;
		map.dev = source->dev;
		map.ino = source->ino;
		map.name = source->name;
		map.off = source->off + (space_is_file(source) ? ev->from - source->start : 0);
		if (pfs_region_is_private_zero(source) && !written) /* a move sets its offset to its new address */
			map.off = map.addr;
	}
	err = pfs_space_map(space, &map);
	dest = err ? NULL : pfs_space_find(space, ev->start);
	if (dest) {
		dest->written |= written;
		dest->prepared |= prepared;
		if (since_ns < dest->since_ns)
			dest->since_ns = since_ns;
		dest->moved_from = merged ? 0 : ev->from;
		dest->segment_len = source_len ? source_len : dest->segment_len;
	}
	return err;
}

/* Huge pages that do not fit are split before they are moved. */
static int split_moved(struct pfs_space *space, const struct pfs_event *move, uint64_t len)
{
	const uint64_t size = pfs_huge_size(pfs_pages_shift(space->pages)), end = move->from + len;
	const struct pfs_region *source = pfs_space_find(space, move->from);
	bool fit = !((move->addr ^ move->from) & (size - 1));
	int err = 0;

	for (uint64_t at = move->from & -size; source && !err && at < end; at += size)
		if (!fit || at < move->from || at + size > end)
			err = presence_split(space, source, at + 1, source->born_ns);
	return err;
}

bool pfs_space_has(struct pfs_space *space, const struct pfs_event *row)
{
	const struct pfs_region *r = pfs_space_find(space, row->start);

	return r && r->start == row->start && r->end == row->end && pfs_has(row, PFS_F_ID) && KNOWS(r, PFS_F_ID) &&
	       r->id == row->id;
}

int pfs_space_move(struct pfs_space *space, const struct pfs_event *ev)
{
	struct pfs_event move = *ev;
	struct pfs_region *dest;
	uint64_t room;
	int err = 0;

	if (pfs_has(ev, PFS_F_ADDR)) {
		if (is_split(space, ev) || !narrow_move(space, &move))
			return pfs_space_map(space, ev);
		err = pfs_space_unmap(space, move.addr, move.addr + move.len, ev->ts_ns);
	} else if (is_within(space, ev)) {
		return pfs_space_map(space, ev);
	}
	/* Merged into its new neighbour: only the part beyond the neighbour is new. */
	dest = pfs_has(ev, PFS_F_ID) ? space_identify(space, ev) : NULL;
	if (!pfs_has(ev, PFS_F_ADDR))
		move.addr = dest && dest->start <= ev->start ? dest->end : ev->start;
	room = ev->end > move.addr ? ev->end - move.addr : 0;
	if (!err)
		err = map_as_source(space, &move, dest);
	if (move.len < room)
		room = move.len;
	if (!err && space->presence)
		err = split_moved(space, &move, room);
	if (!err)
		err = pfs_pages_move(space->pages, move.from, move.from + room, space->pages, move.addr - move.from);
	if (!err && space->presence)
		err = pfs_pages_move(space->presence, move.from, move.from + room, space->presence,
				     move.addr - move.from)
			      ?: presence_end(space, move.from, move.from + room, ev->ts_ns)
				 /* What is learned of their faults is not about the new place. */
				 ?: presence_turn(space, move.addr, move.addr + room, PFS_MAYBE_FOLIO, PFS_MAYBE_AROUND,
						  ev->ts_ns);
	return err;
}
