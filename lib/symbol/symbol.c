/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See symbol.h. An ELF file may hold anything: libelf checks the places of its parts, and no more is read than the file
 * is long.
 */
#include "symbol/symbol.h"

#include "base/array.h"
#include "base/nested.h"
#include "base/write_all.h"
#include "symbol/libelf.h"
#include "symbol/minidebug.h"
#include "symbol/recorded_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MAX_BYTES = 1 << 30, /* of symbol tables that are read of a file */
	MAX_SEGMENTS = 16,   /* of code; there is one as a rule */
};

struct pfs_elf_symbol {
	uint64_t start, end; /* addresses, as linked */
	uint64_t reach;
	const char *name; /* libelf's */
	uint8_t rank;	  /* of several in one place the lowest is the name */
};

/* The file, its debug file, and its minidebuginfo: where symbols are. */
struct part {
	int fd; /* -1: none */
	void *memory;
	Elf *elf;
	uint64_t left; /* bytes that may still be read */
	bool has_symtab, has_dwarf;
};

enum { MAIN, DEBUG, MINI, NR_PARTS };

struct reader {
	struct pfs_libelf libelf;
	struct part parts[NR_PARTS];
	GElf_Phdr segments[MAX_SEGMENTS];
	unsigned int nr_segments;
	/* of .gnu_debuglink, .gnu_debugdata */
	char link[256];
	uint32_t crc;
	Elf_Data *mini;
};

/* ---- libelf ---- */

/* libelf reports a lack of memory by errno only, which was 0 before. */
static int unless_memory(struct pfs_elf_symbols *symbols, enum pfs_elf_symbols_state state)
{
	symbols->state = state;
	return errno == ENOMEM ? -ENOMEM : 0;
}

/* ---- symbols ---- */

/* Finds the segments that hold code. */
static void find_segments(struct reader *r)
{
	Elf *elf = r->parts[MAIN].elf;
	GElf_Phdr p;
	size_t nr;

	if (r->libelf.elf_getphdrnum(elf, &nr))
		return;
	for (size_t i = 0; i < nr && r->nr_segments < MAX_SEGMENTS && r->libelf.gelf_getphdr(elf, i, &p); i++)
		if (p.p_type == PT_LOAD && p.p_flags & PF_X)
			r->segments[r->nr_segments++] = p;
}

static bool is_code(const struct reader *r, uint64_t addr)
{
	for (unsigned int i = 0; i < r->nr_segments; i++)
		if (addr >= r->segments[i].p_vaddr && addr - r->segments[i].p_vaddr < r->segments[i].p_filesz)
			return true;
	return false;
}

