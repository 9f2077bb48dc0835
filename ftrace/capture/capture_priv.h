/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a capture. Their functions are declared from the bottom up: each part calls only those before it.
 * Operations of struct pfs_source have its contracts (lib/event/source.h); here they are named capture_*.
 */
#ifndef PFS_CAPTURE_PRIV_H
#define PFS_CAPTURE_PRIV_H

#include "assemble/assemble.h"
#include "capture/capture.h"
#include "os/limits.h"
#include "record/formats.h"
#include "record/merge.h"
#include "record/pfscope_records.h"
#include "record/ringpage.h"
#include "sideband/accounts.h"
#include "sideband/cache.h"
#include "sideband/dumps.h"
#include "sideband/sideband.h"
#include "sideband/snapshot.h"
#include "text/text.h"
#include "tracefs/hist.h"
#include "tracefs/instance.h"

#define MAX_EVENTS 64
#define NR_HIST	   2

/* Until then an event with an earlier time may still be written on another CPU. */
#define CAPTURE_MARGIN_NS 5000000

struct ftrace_options {
	bool probes;	/* record what the fault handler got and returned */
	bool latency;	/* ... and the time it took */
	bool classify;	/* ... and the functions that it called */
	bool histogram; /* count faults by page in the kernel instead of recording each */
	bool text;	/* read the lines of trace_pipe instead of pages */
	bool compress;
	bool calls_32bit; /* have the kernel look out for 32-bit programs, to record their system calls */
	const char *events[MAX_EVENTS + 1]; /* other events, "SYSTEM:EVENT" or "SYSTEM"; NULL ends the list */
	unsigned int nr_events;
};

struct capture_cpu {
	int raw_fd; /* trace_pipe_raw; -1: there is no such CPU */
	int spool_fd;
	uint64_t bytes;	      /* in the spool */
	uint64_t dropped;     /* events, when it was cleared */
	uint64_t lost_before; /* events, until then */
	uint64_t fullest;     /* most bytes that one drain found */
};

/* From the ring buffers to the spools. */
struct capture_drain {
	struct capture_cpu *cpus;
	int nr_cpus;
	int pipe_fds[2];    /* between the two splices */
	uint32_t page_size; /* of a sub-buffer */
	uint8_t *page;
	struct pfs_merge *live; /* live decoding, or NULL */
	uint64_t flushed_ns;	/* own records up to then are written */
	bool once; /* only what is there when it begins: to read allocates, and may so make events without an end */
	struct pollfd *poll_fds;
	unsigned int max_poll;
};

/* pfscope's own records, a stream like a CPU's. */
struct capture_own {
	struct pfs_records records;
	struct pfs_ringwrite *pages;
	int fd;
	uint64_t last_ns; /* of the last one written */
};

/* --via=text */
struct capture_text {
	int pipe_fd;  /* trace_pipe */
	int spool_fd; /* of lines */
	char *carry;  /* lines that wait for own records before them */
	size_t carry_len, carry_max;
	struct pfs_text *live;
};

/* What is recorded beyond events. */
struct capture_tracers {
	bool has_probes, has_functions, has_hist;
	char group[128]; /* of the dynamic events */
	const char *probes_how;
	char *functions;	     /* that are traced, in one line */
	struct pfs_symbols *symbols; /* until the formats own them */
	struct pfs_hist hist[NR_HIST];
	uint64_t start_ns;
};

/* Processes that were running before the start. */
struct capture_running {
	struct pfs_snapshot *processes;
	unsigned int nr, max;
	struct pfs_tids tids; /* their threads */
	bool begun;	      /* see capture_begin_running() */
};

/* A process that joined, whose layout is read some more times. */
struct capture_joined {
	struct pfs_snapshot layout;
	unsigned int nr_looks;
	uint64_t next_ns;
};

/* All processes of a user. */
struct capture_joins {
	int connector_fd; /* until the watcher has it */
	bool polls;	  /* there is no connector: the watcher polls /proc */
	pid_t dead_child; /* always in the list of threads; 0: not yet */
	int fd;		  /* the watcher's socket */
	bool ending;
	struct capture_joined *joined;
	unsigned int nr_joined, max_joined;
};

/* Accesses to kernel objects. */
struct capture_watch {
	int fd;		      /* the helper's socket; -1: there is none (any more) */
	uint64_t until_ns;    /* what it sends later is not of before that */
	struct pfs_tids tids; /* whose allocations it learns from */
	bool ending;
	bool wprobes; /* the kernel watches, without a helper */
};

