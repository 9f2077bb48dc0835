/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames to functions: this program's own, the kernel's recorded names, and what has none. */
#include "jit/content.h"
#include "support/random_event.h"
#include "symbol/symbolizer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const struct pfs_symbolizer_options options;

static const struct pfs_place *only(struct pfs_symbolizer *s, const struct pfs_frame *frame)
{
	uint32_t nr;
	const struct pfs_place *place = pfs_symbolizer_frame(s, frame, 0, &nr);

	assert_non_null(place);
	assert_int_equal(nr, 1);
	assert_ptr_equal(pfs_symbolizer_frame(s, frame, 0, &nr), place);
	assert_true(!place->func == !!place->why);
	return place;
}

static __attribute__((noinline)) int of_its_own(const char *s)
{
	return s[0] + s[1];
}

/* The frame of an address of this program, which was linked at 0 with offsets that differ from addresses, maybe. */
static struct pfs_frame frame_here(const void *addr, char path[PATH_MAX])
{
	uint64_t start, end, off, at = (uintptr_t)addr;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[2 * PATH_MAX];
	struct stat st;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &start, &end, &off, path) ==
			    4 &&
		    at >= start && at < end)
			break;
	fclose(maps);
	assert_int_equal(stat(path, &st), 0);
	return (struct pfs_frame){ .addr = at,
				   .name = path,
				   .off = at - start + off,
				   .ino = st.st_ino,
				   .dev = major(st.st_dev) << 20 | minor(st.st_dev) };
}

static void test_this_program(void **state)
{
	struct pfs_symbolizer *s = pfs_symbolizer_new(&options);
	const struct pfs_place *place;
	char path[PATH_MAX];
	struct pfs_frame frame = frame_here(of_its_own, path);

	assert_int_equal(of_its_own("ab"), 'a' + 'b');
	place = only(s, &frame);
	assert_string_equal(place->func, "of_its_own");
	assert_int_equal(place->behind, 0);
	assert_string_equal(place->module, "symbolizer");
	assert_string_equal(place->path, path);
	frame.off += 3;
	frame.call = true;
	place = only(s, &frame);
	assert_string_equal(place->func, "of_its_own");
	assert_int_equal(place->behind, 3);
	/* The instruction before the first one is another function's. */
	frame.off -= 3;
	place = only(s, &frame);
	assert_true(!place->func || strcmp(place->func, "of_its_own"));
	/* The same file by another inode is another file. */
	frame.call = false;
	frame.ino++;
	place = only(s, &frame);
	assert_null(place->func);
	assert_string_equal(place->module, "symbolizer");
	assert_string_equal(place->why, "another file now");
	pfs_symbolizer_free(s);
}

static void test_the_kernel(void **state)
{
	struct pfs_symbolizer *s = pfs_symbolizer_new(&options);
	const struct pfs_place *place = only(s, &(struct pfs_frame){ .func = "filemap_read+0x1c" });

	assert_string_equal(place->func, "filemap_read");
	assert_int_equal(place->behind, 0x1c);
	assert_string_equal(place->module, "[kernel]");
	assert_string_equal(only(s, &(struct pfs_frame){ .func = "odd" })->func, "odd");
	place = only(s, &(struct pfs_frame){ .addr = 0xffffffff81000000 });
	assert_null(place->func);
	assert_string_equal(place->module, "[kernel]");
	pfs_symbolizer_free(s);
}

static void test_memory(void **state)
{
	struct pfs_symbolizer *s = pfs_symbolizer_new(&options);

	assert_string_equal(only(s, &(struct pfs_frame){ .addr = 0x1000, .name = "" })->module, "[anon]");
	assert_string_equal(only(s, &(struct pfs_frame){ .addr = 0x2000, .name = "[vdso]" })->module, "[vdso]");
	assert_null(only(s, &(struct pfs_frame){ .addr = 0x3000 })->module);
	pfs_symbolizer_free(s);
	pfs_symbolizer_free(NULL);
}

