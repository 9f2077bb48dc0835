/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/lines.h"

#include "base/array.h"
#include "base/number.h"
#include "base/write_all.h"
#include "symbol/dwarf.h"
#include "symbol/libelf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kernels are moved by multiples of that (CONFIG_PHYSICAL_ALIGN of x86 and EFI_KIMG_ALIGN of arm64, at least). */
#define MOVED_BY (UINT64_C(1) << 16)

struct function {
	const char *name; /* libelf's */
	uint64_t addr;
};

struct pfs_lines {
	int fd;
	struct pfs_dwarf *dwarf;
	struct pfs_libelf libelf;
	struct function *functions; /* by name */
	size_t nr, max;
	bool moved_known;
	uint64_t moved; /* recorded addresses are higher by that */
	char text[512];
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct function *)a)->name, ((const struct function *)b)->name);
}

static int read_symbols(struct pfs_lines *l, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = l->libelf.elf_getdata(section, NULL);
	size_t nr = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	struct function *f;
	GElf_Sym sym;

	for (size_t i = 0; i < nr && i < INT32_MAX && l->libelf.gelf_getsym(data, i, &sym); i++) {
		const char *name = l->libelf.elf_strptr(elf, header->sh_link, sym.st_name);

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
	Elf *elf = pfs_dwarf_elf(l->dwarf);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int ret = 0;

	while (!ret && (section = l->libelf.elf_nextscn(elf, section)))
		if (l->libelf.gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			ret = read_symbols(l, elf, section, &header);
	if (l->nr)
		qsort(l->functions, l->nr, sizeof(*l->functions), by_name);
	return ret;
}

struct pfs_lines *pfs_lines_open(const char *path, struct pfs_err *err)
{
	struct pfs_lines *l = calloc(1, sizeof(*l));
	struct pfs_err why = { "" };
	int ret = l ? 0 : pfs_err_set(err, -ENOMEM, "no memory for source lines");

	if (l)
		l->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!ret && l->fd < 0)
		ret = pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (!ret && !(l->dwarf = pfs_dwarf_open(l->fd, &why)))
		ret = pfs_err_set(err, -errno, "%s: %s", path, why.msg);
	if (!ret && pfs_libelf_load(&l->libelf))
		ret = pfs_err_set(err, -ENOENT, "%s: libelf is not installed", path);
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
	pfs_dwarf_close(l->dwarf);
	pfs_close(l->fd);
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
	const char *plus = strrchr(func, '+'), *at = plus ? plus + strlen("+0x") : NULL;
	uint64_t off, linked, moved;
	struct pfs_dwarf_place place;

	if (!plus || plus[1] != '0' || plus[2] != 'x' || !pfs_take_hex(&at, UINT32_MAX, &off) ||
	    !find_function(l, func, plus - func, &linked))
		return NULL;
	moved = addr - off - linked;
	if (!l->moved_known && moved % MOVED_BY == 0) {
		l->moved_known = true;
		l->moved = moved;
	}
	if (!l->moved_known || moved != l->moved || !pfs_dwarf_find(l->dwarf, linked + off - 1, &place, 1) ||
	    !place.source)
		return NULL;
	snprintf(l->text, sizeof(l->text), "%s:%u", short_path(place.source), place.line);
	return l->text;
}
