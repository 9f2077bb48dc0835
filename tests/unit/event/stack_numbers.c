/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of stacks: equal ones have one, until the code of the process changes. */
#include "event/stack_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { A = 100, B = 200, X = PFS_PERM_R | PFS_PERM_X, RW = PFS_PERM_R | PFS_PERM_W };

static uint64_t number(struct pfs_stack_numbers *n, int32_t pid, uint64_t hash, bool is_first)
{
	const struct pfs_event ev = { .kind = PFS_FAULT, .pid = pid, .have = PFS_HAS(PFS_F_PID) };
	bool first;
	uint64_t nr = pfs_stack_number(n, &ev, hash, &first);

	assert_int_equal(first, is_first);
	return nr;
}

static void tell(struct pfs_stack_numbers *n, int32_t pid, enum pfs_kind kind, uint64_t start, uint64_t end, int perms)
{
	struct pfs_event ev = { .kind = kind };

	PFS_SET(&ev, pid, PID, pid);
	if (end) {
		PFS_SET(&ev, start, START, start);
		PFS_SET(&ev, end, END, end);
	}
	if (perms)
		PFS_SET(&ev, perms, PERMS, perms);
	assert_int_equal(pfs_stack_numbers_event(n, &ev), 0);
}

/* Has the code of process A changed since the last call? */
static bool changed(struct pfs_stack_numbers *n)
{
	const struct pfs_event ev = { .kind = PFS_FAULT, .pid = A, .have = PFS_HAS(PFS_F_PID) };
	bool first;

	pfs_stack_number(n, &ev, 7, &first);
	return first;
}

static void equal_ones_have_one(void **state)
{
	struct pfs_stack_numbers *n = pfs_stack_numbers_new();
	uint64_t first = number(n, A, 7, true), second = number(n, A, 8, true);

	assert_int_equal(first, 1);
	assert_int_equal(second, 2);
	assert_int_equal(number(n, A, 7, false), first);
	assert_int_equal(number(n, A, 8, false), second);
	assert_int_equal(number(n, B, 7, true), 3); /* each process has its own */
	pfs_stack_numbers_free(n);
}

static void until_the_code_changes(void **state)
{
	struct pfs_stack_numbers *n = pfs_stack_numbers_new();

	changed(n);
	tell(n, A, PFS_MAP, 0x1000, 0x5000, X);
	assert_true(changed(n));
	tell(n, A, PFS_MAP, 0x1000, 0x5000, X); /* again: a later look at the layout */
	tell(n, A, PFS_MAP, 0x2000, 0x3000, X);
	tell(n, A, PFS_MAP, 0x8000, 0x9000, RW);
	tell(n, A, PFS_UNMAP, 0x8000, 0x9000, 0);
	tell(n, A, PFS_MAP, 0x8000, 0x9000, 0); /* a row of the region tree */
	tell(n, B, PFS_MAP, 0x8000, 0x9000, X);
	tell(n, A, PFS_FAULT, 0, 0, 0);
	assert_false(changed(n));
	tell(n, A, PFS_UNMAP, 0x2000, 0x3000, 0);
	assert_true(changed(n));
	tell(n, A, PFS_UNMAP, 0x2000, 0x3000, 0); /* there is no code any more */
	assert_false(changed(n));
	tell(n, A, PFS_UNMAP, 0x4000, 0x5000, 0); /* that behind the hole */
	assert_true(changed(n));
	tell(n, A, PFS_PROTECT, 0x1000, 0x2000, RW);
	assert_true(changed(n));
	tell(n, A, PFS_PROTECT, 0x1000, 0x2000, X);
	assert_true(changed(n));
	tell(n, A, PFS_UNMAP, 0, 0, 0); /* all of it */
	assert_true(changed(n));
	tell(n, A, PFS_EXEC, 0, 0, 0);
	assert_true(changed(n));
	pfs_stack_numbers_free(n);
}

static void by_another_file_at_its_place(void **state)
{
	struct pfs_stack_numbers *n = pfs_stack_numbers_new();
	struct pfs_event ev = { .kind = PFS_MAP };

	PFS_SET(&ev, pid, PID, A);
	PFS_SET(&ev, start, START, 0x1000);
	PFS_SET(&ev, end, END, 0x5000);
	PFS_SET(&ev, perms, PERMS, X);
	PFS_SET(&ev, dev, DEV, 0xfe00001);
	PFS_SET(&ev, ino, INO, 7);
	PFS_SET(&ev, off, OFF, 0x1000);
	pfs_stack_numbers_event(n, &ev);
	assert_true(changed(n));
	pfs_stack_numbers_event(n, &ev);
	assert_false(changed(n));
	ev.ino = 8;
	pfs_stack_numbers_event(n, &ev);
	assert_true(changed(n));
	ev.off = 0;
	pfs_stack_numbers_event(n, &ev);
	assert_true(changed(n));
	pfs_stack_numbers_free(n);
}

static void moved(struct pfs_stack_numbers *n, uint64_t from, uint64_t to)
{
	struct pfs_event ev = { .kind = PFS_MOVE };

	PFS_SET(&ev, pid, PID, A);
	PFS_SET(&ev, from, FROM, from);
	PFS_SET(&ev, len, LEN, 0x1000);
	PFS_SET(&ev, start, START, to);
	PFS_SET(&ev, end, END, to + 0x1000);
	assert_int_equal(pfs_stack_numbers_event(n, &ev), 0);
}

static void or_is_moved(void **state)
{
	struct pfs_stack_numbers *n = pfs_stack_numbers_new();

	tell(n, A, PFS_MAP, 0x1000, 0x2000, X);
	changed(n);
	moved(n, 0x8000, 0x9000); /* data */
	assert_false(changed(n));
	moved(n, 0x1000, 0x9000);
	assert_true(changed(n));
	tell(n, A, PFS_UNMAP, 0x9000, 0xa000, 0);
	assert_true(changed(n));
	pfs_stack_numbers_free(n);
}

static void a_child_has_its_parents_code(void **state)
{
	struct pfs_stack_numbers *n = pfs_stack_numbers_new();
	struct pfs_event ev = { .kind = PFS_FORK };
	uint64_t old = number(n, B, 7, true);

	tell(n, A, PFS_MAP, 0x1000, 0x2000, X);
	PFS_SET(&ev, pid, PID, A);
	PFS_SET(&ev, child, CHILD, B);
	assert_int_equal(pfs_stack_numbers_event(n, &ev), 0);
	assert_true(number(n, B, 7, true) != old); /* the number was another process's */
	tell(n, B, PFS_UNMAP, 0x1000, 0x2000, 0);
	number(n, B, 7, true);
	pfs_stack_numbers_free(n);
}

static void a_jit_has_any_number_of_pieces(void **state)
{
	struct pfs_stack_numbers *n = pfs_stack_numbers_new();

	for (uint64_t i = 1; i <= 200; i++) {
		tell(n, A, PFS_MAP, i << 16, (i << 16) + 0x1000, X);
		assert_true(changed(n));
	}
	for (uint64_t i = 1; i <= 200; i++) {
		tell(n, A, PFS_UNMAP, i << 16, (i << 16) + 0x1000, 0);
		assert_true(changed(n));
	}
	pfs_stack_numbers_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_ones_have_one),		cmocka_unit_test(until_the_code_changes),
		cmocka_unit_test(by_another_file_at_its_place), cmocka_unit_test(or_is_moved),
		cmocka_unit_test(a_child_has_its_parents_code), cmocka_unit_test(a_jit_has_any_number_of_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