bool pfs_elf_symbols_address(const struct pfs_elf_symbols *symbols, uint64_t off, uint64_t *addr)
{
	const struct reader *r = symbols->reader;

	for (unsigned int i = 0; r && i < r->nr_segments; i++) {
		const GElf_Phdr *p = &r->segments[i];

		if (off < p->p_offset || off - p->p_offset >= p->p_filesz)
			continue;
		*addr = p->p_vaddr + (off - p->p_offset);
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

static int add_function(struct pfs_elf_symbols *symbols, const struct reader *r, Elf *elf, const GElf_Sym *sym,
			size_t strings)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	struct pfs_elf_symbol symbol, *added;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || !sym->st_size || sym->st_shndx == SHN_UNDEF ||
	    !is_code(r, sym->st_value))
		return 0;
	symbol.name = r->libelf.elf_strptr(elf, strings, sym->st_name);
	if (!symbol.name || !symbol.name[0])
		return 0;
	symbol.start = sym->st_value;
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
static bool may_read(struct part *part, const GElf_Shdr *section)
{
	if (section->sh_flags & SHF_COMPRESSED || section->sh_size > part->left)
		return false;
	part->left -= section->sh_size;
	return true;
}

static int read_table(struct pfs_elf_symbols *symbols, struct reader *r, struct part *part, Elf_Scn *section,
		      const GElf_Shdr *header)
{
	Elf_Scn *strings = r->libelf.elf_getscn(part->elf, header->sh_link);
	GElf_Shdr strings_header;
	Elf_Data *data;
	GElf_Sym sym;
	int ret = 0;

	if (!strings || !r->libelf.gelf_getshdr(strings, &strings_header) || !may_read(part, header) ||
	    !may_read(part, &strings_header)) {
		symbols->state = PFS_ELF_DAMAGED;
		return 0;
	}
	data = r->libelf.elf_getdata(section, NULL);
	if (!data || !r->libelf.elf_getdata(strings, NULL))
		return unless_memory(symbols, PFS_ELF_DAMAGED);
	for (int i = 0; !ret && r->libelf.gelf_getsym(data, i, &sym); i++)
		ret = add_function(symbols, r, part->elf, &sym, header->sh_link);
	return ret;
}

/* Notes what else names functions of the file, by the section's name. */
static void look_at_section(struct reader *r, struct part *part, Elf_Scn *section, const GElf_Shdr *header)
{
	size_t names, link;
	const char *name = r->libelf.elf_getshdrstrndx(part->elf, &names)
				   ? NULL
				   : r->libelf.elf_strptr(part->elf, names, header->sh_name);
	Elf_Data *data;

	if (!name)
		return;
	if (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))
		part->has_dwarf = header->sh_type != SHT_NOBITS;
	if ((strcmp(name, ".gnu_debuglink") && strcmp(name, ".gnu_debugdata")) || part != &r->parts[MAIN] ||
	    !may_read(part, header) || !(data = r->libelf.elf_getdata(section, NULL)) || !data->d_buf)
		return;
	if (!strcmp(name, ".gnu_debugdata")) {
		r->mini = data;
		return;
	}
	/* A name, padded to 4 bytes, and a checksum. */
	link = strnlen(data->d_buf, data->d_size);
	if (link >= sizeof(r->link) || (link | 3) + 1 + sizeof(r->crc) > data->d_size)
		return;
	memcpy(r->link, data->d_buf, link + 1);
	memcpy(&r->crc, (char *)data->d_buf + (link | 3) + 1, sizeof(r->crc));
}

static int read_tables(struct pfs_elf_symbols *symbols, struct reader *r, struct part *part)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int ret = 0;

	while (!ret && (section = r->libelf.elf_nextscn(part->elf, section)) &&
	       r->libelf.gelf_getshdr(section, &header)) {
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			ret = read_table(symbols, r, part, section, &header);
		else
			look_at_section(r, part, section, &header);
		part->has_symtab |= header.sh_type == SHT_SYMTAB;
	}
	return ret;
}

static int compare(const void *a, const void *b)
{
	const struct pfs_elf_symbol *x = a, *y = b;

	/* Of several in one place the last one is found. */
	return pfs_order(x->start, y->start) ?: pfs_order(y->rank, x->rank) ?: strcmp(y->name, x->name);
}

/* Of the debug file or the minidebuginfo: what is wrong with it costs its symbols only. */
static int read_other(struct pfs_elf_symbols *symbols, struct reader *r, struct part *part)
{
	int ret = 0;

	if (part->elf && r->libelf.elf_kind(part->elf) == ELF_K_ELF)
		ret = read_tables(symbols, r, part);
	return ret ?: unless_memory(symbols, PFS_ELF_READ);
}

static void limit(struct part *part)
{
	struct stat st;

	part->left = part->fd >= 0 && !fstat(part->fd, &st) ? st.st_size : 0;
	if (part->left > MAX_BYTES)
		part->left = MAX_BYTES;
}

static int read_debug_file(struct pfs_elf_symbols *symbols, struct reader *r, const struct pfs_elf_wanted *wanted)
{
	struct part *part = &r->parts[DEBUG];

	if (r->parts[MAIN].has_symtab && r->parts[MAIN].has_dwarf)
		return 0;
	part->fd = pfs_debug_file_by_id(wanted->files, symbols->build_id.hex);
	if (part->fd < 0)
		part->fd = pfs_debug_file_by_link(wanted->files, wanted->path, r->link, r->crc);
	if (part->fd < 0)
		part->fd = pfs_debug_file_served(wanted->files, symbols->build_id.hex);
	if (part->fd < 0)
		return 0;
	limit(part);
	errno = 0;
	part->elf = r->libelf.elf_begin(part->fd, ELF_C_READ, NULL);
	return read_other(symbols, r, part);
}

static int read_minidebug(struct pfs_elf_symbols *symbols, struct reader *r)
{
	struct part *part = &r->parts[MINI];
	size_t len;

	if (!r->mini || r->parts[MAIN].has_symtab || r->parts[DEBUG].has_symtab)
		return 0;
	errno = 0;
	part->memory = pfs_minidebug_unpack(r->mini->d_buf, r->mini->d_size, &len);
	if (!part->memory)
		return unless_memory(symbols, symbols->state);
	part->left = len;
	part->elf = r->libelf.elf_memory(part->memory, len);
	return read_other(symbols, r, part);
}

