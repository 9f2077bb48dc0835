/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model: processes, their address spaces, regions and pages, computed from events. Views read these structures
 * after or between events; only this room writes them. The model owns everything until pfs_model_free(): an unmapped
 * region is retired, not freed.
 *
 *     model/filter.h  --pid, --from, --region, ...: which touches the model takes in, which rows the views show
 *     model/pages.h   what happened to each page of an address space
 *     model/presence.h  which pages are mapped now
 *     model/space.h   the regions of an address space, for the model itself
 */
#ifndef PFS_MODEL_H
#define PFS_MODEL_H

#include "base/array.h"
#include "event/event.h"
#include "event/notes.h"
#include "model/pages.h"

/*
 * One region (VMA). A live one is in its space's `live` array, a retired one in `retired`.
 *     7f5d58600000-7f5d58626000 r--p 00000000 fe:00 1234   /usr/lib/x86_64-linux-gnu/libc.so.6
 */
struct pfs_region {
	uint64_t start, end;
	uint64_t have; /* PFS_HAS(PERMS OFF DEV INO NAME TRAITS ID): what is known */
	uint64_t inferred;
	uint64_t id;  /* the kernel's identity, if PFS_F_ID is known */
	uint64_t off; /* file offset of start, bytes */
	uint64_t ino;
	uint32_t dev;
	uint64_t reached;     /* end of what the populating call under way got of its file, bytes; 0: unknown */
	bool reached_last;    /* the file ends there */
	bool reached_counted; /* all page faults that this took are known: pfs_thread.nr_around, nr_single */
	uint64_t moved_from;  /* its address before mremap; 0: it was not moved */
	bool inherited;	      /* copied by a fork */
	uint64_t segment_len; /* of shared memory that cannot change its length, when it was mapped; else 0 */
	uint8_t perms;
	uint16_t traits;
	bool written;	  /* it has private pages, or guard pages: a fork copies its page table (anon_vma) */
	bool prepared;	  /* a read may have done for that what a write does: by growth, or the huge zero page */
	bool older;	  /* it may have pages from before the recording */
	bool wiped;	  /* a fork does not copy its pages (MADV_WIPEONFORK) */
	const char *name; /* interned; "" is anonymous; meaningless if PFS_F_NAME is unknown */
	uint64_t born_ns;
	uint64_t died_ns;	 /* UINT64_MAX while it lives */
	uint64_t since_ns;	 /* its first possible touch: born_ns, or earlier if it was moved; 0: unknown */
	struct pfs_pages *pages; /* holds its pages: the space's own while it lives; NULL: retired without any */
};

/*
 * Pages of a range that stayed in memory at a cycle of --refault: whether they are used is not observed until the next
 * cycle at which that changes. A region that was split meanwhile may have all of them in each part.
 */
struct pfs_stay {
	uint64_t start, end;
	uint64_t from_ns, to_ns; /* to: UINT64_MAX: the end */
	uint64_t pages, of;	 /* so many of those in memory */
};

/*
 * An address space: one image of a process, from exec (or fork, or attach) to the next exec or exit. After a vfork
 * parent and child share it until the child's exec.
 */
