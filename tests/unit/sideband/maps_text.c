/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of /proc/PID/maps: what they say, however they are cut into pieces, and what is none.
 */
#include "sideband/snapshot.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

struct seen {
	struct raw_event ev[8];
	char name[8][64];
	unsigned int nr, stop_at;
};

static int take(void *ctx, const struct raw_event *ev)
{
	struct seen *seen = ctx;

	assert_true(seen->nr < 8);
	assert_int_equal(ev->kind, RAW_PFS_MAP);
	assert_int_equal(ev->arg[7], PFS_MAP_SNAPSHOT);
	assert_int_equal(ev->ts_ns, 77);
	seen->ev[seen->nr] = *ev;
	strncpy(seen->name[seen->nr++], ev->str, 63);
	return seen->nr == seen->stop_at ? -EPIPE : 0;
}

/* In pieces of that many bytes. What the last call returned. */
static int read_in(struct seen *seen, struct pfs_maps_text *maps, const char *text, size_t piece)
{
	size_t len = strlen(text), room;
	int err = 0;

	*maps = (struct pfs_maps_text){ .ev = { .ts_ns = 77 }, .fn = take, .ctx = seen };
	seen->nr = 0;
	while (len && !err) {
		char *to = pfs_maps_text_room(maps, &room);

		room = room < piece ? room : piece;
		room = room < len ? room : len;
		if (!room)
			return -ENOSPC;
		memcpy(to, text, room);
		maps->len += room;
		text += room;
		len -= room;
		err = pfs_maps_text_lines(maps);
	}
	return err;
}

static struct seen seen;
static struct pfs_maps_text maps;

static void test_lines(void **state)
{
	static const char text[] =
		"55d0c6a00000-55d0c6a21000 r-xs 00002000 fe:01 1234                       /a b\\012c\n"
		"7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
		"55d0c6b00000-55d0c6b21000 rw-p 00000000 00:00 0                          [heap]\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
		"1000-2000 r-xp 0 1:2 3 cut off here";

	for (size_t piece = 1; piece < sizeof(text); piece++) {
		assert_int_equal(read_in(&seen, &maps, text, piece), 0);
		assert_int_equal(seen.nr, 3);
		assert_int_equal(seen.ev[0].arg[0], 0x55d0c6a00000);
		assert_int_equal(seen.ev[0].arg[1], 0x55d0c6a21000);
		assert_int_equal(seen.ev[0].arg[2], 0x2000);
		assert_int_equal(seen.ev[0].arg[3], 0xfe << 20 | 1);
		assert_int_equal(seen.ev[0].arg[4], 1234);
		assert_int_equal(seen.ev[0].arg[5], PROT_READ | PROT_EXEC);
		assert_int_equal(seen.ev[0].arg[6], MAP_SHARED);
		assert_string_equal(seen.name[0], "/a b\nc");
		assert_string_equal(seen.name[1], "");
		assert_int_equal(seen.ev[1].arg[5], PROT_READ | PROT_WRITE);
		assert_int_equal(seen.ev[1].arg[6], MAP_PRIVATE);
		assert_int_equal(maps.heap_end, 0x55d0c6b21000);
		assert_int_equal(maps.len, strlen("1000-2000 r-xp 0 1:2 3 cut off here"));
	}
}

/* Nothing but what is there: of the permissions of a line before, nothing is left. */
static void test_short_permissions(void **state)
{
	assert_int_equal(read_in(&seen, &maps, "1000-2000 rwxs 0 0:0 0 \n3000-4000 r 0 0:0 0 \n", 4096), 0);
	assert_int_equal(seen.nr, 1);
}

static void test_no_lines(void **state)
{
	static const char *const none[] = {
		"\n", "x\n", "1000-2000 rw-p 0 0:0\n", "1000 2000 rw-p 0 0:0 0 /f\n", "1000-2000\n\n\n", "-\n",
	};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_int_equal(read_in(&seen, &maps, none[i], 4096), 0);
		assert_int_equal(seen.nr, 0);
	}
}

/* A line that does not end fills the room, and no more. */
static void test_endless_line(void **state)
{
	char *text = malloc(2 * PFS_MAPS_TEXT_MAX);

	memset(text, 'x', 2 * PFS_MAPS_TEXT_MAX);
	text[2 * PFS_MAPS_TEXT_MAX - 1] = '\0';
	assert_int_equal(read_in(&seen, &maps, text, 5000), -ENOSPC);
	assert_int_equal(maps.len, PFS_MAPS_TEXT_MAX - 1);
	free(text);
}

static void test_stopped(void **state)
{
	seen.stop_at = 1;
	assert_int_equal(read_in(&seen, &maps, "1000-2000 r--p 0 0:0 0 \n3000-4000 r--p 0 0:0 0 \n", 4096), -EPIPE);
	assert_int_equal(seen.nr, 1);
	seen.stop_at = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),	 cmocka_unit_test(test_short_permissions),
		cmocka_unit_test(test_no_lines), cmocka_unit_test(test_endless_line),
		cmocka_unit_test(test_stopped),
	};

	return cmocka_run_group_tests_name("maps text", tests, NULL, NULL);
}
