/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pfscope event, in which every source reports and from which every view is computed. A source fills a struct
 * pfs_event and passes it to a struct pfs_sink. A field that it cannot know is absent: its bit in `have` is clear and
 * its value is undefined. docs/event-format.md describes events for users.
 *
 *     event/line.h          event lines: reads them, and writes one
 *     event/export.h        writes events to a file as lines, JSON Lines or CSV
 *     event/text.h          the spelling of values in all of these
 *     event/cursor.h        the reading of values in lines
 *     event/notes.h         notes: facts about the recording, as typed data
 *     event/refault_note.h  notes of --refault, and what they add up to
 *     event/source.h        a live source of events
 *     event/stack_numbers.h the numbers of stacks, for sources that record them
 */
#ifndef PFS_EVENT_H
#define PFS_EVENT_H

#include "base/perms.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Version of the event language, written in the first line of its text form. */
#define PFS_EVENT_VERSION 2

enum pfs_kind {
	PFS_FAULT,    /* a page fault exception: addr ip access mode class how code flags pfn ... */
	PFS_AROUND,   /* pages of a file mapped by fault-around: addr dev ino off end_off */
	PFS_POPULATE, /* pages the kernel faulted in itself: start end by, or one such fault with its class */
	PFS_REACHED,  /* populating, the kernel got the pages of a file up to end_off: start end dev ino last count */
	PFS_ADVISE,   /* madvise changed which pages of [start, end) are mapped: advice interval */
	PFS_REMOTE,   /* the thread accessed memory of process `target`, at unknown addresses */
	PFS_EVICT,    /* pages of a file left the page cache, so nobody has them mapped: dev ino off end_off */
	PFS_MAP,      /* [start, end) is one region from now on: id perms off dev ino name ... */
	PFS_UNMAP,    /* regions are unmapped: op, and what that needs; without op: start end */
	PFS_PROTECT,  /* what is mapped in [start, end) now has perms, and other attributes if unknown */
	PFS_MOVE,     /* mremap moved the pages and attributes of [from, from+len) to [start, end) */
	PFS_BRK,      /* the program break: start = lowest break (where known), end = current one */
	PFS_FORK,     /* without child: the kernel begins to copy the address space; else child runs */
	PFS_THREAD,   /* a new thread `child` of the same process */
	PFS_EXEC,     /* the pending new image (space=exec) becomes the process: name */
	PFS_EXIT,     /* thread `tid` ended; last=1: the last one of its process */
	PFS_COMM,     /* the thread is now called `comm` */
	PFS_SIGNAL,   /* the last fault of this thread ended in signal `sig` instead of a page */
	PFS_HUGE,     /* the fault (or populate) under way got a page of 2^order base pages */
	PFS_MAJOR,    /* the fault under way had to read a page of the file (dev ino off) */
	PFS_CACHED,   /* the state of pages of a file in the page cache: dev ino off end_off state interval last */
	PFS_RESIDENT, /* a look at the page table found [start, end) mapped, or not: state; without these: it has ended */
	PFS_ACCESS, /* a page was referenced in the interval_ns before (sampling sources); or bytes of an object: see WATCH */
	PFS_ALLOC, /* the kernel allocated an object: ptr site func size allocated cache, or pages: pfn order size */
	PFS_FREE,  /* ... and freed it: ptr site func cache, or pfn order */
	PFS_STACK, /* from where the kernel allocated that object: ptr or pfn, frames */
	PFS_WATCH, /* from now on each access to [off, off+len) of the object at ptr is an `access`, until last=1: count */
	PFS_FRAMES, /* what the number `stack` of later events stands for: frames of the process, as its layout is now */
	PFS_LOST,   /* `count` events were lost on `cpu` since the last one there */
	PFS_NOTE,   /* a header fact: key value */
	PFS_TRACE,  /* a trace event that pfscope does not decode: key (its name) value (its fields as text) */
	PFS_NR_KINDS,
};

