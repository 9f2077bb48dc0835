/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages beside a fault that a huge page may have mapped with it. The kernel reports the allocation of a huge page, but
 * not that a fault mapped the huge zero page, or a huge page of the page cache. Where that is possible, the other pages
 * that it would map are marked PFS_PAGE_MAYBE.
 *
 * The next fault on one of them decides, if its error code is known: a page that was not mapped shows that none was, and a
 * page that was mapped (a write to the zero page) that all were. A fault-around, or a read of fewer pages from disk, decides
 * at once. touch.c calls this.
 */
#include "model/model_priv.h"

#include "base/number.h"
#include "model/presence.h"
#include "model/space.h"

#include <string.h>

/* What one fault may map: a huge page, or all of it that lies in the region. */
struct reach {
	uint64_t start, end;
	bool all; /* all of it or one page */
};

/* ---- settings ---- */

static struct huge_setting huge_setting(const char *name)
{
	return (struct huge_setting){ !strcmp(name, "always"), !strcmp(name, "madvise") };
}

/* "0:1=never 0:1a=always": the file systems in memory, and whether their files have huge pages. */
void doubt_settings(struct pfs_model *model, const struct pfs_fact *fact)
{
	struct doubt_settings *s = &model->priv->huge;
	const char *at = fact->text ? fact->text : "";

	*s = (struct doubt_settings){
		.known = true,
		.anon = huge_setting(fact->what),
		.any = huge_setting(fact->tells),
		.zero = fact->count,
	};
	while (*at && s->nr < sizeof(s->shmem) / sizeof(s->shmem[0])) {
		uint64_t major, minor;

		if (!pfs_take_hex(&at, UINT32_MAX >> 20, &major) || *at++ != ':' ||
		    !pfs_take_hex(&at, UINT32_MAX >> 12, &minor) || *at != '=')
			break;
		s->shmem[s->nr].dev = major << 20 | minor;
		s->shmem[s->nr++].never = !strncmp(at, "=never", 6);
		at += strcspn(at, " ");
		at += *at == ' ';
	}
}

enum pages_in { ON_DISK, IN_MEMORY, IN_MEMORY_SMALL };

/* Where the files of that device are, and whether they have small pages only. */
static enum pages_in pages_in_file(const struct doubt_settings *s, uint32_t dev)
{
	for (unsigned int i = 0; i < s->nr; i++)
		if (s->shmem[i].dev == dev)
			return s->shmem[i].never ? IN_MEMORY_SMALL : IN_MEMORY;
	return ON_DISK;
}

bool pfs_model_in_memory(const struct pfs_model *model, uint32_t dev)
{
	enum pages_in where = pages_in_file(&model->priv->huge, dev);

	return where == IN_MEMORY || where == IN_MEMORY_SMALL;
}

bool doubt_is_small(const struct pfs_model *model, uint32_t dev)
{
	return pages_in_file(&model->priv->huge, dev) == IN_MEMORY_SMALL;
}

/* Memory from before the recording may have been advised. */
static bool is_in_force(struct huge_setting s, const struct pfs_region *region)
{
	return s.always || (s.advised && (region->traits & PFS_TRAIT_THP || !region->since_ns));
}

bool pfs_model_may_collapse(const struct pfs_model *model, const struct pfs_region *region)
{
	const struct doubt_settings *s = &model->priv->huge;
	enum pages_in in;

	if (!pfs_region_is_file(region))
		return false;
	in = pages_in_file(s, region->dev);
	return !s->known || in == IN_MEMORY || (in == ON_DISK && is_in_force(s->any, region));
}

/* May a fault by that access map more than its page? A write to a private mapping gets a copy of one. */
static bool is_possible(const struct pfs_model *model, const struct pfs_region *region, unsigned int access)
{
	const struct doubt_settings *s = &model->priv->huge;

	if (region->traits & (PFS_TRAIT_HUGETLB | PFS_TRAIT_NO_THP))
		return false;
	if (pfs_region_is_file(region))
		return (access != PFS_WRITE || region->perms & PFS_PERM_SHARED) &&
		       pages_in_file(s, region->dev) != IN_MEMORY_SMALL;
	if (access == PFS_WRITE || !model_reads_huge_zero(model)) /* it allocates */
		return false;
	return is_in_force(s->anon, region);
}

/*
 * Huge pages, and the huge zero page, prepare the region for private pages; hugetlbfs has no zero page. Without any zero page a
 * read of anonymous memory does what a write does.
 */
void doubt_read(const struct pfs_model *model, struct pfs_region *region)
{
	bool hugetlb = region->traits & PFS_TRAIT_HUGETLB;

	if (region->perms & PFS_PERM_SHARED)
		return;
	if (!hugetlb && model->priv->no_zero_page && region->have & PFS_HAS(PFS_F_NAME) &&
	    pfs_region_is_anonymous(region, region->name))
		region->written = true;
	else if (hugetlb && region->have & PFS_HAS(PFS_F_NAME) && !strncmp(region->name, "/anon_hugepage", 14))
		region->written = true;
	else if (hugetlb || (!pfs_region_is_file(region) && is_in_force(model->priv->huge.anon, region) &&
			     region->end - region->start >= pfs_huge_size(model->page_shift)))
		region->prepared = true;
}

