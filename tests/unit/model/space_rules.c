/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An address space's single rules, one a test: moves, segments, rings, what a fork copies, what is
 * filled in. That they add up on random changes is model/space.c's.
 */
#include "support/feed.h"

#include "model/space.h"
#include "support/page_at.h"

#include <stdio.h>

enum { PID = 7 };

static struct pfs_space *space_of(const struct feed *f, int32_t pid)
{
	return pfs_proc_space(pfs_model_proc(f->model, pid));
}

/* The live regions as "start-end+off:name", in pages; "?" for a name not known. */
static void assert_layout(const struct pfs_space *space, const char *expected)
{
	char buf[1024];
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < space->nr_live; i++) {
		const struct pfs_region *r = space->live[i];
		const char *name = pfs_region_name(space, r);

		len += snprintf(buf + len, sizeof(buf) - len, "%s%lx-%lx+%lx:%s", i ? " " : "", (long)r->start >> 12,
				(long)r->end >> 12, (long)r->off >> 12, name ? name : "?");
	}
	assert_string_equal(buf, expected);
}

static void assert_live(const struct feed *f, const char *expected)
{
	assert_layout(space_of(f, PID), expected);
}

static bool is_touched(const struct feed *f, uint64_t addr)
{
	return page_at(space_of(f, PID)->pages, addr);
}

/* A private file mapping of /f at that address, from that page of the file on. */
static void map_file(struct feed *f, uint64_t start, uint64_t end, uint64_t off)
{
	feed_maps_line(f, start, end, RW, off, 1, 9, "/f");
}

/* As mremap with MREMAP_FIXED to `addr` says it, for each row that it leaves. */
static void move_fixed(struct feed *f, uint64_t from, uint64_t len, uint64_t addr, uint64_t start, uint64_t end,
		       uint64_t id)
{
	struct pfs_event ev =
		feed_event(f, PFS_MOVE, HAS(START) | HAS(END) | HAS(FROM) | HAS(LEN) | HAS(ADDR) | HAS(ID));

	ev.from = from;
	ev.len = len;
	ev.addr = addr;
	ev.start = start;
	ev.end = end;
	ev.id = id;
	feed_apply(f, &ev);
}

static void move_identified(struct feed *f, uint64_t from, uint64_t len, uint64_t start, uint64_t end, uint64_t id)
{
	struct pfs_event ev = feed_event(f, PFS_MOVE, HAS(START) | HAS(END) | HAS(FROM) | HAS(LEN) | HAS(ID));

	ev.from = from;
	ev.len = len;
	ev.start = start;
	ev.end = end;
	ev.id = id;
	feed_apply(f, &ev);
}

/* ---- moves ---- */

static void test_a_move_takes_its_pages_along(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x104000, 0x3000);
	feed_fault(&f, 0x101000, PFS_WRITE);
	feed_move(&f, 0x100000, 0x4000, 0x200000, 0x206000);
	feed_unmap(&f, 0x100000, 0x104000);
	assert_live(&f, "200-206+3:/f");
	assert_true(is_touched(&f, 0x201000));
	assert_false(is_touched(&f, 0x101000));
	feed_free(&f);
}

static void test_a_move_that_shrinks(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x104000, 0);
	feed_faults(&f, 0x100000, 4, PFS_WRITE);
	feed_move(&f, 0x100000, 0x4000, 0x200000, 0x202000);
	assert_true(is_touched(&f, 0x201000));
	assert_false(is_touched(&f, 0x202000)); /* what did not fit stays, and goes by its unmap */
	assert_true(is_touched(&f, 0x102000));
	feed_free(&f);
}

/* An old length of 0 maps the pages of a shared mapping a second time. */
static void test_a_copy_to_a_fixed_address(void **state)
{
	for (uint64_t into = 0; into <= 0x1000; into += 0x1000) {
		struct feed f = feed_new(PID);

		feed_maps_line(&f, 0x100000, 0x104000, RW | S, 0x3000, 1, 9, "/f");
		move_fixed(&f, 0x100000 + into, 0, 0x200000, 0x200000, 0x202000, 7);
		assert_live(&f, into ? "100-104+3:/f 200-202+4:/f" : "100-104+3:/f 200-202+3:/f");
		feed_free(&f);
	}
}

static void test_a_moved_region_was_written(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x101000, 0);
	feed_fault(&f, 0x100000, PFS_WRITE);
	feed_move(&f, 0x100000, 0x1000, 0x200000, 0x201000);
	assert_true(pfs_space_find(space_of(&f, PID), 0x200000)->written);
	feed_free(&f);
}

/* It arrived beside a region that it could be merged with: that one grew. */
static void test_a_move_that_merges(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x102000, 0x2000);
	map_file(&f, 0x200000, 0x202000, 0);
	feed_row(&f, 0x200000, 0x202000, 5);
	feed_faults(&f, 0x100000, 2, PFS_WRITE);
	move_identified(&f, 0x100000, 0x2000, 0x200000, 0x204000, 5);
	feed_unmap(&f, 0x100000, 0x102000);
	assert_live(&f, "200-204+0:/f");
	assert_false(is_touched(&f, 0x200000));
	assert_true(is_touched(&f, 0x202000));
	assert_true(is_touched(&f, 0x203000));
	feed_free(&f);
}