enum pfs_access { PFS_READ = 1, PFS_WRITE, PFS_EXECUTE };
enum pfs_mode { PFS_USER = 1, PFS_KERNEL };
enum pfs_class { PFS_MINOR = 1, PFS_MAJOR_CLASS };
enum pfs_how {
	PFS_HOW_ANON = 1,
	PFS_HOW_FILE,
	PFS_HOW_COW,
	PFS_HOW_SWAP,
	PFS_HOW_HUGE,
	PFS_HOW_NUMA,
	PFS_HOW_HIDDEN, /* by pfscope: the page was there all the time */
	PFS_NR_HOW,
};

/* The address space of the thread that an event is about; absent or 0: the current one. */
enum pfs_which {
	PFS_SPACE_CURRENT = 0,
	PFS_SPACE_FORK,	 /* the copy that a fork by this thread is making */
	PFS_SPACE_EXEC,	 /* the new image that an exec by this thread is building */
	PFS_SPACE_OTHER, /* that of the process that has region `id` there */
};

/* What an unmap removes, or a remote does; absent: PFS_OP_PLAIN. event.c has the fields that each needs. */
enum pfs_op {
	PFS_OP_PLAIN,	     /* whatever is mapped in [start, end) */
	PFS_OP_CLEAR,	     /* the whole address space: the end of a process, or of an exec that failed */
	PFS_OP_REPLACE,	     /* what makes room in [start, end) for region id, stored over [start, start + len) next */
	PFS_OP_MOVED,	     /* those regions of [start, end) that a move has taken elsewhere */
	PFS_OP_IF_MAPPED,    /* whatever is mapped in [start, end), if something is mapped at from */
	PFS_OP_DETACH_BEGIN, /* nothing yet: a shmdt of the segment attached at start begins */
	PFS_OP_DETACH,	     /* what that shmdt has removed: it succeeded */
	PFS_OP_RING,	     /* the aio ring at start */
	PFS_OP_FILLED,	     /* nothing: a `remote` filled pages by userfaultfd */
	PFS_NR_OPS,
};

/* Why the kernel faulted pages in by itself (PFS_POPULATE). */
enum pfs_by {
	PFS_BY_MMAP = 1,
	PFS_BY_MADVISE,
	PFS_BY_MLOCK,
	PFS_BY_MREMAP,
	PFS_BY_BRK,
	PFS_BY_SHMAT,
	PFS_BY_EXEC,
	PFS_BY_GUP,	    /* get_user_pages() by an unknown caller */
	PFS_BY_USERFAULTFD, /* another thread filled them: no fault is counted */
	PFS_BY_MPROTECT,    /* private memory that is locked became writable: as by writes */
	PFS_NR_BY,
};

/* What madvise was asked for (PFS_ADVISE): those of its values that change which pages are mapped, or copied by a fork. */
enum pfs_advice {
	PFS_ADVICE_DONTNEED = 1,
	PFS_ADVICE_FREE,
	PFS_ADVICE_PAGEOUT,
	PFS_ADVICE_REMOVE,
	PFS_ADVICE_COLLAPSE,
	PFS_ADVICE_WIPEONFORK,
	PFS_ADVICE_KEEPONFORK,
	PFS_ADVICE_COLD,
	PFS_NR_ADVICE,
};

/* By a value of madvise; 0: it is none of these. */
enum pfs_advice pfs_advice_of(uint64_t behavior);

/*
 * The state of a page in the page cache (PFS_CACHED): it was added, or what a probe found some time in the interval before.
 * Or in the page table (PFS_RESIDENT).
 */
enum pfs_cached {
	PFS_CACHE_ADDED = 1,
	PFS_CACHE_READY,  /* fault-around maps it */
	PFS_CACHE_HELD,	  /* fault-around passes over it: it is marked for readahead */
	PFS_CACHE_ABSENT, /* it is not there, or not read yet; not mapped */
	PFS_CACHE_MAPPED, /* in the page table */
	PFS_NR_CACHE,
};

/* Traits of a region that its line in /proc/PID/maps does not show. */
enum {
	PFS_TRAIT_STACK = 1,
	PFS_TRAIT_HUGETLB = 2,
	PFS_TRAIT_LOCKED = 4,
	PFS_TRAIT_NORESERVE = 8,
	PFS_TRAIT_SEALED = 16,
	PFS_TRAIT_GUARDED = 32,
	PFS_TRAIT_DROPPABLE = 64,
	PFS_TRAIT_THP = 128,	/* MADV_HUGEPAGE */
	PFS_TRAIT_NO_THP = 256, /* MADV_NOHUGEPAGE; the newer of the two holds */
};

