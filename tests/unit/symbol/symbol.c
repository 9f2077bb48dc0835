/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of ELF files: this program's and libc's own as the dynamic linker has them, a small file made here, and
 * what is damaged, another file or none.
 */
#include "support/random_event.h"
#include "symbol/symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const struct timespec any_time;

static int read_with(struct pfs_elf_symbols *symbols, const char *path, int other_ino, struct timespec until)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return pfs_elf_symbols_read(symbols, &(struct pfs_elf_wanted){ .path = path,
								       .dev = major(st.st_dev) << 20 | minor(st.st_dev),
								       .ino = st.st_ino + other_ino,
								       .until = until });
}

static enum pfs_elf_symbols_state state_of(const char *path, int other_ino, struct timespec until)
{
	enum pfs_elf_symbols_state state;
	struct pfs_elf_symbols symbols;
	uint64_t behind;

	assert_int_equal(read_with(&symbols, path, other_ino, until), 0);
	state = symbols.state;
	if (state)
		assert_null(pfs_elf_symbols_find(&symbols, 0x1000, &behind));
	pfs_elf_symbols_fini(&symbols);
	return state;
}

/* ---- what runs here ---- */

/* The file that is mapped there, and where in it that is. */
static uint64_t file_at(const void *addr, char path[PATH_MAX])
{
	uint64_t start, end, off, at = (uintptr_t)addr;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[2 * PATH_MAX];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &start, &end, &off, path) !=
			    4 ||
		    at < start || at >= end)
			continue;
		fclose(maps);
		return at - start + off;
	}
	fail_msg("nothing is mapped at %p", addr);
	return 0;
}

static void expect_here(const void *addr, const char *name)
{
	struct pfs_elf_symbols symbols;
	char path[PATH_MAX];
	uint64_t off = file_at(addr, path), behind;

	assert_int_equal(read_with(&symbols, path, 0, any_time), 0);
	assert_int_equal(symbols.state, PFS_ELF_READ);
	for (unsigned int i = 0; i < 3; i++) {
		assert_string_equal(pfs_elf_symbols_find(&symbols, off + i, &behind), name);
		assert_int_equal(behind, i);
	}
	pfs_elf_symbols_fini(&symbols);
}

static __attribute__((noinline)) int of_its_own(const char *s)
{
	return s[0] + s[1];
}

static void test_this_program(void **state)
{
	assert_int_equal(of_its_own("ab"), 'a' + 'b');
	expect_here(of_its_own, "of_its_own");
	expect_here(test_this_program, "test_this_program");
	expect_here(state_of, "state_of");
}

/* Only what others may call is in a stripped library; it has several names for each. */
static void test_libc(void **state)
{
	static const char *const names[] = { "malloc", "qsort", "fopen", "getenv", "posix_spawn" };
	void *libc = dlopen("libc.so.6", RTLD_NOW);

	assert_non_null(libc);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect_here(dlsym(libc, names[i]), names[i]);
	dlclose(libc);
}

/* ---- a file made here ---- */

enum { CODE = 0x1000, CODE_LEN = 0x800, ADDR = 0x401000, MAX_NAMES = 256 };

struct made {
	Elf64_Ehdr head;
	Elf64_Phdr code, data;
	Elf64_Shdr sections[3]; /* none, symbols, their names */
	Elf64_Sym symbols[13];	/* the first is none */
	char names[MAX_NAMES];
};

static void made_begin(struct made *made)
{
	memset(made, 0, sizeof(*made));
	made->head = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(made->head),
		.e_phoff = offsetof(struct made, code),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shoff = offsetof(struct made, sections),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
	};
	made->code = (Elf64_Phdr){ .p_type = PT_LOAD,
				   .p_flags = PF_R | PF_X,
				   .p_offset = CODE,
				   .p_vaddr = ADDR,
				   .p_filesz = CODE_LEN,
				   .p_memsz = CODE_LEN };
	made->data = (Elf64_Phdr){ .p_type = PT_LOAD,
				   .p_flags = PF_R | PF_W,
				   .p_offset = CODE,
				   .p_vaddr = 0x600000,
				   .p_filesz = CODE_LEN,
				   .p_memsz = CODE_LEN };
	made->sections[1] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
					  .sh_offset = offsetof(struct made, symbols),
					  .sh_size = sizeof(Elf64_Sym),
					  .sh_entsize = sizeof(Elf64_Sym),
					  .sh_link = 2 };
	made->sections[2] =
		(Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct made, names), .sh_size = 1 };
}