static void test_several_regions_move(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x101000, 0x1000);
	map_file(&f, 0x103000, 0x104000, 0x7000);
	map_file(&f, 0x200000, 0x204000, 0x50000); /* at the target */
	feed_fault(&f, 0x100000, PFS_WRITE);
	feed_fault(&f, 0x103000, PFS_WRITE);
	/* What each is to replace is split off first. */
	move_fixed(&f, 0x100000, 0x4000, 0x200000, 0x201000, 0x204000, 70);
	move_fixed(&f, 0x100000, 0x4000, 0x200000, 0x200000, 0x201000, 5);
	move_fixed(&f, 0x100000, 0x4000, 0x200000, 0x201000, 0x203000, 71);
	move_fixed(&f, 0x100000, 0x4000, 0x200000, 0x203000, 0x204000, 6);
	feed_unmap(&f, 0x100000, 0x104000);
	/* The hole between them stays what it was there. */
	assert_live(&f, "200-201+1:/f 201-203+51:/f 203-204+7:/f");
	assert_true(is_touched(&f, 0x200000));
	assert_true(is_touched(&f, 0x203000));
	feed_free(&f);
}

/* A written page, and a region of identity 5 that is to be moved over. */
static struct feed written_and_target(const char *kernel)
{
	struct feed f = feed_new(PID);

	feed_note(&f, "kernel", kernel, false);
	map_file(&f, 0x100000, 0x102000, 0x1000);
	map_file(&f, 0x200000, 0x202000, 0x50000);
	feed_row(&f, 0x200000, 0x202000, 5);
	feed_fault(&f, 0x100000, PFS_WRITE);
	return f;
}

/* 6.1 has a row of what it removes at the target, before that of the move, which may reuse the identity. */
static void test_what_a_move_removes_is_no_move(void **state)
{
	struct feed f = written_and_target("6.1.0-49-amd64");

	feed_fault(&f, 0x201000, PFS_WRITE);
	move_fixed(&f, 0x100000, 0x2000, 0x200000, 0x200000, 0x202000, 5);
	assert_true(is_touched(&f, 0x100000));
	feed_unmap(&f, 0x200000, 0x202000);
	move_fixed(&f, 0x100000, 0x2000, 0x200000, 0x200000, 0x202000, 5);
	feed_unmap(&f, 0x100000, 0x102000);
	assert_live(&f, "200-202+1:/f");
	assert_true(is_touched(&f, 0x200000));
	assert_false(is_touched(&f, 0x201000));
	feed_free(&f);
}

/* 6.18 has none, and the region that is moved there may have the identity of what was there. */
static void test_a_move_reuses_an_identity(void **state)
{
	struct feed f = written_and_target("6.18.0");

	move_fixed(&f, 0x100000, 0x2000, 0x200000, 0x200000, 0x202000, 5);
	feed_unmap(&f, 0x100000, 0x102000);
	assert_live(&f, "200-202+1:/f");
	assert_true(is_touched(&f, 0x200000));
	feed_free(&f);
}

static void test_a_part_of_a_region_moves(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x108000, 0);
	move_fixed(&f, 0x102000, 0x2000, 0x200000, 0x200000, 0x202000, 5);
	feed_unmap(&f, 0x102000, 0x104000);
	assert_live(&f, "100-102+0:/f 104-108+4:/f 200-202+2:/f");
	feed_free(&f);
}

/* What a row at the target splits off is another's, not what was moved. */
static void test_a_split_at_the_target_is_no_move(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x102000, 0);
	map_file(&f, 0x200000, 0x204000, 0x50000);
	move_fixed(&f, 0x100000, 0x2000, 0x200000, 0x202000, 0x204000, 5);
	assert_live(&f, "100-102+0:/f 200-202+50:/f 202-204+52:/f");
	assert_int_equal(pfs_space_find(space_of(&f, PID), 0x202000)->id, 5);
	feed_free(&f);
}

static void test_where_nothing_was_nothing_moves(void **state)
{
	struct feed f = feed_new(PID);

	move_fixed(&f, 0x100000, 0x2000, 0x200000, 0x200000, 0x202000, 5);
	assert_live(&f, "200-202+0:?");
	feed_free(&f);
}

/* Several were to move, and not all did: those that have arrived are gone from where they were. */
static void test_unmap_of_what_has_moved(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	map_file(&f, 0x100000, 0x101000, 0);
	map_file(&f, 0x103000, 0x104000, 0);
	move_fixed(&f, 0x100000, 0x4000, 0x200000, 0x200000, 0x201000, 5);
	ev = feed_event(&f, PFS_UNMAP, HAS(START) | HAS(END) | HAS(OP));
	ev.start = 0x100000;
	ev.end = 0x104000;
	ev.op = PFS_OP_MOVED;
	feed_apply(&f, &ev);
	assert_live(&f, "103-104+0:/f 200-201+0:/f");
	feed_free(&f);
}

