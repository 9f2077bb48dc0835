/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the room share. From the bottom: queue.c (records on their way to events, in order of time),
 * proc.c (processes), dump.c (--stack=dwarf), emit.c (where events go), chain.c (stacks), layout.c (/proc/PID/maps, and which
 * pages are mapped), decode.c (records to events), source.c (the source's operations).
 */
#ifndef PFS_FAULTS_PRIV_H
#define PFS_FAULTS_PRIV_H

#include "faults/faults.h"

#include "base/hash.h"
#include "event/stack_numbers.h"
#include "os/kallsyms.h"
#include "os/pagemap.h"
#include "os/perf_event.h"

#include <stdio.h>

struct perf_item {
	uint64_t ts_ns;
	uint64_t addr, ip; /* of a fault */
	uint64_t phys;	   /* of its address, and how large the page is that is mapped there; 0: unknown */
	union {
		uint64_t page_size;
		uint64_t took_ns; /* of a layout: its read */
	};
	uint64_t order; /* of arrival: equal times keep it */
	int32_t cpu, pid, tid;
	uint8_t kind; /* enum perf_kind */
	uint8_t mode, class;
	void *data; /* a record, a note "KEY=VALUE", the text of maps, struct perf_pages; of a fault: struct perf_chain, struct pfs_stack_sample, or NULL */
};

enum perf_kind { PERF_FAULT, PERF_RECORD, PERF_NOTE, PERF_LAYOUT, PERF_PAGES };

/* queue.c */
struct perf_session;

struct perf_queue {
	struct perf_item *items;
	size_t nr, max;
	uint64_t arrivals;
	bool sorted;
};

/* Adds it; data becomes the queue's, also on failure. 0 or -ENOMEM. */
int perf_queue_put(struct perf_queue *q, struct perf_item item);

/* Passes on the items of before until_ns in order. 0 or what fn returned; those that were passed on are gone. */
int perf_queue_flush(struct perf_queue *q, uint64_t until_ns, int (*fn)(void *ctx, const struct perf_item *item),
		     void *ctx);
void perf_queue_free(struct perf_queue *q);

/* The first record of that type of the thread that is in the queue behind the item. NULL: none (yet). */
const struct perf_item *perf_queue_next(const struct perf_queue *q, const struct perf_item *item, uint32_t type);

enum { PERF_SIZES_MAX = 128 };

struct perf_proc {
	int32_t key;		 /* its number */
	unsigned int nr_threads; /* that live */
	bool changed;		 /* since it was looked at: a fault or a mapping */
	uint64_t looked_ns;	 /* when that was, and how long it took */
	uint64_t took_ns;
	char sizes[PERF_SIZES_MAX]; /* at that time: /proc/PID/statm */
	uint64_t pause_ns, due_ns;  /* until the next time, and when that is; 0: at once */
	/* what the events so far tell */
	uint64_t exec_ns; /* the last exec; 0: none */
	char *maps;	  /* the text of its layout, or NULL */
	bool mapped;	  /* something since */
	bool empty;	  /* its new image has no mapping yet */
	bool executing;	  /* ... and nothing was executed in user mode: its registers may be the old image's */
	bool anew;	  /* ... which was told anew since its pages were */
	struct pfs_page_ranges present;
	struct pfs_unwind_space *space; /* its code, with --stack=dwarf; NULL: none so far */
	UT_hash_handle hh;
};

/* The result of a look at the page table: the regions, then what is present. */
struct perf_pages {
	uint64_t took_ns;
	size_t nr_regions, nr_present;
	struct pfs_page_range range[];
};

struct perf_cpu {
	struct pfs_perf_ring ring;
	struct perf_session *session;
	int cpu;
	bool hung_up;
	uint64_t last_ns; /* of its last record; 0: none yet */
	uint64_t nr_lost; /* records, as far as it reported them */
};

/* The call chain of a fault, as perf has it: with PERF_CONTEXT_* between its parts. */
struct perf_chain {
	uint64_t nr;
	uint64_t ip[];
};

/* An event. */
struct perf_open {
	int fd, cpu;
};

struct perf_session {
	struct pfs_live base;
	struct pfs_source_config config;
	bool kernel;			   /* faults in kernel mode, too */
	bool pfn;			   /* --pfn */
	unsigned int max_frames;	   /* --stack: of a call chain; 0: none are recorded */
	struct pfs_stack_numbers *numbers; /* of these */
	struct pfs_symbols *symbols;	   /* of the kernel; NULL: not known */
	struct perf_unwinder *unwinder;	   /* --stack=dwarf; else NULL */
	char *frames;			   /* the text of one */
	size_t max_frames_text;
	bool scans;	  /* which pages are mapped can be asked for */
	bool counts_lost; /* an event tells how many of its records were lost (Linux 6.0) */
	struct perf_cpu *cpus;
	int nr_cpus;
	unsigned int nr_pages; /* of a ring */
	uint64_t page_size;
	struct perf_open *events;
	size_t nr_events, max_events;
	struct perf_queue queue;
	struct perf_proc *procs;
	uint64_t due_ns;     /* when the next look at a process may be due */
	uint64_t drained_ns; /* when the last drain began: all records of before are in the queue */
	FILE *spool;	     /* event lines */
	struct pfs_export *writer;
	uint64_t nr_faults, nr_before;
	uint64_t nr_counted; /* faults of the command, as the kernel counted them; 0: not known */
	struct pollfd *poll_fds;
	unsigned int max_poll;
};

/* proc.c: the process, made if it is not known. NULL: no memory. */
struct perf_proc *perf_proc(struct perf_session *s, int32_t pid);
void perf_proc_end(struct perf_session *s, struct perf_proc *proc);
void perf_procs_free(struct perf_session *s);

/* dump.c, with --stack=dwarf: opens what it takes. */
int perf_unwinder_open(struct perf_session *s, struct pfs_err *err);
void perf_unwinder_close(struct perf_session *s);

/* Receives each event before the faults behind it. 0 or -ENOMEM. */
int perf_dump_event(struct perf_session *s, const struct pfs_event *ev);

/* The chain of an item with a dump; *cut: its outermost frames are not known. Valid until the next call. NULL: no memory. */
const struct perf_chain *perf_dump_chain(struct perf_session *s, struct perf_proc *p, const struct perf_item *item,
					 bool *cut);

/* emit.c: passes on an event, into the spool and to who listens. 0 or -errno. */
int perf_emit(struct perf_session *s, const struct pfs_event *ev);

/*
 * chain.c: the fault gets the number of its stack; if it is a new one, that is defined first. Without the kernel's part of a
 * fault in kernel mode with only_kernel. cut: frames are missing. 0 or -errno.
 */
int perf_chain(struct perf_session *s, struct pfs_event *ev, const struct perf_chain *chain, bool only_kernel,
	       bool cut);

/* decode.c: one record of a ring into the queue; a pfs_perf_fn, ctx is the perf_cpu. */
int perf_take(void *ctx, const struct perf_event_header *header);

/* An item of the queue to events; ctx is the source. */
int perf_decode(void *ctx, const struct perf_item *item);

/*
 * layout.c: reads the layouts of the processes that have changed and are due, and which of their pages are mapped, into the
 * queue; or of all, for a change that keeps all sizes is not noticed. Sets due_ns. 0 or -ENOMEM.
 */
int perf_look_at(struct perf_session *s, bool all);

/* These to events. */
int perf_layout(struct perf_session *s, const struct perf_item *item);
int perf_pages(struct perf_session *s, const struct perf_item *item);

#endif
