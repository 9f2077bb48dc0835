/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults: their class, how they were handled, whose they are, and what came of them.
 */
#include "support/stap_forge.h"

static const struct forge_vma anon = { .vma = 0xa, .start = 0x10000, .end = 0x20000, .flags = VM_RW };
static const struct forge_vma private_file = {
	.vma = 0xb,
	.start = 0x30000,
	.end = 0x40000,
	.flags = VM_RW,
	.name = "/lib/c",
	.ino = 7,
	.pgoff = 2,
};
static const struct forge_vma shared_file = {
	.vma = 0xc,
	.start = 0x50000,
	.end = 0x60000,
	.flags = VM_RW | VM_S,
	.name = "/tmp/s",
	.ino = 8,
};
static const struct forge_vma zero = {
	.vma = 0xd,
	.start = 0x70000,
	.end = 0x80000,
	.flags = VM_RW,
	.name = "/dev/zero",
	.ino = 9,
};
static const struct forge_vma vdso = {
	.vma = 0xe,
	.start = 0x90000,
	.end = 0xa0000,
	.flags = VM_RX,
	.name = "[vdso]",
};
static const struct forge_vma hugetlb = {
	.vma = 0xf,
	.start = 0x200000,
	.end = 0x400000,
	.flags = VM_RW,
	.traits = PFS_WIRE_HUGETLB,
};

static struct forge *running(void)
{
	struct forge *f = forge_new();

	forge_comm(f, "cat", 0, 0);
	LAYOUT(f, START, 0, UINT64_MAX, anon, private_file, shared_file, zero, vdso, hugetlb);
	forge_forget(f);
	return f;
}

/* The fields of the one event that has come, one after the other in `want`, which may skip some. */
static void expect_fields(struct forge *f, const char *want)
{
	char copy[512], *field, *save;

	forge_flush(f);
	assert_non_null(strcpy(copy, want));
	for (field = strtok_r(copy, " ", &save); field; field = strtok_r(NULL, " ", &save)) {
		const char *at = strstr(f->got, field + (*field == '!'));
		size_t len = strlen(field + (*field == '!'));
		bool there = at && (*field == '!' || strchr(" \n", at[len]));

		if (there == (*field == '!')) {
			print_error("%s: in %s", field, f->got);
			fail();
		}
	}
	forge_forget(f);
}

static void test_all_of_a_fault(void **state)
{
	struct forge *f = running();
	struct pfs_rec rec = forge_fault(f, &private_file, 0x31234, PFS_FLAG_WRITE | PFS_FLAG_USER, MINOR);

	rec.fault.what |= PFS_WHAT_PFN;
	rec.fault.pfn = 0x1234;
	forge_put(f, &rec);
	forge_expect(f, "fault addr=31234 start=30000 end=40000 ip=401000 access=write mode=user "
			"class=minor how=cow code=6 flags=write,user pfn=1234 page_size=4096 latency=7 "
			"id=2 off=12288 dev=fe:00 ino=7\n");
	forge_free(f);
}

/* As mm_account_fault() has it. */
static void test_classes(void **state)
{
	static const struct {
		uint16_t flags, ret;
		const char *want;
	} rows[] = {
		{ 0, 0, "class=minor" },
		{ 0, 0x100 | 0x200 | 8, "class=minor" }, /* NOPAGE, LOCKED, WRITE */
		{ 0, MAJOR, "class=major" },
		{ PFS_FLAG_TRIED, 0, "class=major" },
		{ 0, 0x4000, "class=minor" }, /* COMPLETED */
		{ 0, MAJOR | RETRY, "!class=" },
		{ 0, 1, "!class=" },
		{ 0, 2, "!class=" },
		{ 0, 0x10, "!class=" },
		{ 0, 0x20, "!class=" },
		{ 0, 0x40, "!class=" },
		{ 0, 0x800 | MAJOR, "!class=" },
	};
	struct forge *f = running();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		forge_touch(f, &anon, 0x10000, rows[i].flags, rows[i].ret);
		expect_fields(f, rows[i].want);
	}
	forge_free(f);
}

