/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of stacks, and where they lie. */
#include "support/feed.h"

#include "stack/stacks.h"

#include <stdio.h>

enum { PID = 100, DEV = 0xfe00001, INO = 77 };

static int behind(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	return pfs_stacks_event(ctx, ev, outcome);
}

static struct feed feed_stacks(void)
{
	struct feed f = feed_new(PID);

	f.behind = (struct pfs_observer){ .event = behind, .ctx = pfs_stacks_new() };
	assert_non_null(f.behind.ctx);
	feed_maps_line(&f, 0x400000, 0x402000, RX, 0x3000, DEV, INO, "/bin/a");
	feed_map(&f, 0x500000, 0x501000, RX, "");
	return f;
}

static void done(struct feed *f)
{
	pfs_stacks_free(f->behind.ctx);
	feed_free(f);
}

static const struct pfs_stack *define(struct feed *f, uint64_t nr, const char *frames)
{
	struct pfs_event ev = feed_event(f, PFS_FRAMES, HAS(STACK) | HAS(FRAMES));

	ev.stack = nr;
	ev.frames = frames;
	feed_apply(f, &ev);
	return pfs_stacks_find(f->behind.ctx, nr);
}

static void test_where_frames_lie(void **state)
{
	struct feed f = feed_stacks();
	const struct pfs_stack *stack = define(&f, 7, "filemap_read+0x1c;0x400123;0x402000;0x500010;0x600000");

	assert_non_null(stack);
	assert_int_equal(stack->nr, 7);
	assert_int_equal(stack->pid, PID);
	assert_int_equal(stack->nr_frames, 5);
	assert_false(stack->cut);
	assert_string_equal(stack->frames[0]->func, "filemap_read+0x1c");
	assert_int_equal(stack->frames[0]->addr, 0);
	assert_false(stack->frames[0]->call);
	assert_int_equal(stack->frames[1]->pid, PID);
	assert_null(stack->frames[1]->func);
	assert_int_equal(stack->frames[1]->addr, 0x400123);
	assert_int_equal(stack->frames[1]->off, 0x3123);
	assert_int_equal(stack->frames[1]->ino, INO);
	assert_int_equal(stack->frames[1]->dev, DEV);
	assert_string_equal(stack->frames[1]->name, "/bin/a");
	assert_true(stack->frames[1]->call);
	/* A call at the very end of the region returns behind it. */
	assert_string_equal(stack->frames[2]->name, "/bin/a");
	assert_int_equal(stack->frames[2]->off, 0x5000);
	assert_string_equal(stack->frames[3]->name, "");
	assert_int_equal(stack->frames[3]->ino, 0);
	assert_null(stack->frames[4]->name);
	done(&f);
}

static void test_equal_frames_are_one(void **state)
{
	struct feed f = feed_stacks();
	const struct pfs_stack *a = define(&f, 1, "0x400123;0x400124;f+0x1"),
			       *b = define(&f, 2, "0x400124;0x400124;f+0x1");
	const struct pfs_stack *c;

	assert_ptr_equal(a->frames[1], b->frames[1]);
	assert_ptr_equal(a->frames[2], b->frames[2]);
	/* An instruction is not a call. */
	assert_ptr_not_equal(b->frames[0], b->frames[1]);
	assert_int_equal(a->frames[0]->nr, 1);
	assert_int_equal(a->frames[2]->nr, 3);
	assert_int_equal(b->frames[0]->nr, 4);
	/* The same address in another file. */
	feed_unmap(&f, 0x400000, 0x402000);
	feed_maps_line(&f, 0x400000, 0x402000, RX, 0x3000, DEV, INO + 1, "/bin/a");
	c = define(&f, 3, "0x400123;f+0x2");
	assert_ptr_not_equal(c->frames[0], a->frames[0]);
	assert_int_equal(c->frames[0]->ino, INO + 1);
	assert_string_equal(c->frames[1]->func, "f+0x2");
	assert_int_equal(c->frames[1]->nr, 6);
	/* One that is of a fault. */
	assert_ptr_equal(pfs_stacks_frame(f.behind.ctx, c->frames[0]), c->frames[0]);
	assert_ptr_equal(pfs_stacks_frame(f.behind.ctx, &(struct pfs_frame){ .addr = 0x400123,
									     .name = "/bin/a",
									     .off = 0x3123,
									     .ino = INO + 1,
									     .dev = DEV,
									     .pid = PID }),
			 c->frames[0]);
	done(&f);
}

