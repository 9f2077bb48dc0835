/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the probe module writes and decode.c reads: records of one fixed size.
 *
 * Compiled on both sides, into the module and into pfscope. Records leave the kernel PFS_BATCH at a
 * time, one message of SystemTap's, so that its reader, which pays by the message, keeps up; a
 * batch that had to leave before it was full ends in PFS_REC_NONE. SystemTap puts 8 bytes before
 * each message and cuts its stream into blocks of 4 KiB or a multiple; PFS_BATCH * 120 + 8 divides
 * them, so that no message ever falls on the edge of a block, where SystemTap before 5.1 loses it
 * and what follows. All numbers are in the machine's own byte order: modules run where they are
 * read.
 *
 * Records are numbered by processor, those that could not be delivered as well. At the end one
 * PFS_REC_CPU a processor says how many there were: delivered + lost = happened.
 */
#ifndef PFS_STAP_WIRE_H
#define PFS_STAP_WIRE_H

#include <linux/types.h>

#define PFS_WIRE_VERSION    2
#define PFS_WIRE_MAGIC	    0x4f435346504653ULL /* in PFS_REC_HELLO */
#define PFS_BATCH	    17			/* records in a message */
#define PFS_NAME_MAX	    88			/* bytes of a string that one PFS_REC_NAME carries */
#define PFS_REGION_NAME_MAX 24			/* a name of up to so many is in the region's record */

enum pfs_rec_type {
	PFS_REC_NONE,	    /* all zero: fills up a batch, has no number; pass over it */
	PFS_REC_HELLO,	    /* hello; the first record */
	PFS_REC_PROBE,	    /* probe; NAME before: a kind of probe that is in force */
	PFS_REC_READY,	    /* counters; all targets are known, their layouts told */
	PFS_REC_FAULT,	    /* fault */
	PFS_REC_AROUND,	    /* around; pages of a file offered beside the fault just before */
	PFS_REC_LAYOUT,	    /* layout; REGIONs follow, then the END, whose [lo, hi) counts */
	PFS_REC_REGION,	    /* region; one of a layout, in order of address, whole */
	PFS_REC_LAYOUT_END, /* layout; all in [lo, hi) was told (less or more than LAYOUT
				 * said); lo == hi: only brk and the like were */
	PFS_REC_UNMAP,	    /* range; the pages of [start, end) go; 0 to ~0: all of mm */
	PFS_REC_MOVE,	    /* range; the pages of [start, end) are now at `to` */
	PFS_REC_FORK,	    /* life; a new process; its layout came before, under its own mm */
	PFS_REC_THREAD,	    /* life; a new thread */
	PFS_REC_EXEC,	    /* life; NAME before: program; layout before, under its mm */
	PFS_REC_EXIT,	    /* life; the thread ended */
	PFS_REC_COMM,	    /* comm; of `tid`: a new name, or that of a thread found */
	PFS_REC_SIGNAL,	    /* life.code: signal that the kernel itself sent to the thread */
	PFS_REC_NAME,	    /* name; a piece of what the next record of this cpu needs */
	PFS_REC_COUNTERS,   /* counters; when one of them changed; has no number */
	PFS_REC_CPU,	    /* cpu; at the end, for each processor that wrote anything */
	PFS_REC_END,	    /* counters; the last record */
	PFS_REC_NR
};

/* pfs_rec_fault.what */
enum {
	PFS_WHAT_EXCEPTION = 1, /* an exception (ip, code are known); else the kernel's own */
	PFS_WHAT_HANDLED = 2,	/* handle_mm_fault ran (vma ... ret are known) */
	PFS_WHAT_KERNEL = 4,	/* the processor was in kernel mode */
	PFS_WHAT_PFN = 8,	/* pfn is known */
	PFS_WHAT_HUGE = 16,	/* a huge page (PMD) is there now */
	PFS_WHAT_FILE = 32,	/* the region is a file's (dev, ino, pgoff are known) */
};

/* pfs_rec_fault.how: what the handler found, and so what it had to do */
enum {
	PFS_WAS_UNKNOWN,
	PFS_WAS_NONE,	 /* no page yet */
	PFS_WAS_PRESENT, /* a page; for a write: a read-only one, copied or made writable */
	PFS_WAS_SWAP,	 /* a swap entry */
	PFS_WAS_NUMA,	 /* protnone for NUMA balancing */
	PFS_WAS_HUGE,	 /* a huge page */
};

/* pfs_rec_layout.why */
enum {
	PFS_WHY_START,	/* of a process that ran already */
	PFS_WHY_CHANGE, /* the lock of the layout is given back after a change */
	PFS_WHY_FORK,	/* of a new process, before it runs */
	PFS_WHY_EXEC,	/* of a new image, whole, when its exec has succeeded */
	PFS_WHY_FAULT,	/* a fault found what was not told yet */
};

/* pfs_rec_region.special */
enum {
	PFS_NAME_NONE,	  /* anonymous */
	PFS_NAME_PATH,	  /* as the kernel prints it in maps, not escaped */
	PFS_NAME_SPECIAL, /* [vdso], [anon:...]: of no file */
	PFS_NAME_UNKNOWN, /* a file whose path is too long for the kernel to print */
};

