/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frame pointers of programs: this one as objdump sees it is a live test; here damaged ones, and what is none. */
#include "os/frames.h"

#include "base/write_all.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void a_program_has_some(void **state)
{
	unsigned int of, with = pfs_program_frames("/proc/self/exe", &of);

#if defined(__x86_64__) || defined(__aarch64__)
	assert_true(of > 20 && of <= 512);
#endif
	assert_true(with <= of);
}

static void what_is_none_has_none(void **state)
{
	static const char *const none[] = { "/", "/dev/null", "/proc/self/maps", "/nonexistent" };
	unsigned int of = 7;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_int_equal(pfs_program_frames(none[i], &of), 0);
		assert_int_equal(of, 0);
	}
}

static void few_are_few(void **state)
{
	assert_false(pfs_frames_are_few(0, 0));
	assert_true(pfs_frames_are_few(3, 512));
	assert_false(pfs_frames_are_few(400, 512));
}

static void a_damaged_one_is_survived(void **state)
{
	char name[] = "/tmp/pfscope-test.XXXXXX";
	size_t len;
	char *bytes = pfs_read_whole_file("/proc/self/exe", &len);
	int fd = mkstemp(name);
	unsigned int of;

	assert_non_null(bytes);
	assert_true(fd >= 0);
	srand(7);
	for (int i = 0; i < 300; i++) {
		char head[4096];

		memcpy(head, bytes, sizeof(head));
		for (int k = 0; k < 20; k++)
			head[rand() % 1024] = rand();
		memcpy(head, bytes, 16);
		assert_int_equal(pwrite(fd, head, sizeof(head), 0), sizeof(head));
		if (!i)
			assert_int_equal(pwrite(fd, bytes + sizeof(head), len - sizeof(head), sizeof(head)),
					 len - sizeof(head));
		assert_true(pfs_program_frames(name, &of) <= of && of <= 513);
	}
	assert_int_equal(ftruncate(fd, 1000), 0);
	pfs_program_frames(name, &of);
	close(fd);
	unlink(name);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_has_some),
		cmocka_unit_test(what_is_none_has_none),
		cmocka_unit_test(few_are_few),
		cmocka_unit_test(a_damaged_one_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