static void made_add(struct made *made, const char *name, uint64_t addr, uint64_t size, int type, int binding)
{
	uint64_t *nr = &made->sections[1].sh_size, *names = &made->sections[2].sh_size;

	made->symbols[*nr / sizeof(Elf64_Sym)] = (Elf64_Sym){
		.st_name = *names,
		.st_value = addr,
		.st_size = size,
		.st_info = ELF64_ST_INFO(binding, type),
		.st_shndx = strcmp(name, "undefined") ? 1 : SHN_UNDEF,
	};
	*nr += sizeof(Elf64_Sym);
	strcpy(made->names + *names, name);
	*names += strlen(name) + 1;
	assert_true(*names <= MAX_NAMES && *nr <= sizeof(made->symbols));
}

/* A file without a name, and the path by which it can be opened nevertheless. */
static int write_made(const void *bytes, size_t len, char path[64])
{
	int fd = memfd_create("made", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void make(struct made *made)
{
	made_begin(made);
	made_add(made, "outer", ADDR, 0x100, STT_FUNC, STB_GLOBAL);
	made_add(made, "inner", ADDR + 0x40, 0x10, STT_FUNC, STB_LOCAL);
	made_add(made, "__alias", ADDR + 0x200, 0x20, STT_FUNC, STB_GLOBAL);
	made_add(made, "weak", ADDR + 0x200, 0x20, STT_FUNC, STB_WEAK);
	made_add(made, "local", ADDR + 0x200, 0x20, STT_FUNC, STB_LOCAL);
	made_add(made, "_alias", ADDR + 0x200, 0x20, STT_FUNC, STB_GLOBAL);
	made_add(made, "sizeless", ADDR + 0x300, 0, STT_FUNC, STB_GLOBAL);
	made_add(made, "data", ADDR + 0x400, 0x20, STT_OBJECT, STB_GLOBAL);
	made_add(made, "undefined", ADDR + 0x500, 0x20, STT_FUNC, STB_GLOBAL);
	made_add(made, "no_code", 0x600000, 0x100, STT_FUNC, STB_GLOBAL);
	made_add(made, "endless", ADDR + 0x700, UINT64_MAX - 5, STT_FUNC, STB_GLOBAL);
	made_add(made, "picked", ADDR + 0x600, 1, STT_GNU_IFUNC, STB_GLOBAL);
}

static void test_made(void **state)
{
	static const struct {
		uint64_t off;
		const char *name;
		uint64_t behind;
	} rows[] = {
		{ CODE - 1, NULL, 0 },
		{ CODE, "outer", 0 },
		{ CODE + 0x3f, "outer", 0x3f },
		{ CODE + 0x40, "inner", 0 },
		{ CODE + 0x4f, "inner", 0xf },
		{ CODE + 0x50, "outer", 0x50 },
		{ CODE + 0xff, "outer", 0xff },
		{ CODE + 0x100, NULL, 0 },
		{ CODE + 0x200, "_alias", 0 },
		{ CODE + 0x21f, "_alias", 0x1f },
		{ CODE + 0x220, NULL, 0 },
		{ CODE + 0x300, NULL, 0 },
		{ CODE + 0x400, NULL, 0 },
		{ CODE + 0x500, NULL, 0 },
		{ CODE + 0x600, "picked", 0 },
		{ CODE + 0x601, NULL, 0 },
		{ CODE + 0x700, NULL, 0 },
		{ UINT64_MAX, NULL, 0 },
		{ 0, NULL, 0 },
	};
	struct pfs_elf_symbols symbols;
	struct made made;
	char path[64];
	int fd;

	make(&made);
	fd = write_made(&made, sizeof(made), path);
	assert_int_equal(read_with(&symbols, path, 0, any_time), 0);
	assert_int_equal(symbols.state, PFS_ELF_READ);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t behind = 0;
		const char *name = pfs_elf_symbols_find(&symbols, rows[i].off, &behind);

		assert_string_equal(name ? name : "none", rows[i].name ? rows[i].name : "none");
		assert_int_equal(behind, rows[i].behind);
	}
	pfs_elf_symbols_fini(&symbols);
	close(fd);
}

/* Whatever a file says, reading it ends, and what is found is within the function. */
static void try_to_read(const void *bytes, size_t len)
{
	struct pfs_elf_symbols symbols;
	uint64_t behind;
	char path[64];
	int fd = write_made(bytes, len, path);

	assert_int_equal(read_with(&symbols, path, 0, any_time), 0);
	for (uint64_t off = CODE - 0x10; off < CODE + CODE_LEN; off += 0x10) {
		const char *name = pfs_elf_symbols_find(&symbols, off, &behind);

		assert_true(!name || (strlen(name) && behind <= off));
	}
	pfs_elf_symbols_fini(&symbols);
	close(fd);
}

static void test_damaged(void **state)
{
	struct made made;
	uint64_t s = 1;

	make(&made);
	for (size_t len = 0; len < sizeof(made); len += 3)
		try_to_read(&made, len);
	for (unsigned int i = 0; i < 5000; i++) {
		struct made flipped = made;

		for (unsigned int k = 0; k <= i % 4; k++) {
			uint8_t *byte = (uint8_t *)&flipped + random_u64(&s) % offsetof(struct made, names);

			*byte = random_u64(&s) % 3 ? random_u64(&s) : random_u64(&s) % 2 ? 0xff : 0x7f;
		}
		try_to_read(&flipped, sizeof(flipped));
	}
}

/* No memory is taken because a file says that it is long. */
static void test_claims(void **state)
{
	struct made made;
	char path[64];
	int fd;

	make(&made);
	made.sections[1].sh_size = UINT64_C(24) << 28;
	fd = write_made(&made, sizeof(made), path);
	assert_int_equal(state_of(path, 0, any_time), PFS_ELF_DAMAGED);
	assert_int_equal(ftruncate(fd, INT64_C(1) << 40), 0); /* nor because it is */
	assert_int_equal(state_of(path, 0, any_time), PFS_ELF_DAMAGED);
	close(fd);
}

/* ---- which file ---- */

static void test_other_files(void **state)
{
	struct timespec long_ago = { 1000000000, 0 }, later = { INT32_MAX, 0 };
	struct pfs_elf_symbols symbols;
	struct made made;
	char path[64];
	int fd;

	make(&made);
	fd = write_made(&made, sizeof(made), path);
	assert_int_equal(state_of(path, 0, later), PFS_ELF_READ);
	assert_int_equal(state_of(path, 0, long_ago), PFS_ELF_CHANGED);
	assert_int_equal(state_of(path, 1, any_time), PFS_ELF_OTHER_FILE);
	close(fd);
	assert_int_equal(pfs_elf_symbols_read(&symbols, &(struct pfs_elf_wanted){ .path = path, .dev = 1, .ino = 1 }),
			 0);
	assert_int_equal(symbols.state, PFS_ELF_NO_FILE);
	pfs_elf_symbols_fini(&symbols);
	assert_int_equal(pfs_elf_symbols_read(&symbols, &(struct pfs_elf_wanted){ .path = "/proc/self/exe" }), 0);
	assert_int_equal(symbols.state, PFS_ELF_UNKNOWN_FILE);
	pfs_elf_symbols_fini(&symbols);
	assert_int_equal(state_of(".", 0, any_time), PFS_ELF_NO_FILE); /* no absolute path */
	assert_int_equal(state_of("/tmp", 0, any_time), PFS_ELF_OTHER_FILE);
	assert_int_equal(state_of("/dev/zero", 0, any_time), PFS_ELF_OTHER_FILE);
	fd = write_made("#!/bin/sh\n", 10, path);
	assert_int_equal(state_of(path, 0, any_time), PFS_ELF_NO_ELF);
	close(fd);
	for (unsigned int i = 0; i <= PFS_ELF_NO_LIBRARY; i++)
		assert_true(strlen(pfs_elf_symbols_text(i)) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_this_program), cmocka_unit_test(test_libc),   cmocka_unit_test(test_made),
		cmocka_unit_test(test_damaged),	     cmocka_unit_test(test_claims), cmocka_unit_test(test_other_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