static void test_how(void **state)
{
	enum { W = PFS_FLAG_WRITE };
	static const struct {
		const struct forge_vma *v;
		uint8_t was;
		uint16_t flags;
		const char *want;
	} rows[] = {
		{ &anon, PFS_WAS_NONE, 0, "how=anon" },
		{ &anon, PFS_WAS_NONE, W, "how=anon" },
		{ &anon, PFS_WAS_PRESENT, W, "how=cow" },
		{ &anon, PFS_WAS_PRESENT, PFS_FLAG_UNSHARE, "how=cow" },
		{ &anon, PFS_WAS_PRESENT, 0, "!how=" }, /* somebody else was quicker */
		{ &anon, PFS_WAS_SWAP, 0, "how=swap" },
		{ &anon, PFS_WAS_NUMA, 0, "how=numa" },
		{ &anon, PFS_WAS_HUGE, W, "how=huge" },
		{ &anon, PFS_WAS_UNKNOWN, W, "!how=" },
		{ &private_file, PFS_WAS_NONE, 0, "how=file" },
		{ &private_file, PFS_WAS_NONE, W, "how=cow" },
		{ &private_file, PFS_WAS_PRESENT, W, "how=cow" },
		{ &shared_file, PFS_WAS_NONE, 0, "how=file" },
		{ &shared_file, PFS_WAS_NONE, W, "how=file" },
		{ &shared_file, PFS_WAS_PRESENT, W, "how=file" },
		{ &zero, PFS_WAS_NONE, W, "how=anon" },
		{ &vdso, PFS_WAS_NONE, 0, "!how=" },
		{ &hugetlb, PFS_WAS_NONE, W, "how=huge" },
	};
	struct forge *f = running();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pfs_rec rec = forge_fault(f, rows[i].v, rows[i].v->start, rows[i].flags, MINOR);

		rec.fault.how = rows[i].was;
		forge_put(f, &rec);
		expect_fields(f, rows[i].want);
	}
	forge_free(f);
}

/* What never came to the handler: only the processor has said anything. */
static void test_not_handled(void **state)
{
	static const struct {
		uint32_t code;
		const char *want;
	} rows[] = {
		{ 4, "access=read" },
		{ 6, "access=write" },
		{ 0x14, "access=exec" },
	};
	struct forge *f = running();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pfs_rec rec = forge_rec(f, PFS_REC_FAULT);

		rec.fault.what = PFS_WHAT_EXCEPTION | PFS_WHAT_KERNEL;
		rec.fault.mm = f->mm;
		rec.fault.addr = 0x123;
		rec.fault.code = rows[i].code;
		forge_put(f, &rec);
#if defined(__x86_64__) || defined(__i386__)
		expect_fields(f, rows[i].want);
#endif
		forge_put(f, &rec);
		expect_fields(f, "fault addr=123 mode=kernel ip=0 !class= !how= !flags= !latency= "
				 "!pfn= !id= !start=");
	}
	forge_free(f);
}

/* ---- regions that were not told so ---- */

static void test_a_stack_that_grew(void **state)
{
	struct forge *f = running();
	struct forge_vma grown = anon;

	grown.start = 0x8000;
	forge_touch(f, &grown, 0x8010, PFS_FLAG_WRITE, MINOR);
	forge_expect(f, "map start=8000 end=20000 id=1\n"
			"fault addr=8010 start=8000 end=20000 ip=401000 access=write mode=user "
			"class=minor how=anon code=6 flags=write latency=7 id=1\n");
	forge_touch(f, &grown, 0x9010, PFS_FLAG_WRITE, MINOR);
	expect_fields(f, "!map fault start=8000");
	assert_int_equal(pfs_decoder_stats(f->d)->corrected, 0);
	forge_free(f);
}

static void test_a_region_that_nobody_told(void **state)
{
	struct forge *f = running();
	struct forge_vma other = { .vma = 0x99, .start = 0xb0000, .end = 0xc0000, .ino = 5, .pgoff = 3 };

	forge_touch(f, &other, 0xb1000, 0, MINOR);
	forge_expect(f, "map start=b0000 end=c0000 id=7 off=12288 dev=fe:00 ino=5\n"
			"fault addr=b1000 start=b0000 end=c0000 ip=401000 access=read mode=user "
			"class=minor how=file code=4 flags=none latency=7 id=7 off=16384 dev=fe:00 ino=5\n");
	assert_int_equal(pfs_decoder_stats(f->d)->corrected, 1);
	other.flags = VM_R;
	other.name = "/x";
	LAYOUT(f, CHANGE, other.start, other.end, other);
	forge_expect(f, "map start=b0000 end=c0000 id=7 perms=r--p off=12288 dev=fe:00 ino=5 traits=none "
			"name=\"/x\"\n");
	forge_free(f);
}

