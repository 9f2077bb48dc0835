/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of allocations: which allocation a stack belongs to, in interrupts and on several CPUs, and which to none.
 */
#include "support/raw_feed.h"

enum { HARDIRQ = 0x08, SOFTIRQ = 0x10, IRQS_OFF = 0x01 };

/* "f+0x1": functions are 0x100 bytes long */
static const char *function(const void *ctx, uint64_t addr, uint64_t *start)
{
	static const char *const names[] = { NULL, "leaf", "middle", "root" };

	*start = addr & ~0xffull;
	return addr >> 8 < 4 ? names[addr >> 8] : NULL;
}

static void setup(struct raw_feed *f)
{
	raw_feed_init(f);
	pfs_assembler_set_functions(f->a, function, NULL);
	f->cpu = 0;
}

static void stack(struct raw_feed *f, uint64_t flags, const uint64_t *addresses, uint32_t nr)
{
	struct raw_event raw = { .ts_ns = f->now_ns++,
				 .kind = RAW_STACK,
				 .cpu = f->cpu,
				 .tid = f->tid,
				 .tgid = -1,
				 .arg = { nr, flags },
				 .record = addresses,
				 .record_len = nr * sizeof(*addresses) };

	assert_int_equal(pfs_assembler_feed(f->a, &raw), 0);
}
#define STACK(f, flags, ...) \
	stack(f, flags, (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void alloc(struct raw_feed *f, uint64_t ptr, uint64_t flags)
{
	RAW(f, RAW_CACHE_ALLOC, 0x9999, ptr, 64, 64, RAW_ABSENT, flags);
	forget(f);
}

static void a_stack_follows_its_allocation(void **state)
{
	struct raw_feed f;

	setup(&f);
	alloc(&f, 0x5000, 0);
	STACK(&f, 0, 0x101, 0x202, 0x12345);
	expect(&f, "stack cpu=0 ptr=5000 frames=\"leaf+0x1;middle+0x2;0x12345\"\n");
	STACK(&f, 0, 0x101); /* of an event that is none of ours */
	alloc(&f, 0, 0);     /* failed */
	STACK(&f, 0, 0x101);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void an_interrupt_has_its_own(void **state)
{
	struct raw_feed f;

	setup(&f);
	alloc(&f, 0x5000, IRQS_OFF);
	alloc(&f, 0x6000, SOFTIRQ);
	alloc(&f, 0x7000, SOFTIRQ | HARDIRQ);
	STACK(&f, HARDIRQ, 0x103);
	STACK(&f, SOFTIRQ, 0x102);
	STACK(&f, 0, 0x101);
	expect(&f, "stack cpu=0 ptr=7000 frames=\"leaf+0x3\"\nstack cpu=0 ptr=6000 frames=\"leaf+0x2\"\n"
		   "stack cpu=0 ptr=5000 frames=\"leaf+0x1\"\n");
	raw_feed_fini(&f);
}

static void so_has_another_cpu(void **state)
{
	struct raw_feed f;

	setup(&f);
	alloc(&f, 0x5000, 0);
	f.cpu = 70;
	STACK(&f, 0, 0x101);
	alloc(&f, 0x6000, 0);
	f.cpu = 0;
	STACK(&f, 0, 0x101);
	expect(&f, "stack cpu=0 ptr=5000 frames=\"leaf+0x1\"\n");
	f.cpu = 70;
	f.tid = 101;
	STACK(&f, 0, 0x101); /* another thread's: its own event was lost */
	expect(&f, "");
	raw_feed_fini(&f);
}

static void none_after_a_loss(void **state)
{
	struct raw_event lost;
	struct raw_feed f;

	setup(&f);
	alloc(&f, 0x5000, 0);
	raw_event_lost(&lost, 0, 3, 0);
	lost.ts_ns = f.now_ns;
	assert_int_equal(pfs_assembler_feed(f.a, &lost), 0);
	forget(&f);
	STACK(&f, 0, 0x101);
	expect(&f, "");
	f.cpu = -1;
	alloc(&f, 0x5000, 0);
	STACK(&f, 0, 0x101);
	f.cpu = 0;
	alloc(&f, 0x5000, RAW_ABSENT);
	STACK(&f, RAW_ABSENT, 0x101);
	stack(&f, 0, NULL, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_follows_its_allocation),
		cmocka_unit_test(an_interrupt_has_its_own),
		cmocka_unit_test(so_has_another_cpu),
		cmocka_unit_test(none_after_a_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
