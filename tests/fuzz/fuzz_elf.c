// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ELF files of others: programs whose functions are named, kernel modules that are renamed, and kernels that are asked for
 * debug information.
 */
#include "fuzz.h"

#include "base/write_all.h"
#include "module/module.h"
#include "symbol/symbol.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MAX_UNPACKED = 256 << 20 };

static void name_functions(const char *path, const struct stat *st)
{
	uint32_t dev = major(st->st_dev) << 20 | minor(st->st_dev);
	struct pfs_elf_symbols symbols;
	uint64_t behind;

	if (!pfs_elf_symbols_read(&symbols, &(struct pfs_elf_wanted){ .path = path, .dev = dev, .ino = st->st_ino }))
		for (uint64_t off = 0; off <= (uint64_t)st->st_size; off += 61) {
			const char *name = pfs_elf_symbols_find(&symbols, off, &behind);

			if (name &&
			    (!*name || strlen(name) > MAX_UNPACKED)) /* it ends in the file, or in minidebuginfo */
				abort();
		}
	pfs_elf_symbols_fini(&symbols);
}

static void rename_module(int fd)
{
	struct pfs_module module;
	struct pfs_err err;

	if (lseek(fd, 0, SEEK_SET) || pfs_module_read(&module, fd, "module", &err))
		return;
	pfs_module_info(&module, "vermagic");
	pfs_module_signed(&module);
	pfs_module_rename(&module, "pfscope_0123456789abcdef");
	if (strcmp(module.name, "pfscope_0123456789abcdef"))
		abort();
	pfs_module_free(&module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[32];
	struct stat st;

	if (fd < 0)
		fd = memfd_create("elf", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) || pfs_write_all(fd, data, size) || fstat(fd, &st))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	name_functions(path, &st);
	rename_module(fd);
	pfs_elf_has_section(path, ".debug_info");
	return 0;
}
