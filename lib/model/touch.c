/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults and other touches, as marks on pages and counts. The events that follow a fault in the same thread, until its
 * next fault, describe its outcome: fault-around, a huge page, a read from disk, a signal.
 */
#include "model/model_priv.h"

#include "model/presence.h"
#include "model/space.h"

#include <errno.h>
#include <string.h>

void touch_count_at(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_space *space, size_t field,
		    uint64_t n)
{
	*(uint64_t *)((char *)model_counts(model, space) + field) += n;
	if (!space->launcher)
		*(uint64_t *)((char *)&thread->proc->counts + field) += n;
}
#define COUNT(field, n) TOUCH_COUNT(field, n)

uint32_t touch_flags(const struct fault_batch *batch)
{
	static const uint32_t by_access[] = {
		[0] = PFS_PAGE_ACCESS_UNKNOWN,
		[PFS_READ] = PFS_PAGE_READ,
		[PFS_WRITE] = PFS_PAGE_WRITE,
		[PFS_EXECUTE] = PFS_PAGE_EXEC,
	};
	uint32_t flags = by_access[batch->access];

	if (batch->mode)
		flags |= batch->mode == PFS_USER ? PFS_PAGE_USER : PFS_PAGE_KERNEL;
	if (batch->class)
		flags |= batch->class == PFS_MINOR ? PFS_PAGE_MINOR : PFS_PAGE_MAJOR;
	return flags;
}

/* ---- faults ---- */

struct pfs_handling *touch_handling(struct pfs_counts *counts, const struct pfs_event *ev)
{
	unsigned int how = pfs_has(ev, PFS_F_HOW) && ev->how < PFS_NR_HOW ? ev->how : 0;
	unsigned int class = pfs_has(ev, PFS_F_CLASS) && ev->class <= PFS_MAJOR_CLASS ? ev->class : 0;
	struct pfs_handling *h = &counts->handling[how][class];

	if (!pfs_has(ev, PFS_F_LATENCY))
		return h;
	h->nr_timed++;
	h->total_ns += ev->latency_ns;
	if (ev->latency_ns > h->max_ns)
		h->max_ns = ev->latency_ns;
	return h;
}

void touch_count(struct pfs_counts *counts, const struct fault_batch *batch, uint64_t nr, bool outside)
{
	uint64_t *const by_access[] = {
		[0] = &counts->access_unknown,
		[PFS_READ] = &counts->read,
		[PFS_WRITE] = &counts->write,
		[PFS_EXECUTE] = &counts->exec,
	};

	counts->faults += nr;
	*by_access[batch->access] += nr;
	if (batch->mode)
		*(batch->mode == PFS_USER ? &counts->user : &counts->kernel) += nr;
	if (batch->class)
		*(batch->class == PFS_MINOR ? &counts->minor : &counts->major) += nr;
	counts->outside += outside ? nr : 0;
}

static void count_faults(struct pfs_counts *counts, const struct fault_batch *batch, uint32_t nr, bool outside)
{
	struct pfs_handling *h = batch->event ? touch_handling(counts, batch->event) : &counts->handling[0][0];

	touch_count(counts, batch, nr, outside);
	h->exceptions += nr;
}

bool pfs_region_forbids(const struct pfs_region *region, unsigned int access)
{
	if (!(region->have & PFS_HAS(PFS_F_PERMS)))
		return false;
	if (access == PFS_WRITE)
		return !(region->perms & PFS_PERM_W);
	return !(region->perms & (PFS_PERM_R | PFS_PERM_W | PFS_PERM_X));
}

/* Whether the kernel refused the last fault of this thread in kernel mode, and this is its retry. */
static bool is_retry(const struct pfs_model *model, const struct pfs_thread *thread, const struct pfs_space *space,
		     const struct fault_batch *batch)
{
	uint64_t since_ns;

	/* The page was discarded in between, or replaced. */
	if (thread->fault_space == space && space->presence &&
	    (!presence_since(space, thread->fault_addr, &since_ns) || since_ns != thread->fault_ns))
		return false;
	return thread->fault_space == space && thread->fault_mode == PFS_KERNEL && batch->mode == PFS_KERNEL &&
	       thread->fault_access == batch->access &&
	       thread->fault_addr >> model->page_shift == batch->addr[0] >> model->page_shift;
}

static bool is_vsyscall(uint64_t addr)
{
	const uint64_t page = UINT64_C(0xffffffffff600000);

	return addr >= page && addr < page + 4096;
}

