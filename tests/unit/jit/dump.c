/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of JIT compilers, written here: what was where, and when; and which processes have them. */
#include "base/perms.h"
#include "jit/jit.h"
#include "support/jit_forge.h"
#include "support/random_event.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static struct pfs_intern *strings;

static int parse(struct pfs_jit_dump *dump)
{
	int fd = memfd_create("dump", MFD_CLOEXEC);

	assert_int_equal(write(fd, jit_bytes, jit_len), jit_len);
	lseek(fd, 0, SEEK_SET);
	return pfs_jit_dump_read(dump, fd, &strings);
}

/* "first+4 a.js:11"; "": unknown. */
static const char *at(const struct pfs_jit_dump *dump, uint64_t addr, uint64_t ts_ns)
{
	static char answer[256];
	struct pfs_jit_place place;

	answer[0] = '\0';
	if (pfs_jit_dump_find(dump, addr, ts_ns, 1000, &place))
		snprintf(answer, sizeof(answer), "%s+%d%s%s:%u", place.func, (int)place.behind, place.source ? " " : "",
			 place.source ? place.source : "", place.line);
	return answer;
}

static void write_all(void)
{
	jit_header(0);
	jit_lines(10, 0x1000, "a.js", 10, 2);
	jit_load(10, 0x1000, 16, 1, "first");
	jit_record(JIT_UNWINDING_INFO, 10, 8);
	jit_u64(0);
	jit_load(20, 0x1008, 16, 2, "second");
	jit_load(30, 0x5000, 16, 3, "alone");
	jit_record(77, 30, 4);
	jit_u32(0);
	jit_lines(40, 0x7000, "b.js", 1, 3); /* of other code */
	jit_load(40, 0x6000, 16, 4, "mover");
	jit_lines(45, 0x7000, "c.js", 5, 3);
	jit_load(45, 0x7000, 16, 5, "lined");
	jit_move(50, 0x6000, 0x6100, 16, 4);
	jit_move(51, 0x7000, 0x7100, 16, 5);
	jit_move(52, 0x1234, 0x7200, 16, 5); /* it is not there */
	jit_move(53, 0x7000, 0x7200, 16, 99);
	jit_load(60, 0x8000, 0, 6, "empty");
	jit_load(60, 0xfffffffffffffff8, 16, 7, "wraps");
	jit_load(2000, 0x9000, 16, 8, "later"); /* than the end of the recording */
	jit_record(JIT_CLOSE, 2001, 0);
	jit_load(70, 0xa000, 16, 9, "of a child");
}

static void check_all(void)
{
	struct pfs_jit_dump dump;

	assert_int_equal(parse(&dump), 0);
	assert_false(dump.damaged || dump.other_clock);
	/* Code that shares addresses has a name from when it was loaded on. */
	assert_string_equal(at(&dump, 0x1009, 9), "");
	assert_string_equal(at(&dump, 0x1009, 10), "first+9 a.js:11");
	assert_string_equal(at(&dump, 0x1009, 19), "first+9 a.js:11");
	assert_string_equal(at(&dump, 0x1009, 20), "second+1:0");
	assert_string_equal(at(&dump, 0x1003, 20), "first+3 a.js:10");
	assert_string_equal(at(&dump, 0x1017, 20), "second+15:0");
	assert_string_equal(at(&dump, 0x1018, 20), "");
	assert_string_equal(at(&dump, 0xfff, 20), "");
	/* Other code has it at any time. */
	assert_string_equal(at(&dump, 0x5000, 1), "alone+0:0");
	assert_string_equal(at(&dump, 0x500f, 999), "alone+15:0");
	assert_string_equal(at(&dump, 0x9000, 999), "");
	assert_string_equal(at(&dump, 0xa000, 999), "of a child+0:0");
	/* It moves with its lines, and not to where it was said to be from nowhere. */
	assert_string_equal(at(&dump, 0x6001, 49), "mover+1:0");
	assert_string_equal(at(&dump, 0x6001, 50), "");
	assert_string_equal(at(&dump, 0x6101, 50), "mover+1:0");
	assert_string_equal(at(&dump, 0x7109, 60), "lined+9 c.js:7");
	assert_string_equal(at(&dump, 0x7200, 60), "");
	assert_string_equal(at(&dump, 0xfffffffffffffff9, 60), "");
	/* 10, 20: two share addresses; 50, 51: moved. */
	assert_int_equal(pfs_jit_dump_epoch(&dump, 9), 0);
	assert_int_equal(pfs_jit_dump_epoch(&dump, 10), 1);
	assert_int_equal(pfs_jit_dump_epoch(&dump, 20), 2);
	assert_int_equal(pfs_jit_dump_epoch(&dump, 49), 2);
	assert_int_equal(pfs_jit_dump_epoch(&dump, 999), 4);
	pfs_jit_dump_fini(&dump);
}