struct pfs_space {
	struct pfs_region **live; /* sorted by start, never overlapping */
	unsigned int nr_live;
	struct pfs_sides live_sides; /* of the array */
	struct pfs_region **retired; /* in the order of their unmapping */
	unsigned int nr_retired;
	struct pfs_pages *pages;    /* of live regions, and those in no known region */
	struct pfs_pages *presence; /* of live regions, or of the last ones; NULL: not tracked (model/presence.h) */
	struct pfs_pages *ended;    /* where that is tracked: when a mapping of the page ended last; NULL: none did */
	struct pfs_pages
		*looked;    /* what looks at the page table found; NULL: there was none, or presence is not tracked */
	uint64_t looked_ns; /* when the last one began that has ended; 0: none has */
	uint64_t remote_ns; /* when another process accessed it last, at unknown addresses; 0: none did */
	uint64_t filled_ns; /* when userfaultfd filled pages of it last, at unknown addresses; 0: never */
	uint64_t start_brk, brk; /* 0: unknown */
	uint64_t born_ns, died_ns;
	const char *exe;		     /* interned name given to exec; NULL: unknown */
	const char *args;		     /* see pfs_space_args() */
	const struct pfs_space *copied_from; /* by a fork; NULL: by none, or its parent is unknown */
	bool complete;			     /* all of the layout is known */
	bool launcher;			     /* pfscope's own child before the command's exec: not shown */
	bool empty;			     /* unmapped by exit */
	bool had_rings;			     /* some retired regions are rings that io_destroy removed */
	bool doubted;			     /* some pages are or were PFS_PAGE_MAYBE */
	bool heap_touches;		     /* a region that is adjacent to the heap is [heap], too */
	struct pfs_stay *stays;		     /* by from_ns */
	uint32_t *staying;		     /* the indices of those that have no end yet */
	unsigned int nr_stays, nr_staying;
	unsigned int refs;
	struct pfs_region *hot; /* the live region of the last lookup, or NULL */
};

/* One exec epoch of a process: its space since start_ns. */
struct pfs_epoch {
	struct pfs_space *space;
	uint64_t start_ns;
	const char *comm; /* interned, the last one in the epoch; NULL: unknown */
	bool shared;	  /* the parent's space (vfork), which is drawn with the parent */
};

struct pfs_thread {
	int32_t tid;
	struct pfs_proc *proc;
	const char *comm;
	unsigned int nr; /* number in its process, from 1, in order of creation */
	uint64_t born_ns, died_ns;
	uint64_t nr_faults;
	struct pfs_space *forking; /* the copy that its fork is making, or NULL */
	struct pfs_space *execing; /* the image that its exec is building, or NULL */
	/* the fault under way, which a later `huge`, `major`, `signal` or `around` is about */
	struct pfs_space *fault_space;
	uint64_t fault_addr;
	uint64_t fault_ns;
	uint8_t fault_mode, fault_access;
	bool fault_major;
	bool fault_brought;		 /* what it brought is known: an `around`, `major` or `huge` came */
	uint64_t grown_start, grown_end; /* its last event extended a region downwards to there; end 0: it did not */
	uint64_t doubt_start, doubt_end; /* pages that it may have mapped, too (model/doubt.c); end 0: none */
	struct pfs_counts *outside[2];	 /* that have counted it in no known region; NULL: none */
	uint32_t fault_presence;	 /* of its page before it */
	bool under_way;			 /* no event has shown yet that it is over */
	uint64_t went_on_ns;		 /* the last event that shows that it goes on */
	bool locks;			 /* its fault may have locked pages of a file (model/locked.c) */
	/* while the kernel populates: fault-arounds, faults that looked up one page, and those that huge pages saved */
	uint64_t nr_around, nr_single, huge_saved;
	uint64_t shmdt_first, shmdt_len, shmdt_ino; /* the segment that its shmdt detaches */
	uint64_t ring;				    /* the ring that its io_destroy removes, or 0 */
};

/* Faults that were handled in the same way. */
struct pfs_handling {
	uint64_t exceptions, unasked; /* unasked: without an exception */
	uint64_t nr_timed;	      /* those with a known latency; of these: */
	uint64_t total_ns, max_ns;
};

