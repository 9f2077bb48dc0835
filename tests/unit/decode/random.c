/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decoder and the model against a naive kernel: an array of pages and a list of regions that are
 * split, merged, moved and unmapped at random. After every telling the model must have the kernel's
 * layout, and every page that was touched and has not gone, wherever it is by then.
 *
 * Addresses of regions are used again at once, and which piece of a split keeps the old one is a toss:
 * that is the kernel's own business.
 */
#include "model/space.h"
#include "support/random.h"
#include "support/page_at.h"
#include "support/stap_forge.h"

enum { NR_PAGES = 96, MAX_VMAS = 128, BASE = 0x100000, NR_ADDRESSES = 200 };

struct kernel {
	struct forge *f;
	uint64_t seed;
	struct forge_vma vma[MAX_VMAS];
	unsigned int nr;
	bool used[NR_ADDRESSES]; /* addresses of regions: 0x1000 + i */
	bool touched[NR_PAGES];
	uint64_t lo, hi; /* dirty */
	bool losing;	 /* records get lost */
};

static unsigned int roll(struct kernel *k, unsigned int sides)
{
	return next_random(&k->seed) % sides;
}

static uint64_t page(unsigned int i)
{
	return BASE + (uint64_t)i * PAGE_BYTES;
}

static unsigned int index_of(uint64_t addr)
{
	return (addr - BASE) / PAGE_BYTES;
}

static uint64_t new_address(struct kernel *k)
{
	for (unsigned int i = 0; i < NR_ADDRESSES; i++)
		if (!k->used[i]) {
			k->used[i] = true;
			return 0x1000 + i;
		}
	abort();
}

static void dirty(struct kernel *k, uint64_t start, uint64_t end)
{
	if (k->lo == k->hi) {
		k->lo = start;
		k->hi = end;
	}
	k->lo = start < k->lo ? start : k->lo;
	k->hi = end > k->hi ? end : k->hi;
}

/* ---- regions ---- */

static void vma_insert(struct kernel *k, unsigned int at, struct forge_vma v)
{
	assert_true(k->nr < MAX_VMAS);
	memmove(&k->vma[at + 1], &k->vma[at], (k->nr - at) * sizeof(v));
	k->vma[at] = v;
	k->nr++;
	dirty(k, v.start, v.end);
}

static void vma_remove(struct kernel *k, unsigned int at)
{
	k->used[k->vma[at].vma - 0x1000] = false;
	dirty(k, k->vma[at].start, k->vma[at].end);
	memmove(&k->vma[at], &k->vma[at + 1], (k->nr - at - 1) * sizeof(*k->vma));
	k->nr--;
}

/* Index of the first that ends after addr. */
static unsigned int vma_lower(const struct kernel *k, uint64_t addr)
{
	unsigned int i = 0;

	while (i < k->nr && k->vma[i].end <= addr)
		i++;
	return i;
}

static void split(struct kernel *k, uint64_t addr)
{
	unsigned int i = vma_lower(k, addr);
	struct forge_vma high;

	if (i == k->nr || k->vma[i].start >= addr)
		return;
	high = k->vma[i];
	high.vma = new_address(k);
	high.start = addr;
	if (high.ino)
		high.pgoff += (addr - k->vma[i].start) / PAGE_BYTES;
	if (roll(k, 2)) {
		uint64_t keep = k->vma[i].vma;

		k->vma[i].vma = high.vma;
		high.vma = keep;
	}
	k->vma[i].end = addr;
	vma_insert(k, i + 1, high);
	dirty(k, k->vma[i].start, high.end);
}

static bool can_merge(const struct forge_vma *a, const struct forge_vma *b)
{
	return a->end == b->start && a->flags == b->flags && a->ino == b->ino && a->traits == b->traits &&
	       a->name == b->name && (!a->ino || a->pgoff + (a->end - a->start) / PAGE_BYTES == b->pgoff);
}

static void merge(struct kernel *k)
{
	for (unsigned int i = 0; i + 1 < k->nr;) {
		struct forge_vma *a = &k->vma[i], *b = &k->vma[i + 1];

		if (!can_merge(a, b) || !roll(k, 4)) {
			i++;
			continue;
		}
		dirty(k, a->start, b->end);
		if (roll(k, 2)) {
			uint64_t keep = b->vma;

			b->vma = a->vma;
			a->vma = keep;
		}
		a->end = b->end;
		vma_remove(k, i + 1);
	}
}

/* ---- what the kernel does, and what it says of it at once ---- */