static void test_what_was_when(void **state)
{
	write_all();
	check_all();
}

static void test_other_byte_order(void **state)
{
	jit_swap = true;
	write_all();
	jit_swap = false;
	check_all();
}

static void test_other_clock(void **state)
{
	struct pfs_jit_dump dump;

	jit_header(1);
	jit_load(900000, 0x1000, 16, 1, "first");
	jit_load(800000, 0x1000, 16, 2, "second");
	jit_move(850000, 0x1000, 0x2000, 16, 2);
	assert_int_equal(parse(&dump), 0);
	assert_true(dump.other_clock);
	assert_string_equal(at(&dump, 0x1001, 1), "second+1:0");
	assert_string_equal(at(&dump, 0x2001, 1), "second+1:0");
	assert_int_equal(pfs_jit_dump_epoch(&dump, UINT64_MAX), 0);
	pfs_jit_dump_fini(&dump);
}

/* As V8 does: counted from an ELF header; of optimized code anything. */
static void test_lines_of_v8(void **state)
{
	struct pfs_jit_dump dump;

	jit_header(0);
	jit_record(JIT_DEBUG_INFO, 10, 16 + 2 * 21);
	jit_u64(0x1000);
	jit_u64(2);
	for (int i = 0; i < 2; i++) {
		jit_u64(0x1040 + 8 * i);
		jit_u32(5 + i);
		jit_u32(0);
		jit_text("a.js");
	}
	jit_load(10, 0x1000, 16, 1, "first");
	jit_record(JIT_DEBUG_INFO, 20, 16 + 2 * 21);
	jit_u64(0x2000);
	jit_u64(2);
	for (int i = 0; i < 2; i++) {
		jit_u64(0x2040 + i * 0x87de1dc24bfdbd00);
		jit_u32(5 + i);
		jit_u32(0);
		jit_text("a.js");
	}
	jit_load(20, 0x2000, 16, 2, "optimized");
	assert_int_equal(parse(&dump), 0);
	assert_string_equal(at(&dump, 0x1000, 30), "first+0 a.js:5");
	assert_string_equal(at(&dump, 0x1007, 30), "first+7 a.js:5");
	assert_string_equal(at(&dump, 0x1008, 30), "first+8 a.js:6");
	assert_string_equal(at(&dump, 0x2008, 30), "optimized+8:0");
	pfs_jit_dump_fini(&dump);
	/* It is not of V8 if one is before. */
	jit_lines(40, 0x3000, "c.js", 5, 3);
	jit_load(40, 0x3000, 16, 3, "other");
	assert_int_equal(parse(&dump), 0);
	assert_string_equal(at(&dump, 0x1008, 50), "first+8:0");
	assert_string_equal(at(&dump, 0x3004, 50), "other+4 c.js:6");
	pfs_jit_dump_fini(&dump);
}

static void test_damaged(void **state)
{
	struct pfs_jit_dump dump;
	size_t whole;

	write_all();
	whole = jit_len;
	for (jit_len = 0; jit_len < whole; jit_len++) { /* cut off: what is before has names */
		assert_int_equal(parse(&dump), jit_len < 40);
		assert_false(dump.damaged);
		assert_true(jit_len < 400 || *at(&dump, 0x1001, 15));
		pfs_jit_dump_fini(&dump);
	}
	jit_header(0);
	jit_load(10, 0x1000, 16, 1, "first");
	jit_record(JIT_LOAD, 20, 50); /* code that is longer than its record */
	jit_u64(0);
	jit_u64(0x2000);
	jit_u64(0x2000);
	jit_u64(UINT64_MAX - 5);
	jit_u64(2);
	jit_text("second");
	jit_u64(0);
	jit_u64(0);
	assert_int_equal(parse(&dump), 0);
	assert_true(dump.damaged);
	assert_string_equal(at(&dump, 0x1001, 15), "first+1:0");
	pfs_jit_dump_fini(&dump);
	jit_header(0);
	jit_record(JIT_DEBUG_INFO, 20, 16); /* more lines than it has room for */
	jit_u64(0x1000);
	jit_u64(UINT64_MAX);
	jit_load(20, 0x1000, 16, 1, "first");
	assert_int_equal(parse(&dump), 0);
	assert_true(dump.damaged);
	pfs_jit_dump_fini(&dump);
	jit_header(0);
	pfs_store32(jit_bytes + 4, 2, false);
	assert_int_equal(parse(&dump), 1);
	pfs_jit_dump_fini(&dump);
}

/* ---- which processes have it ---- */

static struct pfs_event map_of(const char *path)
{
	struct pfs_event ev = { .kind = PFS_MAP, .ts_ns = 5 };
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	PFS_SET(&ev, dev, DEV, major(st.st_dev) << 20 | minor(st.st_dev));
	PFS_SET(&ev, ino, INO, st.st_ino);
	PFS_SET(&ev, perms, PERMS, PFS_PERM_R | PFS_PERM_X);
	PFS_SET(&ev, name, NAME, path);
	return ev;
}