/* pfs_rec_life.flags */
enum {
	PFS_LIFE_SHARED = 1, /* FORK: in the parent's own space (vfork) */
	PFS_LIFE_LAST = 2,   /* EXIT: it was the last thread of its process */
	PFS_LIFE_LEFT = 4,   /* EXIT: it goes on after an exec, but is asked for no more */
};

/* pfs_rec_region.traits: the values of PFS_TRAIT_* in lib/event/event.h */
enum {
	PFS_WIRE_HUGETLB = 2,
	PFS_WIRE_LOCKED = 4,
	PFS_WIRE_NORESERVE = 8,
	PFS_WIRE_SEALED = 16,
};

struct pfs_rec_hello {
	__u64 magic; /* PFS_WIRE_MAGIC */
	__u32 version, rec_size;
	__u32 page_shift, nr_cpus;
	__u32 dwarf; /* 1: probes placed with debuginfo */
	__u32 pad;
};

struct pfs_rec_probe {
	__u64 nr;
}; /* kinds the name stands for: 1 */

struct pfs_rec_fault {
	__u64 addr, ip;
	__u64 mm, vma, vm_start, vm_end;
	__u64 pfn;
	__u64 pgoff; /* of the page at addr, in pages */
	__u64 ino;
	__u64 latency_ns; /* in handle_mm_fault; retries of the same exception added up */
	__u32 dev;	  /* major << 20 | minor */
	__u32 code;	  /* error code of the processor */
	__u16 flags;	  /* FAULT_FLAG_* of linux/mm_types.h, of the last try */
	__u16 ret;	  /* VM_FAULT_*, low 16 bits. RETRY (0x400) here: it was given
				 * up, uncounted, or its end was not seen */
	__u8 what, how;
	__u16 rest; /* the fault's time outside the handler (it waits for locks, or is tried
				 * again), in units of 1024 ns; 65535: that much or more */
};

struct pfs_rec_around {
	__u64 addr, mm, ino;
	__u64 pgoff, end_pgoff; /* pages, end exclusive */
	__u32 dev, pad;
};

struct pfs_rec_layout {
	__u64 mm, lo, hi;
	__u64 start_brk, brk, start_stack;
	__u32 why, nr_regions; /* nr_regions: in LAYOUT_END */
};

struct pfs_rec_region {
	__u64 mm, vma, start, end;
	__u64 vm_flags;	  /* VM_READ 1, VM_WRITE 2, VM_EXEC 4, VM_MAYSHARE 0x80 ... */
	__u64 pgoff, ino; /* pgoff: of start, pages */
	__u32 dev;
	__u8 special, name_len, pad[2]; /* name_len: of the inline name; 0: see NAME before */
	char name[PFS_REGION_NAME_MAX];
	/* Of the VM flags those whose bits differ by kernel: PFS_WIRE_* */
	__u8 traits, pad2[7];
};

struct pfs_rec_range {
	__u64 mm, start, end, to;
};

struct pfs_rec_life {
	__u64 mm;		    /* FORK: the child's. EXEC: the new one. EXIT: the one it had */
	__s32 child_pid, child_tid; /* FORK, THREAD; EXEC: child_tid = tid before it took
					 * over (it has the new one some records earlier) */
	__u32 flags, code;	    /* PFS_LIFE_*; EXIT: exit code; SIGNAL: number */
	__u64 min_flt, maj_flt;	    /* of the (new) thread so far, as the kernel counted */
	char comm[16];		    /* FORK, THREAD, EXEC, EXIT: of the (new) thread */
};

struct pfs_rec_comm {
	char comm[16];
	__u64 mm;
	__u64 min_flt, maj_flt; /* of the thread so far, as the kernel counted. A fault that is being
				 * handled at the moment is in neither, and if it began before the thread
				 * was traced, it is not told either */
};

struct pfs_rec_name {
	__u32 total, offset;
	char piece[PFS_NAME_MAX];
};

struct pfs_rec_counters {
	__u64 skipped; /* probe hits that SystemTap skipped, all reasons */
	__u64 transport_failures;
	__u64 no_memory;  /* targets or layouts that could not be kept track of */
	__u64 untold;	  /* layouts that were told in more than one go */
	__u64 nr_targets; /* threads traced now */
};

struct pfs_rec_cpu {
	__u32 cpu, nr;
}; /* numbered before this; after it only CPU and END come */

struct pfs_rec {
	__u8 type; /* enum pfs_rec_type */
	__u8 len;  /* NAME: bytes in this piece */
	__u16 cpu;
	__u32 seq;	/* its number, of this processor, from 0 */
	__u64 ts_ns;	/* CLOCK_MONOTONIC. FAULT: of the exception (or when the handler was entered),
				 * though it is written when the fault is complete */
	__s32 pid, tid; /* tgid and thread it happened to */
	union {
		struct pfs_rec_hello hello;
		struct pfs_rec_probe probe;
		struct pfs_rec_fault fault;
		struct pfs_rec_around around;
		struct pfs_rec_layout layout;
		struct pfs_rec_region region;
		struct pfs_rec_range range;
		struct pfs_rec_life life;
		struct pfs_rec_comm comm;
		struct pfs_rec_name name;
		struct pfs_rec_counters counters;
		struct pfs_rec_cpu end;
		__u8 body[96];
	};
};

_Static_assert(PFS_BATCH * sizeof(struct pfs_rec) + 8 == 2048, "divides SystemTap's blocks");

#endif
