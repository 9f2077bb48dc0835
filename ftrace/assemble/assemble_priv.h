/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What assemble.c (process life), assemble/fault.c, assemble/held.c (faults), assemble/layout.c,
 * assemble/calls.c and assemble/maps.c (layouts), assemble/access.c (accesses without a fault) share.
 * Nobody else includes it.
 */
#ifndef PFS_ASSEMBLE_PRIV_H
#define PFS_ASSEMBLE_PRIV_H

#include "assemble/assemble.h"
#include "base/hash.h"

#include <stdbool.h>

#define MAX_HEADER 16
#define MAX_TAKEN  4
#define NR_RECENT  64

struct range {
	uint64_t start, end;
};

/* A change of a layout: what was changed, and when that was told. */
struct asm_change {
	uint64_t ts_ns;
	struct range range;
};

struct asm_proc {
	int32_t pid;
	unsigned int nr_live;		     /* threads alive, of those that were seen to begin */
	bool counted;			     /* which are all that it has */
	struct asm_thread *in_flight;	     /* threads inside a call that removes a range */
	struct asm_thread *exec_thread;	     /* the one whose exec is under way, or NULL */
	uint64_t brk;			     /* 0: unknown */
	struct asm_change recent[NR_RECENT]; /* the newest changes, as a ring */
	unsigned int next_recent;
	bool mlock_future;
	bool shared_space;	       /* a vfork child before its exec */
	bool in_snapshot;	       /* lines of a snapshot that counts are coming */
	uint64_t snapshot_end;	       /* how far up its lines have come */
	uint64_t look_ns, gap_look_ns; /* since when its lines, and gaps, are as it says; 0: the first */
	UT_hash_handle hh;
};

struct asm_thread {
	int32_t tid;
	struct asm_proc *proc; /* NULL: unknown */
	bool comm_said;
	bool alive; /* counted in proc->nr_live */
	bool exited;
	uint64_t ending_ns; /* the side-band told of its end then, its exit event did not come yet */
	bool end_concluded; /* ... and was taken for lost */
	bool mm_gone;	    /* exit_mmap seen; it was its own if it exits next */
	/* the system call it is in */
	enum raw_sys nr;
	uint64_t arg[RAW_MAX_ARGS];
	uint64_t enter_ns;
	struct range removes;	       /* what the call will have removed when it returns */
	bool removed;		       /* ... and already has */
	struct range taken[MAX_TAKEN]; /* that others have mapped since, as it seems */
	unsigned int nr_taken;
	bool is_in_flight;
	bool stored; /* the call stored a region: a row was seen */
	struct range last_row;
	struct range seen_row; /* the newest row: one write shows up several times */
	uint64_t seen_id;
	bool moved;
	struct asm_thread *next_in_flight;
	/* fork */
	bool copying;
	int32_t new_tid; /* of the last task_newtask here */
	uint64_t new_flags;
	/* exec */
	bool in_exec, switched;
	uint64_t exec_said_ns; /* when the side-band told that it cannot fail any more; 0: it did not */
	uint64_t exec_stack_id;
	struct range exec_stack, exec_stack_before;
	uint64_t exec_stack_top;
	char exec_comm[64];
	struct asm_held *held; /* the fault under way, where faults are held back; or NULL */
	UT_hash_handle hh;
};

struct pfs_assembler {
	struct pfs_sink sink;
	struct asm_thread *threads;
	unsigned int nr_ending; /* of them */
	struct asm_proc *procs;
	struct asm_thread *hot[64]; /* by cpu: the thread of its previous event */
	struct pfs_event fault;	    /* template: only what differs is written per fault */
	uint64_t page_mask;	    /* page size - 1 */
	bool sideband;		    /* the recording has perf's side-band of mappings */
	bool exit_mmap;		    /* exit_mmap events exist */
	bool checks_first;	    /* the kernel's mremap changes nothing before it knows it can */
	bool own;		    /* the recording is pfscope's own: filtered as it does */
	bool rows;		    /* the region tree's writes are in the recording */
	bool handlers;		    /* handle_mm_fault's beginnings and ends are */
	uint32_t functions;	    /* of enum pfs_handler: those the function tracer watched */
	bool holds;		    /* either: faults are held back until they are through */
	int32_t only_pid;	    /* --no-follow: 0 or the one process */
	int32_t *targets;	    /* DAMON's, by number: the process of each, or 0 */
	unsigned int nr_targets;
	int32_t access_tid; /* DAMON's thread, or 0 */
	uint64_t access_ns; /* how often it looks; 0: accesses are not recorded */
	const struct asm_cpu_type *cpu_type;
	char *unescaped; /* the string of the own record at hand */
	size_t max_unescaped;
	const char *(*name)(void *ctx, int32_t tid); /* or NULL */
	void *name_ctx;
	char *header[MAX_HEADER]; /* "key=value", until the first event comes */
	unsigned int nr_header;
	struct pfs_assembler_stats stats;
};

