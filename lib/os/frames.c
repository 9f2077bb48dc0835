/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/frames.h"

#include "base/write_all.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_BYTES 24 /* where a frame is made, if there is one */

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp */
static bool makes_frame(const uint8_t *code)
{
	static const uint8_t frame[] = { 0x55, 0x48, 0x89, 0xe5 };

	return memmem(code, LOOK_BYTES, frame, sizeof(frame));
}
#elif defined(__aarch64__)
/* stp x29, x30, [sp, #-N]! */
static bool makes_frame(const uint8_t *code)
{
	for (size_t at = 0; at < LOOK_BYTES; at += 4) {
		uint32_t instruction;

		memcpy(&instruction, code + at, 4);
		if ((instruction & 0xffc07fff) == 0xa9807bfd)
			return true;
	}
	return false;
}
#endif

unsigned int pfs_libc_frames(unsigned int *of)
{
	unsigned int with = 0;

	*of = 0;
#if defined(__x86_64__) || defined(__aarch64__)
	static const void *const functions[] = { (void *)popen,	  (void *)opendir,  (void *)getaddrinfo,
						 (void *)scandir, (void *)getdelim, (void *)fputs,
						 (void *)fread,	  (void *)strftime };

	*of = sizeof(functions) / sizeof(functions[0]);
	for (unsigned int i = 0; i < *of; i++)
		with += makes_frame(functions[i]);
#endif
	return with;
}

#if defined(__x86_64__) || defined(__aarch64__)
enum { MAX_SEGMENTS = 64, MAX_LOOKED_AT = 512 };

/* DW_EH_PE_udata4; DW_EH_PE_datarel | DW_EH_PE_sdata4: what linkers write into .eh_frame_hdr */
enum { UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b };

struct program {
	int fd;
	unsigned int nr;
	Elf64_Phdr segments[MAX_SEGMENTS];
};

static bool read_segments(struct program *p)
{
	Elf64_Ehdr header;

	if (!pfs_read_exactly(p->fd, &header, sizeof(header), 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(p->segments[0]))
		return false;
	p->nr = header.e_phnum < MAX_SEGMENTS ? header.e_phnum : MAX_SEGMENTS;
	return pfs_read_exactly(p->fd, p->segments, p->nr * sizeof(p->segments[0]), header.e_phoff);
}

static bool read_code(const struct program *p, uint64_t addr, uint8_t code[LOOK_BYTES])
{
	for (unsigned int i = 0; i < p->nr; i++) {
		const Elf64_Phdr *s = &p->segments[i];

		if (s->p_type == PT_LOAD && s->p_flags & PF_X && addr >= s->p_vaddr && s->p_filesz >= LOOK_BYTES &&
		    addr - s->p_vaddr <= s->p_filesz - LOOK_BYTES)
			return pfs_read_exactly(p->fd, code, LOOK_BYTES, s->p_offset + (addr - s->p_vaddr));
	}
	return false;
}

/* The table of .eh_frame_hdr: where each function begins, and its entry in .eh_frame, relative to the table's section. */
static unsigned int look_at_table(const struct program *p, const Elf64_Phdr *hdr, unsigned int *of)
{
	struct {
		uint8_t version, frame_encoding, count_encoding, table_encoding;
		int32_t frame;
		uint32_t nr;
	} head;
	unsigned int with = 0, step;

	if (!pfs_read_exactly(p->fd, &head, sizeof(head), hdr->p_offset) || head.version != 1 ||
	    head.count_encoding != UDATA4 || head.table_encoding != DATAREL_SDATA4)
		return 0;
	step = head.nr / MAX_LOOKED_AT + 1;
	for (uint64_t i = 0; i < head.nr; i += step) {
		uint8_t code[LOOK_BYTES];
		int32_t begin;

		if (!pfs_read_exactly(p->fd, &begin, sizeof(begin), hdr->p_offset + sizeof(head) + i * 8))
			break;
		if (!read_code(p, hdr->p_vaddr + (int64_t)begin, code))
			continue;
		++*of;
		with += makes_frame(code);
	}
	return with;
}
#endif

#if defined(__x86_64__) || defined(__aarch64__)
enum { GO_BUILD_ID = 4, NOTES_MAX = 4096 };

/* A segment of notes: each is its header, its owner and its bytes, both filled up to four. */
static bool has_go_note(const struct program *p, const Elf64_Phdr *notes)
{
	uint64_t len = notes->p_filesz < NOTES_MAX ? notes->p_filesz : NOTES_MAX, at = 0;
	char bytes[NOTES_MAX];
	Elf64_Nhdr note;

	if (!pfs_read_exactly(p->fd, bytes, len, notes->p_offset))
		return false;
	while (len - at >= sizeof(note)) {
		memcpy(&note, bytes + at, sizeof(note));
		at += sizeof(note);
		if (note.n_type == GO_BUILD_ID && note.n_namesz >= 3 && note.n_namesz <= 4 && len - at >= 4 &&
		    !memcmp(bytes + at, "Go", 3))
			return true;
		for (int i = 0; i < 2; i++) {
			uint64_t size = ((uint64_t)(i ? note.n_descsz : note.n_namesz) + 3) & ~UINT64_C(3);

			at += size < len - at ? size : len - at;
		}
	}
	return false;
}
#endif

bool pfs_program_is_go(const char *path)
{
	bool is = false;

#if defined(__x86_64__) || defined(__aarch64__)
	struct program p = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };

	if (p.fd < 0)
		return false;
	if (!read_segments(&p))
		p.nr = 0;
	for (unsigned int i = 0; !is && i < p.nr; i++)
		is = p.segments[i].p_type == PT_NOTE && has_go_note(&p, &p.segments[i]);
	close(p.fd);
#endif
	return is;
}

unsigned int pfs_program_frames(const char *path, unsigned int *of)
{
	unsigned int with = 0;

	*of = 0;
#if defined(__x86_64__) || defined(__aarch64__)
	struct program p = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };

	if (p.fd < 0)
		return 0;
	if (!read_segments(&p))
		p.nr = 0;
	for (unsigned int i = 0; !*of && i < p.nr; i++)
		if (p.segments[i].p_type == PT_GNU_EH_FRAME)
			with = look_at_table(&p, &p.segments[i], of);
	close(p.fd);
#endif
	return with;
}