enum { MAX_OBJECT_EVENTS = 16 };

/* A recording of objects, which is paused and cleared. */
struct capture_pauses {
	const struct raw_desc *events[MAX_OBJECT_EVENTS]; /* that are off during a pause */
	unsigned int nr_events;
	uint64_t start_ns;  /* or when it was cleared */
	uint64_t since_ns;  /* of the pause; 0: it is not paused */
	uint64_t before_ns; /* how long the pauses before took */
	unsigned int nr;
};

#define CAPTURE_EXCEPTIONS "events/exceptions/enable"

struct pfs_capture {
	struct pfs_live base;
	struct pfs_source_config config;
	const struct ftrace_options *options;
	struct pfs_assembler *assembler; /* of the events as they come; NULL: nobody wants them (any more) */
	struct pfs_instance *instance;
	struct pfs_formats *formats;
	struct pfs_sideband *sideband;
	bool settled;		       /* see capture_settle() */
	bool calls_armed;	       /* the system calls of 32-bit processes */
	struct pfs_cache *cache;       /* the page cache of mapped files; NULL: it is not probed */
	struct pfs_dumps *dumps;       /* --stack=dwarf; or NULL */
	struct pfs_accounts *accounts; /* of processes that ran before; NULL: there are none, or no counts of them */
	bool wants_accesses, tracing, sideband_lack_noted;
	bool marked; /* a module marks faults on hidden pages in the instance */
	pid_t launched;
	struct pfs_counters counters;
	struct pfs_sched_priority priority;
	struct capture_running running;
	struct capture_joins joins;
	struct capture_watch watch;
	struct capture_drain drain;
	struct capture_own own;
	struct capture_text text;
	struct capture_tracers tracers;
	struct capture_pauses pauses;
};

static inline struct pfs_capture *capture_of(struct pfs_live *live)
{
	return (struct pfs_capture *)live;
}

/* capture/note.c: notes and losses; events to the live sink */
pfs_note_fn capture_note;
int capture_fact(struct pfs_capture *c, const struct pfs_fact *fact,
		 struct pfs_err *err);					  /* about the whole recording */
int capture_note_sideband_lack(struct pfs_capture *c, const char *tells); /* once */
int capture_note_losses(struct pfs_capture *c);				  /* the kernel's counts of lost events */
struct capture_counts {
	uint64_t events, bytes, lost; /* that the CPU recorded; that wait in its ring buffer; not delivered */
};
int capture_count(struct pfs_capture *c, int cpu, struct capture_counts *counts); /* 0 or -ENOMEM */
char *capture_cpu_stats(struct pfs_capture *c,
			int cpu); /* per_cpu/cpuN/stats, the caller's; "": none; NULL: no memory */
int capture_live_event(void *capture, const struct raw_event *raw);
/* One of the own records is about to be written; those that it gives rise to come before it: put writes them. */
int capture_own_comes(struct pfs_capture *c, const struct raw_event *ev, raw_event_fn put, void *ctx);

/* capture/helper.c: shuts down the socket of a helper, and takes what comes until it closes it and *fd is -1, or does not within a second. */
int capture_end_helper(struct pfs_capture *c, const int *fd, int (*take_in)(struct pfs_capture *c, struct pfs_err *err),
		       struct pfs_err *err);

/* capture/tracers.c: probes, function tracer, histogram */
int capture_tracers_set_up(struct pfs_capture *c); /* 0 or -ENOMEM: what the kernel refuses is reported and noted */
int capture_tracers_load_formats(struct pfs_capture *c);
int capture_tracers_add_tid(struct pfs_capture *c, pid_t tid, struct pfs_err *err);
int capture_tracers_start(struct pfs_capture *c, struct pfs_err *err);
int capture_tracers_stop(struct pfs_capture *c, struct pfs_err *err);

/* capture/text.c: trace_pipe instead of pages */
int capture_text_open(struct pfs_capture *c, struct pfs_err *err);
int capture_text_drain(struct pfs_capture *c, uint64_t until_ns, struct pfs_err *err);
int capture_text_replay(struct pfs_capture *c, raw_event_fn fn, void *ctx, struct pfs_err *err);
int capture_text_write(struct pfs_capture *c, int fd, struct pfs_err *err);

/* capture/setup.c: the instance, which the first call of settle() sets up, and the events that are enabled in it */
bool capture_wants(const struct pfs_capture *c, const struct raw_desc *desc);	    /* not a tracer's or ours */
const char *capture_filter_of(const struct raw_desc *desc, char *buf, size_t size); /* what any reader needs; or NULL */
const char *capture_object_filter(const struct pfs_object_choice *o, const struct raw_desc *desc, char *buf,
				  size_t size); /* or NULL */
