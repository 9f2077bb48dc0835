/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps view against the kernel: this process's own /proc/self/maps goes through the model and must
 * come out byte for byte. Then what the kernel never shows: unknown fields, several processes, the end.
 */
#include "support/draw.h"

#include <inttypes.h>
#include <sys/mman.h>

static const struct pfs_view_options plain = { .width = 80 };

static void feed_kernel_line(struct feed *f, const char *line)
{
	unsigned int major, minor;
	uint64_t start, end, off, ino;
	char perms[5], name[4096] = "";

	assert_true(sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %4095[^\n]", &start, &end,
			   perms, &off, &major, &minor, &ino, name) >= 7);
	feed_maps_line(f, start, end,
		       (perms[0] == 'r') * R | (perms[1] == 'w') * W | (perms[2] == 'x') * X | (perms[3] == 's') * S,
		       off, major << 20 | minor, ino, name);
}

static void test_as_the_kernel(void **state)
{
	struct feed f = feed_new(1);
	char *text = NULL, *line = NULL;
	size_t len = 0, size = 0;
	FILE *kernel, *copy;

	/* One of each: a hole, a shared one, one that may not be accessed. */
	assert_true(mmap(NULL, 8192, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	assert_true(mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	kernel = fopen("/proc/self/maps", "re");
	copy = open_memstream(&text, &len);
	assert_true(kernel && copy);
	while (getline(&line, &size, kernel) > 0) {
		fputs(line, copy);
		feed_kernel_line(&f, line);
	}
	fclose(copy);
	fclose(kernel);
	assert_true(len > 1000);
	assert_drawn(&f, "maps", plain, text);
	free(line);
	free(text);
	feed_free(&f);
}

/* Lines that were copied from kernels: wide inode numbers, wide offsets, names that need an escape. */
static void test_known_lines(void **state)
{
	struct feed f = feed_new(1);

	feed_maps_line(&f, 0x400000, 0x452000, RX, 0, 8 << 20 | 2, 173521, "/usr/bin/dbus daemon");
	feed_maps_line(&f, 0x600000, 0x601000, RW | S, 0x123456789000, 0xfe << 20 | 300, 9999999999,
		       "/x\n y\\ (deleted)");
	feed_maps_line(&f, 0x700000, 0x701000, RW, 0, 0, 0, "");
	feed_maps_line(&f, 0x800000, 0x801000, RW, 0, 1, UINT64_MAX, "[anon:a name]");
	assert_drawn(&f, "maps", plain,
		     "00400000-00452000 r-xp 00000000 08:02 173521                             /usr/bin/dbus daemon\n"
		     "00600000-00601000 rw-s 123456789000 fe:12c 9999999999                    /x\\012 y\\ (deleted)\n"
		     "00700000-00701000 rw-p 00000000 00:00 0 \n"
		     "00800000-00801000 rw-p 00000000 00:01 18446744073709551615               [anon:a name]\n");
	feed_free(&f);
}

static void test_a_terminal_is_safe(void **state)
{
	struct pfs_view_options terminal = { .terminal = true };
	struct feed f = feed_new(1);

	feed_maps_line(&f, 0x400000, 0x452000, RX, 0, 8 << 20 | 2, 1, "/\033[2J\n");
	assert_true(drawn_with(&f, "maps", plain, "/\033[2J\\012\n"));
	assert_true(drawn_with(&f, "maps", terminal, "/\\e[2J\\n\n"));
	feed_free(&f);
}

static void test_unknown_fields(void **state)
{
	struct feed f = feed_new(1);

	feed_row(&f, 0x400000, 0x401000, 7);
	feed_map(&f, 0x500000, 0x501000, R, "/lib");
	assert_drawn(&f, "maps", plain,
		     "00400000-00401000 ???? ???????? ??:?? ?                                  ?\n"
		     "00500000-00501000 r--p ???????? ??:?? ?                                  /lib\n");
	feed_free(&f);
}

static void test_vsyscall(void **state)
{
	struct feed f = feed_new(1);
	const char *line = "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

	feed_map(&f, 0x400000, 0x401000, R, "");
	feed_map(&f, 0xffffd000, 0xffffe000, R, "");
	feed_note(&f, "vsyscall", "--xp", false);
	feed_note(&f, "snapshot", "end", true);
	/* A 32-bit process has none. */
	assert_false(drawn_with(&f, "maps", plain, line));
	feed_free(&f);

	f = feed_new(1);
	feed_map(&f, 0x400000, 0x401000, R, "");
	feed_map(&f, 0x7fff00000000, 0x7fff00001000, R, "");
	feed_note(&f, "vsyscall", "--xp", false);
	/* Not where the layout is pieced together: there it would be a guess. */
	assert_false(drawn_with(&f, "maps", plain, line));
	feed_note(&f, "snapshot", "end", true);
	assert_true(drawn_with(&f, "maps", plain, line));
	/* A snapshot that has the line itself has it once. */
	feed_maps_line(&f, 0xffffffffff600000, 0xffffffffff601000, X, 0, 0, 0, "[vsyscall]");
	assert_drawn(&f, "maps", plain,
		     "00400000-00401000 r--p ???????? ??:?? ? \n"
		     "7fff00000000-7fff00001000 r--p ???????? ??:?? ? \n"
		     "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n");
	feed_free(&f);
}

static void test_processes(void **state)
{
	struct pfs_filter filter = { 0 };
	struct pfs_view_options one = { .filter = &filter };
	struct feed f = feed_new(1);
	struct drawing d;

	feed_comm(&f, "a");
	feed_maps_line(&f, 0x400000, 0x401000, R, 0, 1, 2, "/a");
	feed_fork(&f, 2, false);
	feed_as(&f, 2, 2);
	feed_comm(&f, "b\n");
	feed_unmap(&f, 0x400000, 0x401000);
	feed_maps_line(&f, 0x500000, 0x501000, R, 0, 1, 2, "/b");
	assert_drawn(&f, "maps", plain,
		     "# pid 1 a\n"
		     "00400000-00401000 r--p 00000000 00:01 2                                  /a\n"
		     "# pid 2 b\\n\n"
		     "00500000-00501000 r--p 00000000 00:01 2                                  /b\n");
	assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_PID, "2", NULL), 0);
	assert_drawn(&f, "maps", one, "00500000-00501000 r--p 00000000 00:01 2                                  /b\n");
	filter.pids[0] = 3;
	d = draw(&f, "maps", one);
	assert_int_equal(d.ret, -ENOENT);
	assert_string_equal(d.err.msg, "no process 3 in this recording; `report` lists them");
	assert_int_equal(d.len, 0);
	free(d.text);
	pfs_filter_fini(&filter);
	feed_free(&f);
}

/* Of a process that ended the last layout is shown; asked for a moment after that, nothing. */
static void test_the_end(void **state)
{
	struct pfs_filter filter = { .at = { .ns = 3600000000000, .set = true } };
	struct pfs_view_options late = { .filter = &filter };
	struct feed f = feed_new(1);
	struct drawing d;

	feed_maps_line(&f, 0x400000, 0x401000, R, 0, 1, 2, "/a");
	feed_maps_line(&f, 0x500000, 0x501000, RW, 0, 0, 0, "");
	feed_brk(&f, 0x500000, 0x501000);
	feed_maps_line(&f, 0x600000, 0x601000, R, 0, 1, 2, "/gone");
	feed_unmap(&f, 0x600000, 0x601000);
	feed_clear(&f);
	feed_exit(&f, true);
	assert_drawn(&f, "maps", plain,
		     "00400000-00401000 r--p 00000000 00:01 2                                  /a\n"
		     "00500000-00501000 rw-p 00000000 00:00 0                                  [heap]\n");
	d = draw(&f, "maps", late);
	assert_int_equal(d.ret, -ENOENT);
	assert_string_equal(d.err.msg, "no process with a known layout lived at that time");
	free(d.text);
	feed_free(&f);

	f = feed_new(1);
	feed_maps_line(&f, 0x400000, 0x401000, R, 0, 1, 2, "/a");
	feed_clear(&f);
	assert_drawn(&f, "maps", plain,
		     "00400000-00401000 r--p 00000000 00:01 2                                  /a\n");
	feed_free(&f);
}

static void test_only_the_newest_image(void **state)
{
	struct feed f = feed_new(1);

	feed_maps_line(&f, 0x400000, 0x401000, R, 0, 1, 2, "/old");
	f.space = PFS_SPACE_EXEC;
	feed_maps_line(&f, 0x500000, 0x501000, R, 0, 1, 3, "/new");
	assert_true(drawn_with(&f, "maps", plain, "/old"));
	feed_exec(&f, "/new", "new");
	assert_drawn(&f, "maps", plain,
		     "00500000-00501000 r--p 00000000 00:01 3                                  /new\n");
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_the_kernel),
		cmocka_unit_test(test_known_lines),
		cmocka_unit_test(test_a_terminal_is_safe),
		cmocka_unit_test(test_unknown_fields),
		cmocka_unit_test(test_vsyscall),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_the_end),
		cmocka_unit_test(test_only_the_newest_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