static const char *name_of(struct pfs_jit *jit, int32_t pid, uint64_t ts_ns)
{
	struct pfs_jit_place place;

	assert_int_equal(pfs_jit_find(jit, pid, 0x1001, ts_ns, &place), 0);
	return place.func ? place.func : "";
}

static uint64_t epoch_of(struct pfs_jit *jit, int32_t pid, uint64_t ts_ns)
{
	uint64_t epoch;

	assert_int_equal(pfs_jit_epoch(jit, pid, ts_ns, &epoch), 0);
	return epoch;
}

static void save(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(jit_bytes, 1, jit_len, file), jit_len);
	fclose(file);
}

static void test_processes(void **state)
{
	char dir[] = "/tmp/pfscope-unit.XXXXXX", path[64], other[64], line[256];
	struct pfs_event map, fork = { .kind = PFS_FORK, .ts_ns = 6 }, exec = { .kind = PFS_EXEC, .ts_ns = 100 };
	struct pfs_event clock = { .kind = PFS_NOTE, .key = "clock", .value = "local" };
	struct pfs_jit *jit = pfs_jit_new();
	unsigned int nr = 0;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/jit-4711.dump", dir);
	snprintf(other, sizeof(other), "%s/jit-4711.dump.old", dir);
	jit_header(0);
	jit_load(10, 0x1000, 16, 1, "first");
	jit_load(20, 0x1000, 16, 2, "second");
	save(path);
	save(other);
	assert_int_equal(epoch_of(jit, 4711, 15), 0);
	map = map_of(other); /* it is called otherwise */
	assert_int_equal(pfs_jit_event(jit, &map, 4711), 0);
	assert_string_equal(name_of(jit, 4711, 15), "");
	map = map_of(path);
	map.perms = PFS_PERM_R;
	assert_int_equal(pfs_jit_event(jit, &map, 4711), 0);
	assert_string_equal(name_of(jit, 4711, 15), "");
	map.perms |= PFS_PERM_X;
	assert_int_equal(pfs_jit_event(jit, &map, 4711), 0);
	assert_string_equal(name_of(jit, 4711, 15), "first");
	assert_string_equal(name_of(jit, 4711, 20), "second");
	assert_true(epoch_of(jit, 4711, 15) != epoch_of(jit, 4711, 20));
	assert_true(epoch_of(jit, 4711, 20) == epoch_of(jit, 4711, 25));
	assert_string_equal(name_of(jit, 4712, 20), "");
	/* A child has it, until it execs. */
	PFS_SET(&fork, child, CHILD, 4712);
	assert_int_equal(pfs_jit_event(jit, &fork, 4711), 0);
	assert_int_equal(pfs_jit_event(jit, &exec, 4712), 0);
	assert_string_equal(name_of(jit, 4712, 20), "second");
	assert_string_equal(name_of(jit, 4712, 100), "");
	assert_string_equal(name_of(jit, 4711, 100), "second");
	/* It has grown. */
	jit_load(30, 0x1000, 16, 3, "third");
	save(path);
	assert_string_equal(name_of(jit, 4711, 100), "second");
	pfs_jit_refresh(jit);
	assert_string_equal(name_of(jit, 4711, 100), "third");
	assert_string_equal(name_of(jit, 4711, 15), "first");
	assert_false(pfs_jit_problem(jit, &nr, line, sizeof(line)));
	/* Times of a recording with another clock tell nothing. */
	assert_int_equal(pfs_jit_event(jit, &clock, 0), 0);
	assert_string_equal(name_of(jit, 4711, 15), "third");
	assert_true(epoch_of(jit, 4711, 15) == epoch_of(jit, 4711, 100));
	pfs_jit_free(jit);
	/* Another file of that name. */
	jit = pfs_jit_new();
	map.ino++;
	assert_int_equal(pfs_jit_event(jit, &map, 4711), 0);
	assert_string_equal(name_of(jit, 4711, 15), "");
	assert_true(pfs_jit_problem(jit, &nr, line, sizeof(line)));
	assert_non_null(strstr(line, "/jit-4711.dump: another file now"));
	assert_false(pfs_jit_problem(jit, &nr, line, sizeof(line)));
	pfs_jit_free(jit);
	pfs_jit_free(NULL);
	unlink(path);
	unlink(other);
	rmdir(dir);
}

static int free_strings(void **state)
{
	pfs_intern_free(strings);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_when), cmocka_unit_test(test_other_byte_order),
		cmocka_unit_test(test_other_clock),   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_lines_of_v8),   cmocka_unit_test(test_processes),
	};

	return cmocka_run_group_tests(tests, NULL, free_strings);
}