struct pfs_counts {
	uint64_t faults; /* the sum of those below */
	uint64_t read, write, exec, access_unknown;
	uint64_t user, kernel;
	uint64_t minor, major; /* where known */
	uint64_t signal;       /* ended in a signal */
	uint64_t outside;      /* in no known region */
	uint64_t populated;    /* pages */
	uint64_t huge;	       /* faults that got a huge page */
	/* faults that the kernel's own counts leave out, as far as the recording shows */
	uint64_t retried;     /* refused in kernel mode, then retried */
	uint64_t no_access;   /* in kernel mode, unmapped or not permitted: EFAULT */
	uint64_t vsyscall;    /* emulated calls into [vsyscall] */
	uint64_t kernel_addr; /* at kernel addresses */
	/* faults without an exception, by cause (enum pfs_by); where known, by class */
	uint64_t unasked[PFS_NR_BY];
	uint64_t unasked_least[PFS_NR_BY];  /* of these, at least */
	uint64_t unasked_unsure[PFS_NR_BY]; /* how often that number is but an estimate */
	uint64_t unasked_minor, unasked_major;
	/* faults with and without an exception, by enum pfs_how and enum pfs_class */
	struct pfs_handling handling[PFS_NR_HOW][PFS_MAJOR_CLASS + 1];
	uint64_t maps, unmaps; /* events of these kinds */
};

struct pfs_proc {
	int32_t pid;
	int32_t ppid;		  /* 0: unknown */
	bool pid_known;		  /* false: pid is the tid of a thread whose process is unknown */
	const char *comm;	  /* interned, newest; NULL: unknown */
	const char *next_args;	  /* of the image that the exec under way builds; NULL: unknown */
	struct pfs_epoch *epochs; /* at least one */
	unsigned int nr_epochs;
	unsigned int nr_threads;   /* ever seen */
	uint64_t born_ns, died_ns; /* died: UINT64_MAX while it lives */
	struct pfs_counts counts;
	struct pfs_proc *next; /* in order of appearance */
};

/* A gap: events of one CPU were lost some time in [from_ns, to_ns]. */
#define PFS_LOST_CALLS -2 /* system calls of a 32-bit process, from then on */
struct pfs_loss {
	int32_t cpu;	  /* -1: unknown; or PFS_LOST_CALLS */
	int32_t pid;	  /* of the process that it concerns; 0: it may concern any */
	uint64_t count;	  /* events, where the number is known */
	uint64_t unknown; /* losses of an unknown number of events */
	uint64_t from_ns; /* of the last event before it; 0: from the beginning */
	uint64_t to_ns;	  /* of the first event after it; UINT64_MAX: unknown */
	unsigned int on;  /* its CPU's index in lost_on */
};

/* All that one CPU lost, which may be more than its gaps add up to. */
struct pfs_lost_cpu {
	int32_t cpu;
	unsigned int nr_gaps;
	uint64_t count, unknown;
};

/* CPUs beyond, more than any machine has, share the last element of lost_on. */
enum { PFS_MAX_LOST_ON = 8192 };

struct pfs_note {
	char *key, *value;
	uint64_t ts_ns;
	int32_t pid;
};

struct pfs_model {
	struct pfs_proc *procs; /* in order of appearance */
	unsigned int nr_procs;
	unsigned int page_shift;    /* from the note "page_size"; default 12 */
	bool heap_touches;	    /* from the note "kernel": regions are named as before 6.6 */
	bool user_mode_only;	    /* the account that recorded had no right to faults in kernel mode (perf) */
	bool polled;		    /* layouts were read now and then (perf) */
	struct pfs_counts counts;   /* of all processes, without launcher */
	struct pfs_counts launcher; /* of pfscope's child before it executes the command */
	uint64_t nr_events;
	uint64_t first_ns, last_ns;   /* 0 if there was no event */
	uint64_t start_ns;	      /* start of the recording, or 0: see pfs_model_base_ns() */
	uint64_t lost;		      /* events lost, where the number is known */
	uint64_t lost_unknown;	      /* losses of an unknown number of events */
	struct pfs_lost_cpu *lost_on; /* the same by CPU, in order of appearance */
	unsigned int nr_lost_on;
	struct pfs_loss *losses; /* the gaps, in order of their ends */
	unsigned int nr_losses;
	struct pfs_note
		*notes; /* all but `args` (struct pfs_space), `refault_tick` and `missed`, which are summed up: */
	unsigned int nr_notes;
	uint64_t missed;		  /* processes that ended before they could be recorded */
	struct pfs_refault_sums refaults; /* of --refault */
	struct pfs_quiet {
		uint64_t from_ns, to_ns; /* to: UINT64_MAX: the end */
	} * quiet;			 /* intervals of it in which no pages were taken away */
	unsigned int nr_quiet;
	struct pfs_model_private *priv;
};