static void say_range(struct kernel *k, enum pfs_rec_type type, uint64_t start, uint64_t end, uint64_t to)
{
	if (k->losing && !roll(k, 40))
		k->f->seq[0]++;
	else
		forge_range(k->f, type, start, end, to);
}

static void unmap(struct kernel *k, uint64_t start, uint64_t end)
{
	unsigned int i;

	split(k, start);
	split(k, end);
	i = vma_lower(k, start);
	if (i == k->nr || k->vma[i].start >= end)
		return;
	say_range(k, PFS_REC_UNMAP, start, end, 0);
	while (i < k->nr && k->vma[i].start < end)
		vma_remove(k, i);
	for (uint64_t addr = start; addr < end; addr += PAGE_BYTES)
		k->touched[index_of(addr)] = false;
}

static void map(struct kernel *k, uint64_t start, uint64_t end)
{
	static const char *const names[] = { NULL, "/lib/one", "/lib/a-name-of-more-than-24-bytes" };
	struct forge_vma v = { .start = start, .end = end };
	unsigned int file = roll(k, 3);

	unmap(k, start, end);
	v.vma = new_address(k);
	v.flags = 1 + roll(k, 7);
	v.name = names[file];
	v.ino = file ? 10 + file : 0;
	v.pgoff = file && roll(k, 2) ? index_of(start) : file ? roll(k, 9) : 0;
	if (v.ino && roll(k, 2))
		v.flags |= VM_S;
	vma_insert(k, vma_lower(k, start), v);
}

static void change(struct kernel *k, uint64_t start, uint64_t end)
{
	bool traits = roll(k, 2);
	uint64_t flags = roll(k, 8);

	split(k, start);
	split(k, end);
	for (unsigned int i = vma_lower(k, start); i < k->nr && k->vma[i].start < end; i++) {
		if (traits)
			k->vma[i].traits = flags & 4;
		else
			k->vma[i].flags = (k->vma[i].flags & ~7) | flags;
		dirty(k, k->vma[i].start, k->vma[i].end);
	}
}

/* The part of one region in the range goes to another place, which is cleared first. */
static void move(struct kernel *k, uint64_t start, uint64_t end, uint64_t to)
{
	unsigned int i = vma_lower(k, start);
	struct forge_vma v;
	bool pages[NR_PAGES];
	unsigned int n;

	if (i == k->nr || k->vma[i].start > start || k->vma[i].end < end)
		return;
	if (to + (end - start) > page(NR_PAGES) || (to < end && to + (end - start) > start))
		return;
	unmap(k, to, to + (end - start));
	split(k, start);
	split(k, end);
	v = k->vma[vma_lower(k, start)];
	n = (end - start) / PAGE_BYTES;
	memcpy(pages, &k->touched[index_of(start)], n * sizeof(*pages));
	say_range(k, PFS_REC_MOVE, start, end, to);
	memset(&k->touched[index_of(start)], 0, n * sizeof(*pages));
	if (roll(k, 3)) /* else: MREMAP_DONTUNMAP */
		unmap(k, start, end);
	memcpy(&k->touched[index_of(to)], pages, n * sizeof(*pages));
	v.vma = new_address(k);
	v.start = to;
	v.end = to + (end - start);
	vma_insert(k, vma_lower(k, to), v);
}

static void act(struct kernel *k)
{
	unsigned int first = roll(k, NR_PAGES - 1), last = first + 1 + roll(k, roll(k, 3) ? 6 : NR_PAGES);
	uint64_t start = page(first), end = page(last < NR_PAGES ? last : NR_PAGES);

	switch (roll(k, 5)) {
	case 0:
		unmap(k, start, end);
		break;
	case 1:
		move(k, start, end, page(roll(k, NR_PAGES)));
		break;
	case 2:
		change(k, start, end);
		break;
	default:
		map(k, start, end);
	}
}

/* As the module does it: [lo, hi), and whatever region touches it on either side. */
static void tell(struct kernel *k, uint32_t why)
{
	uint64_t lo = k->lo, hi = k->hi;
	unsigned int first = 0, nr = 0;

	while (first < k->nr && k->vma[first].end < lo)
		first++;
	while (first + nr < k->nr && k->vma[first + nr].start <= hi)
		nr++;
	if (nr && k->vma[first].start < lo)
		lo = k->vma[first].start;
	if (nr && k->vma[first + nr - 1].end > hi)
		hi = k->vma[first + nr - 1].end;
	forge_layout_edge(k->f, PFS_REC_LAYOUT, why, lo, k->hi, 0);
	for (unsigned int i = 0; i < nr; i++) {
		if (k->losing && !roll(k, 60))
			k->f->seq[0]++;
		else
			forge_region(k->f, &k->vma[first + i]);
	}
	if (k->losing && !roll(k, 60))
		k->f->seq[0]++;
	else
		forge_layout_edge(k->f, PFS_REC_LAYOUT_END, why, lo, hi, nr);
	k->lo = k->hi = 0;
}