/* Counts a fault that the kernel's own counts leave out (tests/workload/README.md). Returns its fate. */
static enum pfs_fate count_uncounted(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
				     const struct pfs_region *region, const struct fault_batch *batch)
{
	uint64_t addr = batch->addr[0];

	if (is_vsyscall(addr)) {
		COUNT(vsyscall, 1);
	} else if (addr >> 63) {
		COUNT(kernel_addr, 1);
	} else if (is_retry(model, thread, space, batch)) {
		COUNT(retried, 1);
		return PFS_RETRIED;
	} else if (batch->mode == PFS_KERNEL && space->complete &&
		   (region ? pfs_region_forbids(region, batch->access) : !pfs_space_below_stack(space, addr))) {
		COUNT(no_access, 1);
		return PFS_NO_ACCESS;
	}
	return PFS_SERVED;
}

/*
 * The event of an io_destroy() comes when it begins, for it may return after the address has been reused. But it first
 * reads the ring, which may be the ring's first touch.
 */
static struct pfs_region *leaving_ring(const struct pfs_model *model, const struct pfs_space *space, uint64_t ring,
				       const struct fault_batch *batch)
{
	if (!ring || batch->mode != PFS_KERNEL || batch->addr[0] >> model->page_shift != ring >> model->page_shift)
		return NULL;
	return pfs_space_gone_ring(space, ring);
}

/* The number of faults, from the first on, that lie in one region, or in the same gap between regions. */
static uint32_t nr_alike(const struct pfs_space *space, const struct pfs_region *region,
			 const struct fault_batch *batch)
{
	const uint64_t upper_half = UINT64_C(1) << 63;
	uint64_t start = batch->addr[0], end = upper_half;
	uint32_t nr = 1;

	if (batch->mode == PFS_KERNEL || start >= upper_half) /* those may have different fates */
		return 1;
	if (!region) {
		unsigned int next = pfs_space_lower(space, start);

		end = next < space->nr_live ? space->live[next]->start : upper_half;
	} else if (region->end <= upper_half) {
		end = region->end;
	}
	if (region)
		start = region->start;
	if (end > upper_half)
		end = upper_half;
	while (nr < batch->nr && batch->addr[nr] - start < end - start)
		nr++;
	return nr;
}

struct pfs_region *touch_fault_region(struct pfs_thread *thread)
{
	return thread->fault_space ? pfs_space_find(thread->fault_space, thread->fault_addr) : NULL;
}

/* What a fault at addr maps at least: a huge page of hugetlbfs is mapped as a whole. */
static uint64_t fault_start(const struct pfs_space *space, const struct pfs_region *region, uint64_t addr,
			    uint64_t *end)
{
	bool huge = region && region->traits & PFS_TRAIT_HUGETLB;
	uint64_t size = huge ? pfs_huge_size(pfs_pages_shift(space->pages)) : 1;

	*end = (addr & -size) + size;
	return addr & -size;
}

/* Where there is room for a page of 1 GiB, all of it may be mapped. */
static int doubt_gigantic(struct pfs_space *space, const struct pfs_region *region, uint64_t addr, uint64_t ts_ns)
{
	uint64_t start = addr & -MODEL_GIGANTIC;

	if (!model_may_be_gigantic(region))
		return 0;
	return presence_set(space, start, start + MODEL_GIGANTIC, PFS_MAYBE_HUGE, PFS_PRESENCE & ~PFS_ABSENT, ts_ns);
}

int touch_conclude(struct pfs_model *model, struct pfs_thread *thread)
{
	struct pfs_region *region = thread->under_way ? touch_fault_region(thread) : NULL;
	uint64_t start, end;

	thread->under_way = false;
	if (!region || presence_at(thread->fault_space, thread->fault_addr) != PFS_MAYBE_UNDER_WAY ||
	    presence_ended(thread->fault_space, thread->fault_addr, thread->fault_ns))
		return 0;
	start = fault_start(thread->fault_space, region, thread->fault_addr, &end);
	return presence_set(thread->fault_space, start, end, PFS_PRESENT, 0, thread->fault_ns)
		       ?: folio_over(model, thread, region, true);
}

int touch_raced(const struct pfs_model *model, const struct pfs_thread *thread, struct pfs_space *space, uint64_t start,
		uint64_t end, uint64_t now_ns)
{
	struct thread_slot *slot, *next;
	int err = 0;

	/* Where handlers are seen, their faults come when they have returned. */
	if (!space->presence || model->priv->sees_handlers || thread->proc->nr_threads < 2)
		return 0;
	HASH_ITER (hh, model->priv->threads, slot, next) {
		const struct pfs_thread *t = &slot->thread;

		if (!err && t != thread && t->fault_space == space && t->fault_addr >= start && t->fault_addr < end &&
		    t->went_on_ns <= t->fault_ns)
			err = presence_set(space, t->fault_addr, t->fault_addr + 1, PFS_MAYBE_RACED,
					   PFS_PRESENCE & ~PFS_ABSENT, now_ns);
	}
	return err;
}

