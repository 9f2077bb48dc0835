/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What model.c and the files below it share, each of which applies one family of events. */
#ifndef PFS_MODEL_PRIV_H
#define PFS_MODEL_PRIV_H

#include "base/hash.h"
#include "model/cache.h"
#include "model/model.h"

enum { NR_HOT = 16 };

struct thread_slot {
	struct pfs_thread thread;
	UT_hash_handle hh;
};

struct proc_slot {
	struct pfs_proc proc;
	int32_t key; /* uthash wants the key inside; proc.pid changes when it is learned */
	UT_hash_handle hh;
};

/* Pages of a file that a thread may have locked (locked.c). */
struct locked {
	int32_t tid;
	const struct pfs_space *space; /* that it maps them in; NULL: not known where */
	uint64_t base;		       /* the address there of the beginning of the file */
	uint64_t ino, off, end_off;
	uint32_t dev;
	uint64_t page;		 /* of its fault */
	uint64_t from_ns, to_ns; /* UINT64_MAX: as far as is known, it is not over */
};

enum { NR_LOCKS_OVER = 256 };

struct locked_pages {
	struct locked *now; /* one of a thread at most */
	size_t nr, max;
	struct locked over[NR_LOCKS_OVER]; /* the latest ones, in order of to_ns */
	uint64_t nr_over;		   /* that there were so far */
	uint64_t forgotten_ns;		   /* to_ns of the last one that is not among them any more; 0: none */
};

struct pfs_model_private {
	struct thread_slot *threads;
	struct proc_slot *by_pid; /* the newest process of each pid */
	struct pfs_proc **tail;
	struct pfs_thread *last;	/* the thread of the previous event */
	struct pfs_thread *hot[NR_HOT]; /* by CPU: the thread of its last run of faults */
	struct pfs_intern *names;
	struct pfs_pages *pages;	      /* empty: all others share its pool; NULL: none yet */
	uint64_t end_ns;		      /* of what is applied, but for what tells of the time before; 0: all is */
	struct cache_file *files, *last_file; /* what is known of the page cache (cache.h) */
	struct locked_pages locked;
	struct pfs_arounds *arounds; /* of another reading, or for one; NULL: none */
	bool arounds_known;
	uint64_t nr_arounds;	     /* events `around`, muted ones too */
	struct pfs_pages *populated; /* pfs_model_populated(); NULL: none yet */
	bool muted;
	uint32_t fault_flags; /* PFS_PAGE_*, that the pages of faults get, too */
	bool presence;	      /* is tracked */
	bool no_zero_page;    /* reads of anonymous memory get pages of their own */
	bool x86;	      /* fault codes are those of x86 */
	bool removed_rows;    /* regions that are removed have rows of their own */
	bool whole_folios;    /* a fault on a file maps all of a large folio */
	bool lacks_around;    /* fault-around is not reported */
	bool sees_handlers;   /* a fault that got a page has a class */
	struct doubt_settings {
		bool known; /* else nothing is doubted */
		/* anonymous memory may get huge pages: any does, or that of MADV_HUGEPAGE; of any size, smaller ones too */
		struct huge_setting {
			bool always, advised;
		} anon, any;
		bool zero; /* reads of it may get the huge zero page */
		struct {
			uint32_t dev;
			bool never;
		} shmem[32]; /* file systems in memory, and whether they have small pages only */
		unsigned int nr;
	} huge;
};

/* May a read of anonymous memory get the huge zero page? */
static inline bool model_reads_huge_zero(const struct pfs_model *model)
{
	return model->priv->huge.zero && !model->priv->no_zero_page;
}

static inline uint64_t model_page_size(const struct pfs_model *model)
{
	return UINT64_C(1) << model->page_shift;
}

/* The addresses at which the region maps [off, end_off) of its file. False: it maps none of that. */
static inline bool model_part_of(const struct pfs_region *region, uint64_t off, uint64_t end_off, uint64_t *start,
				 uint64_t *end)
{
	uint64_t skipped = off > region->off ? off - region->off : 0, len = region->end - region->start;

	if (end_off <= region->off || end_off <= off || skipped >= len)
		return false;
	if (end_off - region->off < len)
		len = end_off - region->off;
	*start = region->start + skipped;
	*end = region->start + len;
	return *start < *end; /* an end of 0 is no top of memory here */
}

#define MODEL_GIGANTIC (UINT64_C(1) << 30)

/* Whether hugetlbfs may have mapped pages of 1 GiB there: no event tells their size. */
static inline bool model_may_be_gigantic(const struct pfs_region *r)
{
	return r->traits & PFS_TRAIT_HUGETLB && !((r->start | r->end | r->off) & (MODEL_GIGANTIC - 1));
}

