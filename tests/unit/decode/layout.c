/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layouts told, and the fewest events that say the difference.
 */
#include "support/stap_forge.h"

/* clang-format off */
#define RW(address, from, to) { .vma = address, .start = from, .end = to, .flags = VM_RW }
#define RO(address, from, to) { .vma = address, .start = from, .end = to, .flags = VM_R }
#define FILE_RX(address, from, to, page)							\
	{ .vma = address, .start = from, .end = to, .flags = VM_RX, .name = "/bin/cat", .ino = 7,	\
	  .pgoff = page }
/* clang-format on */

/* A process found running, with one region of 16 pages. */
static struct forge *running(void)
{
	struct forge *f = forge_new();

	forge_comm(f, "cat", 0, 0);
	LAYOUT(f, START, 0, UINT64_MAX, RW(0xa, 0x10000, 0x20000));
	forge_expect(f, "comm comm=\"cat\"\nmap start=10000 end=20000 id=1" ANON_RW
			"note key=\"snapshot\" value=\"op=start\"\n");
	return f;
}

/* It is a work item of the kernel that tells it: whose it is, the thread's own record says. */
static void test_start_is_told_by_somebody_else(void **state)
{
	struct forge *f = forge_new();

	forge_comm(f, "cat", 0, 0);
	f->pid = f->tid = 53;
	LAYOUT(f, START, 0, UINT64_MAX, RW(0xa, 0x10000, 0x20000));
	forge_expect(f, "comm comm=\"cat\"\nmap start=10000 end=20000 id=1" ANON_RW
			"note key=\"snapshot\" value=\"op=start\"\n");
	forge_free(f);
}

/* More than fits in one go: it is whole with the last piece. */
static void test_start_in_pieces(void **state)
{
	struct forge *f = forge_new();

	forge_comm(f, "cat", 0, 0);
	LAYOUT(f, START, 0, 0x30000, RW(0xa, 0x10000, 0x20000));
	forge_expect(f, "comm comm=\"cat\"\nmap start=10000 end=20000 id=1" ANON_RW);
	LAYOUT(f, START, 0x30000, UINT64_MAX, RW(0xb, 0x30000, 0x40000));
	forge_expect(f, "map start=30000 end=40000 id=2" ANON_RW "note key=\"snapshot\" value=\"op=start\"\n");
	forge_free(f);
}

static void test_of_nobody_known(void **state)
{
	struct forge *f = forge_new();

	LAYOUT(f, START, 0, UINT64_MAX, RW(0xa, 0x10000, 0x20000));
	LAYOUT(f, CHANGE, 0, UINT64_MAX, RW(0xa, 0x10000, 0x20000));
	forge_expect(f, "");
	forge_free(f);
}

/* ---- changes ---- */

static void test_the_same_again(void **state)
{
	struct forge *f = running();

	LAYOUT(f, CHANGE, 0x10000, 0x20000, RW(0xa, 0x10000, 0x20000));
	EMPTY_LAYOUT(f, CHANGE, 0x40000, 0x50000);
	EMPTY_LAYOUT(f, CHANGE, 0x40000, 0x40000);
	forge_expect(f, "");
	forge_free(f);
}

static void test_a_new_region(void **state)
{
	struct forge *f = running();

	LAYOUT(f, CHANGE, 0x10000, 0x40000, RW(0xa, 0x10000, 0x20000), FILE_RX(0xb, 0x30000, 0x40000, 5));
	forge_expect(f, "map start=30000 end=40000 id=2 perms=r-xp off=20480 dev=fe:00 ino=7 "
			"traits=none name=\"/bin/cat\"\n");
	forge_free(f);
}

/* The end of the region is not in what was told. */
static void test_growth(void **state)
{
	struct forge *f = running();

	LAYOUT(f, CHANGE, 0x18000, 0x28000, RW(0xa, 0x10000, 0x28000));
	forge_expect(f, "map start=10000 end=28000 id=1\n");
	forge_free(f);
}