void doubt_settled(struct pfs_space *space, uint64_t addr)
{
	struct pfs_region *region = pfs_space_find(space, addr);

	if (region && !pfs_region_is_file(region) && !(region->perms & PFS_PERM_SHARED))
		region->written = true;
}

/* ---- ranges ---- */

/* The pages that one huge page of the file, or the zero page, and one page of page tables hold, in the region. */
static void clip(const struct pfs_model *model, const struct pfs_region *region, uint64_t addr, struct reach *reach)
{
	uint64_t size = pfs_huge_size(model->page_shift),
		 by = pfs_region_is_file(region) ? region->off - region->start : 0;
	uint64_t in_file = ((addr + by) & -size) - by; /* where its huge page of the file begins */

	reach->start = addr & -size;
	reach->end = reach->start + size;
	if (in_file > reach->start)
		reach->start = in_file;
	else if (in_file + size < reach->end)
		reach->end = in_file + size;
	if (reach->start < region->start)
		reach->start = region->start;
	if (reach->end > region->end)
		reach->end = region->end;
}

/* False: it cannot map more than its page. */
static bool reach_of(const struct pfs_model *model, const struct pfs_region *region, uint64_t addr, struct reach *reach)
{
	clip(model, region, addr, reach);
	/* Smaller pages of files in memory may be mapped one by one. */
	reach->all = !pfs_region_is_file(region) || pages_in_file(&model->priv->huge, region->dev) == ON_DISK;
	return !reach->all || reach->end - reach->start == pfs_huge_size(model->page_shift);
}

static uint64_t page_of(const struct pfs_model *model, uint64_t addr)
{
	return addr & -model_page_size(model);
}

/* Has any page of the reach but that one been mapped? Then there is a page of page tables. */
static bool is_any_mapped(const struct pfs_model *model, const struct pfs_space *space, const struct reach *reach,
			  uint64_t addr)
{
	const uint32_t none = PFS_PAGE_NEWEST | PFS_PAGE_MAYBE | PFS_ABSENT | PFS_MAYBE_HUGE | PFS_MAYBE_FOLIO;
	uint64_t page = page_of(model, addr), after = page + model_page_size(model);
	struct pfs_page_walk walk;
	uint32_t flags;
	uint64_t nr;

	pfs_page_walk_start(&walk, space->presence ? space->presence : space->pages, reach->start, reach->end);
	while (pfs_page_walk_flags(&walk, reach->end, &flags, &nr))
		if (flags & ~none && (walk.addr < page || walk.addr >= after))
			return true;
	return false;
}

/* ---- marks ---- */

static int doubt_range(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t ts_ns)
{
	return pfs_space_mark(space, start, end, PFS_PAGE_MAYBE, UINT32_MAX, ts_ns, NULL)
		       ?: presence_set(space, start, end, PFS_MAYBE_HUGE, PFS_PRESENCE & ~PFS_ABSENT, ts_ns);
}

/* All but the page itself may be mapped. */
static int doubt(const struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
		 const struct reach *reach, uint64_t addr, uint64_t ts_ns)
{
	uint64_t page = page_of(model, addr);

	thread->doubt_start = reach->start;
	thread->doubt_end = reach->end;
	space->doubted = true;
	return doubt_range(space, reach->start, page, ts_ns)
		       ?: doubt_range(space, page + model_page_size(model), reach->end, ts_ns);
}

static int undo(struct pfs_space *space, uint64_t start, uint64_t end)
{
	return pfs_pages_drop_only(space->pages, start, end, PFS_PAGE_MAYBE)
		       ?: presence_undo(space, start, end, PFS_MAYBE_HUGE);
}

/* What the fault shows of a doubt that concerns its page. */
static int settle(const struct pfs_model *model, struct pfs_space *space, const struct reach *reach, uint64_t addr,
		  bool was_mapped, uint64_t ts_ns)
{
	const struct pfs_page huge = { .first_ns = ts_ns, .last_ns = ts_ns, .flags = PFS_PAGE_HUGE };
	const uint32_t beside = PFS_MAYBE_HUGE | PFS_MAYBE_FOLIO;
	uint64_t nr;

	if (!reach->all) /* some may be mapped, others not */
		return 0;
	if (space->presence && !(presence_at(space, addr) & beside)) /* it was discarded since, or copied */
		return 0;
	if (!was_mapped)
		return undo(space, reach->start, reach->end);
	if (pfs_pages_flags(space->pages, addr) != PFS_PAGE_MAYBE)
		return 0;
	doubt_settled(space, addr);
	return pfs_pages_mark(space->pages, reach->start, reach->end, &huge, 0, &nr)
		       ?: presence_turn(space, reach->start, reach->end, beside, PFS_PRESENT, ts_ns);
}

