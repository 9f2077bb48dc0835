/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal's width and colours, on a pseudo-terminal and on a pipe.
 */
#include "base/term.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <cmocka.h>

static void test_parse(void **state)
{
	assert_int_equal(pfs_term_width_parse("40"), 40);
	assert_int_equal(pfs_term_width_parse("200"), 200);
	assert_int_equal(pfs_term_width_parse("39"), -EINVAL);
	assert_int_equal(pfs_term_width_parse("10001"), -EINVAL);
	assert_int_equal(pfs_term_width_parse("80x"), -EINVAL);
	assert_int_equal(pfs_term_width_parse(""), -EINVAL);
	assert_int_equal(pfs_term_width_parse("99999999999999999999"), -EINVAL);
	assert_int_equal(pfs_color_parse("auto"), PFS_COLOR_AUTO);
	assert_int_equal(pfs_color_parse("always"), PFS_COLOR_ALWAYS);
	assert_int_equal(pfs_color_parse("never"), PFS_COLOR_NEVER);
	assert_int_equal(pfs_color_parse("yes"), -EINVAL);
}

static void test_terminal(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), fd;
	struct winsize size = { .ws_row = 24, .ws_col = 133 };

	if (master < 0 || grantpt(master) || unlockpt(master))
		skip();
	fd = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		skip();
	setenv("COLUMNS", "77", 1);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
	assert_int_equal(pfs_term_width(fd), 133);
	assert_true(pfs_term_color(fd, PFS_COLOR_AUTO));
	assert_false(pfs_term_color(fd, PFS_COLOR_NEVER));
	setenv("NO_COLOR", "1", 1);
	assert_false(pfs_term_color(fd, PFS_COLOR_AUTO));
	assert_true(pfs_term_color(fd, PFS_COLOR_ALWAYS));
	setenv("NO_COLOR", "", 1);
	assert_true(pfs_term_color(fd, PFS_COLOR_AUTO));
	setenv("TERM", "dumb", 1);
	assert_false(pfs_term_color(fd, PFS_COLOR_AUTO));
	size.ws_col = 0; /* a serial line says nothing */
	assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
	assert_int_equal(pfs_term_width(fd), 77);
	close(fd);
	close(master);
}

static void test_pipe(void **state)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	setenv("COLUMNS", "120", 1);
	assert_int_equal(pfs_term_width(fds[1]), 120);
	setenv("COLUMNS", "none", 1);
	assert_int_equal(pfs_term_width(fds[1]), 80);
	unsetenv("COLUMNS");
	assert_int_equal(pfs_term_width(fds[1]), 80);
	assert_false(pfs_term_color(fds[1], PFS_COLOR_AUTO));
	assert_true(pfs_term_color(fds[1], PFS_COLOR_ALWAYS));
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
