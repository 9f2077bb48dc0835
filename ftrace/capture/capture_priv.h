/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a capture, from the bottom up; each calls only those before it:
 *
 *     note.c	    notes, and what this kernel does not offer
 *     tracers.c    probes, function tracer, histogram
 *     text.c	    trace_pipe instead of pages
 *     events.c	    the events that are switched on
 *     settle.c	    the set-up of the instance
 *     processes.c  the processes that are added
 *     joins.c	    all processes of a user
 *     open.c	    opening and freeing
 *     capture.c    the life in between
 */
#ifndef PFS_CAPTURE_PRIV_H
#define PFS_CAPTURE_PRIV_H

#include "capture/capture.h"
#include "os/sched_priority.h"
#include "record/formats.h"
#include "record/merge.h"
#include "record/pfscope_records.h"
#include "record/ringwrite.h"
#include "sideband/counters.h"
#include "sideband/sideband.h"
#include "sideband/snapshot.h"
#include "text/text.h"
#include "tracefs/hist.h"
#include "tracefs/dir.h"
#include "tracefs/instance.h"

#define MAX_LACKS   32
#define MAX_REFUSED 4
#define NR_HIST	    2

struct capture_cpu {
	int raw_fd; /* trace_pipe_raw */
	int spool_fd;
	uint64_t bytes;	  /* in the spool */
	uint64_t fullest; /* so many bytes were found at once */
};

/* A process that came in while it was recorded, and is looked at some times more. */
struct capture_joined {
	struct pfs_snapshot layout;
	unsigned int nr_looks;
	uint64_t next_ns;
};

/* All processes of a user. */
struct capture_joins {
	bool wanted;
	uid_t uid;
	int connector_fd; /* until the watcher has it */
	char *polls;	  /* why there is no connector */
	pid_t nobody;	  /* who is always in the list of threads; 0: not yet */
	int fd;		  /* the watcher's socket */
	bool ending, killed, lacks_told;
	struct capture_joined *looking;
	unsigned int nr_looking;
};

/* An event that this kernel does not have, and what the recording therefore does not show (NULL: all of it). */
struct capture_lack {
	char what[64];
	const char *tells;
};

struct pfs_capture {
	struct pfs_capture_config config;
	struct pfs_instance *instance;
	bool settled; /* it has been set up */
	bool wants_accesses;
	struct pfs_sideband *sideband;
	struct pfs_counters counters;
	pid_t launched;
	struct pfs_snapshot *attached; /* processes that ran already */
	unsigned int nr_attached;
	pid_t *entered; /* their threads, as far as they were there */
	unsigned int nr_entered, max_entered;
	bool running_begun; /* see capture_begin_running() */
	struct capture_joins joins;
	uint64_t flushed_ns; /* own records are written up to then */
	struct pfs_formats *formats;
	struct pfs_records own;
	struct pfs_ringwrite *own_pages;
	int own_fd;
	struct capture_cpu *cpus;
	int nr_cpus;
	int pipe_fds[2];
	uint32_t page_size; /* of a sub-buffer */
	uint8_t *page;
	struct pfs_merge *live; /* live decoding, or NULL */
	struct pollfd *poll_fds;
	unsigned int max_poll;
	bool tracing;
	struct pfs_sched_priority priority;
	/* text only */
	int pipe_fd; /* trace_pipe */
	int text_fd; /* spool */
	char *carry; /* lines that may have to wait for own records before them */
	size_t carry_len, carry_max;
	struct pfs_text *live_text;
	/* beyond the events */
	bool has_probes, has_functions, has_hist;
	char group[128]; /* of the dynamic events; "": none were made */
	const char *probes_how;
	char *functions; /* traced, in one line */
	unsigned int functions_traced;
	struct pfs_symbols *symbols; /* until the formats have them */
	struct pfs_hist hist[NR_HIST];
	uint64_t start_ns;
	char *refused[MAX_REFUSED + 1]; /* "OPTION: WHY" */
	const char *refused_option[MAX_REFUSED];
	unsigned int nr_refused;
	struct capture_lack lacks[MAX_LACKS];
	unsigned int nr_lacks;
};

/* capture/note.c */
void capture_add_lack(struct pfs_capture *c, const char *system, const char *name, const char *tells);
int capture_note_lack(struct pfs_capture *c, const struct capture_lack *lack);
char *capture_cpu_stats(struct pfs_capture *c,
			int cpu); /* per_cpu/cpuN/stats, the caller's; "": none; NULL: no memory */

/* capture/events.c */
int capture_enable_events(struct pfs_capture *c, struct pfs_err *err);
int capture_enable_page_alloc(struct pfs_capture *c, bool runs_already, struct pfs_err *err); /* of huge pages */
int capture_header_notes(struct pfs_capture *c);

/* capture/settle.c. The first call sets the instance up. */
int capture_settle(struct pfs_capture *c, struct pfs_err *err);

/* capture/processes.c */
int capture_take_layouts(struct pfs_capture *c, struct pfs_err *err);  /* of those that run, before tracing */
int capture_enter_running(struct pfs_capture *c, struct pfs_err *err); /* what they started meanwhile, afterwards */
int capture_attach(struct pfs_capture *c, const pid_t *pids, unsigned int nr, struct pfs_err *err);
int capture_begin_running(struct pfs_capture *c, struct pfs_err *err); /* once one is entered */
void capture_forget_running(struct pfs_capture *c);

/* capture/open.c */
int capture_open_buffers(struct pfs_capture *c, struct pfs_err *err);
int capture_hold(struct pfs_capture *c, struct pfs_err *err); /* opens what stop() and free() will need */

/* capture/joins.c. Nothing to do if no user is recorded. */
int capture_joins_start(struct pfs_capture *c, struct pfs_err *err); /* the last that needs privilege */
int capture_joins_take(struct pfs_capture *c, struct pfs_err *err);  /* what the watcher has told */
int capture_joins_end(struct pfs_capture *c, struct pfs_err *err);
void capture_joins_free(struct pfs_capture *c);

/* capture/tracers.c */
void capture_tracers_set_up(struct pfs_capture *c);
int capture_tracers_notes(struct pfs_capture *c);
int capture_tracers_load_formats(struct pfs_capture *c);
int capture_tracers_add_tid(struct pfs_capture *c, pid_t tid, struct pfs_err *err);
int capture_tracers_start(struct pfs_capture *c, struct pfs_err *err);
int capture_tracers_stop(struct pfs_capture *c, struct pfs_err *err);
void capture_tracers_free(struct pfs_capture *c);

/* capture/text.c */
int capture_text_open(struct pfs_capture *c, struct pfs_err *err);
void capture_text_close(struct pfs_capture *c);
int capture_text_drain(struct pfs_capture *c, uint64_t until_ns, struct pfs_err *err);
int capture_text_replay(struct pfs_capture *c, raw_event_fn fn, void *ctx, struct pfs_err *err);
int capture_text_write(struct pfs_capture *c, int fd, struct pfs_err *err);

#endif