/* Touches of pfscope's child before it executes the command are counted apart. */
static inline struct pfs_counts *model_counts(struct pfs_model *model, const struct pfs_space *space)
{
	return space->launcher ? &model->launcher : &model->counts;
}

/* model/life.c */
void model_proc_free(struct proc_slot *slot);
void model_thread_free(struct thread_slot *slot);

/* The thread and its process, created if they are new. NULL: no memory. */
struct pfs_thread *model_thread_of(struct pfs_model *model, int32_t tid, bool pid_known, int32_t pid, uint64_t ts_ns);

/* The space that has the region with the event's id in its range (space=other); NULL: none. */
struct pfs_space *model_space_of_region(struct pfs_model *model, const struct pfs_event *ev);

/* The space that the event is about. NULL: no memory. */
struct pfs_space *model_space_of(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev);

/* The name of a thread that came with an event. 0 or -ENOMEM. */
int life_comm(struct pfs_model *model, struct pfs_thread *thread, const char *comm);

/* The note `args` of the thread's process. 0 or -ENOMEM. */
int life_args(struct pfs_model *model, struct pfs_proc *proc, const struct pfs_fact *fact);

/* model/losses.c: `lost`, and the note "lost". 0 or -ENOMEM. */
int loss_apply(struct pfs_model *model, const struct pfs_event *ev);
void loss_exec(struct pfs_model *model, int32_t pid, uint64_t now_ns); /* of the process nothing is lost any more */
int loss_total(struct pfs_model *model, int32_t cpu, uint64_t total);

/* model/stays.c: the notes `refault_stayed` and `refault_tick`. 0 or -ENOMEM. */
int stay_apply(struct pfs_model *model, const struct pfs_fact *fact, uint64_t now_ns);
int stay_tick(struct pfs_model *model, const struct pfs_refault_tick *tick, uint64_t now_ns);

/*
 * Applies an event to its thread; each is for some kinds of events. *outcome is zeroed by the caller. 0 or -ENOMEM.
 */
typedef int apply_fn(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		     struct pfs_outcome *outcome);
apply_fn life_fork, life_exec, life_exit, life_thread;
apply_fn layout_apply;
apply_fn advise_apply, advise_remote, advise_evict;
apply_fn touch_fault, touch_counted, touch_around, touch_reached, touch_huge, touch_major, touch_signal, touch_populate,
	touch_resident, touch_access;

/* Faults of one thread, alike but for time and address. A single fault is a batch of one. */
struct fault_batch {
	const uint64_t *addr, *ts_ns;
	uint32_t nr;
	uint8_t access, mode, class; /* 0: not known */
	enum fault_on { FAULT_UNKNOWN, FAULT_ON_ABSENT, FAULT_ON_MAPPED } mapped;
	bool failed;		       /* its handler, if there was one, returned without a page */
	const struct pfs_event *event; /* of a single one: how it was handled; or NULL */
};

/*
 * model/locked.c. The first nr faults of the batch, in that region (NULL: none), may lock pages; the thread goes on, so
 * that its last fault locks none any more; and it has tried to map what the event has: finds what others may have locked of
 * that meanwhile. 0 or -ENOMEM.
 */
int locked_fault(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_space *space,
		 const struct pfs_region *region, const struct fault_batch *batch, uint32_t nr);
void locked_goes_on(struct pfs_model *model, struct pfs_thread *thread, uint64_t ts_ns);
int locked_tried(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		 struct cache_locked *others);

/* model/around.c: an event `cached`, after which more may be known of earlier fault-around. 0 or -ENOMEM. */
int around_cached(struct pfs_model *model, const struct pfs_event *ev);
int around_evicted(struct pfs_model *model, const struct pfs_event *ev); /* the same of `evict` */

/*
 * model/touch.c: takes as many faults of the batch, from the first on, as lie in one region and have the same outcome.
 * Their number, or -ENOMEM.
 */
int touch_faults(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
		 const struct fault_batch *batch, struct pfs_outcome *outcome);

/* The region of the fault under way, or NULL. */
struct pfs_region *touch_fault_region(struct pfs_thread *thread);

/* Whether the file offset of that fault lies in [ev->off, ev->end_off); the file is taken to be the same. */
bool touch_beside_fault(const struct pfs_region *region, const struct pfs_thread *thread, const struct pfs_event *ev);

/* The thread has gone on, so its fault is over: its page is mapped. 0 or -ENOMEM. */
int touch_conclude(struct pfs_model *model, struct pfs_thread *thread);

/*
 * [start, end) was unmapped, or mapped anew, by that thread: another one's fault there, if no event shows that it is over,
 * may have been handled before that or after it. 0 or -ENOMEM.
 */
