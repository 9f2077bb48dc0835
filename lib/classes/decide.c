/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides what the kernel had to do at a fault. */
#include "classes/classes_priv.h"

#include "model/presence.h"

#include <string.h>

enum { WRITES = PFS_PAGE_WRITE | PFS_PAGE_POPULATED };

/* A fault, and what decides on its class. */
struct fault {
	const struct pfs_classes *classes;
	const struct pfs_event *ev;
	const struct pfs_outcome *outcome;
	const struct pfs_region *region;
	bool write, file, private, in_memory;
};

static bool is_in_memory(const struct pfs_model *model, const struct pfs_region *region)
{
	static const char *const names[] = { "/dev/zero", "/SYSV", "/memfd:", "/dev/shm/" };

	if (pfs_model_in_memory(model, region->dev))
		return true;
	for (size_t i = 0; region->have & PFS_HAS(PFS_F_NAME) && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(region->name, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool is_anonymous(const struct fault *f)
{
	const char *name = pfs_region_name(f->outcome->space, f->region);

	return name ? pfs_region_is_anonymous(f->region, name) : pfs_region_is_private_zero(f->region);
}

static const struct class_history *history_of(const struct fault *f)
{
	struct class_history *history;

	HASH_FIND(hh, f->classes->histories, &f->outcome->space, sizeof(f->outcome->space), history);
	return history;
}

/* Has the space been copied since the page was first touched in it? */
static bool is_copied_since(const struct fault *f)
{
	const struct class_history *history = history_of(f);
	const struct pfs_page *page;
	struct pfs_page_walk walk;

	if (!history || !history->forked_ns)
		return false;
	pfs_page_walk_start(&walk, f->region->pages, f->ev->addr, f->ev->addr + 1);
	page = pfs_page_walk_next(&walk);
	return page && page->first_ns < history->forked_ns;
}

/* What happened to the page in the space, whose region of that moment may be unmapped by now. False: nothing. */
static bool find_page(const struct pfs_space *space, uint64_t addr, uint64_t at_ns, struct pfs_page *found)
{
	const struct pfs_pages *pages = space->pages;
	const struct pfs_page *page;
	struct pfs_page_walk walk;

	for (unsigned int i = space->nr_retired; i-- > 0;) {
		const struct pfs_region *r = space->retired[i];

		if (r->died_ns < at_ns)
			break;
		if (r->born_ns <= at_ns && r->start <= addr && addr < r->end)
			pages = r->pages;
	}
	if (!pages)
		return false;
	pfs_page_walk_start(&walk, pages, addr, addr + 1);
	page = pfs_page_walk_next(&walk);
	if (page)
		*found = *page;
	return page;
}

/* What the page was in the parent, or in the parent's one, when the space was copied. */
static enum inherited { NOTHING_KNOWN, ONLY_READ, WRITTEN } inherited(const struct fault *f)
{
	const struct pfs_space *space = f->outcome->space;

	for (; space->copied_from; space = space->copied_from) {
		struct class_written *written, key = class_written_key(f->classes, space->copied_from, f->ev->addr);
		struct pfs_page page;

		if (!find_page(space->copied_from, f->ev->addr, space->born_ns, &page) ||
		    page.first_ns > space->born_ns)
			continue;
		if (!(page.flags & (PFS_PAGE_READ | PFS_PAGE_EXEC)))
			return page.flags & WRITES ? WRITTEN : NOTHING_KNOWN;
		HASH_FIND(hh, f->classes->written, &key.key, sizeof(key.key), written);
		return written && written->first_ns < space->born_ns ? WRITTEN : ONLY_READ;
	}
	return NOTHING_KNOWN;
}

/* Of what a write to a mapped page of private memory makes a copy. */
static struct pfs_class_sum copy_of(const struct fault *f)
{
	const struct pfs_proc *proc = f->outcome->thread->proc;
	const uint32_t reads = PFS_PAGE_READ | PFS_PAGE_EXEC;
	uint32_t had = f->outcome->before;
	bool reads_own =
		!f->file && !pfs_model_has_zero_page(f->classes->model); /* what is read gets a page of its own, too */
	enum inherited was;

	if (had & (WRITES | (reads_own ? reads : 0)) && is_copied_since(f))
		return class_key(PFS_CLASS_COW_FORK, proc->pid);
	if (had & PFS_PAGE_WRITE)
		return class_key(PFS_CLASS_PROTECTED, 0);
	was = f->region->inherited ? inherited(f) : NOTHING_KNOWN;
	if (was == WRITTEN || (was == ONLY_READ && reads_own))
		return class_key(PFS_CLASS_COW_FORK, proc->ppid);
	if (f->file)
		return class_key(PFS_CLASS_COW_FILE, 0);
	if (!reads_own && (had & reads || was == ONLY_READ))
		return class_key(PFS_CLASS_COW_ZERO, 0);
	return class_key(PFS_CLASS_PROTECTED, 0);
}

/* The class of a fault that brings a page to where none was. */
static enum pfs_fault_class first_page(const struct fault *f)
{
	if (f->file && f->private && f->write)
		return PFS_CLASS_COW_FILE;
	if (f->file && f->in_memory)
		return PFS_CLASS_SHARED;
	if (f->file)
		return f->write ? PFS_CLASS_FILE_WRITE : PFS_CLASS_FILE_READ;
	if (!is_anonymous(f))
		return PFS_CLASS_KERNEL;
	return class_of_anonymous(f->classes, f->write);
}

static struct pfs_class_sum conclude(const struct fault *f)
{
	const struct class_history *history;
	uint32_t had = f->outcome->before;
	bool major = pfs_has(f->ev, PFS_F_CLASS) && f->ev->class == PFS_MAJOR_CLASS;

	if (!pfs_has(f->ev, PFS_F_CODE) || !f->ev->access || !pfs_model_is_x86(f->classes->model))
		return class_key(PFS_CLASS_CODE, 0);
	if (f->ev->code & 1) {
		if (!f->write)
			return class_key(PFS_CLASS_SPURIOUS, 0);
		if (f->private)
			return copy_of(f);
		return class_key(!f->file || f->in_memory ? PFS_CLASS_SHARED : PFS_CLASS_FILE_WRITE, 0);
	}
	history = history_of(f);
	if (history && history->paged_out && had & PFS_PAGE_WRITE) /* it is not known which pages were */
		had |= PFS_PRESENT;
	/* Of a file such a page was most likely reclaimed, and is one of the file again; not where a private copy may be. */
	if (had & PFS_PRESENT && (!f->file || (f->private && had & PFS_PAGE_WRITE)))
		return class_key(major ? PFS_CLASS_SWAP : PFS_CLASS_TAKEN, 0);
	return class_key(first_page(f), 0);
}

/* What the source reports. */
static struct pfs_class_sum reported(const struct fault *f)
{
	switch (f->ev->how) {
	case PFS_HOW_ANON:
		return class_key(class_of_anonymous(f->classes, f->write), 0);
	case PFS_HOW_COW:
		return f->ev->code & 1 ? copy_of(f) : class_key(PFS_CLASS_COW_FILE, 0);
	case PFS_HOW_SWAP:
		return class_key(PFS_CLASS_SWAP, 0);
	case PFS_HOW_NUMA:
		return class_key(PFS_CLASS_NUMA, 0);
	case PFS_HOW_HUGE:
		return class_key(PFS_CLASS_HUGE, 0);
	case PFS_HOW_HIDDEN:
		return class_key(PFS_CLASS_HIDDEN, 0);
	default:
		if (f->in_memory)
			return class_key(PFS_CLASS_SHARED, 0);
		return class_key(f->write ? PFS_CLASS_FILE_WRITE : PFS_CLASS_FILE_READ, 0);
	}
}

struct pfs_class_sum class_decide(const struct pfs_classes *classes, const struct pfs_event *ev,
				  const struct pfs_outcome *outcome)
{
	const uint64_t needed = PFS_HAS(PFS_F_PERMS) | PFS_HAS(PFS_F_NAME);
	struct fault f = { .classes = classes, .ev = ev, .outcome = outcome, .region = outcome->region };
	unsigned int access = pfs_has(ev, PFS_F_ACCESS) ? ev->access : 0;

	if (outcome->fate != PFS_SERVED)
		return class_key(outcome->fate == PFS_RETRIED ? PFS_CLASS_RETRIED : PFS_CLASS_SIGNAL, 0);
	if (!f.region || (f.region->have & needed) != needed)
		return class_key(PFS_CLASS_REGION, 0);
	if (access && pfs_region_forbids(f.region, access))
		return class_key(PFS_CLASS_SIGNAL, 0);
	if (f.region->traits & PFS_TRAIT_HUGETLB)
		return class_key(PFS_CLASS_HUGE, 0);
	f.write = access == PFS_WRITE;
	f.private = !(f.region->perms & PFS_PERM_SHARED);
	f.file = pfs_region_is_file(f.region) && !pfs_region_is_private_zero(f.region);
	f.in_memory = f.file && is_in_memory(classes->model, f.region);
	return pfs_has(ev, PFS_F_HOW) && ev->how ? reported(&f) : conclude(&f);
}
