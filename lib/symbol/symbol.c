/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See symbol.h. An ELF file may hold anything: libelf checks the places of its parts, and no more is read than the file
 * is long.
 */
#include "symbol/symbol.h"

#include "base/array.h"
#include "os/smaps.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
	MAX_BYTES = 1 << 30, /* of symbol tables that are read of a file */
	MAX_SEGMENTS = 16,   /* of code; there is one as a rule */
	MAX_NESTED = 1000,   /* functions that begin in another one, before it */
};

struct pfs_elf_symbol {
	uint64_t start, end; /* offsets in the file */
	uint64_t reach;	     /* the furthest end of all symbols up to this one */
	const char *name;    /* libelf's */
	uint8_t rank;	     /* of several in one place the lowest is the name */
};

/* clang-format off */
#define ELF_FUNCTIONS(X)									\
	X(elf_version) X(elf_begin) X(elf_end) X(elf_kind) X(elf_getphdrnum) X(gelf_getphdr)	\
	X(elf_nextscn) X(elf_getscn) X(gelf_getshdr) X(elf_getdata) X(gelf_getsym) X(elf_strptr)
/* clang-format on */

struct reader {
	int fd;
	Elf *elf;
	uint64_t left; /* bytes that may still be read */
	GElf_Phdr segments[MAX_SEGMENTS];
	unsigned int nr_segments;
#define X(name) typeof(name) *name;
	ELF_FUNCTIONS(X)
#undef X
};

/* ---- is it the recorded file? ---- */

static int is_same_file(void *ctx, const struct pfs_smap *region)
{
	const struct pfs_smap *mapped = ctx;

	return region->start == mapped->start && region->dev == mapped->dev && region->ino == mapped->ino;
}

/* The kernel may report another identity for a mapping, and so in recordings, than stat() does: on overlayfs, btrfs. */
static bool is_recorded(int fd, const struct stat *st, uint32_t dev, uint64_t ino)
{
	struct pfs_smap mapped = { .dev = dev, .ino = ino };
	FILE *maps;
	void *at;
	bool same;

	if ((major(st->st_dev) << 20 | minor(st->st_dev)) == dev && st->st_ino == ino)
		return true;
	at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return false;
	mapped.start = (uintptr_t)at;
	maps = fopen("/proc/self/maps", "re");
	same = maps && pfs_smaps_read(maps, is_same_file, &mapped) == 1;
	if (maps)
		fclose(maps);
	munmap(at, 1);
	return same;
}

/* Opens the file if it is regular: to open another kind may have an effect. */
static enum pfs_elf_symbols_state open_recorded(int *fd, uint64_t *size, const char *path, uint32_t dev, uint64_t ino,
						struct timespec until)
{
	struct stat st;

	if (!dev && !ino)
		return PFS_ELF_UNKNOWN_FILE;
	if (path[0] != '/' || stat(path, &st))
		return PFS_ELF_NO_FILE;
	if (!S_ISREG(st.st_mode))
		return PFS_ELF_OTHER_FILE;
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0 || fstat(*fd, &st))
		return PFS_ELF_NO_FILE;
	if (!S_ISREG(st.st_mode) || !is_recorded(*fd, &st, dev, ino))
		return PFS_ELF_OTHER_FILE;
	if (until.tv_sec &&
	    (pfs_order(st.st_ctim.tv_sec, until.tv_sec) ?: pfs_order(st.st_ctim.tv_nsec, until.tv_nsec)) > 0)
		return PFS_ELF_CHANGED;
	*size = st.st_size;
	return PFS_ELF_READ;
}

/* ---- libelf ---- */

/* libelf reports a lack of memory by errno only, which was 0 before. */
static int unless_memory(struct pfs_elf_symbols *symbols, enum pfs_elf_symbols_state state)
{
	symbols->state = state;
	return errno == ENOMEM ? -ENOMEM : 0;
}