/* An event of this thread with nothing in it yet but time, cpu, pid and tid. */
void asm_event_init(struct pfs_event *ev, const struct raw_event *raw, const struct asm_thread *thread,
		    enum pfs_kind kind);

/* Hands it on. 0 or what the sink returned. */
int asm_emit(struct pfs_assembler *a, const struct pfs_event *ev);

/* assemble/life.c. The thread of a raw event; its name is passed on the first time that a record says it. */
int asm_thread_of(struct pfs_assembler *a, const struct raw_event *raw, struct asm_thread **out);

/* One a raw kind. */
int asm_newtask(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_forked(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_executed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_exit(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_mm_gone(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_renamed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_task_said(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);

/* Before any event: one that only comes after an exec ends one whose own event was lost. */
int asm_after_exec(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);

/* Exit events that were to come may be among what is missing: as of ts_ns, or (0) when the side-band told of them. */
int asm_conclude_ends(struct pfs_assembler *a, uint64_t ts_ns);

/* assemble/fault.c: one a raw kind. */
int asm_fault(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_fault_counted(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_add_cache(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_page_alloc(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_signal(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
void asm_fault_init(struct pfs_assembler *a);

/* The processor of the recording, as uname -m calls it: how its error codes are read. */
void asm_fault_machine(struct pfs_assembler *a, const char *machine);

/* The kind of access that an error code of that processor says. Not without a->cpu_type. */
enum pfs_access asm_fault_access(const struct pfs_assembler *a, uint64_t code);

/* assemble/held.c: a fault while its handler runs. */
int asm_handler(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_handler_end(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_function(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);

/* Notes that say what of the handler is watched. */
void asm_held_note(struct pfs_assembler *a, const char *key, const char *value);

/* Begins to hold a fault back. */
int asm_hold(struct pfs_assembler *a, struct asm_thread *t, const struct pfs_event *ev);

/* A raw event of the thread is about to be taken in: passes on what is held, if it ends that. */
int asm_held_heed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);

/* Passes on what is held, as far as it is known. */
int asm_held_release(struct pfs_assembler *a, struct asm_thread *t);

/* An exec has succeeded: passes on the pages of its arguments, where they are now. */
int asm_held_exec(struct pfs_assembler *a, struct asm_thread *t);
void asm_held_free(struct asm_thread *t);

/* Hands on what came of the fault under way: after it, if that is held. */
int asm_emit_beside(struct pfs_assembler *a, struct asm_thread *t, const struct pfs_event *ev);

/* assemble/layout.c: rows of the region tree. In all that follows `t` is the thread of the event. */
int asm_ma_write(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_exec_populated(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);

/* As asm_event_init(), of a range. */
void asm_event_range(struct pfs_event *ev, const struct raw_event *raw, const struct asm_thread *t, enum pfs_kind kind,
		     struct range r);

/* The range is unmapped; nothing if it is empty. */
int asm_emit_unmap(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range r);

/* The layout of the thread's process has changed there: what a snapshot said of it may be over. */
void asm_changed(struct asm_thread *t, const struct raw_event *raw, struct range r);

/* Where the mremap under way puts what it moves, if that is fixed; else empty. */
struct range asm_move_target(const struct pfs_assembler *a, const struct asm_thread *t);

/* assemble/calls.c: system calls. */
int asm_sys_enter(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_sys_exit(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);

/* assemble/maps.c: the side-band of mappings, snapshots, pages mapped beside a fault. */
int asm_pfs_map(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_map_pages(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
int asm_snapshot(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, const char *value);
int asm_brk_said(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, const char *value);

/* assemble/access.c: DAMON. What notes say of it; whether this is of its thread; what it saw. */
int asm_access_note(struct pfs_assembler *a, const char *key, const char *value);
bool asm_access_is_watcher(struct pfs_assembler *a, const struct raw_event *raw);
int asm_accessed(struct pfs_assembler *a, const struct raw_event *raw);

/* PFS_PERM_*, PFS_TRAIT_* of what is given to mmap. */
uint8_t asm_perms_of(uint64_t prot, uint64_t flags);
uint8_t asm_traits_of(uint64_t flags);

/* The string of one of pfscope's own records, unescaped. Valid until the next call. NULL: no memory. */
const char *asm_own_string(struct pfs_assembler *a, const char *str);

/* The range that the call under way makes the kernel populate; empty if it does not, as far as known. */
struct range asm_populates(const struct pfs_assembler *a, const struct asm_thread *t);

/* The call that the thread was in is over, or was never seen to begin. */
void asm_call_over(struct asm_thread *t);

/* The thread whose exec this is: a thread other than the first goes on under the first's number. */
struct asm_thread *asm_exec_owner(struct asm_thread *t);

#endif
