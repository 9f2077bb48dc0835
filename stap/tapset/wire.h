/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records that the probe module writes and the decoder (stap/decode/) reads; compiled into both.
 *
 * Records are of one fixed size and leave the kernel PFS_BATCH at a time, as one message of SystemTap's, whose reader
 * pays by the message; a batch that leaves early is filled up with PFS_REC_NONE. SystemTap puts 8 bytes before each
 * message and divides its stream into blocks of 4 KiB or a multiple. PFS_BATCH * 120 + 8 divides them: SystemTap
 * before 5.1 loses messages on the edge of a block. Numbers are in the machine's byte order.
 *
 * Records are numbered by CPU, including those that could not be delivered. At the end one PFS_REC_CPU per CPU has
 * the total: delivered + lost.
 */
#ifndef PFS_STAP_WIRE_H
#define PFS_STAP_WIRE_H

#include <linux/types.h>

#define PFS_WIRE_VERSION    6
#define PFS_WIRE_MAGIC	    0x4f435346504653ULL /* in PFS_REC_HELLO */
#define PFS_BATCH	    17			/* records in a message */
#define PFS_NAME_MAX	    88			/* bytes of a string that one PFS_REC_NAME carries */
#define PFS_REGION_NAME_MAX 24			/* bytes of a name within the region's record */

enum pfs_rec_type {
	PFS_REC_NONE,	    /* all zero: fills up a batch, has no number */
	PFS_REC_HELLO,	    /* hello; the first record */
	PFS_REC_PROBE,	    /* no body; NAME before: a kind of probe that is placed */
	PFS_REC_READY,	    /* counters; all targets are known, their layouts reported */
	PFS_REC_FAULT,	    /* fault */
	PFS_REC_AROUND,	    /* around; fault-around of the fault just before */
	PFS_REC_LAYOUT,	    /* layout; REGIONs follow, then the END, whose [lo, hi) counts */
	PFS_REC_REGION,	    /* region; one of a layout, in order of address, whole */
	PFS_REC_LAYOUT_END, /* layout; all of [lo, hi) was reported, less or more than in
				 * LAYOUT; lo == hi: only brk and the like */
	PFS_REC_UNMAP,	    /* range; the pages of [start, end) are unmapped; 0 to ~0: all of mm */
	PFS_REC_MOVE,	    /* range; the pages of [start, end) are now at `to` */
	PFS_REC_FORK,	    /* life; a new process; its layout came before, under its own mm */
	PFS_REC_THREAD,	    /* life; a new thread */
	PFS_REC_EXEC,	    /* life; NAME before: program; layout before, under its mm */
	PFS_REC_EXIT,	    /* life; the thread ended */
	PFS_REC_COMM,	    /* comm; of `tid`: a new name, or that of a thread that was running already */
	PFS_REC_SIGNAL,	    /* life.code: signal that the kernel itself sent to the thread */
	PFS_REC_NAME,	    /* name; a piece of a string for the next record of this CPU */
	PFS_REC_COUNTERS,   /* counters; when one of them changed; has no number */
	PFS_REC_CPU,	    /* cpu; at the end, for each CPU that wrote records */
	PFS_REC_END,	    /* counters; the last record */
	PFS_REC_EVICT,	    /* around, without addr and mm; pages of a mapped file left the page cache */
	PFS_REC_ADVISE,	    /* advise; a madvise of the thread has returned */
	PFS_REC_FILL,	    /* range; a userfaultfd filled [start, end), with the pages that were at `to`
				 * (0: with others) */
	PFS_REC_NR
};

/* pfs_rec_fault.what */
enum {
	PFS_WHAT_EXCEPTION = 1, /* an exception (ip, code are known); else the kernel's own */
	PFS_WHAT_HANDLED = 2,	/* handle_mm_fault ran (vma ... ret are known) */
	PFS_WHAT_KERNEL = 4,	/* the CPU was in kernel mode */
	PFS_WHAT_PFN = 8,	/* pfn is known */
	PFS_WHAT_HUGE = 16,	/* a huge page (PMD) is mapped now */
	PFS_WHAT_FILE = 32,	/* the region is a file's (dev, ino, pgoff are known) */
};

/* pfs_rec_fault.how: the page-table entry that the handler found */
enum {
	PFS_WAS_UNKNOWN,
	PFS_WAS_NONE,	 /* no page yet */
	PFS_WAS_PRESENT, /* a page; for a write: a read-only one, copied or made writable */
	PFS_WAS_SWAP,	 /* a swap entry */
	PFS_WAS_NUMA,	 /* protnone for NUMA balancing */
	PFS_WAS_HUGE,	 /* a huge page */
	PFS_WAS_HIDDEN,	 /* protnone, by pfscope (or NUMA balancing) */
};

/* pfs_rec_layout.why */
enum {
	PFS_WHY_START,	/* of a process that was running already */
	PFS_WHY_CHANGE, /* the lock of the layout is released after a change */
	PFS_WHY_FORK,	/* of a new process, before it runs */
	PFS_WHY_EXEC,	/* of a new image, whole, when its exec has succeeded */
	PFS_WHY_FAULT,	/* at a fault in a region that was not reported yet */
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
	PFS_LIFE_LEFT = 4,   /* EXIT: it continues after an exec, but is no target any more */
};