/* mprotect of the middle: two new pieces, the lower one keeps the kernel's region. */
static void test_split(void **state)
{
	struct forge *f = running();

	LAYOUT(f, CHANGE, 0x10000, 0x20000, RW(0xa, 0x10000, 0x14000), RO(0xb, 0x14000, 0x18000),
	       RW(0xc, 0x18000, 0x20000));
	forge_expect(f, "map start=14000 end=18000 id=2 perms=r--p off=0 dev=00:00 ino=0 traits=none name=\"\"\n"
			"map start=18000 end=20000 id=3" ANON_RW);
	forge_free(f);
}

/* The same, but the uppermost piece keeps it. */
static void test_split_the_other_way(void **state)
{
	struct forge *f = running();

	LAYOUT(f, CHANGE, 0x10000, 0x20000, RW(0xb, 0x10000, 0x14000), RO(0xc, 0x14000, 0x18000),
	       RW(0xa, 0x18000, 0x20000));
	forge_expect(f, "map start=10000 end=14000 id=2" ANON_RW "map start=14000 end=18000 id=3 "
			"perms=r--p off=0 dev=00:00 ino=0 traits=none name=\"\"\n");
	forge_free(f);
}

static void test_merge(void **state)
{
	struct forge *f = running();

	LAYOUT(f, CHANGE, 0x10000, 0x20000, RO(0xb, 0x10000, 0x18000), RW(0xa, 0x18000, 0x20000));
	forge_forget(f);
	LAYOUT(f, CHANGE, 0x10000, 0x20000, RW(0xb, 0x10000, 0x20000));
	forge_expect(f, "map start=10000 end=20000 id=2" ANON_RW);
	forge_free(f);
}

static void test_protect(void **state)
{
	struct forge *f = running();

	LAYOUT(f, CHANGE, 0x10000, 0x20000, RO(0xa, 0x10000, 0x20000));
	forge_expect(f, "protect start=10000 end=20000 perms=r--p\n");
	forge_free(f);
}

/* What `protect' cannot say: that a region is locked no more, or is called otherwise. */
static void test_traits_and_names(void **state)
{
	struct forge *f = running();

	LAYOUT(f, CHANGE, 0x10000, 0x20000,
	       { .vma = 0xa, .start = 0x10000, .end = 0x20000, .flags = VM_RW, .traits = PFS_WIRE_LOCKED });
	forge_expect(f, "map start=10000 end=20000 id=1 perms=rw-p off=0 dev=00:00 ino=0 "
			"traits=locked name=\"\"\n");
	LAYOUT(f, CHANGE, 0x10000, 0x20000,
	       { .vma = 0xa, .start = 0x10000, .end = 0x20000, .flags = VM_RW, .name = "[anon:x]" });
	forge_expect(f, "map start=10000 end=20000 id=1 perms=rw-p off=0 dev=00:00 ino=0 "
			"traits=none name=\"[anon:x]\"\n");
	forge_free(f);
}

/* The kernel's address of a region is used again for another one: that is a new generation. */
static void test_an_address_used_again(void **state)
{
	struct forge *f = running();

	forge_unmap(f, 0x10000, 0x20000);
	LAYOUT(f, CHANGE, 0x10000, 0x40000, RW(0xa, 0x30000, 0x40000));
	forge_expect(f, "unmap start=10000 end=20000\nmap start=30000 end=40000 id=2" ANON_RW);
	forge_unmap(f, 0x30000, 0x40000);
	LAYOUT(f, CHANGE, 0x30000, 0x40000, RW(0xa, 0x30000, 0x40000));
	forge_expect(f, "unmap start=30000 end=40000\nmap start=30000 end=40000 id=3" ANON_RW);
	forge_free(f);
}

/* ---- what goes ---- */

