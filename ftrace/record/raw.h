/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A raw event: one record of a ring buffer as pfscope needs it, before any conclusion.
 *
 * Both readers fill it: the binary one (record.c, from ring-buffer pages and event formats) and
 * the text one (text.c, from trace_pipe and trace-cmd report lines). assemble.c turns a stream of
 * them, ordered by time, into pfscope events; so the two inputs cannot drift apart.
 */
#ifndef PFS_RAW_H
#define PFS_RAW_H

#include "event/event.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum raw_kind {
	RAW_OTHER,	  /* an event that pfscope does not use; counted */
	RAW_FAULT_USER,	  /* arg: address, ip, error_code */
	RAW_FAULT_KERNEL, /* arg: address, ip, error_code */
	RAW_SYS_ENTER,	  /* nr = enum raw_sys; arg: the system call's arguments */
	RAW_SYS_EXIT,	  /* nr = enum raw_sys; arg[0]: result (as signed long) */
	RAW_CALL_ENTER,	  /* any system call, of 32-bit processes, too (i386.h); arg: its number, six arguments */
	RAW_CALL_EXIT,	  /* arg: its number, result */
	RAW_MA_WRITE,	  /* arg: index, last, val (pointer, hashed in text) */
	RAW_EXIT_MMAP,	  /* no arguments */
	RAW_EXEC,	  /* arg: pid, old_pid; str: filename */
	RAW_FORK,	  /* arg: parent_pid, child_pid; str: child_comm */
	RAW_NEWTASK,	  /* arg: pid, clone_flags; str: comm */
	RAW_EXIT,	  /* arg: pid, group_dead (0, 1, or RAW_ABSENT); str: comm */
	RAW_RENAME,	  /* arg: pid; str: newcomm */
	RAW_MAP_PAGES,	  /* arg: dev, ino, first page index, last page index (inclusive) */
	RAW_ADD_CACHE,	  /* arg: dev, ino, page index, order */
	RAW_FILE_FAULT,	  /* arg: dev, ino, page index */
	RAW_PAGE_ALLOC,	  /* arg: pfn, order, gfp_flags */
	RAW_SIGNAL,	  /* arg: sig, code, pid (the thread it is sent to) */
	RAW_LOST,	  /* on raw_event.cpu; arg: how many, time in ns of the record before the gap */
	RAW_DELETE_CACHE, /* arg: dev, ino, page index, order */
	/* kernel objects. Text only: arg[4]: 1 = the address is hashed; text: the call site as function+0xoffset */
	RAW_KMALLOC,	 /* arg: call site, address, bytes requested, bytes allocated; arg[5]: flags of its context */
	RAW_CACHE_ALLOC, /* the same; str: the cache */
	RAW_CACHE_FREE,	 /* arg: call site, address; str: the cache, if it was known */
	RAW_PAGE_FREE,	 /* arg: pfn, order */
	RAW_WPROBE, /* arg: the instruction after the access, address, offset in the object, value after it, word */
	RAW_STACK,  /* of the event before, in that context. arg: how many, flags, -, as below; record: as below */
	/*
	 * The user's stack at the event before, in that context. arg: how many, flags, how many there is room for, 1 = of an
	 * event that was passed over; record: addresses, of 8 bytes
	 */
	RAW_USER_STACK,
	/* of the tracers that capture/tracers.c enables */
	RAW_HANDLER,	 /* handle_mm_fault begins; arg: address, flags, vma, start, end */
	RAW_HANDLER_END, /* ... ends; arg: its result */
	RAW_FUNCTION,	 /* arg: enum pfs_handler, key of the caller's name, ip, caller's ip */
	/* of the module that hides pages: the handler has met one of them. arg: address, 1 = get_user_pages' */
	RAW_HIDDEN,
	/* of DAMON, which watches pages for pfscope */
	RAW_DAMON, /* arg: number of the target, start, end, how often it was seen used */
	/* pfscope's own records (sideband.h), written beside the kernel's */
	RAW_PFS_MAP,  /* arg: start, end, off, dev, ino, prot, flags, source; str: name */
	RAW_PFS_TASK, /* arg: tid, pid, PFS_TASK_*; str: comm */
	RAW_PFS_NOTE, /* str: "key=value" */
	RAW_PFS_HIST, /* arg: address, error code, count, 1 = kernel mode, interval in ns */
	/* arg: dev, ino, start and end in bytes, enum pfs_cached, age in ns, 1 = the file's last one, order of its folios */
	RAW_PFS_CACHED,
	/* arg: the instruction after it, the watched object, offset in it and bytes watched, enum pfs_access, pid */
	RAW_PFS_ACCESS,
	/* arg: object, offset, bytes; words that these were chosen from, or, at the end, accesses lost; 1 = the end */
	RAW_PFS_WATCH,
	/*
	 * Of a fault of the thread just before. arg: address, ip, number of the stack (0: none), how many frames of the user it
	 * has, 0 or where the kernel met a page that is not there while it dumped the stack; str: its frames, if they are new
	 */
	RAW_PFS_STACK,
	RAW_NR_KINDS,
};

/* Is it one that pfscope makes use of, but prints as others, too, since users record it for itself? */
static inline bool raw_is_call(enum raw_kind kind)
{
	return kind == RAW_CALL_ENTER || kind == RAW_CALL_EXIT;
}

static inline bool raw_is_stack(enum raw_kind kind)
{
	return kind == RAW_STACK || kind == RAW_USER_STACK;
}

/* Is it about an object of the kernel, so that recordings of faults do without? */
static inline bool raw_is_object(enum raw_kind kind)
{
	return kind >= RAW_KMALLOC && kind <= RAW_STACK;
}

