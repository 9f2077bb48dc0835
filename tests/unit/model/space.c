/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model's address spaces against a naive array of pages.
 *
 * Two random tests. The first speaks as a source without identities does (what was asked of the
 * kernel); the second plays a small kernel: it splits, grows and merges regions as the kernel's own
 * tree does and passes on rows of (range, identity), which is all that the tree says.
 * PFS_TEST_SEEDS=n runs n seeds of each instead of a few.
 */
#include "support/random.h"
#include "support/feed.h"

#include "model/space.h"
#include "support/page_at.h"

#include <stdio.h>

enum { NR = 64, BASE = 0x10000000, PID = 7 };

/* One page of the naive space. */
struct cell {
	bool mapped;
	uint8_t perms;
	uint64_t id; /* of the region; in the first test, which knows none, 0 */
	uint32_t faults;
};

struct naive {
	struct cell cell[NR];
	uint64_t retired_faults;
	uint64_t next_id;
	uint64_t random;
};

static uint64_t addr_of(unsigned int i)
{
	return BASE + (uint64_t)i * PAGE;
}

static unsigned int pick(struct naive *n, unsigned int limit)
{
	return next_random(&n->random) % limit;
}

/* A random [*start, *end) of at least one page. */
static void pick_range(struct naive *n, unsigned int *start, unsigned int *end)
{
	*start = pick(n, NR);
	*end = *start + 1 + pick(n, pick(n, 3) ? 6 : NR - *start);
	if (*end > NR)
		*end = NR;
}

static int pick_perms(struct naive *n)
{
	static const int perms[] = { 0, R, RW, RX };

	return perms[pick(n, 4)];
}

static struct pfs_space *space_of(const struct feed *f)
{
	return pfs_proc_space(pfs_model_proc(f->model, PID));
}

/* ---- what must hold ---- */

static bool same_region(const struct cell *a, const struct cell *b)
{
	return a->mapped == b->mapped && a->id == b->id;
}

static void check_live(const struct feed *f, const struct naive *n, bool exact)
{
	const struct pfs_space *space = space_of(f);
	unsigned int page = 0;
	uint64_t last = 0;

	for (unsigned int i = 0; i < space->nr_live; i++) {
		const struct pfs_region *r = space->live[i];
		unsigned int start = (r->start - BASE) / PAGE, end = (r->end - BASE) / PAGE;

		assert_true(r->start < r->end && r->start >= last && end <= NR);
		assert_int_equal(r->died_ns, UINT64_MAX);
		for (; page < start; page++)
			assert_false(n->cell[page].mapped);
		for (; page < end; page++) {
			assert_true(n->cell[page].mapped);
			assert_true(r->have & HAS(PERMS));
			assert_int_equal(r->perms, n->cell[page].perms);
			assert_true(same_region(&n->cell[page], &n->cell[start]));
		}
		if (exact && end < NR)
			assert_false(n->cell[end].mapped && same_region(&n->cell[end], &n->cell[start]));
		last = r->end;
	}
	for (; page < NR; page++)
		assert_false(n->cell[page].mapped);
}

static void check_pages(const struct feed *f, const struct naive *n)
{
	const struct pfs_space *space = space_of(f);
	const struct pfs_page *page;
	struct pfs_page_walk at;
	uint64_t retired = 0;

	for (unsigned int i = 0; i < NR; i++) {
		page = page_at(space->pages, addr_of(i));
		assert_int_equal(page ? page->nr_faults : 0, n->cell[i].faults);
	}
	for (unsigned int i = 0; i < space->nr_retired; i++) {
		const struct pfs_region *r = space->retired[i];

		assert_true(r->died_ns >= r->born_ns && r->died_ns < UINT64_MAX);
		if (r->pages)
			pages_for_each(page, &at, r->pages, r->start, r->end) retired += page->nr_faults;
	}
	assert_int_equal(retired, n->retired_faults);
}

