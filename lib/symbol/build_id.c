/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See build_id.h. Notes are found by segments or, in a debug file, whose segments are empty, by sections.
 */
#include "symbol/build_id.h"

#include "base/write_all.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HEADERS = 4096, MAX_NOTES = 1 << 16 };

/* What both classes of files have. */
struct layout {
	bool is_64;
	struct table {
		uint64_t off;
		unsigned int nr, size;
	} segments, sections;
};

static bool read_layout(struct layout *l, int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr e64;
		Elf32_Ehdr e32;
	} head;
	const union {
		uint16_t number;
		uint8_t first;
	} order = { 1 };

	if (!pfs_read_exactly(fd, &head, sizeof(head.e32), 0) || memcmp(head.ident, ELFMAG, SELFMAG) ||
	    head.ident[EI_DATA] != (order.first ? ELFDATA2LSB : ELFDATA2MSB))
		return false;
	l->is_64 = head.ident[EI_CLASS] == ELFCLASS64;
	if (l->is_64 && !pfs_read_exactly(fd, &head, sizeof(head.e64), 0))
		return false;
	if (l->is_64) {
		l->segments = (struct table){ head.e64.e_phoff, head.e64.e_phnum, sizeof(Elf64_Phdr) };
		l->sections = (struct table){ head.e64.e_shoff, head.e64.e_shnum, sizeof(Elf64_Shdr) };
		return head.e64.e_phentsize == sizeof(Elf64_Phdr) || head.e64.e_shentsize == sizeof(Elf64_Shdr);
	}
	l->segments = (struct table){ head.e32.e_phoff, head.e32.e_phnum, sizeof(Elf32_Phdr) };
	l->sections = (struct table){ head.e32.e_shoff, head.e32.e_shnum, sizeof(Elf32_Shdr) };
	return head.e32.e_phentsize == sizeof(Elf32_Phdr) || head.e32.e_shentsize == sizeof(Elf32_Shdr);
}

/* "GNU\0" and the id behind a note's three numbers, each part padded to 4 bytes. */
static bool scan(struct pfs_build_id *id, const unsigned char *notes, size_t len)
{
	Elf32_Nhdr note;
	size_t name, desc;

	for (size_t at = 0; len - at >= sizeof(note); at = desc + ((note.n_descsz + 3) & ~3u)) {
		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		if (note.n_namesz > len - name || ((note.n_namesz + 3) & ~3u) > len - name)
			return false;
		desc = name + ((note.n_namesz + 3) & ~3u);
		if (note.n_descsz > len - desc)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(notes + name, "GNU", 4) &&
		    note.n_descsz && note.n_descsz <= PFS_BUILD_ID_BYTES) {
			for (unsigned int i = 0; i < note.n_descsz; i++)
				sprintf(id->hex + 2 * i, "%02x", notes[desc + i]);
			return true;
		}
		if (((note.n_descsz + 3) & ~3u) > len - desc)
			return false;
	}
	return false;
}

static bool scan_at(struct pfs_build_id *id, int fd, uint64_t off, uint64_t len)
{
	unsigned char *notes = len && len <= MAX_NOTES ? malloc(len) : NULL;
	bool found = notes && pfs_read_exactly(fd, notes, len, off) && scan(id, notes, len);

	free(notes);
	return found;
}

/* A row of a table, of either class: whether it is notes, and where these are. */
static bool is_notes(const struct layout *l, bool segment, const void *row, uint64_t *off, uint64_t *len)
{
	const Elf64_Phdr *p64 = row;
	const Elf32_Phdr *p32 = row;
	const Elf64_Shdr *s64 = row;
	const Elf32_Shdr *s32 = row;

	*off = segment ? (l->is_64 ? p64->p_offset : p32->p_offset) : l->is_64 ? s64->sh_offset : s32->sh_offset;
	*len = segment ? (l->is_64 ? p64->p_filesz : p32->p_filesz) : l->is_64 ? s64->sh_size : s32->sh_size;
	return segment ? (l->is_64 ? p64->p_type : p32->p_type) == PT_NOTE
		       : (l->is_64 ? s64->sh_type : s32->sh_type) == SHT_NOTE;
}

static bool scan_table(struct pfs_build_id *id, int fd, const struct layout *l, bool segment)
{
	const struct table *table = segment ? &l->segments : &l->sections;
	uint64_t row[sizeof(Elf64_Shdr) / sizeof(uint64_t)], off, len;

	for (unsigned int i = 0; i < table->nr && i < MAX_HEADERS; i++)
		if (!pfs_read_exactly(fd, row, table->size, table->off + (uint64_t)i * table->size))
			return false;
		else if (is_notes(l, segment, row, &off, &len) && scan_at(id, fd, off, len))
			return true;
	return false;
}

bool pfs_build_id_read(struct pfs_build_id *id, int fd)
{
	struct layout l;

	*id = (struct pfs_build_id){ "" };
	return read_layout(&l, fd) && (scan_table(id, fd, &l, true) || scan_table(id, fd, &l, false));
}
