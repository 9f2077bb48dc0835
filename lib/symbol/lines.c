/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/lines.h"

#include "base/array.h"
#include "base/number.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Kernels are moved by multiples of that (CONFIG_PHYSICAL_ALIGN of x86 and EFI_KIMG_ALIGN of arm64, at least). */
#define MOVED_BY (UINT64_C(1) << 16)

/* elfutils/libdw.h, which would need a package of its own for these few. */
typedef struct Dwarf Dwarf;
typedef struct Dwarf_Line Dwarf_Line;
typedef struct {
	void *addr;
	struct Dwarf_CU *cu;
	struct Dwarf_Abbrev *abbrev;
	long padding;
} Dwarf_Die;
Dwarf *dwarf_begin(int fd, int cmd);
int dwarf_end(Dwarf *dwarf);
Elf *dwarf_getelf(Dwarf *dwarf);
Dwarf_Die *dwarf_addrdie(Dwarf *dwarf, uint64_t addr, Dwarf_Die *result);
Dwarf_Line *dwarf_getsrc_die(Dwarf_Die *cu, uint64_t addr);
const char *dwarf_linesrc(Dwarf_Line *line, uint64_t *mtime, uint64_t *length);
int dwarf_lineno(Dwarf_Line *line, int *number);
enum { READ_COMMAND = 0 }; /* DWARF_C_READ */

/* clang-format off */
#define DW_FUNCTIONS(X) \
	X(dwarf_begin) X(dwarf_end) X(dwarf_getelf) X(dwarf_addrdie) X(dwarf_getsrc_die) X(dwarf_linesrc) X(dwarf_lineno)
#define ELF_FUNCTIONS(X) X(elf_nextscn) X(gelf_getshdr) X(elf_getdata) X(gelf_getsym) X(elf_strptr)
/* clang-format on */

struct function {
	const char *name; /* libelf's */
	uint64_t addr;
};

struct pfs_lines {
	int fd;
	Dwarf *dwarf;
	struct function *functions; /* by name */
	size_t nr, max;
	bool moved_known;
	uint64_t moved; /* recorded addresses are higher by that */
	char text[512];
#define X(name) typeof(name) *name;
	DW_FUNCTIONS(X)
	ELF_FUNCTIONS(X)
#undef X
};

/* Symbols of libelf are found in libdw, too, which is linked with it. */
static int load(struct pfs_lines *l, struct pfs_err *err)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_NODELETE);

	if (!library)
		return pfs_err_set(err, -ENOENT, "source lines need libdw (apt-get install libdw1)");
#define X(name)                                          \
	l->name = (typeof(name) *)dlsym(library, #name); \
	if (!l->name)                                    \
		return pfs_err_set(err, -ENOENT, "%s: not in libdw", #name);
	DW_FUNCTIONS(X)
	ELF_FUNCTIONS(X)
#undef X
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct function *)a)->name, ((const struct function *)b)->name);
}

static int read_symbols(struct pfs_lines *l, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = l->elf_getdata(section, NULL);
	size_t nr = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	struct function *f;
	GElf_Sym sym;

	for (size_t i = 0; i < nr && i < INT32_MAX && l->gelf_getsym(data, i, &sym); i++) {
		const char *name = l->elf_strptr(elf, header->sh_link, sym.st_name);

		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || !name || !*name)
			continue;
		f = pfs_array_add(l->functions, l->nr, l->max);
		if (!f)
			return -ENOMEM;
		*f = (struct function){ name, sym.st_value };
	}
	return 0;
}

static int read_functions(struct pfs_lines *l)
{
	Elf *elf = l->dwarf_getelf(l->dwarf);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int ret = 0;

	while (!ret && (section = l->elf_nextscn(elf, section)))
		if (l->gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			ret = read_symbols(l, elf, section, &header);
	if (l->nr)
		qsort(l->functions, l->nr, sizeof(*l->functions), by_name);
	return ret;
}

struct pfs_lines *pfs_lines_open(const char *path, struct pfs_err *err)
{
	struct pfs_lines *l = calloc(1, sizeof(*l));
	int ret = l ? load(l, err) : pfs_err_set(err, -ENOMEM, "no memory for source lines");

	if (l)
		l->fd = ret ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (!ret && l->fd < 0)
		ret = pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!ret && !(l->dwarf = l->dwarf_begin(l->fd, READ_COMMAND)))
		ret = pfs_err_set(err, -ENOENT, "%s: no debuginfo in it", path);
	if (!ret && read_functions(l))
		ret = pfs_err_set(err, -ENOMEM, "no memory for source lines");
	if (!ret)
		return l;
	pfs_lines_close(l);
	errno = -ret;
	return NULL;
}

void pfs_lines_close(struct pfs_lines *l)
{
	if (!l)
		return;
	if (l->dwarf)
		l->dwarf_end(l->dwarf);
	if (l->fd >= 0)
		close(l->fd);
	free(l->functions);
	free(l);
}

/* Its address in the file. False: none, or several are called so. */
static bool find_function(const struct pfs_lines *l, const char *name, size_t len, uint64_t *addr)
{
	size_t i = pfs_lower_bound(l->nr, k, strncmp(l->functions[k].name, name, len) < 0);
	bool found = false;

	/* Behind it are longer names, too. */
	for (; i < l->nr && !strncmp(l->functions[i].name, name, len); i++) {
		if (l->functions[i].name[len])
			continue;
		if (found && *addr != l->functions[i].addr)
			return false;
		*addr = l->functions[i].addr;
		found = true;
	}
	return found;
}

/* Without the folder that it was built in: "/build/linux-6.1.192/fs/pipe.c", "./fs/pipe.c". */
static const char *short_path(const char *path)
{
	const char *linux_folder = strstr(path, "/linux-"), *end = linux_folder ? strchr(linux_folder + 1, '/') : NULL;

	if (end)
		path = end + 1;
	return path + (strncmp(path, "./", 2) ? 0 : 2);
}

const char *pfs_lines_find(struct pfs_lines *l, const char *func, uint64_t addr)
{
	const char *plus = strrchr(func, '+'), *at = plus ? plus + strlen("+0x") : NULL, *path;
	uint64_t off, linked, moved;
	Dwarf_Line *line;
	Dwarf_Die cu;
	int number;

	if (!plus || plus[1] != '0' || plus[2] != 'x' || !pfs_take_hex(&at, UINT32_MAX, &off) ||
	    !find_function(l, func, plus - func, &linked))
		return NULL;
	moved = addr - off - linked;
	if (!l->moved_known && moved % MOVED_BY == 0) {
		l->moved_known = true;
		l->moved = moved;
	}
	if (!l->moved_known || moved != l->moved || !l->dwarf_addrdie(l->dwarf, linked + off - 1, &cu))
		return NULL;
	line = l->dwarf_getsrc_die(&cu, linked + off - 1);
	path = line ? l->dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!path || l->dwarf_lineno(line, &number) || !number)
		return NULL;
	snprintf(l->text, sizeof(l->text), "%s:%d", short_path(path), number);
	return l->text;
}