/* How the kernel handled a fault: its FAULT_FLAG_* (linux/mm_types.h). */
enum {
	PFS_FLAG_WRITE = 1,
	PFS_FLAG_MKWRITE = 2,
	PFS_FLAG_ALLOW_RETRY = 4,
	PFS_FLAG_RETRY_NOWAIT = 8,
	PFS_FLAG_KILLABLE = 0x10,
	PFS_FLAG_TRIED = 0x20,
	PFS_FLAG_USER = 0x40,
	PFS_FLAG_REMOTE = 0x80,
	PFS_FLAG_INSTRUCTION = 0x100,
	PFS_FLAG_INTERRUPTIBLE = 0x200,
	PFS_FLAG_UNSHARE = 0x400,
	PFS_FLAG_ORIG_PTE_VALID = 0x800,
	PFS_FLAG_VMA_LOCK = 0x1000,
	PFS_FLAGS_KNOWN = 0x1fff,
};

/*
 * The fields of struct pfs_event: PFS_F_ constant, name in text, type, member, and the names of values or bits (event.c).
 */
/* clang-format off */
#define PFS_FIELDS(F) \
	F(CPU, cpu, S32, cpu, NULL) \
	F(PID, pid, S32, pid, NULL) \
	F(TID, tid, S32, tid, NULL) \
	F(COMM, comm, STR, comm, NULL) \
	F(SPACE, space, ENUM, space, space_names) \
	F(OP, op, ENUM, op, op_names) \
	F(ADDR, addr, HEX, addr, NULL) \
	F(START, start, HEX, start, NULL) \
	F(END, end, HEX, end, NULL) \
	F(FROM, from, HEX, from, NULL) \
	F(LEN, len, U64, len, NULL) \
	F(IP, ip, HEX, ip, NULL) \
	F(ACCESS, access, ENUM, access, access_names) \
	F(MODE, mode, ENUM, mode, mode_names) \
	F(CLASS, class, ENUM, class, class_names) \
	F(HOW, how, ENUM, how, how_names) \
	F(CODE, code, HEX, code, NULL) \
	F(FLAGS, flags, SET, flags, flags_names) \
	F(PFN, pfn, HEX, pfn, NULL) \
	F(PAGE_SIZE, page_size, U64, page_size, NULL) \
	F(LATENCY, latency, U64, latency_ns, NULL) \
	F(ID, id, HEX, id, NULL) \
	F(PERMS, perms, PERMS, perms, NULL) \
	F(OFF, off, U64, off, NULL) \
	F(END_OFF, end_off, U64, end_off, NULL) \
	F(DEV, dev, DEV, dev, NULL) \
	F(INO, ino, U64, ino, NULL) \
	F(TRAITS, traits, SET, traits, traits_names) \
	F(BY, by, ENUM, by, by_names) \
	F(ERROR, error, S32, error, NULL) \
	F(ADVICE, advice, ENUM, advice, advice_names) \
	F(TARGET, target, S32, target, NULL) \
	F(STATE, state, ENUM, state, state_names) \
	F(CHILD, child, S32, child, NULL) \
	F(CHILD_TID, child_tid, S32, child_tid, NULL) \
	F(SHARED, shared, BOOL, shared, NULL) \
	F(LAST, last, BOOL, last, NULL) \
	F(SIG, sig, S32, sig, NULL) \
	F(ORDER, order, U8, order, NULL) \
	F(COUNT, count, U64, count, NULL) \
	F(INTERVAL, interval, U64, interval_ns, NULL) \
	F(SITE, site, HEX, site, NULL) \
	F(FUNC, func, STR, func, NULL) \
	F(PTR, ptr, HEX, ptr, NULL) \
	F(SIZE, size, U64, size, NULL) \
	F(ALLOCATED, allocated, U64, allocated, NULL) \
	F(CACHE, cache, STR, cache, NULL) \
	F(STACK, stack, U64, stack, NULL) \
	F(FRAMES, frames, STR, frames, NULL) \
	F(KEY, key, STR, key, NULL) \
	F(VALUE, value, STR, value, NULL) \
	F(NAME, name, STR, name, NULL)
