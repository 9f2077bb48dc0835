/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the assembler share. From the top: assemble.c (the entrance, notes, losses); compat.c, calls.c (system
 * calls), life.c (threads, fork, exec, exit), fault_stacks.c, fault.c, objects.c, layout.c (region tree); maps.c (side-band,
 * snapshots), access.c (DAMON), pending_fault.c (faults whose handler is watched, or whose stack is to come), stacks.c; frames.c,
 * functions.c, emit.c, thread.c.
 */
#ifndef PFS_ASSEMBLE_PRIV_H
#define PFS_ASSEMBLE_PRIV_H

#include "assemble/assemble.h"
#include "base/hash.h"
#include "event/notes.h"
#include "event/stack_numbers.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>

/* What older C libraries lack. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* 6.1 */
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

#define MAX_HEADER 16
#define MAX_TAKEN  4
#define NR_RECENT  64
#define MAX_UFFDS  8
#define HOT_SITES  256

struct range {
	uint64_t start, end;
};

/* A change of a layout: the range, and when it was recorded. */
struct asm_change {
	uint64_t ts_ns;
	struct range range;
};

/* A userfaultfd, which works on the memory of the process that made it, whoever has it. */
struct asm_uffd {
	int32_t fd, pid;
};

/* Addresses of a stack, the innermost first. */
struct asm_frames {
	uint64_t *list;
	unsigned int nr, max;
	bool cut; /* there were more */
};

struct asm_proc {
	int32_t pid;
	unsigned int nr_live;		     /* threads alive, of those that were seen to begin */
	bool counted;			     /* which are all that it has */
	LIST_HEAD(, asm_thread) in_flight;   /* threads inside a call that removes a range */
	LIST_HEAD(, asm_thread) execing;     /* threads whose exec is under way: one of them will get through */
	uint64_t brk;			     /* 0: unknown */
	struct asm_change recent[NR_RECENT]; /* the newest changes, as a ring */
	unsigned int next_recent;
	bool mlock_future, mlock_future_on_fault;
	bool has_locked;		  /* something, some time */
	struct asm_uffd uffds[MAX_UFFDS]; /* that it made or inherited, as a ring; pid 0: none */
	unsigned int next_uffd;
	bool is_32bit;		       /* its image is, on a 64-bit kernel */
	bool shared_space;	       /* a vfork child before its exec */
	bool in_snapshot;	       /* lines of a snapshot that counts are coming */
	uint64_t snapshot_end;	       /* how far up its lines have come */
	uint64_t look_ns, gap_look_ns; /* since when its lines, and gaps, are valid; 0: the first */
	UT_hash_handle hh;
};

/* How much of a file the kernel got while it populated: what it looked up in the page cache, or added there. */
struct asm_reached {
	uint32_t dev;
	uint64_t ino, end;   /* end: the number of the first page beyond; 0: no file yet */
	bool ends;	     /* no page beyond it was mapped */
	uint64_t nr_single;  /* page faults that looked up one page: only for files on devices */
	uint64_t single_end; /* that of the newest of them */
};

/* The system call that a thread is in; asm_call_over() resets it. */
struct asm_call {
	enum raw_sys nr;
	uint64_t begun_ns;
	uint64_t arg[RAW_MAX_ARGS];
	struct range removes;	       /* what it removes if it succeeds */
	bool removed;		       /* a row has reported that removal already */
	struct range taken[MAX_TAKEN]; /* what other threads seem to have mapped there since */
	unsigned int nr_taken;
	bool stored; /* it stored a region: a row was seen */
	struct range last_row;
	struct asm_reached reached;
	bool has_reached;      /* some page of some file */
	uint64_t losses;       /* those before it */
	struct range seen_row; /* the newest row: one write may appear several times */
	uint64_t seen_id;
	bool moved;
};

/* The fork that a thread is making. */
struct asm_fork {
	bool copying;
	int32_t child; /* of the last task_newtask */
	uint64_t flags;
};

/* The exec that a thread is making. */
struct asm_exec {
	bool under_way, is_listed;
	bool switched;	      /* the old address space is given up */
	int32_t old_tid;      /* the number under which it began, or 0: the present one */
	uint64_t reported_ns; /* when the side-band reported that it can no longer fail; 0: it did not */
	uint64_t stack_id;
	struct range stack, stack_before;
	uint64_t stack_top;
	bool is_32bit; /* its stack has been moved to where a 64-bit process has none */
	char comm[64];
};