static void test_private_zero_is_numbered_anew(void **state)
{
	struct feed f = feed_new(PID);

	feed_maps_line(&f, 0x100000, 0x101000, RW, 0, 1, 4, "/dev/zero");
	feed_maps_line(&f, 0x110000, 0x111000, RW, 0, 1, 4, "/dev/zero");
	feed_maps_line(&f, 0x120000, 0x121000, RW | S, 0, 1, 4, "/dev/zero");
	feed_fault(&f, 0x110000, PFS_WRITE);
	feed_move(&f, 0x100000, 0x1000, 0x200000, 0x201000);
	feed_move(&f, 0x110000, 0x1000, 0x210000, 0x211000); /* it was written to */
	feed_move(&f, 0x120000, 0x1000, 0x220000, 0x221000); /* it is shared */
	feed_unmap(&f, 0x100000, 0x121000);
	assert_live(&f, "200-201+200:/dev/zero 210-211+0:/dev/zero 220-221+0:/dev/zero");
	feed_free(&f);
}

static void test_guarded_zero_keeps_its_offset(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	feed_maps_line(&f, 0x100000, 0x101000, RW, 0, 1, 4, "/dev/zero");
	ev = feed_event(&f, PFS_PROTECT, HAS(START) | HAS(END) | HAS(TRAITS));
	ev.start = 0x100000;
	ev.end = 0x101000;
	ev.traits = PFS_TRAIT_GUARDED;
	feed_apply(&f, &ev);
	feed_move(&f, 0x100000, 0x1000, 0x200000, 0x201000);
	assert_int_equal(pfs_space_find(space_of(&f, PID), 0x200000)->off, 0);
	feed_free(&f);
}

/* ---- segments and rings ---- */

static void attach(struct feed *f, uint64_t start, uint64_t end, uint64_t ino)
{
	feed_maps_line(f, start, end, RW | S, 0, 1, ino, "/SYSV00000000 (deleted)");
}

/* shmdt, both of its events; `between` happens meanwhile. */
static void detach_while(struct feed *f, uint64_t addr, void (*between)(struct feed *f))
{
	for (int last = 0; last < 2; last++) {
		struct pfs_event ev = feed_event(f, PFS_UNMAP, HAS(START) | HAS(OP));

		ev.start = addr;
		ev.op = last ? PFS_OP_DETACH : PFS_OP_DETACH_BEGIN;
		feed_apply(f, &ev);
		if (!last && between)
			between(f);
	}
}

static void detach(struct feed *f, uint64_t addr)
{
	detach_while(f, addr, NULL);
}

static void test_detach(void **state)
{
	struct feed f = feed_new(PID);

	attach(&f, 0x100000, 0x104000, 5);
	attach(&f, 0x104000, 0x106000, 6);
	map_file(&f, 0x106000, 0x107000, 0x6000);
	detach(&f, 0x101000); /* nothing begins there */
	detach(&f, 0x106000); /* no segment */
	assert_int_equal(space_of(&f, PID)->nr_live, 3);
	detach(&f, 0x100000);
	assert_live(&f, "104-106+0:/SYSV00000000 (deleted) 106-107+6:/f");
	feed_free(&f);
}

static void test_detach_in_pieces(void **state)
{
	struct feed f = feed_new(PID);

	attach(&f, 0x100000, 0x106000, 5);
	feed_unmap(&f, 0x100000, 0x101000); /* even its beginning may be gone */
	feed_unmap(&f, 0x103000, 0x104000);
	detach(&f, 0x100000);
	assert_live(&f, "");
	feed_free(&f);
}

static void attach_another(struct feed *f)
{
	feed_unmap(f, 0x102000, 0x104000);
	feed_maps_line(f, 0x102000, 0x104000, RW | S, 0x2000, 1, 6, "/SYSV00000001");
}

static void test_detach_leaves_other_segments(void **state)
{
	struct feed f = feed_new(PID);

	attach(&f, 0x100000, 0x104000, 5);
	detach_while(&f, 0x100000, attach_another);
	assert_live(&f, "102-104+2:/SYSV00000001");
	feed_free(&f);
}

/* mremap made the second piece longer than the segment is. */
static void test_detach_leaves_what_reaches_beyond(void **state)
{
	struct feed f = feed_new(PID);

	attach(&f, 0x100000, 0x104000, 5);
	feed_unmap(&f, 0x101000, 0x102000);
	map_file(&f, 0x110000, 0x111000, 0);
	feed_row(&f, 0x102000, 0x104000, 8);
	feed_row(&f, 0x102000, 0x108000, 8);
	detach(&f, 0x100000);
	assert_live(&f, "102-108+2:/SYSV00000000 (deleted) 110-111+0:/f");
	feed_free(&f);
}

