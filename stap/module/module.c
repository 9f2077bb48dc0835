/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads of ELF only the sections, by name. Offsets are checked against the file.
 */
#include "module/module.h"

#include "base/write_all.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ELF_CLASS (__ELF_NATIVE_CLASS == 64 ? ELFCLASS64 : ELFCLASS32)

#define NAME_ROOM (PFS_MODULE_NAME_MAX + 1)

/* struct module begins with its state and two pointers of a list; then comes the name. */
#define NAME_OFFSET (3 * sizeof(void *))

static bool within(const struct pfs_module *m, uint64_t at, uint64_t len)
{
	return at <= m->len && len <= m->len - at;
}

static bool section_at(const struct pfs_module *m, const ElfW(Ehdr) * head, unsigned int i, ElfW(Shdr) * section)
{
	uint64_t at = head->e_shoff + (uint64_t)i * sizeof(*section);

	if (i >= head->e_shnum || !within(m, at, sizeof(*section)))
		return false;
	memcpy(section, m->bytes + at, sizeof(*section));
	return section->sh_type == SHT_NOBITS || within(m, section->sh_offset, section->sh_size);
}

static bool read_head(const struct pfs_module *m, ElfW(Ehdr) * head)
{
	if (!within(m, 0, sizeof(*head)))
		return false;
	memcpy(head, m->bytes, sizeof(*head));
	return !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELF_CLASS &&
	       head->e_shentsize == sizeof(ElfW(Shdr));
}

static bool section_find(const struct pfs_module *m, const ElfW(Ehdr) * head, const char *name, ElfW(Shdr) * section)
{
	ElfW(Shdr) names;
	size_t len = strlen(name) + 1;

	if (!section_at(m, head, head->e_shstrndx, &names) || names.sh_type == SHT_NOBITS)
		return false;
	for (unsigned int i = 0; section_at(m, head, i, section); i++)
		if (section->sh_name < names.sh_size && len <= names.sh_size - section->sh_name &&
		    !memcmp(m->bytes + names.sh_offset + section->sh_name, name, len))
			return section->sh_type != SHT_NOBITS;
	return false;
}

static int read_all(struct pfs_module *m, int fd, const char *path, struct pfs_err *err)
{
	struct stat st;

	if (!fstat(fd, &st) && (!S_ISREG(st.st_mode) || st.st_size > 1 << 28))
		return pfs_err_set(err, -ENOEXEC, "%s: not a kernel module", path);
	m->bytes = pfs_read_whole(fd, &m->len);
	return m->bytes ? 0 : pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
}

/* Finds the name and the modinfo. */
static bool parse(struct pfs_module *m)
{
	ElfW(Shdr) this_module, info;
	ElfW(Ehdr) head;

	if (!read_head(m, &head) || head.e_type != ET_REL ||
	    !section_find(m, &head, ".gnu.linkonce.this_module", &this_module) ||
	    !section_find(m, &head, ".modinfo", &info) || this_module.sh_size < NAME_OFFSET + NAME_ROOM)
		return false;
	m->name = (char *)m->bytes + this_module.sh_offset + NAME_OFFSET;
	m->info = (char *)m->bytes + info.sh_offset;
	m->info_len = info.sh_size;
	return m->name[0] && memchr(m->name, '\0', NAME_ROOM);
}

bool pfs_elf_has_section(const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct pfs_module m = { 0 };
	ElfW(Shdr) section;
	ElfW(Ehdr) head;
	struct stat st;
	bool found;

	if (fd >= 0 && !fstat(fd, &st))
		m.len = st.st_size;
	m.bytes = mmap(NULL, m.len, PROT_READ, MAP_PRIVATE, fd, 0); /* vmlinux: hundreds of megabytes */
	pfs_close(fd);
	if (m.bytes == MAP_FAILED)
		return false;
	found = read_head(&m, &head) && section_find(&m, &head, name, &section);
	munmap(m.bytes, m.len);
	return found;
}

int pfs_module_read(struct pfs_module *m, int fd, const char *path, struct pfs_err *err)
{
	int ret;

	memset(m, 0, sizeof(*m));
	ret = read_all(m, fd, path, err);
	if (!ret && !parse(m))
		ret = pfs_err_set(err, -ENOEXEC, "%s: not a kernel module", path);
	if (ret)
		pfs_module_free(m);
	return ret;
}

void pfs_module_free(struct pfs_module *m)
{
	free(m->bytes);
	memset(m, 0, sizeof(*m));
}

const char *pfs_module_info(const struct pfs_module *m, const char *key)
{
	const char *end = m->info + m->info_len, *nul;
	size_t len = strlen(key);

	for (const char *p = m->info; p < end && (nul = memchr(p, '\0', end - p)); p = nul + 1)
		if (!strncmp(p, key, len) && p[len] == '=')
			return p + len + 1;
	return NULL;
}

bool pfs_module_signed(const struct pfs_module *m)
{
	static const char mark[] = "~Module signature appended~\n"; /* scripts/sign-file's */
	size_t len = sizeof(mark) - 1;

	return m->len > len && !memcmp(m->bytes + m->len - len, mark, len);
}

void pfs_module_rename(struct pfs_module *m, const char *name)
{
	memset(m->name, 0, NAME_ROOM);
	memcpy(m->name, name, strnlen(name, PFS_MODULE_NAME_MAX));
}

int pfs_module_write(const struct pfs_module *m, const char *path, struct pfs_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), ret;

	if (fd < 0)
		return pfs_err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
	ret = pfs_write_all(fd, m->bytes, m->len);
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret)
		return 0;
	unlink(path);
	return pfs_err_set(err, ret, "cannot write %s: %s", path, strerror(-ret));
}