struct asm_thread {
	int32_t tid;
	struct asm_proc *proc; /* NULL: unknown */
	bool named;	       /* its name was passed on */
	bool alive;	       /* counted in proc->nr_live */
	bool exited;
	uint64_t ended_ns;	  /* when it exited */
	uint64_t reused_ns;	  /* it got its number at once after another at that time, and may be forgotten; or 0 */
	uint64_t seen_ns;	  /* then: its newest event */
	bool mm_gone;		  /* exit_mmap seen; it was its own if it exits next */
	uint64_t end_reported_ns; /* the side-band reported its end at that time, its exit event is yet to come; or 0 */
	bool end_concluded;	  /* ... and was taken for lost */
	struct asm_call call;
	bool is_in_flight; /* in proc->in_flight */
	LIST_ENTRY(asm_thread) in_flight;
	struct asm_fork fork;
	struct asm_exec exec; /* listed in proc->execing */
	LIST_ENTRY(asm_thread) execing;
	bool in_fault;		       /* nothing has shown yet that its last fault is over */
	struct asm_pending *pending;   /* the fault that waits for its stack, or for its handler to return; or NULL */
	uint64_t hidden;	       /* the last mark, see asm_hidden(); 0: none */
	struct asm_doubtful *doubtful; /* a fault that may be the kernel's own, see fault_stacks.c; or NULL */
	UT_hash_handle hh;
};

/* A file that some region of the recording maps, by device and inode. */
struct asm_file {
	uint64_t key[2];
	UT_hash_handle hh;
};

/* Of wprobe events, each of which watches one. */
#define ASM_NR_WORDS 4

struct pfs_assembler {
	struct pfs_sink sink;
	struct asm_file *files;
	struct asm_thread *threads;
	unsigned int nr_ending; /* of them */
	uint64_t last_ns;	/* of the newest event, but for runs of faults */
	struct asm_proc *procs;
	struct asm_thread *hot[64]; /* by cpu: the thread of its previous event */
	struct pfs_event fault;	    /* template: only what differs is written per fault */
	uint64_t page_mask;	    /* page size - 1 */
	bool sideband;		    /* the recording has perf's side-band of mappings */
	bool exit_mmap;		    /* exit_mmap events exist */
	bool checks_first;	    /* the kernel's mremap changes nothing before it knows it can */
	bool is_x86_64;		    /* the kernel, as far as is known */
	bool has_calls;	    /* the recording has, or will have if there are any, the system calls of 32-bit processes */
	bool calls_lack;    /* reported that it does not */
	bool old_mmap_lack; /* ... that one of them does not show what it did */
	bool setuid_lack;   /* ... that the side-band left a program */
	bool own;	    /* the recording is pfscope's own: filtered as it does */
	bool rows;	    /* the region tree's writes are in the recording */
	bool file_faults;   /* faults on files are, while a call populates */
	uint64_t losses;    /* so far */
	bool handlers;	    /* handle_mm_fault's beginnings and ends are */
	uint32_t functions; /* of enum pfs_handler: those the function tracer watched */
	bool hides;	    /* pages were hidden: marks say which faults are due to that */
	bool defers;	    /* one of these: a fault is passed on when its handler has returned, or when it is marked */
	int32_t only_pid;   /* --no-follow: 0 or the one process */
	int32_t *targets;   /* DAMON's, by number: the process of each, or 0 */
	unsigned int nr_targets;
	int32_t access_tid; /* DAMON's thread, or 0 */
	struct asm_word {
		uint64_t ptr, off, value; /* ptr 0: no object is watched */
	} words[ASM_NR_WORDS];
	uint64_t access_ns; /* how often it looks; 0: accesses are not recorded */
	const struct asm_cpu_type *cpu_type;
	char *unescaped; /* the string of the current own record */
	size_t max_unescaped;
	const char *(*name)(void *ctx, int32_t tid); /* or NULL */
	void *name_ctx;
	struct asm_site *sites, *hot_sites[HOT_SITES]; /* of kernel objects, by address */
	struct asm_stack *stacks;		       /* of kernel objects, by their addresses */
	struct asm_awaits *awaits;		       /* stacks, by CPU and context */
	size_t nr_awaits, max_awaits;
	const char *(*function)(const void *ctx, uint64_t addr, uint64_t *start); /* or NULL */
	const void *function_ctx;
	/* are they in the recording: behind each fault, or of dumps, in records of pfscope's own? */
	enum { STACKS_NONE, STACKS_PERHAPS, STACKS, STACKS_DUMPED } stacks_of_faults;
	struct asm_dumped *dumped;	 /* ... by the number that such records give them */
	uint64_t nr_dumped, nr_undumped; /* faults with and without such a stack */
	uint64_t nr_dumps_lost;
	bool kernel_stacks;		   /* ... and those of faults in kernel mode, behind the user's */
	struct pfs_stack_numbers *numbers; /* of them */
	char *frames_text;
	size_t max_frames_text;
	bool addresses_lack;	  /* reported that those of objects are hashed */
	bool has_pages;		  /* allocations of pages are objects */
	char *header[MAX_HEADER]; /* "key=value", until the first event comes */
	unsigned int nr_header;
	struct pfs_assembler_stats stats;
};