static void test_detach_leaves_what_is_sealed(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	attach(&f, 0x100000, 0x104000, 5);
	ev = feed_event(&f, PFS_PROTECT, HAS(START) | HAS(END) | HAS(TRAITS));
	ev.start = 0x100000;
	ev.end = 0x104000;
	ev.traits = PFS_TRAIT_SEALED;
	feed_apply(&f, &ev);
	detach(&f, 0x100000);
	assert_live(&f, "100-104+0:/SYSV00000000 (deleted)");
	feed_free(&f);
}

/* The first segment of a machine: its inode is 0, and it is a file all the same. */
static void test_a_segment_of_inode_0(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	feed_maps_line(&f, 0x100000, 0x104000, RW | S, 0, 1, 0, "/SYSV00000000 (deleted)");
	ev = feed_event(&f, PFS_UNMAP, HAS(START) | HAS(END));
	ev.start = 0x100000;
	ev.end = 0x101000;
	feed_apply(&f, &ev);
	assert_live(&f, "101-104+1:/SYSV00000000 (deleted)");
	feed_free(&f);
}

static void destroy_ring(struct feed *f, uint64_t addr)
{
	struct pfs_event ev = feed_event(f, PFS_UNMAP, HAS(START) | HAS(OP));

	ev.op = PFS_OP_RING;
	ev.start = addr;
	feed_apply(f, &ev);
}

static void test_destroy_ring(void **state)
{
	struct feed f = feed_new(PID);

	feed_maps_line(&f, 0x100000, 0x104000, RW | S, 0, 1, 5, "/[aio] (deleted)");
	map_file(&f, 0x110000, 0x111000, 0);
	destroy_ring(&f, 0x101000);
	destroy_ring(&f, 0x110000);
	assert_int_equal(space_of(&f, PID)->nr_live, 2);
	destroy_ring(&f, 0x100000);
	assert_live(&f, "110-111+0:/f");
	feed_free(&f);
}

/* A child inherits the memory of its parent's rings, but not the rings: its io_destroy fails. */
static void test_destroy_ring_of_the_parent(void **state)
{
	struct feed f = feed_new(PID);

	feed_maps_line(&f, 0x100000, 0x104000, RW | S, 0, 1, 5, "/[aio] (deleted)");
	feed_fork(&f, PID + 1, false);
	f.pid = f.tid = PID + 1;
	destroy_ring(&f, 0x100000);
	assert_int_equal(space_of(&f, PID + 1)->nr_live, 1);
	f.pid = f.tid = PID;
	destroy_ring(&f, 0x100000);
	assert_int_equal(space_of(&f, PID)->nr_live, 0);
	feed_free(&f);
}

/* Told when the call begins; what the call itself then touches is the ring's, nothing later is. */
static void test_destroy_ring_touches_it(void **state)
{
	struct feed f = feed_new(PID);
	const struct pfs_space *space;
	struct pfs_event ev;

	feed_maps_line(&f, 0x100000, 0x104000, RW | S, 0, 1, 5, "/[aio] (deleted)");
	destroy_ring(&f, 0x100000);
	ev = feed_event(&f, PFS_FAULT, HAS(ADDR) | HAS(MODE) | HAS(ACCESS));
	ev.addr = 0x100080;
	ev.mode = PFS_KERNEL;
	ev.access = PFS_READ;
	feed_apply(&f, &ev);
	feed_apply(&f, &ev);
	space = space_of(&f, PID);
	assert_int_equal(space->nr_retired, 1);
	assert_int_equal(page_at(space->retired[0]->pages, 0x100000)->nr_faults, 1);
	assert_int_equal(pfs_model_proc(f.model, PID)->counts.outside, 1);
	feed_free(&f);
}

/* ---- statements: a map with identity and permissions ---- */

static void state(struct feed *f, uint64_t start, uint64_t end, uint64_t id, uint64_t off, uint64_t ino)
{
	struct pfs_event ev = feed_event(
		f, PFS_MAP, HAS(START) | HAS(END) | HAS(ID) | HAS(PERMS) | HAS(OFF) | HAS(DEV) | HAS(INO) | HAS(NAME));

	ev.start = start;
	ev.end = end;
	ev.id = id;
	ev.perms = RW;
	ev.off = off;
	ev.dev = ino ? 1 : 0;
	ev.ino = ino;
	ev.name = ino ? "/f" : "";
	feed_apply(f, &ev);
}

/* Whatever identities its parts had, and whether all of it was mapped. */
static void test_a_statement_keeps_the_pages_of_the_same_mapping(void **unused)
{
	struct feed f = feed_new(PID);

	state(&f, 0x100000, 0x110000, 1, 0, 9);
	feed_faults(&f, 0x100000, 16, PFS_READ);
	state(&f, 0x108000, 0x110000, 2, 0x8000, 9);
	state(&f, 0x108000, 0x110000, 3, 0x8000, 9);
	state(&f, 0x104000, 0x114000, 4, 0x4000, 9);
	assert_live(&f, "100-104+0:/f 104-114+4:/f");
	assert_int_equal(space_of(&f, PID)->live[1]->id, 4);
	assert_int_equal(space_of(&f, PID)->nr_retired, 0);
	for (uint64_t addr = 0x100000; addr < 0x110000; addr += PAGE)
		assert_true(is_touched(&f, addr));
	feed_free(&f);
}