static void check_find(struct feed *f, const struct naive *n)
{
	for (unsigned int i = 0; i < NR; i++) {
		const struct pfs_region *r = pfs_space_find(space_of(f), addr_of(i) + 123);

		assert_int_equal(!!r, n->cell[i].mapped);
		if (r)
			assert_true(r->start <= addr_of(i) && addr_of(i) < r->end);
	}
}

/* ---- what is done to both ---- */

static void naive_unmap(struct naive *n, unsigned int start, unsigned int end)
{
	for (unsigned int i = start; i < end; i++) {
		if (!n->cell[i].mapped)
			continue;
		n->retired_faults += n->cell[i].faults;
		n->cell[i] = (struct cell){ 0 };
	}
}

static void both_unmap(struct feed *f, struct naive *n, unsigned int start, unsigned int end)
{
	feed_unmap(f, addr_of(start), addr_of(end));
	naive_unmap(n, start, end);
}

static void both_fault(struct feed *f, struct naive *n)
{
	unsigned int i = pick(n, NR);

	feed_fault(f, addr_of(i) + pick(n, PAGE), 1 + pick(n, 3));
	n->cell[i].faults++;
}

/* ---- a source that tells what was asked ---- */

static void described_map(struct feed *f, struct naive *n)
{
	unsigned int start, end, perms = pick_perms(n);

	pick_range(n, &start, &end);
	both_unmap(f, n, start, end);
	feed_map(f, addr_of(start), addr_of(end), perms, "");
	for (unsigned int i = start; i < end; i++) {
		n->cell[i].mapped = true;
		n->cell[i].perms = perms;
	}
}

static void described_protect(struct feed *f, struct naive *n)
{
	unsigned int start, end, perms = pick_perms(n);

	pick_range(n, &start, &end);
	feed_protect(f, addr_of(start), addr_of(end), perms);
	for (unsigned int i = start; i < end; i++)
		if (n->cell[i].mapped)
			n->cell[i].perms = perms;
}

/* mremap: of mapped pages of one kind, to somewhere else, perhaps to more room than they had. */
static void described_move(struct feed *f, struct naive *n)
{
	unsigned int from = pick(n, NR), len = 0, start, end;
	struct cell moved[NR];

	while (from + len < NR && n->cell[from + len].mapped && n->cell[from + len].perms == n->cell[from].perms &&
	       len < 5)
		len++;
	start = pick(n, NR);
	end = start + len + pick(n, 3);
	if (!len || end > NR || (start < from + len && from < end))
		return;
	both_unmap(f, n, start, end);
	feed_move(f, addr_of(from), len * PAGE, addr_of(start), addr_of(end));
	memcpy(moved, &n->cell[from], len * sizeof(*moved));
	for (unsigned int i = 0; i < end - start; i++) {
		n->cell[start + i].mapped = true;
		n->cell[start + i].perms = moved[0].perms;
		if (i < len) {
			n->cell[start + i].faults += moved[i].faults;
			n->cell[from + i].faults = 0;
		}
	}
	both_unmap(f, n, from, from + len);
}

static void described_step(struct feed *f, struct naive *n)
{
	unsigned int start, end;

	switch (pick(n, 8)) {
	case 0:
		described_map(f, n);
		break;
	case 1:
		described_protect(f, n);
		break;
	case 2:
		described_move(f, n);
		break;
	case 3:
		pick_range(n, &start, &end);
		both_unmap(f, n, start, end);
		break;
	default:
		both_fault(f, n);
	}
}

/* ---- a small kernel ---- */

/* The ends of the region that page i is in. */
static unsigned int region_start(const struct naive *n, unsigned int i)
{
	while (i > 0 && same_region(&n->cell[i - 1], &n->cell[i]))
		i--;
	return i;
}

static unsigned int region_end(const struct naive *n, unsigned int i)
{
	while (i + 1 < NR && same_region(&n->cell[i + 1], &n->cell[i]))
		i++;
	return i + 1;
}

static void kernel_store(struct feed *f, struct naive *n, unsigned int start, unsigned int end, uint64_t id)
{
	for (unsigned int i = start; i < end; i++) {
		n->cell[i].mapped = true;
		n->cell[i].id = id;
	}
	feed_row(f, addr_of(start), addr_of(end), id);
}