static void test_unmap_is_said_once(void **state)
{
	struct forge *f = running();

	forge_unmap(f, 0x1c000, 0x20000);
	forge_unmap(f, 0x1c000, 0x30000);
	forge_expect(f, "unmap start=1c000 end=20000\n");
	LAYOUT(f, CHANGE, 0x10000, 0x30000, RW(0xa, 0x10000, 0x1c000));
	forge_expect(f, "");
	forge_free(f);
}

/* The upper piece is another region from then on, whichever of them the kernel says it is. */
static void test_unmap_of_the_middle(void **state)
{
	for (int upper = 0; upper < 2; upper++) {
		struct forge *f = running();

		forge_unmap(f, 0x14000, 0x18000);
		LAYOUT(f, CHANGE, 0x10000, 0x20000, RW(upper ? 0xb : 0xa, 0x10000, 0x14000),
		       RW(upper ? 0xa : 0xb, 0x18000, 0x20000));
		forge_expect(f, "map start=18000 end=20000 id=2\nunmap start=14000 end=18000\n");
		LAYOUT(f, CHANGE, 0x10000, 0x20000, RW(upper ? 0xb : 0xa, 0x10000, 0x14000),
		       RO(upper ? 0xa : 0xb, 0x18000, 0x20000));
		forge_expect(f, "protect start=18000 end=20000 perms=r--p\n");
		forge_free(f);
	}
}

static void test_gone_without_a_word(void **state)
{
	struct forge *f = running();

	LAYOUT(f, CHANGE, 0, UINT64_MAX, RW(0xa, 0x10000, 0x14000));
	forge_expect(f, "unmap start=14000 end=20000\n");
	EMPTY_LAYOUT(f, CHANGE, 0, UINT64_MAX);
	forge_expect(f, "unmap start=10000 end=14000\n");
	forge_free(f);
}

/* MAP_FIXED over the middle of another. */
static void test_mapped_over(void **state)
{
	struct forge *f = running();

	forge_unmap(f, 0x14000, 0x18000);
	LAYOUT(f, CHANGE, 0x10000, 0x20000, RW(0xa, 0x10000, 0x14000), FILE_RX(0xb, 0x14000, 0x18000, 0),
	       RW(0xc, 0x18000, 0x20000));
	forge_expect(f, "map start=18000 end=20000 id=2\nunmap start=14000 end=18000\n"
			"map start=14000 end=18000 id=3 perms=r-xp off=0 dev=fe:00 ino=7 traits=none "
			"name=\"/bin/cat\"\n");
	forge_free(f);
}

/* The record of the removal is missing: what is there now cannot be what was there. */
static void test_replaced_without_a_word(void **state)
{
	struct forge *f = running();

	LAYOUT(f, CHANGE, 0x10000, 0x20000, FILE_RX(0xb, 0x10000, 0x20000, 0));
	forge_expect(f, "map start=10000 end=20000 id=2 perms=r-xp off=0 dev=fe:00 ino=7 traits=none "
			"name=\"/bin/cat\"\n");
	forge_free(f);
}

static void test_the_whole_space_goes(void **state)
{
	struct forge *f = running();

	forge_unmap(f, 0, UINT64_MAX);
	forge_unmap(f, 0x10000, 0x20000);
	forge_expect(f, "unmap op=clear\n");
	forge_free(f);
}

/* ---- madvise ---- */

static void put_advise(struct forge *f, uint64_t mm, uint64_t end, int behavior, int ret)
{
	struct pfs_rec rec = forge_rec(f, PFS_REC_ADVISE);

	rec.advise = (struct pfs_rec_advise){ mm, 0x10000, end, rec.ts_ns - 70, behavior, ret };
	forge_put(f, &rec);
}