/* Another file, another place in it, no file: the unmap was not reported. */
static void test_a_statement_replaces_other_mappings(void **unused)
{
	static const struct {
		uint64_t off, ino;
	} other[] = { { 0, 8 }, { 0x1000, 9 }, { 0, 0 } };

	for (int i = 0; i < 3; i++) {
		struct feed f = feed_new(PID);

		state(&f, 0x100000, 0x104000, 1, 0, 9);
		feed_faults(&f, 0x100000, 4, PFS_READ);
		state(&f, 0x101000, 0x103000, 2, 0x1000 + other[i].off, other[i].ino);
		assert_int_equal(space_of(&f, PID)->nr_live, 3);
		assert_int_equal(space_of(&f, PID)->nr_retired, 1);
		for (uint64_t addr = 0x100000; addr < 0x104000; addr += PAGE)
			assert_int_equal(is_touched(&f, addr), addr < 0x101000 || addr >= 0x103000);
		feed_free(&f);
	}
}

/* ---- fork ---- */

static void test_a_copy_told_row_by_row(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event begin;

	map_file(&f, 0x100000, 0x101000, 0);
	map_file(&f, 0x110000, 0x111000, 0x3000); /* MADV_DONTFORK: no row */
	begin = feed_event(&f, PFS_FORK, 0);
	feed_apply(&f, &begin);
	f.space = PFS_SPACE_FORK;
	feed_row(&f, 0x100000, 0x101000, 50);
	f.space = 0;
	feed_fork(&f, 8, false);
	assert_layout(space_of(&f, 8), "100-101+0:/f");
	assert_live(&f, "100-101+0:/f 110-111+3:/f");
	feed_free(&f);
}

/* Its io_destroy had begun, in another thread, but the fork came first: the child has it, not as its own. */
static void test_a_copy_has_the_leaving_ring(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event begin;

	feed_maps_line(&f, 0x100000, 0x104000, RW | S, 0, 1, 5, "/[aio] (deleted)");
	map_file(&f, 0x110000, 0x111000, 0);
	destroy_ring(&f, 0x100000);
	begin = feed_event(&f, PFS_FORK, 0);
	feed_apply(&f, &begin);
	f.space = PFS_SPACE_FORK;
	feed_row(&f, 0x100000, 0x104000, 50);
	feed_row(&f, 0x110000, 0x111000, 51);
	f.space = 0;
	feed_fork(&f, PID + 1, false);
	assert_layout(space_of(&f, PID + 1), "100-104+0:/[aio] (deleted) 110-111+0:/f");
	f.pid = f.tid = PID + 1;
	destroy_ring(&f, 0x100000);
	assert_int_equal(space_of(&f, PID + 1)->nr_live, 2);
	feed_free(&f);
}

static void test_a_copy_that_nobody_told(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x101000, 0);
	feed_fork(&f, 8, false);
	assert_layout(space_of(&f, 8), "100-101+0:/f");
	feed_free(&f);
}

/* ---- descriptions ---- */

/* A source that describes says what its range is, not how far the region reached before. */
static void test_a_described_map_is_exact(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x108000, 0);
	feed_maps_line(&f, 0x102000, 0x104000, R, 0x2000, 1, 9, "/f");
	assert_live(&f, "100-102+0:/f 102-104+2:/f 104-108+4:/f");
	assert_int_equal(pfs_space_find(space_of(&f, PID), 0x102000)->perms, R);
	assert_int_equal(pfs_space_find(space_of(&f, PID), 0x104000)->perms, RW);
	feed_free(&f);
}

static void test_protect_fills_in_what_is_unknown(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	feed_row(&f, 0x100000, 0x104000, 5);
	ev = feed_event(&f, PFS_PROTECT, HAS(START) | HAS(END) | HAS(PERMS) | HAS(NAME));
	ev.start = 0x102000;
	ev.end = 0x104000;
	ev.perms = RW;
	ev.name = "";
	feed_apply(&f, &ev);
	/* One region, so it is all of one kind. */
	assert_live(&f, "100-104+0:");
	assert_int_equal(space_of(&f, PID)->live[0]->perms, RW);
	feed_free(&f);
}

static void test_protect_cuts_only_where_it_differs(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x104000, 0);
	feed_protect(&f, 0x101000, 0x102000, RW);
	assert_live(&f, "100-104+0:/f");
	feed_protect(&f, 0x101000, 0x102000, R);
	assert_live(&f, "100-101+0:/f 101-102+1:/f 102-104+2:/f");
	assert_int_equal(space_of(&f, PID)->live[1]->perms, R);
	assert_int_equal(space_of(&f, PID)->live[2]->perms, RW);
	feed_free(&f);
}

static void test_protect_leaves_shared_as_it_is(void **state)
{
	struct feed f = feed_new(PID);

	feed_maps_line(&f, 0x100000, 0x104000, RW | S, 0, 1, 9, "/f");
	feed_protect(&f, 0x100000, 0x104000, R);
	assert_int_equal(space_of(&f, PID)->live[0]->perms, R | S);
	assert_int_equal(space_of(&f, PID)->nr_live, 1);
	feed_free(&f);
}

