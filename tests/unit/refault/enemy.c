/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper of --refault stays root while pfscope becomes the user. Here pfscope's side is the enemy: it shares no memory
 * with the helper, and whatever it sends, the worst is that the cycles end.
 */
#include "refault/refault.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static char tids[] = "/tmp/test_refault_enemy.XXXXXX";

static struct pfs_refault *open_refault(void)
{
	const struct pfs_refault_config config = { .interval_ns = 5000000, .method = PFS_REFAULT_PAGEOUT };
	struct pfs_err err;
	struct pfs_refault *r = pfs_refault_open(&config, tids, &err);

	assert_non_null(r);
	return r;
}

/* Is there a tick within so many milliseconds? */
static bool ticks(struct pfs_refault *r, int ms)
{
	struct pollfd fd = { pfs_refault_fd(r), POLLIN, 0 };
	struct pfs_fact fact;

	return poll(&fd, 1, ms) > 0 && pfs_refault_next(r, &fact) == PFS_REFAULT_TICK;
}

static void ends_in_order(struct pfs_refault *r)
{
	struct pfs_err err = { "" };

	assert_int_equal(pfs_refault_free(r, &err), 0);
	assert_string_equal(err.msg, "");
}

/* Mappings that another process may write to, too. */
static int shared_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	int nr = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		nr += strstr(line, " rw-s ") != NULL;
	fclose(maps);
	return nr;
}

static void test_no_memory_is_shared(void **state)
{
	int before = shared_mappings();
	struct pfs_refault *r = open_refault();

	assert_int_equal(shared_mappings(), before);
	ends_in_order(r);
}

static const struct {
	char bytes[4096];
	size_t len;
} hostile[] = {
	{ "", 0 }, { "x", 1 }, { "", 1 }, { "gg", 2 }, { "g", 4096 }, { "\377\377\377\377\377\377\377\377", 1024 },
};

static void test_it_begins_only_when_told(void **state)
{
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct pfs_refault *r = open_refault();

		assert_int_equal(send(pfs_refault_fd(r), hostile[i].bytes, hostile[i].len, 0), hostile[i].len);
		assert_false(ticks(r, 50));
		pfs_refault_go_on(r);
		assert_false(ticks(r, 20));
		ends_in_order(r);
	}
}

static void test_it_ends_at_what_it_does_not_know(void **state)
{
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct pfs_refault *r = open_refault();
		int left = 1000;

		pfs_refault_go_on(r);
		assert_true(ticks(r, 10000));
		assert_int_equal(send(pfs_refault_fd(r), hostile[i].bytes, hostile[i].len, 0), hostile[i].len);
		while (left && ticks(r, 200))
			left--;
		assert_true(left);
		ends_in_order(r);
	}
}

static void test_a_flood_changes_nothing(void **state)
{
	struct pfs_refault *r = open_refault();

	pfs_refault_go_on(r);
	for (int i = 0; i < 20000; i++)
		send(pfs_refault_fd(r), "g", 1, MSG_DONTWAIT);
	for (int i = 0; i < 3; i++)
		assert_true(ticks(r, 10000));
	ends_in_order(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_memory_is_shared),
		cmocka_unit_test(test_it_begins_only_when_told),
		cmocka_unit_test(test_it_ends_at_what_it_does_not_know),
		cmocka_unit_test(test_a_flood_changes_nothing),
	};
	int fd = mkstemp(tids), ret;

	if (fd < 0)
		return 1;
	close(fd);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(tids);
	return ret;
}