/* The dynamic linker reports its reason as text only. */
static int cannot_load(struct pfs_elf_symbols *symbols)
{
	const char *why = dlerror();

	symbols->state = PFS_ELF_NO_LIBRARY;
	return why && strstr(why, "memory") ? -ENOMEM : 0;
}

static int load(struct pfs_elf_symbols *symbols, struct reader *r)
{
	void *library = dlopen("libelf.so.1", RTLD_NOW | RTLD_NODELETE);

	if (!library)
		return cannot_load(symbols);
#define X(name)                                          \
	r->name = (typeof(name) *)dlsym(library, #name); \
	if (!r->name)                                    \
		return cannot_load(symbols);
	ELF_FUNCTIONS(X)
#undef X
	return 0;
}

/* ---- symbols ---- */

/* Finds the segments that hold code. */
static void find_segments(struct reader *r)
{
	GElf_Phdr p;
	size_t nr;

	if (r->elf_getphdrnum(r->elf, &nr))
		return;
	for (size_t i = 0; i < nr && r->nr_segments < MAX_SEGMENTS && r->gelf_getphdr(r->elf, i, &p); i++)
		if (p.p_type == PT_LOAD && p.p_flags & PF_X)
			r->segments[r->nr_segments++] = p;
}

/* The offset in the file of an address of code. False: the file has no code there. */
static bool offset_of(const struct reader *r, uint64_t addr, uint64_t *off)
{
	for (unsigned int i = 0; i < r->nr_segments; i++) {
		const GElf_Phdr *p = &r->segments[i];

		if (addr < p->p_vaddr || addr - p->p_vaddr >= p->p_filesz)
			continue;
		*off = p->p_offset + (addr - p->p_vaddr);
		return true;
	}
	return false;
}

/* Public names come first: malloc, then __libc_malloc, then the name of a static function. */
static uint8_t rank_of(const GElf_Sym *sym, const char *name)
{
	unsigned int binding = GELF_ST_BIND(sym->st_info), underscores = 0;

	while (name[underscores] == '_' && underscores < 15)
		underscores++;
	return (binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 16 : 32) + underscores;
}

static int add_function(struct pfs_elf_symbols *symbols, const struct reader *r, const GElf_Sym *sym, size_t strings)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	struct pfs_elf_symbol symbol, *added;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || !sym->st_size || sym->st_shndx == SHN_UNDEF ||
	    !offset_of(r, sym->st_value, &symbol.start))
		return 0;
	symbol.name = r->elf_strptr(r->elf, strings, sym->st_name);
	if (!symbol.name || !symbol.name[0])
		return 0;
	symbol.end = symbol.start + sym->st_size;
	symbol.rank = rank_of(sym, symbol.name);
	if (symbol.end <= symbol.start)
		return 0;
	added = pfs_array_add(symbols->symbols, symbols->nr_symbols, symbols->max_symbols);
	if (!added)
		return -ENOMEM;
	*added = symbol;
	return 0;
}

/* Is the section no longer than the file has bytes that were not read yet? */
static bool may_read(struct reader *r, const GElf_Shdr *section)
{
	if (section->sh_flags & SHF_COMPRESSED || section->sh_size > r->left)
		return false;
	r->left -= section->sh_size;
	return true;
}

static int read_table(struct pfs_elf_symbols *symbols, struct reader *r, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Scn *strings = r->elf_getscn(r->elf, header->sh_link);
	GElf_Shdr strings_header;
	Elf_Data *data;
	GElf_Sym sym;
	int ret = 0;

	if (!strings || !r->gelf_getshdr(strings, &strings_header) || !may_read(r, header) ||
	    !may_read(r, &strings_header)) {
		symbols->state = PFS_ELF_DAMAGED;
		return 0;
	}
	data = r->elf_getdata(section, NULL);
	if (!data || !r->elf_getdata(strings, NULL))
		return unless_memory(symbols, PFS_ELF_DAMAGED);
	for (int i = 0; !ret && r->gelf_getsym(data, i, &sym); i++)
		ret = add_function(symbols, r, &sym, header->sh_link);
	return ret;
}