static void test_protect_over_several(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x102000, 0);
	map_file(&f, 0x103000, 0x105000, 0);
	feed_protect(&f, 0x101000, 0x104000, R);
	assert_live(&f, "100-101+0:/f 101-102+1:/f 103-104+0:/f 104-105+1:/f");
	assert_int_equal(space_of(&f, PID)->live[1]->perms, R);
	assert_int_equal(space_of(&f, PID)->live[2]->perms, R);
	feed_free(&f);
}

/* ---- a snapshot that is newer than what is replayed over it ---- */

static void assert_perms(const struct feed *f, uint64_t addr, int perms)
{
	const struct pfs_region *r = pfs_space_find(space_of(f, PID), addr);

	assert_non_null(r);
	assert_int_equal(r->perms, perms);
}

/* It has the lower part as it was protected later: the rest is not what that part became. */
static void test_a_row_older_than_its_parts(void **state)
{
	struct feed f = feed_new(PID);

	feed_map(&f, 0x100000, 0x102000, R, "");
	feed_map(&f, 0x102000, 0x108000, RW, "");
	feed_row(&f, 0x100000, 0x108000, 0xa); /* one region then */
	assert_perms(&f, 0x100000, R);
	assert_perms(&f, 0x102000, RW);
	feed_row(&f, 0x102000, 0x108000, 0xa); /* split, to protect the lower part */
	assert_perms(&f, 0x102000, RW);
	assert_int_equal(space_of(&f, PID)->nr_live, 2);
	feed_free(&f);
}

/* But what it does not know itself, it says nothing of. */
static void test_what_a_neighbour_does_not_know(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_event ev = feed_event(&f, PFS_MAP, HAS(START) | HAS(END) | HAS(ID) | HAS(NAME) | HAS(OFF));

	ev.start = 0x400000;
	ev.end = 0x402000;
	ev.id = 7;
	ev.name = "/f";
	ev.off = 0x5000;
	feed_apply(&f, &ev);
	ev = feed_event(&f, PFS_MAP, HAS(START) | HAS(END) | HAS(PERMS));
	ev.start = 0x402000;
	ev.end = 0x403000;
	ev.perms = RW;
	feed_apply(&f, &ev);
	feed_row(&f, 0x400000, 0x403000, 7);
	assert_int_equal(space_of(&f, 1)->nr_live, 1);
	assert_int_equal(space_of(&f, 1)->live[0]->perms, RW);
	assert_int_equal(space_of(&f, 1)->live[0]->off, 0x5000);
	assert_string_equal(pfs_region_name(space_of(&f, 1), space_of(&f, 1)->live[0]), "/f");
	feed_free(&f);
}

/* A neighbour that was just mapped says what the region is that it was merged into. */
static void test_a_row_over_newer_and_told(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	feed_map(&f, 0x100000, 0x102000, R, "");
	feed_row(&f, 0x102000, 0x104000, 0xb);
	ev = feed_event(&f, PFS_MAP, HAS(START) | HAS(END) | HAS(PERMS) | HAS(NAME));
	ev.start = 0x102000;
	ev.end = 0x104000;
	ev.perms = RW;
	ev.name = "";
	feed_apply(&f, &ev);
	feed_row(&f, 0x100000, 0x104000, 0xa);
	assert_int_equal(space_of(&f, PID)->nr_live, 1);
	assert_perms(&f, 0x100000, RW);
	feed_row(&f, 0x102000, 0x104000, 0xa); /* its identity is known now */
	assert_perms(&f, 0x103000, RW);
	feed_free(&f);
}

/* A piece of what the snapshot no longer shows: its neighbour says what it was when they merge. */
static void test_what_merges_is_alike(void **state)
{
	struct feed f = feed_new(PID);

	feed_row(&f, 0x100000, 0x102000, 0xa);
	map_file(&f, 0x102000, 0x104000, 0x2000);
	feed_row(&f, 0x100000, 0x104000, 0xa);
	assert_live(&f, "100-104+0:/f");
	assert_perms(&f, 0x100000, RW);
	feed_free(&f);
}

/* It cuts what is told in pieces: whose identity they have, rows tell later. */
static void test_a_snapshot_that_cuts(void **state)
{
	struct feed f = feed_new(PID);

	feed_row(&f, 0x100000, 0x108000, 0xa);
	feed_map(&f, 0x100000, 0x104000, RW, "");
	feed_map(&f, 0x104000, 0x106000, R, "");
	feed_map(&f, 0x106000, 0x108000, RW, "");
	feed_row(&f, 0x100000, 0x104000, 0xb);
	assert_perms(&f, 0x100000, RW);
	feed_row(&f, 0x106000, 0x108000, 0xa);
	assert_perms(&f, 0x106000, RW);
	feed_free(&f);
}

/* ---- what makes room for others ---- */

