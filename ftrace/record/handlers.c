/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fault handlers by name, and the class that they give a fault. Names are those of mm/memory.c,
 * mm/huge_memory.c, mm/hugetlb.c, mm/rmap.c and mm/migrate.c as of Linux 6.1 and 6.12.
 */
#include "record/handlers.h"

#include "base/hash.h"
#include "event/event.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	enum pfs_handler handler;
} functions[] = {
	{ "handle_mm_fault", PFS_H_BEGIN },
	{ "do_anonymous_page", PFS_H_ANON },
	{ "do_wp_page", PFS_H_WRITE_PROTECTED },
	{ "wp_page_copy", PFS_H_COPIES },
	{ "do_page_mkwrite", PFS_H_DIRTIES },
	{ "fault_dirty_shared_page", PFS_H_DIRTIES },
	{ "do_fault", PFS_H_FILE },
	{ "do_read_fault", PFS_H_FILE_READ },
	{ "do_cow_fault", PFS_H_FILE_COPY },
	{ "do_shared_fault", PFS_H_FILE_SHARED },
	{ "page_add_new_anon_rmap", PFS_H_NEW_ANON }, /* up to 6.2 */
	{ "folio_add_new_anon_rmap", PFS_H_NEW_ANON },
	{ "do_swap_page", PFS_H_SWAP },
	{ "migration_entry_wait", PFS_H_MIGRATION },
	{ "do_numa_page", PFS_H_NUMA },
	{ "do_huge_pmd_numa_page", PFS_H_NUMA },
	{ "hugetlb_fault", PFS_H_HUGE },
	{ "huge_pmd_set_accessed", PFS_H_HUGE },
	{ "do_huge_pmd_wp_page", PFS_H_HUGE },
	{ "do_huge_pmd_anonymous_page", PFS_H_HUGE_ANON },
	{ "__split_huge_pmd", PFS_H_HUGE_SPLIT },
	{ "pgtable_trans_huge_deposit", PFS_H_HUGE_DONE },
};

/* "do_fault.isra.0" and "do_fault.constprop.0" are the function with other arguments, but whole. */
static size_t without_suffix(const char *name, size_t len)
{
	const char *dot = memchr(name, '.', len);
	size_t left = dot ? name + len - dot : 0;

	if ((left > 6 && !memcmp(dot, ".isra.", 6)) || (left > 11 && !memcmp(dot, ".constprop.", 11)))
		return dot - name;
	return len;
}

int pfs_handler_find(const char *name, size_t len)
{
	len = without_suffix(name, len);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strlen(functions[i].name) == len && !memcmp(functions[i].name, name, len))
			return functions[i].handler;
	return -ENOENT;
}

static bool has(uint32_t mask, enum pfs_handler handler)
{
	return mask >> handler & 1;
}

/*
 * A write to a page that was write-protected. One of a shared file becomes dirty, any other is
 * copied, or made writable where nobody else has it.
 */
static unsigned int write_protected(uint32_t seen, uint32_t traced)
{
	if (has(seen, PFS_H_DIRTIES))
		return PFS_HOW_FILE;
	if (has(seen, PFS_H_COPIES) || has(seen, PFS_H_NEW_ANON) || has(traced, PFS_H_DIRTIES))
		return PFS_HOW_COW;
	return 0;
}

/* A page of a file; a private one that is written becomes the process's own at once. */
static unsigned int of_file(uint32_t seen, uint32_t traced, bool *inferred)
{
	if (has(seen, PFS_H_FILE_COPY))
		return PFS_HOW_COW;
	if (has(seen, PFS_H_FILE_READ) || has(seen, PFS_H_FILE_SHARED))
		return PFS_HOW_FILE;
	*inferred = true;
	if (has(seen, PFS_H_NEW_ANON))
		return PFS_HOW_COW;
	return has(traced, PFS_H_NEW_ANON) ? PFS_HOW_FILE : 0;
}

/*
 * The handler of anonymous pages was part of its caller, and every other one that puts a page of
 * the process's own in place would have been seen.
 */
static bool all_others(uint32_t traced)
{
	return !has(traced, PFS_H_ANON) && has(traced, PFS_H_WRITE_PROTECTED) && has(traced, PFS_H_SWAP) &&
	       (has(traced, PFS_H_FILE) || has(traced, PFS_H_FILE_COPY));
}

unsigned int pfs_handlers_how(uint32_t seen, uint32_t traced, bool *inferred)
{
	*inferred = false;
	if (has(seen, PFS_H_NUMA))
		return PFS_HOW_NUMA;
	if (has(seen, PFS_H_SWAP) && !has(seen, PFS_H_MIGRATION))
		return has(traced, PFS_H_MIGRATION) ? PFS_HOW_SWAP : 0;
	if (has(seen, PFS_H_HUGE) && !has(seen, PFS_H_HUGE_SPLIT))
		return PFS_HOW_HUGE;
	if (has(seen, PFS_H_HUGE_ANON) && has(seen, PFS_H_HUGE_DONE))
		return PFS_HOW_HUGE;
	if (has(seen, PFS_H_WRITE_PROTECTED))
		return write_protected(seen, traced);
	if (seen & (1u << PFS_H_FILE | 1u << PFS_H_FILE_READ | 1u << PFS_H_FILE_COPY | 1u << PFS_H_FILE_SHARED))
		return of_file(seen, traced, inferred);
	if (has(seen, PFS_H_ANON))
		return PFS_HOW_ANON;
	*inferred = true;
	return has(seen, PFS_H_NEW_ANON) && all_others(traced) ? PFS_HOW_ANON : 0;
}

uint64_t pfs_function_key(const char *name, size_t len)
{
	return pfs_hash(PFS_HASH_START, name, len) >> 1;
}