/* Does it say which threads and processes there are? */
static inline bool raw_is_of_process(enum raw_kind kind)
{
	return kind >= RAW_EXEC && kind <= RAW_RENAME;
}

#define RAW_ABSENT   UINT64_MAX
#define RAW_MAX_ARGS 8

/* The system calls that change or populate a layout. */
enum raw_sys {
	SYS_OTHER,
	SYS_MMAP,
	SYS_MUNMAP,
	SYS_MREMAP,
	SYS_MPROTECT,
	SYS_PKEY_MPROTECT,
	SYS_BRK,
	SYS_MADVISE,
	SYS_PROCESS_MADVISE,
	SYS_SHMAT,
	SYS_SHMDT,
	SYS_EXECVE,
	SYS_EXECVEAT,
	SYS_CLONE,
	SYS_CLONE3,
	SYS_FORK,
	SYS_VFORK,
	SYS_MLOCK,
	SYS_MLOCK2,
	SYS_MLOCKALL,
	SYS_MUNLOCKALL,
	SYS_REMAP_FILE_PAGES,
	SYS_PRCTL,
	SYS_MSEAL,
	SYS_IO_DESTROY,
	SYS_PROCESS_VM_READV,
	SYS_PROCESS_VM_WRITEV,
	SYS_PTRACE,
	SYS_MUNLOCK,
	SYS_USERFAULTFD,
	SYS_IOCTL, /* of a userfaultfd only */
	SYS_NR,
};

/* RAW_PFS_TASK, arg[2]: it is there; it ended; its exec can no longer fail, and this is its new name. */
enum { PFS_TASK_LIVES, PFS_TASK_ENDED, PFS_TASK_EXECS };

/* RAW_PFS_MAP, arg[7]: where the line comes from. */
enum { PFS_MAP_SIDEBAND, PFS_MAP_SNAPSHOT };

struct raw_event {
	uint64_t ts_ns;
	enum raw_kind kind;
	enum raw_sys nr;
	int32_t cpu; /* -1: unknown */
	int32_t tid;
	int32_t tgid;		    /* -1: not in this record */
	const char *comm;	    /* of the thread, NULL: not in this record */
	const char *str;	    /* NULL: absent. Borrowed, like comm */
	uint64_t arg[RAW_MAX_ARGS]; /* RAW_ABSENT where the record does not have it */
	/* of RAW_OTHER, where a reader was asked for those; str is the event's name */
	const char *text;   /* its fields, as the kernel or libtraceevent prints them */
	const void *record; /* from pfs_merge: its bytes instead, text and str are not set (and see RAW_STACK) */
	uint32_t record_len;
};

/* A loss on that CPU (-1: unknown) of nr events (RAW_ABSENT: unknown) since a record of that time (0: unknown). */
static inline void raw_event_lost(struct raw_event *ev, int32_t cpu, uint64_t nr, uint64_t since_ns)
{
	*ev = (struct raw_event){ .kind = RAW_LOST, .cpu = cpu, .tid = -1, .tgid = -1 };
	memset(ev->arg, 0xff, sizeof(ev->arg));
	ev->arg[0] = nr;
	if (since_ns)
		ev->arg[1] = since_ns;
}

/*
 * Anyone may print into a ring buffer. Is that of the event (arg[0]: ip, str: text) a mark of the module that hides pages
 * (stap/tapset/mark.stp)? Then arg[1] is set.
 */
bool raw_hidden_take(struct raw_event *ev);

/* One of pfscope's own records, about a process by its first thread (0: about none). */
static inline struct raw_event raw_event_own(enum raw_kind kind, uint64_t ts_ns, int32_t pid)
{
	return (struct raw_event){ .kind = kind, .ts_ns = ts_ns, .cpu = -1, .tid = pid, .tgid = pid ? pid : -1 };
}

/* Where raw events go, in order of time. Returns 0, or -errno to stop the reader. */
typedef int (*raw_event_fn)(void *ctx, const struct raw_event *ev);

/*
 * The same for plain faults (fault_batch.h): several runs at once, in order of time. The receiver fills in pid and
 * access, and may change the runs.
 */
typedef int (*raw_faults_fn)(void *ctx, struct pfs_fault_run *runs, unsigned int nr);

/*
 * The table that names every kernel event pfscope reads, shared by both readers and by capture.
 * Adding an event is a row here and one in assemble.c.
 */
struct raw_desc {
	const char *system, *name; /* a system "GROUP_*" stands for all that begin with "GROUP_" */
	enum raw_kind kind;
	enum raw_sys nr;
	const char *args[RAW_MAX_ARGS]; /* field of each argument; alternatives as "a|b", of an array "a[2]" */
	const char *str;		/* field of the string, or NULL */
};
extern const struct raw_desc raw_descs[];
extern const unsigned int nr_raw_descs;

/* Whether an event of this system is meant by the row. */
bool raw_desc_of_system(const struct raw_desc *desc, const char *system);

/* Which events a recording has, as a reader learns of them; zeroed at first. */
struct raw_seen {
	bool faults;	 /* page faults */
	bool objects;	 /* kernel objects */
	bool own;	 /* pfscope's own records: without objects it recorded faults, even if there were none */
	unsigned int nr; /* of names[] */
	char names[320]; /* of a few others: " sched:sched_switch, sched:sched_wakeup, ...," */
};

/* Was it made to record faults? */
static inline bool raw_seen_faults(const struct raw_seen *seen)
{
	return seen->faults || (seen->own && !seen->objects);
}

/* An event whose name is at `name`, and ends where no letter, digit or _ is. system may be NULL. */
void raw_seen_add(struct raw_seen *seen, enum raw_kind kind, const char *system, const char *name);

/* The row of an event. system may be NULL (unknown, as in text). NULL: none. */
const struct raw_desc *raw_desc_find(const char *system, const char *name);

#endif
