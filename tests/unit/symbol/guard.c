/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child that answers until it crashes, and the demangler in one. */
#include "support/random_event.h"
#include "support/user_namespace.h"
#include "symbol/demangle.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* "?": whether it has a privilege, or descriptors that it needs not. */
static size_t answer(void *ctx, const char *request, size_t len, char *text)
{
	if (!strcmp(request, "crash"))
		abort();
	if (!strcmp(request, "nothing"))
		return 0;
	if (!strcmp(request, "?"))
		return snprintf(text, PFS_GUARD_MAX, "%d %d", geteuid() == 0, fcntl(*(int *)ctx, F_GETFD) >= 0);
	memcpy(text, request, len);
	return len;
}

static void test_answers(void **state)
{
	static char text[PFS_GUARD_MAX];
	struct pfs_guard guard = { 0 };
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	pfs_guard_end(&guard);
	pfs_guard_start(&guard, answer, &fd, -1);
	assert_false(guard.broken);
	assert_int_equal(pfs_guard_ask(&guard, "hello", 5, text), 5);
	assert_memory_equal(text, "hello", 5);
	assert_int_equal(pfs_guard_ask(&guard, "nothing", 7, text), 0);
	assert_int_equal(pfs_guard_ask(&guard, "?", 1, text), 3);
	assert_memory_equal(text, "0 0", 3);
	assert_int_equal(pfs_guard_ask(&guard, text, PFS_GUARD_MAX + 1, text), 0);
	assert_false(guard.broken);
	assert_int_equal(pfs_guard_ask(&guard, "crash", 5, text), 0);
	assert_true(guard.broken);
	assert_int_equal(pfs_guard_ask(&guard, "hello", 5, text), 0);
	pfs_guard_end(&guard);
	pfs_guard_start(&guard, answer, &fd, fd);
	assert_int_equal(pfs_guard_ask(&guard, "?", 1, text), 3);
	assert_memory_equal(text, "0 1", 3);
	pfs_guard_end(&guard);
	close(fd);
}

/* Answers come in the order of the requests, and none after a crash. */
static void test_several(void **state)
{
	static char text[PFS_GUARD_MAX];
	struct pfs_guard guard = { 0 };

	pfs_guard_start(&guard, answer, NULL, -1);
	pfs_guard_send(&guard, "one", 3);
	pfs_guard_send(&guard, "nothing", 7);
	assert_int_equal(pfs_guard_receive(&guard, text), 3);
	assert_memory_equal(text, "one", 3);
	pfs_guard_send(&guard, "three", 5);
	assert_int_equal(pfs_guard_receive(&guard, text), 0);
	assert_int_equal(pfs_guard_receive(&guard, text), 5);
	assert_memory_equal(text, "three", 5);
	pfs_guard_send(&guard, "crash", 5);
	pfs_guard_send(&guard, "five", 4);
	assert_int_equal(pfs_guard_receive(&guard, text), 0);
	assert_true(guard.broken);
	assert_int_equal(pfs_guard_receive(&guard, text), 0);
	pfs_guard_end(&guard);
}

static void test_names(void **state)
{
	static const struct {
		const char *name, *wanted;
	} rows[] = {
		{ "main", "main" },
		{ "_Z3fooi", "foo(int)" },
		{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
		{ "_RNvC1a1b", "a::b" },
		{ "_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>" },
		{ "_RNvMNtCsgEmfK2I1SDS_4core3stre3lenCs6GmmlP4bgsG_1r", "<str>::len" },
		{ "_Z1", "_Z1" },
		{ "_Roops", "_Roops" },
		{ "main.(*T).run", "main.(*T).run" },
	};
	struct pfs_demangler demangler = { 0 };
	static char text[PFS_GUARD_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(pfs_demangle(&demangler, rows[i].name, text), rows[i].wanted);
	assert_false(demangler.guard.broken);
	pfs_demangler_fini(&demangler);
}

/* Containers without root have such a root. This process stays there: it is the last test. */
static void test_root_of_a_user_namespace(void **state)
{
	if (!enter_user_namespace())
		skip();
	test_names(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_root_of_a_user_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