/* The presence of a page when it faulted. Without any permission a page looks absent to the CPU. */
static uint32_t before_fault(const struct pfs_space *space, const struct pfs_region *region,
			     const struct fault_batch *batch, uint64_t addr)
{
	if (batch->mapped == FAULT_ON_MAPPED)
		return PFS_PRESENT;
	if (batch->mapped == FAULT_ON_ABSENT && region && !pfs_region_forbids(region, 0))
		return PFS_ABSENT;
	return presence_at(space, addr);
}

/*
 * May the handler return with nothing done, so that the fault comes again? That of files does so when it has waited, that of
 * [vdso] when it holds only the region's own lock (since 6.5). A thread may stop before its fault comes again.
 */
static bool may_come_again(const struct pfs_region *region)
{
	return pfs_region_is_file(region) ||
	       (region->have & PFS_HAS(PFS_F_NAME) && !pfs_region_is_anonymous(region, region->name));
}

/*
 * The pages of these faults are mapped, unless a signal follows. Of the last one that is certain if it has a class, else
 * when its thread goes on: a signal may interrupt it while it waits for a page of a file.
 */
static int map_faults(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
		      const struct pfs_region *region, const struct fault_batch *batch,
		      const struct pfs_faults_on *faults, enum pfs_fate fate)
{
	bool unsure = region && may_come_again(region);
	uint32_t last = faults->nr - 1;
	uint64_t start, end;
	int err;

	if (fate == PFS_RETRIED) /* whether it was served in the end is not reported */
		thread->under_way = false;
	err = touch_conclude(model, thread);
	thread->fault_presence = before_fault(space, region, batch, faults->addr[last]);
	if (err || !(batch->class || (fate == PFS_SERVED && !batch->failed)))
		return err;
	err = presence_faults(space, faults);
	if (!err && region && region->traits & PFS_TRAIT_HUGETLB)
		for (uint32_t i = 0; !err && i < faults->nr; i++) {
			start = fault_start(space, region, faults->addr[i], &end);
			err = doubt_gigantic(space, region, start, faults->ts_ns[i])
				      ?: presence_set(space, start, end, PFS_PRESENT, 0, faults->ts_ns[i]);
		}
	if (err || !unsure || batch->class || thread->fault_presence == PFS_PRESENT)
		return err;
	thread->under_way = batch->mode != PFS_KERNEL; /* an access by the kernel may fail without a signal */
	start = fault_start(space, region, faults->addr[last], &end);
	return presence_set(space, start, end, PFS_MAYBE_UNDER_WAY, 0, faults->ts_ns[last]);
}

/* The fault under way has mapped nothing. What has happened to the page since stays. */
static int unmap_fault(struct pfs_thread *thread)
{
	struct pfs_region *region = touch_fault_region(thread);
	uint64_t end, start = fault_start(thread->fault_space, region, thread->fault_addr, &end), since_ns;

	thread->under_way = false;
	if (!presence_since(thread->fault_space, thread->fault_addr, &since_ns) || since_ns != thread->fault_ns)
		return 0;
	return presence_set(thread->fault_space, start, end, thread->fault_presence, 0, thread->fault_ns);
}

/* Later events of the thread may be about the last of the first nr faults. */
static void remember_fault(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
			   const struct pfs_region *region, const struct fault_batch *batch, uint32_t nr)
{
	thread->fault_space = space;
	thread->fault_addr = batch->addr[nr - 1];
	thread->fault_ns = batch->ts_ns[nr - 1];
	thread->fault_mode = batch->mode;
	thread->fault_access = batch->access;
	thread->fault_major = thread->fault_brought = false;
	thread->outside[0] = region ? NULL : model_counts(model, space);
	thread->outside[1] = region || space->launcher ? NULL : &thread->proc->counts;
	thread->nr_faults += nr;
}

