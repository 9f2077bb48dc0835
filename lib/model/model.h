/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model: the only consumer of events. Processes, their address spaces, regions and pages.
 *
 * Views walk these structures read-only after (or between) events; only model*.c and space*.c write
 * them. Everything is owned by the model and lives until pfs_model_free(): regions are retired when
 * they are unmapped, never forgotten.
 */
#ifndef PFS_MODEL_H
#define PFS_MODEL_H

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
	uint64_t moved_from;  /* where mremap took it from; 0: it did not */
	bool inherited;	      /* a fork copied it */
	uint64_t segment_len; /* of a System V segment, as it was attached; 0: is none */
	uint8_t perms, traits;
	bool written;	  /* private pages were made in it (kernel: it has an anon_vma) */
	const char *name; /* interned; "" is anonymous; meaningless if PFS_F_NAME is unknown */
	uint64_t born_ns;
	uint64_t died_ns;	 /* UINT64_MAX while it lives */
	uint64_t since_ns;	 /* touches of it may be that old: born_ns, or before it was moved; 0: not known */
	struct pfs_pages *pages; /* where its pages are: the space's own, or a retired region's */
};

/*
 * An address space: one image of a process, from exec (or fork, or attach) to the next exec or exit.
 * Shared by the processes of a vfork until the child's exec.
 */
struct pfs_space {
	struct pfs_region **live; /* sorted by start, never overlapping */
	unsigned int nr_live;
	unsigned int before_live, after_live; /* room for more, on either side of them */
	struct pfs_region **retired;	      /* in order of death */
	unsigned int nr_retired;
	struct pfs_pages *pages; /* of the live regions and of no region ("unknown") */
	uint64_t start_brk, brk; /* 0: unknown */
	uint64_t born_ns, died_ns;
	const char *exe;   /* interned name given to exec; NULL: unknown */
	bool complete;	   /* the layout is known from the start, not pieced together */
	bool launcher;	   /* pfscope's own child before the command's exec: not shown */
	bool empty;	   /* unmapped by exit */
	bool had_rings;	   /* some of the retired regions were rings of io_destroy */
	bool heap_touches; /* a region that but touches the break's range is [heap], too */
	unsigned int refs;
	struct pfs_region *hot; /* live region found last, or NULL */
};

/* One exec epoch of a process: a space, and from when the process had it. */
struct pfs_epoch {
	struct pfs_space *space;
	uint64_t start_ns;
	const char *comm; /* interned, last one known while it lasted; NULL: unknown */
	bool shared;	  /* the parent's space (vfork): drawn with the parent */
};

struct pfs_thread {
	int32_t tid;
	struct pfs_proc *proc;
	const char *comm;
	unsigned int nr; /* of its process, from 1, in the order of their making */
	uint64_t born_ns, died_ns;
	uint64_t nr_faults;
	struct pfs_space *forking; /* copy that its fork is making, or NULL */
	struct pfs_space *execing; /* image that its exec is building, or NULL */
	/* the fault under way: where a later `huge`, `major`, `signal` or `around` belongs */
	struct pfs_space *fault_space;
	uint64_t fault_addr;
	uint64_t fault_ns;
	uint8_t fault_mode, fault_access;
	/* while the kernel populates: faults that mapped several pages each, and pages they saved */
	uint64_t nr_around, huge_saved;
	uint64_t shmdt_first, shmdt_len, shmdt_ino; /* what its shmdt is to detach */
	uint64_t ring;				    /* the one that its io_destroy removes, or 0 */
};

/* Faults that were handled alike. */
struct pfs_handling {
	uint64_t exceptions, unasked; /* unasked: without an exception */
	uint64_t nr_timed;	      /* those of them whose latency is known; of these: */
	uint64_t total_ns, max_ns;
};

struct pfs_counts {
	uint64_t faults; /* all that follow are of these */
	uint64_t read, write, exec, access_unknown;
	uint64_t user, kernel;
	uint64_t minor, major; /* where known */
	uint64_t signal;       /* ended in a signal */
	uint64_t outside;      /* in no known region */
	uint64_t around;       /* pages mapped by fault-around */
	uint64_t populated;    /* pages */
	uint64_t huge;	       /* faults that got a huge page */
	/* of the faults, those that the kernel's own counts leave out, as far as the recording shows */
	uint64_t retried;     /* refused at once in kernel mode, and tried again */
	uint64_t no_access;   /* kernel mode, where nothing is mapped or not for that: EFAULT */
	uint64_t vsyscall;    /* calls into [vsyscall], emulated */
	uint64_t kernel_addr; /* at addresses of the kernel's own half */
	/* faults without an exception, by what made them (enum pfs_by); of these, where known */
	uint64_t unasked[PFS_NR_BY];
	uint64_t unasked_minor, unasked_major;
	/* faults of both sorts, by what the handler did (enum pfs_how) and by class (enum pfs_class) */
	struct pfs_handling handling[PFS_NR_HOW][PFS_MAJOR_CLASS + 1];
	uint64_t maps, unmaps; /* regions made, removed */
};

struct pfs_proc {
	int32_t pid;
	int32_t ppid;		  /* 0: unknown */
	bool pid_known;		  /* false: pid is a tid whose process no record names */
	const char *comm;	  /* interned, newest; NULL: unknown */
	struct pfs_epoch *epochs; /* at least one */
	unsigned int nr_epochs;
	unsigned int nr_threads;   /* ever seen */
	uint64_t born_ns, died_ns; /* died: UINT64_MAX while it lives */
	struct pfs_counts counts;
	struct pfs_proc *next; /* in order of appearance */
};