/* The same place, but another region: what was there went without a word. */
static void test_another_region_than_told(void **state)
{
	struct forge *f = running();
	struct forge_vma other = anon;

	other.vma = 0x99;
	forge_touch(f, &other, 0x10000, 0, MINOR);
	expect_fields(f, "map start=10000 end=20000 id=7 fault");
	assert_int_equal(pfs_decoder_stats(f->d)->corrected, 1);
	forge_free(f);
}

/* It was split, and nobody told into what: the rest goes on under new identities. */
static void test_a_region_that_is_less_than_told(void **state)
{
	struct forge *f = running();
	struct forge_vma part = anon;

	part.start = 0x14000;
	part.end = 0x18000;
	for (int i = 0; i < 2; i++) {
		forge_touch(f, &part, 0x14000, 0, MINOR);
		if (!i)
			expect_fields(f, "start=18000 end=20000 id=7 start=10000 end=14000 id=8 "
					 "fault start=14000 end=18000");
	}
	expect_fields(f, "!map fault id=1");
	assert_int_equal(pfs_decoder_stats(f->d)->corrected, 1);
	forge_free(f);
}

/* An impossible region of a fault changes nothing. */
static void test_a_damaged_region(void **state)
{
	struct forge *f = running();
	struct forge_vma v = anon;

	v.start = 0x10001;
	forge_touch(f, &v, 0x11000, 0, MINOR);
	v.start = 0x13000;
	forge_touch(f, &v, 0x11000, 0, MINOR);
	expect_fields(f, "!map fault start=10000");
	forge_free(f);
}

/* ---- by the kernel itself ---- */

static void test_get_user_pages(void **state)
{
	struct forge *f = running();

	forge_gup(f, &anon, 0x11234, PFS_FLAG_WRITE, MINOR);
	forge_expect(f, "populate start=11000 end=12000 access=write class=minor how=anon flags=write "
			"latency=7 id=1 by=gup\n");
	forge_gup(f, &anon, 0x11234, PFS_FLAG_WRITE, RETRY); /* no page came of it */
	forge_gup(f, &anon, 0x11234, PFS_FLAG_WRITE, 2);
	forge_expect(f, "");
	assert_int_equal(pfs_decoder_stats(f->d)->no_page, 2);
	forge_free(f);
}

/* Two processes that are recorded: the page is the one's, the count is the other's. */
static void test_a_page_of_another_process(void **state)
{
	struct forge *f = running();

	f->pid = f->tid = 200;
	f->mm = 0xee00;
	forge_comm(f, "gdb", 0, 0);
	forge_forget(f);
	f->mm = 0xff00;
	f->model = pfs_model_new();
	forge_gup(f, &anon, 0x11234, PFS_FLAG_WRITE | PFS_FLAG_REMOTE, MINOR);
	forge_expect(f, "populate pid=200 tid=200 space=other start=11000 end=12000 access=write "
			"class=minor how=anon flags=write,remote latency=7 id=1 by=gup\n");
	assert_int_equal(pfs_model_proc(f->model, 200)->counts.unasked_minor, 1);
	forge_free(f);
}

/* The toucher is not recorded: the page is shown, and nobody's count. */
static void test_touched_by_a_stranger(void **state)
{
	struct forge *f = running();

	f->pid = f->tid = 300;
	forge_gup(f, &anon, 0x11234, PFS_FLAG_REMOTE, MINOR);
	forge_expect(f, "populate start=11000 end=12000 access=read how=anon flags=remote "
			"latency=7 id=1 by=gup\n");
	forge_free(f);
}

/* The other one is not recorded: the fault is counted all the same. Nor is it an exec's new image. */
static void test_a_page_of_a_stranger(void **state)
{
	struct forge *f = running();
	struct forge_vma theirs = { .vma = 0x77, .start = 0x500000, .end = 0x600000, .flags = VM_RW };

	f->mm = 0xdd00;
	LAYOUT(f, FAULT, theirs.start, theirs.end, theirs);
	forge_gup(f, &theirs, 0x500000, PFS_FLAG_WRITE | PFS_FLAG_REMOTE, MINOR);
	forge_expect(f, "populate space=other start=500000 end=501000 access=write class=minor "
			"how=anon flags=write,remote latency=7 by=gup\n");
	forge_free(f);
}