/* A boundary at `at`: one of the two halves is a new region, the kernel chooses which. */
static void kernel_split(struct feed *f, struct naive *n, unsigned int at)
{
	if (!at || at >= NR || !n->cell[at].mapped || !same_region(&n->cell[at - 1], &n->cell[at]))
		return;
	if (pick(n, 2))
		kernel_store(f, n, at, region_end(n, at), n->next_id++);
	else
		kernel_store(f, n, region_start(n, at), at, n->next_id++);
}

/* Neighbours alike become one; which of them goes on is the kernel's choice. */
static void kernel_merge(struct feed *f, struct naive *n, unsigned int at)
{
	uint64_t id;

	if (!at || at >= NR || !n->cell[at].mapped || !n->cell[at - 1].mapped ||
	    n->cell[at].perms != n->cell[at - 1].perms || same_region(&n->cell[at - 1], &n->cell[at]))
		return;
	id = n->cell[at - pick(n, 2)].id;
	kernel_store(f, n, region_start(n, at - 1), region_end(n, at), id);
}

static void kernel_unmap(struct feed *f, struct naive *n, unsigned int start, unsigned int end)
{
	kernel_split(f, n, start);
	kernel_split(f, n, end);
	both_unmap(f, n, start, end);
}

static void kernel_map(struct feed *f, struct naive *n)
{
	unsigned int start, end, perms = pick_perms(n), before, after;

	pick_range(n, &start, &end);
	kernel_unmap(f, n, start, end);
	for (unsigned int i = start; i < end; i++)
		n->cell[i].perms = perms;
	before = start && n->cell[start - 1].mapped && n->cell[start - 1].perms == perms;
	after = end < NR && n->cell[end].mapped && n->cell[end].perms == perms;
	if (before) { /* grows, and may swallow the one behind; its attributes are known */
		kernel_store(f, n, region_start(n, start - 1), end, n->cell[start - 1].id);
		kernel_merge(f, n, end);
		return;
	}
	if (after) {
		kernel_store(f, n, start, region_end(n, end), n->cell[end].id);
		return;
	}
	kernel_store(f, n, start, end, n->next_id++);
	feed_map(f, addr_of(start), addr_of(end), perms, "");
}

static void kernel_protect(struct feed *f, struct naive *n)
{
	unsigned int start, end, perms = pick_perms(n);

	pick_range(n, &start, &end);
	kernel_split(f, n, start);
	kernel_split(f, n, end);
	for (unsigned int i = start; i < end; i++)
		if (n->cell[i].mapped)
			n->cell[i].perms = perms;
	feed_protect(f, addr_of(start), addr_of(end), perms);
	for (unsigned int i = end + 1; i-- > start;)
		kernel_merge(f, n, i);
}

/* mprotect of a region's first pages to what the one before it has: only the boundary moves. */
static void kernel_shift(struct feed *f, struct naive *n)
{
	unsigned int at = pick(n, NR), end, stop;
	uint64_t id;

	if (!at || !n->cell[at - 1].mapped || !n->cell[at].mapped || same_region(&n->cell[at - 1], &n->cell[at]))
		return;
	stop = region_end(n, at);
	end = at + 1 + pick(n, stop - at);
	id = n->cell[at].id;
	for (unsigned int i = at; i < end; i++)
		n->cell[i].perms = n->cell[at - 1].perms;
	kernel_store(f, n, region_start(n, at - 1), end, n->cell[at - 1].id);
	if (end < stop && pick(n, 2))
		kernel_store(f, n, end, stop, id);
	feed_protect(f, addr_of(at), addr_of(end), n->cell[at].perms);
	kernel_merge(f, n, end);
}

static void kernel_step(struct feed *f, struct naive *n)
{
	unsigned int start, end;

	switch (pick(n, 9)) {
	case 0:
	case 1:
		kernel_map(f, n);
		break;
	case 2:
		kernel_protect(f, n);
		break;
	case 4:
		kernel_shift(f, n);
		break;
	case 3:
		pick_range(n, &start, &end);
		kernel_unmap(f, n, start, end);
		break;
	default:
		both_fault(f, n);
	}
}