static inline uint64_t page_up(const struct pfs_assembler *a, uint64_t addr)
{
	return (addr + a->page_mask) & ~a->page_mask;
}

static inline bool covers(struct range outer, struct range inner)
{
	return outer.start <= inner.start && outer.end >= inner.end;
}

static inline bool overlap(struct range a, struct range b)
{
	return a.start < b.end && b.start < a.end;
}

static inline struct range range_of(uint64_t start, uint64_t len)
{
	return (struct range){ start, start + len < start ? UINT64_MAX : start + len };
}

/* In all that follows `t` is the thread of the event. Functions return 0, what the sink returned, or -ENOMEM. */

/* Takes in a raw event of one kind. */
typedef int asm_fn(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);

/* ---- emit.c ---- */

/* An event of this thread with only time, CPU, pid and tid set; t may be NULL. */
void asm_event_init(struct pfs_event *ev, const struct raw_event *raw, const struct asm_thread *t, enum pfs_kind kind);

/* As asm_event_init(), of a range. */
void asm_event_range(struct pfs_event *ev, const struct raw_event *raw, const struct asm_thread *t, enum pfs_kind kind,
		     struct range r);

static inline void asm_event_set_range(struct pfs_event *ev, struct range r)
{
	PFS_SET(ev, start, START, r.start);
	PFS_SET(ev, end, END, r.end);
}

/* Is it of a process that is recorded? */
static inline bool asm_is_emitted(const struct pfs_assembler *a, const struct pfs_event *ev)
{
	return !a->only_pid || !pfs_has(ev, PFS_F_PID) || ev->pid == a->only_pid;
}

int asm_emit(struct pfs_assembler *a, const struct pfs_event *ev);

/* Emits an event of a range with nothing else set; nothing if the range is empty. */
int asm_emit_range(struct pfs_assembler *a, const struct asm_thread *t, const struct raw_event *raw, enum pfs_kind kind,
		   struct range r);

int asm_emit_note(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, const char *key,
		  const char *value);

/* Emits what the recording cannot know from now on, unless it is reported. */
int asm_emit_lack(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, const char *lack,
		  bool *reported);

/* Takes in that the thread's process has a 32-bit image, and emits what is therefore lost. */
asm_fn asm_is_32bit;

int asm_emit_comm(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, const char *comm);

/* Emits that an address space of the thread is removed. */
int asm_emit_clear(struct pfs_assembler *a, const struct asm_thread *t, const struct raw_event *raw,
		   enum pfs_which space);

/* The string of one of pfscope's own records (NULL: ""), unescaped. Valid until the next call. NULL: no memory. */
const char *asm_unescaped(struct pfs_assembler *a, const char *str);

/* ---- thread.c ---- */

/* The thread or process of that number, created if need be. NULL: no memory. */
struct asm_proc *asm_proc_get(struct pfs_assembler *a, int32_t pid);
struct asm_thread *asm_thread_get(struct pfs_assembler *a, int32_t tid);

void asm_thread_set_alive(struct asm_thread *t, bool alive);
void asm_thread_not_ending(struct pfs_assembler *a, struct asm_thread *t);

/* The kernel gave the number to a new thread or process, which starts with nothing known. */
void asm_thread_renew(struct pfs_assembler *a, struct asm_thread *t, struct asm_proc *proc);
void asm_proc_renew(struct asm_proc *p);

void asm_exec_begin(struct asm_thread *t);
void asm_exec_over(struct asm_thread *t);