/* As a mapping at a fixed address says it of each row that begins there. */
static void replace(struct feed *f, uint64_t start, uint64_t end, uint64_t row_end, uint64_t id)
{
	struct pfs_event ev = feed_event(f, PFS_UNMAP, HAS(START) | HAS(END) | HAS(LEN) | HAS(ID) | HAS(OP));

	ev.op = PFS_OP_REPLACE;
	ev.start = start;
	ev.end = end;
	ev.len = row_end - start;
	ev.id = id;
	feed_apply(f, &ev);
	feed_row(f, start, row_end, id);
}

static void test_a_split_makes_no_room(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x108000, 0);
	feed_fault(&f, 0x102000, PFS_WRITE);
	replace(&f, 0x102000, 0x104000, 0x108000, 0xa);
	assert_live(&f, "100-102+0:/f 102-108+2:/f");
	replace(&f, 0x102000, 0x104000, 0x104000, 0xb);
	assert_live(&f, "100-102+0:/f 102-104+2:/f 104-108+4:/f");
	assert_true(is_touched(&f, 0x102000));
	replace(&f, 0x102000, 0x104000, 0x104000, 0xc); /* now it is the new mapping */
	assert_live(&f, "100-102+0:/f 102-104+0:? 104-108+4:/f");
	assert_false(is_touched(&f, 0x102000));
	feed_free(&f);
}

static void test_a_mapping_merged_upwards_makes_room(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x102000, 0);
	feed_fault(&f, 0x101000, PFS_WRITE);
	feed_row(&f, 0x102000, 0x104000, 0xa);
	replace(&f, 0x100000, 0x102000, 0x104000, 0xa);
	assert_live(&f, "100-104+0:?");
	assert_false(is_touched(&f, 0x101000));
	feed_free(&f);
}

static void test_a_split_is_no_move(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x108000, 0);
	move_identified(&f, 0x104000, 0x1000, 0x100000, 0x104000, 0xa);
	assert_live(&f, "100-104+0:/f 104-108+4:/f");
	move_identified(&f, 0x104000, 0x1000, 0x200000, 0x201000, 0xb);
	assert_live(&f, "100-104+0:/f 104-108+4:/f 200-201+4:/f");
	feed_free(&f);
}

static void unmap_if(struct feed *f, uint64_t start, uint64_t end, uint64_t from)
{
	struct pfs_event ev = feed_event(f, PFS_UNMAP, HAS(START) | HAS(END) | HAS(FROM) | HAS(OP));

	ev.op = PFS_OP_IF_MAPPED;
	ev.start = start;
	ev.end = end;
	ev.from = from;
	feed_apply(f, &ev);
}

static void test_unmap_if_there_is_something_to_move(void **state)
{
	struct feed f = feed_new(PID);

	map_file(&f, 0x100000, 0x102000, 0);
	map_file(&f, 0x200000, 0x202000, 0);
	unmap_if(&f, 0x200000, 0x202000, 0x300000);
	assert_live(&f, "100-102+0:/f 200-202+0:/f");
	unmap_if(&f, 0x200000, 0x202000, 0x101000);
	assert_live(&f, "100-102+0:/f");
	feed_free(&f);
}

/* ---- the heap ---- */

static void set_brk(struct feed *f, uint64_t start, uint64_t end)
{
	struct pfs_event ev = feed_event(f, PFS_BRK, HAS(START) | HAS(END));

	ev.start = start;
	ev.end = end;
	feed_apply(f, &ev);
}

static void assert_heap_on(const char *kernel, const char *expected)
{
	struct feed f = feed_new(PID);

	feed_note(&f, "kernel", kernel, false);
	feed_map(&f, 0x100000, 0x101000, RW, "");
	feed_map(&f, 0x101000, 0x103000, RW | X, "");
	feed_map(&f, 0x103000, 0x104000, RW, "");
	feed_map(&f, 0x105000, 0x106000, RW, "");
	set_brk(&f, 0x101000, 0x103000);
	assert_live(&f, expected);
	feed_free(&f);
}

static void test_the_heaps_neighbours(void **state)
{
	assert_heap_on("6.18.44", "100-101+0: 101-103+0:[heap] 103-104+0: 105-106+0:");
	assert_heap_on("6.1.0-56-cloud-amd64", "100-101+0:[heap] 101-103+0:[heap] 103-104+0:[heap] 105-106+0:");
}

/* ---- huge pages of hugetlbfs ---- */

static void test_hugetlb_goes_by_whole_pages(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	feed_map(&f, 0x40000000, 0x40800000, RW, "/anon_hugepage");
	ev = feed_event(&f, PFS_PROTECT, HAS(START) | HAS(END) | HAS(TRAITS));
	ev.start = 0x40000000;
	ev.end = 0x40800000;
	ev.traits = PFS_TRAIT_HUGETLB;
	feed_apply(&f, &ev);
	feed_unmap(&f, 0x40201000, 0x40400000); /* of a shrink: begins within a huge page */
	assert_int_equal(space_of(&f, PID)->nr_live, 1);
	assert_int_equal(space_of(&f, PID)->live[0]->end, 0x40800000);
	feed_unmap(&f, 0x40201000, 0x40800000);
	assert_int_equal(space_of(&f, PID)->live[0]->end, 0x40400000);
	feed_free(&f);
}

