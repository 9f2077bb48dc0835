/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults told by the number, at the end: which region they go to, and that they count as often as
 * they say.
 */
#include "support/feed.h"

#include "model/space.h"
#include "support/page_at.h"

enum { PID = 1 };

static void count(struct feed *f, uint64_t addr, int access, uint64_t n)
{
	struct pfs_event ev =
		feed_event(f, PFS_FAULT, HAS(ADDR) | HAS(ACCESS) | HAS(MODE) | HAS(COUNT) | HAS(INTERVAL));

	ev.addr = addr;
	ev.access = access;
	ev.mode = access == PFS_READ ? PFS_KERNEL : PFS_USER;
	ev.count = n;
	ev.interval_ns = 1000;
	feed_apply(f, &ev);
}

static struct pfs_proc *proc_of(const struct feed *f)
{
	return pfs_model_proc(f->model, PID);
}

/* Faults on the page, of the newest region in that epoch that had it. */
static uint32_t faults_at(const struct feed *f, unsigned int epoch, uint64_t addr)
{
	struct pfs_space *space = proc_of(f)->epochs[epoch].space;
	struct pfs_pages *pages = space->pages;
	const struct pfs_page *page;

	if (!pfs_space_find(space, addr))
		for (unsigned int i = 0; i < space->nr_retired; i++)
			if (addr >= space->retired[i]->start && addr < space->retired[i]->end)
				pages = space->retired[i]->pages;
	page = pages ? page_at(pages, addr) : NULL;
	return page ? page->nr_faults : 0;
}

static void test_counts_as_often(void **state)
{
	struct feed f = feed_new(PID);
	const struct pfs_page *page;

	feed_map(&f, 0x400000, 0x404000, RW, "");
	count(&f, 0x400000, PFS_WRITE, 12);
	count(&f, 0x400000, PFS_READ, 3);
	assert_int_equal(f.model->counts.faults, 15);
	assert_int_equal(f.model->counts.write, 12);
	assert_int_equal(f.model->counts.read, 3);
	assert_int_equal(f.model->counts.user, 12);
	assert_int_equal(f.model->counts.kernel, 3);
	assert_int_equal(f.model->counts.outside, 0);
	assert_int_equal(proc_of(&f)->counts.faults, 15);
	page = page_at(pfs_proc_space(proc_of(&f))->pages, 0x400000);
	assert_int_equal(page->nr_write, 12);
	assert_int_equal(page->nr_kernel, 3);
	assert_int_equal(page->flags, PFS_PAGE_READ | PFS_PAGE_WRITE | PFS_PAGE_USER | PFS_PAGE_KERNEL);
	count(&f, 0x400000, PFS_READ, UINT64_MAX / 2); /* more than a page can say */
	page = page_at(pfs_proc_space(proc_of(&f))->pages, 0x400000);
	assert_int_equal(page->nr_read, UINT32_MAX);
	feed_free(&f);
}

/* Gone regions, the newest first; exited processes; images before an exec. */
static void test_finds_what_has_gone(void **state)
{
	struct feed f = feed_new(PID);

	feed_map(&f, 0x100000, 0x102000, RW, "");
	feed_exec(&f, "/bin/b", "b");
	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_unmap(&f, 0x400000, 0x402000);
	feed_map(&f, 0x400000, 0x404000, RW, "");
	feed_unmap(&f, 0x400000, 0x404000);
	feed_map(&f, 0x600000, 0x601000, RW, "");
	feed_exit(&f, true);
	feed_clear(&f);
	count(&f, 0x400000, PFS_WRITE, 5);
	count(&f, 0x600000, PFS_WRITE, 6);
	count(&f, 0x100000, PFS_WRITE, 7);
	assert_int_equal(proc_of(&f)->nr_epochs, 2);
	assert_int_equal(f.model->counts.outside, 0);
	assert_int_equal(faults_at(&f, 1, 0x400000), 5);
	assert_int_equal(faults_at(&f, 1, 0x600000), 6);
	assert_int_equal(faults_at(&f, 0, 0x100000), 7);
	/* the older one has nothing */
	assert_null(proc_of(&f)->epochs[1].space->retired[0]->pages);
	count(&f, 0x900000, PFS_WRITE, 8);
	assert_int_equal(f.model->counts.outside, 8);
	assert_int_equal(f.model->counts.faults, 26);
	feed_free(&f);
}

static void test_muted(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev = feed_event(&f, PFS_FAULT, HAS(ADDR) | HAS(COUNT));

	feed_map(&f, 0x400000, 0x404000, RW, "");
	ev.addr = 0x400000;
	ev.count = 9;
	pfs_model_mute(f.model, true);
	assert_int_equal(pfs_model_apply(f.model, &ev, NULL), 0);
	pfs_model_mute(f.model, false);
	assert_int_equal(f.model->counts.faults, 0);
	assert_int_equal(faults_at(&f, 0, 0x400000), 0);
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_as_often),
		cmocka_unit_test(test_finds_what_has_gone),
		cmocka_unit_test(test_muted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
