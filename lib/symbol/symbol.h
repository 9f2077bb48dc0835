/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbol/: names of instructions.
 *
 *     symbolizer.h  functions and source lines of frames
 *     build_ids.h   build-ids of the files of a recording
 *     pack.h        those files in one archive (archive.h), for other machines
 *     symbol.h      functions of the files of programs
 *     lines.h       source lines of the kernel
 *
 * Names of functions by their offsets in a file, from the symbol tables (.symtab, .dynsym) of an ELF file on this machine,
 * of its debug file (debug_file.h) or its minidebuginfo (minidebug.h). libelf reads them; it is loaded with the first file. A
 * file that may not be the recorded one is not read.
 */
#ifndef PFS_SYMBOL_H
#define PFS_SYMBOL_H

#include "symbol/build_id.h"
#include "symbol/debug_file.h"

#include <stdint.h>
#include <time.h>

enum pfs_elf_symbols_state {
	PFS_ELF_READ,
	PFS_ELF_UNKNOWN_FILE, /* the recording has no inode */
	PFS_ELF_NO_FILE,      /* no file of that name can be read here */
	PFS_ELF_OTHER_FILE,   /* the name is another file's now */
	PFS_ELF_OTHER_BUILD,  /* a file with another build-id */
	PFS_ELF_CHANGED,      /* the same file, but written or renamed since */
	PFS_ELF_NO_ELF,
	PFS_ELF_DAMAGED,
	PFS_ELF_NO_LIBRARY,
};

/* The file as it was recorded. */
struct pfs_elf_wanted {
	const char *path;
	uint32_t dev; /* major << 20 | minor; 0, and ino 0: unknown */
	uint64_t ino;
	const char *build_id;  /* hex; NULL: it was not recorded */
	struct timespec until; /* without one, a file that was changed after that is not read; 0: any time */
	const struct pfs_debug_files *files; /* NULL: the usual places */
};

struct pfs_elf_symbol;

struct pfs_elf_symbols {
	enum pfs_elf_symbols_state state;
	struct pfs_build_id build_id;	/* of what was read */
	struct pfs_elf_symbol *symbols; /* sorted; the rest is symbol.c's own */
	uint32_t nr_symbols, max_symbols;
	void *reader;
};

/* Returns 0 with the outcome in `state`, or -ENOMEM. The caller calls pfs_elf_symbols_fini() in any case. */
int pfs_elf_symbols_read(struct pfs_elf_symbols *symbols, const struct pfs_elf_wanted *wanted);
void pfs_elf_symbols_fini(struct pfs_elf_symbols *symbols);

/*
 * The name of the function at that offset in the file, any bytes, and the distance from its beginning; NULL: unknown.
 * It lives as long as the symbols.
 */
const char *pfs_elf_symbols_find(const struct pfs_elf_symbols *symbols, uint64_t off, uint64_t *behind);

/* The address for which the code at that offset was linked. False: there is no code. */
bool pfs_elf_symbols_address(const struct pfs_elf_symbols *symbols, uint64_t off, uint64_t *addr);

/* The file, or its debug file, that has debug information (.debug_info): a borrowed descriptor. -1: none. */
int pfs_elf_symbols_debug_fd(const struct pfs_elf_symbols *symbols);

/* What was read, borrowed: the file, and in *debug its debug file. -1: none. */
int pfs_elf_symbols_files(const struct pfs_elf_symbols *symbols, int *debug);

/* "another file now"; for PFS_ELF_READ: "no symbol there". */
const char *pfs_elf_symbols_text(enum pfs_elf_symbols_state state);

#endif