/* The start of the recording, from which --from and --to count; if it is not known, the first event. */
static inline uint64_t pfs_model_base_ns(const struct pfs_model *model)
{
	return model->start_ns ? model->start_ns : model->first_ns;
}

struct pfs_model *pfs_model_new(void); /* NULL: no memory */

/* Before the first event: also keep which pages are mapped (model/presence.h). Then no filter hides touches. */
void pfs_model_track_presence(struct pfs_model *model);

/*
 * Whether fault-around has mapped a page is known later as a rule, often at the end. What one reading concludes, for a second one of
 * the same events with the same filter, which knows it at once. Kernels that map whole large folios: of the others of a folio not.
 */
struct pfs_arounds;
struct pfs_arounds *pfs_arounds_new(void); /* NULL: no memory */
void pfs_arounds_free(struct pfs_arounds *arounds);

/* Before the first event: what the model concludes goes there or, if it is known, comes from there. Borrowed. */
void pfs_model_arounds(struct pfs_model *model, struct pfs_arounds *arounds, bool known);

void pfs_model_free(struct pfs_model *model);

enum pfs_fate {
	PFS_SERVED,
	PFS_RETRIED,   /* a retry of the last fault of the thread, which the kernel refused at once */
	PFS_NO_ACCESS, /* in kernel mode, unmapped or not permitted: EFAULT */
};

/* The outcome of an event, or of several faults with the same outcome. */
struct pfs_outcome {
	struct pfs_thread *thread; /* NULL: the event has none */
	/*
	 * The space of a fault or an access, or of the fault that a `major` or `signal` is about, or that made the stack
	 * grow, which a `map` reports. NULL: it was muted, it is about no known fault, or it is another kind of event.
	 */
	struct pfs_space *space;
	struct pfs_region *region; /* of a fault or an access, or the stack that grew; NULL: unknown */
	enum pfs_fate fate;	   /* of a fault */
	uint32_t
		before; /* of a single fault: what its page had before (PFS_PAGE_*, enum pfs_presence); presence is tracked */
	bool muted;    /* a filter hides the touches of this thread now, or the event is of no fault of it */
	bool unwanted; /* a filter would hide them, but presence is tracked */
};

/* Receives events and runs of faults right after the model, with their outcomes. */
struct pfs_observer {
	/* 0, or -errno to stop the source with that error. */
	int (*event)(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome);
	int (*faults)(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *outcome);
	void *ctx;
};

/* Applies an event. The events of a thread come in order of time. outcome may be NULL. 0 or -ENOMEM. */
int pfs_model_apply(struct pfs_model *model, const struct pfs_event *ev, struct pfs_outcome *outcome);

/*
 * Applies a run of faults as if they were single events. The observer (or NULL) gets it in parts of one outcome each. 0,
 * -ENOMEM, or what the observer returned.
 */
int pfs_model_apply_faults(struct pfs_model *model, const struct pfs_fault_run *run,
			   const struct pfs_observer *observer);

/* A muted model ignores touches (fault, around, populate, access, ...), but applies layout and process life. */
void pfs_model_mute(struct pfs_model *model, bool muted);

/*
 * The name that /proc/PID/maps would show for a region: its path, [heap], [stack], [vdso], "" for anonymous memory;
 * NULL: unknown. The program break decides which region is [heap]. Borrowed.
 */
const char *pfs_region_name(const struct pfs_space *space, const struct pfs_region *region);

/* Whether the region is known to map a file. */
static inline bool pfs_region_is_file(const struct pfs_region *region)
{
	return region->have & PFS_HAS(PFS_F_INO) && pfs_is_file(region->dev, region->ino);
}