/* As a JIT compiler writes it; what is no line is passed over. */
static void test_perf_map(void **state)
{
	char dir[] = "/tmp/pfscope-unit.XXXXXX", path[64];
	struct pfs_symbolizer_options with_jit = { .jit_dir = mkdtemp(dir) };
	struct pfs_symbolizer *s = pfs_symbolizer_new(&with_jit);
	struct pfs_frame frame = { .addr = 0x7f0000001010, .name = "", .pid = 4711 };
	const struct pfs_place *place;
	struct pfs_jit_content content;
	unsigned int nr = 0;
	char line[256];
	FILE *file;
	int fd;

	assert_non_null(with_jit.jit_dir);
	snprintf(path, sizeof(path), "%s/perf-4711.map", dir);
	file = fopen(path, "w");
	fputs("7f0000001000 40 py::old:/a.py\n7f0000001000 20 py::main:/a b.py\nnonsense\n 1 2 x\n7f0000002000 0 x\n"
	      "ffffffffffffff00 ffff x\n7f0000003000 10 _ZN1a1bEv\n7f0000004000 10 ",
	      file);
	fclose(file);
	place = only(s, &frame);
	assert_string_equal(place->func, "py::main:/a b.py");
	assert_string_equal(place->module, "[anon]");
	assert_int_equal(place->behind, 0x10);
	frame.addr = 0x7f0000001030;
	assert_string_equal(only(s, &frame)->func, "py::old:/a.py");
	frame.addr = 0x7f0000001040;
	assert_string_equal(only(s, &frame)->why, "no file");
	frame = (struct pfs_frame){ .addr = 0x7f0000003010, .name = "", .pid = 4711, .call = true };
	assert_string_equal(only(s, &frame)->func, "a::b()");
	assert_int_equal(only(s, &frame)->behind, 0x10);
	/* Another process has none. */
	frame.pid = 4712;
	assert_null(only(s, &frame)->func);
	pfs_symbolizer_free(s);
	/* It is from before the recording, or from after it. */
	frame.pid = 4711;
	with_jit.since.tv_sec = INT32_MAX;
	s = pfs_symbolizer_new(&with_jit);
	assert_null(only(s, &frame)->func);
	pfs_symbolizer_free(s);
	with_jit.since.tv_sec = 0;
	with_jit.until.tv_sec = 1000000000;
	s = pfs_symbolizer_new(&with_jit);
	assert_null(only(s, &frame)->func);
	pfs_symbolizer_free(s);
	/* Its content was recorded: it may be of any time, and have grown. */
	fd = open(path, O_RDWR);
	assert_true(pfs_jit_content_of(&content, fd));
	assert_int_equal(content.size, 162);
	assert_string_equal(content.id, "57a87381515a76cd");
	frame.addr = 0x7f0000001010;
	frame.call = false;
	assert_int_equal(lseek(fd, 0, SEEK_END), 162);
	assert_int_equal(write(fd, "cut off\n7f0000001000 40 later\n", 30), 30);
	s = pfs_symbolizer_new(&with_jit);
	assert_int_equal(pfs_symbolizer_perf_map(s, 4711, &content), 0);
	assert_string_equal(only(s, &frame)->func, "py::main:/a b.py");
	frame.addr = 0x7f0000004008;
	assert_null(only(s, &frame)->func);
	assert_false(pfs_symbolizer_problem(s, &nr, line, sizeof(line)));
	pfs_symbolizer_free(s);
	/* Another one. */
	frame.addr = 0x7f0000001010;
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	close(fd);
	s = pfs_symbolizer_new(&with_jit);
	assert_int_equal(pfs_symbolizer_perf_map(s, 4711, &content), 0);
	assert_null(only(s, &frame)->func);
	assert_true(pfs_symbolizer_problem(s, &nr, line, sizeof(line)));
	assert_string_equal(line, "perf-4711.map: another file now");
	pfs_symbolizer_free(s);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_this_program),
		cmocka_unit_test(test_the_kernel),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_perf_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