static void test_many_frames(void **state)
{
	enum { NR = 5000 };
	static const struct pfs_stack *stacks[NR];
	struct feed f = feed_stacks();
	char text[64];

	for (int i = 0; i < NR; i++) {
		snprintf(text, sizeof(text), "0x%x;0x%x", 0x400000 + i, 0x400000 + (i + 1) % NR);
		stacks[i] = define(&f, i + 1, text);
	}
	for (int i = 0; i < NR; i++) {
		snprintf(text, sizeof(text), "0x%x;0x%x", 0x400000 + i, 0x400000 + (i + 1) % NR);
		assert_int_equal(stacks[i]->frames[0]->addr, 0x400000 + i);
		assert_ptr_equal(define(&f, NR + i + 1, text)->frames[0], stacks[i]->frames[0]);
		assert_ptr_equal(define(&f, NR + i + 1, text)->frames[1], stacks[i]->frames[1]);
		assert_in_range(stacks[i]->frames[1]->nr, 1, 2 * NR);
	}
	done(&f);
}

static void test_the_layout_of_that_moment(void **state)
{
	struct feed f = feed_stacks();
	const struct pfs_stack *stack = define(&f, 1, "0x400123");

	feed_unmap(&f, 0x400000, 0x402000);
	assert_string_equal(stack->frames[0]->name, "/bin/a");
	assert_null(define(&f, 2, "0x400123")->frames[0]->name);
	/* A number has one meaning. */
	assert_ptr_equal(define(&f, 1, "0x1;0x2"), stack);
	assert_int_equal(stack->nr_frames, 1);
	assert_null(pfs_stacks_find(f.behind.ctx, 3));
	done(&f);
}

static void test_frames_of_faults(void **state)
{
	struct feed f = feed_stacks();
	struct pfs_space *space = pfs_proc_space(pfs_model_proc(f.model, PID));
	struct pfs_frame frame = pfs_frame_of_fault(space, 0x400123, PFS_USER, PID);

	assert_string_equal(frame.name, "/bin/a");
	assert_int_equal(frame.addr, 0x400123);
	assert_int_equal(frame.off, 0x3123);
	assert_int_equal(frame.ino, INO);
	assert_int_equal(frame.pid, PID);
	assert_false(frame.call);
	assert_null(pfs_frame_of_fault(space, 0x700000, PFS_USER, PID).name);
	frame = pfs_frame_of_fault(space, 0xffffffff81000000, PFS_KERNEL, PID);
	assert_null(frame.name);
	assert_int_equal(frame.addr, 0xffffffff81000000);
	done(&f);
}

static void test_odd_texts(void **state)
{
	struct feed f = feed_stacks();
	const struct pfs_stack *stack = define(&f, 1, "0x400123;0x400124;...");

	assert_int_equal(stack->nr_frames, 2);
	assert_true(stack->cut);
	stack = define(&f, 2, ";;0xzz;...;0x0;");
	assert_int_equal(stack->nr_frames, 3);
	assert_false(stack->cut);
	assert_string_equal(stack->frames[0]->func, "0xzz");
	assert_string_equal(stack->frames[1]->func, "...");
	assert_null(stack->frames[2]->name);
	assert_int_equal(define(&f, 3, "")->nr_frames, 0);
	assert_null(define(&f, 0, "0x1"));
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_frames_lie), cmocka_unit_test(test_equal_frames_are_one),
		cmocka_unit_test(test_many_frames),	 cmocka_unit_test(test_the_layout_of_that_moment),
		cmocka_unit_test(test_frames_of_faults), cmocka_unit_test(test_odd_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