/* A private mapping of /dev/zero is anonymous memory with the name of a file. */
bool pfs_region_is_private_zero(const struct pfs_region *region);

/* Anonymous memory, by its name: not memory of the kernel's own, such as [vdso]. */
bool pfs_region_is_anonymous(const struct pfs_region *region, const char *name);

/* Whether huge pages may replace the pages of the region's file, which unmaps them. */
bool pfs_model_may_collapse(const struct pfs_model *model, const struct pfs_region *region);

/* Whether error codes of faults are those of x86. */
bool pfs_model_is_x86(const struct pfs_model *model);

/* Whether reads of anonymous memory get the zero page; else they get pages of their own, as the recording says. */
bool pfs_model_has_zero_page(const struct pfs_model *model);

/* Whether the recording says that this file system is one in memory: shared memory, or tmpfs. */
bool pfs_model_in_memory(const struct pfs_model *model, uint32_t dev);

/* Whether a write makes a private page. */
static inline bool pfs_region_copies(const struct pfs_region *region)
{
	return (region->perms & (PFS_PERM_W | PFS_PERM_SHARED)) == PFS_PERM_W;
}

/* "anon", "thread stack" or "?" (unknown) for a region with that name; NULL if the name is not empty. */
const char *pfs_region_kind(const struct pfs_region *region, const char *name);

/* Whether its permissions, if known, forbid that access (enum pfs_access; 0: any). */
bool pfs_region_forbids(const struct pfs_region *region, unsigned int access);

/* The process, or NULL. */
struct pfs_proc *pfs_model_proc(const struct pfs_model *model, int32_t pid);

/* The thread, or NULL. */
struct pfs_thread *pfs_model_thread(const struct pfs_model *model, int32_t tid);

/* The newest note of that key, or NULL. Borrowed. */
const char *pfs_model_note(const struct pfs_model *model, const char *key);

/* How layouts were learned, in words, where that leaves gaps: of recordings by perf, which reports no removals. NULL: as they changed. */
const char *pfs_model_polled(const struct pfs_model *model);

/* Reads the newest note of that key. False: there is none, or it is unreadable. */
bool pfs_model_fact(const struct pfs_model *model, enum pfs_note_key key, struct pfs_fact *fact);

/*
 * Of the file that the region maps, at the offsets there: pages that were found in the page cache, and later were not,
 * though no recorded process had removed them. last_ns: when that was found. NULL: none. Borrowed.
 */
const struct pfs_pages *pfs_model_vanished(const struct pfs_model *model, const struct pfs_region *region);

/*
 * Anonymous pages, in all processes, that a call populated some time after they were mapped; last_ns: when. Pages that the
 * kernel had accessed before took no fault then, which hides one in the kernel's count. NULL: none. Borrowed.
 */
const struct pfs_pages *pfs_model_populated(const struct pfs_model *model);

/* Faults so far on pages that pfscope itself had hidden (--microset, --refault-by=hide); the others are the program's own. */
uint64_t pfs_counts_hidden(const struct pfs_counts *counts);

/* How re-reference sampling was done, by the notes so far. False: it was not. */
bool pfs_model_refault(const struct pfs_model *model, struct pfs_refault_how *how);

/*
 * Stays of the region's pages, from *at on, which begins with 0, clipped to the region and its life. False: no more.
 */
bool pfs_stay_next(const struct pfs_space *space, const struct pfs_region *region, unsigned int page_shift,
		   unsigned int *at, struct pfs_stay *stay);

/* Its command line, as a shell reads it: that of the exec, which a fork's child has as well. NULL: unknown. Borrowed. */
static inline const char *pfs_space_args(const struct pfs_space *space)
{
	while (!space->args && space->copied_from)
		space = space->copied_from;
	return space->args;
}

/* The current space of a process. */
static inline struct pfs_space *pfs_proc_space(const struct pfs_proc *proc)
{
	return proc->epochs[proc->nr_epochs - 1].space;
}

#endif