static void touch(struct kernel *k)
{
	unsigned int i = roll(k, NR_PAGES), at = vma_lower(k, page(i));

	if (at == k->nr || k->vma[at].start > page(i))
		return;
	forge_touch(k->f, &k->vma[at], page(i), 0, MINOR);
	k->touched[i] = true;
}

/* ---- the comparison ---- */

static void check_region(const struct pfs_space *space, const struct pfs_region *r, const struct forge_vma *v)
{
	const char *name = pfs_region_name(space, r);

	assert_int_equal(r->start, v->start);
	assert_int_equal(r->end, v->end);
	assert_int_equal(r->perms, (v->flags & 7) | (v->flags & 0x80 ? PFS_PERM_SHARED : 0));
	assert_int_equal(r->traits, v->traits);
	assert_int_equal(r->ino, v->ino);
	assert_int_equal(r->off, v->ino ? v->pgoff * PAGE_BYTES : 0);
	assert_non_null(name);
	assert_string_equal(name, v->name ? v->name : "");
}

static void check(struct kernel *k, bool pages)
{
	struct pfs_space *space;

	forge_flush(k->f);
	space = pfs_proc_space(pfs_model_proc(k->f->model, 100));
	assert_int_equal(space->nr_live, k->nr);
	for (unsigned int i = 0; i < k->nr; i++) {
		check_region(space, space->live[i], &k->vma[i]);
		for (unsigned int j = 0; j < i; j++) /* equal would mean: the same region */
			assert_true(space->live[i]->id != space->live[j]->id);
	}
	for (unsigned int i = 0; pages && i < NR_PAGES; i++)
		assert_int_equal(!!page_at(space->pages, page(i)), k->touched[i]);
}

/* The decoder has what the model has: told again, nothing is news. */
static void check_again(struct kernel *k)
{
	uint64_t before = k->f->model->nr_events;

	k->lo = 0;
	k->hi = UINT64_MAX;
	tell(k, PFS_WHY_CHANGE);
	forge_flush(k->f);
	assert_int_equal(k->f->model->nr_events, before);
}

static struct kernel *kernel_new(uint64_t seed)
{
	struct kernel *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	k->seed = seed;
	k->f = forge_new();
	k->f->quiet = true;
	k->f->model = pfs_model_new();
	forge_comm(k->f, "cat", 0, 0);
	forge_layout(k->f, PFS_WHY_START, 0, UINT64_MAX, NULL, 0);
	return k;
}

static void kernel_free(struct kernel *k)
{
	forge_free(k->f);
	free(k);
}

static void test_the_same_layout_and_pages(void **state)
{
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct kernel *k = kernel_new(seed);

		for (int step = 0; step < 150; step++) {
			for (unsigned int n = roll(k, 3); n < 3; n++)
				act(k);
			merge(k);
			tell(k, PFS_WHY_CHANGE);
			for (int i = 0; i < 6; i++)
				touch(k);
			check(k, true);
			check_again(k);
		}
		assert_int_equal(pfs_decoder_stats(k->f->d)->corrected, 0);
		assert_int_equal(pfs_decoder_stats(k->f->d)->torn, 0);
		kernel_free(k);
	}
}

/* What is told again afterwards is right again, whatever was lost before. */
static void test_losses_heal(void **state)
{
	uint64_t torn = 0;

	for (uint64_t seed = 100; seed < 120; seed++) {
		struct kernel *k = kernel_new(seed);

		for (int step = 0; step < 100; step++) {
			k->losing = true;
			act(k);
			merge(k);
			tell(k, PFS_WHY_CHANGE);
			touch(k);
			if (step % 10)
				continue;
			k->losing = false;
			k->lo = 0;
			k->hi = UINT64_MAX;
			tell(k, PFS_WHY_CHANGE);
			check(k, false);
		}
		torn += pfs_decoder_stats(k->f->d)->torn;
		kernel_free(k);
	}
	assert_true(torn > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_layout_and_pages),
		cmocka_unit_test(test_losses_heal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