/* pfs_rec_region.traits: the values of PFS_TRAIT_* in lib/event/event.h */
enum {
	PFS_WIRE_HUGETLB = 2,
	PFS_WIRE_LOCKED = 4,
	PFS_WIRE_NORESERVE = 8,
	PFS_WIRE_SEALED = 16,
	PFS_WIRE_DROPPABLE = 64,
};

struct pfs_rec_hello {
	__u64 magic; /* PFS_WIRE_MAGIC */
	__u32 version, rec_size;
	__u32 page_shift, nr_cpus;
	__u32 dwarf; /* 1: probes placed with debuginfo */
	__u32 marks; /* 1: pages are hidden for another source, and nothing is recorded */
};

struct pfs_rec_fault {
	__u64 addr, ip;
	__u64 mm, vma, vm_start, vm_end;
	__u64 pfn;
	__u64 pgoff; /* of the page at addr, in pages */
	__u64 ino;
	__u64 latency_ns; /* in handle_mm_fault; retries of the same exception added up */
	__u32 dev;	  /* major << 20 | minor */
	__u32 code;	  /* error code of the exception */
	__u16 flags;	  /* FAULT_FLAG_* of linux/mm_types.h, of the last try */
	__u16 ret;	  /* VM_FAULT_*, low 16 bits. RETRY (0x400): not completed, or
				 * its end was not seen */
	__u8 what;
	__u8 how : 4;	/* PFS_WAS_* */
	__u8 order : 4; /* the page is in a folio of 2^order pages, all of which are mapped now; 0: or not */
	__u16 rest;	/* the fault's time outside the handler (locks, retries), in units of
				 * 1024 ns; 65535: that much or more */
};

struct pfs_rec_around {
	__u64 addr, mm, ino;
	__u64 pgoff, end_pgoff; /* pages, end exclusive */
	__u32 dev;
	__u32 exact;  /* 0: `mapped` is not known, any page may be */
	__u64 mapped; /* a bit for each page that was mapped meanwhile, from pgoff on */
};

struct pfs_rec_advise {
	__u64 mm, start, end;
	__u64 begun_ns;	     /* CLOCK_MONOTONIC */
	__s32 behavior, ret; /* MADV_*; 0 or -errno */
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
	__u8 special, name_len; /* name_len: of the inline name; 0: see NAME before */
	__u8 page_shift, pad;	/* page_shift: of hugetlbfs; else 0 */
	char name[PFS_REGION_NAME_MAX];
	/* PFS_WIRE_*: the VM flags whose bits differ by kernel */
	__u8 traits, pad2[7];
};

struct pfs_rec_range {
	__u64 mm, start, end, to;
	__u64 sparse; /* FILL: 1: there may have been no page at some of `to` */
};

struct pfs_rec_life {
	__u64 mm;		    /* FORK: the child's. EXEC: the new one. EXIT: the one it had */
	__s32 child_pid, child_tid; /* FORK, THREAD; EXEC: child_tid is the tid before it
					 * took over the first thread's number */
	__u32 flags, code;	    /* PFS_LIFE_*; EXIT: exit code; SIGNAL: number */
	__u64 min_flt, maj_flt;	    /* of the (new) thread so far, as the kernel counted */
	char comm[16];		    /* FORK, THREAD, EXEC, EXIT: of the (new) thread */
};

struct pfs_rec_comm {
	char comm[16];
	__u64 mm;
	__u64 min_flt, maj_flt; /* of the thread so far, as the kernel counted. Without a fault that is
				 * being handled, which is not recorded if it began before the thread was
				 * traced */
};

struct pfs_rec_name {
	__u32 total, offset;
	char piece[PFS_NAME_MAX];
};

struct pfs_rec_counters {
	__u64 skipped; /* probe hits that SystemTap skipped, all reasons */
	__u64 transport_failures;
	__u64 no_memory;  /* targets or layouts that could not be added */
	__u64 partial;	  /* reports of layouts that took several parts */
	__u64 nr_targets; /* threads traced now */
};

struct pfs_rec_cpu {
	__u32 cpu, nr;
}; /* nr does not count this record; only CPU and END follow it */

struct pfs_rec {
	__u8 type;   /* enum pfs_rec_type */
	__u8 len;    /* NAME: bytes in this piece */
	__u16 cpu;   /* whose records are in order and numbered; of watchpoints (objects.h) a number above all CPUs */
	__u32 seq;   /* its number on this CPU, from 0 */
	__u64 ts_ns; /* CLOCK_MONOTONIC. FAULT: of the exception (or when the handler was entered),
				 * though it is written when the fault is complete */
	__s32 pid, tid; /* tgid and thread it happened to */
	union {
		struct pfs_rec_hello hello;
		struct pfs_rec_fault fault;
		struct pfs_rec_around around;
		struct pfs_rec_advise advise;
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