/* clang-format on */

/* One bit each in `have` and in `inferred`. */
#define PFS_F_(FIELD, ...) PFS_F_##FIELD,
enum pfs_field { PFS_FIELDS(PFS_F_) PFS_NR_FIELDS };
#define PFS_HAS(field) (UINT64_C(1) << (field))

/*
 * Strings are borrowed: valid during the call that passes the event, never freed by the receiver.
 * Addresses and file offsets are in bytes; ranges are half-open.
 */
struct pfs_event {
	uint64_t ts_ns;	   /* of the clock that the note "clock" names */
	uint64_t have;	   /* PFS_HAS(field) of each field that is known */
	uint64_t inferred; /* those of `have` that were concluded, not reported */
	enum pfs_kind kind;
	int32_t cpu;
	int32_t pid; /* the process: tgid */
	int32_t tid;
	uint8_t space;	/* enum pfs_which */
	uint8_t op;	/* enum pfs_op */
	uint8_t access; /* enum pfs_access */
	uint8_t mode;	/* enum pfs_mode */
	uint8_t class;	/* enum pfs_class */
	uint8_t how;	/* enum pfs_how */
	uint8_t perms;	/* PFS_PERM_* */
	uint8_t by;	/* enum pfs_by */
	uint8_t advice; /* enum pfs_advice */
	int32_t error;	/* populate: errno of the call; 0: it got all pages */
	uint8_t state;	/* enum pfs_cached */
	uint8_t shared; /* fork: the child runs in the parent's own space (vfork) */
	uint8_t last;	/* exit: of the last thread; reached: the file ends there */
	uint8_t order;
	uint16_t traits; /* PFS_TRAIT_* */
	uint16_t flags;	 /* PFS_FLAG_* */
	int32_t sig;
	int32_t target;
	int32_t child; /* fork: pid of the child; thread: tid of the new thread */
	int32_t child_tid;
	uint32_t dev; /* major << 20 | minor, as the kernel's own dev_t */
	uint64_t addr;
	uint64_t start, end;
	uint64_t from, len;
	uint64_t ip;
	uint64_t code; /* the error code of the exception */
	uint64_t pfn;
	uint64_t page_size; /* bytes that the entry of the page table maps */
	uint64_t latency_ns;
	uint64_t id; /* the kernel's identity of the region while it lives */
	uint64_t off, end_off;
	uint64_t ino;
	uint64_t count;
	uint64_t interval_ns;
	uint64_t site, ptr, size, allocated;
	const char *comm;
	const char *func; /* the site as function+0xoffset */
	const char *cache;
	/*
	 * "do_user_addr_fault+0x1c;0x55d0c0de1139;...": the innermost first; 0x and an address in user mode, or of no known
	 * function; "..." at the end: more were not recorded.
	 */
	const char *frames;
	uint64_t stack; /* number of the stack, defined by a `frames` before; never 0 */
	const char *key, *value;
	const char *name; /* path or [heap], [stack], ...; "" is known to be anonymous */
};

/* Whether dev and ino are of a file. The first System V segment of a machine has inode 0, but a device. */
static inline bool pfs_is_file(uint32_t dev, uint64_t ino)
{
	return dev || ino;
}

static inline bool pfs_has(const struct pfs_event *ev, enum pfs_field field)
{
	return ev->have >> field & 1;
}

static inline enum pfs_op pfs_event_op(const struct pfs_event *ev)
{
	return pfs_has(ev, PFS_F_OP) ? ev->op : PFS_OP_PLAIN;
}

/* Sets a field: PFS_SET(ev, addr, ADDR, 0x1000). */
#define PFS_SET(ev, member, FIELD, value) ((ev)->member = (value), (ev)->have |= PFS_HAS(PFS_F_##FIELD))

static inline void pfs_event_set_op(struct pfs_event *ev, enum pfs_op op)
{
	ev->op = op;
	ev->have |= PFS_HAS(PFS_F_OP);
}