/* One that waits for the lock while another thread maps what it wants comes behind that. */
static void test_a_fault_that_waited(void **state)
{
	struct forge *f = running();
	struct forge_vma mapped = { .vma = 0x88, .start = 0xb0000, .end = 0xc0000, .flags = VM_RW };
	struct pfs_rec rec;

	f->cpu = 1;
	f->tid = 101;
	rec = forge_fault(f, &mapped, 0xb0000, 0, MINOR);
	rec.fault.rest = 100;
	f->cpu = 0;
	f->tid = 100;
	LAYOUT(f, CHANGE, mapped.start, mapped.end, mapped);
	forge_put(f, &rec);
	expect_fields(f, "fault cpu=1 id=7 perms=rw-p");
	assert_int_equal(pfs_decoder_stats(f->d)->corrected, 0);
	forge_free(f);
}

/* ---- what came of it ---- */

/* A fault on a huge page, in a region that is all there is. */
static void put_huge(struct forge *f, struct forge_vma big)
{
	struct pfs_rec rec;

	forge_comm(f, "cat", 0, 0);
	LAYOUT(f, START, 0, UINT64_MAX, big);
	forge_forget(f);
	rec = forge_fault(f, &big, 0x345678, PFS_FLAG_WRITE, MINOR);
	rec.fault.what |= PFS_WHAT_HUGE | PFS_WHAT_PFN;
	rec.fault.pfn = 0x12345;
	forge_put(f, &rec);
}

static void test_huge_pages(void **state)
{
	struct forge *f = forge_new();
	struct forge_vma big = { .vma = 1, .start = 0x200000, .end = 0x800000, .flags = VM_RW };
	struct pfs_rec rec;

	put_huge(f, big);
	forge_expect(f, "fault addr=345678 start=200000 end=800000 ip=401000 access=write mode=user "
			"class=minor how=huge code=6 flags=write pfn=12345 page_size=2097152 latency=7 id=1\n"
			"huge pfn=12200 order=9\n");
	rec = forge_fault(f, &big, 0x445678, PFS_FLAG_WRITE, MINOR);
	rec.fault.what = PFS_WHAT_HANDLED | PFS_WHAT_KERNEL | PFS_WHAT_HUGE;
	forge_put(f, &rec);
	forge_expect(f, "populate start=400000 end=600000 access=write class=minor how=huge flags=write "
			"latency=7 id=1 by=gup\nhuge start=400000 end=600000 order=9\n");
	forge_free(f);
}

/* Those of hugetlbfs have several sizes: the region says which, or nothing. */
static void test_hugetlbfs(void **state)
{
	struct forge *f = forge_new();
	struct forge_vma big = {
		.vma = 1, .start = 0x200000, .end = 0x800000, .flags = VM_RW, .traits = PFS_WIRE_HUGETLB
	};

	put_huge(f, big);
	expect_fields(f, "fault pfn=12345 !page_size= huge pfn=12200");
	forge_free(f);
	f = forge_new();
	big.page_shift = 30;
	put_huge(f, big);
	expect_fields(f, "fault pfn=12345 page_size=1073741824 huge pfn=12200");
	forge_free(f);
	f = forge_new();
	big.page_shift = 64; /* damaged */
	put_huge(f, big);
	expect_fields(f, "fault pfn=12345 !page_size= huge pfn=12200");
	forge_free(f);
}

/* A fault may map all pages of a large folio, smaller than a huge page. */
static void test_large_folios(void **state)
{
	struct forge *f = running();
	struct pfs_rec rec = forge_fault(f, &anon, 0x15000, PFS_FLAG_WRITE, MINOR);

	rec.fault.order = 4;
	rec.fault.pfn = 0x12345;
	rec.fault.what |= PFS_WHAT_PFN;
	forge_put(f, &rec);
	expect_fields(f, "fault huge pfn=12340 order=4");
	rec = forge_fault(f, &shared_file, 0x55000, PFS_FLAG_WRITE, MINOR);
	rec.fault.order = 2;
	forge_put(f, &rec);
	expect_fields(f, "fault around addr=55000 count=4 off=16384 end_off=32768");
	forge_free(f);
}

static void put_around(struct forge *f, const struct forge_vma *v, uint64_t addr, bool exact, uint64_t mapped)
{
	struct pfs_rec rec = forge_rec(f, PFS_REC_AROUND);

	rec.around = (struct pfs_rec_around){ addr, f->mm, v->ino, 2, 10, DEV, exact, mapped };
	forge_put(f, &rec);
}