int touch_raced(const struct pfs_model *model, const struct pfs_thread *thread, struct pfs_space *space, uint64_t start,
		uint64_t end, uint64_t now_ns);

/*
 * model/doubt.c. The first nr faults of the batch in the region, before they are added: what they show of pages that may
 * be mapped, and which others they may have mapped. 0 or -ENOMEM.
 */
int doubt_faults(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
		 const struct pfs_region *region, const struct fault_batch *batch, uint32_t nr);

/* What a read of any of its pages may have done to the region. */
void doubt_read(const struct pfs_model *model, struct pfs_region *region);

/* A huge page is mapped there. */
void doubt_settled(struct pfs_space *space, uint64_t addr);

/* The same of pages of the region that were populated. */
int doubt_populated(const struct pfs_model *model, struct pfs_space *space, const struct pfs_region *region,
		    uint64_t start, uint64_t end, uint64_t ts_ns);

/*
 * model/folio.c. The other pages of large folios that a fault maps, unless its page was mapped: the i-th one of the batch;
 * one of a call that populates [start, sure), and perhaps up to maybe; and the fault under way, which has tried to map
 * that part from the page cache, or is over. 0 or -ENOMEM.
 */
int folio_fault(struct pfs_model *model, struct pfs_space *space, const struct pfs_region *region,
		const struct fault_batch *batch, uint32_t i, bool over);
int folio_populated(struct pfs_model *model, struct pfs_space *space, const struct pfs_region *region, uint64_t start,
		    uint64_t sure, uint64_t maybe, uint64_t ts_ns);
int folio_around(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_region *region,
		 const struct around *part);
int folio_over(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_region *region, bool served);

/* More is known of the file. 0 or -ENOMEM. */
int folio_learned(struct pfs_model *model, struct cache_file *file);

/* May one of those faults have mapped a page of [start, end)? */
bool folio_may_have_mapped(const struct cache_file *file, const struct pfs_space *space, uint64_t start, uint64_t end);

/* Is it a file system in memory that has no large folios? */
bool doubt_is_small(const struct pfs_model *model, uint32_t dev);

/* The fault under way has mapped no other pages than those that are reported, or has failed. 0 or -ENOMEM. */
int doubt_none(struct pfs_thread *thread);

/* Did the fault under way map the huge page of that order that was allocated? Then *start is its address. */
bool doubt_huge(const struct pfs_model *model, const struct pfs_thread *thread, const struct pfs_region *region,
		unsigned int order, uint64_t *start);

/* The note "huge_pages". */
void doubt_settings(struct pfs_model *model, const struct pfs_fact *fact);

/* Counts n for the whole and, except for pfscope's own child, for the process. */
void touch_count_at(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_space *space, size_t field,
		    uint64_t n);
#define TOUCH_COUNT(field, n) touch_count_at(model, thread, space, offsetof(struct pfs_counts, field), n)

/* Counts the latency of the fault, if it is known. Returns the counts of faults handled in the same way. */
struct pfs_handling *touch_handling(struct pfs_counts *counts, const struct pfs_event *ev);

/* Whether the event is about the region's file. */
bool touch_is_file(const struct pfs_region *region, const struct pfs_event *ev);

/* PFS_PAGE_* of the pages of such faults. */
uint32_t touch_flags(const struct fault_batch *batch);

/* Counts the first nr faults of the batch, by access, mode and class. outside: in no known region. */
void touch_count(struct pfs_counts *counts, const struct fault_batch *batch, uint64_t nr, bool outside);

/* Was the page mapped before the fault? Bit 0 of x86's code: protection. */
static inline enum fault_on fault_on(const struct pfs_model *model, bool known, uint64_t code)
{
	if (!known || !model->priv->x86)
		return FAULT_UNKNOWN;
	return code & 1 ? FAULT_ON_MAPPED : FAULT_ON_ABSENT;
}

/* The batch of a single event. */
static inline struct fault_batch touch_batch(const struct pfs_model *model, const struct pfs_event *ev)
{
	return (struct fault_batch){
		.addr = &ev->addr,
		.ts_ns = &ev->ts_ns,
		.nr = 1,
		.access = pfs_has(ev, PFS_F_ACCESS) && ev->access <= PFS_EXECUTE ? ev->access : 0,
		.mode = pfs_has(ev, PFS_F_MODE) ? ev->mode : 0,
		.class = pfs_has(ev, PFS_F_CLASS) ? ev->class : 0,
		.mapped = fault_on(model, pfs_has(ev, PFS_F_CODE), ev->code),
		.failed = !pfs_has(ev, PFS_F_CLASS) && (model->priv->sees_handlers || pfs_has(ev, PFS_F_LATENCY)),
		.event = ev,
	};
}

#endif