static int read_elf(struct pfs_elf_symbols *symbols, struct reader *r, const struct pfs_elf_wanted *wanted)
{
	struct part *part = &r->parts[MAIN];
	int ret = pfs_libelf_load(&r->libelf);

	if (ret) {
		symbols->state = PFS_ELF_NO_LIBRARY;
		return ret == -ENOMEM ? ret : 0;
	}
	errno = 0;
	part->elf = r->libelf.elf_begin(part->fd, ELF_C_READ, NULL);
	if (!part->elf)
		return unless_memory(symbols, PFS_ELF_DAMAGED);
	if (r->libelf.elf_kind(part->elf) != ELF_K_ELF) {
		symbols->state = PFS_ELF_NO_ELF;
		return 0;
	}
	find_segments(r);
	ret = read_tables(symbols, r, part);
	if (!ret) /* libelf ends at the section for which it has no memory */
		ret = unless_memory(symbols, symbols->state);
	if (!ret && !symbols->state)
		ret = read_debug_file(symbols, r, wanted) ?: read_minidebug(symbols, r);
	pfs_nested_sort(symbols->symbols, symbols->nr_symbols, compare);
	return ret;
}

int pfs_elf_symbols_read(struct pfs_elf_symbols *symbols, const struct pfs_elf_wanted *wanted)
{
	struct reader *r = calloc(1, sizeof(*r));

	*symbols = (struct pfs_elf_symbols){ .reader = r };
	if (!r)
		return -ENOMEM;
	for (int i = 0; i < NR_PARTS; i++)
		r->parts[i].fd = -1;
	r->parts[MAIN].fd = pfs_recorded_file_open(wanted, &symbols->build_id, &symbols->state);
	limit(&r->parts[MAIN]);
	return symbols->state ? 0 : read_elf(symbols, r, wanted);
}

void pfs_elf_symbols_fini(struct pfs_elf_symbols *symbols)
{
	struct reader *r = symbols->reader;

	for (int i = 0; r && i < NR_PARTS; i++) {
		if (r->parts[i].elf)
			r->libelf.elf_end(r->parts[i].elf);
		pfs_close(r->parts[i].fd);
		free(r->parts[i].memory);
	}
	free(r);
	free(symbols->symbols);
	*symbols = (struct pfs_elf_symbols){ 0 };
}

int pfs_elf_symbols_files(const struct pfs_elf_symbols *symbols, int *debug)
{
	const struct reader *r = symbols->reader;

	*debug = r->parts[DEBUG].fd;
	return r->parts[MAIN].fd;
}

int pfs_elf_symbols_debug_fd(const struct pfs_elf_symbols *symbols)
{
	const struct reader *r = symbols->reader;

	for (int i = MAIN; r && i <= DEBUG; i++)
		if (r->parts[i].has_dwarf)
			return r->parts[i].fd;
	return -1;
}

const char *pfs_elf_symbols_find(const struct pfs_elf_symbols *symbols, uint64_t off, uint64_t *behind)
{
	const struct pfs_elf_symbol *found;
	uint64_t addr;

	if (!pfs_elf_symbols_address(symbols, off, &addr))
		return NULL;
	found = pfs_nested_find(symbols->symbols, symbols->nr_symbols, addr);
	if (!found)
		return NULL;
	*behind = addr - found->start;
	return found->name;
}

const char *pfs_elf_symbols_text(enum pfs_elf_symbols_state state)
{
	static const char *const texts[] = {
		[PFS_ELF_READ] = "no symbol there",
		[PFS_ELF_UNKNOWN_FILE] = "no inode was recorded",
		[PFS_ELF_NO_FILE] = "no such file here",
		[PFS_ELF_OTHER_FILE] = "another file now",
		[PFS_ELF_CHANGED] = "changed since",
		[PFS_ELF_OTHER_BUILD] = "another build-id now",
		[PFS_ELF_NO_ELF] = "no ELF file",
		[PFS_ELF_DAMAGED] = "damaged symbols",
		[PFS_ELF_NO_LIBRARY] = "libelf is not installed",
	};

	return texts[state];
}