/* A whole description says all traits there are; anything less only adds some. */
static void test_traits_of_a_whole_description(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_space *space;
	struct pfs_event ev;

	for (int whole = 0; whole < 3; whole++) {
		ev = feed_event(&f, PFS_MAP,
				HAS(START) | HAS(END) | HAS(ID) | HAS(TRAITS) | (whole == 1 ? 0 : HAS(PERMS)));
		ev.start = 0x10000;
		ev.end = 0x20000;
		ev.id = 7;
		ev.traits = whole == 0 ? PFS_TRAIT_LOCKED : whole == 1 ? PFS_TRAIT_NORESERVE : 0;
		feed_apply(&f, &ev);
		space = pfs_proc_space(pfs_model_proc(f.model, 1));
		assert_int_equal(space->live[0]->traits, whole == 0   ? PFS_TRAIT_LOCKED
							 : whole == 1 ? PFS_TRAIT_LOCKED | PFS_TRAIT_NORESERVE
								      : 0);
	}
	feed_free(&f);
}

/* What an exec maps and unmaps again while it builds the image was never the program's; pages are. */
static void test_scaffolding_of_an_exec(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_space *space;

	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x10000, 0x20000, RW, "");
	feed_map(&f, 0x30000, 0x40000, RW, "");
	feed_populate(&f, 0x30000, 0x31000);
	feed_map(&f, 0x50000, 0x60000, RW, "");
	feed_unmap(&f, 0x10000, 0x40000);
	feed_exec(&f, "/bin/x", "x");
	space = pfs_proc_space(pfs_model_proc(f.model, 1));
	assert_int_equal(space->nr_live, 1);
	assert_int_equal(space->nr_retired, 1);
	assert_int_equal(space->retired[0]->start, 0x30000);
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_move_takes_its_pages_along),
		cmocka_unit_test(test_a_move_that_shrinks),
		cmocka_unit_test(test_a_copy_to_a_fixed_address),
		cmocka_unit_test(test_a_moved_region_was_written),
		cmocka_unit_test(test_a_move_that_merges),
		cmocka_unit_test(test_several_regions_move),
		cmocka_unit_test(test_what_a_move_removes_is_no_move),
		cmocka_unit_test(test_a_move_reuses_an_identity),
		cmocka_unit_test(test_a_part_of_a_region_moves),
		cmocka_unit_test(test_a_split_at_the_target_is_no_move),
		cmocka_unit_test(test_where_nothing_was_nothing_moves),
		cmocka_unit_test(test_unmap_of_what_has_moved),
		cmocka_unit_test(test_private_zero_is_numbered_anew),
		cmocka_unit_test(test_guarded_zero_keeps_its_offset),
		cmocka_unit_test(test_detach),
		cmocka_unit_test(test_detach_in_pieces),
		cmocka_unit_test(test_detach_leaves_other_segments),
		cmocka_unit_test(test_detach_leaves_what_reaches_beyond),
		cmocka_unit_test(test_detach_leaves_what_is_sealed),
		cmocka_unit_test(test_a_segment_of_inode_0),
		cmocka_unit_test(test_a_statement_keeps_the_pages_of_the_same_mapping),
		cmocka_unit_test(test_a_statement_replaces_other_mappings),
		cmocka_unit_test(test_destroy_ring),
		cmocka_unit_test(test_destroy_ring_of_the_parent),
		cmocka_unit_test(test_destroy_ring_touches_it),
		cmocka_unit_test(test_a_copy_told_row_by_row),
		cmocka_unit_test(test_a_copy_has_the_leaving_ring),
		cmocka_unit_test(test_a_copy_that_nobody_told),
		cmocka_unit_test(test_a_described_map_is_exact),
		cmocka_unit_test(test_protect_fills_in_what_is_unknown),
		cmocka_unit_test(test_protect_cuts_only_where_it_differs),
		cmocka_unit_test(test_protect_leaves_shared_as_it_is),
		cmocka_unit_test(test_protect_over_several),
		cmocka_unit_test(test_a_row_older_than_its_parts),
		cmocka_unit_test(test_a_row_over_newer_and_told),
		cmocka_unit_test(test_what_a_neighbour_does_not_know),
		cmocka_unit_test(test_what_merges_is_alike),
		cmocka_unit_test(test_a_snapshot_that_cuts),
		cmocka_unit_test(test_a_split_makes_no_room),
		cmocka_unit_test(test_a_mapping_merged_upwards_makes_room),
		cmocka_unit_test(test_a_split_is_no_move),
		cmocka_unit_test(test_unmap_if_there_is_something_to_move),
		cmocka_unit_test(test_the_heaps_neighbours),
		cmocka_unit_test(test_hugetlb_goes_by_whole_pages),
		cmocka_unit_test(test_traits_of_a_whole_description),
		cmocka_unit_test(test_scaffolding_of_an_exec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
