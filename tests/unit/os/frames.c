/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frame pointers of programs: this one as objdump sees it is a live test; here damaged ones, and what is none. */
#include "os/frames.h"

#include "base/write_all.h"

#include <elf.h>
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

/* A file with a note: its owner of so many bytes with the zero, and its type. */
static bool is_go(const char *owner, uint32_t owner_size, uint32_t type, uint64_t file_size)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment[2];
		Elf64_Nhdr first;
		char gnu[4], nothing[4];
		Elf64_Nhdr note;
		char owner[8], id[4];
	} file = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 },
			    .e_phnum = 2,
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phoff = sizeof(Elf64_Ehdr) },
		.first = { .n_namesz = 4, .n_descsz = 3, .n_type = 5 },
		.gnu = "GNU",
		.note = { .n_namesz = owner_size, .n_descsz = 4, .n_type = type },
	};
	char name[] = "/tmp/pfscope-test.XXXXXX";
	int fd = mkstemp(name);
	bool is;

	file.segment[0].p_type = PT_LOAD;
	file.segment[1] = (Elf64_Phdr){ .p_type = PT_NOTE,
					.p_offset = (char *)&file.first - (char *)&file,
					.p_filesz = sizeof(file) - ((char *)&file.first - (char *)&file) };
	memcpy(file.owner, owner, strlen(owner));
	assert_int_equal(pwrite(fd, &file, file_size < sizeof(file) ? file_size : sizeof(file), 0),
			 file_size < sizeof(file) ? file_size : sizeof(file));
	is = pfs_program_is_go(name);
	close(fd);
	unlink(name);
	return is;
}

static void a_program_of_go_has_its_note(void **state)
{
	assert_true(is_go("Go", 4, 4, 1000));
	assert_true(is_go("Go", 3, 4, 1000));
	assert_false(is_go("Go", 4, 5, 1000));
	assert_false(is_go("Goo", 4, 4, 1000));
	assert_false(is_go("GNU", 4, 4, 1000));
	assert_false(is_go("Go", UINT32_MAX, 4, 1000));
	for (uint64_t size = 0; size < 220; size++) /* of a truncated one */
		assert_false(is_go("Go", 4, 4, size));
	assert_false(pfs_program_is_go("/proc/self/exe"));
	assert_false(pfs_program_is_go("/nonexistent"));
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
		pfs_program_is_go(name);
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
		cmocka_unit_test(a_program_of_go_has_its_note),
		cmocka_unit_test(a_damaged_one_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