int touch_faults(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
		 const struct fault_batch *batch, struct pfs_outcome *outcome)
{
	struct pfs_region *region = pfs_space_find(space, batch->addr[0]);
	struct pfs_faults_on faults = { batch->addr, batch->ts_ns, nr_alike(space, region, batch), thread->tid,
					touch_flags(batch) | model->priv->fault_flags };
	struct pfs_pages *pages;

	*outcome = (struct pfs_outcome){ .thread = thread, .region = region };
	if (!region)
		region = leaving_ring(model, space, thread->ring, batch);
	thread->ring = 0;
	if (locked_fault(model, thread, space, region, batch, faults.nr))
		return -ENOMEM;
	/* Filters do not change what a region is. */
	if (region && batch->access == PFS_WRITE)
		region->written |= pfs_region_copies(region);
	else if (region && !pfs_region_forbids(region, batch->access))
		doubt_read(model, region);
	if (region && region->start == thread->grown_start && batch->addr[0] < thread->grown_end)
		region->prepared |= !(region->perms & PFS_PERM_SHARED);
	thread->grown_end = 0;
	if (model->priv->muted) {
		thread->fault_space = NULL;
		return faults.nr;
	}
	pages = pfs_space_pages(space, region);
	if (pages && model->priv->presence)
		outcome->before = pfs_pages_flags(pages, batch->addr[0]) | presence_at(space, batch->addr[0]);
	if (!pages || doubt_faults(model, thread, space, outcome->region, batch, faults.nr) ||
	    pfs_pages_faults(pages, &faults))
		return -ENOMEM;
	count_faults(model_counts(model, space), batch, faults.nr, !region);
	if (!space->launcher)
		count_faults(&thread->proc->counts, batch, faults.nr, !region);
	/* The kernel counts every fault in user mode in the lower half. */
	if (batch->mode == PFS_KERNEL || batch->addr[0] >> 63)
		outcome->fate = count_uncounted(model, thread, space, region, batch);
	outcome->space = space;
	if (space->presence && map_faults(model, thread, space, region, batch, &faults, outcome->fate))
		return -ENOMEM;
	remember_fault(model, thread, space, region, batch, faults.nr);
	return faults.nr;
}

int touch_fault(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		struct pfs_outcome *outcome)
{
	struct pfs_space *space = model_space_of(model, thread, ev);
	struct fault_batch batch = touch_batch(model, ev);
	int ret = space ? touch_faults(model, thread, space, &batch, outcome) : -ENOMEM;

	return ret < 0 ? ret : 0;
}

/* ---- outcomes of the fault under way ---- */

bool touch_beside_fault(const struct pfs_region *region, const struct pfs_thread *thread, const struct pfs_event *ev)
{
	uint64_t at = region->off + (thread->fault_addr - region->start);

	return at >= ev->off && at < ev->end_off;
}

bool touch_is_file(const struct pfs_region *region, const struct pfs_event *ev)
{
	return region->have & PFS_HAS(PFS_F_INO) && region->ino == ev->ino && region->dev == ev->dev;
}

static int mark_huge(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space, uint64_t start,
		     uint64_t end, uint64_t now_ns)
{
	COUNT(huge, 1);
	doubt_settled(space, start);
	return pfs_space_mark(space, start, end, PFS_PAGE_HUGE, 0, now_ns, NULL);
}

/* A huge page somewhere in a populated range saves a fault for each of its pages but one; or exactly there. */
static int populate_huge(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev)
{
	uint64_t size = model_page_size(model) << ev->order;
	struct pfs_space *space;

	thread->huge_saved += (UINT64_C(1) << ev->order) - 1;
	if (!pfs_has(ev, PFS_F_END) || ev->end - ev->start != size || ev->start & (size - 1))
		return 0;
	space = model_space_of(model, thread, ev);
	if (!space)
		return -ENOMEM;
	return mark_huge(model, thread, space, ev->start, ev->end, ev->ts_ns);
}

int touch_huge(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
	       struct pfs_outcome *outcome)
{
	struct pfs_region *region = touch_fault_region(thread);
	uint64_t start;

	if (model->priv->muted || ev->order > 18)
		return 0;
	if (pfs_has(ev, PFS_F_START)) /* the kernel populates */
		return populate_huge(model, thread, ev);
	if (!region || thread->fault_brought || !doubt_huge(model, thread, region, ev->order, &start))
		return 0;
	thread->fault_brought = true;
	return mark_huge(model, thread, thread->fault_space, start, start + (model_page_size(model) << ev->order),
			 ev->ts_ns);
}

/* The kernel read pages of a file. The fault is major if its own is among them; that may be read again, unmapped. */
int touch_major(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		struct pfs_outcome *outcome)
{
	struct pfs_space *space = thread->fault_space;
	struct pfs_region *region = touch_fault_region(thread);

	if (model->priv->muted)
		return 0;
	if (!region || thread->fault_major || !touch_is_file(region, ev) || !touch_beside_fault(region, thread, ev)) {
		model->nr_events--; /* as if it were none */
		outcome->muted = true;
		return 0;
	}
	COUNT(major, 1);
	thread->fault_major = true;
	outcome->space = space;
	if (ev->end_off - ev->off < thread->doubt_end - thread->doubt_start && doubt_none(thread))
		return -ENOMEM;
	return pfs_pages_came_of(space->pages, thread->fault_addr, PFS_PAGE_MAJOR);
}

