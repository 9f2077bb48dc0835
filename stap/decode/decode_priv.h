/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the decoder share. From the bottom: emit.c (begins events), mirror.c (regions of a space), space.c
 * (processes and their spaces), diff.c and layout.c (changes of regions), fault.c, life.c (forks, execs, exits),
 * objects.c (kernel objects), and decode.c on top, which orders records, hands them out and counts losses.
 */
#ifndef PFS_STAP_DECODE_PRIV_H
#define PFS_STAP_DECODE_PRIV_H

#include "base/hash.h"
#include "base/intern.h"
#include "decode/decode.h"
#include "decode/mirror.h"
#include "event/notes.h"
#include "tapset/objects.h"

enum { MAX_NAME = 8192 };

/* The thread that an event is about, and which of its address spaces. */
struct dec_subject {
	int32_t pid, tid;
	uint8_t space; /* enum pfs_which */
};

/* Records on their way into order, sorted by `key`. */
struct dec_queue {
	struct dec_queued {
		uint64_t key;
		struct pfs_rec rec;
	} * ring;
	size_t first, nr, max; /* max: a power of two, or 0 */
	uint64_t newest;
};

/* A CPU, or its watchpoints: the record numbers, and what several records make up together. */
struct dec_cpu {
	bool watches;	   /* its number is none of a CPU */
	uint64_t last_key; /* of the queue: its own order is kept */
	uint32_t next_seq;
	uint64_t last_ns;  /* of the last record decoded; 0: none */
	uint32_t final_nr; /* PFS_REC_CPU */
	bool final_known;
	bool in_layout, torn; /* between LAYOUT and LAYOUT_END; records of it are missing */
	bool name_bad;
	size_t name_len, name_total;
	char name[MAX_NAME + 1];
	struct pfs_rec layout;
	struct mirror_region *stated; /* regions of the layout so far; id 0 */
	unsigned int nr_stated, max_stated;
};

struct dec_thread {
	int32_t tid, pid;
	bool found; /* it was running before its first record */
	bool known; /* the counts before that are known: */
	uint64_t minor, major;
	char comm[17];
	bool failed;		    /* its last fault got no page, and no signal has come yet */
	struct dec_subject subject; /* of its last fault */
	uint64_t start, end;	    /* the region of that fault; 0 for an exception */
	UT_hash_handle hh;
};

struct dec_proc {
	int32_t pid;
	struct mirror *mirror; /* its current space; NULL: not known */
	bool space_gone;       /* its space was removed */
	bool over;	       /* its last thread has ended */
	bool uncounted;	       /* the first counts of one of its threads are unknown */
	unsigned int nr_found; /* threads that were running before their first record */
	uint64_t minor, major; /* counts of the threads that ended, since their first records */
	UT_hash_handle hh;
};

struct pfs_decoder {
	struct pfs_sink sink;
	struct pfs_decode_stats stats;
	struct dec_queue queue;
	struct dec_cpu **cpu;
	unsigned int nr_cpus;
	struct dec_thread *threads;
	struct dec_proc *procs;
	struct mirror *mirrors; /* of spaces, by mm */
	struct mirror *execs;	/* of these, the images that execs are building: one for each thread that executes */
	struct pfs_intern *names;
	uint64_t next_id;
	uint64_t last_ns;
	unsigned int page_shift;
	struct pfs_rec_counters counters; /* the newest */
	uint64_t counters_ns;		  /* of these; 0: none yet */
	uint64_t ready_ns;		  /* of the record READY; 0: none yet */
	bool has_around;		  /* fault-around is reported */
	bool has_objects;		  /* kernel objects are, instead of faults */
	const char *(*function)(const void *ctx, uint64_t addr, uint64_t *start); /* or NULL */
	const void *function_ctx;
	int failed; /* the result of every further call */
};

static inline uint64_t dec_page_size(const struct pfs_decoder *d)
{
	return UINT64_C(1) << d->page_shift;
}

/*
 * decode/emit.c. An event with the time and the CPU of the record, of the subject or of the record's own thread; a note,
 * subject NULL: about the whole recording.
 */
void dec_event(struct pfs_event *ev, const struct pfs_rec *rec, struct dec_subject subject, enum pfs_kind kind);
void dec_event_own(struct pfs_event *ev, const struct pfs_rec *rec, enum pfs_kind kind);
int dec_note(struct pfs_decoder *d, const struct pfs_rec *rec, const struct dec_subject *subject,
	     const struct pfs_fact *fact);