/* A write to a huge page of a file takes all of it away, and maps the page; or all of it anew. */
static int split(const struct pfs_model *model, struct pfs_space *space, const struct reach *reach, uint64_t addr,
		 uint64_t ts_ns)
{
	if (!(pfs_pages_flags(space->pages, addr) & PFS_PAGE_HUGE))
		return 0;
	return presence_doubt(space, reach->start, reach->end, PFS_MAYBE_HUGE, ts_ns);
}

/* Where fault-around is not reported it may map any page within 64 KiB: do_fault_around() in mm/memory.c. */
static int doubt_around(const struct pfs_model *model, struct pfs_space *space, const struct pfs_region *region,
			uint64_t addr, uint64_t ts_ns)
{
	const uint64_t size = 65536;
	uint64_t start = addr & -size, end,
		 table_end = (addr & -pfs_huge_size(model->page_shift)) + pfs_huge_size(model->page_shift);

	if (!model->priv->lacks_around || !pfs_region_is_file(region))
		return 0;
	if (start < region->start)
		start = region->start;
	end = start + size < region->end ? start + size : region->end;
	if (end > table_end)
		end = table_end;
	return presence_set(space, start, end, PFS_MAYBE_AROUND, PFS_PRESENCE & ~PFS_ABSENT, ts_ns);
}

static int doubt_fault(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
		       const struct pfs_region *region, const struct fault_batch *batch, uint32_t i, bool over,
		       bool possible)
{
	uint64_t addr = batch->addr[i], ts_ns = batch->ts_ns[i];
	bool mapped = batch->mapped == FAULT_ON_MAPPED, has_reach;
	struct reach reach;
	int err = 0;

	thread->doubt_end = 0;
	has_reach = reach_of(model, region, addr, &reach);
	/* What it shows of earlier ones comes before what it may map itself. */
	if (has_reach && space->doubted && batch->mapped)
		err = settle(model, space, &reach, addr, mapped, ts_ns);
	if (!err && !mapped && pages_in_file(&model->priv->huge, region->dev) != IN_MEMORY_SMALL)
		err = folio_fault(model, space, region, batch, i, over);
	if (!err && !mapped && batch->access != PFS_WRITE)
		err = doubt_around(model, space, region, addr, ts_ns);
	if (err || !has_reach)
		return err;
	if (mapped && batch->access == PFS_WRITE && pfs_region_is_file(region))
		err = split(model, space, &reach, addr, ts_ns);
	if (err || mapped || !possible || (reach.all && is_any_mapped(model, space, &reach, addr)))
		return err;
	return doubt(model, thread, space, &reach, addr, ts_ns);
}

int doubt_faults(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
		 const struct pfs_region *region, const struct fault_batch *batch, uint32_t nr)
{
	bool possible = region && model->priv->huge.known && is_possible(model, region, batch->access);
	int err = 0;

	if (!region || (!possible && !space->doubted && !(space->presence && pfs_region_is_file(region))))
		return 0;
	for (uint32_t i = 0; !err && i < nr; i++)
		err = doubt_fault(model, thread, space, region, batch, i, i + 1 < nr, possible);
	return err;
}

int doubt_populated(const struct pfs_model *model, struct pfs_space *space, const struct pfs_region *region,
		    uint64_t start, uint64_t end, uint64_t ts_ns)
{
	if (start >= end)
		return 0;
	return doubt_around(model, space, region, start, ts_ns) ?: doubt_around(model, space, region, end - 1, ts_ns);
}

int doubt_none(struct pfs_thread *thread)
{
	uint64_t end = thread->doubt_end;

	thread->doubt_end = 0;
	if (!end || !thread->fault_space)
		return 0;
	return undo(thread->fault_space, thread->doubt_start, end);
}

bool doubt_huge(const struct pfs_model *model, const struct pfs_thread *thread, const struct pfs_region *region,
		unsigned int order, uint64_t *start)
{
	const struct doubt_settings *s = &model->priv->huge;
	uint64_t size = model_page_size(model) << order;
	struct reach reach;

	*start = thread->fault_addr & -size;
	if (*start < region->start || *start + size > region->end)
		return false;
	if (!s->known) /* other sources report what was mapped */
		return true;
	if (!pfs_region_is_file(region)) /* a read gets the zero page */
		return (thread->fault_access == PFS_WRITE || !thread->fault_access || !model_reads_huge_zero(model)) &&
		       is_in_force(s->any, region);
	if (thread->fault_access == PFS_WRITE && !(region->perms & PFS_PERM_SHARED))
		return false;
	return size == pfs_huge_size(model->page_shift) && reach_of(model, region, thread->fault_addr, &reach) &&
	       reach.start == *start && reach.end == *start + size &&
	       !is_any_mapped(model, thread->fault_space, &reach, thread->fault_addr);
}