/*
 * One or more faults in order of time that have these fields and no others, and differ in time, address and instruction
 * only. Nearly all faults of a recording are such. pfs_run_event() makes the event that each of them stands for.
 */
struct pfs_fault_run {
	const uint64_t *ts_ns, *addr, *ip; /* of each */
	uint32_t nr;
	int32_t cpu, tid;
	int32_t pid; /* 0: not known, so their events do not have it */
	uint64_t code;
	uint8_t access, mode;
};

static inline void pfs_run_event(struct pfs_event *ev, const struct pfs_fault_run *run, uint32_t i)
{
	*ev = (struct pfs_event){
		.ts_ns = run->ts_ns[i],
		.kind = PFS_FAULT,
		.cpu = run->cpu,
		.pid = run->pid,
		.tid = run->tid,
		.access = run->access,
		.mode = run->mode,
		.addr = run->addr[i],
		.ip = run->ip[i],
		.code = run->code,
		.have = PFS_HAS(PFS_F_CPU) | PFS_HAS(PFS_F_TID) | PFS_HAS(PFS_F_ADDR) | PFS_HAS(PFS_F_IP) |
			PFS_HAS(PFS_F_CODE) | PFS_HAS(PFS_F_ACCESS) | PFS_HAS(PFS_F_MODE) |
			(run->pid ? PFS_HAS(PFS_F_PID) : 0),
	};
}

/* Where events go. fn returns 0, or -errno to stop the source with that error. */
struct pfs_sink {
	int (*fn)(void *ctx, const struct pfs_event *ev);
	void *ctx;
	/* Takes several runs of faults, in order of time. 0 or -errno. NULL: the sink takes single events only. */
	int (*faults)(void *ctx, const struct pfs_fault_run *runs, unsigned int nr);
};

static inline int pfs_emit(const struct pfs_sink *sink, const struct pfs_event *ev)
{
	return sink->fn(sink->ctx, ev);
}

enum pfs_type {
	PFS_T_S32,
	PFS_T_U8,
	PFS_T_U64,
	PFS_T_HEX,
	PFS_T_ENUM,
	PFS_T_PERMS,
	PFS_T_SET,
	PFS_T_DEV,
	PFS_T_BOOL,
	PFS_T_STR,
};

/* Describes a field to what writes or parses events by name. */
struct pfs_field_info {
	const char *name; /* "addr", as in the text form */
	enum pfs_type type;
	size_t offset;		  /* in struct pfs_event */
	const char *const *names; /* of values (ENUM) or bits (SET) 0, 1, ...; NULL ends it */
};

/* The field table, indexed by enum pfs_field. */
extern const struct pfs_field_info pfs_fields[PFS_NR_FIELDS];

/* Flags of a kind. */
enum {
	PFS_KIND_THREAD = 1,	 /* happens to its thread, which the model then knows */
	PFS_KIND_RECORDING = 2,	 /* is about the recording, so nothing happened at its time */
	PFS_KIND_FILTERED = 4,	 /* filters drop it: no later event depends on it */
	PFS_KIND_ENDS_FAULT = 8, /* the thread runs on, so its last fault got a page */
};

struct pfs_kind_info {
	const char *name;   /* "fault", as in the text form */
	uint64_t needs;	    /* PFS_HAS() of the fields that an event of the kind needs */
	unsigned int flags; /* PFS_KIND_*; neither THREAD nor RECORDING: it is only printed */
};

/* The kind table, indexed by enum pfs_kind. */
extern const struct pfs_kind_info pfs_kinds[PFS_NR_KINDS];

static inline bool pfs_kind_is(const struct pfs_event *ev, unsigned int flags)
{
	return pfs_kinds[ev->kind].flags & flags;
}

/* Name of a kind ("fault"), or NULL if there is no such kind. */
const char *pfs_kind_name(enum pfs_kind kind);

/* PFS_HAS() of the fields that the event needs, by its kind and, of an unmap, its op; pages need no ptr. */
uint64_t pfs_event_needs(const struct pfs_event *ev);

/* The kind of that name (len bytes), or -ENOENT. */
int pfs_kind_find(const char *name, size_t len);

#endif