/* A gap: events that are missing of one cpu, some time in [from_ns, to_ns]. */
struct pfs_loss {
	int32_t cpu;	  /* -1: not said */
	uint64_t count;	  /* events, where the number is known */
	uint64_t unknown; /* times that an unknown number was lost */
	uint64_t from_ns; /* of the last event before it; 0: from the beginning */
	uint64_t to_ns;	  /* of the first event after it; UINT64_MAX: nothing says when */
	unsigned int on;  /* its cpu's index in lost_on */
};

/* What is missing of one cpu in all. Its gaps may know less of the number. */
struct pfs_lost_cpu {
	int32_t cpu;
	unsigned int nr_gaps;
	uint64_t count, unknown;
};

/* More processors than any machine has share the last account. */
enum { PFS_MAX_LOST_ON = 8192 };

struct pfs_note {
	char *key, *value;
	uint64_t ts_ns;
	int32_t pid;
};

struct pfs_model {
	struct pfs_proc *procs; /* in order of appearance */
	unsigned int nr_procs;
	unsigned int page_shift;    /* from the note "page_size"; 12 */
	bool heap_touches;	    /* from the note "kernel": as kernels before 6.6 name regions */
	struct pfs_counts counts;   /* of all processes shown; launchers excluded */
	struct pfs_counts launcher; /* of pfscope's own child before the command's exec */
	uint64_t nr_events;
	uint64_t first_ns, last_ns;   /* 0 if there was no event */
	uint64_t start_ns;	      /* what --from and --to count from: the start of the recording */
	uint64_t lost;		      /* events lost whose number is known */
	uint64_t lost_unknown;	      /* times that an unknown number was lost */
	struct pfs_lost_cpu *lost_on; /* the same by cpu, in order of appearance */
	unsigned int nr_lost_on;
	struct pfs_loss *losses; /* each gap, in the order of their ends */
	unsigned int nr_losses;
	struct pfs_note *notes; /* but those of refault's ticks, of which there is no end: */
	unsigned int nr_notes;
	uint64_t missed;		  /* processes that ended before they could be recorded, by their notes */
	struct pfs_refault_sums refaults; /* what they add up to */
	struct pfs_model_private *priv;
};

struct pfs_model *pfs_model_new(void); /* NULL: no memory */
void pfs_model_free(struct pfs_model *model);

enum pfs_fate {
	PFS_SERVED,
	PFS_RETRIED,   /* the same fault as the last one of the thread: the kernel refused that at once */
	PFS_NO_ACCESS, /* kernel mode, where nothing is mapped or not for that: EFAULT */
};

/* What came of an event, or of several faults alike. */
struct pfs_outcome {
	struct pfs_thread *thread; /* of the event; NULL: of none */
	/*
	 * The space of a fault or an access, or of the fault that a `major` or `signal` belongs to. NULL: they left
	 * no mark (they are muted, or belong to no fault), or it is another kind of event.
	 */
	struct pfs_space *space;
	struct pfs_region *region; /* of a fault or an access; NULL: in no known region */
	enum pfs_fate fate;	   /* of a fault */
	bool muted;		   /* a filter hides what this thread touches now */
};

/* What stands behind the model: events, and runs of faults, that the model has just taken in, and their outcomes. */
struct pfs_observer {
	/* 0, or -errno to stop the source with that error. */
	int (*event)(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome);
	int (*faults)(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *outcome);
	void *ctx;
};

/* Takes one event in. Events come in order of time, per thread at least. outcome may be NULL. 0 or -ENOMEM. */
int pfs_model_apply(struct pfs_model *model, const struct pfs_event *ev, struct pfs_outcome *outcome);

/*
 * Takes a run of faults in, as as many events would be. The observer (or NULL) gets it in parts that have one outcome
 * each. 0, -ENOMEM, or what the observer returned.
 */
int pfs_model_apply_faults(struct pfs_model *model, const struct pfs_fault_run *run,
			   const struct pfs_observer *observer);

/*
 * While it is muted, touches (fault, around, populate, access and what belongs to them) leave no mark: what a filter
 * uses for those that it hides. Layout and process life are taken in.
 */
void pfs_model_mute(struct pfs_model *model, bool muted);

/*
 * The name that /proc/PID/maps would show for a region: its path, [heap], [stack], [vdso], "" for
 * anonymous memory; NULL if it is not known. The heap is where the break is, whatever the source
 * called the region when it was made. Borrowed.
 */
const char *pfs_region_name(const struct pfs_space *space, const struct pfs_region *region);

/*
 * What kind of memory it is where no path says it, "anon", "thread stack", "?" (not known), given that name; NULL if
 * it has one of its own.
 */
const char *pfs_region_kind(const struct pfs_region *region, const char *name);

/* May it, as far as is known, not be touched in that way (enum pfs_access; 0: somehow)? */
bool pfs_region_forbids(const struct pfs_region *region, unsigned int access);

/* The process, or NULL. */
struct pfs_proc *pfs_model_proc(const struct pfs_model *model, int32_t pid);

/* The thread, or NULL. */
struct pfs_thread *pfs_model_thread(const struct pfs_model *model, int32_t tid);

/* The newest note of that key, or NULL. Borrowed. */
const char *pfs_model_note(const struct pfs_model *model, const char *key);

/* Reads the newest note of that key. False: there is none, or it is unreadable. */
bool pfs_model_fact(const struct pfs_model *model, enum pfs_note_key key, struct pfs_fact *fact);

/* How pages were made to fault again, or accesses sampled, as far as was said by now. False: they were not. */
bool pfs_model_refault(const struct pfs_model *model, struct pfs_refault_how *how);

/* The current space of a process. */
static inline struct pfs_space *pfs_proc_space(const struct pfs_proc *proc)
{
	return proc->epochs[proc->nr_epochs - 1].space;
}

#endif