int capture_settle(struct pfs_capture *c, struct pfs_err *err);
int capture_enable_later(struct pfs_capture *c, bool runs_already,
			 struct pfs_err *err); /* those for when they are needed */
int capture_hold_calls(struct pfs_capture *c, struct pfs_err *err);
int capture_enable_calls(struct pfs_capture *c, pid_t pid, struct pfs_err *err); /* if it is 32-bit */
int capture_hold_objects(struct pfs_capture *c, struct pfs_err *err);		 /* for capture_switch_objects() */
int capture_switch_objects(struct pfs_capture *c, bool on, struct pfs_err *err);

/* capture/processes.c: the processes that are added */
int capture_launch(struct pfs_live *live, pid_t pid, struct pfs_err *err);
int capture_attach(struct pfs_live *live, pid_t pid, struct pfs_err *err);
int capture_attach_all(struct pfs_capture *c, const pid_t *pids, unsigned int nr, struct pfs_err *err);
int capture_begin_running(struct pfs_capture *c, struct pfs_err *err);	/* once one is entered */
int capture_take_layouts(struct pfs_capture *c, struct pfs_err *err);	/* of those that run, before tracing */
int capture_accounts_begin(struct pfs_capture *c, struct pfs_err *err); /* before and after tracing is switched on */
int capture_enter_running(struct pfs_capture *c, struct pfs_err *err);	/* what they started meanwhile, afterwards */
int capture_look(struct pfs_live *live, struct pfs_err *err);
int capture_list_tasks(struct pfs_capture *c, struct pfs_err *err); /* for objects: before and after, too */

/* capture/joins.c: all processes of a user; nothing to do unless a user is recorded */
int capture_attach_user(struct pfs_capture *c, struct pfs_err *err);
int capture_joins_start(struct pfs_capture *c, struct pfs_err *err); /* the last that needs privilege */
int capture_joins_take(struct pfs_capture *c, struct pfs_err *err);  /* what the watcher has sent */
int capture_joins_end(struct pfs_capture *c, struct pfs_err *err);
void capture_joins_free(struct pfs_capture *c);

/* capture/watch.c: accesses to kernel objects; nothing to do unless these are wanted */
int capture_watch_open(struct pfs_capture *c, struct pfs_err *err);		  /* needs privilege */
int capture_watch_process(struct pfs_capture *c, pid_t pid, struct pfs_err *err); /* before the start */
int capture_watch_start(struct pfs_capture *c, struct pfs_err *err);
int capture_watch_take(struct pfs_capture *c, struct pfs_err *err); /* what the helper has sent */
uint64_t capture_watch_until(const struct pfs_capture *c,
			     uint64_t until_ns); /* what is of before that may be written */
int capture_watch_end(struct pfs_capture *c, struct pfs_err *err);

/* capture/open.c: opening and closing */
struct pfs_live *capture_open(const struct pfs_source_config *config, struct pfs_err *err);
int capture_open_buffers(struct pfs_capture *c, struct pfs_err *err);
int capture_hold(struct pfs_capture *c, struct pfs_err *err); /* opens what is written and read after the start */
int capture_close(struct pfs_live *live, struct pfs_err *err);

/* capture/capture.c: from the start to the reading back */
int capture_start(struct pfs_live *live, struct pfs_err *err);
int capture_usable(struct pfs_err *err);
int capture_wait(struct pfs_live *live, struct pollfd *fds, unsigned int nr_fds, int timeout_ms, struct pfs_err *err);
int capture_drain(struct pfs_capture *c, struct pfs_err *err); /* all that is recorded so far */
int capture_stop(struct pfs_live *live, struct pfs_err *err);
int capture_stopped_notes(struct pfs_live *live, struct pfs_err *err);
int capture_read_back(struct pfs_capture *c, raw_event_fn fn, raw_faults_fn faults, void *ctx, struct pfs_err *err);
int capture_replay(struct pfs_live *live, const struct pfs_sink *sink, struct pfs_err *err);

/* capture/control.c: paused, resumed, cleared */
int capture_control(struct pfs_live *live, enum pfs_control what, struct pfs_control_result *result,
		    struct pfs_err *err);

/* capture/write.c: the trace.dat */
int capture_write(struct pfs_live *live, int fd, struct pfs_err *err);

#endif