int touch_signal(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		 struct pfs_outcome *outcome)
{
	struct pfs_space *space = thread->fault_space;

	if (model->priv->muted || !space)
		return 0;
	if (doubt_none(thread) || folio_over(model, thread, touch_fault_region(thread), false) ||
	    pfs_pages_came_of(space->pages, thread->fault_addr, PFS_PAGE_SIGNAL) || unmap_fault(thread))
		return -ENOMEM;
	COUNT(signal, 1);
	if (is_vsyscall(thread->fault_addr)) /* this kernel refuses instead of emulating */
		COUNT(vsyscall, -1);
	outcome->space = space;
	thread->fault_space = NULL;
	return 0;
}

/*
 * ---- faults that a source counted by page and reports at the end: a `fault` with a `count`. By then the region may be
 * unmapped and the process ended, so the newest region that was at the address gets all of them ----
 */

static bool holds(const struct pfs_region *region, uint64_t addr)
{
	return addr >= region->start && addr < region->end;
}

/* The region that has the page or had it last, and the space it was in; NULL: none ever had. */
static struct pfs_region *find_ever(struct pfs_proc *proc, uint64_t addr, struct pfs_space **space)
{
	for (unsigned int e = proc->nr_epochs; e-- > 0;) {
		struct pfs_space *s = proc->epochs[e].space;
		struct pfs_region *live = s->launcher ? NULL : pfs_space_find(s, addr);

		*space = s;
		if (live)
			return live;
		for (unsigned int i = s->nr_retired; !s->launcher && i-- > 0;)
			if (holds(s->retired[i], addr))
				return s->retired[i];
	}
	*space = pfs_proc_space(proc);
	return NULL;
}

static int mark_counted(struct pfs_pages *pages, const struct pfs_event *ev, const struct fault_batch *batch,
			uint32_t more_flags)
{
	uint32_t nr = ev->count > UINT32_MAX ? UINT32_MAX : ev->count;
	struct pfs_page what = {
		.first_ns = ev->ts_ns,
		.last_ns = ev->ts_ns,
		.first_tid = ev->tid,
		.flags = touch_flags(batch) | (batch->mode ? 0 : PFS_PAGE_USER) | more_flags,
		.nr_faults = nr,
		.nr_read = batch->access == PFS_READ ? nr : 0,
		.nr_write = batch->access == PFS_WRITE ? nr : 0,
		.nr_exec = batch->access == PFS_EXECUTE ? nr : 0,
		.nr_kernel = batch->mode == PFS_KERNEL ? nr : 0,
	};

	return pfs_pages_add(pages, ev->addr, &what);
}

int touch_counted(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		  struct pfs_outcome *outcome)
{
	const struct fault_batch batch = touch_batch(model, ev);
	struct pfs_space *space;
	struct pfs_region *region = find_ever(thread->proc, ev->addr, &space);
	struct pfs_pages *pages;

	thread->fault_space = NULL; /* nothing that follows came of it */
	if (model->priv->muted)
		return 0;
	pages = pfs_space_pages(space, region);
	if (!pages || mark_counted(pages, ev, &batch, model->priv->fault_flags))
		return -ENOMEM;
	touch_count(model_counts(model, space), &batch, ev->count, !region);
	if (!space->launcher)
		touch_count(&thread->proc->counts, &batch, ev->count, !region);
	thread->nr_faults += ev->count;
	outcome->space = space;
	return 0;
}

/* ---- accesses without a fault ---- */

int touch_access(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		 struct pfs_outcome *outcome)
{
	struct pfs_page what = { .first_ns = ev->ts_ns, .last_ns = ev->ts_ns, .flags = PFS_PAGE_REFERENCED };
	struct pfs_space *space = pfs_proc_space(thread->proc);

	if (model->priv->muted || !pfs_has(ev, PFS_F_ADDR)) /* an object of the kernel's */
		return 0;
	outcome->space = space;
	outcome->region = pfs_space_find(space, ev->addr);
	return pfs_pages_add(space->pages, ev->addr, &what);
}

int touch_resident(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		   struct pfs_outcome *outcome)
{
	return presence_look(pfs_proc_space(thread->proc), ev);
}