static void run(uint64_t seed, void (*step)(struct feed *, struct naive *), bool exact)
{
	struct naive n = { .random = seed * 2654435761u + 1, .next_id = 1000 };
	struct feed f = feed_new(PID);

	feed_map(&f, addr_of(0), addr_of(1), R, "");
	both_unmap(&f, &n, 0, 1);
	for (int i = 0; i < 300; i++) {
		step(&f, &n);
		check_live(&f, &n, exact);
		check_pages(&f, &n);
		if (i % 16 == 0)
			check_find(&f, &n);
	}
	assert_int_equal(pfs_space_clear(space_of(&f), f.now_ns), 0);
	naive_unmap(&n, 0, NR);
	check_live(&f, &n, exact);
	check_pages(&f, &n);
	feed_free(&f);
}

static unsigned int nr_seeds(void)
{
	const char *s = getenv("PFS_TEST_SEEDS");

	return s ? atoi(s) : 20;
}

static void test_described(void **state)
{
	for (unsigned int seed = 1; seed <= nr_seeds(); seed++)
		run(seed, described_step, false);
}

static void test_kernel(void **state)
{
	for (unsigned int seed = 1; seed <= nr_seeds(); seed++)
		run(seed, kernel_step, true);
}

/* ---- single rules ---- */

