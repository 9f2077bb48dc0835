/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of functions by where they are in a file: out of the symbol tables (.symtab, .dynsym) of an ELF file on
 * this machine, read by libelf, which is loaded when the first file is read. Only of a file that is the
 * recorded one, as far as that can be known: a name that might be another's is none.
 *
 * What is not read: line numbers, and symbols in files of their own (debug packages).
 */
#ifndef PFS_SYMBOL_H
#define PFS_SYMBOL_H

#include <stdint.h>
#include <time.h>

enum pfs_elf_symbols_state {
	PFS_ELF_READ,
	PFS_ELF_UNKNOWN_FILE, /* the recording does not say which file it was */
	PFS_ELF_NO_FILE,      /* nothing of that name can be read here */
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
 * Reads those of the file: path, dev (major << 20 | minor) and ino as they were recorded (0 and 0: not known).
 * What was done to it after `until` has not been recorded; 0: no matter when. 0 with a state that says what
 * became of it, or -ENOMEM. What it leaves is to be given to pfs_elf_symbols_fini() in any case.
 */
int pfs_elf_symbols_read(struct pfs_elf_symbols *symbols, const char *path, uint32_t dev, uint64_t ino,
			 struct timespec until);
void pfs_elf_symbols_fini(struct pfs_elf_symbols *symbols);

/*
 * The function at that offset in the file, and how far behind its beginning that is; NULL: none is known. Lives
 * as long as the symbols. As the file has it: any bytes.
 */
const char *pfs_elf_symbols_find(const struct pfs_elf_symbols *symbols, uint64_t off, uint64_t *behind);

/* "another file now"; for PFS_ELF_READ: "no symbol there". */
const char *pfs_elf_symbols_text(enum pfs_elf_symbols_state state);

#endif