/* A system call begins; it is over, or its beginning was never seen. */
void asm_call_begin(const struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);
void asm_call_over(struct asm_thread *t);

/* The layout of the thread's process has changed there: a snapshot may no longer be right about it. */
void asm_changed(struct asm_thread *t, const struct raw_event *raw, struct range r);

/*
 * The range in the first two arguments of the system call; what it removes; what it replaces with a mapping of its own;
 * what it makes the kernel populate. Empty where the arguments do not determine it, or the call does no such thing.
 */
typedef struct range asm_range_fn(const struct pfs_assembler *a, const struct asm_thread *t);
asm_range_fn asm_call_range, asm_call_removes, asm_call_replaces, asm_call_populates;

/* ---- populate.c ---- */

/* Emits what the call has reached of the file that it populated last. */
int asm_emit_reached(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw);

/* Emits a `populate` by that call, unless its range is empty or a probe records each page. 0 or -errno. */
int asm_emit_populate(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct pfs_event *ev,
		      enum pfs_by by);

/* If it is by an mprotect that the region there changes, the pages that this populates. To be called before that change. */
int asm_mprotect_populates(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range r);

/* Does the current system call make huge pages of what is there? */
bool asm_call_collapses(const struct asm_thread *t);

/* The process whose memory the userfaultfd works on that the thread's ioctl is about. 0: unknown. */
int32_t asm_call_uffd(const struct asm_thread *t);

/* Where mremap with MREMAP_FIXED puts the pages that it moves. */
asm_range_fn asm_call_target;

/* ---- functions.c: "function+0xoffset". "": unknown; NULL: no memory ---- */
const char *asm_function_at(struct pfs_assembler *a, uint64_t site);
void asm_sites_free(struct pfs_assembler *a);

/* ---- frames.c: a stack as text, and the numbers of those of faults ---- */

/* The recording has no stacks of faults. */
void asm_frames_none(struct pfs_assembler *a);

/* The frames of a raw event. 0 or -ENOMEM. */
int asm_frames_take(struct asm_frames *frames, const struct raw_event *raw);

/* "alloc_pipe_info+0x88;create_pipe_files+0x40": valid until the next call. NULL: no memory. */
const char *asm_frames_text(struct pfs_assembler *a, const struct asm_frames *kernel, const struct asm_frames *user);

/* The event gets the number of these; if it is a new one, defines it first. 0, -ENOMEM or what the sink returned. */
int asm_frames_number(struct pfs_assembler *a, struct pfs_event *ev, struct asm_frames *kernel,
		      struct asm_frames *user);

/* Keeps the frames of a stack that pfscope has numbered; the event gets a number for it. 0, -ENOMEM, or what the sink returned. */
int asm_frames_keep(struct pfs_assembler *a, uint64_t nr, const char *text);
int asm_frames_dumped(struct pfs_assembler *a, struct pfs_event *ev, uint64_t nr);
void asm_frames_free(struct pfs_assembler *a);

/* ---- pending_fault.c: a fault while its handler runs, or its stack is to come ---- */

/* Takes in a stack; does the pending fault wait for the kernel's? */
asm_fn asm_pending_stack;
bool asm_pending_awaits_kernel(const struct pfs_assembler *a, const struct asm_thread *t);

/* Nothing more comes of its stack; if it is of that CPU, where another thread runs. */
int asm_pending_stack_over(struct pfs_assembler *a, struct asm_thread *t);
int asm_pending_left_cpu(struct pfs_assembler *a, struct asm_thread *t, int32_t cpu);

/* A stack that was dumped: if it is that fault's. */
asm_fn asm_pending_dumped;

asm_fn asm_handler, asm_handler_end, asm_function, asm_hidden;

/* Takes in the notes on how the handler is watched. */
void asm_pending_note(struct pfs_assembler *a, const struct pfs_fact *fact);

/* Defers a fault until its handler has returned. */
int asm_pending_begin(struct pfs_assembler *a, struct asm_thread *t, const struct pfs_event *ev);

/* Passes the pending fault on with what is known of it: at any time; before the raw event that ends it is taken in. */
int asm_pending_release(struct pfs_assembler *a, struct asm_thread *t);
asm_fn asm_pending_end;

/*
 * The recording has ended. A fault whose handler it has cut off before the mark could come is left out: whether hiding caused
 * it is not known, and the kernel has not counted it either.
 */
int asm_pending_finish(struct pfs_assembler *a, struct asm_thread *t);

