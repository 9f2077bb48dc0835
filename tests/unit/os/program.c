/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that are run: their output, environment and folder, how they end, and that none is left.
 */
#include "os/program.h"

#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static void test_output_and_status(void **state)
{
	const char *const argv[] = { "sh", "-c", "echo out; echo err >&2; echo $A; pwd; exit 3", NULL };
	const char *const env[] = { "A=b", NULL };
	const struct pfs_program program = { .argv = argv, .env = env, .dir = "/" };
	struct pfs_program_result result = { 0 };
	struct pfs_err err;

	assert_int_equal(pfs_program_run(&program, &result, &err), 0);
	assert_true(WIFEXITED(result.status) && WEXITSTATUS(result.status) == 3);
	assert_false(pfs_program_succeeded(&result));
	assert_string_equal(result.out.text, "out\nb\n/\n");
	assert_string_equal(result.error.text, "err\n");
	pfs_program_result_free(&result);
	assert_string_equal(pfs_output_text(&result.out), "");
}

static void test_no_such_program(void **state)
{
	const char *const argv[] = { "/no/such/program", NULL };
	const struct pfs_program program = { .argv = argv };
	struct pfs_program_result result = { 0 };
	struct pfs_err err;

	assert_int_equal(pfs_program_run(&program, &result, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "/no/such/program"));
}

/* The caller may be killed while the program starts: who shares the memory knows its number all the same. */
static void test_the_child_stores_its_number(void **state)
{
	const char *const argv[] = { "sh", "-c", "echo $$", NULL };
	const struct pfs_program program = { .argv = argv, .dies_with_parent = true };
	pid_t *pid = mmap(NULL, sizeof(*pid), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct pfs_output output = { 0 };
	int fds[2];

	assert_ptr_not_equal(pid, MAP_FAILED);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(pfs_program_spawn(&program, fds[1], fds[1], pid), 0);
	close(fds[1]);
	while (pfs_output_read(&output, fds[0]) > 0)
		;
	close(fds[0]);
	assert_int_equal(pfs_program_wait(*pid), 0);
	assert_int_equal(atoi(pfs_output_text(&output)), *pid);
	pfs_output_free(&output);
	munmap(pid, sizeof(*pid));
}

static bool has_line(void *ctx)
{
	char c;

	return pread(*(int *)ctx, &c, 1, 0) == 1;
}

static bool has_ended(pid_t pid)
{
	return strchr("XZ", pfs_process_state(pid));
}

static void test_given_up(void **state)
{
	char mark[] = "/tmp/pfscope-XXXXXX", line[32] = "", words[128];
	const char *const argv[] = { "sh", "-c", words, NULL };
	const struct timespec moment = { .tv_nsec = 10000000 };
	int fd = mkstemp(mark), pid;
	const struct pfs_program program = { .argv = argv, .give_up = has_line, .give_up_ctx = &fd };
	struct pfs_program_result result = { 0 };
	struct pfs_err err;

	assert_true(fd >= 0);
	snprintf(words, sizeof(words), "sleep 100 & echo $! >%s; wait", mark);
	assert_int_equal(pfs_program_run(&program, &result, &err), -EINTR);
	assert_true(WIFSIGNALED(result.status) && WTERMSIG(result.status) == SIGTERM);
	assert_true(pread(fd, line, sizeof(line) - 1, 0) > 0);
	pid = atoi(line);
	for (int i = 0; i < 1000 && !has_ended(pid); i++)
		nanosleep(&moment, NULL);
	assert_true(has_ended(pid));
	close(fd);
	unlink(mark);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_and_status),
		cmocka_unit_test(test_no_such_program),
		cmocka_unit_test(test_the_child_stores_its_number),
		cmocka_unit_test(test_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