static void assert_live(const struct feed *f, const char *expected)
{
	const struct pfs_space *space = space_of(f);
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

static void test_offsets_follow_splits(void **state)
{
	struct feed f = feed_new(PID);

	feed_maps_line(&f, 0x100000, 0x110000, R, 0x3000, 1, 5, "/lib");
	feed_row(&f, 0x104000, 0x106000, 77);
	assert_live(&f, "100-104+3:/lib 104-106+7:/lib 106-110+9:/lib");
	feed_unmap(&f, 0x102000, 0x105000);
	assert_live(&f, "100-102+3:/lib 105-106+8:/lib 106-110+9:/lib");
	/* The region behind grows down over the one before it. */
	feed_row(&f, 0x106000, 0x110000, 78);
	feed_row(&f, 0x105000, 0x110000, 78);
	assert_live(&f, "100-102+3:/lib 105-110+8:/lib");
	feed_move(&f, 0x107000, 0x2000, 0x200000, 0x202000);
	assert_live(&f, "100-102+3:/lib 105-110+8:/lib 200-202+a:/lib");
	feed_free(&f);
}

static void test_a_described_region_is_adopted(void **state)
{
	struct feed f = feed_new(PID);

	/* A snapshot names it, the tree's first row for it brings the identity. */
	feed_maps_line(&f, 0x100000, 0x110000, RW, 0, 1, 5, "/data");
	feed_fault(&f, 0x101000, PFS_WRITE);
	feed_row(&f, 0x100000, 0x112000, 9);
	assert_live(&f, "100-112+0:/data");
	assert_int_equal(space_of(&f)->nr_retired, 0);
	assert_int_equal(space_of(&f)->live[0]->id, 9);
	feed_free(&f);
}

static void test_another_identity_replaces(void **state)
{
	struct feed f = feed_new(PID);

	feed_row(&f, 0x100000, 0x110000, 8);
	feed_fault(&f, 0x101000, PFS_WRITE);
	feed_row(&f, 0x100000, 0x110000, 9);
	assert_int_equal(space_of(&f)->nr_live, 1);
	assert_int_equal(space_of(&f)->nr_retired, 1);
	assert_null(page_at(space_of(&f)->pages, 0x101000));
	assert_non_null(page_at(space_of(&f)->retired[0]->pages, 0x101000));
	feed_free(&f);
}

static void test_names(void **state)
{
	struct feed f = feed_new(PID);

	feed_map(&f, 0x100000, 0x101000, RW, "");
	feed_map(&f, 0x200000, 0x221000, RW, "");
	feed_map(&f, 0x7ffd00000000, 0x7ffd00010000, RW, "[stack]");
	feed_map(&f, 0x7ffd00010000, 0x7ffd00020000, RW, "[stack]");
	feed_map(&f, 0x7ffd00020000, 0x7ffd00030000, RW, "[stack]");
	feed_row(&f, 0x300000, 0x301000, 5);
	assert_live(&f, "100-101+0: 200-221+0: 300-301+0:? 7ffd00000-7ffd00010+0: "
			"7ffd00010-7ffd00020+0: 7ffd00020-7ffd00030+0:[stack]");
	feed_brk(&f, 0x200000, 0x221000);
	feed_unmap(&f, 0x300000, 0x301000);
	assert_live(&f, "100-101+0: 200-221+0:[heap] 7ffd00000-7ffd00010+0: "
			"7ffd00010-7ffd00020+0: 7ffd00020-7ffd00030+0:[stack]");
	/* They keep their names when the process ends. */
	assert_int_equal(pfs_space_clear(space_of(&f), f.now_ns), 0);
	for (unsigned int i = 0; i < space_of(&f)->nr_retired; i++) {
		const struct pfs_region *r = space_of(&f)->retired[i];
		const char *name = pfs_region_name(space_of(&f), r);

		assert_string_equal(name ? name : "?", r->start == 0x200000	    ? "[heap]"
						       : r->start == 0x7ffd00020000 ? "[stack]"
						       : r->start == 0x300000	    ? "?"
										    : "");
	}
	feed_free(&f);
}

static void test_hostile_ranges(void **state)
{
	struct feed f = feed_new(PID);

	feed_map(&f, 0, UINT64_MAX & ~0xfffull, RW, "");
	feed_map(&f, 0x1000, 0x1000, RW, "");
	feed_map(&f, 0x5000, 0x1000, RW, "");
	feed_unmap(&f, 0x5000, 0x1000);
	feed_protect(&f, 0x5000, 0x1000, R);
	feed_move(&f, UINT64_MAX - PAGE, UINT64_MAX, 0x1000, 0x3000);
	feed_move(&f, 0x7000, UINT64_MAX, UINT64_MAX - 3 * PAGE, UINT64_MAX);
	feed_fault(&f, UINT64_MAX, PFS_READ);
	feed_unmap(&f, 0x1000, UINT64_MAX);
	feed_fault(&f, 0, PFS_WRITE);
	feed_clear(&f);
	assert_int_equal(space_of(&f)->nr_live, 0);
	feed_free(&f);
}

/* Above 1,000 regions many others come and go downwards, as the kernel maps: where the 1,000 are kept, they stay. */
static void test_mapping_downwards(void **state)
{
	enum { ABOVE = 1000, MANY = 20000 };
	struct feed f = feed_new(PID);
	struct pfs_region **last = NULL;
	const struct pfs_space *space;
	unsigned int moved = 0;
	uint64_t start = BASE + MANY * 2 * (uint64_t)PAGE;

	for (unsigned int i = 0; i < ABOVE; i++)
		feed_map(&f, start + i * 2 * PAGE, start + (i * 2 + 1) * PAGE, RW, "");
	for (unsigned int i = 1; i <= MANY; i++) {
		feed_map(&f, start - i * 2 * PAGE, start - (i * 2 - 1) * PAGE, RW, "");
		space = space_of(&f);
		moved += &space->live[space->nr_live - 1] != last;
		last = &space->live[space->nr_live - 1];
	}
	assert_int_equal(space->nr_live, ABOVE + MANY);
	for (unsigned int i = MANY; i; i--) {
		feed_unmap(&f, start - i * 2 * PAGE, start - (i * 2 - 1) * PAGE);
		moved += &space->live[space->nr_live - 1] != last;
	}
	assert_int_equal(space->nr_live, ABOVE);
	assert_true(space->live[0]->start == start);
	assert_true(moved < 20);
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_described),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_offsets_follow_splits),
		cmocka_unit_test(test_a_described_region_is_adopted),
		cmocka_unit_test(test_another_identity_replaces),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_hostile_ranges),
		cmocka_unit_test(test_mapping_downwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