static void test_advise(void **state)
{
	struct forge *f = running();

	put_advise(f, f->mm, 0x18000, 4, 0);
	put_advise(f, f->mm, 0x18000, 4, -12); /* ENOMEM: a part was not mapped */
	put_advise(f, f->mm, 0x18000, 8, -22);
	put_advise(f, f->mm, 0x18000, 14, 0); /* MADV_HUGEPAGE takes no pages */
	put_advise(f, f->mm, 0x10000, 4, 0);
	put_advise(f, 0xdead, 0x18000, 4, 0);
	forge_expect(f, "advise start=10000 end=18000 advice=dontneed interval=70\n"
			"advise start=10000 end=18000 advice=dontneed interval=70\n"
			"advise start=10000 end~18000 advice=free interval=70\n");
	forge_free(f);
}

/* ---- moves ---- */

/* mremap: the pages are elsewhere, then the old range goes, then the layout says what there is. */
static void test_move(void **state)
{
	struct forge *f = running();

	forge_range(f, PFS_REC_MOVE, 0x10000, 0x20000, 0x40000);
	forge_unmap(f, 0x10000, 0x20000);
	LAYOUT(f, CHANGE, 0x10000, 0x58000, RW(0xb, 0x40000, 0x58000));
	forge_expect(f, "move start=40000 end=50000 from=10000 len=65536 id=2\n"
			"unmap start=10000 end=20000\nmap start=40000 end=58000 id=2" ANON_RW);
	forge_free(f);
}

/* Only a part of it, and it joins a neighbour there. */
static void test_move_and_merge(void **state)
{
	struct forge *f = running();

	LAYOUT(f, CHANGE, 0x30000, 0x40000, RW(0xb, 0x30000, 0x40000));
	forge_forget(f);
	forge_range(f, PFS_REC_MOVE, 0x14000, 0x18000, 0x40000);
	forge_unmap(f, 0x14000, 0x18000);
	LAYOUT(f, CHANGE, 0x10000, 0x44000, RW(0xa, 0x10000, 0x14000), RW(0xc, 0x18000, 0x20000),
	       RW(0xb, 0x30000, 0x44000));
	forge_expect(f, "move start=40000 end=44000 from=14000 len=16384 id=3\n"
			"map start=18000 end=20000 id=4\nunmap start=14000 end=18000\n"
			"map start=30000 end=44000 id=2\n");
	forge_free(f);
}

static void test_move_of_what_is_not_known(void **state)
{
	struct forge *f = running();

	forge_range(f, PFS_REC_MOVE, 0x80000, 0x90000, 0x40000);
	forge_range(f, PFS_REC_MOVE, 0x10000, 0x20000, UINT64_MAX - 0xfff);
	forge_expect(f, "lost\n");
	assert_int_equal(pfs_decoder_stats(f->d)->damaged, 1);
	forge_free(f);
}

/* ---- names ---- */

static void test_the_stack_and_the_heap(void **state)
{
	struct forge *f = forge_new();
	struct pfs_rec rec;

	forge_comm(f, "cat", 0, 0);
	for (int i = 0; i < 2; i++) {
		rec = forge_rec(f, PFS_REC_LAYOUT);
		rec.layout = (struct pfs_rec_layout){
			.mm = f->mm, .hi = UINT64_MAX, .start_brk = 0x10000, .brk = 0x12345, .start_stack = 0x7ffe10
		};
		forge_put(f, &rec);
		forge_region(f, &(const struct forge_vma)RW(0xa, 0x10000, 0x13000));
		forge_region(f, &(const struct forge_vma)RW(0xb, 0x7f0000, 0x800000));
		rec = forge_rec(f, PFS_REC_LAYOUT_END);
		rec.layout = (struct pfs_rec_layout){ .mm = f->mm, .hi = UINT64_MAX, .nr_regions = 2 };
		forge_put(f, &rec);
		if (!i)
			forge_expect(f, "comm comm=\"cat\"\nbrk start=10000 end=12345\n"
					"map start=10000 end=13000 id=1" ANON_RW
					"map start=7f0000 end=800000 id=2 perms=rw-p off=0 dev=00:00 ino=0 "
					"traits=none name=\"[stack]\"\n"
					"note key=\"snapshot\" value=\"op=start\"\n");
	}
	forge_expect(f, "note key=\"snapshot\" value=\"op=start\"\n");
	forge_free(f);
}