static int read_tables(struct pfs_elf_symbols *symbols, struct reader *r)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int ret = 0;

	while (!ret && (section = r->elf_nextscn(r->elf, section)) && r->gelf_getshdr(section, &header))
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			ret = read_table(symbols, r, section, &header);
	return ret;
}

static int compare(const void *a, const void *b)
{
	const struct pfs_elf_symbol *x = a, *y = b;

	/* Of several in one place the last one is found. */
	return pfs_order(x->start, y->start) ?: pfs_order(y->rank, x->rank) ?: strcmp(y->name, x->name);
}

static void sort(struct pfs_elf_symbols *symbols)
{
	uint64_t reach = 0;

	if (symbols->nr_symbols)
		qsort(symbols->symbols, symbols->nr_symbols, sizeof(*symbols->symbols), compare);
	for (uint32_t i = 0; i < symbols->nr_symbols; i++) {
		if (symbols->symbols[i].end > reach)
			reach = symbols->symbols[i].end;
		symbols->symbols[i].reach = reach;
	}
}

static int read_elf(struct pfs_elf_symbols *symbols, struct reader *r)
{
	int ret = load(symbols, r);

	if (ret || symbols->state)
		return ret;
	r->elf_version(EV_CURRENT);
	errno = 0;
	r->elf = r->elf_begin(r->fd, ELF_C_READ, NULL);
	if (!r->elf)
		return unless_memory(symbols, PFS_ELF_DAMAGED);
	if (r->elf_kind(r->elf) != ELF_K_ELF) {
		symbols->state = PFS_ELF_NO_ELF;
		return 0;
	}
	find_segments(r);
	ret = read_tables(symbols, r);
	if (!ret) /* libelf ends at the section for which it has no memory */
		ret = unless_memory(symbols, symbols->state);
	sort(symbols);
	return ret;
}

int pfs_elf_symbols_read(struct pfs_elf_symbols *symbols, const char *path, uint32_t dev, uint64_t ino,
			 struct timespec until)
{
	struct reader *r = calloc(1, sizeof(*r));

	*symbols = (struct pfs_elf_symbols){ .reader = r };
	if (!r)
		return -ENOMEM;
	r->fd = -1;
	symbols->state = open_recorded(&r->fd, &r->left, path, dev, ino, until);
	if (r->left > MAX_BYTES)
		r->left = MAX_BYTES;
	return symbols->state ? 0 : read_elf(symbols, r);
}

void pfs_elf_symbols_fini(struct pfs_elf_symbols *symbols)
{
	struct reader *r = symbols->reader;

	if (r && r->elf)
		r->elf_end(r->elf);
	if (r && r->fd >= 0)
		close(r->fd);
	free(r);
	free(symbols->symbols);
	*symbols = (struct pfs_elf_symbols){ 0 };
}

const char *pfs_elf_symbols_find(const struct pfs_elf_symbols *symbols, uint64_t off, uint64_t *behind)
{
	uint32_t low = pfs_lower_bound(symbols->nr_symbols, i, symbols->symbols[i].start <= off), nested = 0;

	/* Of functions in each other the innermost. */
	while (low-- && symbols->symbols[low].reach > off && nested++ < MAX_NESTED) {
		if (symbols->symbols[low].end <= off)
			continue;
		*behind = off - symbols->symbols[low].start;
		return symbols->symbols[low].name;
	}
	return NULL;
}

const char *pfs_elf_symbols_text(enum pfs_elf_symbols_state state)
{
	static const char *const texts[] = {
		[PFS_ELF_READ] = "no symbol there",	 [PFS_ELF_UNKNOWN_FILE] = "no inode was recorded",
		[PFS_ELF_NO_FILE] = "no such file here", [PFS_ELF_OTHER_FILE] = "another file now",
		[PFS_ELF_CHANGED] = "changed since",	 [PFS_ELF_NO_ELF] = "no ELF file",
		[PFS_ELF_DAMAGED] = "damaged symbols",	 [PFS_ELF_NO_LIBRARY] = "libelf is not installed",
	};

	return texts[state];
}
