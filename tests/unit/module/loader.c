/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader and the spool, with a script in staprun's place: what it says comes out, it ends when it is
 * told to, and whoever is killed, nothing is left.
 */
#include "module/loader.h"
#include "session/session_priv.h"
#include "support/stap_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>

/* Says its number, runs until it is told to end, and leaves a mark of how. */
static const char runs[] = "#!/bin/sh\n"
			   "trap 'echo INT >$1.end; echo bye; exit 0' INT\n"
			   "trap 'echo TERM >$1.end; exit 0' TERM\n"
			   "echo words >&2\n" /* first: who has read the other line may be gone at once */
			   "echo $$ $PPID\n"
			   "while :; do sleep 0.02; done\n";

static const char *put_script(const char *text)
{
	put_file("staprun", text);
	chmod(in_dir("staprun"), 0755);
	return in_dir("staprun");
}

static void load(struct pfs_loader *loader, const char *script)
{
	char program[PATH_MAX], mark[PATH_MAX], temp_dir[PATH_MAX], temp_file[PATH_MAX];
	const char *const argv[] = { program, mark, NULL };
	struct pfs_err err = { "" };

	snprintf(program, sizeof(program), "%s", script);
	snprintf(mark, sizeof(mark), "%s", in_dir("mark"));
	snprintf(temp_dir, sizeof(temp_dir), "%s", in_dir("copy"));
	snprintf(temp_file, sizeof(temp_file), "%s", in_dir("copy/m.ko"));
	assert_int_equal(pfs_loader_start(loader, &err), 0);
	pfs_loader_keep(loader, temp_dir, temp_file);
	put_file("copy/m.ko", "module");
	assert_int_equal(pfs_loader_load(loader, argv, "pfscope_no_such_module", &err), 0);
}

/* All that comes until fd is closed or, if `some`, until something did. Static. */
static const char *said_on(int fd, bool some)
{
	static char text[256];
	struct pollfd poll_fd = { fd, POLLIN, 0 };
	size_t len = 0;
	ssize_t got = 1;

	while (got && !(some && len) && poll(&poll_fd, 1, 5000) > 0) {
		got = read(fd, text + len, sizeof(text) - 1 - len);
		if (got > 0)
			len += got;
	}
	text[len] = '\0';
	return text;
}

static bool gone(const char *name)
{
	const struct timespec moment = { .tv_nsec = 10000000 };

	for (int i = 0; i < 2000 && !access(in_dir(name), F_OK); i++)
		nanosleep(&moment, NULL);
	return access(in_dir(name), F_OK);
}

static void test_in_order(void **state)
{
	struct pfs_loader_end end;
	struct pfs_loader loader;

	load(&loader, put_script(runs));
	assert_true(atoi(said_on(loader.out_fd, true)) > 1);
	assert_string_equal(said_on(loader.error_fd, true), "words\n");
	assert_int_equal(pfs_loader_ended(&loader, 0, &end), 0);
	assert_int_equal(access(in_dir("copy/m.ko"), F_OK), 0);
	pfs_loader_stop(&loader);
	assert_string_equal(said_on(loader.out_fd, false), "bye\n");
	assert_int_equal(pfs_loader_ended(&loader, 5000, &end), 1);
	assert_true(!end.failed && !end.left && WIFEXITED(end.status) && !WEXITSTATUS(end.status));
	assert_true(gone("copy"));
	pfs_loader_close(&loader);
	pfs_loader_close(&loader);
	assert_string_equal(file_text(in_dir("mark.end")), "INT\n");
}

static void test_ends_by_itself(void **state)
{
	struct pfs_loader_end end;
	struct pfs_loader loader;

	load(&loader, put_script("#!/bin/sh\necho ERROR: no >&2\nexit 3\n"));
	assert_int_equal(pfs_loader_ended(&loader, 5000, &end), 1);
	assert_true(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 3);
	assert_string_equal(said_on(loader.out_fd, false), "");
	assert_string_equal(said_on(loader.error_fd, false), "ERROR: no\n");
	pfs_loader_stop(&loader);
	pfs_loader_close(&loader);
	assert_true(gone("copy"));
}

static void test_killed(void **state)
{
	struct pfs_loader_end end;
	struct pfs_loader loader;
	int pid;

	load(&loader, put_script(runs));
	pid = atoi(said_on(loader.out_fd, true));
	assert_true(pid > 1);
	kill(pid, SIGKILL);
	assert_int_equal(pfs_loader_ended(&loader, 5000, &end), 1);
	assert_true(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGKILL);
	pfs_loader_close(&loader);
	assert_true(gone("copy"));
}