/* A path too long for the kernel to print: all is known but the name; one that it has, it keeps. */
static void test_a_name_that_is_not_known(void **state)
{
	struct forge *f = running();
	struct forge_vma v = FILE_RX(0xb, 0x30000, 0x40000, 0);
	struct pfs_rec rec;

	for (int i = 0; i < 3; i++) {
		if (i == 1) {
			LAYOUT(f, CHANGE, 0x30000, 0x40000, v);
			continue;
		}
		forge_layout_edge(f, PFS_REC_LAYOUT, PFS_WHY_CHANGE, 0x30000, 0x40000, 0);
		rec = forge_rec(f, PFS_REC_REGION);
		rec.region = (struct pfs_rec_region){ .mm = f->mm,
						      .vma = v.vma,
						      .start = v.start,
						      .end = v.end,
						      .vm_flags = VM_RX,
						      .ino = 7,
						      .dev = DEV,
						      .special = PFS_NAME_UNKNOWN };
		forge_put(f, &rec);
		forge_layout_edge(f, PFS_REC_LAYOUT_END, PFS_WHY_CHANGE, 0x30000, 0x40000, 1);
	}
	forge_expect(f, "map start=30000 end=40000 id=2 perms=r-xp off=0 dev=fe:00 ino=7 traits=none\n"
			"map start=30000 end=40000 id=2 perms=r-xp off=0 dev=fe:00 ino=7 traits=none "
			"name=\"/bin/cat\"\n");
	forge_free(f);
}

/* ---- torn ---- */

/* Whatever is missing of it, what was told is taken, and nothing is concluded from what was not. */
static void test_torn(void **state)
{
	for (int missing = 0; missing < 4; missing++) {
		struct forge *f = running();
		struct forge_vma v[] = { RW(0xb, 0x30000, 0x40000), RW(0xc, 0x50000, 0x60000) };
		char want[400];

		if (missing == 0)
			f->seq[0]++;
		else
			forge_layout_edge(f, PFS_REC_LAYOUT, PFS_WHY_CHANGE, 0, UINT64_MAX, 0);
		for (int i = 0; i < 2; i++) {
			if (missing == 1 + i)
				f->seq[0]++;
			else
				forge_region(f, &v[i]);
		}
		if (missing == 3)
			f->seq[0]++;
		else
			forge_layout_edge(f, PFS_REC_LAYOUT_END, PFS_WHY_CHANGE, 0, UINT64_MAX, 2);
		EMPTY_LAYOUT(f, CHANGE, 0x90000, 0x90000);
		snprintf(want, sizeof(want), "lost count=1 interval=1000\n%s%s",
			 missing == 0 || missing == 1 ? "" : "map start=30000 end=40000 id=2" ANON_RW,
			 missing == 0 || missing == 2 ? ""
			 : missing == 1		      ? "map start=50000 end=60000 id=2" ANON_RW
						      : "map start=50000 end=60000 id=3" ANON_RW);
		forge_expect(f, want);
		assert_int_equal(pfs_decoder_stats(f->d)->torn, 1);
		forge_free(f);
	}
}