/* The string that came before this record of the CPU, or NULL. */
const char *dec_name(const struct dec_cpu *cpu);

/* Fields of an event. */
void dec_set_range(struct pfs_event *ev, uint64_t start, uint64_t end);
void dec_set_file(struct pfs_event *ev, uint32_t dev, uint64_t ino, uint64_t off);

/* decode/space.c. get: made if it is not there; NULL: no memory. */
struct dec_proc *dec_proc_find(struct pfs_decoder *d, int32_t pid);
struct dec_proc *dec_proc_get(struct pfs_decoder *d, int32_t pid);
struct dec_thread *dec_thread_get(struct pfs_decoder *d, int32_t tid, int32_t pid);
struct mirror *dec_mirror_find(struct pfs_decoder *d, uint64_t mm);
struct mirror *dec_mirror_get(struct pfs_decoder *d, uint64_t mm);
void dec_mirror_drop(struct pfs_decoder *d, struct mirror *m);
void dec_take_space(struct pfs_decoder *d, struct dec_proc *p, struct mirror *m);
struct mirror *dec_begin_fork(struct pfs_decoder *d, const struct pfs_rec *rec, uint64_t mm);
int dec_begin_exec(struct pfs_decoder *d, const struct pfs_rec *rec, uint64_t mm, struct mirror **m);
/* The image that an exec by that thread is building, or by any of the process (tid 0). NULL: none. */
struct mirror *dec_exec_of(const struct pfs_decoder *d, int32_t pid, int32_t tid);
int dec_exec_failed(struct pfs_decoder *d, const struct pfs_rec *rec, struct mirror *m);
bool dec_is_first_stack(const struct pfs_decoder *d, uint64_t end);
int dec_space_over(struct pfs_decoder *d, const struct pfs_rec *rec, struct mirror *m);
struct dec_subject dec_subject_of(struct pfs_decoder *d, const struct pfs_rec *rec, struct mirror *m);
void dec_leave_space(struct dec_proc *p);
void dec_execs_over(struct pfs_decoder *d, const struct dec_proc *p);
void dec_proc_renew(struct pfs_decoder *d, struct dec_proc *p);

/* decode/life.c */
int dec_fork(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_thread(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_exec(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec);
int dec_exit(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_comm(struct pfs_decoder *d, const struct pfs_rec *rec);

/* A change of one address space: the record that reports it, and the subject of its events. */
struct dec_site {
	struct pfs_decoder *d;
	const struct pfs_rec *rec;
	struct dec_subject subject;
	struct mirror *m;
};

/* decode/diff.c: all regions of [lo, hi), sorted; their `id` is 0 until dec_diff() has assigned it. */
struct dec_statement {
	struct mirror_region *region;
	unsigned int nr;
	uint64_t lo, hi;
	bool whole; /* no record is missing: nothing is mapped between the regions */
};
int dec_diff(const struct dec_site *site, struct dec_statement *statement);

/* Maps the region in the mirror and emits that; `all`: with its attributes, which are otherwise inherited. */
int dec_emit_map(const struct dec_site *site, const struct mirror_region *region, bool all);

/* The parts of the region outside of [start, end) become regions of their own. */
int dec_shrink(const struct dec_site *site, const struct mirror_region *region, uint64_t start, uint64_t end);

/* If a region extends on both sides of [start, end), the upper part becomes a region of its own. */
int dec_split_upper(const struct dec_site *site, uint64_t start, uint64_t end);
int dec_emit_unmap(const struct dec_site *site, uint64_t start, uint64_t end);

/* decode/layout.c. */
int dec_layout(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec);
int dec_region(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec);
int dec_layout_end(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec);
int dec_layout_cut_off(struct pfs_decoder *d, struct dec_cpu *cpu); /* its end did not come */
int dec_unmap(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_move(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_advise(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_fill(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_copy_begin(struct pfs_decoder *d, const struct pfs_rec *rec, struct mirror *child);
int dec_copy_rest(struct pfs_decoder *d, const struct pfs_rec *rec, struct mirror *child);

/* decode/fault.c. */
int dec_fault(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_around(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_evict(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_signal(struct pfs_decoder *d, const struct pfs_rec *rec);

/* decode/objects.c. */
int dec_object(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec);
int dec_page(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_task(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_child(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_watch(struct pfs_decoder *d, const struct pfs_rec *rec);
int dec_access(struct pfs_decoder *d, const struct pfs_rec *rec);

#endif