/* Beside an exception it needs no place; beside a fault without one it is in that one's region. */
static void test_around(void **state)
{
	struct forge *f = running();

	forge_touch(f, &private_file, 0x31000, 0, MINOR);
	put_around(f, &private_file, 0x31000, false, 0);
	expect_fields(f, "fault around off=8192 end_off=40960 dev=fe:00 ino=7");
	forge_gup(f, &private_file, 0x31000, 0, MINOR);
	forge_forget(f);
	put_around(f, &private_file, 0x31000, false, 0);
	forge_expect(f, "around addr=31000 start=30000 end=40000 off=8192 end_off=40960 "
			"dev=fe:00 ino=7\n");
	forge_free(f);
}

/* An event for each run of pages that were mapped. */
static void test_around_exactly(void **state)
{
	struct forge *f = running();

	forge_touch(f, &private_file, 0x31000, 0, MINOR);
	forge_forget(f);
	put_around(f, &private_file, 0x31000, true, 0);
	put_around(f, &private_file, 0x31000, true, 0xd9);
	put_around(f, &private_file, 0x31000, true, UINT64_MAX);
	put_around(f, &private_file, 0x31000, true, UINT64_MAX << 32);
	expect_fields(f, "around count=1 off=8192 end_off=12288 around count=2 off=20480 end_off=28672 "
			 "around count=2 off=32768 end_off=40960 around count=64 off=8192 end_off=270336 "
			 "around count=32 off=139264 end_off=270336");
	forge_free(f);
}

static void test_evict(void **state)
{
	struct forge *f = running();
	struct pfs_rec rec = forge_rec(f, PFS_REC_EVICT);

	rec.around = (struct pfs_rec_around){ .ino = 7, .dev = DEV, .pgoff = 2, .end_pgoff = 10 };
	forge_put(f, &rec);
	forge_expect(f, "evict off=8192 end_off=40960 dev=fe:00 ino=7\n");
	forge_free(f);
}

static void put_fill(struct forge *f, uint64_t start, uint64_t end, uint64_t from, bool sparse)
{
	struct pfs_rec rec = forge_rec(f, PFS_REC_FILL);

	rec.range = (struct pfs_rec_range){ f->mm, start, end, from, sparse };
	forge_put(f, &rec);
}

/* Whoever did it, also who is not recorded: the event is of the process whose memory it is. */
static void test_userfaultfd(void **state)
{
	struct forge *f = running();

	put_fill(f, 0x11000, 0x12000, 0, false);
	f->pid = f->tid = 300;
	put_fill(f, 0x12000, 0x14000, 0x18000, true);
	f->pid = f->tid = 100;
	forge_expect(f, "populate start=11000 end=12000 by=userfaultfd\n"
			"populate start=12000 end~14000 from=18000 by=userfaultfd\n");
	put_fill(f, 0x11001, 0x12000, 0, false);
	f->mm = 0xdd00;
	put_fill(f, 0x11000, 0x12000, 0, false);
	expect_fields(f, "lost");
	assert_int_equal(pfs_decoder_stats(f->d)->damaged, 1);
	forge_free(f);
}

static void put_signal(struct forge *f, int sig)
{
	struct pfs_rec rec = forge_life(f, PFS_REC_SIGNAL, "cat");

	rec.life.code = sig;
	forge_put(f, &rec);
}

/* Once for a fault without a page; a general protection fault is none. */
static void test_signals(void **state)
{
	struct forge *f = running();

	forge_touch(f, &anon, 0x10000, 0, SIGBUS_RET);
	put_signal(f, 7);
	expect_fields(f, "fault !class= signal sig=7");
	put_signal(f, 11);
	forge_touch(f, &anon, 0x10000, 0, MINOR);
	forge_forget(f);
	put_signal(f, 11);
	forge_expect(f, "");
	forge_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_a_fault),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_how),
		cmocka_unit_test(test_not_handled),
		cmocka_unit_test(test_a_stack_that_grew),
		cmocka_unit_test(test_a_region_that_nobody_told),
		cmocka_unit_test(test_another_region_than_told),
		cmocka_unit_test(test_a_region_that_is_less_than_told),
		cmocka_unit_test(test_a_damaged_region),
		cmocka_unit_test(test_a_fault_that_waited),
		cmocka_unit_test(test_get_user_pages),
		cmocka_unit_test(test_a_page_of_another_process),
		cmocka_unit_test(test_touched_by_a_stranger),
		cmocka_unit_test(test_a_page_of_a_stranger),
		cmocka_unit_test(test_huge_pages),
		cmocka_unit_test(test_hugetlbfs),
		cmocka_unit_test(test_large_folios),
		cmocka_unit_test(test_around),
		cmocka_unit_test(test_around_exactly),
		cmocka_unit_test(test_evict),
		cmocka_unit_test(test_userfaultfd),
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
