/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel objects: allocated and freed. An event each; lib/objects pairs them.
 */
#include "assemble/assemble_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static int set_site(struct pfs_assembler *a, struct pfs_event *ev, const struct raw_event *raw)
{
	const char *func = raw->arg[0] == RAW_ABSENT ? raw->text : NULL;

	if (raw->arg[0] != RAW_ABSENT) {
		PFS_SET(ev, site, SITE, raw->arg[0]);
		func = a->function ? asm_function_at(a, raw->arg[0]) : "";
		if (!func)
			return -ENOMEM;
	}
	if (func && *func)
		PFS_SET(ev, func, FUNC, func);
	return 0;
}

/* Text has hashed addresses, unless the kernel was told otherwise. */
static int check_hashed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	if (raw->arg[4] != 1)
		return 0;
	return asm_emit_lack(a, t, raw,
			     "what=kmem:* tells=addresses of objects: this text has hashed ones (see no_hash_pointers)",
			     &a->addresses_lack);
}

static int object(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct pfs_event *ev)
{
	int err = check_hashed(a, t, raw) ?: set_site(a, ev, raw);

	return err ?: asm_emit(a, ev);
}

/* A failed allocation has no address. */
static bool has_address(const struct raw_event *raw)
{
	return raw->arg[1] && raw->arg[1] != RAW_ABSENT;
}

int asm_object_alloc(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_event ev;

	if (!has_address(raw))
		return 0;
	asm_event_init(&ev, raw, t, PFS_ALLOC);
	PFS_SET(&ev, ptr, PTR, raw->arg[1]);
	if (raw->arg[2] != RAW_ABSENT)
		PFS_SET(&ev, size, SIZE, raw->arg[2]);
	if (raw->arg[3] != RAW_ABSENT)
		PFS_SET(&ev, allocated, ALLOCATED, raw->arg[3]);
	if (raw->kind == RAW_KMALLOC)
		PFS_SET(&ev, cache, CACHE, "kmalloc");
	else if (raw->str)
		PFS_SET(&ev, cache, CACHE, raw->str);
	asm_stack_await(a, raw, &ev);
	return object(a, t, raw, &ev);
}

/* pfscope's own records, of hardware watchpoints (watch/watch.h). */
int asm_object_access(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_event ev;
	int err;

	if (!has_address(raw) || raw->arg[2] == RAW_ABSENT)
		return 0;
	asm_event_init(&ev, raw, t, PFS_ACCESS);
	if (raw->arg[5] != RAW_ABSENT)
		PFS_SET(&ev, pid, PID, raw->arg[5]);
	err = set_site(a, &ev, raw);
	PFS_SET(&ev, ptr, PTR, raw->arg[1]);
	PFS_SET(&ev, off, OFF, raw->arg[2]);
	PFS_SET(&ev, len, LEN, raw->arg[3]);
	if (raw->arg[4] == PFS_READ || raw->arg[4] == PFS_WRITE)
		PFS_SET(&ev, access, ACCESS, raw->arg[4]);
	return err ?: asm_emit(a, &ev);
}

int asm_watch(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_event ev;

	asm_event_init(&ev, raw, NULL, PFS_WATCH);
	PFS_SET(&ev, ptr, PTR, raw->arg[0]);
	PFS_SET(&ev, off, OFF, raw->arg[1]);
	PFS_SET(&ev, len, LEN, raw->arg[2]);
	if (raw->arg[3] != RAW_ABSENT)
		PFS_SET(&ev, count, COUNT, raw->arg[3]);
	if (raw->arg[4] == 1)
		PFS_SET(&ev, last, LAST, 1);
	return asm_emit(a, &ev);
}

/* ---- wprobe events (tracefs/wprobes.h): each watches a word of one object after the other ---- */

/* A word is watched from now on, or no more. No number of words: it was not chosen at random. */
static int word_watched(struct pfs_assembler *a, const struct asm_word *word, uint64_t ts_ns, bool last)
{
	struct raw_event raw = raw_event_own(RAW_PFS_WATCH, ts_ns, 0);

	raw.arg[0] = word->ptr;
	raw.arg[1] = word->off;
	raw.arg[2] = 8;
	raw.arg[3] = last ? 0 : RAW_ABSENT;
	raw.arg[4] = last;
	return asm_watch(a, NULL, &raw);
}

static int word_ends(struct pfs_assembler *a, struct asm_word *word, uint64_t ts_ns)
{
	bool watched = word->ptr;
	int err = watched ? word_watched(a, word, ts_ns, true) : 0;

	word->ptr = 0;
	return err;
}

static int words_end_of(struct pfs_assembler *a, const struct raw_event *raw)
{
	int err = 0;

	for (struct asm_word *word = a->words; !err && word < a->words + ASM_NR_WORDS; word++)
		if (word->ptr == raw->arg[1])
			err = word_ends(a, word, raw->ts_ns);
	return err;
}

int asm_object_free(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_event ev;

	int err;

	if (!has_address(raw))
		return 0;
	err = words_end_of(a, raw);
	if (err)
		return err;
	asm_event_init(&ev, raw, t, PFS_FREE);
	PFS_SET(&ev, ptr, PTR, raw->arg[1]);
	if (raw->str)
		PFS_SET(&ev, cache, CACHE, raw->str);
	return object(a, t, raw, &ev);
}

int asm_words_end(struct pfs_assembler *a)
{
	int err = 0;

	for (struct asm_word *word = a->words; !err && word < a->words + ASM_NR_WORDS; word++)
		err = word_ends(a, word, a->last_ns);
	return err;
}

/*
 * Since when it has been watched nothing reports: it counts as watched from the first access on. The kernel does not report
 * whether that wrote: it did if the value is another one than before.
 */
int asm_wprobe(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	uint64_t off = raw->arg[2] != RAW_ABSENT ? raw->arg[2] : 0, value = raw->arg[3];
	struct asm_word *word = &a->words[raw->arg[4] < ASM_NR_WORDS ? raw->arg[4] : 0];
	struct raw_event access = *raw;
	int err = 0;

	if (raw->arg[1] == RAW_ABSENT || raw->arg[1] <= off)
		return 0;
	access.arg[1] = raw->arg[1] - off;
	access.arg[2] = off;
	access.arg[3] = 8;
	access.arg[4] = access.arg[5] = RAW_ABSENT;
	if (word->ptr == access.arg[1] && word->off == off) {
		if (word->value != value)
			access.arg[4] = PFS_WRITE;
	} else {
		err = word_ends(a, word, raw->ts_ns);
		*word = (struct asm_word){ .ptr = access.arg[1], .off = off };
		err = err ?: word_watched(a, word, raw->ts_ns, false);
	}
	word->value = value;
	return err ?: asm_object_access(a, t, &access);
}

int asm_pages(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	bool freed = raw->kind == RAW_PAGE_FREE;
	struct pfs_event ev;

	a->has_pages |= freed; /* whoever recorded that meant pages */
	if (raw->arg[0] == RAW_ABSENT || raw->arg[1] > 32)
		return 0;
	asm_event_init(&ev, raw, t, freed ? PFS_FREE : PFS_ALLOC);
	PFS_SET(&ev, pfn, PFN, raw->arg[0]);
	PFS_SET(&ev, order, ORDER, raw->arg[1]);
	if (!freed) {
		PFS_SET(&ev, size, SIZE, (a->page_mask + 1) << raw->arg[1]);
		PFS_SET(&ev, allocated, ALLOCATED, ev.size);
		asm_stack_await(a, raw, &ev);
	}
	return asm_emit(a, &ev);
}