/* An exec has succeeded: passes on the pages of its arguments, at their final addresses. */
int asm_pending_exec(struct pfs_assembler *a, struct asm_thread *t);
void asm_pending_free(struct asm_thread *t);

/* Passes on an event that belongs to the thread's last fault: after that fault, if it is pending. */
int asm_emit_beside(struct pfs_assembler *a, struct asm_thread *t, const struct pfs_event *ev);

/* ---- access.c: DAMON. Its notes; whether the event is of its thread; the pages that it saw accessed ---- */
int asm_access_note(struct pfs_assembler *a, const struct pfs_fact *fact);
bool asm_access_is_watcher(struct pfs_assembler *a, const struct raw_event *raw);
int asm_accessed(struct pfs_assembler *a, const struct raw_event *raw);

/* ---- maps.c: the side-band of mappings, snapshots ---- */
asm_fn asm_pfs_map;
int asm_snapshot(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		 const struct pfs_fact *fact);

/* PFS_PERM_*, PFS_TRAIT_* of mmap's arguments. */
uint8_t asm_perms_of(uint64_t prot, uint64_t flags);
uint8_t asm_traits_of(uint64_t flags);

/* Whether a region of the recording maps the file, as far as was reported so far. */
bool asm_is_mapped_file(const struct pfs_assembler *a, uint64_t dev, uint64_t ino);
void asm_files_free(struct pfs_assembler *a);

/* ---- layout.c: rows of the region tree; the pages of an exec's arguments ---- */
asm_fn asm_ma_write, asm_exec_populated;

/* ---- fault.c ---- */
asm_fn asm_fault, asm_fault_counted, asm_add_cache, asm_delete_cache, asm_map_pages, asm_file_fault;
asm_fn asm_page_alloc, asm_signal, asm_cached;
void asm_fault_init(struct pfs_assembler *a);

/* The recorded machine, as in uname -m: determines how error codes are read. */
void asm_fault_machine(struct pfs_assembler *a, const char *machine);

/*
 * Fills in what the assembler knows of a run of faults, all from its thread's state. False: the events of these faults
 * hold more than a run can, or other events come before them, so they have to be fed one by one.
 */
bool asm_fault_run(struct pfs_assembler *a, struct pfs_fault_run *run);

/* ---- fault_stacks.c: called with each raw event before anything else is. *taken: it is to be passed on by nobody ---- */
int asm_fault_stacks(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, bool *taken);
int asm_fault_stacks_note(struct pfs_assembler *a, const struct pfs_fact *fact);
asm_fn asm_dumped_stack;
int asm_fault_stacks_finish(struct pfs_assembler *a);
void asm_doubtful_free(struct asm_thread *t);

/* ---- objects.c ---- */
asm_fn asm_object_alloc, asm_object_free, asm_pages, asm_object_access, asm_watch, asm_wprobe;
int asm_words_end(struct pfs_assembler *a);

/* stacks.c: of the allocations; these are the ones that await one */
asm_fn asm_object_stack;
void asm_stack_await(struct pfs_assembler *a, const struct raw_event *raw, const struct pfs_event *ev);
void asm_stacks_lost(struct pfs_assembler *a, int32_t cpu);
void asm_stacks_free(struct pfs_assembler *a);

/* ---- life.c ---- */
asm_fn asm_newtask, asm_forked, asm_executed, asm_exit, asm_mm_gone, asm_renamed, asm_task_reported;

/* The thread of a raw event; passes on its name the first time that a record holds it. */
int asm_thread_of(struct pfs_assembler *a, const struct raw_event *raw, struct asm_thread **out);

/* Before any event: it may show that an exec goes on under the first thread's number, or that the end of one was lost. */
asm_fn asm_follow_exec;

/* An event of a thread that the kernel may forget. */
void asm_seen(struct asm_thread *t, uint64_t ts_ns);

/* At the end: reports what may be missing of processes that the kernel has forgotten to record. */
int asm_report_forgotten(struct pfs_assembler *a);

/* Concludes the exits that the side-band reported and no event did: as of ts_ns, or (0) of the reports. */
int asm_conclude_ends(struct pfs_assembler *a, uint64_t ts_ns);

/* ---- calls.c: system calls ---- */
asm_fn asm_sys_enter, asm_sys_exit;

/* ---- compat.c: those of 32-bit processes ---- */
asm_fn asm_call;

#endif