static void test_not_there(void **state)
{
	struct pfs_loader_end end;
	struct pfs_loader loader;

	load(&loader, "/no/such/staprun");
	assert_int_equal(pfs_loader_ended(&loader, 5000, &end), 1);
	assert_int_equal(end.failed, -ENOENT);
	pfs_loader_close(&loader);
	assert_true(gone("copy"));
}

/* pfscope is killed: staprun is told, the copy goes. */
static void test_orphaned(void **state)
{
	struct pfs_loader loader;
	int started[2];
	pid_t pid;
	char byte;

	put_script(runs);
	assert_int_equal(pipe(started), 0);
	pid = fork();
	if (!pid) {
		load(&loader, in_dir("staprun"));
		said_on(loader.out_fd, true);
		kill(getpid(), SIGKILL);
	}
	close(started[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(read(started[0], &byte, 1), 0); /* the loader keeps nobody's descriptors */
	close(started[0]);
	assert_true(gone("copy"));
	assert_string_equal(file_text(in_dir("mark.end")), "TERM\n");
}

/* The loader is killed: staprun is told, the copy goes, and whoever asks hears that it was killed. */
static void test_loader_killed(void **state)
{
	struct pfs_loader_end end;
	struct pfs_loader loader;
	int pid, loader_pid;

	load(&loader, put_script(runs));
	assert_int_equal(sscanf(said_on(loader.out_fd, true), "%d %d", &pid, &loader_pid), 2);
	assert_true(pid > 1 && loader_pid > 1);
	kill(loader_pid, SIGKILL);
	assert_int_equal(pfs_loader_ended(&loader, 5000, &end), 1);
	assert_int_equal(end.failed, -EPIPE);
	assert_int_equal(end.left, 0);
	assert_true(gone("copy"));
	pfs_loader_close(&loader);
	assert_string_equal(file_text(in_dir("mark.end")), "TERM\n");
}

/* Closed while it runs, and before anything was to be loaded. */
static void test_closed(void **state)
{
	struct pfs_loader loader;
	struct pfs_err err;
	pid_t pid;

	load(&loader, put_script(runs));
	pid = atoi(said_on(loader.out_fd, true));
	pfs_loader_close(&loader);
	assert_int_equal(kill(pid, 0), -1); /* waited for, by the loader */
	assert_true(gone("copy"));
	assert_int_equal(pfs_loader_start(&loader, &err), 0);
	pfs_loader_keep(&loader, in_dir("copy"), in_dir("copy/m.ko"));
	put_file("copy/m.ko", "module");
	pfs_loader_close(&loader);
	assert_true(gone("copy"));
}

/* ---- the spool ---- */

static int count_rec(void *ctx, const struct pfs_rec *rec)
{
	unsigned int *nr = ctx;

	assert_int_equal(rec->seq, *nr);
	++*nr;
	return *nr == 3000 ? -ECANCELED : 0;
}

static void test_spool(void **state)
{
	struct pfs_rec rec = { .type = PFS_REC_COUNTERS };
	struct pfs_spool spool;
	struct pfs_err err;
	unsigned int nr = 0;
	uint64_t at = 0;
	int fds[2];

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	assert_int_equal(pfs_spool_init(&spool, &err), 0);
	for (rec.seq = 0; rec.seq < 2500; rec.seq++) { /* each in two pieces */
		assert_int_equal(write(fds[1], &rec, 50), 50);
		if (rec.seq % 100 == 50) {
			assert_int_equal(pfs_spool_fill(&spool, fds[0], &err), 1);
			assert_int_equal(pfs_spool_each(&spool, &at, count_rec, &nr, &err), 0);
			assert_int_equal(nr, rec.seq);
		}
		assert_int_equal(write(fds[1], (char *)&rec + 50, sizeof(rec) - 50), sizeof(rec) - 50);
	}
	close(fds[1]);
	assert_int_equal(pfs_spool_fill(&spool, fds[0], &err), 0);
	assert_int_equal(pfs_spool_each(&spool, &at, count_rec, &nr, &err), 0);
	assert_int_equal(nr, 2500);
	assert_int_equal(at, 2500 * sizeof(rec));
	at = nr = 0; /* again */
	assert_int_equal(pfs_spool_each(&spool, &at, count_rec, &nr, &err), 0);
	assert_int_equal(nr, 2500);
	close(fds[0]);
	pfs_spool_fini(&spool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_in_order, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_ends_by_itself, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_killed, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_not_there, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_orphaned, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_loader_killed, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_closed, make_dir, remove_dir),
		cmocka_unit_test(test_spool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