/* Nothing goes for not being told: a gap, fewer regions than were counted, one that cannot be. */
static void test_not_believed(void **state)
{
	for (int why = 0; why < 4; why++) {
		struct forge *f = running();

		forge_layout_edge(f, PFS_REC_LAYOUT, PFS_WHY_CHANGE, 0, UINT64_MAX, 0);
		f->seq[0] += why == 0;
		if (why > 1)
			forge_region(f, &(const struct forge_vma)RW(0xb, 0x30000, 0x40000));
		if (why == 3)
			forge_region(f, &(const struct forge_vma)RW(0xc, 0x3f000, 0x50000));
		forge_layout_edge(f, PFS_REC_LAYOUT_END, PFS_WHY_CHANGE, 0, UINT64_MAX, why);
		forge_expect(f, why == 0   ? "lost count=1 interval=1000\n"
				: why == 1 ? "lost\n"
				: why == 2 ? "map start=30000 end=40000 id=2" ANON_RW "lost\n"
					   : "lost\nmap start=30000 end=40000 id=2" ANON_RW);
		assert_int_equal(pfs_decoder_stats(f->d)->torn, 1);
		assert_int_equal(pfs_decoder_stats(f->d)->damaged, why > 0);
		forge_free(f);
	}
}

/* Between two that were told there is one that was not. */
static void test_not_told_in_between(void **state)
{
	struct forge *f = running();

	forge_layout_edge(f, PFS_REC_LAYOUT, PFS_WHY_CHANGE, 0, UINT64_MAX, 0);
	forge_region(f, &(const struct forge_vma)RW(0xb, 0x8000, 0x9000));
	f->seq[0]++;
	forge_region(f, &(const struct forge_vma)RW(0xc, 0x30000, 0x40000));
	forge_layout_edge(f, PFS_REC_LAYOUT_END, PFS_WHY_CHANGE, 0, UINT64_MAX, 3);
	forge_expect(f, "lost count=1 interval=1000\nmap start=8000 end=9000 id=2" ANON_RW
			"map start=30000 end=40000 id=3" ANON_RW);
	forge_free(f);
}

/* Two processors tell two layouts at the same time. */
static void test_told_by_two_at_once(void **state)
{
	struct forge *f = running();

	for (int step = 0; step < 3; step++) {
		for (uint16_t cpu = 1; cpu < 3; cpu++) {
			struct forge_vma v = RW(0xa + cpu, cpu * 0x100000, cpu * 0x100000 + 0x1000);

			f->cpu = cpu;
			if (step == 1)
				forge_region(f, &v);
			else
				forge_layout_edge(f, step ? PFS_REC_LAYOUT_END : PFS_REC_LAYOUT, PFS_WHY_CHANGE,
						  cpu * 0x100000, cpu * 0x100000 + 0x1000, step ? 1 : 0);
		}
	}
	f->cpu = 0;
	forge_expect(f,
		     "map cpu=1 start=100000 end=101000 id=2" ANON_RW "map cpu=2 start=200000 end=201000 id=3" ANON_RW);
	assert_int_equal(pfs_decoder_stats(f->d)->torn, 0);
	forge_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start_is_told_by_somebody_else),
		cmocka_unit_test(test_start_in_pieces),
		cmocka_unit_test(test_of_nobody_known),
		cmocka_unit_test(test_the_same_again),
		cmocka_unit_test(test_a_new_region),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_the_other_way),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_protect),
		cmocka_unit_test(test_traits_and_names),
		cmocka_unit_test(test_an_address_used_again),
		cmocka_unit_test(test_unmap_is_said_once),
		cmocka_unit_test(test_unmap_of_the_middle),
		cmocka_unit_test(test_gone_without_a_word),
		cmocka_unit_test(test_mapped_over),
		cmocka_unit_test(test_replaced_without_a_word),
		cmocka_unit_test(test_the_whole_space_goes),
		cmocka_unit_test(test_advise),
		cmocka_unit_test(test_move),
		cmocka_unit_test(test_move_and_merge),
		cmocka_unit_test(test_move_of_what_is_not_known),
		cmocka_unit_test(test_the_stack_and_the_heap),
		cmocka_unit_test(test_a_name_that_is_not_known),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_not_believed),
		cmocka_unit_test(test_not_told_in_between),
		cmocka_unit_test(test_told_by_two_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
