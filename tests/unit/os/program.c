/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that are run: their output, environment and folder, how they end, and that none is left.
 */
#include "os/program.h"

#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

/* What it has started lives on and keeps the pipe open. */
static void test_killed(void **state)
{
	char mark[] = "/tmp/pfscope-XXXXXX", line[32] = "", words[128];
	const char *const argv[] = { "sh", "-c", words, NULL };
	const struct timespec moment = { .tv_nsec = 10000000 };
	int fd = mkstemp(mark), pid;
	const struct pfs_program program = { .argv = argv };
	struct pfs_program_result result = { 0 };
	struct pfs_err err;

	assert_true(fd >= 0);
	snprintf(words, sizeof(words), "sleep 1000 & echo $! >%s; echo said; kill -9 $$", mark);
	assert_int_equal(pfs_program_run(&program, &result, &err), 0);
	assert_true(WIFSIGNALED(result.status) && WTERMSIG(result.status) == SIGKILL);
	assert_string_equal(pfs_output_text(&result.out), "said\n");
	pfs_program_result_free(&result);
	assert_true(pread(fd, line, sizeof(line) - 1, 0) > 0);
	pid = atoi(line);
	for (int i = 0; i < 6000 && !has_ended(pid); i++)
		nanosleep(&moment, NULL);
	assert_true(has_ended(pid));
	close(fd);
	unlink(mark);
}

/* ---- which program ---- */

static char place[64]; /* a folder of the test's */

static int make_place(void **state)
{
	strcpy(place, "/tmp/pfscope-XXXXXX");
	return mkdtemp(place) ? 0 : -1;
}

static const char *in_place(const char *name)
{
	static char paths[2][PATH_MAX];
	static int turn;

	turn = !turn;
	snprintf(paths[turn], sizeof(paths[0]), "%s%s", place, name);
	return paths[turn];
}

static int remove_place(void **state)
{
	unlink(in_place("/bin/tool"));
	unlink(in_place("/link"));
	rmdir(in_place("/bin"));
	return rmdir(place);
}

static void put_tool(void)
{
	FILE *f;

	assert_int_equal(mkdir(in_place("/bin"), 0755), 0);
	f = fopen(in_place("/bin/tool"), "w");
	assert_non_null(f);
	fputs("#!/bin/sh\necho $PATH\n", f);
	fclose(f);
	chmod(in_place("/bin/tool"), 0755);
}

static int found(const char *name, struct pfs_err *err)
{
	char path[PATH_MAX];

	return pfs_program_find(name, path, err);
}

/* What others could have put there is not executed as root. */
static void test_whose_program(void **state)
{
	const int refused = geteuid() ? 0 : -EPERM;
	struct pfs_err err = { "" };

	chmod(place, 0755);
	put_tool();
	setenv("PATH", in_place("/bin"), 1);
	assert_int_equal(found("tool", &err), 0);
	assert_int_equal(found("no-such-tool", &err), -ENOENT);
	assert_string_equal(err.msg, "");
	assert_int_equal(chmod(in_place("/bin"), 0777), 0);
	assert_int_equal(found("tool", &err), refused);
	if (refused)
		assert_non_null(strstr(err.msg, "/bin/tool: not executed as root: others can write"));
	chmod(in_place("/bin"), 01777); /* everybody can make a link in it */
	assert_int_equal(found("tool", &err), refused);
	chmod(in_place("/bin"), 0775);
	assert_int_equal(found("tool", &err), refused);
	chmod(in_place("/bin"), 0755);
	chmod(in_place("/bin/tool"), 0757);
	assert_int_equal(found("tool", &err), refused);
	chmod(in_place("/bin/tool"), 0755);
	chmod(place, 0777);
	assert_int_equal(found("tool", &err), refused);
	assert_int_equal(found(in_place("/bin/tool"), &err), refused);
	chmod(place, 0755);
	if (!geteuid()) {
		assert_int_equal(chown(place, 12345, 0), 0);
		assert_int_equal(found("tool", &err), -EPERM);
		assert_int_equal(chown(place, 0, 0), 0);
		assert_int_equal(chown(in_place("/bin/tool"), 12345, 0), 0);
		assert_int_equal(found("tool", &err), -EPERM);
		assert_int_equal(chown(in_place("/bin/tool"), 0, 0), 0);
	}
	assert_int_equal(found("tool", &err), 0);
	unsetenv("PATH");
	assert_int_equal(found("sh", &err), 0);
}

/* Nor what a program that is executed looks up. */
static void test_whose_path(void **state)
{
	const char *const argv[] = { "tool", NULL };
	const struct pfs_program program = { .argv = argv };
	struct pfs_program_result result = { 0 };
	char path[3 * PATH_MAX];
	struct pfs_err err;

	chmod(place, 0755);
	put_tool();
	assert_int_equal(symlink(in_place("/bin"), in_place("/link")), 0);
	snprintf(path, sizeof(path), "/tmp:%s:%s", in_place("/link"), in_place("/bin"));
	setenv("PATH", path, 1);
	assert_int_equal(pfs_program_run(&program, &result, &err), 0);
	if (!geteuid())
		snprintf(path, sizeof(path), "%s:%s", in_place("/bin"), in_place("/bin"));
	strcat(path, "\n");
	assert_string_equal(pfs_output_text(&result.out), path);
	pfs_program_result_free(&result);
	unsetenv("PATH");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_and_status),
		cmocka_unit_test(test_no_such_program),
		cmocka_unit_test(test_the_child_stores_its_number),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_killed),
		cmocka_unit_test_setup_teardown(test_whose_program, make_place, remove_place),
		cmocka_unit_test_setup_teardown(test_whose_path, make_place, remove_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
