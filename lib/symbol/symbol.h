/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbol/: names of instructions.
 *
 *     symbolizer.h  functions and source lines of frames
 *     symbol.h      functions of the files of programs
 *     lines.h       source lines of the kernel
 *
 * Names of functions by their offsets in a file, from the symbol tables (.symtab, .dynsym) of an ELF file on this
 * machine. libelf reads them; it is loaded with the first file. A file that may not be the recorded one is not read.
 * Line numbers and separate debug files are not read either.
 */
#ifndef PFS_SYMBOL_H
#define PFS_SYMBOL_H

#include <stdint.h>
#include <time.h>

enum pfs_elf_symbols_state {
	PFS_ELF_READ,
	PFS_ELF_UNKNOWN_FILE, /* the recording has no inode */
	PFS_ELF_NO_FILE,      /* no file of that name can be read here */
	PFS_ELF_OTHER_FILE,   /* the name is another file's now */
	PFS_ELF_CHANGED,      /* the same file, but written or renamed since */
	PFS_ELF_NO_ELF,
	PFS_ELF_DAMAGED,
	PFS_ELF_NO_LIBRARY,
};

struct pfs_elf_symbol;

struct pfs_elf_symbols {
	enum pfs_elf_symbols_state state;
	struct pfs_elf_symbol *symbols; /* sorted; the rest is symbol.c's own */
	uint32_t nr_symbols, max_symbols;
	void *reader;
};

/*
 * Reads the symbols of the file: path, dev (major << 20 | minor) and ino as recorded (0 and 0: unknown). A file that
 * was changed after `until` (0: any time) is not read. Returns 0 with the outcome in `state`, or -ENOMEM. The caller
 * calls pfs_elf_symbols_fini() in any case.
 */
int pfs_elf_symbols_read(struct pfs_elf_symbols *symbols, const char *path, uint32_t dev, uint64_t ino,
			 struct timespec until);
void pfs_elf_symbols_fini(struct pfs_elf_symbols *symbols);

/*
 * The name of the function at that offset in the file, any bytes, and the distance from its beginning; NULL: unknown.
 * It lives as long as the symbols.
 */
const char *pfs_elf_symbols_find(const struct pfs_elf_symbols *symbols, uint64_t off, uint64_t *behind);

/* "another file now"; for PFS_ELF_READ: "no symbol there". */
const char *pfs_elf_symbols_text(enum pfs_elf_symbols_state state);

#endif
