/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of stacks, and where they lie. */
#include "support/feed.h"

#include "stack/stacks.h"

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
	assert_string_equal(stack->frames[0].func, "filemap_read+0x1c");
	assert_int_equal(stack->frames[0].addr, 0);
	assert_false(stack->frames[0].call);
	assert_int_equal(stack->frames[1].pid, PID);
	assert_null(stack->frames[1].func);
	assert_int_equal(stack->frames[1].addr, 0x400123);
	assert_int_equal(stack->frames[1].off, 0x3123);
	assert_int_equal(stack->frames[1].ino, INO);
	assert_int_equal(stack->frames[1].dev, DEV);
	assert_string_equal(stack->frames[1].name, "/bin/a");
	assert_true(stack->frames[1].call);
	/* A call at the very end of the region returns behind it. */
	assert_string_equal(stack->frames[2].name, "/bin/a");
	assert_int_equal(stack->frames[2].off, 0x5000);
	assert_string_equal(stack->frames[3].name, "");
	assert_int_equal(stack->frames[3].ino, 0);
	assert_null(stack->frames[4].name);
	done(&f);
}

static void test_the_layout_of_that_moment(void **state)
{
	struct feed f = feed_stacks();
	const struct pfs_stack *stack = define(&f, 1, "0x400123");

	feed_unmap(&f, 0x400000, 0x402000);
	assert_string_equal(stack->frames[0].name, "/bin/a");
	assert_null(define(&f, 2, "0x400123")->frames[0].name);
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
	assert_string_equal(stack->frames[0].func, "0xzz");
	assert_string_equal(stack->frames[1].func, "...");
	assert_null(stack->frames[2].name);
	assert_int_equal(define(&f, 3, "")->nr_frames, 0);
	assert_null(define(&f, 0, "0x1"));
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_frames_lie),
		cmocka_unit_test(test_the_layout_of_that_moment),
		cmocka_unit_test(test_frames_of_faults),
		cmocka_unit_test(test_odd_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
